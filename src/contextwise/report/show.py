"""Show any result as text or HTML.

`PARTS` has, for each type of result, the function that makes its parts. `str(result)` and the HTML
view in notebooks come from here; see `contextwise.support.showing`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from contextwise.report.chances import chance_parts
from contextwise.report.comparisons import Guess, comparison_parts, guesses_parts
from contextwise.report.explanations import explanation_parts, region_parts
from contextwise.report.html import notebook_html
from contextwise.report.many import consensus_parts, matrix_parts, scores_parts
from contextwise.report.parts import Note, Part
from contextwise.report.statistics import TOP, check_parts, stability_parts
from contextwise.report.summaries import summary_parts
from contextwise.report.text import as_text

PARTS: dict[str, Callable[[Any], Sequence[Part]]] = {
    "Comparison": lambda result: comparison_parts(result, medium="python"),
    "Comparisons": lambda result: guesses_parts(
        [Guess(name, c) for name, c in zip(result.names, result, strict=True)], medium="python"
    ),
    "Explanation": lambda result: [
        Note("summary", result.comparison.summary()),
        *explanation_parts(result),
    ],
    "PairExplanation": region_parts,
    "DistanceMatrix": lambda result: matrix_parts(result, medium="python"),
    "Score": lambda result: scores_parts(["guess"], [result], medium="python"),
    "Chance": lambda result: chance_parts(result, top=TOP),
    "Stability": stability_parts,
    "Check": check_parts,
    "Consensus": lambda result: consensus_parts(result, result.widest_supports(TOP)),
    "Summary": summary_parts,
}


def text_of(result: object) -> str:
    """Return what a terminal shows of a result."""
    kind = type(result).__name__
    return as_text(chance_parts(result) if kind == "Chance" else PARTS[kind](result))  # type: ignore[arg-type]


def html_of(result: object) -> str:
    """Return what a notebook shows of a result."""
    return notebook_html(PARTS[type(result).__name__](result))
