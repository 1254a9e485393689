"""Compare groups of guesses, such as the replicates of several learners.

**Intervals** of means are Student's. If the training rows of replicates overlap, the replicates are
not independent. Then the variance of the mean is s²·(1/n + (1 - q)/q), where q is the share of the
common rows that each replicate learned from (Nadeau and Bengio 2003). An interval that leaves the
range of the measure is cut at its end. Equal values have no spread, so they have no interval.

**Tests**, one for each pair of groups. If the k-th replicates of both groups are from the same data
set, the sign of each difference is random under the null hypothesis: p is the share of all 2^n
signs whose mean is at least as far from 0. Otherwise the labels of the groups are random: p is the
share of all ways to deal the replicates to the groups that put the means at least as far apart.
Above `MOST_WAYS` ways, `MOST_DRAWS` random ones and the observed one are taken. Replicates from
overlapping rows have no valid test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, inf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from contextwise.comparison.confusion import MEASURES, shown_in
from contextwise.comparison.graph_distances import BY_GADJID
from contextwise.comparison.two_models import Comparison
from contextwise.errors import ContextwiseError, require
from contextwise.support.arrays import FloatArray
from contextwise.support.formatting import Printed, listed, rate
from contextwise.support.statistics import holm
from contextwise.support.words import p_is

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["GroupComparison", "compare_groups"]

TESTED = [key for key, each in MEASURES.items() if each.style == "rate" or each.column == "causal"]
"""The measures that groups can be compared by; counts can be too large for floats."""
MOST_SIGNS = 20
"""Up to this number of paired replicates, all signs are tried."""
MOST_WAYS = 100_000
"""Up to this number of ways to deal replicates to two groups, all are tried."""
MOST_DRAWS = 9_999
EQUAL_MEANS = 1e-9
"""Values this close to each other, relative to the largest, are equal: they are rounded ratios."""


@dataclass(frozen=True)
class Mean:
    """A mean with its interval; the ends are None without spread."""

    count: int  #: number of values
    mean: float | None  #: None without values
    low: float | None
    high: float | None


@dataclass(frozen=True)
class GroupSummary:
    """One group: the number of its replicates, and the mean of each measure."""

    name: str
    replicates: int
    means: Mapping[str, Mean]

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per measure."""
        return [
            {
                "group": self.name,
                "replicates": self.replicates,
                "measure": key,
                "undefined": self.replicates - mean.count,
                "mean": mean.mean,
                "low": mean.low,
                "high": mean.high,
            }
            for key, mean in self.means.items()
        ]


@dataclass(frozen=True)
class GroupDifference:
    """The tested measure of two groups: the first minus the second."""

    first: str
    second: str
    value: Mean
    p_value: float | None  #: None if the test is not possible
    attainable: float | None  #: the smallest p-value that any result could have
    adjusted: float | None = None  #: after Holm's correction over all pairs of groups

    def record(self) -> dict[str, object]:
        """Return everything as one flat mapping."""
        return {
            "first": self.first,
            "second": self.second,
            "replicates": self.value.count,
            "difference": self.value.mean,
            "low": self.value.low,
            "high": self.value.high,
            "p_value": self.p_value,
            "attainable_p_value": self.attainable,
            "holm_p_value": self.adjusted,
        }


