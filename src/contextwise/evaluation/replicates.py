"""Summarize groups of replicates: means with intervals, differences, and ranks over truths.

The values of one comparison that groups are compared by are listed in `METRICS`. Over several
truths the groups are also ranked (Demšar 2006): Friedman's test asks whether all groups are alike,
and two groups differ if their mean ranks are farther apart than Nemenyi's **critical difference**.
Two groups are compared by Wilcoxon's signed-rank test instead.

**Intervals.** Below `FEW` replicates an interval uses Student's t, from there on the bootstrap
(bias-corrected and accelerated). If the training rows of replicates overlap, the replicates are not
independent. Then the variance of the mean is s²·(1/n + (1 - q)/q), where q is the share of the
common rows that each replicate learned from (Nadeau and Bengio 2003), and the interval uses t.

- An interval by t that leaves the range of the metric is **cut** at its end, which loses no
  coverage.
- Values that are all equal have no spread. They get no interval, and their p-values are exact: n
  equal paired differences have equal signs, which has probability 2/2^n if the groups are alike.
  For two unpaired groups of one value each, p is the share of the ways to deal the replicates to
  the groups that put the two means as far apart.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, inf, isfinite, nan, sqrt
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from contextwise.comparison.causal import BY_GADJID
from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import CAUSAL, MEASURES, Measure, shown_in
from contextwise.errors import ContextwiseError, ParseError, require
from contextwise.evaluation.skill import skills
from contextwise.support import files
from contextwise.support.arrays import FloatArray
from contextwise.support.formatting import Printed, listed, rate

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Summary", "summarize"]

Range = tuple[float, float]
"""The least and the largest value that a metric can have."""
ANY: Range = (-inf, inf)
Values = Sequence[float | None]
"""One value per replicate, or per truth; None where it is not defined."""


# -- metrics ---------------------------------------------------------------------------------------


METRICS: Mapping[str, Measure] = {
    **{key: MEASURES[key] for key in shown_in("replicates")},
    "skill": Measure(
        "skill",
        "1 - distance / expected: 1 is perfect, 0 is as good as chance.",
        lambda c: skills(c)[0],
        range=(-inf, 1),
    ),
}
"""The metrics of groups, by name: the measures shown for replicates, and the skill."""
KNOWN: Mapping[str, tuple[Range, bool]] = {
    **{key: (m.range, m.smaller_is_better) for key, m in {**MEASURES, **METRICS}.items()},
    **dict.fromkeys(("kl", "seconds"), ((0, inf), True)),
    **dict.fromkeys(("brier", "expected_distance", "medoid_distance"), ((0, 1), True)),
}
"""Range and whether smaller is better, for the columns of tables of results that we know."""


def metric_label(metric: str) -> str:
    """Return the label of a metric; the name itself for the column of a table."""
    return METRICS[metric].label if metric in METRICS else metric


# -- results ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mean:
    """A mean with its interval."""

    count: int
    mean: float | None  # None without values
    spread: float | None  # the standard deviation; None for one value
    low: float | None  # None if the values have no spread
    high: float | None
    how: str  # "t", "bootstrap", "t, overlapping rows" or "Welch", or why there is no interval
    cut: bool = False  # whether the interval was cut at the end of the metric's range

    def interval_record(self) -> dict[str, object]:
        """Return the interval as a flat mapping."""
        return {"low": self.low, "high": self.high, "interval": self.how, "cut": self.cut}


class DifferenceTest(NamedTuple):
    """The p-value of a difference, and the test it comes from, or why there is no p-value."""

    p_value: float | None
    how: str


@dataclass(frozen=True)
class GroupMean:
    """The mean of one metric of one group; ``undefined`` replicates (or truths) have no value."""

    group: str
    metric: str
    value: Mean
    undefined: int


@dataclass(frozen=True)
class Difference:
    """One metric of two groups: the first minus the second."""

    metric: str
    first: str
    second: str
    value: Mean
    p_value: float | None  # of no difference; None if it cannot be tested
    test: str  # the name of the test, or why it was not possible
    adjusted: float | None  # after Holm's correction over all differences of this metric


@dataclass(frozen=True)
class Ranking:
    """The mean ranks of groups over several truths, by one metric."""

    metric: str  #: what they are ranked by
    groups: tuple[str, ...]  #: best first
    ranks: tuple[float, ...]  #: the mean rank of each group; 1 is the best
    truths: int  #: number of truths
    p_value: float  #: of the hypothesis that all groups are alike
    test: str  #: "Friedman", or "Wilcoxon" for two groups
    critical_difference: float | None  #: of two mean ranks; None for two groups
    alpha: float  #: level of the critical difference

    def alike(self) -> list[tuple[str, ...]]:
        """Return the largest sets of neighbours with ranks within the critical difference."""
        if self.critical_difference is None:
            return [self.groups] if self.p_value > self.alpha else []
        spans: list[tuple[int, int]] = []
        for first in range(len(self.groups)):
            near = [r - self.ranks[first] <= self.critical_difference for r in self.ranks]
            last = max(k for k in range(first, len(near)) if near[k])
            if last > first and (not spans or last > spans[-1][1]):
                spans.append((first, last))
        return [self.groups[first : last + 1] for first, last in spans]

    @property
    def verdict(self) -> str:
        """The conclusion in one or two sentences."""
        best = [g for g, r in zip(self.groups, self.ranks, strict=True) if r == self.ranks[0]]
        ranks = f"{listed(best)} {'ranks' if len(best) == 1 else 'rank'} first"
        if len(best) == len(self.groups):
            ranks = "All groups have the same mean rank"
        first = f"{ranks} by {metric_label(self.metric)} over {self.truths} truths"
        p_value = f"{self.test}, p = {self.p_value:.2g}"
        if len(best) == len(self.groups) and self.p_value > self.alpha:
            return f"{first} ({p_value})."
        if self.p_value > self.alpha:
            return f"{first}, but the groups could be alike ({p_value})."
        differ = f"{first}, and the groups are not all alike ({p_value})."
        if self.critical_difference is None:
            return differ
        alike = "; ".join(", ".join(names) for names in self.alike())
        within = f"cannot distinguish ranks within {self.critical_difference:.2f} of each other"
        return f"{differ} Nemenyi's test {within}" + (f": {alike}." if alike else ".")

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per group, best first."""
        return [
            {
                "metric": self.metric,
                "group": group,
                "mean_rank": rank,
                "truths": self.truths,
                "test": self.test,
                "p_value": self.p_value,
                "critical_difference": self.critical_difference,
                "alpha": self.alpha,
            }
            for group, rank in zip(self.groups, self.ranks, strict=True)
        ]


