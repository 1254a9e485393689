"""What values of groups say in all: means with intervals, differences, and ranks over truths."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from contextwise.comparison.compare import Comparison
from contextwise.errors import ContextwiseError
from contextwise.evaluation.intervals import (
    ANY,
    DifferenceTest,
    Mean,
    Range,
    check_training_share,
    holm,
    mean_with_interval,
    paired_difference,
    unpaired_difference,
)
from contextwise.evaluation.metrics import METRICS, RANGES, SMALLER_IS_BETTER
from contextwise.evaluation.rankings import Ranking, rank_groups

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Summary", "summarize"]


Values = Sequence[float | None]
"""One value per replicate, or per truth; None where it is not defined."""


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
    test : by which test, or why there is none
    adjusted : after Holm, over all differences of this metric
    """

    metric: str
    first: str
    second: str
    value: Mean
    p_value: float | None
    test: str
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
    of_assertions : whether distance, FP and FN are shares of all assertions

    Examples
    --------
    >>> from contextwise import compare
    >>> from contextwise.evaluation import summarize
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
    of_assertions: bool = False

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
                "cut": one.value.cut,
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
                "cut": one.value.cut,
                "p_value": one.p_value,
                "test": one.test,
                "holm_p_value": one.adjusted,
            }
            for one in self.differences
        ]

    def rows(self) -> list[dict[str, object]]:
        """Means and differences as one table: where ``minus`` names a group, it is a difference."""
        tested = dict.fromkeys(("p_value", "test", "holm_p_value"))
        means = [{"group": one["group"], "minus": None, **one, **tested} for one in self.records()]
        differences = (
            {
                **record,
                "group": record["first"],
                "minus": record["second"],
                "mean": record["difference"],
                "spread": one.value.spread,
            }
            for one, record in zip(self.differences, self.difference_records(), strict=True)
        )
        head = means[0] if means else {}
        return means + [{key: record.get(key) for key in head} for record in differences]


def summarize_values(
    values: Mapping[str, Mapping[str, Values]],
    *,
    unit: str = "truth",
    paired: bool = True,
    smaller_is_better: Container[str] = SMALLER_IS_BETTER,
    confidence: float = 0.95,
    training_share: float | None = None,
    ranges: Mapping[str, Range] = MappingProxyType({}),
    alpha: float = 0.05,
    rng: Seed = 0,
) -> Summary:
    """Summarize numbers of any kind, for instance from a table of results.

    Parameters
    ----------
    values : mapping from metrics to mappings from groups to values
        One value per replicate or truth, in the same order for all groups where they are paired;
        None where it is not defined.
    unit : "replicate" or "truth"
        What the values are of; over truths the groups are ranked.
    paired : bool
        Whether the k-th values of all groups belong together.
    smaller_is_better : metrics of which the smallest value has rank 1
    confidence : float
        Of the intervals.
    training_share : float, optional
        As in `summarize`.
    ranges : mapping from metrics to two numbers
        The least and the largest value that a metric can have, where it has such; intervals are cut
        there.
    alpha : float
        The level of the critical difference.
    rng : generator or seed
        Of the bootstrap.

    Returns
    -------
    Summary

    Raises
    ------
    ContextwiseError
        If there are no values, one is no finite number, or paired groups have not equally many.

    Examples
    --------
    >>> values = {"trees": [0.1, 0.2, 0.1], "pairs": [0.3, 0.3, 0.2], "none": [0.5, 0.6, 0.4]}
    >>> [ranking] = summarize_values({"distance": values}).rankings
    >>> ranking.groups, ranking.ranks
    (('trees', 'pairs', 'none'), (1.0, 2.0, 3.0))
    """
    _check_values(values, unit, paired)
    common: dict[str, Any] = {"confidence": confidence, "rng": np.random.default_rng(rng)}
    common |= {"training_share": training_share, "unit": unit}
    of = {metric: {**common, "within": ranges.get(metric, ANY)} for metric in values}
    means = [
        _group_mean(group, metric, own, of[metric])
        for metric, by_group in values.items()
        for group, own in by_group.items()
    ]
    differences = [
        one
        for metric, by_group in values.items()
        for one in _differences(metric, by_group, paired, of[metric])
    ]
    rankings = []
    if unit == "truth":
        for metric, by_group in values.items():
            larger = metric not in smaller_is_better
            rankings += _ranking(metric, by_group, larger_is_better=larger, alpha=alpha)
    return Summary(
        groups=tuple(next(iter(values.values()), {})),
        means=tuple(means),
        differences=tuple(differences),
        rankings=tuple(rankings),
        unit=unit,
        paired=paired,
        confidence=confidence,
        training_share=training_share,
    )


def _check_values(values: Mapping[str, Mapping[str, Values]], unit: str, paired: bool) -> None:
    if not any(values.values()):
        raise ContextwiseError("there are no values to summarize")
    for metric, by_group in values.items():
        for group, own in by_group.items():
            if not all(value is None or isfinite(value) for value in own):
                raise ContextwiseError(
                    f"{metric} of the group {group!r} has a value that is no finite number; give "
                    "None where it is not defined"
                )
        sizes = {group: len(own) for group, own in by_group.items()}
        if (paired or unit == "truth") and len(set(sizes.values())) > 1:
            counts = ", ".join(f"{group}: {size}" for group, size in sizes.items())
            raise ContextwiseError(f"paired groups have equally many {unit}s, not {counts}")


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
    adjusted = iter(holm([test.p_value for *_, test in found if test.p_value is not None]))
    return [
        Difference(metric, a, b, value, *test, None if test.p_value is None else next(adjusted))
        for a, b, value, test in found
    ]


def _difference(
    first: Values, second: Values, paired: bool, options: Mapping[str, Any]
) -> tuple[Mean, DifferenceTest]:
    if paired:
        both = [
            (a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None
        ]
        return paired_difference([a for a, _ in both], [b for _, b in both], **options)
    a, b = ([value for value in values if value is not None] for values in (first, second))
    own = {key: options[key] for key in ("confidence", "within", "unit")}
    return unpaired_difference(a, b, **own)


def _ranking(
    metric: str, by_group: Mapping[str, Values], *, larger_is_better: bool, alpha: float
) -> list[Ranking]:
    """The ranking by a metric, if there are several truths on which all groups have a value."""
    everywhere = [values for values in zip(*by_group.values(), strict=True) if None not in values]
    if len(by_group) < 2 or len(everywhere) < 2:
        return []
    columns = list(zip(*everywhere, strict=True))
    values = {
        group: [float(v or 0) for v in own] for group, own in zip(by_group, columns, strict=True)
    }
    return [rank_groups(values, metric=metric, larger_is_better=larger_is_better, alpha=alpha)]


# -- Replicates in groups: means, spreads and intervals of what comparisons say, and differences.


def summarize(
    comparisons: Mapping[str, Sequence[Comparison]] | Sequence[Comparison],
    *,
    groups: Sequence[str] | None = None,
    truths: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
    metrics: Sequence[str] = tuple(METRICS),
    paired: bool | None = None,
    confidence: float = 0.95,
    training_share: float | None = None,
    alpha: float = 0.05,
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
    alpha : float
        The level of the critical difference, where groups are ranked over truths.
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
    found = summarize_values(
        table,
        unit="truth" if over_truths else "replicate",
        paired=_is_paired(grouped, over_truths, paired),
        confidence=confidence,
        training_share=None if over_truths else training_share,
        ranges=RANGES,
        alpha=alpha,
        rng=rng,
    )
    return replace(found, of_assertions=True)


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
