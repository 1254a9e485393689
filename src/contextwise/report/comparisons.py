"""Turn comparisons into parts: the verdict, the confusion matrix, rates, worst pairs and variables.

`comparison_parts` shows one guess in full, `guesses_parts` several guesses in one table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import COUNTS, MEASURES, ratio, shown_in
from contextwise.comparison.pairs import Pair
from contextwise.report.notes import (
    Medium,
    alignment_notes,
    estimate_notes,
    ganak_notes,
    open_note,
    rounding_notes,
    scope_words,
)
from contextwise.report.parts import (
    Cell,
    Column,
    Interval,
    Measure,
    Measures,
    Note,
    PairName,
    Part,
    Share,
    Style,
    Table,
)
from contextwise.report.shares import Shares, shares_of
from contextwise.support.formatting import is_readable, percent

if TYPE_CHECKING:
    from contextwise.comparison.confusion import Number
    from contextwise.comparison.explain import Explanation
    from contextwise.evaluation.chance import Chance
    from contextwise.evaluation.check import Check

ERROR_COLUMNS = Column("FN", "share"), Column("FP", "share")


@dataclass(frozen=True, eq=False)
class Guess:
    """A guess and its comparison with the true model: what commands, pages and explorer pass on."""

    name: str
    comparison: Comparison
    label: str = ""  # a short name for tables
    features: int | None = None  # as read; a restriction can leave fewer to compare
    zero_weights: int = 0  # the number of its features of weight 0
    group: str = ""  # such as the repeats of one learner
    truth: str = ""  # the true model, where there are several
    explanation: Explanation | None = None
    chance: Chance | None = None
    check: Check | None = None

    @property
    def title(self) -> str:
        """The label if there is one, otherwise the name."""
        return self.label or self.name

    @property
    def feature_count(self) -> int:
        return len(self.comparison.guess) if self.features is None else self.features

    @cached_property
    def shares(self) -> Shares:
        """Shares of contexts of every pair, as floats, for pictures."""
        return shares_of(self.comparison)

    @cached_property
    def worst_pair(self) -> Pair | None:
        """The pair with the most errors; None if no finished pair differs."""
        worst = self.comparison.worst_pairs(1)
        return worst[0][0] if worst else None


def comparison_parts(
    comparison: Comparison, *, top: int = 10, medium: Medium = "command"
) -> list[Part]:
    """Return one guess in full; ``top`` limits the pairs and variables, 0 leaves them out."""
    parts: list[Part] = [Note("summary", comparison.summary())]
    if len(comparison.unions.open):
        parts += [open_note(comparison), measures(comparison), *estimate_notes(comparison)]
        if top:
            parts.append(open_pairs_table(comparison, top))
    else:
        parts += [confusion_table(comparison), measures(comparison, medium)]
    parts += alignment_notes([comparison]) if medium != "command" else []
    parts += ganak_notes([comparison])
    if top:
        parts += [worst_pairs(comparison, top), *variables_tables(comparison, top)]
    return [*parts, *rounding_notes(parts, medium)]


def guesses_parts(guesses: Sequence[Guess], *, medium: Medium = "command") -> list[Part]:
    """Return several guesses at one true model, one row each, and notes on all of them."""
    comparisons = {guess.title: guess.comparison for guess in guesses}
    parts: list[Part] = [guesses_table(guesses)]
    if any(len(c.unions.open) for c in comparisons.values()):
        parts.append(open_note(comparisons))
    elif len(guesses) > 1:
        parts.insert(0, Note("verdict", nearest_words(guesses)))
    return [*parts, *ganak_notes(comparisons.values()), *rounding_notes(parts, medium)]


def nearest_words(guesses: Sequence[Guess]) -> str:
    """Name the nearest and the farthest of several guesses."""
    ranked = sorted(guesses, key=lambda guess: guess.comparison.normalized)
    first, last = ranked[0].comparison, ranked[-1].comparison
    nearest = [g.title for g in ranked if g.comparison.normalized == first.normalized]
    if len(nearest) == len(guesses):
        share = percent(first.distance, first.total)
        return f"All {len(guesses)} guesses are equally near: {share} of all assertions differ."
    names = ", ".join(nearest[:-1]) + " and " + nearest[-1] if nearest[1:] else nearest[0]
    verb = "are" if nearest[1:] else "is"
    return (
        f"{names} {verb} nearest to the true model: {percent(first.distance, first.total)} of all "
        f"assertions differ.\n{ranked[-1].title} is farthest: {percent(last.distance, last.total)}."
    )


def confusion_table(comparison: Comparison) -> Table:
    """Return the confusion matrix over all pairs, as shares of all assertions."""
    c = comparison.confusion
    titles = "guess dependent", "guess independent"
    columns = Column("", "words"), *(Column(title, "share", counts=True) for title in titles)
    rows = (
        ("true dependent", Share(c.tp, c.total), Share(c.fn, c.total)),
        ("true independent", Share(c.fp, c.total), Share(c.tn, c.total)),
    )
    return Table(f"Confusion matrix over {scope_words(comparison)}", columns, rows, key="confusion")


def measures(comparison: Comparison, medium: Medium = "page") -> Measures:
    """Return the distances and rates; of a comparison with unfinished pairs, only bounds."""
    c = comparison
    values: dict[str, Cell]
    if len(c.unions.open):
        low, high = c.distance_bounds
        shares = Interval(ratio(low, c.total), ratio(high, c.total))
        values = {"normalized": shares, "distance": Interval(low, high)}
    else:
        values = {"normalized": c.normalized, "distance": c.distance}
        values |= {"mean_pair_distance": c.mean_pair_distance}
        values |= {key: None if isnan(value) else value for key, value in c.rates().items()}
        if medium == "command" and not is_readable(c.distance):
            del values["distance"]
    groups = []
    for column in ("distances", "dependencies", "assertions"):
        keys = [key for key in values if MEASURES[key].column == column]
        group = []
        for key in keys:
            style: Style = "count" if key == "distance" else "rate"
            entry = MEASURES[key]
            group.append(Measure(key, entry.label, values[key], style, entry.meaning))
        groups.append(tuple(group))
    return Measures(tuple(filter(None, groups)))


def worst_pairs(comparison: Comparison, top: int = 10) -> Table | Note:
    """Return the finished pairs with the most errors, or a note that no pair differs."""
    some_open = bool(len(comparison.unions.open))
    if not comparison.differing_pairs:
        return Note("nothing", f"No {'finished ' if some_open else ''}pair differs.")
    columns = [Column("pair", "name"), Column("differs", "share", counts=True), *ERROR_COLUMNS]
    rows: list[tuple[Cell, ...]] = []
    for pair, c in comparison.worst_pairs(top):
        shares = (Share(count, c.total) for count in (c.distance, c.fn, c.fp))
        rows.append((PairName(*pair), *shares))
        if not some_open:
            rows[-1] += (Share(c.distance, comparison.distance),)
    if not some_open:
        columns.append(Column("of all errors", "share"))
    known = "are known to differ" if some_open else "differ"
    title = f"All pairs that {known}"
    if len(rows) < comparison.differing_pairs:
        which = "pair" if len(rows) == 1 else f"{len(rows)} pairs"
        title = f"The {which} with the most errors, of {comparison.differing_pairs:,} that {known}"
        title += _tie_words(
            comparison.pair_errors, len(rows), "pairs of variables with more errors come first"
        )
    return Table(title, tuple(columns), tuple(rows), key="worst pairs")


def variables_tables(comparison: Comparison, top: int = 10) -> list[Table]:
    """Return the table of the variables with the most errors, if there are errors."""
    wrong = [variable for variable in comparison.variables() if variable.errors]
    if not wrong:
        return []
    columns = Column("variable", "name"), Column("differs", "share", counts=True), *ERROR_COLUMNS
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (v.variable, *(Share(count, v.assertions) for count in (v.errors, v.fn, v.fp)))
        for v in wrong[:top]
    )
    title = "Variables by their errors: the share of the assertions about them that differ"
    if len(rows) < len(wrong):
        which = "variable" if len(rows) == 1 else f"{len(rows)} variables"
        title = f"The {which} with the most errors, of {len(wrong):,}"
        title += _tie_words([v.errors for v in wrong], len(rows), "in the order of the models")
    return [Table(title, columns, rows, key="variables")]


def _tie_words(values: Sequence[Number], shown: int, order: str) -> str:
    """Say if a list is cut between equal values, and which of them come first."""
    ranked = sorted(values, reverse=True)
    last = ranked[shown - 1]
    if ranked[shown] != last:
        return ""
    return f" ({ranked.count(last):,} tie; {order})"


def open_pairs_table(comparison: Comparison, top: int = 10) -> Table:
    """Return the unfinished pairs with the widest bounds."""
    rows = []
    sizes = [comparison.sizes[k] for k in comparison.unions.open.tolist()]
    for pair, size in zip(comparison.open_pairs, sizes, strict=True):
        low, high = comparison.pair_bounds(*pair).distance
        rows.append((PairName(*pair), Share(low, size), Share(high, size)))
    rows.sort(key=lambda row: row[1].value - row[2].value)
    columns = Column("pair", "name"), Column("differs in", "share"), Column("to", "share")
    title = "Unfinished pairs, the widest bounds first"
    if top < len(rows):
        title = f"The {top} unfinished pairs with the widest bounds, of {len(rows):,}"
    return Table(title, columns, tuple(rows[:top]), key="open pairs")


def guesses_table(guesses: Sequence[Guess]) -> Table:
    """Return one row per guess: its features, normalized distance, errors and rates."""
    keys = shown_in("guesses")
    columns = [Column("guess", "name"), Column("features", "count")]
    for key in keys:
        style: Style = "share" if key == "normalized" or key in COUNTS else "rate"
        columns.append(Column(MEASURES[key].label, style, counts=key == "normalized"))
    rows = tuple(
        (guess.title, guess.feature_count, *_guess_cells(guess.comparison, keys))
        for guess in guesses
    )
    return Table("Every guess against the true model", tuple(columns), rows, key="guesses")


def _guess_cells(c: Comparison, keys: Sequence[str]) -> Iterator[Cell]:
    """Yield the cells of a guess; while pairs are unfinished, only bounds of the distance."""
    rates = {} if len(c.unions.open) else c.rates()
    for key in keys:
        if len(c.unions.open):
            ends = (ratio(bound, c.total) for bound in c.distance_bounds)
            yield Interval(*ends) if key == "normalized" else None
        elif key == "normalized":
            yield Share(c.distance, c.total)
        elif key in COUNTS:
            yield Share(getattr(c, key), c.total)
        else:
            yield None if isnan(rates[key]) else rates[key]
