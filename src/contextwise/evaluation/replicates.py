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
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from contextwise.comparison.compare import Comparison
from contextwise.errors import ContextwiseError
from contextwise.evaluation.intervals import check_training_share
from contextwise.evaluation.metrics import METRICS, RANGES
from contextwise.evaluation.summaries import Summary, Values, summarize_values

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Summary", "summarize"]


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
