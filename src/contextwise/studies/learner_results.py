"""The results of the study of learners: rankings, hypotheses about KL, tables.

A **cell** is a truth and a size, with one data set per repeat. A learner that failed or was too
slow has no values and ranks last. If a measurement is missing (for example a likelihood that is too
large), the data set is left out of the ranking by that metric and counted. Exact values and
estimates are never ranked together. Intervals are 95 % percentile intervals that resample truths.

The paper's **hypotheses**: the learner that KL prefers often has the worse structure; false
positives cost little KL; they cost less with more rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Any, NamedTuple, TypeVar

import numpy as np

from contextwise.comparison.confusion import MEASURES
from contextwise.evaluation.replicates import Ranking, rank_groups, summarize_values
from contextwise.report.parts import Cell, Note, Part, Section, Style, Table, table
from contextwise.studies.learner_study import TRUE_STRUCTURE, distances_between
from contextwise.support.arrays import FloatArray
from contextwise.support.formatting import plural

Record = Mapping[str, Any]
Key = TypeVar("Key")
Value = TypeVar("Value")
BOOTSTRAPS = 1000


@dataclass(frozen=True)
class Metric:
    """A measure that learners are judged by."""

    column: str
    label: str
    larger_is_better: bool = False
    estimated: bool = False

    def _column(self, part: str) -> str:
        name, whose, _ = self.column.partition("_own")
        return f"{name}_{part}{whose}"

    def value(self, record: Record) -> float:
        """Return the value of a record, with the sign that makes the smallest the best."""
        return float(record[self.column]) * (-1 if self.larger_is_better else 1)

    def is_exact(self, record: Record) -> bool:
        """Return whether the value of a record is exact."""
        return not self.estimated or bool(record[self._column("exact")])

    def error(self, record: Record) -> float:
        """Return the standard error of the value of a record."""
        return float(record[self._column("error")] or 0.0) if self.estimated else 0.0


DISTANCE = Metric("normalized", "distance d")
BRIER = Metric("brier", "Brier score")
HAMMING = Metric("hamming_share", "graph Hamming")
KL = Metric("kl", "KL, refitted", estimated=True)
KL_OWN = Metric("kl_own", "KL, own weights", estimated=True)
CMLL = Metric("cmll", "CMLL, refitted", larger_is_better=True, estimated=True)
CMLL_OWN = Metric("cmll_own", "CMLL, own weights", larger_is_better=True, estimated=True)
METRICS = (DISTANCE, HAMMING, KL, CMLL, KL_OWN, CMLL_OWN)


def of_truths(records: Iterable[Record]) -> list[Record]:
    """Return the records with a known truth."""
    return [record for record in records if "truth" in record]


def labels_of(records: Iterable[Record]) -> list[str]:
    """List the learners by label, without the true structure."""
    return sorted({record["learner"] for record in records} - {TRUE_STRUCTURE})


def sizes_of(records: Iterable[Record]) -> list[int]:
    """List the numbers of rows."""
    return sorted({record["size"] for record in records})


def grouped(items: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Collect the values of each key, in order of first appearance."""
    groups: dict[Key, list[Value]] = defaultdict(list)
    for key, value in items:
        groups[key].append(value)
    return dict(groups)


def by_rows(records: Iterable[Record]) -> dict[tuple[str, int, int], dict[str, Record]]:
    """Group the records of each data set (truth, size, repeat) by learner."""
    sets = grouped(((r["truth"], r["size"], r["repeat"]), (r["learner"], r)) for r in records)
    return {key: dict(learners) for key, learners in sorted(sets.items())}


class WithInterval(NamedTuple):
    """A statistic over truths, with an interval if there are at least three truths."""

    value: float | None
    interval: tuple[float, float] | None

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        low_high = self.interval and f" ({self.interval[0]:.3g} to {self.interval[1]:.3g})"
        return f"{self.value:.3g}{low_high or ''}"

    def between(self, scale: float = 1.0) -> str:
        """Return the interval as the end of a phrase."""
        if self.interval is None:
            return ""
        return f", interval {scale * self.interval[0]:.2g} to {scale * self.interval[1]:.2g}"

    @property
    def excludes_0(self) -> bool:
        """True if the interval excludes 0."""
        return self.interval is not None and (self.interval[0] > 0 or self.interval[1] < 0)


