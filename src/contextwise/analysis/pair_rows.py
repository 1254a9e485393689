"""The rows behind a pair of variables: strengths, shares in each group, standardised shares.

A **group** has the rows with equal states of the variables that are held fixed. **Strength** is
Cramér's V within the groups. A **standardised share** averages the shares in the groups, weighted
by the rows of each group, over the groups in which every state of the other variable occurs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np

from contextwise.comparison.question import Pair
from contextwise.data.rows import Data
from contextwise.evidence.counted_rows import joint_counts
from contextwise.evidence.effect_size import cramers_v, strengths_within
from contextwise.evidence.independence_test import PooledTests, evaluate_tables, tables_within
from contextwise.independence.claims import group_rows
from contextwise.models.features import rows_in
from contextwise.models.notation import Literal
from contextwise.support.arrays import BoolArray, FloatArray, IntArray
from contextwise.support.statistics import Z, wilson_interval

COVERED = 0.6
"""Standardised shares are over groups with at least this share of the rows."""
POSITIVE = frozenset({"yes", "true", "1", "y", "t", "positive", "present", "1.0", "ja", "oui"})


@dataclass(frozen=True)
class WithInterval:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class CountedShare(WithInterval):
    """A share of rows, with Wilson's interval and its counts."""

    part: int
    whole: int


@dataclass(frozen=True)
class Stratum:
    """The rows of one group of a pair of two-state variables: one share for each state."""

    states: tuple[tuple[str, str], ...]  # the variables held fixed, and their states
    shares: tuple[CountedShare, CountedShare]

    @property
    def rows(self) -> int:
        """The number of rows in the group."""
        return self.shares[0].whole + self.shares[1].whole

    @property
    def points(self) -> float:
        """The first share minus the second."""
        return self.shares[0].value - self.shares[1].value

    @property
    def smallest(self) -> int:
        """The smallest number of rows, above zero, that the shares reveal."""
        cells = [c for s in self.shares for c in (s.part, s.whole - s.part) if c]
        return min(cells, default=0)


@dataclass(frozen=True)
class Strata:
    """The groups in which both variables vary, most rows first, and those that say nothing."""

    state: str  # whose share is shown
    states: tuple[str, str]  # of the variable that is compared, in the order of the shares
    groups: tuple[Stratum, ...]
    silent: int
    silent_rows: int | None  # None if so few that they are hidden
    points: WithInterval | None  # the difference over all groups (Mantel and Haenszel)
    hidden: int = 0  # groups that reveal too few rows, or would tell those of the others


@dataclass(frozen=True)
class Standardised:
    """Shares of each state of one variable, by the state of another, standardised and crude."""

    by: str
    of: str
    states: tuple[str, ...]  # of ``by``, those that occur
    of_states: tuple[str, ...]  # of ``of``; one if it has two states
    shares: tuple[tuple[WithInterval, ...], ...]  # one tuple per state of ``of``
    crude: tuple[tuple[float, ...], ...]
    overall: tuple[float, ...]  # the share of each state of ``of`` among all rows
    given: tuple[str, ...]
    left_out: tuple[str, ...]  # not held fixed, because groups would be too small
    rows: int  # in the groups that are averaged
    gap: Gap | None
    hidden: int = 0  # states of ``by`` whose shares reveal too few rows, or tell those of others


@dataclass(frozen=True)
class Gap:
    """The clearest difference between two standardised shares: its lower limit is the largest."""

    state: str  # of the variable whose share it is
    high: str
    low: str  # states of the other variable
    shares: tuple[float, float]
    points: WithInterval  # its interval allows for choosing the clearest


def to_hide(sizes: Sequence[float], smallest: Sequence[float], least: int) -> set[int]:
    """Choose the groups that may not be shown: those that reveal 1 to ``least - 1`` rows.

    ``sizes`` are the rows of each group, and ``smallest`` the fewest that showing it reveals. If
    only one is hidden, or fewer rows than ``least``, totals would tell them: then the smallest of
    the others are hidden, too.

    >>> to_hide([3, 597], [3, 597], 5), to_hide([3, 4, 593], [3, 4, 593], 5)
    ({0, 1}, {0, 1})
    """
    chosen = {k for k, count in enumerate(smallest) if 0 < count < least}
    others = [k for k, size in enumerate(sizes) if size and k not in chosen]
    for k in sorted(others, key=lambda k: sizes[k]) if chosen else ():
        if len(chosen) > 1 and sum(sizes[j] for j in chosen) >= least:
            break
        chosen.add(k)
    return chosen


