"""Ask for each pair of variables whether its association is the same in all groups of rows.

**Test.** For a pair A, B and a set Z of other variables: in every combination of states of Z, are
the odds ratios of A and B equal in all groups (`contextwise.evidence.equal_odds`)? The groups may
differ in how often A, B and Z occur. Holm's correction covers all pairs of variables.

**Z** separates A and B, apart from their own edge, in the graph of all edges that a learner finds
in all rows together or in one group. So a difference elsewhere does not show up here. Z stops
growing when the smallest group would have fewer than 20 rows per stratum on average; what was left
out is reported.

**Verdicts.** *differs*: the corrected p-value is at most the level. *about the same*: the
uncorrected p-value is larger, and the interval of the ratio of odds ratios (90 % if the level is
0.05) lies between 1/margin and margin, on average over the strata. *undecided*: everything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from contextwise.analysis.pair_rows import grouped_tables, is_scale, numeric_order, rows_where
from contextwise.comparison.error_regions import explain
from contextwise.comparison.question import Pair
from contextwise.comparison.two_models import compare
from contextwise.data.options import RowOptions, find_names, row_options
from contextwise.data.rows import Data, DataLike, as_data
from contextwise.distributions.potentials import distinct_rows
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.evidence.equal_odds import (
    Equality,
    Floats,
    Method,
    Trend,
    TwoStates,
    block_of,
    clearest_states,
    equality_test,
    odds_ratio,
    of_groups,
    paired_equality,
    trend_test,
    two_state_tables,
)
from contextwise.evidence.free_counts import GROUP_SIGNS, FreeCounts
from contextwise.evidence.verdicts import marginal_strengths
from contextwise.independence.claims import group_rows
from contextwise.learning.base import Run, as_learner, fresh
from contextwise.learning.graphs import separator
from contextwise.models.domain import Domain
from contextwise.models.evidence import Effect
from contextwise.models.notation import Literal as ValueLiteral
from contextwise.models.notation import in_words
from contextwise.models.structure import Structure, structure_of
from contextwise.support.arrays import BoolArray
from contextwise.support.effort import Effort
from contextwise.support.formatting import Printed, listed, plural
from contextwise.support.statistics import holm

__all__ = ["Groups", "GroupsOfColumns", "groups"]

Verdict = Literal["differs", "about the same", "undecided"]
LEAST_ROWS = 20
"""The fewest rows of a group, and of the smallest group per stratum on average."""
MOST_GROUPS = 12
REGIONS = 3
"""Number of regions per pair in which the structures of two groups differ."""


class Group(NamedTuple):
    """One group: its rows, the structure learned from them, and the variables that never vary."""

    name: str
    rows: int
    structure: Structure
    constant: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """The same test among some of the rows."""

    when: str  #: the states of these rows, in words
    p_value: float
    adjusted: float  #: by Holm's correction within the pair
    odds: tuple[Effect, ...]  #: of each group


@dataclass(frozen=True, eq=False)
class GroupPair:
    """A pair of variables: whether groups differ in its association, by how much, and where."""

    first: str
    second: str
    given: tuple[str, ...]  #: held fixed
    left_out: tuple[str, ...]  #: should be held fixed, but there are too few rows
    p_value: float
    method: Method
    odds: tuple[Effect, ...]  #: of each group, on average over the strata
    states: tuple[Pair, ...]  #: that the odds compare, as (reference, other) of each variable
    ratio: Effect | None  #: of the odds ratios of the second and the first of two groups
    verdict: Verdict
    adjusted: float  #: by Holm's correction over all pairs of variables
    places: tuple[Place, ...]
    between: tuple[tuple[str, str, float], ...]  #: pairs of groups with their corrected p
    trend: Trend | None

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


@dataclass(frozen=True)
class _Shared:
    """What the tests of all pairs share."""

    data: Data  # with the column of the groups, whose states all occur
    by: str
    ordered: bool
    structures: Sequence[Structure]  # of all rows, then of each group
    level: float
    margin: float
    rng: np.random.Generator

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The groups."""
        return self.data.domain.states[self.data.domain.position(self.by)]

    @cached_property
    def twos(self) -> list[tuple[int, int]]:
        """The pairs of groups."""
        return list(combinations(range(len(self.names)), 2))

    @cached_property
    def edges(self) -> BoolArray:
        """The edges of all rows, or of a group."""
        edges = np.zeros((len(self.data.domain),) * 2, dtype=bool)
        for pair in {pair for structure in self.structures for pair in structure.pairs()}:
            a, b = self.data.domain.pair(pair)
            edges[a, b] = edges[b, a] = True
        return edges

    @cached_property
    def strengths(self) -> Floats:
        """The square of Cramér's V of each pair of variables."""
        sizes = np.array(self.data.domain.cardinalities)
        return marginal_strengths(self.data.rows, self.data.weights.astype(np.float64), sizes)

    def held_fixed(self, pair: Pair) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the variables to hold fixed, and those for which there are too few rows."""
        domain, strengths = self.data.domain, self.strengths
        a, b = (domain.position(v) for v in pair)
        common = self.edges[a] & self.edges[b]
        wanted = sorted(
            separator(self.edges, a, b),
            key=lambda v: (not common[v], -min(strengths[a, v], strengths[b, v])),
        )
        smallest = self.data.counts()[domain.position(self.by)].min()
        strata = np.cumprod([float(domain.cardinalities[v]) for v in wanted])
        used = np.count_nonzero(LEAST_ROWS * strata <= smallest)
        ordered = tuple(domain.names[v] for v in wanted)
        return ordered[:used], ordered[used:]


class _PairTest:
    """The test of one pair of variables."""

    def __init__(self, shared: _Shared, pair: Pair) -> None:
        self.shared, self.pair = shared, pair
        self.given, self.left_out = shared.held_fixed(pair)
        table = self._table()
        sides = table.any(axis=(0, 1, 3)), table.any(axis=(0, 1, 2))
        self.varies = min(map(np.count_nonzero, sides)) > 1
        if self.varies:
            self.p_value, self.method = self._test()

    def _table(self, inside: BoolArray | None = None) -> Floats:
        """Count the rows by stratum, group and the states of the pair."""
        names = (self.shared.by, *self.pair)
        return grouped_tables(self.shared.data, names, self.given, inside)[0]

    def _test(self, inside: BoolArray | None = None, groups: Sequence[int] = ()) -> Equality:
        """Test the pair among some rows and groups; by default among all."""
        data, rng = self.shared.data, self.shared.rng
        chosen = list(groups or range(len(self.shared.names)))
        table = self._table(inside)[:, chosen]
        if data.subjects is None:
            return equality_test(table, rng)
        place = data.domain.position
        group, *columns = (data.rows[:, place(v)] for v in (self.shared.by, *self.pair))
        mask = np.isin(group, chosen) if inside is None else inside & np.isin(group, chosen)
        columns = [np.searchsorted(chosen, group[mask]), *(column[mask] for column in columns)]
        strata = group_rows(data.rows, map(place, self.given))
        return paired_equality(table, strata[mask], columns, data.subjects[mask], rng)

    def judged(self, adjusted: float) -> GroupPair:
        """Return the verdict, and for a pair that differs where and between which groups."""
        shared, table = self.shared, self._table()
        choices = two_state_tables(table)
        level = 1 - shared.level / len(choices)
        states = clearest_states(table, choices)
        block = block_of(table, states)
        differs, by_subject = adjusted <= shared.level, shared.data.subjects is not None
        verdict: Verdict = "differs" if differs else "undecided"
        if not by_subject and self.p_value > shared.level and self._is_alike(table):
            verdict = "about the same"
        labels = [shared.data.domain.states[shared.data.domain.position(v)] for v in self.pair]
        has_trend = shared.ordered and table.shape[2:] == (2, 2) and not by_subject
        two_groups = len(shared.names) == 2
        return GroupPair(
            *self.pair,
            given=self.given,
            left_out=self.left_out,
            p_value=self.p_value,
            method=self.method,
            odds=tuple(odds_ratio(moves, level) for moves in of_groups(block)),
            states=tuple((of[i], of[j]) for of, (i, j) in zip(labels, states, strict=True)),
            ratio=odds_ratio(FreeCounts.of(block, GROUP_SIGNS), level) if two_groups else None,
            verdict=verdict,
            adjusted=adjusted,
            places=self._places(states) if differs else (),
            between=self._between() if differs and not two_groups else (),
            trend=trend_test(block) if has_trend else None,
        )

    def _is_alike(self, table: Floats) -> bool:
        """Check that all intervals of ratios of odds ratios are inside the margin."""
        ratios = (
            odds_ratio(FreeCounts.of(block, GROUP_SIGNS), 1 - 2 * self.shared.level)
            for part in (table[:, two] for two in self.shared.twos)
            for block in (block_of(part, states) for states in two_state_tables(part))
        )
        margin = self.shared.margin
        return all(1 / margin < ratio.low <= ratio.high < margin for ratio in ratios)

    def _between(self) -> tuple[tuple[str, str, float], ...]:
        """Return the corrected p-value of each pair of groups."""
        p_values = holm([self._test(groups=two).p_value for two in self.shared.twos])
        named = combinations(self.shared.names, 2)
        return tuple((*two, p) for two, p in zip(named, p_values, strict=True))

    def _places(self, states: TwoStates) -> tuple[Place, ...]:
        """Test the pair in each state of what is held fixed, and where the structures differ."""
        domain = self.shared.data.domain
        where: list[tuple[ValueLiteral, ...]] = [
            (ValueLiteral(name, (state,)),)
            for name in self.given
            for state in domain.states[domain.position(name)]
        ]
        for one, other in combinations(self.shared.structures[1:], 2):
            for found in explain(one, other, pairs=[self.pair], top=REGIONS).pairs:
                where += [tuple(region.literals) for region in found.regions if region.literals]
        places = []
        for literals in dict.fromkeys(where):
            inside = rows_where(self.shared.data, literals)
            block = block_of(self._table(inside), states)
            odds = tuple(odds_ratio(moves, 1 - self.shared.level) for moves in of_groups(block))
            places.append(Place(in_words(literals), self._test(inside).p_value, 1.0, odds))
        corrected = holm([place.p_value for place in places])
        places = [replace(place, adjusted=p) for place, p in zip(places, corrected, strict=True)]
        return tuple(sorted(places, key=lambda place: place.adjusted))


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
    rows = data.rows.copy()
    rows[:, column] = np.argsort(order)[rows[:, column]]
    known = dict(zip(domain.names, domain.states, strict=True)) | {by: tuple(occurring)}
    counts = None
    if data.subjects is None:
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
    learner : Learner, class or name; finds what to hold fixed, and the structure of each group
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
    ('v1', 'v2') odds ratio 89 (22 to 360) odds ratio 1 (0.42 to 2.4)
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
        for rows in run.steps([everyone, *parts], "learning")
    ]
    source = np.random.default_rng(seed)
    shared = _Shared(data, by, ordered, structures, level, margin, source)
    every = list(combinations(variables.names, 2))
    tests = [_PairTest(shared, pair) for pair in run.steps(every, "testing pairs")]
    if not run.finished:
        raise OpenResult("not all pairs were tested within the time limit; allow more time")
    tests = [test for test in tests if test.varies]
    if not tests:
        raise ContextwiseError("there is nothing to compare: fewer than two variables vary")
    varying = [np.ptp(rows.rows, axis=0) > 0 for rows in (everyone, *parts)]
    groups = [
        Group(name, len(rows), structure, tuple(np.array(variables.names)[varying[0] & ~varies]))
        for name, rows, structure, varies in zip(
            names, parts, structures[1:], varying[1:], strict=True
        )
    ]
    corrected = holm([test.p_value for test in tests])
    judged = [test.judged(p) for test, p in zip(tests, corrected, strict=True)]
    return Groups(
        by=by,
        groups=tuple(groups),
        pairs=tuple(sorted(judged, key=lambda pair: (pair.adjusted, pair.p_value))),
        level=level,
        margin=margin,
        learner=learner.name,
        subject=None if data.subjects is None else data.decisions.get("subject"),
    )