@dataclass(frozen=True, repr=False)
class Summary(Printed):
    """The summary of groups of replicates."""

    groups: tuple[str, ...]  #: their names
    means: tuple[GroupMean, ...]  #: of each group and metric
    differences: tuple[Difference, ...]  #: of each pair of groups and metric
    rankings: tuple[Ranking, ...]  #: by each metric, if there are several truths
    unit: str  #: "replicate" or "truth": what the intervals are over
    paired: bool  #: whether differences are between results on the same rows
    confidence: float  #: of the intervals
    training_share: float | None  #: share of common rows of each replicate, if they overlap
    alpha: float  #: level of the tests in the verdict
    smaller_is_better: frozenset[str]  #: the metrics of which the smallest value is the best

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics."""
        return list(dict.fromkeys(mean.metric for mean in self.means))

    def mean(self, group: str, metric: str) -> Mean:
        """Return the mean of one metric of one group."""
        for mean in self.means:
            if (mean.group, mean.metric) == (group, metric):
                return mean.value
        raise ContextwiseError(f"this summary has no {metric!r} of a group {group!r}")

    @property
    def verdict(self) -> str:
        """The best group by the first metric, and the groups it is better than."""
        metric = self.metrics[0]
        means = {group: self.mean(group, metric) for group in self.groups}
        values = {group: mean.mean for group, mean in means.items() if mean.mean is not None}
        if not values:
            return f"The {metric_label(metric)} is not defined for any group."
        smaller = metric in self.smaller_is_better
        first = (min if smaller else max)(values.values())
        scale = max(map(abs, values.values()))
        best = [g for g, value in values.items() if abs(value - first) <= ROUNDING * scale]
        average = f"mean {metric_label(metric)} {rate(first)}"
        low, high = means[best[0]].low, means[best[0]].high
        if len(best) == 1 and low is not None and high is not None:
            average += f", {100 * self.confidence:g} % interval {rate(low)} to {rate(high)}"
        if len(values) == 1:
            return f"{best[0]}: {average}."
        every = listed(best)
        if len(best) == len(self.groups):
            every = "Both groups" if len(best) == 2 else f"All {len(best)} groups"
        verb = ("are", "have") if len(best) > 1 else ("is", "has")
        leads = f"{verb[1]} the {'smallest' if smaller else 'largest'} {metric_label(metric)}"
        if len(best) == len(values):
            leads = f"have the same mean {metric_label(metric)}"
        if metric == "normalized":
            equally = "equally near" if len(best) == len(values) else "nearest"
            leads = f"{verb[0]} {equally} to the truth"
        tested = " ".join(filter(None, (self._tested(group, best, metric) for group in best)))
        return f"{every} {leads} ({average}). {tested}".rstrip()

    def _tested(self, group: str, best: Sequence[str], metric: str) -> str:
        """Report the tests of one of the best groups against the groups that are not."""
        clauses: dict[str, list[str]] = {"alike": [], "better": [], "worse": [], "untested": []}
        for difference in self.differences:
            pair = (difference.first, difference.second)
            if difference.metric != metric or group not in pair:
                continue
            other = pair[pair[0] == group]
            # One of two tied groups reports their test.
            if other in best and best.index(other) < best.index(group):
                continue
            p_value, mean = difference.adjusted, difference.value.mean
            if p_value is None or mean is None:
                clauses["untested"].append(other)
                continue
            # The means are over all values, the test is over those that both groups have.
            is_less = (mean < 0) == (pair[0] == group)
            is_better = is_less == (metric in self.smaller_is_better)
            verdict = "alike" if p_value > self.alpha else "better" if is_better else "worse"
            clauses[verdict].append(f"{other} (p = {p_value:.2g})")
        corrected = " after Holm's correction" if len(self.groups) > 2 else ""
        verbs = {
            "alike": "cannot be distinguished from",
            "better": "is better than",
        }
        predicates = [f"{verbs[key]} {listed(clauses[key])}" for key in verbs if clauses[key]]
        subject = "It" if len(best) == 1 else group
        again = "; it " if len(best) == 1 else f"; {group} "
        sentences = [f"{subject} {again.join(predicates)}{corrected}."] if predicates else []
        if clauses["worse"]:
            verb = "is" if len(clauses["worse"]) == 1 else "are"
            better = f"{listed(clauses['worse'])} {verb} better than {group}"
            sentences.append(f"On the {self.unit}s that both have, {better}{corrected}.")
        if clauses["untested"]:
            against = listed(clauses["untested"])
            sentences.append(f"Not tested against {against}: too few {self.unit}s.")
        return " ".join(sentences)

    def __repr__(self) -> str:
        return f"Summary({len(self.groups)} groups, metrics {', '.join(self.metrics)})"

    def records(self) -> list[dict[str, object]]:
        """Return one flat mapping per group and metric."""
        return [
            {
                "group": mean.group,
                "metric": mean.metric,
                f"{self.unit}s": mean.value.count,
                "undefined": mean.undefined,
                "mean": mean.value.mean,
                "spread": mean.value.spread,
                **mean.value.interval_record(),
            }
            for mean in self.means
        ]

    def difference_records(self) -> list[dict[str, object]]:
        """Return one flat mapping per metric and pair of groups."""
        return [
            {
                "metric": difference.metric,
                "first": difference.first,
                "second": difference.second,
                f"{self.unit}s": difference.value.count,
                "difference": difference.value.mean,
                **difference.value.interval_record(),
                "p_value": difference.p_value,
                "test": difference.test,
                "holm_p_value": difference.adjusted,
            }
            for difference in self.differences
        ]

    def rows(self) -> list[dict[str, object]]:
        """Return means and differences as one table; a difference names a group in ``minus``."""
        tested = dict.fromkeys(("p_value", "test", "holm_p_value"))
        rows = [{"group": r["group"], "minus": None, **r, **tested} for r in self.records()]
        head = list(rows[0]) if rows else []
        for difference, record in zip(self.differences, self.difference_records(), strict=True):
            record["group"], record["minus"] = record["first"], record["second"]
            record["mean"], record["spread"] = record["difference"], difference.value.spread
            rows.append({key: record.get(key) for key in head})
        return rows


# -- comparisons -----------------------------------------------------------------------------------


def summarize(
    comparisons: Mapping[str, Sequence[Comparison]] | Sequence[Comparison],
    *,
    truths: Mapping[str, Sequence[str]] | None = None,
    metrics: Sequence[str] | None = None,
    paired: bool | None = None,
    confidence: float = 0.95,
    training_share: float | None = None,
    alpha: float = 0.05,
    rng: Seed = 0,
) -> Summary:
    """Summarize replicates, group by group.

    Parameters
    ----------
    comparisons : mapping from groups to comparisons, one per replicate, or those of one group
        If results are paired, the replicates of all groups are in the same order.
    truths : mapping from groups to names of the true models, one per comparison
        With two truths or more, replicates of one truth are averaged, and intervals and
        differences are over truths.
    metrics : names from `METRICS`
        By default all; the distances of graphs only if all models are Bayesian networks.
    paired : whether the k-th replicate of every group was learned from the same rows
        True by default if the groups have equally many. Over truths, always true.
    confidence : of the intervals
    training_share : the share of common rows that each replicate learned from, if they overlap
    alpha : level of the tests in the verdict, and of the critical difference of ranks
    rng : generator or seed for the bootstrap

    Returns
    -------
    Summary

    Examples
    --------
    >>> from contextwise import Structure, compare
    >>> true = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    >>> near = [Structure(true.domain, [text]) for text in ("A=1 & B=1", "B=1 & C=0")]
    >>> far = [Structure(true.domain, texts) for texts in (["A=1 & C=1"], [])]
    >>> groups = {"near": near, "far": far}
    >>> summary = summarize({name: [compare(true, guess) for guess in guesses]
    ...                      for name, guesses in groups.items()})
    >>> summary.mean("near", "normalized").mean, summary.mean("far", "normalized").mean
    (0.333..., 0.833...)
    """
    if training_share is not None and not 0 < training_share < 1:
        raise ContextwiseError(
            f"training_share must be between 0 and 1, got {training_share}; it is the share of "
            "the rows that each replicate learned from"
        )
    if not 0 < confidence < 1:
        raise ContextwiseError(f"confidence must be between 0 and 1, got {confidence}")
    for metric in metrics or ():
        if metric not in METRICS:
            raise ContextwiseError(f"unknown metric {metric!r}; use one of {', '.join(METRICS)}")
        if metric in BY_GADJID:
            require("gadjid", "causal")
    if not isinstance(comparisons, Mapping):
        comparisons = {"all": comparisons}
    grouped = {str(group): list(members) for group, members in comparisons.items()}
    if not grouped:
        raise ContextwiseError("there are no comparisons to summarize")
    for group, members in grouped.items():
        if not members:
            raise ContextwiseError(f"the group {group!r} has no comparisons")
        for member in members:
            if not isinstance(member, Comparison):
                raise TypeError(
                    f"summarize() needs Comparison objects, got {type(member).__name__}; "
                    "compare(true, guess) makes them"
                )
    if metrics is None:
        every = [comparison for members in grouped.values() for comparison in members]
        metrics = [key for key in METRICS if key not in CAUSAL or _has_values(key, every)]
    labels = {} if truths is None else _labels(grouped, truths)
    over_truths = len({truth for names in labels.values() for truth in names}) > 1
    sizes = {group: len(members) for group, members in grouped.items()}
    alike = len(set(sizes.values())) == 1
    if paired and not alike and not over_truths:
        raise ContextwiseError(_unequal(sizes, "replicate"))
    table = {
        metric: {
            group: _values(metric, members, labels[group] if over_truths else None)
            for group, members in grouped.items()
        }
        for metric in metrics
    }
    return summarize_values(
        table,
        unit="truth" if over_truths else "replicate",
        paired=over_truths or (alike if paired is None else paired),
        confidence=confidence,
        training_share=None if over_truths else training_share,
        alpha=alpha,
        rng=rng,
    )


def _has_values(metric: str, comparisons: Sequence[Comparison]) -> bool:
    return all(METRICS[metric].formula(comparison) is not None for comparison in comparisons)


def _unequal(sizes: Mapping[str, int], unit: str) -> str:
    counts = ", ".join(f"{group}: {size}" for group, size in sizes.items())
    return f"paired groups must have equally many {unit}s, got {counts}"


def _labels(
    grouped: Mapping[str, Sequence[Comparison]], truths: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """The truth of each comparison, group by group."""
    labels = {group: list(map(str, truths.get(group, ()))) for group in grouped}
    every = dict.fromkeys(truth for names in labels.values() for truth in names)
    for group, names in labels.items():
        if len(names) != len(grouped[group]):
            raise ContextwiseError(
                f"the group {group!r} has {len(grouped[group])} comparisons and {len(names)} truths"
            )
        for truth in every:
            if truth not in names:
                raise ContextwiseError(f"the group {group!r} has no comparison with {truth!r}")
    return labels


def _values(metric: str, comparisons: Sequence[Comparison], truths: Sequence[str] | None) -> Values:
    """Compute a metric for each comparison, or its mean for each truth."""
    values = [
        None if value is None or not comparison.total else float(value)
        for comparison in comparisons
        for value in [METRICS[metric].formula(comparison)]
    ]
    if truths is None:
        return values
    by_truth: dict[str, list[float]] = {truth: [] for truth in sorted(truths)}
    for truth, value in zip(truths, values, strict=True):
        by_truth[truth] += [] if value is None else [value]
    return [fmean(numbers) if numbers else None for numbers in by_truth.values()]


# -- numbers of any kind ---------------------------------------------------------------------------


def summarize_values(
    values: Mapping[str, Mapping[str, Values]],
    *,
    unit: str = "truth",
    paired: bool = True,
    smaller_is_better: Container[str] | None = None,
    confidence: float = 0.95,
    training_share: float | None = None,
    alpha: float = 0.05,
    rng: Seed = 0,
) -> Summary:
    """Summarize numbers, for instance from a table of results: metric -> group -> values.

    Paired groups have their values in the same order. Names in `KNOWN` tell the range of a metric
    and which values are better.

    >>> values = {"trees": [0.1, 0.2, 0.1], "pairs": [0.3, 0.3, 0.2], "none": [0.5, 0.6, 0.4]}
    >>> [ranking] = summarize_values({"normalized": values}).rankings
    >>> ranking.groups, ranking.ranks
    (('trees', 'pairs', 'none'), (1.0, 2.0, 3.0))
    """
    _check_values(values, unit, paired)
    if smaller_is_better is None:
        smaller_is_better = [name for name, (_, smaller) in KNOWN.items() if smaller]
    smaller = frozenset(metric for metric in values if metric in smaller_is_better)
    generator = np.random.default_rng(rng)
    means: list[GroupMean] = []
    differences: list[Difference] = []
    rankings: list[Ranking] = []
    options: dict[str, dict[str, Any]] = {
        metric: {
            "confidence": confidence,
            "training_share": training_share,
            "within": KNOWN.get(metric, (ANY, True))[0],
            "unit": unit,
            "rng": generator,
        }
        for metric in values
    }
    for metric, by_group in values.items():
        for group, numbers in by_group.items():
            known = [value for value in numbers if value is not None]
            mean = mean_with_interval(known, **options[metric])
            means.append(GroupMean(group, metric, mean, len(numbers) - len(known)))
    for metric, by_group in values.items():
        differences += _differences(metric, by_group, paired, options[metric])
        if unit != "truth" or len(by_group) < 2:
            continue
        everywhere = [row for row in zip(*by_group.values(), strict=True) if None not in row]
        if len(everywhere) > 1:
            columns: Any = dict(zip(by_group, zip(*everywhere, strict=True), strict=True))
            larger = metric not in smaller
            rankings.append(
                rank_groups(columns, metric=metric, larger_is_better=larger, alpha=alpha)
            )
    return Summary(
        groups=tuple(next(iter(values.values()), {})),
        means=tuple(means),
        differences=tuple(differences),
        rankings=tuple(rankings),
        unit=unit,
        paired=paired,
        confidence=confidence,
        training_share=training_share,
        alpha=alpha,
        smaller_is_better=smaller,
    )


def _check_values(values: Mapping[str, Mapping[str, Values]], unit: str, paired: bool) -> None:
    if not any(values.values()):
        raise ContextwiseError("there are no values to summarize")
    for metric, by_group in values.items():
        for group, numbers in by_group.items():
            for value in numbers:
                if value is not None and not isfinite(value):
                    raise ContextwiseError(
                        f"{metric} of the group {group!r} must be finite, got {value}; pass None "
                        "for an undefined value"
                    )
        sizes = {group: len(numbers) for group, numbers in by_group.items()}
        if (paired or unit == "truth") and len(set(sizes.values())) > 1:
            raise ContextwiseError(_unequal(sizes, unit))


def _differences(
    metric: str, by_group: Mapping[str, Values], paired: bool, options: Mapping[str, Any]
) -> list[Difference]:
    """Test each pair of groups, with Holm's correction over all of them."""
    tests: list[tuple[str, str, Mean, DifferenceTest]] = []
    for first, second in combinations(by_group, 2):
        a, b = by_group[first], by_group[second]
        if paired:
            rows = zip(a, b, strict=True)
            both = [(x, y) for x, y in rows if x is not None and y is not None]
            result = paired_difference([x for x, _ in both], [y for _, y in both], **options)
        else:
            known = ([value for value in values if value is not None] for values in (a, b))
            unpaired = {key: options[key] for key in ("confidence", "within", "unit")}
            result = unpaired_difference(*known, **unpaired)
        tests.append((first, second, *result))
    adjusted = iter(holm([test.p_value for *_, test in tests if test.p_value is not None]))
    return [
        Difference(
            metric, first, second, mean, *test, None if test.p_value is None else next(adjusted)
        )
        for first, second, mean, test in tests
    ]


