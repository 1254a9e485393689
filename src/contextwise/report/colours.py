"""The colours, line styles and words that every picture shares.

Both hues are from Okabe and Ito's palette, which colour-blind readers can tell apart; lines differ
by their dashes as well, so that a picture survives a black-and-white printer.
"""

from __future__ import annotations

from typing import Literal

Agreement = Literal["tp", "fp", "fn"]
"""What holds in a context where at least one model has the dependence."""

COLOURS: dict[Agreement, str] = {"tp": "#7f7f7f", "fp": "#D55E00", "fn": "#0072B2"}
DARK_COLOURS: dict[Agreement, str] = {"tp": "#9a9a9a", "fp": "#F28E3C", "fn": "#56B4E9"}
"""The same kinds on a dark page."""
DASHES: dict[Agreement, tuple[float, float] | None] = {
    "tp": None,
    "fp": (6, 3),
    "fn": (1.5, 2.5),
}
WORDS: dict[Agreement, str] = {"tp": "in both", "fp": "only in guess", "fn": "only in true"}
UNDECIDED = "not decided in time"
"""The words for what a time limit left open."""

STEPS = (0.001, 0.01, 0.1, 0.25, 0.5, 1.0)
"""Shares of contexts are shown in steps; a share up to the first one has the lightest tint."""
STEP_WORDS = ("≤ 0.1 %", "≤ 1 %", "≤ 10 %", "≤ 25 %", "≤ 50 %", "≤ 100 %")
OPACITIES = (0.18, 0.32, 0.46, 0.62, 0.8, 1.0)
UNKNOWN = "#F0E442"
"""A pair that a time limit left open."""
COVERED = "#7f7f7f"
COVERED_OPACITY = 0.16
"""The tint of a pair that depends somewhere, and has no error of this kind."""


def on_white(colour: str, opacity: float) -> str:
    """An opaque colour that looks like a translucent one on white paper.

    >>> on_white("#000000", 0.5), on_white("#D55E00", 1.0)
    ('#808080', '#d55e00')
    """
    channels = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 - opacity * (255 - c)):02x}" for c in channels)