def resampled(
    truths: Iterable[str], statistic: Callable[[Sequence[str]], float | None]
) -> WithInterval:
    """Compute a statistic over truths, and its interval over resampled truths."""
    names = sorted(truths)
    value = statistic(names)
    if len(names) < 3:
        return WithInterval(value, None)
    # One seed, so that all statistics use the same resamples.
    drawn = np.random.default_rng(0).integers(len(names), size=(BOOTSTRAPS, len(names)))
    values = [statistic([names[k] for k in row]) for row in drawn.tolist()]
    known = [value for value in values if value is not None and np.isfinite(value)]
    if not known:
        return WithInterval(value, None)
    low, high = np.percentile(known, [2.5, 97.5]).tolist()
    return WithInterval(value, (low, high))


def mean_of_truths(values: Mapping[str, float]) -> WithInterval:
    """Return the mean over truths.

    >>> mean_of_truths({"a": 1.0, "b": 3.0})
    WithInterval(value=2.0, interval=None)
    """
    return resampled(
        values, lambda drawn: float(np.mean([values[name] for name in drawn])) if drawn else None
    )


def means_by_truth(
    records: Iterable[Record], column: str, *, learner: str, size: int | None = None
) -> dict[str, float]:
    """Return the mean of a column for each truth, over the data sets with a value."""
    values = grouped(
        (r["truth"], float(r[column]))
        for r in records
        if r["learner"] == learner and size in (None, r["size"]) and r[column] is not None
    )
    return {truth: float(np.mean(values[truth])) for truth in sorted(values)}


# -- ranks -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ranks:
    """The ranks of the learners on every data set, by one metric."""

    metric: Metric
    labels: tuple[str, ...]
    ranks: Mapping[tuple[str, int, int], FloatArray]
    left_out: int

    def by_truth(self) -> list[FloatArray]:
        """Return the mean ranks for each truth."""
        truths = grouped((truth, ranks) for (truth, _, _), ranks in self.ranks.items())
        return [np.mean(ranks, axis=0) for ranks in truths.values()]

    def ranking(self) -> Ranking | None:
        """Return mean ranks over truths with Friedman's test; None with too few."""
        by_truth = self.by_truth()
        if len(by_truth) < 2 or len(self.labels) < 2:
            return None
        columns = np.array(by_truth).T.tolist()
        values = dict(zip(self.labels, columns, strict=True))
        return rank_groups(values, metric=self.metric.label, larger_is_better=False)

    def means(self) -> dict[str, float]:
        """Return the mean rank of each learner over truths."""
        ranking = self.ranking()
        if ranking is not None:
            return dict(zip(ranking.groups, ranking.ranks, strict=True))
        by_truth = self.by_truth()
        means = np.mean(by_truth, axis=0).tolist() if by_truth else []
        return dict(zip(self.labels, means, strict=False))


def rank(records: Iterable[Record], metric: Metric) -> Ranks:
    """Rank the learners on every data set; one without a result ranks last."""
    from scipy.stats import rankdata

    listed = list(records)
    labels = labels_of(listed)
    ranks: dict[tuple[str, int, int], FloatArray] = {}
    sets = by_rows(listed)
    for key, learners in sets.items():
        done = {k: r for k, r in learners.items() if k in labels and r["status"] == "done"}
        missing = any(r[metric.column] is None for r in done.values())
        if not missing and len({metric.is_exact(r) for r in done.values()}) == 1:
            values = {label: round(metric.value(r), 12) for label, r in done.items()}
            ranks[key] = rankdata([values.get(label, np.inf) for label in labels])
    return Ranks(metric, tuple(labels), ranks, len(sets) - len(ranks))