def rank_groups(
    values: Mapping[str, Sequence[float]],
    *,
    metric: str,
    larger_is_better: bool,
    alpha: float = 0.05,
) -> Ranking:
    """Rank groups by their values on several truths, in the same order for all groups.

    >>> values = {"a": [1, 2, 1, 2], "b": [2, 3, 3, 4], "c": [3, 4, 5, 6]}
    >>> ranking = rank_groups(values, metric="normalized", larger_is_better=False)
    >>> ranking.groups, ranking.ranks, round(ranking.p_value, 4)
    (('a', 'b', 'c'), (1.0, 2.0, 3.0), 0.0183)
    >>> round(ranking.critical_difference, 3), ranking.alike()
    (1.657, [('a', 'b'), ('b', 'c')])
    """
    table = np.array([list(numbers) for numbers in values.values()], dtype=np.float64)
    if len(table) < 2 or table.shape[1] < 2:
        raise ContextwiseError(
            "a ranking needs at least two groups and two truths, "
            f"got {len(table)} and {table.shape[1] if table.ndim == 2 else 0}"
        )
    from scipy import stats

    signed = -table if larger_is_better else table
    ranks = stats.rankdata(signed, axis=0).mean(axis=1)
    k, n = table.shape
    if (table == table[0]).all():
        p_value = 1.0
    elif k == 2:
        p_value = float(stats.wilcoxon(table[0], table[1], zero_method="zsplit").pvalue)
    else:
        p_value = float(stats.friedmanchisquare(*table).pvalue)
    difference = None
    if k > 2:
        # Nemenyi's critical difference of mean ranks.
        quantile = float(stats.studentized_range.ppf(1 - alpha, k, np.inf)) / sqrt(2)
        difference = quantile * sqrt(k * (k + 1) / (6 * n))
    names, order = list(values), np.argsort(ranks, kind="stable").tolist()
    return Ranking(
        metric=metric,
        groups=tuple(names[g] for g in order),
        ranks=tuple(float(ranks[g]) for g in order),
        truths=n,
        p_value=p_value,
        test="Wilcoxon" if k == 2 else "Friedman",
        critical_difference=difference,
        alpha=alpha,
    )