def rows_where(data: Data, literals: Sequence[Literal]) -> BoolArray:
    """Mask the distinct rows in which all literals hold."""
    domain = data.domain
    places = [(domain.position(name), states, negated) for name, states, negated in literals]
    sets = [(v, domain.value_set(v, states, negated)) for v, states, negated in places]
    return rows_in(data.rows, sets)


def grouped_tables(
    data: Data, names: Sequence[str], given: Sequence[str], inside: BoolArray | None = None
) -> tuple[FloatArray, IntArray]:
    """Return the table of some variables in each group, and the states of the group's variables."""
    domain = data.domain
    shape = tuple(domain.cardinalities[domain.position(name)] for name in names)
    held = [domain.position(name) for name in given]
    rows, weights = data.rows, data.weights
    if inside is not None:
        rows, weights = rows[inside], weights[inside]
    groups = group_rows(rows, held)
    tables = tables_within(rows, weights, [domain.position(name) for name in names], shape, groups)
    states = np.zeros((len(tables), len(held)), dtype=np.int64)
    states[groups] = rows[:, held]
    return tables, states


def strength(
    data: Data, pair: Pair, given: Sequence[str] = (), inside: BoolArray | None = None
) -> WithInterval | None:
    """Return Cramér's V within the groups; None if no group carries information.

    It is the V that the evidence about a claim has, see `strengths_within`.

    >>> from contextwise.data import read_data
    >>> round(strength(read_data("titanic"), ("sex", "survived")).value, 2)
    0.46
    """
    tables, _ = grouped_tables(data, pair, given, inside)
    tests = evaluate_tables(tables)
    useful = tests.variance > 1e-12
    if not useful.any():
        return None
    whole, tables = tests.together(), tables[useful]
    statistic, mean, variance = map(np.atleast_1d, (whole.statistic, whole.mean, whole.variance))
    pooled = PooledTests(tables, np.array([0, len(tables)]))
    scale = _scales(tables).sum(keepdims=True)
    return _estimates(strengths_within(statistic, mean, variance, pooled, scale))[0]


def crude_strengths(data: Data) -> dict[Pair, WithInterval | None]:
    """Return Cramér's V of each pair of variables with nothing held fixed, in their order."""
    sizes = np.array(data.domain.cardinalities)
    joint, starts = joint_counts(data.rows, data.weights.astype(np.float64), sizes)
    found: dict[Pair, WithInterval | None] = dict.fromkeys(combinations(data.domain.names, 2))
    names = data.domain.names
    places = np.stack(np.triu_indices(len(sizes), 1), axis=1)
    shapes = sizes[places]
    for shape in np.unique(shapes, axis=0):
        chosen = places[(shapes == shape).all(axis=1)]
        first, second = (starts[chosen[:, k], None] + np.arange(shape[k]) for k in (0, 1))
        tables = joint[first[:, :, None], second[:, None, :]]
        tests = evaluate_tables(tables)
        estimates = _estimates(cramers_v(tests.statistic, tests.mean, _scales(tables)))
        for (i, j), estimate, variance in zip(chosen, estimates, tests.variance, strict=True):
            found[names[i], names[j]] = estimate if variance > 1e-12 else None
    return found


def _scales(tables: FloatArray) -> FloatArray:
    """Return n (k - 1) of each table, where k is the smaller number of states that occur."""
    occur = [(tables.sum(axis=axis) > 0).sum(axis=1) for axis in (2, 1)]
    return np.asarray(tables.sum(axis=(1, 2)) * (np.minimum(*occur) - 1))


def _estimates(ends: Iterable[FloatArray]) -> list[WithInterval]:
    return [WithInterval(*each) for each in zip(*(end.tolist() for end in ends), strict=True)]


def wilson(part: float, whole: float) -> CountedShare:
    """Return a share with Wilson's interval.

    >>> share = wilson(9, 10)
    >>> round(share.low, 2), round(share.high, 2)
    (0.6, 0.98)
    """
    low, high = wilson_interval(part, whole)
    return CountedShare(part / whole, low, high, int(part), int(whole))


