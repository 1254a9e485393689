"""Compare two structures: the confusion matrix over all pairs and contexts, exactly.

A time limit or Ctrl-C can leave pairs **open**: they have proven bounds instead of counts.
`Comparison.distance_bounds` is always available; whatever needs exact counts raises `OpenResult`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from contextwise.comparison.confusion import (
    CAUSAL,
    COUNTS,
    MEASURES,
    Confusion,
    ConfusionBounds,
    Number,
    WholeMeasures,
    computed,
    confusion_bounds,
    digits,
    ratio,
)
from contextwise.comparison.question import Pair, Question, Restriction, pose
from contextwise.comparison.roles import Roles, peer_names
from contextwise.counting.contract import DEFAULT, get_engine
from contextwise.counting.pair_counts import CountArray, PairCounts, count_rows, tighten
from contextwise.errors import DomainError, OpenResult, require
from contextwise.formats import ModelLike
from contextwise.models.domain import Domain
from contextwise.models.features import PairIndex
from contextwise.models.structure import Structure
from contextwise.support.arrays import IntArray, ObjectArray
from contextwise.support.effort import QUIET, Effort, Progress
from contextwise.support.formatting import READABLE, Shown, renderers

if TYPE_CHECKING:
    import pandas

    from contextwise.comparison.estimate import OpenEstimates
    from contextwise.comparison.strengths import Strengths
    from contextwise.comparison.tolerances import AtTolerances


class VariableErrors(NamedTuple):
    """The errors in all pairs of one variable, and their share of the assertions of these pairs."""

    variable: str
    assertions: Number
    errors: Number
    fp: Number
    fn: Number
    share: float


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a comparison; the attribute ``comparison`` has the partial result."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__("the comparison was interrupted")
        self.comparison = comparison


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown, WholeMeasures):
    """The confusion matrix of a guess and a true structure, for each pair and over all pairs.

    Attributes
    ----------
    question : the two models, and what to compare
    pairs : positions of the compared pairs that a feature of either model covers, shape (p, 2)
    unions : sizes of the three unions of each of these pairs, or bounds; also ``interrupted``
    engine : name of the chosen engine
    estimates : estimates for open pairs, if requested and there are any
    strengths : how strong missed, invented and found dependencies are, if requested
    at : the counts at each tolerance, if requested

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
    estimates: OpenEstimates | None = None
    strengths: Strengths | None = None
    at: AtTolerances | None = None

    # -- the question ----------------------------------------------------------------------------

    @property
    def true(self) -> Structure:
        """The true structure, over the domain of the comparison."""
        return self.question.structures[0]

    @property
    def guess(self) -> Structure:
        """The guessed structure, over the domain of the comparison."""
        return self.question.structures[1]

    @property
    def roles(self) -> Roles:
        """The words for the two models: a true model and a guess, or the names of peers."""
        return self.question.roles

    def as_peers(self, first: str, second: str) -> Comparison:
        """Return the same comparison of two models of which neither is true, with their names."""
        names = peer_names((first, second), ("", ""))
        return replace(self, question=replace(self.question, peers=names))

    @property
    def domain(self) -> Domain:
        """The domain of the comparison."""
        return self.question.domain

    @cached_property
    def sizes(self) -> Sequence[Number]:
        """The total weight of the contexts of each of `pairs`."""
        return self.question.sizes(self.pairs)

    @cached_property
    def unit_sizes(self) -> CountArray:
        """The same in the unit of ``unions``, in which also many variables give small numbers."""
        return self.question.unit_sizes(self.pairs, self.unions.unit)

    @property
    def total(self) -> Number:
        """The number of assertions: the contexts of all compared pairs."""
        return self.question.total

    # -- bounds ----------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """True if some pair is unfinished, also at some tolerance."""
        return bool(len(self.unions.open_places)) or not (self.at is None or self.at.closed)

    @property
    def open_pairs(self) -> list[Pair]:
        """The unfinished pairs."""
        return self.pair_names(self.unions.open_places)

    @cached_property
    def distance_bounds(self) -> tuple[Number, Number]:
        """The least and the largest possible distance; equal if no pair is open."""
        if not len(self.unions.open_places):
            return self.distance, self.distance
        low, high = self.distances_at(slice(None))
        return self.unions.total(low), self.unions.total(high)

    def distances_at(self, places: IntArray | slice) -> tuple[CountArray, CountArray]:
        """Return bounds of the distances of the pairs at these places, in the unit of unions."""
        lower, upper = tighten(self.unions.low[places], self.unions.high[places])
        (a, b, u), (a_most, b_most, u_most) = lower.T, upper.T
        # |A ∪ B| - |A| are the errors of one kind, |A ∪ B| - |B| those of the other.
        low = np.maximum(u - a_most, 0) + np.maximum(u - b_most, 0)
        # The two kinds of errors are disjoint parts of the union, so it bounds their sum.
        return low, np.minimum(u_most, 2 * u_most - a - b)

    def pair_bounds(self, first: str, second: str) -> ConfusionBounds:
        """Return bounds of the counts of one pair."""
        k, size = self._find(first, second)
        if k is None:
            return confusion_bounds((0, 0), (0, 0), (0, 0), size)
        bounds = (self.unions.exact(bound[k]) for bound in (self.unions.low, self.unions.high))
        a, b, u = zip(*bounds, strict=True)
        return confusion_bounds(a, b, u, size)

    # -- the counts ------------------------------------------------------------------------------

    @cached_property
    def counts(self) -> ObjectArray:
        """The exact tp, fn, fp, tn of each of `pairs`: shape (p, 4)."""
        _ = self.confusion  # raises OpenResult
        return self.counts_at(slice(None))

    def counts_at(self, places: IntArray | slice) -> ObjectArray:
        """Return the counts of the pairs at these places, with None for open pairs."""
        counts = self.unions.exact(self.unit_counts[places])
        if len(self.unions.open_places):
            counts[np.isin(np.arange(len(self.pairs))[places], self.unions.open_places)] = None
        return counts

    @cached_property
    def unit_counts(self) -> CountArray:
        """The tp, fn, fp, tn of each of `pairs` in the unit of ``unions``, wrong for open pairs."""
        a, b, u = self.unions.low.T
        return np.stack([a + b - u, u - b, u - a, self.unit_sizes - u], axis=1)

    @cached_property
    def confusion(self) -> Confusion:
        """The confusion matrix over all pairs; pairs that no feature covers are all TN."""
        if len(self.unions.open_places):
            raise OpenResult(
                f"{len(self.unions.open_places)} of {len(self.pairs)} pairs are unfinished, for "
                f"example {' – '.join(self.open_pairs[0])}; use distance_bounds or allow more time"
            )
        return Confusion.of(self.unions.total(self.unions.low), self.total)

    def with_strengths(self) -> Comparison:
        """Return the same comparison with `strengths`, if no pair is open and a model has weights.

        >>> list(compare("lung", "lung-learned").with_strengths().strengths.samples)
        ['missed', 'invented', 'found']
        """
        from contextwise.comparison.strengths import strengths_of  # loads random generators

        return replace(self, strengths=strengths_of(self))

    # -- pairs -----------------------------------------------------------------------------------

    def pair(self, first: str, second: str) -> Confusion:
        """Return the confusion matrix of one pair."""
        k, size = self._find(first, second)
        if k is None:
            return Confusion(0, 0, 0, size)
        if k in self.unions.open_places:
            raise OpenResult(f"the pair {first} – {second} is unfinished; use pair_bounds")
        return Confusion(*self.counts_at(slice(k, k + 1))[0])

    def _find(self, first: str, second: str) -> tuple[int | None, Number]:
        """Return the place of a pair in `pairs`, None if no feature covers it, and its size."""
        position = self.domain.pair((first, second))
        size = self.question.sizes(np.array([position]))[0]
        place = self.place_of(position)
        if place is not None:
            return place, size
        pairs = self.question.asked
        if pairs is not None and not (pairs == position).all(axis=1).any():
            raise DomainError(f"this comparison leaves out the pair {first!r}, {second!r}")
        return None, size

    def place_of(self, pair: PairIndex) -> int | None:
        """Return the place of a pair in `pairs`; None if no feature covers it."""
        code = pair[0] * len(self.domain) + pair[1]
        place = bisect_left(self._codes, code)
        return place if place < len(self._codes) and self._codes[place] == code else None

    @cached_property
    def _codes(self) -> IntArray:
        """One rising number for each of `pairs`."""
        codes: IntArray = self.pairs @ (len(self.domain), 1)
        return codes

    def pair_names(self, places: IntArray | slice = slice(None)) -> list[Pair]:
        """Return the names of `pairs`, or of some of them."""
        names = self.domain.names
        return [(names[i], names[j]) for i, j in self.pairs[places].tolist()]

    def worst_pairs(self, most: int = 10) -> list[tuple[Pair, Confusion]]:
        """Return the finished pairs with the most errors, worst first.

        Ties are broken by the errors of the two variables over all pairs, then by their positions.
        """
        worst = self.worst_places(most)
        counts = (Confusion(*row) for row in self.counts_at(worst))
        return list(zip(self.pair_names(worst), counts, strict=True))

    def worst_places(self, most: int) -> IntArray:
        """Return the places of `worst_pairs`, in their order."""
        places, errors = self.differing
        if 0 < most < len(errors):  # only those as bad as the last one can be among the worst
            least = np.partition(errors, len(errors) - most)[len(errors) - most]
            places, errors = places[errors >= least], errors[errors >= least]
        both = self._errors_of_variables.sum(axis=1)[self.pairs[places]].sum(axis=1)
        return places[nlargest(most, range(len(errors)), key=lambda k: (errors[k], both[k]))]

    @cached_property
    def differing(self) -> tuple[IntArray, CountArray]:
        """The places of the finished pairs that differ; their errors in the unit of ``unions``."""
        finished = np.delete(np.arange(len(self.pairs)), self.unions.open_places)
        errors = self.unit_counts[finished, 1] + self.unit_counts[finished, 2]
        return finished[errors != 0], errors[errors != 0]

    @cached_property
    def _errors_of_variables(self) -> ObjectArray:
        """The FP and FN of the finished pairs of each variable, in units: shape (n, 2)."""
        places, _ = self.differing
        errors = self.unit_counts[places][:, [2, 1]].astype(object)  # sums could overflow
        sums = np.zeros((len(self.domain), 2), dtype=object)
        for end in (0, 1):
            np.add.at(sums, self.pairs[places, end], errors)
        return sums

    def variables(self) -> list[VariableErrors]:
        """Return the errors of each variable, the largest share first.

        Each error counts for both variables of its pair. Open pairs count as pairs without errors.

        >>> compare("lung", "lung-learned").variables()[0][:5]
        ('asbestos', 4, 2, 1, 1)
        """
        unit = self.unions.unit
        return [
            VariableErrors(name, size * unit, errors * unit, fp * unit, fn * unit, share)
            for name, size, errors, fp, fn, share in self.unit_variables
        ]

    @cached_property
    def unit_variables(self) -> list[VariableErrors]:
        """The same as `variables`, with counts in the unit of ``unions``."""
        variables = []
        sizes = self.question.variable_sizes(self.unions.unit)
        rows = zip(self._errors_of_variables.tolist(), sizes, strict=True)
        for name, ((fp, fn), size) in zip(self.domain.names, rows, strict=True):
            share = ratio(fp + fn, size) if size else 0.0
            variables.append(VariableErrors(name, size, fp + fn, fp, fn, share))
        return sorted(variables, key=lambda v: (-v.share, -v.errors))

    def summary(self) -> str:
        """Describe how near the models are, whether that beats chance, and where the errors are."""
        text: str = renderers().verdict_of(self)
        return text

    def to_frame(self) -> pandas.DataFrame:
        """Return a DataFrame (``pip install '.[frames]'``), one row per pair.

        It has the names, the exact counts, which can be too large for arithmetic in pandas, and the
        share that each is of the contexts of the pair, as floats.

        >>> float(compare("lung", "lung-learned").to_frame()["fp_share"].mean())
        0.16666666666666666
        """
        pd = require("pandas", "frames")
        _ = self.confusion  # raises OpenResult
        self.unions.require_memory(len(COUNTS) * len(self.pairs))
        rows = [list(record.values()) for record in pair_records(self)]
        frame: pandas.DataFrame = pd.DataFrame(rows, columns=list(PAIR_KEYS), dtype=object)
        return frame.astype(dict.fromkeys(SHARES, np.float64))

    def __repr__(self) -> str:
        if len(self.unions.open_places):
            low, high = self.distance_bounds
            pairs = f"{len(self.unions.open_places)} of {len(self.pairs)} pairs unfinished"
            return f"Comparison(distance from {_short(low)} to {_short(high)}, {pairs})"
        c = self.confusion
        return (
            f"Comparison(distance={_short(c.distance)}, normalized={c.normalized:.4g}, "
            f"tp={_short(c.tp)}, fn={_short(c.fn)}, fp={_short(c.fp)}, tn={_short(c.tn)})"
        )


