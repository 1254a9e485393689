"""Parts that show groups of replicates: the verdict, means, differences, and ranks."""

from __future__ import annotations

from collections.abc import Iterable

from contextwise.evaluation.intervals import Mean
from contextwise.evaluation.replicates import Summary, metric_label
from contextwise.report.parts import Cell, Column, Note, Part, Table
from contextwise.support.formatting import name, plural, rate


def summary_parts(summary: Summary) -> list[Part]:
    """Show which group is best, the means of each group, their differences, and their ranks.

    A metric that no group has a value of is left out.
    """
    verdicts = [summary.verdict, *(ranking.verdict for ranking in summary.rankings)]
    metrics = [
        metric
        for metric in summary.metrics
        if any(mean.value.mean is not None for mean in summary.means if mean.metric == metric)
    ]
    parts: list[Part] = [Note("verdict", "\n".join(verdicts)), _means(summary, metrics)]
    if summary.differences:
        parts.append(_differences(summary, metrics))
    if summary.rankings:
        parts.append(_ranks(summary))
    return [*parts, Note("intervals", " ".join(_notes(summary, metrics)))]


def _means(summary: Summary, metrics: list[str]) -> Table:
    head = [Column("group", "name"), Column(f"{summary.unit}s", "count")]
    head += [Column(metric_label(metric), "words") for metric in metrics]
    rows: list[tuple[Cell, ...]] = []
    for group in summary.groups:
        means = [summary.mean(group, metric) for metric in metrics]
        count = max((mean.count for mean in means), default=0)
        rows.append((group, count, *map(_with_interval, means)))
    title = f"The mean of each group, with its {100 * summary.confidence:g} % interval"
    return Table(title, tuple(head), tuple(rows), "group means")


def _with_interval(value: Mean) -> str:
    if value.mean is None:
        return "–"
    if value.low is None or value.high is None:
        return rate(value.mean)
    return f"{rate(value.mean)} ({rate(value.low)} to {rate(value.high)})"


def _differences(summary: Summary, metrics: list[str]) -> Table:
    titles = ("metric", "groups", "difference", "p", "p after Holm")
    head = tuple(Column(title, "words") for title in titles)
    rows = tuple(
        (
            metric_label(difference.metric),
            f"{name(difference.first)} – {name(difference.second)}",
            _with_interval(difference.value),
            _p_value(difference.p_value),
            _p_value(difference.adjusted),
        )
        for difference in summary.differences
        if difference.metric in metrics
    )
    how = ", on the same truths" if summary.unit == "truth" else ""
    return Table(f"Differences between groups{how}", head, rows, "group differences")


def _p_value(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"


def _ranks(summary: Summary) -> Table:
    head = [Column("metric", "words")]
    head += [Column(group, "mean") for group in summary.groups]
    head += [Column("p", "words"), Column("critical difference", "mean")]
    rows: list[tuple[Cell, ...]] = []
    for ranking in summary.rankings:
        by_group = dict(zip(ranking.groups, ranking.ranks, strict=True))
        ranks: list[Cell] = [by_group[group] for group in summary.groups]
        p_value = f"{ranking.p_value:.2g} ({ranking.test})"
        rows.append((metric_label(ranking.metric), *ranks, p_value, ranking.critical_difference))
    truths = plural(max(ranking.truths for ranking in summary.rankings), "truth")
    return Table(f"Mean ranks over {truths}", tuple(head), tuple(rows), "ranks")


def _notes(summary: Summary, metrics: list[str]) -> Iterable[str]:
    means = [mean for mean in summary.means if mean.metric in metrics]
    differences = [mean.value for mean in summary.differences if mean.metric in metrics]
    yield f"Intervals: {'; '.join(dict.fromkeys(mean.value.how for mean in means))}."
    if summary.training_share is not None:
        share = f"{100 * summary.training_share:g} %"
        yield f"Each replicate learned from {share} of the same rows; the variances allow for it."
    if any(value.cut for value in (*(mean.value for mean in means), *differences)):
        yield "Intervals are cut where the metric ends."
    if summary.differences and summary.unit == "replicate":
        if summary.paired:
            yield (
                "Differences are paired: the k-th replicates of all groups are taken to be from "
                "the same rows."
            )
        else:
            yield "Differences are not paired: the groups are taken to be from different rows."
    yield from _test_notes(summary)
    undefined = sum(mean.undefined for mean in means)
    if undefined:
        yield f"{plural(undefined, 'undefined value')} left out."
    missing = [metric_label(metric) for metric in summary.metrics if metric not in metrics]
    if missing:
        yield f"Not defined for any group: {', '.join(missing)}."


def _test_notes(summary: Summary) -> Iterable[str]:
    """Explain differences that have no p-value by t."""
    unit, tests = summary.unit, {difference.test for difference in summary.differences}
    if f"too few {unit}s" in tests:
        yield f"Tests need at least two {unit}s in both groups."
    if "exact signs" in tests:
        yield (
            f"If all {unit}s have the same difference, p is exact: how often all signs agree by "
            "chance."
        )
    if "exact permutation" in tests:
        yield (
            f"If the {unit}s of each group are equal, p is exact: how often dealing them to the "
            "groups at random puts the means as far apart."
        )
    if "no spread, overlapping rows" in tests:
        yield f"{unit.capitalize()}s with the same difference and overlapping rows are not tested."