def shown_state(states: Sequence[str]) -> int:
    """Choose the state of a two-state variable whose share is shown: "yes", else the last."""
    positive = [k for k, state in enumerate(states) if state.strip().lower() in POSITIVE]
    return positive[0] if len(positive) == 1 else len(states) - 1


def state_order(data: Data, name: str) -> list[int]:
    """Return the states of a variable in the order to show them.

    States with numbers are sorted by them. Others keep the order of the file if rows are counted.
    """
    v = data.domain.position(name)
    states = data.domain.states[v]
    in_order = list(range(len(states)))
    if name in data.decisions.get("bins", {}):
        return in_order
    by_number = numeric_order(states)
    if by_number or data.multiplicity is None:
        return by_number or in_order
    found, first = np.unique(data.rows[:, v], return_index=True)
    seen = dict(zip(found.tolist(), first.tolist(), strict=True))
    return sorted(in_order, key=lambda k: seen.get(k, len(data.rows)))


def numeric_order(states: Sequence[str]) -> list[int] | None:
    """Sort states by the first number of each; None if a state has none, or for bins.

    >>> numeric_order(["65+", "20-24", "<20"]), numeric_order(["up to 3", "3 to 5", "above 5"])
    ([2, 1, 0], None)
    """
    numbers = [re.search(r"(?<!\w)-?\d+(\.\d+)?|\d+(\.\d+)?", state) for state in states]
    if not all(numbers) or states[0].startswith("up to "):
        return None

    def place(k: int) -> tuple[float, int]:
        match = numbers[k]
        assert match is not None
        sign = states[k].strip()[:1]
        return float(match[0]), -1 if sign in "<≤" else 1 if sign in ">≥" else 0

    return sorted(range(len(states)), key=place)


def is_scale(states: Sequence[str]) -> bool:
    """Check for numbers or bins: ``20-24``, ``2019``, ``<20``, or ``up to 25``.

    >>> is_scale(["<20", "20-24", "65+"]), is_scale(["site 1", "site 2"])
    (True, False)
    """
    numbers = all(re.match(r"\s*[<≤>≥]?\s*-?\d", state) for state in states)
    return numbers or states[0].startswith("up to ")


def two_state_groups(
    data: Data,
    by: str,
    of: str,
    given: Sequence[str],
    inside: BoolArray | None = None,
    *,
    first: str = "",
    least: int = 0,
) -> Strata:
    """Return the share of a state of ``of`` for both states of ``by``, in each group.

    ``first`` is the state of ``by`` that comes first. Groups that reveal fewer rows than ``least``
    are hidden.
    """
    tables, codes = grouped_tables(data, (by, of), given, inside)
    domain = data.domain
    labels, states = (domain.states[domain.position(name)] for name in (of, by))
    state = shown_state(labels)
    if first == states[1]:
        tables, states = tables[:, ::-1], (states[1], states[0])
    n, parts = tables.sum(axis=2), tables[:, :, state]
    varies = (n > 0).all(axis=1) & (parts.sum(axis=1) > 0) & (parts.sum(axis=1) < n.sum(axis=1))
    order = [k for k in np.argsort(-n.sum(axis=1), kind="stable").tolist() if varies[k]]
    held = [domain.position(name) for name in given]
    groups = [
        Stratum(
            tuple(
                (name, domain.states[v][c])
                for name, v, c in zip(given, held, codes[k], strict=True)
            ),
            (wilson(parts[k, 0], n[k, 0]), wilson(parts[k, 1], n[k, 1])),
        )
        for k in order
    ]
    silent = int(n[~varies].sum())
    hidden = to_hide(
        [*(group.rows for group in groups), silent],
        [*(group.smallest for group in groups), silent],
        least,
    )
    points = _mantel_haenszel(parts[(n > 0).all(axis=1)], n[(n > 0).all(axis=1)])
    return Strata(
        labels[state],
        (states[0], states[1]),
        tuple(group for k, group in enumerate(groups) if k not in hidden),
        int((~varies).sum()),
        None if len(groups) in hidden else silent,
        points if groups else None,
        len(hidden - {len(groups)}),
    )


def _mantel_haenszel(parts: FloatArray, n: FloatArray) -> WithInterval | None:
    """Return the common difference of two shares over groups, with its interval."""
    weights = n.prod(axis=1) / n.sum(axis=1)
    if not weights.sum():
        return None
    weights = weights / weights.sum()
    value = float((weights * (parts[:, 0] / n[:, 0] - parts[:, 1] / n[:, 1])).sum())
    smooth = (parts + 0.5) / (n + 1)  # so that a share of 0 or 1 has a variance
    variance = (weights[:, None] ** 2 * smooth * (1 - smooth) / n).sum()
    half = Z * sqrt(float(variance))
    return WithInterval(value, max(-1.0, value - half), min(1.0, value + half))


