"""Ask for each pair of variables whether its association is the same in all groups of rows.

**Test.** For a pair A, B and a set Z of other variables: in every combination of states of Z, are
the odds ratios of A and B equal in all groups (`contextwise.evaluation.equal_odds`)? The groups may
differ in how often A, B and Z occur. Holm's correction covers all pairs of variables.

**Z** separates A and B, apart from their own edge, in the graph of all edges that a learner finds
in all rows together or in one group. So a difference elsewhere does not show up here. Z stops
growing when the smallest group would have fewer than 20 rows per stratum on average; what was left
out is reported.

**Verdicts.** *differs*: the corrected p-value is at most alpha. *about the same*: the uncorrected
p-value is larger, and the 90 % interval of the ratio of odds ratios lies between 1/margin and
margin, on average over the strata. *undecided*: everything else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import exp, log, sqrt
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from contextwise.comparison.compare import compare
from contextwise.comparison.explain import explain
from contextwise.comparison.question import Pair
from contextwise.data.options import RowOptions, find_names, row_options
from contextwise.data.rows import Data, DataLike, as_data
from contextwise.errors import ContextwiseError, DomainError, OpenResult
from contextwise.evaluation.equal_odds import (
    Floats,
    Method,
    Trend,
    equality_test,
    paired_p,
    trend_test,
    two_state_tables,
)
from contextwise.learning.base import as_learner, fresh
from contextwise.learning.effect_size import GROUP_SIGNS, PAIR_SIGNS, Estimate, Moves
from contextwise.learning.p_values import holm
from contextwise.learning.run import Run
from contextwise.models.domain import Domain
from contextwise.models.evidence import Effect
from contextwise.models.notation import Literal as ValueLiteral
from contextwise.models.notation import in_words
from contextwise.models.structure import Structure, structure_of
from contextwise.support.arrays import IntArray
from contextwise.support.effort import Effort
from contextwise.support.formatting import Printed, listed, plural

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


class Place(NamedTuple):
    """The same test among the rows that match some states."""

    when: tuple[ValueLiteral, ...]
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
    method: Method | Literal["subjects"]
    odds: tuple[Effect, ...]  #: of each group, on average over the strata
    states: tuple[Pair, Pair]  #: that the odds compare, as (reference, other) of each variable
    ratio: (
        Effect | None
    )  #: of the second group's odds ratio to the first's, if there are two groups
    verdict: Verdict = "undecided"
    adjusted: float = 1.0  #: by Holm's correction over all pairs of variables
    places: tuple[Place, ...] = ()
    between: tuple[tuple[str, str, float], ...] = ()  #: pairs of groups with their corrected p
    trend: Trend | None = None

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
    alpha: float
    margin: float
    learner: str
    subject: str | None
    ordered: bool
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

    def distances(self) -> Iterator[tuple[str, str, float]]:
        """Yield the normalized distance of the structures of each pair of groups."""
        for one, other in combinations(self.groups, 2):
            apart = compare(one.structure, other.structure).normalized
            yield one.name, other.name, apart

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per pair of variables and group."""
        return [
            {
                "by": self.by,
                "first": pair.first,
                "second": pair.second,
                "verdict": pair.verdict,
                "p_value": pair.p_value,
                "adjusted": pair.adjusted,
                "method": pair.method,
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
        described = [
            {"group": g.name, "rows": g.rows, "constant": list(g.constant)} for g in self.groups
        ]
        return {
            "by": self.by,
            "p_value": self.p_value,
            "adjusted": self.adjusted,
            "alpha": self.alpha,
            "margin": self.margin,
            "learner": self.learner,
            "subject": self.subject,
            "groups": described,
            "distances": list(self.distances()),
            "pairs": [_pair_document(pair) for pair in self.pairs],
        }

    def __repr__(self) -> str:
        return f"Groups({self.by!r}, {len(self.groups)} groups, p={self.p_value:.3g})"


def _pair_document(pair: GroupPair) -> dict[str, object]:
    places = [
        {**place._asdict(), "when": in_words(place.when), "odds": [vars(o) for o in place.odds]}
        for place in pair.places
    ]
    trend = pair.trend and {**pair.trend.slope._asdict(), "p_value": pair.trend.p_value}
    return vars(pair) | {
        "odds": [vars(each) for each in pair.odds],
        "ratio": pair.ratio and vars(pair.ratio),
        "places": places,
        "trend": trend,
    }


class GroupsOfColumns(Printed, list[Groups]):
    """The results of several columns, with Holm's correction over them."""

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per column, pair of variables and group."""
        return [record for each in self for record in each.records()]

    def document(self) -> dict[str, object]:
        """Return everything as a mapping for JSON."""
        return {"columns": [each.document() for each in self]}


# -- what to hold fixed ----------------------------------------------------------------------------


def separator(edges: Iterable[tuple[int, int]], variables: int, a: int, b: int) -> set[int]:
    """Return a smallest set of variables that separates a and b, apart from their own edge.

    >>> sorted(separator([(0, 1), (0, 2), (2, 1), (2, 3), (3, 1)], 4, 0, 1))
    [2]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    # Each variable v is an arc of capacity 1 from v to v + variables, so a smallest cut of arcs is
    # a smallest set of variables.
    large = variables + 1
    arcs = [(v, v + variables, large if v in (a, b) else 1) for v in range(variables)]
    for v, w in edges:
        if {v, w} != {a, b}:
            arcs += [(v + variables, w, large), (w + variables, v, large)]
    start, end, capacity = (np.array(each, dtype=np.int32) for each in zip(*arcs, strict=True))
    size = 2 * variables
    network = csr_array((capacity, (start, end)), shape=(size, size))
    left = csr_array(network - maximum_flow(network, a, b + variables).flow)
    left.eliminate_zeros()
    reached = set(breadth_first_order(left, a, return_predecessors=False).tolist())
    return {v for v in range(variables) if v in reached and v + variables not in reached}


class _Rows(NamedTuple):
    """The distinct rows of all groups with their counts; subjects, if rows are paired."""

    domain: Domain
    values: IntArray
    group: IntArray
    counts: IntArray
    names: tuple[str, ...]
    subjects: IntArray | None

    def strata(self, given: Sequence[int]) -> tuple[IntArray, int]:
        """Return the stratum of each row, and the number of strata."""
        codes = np.zeros(len(self.values), dtype=np.int64)
        for v in given:
            codes = codes * self.domain.cardinalities[v] + self.values[:, v]
        _, codes = np.unique(codes, return_inverse=True)
        return codes.ravel(), int(codes.max(initial=-1)) + 1

    def cells(self, a: int, b: int, given: Sequence[int]) -> tuple[IntArray, tuple[int, ...]]:
        """Return the cell of each row in the table of (stratum, group, a, b), and its shape."""
        cards = self.domain.cardinalities
        codes, count = self.strata(given)
        shape = (count, len(self.names), cards[a], cards[b])
        cells = np.ravel_multi_index(
            (codes, self.group, self.values[:, a], self.values[:, b]), shape
        )
        return cells, shape

    def table(self, a: int, b: int, given: Sequence[int]) -> Floats:
        """Count the rows by stratum, group and the states of a and b."""
        cells, shape = self.cells(a, b, given)
        counts = np.bincount(cells, self.counts, minlength=int(np.prod(shape)))
        return counts.astype(float).reshape(shape)

    def among(self, chosen: Any) -> _Rows:
        """Return the rows of a mask."""
        parts = (self.values, self.group, self.counts)
        values, group, counts = (part[chosen] for part in parts)
        subjects = None if self.subjects is None else self.subjects[chosen]
        return self._replace(values=values, group=group, counts=counts, subjects=subjects)

    def matching(self, literals: Iterable[ValueLiteral]) -> _Rows:
        """Return the rows in which literals hold."""
        chosen = np.ones(len(self.values), dtype=bool)
        for literal in literals:
            v = self.domain.position(literal.variable)
            states = [self.domain.states[v].index(state) for state in literal.states]
            chosen &= np.isin(self.values[:, v], states) != literal.negated
        return self.among(chosen)


def _associations(rows: _Rows) -> Floats:
    """Return Cramér's V of each pair of variables."""
    cards = rows.domain.cardinalities
    values = np.zeros((len(cards), len(cards)))
    for a, b in combinations(range(len(cards)), 2):
        cells = rows.values[:, a] * cards[b] + rows.values[:, b]
        table = np.bincount(cells, rows.counts, minlength=cards[a] * cards[b])
        table = table.reshape(cards[a], cards[b])
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        terms = np.divide(
            (table - expected) ** 2, expected, out=np.zeros_like(expected), where=expected > 0
        )
        smaller = max(1, min(np.count_nonzero(table.sum(axis=k)) for k in (0, 1)) - 1)
        values[a, b] = values[b, a] = np.sqrt(terms.sum() / table.sum() / smaller)
    return values


def _held_fixed(
    rows: _Rows, edges: set[tuple[int, int]], strengths: Floats, a: int, b: int
) -> tuple[list[int], list[int]]:
    """Return the variables to hold fixed, and those for which there are too few rows."""
    sizes = np.bincount(rows.group, rows.counts, minlength=len(rows.names))
    near = [{v for edge in edges if w in edge for v in edge} for w in (a, b)]
    common = near[0] & near[1]
    wanted = sorted(
        separator(edges, len(rows.domain), a, b),
        key=lambda v: (v not in common, -min(strengths[a, v], strengths[b, v])),
    )
    strata, used = 1, 0
    for v in wanted:
        strata *= rows.domain.cardinalities[v]
        if sizes.min() < LEAST_ROWS * strata:
            break
        used += 1
    return wanted[:used], wanted[used:]


def _block(table: Floats, states: Any) -> Floats:
    """Return the part of a table with two states of each variable."""
    first, second = states
    return table[:, :, list(first)][..., list(second)]


def _odds(table: Floats, level: float = 0.95) -> tuple[Effect, ...]:
    """Return the odds ratio of each group."""
    moves = (Moves(each, PAIR_SIGNS) for each in np.moveaxis(table, 1, 0))
    return tuple(_effect(each.estimate(level)) for each in moves)


def _effect(logs: Estimate) -> Effect:
    return Effect("odds ratio", exp(logs.value), exp(logs.low), exp(logs.high))


def _spread(table: Floats) -> float:
    """Return the largest difference of two groups' log odds ratios, in standard errors."""
    logs = [Moves(each, PAIR_SIGNS) for each in np.moveaxis(table, 1, 0)]
    known = [(-each.means.sum(), each.variances.sum()) for each in logs if each.variances.sum() > 0]
    return max(
        (abs(x / v - y / w) / sqrt(1 / v + 1 / w) for (x, v), (y, w) in combinations(known, 2)),
        default=0.0,
    )


def _upright(table: Floats, states: Any) -> Any:
    """Swap the states of the second variable if the odds ratio of all rows is below 1."""
    first, second = states
    overall = Moves(_block(table, states).sum(axis=1), PAIR_SIGNS).estimate().value
    return (first, second[::-1]) if overall < 0 else states


# -- one pair of variables -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pairs:
    """Tests pairs of variables; holds what all pairs share."""

    rows: _Rows
    edges: set[tuple[int, int]]
    strengths: Floats
    structures: Sequence[Structure]
    alpha: float
    margin: float
    ordered: bool
    rng: np.random.Generator

    def tested(self, a: int, b: int) -> GroupPair | None:
        """Test one pair; None if one of its variables has one state."""
        given, left_out = _held_fixed(self.rows, self.edges, self.strengths, a, b)
        table = self.rows.table(a, b, given)
        if min(np.count_nonzero(table.any(axis=axes)) for axes in ((0, 1, 3), (0, 1, 2))) < 2:
            return None
        p, _, method = equality_test(table, self.rng)
        how: Any = method
        if self.rows.subjects is not None:
            p, how = self._paired(a, b, given), "subjects"
        names, states = self.rows.domain.names, self.rows.domain.states
        choices = two_state_tables(table)
        level = 1 - self.alpha / len(choices)
        (i, k), (j, m) = _upright(table, max(choices, key=lambda c: _spread(_block(table, c))))
        block = _block(table, ((i, k), (j, m)))
        ratio = None
        if len(self.rows.names) == 2:
            ratio = _effect(Moves(block, GROUP_SIGNS).estimate(level))
        two_states = table.shape[2:] == (2, 2)
        return GroupPair(
            first=names[a],
            second=names[b],
            given=tuple(names[v] for v in given),
            left_out=tuple(names[v] for v in left_out),
            p_value=p,
            method=how,
            odds=_odds(block, level),
            states=((states[a][i], states[a][k]), (states[b][j], states[b][m])),
            ratio=ratio,
            trend=trend_test(block) if self.ordered and two_states else None,
        )

    def _paired(self, a: int, b: int, given: Sequence[int]) -> float:
        """Return the p-value for paired rows: the smallest of all 2 x 2 tables, corrected."""
        tests = []
        for two in combinations(range(len(self.rows.names)), 2):
            rows = self.rows.among(np.isin(self.rows.group, two))
            rows = rows._replace(group=(rows.group == two[1]).astype(np.int64))
            table = rows._replace(names=rows.names[:2]).table(a, b, given)
            states = [np.unique(self.rows.values[:, v]) for v in (a, b)]
            for first, second in two_state_tables(table):
                pairs = zip((a, b), (states[0][list(first)], states[1][list(second)]), strict=True)
                inside = np.ones(len(rows.values), dtype=bool)
                for v, kept in pairs:
                    inside &= np.isin(rows.values[:, v], kept)
                part = rows.among(inside)
                strata, count = part.strata(given)
                one, other = (part.values[:, v] for v in (a, b))
                cells = (strata * 2 + part.group) * 2 + (one == states[0][first[1]])
                cells = cells * 2 + (other == states[1][second[1]])
                assert part.subjects is not None
                tests.append(paired_p(cells, count, part.subjects, self.rng))
        return min(1.0, len(tests) * min(tests, default=1.0))

    def judged(self, pair: GroupPair, adjusted: float) -> GroupPair:
        """Add the verdict, and for a pair that differs where and between which groups."""
        pair = replace(pair, adjusted=adjusted)
        if adjusted <= self.alpha:
            return replace(
                pair, verdict="differs", places=self._places(pair), between=self._between(pair)
            )
        if pair.p_value > self.alpha and self.rows.subjects is None and self._alike(pair):
            return replace(pair, verdict="about the same")
        return pair

    def _table(self, pair: GroupPair, rows: _Rows) -> Floats:
        a, b, *given = (rows.domain.position(name) for name in (*pair.pair, *pair.given))
        return rows.table(a, b, given)

    def _alike(self, pair: GroupPair) -> bool:
        """Check that all 90 % intervals of ratios of odds ratios are inside the margin."""
        table = self._table(pair, self.rows)
        for two in combinations(range(table.shape[1]), 2):
            part = table[:, list(two)]
            for first, second in two_state_tables(part):
                moves = Moves(_block(part, (first, second)), GROUP_SIGNS)
                _, low, high = moves.estimate(1 - 2 * self.alpha)
                if not -log(self.margin) < low <= high < log(self.margin):
                    return False
        return True

    def _between(self, pair: GroupPair) -> tuple[tuple[str, str, float], ...]:
        """Return the corrected p-value of each pair of groups, if there are more than two."""
        names = self.rows.names
        if len(names) == 2:
            return ()
        table = self._table(pair, self.rows)
        twos = list(combinations(range(len(names)), 2))
        p_values = [equality_test(table[:, list(two)], self.rng).p_value for two in twos]
        return tuple(
            (names[i], names[j], p) for (i, j), p in zip(twos, holm(p_values), strict=True)
        )

    def _places(self, pair: GroupPair) -> tuple[Place, ...]:
        """Test the pair in each state of what is held fixed, and where the structures differ."""
        domain = self.rows.domain
        where: list[tuple[ValueLiteral, ...]] = [
            (ValueLiteral(name, (state,)),)
            for name in pair.given
            for state in domain.states[domain.position(name)]
        ]
        for one, other in combinations(self.structures, 2):
            for found in explain(one, other, pairs=[pair.pair], top=REGIONS).pairs:
                where += [tuple(region.literals) for region in found.regions if region.literals]
        states = [
            [domain.states[domain.position(name)].index(state) for state in two]
            for name, two in zip(pair.pair, pair.states, strict=True)
        ]
        places = []
        for literals in dict.fromkeys(where):
            table = self._table(pair, self.rows.matching(literals))
            p = equality_test(table, self.rng).p_value
            places.append(Place(literals, p, 1.0, _odds(_block(table, states))))
        corrected = holm([place.p_value for place in places])
        return tuple(
            sorted(
                (place._replace(adjusted=p) for place, p in zip(places, corrected, strict=True)),
                key=lambda place: place.adjusted,
            )
        )


# -- reading the groups ----------------------------------------------------------------------------


def read_grouped(
    read: Callable[[RowOptions], Data], options: RowOptions, by: Sequence[str], subject: str | None
) -> Data:
    """Read rows with the columns of groups and subjects as categories, not as IDs."""
    needed = [*by, *([subject] if subject else [])]
    for name in needed:
        if name in options.drop:
            raise ContextwiseError(f"the column {name!r} is needed for the groups; do not drop it")
    binned = {text.rpartition("=")[0] for text in options.bins}
    how = options._replace(
        category=(*options.category, *(name for name in needed if name not in binned)),
        columns=(*options.columns, *needed) if options.columns else (),
    )
    try:
        rows = read(how)
    except DomainError as error:
        if not str(error).startswith("category: there is no column"):
            raise
        option = "subject" if f"column {subject!r}" in str(error) else "by"
        raise DomainError(f"{option}{str(error).removeprefix('category')}") from None
    find_names(needed, rows.domain.names, "by")
    return rows


def _grouped(data: Data, by: str, subject: str | None) -> _Rows:
    domain, column = data.domain, data.domain.position(by)
    apart = [column]
    if subject is not None:
        data = data.expanded
        apart.append(domain.position(subject))
    sizes = np.bincount(data.rows[:, column], data.multiplicity).astype(int)
    present = _in_order(np.flatnonzero(sizes).tolist(), domain.states[column])
    names = tuple(domain.states[column][state] for state in present)
    _check_groups(by, dict(zip(names, sizes[present].tolist(), strict=True)))
    variables = domain.without(apart)
    if len(variables) < 2:
        raise ContextwiseError(
            f"there is nothing to compare: {plural(len(variables), 'variable')} next to {by!r}"
        )
    place = np.zeros(len(domain.states[column]), dtype=np.int64)
    place[present] = np.arange(len(present))
    values, group = np.delete(data.rows, apart, axis=1), place[data.rows[:, column]]
    if subject is None:
        rows, inverse = np.unique(np.column_stack([group, values]), axis=0, return_inverse=True)
        counts = np.bincount(inverse.ravel(), data.multiplicity).astype(np.int64)
        return _Rows(variables, rows[:, 1:], rows[:, 0], counts, names, None)
    subjects = data.rows[:, apart[1]]
    both = np.unique(np.column_stack([subjects, group]), axis=0)
    if len(both) == len(np.unique(subjects)):
        raise ContextwiseError(
            f"no value of {subject!r} has rows in two groups of {by!r}, so rows are not paired; "
            "leave out the subject"
        )
    return _Rows(variables, values, group, np.ones(len(values), dtype=np.int64), names, subjects)


def _in_order(present: list[int], states: Sequence[str]) -> list[int]:
    """Sort groups whose names begin with numbers by them; bins are in order already."""
    if all(_number(states[state]) is not None for state in present):
        present.sort(key=lambda state: _number(states[state]) or 0.0)
    return present


def _number(text: str) -> float | None:
    match = re.match(r"\s*-?\d+(\.\d+)?", text)
    return float(match[0]) if match else None


def _is_ordered(names: Sequence[str]) -> bool:
    """Check for numbers or bins: ``20-24``, ``2019``, or ``up to 25``."""
    return names[0].startswith("up to ") or all(_number(name) is not None for name in names)


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


def _constant(rows: _Rows, group: int) -> tuple[str, ...]:
    """Return the variables that vary, but not in this group."""
    inside = rows.values[rows.group == group]
    alike = (inside == inside[0]).all(axis=0) & (rows.values != rows.values[0]).any(axis=0)
    return tuple(rows.domain.names[v] for v in np.flatnonzero(alike).tolist())


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
    subject: str | None = None,
    margin: float = 2.0,
    alpha: float = 0.05,
    rng: Any = 0,
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
    subject : column of the subjects, if the groups have rows of the same subjects
    margin : odds ratios that differ by less than this factor are called about the same
    alpha : level of the tests
    rng : seed of the draws, which tables of several states or groups with few rows need
    time_limit, show_progress : as in `stability`
    **reading : keywords of `read_data`, such as ``missing`` and ``bins``

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
    if len({*columns, subject}) != len(columns) + 1:
        raise ContextwiseError(f"by and subject name a column twice: {', '.join(columns)}")
    if not 0 < alpha < 1:
        raise ContextwiseError(f"alpha must be between 0 and 1, got {alpha}")
    if margin <= 1:
        raise ContextwiseError(f"margin must be > 1, got {margin}")
    chosen = fresh(as_learner(learner or DEFAULT_LEARNER))
    effort = Effort.of(time_limit, show_progress=show_progress)
    data = read_grouped(partial(as_data, data, None), row_options(**reading), columns, subject)
    results = GroupsOfColumns(
        _compared(
            _grouped(data, column, subject), column, chosen, effort, (alpha, margin, rng, subject)
        )
        for column in columns
    )
    if isinstance(by, str):
        return results[0]
    corrected = holm([each.p_value for each in results])
    return GroupsOfColumns(
        replace(each, adjusted=p) for each, p in zip(results, corrected, strict=True)
    )


def _compared(
    rows: _Rows, by: str, learner: Any, effort: Effort, settings: tuple[float, float, Any, Any]
) -> Groups:
    alpha, margin, rng, subject = settings
    structures = []
    parts = [rows, *(rows.among(rows.group == g) for g in range(len(rows.names)))]
    run = Run(effort.deadline, effort.show_progress)
    for part in run.steps(parts, "learning"):
        found = learner.learn(Data(rows.domain, part.values, part.counts), run)
        structures.append(structure_of(found).aligned_to(rows.domain))
    edges = {
        (rows.domain.position(a), rows.domain.position(b))
        for structure in structures
        for a, b in structure.pairs()
    }
    ordered = len(rows.names) > 2 and _is_ordered(rows.names)
    generator = np.random.default_rng(rng)
    task = _Pairs(
        rows, edges, _associations(rows), structures[1:], alpha, margin, ordered, generator
    )
    every = list(combinations(range(len(rows.domain)), 2))
    tested = [task.tested(a, b) for a, b in run.steps(every, "testing pairs")]
    if not run.finished:
        raise OpenResult("not all pairs were tested within the time limit; allow more time")
    pairs = [pair for pair in tested if pair is not None]
    if not pairs:
        raise ContextwiseError("there is nothing to compare: fewer than two variables vary")
    corrected = holm([pair.p_value for pair in pairs])
    judged = [task.judged(pair, p) for pair, p in zip(pairs, corrected, strict=True)]
    sizes = np.bincount(rows.group, rows.counts).astype(int).tolist()
    return Groups(
        by=by,
        groups=tuple(
            Group(name, size, structure, _constant(rows, g))
            for g, (name, size, structure) in enumerate(
                zip(rows.names, sizes, structures[1:], strict=True)
            )
        ),
        pairs=tuple(sorted(judged, key=lambda pair: (pair.adjusted, pair.p_value))),
        alpha=alpha,
        margin=margin,
        learner=learner.name,
        subject=subject,
        ordered=ordered,
    )
