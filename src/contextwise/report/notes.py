"""Notes on what limits the numbers: restrictions, unfinished pairs, estimates, Ganak, rounding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from contextwise.comparison.compare import Comparison
from contextwise.models.notation import quoted
from contextwise.report.colours import UNDECIDED
from contextwise.report.parts import Note, Part, is_rounded
from contextwise.support.formatting import READABLE, name, plural

if TYPE_CHECKING:
    from contextwise.comparison.matrix import DistanceMatrix

Medium = Literal["command", "page", "python"]
"""The place where parts are read; notes refer the reader to its exact numbers."""

EXACT_IN: Mapping[Medium, str] = {
    "command": "--json and --csv are exact",
    "page": "point at a number to read all its digits",
    "python": "the attributes of the result are exact",
}
GANAK = "caching errs with a probability below one in a billion; the engine native is deterministic"
BY_POSITION = "Variables and states are aligned by position, not by name."


def scope_words(comparison: Comparison, *, data: str = "the data") -> str:
    """Return the number of pairs and assertions, and the restriction to contexts or to ``data``.

    >>> from contextwise import compare
    >>> scope_words(compare("lung", "lung-learned"))
    '3 pairs, 6 assertions'
    >>> scope_words(compare("lung", "lung-learned", context="smoker=yes", contexts="canonical"))
    '1 pair, 4 assertions on full assignments in the context smoker=yes'
    """
    question = comparison.question
    words = f"{plural(comparison.pair_count, 'pair')}, {plural(comparison.total, 'assertion')}"
    if question.canonical:
        words += " on full assignments"
    if question.rows is not None:
        words += f" in the contexts of the rows of {name(data)}"
    if question.value_weights is not None:
        words += ", each context by its probability"
    if question.context:
        states = question.context.items()
        context = ", ".join(f"{quoted(variable)}={quoted(state)}" for variable, state in states)
        words += f" in the context {name(context)}"
    return words


def alignment_notes(comparisons: Iterable[Comparison]) -> list[Note]:
    """Return a note if variables and states were aligned by position."""
    by_position = any(comparison.by_position for comparison in comparisons)
    return [Note("alignment", BY_POSITION)] if by_position else []


def open_note(comparisons: Mapping[str, Comparison] | Comparison) -> Note:
    """Say how many pairs are unfinished, and why; of several guesses, name those that have any."""
    if isinstance(comparisons, Comparison):
        unfinished = {"": comparisons}
    else:
        unfinished = {guess: c for guess, c in comparisons.items() if len(c.unions.open)}
    shares = [
        f"{f'{name(guess)}: ' if guess else ''}{len(c.unions.open):,} of {len(c.pairs):,} pairs"
        for guess, c in unfinished.items()
    ]
    interrupted = any(c.interrupted for c in unfinished.values())
    why = "Interrupted" if interrupted else UNDECIDED.capitalize()
    return Note("open", f"{why}: {', '.join(shares)}. Bounds are proven.", warns=True)


def estimate_notes(comparison: Comparison) -> list[Note]:
    """Return the sampled estimates of the errors of unfinished pairs, if there are any."""
    estimates = comparison.estimates
    if estimates is None:
        return []
    kinds = (("false positives", estimates.fp), ("false negatives", estimates.fn))
    words = " and ".join(
        f"{kind} {100 * e.value:.3g} % ({100 * e.low:.3g} % to {100 * e.high:.3g} %)"
        if e.value
        else f"{kind} at most {100 * e.high:.3g} % (no draw found one)"
        for kind, e in kinds
    )
    text = (
        f"Estimated from {plural(estimates.draws, 'draw')} of each kind: {words} of all "
        f"assertions ({100 * estimates.fp.confidence:g} % intervals)."
    )
    return [Note("estimate", text)]


def ganak_notes(comparisons: Iterable[Comparison]) -> list[Note]:
    """Return a note if Ganak made some counts."""
    counted = [c.counted for c in comparisons]
    by_ganak = sum(counts.get("ganak", 0) for counts in counted)
    if not by_ganak:
        return []
    unions = f"{by_ganak:,} of {sum(sum(counts.values()) for counts in counted):,} unions"
    return [Note("ganak", f"Ganak counted {unions}; its {GANAK}.")]


def matrix_ganak_notes(matrix: DistanceMatrix) -> list[Note]:
    """Return a note if Ganak made some counts of a matrix of distances."""
    return (
        [Note("ganak", f"Some counts are Ganak's, whose {GANAK}.")] if matrix.rests_on_ganak else []
    )


def rounding_notes(parts: Iterable[Part], medium: Medium) -> list[Note]:
    """Return a note if some count is rounded."""
    text = f"Numbers of more than {READABLE} digits are rounded; {EXACT_IN[medium]}."
    return [Note("rounding", text)] if is_rounded(parts) else []
