"""Replicates in groups: means, spreads and intervals of what comparisons say, and differences.

A learner is judged by more than one run: the comparisons of one learner are a **group**, those of
one run with all learners on the same rows belong together. `summarize` gives each group's mean of
each metric with its interval (`contextwise.evaluation.intervals`), the differences between groups
with p-values after Holm's correction, and, over several truths, ranks
(`contextwise.evaluation.rankings`). Over several truths the truths are what varies: the replicates
of one truth are averaged first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from contextwise.comparison.compare import Comparison
from contextwise.errors import ContextwiseError
from contextwise.evaluation.intervals import (
    Mean,
    check_training_share,
    holm,
    mean_with_interval,
    paired_p_value,
    unpaired_difference,
)
from contextwise.evaluation.metrics import METRICS, SMALLER_IS_BETTER
from contextwise.evaluation.rankings import Ranking, rank_groups

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed


@dataclass(frozen=True)
class GroupMean:
    """One metric of one group.

    Attributes
    ----------
    group, metric : the names
    value : the mean with its interval
    undefined : how many replicates (or truths) have no such value
    """

    group: str
    metric: str
    value: Mean
    undefined: int


@dataclass(frozen=True)
class Difference:
    """One metric of two groups: the first less the second.

    Attributes
    ----------
    metric, first, second : the names
    value : the mean difference with its interval
    p_value : that there is none; None if it cannot be tested
    adjusted : after Holm, over all differences of this metric
    """

    metric: str
    first: str
    second: str
    value: Mean
    p_value: float | None
    adjusted: float | None


@dataclass(frozen=True)
class Summary:
    """What replicates say in all.

    Attributes
    ----------
    groups : their names
    means : of each group and metric
    differences : of each two groups and metric
    rankings : by each metric, where there are several truths
    unit : "replicate" or "truth": what the intervals are over
    paired : whether differences are between results on the same rows
    confidence : of the intervals
    training_share : of the rows that each replicate learned from, where they overlap

    Examples
    --------
    >>> from contextwise import compare
    >>> found = summarize({"guesses": [compare("six", "six-guess"), compare("six", "six-graph")]})
    >>> round(found.mean("guesses", "distance").mean, 4), found.records()[0]["interval"]
    (0.2, 't')
    """

    groups: tuple[str, ...]
    means: tuple[GroupMean, ...]
    differences: tuple[Difference, ...]
    rankings: tuple[Ranking, ...]
    unit: str
    paired: bool
    confidence: float
    training_share: float | None

    def mean(self, group: str, metric: str) -> Mean:
        """The mean of one metric of one group."""
        for one in self.means:
            if (one.group, one.metric) == (group, metric):
                return one.value
        raise ContextwiseError(f"there is no {metric!r} of a group {group!r} in this summary")

    def records(self) -> list[dict[str, object]]:
        """One flat mapping per group and metric."""
        return [
            {
                "group": one.group,
                "metric": one.metric,
                f"{self.unit}s": one.value.count,
                "undefined": one.undefined,
                "mean": one.value.mean,
                "spread": one.value.spread,
                "low": one.value.low,
                "high": one.value.high,
                "interval": one.value.how,
            }
            for one in self.means
        ]

    def difference_records(self) -> list[dict[str, object]]:
        """One flat mapping per metric and two groups."""
        return [
            {
                "metric": one.metric,
                "first": one.first,
                "second": one.second,
                f"{self.unit}s": one.value.count,
                "difference": one.value.mean,
                "low": one.value.low,
                "high": one.value.high,
                "interval": one.value.how,
                "p_value": one.p_value,
                "holm_p_value": one.adjusted,
            }
            for one in self.differences
        ]


def summarize(
    comparisons: Mapping[str, Sequence[Comparison]] | Sequence[Comparison],
    *,
    groups: Sequence[str] | None = None,
    truths: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
    metrics: Sequence[str] = tuple(METRICS),
    paired: bool | None = None,
    confidence: float = 0.95,
    training_share: float | None = None,
    rng: Seed = 0,
) -> Summary:
    """Summarize replicates, group by group.

    Parameters
    ----------
    comparisons : mapping from groups to comparisons, or comparisons
        One per replicate. Where results are paired, the replicates of all groups are in the same
        order.
    groups : names, one per comparison
        Where the comparisons are no mapping; without them all are one group.
    truths : names of the true models, one per comparison, in the form of ``comparisons``
        With two truths or more, replicates of one truth are averaged, and intervals and
        differences are over truths.
    metrics : names out of `METRICS`
    paired : bool, optional
        Whether the k-th replicate of every group was learned from the same rows. By default so if
        the groups have equally many; over truths differences are always paired.
    confidence : float
        Of the intervals.
    training_share : float, optional
        If replicates learned from parts of the same rows: the share of them that each one had.
    rng : generator or seed
        Of the bootstrap.

    Returns
    -------
    Summary

    Examples
    --------
    >>> from contextwise import Structure, compare
    >>> true = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    >>> near = [Structure(true.domain, [text]) for text in ("A=1 & B=1", "B=1 & C=0")]
    >>> far = [Structure(true.domain, texts) for texts in (["A=1 & C=1"], [])]
    >>> found = summarize({name: [compare(true, guess) for guess in guesses]
    ...                    for name, guesses in (("near", near), ("far", far))})
    >>> found.mean("near", "distance").mean, found.mean("far", "distance").mean
    (0.333..., 0.833...)
    """
    check_training_share(training_share)
    if not 0 < confidence < 1:
        raise ContextwiseError(f"confidence is between 0 and 1, not {confidence}")
    for metric in metrics:
        if metric not in METRICS:
            raise ContextwiseError(
                f"there is no metric {metric!r} to summarize; there are {', '.join(METRICS)}"
            )
    grouped = _grouped(comparisons, groups)
    labels = _labels(grouped, truths)
    over_truths = labels is not None and len({t for own in labels.values() for t in own}) > 1
    table = {
        metric: {
            group: _values(METRICS[metric], own, labels[group] if over_truths and labels else None)
            for group, own in grouped.items()
        }
        for metric in metrics
    }
    together = _is_paired(grouped, over_truths, paired)
    generator = np.random.default_rng(rng)
    options = {"confidence": confidence, "rng": generator}
    if not over_truths:
        options["training_share"] = training_share
    means = [
        _group_mean(group, metric, values, options)
        for metric, by_group in table.items()
        for group, values in by_group.items()
    ]
    differences = [
        one
        for metric, by_group in table.items()
        for one in _differences(metric, by_group, together, options)
    ]
    rankings = [r for metric in metrics for r in _ranking(metric, table[metric], over_truths)]
    return Summary(
        groups=tuple(grouped),
        means=tuple(means),
        differences=tuple(differences),
        rankings=tuple(rankings),
        unit="truth" if over_truths else "replicate",
        paired=together,
        confidence=confidence,
        training_share=None if over_truths else training_share,
    )


Values = list[float | None]
"""One value per replicate, or per truth; None where it is not defined."""


def _grouped(
    comparisons: Mapping[str, Sequence[Comparison]] | Sequence[Comparison],
    groups: Sequence[str] | None,
) -> dict[str, list[Comparison]]:
    if isinstance(comparisons, Mapping):
        grouped = {str(group): list(own) for group, own in comparisons.items()}
    else:
        listed = list(comparisons)
        names = ["all"] * len(listed) if groups is None else list(groups)
        if len(names) != len(listed):
            raise ContextwiseError(
                f"{len(listed)} comparisons need as many groups, not {len(names)}"
            )
        grouped = {name: [] for name in names}
        for name, comparison in zip(names, listed, strict=True):
            grouped[name].append(comparison)
    empty = [group for group, own in grouped.items() if not own]
    if empty or not grouped:
        what = f"the group {empty[0]!r} has no comparisons" if empty else "there are no comparisons"
        raise ContextwiseError(f"{what}; there is nothing to summarize")
    return grouped


def _labels(
    grouped: Mapping[str, Sequence[Comparison]],
    truths: Mapping[str, Sequence[str]] | Sequence[str] | None,
) -> dict[str, list[str]] | None:
    """The truth of each comparison, group by group."""
    if truths is None:
        return None
    if not isinstance(truths, Mapping):
        if len(grouped) > 1:
            raise ContextwiseError("give the truths as a mapping from groups, like the comparisons")
        truths = {next(iter(grouped)): truths}
    labels = {group: list(map(str, truths.get(group, ()))) for group in grouped}
    for group, own in grouped.items():
        if len(labels[group]) != len(own):
            raise ContextwiseError(
                f"the group {group!r} has {len(own)} comparisons and {len(labels[group])} truths"
            )
    every = list(dict.fromkeys(truth for own in labels.values() for truth in own))
    for group, names in labels.items():
        missing = [truth for truth in every if truth not in names]
        if missing:
            raise ContextwiseError(f"the group {group!r} has no comparison with {missing[0]!r}")
    return labels


def _values(
    metric: Callable[[Comparison], float | None],
    comparisons: Sequence[Comparison],
    truths: Sequence[str] | None,
) -> Values:
    values = [metric(comparison) for comparison in comparisons]
    if truths is None:
        return values
    by_truth: dict[str, list[float]] = {truth: [] for truth in sorted(truths)}
    for truth, value in zip(truths, values, strict=True):
        by_truth[truth] += [] if value is None else [value]
    return [float(np.mean(own)) if own else None for own in by_truth.values()]


def _is_paired(
    grouped: Mapping[str, Sequence[Comparison]], over_truths: bool, paired: bool | None
) -> bool:
    sizes = {len(own) for own in grouped.values()}
    if paired and len(sizes) > 1 and not over_truths:
        counts = ", ".join(f"{group}: {len(own)}" for group, own in grouped.items())
        raise ContextwiseError(f"paired groups have equally many replicates, not {counts}")
    return over_truths or (len(sizes) == 1 if paired is None else paired)


def _group_mean(group: str, metric: str, values: Values, options: Mapping[str, Any]) -> GroupMean:
    known = [value for value in values if value is not None]
    return GroupMean(group, metric, mean_with_interval(known, **options), len(values) - len(known))


def _differences(
    metric: str, by_group: Mapping[str, Values], paired: bool, options: Mapping[str, Any]
) -> list[Difference]:
    """Each two groups, with Holm's correction over all of them."""
    found = [
        (a, b, *_difference(by_group[a], by_group[b], paired, options))
        for a, b in combinations(by_group, 2)
    ]
    adjusted = iter(holm([p for *_, p in found if p is not None]))
    return [
        Difference(metric, a, b, value, p, None if p is None else next(adjusted))
        for a, b, value, p in found
    ]


