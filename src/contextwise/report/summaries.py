"""Replicates as parts to show: the mean of each group, differences, and ranks."""

from __future__ import annotations

from collections.abc import Iterable

from contextwise.evaluation.intervals import Mean
from contextwise.evaluation.metrics import metric_label, shares_words
from contextwise.evaluation.rankings import Ranking
from contextwise.evaluation.replicates import Summary
from contextwise.report.parts import Cell, Column, Note, Part, Table
from contextwise.support.formatting import name, plural, rate

PAIRED = (
    "Differences are paired: the first replicates of all groups are taken to be from the same "
    "rows, so are the second, and so on."
)
UNPAIRED = "Differences are not paired: the groups are taken to be from different rows."


def summary_parts(summary: Summary) -> list[Part]:
    """The means of each group, the differences between groups, and their ranks.

    Parameters
    ----------
    summary : of replicates

    Returns
    -------
    list of parts

    Examples
    --------
    >>> from contextwise import Structure, compare
    >>> from contextwise.evaluation.replicates import summarize
    >>> from contextwise.report.text import as_text
    >>> true = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    >>> guesses = [Structure(true.domain, [text]) for text in ("A=1 & B=1", "B=1 & C=0 & A=0")]
    >>> found = summarize({"trees": [compare(true, guess) for guess in guesses]},
    ...                   metrics=["distance"])
    >>> print(as_text(summary_parts(found)))
    The mean of each group, with its 95 % interval:
    group  replicates  distance
    trees           2  0.4167 (0 to 1)
    <BLANKLINE>
    Intervals: t. Intervals are cut where the metric ends. Distance is a share of all assertions.
    """
    parts: list[Part] = [_means(summary)]
    if summary.differences:
        parts.append(_differences(summary))
    if summary.rankings:
        parts.append(_ranks(summary))
        words = "\n".join(ranking.verdict for ranking in summary.rankings)
        parts.append(Note("finding", words))
    return [*parts, Note("intervals", " ".join(_notes(summary)))]


def _means(summary: Summary) -> Table:
    metrics = list(dict.fromkeys(one.metric for one in summary.means))
    head = [Column("group", "name"), Column(f"{summary.unit}s", "count")]
    head += [Column(metric_label(metric), "words") for metric in metrics]
    rows: list[tuple[Cell, ...]] = []
    for group in summary.groups:
        own = [summary.mean(group, metric) for metric in metrics]
        count = max(one.count for one in own)
        rows.append((group, count, *map(_with_interval, own)))
    title = f"The mean of each group, with its {100 * summary.confidence:g} % interval"
    return Table(title, tuple(head), tuple(rows), "group means")


def _with_interval(value: Mean) -> str:
    if value.mean is None:
        return "–"
    if value.low is None or value.high is None:
        return rate(value.mean)
    return f"{rate(value.mean)} ({rate(value.low)} to {rate(value.high)})"


def _differences(summary: Summary) -> Table:
    head = (
        Column("metric", "words"),
        Column("groups", "words"),
        Column("difference", "words"),
        Column("p", "words"),
        Column("p after Holm", "words"),
    )
    rows = tuple(
        (
            metric_label(one.metric),
            f"{name(one.first)} – {name(one.second)}",
            _with_interval(one.value),
            _p_value(one.p_value),
            _p_value(one.adjusted),
        )
        for one in summary.differences
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
    return Table(f"Mean ranks over {_truths(summary.rankings)}", tuple(head), tuple(rows), "ranks")


def _truths(rankings: Iterable[Ranking]) -> str:
    return plural(max(ranking.truths for ranking in rankings), "truth")


def _notes(summary: Summary) -> Iterable[str]:
    means = [one.value for one in summary.means]
    differences = [one.value for one in summary.differences]
    kinds = dict.fromkeys(value.how for value in means)
    yield f"Intervals: {'; '.join(kinds)}."
    if summary.training_share is not None:
        share = f"{100 * summary.training_share:g} %"
        yield f"Each replicate learned from {share} of the same rows, and variances allow for it."
    if any(value.cut for value in (*means, *differences)):
        yield "Intervals are cut where the metric ends."
    if summary.differences and summary.unit == "replicate":
        yield PAIRED if summary.paired else UNPAIRED
    yield from _tests(summary)
    undefined = sum(one.undefined for one in summary.means)
    if undefined:
        yield f"{plural(undefined, 'value')} not defined and left out."
    if summary.of_assertions:
        yield shares_words(dict.fromkeys(one.metric for one in summary.means))


def _tests(summary: Summary) -> Iterable[str]:
    """What has to be said of differences that have no p-value by t."""
    unit, tests = summary.unit, {one.test for one in summary.differences}
    if f"too few {unit}s" in tests:
        yield f"A difference is tested where both groups have two {unit}s at least."
    if "exact signs" in tests:
        yield (
            f"Where all {unit}s have the same difference there is no spread for t; p is then exact:"
            " how often all signs agree."
        )
    if "exact permutation" in tests:
        yield (
            f"Where all {unit}s of a group are equal there is no spread for t; p is then exact: "
            "how often dealing them to the groups at random sets them as far apart."
        )
    if "no spread, overlapping rows" in tests:
        yield (
            f"Where all {unit}s have the same difference and their rows overlap, nothing can be "
            "tested."
        )
