"""Colours, line styles and words that all pictures share.

Both hues are from the palette of Okabe and Ito, which colour-blind readers can distinguish; lines
also differ by their dashes, for black-and-white printers.
"""

from __future__ import annotations

from typing import Literal

Agreement = Literal["tp", "fp", "fn"]
"""The models that have the dependence in a context: both, only the guess, or only the true one."""

COLOURS: dict[Agreement, str] = {"tp": "#7f7f7f", "fp": "#D55E00", "fn": "#0072B2"}
DARK_COLOURS: dict[Agreement, str] = {"tp": "#9a9a9a", "fp": "#F28E3C", "fn": "#56B4E9"}
DASHES: dict[Agreement, tuple[float, float] | None] = {
    "tp": None,
    "fp": (6, 3),
    "fn": (1.5, 2.5),
}
WORDS: dict[Agreement, str] = {"tp": "in both", "fp": "only in guess", "fn": "only in true"}
UNDECIDED = "not decided in time"

STEPS = (0.001, 0.01, 0.1, 0.25, 0.5, 1.0)
"""Shares of contexts are drawn in these steps."""
STEP_WORDS = ("≤ 0.1 %", "≤ 1 %", "≤ 10 %", "≤ 25 %", "≤ 50 %", "≤ 100 %")
OPACITIES = (0.12, 0.22, 0.38, 0.58, 0.78, 1.0)
UNKNOWN = "#F0E442"
"""A pair that a time limit left open."""
COVERED, COVERED_OPACITY = "#7f7f7f", 0.16
"""A pair that depends somewhere and has no error of this kind."""


def on_white(colour: str, opacity: float) -> str:
    """Return the opaque colour that a translucent one has on white paper.

    >>> on_white("#000000", 0.5), on_white("#D55E00", 1.0)
    ('#808080', '#d55e00')
    """
    channels = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 - opacity * (255 - c)):02x}" for c in channels)
