"""The result of a comparison: counts, rates, and what is known while pairs are open.

A time limit or Ctrl-C can leave pairs **open**: their unions are then known between proven bounds
(after Ctrl-C the comparison comes with the exception, `Interrupted`).
`Comparison.distance_bounds` is always there; whatever needs exact counts raises `OpenResult`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest
from math import isnan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np

from contextwise.comparison.confusion import (
    COUNTS,
    RATES,
    Confusion,
    ConfusionBounds,
    Number,
    Rates,
    ZeroDivision,
    confusion_bounds,
    ratio,
)
from contextwise.comparison.pairs import Contexts, Pair, pair_positions
from contextwise.comparison.question import Question, Restriction, pose
from contextwise.counting import DEFAULT, ObjectArray, PairCounts, get_engine
from contextwise.counting.extraction import contexts_of_pairs
from contextwise.counting.pair_counts import count_rows, tighten
from contextwise.errors import ContextwiseError, DomainError, OpenResult, require
from contextwise.formats import ModelLike
from contextwise.models.domain import Domain
from contextwise.models.features import IntArray
from contextwise.models.structure import Structure
from contextwise.support.deadline import NEVER, Deadline
from contextwise.support.formatting import is_readable, number, percent, plural
from contextwise.support.progress import Progress, progress_of
from contextwise.support.showing import Shown

if TYPE_CHECKING:
    import pandas

    from contextwise.comparison.estimate import OpenEstimates

__all__ = ["Comparison", "Interrupted", "VariableErrors", "answer", "compare", "distance"]

SHORT = 10**6
"""Counts out of fewer assertions than this are shown next to their shares."""


def distance_bounds(unions: PairCounts) -> tuple[Number, Number]:
    """Between which numbers the distance over all pairs lies, both included.

    These are the sums of the pairs' `confusion_bounds`; equal if no pair is open.

    >>> exact, least, most = ([[6, 5, 9]], [[6, 5, 6]], [[6, 5, 9]])
    >>> distance_bounds(PairCounts(np.array(exact, object), np.array(exact, object)))
    (7, 7)
    >>> distance_bounds(PairCounts(np.array(least, object), np.array(most, object)))
    (1, 7)
    """
    if not len(unions.open):
        a, b, u = unions.lower.sum(axis=0).tolist() if len(unions.lower) else (0, 0, 0)
        return 2 * u - a - b, 2 * u - a - b
    lower, upper = tighten(unions.lower, unions.upper)
    (a, b, u), (a_most, b_most, u_most) = lower.T, upper.T
    low = np.maximum(u - a_most, 0) + np.maximum(u - b_most, 0)
    high = np.minimum(u_most, 2 * u_most - a - b)
    return low.sum(), high.sum()


class VariableErrors(NamedTuple):
    """The errors in all pairs of one variable, out of so many assertions."""

    variable: str
    fp: Number
    fn: Number
    assertions: Number

    @property
    def errors(self) -> Number:
        """FP + FN."""
        return self.fp + self.fn

    @property
    def share(self) -> float:
        """The share of the assertions that involve the variable on which the models differ."""
        return ratio(self.errors, self.assertions) if self.assertions else 0.0


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a comparison; ``comparison`` has what is known by then.

    It is a `KeyboardInterrupt`, so that Ctrl-C ends what it always ends.
    """

    def __init__(self, comparison: Comparison) -> None:
        super().__init__("the comparison was interrupted")
        self.comparison = comparison


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown, Rates):
    """The confusion matrix of a guess against a true structure, per pair and in all.

    Attributes
    ----------
    question : the two models, and what was asked of them
    pairs : array of shape (p, 2)
        Positions of the pairs that were asked for and that a feature of either model covers.
    unions : the sizes of the three unions of each of these pairs, or bounds of them
    engine : which engine was asked for; `counted` says which ones counted
    zero_division : what a rate that would divide by zero is
    estimates : what is estimated of open pairs, if that was asked for and there are any

    Examples
    --------
    >>> from contextwise import compare
    >>> comparison = compare("lung", "lung-learned")
    >>> comparison.distance, comparison.pair("smoker", "asbestos"), comparison.recall
    (2, Confusion(tp=0, fn=1, fp=0, tn=1), 0.75)
    """

    question: Question
    pairs: IntArray
    unions: PairCounts
    engine: str = DEFAULT
    zero_division: ZeroDivision = "warn"
    estimates: OpenEstimates | None = None

    # -- what was asked --------------------------------------------------------------------------

    @property
    def true(self) -> Structure:
        """The true structure, over the domain of the comparison."""
        return self.question.structures[0]

    @property
    def guess(self) -> Structure:
        """The guessed structure, over the domain of the comparison."""
        return self.question.structures[1]

    @property
    def domain(self) -> Domain:
        """The domain over which the comparison was made."""
        return self.question.domain

    @property
    def contexts(self) -> Contexts:
        """What a context is."""
        return self.question.contexts

    @property
    def by_position(self) -> bool:
        """Whether the models were aligned by position instead of by names."""
        return self.question.align == "position"

    @property
    def pair_count(self) -> int:
        """The number of pairs that were asked for."""
        return self.question.pair_count

    @cached_property
    def sizes(self) -> Sequence[Number]:
        """What all contexts of each of `pairs` count together."""
        return self.question.sizes(self.pairs)

    @cached_property
    def total(self) -> Number:
        """The number of assertions, over all pairs that were asked for."""
        return self.question.total()

    # -- how it was counted ----------------------------------------------------------------------

    @property
    def counted(self) -> Mapping[str, int]:
        """How many of the unions, three per pair, each engine counted; or observed rows did."""
        return self.unions.counted

    @property
    def seconds(self) -> Mapping[str, float]:
        """Where the time went: extracting the covers, and counting, by engine."""
        return self.unions.seconds

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the counting."""
        return self.unions.interrupted

    @property
    def rests_on_ganak(self) -> bool:
        """Whether Ganak counted some of it.

        Its probabilistic caching errs, its authors say, with a probability below one in a billion;
        ``engine="native"`` is deterministic.
        """
        return self.counted.get("ganak", 0) > 0

    # -- what is known while pairs are open ------------------------------------------------------

    @property
    def open_pairs(self) -> list[Pair]:
        """The pairs that are not finished."""
        names = self.pair_names()
        return [names[k] for k in self.unions.open.tolist()]

    @cached_property
    def distance_bounds(self) -> tuple[Number, Number]:
        """Between which numbers the distance lies, both included; equal if no pair is open."""
        return distance_bounds(self.unions)

    def pair_bounds(self, first: str, second: str) -> ConfusionBounds:
        """Between which numbers the counts of one pair lie."""
        k = self._place(first, second)
        if k is None:
            nothing = (0, 0)
            return confusion_bounds(nothing, nothing, nothing, self._size_of(first, second))
        return self._bounds_at(k)

    def _bounds_at(self, k: int) -> ConfusionBounds:
        a, b, u = zip(self.unions.lower[k], self.unions.upper[k], strict=True)
        return confusion_bounds(a, b, u, self.sizes[k])

    # -- the counts ------------------------------------------------------------------------------

    @cached_property
    def counts(self) -> ObjectArray:
        """The tp, fn, fp, tn of each of `pairs`, exact: shape (p, 4)."""
        if len(self.unions.open):
            raise OpenResult(
                f"{len(self.unions.open)} of {len(self.pairs)} pairs are open, among them "
                f"{' – '.join(self.open_pairs[0])}: the distance lies between its "
                "distance_bounds; allow more time to know it"
            )
        return self.known_counts

    @cached_property
    def known_counts(self) -> ObjectArray:
        """The same as `counts` for the pairs that are finished, and None for open ones."""
        a, b, u = self.unions.lower.T
        contexts = np.array(self.sizes, dtype=object)
        counts = np.stack([a + b - u, u - b, u - a, contexts - u], axis=1)
        counts[self.unions.open] = None
        return counts

    @cached_property
    def confusion(self) -> Confusion:
        """The confusion matrix over all pairs; pairs that no feature covers are all TN."""
        tp, fn, fp, _ = (sum(column) for column in self.counts.T)
        return Confusion(tp, fn, fp, self.total - tp - fn - fp)

    @property
    def tp(self) -> Number:
        """Contexts in which both models have the dependence, over all pairs."""
        return self.confusion.tp

    @property
    def fn(self) -> Number:
        """Contexts in which only the true model has the dependence."""
        return self.confusion.fn

    @property
    def fp(self) -> Number:
        """Contexts in which only the guess has the dependence."""
        return self.confusion.fp

    @property
    def tn(self) -> Number:
        """Contexts in which neither model has the dependence."""
        return self.confusion.tn

    @property
    def distance(self) -> Number:
        """FP + FN, the metric of the paper."""
        return self.confusion.distance

    @property
    def normalized(self) -> float:
        """The distance over the number of assertions, in [0, 1]."""
        return self.confusion.normalized

    @cached_property
    def mean_pair_distance(self) -> float:
        """The mean over pairs of their share of differing contexts: each pair counts the same."""
        if not self.total:
            return 0.0
        errors = (self.counts[:, 1] + self.counts[:, 2]).tolist()
        return sum(map(ratio, errors, self.sizes)) / self.pair_count

    def rate(self, name: str, zero_division: ZeroDivision | None = None) -> float:
        """One rate by name; see `Confusion.rate`."""
        return self.confusion.rate(
            name, self.zero_division if zero_division is None else zero_division
        )

    def pair(self, first: str, second: str) -> Confusion:
        """The confusion matrix of one pair."""
        k = self._place(first, second)
        if k is None:
            return Confusion(0, 0, 0, self._size_of(first, second))
        if k in self.unions.open:
            raise OpenResult(f"the pair {first} – {second} is open; see pair_bounds")
        return Confusion(*self.known_counts[k])

    def _place(self, first: str, second: str) -> int | None:
        """Where a pair stands among `pairs`, or None if no feature covers it."""
        position = pair_positions(self.domain, (first, second))
        found = np.flatnonzero((self.pairs == position).all(axis=1))
        if len(found):
            return int(found[0])
        asked = self.question.asked
        if asked is not None and not (asked == position).all(axis=1).any():
            raise DomainError(f"this comparison leaves out the pair {first!r}, {second!r}")
        return None

    def _size_of(self, first: str, second: str) -> Number:
        """What all contexts of a pair count together."""
        return self.question.sizes(np.array([pair_positions(self.domain, (first, second))]))[0]

    def pair_names(self) -> list[Pair]:
        """The names of `pairs`."""
        names = self.domain.names
        return [(names[i], names[j]) for i, j in self.pairs.tolist()]

    def worst_pairs(self, most: int = 10) -> list[tuple[Pair, Confusion]]:
        """The pairs with the most errors, worst first; pairs without errors are left out.

        Of pairs with equally many errors, those come first whose variables have more errors in all.
        Open pairs are left out, too.
        """
        places, errors = self._differing
        names = self.domain.names
        both = self._errors_of_variables.sum(axis=1)[self.pairs[places]].sum(axis=1)
        worst = nlargest(most, range(len(errors)), key=lambda k: (errors[k], both[k]))
        found = [(self.pairs[k], self.known_counts[k]) for k in places[worst].tolist()]
        return [((names[i], names[j]), Confusion(*counts)) for (i, j), counts in found]

    @cached_property
    def _differing(self) -> tuple[IntArray, list[Number]]:
        """The places of the finished pairs that differ, and the errors of each."""
        finished = np.delete(np.arange(len(self.pairs)), self.unions.open)
        errors = self.known_counts[finished, 1] + self.known_counts[finished, 2]
        return finished[errors != 0], errors[errors != 0].tolist()

    @property
    def differing_pairs(self) -> int:
        """How many of the finished pairs differ."""
        return len(self._differing[0])

    @property
    def opposite_pairs(self) -> int:
        """How many of the finished pairs differ in every context."""
        places, errors = self._differing
        return sum(e == self.sizes[k] for k, e in zip(places.tolist(), errors, strict=True))

    @cached_property
    def _errors_of_variables(self) -> ObjectArray:
        """The FP and FN of the finished pairs of each variable: shape (n, 2)."""
        errors = np.zeros((len(self.domain), 2), dtype=object)
        places, _ = self._differing
        for end in (0, 1):
            np.add.at(errors, self.pairs[places, end], self.known_counts[places][:, [2, 1]])
        return errors

    def variables(self) -> list[VariableErrors]:
        """The errors of each variable, the largest share first.

        Returns
        -------
        list of VariableErrors
            One entry for each variable. Each error counts for both variables of its pair. Open
            pairs count as pairs without errors.

        Examples
        --------
        >>> from contextwise import compare
        >>> compare("lung", "lung-learned").variables()[0]
        VariableErrors(variable='asbestos', fp=1, fn=1, assertions=4)
        """
        rows = zip(
            self.domain.names,
            *self._errors_of_variables.T.tolist(),
            self.question.variable_sizes(),
            strict=True,
        )
        return sorted(map(VariableErrors._make, rows), key=lambda v: (-v.share, -v.errors))

    def summary(self) -> str:
        """The answer in sentences: how near, better than chance or not, and where the errors are.

        >>> from contextwise import Structure, compare
        >>> true = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
        >>> print(compare(true, Structure(true.domain, ["A=1 & B=1 & C=1"])).summary())
        50 % of all assertions differ (3 of 6): 33.3 % false negatives, 16.7 % false positives.
        No better than chance (kappa 0).
        3 of 3 pairs differ: A–B, A–C and B–C.
        """
        if len(self.unions.open):
            low, high = (percent(bound, self.total) for bound in self.distance_bounds)
            return (
                f"{low} to {high} of all assertions differ.\n"
                f"{len(self.unions.open):,} of {self.pair_count:,} pairs are unfinished; "
                "these are proven bounds."
            )
        c, differing = self.confusion, self.differing_pairs
        if not c.distance:
            return f"The models agree in all {number(c.total)} assertions."
        counts = f" ({number(c.distance)} of {number(c.total)})" if c.total < SHORT else ""
        kinds = sorted([(c.fp, "false positives"), (c.fn, "false negatives")], reverse=True)
        shares = ", ".join(f"{percent(count, c.total)} {kind}" for count, kind in kinds)
        split = f": {shares}" if c.fp and c.fn else f", all of them {kinds[0][1]}"
        pairs = f"{differing:,} of {plural(self.pair_count, 'pair')} differ{'s' * (differing == 1)}"
        if differing <= 3:
            pairs += f": {_listed([f'{a}–{b}' for (a, b), _ in self.worst_pairs(3)], 'and')}"
        elif self.opposite_pairs:
            pairs += f", {self.opposite_pairs:,} of them in every context"
        second = [self._chance_words(), self._carriers() if differing > 3 else ""]
        lines = [f"{percent(c.distance, c.total)} of all assertions differ{counts}{split}."]
        lines += [" ".join(filter(None, second)), f"{pairs}."]
        return "\n".join(filter(None, lines))

    def _chance_words(self) -> str:
        kappa = self.rate("kappa", float("nan"))
        if isnan(kappa):
            return ""
        words = "Better than" if kappa > 0 else "Worse than" if kappa < 0 else "No better than"
        return f"{words} chance (kappa {kappa:.2g})."

    def _carriers(self) -> str:
        """Name up to three variables with the most errors, if they stand out from the next one."""
        errors = [variable.errors for variable in self.variables()] + [0]
        clear = [k for k in (1, 2, 3) if errors[k - 1] > errors[k]]
        if not clear:
            return f"The errors are spread over {sum(map(bool, errors)):,} variables."
        named = [variable.variable for variable in self.variables()[: clear[-1]]]
        places, counts = self._differing
        positions = [self.domain.position(name) for name in named]
        inside = np.isin(self.pairs[places], positions).any(axis=1)
        carried: Number = np.array([0, *counts], dtype=object)[1:][inside].sum()
        return f"{percent(carried, self.distance)} of the errors involve {_listed(named, 'or')}."

    def to_frame(self, by: Literal["pair", "variable"] = "pair") -> pandas.DataFrame:
        """The counts of each pair as a pandas DataFrame (``pip install contextwise[frames]``).

        Parameters
        ----------
        by : ``"pair"`` for one row per pair, ``"variable"`` for the errors of each variable, the
            largest share first

        Returns
        -------
        pandas.DataFrame
            Names, exact counts, which can be too large for arithmetic in pandas, and the share that
            each is of the contexts of the pair or of the variable, as floats.

        Examples
        --------
        >>> from contextwise import compare
        >>> float(compare("lung", "lung-learned").to_frame()["fp_share"].mean())
        0.16666666666666666
        """
        pd = require("pandas", "frames")
        if len(self.unions.open):
            _ = self.counts  # raises OpenResult
        keys = VARIABLE_KEYS if by == "variable" else PAIR_KEYS
        records = variable_records(self) if by == "variable" else pair_records(self)
        rows = [list(record.values()) for record in records]
        frame: pandas.DataFrame = pd.DataFrame(rows, columns=list(keys), dtype=object)
        return frame.astype({key: np.float64 for key in keys if key.endswith("share")})

    def __repr__(self) -> str:
        if len(self.unions.open):
            low, high = self.distance_bounds
            pairs = f"{len(self.unions.open)} of {len(self.pairs)} pairs open"
            return f"Comparison(distance from {_short(low)} to {_short(high)}, {pairs})"
        c = self.confusion
        return (
            f"Comparison(distance={_short(c.distance)}, normalized={c.normalized:.4g}, "
            f"tp={_short(c.tp)}, fn={_short(c.fn)}, fp={_short(c.fp)}, tn={_short(c.tn)})"
        )


def _listed(words: Sequence[str], link: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {link} {words[-1]}"


def _short(value: Number) -> str:
    """A number for a line that is read: a long one by its size alone."""
    return str(value) if is_readable(value) else f"≈{number(value)}"


# -- flat records: the same keys in JSON, in CSV and in frames ----------------------------------

Record = dict[str, str | bool | Number | float | None]
DISTANCES = ("distance", "normalized", "mean_pair_distance")
SHARES = tuple(f"{key}_share" for key in COUNTS)
PAIR_KEYS = ("first", "second", *COUNTS, *SHARES)
VARIABLE_KEYS = (
    "variable", "assertions", "errors", "fp", "fn", "errors_share", "fp_share", "fn_share",
)  # fmt: skip


def comparison_record(comparison: Comparison) -> Record:
    """Return what was counted, the four counts, the distances and the rates.

    Undefined rates are None, and so are numbers that open pairs leave unknown.

    >>> record = comparison_record(compare("lung", "lung-learned"))
    >>> record["assertions"], record["tp"], record["distance"], record["false_positive_rate"]
    (6, 3, 2, 0.5)
    """
    c = comparison
    low, high = c.distance_bounds
    keys = (*COUNTS, *SHARES, *DISTANCES, *RATES)
    exact: Record = dict.fromkeys(keys)
    if not len(c.unions.open):
        counts = [c.tp, c.fn, c.fp, c.tn]
        exact = dict(zip((*COUNTS, *SHARES), (*counts, *_shares(counts)), strict=True))
        exact |= {key: getattr(c, key) for key in DISTANCES}
        exact |= {key: None if isnan(value) else value for key, value in c.rates().items()}
    record: Record = {
        "contexts": c.contexts,
        "by_position": c.by_position,
        "engine": c.engine,
        "pairs": c.pair_count,
        "assertions": c.total,
        **exact,
        "distance_lower": low,
        "distance_upper": high,
        "open_pairs": len(c.unions.open),
        "interrupted": c.interrupted,
        "rests_on_ganak": c.rests_on_ganak,
    }
    if c.estimates is not None:
        for kind, e in {"fp": c.estimates.fp, "fn": c.estimates.fn}.items():
            ends = {"": e.value, "_low": e.low, "_high": e.high}
            record |= {f"{kind}_estimate{end}": value for end, value in ends.items()}
    return record


def _shares(counts: Sequence[Number | None]) -> list[float | None]:
    """Return each count as a share of their sum; None if the sum is 0 or unknown."""
    known = [count for count in counts if count is not None]
    total = sum(known)
    if len(known) < len(counts) or not total:
        return [None] * len(counts)
    return [ratio(count, total) for count in known]


def _pair_record(pair: Pair, counts: Sequence[Number | None]) -> Record:
    return dict(zip(PAIR_KEYS, (*pair, *counts, *_shares(counts)), strict=True))


def pair_records(comparison: Comparison) -> Iterator[Record]:
    """Yield the counts of each pair that a feature covers; those of an open pair are None."""
    for pair, counts in zip(comparison.pair_names(), comparison.known_counts, strict=True):
        yield _pair_record(pair, counts)


def variable_records(comparison: Comparison) -> Iterator[Record]:
    """Yield the errors of each variable, the largest share first."""
    for variable in comparison.variables():
        counts = variable.errors, variable.fp, variable.fn
        shares = (ratio(count, variable.assertions or 1) for count in counts)
        values = (variable.variable, variable.assertions, *counts, *shares)
        yield dict(zip(VARIABLE_KEYS, values, strict=True))


def open_pair_records(comparison: Comparison) -> Iterator[Record]:
    """Yield the bounds of the distance of each open pair."""
    for first, second in comparison.open_pairs:
        low, high = comparison.pair_bounds(first, second).distance
        yield {"first": first, "second": second, "distance_lower": low, "distance_upper": high}


def worst_pair_records(comparison: Comparison, most: int) -> Iterator[Record]:
    """Yield the counts of the pairs with the most errors, worst first."""
    for pair, c in comparison.worst_pairs(most):
        yield _pair_record(pair, (c.tp, c.fn, c.fp, c.tn))


# -- How far apart two structures are: the confusion matrix over all pairs and contexts.


def compare(
    true: ModelLike,
    guess: ModelLike,
    *,
    engine: str = DEFAULT,
    time_limit: float | None = None,
    threads: int | None = None,
    estimate: bool = False,
    zero_division: ZeroDivision = "warn",
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Comparison:
    """Compare the independence structures of two models, exactly.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
    engine : name of an engine; see ``contextwise engines``
    time_limit : seconds, optional
        Pairs that are not finished by then stay open, with proven bounds. So they do after Ctrl-C,
        which raises `Interrupted` with what is known.
    threads : int, optional
        How many threads or processes count; as many as there are cores if not given.
    estimate : bool
        Whether false positives and false negatives of pairs that stay open are estimated by
        sampling, with intervals, beside their proven bounds; see ``Comparison.estimates``.
    zero_division : number or "warn"
        What a rate that would divide by zero is.
    show_progress : bool or function
        A line on standard error, or a function of (pairs done, pairs in all).
    **restriction
        What is compared, if not everything. These keywords mean the same wherever models are
        compared:

        pairs : pairs of names
            Only these pairs.
        variables : names
            Only the pairs inside this set; contexts still range over all other variables.
        context : partial assignment
            Only contexts that agree with it; pairs that contain a variable of it are left out. The
            same as comparing the two restrictions.
        data : rows of observed assignments
            The contexts that occur in these rows, as often as they occur, instead of all contexts.
            See `Domain.encode` for what rows can be.
        weights : mapping from names to the probabilities of their states
            Contexts count by their probability when the variables are drawn independently; those of
            a pair count 1 together, and the distance is the expected number of pairs on which the
            models disagree. Variables that are not named are uniform. See
            `comparison.context_weights`, which also takes them from data.
        contexts : "fully-contextualized" or "canonical"
            See `contextwise.comparison.pairs`.
        align : "names" or "position"
            What says which variables and states are the same: their names and labels, or their
            order; then the names are those of the true model.
        zero_weights : "keep" or "drop"
            Whether features whose weight is exactly 0 count as structure.

    Returns
    -------
    Comparison

    Raises
    ------
    DomainError
        If the models do not align, or something that was asked for does not exist.
    Interrupted
        After Ctrl-C; it has the comparison as far as it got.

    Examples
    --------
    Under X0=0 all three variables interact; the guess lacks the interaction of X1 and X2.

    >>> from contextwise import Structure
    >>> domain = {"X0": 2, "X1": 2, "X2": 2}
    >>> true = Structure(domain, ["X0=0 & X1=1 & X2=1"])
    >>> guess = Structure(domain, ["X0=0 & X1=1", "X0=0 & X2=1"])
    >>> compare(true, guess)
    Comparison(distance=3, normalized=0.5, tp=2, fn=1, fp=2, tn=1)
    >>> compare(true, guess, context="X0=0").distance
    1
    """
    deadline = Deadline.after(time_limit)
    question = pose([true, guess], **restriction)
    comparison = answer(
        question,
        engine=engine,
        deadline=deadline,
        threads=threads,
        zero_division=zero_division,
        show_progress=show_progress,
    )
    if comparison.interrupted:
        raise Interrupted(comparison)
    if estimate and comparison.open_pairs:
        from contextwise.comparison.estimate import estimate_open_pairs  # it loads much

        return replace(comparison, estimates=estimate_open_pairs(comparison))
    return comparison


def distance(true: ModelLike, guess: ModelLike, **options: Any) -> Number:
    """The distance alone: ``compare(true, guess, **options).distance``.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
    **options
        Those of `compare`.

    Returns
    -------
    int, or Fraction if contexts have weights

    Examples
    --------
    >>> distance("lung", "lung-learned")
    2
    """
    return compare(true, guess, **options).distance


def answer(
    question: Question,
    *,
    engine: str = DEFAULT,
    deadline: Deadline = NEVER,
    threads: int | None = None,
    zero_division: ZeroDivision = "warn",
    show_progress: bool | Progress = False,
) -> Comparison:
    """Compare the two models of a question that has been posed."""
    pairs = question.active_pairs()
    unions = _count(question, pairs, engine, deadline, threads, show_progress)
    return Comparison(question, pairs, unions, engine, zero_division)


def _count(
    question: Question,
    pairs: IntArray,
    engine: str,
    deadline: Deadline,
    threads: int | None,
    show_progress: bool | Progress,
) -> PairCounts:
    """The three unions of each pair: of all contexts, or of those of the observed rows."""
    chosen = get_engine(engine)
    if threads is not None and threads < 1:
        raise ContextwiseError(f"threads is a number from 1 up, not {threads}")
    a, b = (structure.features for structure in question.structures)
    if question.rows is not None:
        return count_rows(a, b, pairs, question.rows, canonical=question.canonical)
    with progress_of(show_progress, "comparing pairs") as progress:
        unions = chosen.count_pairs(
            a,
            b,
            pairs,
            canonical=question.canonical,
            value_weights=question.value_weights,
            deadline=deadline,
            threads=threads,
            progress=progress,
        )
    if question.value_weights is None:
        return unions
    weighted = [sum(own) for own in question.value_weights]
    return unions.shares_of(contexts_of_pairs(weighted, pairs, question.canonical))
