"""What the paper says of KL-divergence, as numbers of this run.

**Disagreement.** In a cell (a truth and a size) one learner is the best by KL, and one by the
metric. If they are not the same, KL has preferred a structure that is worse by d. That counts only
if KL tells the two apart: if their difference, paired over the repeats, is larger than its standard
error. Otherwise it is a tie, which is counted apart. The same is asked of every two learners of a
cell. A cell of one repeat takes no part, because nobody knows that standard error. A learner
without a value in some repeat of a cell takes no part there. Where some values of a cell are exact
and others estimates, only the exact ones are taken.

**Blindness.** For each size, KL of all structures is regressed on their shares of false positives
and of false negatives together, with an intercept for each truth. The slope is what one percent of
all assertions costs in KL. The distance itself grows by one percent of them for either, by
definition.

Intervals resample truths, not units: rows of one truth are not independent of one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Literal

import numpy as np

from contextwise.errors import require
from contextwise.studies.learners.cells import (
    DISTANCE,
    FloatArray,
    Interval,
    Metric,
    Ranks,
    Record,
    by_rows,
    labels_of,
    mean_of_truths,
    resampled,
)

TINY = 1e-12
Verdict = Literal["same", "tie", "worse"]


@dataclass(frozen=True)
class Disagreement:
    """How often a metric and d call different learners best.

    Attributes
    ----------
    metric : Metric
    cells : how many there are with two learners and two repeats at least
    same : in how many the best by the metric is also the best by d
    ties : in how many it is not, but the metric cannot tell the two apart
    worse : in how many it is worse by d, and the metric is sure
    worse_share : worse / (worse + same); None if there are none
    worse_interval : of it, resampling truths
    excess : by how much the normalized distance is larger, on average over the worse ones
    excess_interval : of it
    pairs : how many pairs of learners the metric and d both tell apart, over all cells
    pairs_worse : the share of them in which the better by the metric is worse by d
    pairs_interval : of it
    """

    metric: Metric
    cells: int
    same: int
    ties: int
    worse: int
    worse_share: float | None
    worse_interval: Interval | None
    excess: float | None
    excess_interval: Interval | None
    pairs: int
    pairs_worse: float | None
    pairs_interval: Interval | None


@dataclass(frozen=True)
class _Cell:
    """What one cell says of the best learner, and of its pairs of learners."""

    truth: str
    verdict: Verdict
    excess: float
    pairs: int
    opposed: int


def disagreement(records: Iterable[Record], metric: Metric) -> Disagreement:
    """How often the best by a metric is worse by d; see the head of this module.

    Parameters
    ----------
    records : of truths
    metric : Metric

    Returns
    -------
    Disagreement
    """
    found = [_judge(truth, own, metric) for (truth, _), own in _cells(records).items()]
    cells = [cell for cell in found if cell is not None]
    by_truth: dict[str, list[_Cell]] = {}
    for cell in cells:
        by_truth.setdefault(cell.truth, []).append(cell)
    names = sorted(by_truth)

    def over(drawn: Sequence[str], statistic: str) -> float | None:
        return _statistic([c for name in drawn for c in by_truth[name]], statistic)

    shares = {s: over(names, s) for s in ("worse", "excess", "pairs")}
    intervals = {s: resampled(names, lambda drawn, s=s: over(drawn, s)) for s in shares}  # type: ignore[misc]
    return Disagreement(
        metric=metric,
        cells=len(cells),
        same=sum(c.verdict == "same" for c in cells),
        ties=sum(c.verdict == "tie" for c in cells),
        worse=sum(c.verdict == "worse" for c in cells),
        worse_share=shares["worse"],
        worse_interval=intervals["worse"],
        excess=shares["excess"],
        excess_interval=intervals["excess"],
        pairs=sum(c.pairs for c in cells),
        pairs_worse=shares["pairs"],
        pairs_interval=intervals["pairs"],
    )


def _statistic(cells: Sequence[_Cell], statistic: str) -> float | None:
    worse = [c for c in cells if c.verdict == "worse"]
    if statistic == "excess":
        return float(np.mean([c.excess for c in worse])) if worse else None
    if statistic == "worse":
        decided = len(worse) + sum(c.verdict == "same" for c in cells)
        return len(worse) / decided if decided else None
    pairs = sum(c.pairs for c in cells)
    return sum(c.opposed for c in cells) / pairs if pairs else None


def _cells(records: Iterable[Record]) -> dict[tuple[str, int], list[dict[str, Record]]]:
    """The data sets of each cell."""
    listed = list(records)
    known = set(labels_of(listed))
    found: dict[tuple[str, int], list[dict[str, Record]]] = {}
    for (truth, size, _), own in by_rows(listed).items():
        learners = {label: r for label, r in own.items() if label in known}
        found.setdefault((truth, size), []).append(learners)
    return found


def _judge(truth: str, rows: list[dict[str, Record]], metric: Metric) -> _Cell | None:
    values, errors, distances = _tables(rows, metric)
    if len(values) < 2 or len(rows) < 2:
        return None
    means = {label: float(own.mean()) for label, own in values.items()}
    d = {label: float(own.mean()) for label, own in distances.items()}
    best = min(means, key=lambda label: (means[label], d[label]))
    nearest = min(d, key=lambda label: (d[label], means[label]))
    excess = d[best] - d[nearest]
    pairs = opposed = 0
    for a, b in combinations(sorted(values), 2):
        if abs(d[a] - d[b]) > TINY and _sure(values, errors, a, b):
            pairs += 1
            opposed += (means[a] < means[b]) != (d[a] < d[b])
    sure = _sure(values, errors, best, nearest)
    verdict: Verdict = "same" if excess <= TINY else "worse" if sure else "tie"
    return _Cell(truth, verdict, excess, pairs, opposed)


def _tables(
    rows: list[dict[str, Record]], metric: Metric
) -> tuple[dict[str, FloatArray], dict[str, FloatArray], dict[str, FloatArray]]:
    """Values (the smaller the better), their errors, and distances, of learners with all of them.

    Estimates stay apart from exact values: where there are both, only the latter are taken.
    """
    sign = -1.0 if metric.larger_is_better else 1.0
    values, errors, distances = {}, {}, {}
    known = [r for row in rows for r in row.values() if r[metric.column] is not None]
    kind = any(metric.is_exact(r) for r in known)
    for label in sorted({label for own in rows for label in own}):
        own = [row.get(label) for row in rows]
        given = [r for r in own if r is not None and r[metric.column] is not None]
        if len(given) == len(rows) and all(metric.is_exact(r) == kind for r in given):
            values[label] = sign * np.array([float(r[metric.column]) for r in given])
            errors[label] = np.array([metric.error(r) for r in given])
            distances[label] = np.array([float(r[DISTANCE.column]) for r in given])
    return values, errors, distances


def _sure(
    values: Mapping[str, FloatArray], errors: Mapping[str, FloatArray], a: str, b: str
) -> bool:
    """Whether the mean difference of two learners is larger than its standard error."""
    difference = values[a] - values[b]
    n = len(difference)
    spread = float(difference.std(ddof=1)) / sqrt(n)
    measured = sqrt(float((errors[a] ** 2 + errors[b] ** 2).sum())) / n
    return abs(float(difference.mean())) > max(TINY, sqrt(spread**2 + measured**2))


# -- rankings beside one another -------------------------------------------------------------------


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b between two rankings: the mean over truths, with an interval."""

    first: str
    second: str
    tau: float | None
    interval: Interval | None
    truths: int


