"""Ask for each pair of variables whether its association is the same in all groups of rows.

**Test.** For a pair A, B and all other variables: are the odds ratios of A and B equal in all
groups, given the others (`RowTests.same`)? The groups may differ in how often the states of A, B
and the others occur. Ordered variables, such as items of a questionnaire, have one odds ratio per
standard deviation of both, so a difference between two groups has one degree of freedom. Holm's
correction covers all pairs of variables.

**Verdicts.** *differs*: the corrected p-value is at most the level. *about the same*: the
uncorrected p-value is larger, and the interval of the ratio of odds ratios (90 % if the level is
0.05) lies between 1/margin and margin, for every two groups. *undecided*: everything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations
from math import exp, hypot, inf, log
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from contextwise.analysis.pair_rows import is_scale
from contextwise.comparison.question import Pair
from contextwise.comparison.two_models import compare
from contextwise.data.options import RowOptions, find_names, row_options
from contextwise.data.rows import Data, DataLike, as_data
from contextwise.distributions.potentials import distinct_rows
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.evidence.coded_rows import numeric_order
from contextwise.evidence.pair_records import Interaction, PairEffect
from contextwise.evidence.row_tests import RowTests
from contextwise.learning.base import Run, as_learner, fresh
from contextwise.models.domain import Domain
from contextwise.models.evidence import Effect
from contextwise.models.notation import Literal as ValueLiteral
from contextwise.models.structure import Structure, structure_of
from contextwise.support.arrays import BoolArray
from contextwise.support.effort import Effort, limited_reading
from contextwise.support.formatting import Printed, listed, plural
from contextwise.support.machine import one_thread
from contextwise.support.statistics import Z, holm

__all__ = ["Groups", "GroupsOfColumns", "groups"]

Verdict = Literal["differs", "about the same", "undecided"]
LEAST_ROWS = 20
"""The fewest rows of a group, and of the smallest group per stratum on average."""
MOST_GROUPS = 12


class Group(NamedTuple):
    """One group: its rows, the structure learned from them, and the variables that never vary."""

    name: str
    rows: int
    structure: Structure
    constant: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class GroupPair:
    """A pair of variables: whether groups differ in its association, and by how much."""

    first: str
    second: str
    given: tuple[str, ...]  #: held fixed
    left_out: tuple[str, ...]  #: too few rows to hold them fixed
    p_value: float
    method: str
    odds: tuple[Effect, ...]  #: of each group
    compared: PairEffect | None  #: what the odds ratios compare, as in the first group
    ratio: Effect | None  #: of the odds ratios of the second and the first of two groups
    verdict: Verdict
    adjusted: float  #: by Holm's correction over all pairs of variables
    between: tuple[tuple[str, str, float], ...]  #: pairs of groups with their corrected p
    trend: float | None  #: p of a linear change from group to group, if these are ordered

    @property
    def pair(self) -> Pair:
        """The names of the two variables."""
        return self.first, self.second


@dataclass(frozen=True, eq=False, repr=False)
class Groups(Printed):
    """The groups of one column, and how they differ in the association of each pair."""

    by: str
    groups: tuple[Group, ...]
    pairs: tuple[GroupPair, ...]  #: the smallest corrected p first
    level: float
    margin: float
    learner: str
    subject: str | None  #: the column of the subjects, if rows have any
    adjusted: float | None = None  #: p after Holm's correction, if there are several columns

    @property
    def domain(self) -> Domain:
        """The variables that are compared, without the group."""
        return self.groups[0].structure.domain

    @property
    def p_value(self) -> float:
        """The smallest corrected p-value of all pairs of variables."""
        return min(pair.adjusted for pair in self.pairs)

    @property
    def differing(self) -> tuple[GroupPair, ...]:
        """The pairs whose association differs between groups."""
        return tuple(pair for pair in self.pairs if pair.verdict == "differs")

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per pair of variables and group."""
        keys = ("first", "second", "verdict", "p_value", "adjusted", "method")
        return [
            {
                "by": self.by,
                **{key: getattr(pair, key) for key in keys},
                "given": ", ".join(pair.given),
                "left_out": ", ".join(pair.left_out),
                "group": group.name,
                "rows": group.rows,
                "odds_ratio": odds.value,
                "low": odds.low,
                "high": odds.high,
            }
            for pair in self.pairs
            for group, odds in zip(self.groups, pair.odds, strict=True)
        ]

    def document(self) -> dict[str, object]:
        """Return everything as a mapping for JSON."""
        keys = ("by", "p_value", "adjusted", "level", "margin", "learner", "subject")
        described = [
            {"group": g.name, "rows": g.rows, "constant": list(g.constant)} for g in self.groups
        ]
        distances = [
            (one.name, other.name, compare(one.structure, other.structure).normalized)
            for one, other in combinations(self.groups, 2)
        ]
        return {key: getattr(self, key) for key in keys} | {
            "groups": described,
            "distances": distances,
            "pairs": list(map(asdict, self.pairs)),
        }

    def __repr__(self) -> str:
        return f"Groups({self.by!r}, {len(self.groups)} groups, p={self.p_value:.3g})"