# -- tables of results -----------------------------------------------------------------------------

TRUTHS = ("truth", "true", "dataset", "data", "network")
GROUPS = ("group", "learner", "method", "algorithm", "model")
"""Usual names of the columns for the truth and the group, most likely first."""


def read_results(
    path: str | os.PathLike[str],
    *,
    metrics: Sequence[str] = (),
    truth: str | None = None,
    group: str | None = None,
) -> dict[str, dict[str, list[float | None]]]:
    """Read a CSV table with one row per run: metric -> group -> one value per truth.

    Runs of one group on one truth are averaged. The default metric is ``normalized``, or
    ``distance`` in tables without it.
    """
    name = os.fspath(path)
    try:
        text = files.read_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise ParseError("not UTF-8 text", path=name) from None
    reader = csv.DictReader(io.StringIO(text), strict=True)
    try:
        rows, header = list(reader), list(reader.fieldnames or ())
    except csv.Error as error:
        raise ParseError(f"not a CSV file: {error}", path=name, line=reader.line_num) from None
    if not rows:
        raise ParseError("the table has no rows", path=name)

    def column(*names: str) -> str:
        for candidate in names:
            if candidate in header:
                return candidate
        wanted, columns = (", ".join(map(repr, listed)) for listed in (names, header))
        raise ParseError(f"no column {wanted}; there are {columns or 'none'}", path=name, line=1)

    of_truth = column(truth) if truth else column(*TRUTHS)
    of_group = column(group) if group else column(*GROUPS)
    wanted = [column(metric) for metric in metrics] or [column("normalized", "distance")]
    return {metric: _column_values(rows, metric, of_truth, of_group, name) for metric in wanted}