def agreements(rankings: Sequence[Ranks]) -> list[tuple[str, str, WithInterval, int]]:
    """Return both metrics, Kendall's tau-b as a mean over truths, and the number of truths."""
    from scipy.stats import kendalltau

    results = []
    for a, b in combinations(rankings, 2):
        taus = grouped(
            (key[0], float(kendalltau(a.ranks[key], b.ranks[key]).statistic))
            for key in sorted(a.ranks.keys() & b.ranks.keys())
            if np.ptp(a.ranks[key]) > 0 and np.ptp(b.ranks[key]) > 0
        )
        # Sorted, because the rounding of a sum depends on the order.
        means = {truth: float(np.mean(sorted(values))) for truth, values in taus.items()}
        tau = mean_of_truths(means)
        results.append((a.metric.label, b.metric.label, tau, len(means)))
    return results


# -- hypotheses about KL ---------------------------------------------------------------------------


TINY = 1e-12


@dataclass(frozen=True)
class Disagreement:
    """The cells in which a metric and the distance prefer different learners."""

    metric: Metric
    cells: int
    same: int
    ties: int
    worse: int
    worse_share: WithInterval
    excess: WithInterval
    pairs: int
    pairs_worse: WithInterval


class _Cell(NamedTuple):
    """The result of one cell; the verdict is "same", "tie" or "worse"."""

    verdict: str
    excess: float
    pairs: int
    opposed: int


def disagreement(records: Iterable[Record], metric: Metric) -> Disagreement:
    """Count how often the best learner by a metric is worse by distance."""
    learners = [r for r in records if r["learner"] != TRUE_STRUCTURE]
    sets = grouped(((truth, size), row) for (truth, size, _), row in by_rows(learners).items())
    judged = [(truth, _judge(rows, metric)) for (truth, _), rows in sets.items()]
    by_truth = grouped((truth, cell) for truth, cell in judged if cell is not None)
    cells = [cell for _, cell in judged if cell is not None]
    verdicts = [cell.verdict for cell in cells]

    def over_truths(statistic: Callable[[Sequence[_Cell]], float | None]) -> WithInterval:
        return resampled(by_truth, lambda drawn: statistic([c for t in drawn for c in by_truth[t]]))

    return Disagreement(
        metric=metric,
        cells=len(cells),
        same=verdicts.count("same"),
        ties=verdicts.count("tie"),
        worse=verdicts.count("worse"),
        worse_share=over_truths(_worse_share),
        excess=over_truths(_mean_excess),
        pairs=sum(cell.pairs for cell in cells),
        pairs_worse=over_truths(_opposed_share),
    )


def _worse_share(cells: Sequence[_Cell]) -> float | None:
    decided = [cell.verdict == "worse" for cell in cells if cell.verdict != "tie"]
    return sum(decided) / len(decided) if decided else None


def _mean_excess(cells: Sequence[_Cell]) -> float | None:
    worse = [cell.excess for cell in cells if cell.verdict == "worse"]
    return float(np.mean(worse)) if worse else None


def _opposed_share(cells: Sequence[_Cell]) -> float | None:
    pairs = sum(cell.pairs for cell in cells)
    return sum(cell.opposed for cell in cells) / pairs if pairs else None