def agreements(rankings: Sequence[Ranks]) -> list[Agreement]:
    """How much each two rankings agree, on the data sets that both have."""
    return [_agreement(a, b) for a, b in combinations(rankings, 2)]


def _agreement(a: Ranks, b: Ranks) -> Agreement:
    kendalltau = require("scipy.stats", "statistics").kendalltau
    by_truth: dict[str, list[float]] = {}
    for key in a.ranks.keys() & b.ranks.keys():
        x, y = a.ranks[key], b.ranks[key]
        if np.ptp(x) > 0 and np.ptp(y) > 0:
            by_truth.setdefault(key[0], []).append(float(kendalltau(x, y).statistic))
    means = {truth: float(np.mean(sorted(own))) for truth, own in sorted(by_truth.items())}
    tau, interval = mean_of_truths(means) if means else (None, None)
    return Agreement(a.metric.label, b.metric.label, tau, interval, len(means))


# -- blindness -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Slopes:
    """What a percent of errors costs in KL, at one size.

    Attributes
    ----------
    size : the number of rows
    units : how many structures
    fp, fn : KL per percent of all assertions that are false positives, or negatives
    fp_interval, fn_interval : resampling truths
    """

    size: int
    units: int
    fp: float
    fp_interval: Interval | None
    fn: float
    fn_interval: Interval | None