def _column_values(
    rows: Sequence[Mapping[str, str | None]], metric: str, truth: str, group: str, path: str
) -> dict[str, list[float | None]]:
    cells: dict[tuple[str, str], list[float]] = {}
    # Line 1 is the header.
    for line, row in enumerate(rows, 2):
        value = _number(row[metric], metric, path, line)
        cells.setdefault((str(row[group]), str(row[truth])), []).extend(
            [] if value is None else [value]
        )
    groups, truths = (list(dict.fromkeys(key[k] for key in cells)) for k in (0, 1))
    for g in groups:
        for t in truths:
            if (g, t) not in cells:
                raise ParseError(
                    f"the group {g!r} has no row for the truth {t!r}; ranks need every group on "
                    "every truth",
                    path=path,
                )
    return {g: [fmean(cells[g, t]) if cells[g, t] else None for t in truths] for g in groups}


def _number(text: str | None, metric: str, path: str, line: int) -> float | None:
    """Read the number of a cell; an empty one is undefined."""
    if text is None or text.strip().lower() in ("", "nan", "na", "none"):
        return None
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not isfinite(value):
        raise ParseError(f"{metric} must be a number, got {text!r}", path=path, line=line)
    return value


# -- intervals and tests of differences ------------------------------------------------------------

FEW = 20
"""Number of replicates from which the bootstrap is used."""
RESAMPLES = 9_999
ROUNDING = 1e-12
"""Values this close to each other, relative to the largest, are equal: they are rounded ratios."""