def _judge(rows: list[dict[str, Record]], metric: Metric) -> _Cell | None:
    """Compare the learners that have a value of one kind, exact or estimated, on every data set."""
    known = [r for row in rows for r in row.values() if r[metric.column] is not None]
    exact = any(metric.is_exact(r) for r in known)
    complete = {
        label: records
        for label, records in sorted(grouped((r["learner"], r) for r in known).items())
        if len(records) == len(rows) and all(metric.is_exact(r) == exact for r in records)
    }
    if len(complete) < 2 or len(rows) < 2:
        return None
    values = {k: np.array([metric.value(r) for r in rs]) for k, rs in complete.items()}
    errors = {k: np.array([metric.error(r) for r in rs]) for k, rs in complete.items()}
    d = {k: float(np.mean([DISTANCE.value(r) for r in rs])) for k, rs in complete.items()}
    means = {k: float(numbers.mean()) for k, numbers in values.items()}

    def is_sure(a: str, b: str) -> bool:
        """Return whether the mean difference of two learners exceeds its standard error."""
        difference = values[a] - values[b]
        spread = float(difference.std(ddof=1)) / sqrt(len(rows))
        measured = sqrt(float((errors[a] ** 2 + errors[b] ** 2).sum())) / len(rows)
        return abs(float(difference.mean())) > max(TINY, sqrt(spread**2 + measured**2))

    best = min(means, key=lambda label: (means[label], d[label]))
    nearest = min(d, key=lambda label: (d[label], means[label]))
    excess = d[best] - d[nearest]
    pairs = [(a, b) for a, b in combinations(d, 2) if abs(d[a] - d[b]) > TINY and is_sure(a, b)]
    opposed = sum((means[a] < means[b]) != (d[a] < d[b]) for a, b in pairs)
    different = "worse" if is_sure(best, nearest) else "tie"
    return _Cell("same" if excess <= TINY else different, excess, len(pairs), opposed)


@dataclass(frozen=True)
class Slopes:
    """The cost of one percent of errors in KL, at one size."""

    size: int
    units: int
    fp: WithInterval
    fn: WithInterval


Moments = Mapping[str, tuple[FloatArray, FloatArray]]


def slopes(records: Iterable[Record]) -> list[Slopes]:
    """Compute the slopes of KL at each size, over units whose KL is exact."""
    results = []
    for size, same_size in _exact_by_size(records).items():
        fp, fn = _slope_of(_moments(same_size), 0), _slope_of(_moments(same_size), 1)
        if fp.value is not None:
            results.append(Slopes(size, len(same_size), fp, fn))
    return results


def change_with_rows(records: Iterable[Record]) -> WithInterval | None:
    """Compute how the cost of false positives changes from the fewest to the most rows."""
    by_size = list(_exact_by_size(records).values())
    if len(by_size) < 2:
        return None
    before, after = _moments(by_size[0]), _moments(by_size[-1])

    def difference(drawn: Sequence[str]) -> float | None:
        first, last = _solve(drawn, before), _solve(drawn, after)
        return None if first is None or last is None else last[0] - first[0]

    change = resampled(before.keys() & after.keys(), difference)
    return None if change.value is None else change


def _exact_by_size(records: Iterable[Record]) -> dict[int, list[Record]]:
    exact = grouped((r["size"], r) for r in records if r["kl"] is not None and r["kl_exact"])
    return dict(sorted(exact.items()))


def _moments(records: Sequence[Record]) -> Moments:
    """Return sums of squares and products of each truth about its means."""
    moments = {}
    for truth, units in grouped((r["truth"], r) for r in records).items():
        x = np.array([[100 * r["fp_share"], 100 * r["fn_share"]] for r in units])
        y = np.array([r["kl"] for r in units])
        x, y = x - x.mean(axis=0), y - y.mean()
        moments[truth] = x.T @ x, x.T @ y
    return moments


def _solve(names: Sequence[str], moments: Moments) -> list[float] | None:
    square = sum((moments[name][0] for name in names), start=np.zeros((2, 2)))
    product = sum((moments[name][1] for name in names), start=np.zeros(2))
    if np.linalg.matrix_rank(square) < 2:
        return None
    fp_fn: list[float] = np.linalg.solve(square, product).tolist()
    return fp_fn


def _slope_of(moments: Moments, error: int) -> WithInterval:
    def slope(drawn: Sequence[str]) -> float | None:
        both = _solve(drawn, moments)
        return None if both is None else both[error]

    return resampled(moments, slope)


# -- tables and sentences --------------------------------------------------------------------------


