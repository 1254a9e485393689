"""How ``contextwise compare`` shows its results: to people as text, to programs as records."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contextwise.cli.inputs import ZeroWeights
from contextwise.cli.printing import print_csv

if TYPE_CHECKING:
    from contextwise.comparison.compare import Comparison, Record
    from contextwise.evaluation.chance import Chance
    from contextwise.models.structure import Model


@dataclass(frozen=True)
class Given:
    """A model as it was given.

    Attributes
    ----------
    name : as it was given
    label : the name in a table: without its folder, where that is enough
    model : as it was read
    features : how many of its features are compared
    zero_weights : how many of its features have weight 0
    """

    name: str
    label: str
    model: Model
    features: int
    zero_weights: int


@dataclass(frozen=True)
class Result:
    """A guess, and how it compares in the contexts that were asked for.

    These are all, those that agree with ``context``, or those of the rows of the file ``data``.
    ``chance`` is there if it was asked for; ``stopped`` says that Ctrl-C ended its draws.
    """

    guess: Given
    comparison: Comparison
    context: str | None = None
    data: str | None = None
    chance: Chance | None = None
    stopped: bool = False

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended some of the work."""
        return self.comparison.interrupted or self.stopped


def as_records(
    true: Given, results: Sequence[Result], *, top: int, per_pair: bool
) -> list[dict[str, object]]:
    """One object per guess: what a row of CSV has, and the pairs.

    Parameters
    ----------
    true : the true model
    results : of the guesses
    top : how many of the worst pairs
    per_pair : whether the counts of every pair are wanted

    Returns
    -------
    list of records
    """
    from contextwise.comparison.compare import open_pair_records, worst_pair_records

    records = []
    for result in results:
        record: dict[str, object] = {**_record(true, result)}
        record["worst_pairs"] = list(worst_pair_records(result.comparison, top))
        record["open"] = list(open_pair_records(result.comparison))
        record["counted"] = {**result.comparison.counted}
        record["seconds"] = {**result.comparison.seconds}
        if per_pair:
            record["per_pair"] = list(_pair_records(result))
        records.append(record)
    return records


def print_rows(true: Given, results: Sequence[Result], *, per_pair: bool) -> None:
    """CSV: one row per guess, or one row per pair of each guess.

    Parameters
    ----------
    true : the true model
    results : of the guesses
    per_pair : whether the counts of every pair are wanted
    """
    from contextwise.comparison.compare import PAIR_KEYS

    if per_pair:
        rows: Iterable[dict[str, object]] = (
            {"guess": result.guess.name, **record}
            for result in results
            for record in _pair_records(result)
        )
        print_csv(rows, ["guess", *PAIR_KEYS, *_chance_keys(results)])
    else:
        records = [_record(true, result) for result in results]
        print_csv(records, records[0])


def _chance_keys(results: Sequence[Result]) -> list[str]:
    """The columns that a pair has beside chance, if that was asked for."""
    from contextwise.evaluation.chance import PAIR_KEYS

    asked = any(result.chance is not None for result in results)
    return [f"chance_{key}" for key in PAIR_KEYS] if asked else []


def _pair_records(result: Result) -> Iterator[dict[str, object]]:
    """The counts of every pair, and how it stands beside chance."""
    from contextwise.comparison.compare import pair_records

    beside = {}
    if result.chance is not None:
        beside = {one.pair: one.record() for one in result.chance.pair_chances()}
    for record in pair_records(result.comparison):
        pair = str(record["first"]), str(record["second"])
        yield {**record, **beside.get(pair, {})}


def as_text(
    true: Given,
    results: Sequence[Result],
    *,
    zero_weights: ZeroWeights,
    top: int,
) -> str:
    """What was compared, and the table: of one guess in full, or of several, one row each.

    Parameters
    ----------
    true : the true model
    results : of the guesses
    zero_weights : whether features of weight 0 were kept
    top : how many of the worst pairs

    Returns
    -------
    str
    """
    from contextwise.report.comparisons import Guess, comparison_parts, guesses_parts
    from contextwise.report.text import as_text as text_of

    if len(results) == 1:
        parts = comparison_parts(results[0].comparison, top=top)
    else:
        guesses = [Guess(r.guess.label, r.comparison, features=r.guess.features) for r in results]
        parts = guesses_parts(guesses)
    text = f"{_head(true, results, zero_weights)}\n\n{text_of(parts)}"
    by_chance = [
        (f"{result.guess.label}:\n" if len(results) > 1 else "") + str(result.chance)
        for result in results
        if result.chance is not None
    ]
    return "\n\n".join([text, *by_chance])


def _record(true: Given, result: Result) -> Record:
    from contextwise.comparison.compare import comparison_record

    guess = result.guess
    return {
        "true": true.name,
        "guess": guess.name,
        "variables": len(true.model.domain),
        "true_features": true.features,
        "guess_features": guess.features,
        "true_zero_weights": true.zero_weights,
        "guess_zero_weights": guess.zero_weights,
        "context": result.context,
        "data": result.data,
        **comparison_record(result.comparison),
        **_chance_record(result.chance),
    }


def _chance_record(chance: Chance | None) -> Record:
    """What stands beside chance, under names that say so."""
    if chance is None:
        return {}
    return {f"chance_{key}": value for key, value in chance.record().items()}  # type: ignore[misc]


def _head(true: Given, results: Sequence[Result], zero_weights: ZeroWeights) -> str:
    """What was compared."""
    from contextwise.report.notes import alignment_notes, scope_words
    from contextwise.support.formatting import columns, name

    guesses = [result.guess for result in results]
    rows = [("true", _size(true))]
    if len(guesses) == 1:
        rows.append(("guess", _size(guesses[0])))
    c = results[0].comparison
    over = scope_words(c, data=os.path.basename(results[0].data or ""))
    rows.append(("over", over))
    rows += [("note", note.text) for note in alignment_notes([c])]
    zeros = [
        f"{given.zero_weights:,} in {name(given.label)}"
        for given in (true, *guesses)
        if given.zero_weights
    ]
    if zeros:
        kept = "counted; --zero-weights drop leaves them out"
        done = "left out" if zero_weights == "drop" else kept
        rows.append(("note", f"features of weight 0: {', '.join(zeros)} ({done})"))
    return columns(rows, "<<")


def _size(given: Given) -> str:
    from contextwise.support.formatting import name, plural

    variables = plural(len(given.model.domain), "variable")
    return f"{name(given.label)}: {variables}, {plural(given.features, 'feature')}"