class GroupsOfColumns(Printed, list[Groups]):
    """The results of several columns, with Holm's correction over them."""

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per column, pair of variables and group."""
        return [record for each in self for record in each.records()]

    def document(self) -> dict[str, object]:
        """Return everything as a mapping for JSON."""
        return {"columns": [each.document() for each in self]}


# -- one pair of variables -------------------------------------------------------------------------

UNKNOWN = Effect("odds ratio", 1.0, 0.0, inf)


@dataclass(frozen=True)
class _Shared:
    """What the tests of all pairs share."""

    tests: RowTests
    by: str
    names: tuple[str, ...]  # of the groups
    level: float
    margin: float

    @cached_property
    def within(self) -> list[RowTests]:
        """The rows of each group, in the order of `names`."""
        data = self.tests.data
        column = data.rows[:, data.domain.position(self.by)]
        parts = (_only(data, column == group) for group in range(len(self.names)))
        return [RowTests(part, level=self.level, seed=self.tests.seed) for part in parts]

    def widened(self, low: float, high: float, level: float) -> tuple[float, float]:
        """Return the ends of an interval of another level than 95 %, on the log scale."""
        from scipy.special import ndtri

        if not 0 < low <= high < inf:
            return low, high
        middle, half = log(low * high) / 2, log(high / low) / 2
        half *= float(ndtri((1 + level) / 2) / ndtri(0.975))
        return exp(middle - half), exp(middle + half)


def _only(data: Data, inside: BoolArray) -> Data:
    """Return some of the distinct rows."""
    return replace(
        data,
        rows=data.rows[inside],
        multiplicity=None if data.multiplicity is None else data.multiplicity[inside],
        subjects=None if data.subjects is None else data.subjects[inside],
        row_weights=None if data.row_weights is None else data.row_weights[inside],
    )


def _judged(shared: _Shared, tested: Interaction, adjusted: float) -> GroupPair:
    """Return the verdict about a pair, with the odds ratios of each group."""
    twos = list(combinations(range(len(shared.names)), 2))
    differs, p_value = adjusted <= shared.level, 1.0 if tested.p is None else tested.p
    between: tuple[tuple[str, str, float], ...] = ()
    verdict: Verdict = "differs" if differs else "undecided"
    if len(twos) == 1:
        found = [tested]
    elif differs or p_value > shared.level:
        found = [_between(shared, tested.pair, two) for two in twos]
        if differs:
            p_values = holm([1.0 if each.p is None else each.p for each in found])
            named = [(shared.names[i], shared.names[j]) for i, j in twos]
            between = tuple((*two, p) for two, p in zip(named, p_values, strict=True))
    else:
        found = []
    if not differs and p_value > shared.level and found and _is_alike(shared, found):
        verdict = "about the same"
    ratio = None
    if len(twos) == 1 and tested.ratio is not None:
        ends = (tested.ratio_low or 0.0, tested.ratio_high or inf)
        ratio = Effect("odds ratio", tested.ratio, *shared.widened(*ends, 1 - shared.level))
    odds, compared = _odds(shared, tested.pair)
    return GroupPair(
        *tested.pair,
        given=tested.given,
        left_out=tested.left_out,
        p_value=p_value,
        method=tested.method,
        odds=odds,
        compared=compared,
        ratio=ratio,
        verdict=verdict,
        adjusted=adjusted,
        between=between,
        trend=tested.trend_p if len(twos) > 1 else None,
    )


def _between(shared: _Shared, pair: Pair, two: tuple[int, int]) -> Interaction:
    """Compare two of the groups."""
    names = [shared.names[k] for k in two]
    where = [ValueLiteral(shared.by, tuple(names))]
    return shared.tests.same(pair, shared.by, where=where, effects=False)


def _is_alike(shared: _Shared, tested: Sequence[Interaction]) -> bool:
    """Check that all intervals of ratios of odds ratios are inside the margin."""
    for each in tested:
        if each.ratio_low is None or each.ratio_high is None:
            return False
        low, high = shared.widened(each.ratio_low, each.ratio_high, 1 - 2 * shared.level)
        if not 1 / shared.margin < low <= high < shared.margin:
            return False
    return True


def _odds(shared: _Shared, pair: Pair) -> tuple[tuple[Effect, ...], PairEffect | None]:
    """Return the odds ratio of each group, and what it compares.

    Of several odds ratios, take that which differs most between groups for its standard errors.
    """
    found: list[dict[tuple[str, ...], PairEffect]] = []
    for tests in shared.within:
        effects: tuple[PairEffect, ...] = ()
        if {*pair} <= {*tests.rows.names}:
            effects = tests.given(pair, contexts=False).effects
        ratios = (e for e in effects if e.kind in ("odds ratio", "odds ratio per step"))
        found.append({(e.kind, e.of, e.state, e.at, e.reference, e.against): e for e in ratios})
    every = dict.fromkeys(key for known in found for key in known)
    if not every:
        return (UNKNOWN,) * len(found), None

    def spread(key: tuple[str, ...]) -> float:
        known = [e for e in (one.get(key) for one in found) if e and 0 < e.low <= e.high < inf]
        places = [(log(e.estimate), log(e.high / e.low) / (2 * Z)) for e in known]
        return max((abs(x - y) / hypot(s, t) for (x, s), (y, t) in combinations(places, 2)
                    if s or t), default=0.0)  # fmt: skip

    key = max(every, key=spread)
    chosen = [one.get(key) for one in found]
    odds = (
        UNKNOWN
        if e is None
        else Effect("odds ratio", e.estimate, *shared.widened(e.low, e.high, 1 - shared.level))
        for e in chosen
    )
    return tuple(odds), next((e for e in chosen if e), None)


# -- reading the groups ----------------------------------------------------------------------------


def for_groups(options: RowOptions, by: Sequence[str]) -> RowOptions:
    """Read the columns of the groups as categories, not as IDs."""
    for name in by:
        if name in options.drop:
            raise ContextwiseError(f"the column {name!r} is needed for the groups; do not drop it")
        if name == options.subject or by.count(name) > 1:
            raise ContextwiseError(f"by and subject name a column twice: {name!r}")
    binned = {text.rpartition("=")[0] for text in options.bins}
    return options._replace(
        category=(*options.category, *(name for name in by if name not in binned)),
        columns=(*options.columns, *by) if options.columns else (),
    )


def grouped(data: Data, by: str) -> tuple[Data, bool]:
    """Return the rows with the groups that occur, in their order, and whether that is a scale."""
    domain, column = data.domain, data.domain.position(by)
    states, sizes = domain.states[column], data.counts()[column]
    in_order = numeric_order(states) or range(len(states))
    order = sorted(in_order, key=lambda state: not sizes[state])  # those that occur come first
    occurring = {states[state]: int(sizes[state]) for state in order if sizes[state]}
    _check_groups(by, occurring)
    if len(domain) < 3:
        raise ContextwiseError(
            f"there is nothing to compare: {plural(len(domain) - 1, 'variable')} next to {by!r}"
        )
    rows, counts = data.rows.copy(), data.multiplicity
    rows[:, column] = np.argsort(order)[rows[:, column]]
    known = dict(zip(domain.names, domain.states, strict=True)) | {by: tuple(occurring)}
    if data.subjects is None and data.row_weights is None:
        rows, counts = distinct_rows(rows, data.multiplicity)
    grouped = replace(data, domain=Domain(known), rows=rows, multiplicity=counts)
    return grouped, len(occurring) > 2 and is_scale(tuple(occurring))


def _check_groups(by: str, sizes: Mapping[str, int]) -> None:
    if len(sizes) < 2:
        present = f"one group, {next(iter(sizes))!r}" if sizes else "no rows"
        raise ContextwiseError(f"{by!r} has {present}; comparing needs at least two groups")
    small = [f"{name!r} ({size:,})" for name, size in sizes.items() if size < LEAST_ROWS]
    if len(sizes) > MOST_GROUPS:
        text = f"{by!r} has {len(sizes):,} groups, and at most {MOST_GROUPS} can be compared"
        raise ContextwiseError(
            f"{text}; choose another column, merge groups, or cut numbers into bins (--bins {by}=4)"
        )
    if small:
        raise ContextwiseError(
            f"groups of {by!r} have fewer than {LEAST_ROWS} rows: {listed(small)}; leave out their "
            "rows, or merge them with other groups"
        )


@overload
def groups(data: DataLike, by: str, learner: Any = ..., **options: Any) -> Groups: ...
@overload
def groups(
    data: DataLike, by: Sequence[str], learner: Any = ..., **options: Any
) -> GroupsOfColumns: ...
def groups(
    data: DataLike,
    by: str | Sequence[str],
    learner: Any = None,
    *,
    margin: float = 2.0,
    level: float = 0.05,
    seed: Any = 0,
    time_limit: float | None = None,
    show_progress: Any = False,
    **reading: Any,
) -> Groups | GroupsOfColumns:
    """Test for each pair of variables whether its association is the same in all groups of rows.

    Parameters
    ----------
    data : frame, array, list of rows, path, name of a data set, or Data
    by : column of the groups, or several; each column is tested, the others stay variables
    learner : Learner, class or name; finds the structure of each group
    margin : odds ratios that differ by less than this factor are called about the same
    level : level of the tests
    seed : seed of the draws, which tables of several states or groups with few rows need
    time_limit, show_progress : as in `stability`
    **reading : keywords of `read_data`, such as ``missing``, ``bins`` and ``subject``
        With subjects, the rows of one subject count together.

    Returns
    -------
    Groups, or GroupsOfColumns if ``by`` is a list

    Raises
    ------
    ContextwiseError
        If there are fewer than two or more than twelve groups, or a group has too few rows.

    Examples
    --------
    In the first group A and B are nearly equal, in the second they are independent.

    >>> equal = [["x", 0, 0], ["x", 1, 1]] * 40 + [["x", 0, 1], ["x", 1, 0]] * 4
    >>> free = [["y", a, b] for a in (0, 1) for b in (0, 1)] * 20
    >>> result = groups(equal + free, by="v0", learner="mpl")
    >>> pair = result.differing[0]
    >>> print(pair.pair, pair.odds[0], pair.odds[1])
    ('v1', 'v2') odds ratio 79 (20 to 315) odds ratio 1.00 (0.42 to 2.4)
    """
    from contextwise.learning import DEFAULT_LEARNER

    columns = [by] if isinstance(by, str) else list(by)
    if not columns:
        raise ContextwiseError("by must name at least one column of groups")
    if not 0 < level < 1:
        raise ContextwiseError(f"level must be between 0 and 1, got {level}")
    if margin <= 1:
        raise ContextwiseError(f"margin must be > 1, got {margin}")
    chosen = fresh(as_learner(learner or DEFAULT_LEARNER))
    effort = Effort.of(time_limit, show_progress=show_progress)
    with limited_reading(effort.deadline):
        data = as_data(data, None, for_groups(row_options(**reading), columns))
    chosen = chosen.settled(data)
    find_names(columns, data.domain.names)  # raises for a column that there is not
    results = GroupsOfColumns(
        _compared(data, column, chosen, level, margin, seed, effort) for column in columns
    )
    if isinstance(by, str):
        return results[0]
    corrected = holm([each.p_value for each in results])
    return GroupsOfColumns(
        replace(each, adjusted=p) for each, p in zip(results, corrected, strict=True)
    )


def _compared(
    data: Data, by: str, learner: Any, level: float, margin: float, seed: Any, effort: Effort
) -> Groups:
    data, ordered = grouped(data, by)
    column = data.domain.position(by)
    variables = data.domain.without([column])
    everyone = Data(variables, np.delete(data.rows, column, axis=1), data.weights)
    names = data.domain.states[column]
    inside = [data.rows[:, column] == group for group in range(len(names))]
    parts = [Data(variables, everyone.rows[mask], data.weights[mask]) for mask in inside]
    run = Run(effort.deadline, effort.show_progress)
    structures = [
        structure_of(learner.learn(rows, run)).aligned_to(variables)
        for rows in run.steps(parts, "learning")
    ]
    known = data.decisions.get("ordered", ())
    tests = RowTests(
        data, ordered=[*known, by] if ordered and by not in known else known, level=level, seed=seed
    )
    shared = _Shared(tests, by, names, level, margin)
    questions = [(p, by) for p in combinations((n for n in tests.rows.names if n != by), 2)]
    with one_thread():
        found = tests.interactions(questions, f"pairs by {by}", effects=False, effort=effort)
        if not run.finished or len(found) < len(questions):
            raise OpenResult("not all pairs were tested within the time limit; allow more time")
        if not found:
            raise ContextwiseError("there is nothing to compare: fewer than two variables vary")
        corrected = holm([1.0 if each.p is None else each.p for each in found])
        judged = [_judged(shared, each, p) for each, p in zip(found, corrected, strict=True)]
    varying = [np.ptp(rows.rows, axis=0) > 0 for rows in (everyone, *parts)]
    groups = [
        Group(name, len(rows), structure, tuple(np.array(variables.names)[varying[0] & ~varies]))
        for name, rows, structure, varies in zip(names, parts, structures, varying[1:], strict=True)
    ]
    return Groups(
        by=by,
        groups=tuple(groups),
        pairs=tuple(sorted(judged, key=lambda pair: (pair.adjusted, pair.p_value))),
        level=level,
        margin=margin,
        learner=learner.name,
        subject=None if data.subjects is None else data.decisions.get("subject"),
    )