@dataclass(frozen=True, repr=False)
class GroupComparison(Printed):
    """Groups of replicates: their means, and one test per pair of groups."""

    groups: tuple[GroupSummary, ...]
    differences: tuple[GroupDifference, ...]  #: one for each pair of groups
    measure: str  #: the measure that is tested
    paired: bool  #: whether the k-th replicates of all groups are from the same data set
    training_share: float | None  #: share of common rows of each replicate, if they overlap
    level: float  #: level of the tests in the verdict

    @property
    def label(self) -> str:
        """The label of the tested measure."""
        return MEASURES[self.measure].label

    @property
    def best(self) -> list[GroupSummary]:
        """The group with the best mean, or several that tie; empty if no group has a mean."""
        means = {
            group.name: mean
            for group in self.groups
            if (mean := group.means[self.measure].mean) is not None
        }
        if not means:
            return []
        smaller = MEASURES[self.measure].smaller_is_better
        best = (min if smaller else max)(means.values())
        scale = max(map(abs, means.values()))
        near = {name for name, mean in means.items() if abs(mean - best) <= EQUAL_MEANS * scale}
        return [group for group in self.groups if group.name in near]

    def difference(self, first: str, second: str) -> GroupDifference:
        """Return the test of two groups, in either order; its difference has the tested order."""
        for difference in self.differences:
            if {difference.first, difference.second} == {first, second}:
                return difference
        raise ContextwiseError(f"there are no groups {first!r} and {second!r}")

    @property
    def verdict(self) -> str:
        """The best group, and the groups that it is better than."""
        best = self.best
        if not best:
            return f"The {self.label} is not defined for any group."
        mean = best[0].means[self.measure]
        average = f"mean {self.label} {rate(mean.mean or 0.0)}"
        if mean.low is not None and mean.high is not None and len(best) == 1:
            interval = f"{rate(mean.low)} to {rate(mean.high)}"
            average += f", 95 % interval {interval}"
        if len(self.groups) == 1:
            return f"{best[0].name}: {average}."
        names = listed([group.name for group in best])
        if self.measure == "normalized":
            leads = "is nearest" if len(best) == 1 else "are equally near"
            leads += " to the truth"
        else:
            leads = f"{'has' if len(best) == 1 else 'have'} the best {self.label}"
        others = [group.name for group in self.groups if group not in best]
        sentences = [f"{names} {leads} ({average}).", *self._clauses(best[0].name, others)]
        return " ".join(sentences)

    def _clauses(self, best: str, others: Sequence[str]) -> list[str]:
        """Report the tests of the best group against the others."""
        better: list[str] = []
        alike: list[str] = []
        for other in others:
            p_value = self.difference(best, other).adjusted
            if p_value is not None:
                verdict = better if p_value <= self.level else alike
                verdict.append(f"{other} ({p_is(p_value)})")
        corrected = " after Holm's correction" if len(self.differences) > 1 else ""
        clauses = []
        if better:
            clauses.append(f"{best} is better than {listed(better)}{corrected}.")
        if alike:
            clauses.append(f"{best} cannot be distinguished from {listed(alike)}{corrected}.")
        return clauses

    def __repr__(self) -> str:
        return f"GroupComparison({len(self.groups)} groups by {self.label})"

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per group and measure."""
        return [record for group in self.groups for record in group.records()]

    def difference_records(self) -> list[dict[str, object]]:
        """Return one flat mapping per pair of groups."""
        return [{"measure": self.measure, **difference.record()} for difference in self.differences]


def compare_groups(
    groups: Mapping[str, Sequence[Comparison]],
    *,
    measure: str = "normalized",
    paired: bool | None = None,
    training_share: float | None = None,
    level: float = 0.05,
    seed: Seed = 0,
) -> GroupComparison:
    """Compare groups of guesses, such as the replicates of several learners.

    Parameters
    ----------
    groups : mapping from names to comparisons with the truth, one per replicate
        If results are paired, the replicates of all groups are in the same order.
    measure : name of the measure to test, such as "normalized", "kappa" or "shd"
    paired : whether the k-th replicate of every group is from the same data set
        True by default if the groups have equally many.
    training_share : the share of common rows that each replicate learned from, if they overlap
        Then there are intervals, but no tests.
    level : level of the tests in the verdict
    seed : generator or seed, for tests with too many ways to try all

    Returns
    -------
    GroupComparison

    Examples
    --------
    >>> from contextwise import Structure, compare_many
    >>> true = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    >>> near = [Structure(true.domain, [text]) for text in ("A=1 & B=1", "B=1 & C=0")]
    >>> far = [Structure(true.domain, texts) for texts in (["A=1 & C=1"], [])]
    >>> result = compare_groups({"near": compare_many(true, near), "far": compare_many(true, far)})
    >>> print(result.verdict)
    near is nearest to the truth (mean normalized distance 0.3333). near cannot be distinguished
    from far (p = 0.5).
    """
    _check(groups, measure, paired, training_share)
    sizes = {len(comparisons) for comparisons in groups.values()}
    paired = len(sizes) == 1 if paired is None else paired
    keys = list(dict.fromkeys([measure, *shown_in("groups")]))
    values = {
        key: {name: values_of(key, comparisons) for name, comparisons in groups.items()}
        for key in keys
    }
    return compare_values(
        values, measure, paired=paired, training_share=training_share, level=level, seed=seed
    )


def compare_values(
    values: Mapping[str, Mapping[str, Sequence[float | None]]],
    measure: str,
    *,
    paired: bool = True,
    blocks: Sequence[object] | None = None,
    training_share: float | None = None,
    level: float = 0.05,
    seed: Seed = 0,
) -> GroupComparison:
    """Compare groups by the values of their measures, as `compare_groups` does.

    ``values`` has for each measure the values of each group. With ``blocks``, such as the truth of
    each replicate, every block has the same weight: means are those of the means of blocks, and
    intervals and tests are about the variation inside blocks. Blocks need paired groups.

    >>> values = {"normalized": {"near": [0.1, 0.2, 0.1, 0.1], "far": [0.3, 0.4, 0.2, 0.9]}}
    >>> result = compare_values(values, "normalized", blocks=["a", "a", "a", "b"])
    >>> result.groups[0].means["normalized"].mean, result.differences[0].p_value
    (0.1166..., 0.125)
    """
    tested = values[measure]
    summaries = tuple(
        GroupSummary(
            name,
            len(tested[name]),
            {
                key: mean_with_interval(
                    [value for value in groups[name] if value is not None],
                    blocks=_kept(blocks, groups[name]),
                    training_share=training_share,
                    within=MEASURES[key].range,
                )
                for key, groups in values.items()
            },
        )
        for name in tested
    )
    source = np.random.default_rng(seed)
    found = [
        GroupDifference(
            first,
            second,
            *_tested(tested[first], tested[second], paired, blocks, training_share, source),
        )
        for first, second in combinations(tested, 2)
    ]
    adjusted = iter(holm([each.p_value for each in found if each.p_value is not None]))
    differences = tuple(
        each if each.p_value is None else replace(each, adjusted=next(adjusted)) for each in found
    )
    return GroupComparison(summaries, differences, measure, paired, training_share, level)


def _check(
    groups: Mapping[str, Sequence[Comparison]],
    measure: str,
    paired: bool | None,
    training_share: float | None,
) -> None:
    if training_share is not None and not 0 < training_share < 1:
        raise ContextwiseError(
            f"training_share must be between 0 and 1, got {training_share}; it is the share of "
            "the rows that each replicate learned from"
        )
    if measure not in TESTED:
        raise ContextwiseError(f"unknown measure {measure!r}; use one of {', '.join(TESTED)}")
    if measure in BY_GADJID:
        require("gadjid", "causal")
    if not groups:
        raise ContextwiseError("there is no group to compare; give at least one")
    for name, comparisons in groups.items():
        if not len(comparisons):
            raise ContextwiseError(f"the group {name!r} has no comparisons")
        for comparison in comparisons:
            if not isinstance(comparison, Comparison):
                raise TypeError(
                    f"compare_groups() needs Comparison objects, got {type(comparison).__name__}; "
                    "compare_many(true, guesses) makes them"
                )
    sizes = {name: len(comparisons) for name, comparisons in groups.items()}
    if paired and len(set(sizes.values())) > 1:
        counts = ", ".join(f"{name}: {size}" for name, size in sizes.items())
        raise ContextwiseError(f"paired groups must have equally many replicates, got {counts}")


def values_of(key: str, comparisons: Sequence[Comparison]) -> list[float | None]:
    """Compute a measure of each comparison; None where it is not defined."""
    values = [MEASURES[key].formula(comparison) for comparison in comparisons]
    return [
        None if value is None or not comparison.total else float(value)
        for value, comparison in zip(values, comparisons, strict=True)
    ]


# -- intervals -------------------------------------------------------------------------------------


def mean_with_interval(
    values: Sequence[float],
    *,
    blocks: Sequence[object] | None = None,
    training_share: float | None = None,
    within: tuple[float, float] = (-inf, inf),
) -> Mean:
    """Compute the mean of some values with its 95 % interval, cut at the ends of ``within``.

    With ``blocks`` it is the mean of the means of blocks; the interval has the degrees of freedom
    of Satterthwaite, and is None if a block has one value.

    >>> mean_with_interval([1, 2, 3])
    Mean(count=3, mean=2.0, low=-0.484..., high=4.484...)
    """
    x = np.array(values, dtype=np.float64)
    if not len(x):
        return Mean(0, None, None, None)
    if blocks is not None and len(set(blocks)) > 1:
        return _mean_of_blocks(x, blocks, within)
    mean = float(x.mean())
    if len(x) == 1 or np.ptp(x) <= EQUAL_MEANS * np.abs(x).max():
        return Mean(len(x), mean, None, None)
    from scipy.stats import t

    overlap = 0.0 if training_share is None else (1 - training_share) / training_share
    error = float(x.std(ddof=1)) * sqrt(1 / len(x) + overlap)
    half = float(t.ppf(0.975, len(x) - 1)) * error
    least, most = within
    return Mean(len(x), mean, max(mean - half, least), min(mean + half, most))


def _mean_of_blocks(x: FloatArray, blocks: Sequence[object], within: tuple[float, float]) -> Mean:
    shares = _shares(blocks)
    mean = float(shares @ x)
    parts, degrees = 0.0, 0.0
    for block in dict.fromkeys(blocks):
        inside = x[[each == block for each in blocks]]
        if len(inside) < 2:
            return Mean(len(x), mean, None, None)
        part = float(inside.var(ddof=1)) / len(inside)
        parts += part
        degrees += part**2 / (len(inside) - 1)
    if np.ptp(x) <= EQUAL_MEANS * np.abs(x).max() or not degrees:
        return Mean(len(x), mean, None, None)
    from scipy.stats import t

    error = sqrt(parts) / len(set(blocks))
    half = float(t.ppf(0.975, parts**2 / degrees)) * error
    return Mean(len(x), mean, max(mean - half, within[0]), min(mean + half, within[1]))


def _shares(blocks: Sequence[object]) -> FloatArray:
    """Return the share of each value in the mean of the means of blocks."""
    sizes = {block: sum(each == block for each in blocks) for block in set(blocks)}
    return np.array([1 / (len(sizes) * sizes[block]) for block in blocks])


def _kept(blocks: Sequence[object] | None, values: Sequence[float | None]) -> list[object] | None:
    """Return the blocks of the values that are known."""
    if blocks is None:
        return None
    return [block for block, value in zip(blocks, values, strict=True) if value is not None]


# -- tests -----------------------------------------------------------------------------------------


def _tested(
    first: Sequence[float | None],
    second: Sequence[float | None],
    paired: bool,
    blocks: Sequence[object] | None,
    training_share: float | None,
    rng: np.random.Generator,
) -> tuple[Mean, float | None, float | None]:
    """Return the difference of two groups, its p-value, and the smallest p that is attainable."""
    if paired:
        rows = [
            None if a is None or b is None else a - b for a, b in zip(first, second, strict=True)
        ]
        apart = np.array([value for value in rows if value is not None])
        kept = _kept(blocks, rows)
        mean = mean_with_interval(apart.tolist(), blocks=kept, training_share=training_share)
        if training_share is not None or not len(apart):
            return mean, None, None
        weighted = apart if kept is None else apart * _shares(kept)
        return mean, sign_test(weighted, rng), 2.0 ** (1 - len(apart))
    a, b = (np.array([v for v in values if v is not None]) for values in (first, second))
    if not len(a) or not len(b):
        return Mean(0, None, None, None), None, None
    mean = Mean(min(len(a), len(b)), _mean_difference(a, b), None, None)
    if training_share is not None:
        return mean, None, None
    attainable = (1 + (len(a) == len(b))) / comb(len(a) + len(b), len(a))
    return mean, label_test(a, b, rng), attainable


def _mean_difference(first: FloatArray, second: FloatArray) -> float:
    """Return the difference of the means; 0 if it is within rounding."""
    between = float(first.mean() - second.mean())
    scale = float(np.abs(np.concatenate([first, second])).max())
    return 0.0 if abs(between) <= EQUAL_MEANS * scale else between


def sign_test(differences: FloatArray, rng: np.random.Generator) -> float:
    """Return the share of all signs whose sum is at least as far from 0, exact up to 20 values.

    All six signs agree, which happens twice in 2^6.

    >>> sign_test(np.array([0.3, 0.2, 0.3, 0.1, 0.2, 0.3]), np.random.default_rng(0))
    0.03125
    """
    observed = abs(float(differences.sum()))
    least = observed - EQUAL_MEANS * float(np.abs(differences).sum())
    if len(differences) > MOST_SIGNS:
        signs = rng.integers(0, 2, (MOST_DRAWS, len(differences)), dtype=np.int8) * 2 - 1
        return (1 + int((np.abs(signs @ differences) >= least).sum())) / (1 + MOST_DRAWS)
    sums = np.zeros(1)
    for difference in differences.tolist():
        sums = np.concatenate([sums + difference, sums - difference])
    return float((np.abs(sums) >= least).mean())


def label_test(first: FloatArray, second: FloatArray, rng: np.random.Generator) -> float:
    """Return the share of all ways to deal the values that put the means at least as far apart.

    Of the 20 ways to deal six values to two groups, two put the means this far apart.

    >>> label_test(np.array([0.5, 0.6, 0.5]), np.array([0.2, 0.1, 0.3]), np.random.default_rng(0))
    0.1
    """
    pooled = np.concatenate([first, second])
    size, count = len(first), len(pooled)
    ways = comb(count, size)
    if ways <= MOST_WAYS:
        chosen = np.array(list(combinations(range(count), size)), dtype=np.int64)
    else:
        shuffled = rng.permuted(np.tile(np.arange(count), (MOST_DRAWS, 1)), axis=1)
        chosen = shuffled[:, :size]
    sums = pooled[chosen].sum(axis=1)
    apart = np.abs(sums / size - (pooled.sum() - sums) / (count - size))
    least = abs(float(first.mean() - second.mean())) - EQUAL_MEANS * float(np.abs(pooled).max())
    near = int((apart >= least).sum())
    return near / ways if ways <= MOST_WAYS else (1 + near) / (1 + MOST_DRAWS)
