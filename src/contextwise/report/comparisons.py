"""Comparisons as parts to show: counts, rates, the worst pairs, and what limits them.

`comparison_parts` is one guess in full, `guesses_parts` several beside each other. Every rendering
(terminal, page, notebook, explorer) shows these parts; the words stand here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Literal

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import ratio
from contextwise.comparison.pairs import Pair
from contextwise.report.notes import (
    Medium,
    alignment_notes,
    estimate_notes,
    ganak_notes,
    open_guesses_note,
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
    Table,
)
from contextwise.report.shares import Shares, shares_of

if TYPE_CHECKING:
    from contextwise.comparison.explain import Explanation
    from contextwise.evaluation.chance import Chance
    from contextwise.evaluation.check import Check

DISTANCES = {
    "distance": ("distance", "The assertions on which the models differ: FP + FN."),
    "normalized": ("normalized", "The distance as a share of all assertions."),
    "mean_pair_distance": (
        "mean pair distance",
        "The mean over pairs of the share of contexts that differ: each pair counts the same.",
    ),
}
OF_DEPENDENCIES = {
    "precision": ("precision", "The share of the guess's dependencies that are true."),
    "recall": ("recall", "The share of the true dependencies that the guess has."),
    "f1": ("F1", "The harmonic mean of precision and recall."),
    "jaccard": ("Jaccard", "The dependencies of both models over the dependencies of either."),
}
OF_ASSERTIONS = {
    "accuracy": ("accuracy", "The share of assertions on which the models agree."),
    "mcc": ("MCC", "Matthews' correlation of the two models' assertions, from -1 to 1."),
    "kappa": ("kappa", "Cohen's kappa: the agreement beyond what chance would give."),
    "false_positive_rate": (
        "false positive rate",
        "The share of the true independencies that the guess lacks.",
    ),
    "false_negative_rate": (
        "false negative rate",
        "The share of the true dependencies that the guess lacks.",
    ),
}
LABELS = {
    key: label for key, (label, _) in (DISTANCES | OF_DEPENDENCIES | OF_ASSERTIONS).items()
} | {"tp": "TP", "fn": "FN", "fp": "FP", "tn": "TN"}
"""The names of counts, distances and rates for readers."""
SEVERAL = (
    "distance", "normalized", "tp", "fn", "fp", "tn", "precision", "recall", "f1", "mcc",
)  # fmt: skip
"""What a table of several guesses shows of each."""
COUNTED = ("distance", "tp", "fn", "fp", "tn")


@dataclass(frozen=True, eq=False)
class Guess:
    """A guess and its comparison with the true model: what commands, pages and explorer pass on.

    Attributes
    ----------
    name : name or path, as given
    comparison : with the true model
    label : short name for tables; by default the name
    features : number of features of the guess as read; a restriction can leave fewer to compare
    zero_weights : number of its features of weight 0
    group : the group that it belongs to, such as the repeats of one learner; empty for none
    explanation, chance, check : further results, where they were computed
    """

    name: str
    comparison: Comparison
    label: str = ""
    features: int | None = None
    zero_weights: int = 0
    group: str = ""
    explanation: Explanation | None = None
    chance: Chance | None = None
    check: Check | None = None

    @property
    def title(self) -> str:
        """The label, or the name where there is none."""
        return self.label or self.name

    @property
    def feature_count(self) -> int:
        """The number of features as read."""
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
    """One guess in full: the confusion matrix, the measures, the worst pairs, and notes.

    Parameters
    ----------
    comparison : of the guess with the true model
    top : how many of the worst pairs, and of the pairs that are least known
    medium : where the parts are read

    Returns
    -------
    list of parts

    Examples
    --------
    >>> from contextwise import Structure, compare
    >>> from contextwise.report.text import as_text
    >>> domain = {"X0": 2, "X1": 2, "X2": 2}
    >>> true = Structure(domain, ["X0=0 & X1=1 & X2=1"])
    >>> guess = Structure(domain, ["X0=0 & X1=1", "X0=0 & X2=1"])
    >>> print(as_text(comparison_parts(compare(true, guess), top=1)))
                      guess dependent  guess independent
    true dependent                  2                  1
    true independent                2                  1
    <BLANKLINE>
    distance            3       precision  0.5000  accuracy             0.5000
    normalized          0.5000  recall     0.6667  MCC                  0
    mean pair distance  0.5000  F1         0.5714  kappa                0
                                Jaccard    0.4000  false positive rate  0.6667
                                                   false negative rate  0.3333
    <BLANKLINE>
    The pair with the most errors, of 3 that differ:
    pair     errors  of  FN  FP
    X0 – X1       1   2   0   1
    """
    parts: list[Part] = []
    if len(comparison.unions.open):
        parts += [open_note(comparison), measures(comparison), *estimate_notes(comparison)]
        if top:
            parts.append(open_pairs_table(comparison, top))
    else:
        parts += [confusion_table(comparison), measures(comparison)]
    parts += alignment_notes([comparison]) if medium != "command" else []
    parts += ganak_notes([comparison])
    if top:
        parts.append(worst_pairs(comparison, top))
    return [*parts, *rounding_notes(parts, medium)]


def guesses_parts(guesses: Sequence[Guess], *, medium: Medium = "command") -> list[Part]:
    """Several guesses beside each other, one row per guess, and notes on all of them.

    Parameters
    ----------
    guesses : all compared with one true model
    medium : where the parts are read

    Returns
    -------
    list of parts
    """
    found = [guess.comparison for guess in guesses]
    parts: list[Part] = [guesses_table(guesses)]
    if any(len(c.unions.open) for c in found):
        parts.append(open_guesses_note({guess.title: guess.comparison for guess in guesses}))
    return [*parts, *ganak_notes(found), *rounding_notes(parts, medium)]


def confusion_table(comparison: Comparison) -> Table:
    """The confusion matrix, over all pairs."""
    c = comparison.confusion
    columns = (
        Column("", "words"),
        Column("guess dependent", "count"),
        Column("guess independent", "count"),
    )
    rows = (("true dependent", c.tp, c.fn), ("true independent", c.fp, c.tn))
    return Table(f"Confusion matrix over {scope_words(comparison)}", columns, rows, key="confusion")


def measures(comparison: Comparison) -> Measures:
    """The distances and the rates; while pairs are open, between which values the distance lies."""
    c = comparison
    if len(c.unions.open):
        low, high = c.distance_bounds
        shares = Interval(ratio(low, c.total), ratio(high, c.total))
        values: dict[str, Cell] = {"distance": Interval(low, high), "normalized": shares}
        known = {key: DISTANCES[key] for key in values}
        return Measures((tuple(_measures(known, values)),))
    rates = {key: None if isnan(value) else value for key, value in c.rates().items()}
    own = {key: getattr(c, key) for key in DISTANCES}
    groups = (DISTANCES, own), (OF_DEPENDENCIES, rates), (OF_ASSERTIONS, rates)
    return Measures(tuple(tuple(_measures(labels, values)) for labels, values in groups))


def _measures(
    labels: Mapping[str, tuple[str, str]], values: Mapping[str, Cell]
) -> Iterator[Measure]:
    for key, (label, meaning) in labels.items():
        style: Literal["count", "rate"] = "count" if key == "distance" else "rate"
        yield Measure(key, label, values[key], style, meaning)


def worst_pairs(comparison: Comparison, top: int = 10) -> Table | Note:
    """The pairs with the most errors, worst first; or a note that there are none.

    Parameters
    ----------
    comparison : whose pairs are ranked; open pairs are not among them
    top : how many

    Returns
    -------
    Table or Note
    """
    some_open = bool(len(comparison.unions.open))
    differing = comparison.differing_pairs
    if not differing:
        return Note("nothing", f"No pair {'that is finished ' if some_open else ''}differs.")
    columns = (
        Column("pair", "name"),
        Column("errors", "count"),
        Column("of", "count"),
        Column("FN", "count"),
        Column("FP", "count"),
    )
    rows = tuple(
        (PairName(*pair), c.distance, c.total, c.fn, c.fp)
        for pair, c in comparison.worst_pairs(top)
    )
    return Table(_worst_title(len(rows), differing, some_open), columns, rows, key="worst pairs")


def _worst_title(shown: int, differing: int, some_open: bool) -> str:
    known = "are known to differ" if some_open else "differ"
    if shown == differing:
        return f"All pairs that {known}"
    which = "pair" if shown == 1 else f"{shown} pairs"
    return f"The {which} with the most errors, of {differing:,} that {known}"


def open_pairs_table(comparison: Comparison, top: int = 10) -> Table:
    """The open pairs that are least known, with the bounds of their errors.

    Parameters
    ----------
    comparison : with open pairs
    top : how many

    Returns
    -------
    Table
    """
    bounds = {pair: comparison.pair_bounds(*pair).distance for pair in comparison.open_pairs}
    widest = sorted(bounds, key=lambda pair: bounds[pair][0] - bounds[pair][1])[:top]
    columns = Column("pair", "name"), Column("errors from", "count"), Column("to", "count")
    rows = tuple((PairName(*pair), *bounds[pair]) for pair in widest)
    title = "Open pairs, the least known first"
    if len(widest) < len(bounds):
        title = f"The {len(widest)} open pairs that are least known, of {len(bounds):,}"
    return Table(title, columns, rows, key="open pairs")


def guesses_table(guesses: Sequence[Guess]) -> Table:
    """One row per guess: its features, distance, counts and rates."""
    columns = [Column("guess", "name"), Column("features", "count")]
    columns += [Column(LABELS[key], "count" if key in COUNTED else "rate") for key in SEVERAL]
    rows = tuple(
        (guess.title, guess.feature_count, *_guess_cells(guess.comparison)) for guess in guesses
    )
    return Table("Every guess against the true model", tuple(columns), rows, key="guesses")


def _guess_cells(c: Comparison) -> Iterator[Cell]:
    """Bounds of the distance, and nothing else, while pairs are open."""
    if len(c.unions.open):
        low, high = c.distance_bounds
        yield Interval(low, high)
        yield Interval(ratio(low, c.total), ratio(high, c.total))
        yield from (None for _ in SEVERAL[2:])
        return
    rates = c.rates()
    for key in SEVERAL:
        value = rates[key] if key in rates else getattr(c, key)
        yield None if isnan(value) else value