def slopes(records: Iterable[Record]) -> list[Slopes]:
    """The slopes of KL at each size, over units whose KL is exact.

    Parameters
    ----------
    records : of truths, the true structure among the learners

    Returns
    -------
    list of Slopes, the fewest rows first
    """
    exact = [r for r in records if r["kl"] is not None and r["kl_exact"]]
    found = []
    for size in sorted({r["size"] for r in exact}):
        own = [r for r in exact if r["size"] == size]
        moments = {t: _moments([r for r in own if r["truth"] == t]) for t in _truths(own)}
        names = sorted(moments)
        both = _solve(names, moments)
        if both is None:
            continue
        low_high = [
            resampled(names, lambda drawn, k=k, m=moments: _component(drawn, m, k))  # type: ignore[misc]
            for k in range(2)
        ]
        found.append(Slopes(size, len(own), both[0], low_high[0], both[1], low_high[1]))
    return found


@dataclass(frozen=True)
class Change:
    """By how much the slope of KL on false positives differs between the fewest and most rows.

    Attributes
    ----------
    value : the slope at the most rows less that at the fewest
    interval : resampling truths, the same ones at both sizes
    """

    value: float
    interval: Interval | None

    @property
    def is_clear(self) -> bool:
        """Whether the interval is on one side of 0."""
        return self.interval is not None and (self.interval[0] > 0 or self.interval[1] < 0)


def change_with_rows(records: Iterable[Record]) -> Change | None:
    """How KL's sight of false positives changes with the rows; None for a single size.

    Parameters
    ----------
    records : of truths

    Returns
    -------
    Change or None
    """
    exact = [r for r in records if r["kl"] is not None and r["kl_exact"]]
    sizes = sorted({r["size"] for r in exact})
    if len(sizes) < 2:
        return None
    few, many = ([r for r in exact if r["size"] == size] for size in (sizes[0], sizes[-1]))
    names = sorted(_truths(few) & _truths(many))
    before, after = (
        {t: _moments([r for r in own if r["truth"] == t]) for t in names} for own in (few, many)
    )

    def difference(drawn: Sequence[str]) -> float | None:
        first, last = _solve(drawn, before), _solve(drawn, after)
        return None if first is None or last is None else last[0] - first[0]

    value = difference(names)
    return None if value is None else Change(value, resampled(names, difference))


Moments = tuple[FloatArray, FloatArray]


def _truths(records: Iterable[Record]) -> set[str]:
    return {r["truth"] for r in records}


def _moments(records: Sequence[Record]) -> Moments:
    """The sums of squares and products of one truth, about its own means."""
    x = np.array([[100 * r["fp_share"], 100 * r["fn_share"]] for r in records])
    y = np.array([r["kl"] for r in records])
    x, y = x - x.mean(axis=0), y - y.mean()
    return x.T @ x, x.T @ y


def _solve(names: Sequence[str], moments: Mapping[str, Moments]) -> tuple[float, float] | None:
    square = sum((moments[name][0] for name in names), start=np.zeros((2, 2)))
    product = sum((moments[name][1] for name in names), start=np.zeros(2))
    if np.linalg.matrix_rank(square) < 2:
        return None
    fp, fn = np.linalg.solve(square, product).tolist()
    return fp, fn


def _component(names: Sequence[str], moments: Mapping[str, Moments], which: int) -> float | None:
    both = _solve(names, moments)
    return None if both is None else both[which]
