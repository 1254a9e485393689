"""Notes on what limits the numbers: restrictions, open pairs, estimates, Ganak, rounding.

Each is worded once, here, for every rendering; what depends on where it is read is the way to more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from contextwise.comparison.compare import Comparison
from contextwise.models.notation import quoted
from contextwise.report.colours import UNDECIDED
from contextwise.report.parts import Note, Part, is_rounded
from contextwise.support.formatting import name, plural

if TYPE_CHECKING:
    from contextwise.comparison.matrix import DistanceMatrix
    from contextwise.comparison.sketch import IntervalEstimate

Medium = Literal["command", "page", "python"]
"""Where the parts are read: it decides where a note sends the reader for more."""

EXACT_IN: Mapping[Medium, str] = {
    "command": "--json and --csv are exact",
    "page": "point at one to read all its digits",
    "python": "the attributes of the result are exact",
}
GANAK = (
    "whose caching errs with a probability below one in a billion; the engine native is "
    "deterministic"
)
BY_POSITION = "Variables and states are aligned by position, not by name."


def scope_words(comparison: Comparison, *, data: str = "the data") -> str:
    """What the counts are counts of, and what they were restricted to.

    Parameters
    ----------
    comparison : what is shown
    data : the name of the rows whose contexts count, if such were given

    Returns
    -------
    str

    Examples
    --------
    >>> from contextwise import compare
    >>> scope_words(compare("lung", "lung-learned"))
    '3 pairs, 6 assertions'
    >>> scope_words(compare("lung", "lung-learned", context="smoker=yes", contexts="canonical"))
    '1 pair, 4 assertions on full assignments in the context smoker=yes'
    """
    asked = comparison.question
    words = f"{plural(asked.pair_count, 'pair')}, {plural(asked.total, 'assertion')}"
    if asked.canonical:
        words += " on full assignments"
    if asked.rows is not None:
        words += f" in the contexts of the rows of {name(data)}"
    if asked.value_weights is not None:
        words += ", each context by its probability"
    if asked.context:
        context = ", ".join(
            f"{quoted(own)}={quoted(state)}" for own, state in asked.context.items()
        )
        words += f" in the context {name(context)}"
    return words


def alignment_notes(comparisons: Iterable[Comparison]) -> list[Note]:
    """A note if variables and states were aligned by position."""
    by_position = any(comparison.by_position for comparison in comparisons)
    return [Note("alignment", BY_POSITION)] if by_position else []


def open_note(comparison: Comparison) -> Note:
    """How many pairs are open, and why."""
    return _open(f"{_open_share(comparison)} are open", interrupted=comparison.interrupted)


def open_guesses_note(comparisons: Mapping[str, Comparison]) -> Note:
    """Which guesses have open pairs, how many, and why."""
    some_open = {own: c for own, c in comparisons.items() if len(c.unions.open)}
    listed = [f"{name(own)} ({_open_share(c)} open)" for own, c in some_open.items()]
    interrupted = any(c.interrupted for c in some_open.values())
    return _open(", ".join(listed), interrupted=interrupted)


def _open_share(comparison: Comparison) -> str:
    return f"{len(comparison.unions.open):,} of {len(comparison.pairs):,} pairs"


def _open(what: str, *, interrupted: bool) -> Note:
    why = "Interrupted" if interrupted else UNDECIDED.capitalize()
    return Note("open", f"{why}: {what}.", warns=True)


def estimate_notes(comparison: Comparison) -> list[Note]:
    """What sampling says of the errors of a comparison with open pairs, if it was asked."""
    found = comparison.estimates
    if found is None:
        return []
    kinds = (("false positives", found.fp), ("false negatives", found.fn))
    words = " and ".join(f"{kind} {_estimated(e)}" for kind, e in kinds)
    surety = f"each interval covers the true share in {100 * found.fp.confidence:g} % of cases"
    return [
        Note(
            "estimate",
            f"Estimated by {plural(found.draws, 'draw')} of each kind: {words} of all assertions; "
            f"{surety}.",
        )
    ]


def _estimated(e: IntervalEstimate) -> str:
    """A share with its interval; where no draw found one, only the upper limit is known."""
    if not e.value:
        return f"at most {100 * e.high:.3g} % (no draw found one)"
    return f"{100 * e.value:.3g} % ({100 * e.low:.3g} % to {100 * e.high:.3g} %)"


def ganak_notes(comparisons: Iterable[Comparison]) -> list[Note]:
    """A note if some counts of comparisons that are shown together are Ganak's."""
    counted = [c.counted for c in comparisons]
    by_ganak = sum(own.get("ganak", 0) for own in counted)
    if not by_ganak:
        return []
    unions = f"{by_ganak:,} of {sum(sum(own.values()) for own in counted):,} unions"
    return [Note("ganak", f"{unions} were counted by Ganak, {GANAK}.")]


def matrix_ganak_notes(matrix: DistanceMatrix) -> list[Note]:
    """A note if some counts of a matrix of distances are Ganak's."""
    return [Note("ganak", f"Some counts are Ganak's, {GANAK}.")] if matrix.rests_on_ganak else []


def rounding_notes(parts: Sequence[Part], medium: Medium) -> list[Note]:
    """A note if some number of these parts is rounded.

    Parameters
    ----------
    parts : those that are shown together
    medium : where the note is read

    Returns
    -------
    list of Note
        Empty if every number can be read exactly.
    """
    digits = is_rounded(parts)
    if digits is None:
        return []
    text = f"Numbers of more than {digits} digits are rounded; {EXACT_IN[medium]}."
    return [Note("rounding", text)]