SHOWN = {
    "normalized": "distance",
    "fp_share": MEASURES["fp"].label,
    "fn_share": MEASURES["fn"].label,
    "kappa": MEASURES["kappa"].label,
    "skill": "skill",
    "hamming_share": "graph",
    "kl": "KL",
    "kl_own": "KL, own",
    "cmll": "CMLL",
    "features": "features",
    "seconds": "seconds",
}
"""The columns of the table of a size, and their heads."""


def study_parts(records: Sequence[Record]) -> list[Part]:
    """Return all tables and sentences of a run."""
    truths = of_truths(records)
    parts: list[Part] = []
    if truths:
        verdicts = [Note("ranking", _ranking_verdict(truths, n)) for n in sizes_of(truths)[::-1]]
        parts.append(Section("Which learner is best?", tuple(verdicts), key="ranking"))
        parts += [means_section(truths), ranks_section(truths), hypotheses_section(truths)]
        parts.append(failures_table(truths))
    real = grouped((record["data"], record) for record in records if "data" in record)
    parts += [_data_section(name, real[name]) for name in sorted(real)]
    return parts


def _ranking_verdict(records: Sequence[Record], size: int) -> str:
    """Name the best learner at one size: over truths, or over the repeats of a single truth."""
    of_size = [record for record in records if record["size"] == size]
    unit = "truth" if len({record["truth"] for record in of_size}) > 1 else "repeat"
    places = sorted({record[unit] for record in of_size})
    known = [record for record in of_size if record["normalized"] is not None]
    by_place = grouped(((r["learner"], r[unit]), r["normalized"]) for r in known)
    values = {
        label: [
            float(np.mean(by_place[label, place])) if (label, place) in by_place else None
            for place in places
        ]
        for label in labels_of(known)
    }
    if not values:
        return f"{size:,} rows: no learner returned a structure."
    summary = summarize_values({"normalized": values}, unit=unit)
    return f"{size:,} rows, {plural(len(places), unit)}: {summary.verdict}"


def hypotheses_section(records: Sequence[Record]) -> Section:
    """Return the paper's hypotheses as numbers."""
    judged = [disagreement(records, metric) for metric in (KL, CMLL, KL_OWN, CMLL_OWN)]
    cost = slopes(records)
    sentences = hypotheses_sentences(judged, cost, change_with_rows(records))
    columns: dict[str, Style] = {"best by": "text", "cells": "count", "same best": "count"}
    columns |= {"ties": "count", "worse by d": "count", "share worse": "text"}
    columns |= {"distance more": "text", "pairs of learners": "count", "opposed": "text"}
    rows = (
        (
            *(each.metric.label, each.cells, each.same, each.ties, each.worse),
            *(str(each.worse_share), str(each.excess), each.pairs, str(each.pairs_worse)),
        )
        for each in judged
    )
    costs: dict[str, Style] = {"rows": "count", "structures": "count"}
    costs |= {"KL per 1 % of FP": "text", "KL per 1 % of FN": "text"}
    lines = ((each.size, each.units, str(each.fp), str(each.fn)) for each in cost)
    parts: tuple[Part, ...] = (
        Note("summary", " ".join(sentences)),
        table("Best learner by another metric, judged by distance", columns, rows, "disagreement"),
        table("Cost of errors in KL, in nats", costs, lines, "slopes"),
    )
    return Section("Does KL or CMLL find the best structure?", parts, key="hypotheses")