def standardised(
    data: Data,
    by: str,
    of: str,
    given: Sequence[str],
    inside: BoolArray | None = None,
    *,
    least: int = 0,
) -> Standardised | None:
    """Return the shares of the states of ``of`` for each state of ``by``; None without rows.

    ``given`` is in the order of importance: its last variables are left out first if the groups
    become too small. States of ``by`` whose shares reveal fewer rows than ``least`` are hidden;
    None if fewer than two are left.
    """
    domain = data.domain
    rows = data.rows if inside is None else data.rows[inside]
    held = [name for name in given if len(np.unique(rows[:, domain.position(name)])) > 1]
    wanted = tuple(held)
    while True:
        tables, _ = grouped_tables(data, (by, of), held, inside)
        occurs = tables.sum(axis=(0, 2)) > 0
        tables = tables[:, occurs]
        n = tables.sum(axis=2)
        usable = (n > 0).all(axis=1)
        total = n.sum()
        if not total or occurs.sum() < 2:
            return None
        if n[usable].sum() >= COVERED * total or not held:
            break
        held.pop()
    kept = np.flatnonzero(occurs).tolist()
    order = [kept.index(k) for k in state_order(data, by) if k in kept]
    tables, n = tables[:, order], n[:, order]
    by_labels, labels = (domain.states[domain.position(name)] for name in (by, of))
    states = tuple(by_labels[kept[k]] for k in order)
    chosen = [shown_state(labels)] if len(labels) == 2 else state_order(data, of)
    weights = n[usable].sum(axis=1) / n[usable].sum()
    inner, sizes = tables[usable][:, :, chosen], n[usable][:, :, None]
    means = np.tensordot(weights, inner / sizes, axes=1)  # by × of
    smooth = (inner + 0.5) / (sizes + 1)
    variances = np.tensordot(weights**2, smooth * (1 - smooth) / sizes, axes=1)
    half = Z * np.sqrt(variances)
    whole = tables.sum(axis=0)
    crude = whole[:, chosen] / whole.sum(axis=1, keepdims=True)
    cells = np.where(whole > 0, whole, np.inf).min(axis=1)
    hidden = to_hide(whole.sum(axis=1).tolist(), cells.tolist(), least)
    shown = [k for k in range(len(states)) if k not in hidden]
    if len(shown) < 2:
        return None
    states = tuple(states[k] for k in shown)
    means, variances, half, crude = means[shown], variances[shown], half[shown], crude[shown]
    return Standardised(
        by,
        of,
        states,
        tuple(labels[k] for k in chosen),
        tuple(
            tuple(
                WithInterval(m, max(0.0, m - h), min(1.0, m + h))
                for m, h in zip(means[:, k].tolist(), half[:, k].tolist(), strict=True)
            )
            for k in range(len(chosen))
        ),
        tuple(map(tuple, crude.T.tolist())),
        tuple((whole[:, chosen].sum(axis=0) / whole.sum()).tolist()),
        tuple(held),
        tuple(name for name in wanted if name not in held),
        int(n[usable].sum()),
        _clearest_gap(states, [labels[k] for k in chosen], means, variances),
        len(hidden),
    )


def _clearest_gap(
    states: Sequence[str], of_states: Sequence[str], means: FloatArray, variances: FloatArray
) -> Gap | None:
    from scipy.special import ndtri

    pairs = list(combinations(range(len(states)), 2))
    among = len(pairs) * len(of_states)
    gaps = []
    for k, state in enumerate(of_states):
        for i, j in pairs:
            high, low = (i, j) if means[i, k] >= means[j, k] else (j, i)
            value = float(means[high, k] - means[low, k])
            half = -float(ndtri(0.025 / among)) * sqrt(variances[i, k] + variances[j, k])
            ends = WithInterval(value, max(-1.0, value - half), min(1.0, value + half))
            shares = float(means[high, k]), float(means[low, k])
            gaps.append((value - half, Gap(state, states[high], states[low], shares, ends)))
    return max(gaps, key=lambda each: each[0], default=(0.0, None))[1]