def mean_with_interval(
    values: Sequence[float],
    *,
    confidence: float = 0.95,
    training_share: float | None = None,
    within: Range = ANY,
    unit: str = "replicate",
    rng: np.random.Generator,
    scale: float | None = None,
) -> Mean:
    """Compute the mean of some values with its interval; ``unit`` is used in messages.

    The values are rounded relative to ``scale``, by default the largest of them.

    >>> mean_with_interval([1, 2, 3], rng=np.random.default_rng(0))
    Mean(count=3, mean=2.0, spread=1.0, low=-0.484..., high=4.484..., how='t', cut=False)
    """
    x = np.array(values, dtype=np.float64)
    scale = _largest(x) if scale is None else scale
    if not len(x):
        return Mean(0, None, None, None, None, f"not defined for any {unit}")
    mean = _zero_if_rounded(fmean(x.tolist()), scale)
    if len(x) == 1:
        return Mean(1, mean, None, None, None, f"one {unit} has no spread")
    if _are_equal(x, scale):
        return Mean(len(x), mean, 0.0, None, None, f"equal {unit}s have no spread")
    spread = float(x.std(ddof=1))
    from scipy import stats

    if training_share is None and len(x) >= FEW:
        interval = stats.bootstrap(
            (x,), np.mean, confidence_level=confidence, n_resamples=RESAMPLES, rng=rng
        ).confidence_interval
        low, high = float(interval.low), float(interval.high)
        return Mean(len(x), mean, spread, low, high, "bootstrap")
    quantile = float(stats.t.ppf((1 + confidence) / 2, len(x) - 1))
    half = quantile * _standard_error(x, training_share)
    return _cut(Mean(len(x), mean, spread, mean - half, mean + half, _by_t(training_share)), within)


