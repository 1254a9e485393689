"""Results in notebooks: the parts of a result as HTML.

A result's ``_repr_html_`` imports this module when a notebook asks for it. With Jinja2, which
Jupyter brings, it is the same HTML as on the page; without it, the text of a terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING

from contextwise.report.chances import chance_parts
from contextwise.report.comparisons import comparison_parts
from contextwise.report.elements import Note, Part
from contextwise.report.explanations import explanation_parts, region_parts
from contextwise.report.html import render
from contextwise.report.many import matrix_parts, scores_parts
from contextwise.report.notes import ganak_notes
from contextwise.report.statistics import TOP, check_parts, stability_parts
from contextwise.report.text import as_text

if TYPE_CHECKING:
    from contextwise.comparison.compare import Comparison
    from contextwise.comparison.explain import Explanation, PairExplanation
    from contextwise.comparison.matrix import DistanceMatrix
    from contextwise.evaluation.chance import Chance
    from contextwise.evaluation.check import Check
    from contextwise.evaluation.score import Score
    from contextwise.evaluation.stability import Stability


def notebook_html(parts: Sequence[Part]) -> str:
    """Parts as a piece of HTML for a notebook.

    Parameters
    ----------
    parts : what is shown

    Returns
    -------
    str
        HTML; without Jinja2 it holds the parts as plain text.
    """
    if find_spec("jinja2") is None:
        return f"<pre>{escape(as_text(parts))}</pre>"
    return render("notebook.html", parts=parts)


def comparison_html(comparison: Comparison) -> str:
    """One comparison in full."""
    summary = Note("summary", comparison.summary())
    return notebook_html([summary, *comparison_parts(comparison, medium="python")])


def explanation_html(explanation: Explanation) -> str:
    """The worst pairs with their regions, and the features behind them."""
    summary = Note("summary", explanation.comparison.summary())
    notes = ganak_notes([explanation.comparison])
    return notebook_html([summary, *explanation_parts(explanation), *notes])


def pair_html(pair: PairExplanation) -> str:
    """The regions of one pair."""
    return notebook_html(region_parts(pair))


def matrix_html(matrix: DistanceMatrix) -> str:
    """The distance of each two models."""
    return notebook_html(matrix_parts(matrix, medium="python"))


def score_html(score: Score) -> str:
    """One guess beside the true model, with every score there is."""
    return notebook_html(scores_parts(["guess"], [score], medium="python"))


def chance_html(chance: Chance) -> str:
    """A guess beside guesses by chance."""
    return notebook_html(chance_parts(chance, top=TOP))


def stability_html(stability: Stability) -> str:
    """What resamples agree on, with the heat map of supports."""
    return notebook_html(stability_parts(stability))


def check_html(check: Check) -> str:
    """What rows say about the claims of a structure."""
    return notebook_html(check_parts(check))