def hypotheses_sentences(
    judged: Sequence[Disagreement], cost: Sequence[Slopes], change: WithInterval | None
) -> Iterable[str]:
    """Return the hypotheses in words with their numbers, and whether they hold."""
    for each in judged[:2]:
        judge = each.metric.label.replace(", refitted", " of the refitted structures")
        if each.worse_share.value is None or each.pairs_worse.value is None:
            yield (
                f"The best learner by {judge} cannot be judged: this needs a truth and a size with "
                "at least two learners and two repeats."
            )
            continue
        worse = f"in {each.worse} of {plural(each.worse + each.same, 'decided cell')}"
        more = ""
        if each.excess.value is not None:
            more = f", by {_percent(each.excess.value)} of all assertions on average"
        yield (
            f"The best learner by {judge} has the worse structure by distance {worse} "
            f"({_percent(each.worse_share.value)}{each.worse_share.between(100)}){more}; "
            f"{plural(each.ties, 'cell')} undecided. Of {each.pairs:,} pairs of learners that both "
            f"measures distinguish, it prefers the worse structure in "
            f"{_percent(each.pairs_worse.value)}{each.pairs_worse.between(100)}."
        )
    if not cost:
        yield (
            "The cost of errors in KL cannot be computed: this needs exact values of KL and "
            "structures with different errors."
        )
    for at in cost:
        fp, fn = at.fp.value or 0.0, at.fn.value or 0.0
        ratio = f"{fn / fp:.3g} times that" if fp > 0 else "while that is not above 0"
        yield (
            f"At {at.size:,} rows one percent of false positives costs {fp:.2g} nats of KL"
            f"{at.fp.between()}, one percent of false negatives {fn:.2g}{at.fn.between()}, {ratio}."
        )
    if change is not None and change.value is not None:
        turn = "more" if change.value < 0 else "less"
        verdict = (
            f"With more rows KL becomes {turn} blind to false positives here"
            if change.excludes_0
            else "That KL becomes more blind to false positives with more rows is not clear here"
        )
        yield (
            f"{verdict}: their cost changes by {change.value:.2g}{change.between()} nats "
            f"per percent from {cost[0].size:,} to {cost[-1].size:,} rows. The distance counts "
            "both alike, by definition."
        )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def means_section(records: Sequence[Record]) -> Section:
    """Return the mean of each learner over the truths, for each size."""
    note = Note(
        "intervals",
        "Means over truths of the means over repeats, where the learner returned a structure. "
        "distance: normalized distance, with a 95 % interval that resamples truths. FP and FN: "
        "shares of all assertions. graph: Hamming distance of the graphs as a share of all pairs. "
        "KL and CMLL: in nats. true-structure is a reference, not a learner. oracle: the "
        "normalized distance with the best setting of the grid, chosen with the truth.",
    )
    tables = [_means([r for r in records if r["size"] == n], n) for n in sizes_of(records)]
    return Section("Means", (note, *_kinds_note(records), *tables), key="means")


def _kinds_note(records: Sequence[Record]) -> Iterable[Note]:
    """Note if values of KL, or refits, are of more than one kind."""
    known = [record for record in records if record["kl"] is not None]
    exact = sum(bool(record["kl_exact"]) for record in known)
    by_likelihood = sum(record["refit"] == "likelihood" for record in known)
    if exact < len(known) or by_likelihood < len(known):
        yield Note(
            "kinds",
            f"Of {len(known):,} values of KL {exact:,} are exact and {len(known) - exact:,} are "
            f"estimates by sampling; {by_likelihood:,} structures were refitted by maximum "
            "likelihood and the others by pseudo-likelihood. On one truth all are refitted alike; "
            "their means are shown together here, and exact values and estimates are never ranked "
            "together.",
        )


def _means(records: Sequence[Record], size: int) -> Table:
    columns: dict[str, Style] = {"learner": "name"}
    columns |= dict.fromkeys((*SHOWN.values(), "oracle"), "text")
    with_oracle = [
        r | {"oracle": r["oracle_distance"] and r["oracle_distance"] / r["assertions"]}
        for r in map(dict, records)
    ]
    rows: list[tuple[float, tuple[Cell, ...]]] = []
    for label in sorted({r["learner"] for r in records}, key=lambda k: (k != TRUE_STRUCTURE, k)):
        by_truth = [means_by_truth(with_oracle, key, learner=label) for key in (*SHOWN, "oracle")]
        distance = mean_of_truths(by_truth[0])
        others = [f"{np.mean(list(v.values())):.3g}" if v else "–" for v in by_truth[1:]]
        place = np.inf if distance.value is None else distance.value
        rows.append((place, (label, str(distance), *others)))
    rows.sort(key=lambda row: row[0])
    truths = len({record["truth"] for record in records})
    title = f"{size:,} rows: means over {plural(truths, 'truth')}, {plural(len(records), 'unit')}"
    return table(title, columns, (cells for _, cells in rows), f"means {size}")