def _largest(*arrays: FloatArray) -> float:
    return max(float(np.abs(values).max(initial=0)) for values in arrays)


def _zero_if_rounded(mean: float, scale: float) -> float:
    return 0.0 if abs(mean) <= ROUNDING * scale else mean


def _are_equal(x: FloatArray, scale: float) -> bool:
    return float(np.ptp(x)) <= ROUNDING * scale


def _by_t(training_share: float | None) -> str:
    return "t" if training_share is None else "t, overlapping rows"


def _cut(mean: Mean, within: Range) -> Mean:
    """Cut the interval at the ends of the range, unless the mean is outside of the range."""
    least, most = within
    if mean.mean is None or mean.low is None or mean.high is None:
        return mean
    if not least <= mean.mean <= most or (mean.low >= least and mean.high <= most):
        return mean
    return replace(mean, low=max(mean.low, least), high=min(mean.high, most), cut=True)


def _standard_error(values: FloatArray, training_share: float | None) -> float:
    """The standard error of the mean, corrected if training rows overlap."""
    overlap = 0.0 if training_share is None else (1 - training_share) / training_share
    return float(values.std(ddof=1)) * sqrt(1 / len(values) + overlap)


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    confidence: float = 0.95,
    training_share: float | None = None,
    within: Range = ANY,
    unit: str = "replicate",
    rng: np.random.Generator,
) -> tuple[Mean, DifferenceTest]:
    """Test the mean difference of results on the same rows, by Student's t.

    The same difference six times: all six signs agree, which happens twice in 2^6.

    >>> paired_difference([0.5] * 6, [0.2] * 6, rng=np.random.default_rng(0))[1]
    DifferenceTest(p_value=0.03125, how='exact signs')
    """
    a, b = (np.array(values, dtype=np.float64) for values in (first, second))
    scale = _largest(a, b)
    x = a - b
    mean = mean_with_interval(
        x.tolist(),
        confidence=confidence,
        training_share=training_share,
        within=_differences_of(within),
        unit=unit,
        rng=rng,
        scale=scale,
    )
    if len(x) < 2:
        return mean, DifferenceTest(None, f"too few {unit}s")
    if _are_equal(x, scale):
        if not _zero_if_rounded(float(x.mean()), scale):
            return mean, DifferenceTest(1.0, "exact signs")
        if training_share is not None:
            return mean, DifferenceTest(None, "no spread, overlapping rows")
        # All n signs agree, in either direction: 2 · 2^-n.
        return mean, DifferenceTest(2.0 ** (1 - len(x)), "exact signs")
    from scipy import stats

    t = abs(float(x.mean())) / _standard_error(x, training_share)
    p_value = float(2 * stats.t.sf(t, len(x) - 1))
    return mean, DifferenceTest(p_value, _by_t(training_share))