def _difference(
    first: Values, second: Values, paired: bool, options: Mapping[str, Any]
) -> tuple[Mean, float | None]:
    if paired:
        both = [
            a - b for a, b in zip(first, second, strict=True) if a is not None and b is not None
        ]
        value = mean_with_interval(both, **options)
        share = options.get("training_share")
        return value, paired_p_value(both, share) if len(both) > 1 else None
    a, b = ([value for value in values if value is not None] for values in (first, second))
    if min(len(a), len(b)) < 2:
        mean = float(np.mean(a) - np.mean(b)) if a and b else None
        return Mean(
            min(len(a), len(b)), mean, None, None, None, "one replicate has no spread"
        ), None
    return unpaired_difference(a, b, confidence=options["confidence"])


def _ranking(metric: str, by_group: Mapping[str, Values], over_truths: bool) -> list[Ranking]:
    """The ranking by a metric, if there are several truths on which all groups have a value."""
    if not over_truths or len(by_group) < 2:
        return []
    everywhere = [values for values in zip(*by_group.values(), strict=True) if None not in values]
    if len(everywhere) < 2:
        return []
    columns = list(zip(*everywhere, strict=True))
    values = {
        group: [float(v or 0) for v in own] for group, own in zip(by_group, columns, strict=True)
    }
    better = metric not in SMALLER_IS_BETTER
    return [rank_groups(values, metric=metric, larger_is_better=better)]