def ranks_section(records: Sequence[Record]) -> Section:
    """Return the mean ranks by every metric, and how much the rankings agree."""
    # Without ensembles the Brier score is the distance.
    of_ensembles = [BRIER] if any(record.get("spread") for record in records) else []
    rankings = [rank(records, metric) for metric in (*of_ensembles, *METRICS)]
    columns: dict[str, Style] = {"metric": "text", "data sets": "count", "left out": "count"}
    columns |= dict.fromkeys(rankings[0].labels, "mean")
    columns |= {"p (Friedman)": "text", "critical difference": "mean"}
    rows: list[tuple[Cell, ...]] = []
    for ranks in rankings:
        means, test = ranks.means(), ranks.ranking()
        rows.append(
            (
                *(ranks.metric.label, len(ranks.ranks), ranks.left_out),
                *(means.get(label) for label in ranks.labels),
                "–" if test is None else f"{test.p_value:.2g}",
                None if test is None else test.critical_difference,
            )
        )
    note = Note(
        "ranks",
        "For each truth learners are ranked by their mean rank over its data sets; shown is the "
        "mean over truths. 1 is the best; a learner that failed or was too slow ranks last. "
        "Data sets are left out where a value is missing, or some values are exact and others "
        "estimates. The critical difference (Nemenyi, 5 %) is of ranks of truths.",
    )
    tau = table(
        "Kendall's tau-b between rankings, mean over truths, interval resampling truths",
        {"first": "text", "second": "text", "tau-b": "text", "truths": "count"},
        ((a, b, str(tau), truths) for a, b, tau, truths in agreements(rankings)),
        "agreements",
    )
    parts: tuple[Part, ...] = (table("Mean ranks", columns, rows, "ranks"), note, tau)
    return Section("Ranks", parts, key="ranks")


def failures_table(records: Sequence[Record]) -> Table:
    """Return how many units each learner finished, failed, or was too slow on."""
    columns: dict[str, Style] = {"learner": "name"}
    columns |= dict.fromkeys(("units", "done", "failed", "too slow", "rows doubtful"), "count")
    rows: list[tuple[Cell, ...]] = []
    for label in labels_of(records):
        units = [record for record in records if record["learner"] == label]
        ended = [record["status"] for record in units]
        counts = [ended.count(status) for status in ("done", "failed", "too slow")]
        rows.append((label, len(units), *counts, sum(bool(r["doubtful"]) for r in units)))
    return table("Units", columns, rows, "units")


def _data_section(name: str, records: Sequence[Record]) -> Section:
    """Return the scores of the learners on a real data set, and their distances."""
    columns: dict[str, Style] = {"learner": "name", "status": "text", "features": "count"}
    columns |= {"PLL": "score", "CMLL": "score", "log-likelihood": "score"}
    columns |= {"instability": "score", "seconds": "score"}
    keys = ("learner", "status", "features", "pll_own", "cmll_own", "log_likelihood_own")
    rows = ([r[key] for key in (*keys, "instability", "seconds")] for r in records)
    scores = table(f"{name}: scores on test rows, nats per row", columns, rows, f"data {name}")
    labels, matrix = distances_between(records, name)
    head: dict[str, Style] = {"learner": "name"}
    head |= dict.fromkeys(labels, "rate")
    lines: Any = ((label, *map(float, row)) for label, row in zip(labels, matrix, strict=True))
    between = table(f"{name}: normalized distance between learners", head, lines, "between")
    return Section(f"Data: {name}", (scores, between), key="data")