def _differences_of(within: Range) -> Range:
    return within[0] - within[1], within[1] - within[0]


def unpaired_difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    confidence: float = 0.95,
    within: Range = ANY,
    unit: str = "replicate",
) -> tuple[Mean, DifferenceTest]:
    """Test the difference of two means on different rows, by Welch's test.

    Of the 20 ways to deal six replicates to two groups, two put the means this far apart.

    >>> unpaired_difference([0.5] * 3, [0.2] * 3)[1]
    DifferenceTest(p_value=0.1, how='exact permutation')
    """
    a, b = (np.array(values, dtype=np.float64) for values in (first, second))
    count, scale = min(len(a), len(b)), _largest(a, b)
    mean = _zero_if_rounded(float(a.mean() - b.mean()), scale) if count else None
    if mean is None or count < 2:
        why = f"one {unit} has no spread" if count else f"not defined for any {unit}"
        return Mean(count, mean, None, None, None, why), DifferenceTest(None, f"too few {unit}s")
    if _are_equal(a, scale) and _are_equal(b, scale):
        ways = comb(len(a) + len(b), count)
        # Of all ways to divide the values, only this one is as far, and its mirror if sizes agree.
        as_far = 1 + (len(a) == len(b)) if mean else ways
        no_interval = Mean(count, mean, None, None, None, f"equal {unit}s have no spread")
        return no_interval, DifferenceTest(as_far / ways, "exact permutation")
    # SciPy's own Welch test warns if one group has no spread.
    from scipy.stats import t

    of_a, of_b = (float(x.var(ddof=1)) / len(x) for x in (a, b))
    # Welch-Satterthwaite.
    freedom = (of_a + of_b) ** 2 / (of_a**2 / (len(a) - 1) + of_b**2 / (len(b) - 1))
    error = sqrt(of_a + of_b)
    half = float(t.ppf((1 + confidence) / 2, freedom)) * error
    p_value = float(2 * t.sf(abs(float(a.mean() - b.mean())) / error, freedom))
    interval = Mean(count, mean, None, mean - half, mean + half, "Welch")
    return _cut(interval, _differences_of(within)), DifferenceTest(p_value, "Welch")


def holm(p_values: Sequence[float]) -> list[float]:
    """Apply Holm's correction for multiple tests.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    # An adjusted p-value is never below that of a smaller p-value.
    raised = np.maximum.accumulate(factors * np.array(p_values, dtype=np.float64)[order])
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(raised, 1.0)
    return [float(p) for p in adjusted]