def _short(value: Number) -> str:
    return digits(value, READABLE)


# -- flat records: the same keys in JSON, in CSV and in frames ----------------------------------

Record = dict[str, str | bool | Number | float | None]
SHARES = tuple(f"{key}_share" for key in COUNTS)
PAIRS_AT_ONCE = 4096
"""Number of pairs whose exact counts are made at once."""
PAIR_KEYS = ("first", "second", *COUNTS, *SHARES)


def comparison_record(comparison: Comparison) -> Record:
    """Return the options, the four counts, the distances and the rates.

    Undefined rates are None, and so are numbers that open pairs leave unknown.
    """
    c = comparison
    low, high = c.distance_bounds
    known = not len(c.unions.open_places)
    columns = sorted(MEASURES, key=lambda key: MEASURES[key].column != "counts")
    exact: Record = dict.fromkeys(key for key in columns if key not in CAUSAL)
    if known:
        exact = {**computed(c, columns)}
    record: Record = {
        "contexts": c.question.contexts,
        "by_position": c.question.align == "position",
        "peers": c.roles.peers,
        "engine": c.engine,
        "pairs": c.question.pair_count,
        "assertions": c.total,
        **exact,
        "distance_lower": low,
        "distance_upper": high,
        "open_pairs": len(c.unions.open_places),
        "interrupted": c.unions.interrupted or (c.at is not None and c.at.interrupted),
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


def pair_records(comparison: Comparison, places: IntArray | None = None) -> Iterator[Record]:
    """Yield the counts of the pairs at these places, by default of all that a feature covers.

    The counts of an open pair are None.
    """
    every = np.arange(len(comparison.pairs)) if places is None else places
    for first in range(0, len(every), PAIRS_AT_ONCE):  # all at once could fill the memory
        block = every[first : first + PAIRS_AT_ONCE]
        names = comparison.pair_names(block)
        for pair, counts in zip(names, comparison.counts_at(block), strict=True):
            yield dict(zip(PAIR_KEYS, (*pair, *counts, *_shares(counts)), strict=True))


def open_pair_records(comparison: Comparison) -> Iterator[Record]:
    """Yield the bounds of the distance of each open pair."""
    bounds = map(comparison.unions.exact, comparison.distances_at(comparison.unions.open_places))
    for (first, second), low, high in zip(comparison.open_pairs, *bounds, strict=True):
        yield {"first": first, "second": second, "distance_lower": low, "distance_upper": high}


# -- comparing -----------------------------------------------------------------------------------


def compare(
    true: ModelLike,
    guess: ModelLike,
    *,
    engine: str = DEFAULT,
    time_limit: float | None = None,
    threads: int | None = None,
    estimate: bool = False,
    strengths: bool = False,
    at: float | Sequence[float] | None = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Comparison:
    """Compare the independence structures of two models, exactly.

    Comparing a model again is cheaper: the counts of its own dependencies are kept with it.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
    engine : name of an engine; see ``contextwise info``
    time_limit : seconds, optional
        Unfinished pairs keep proven bounds. Ctrl-C raises `Interrupted`, which carries the partial
        result.
    threads : int, optional
        Number of threads or processes; by default one per core.
    estimate : bool
        Estimate the false positives and false negatives of unfinished pairs by sampling, with
        intervals; see ``Comparison.estimates``. Counting then takes at most half of the time limit.
    strengths : bool
        Also measure how strong the errors are, if no pair is open and a model has weights; see
        ``Comparison.strengths``.
    at : number or numbers, optional
        Also count only dependences stronger than these tolerances (absolute log odds ratios), at
        least one model needs weights. ``Comparison.at[0.1]`` then has ``distance``, ``fp``, ``fn``
        and ``bounds``; see `contextwise.comparison.tolerances`.
    show_progress : bool or function
        Show a line on standard error, or call a function of (pairs done, number of pairs).
    **restriction
        Compare only a part. These keywords mean the same wherever models are compared:

        pairs : pairs of names
            Only these pairs.
        variables : names
            Only the pairs inside this set; contexts still range over all other variables.
        context : partial assignment
            Only contexts that agree with it: ``"smoker=yes & age=young|old"``. A variable with one
            state is left out, one with several has these states. The same as comparing the two
            restricted models.
        data : rows of observed assignments
            The contexts of these rows, as often as they occur, instead of all contexts. See
            `contextwise.learning.as_data` for the accepted types.
        weights : mapping from names to the probabilities of their states
            Weight each context by its probability if the variables are drawn independently. The
            contexts of a pair then weigh 1 together, and the distance is the expected number of
            pairs on which the models disagree. Variables that are not named are uniform. See
            `comparison.context_weights`, which also takes the weights from data.
        contexts : "fully-contextualized" or "canonical"
            See `contextwise.comparison.question`.
        align : "names" or "position"
            Match variables and states by their names and labels, or by their order; the result
            then has the names of the true model.
        zero_weights : "keep" or "drop"
            Whether features whose weight is exactly 0 belong to the structure.
        peers : bool, or the names of the two models
            Neither model is true: sentences, tables and pictures call the models by these names,
            by default those of their files, and do not mention errors. The counts are
            the same; ``fn`` counts the contexts that depend only in the first model, ``fp`` in the
            second.

    Raises
    ------
    DomainError
        If the models do not align, or a name or state does not exist.
    Interrupted
        After Ctrl-C.

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
    whole = effort = Effort.of(time_limit, threads=threads, show_progress=show_progress)
    question = pose([true, guess], **restriction)
    if at is not None:
        from contextwise.comparison import tolerances  # most comparisons do not need them

        at = tolerances.checked(at)
        tolerances.require_weights(question)
    if time_limit and (estimate or at):  # half of the time is for what follows
        effort = replace(effort, deadline=effort.deadline.sooner(time_limit / 2))
    comparison = answer(question, effort, engine=engine)
    if comparison.unions.interrupted:
        raise Interrupted(comparison)
    if at is not None:
        counted = tolerances.count_at(question, at, whole)
        comparison = replace(comparison, at=counted)
        if counted.interrupted:
            raise Interrupted(comparison)
    if estimate and len(comparison.unions.open_places):
        from contextwise.comparison.estimate import estimate_open_pairs  # loads SciPy

        return replace(comparison, estimates=estimate_open_pairs(comparison))
    return comparison.with_strengths() if strengths else comparison


def distance(true: ModelLike, guess: ModelLike, **options: Any) -> Number:
    """Return the distance alone: ``compare(true, guess, **options).distance``.

    Parameters
    ----------
    true, guess, **options : as in `compare`

    Returns
    -------
    int, or Fraction if contexts have weights

    Examples
    --------
    >>> distance("lung", "lung-learned")
    2
    """
    return compare(true, guess, **options).distance


def answer(question: Question, effort: Effort = QUIET, *, engine: str = DEFAULT) -> Comparison:
    """Compare the two models of a question; the result may have open pairs or be interrupted."""
    chosen = get_engine(engine)
    a, b = (structure.features for structure in question.structures)
    pairs, space = question.active_pairs(), question.space
    if question.rows is not None:
        unions = count_rows(a, b, pairs, question.rows, space=space)
        return Comparison(question, pairs, unions, chosen.name)
    with effort.showing("comparing pairs") as shown:
        unions = chosen.count_pairs(a, b, pairs, shown, space=space)
    if space.weights is not None:
        unions = unions.shares_of(space, question.domain.cardinalities, pairs)
    return Comparison(question, pairs, unions, chosen.name)
