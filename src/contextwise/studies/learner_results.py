"""The results of the study of learners: rankings, hypotheses about KL, tables.

A **cell** is a truth and a size, with one data set per repeat. A learner that failed or was too
slow has no values and ranks last. If a measurement is missing (for example a likelihood that is too
large), the data set is left out of the ranking by that metric and counted. Exact values and
estimates are never ranked together.

The paper's **hypotheses**: the learner that KL prefers often has the worse structure; false
positives cost little KL; they cost less with more rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from contextwise.errors import require
from contextwise.evaluation.replicates import Ranking, rank_groups, summarize_values
from contextwise.report.parts import Cell, Column, Note, Part, Section, Table
from contextwise.studies.learner_study import TRUE_STRUCTURE, distances_between
from contextwise.support.formatting import plural

Record = Mapping[str, Any]
FloatArray = npt.NDArray[np.float64]
Interval = tuple[float, float]
BOOTSTRAPS = 1000


@dataclass(frozen=True)
class Metric:
    """A measure that learners are judged by."""

    column: str
    label: str
    larger_is_better: bool = False
    estimated: bool = False

    @property
    def _whose(self) -> str:
        return "_own" if self.column.endswith("_own") else ""

    def is_exact(self, record: Record) -> bool:
        """Return whether the value of a record is exact."""
        name = self.column.removesuffix("_own")
        return not self.estimated or bool(record[f"{name}_exact{self._whose}"])

    def error(self, record: Record) -> float:
        """Return the standard error of the value of a record."""
        name = self.column.removesuffix("_own")
        return float(record[f"{name}_error{self._whose}"] or 0.0) if self.estimated else 0.0


DISTANCE = Metric("normalized", "distance d")
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


def by_rows(records: Iterable[Record]) -> dict[tuple[str, int, int], dict[str, Record]]:
    """Group the records of each data set (truth, size, repeat) by learner."""
    found: dict[tuple[str, int, int], dict[str, Record]] = {}
    for record in records:
        key = record["truth"], record["size"], record["repeat"]
        found.setdefault(key, {})[record["learner"]] = record
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class Ranks:
    """The ranks of the learners on every data set, by one metric."""

    metric: Metric
    labels: tuple[str, ...]
    ranks: Mapping[tuple[str, int, int], FloatArray]
    left_out: int

    def by_truth(self) -> dict[str, FloatArray]:
        """Return the mean ranks for each truth."""
        truths: dict[str, list[FloatArray]] = {}
        for (truth, _, _), own in self.ranks.items():
            truths.setdefault(truth, []).append(own)
        return {truth: np.mean(own, axis=0) for truth, own in truths.items()}


def rank(records: Iterable[Record], metric: Metric) -> Ranks:
    """Rank the learners on every data set."""
    rankdata = require("scipy.stats", "statistics").rankdata
    listed = list(records)
    labels = labels_of(listed)
    found: dict[tuple[str, int, int], FloatArray] = {}
    left_out = 0
    for key, own in by_rows(listed).items():
        values = _values(metric, [own.get(label) for label in labels])
        if values is None:
            left_out += 1
        else:
            found[key] = rankdata(values)
    return Ranks(metric, tuple(labels), found, left_out)


def _values(metric: Metric, records: Sequence[Record | None]) -> list[float] | None:
    """Return values of which the smallest is best; infinite for a learner without a result."""
    done = [r for r in records if r is not None and r["status"] == "done"]
    if any(r[metric.column] is None for r in done) or not done:
        return None
    if len({metric.is_exact(r) for r in done}) > 1:
        return None
    sign = -1.0 if metric.larger_is_better else 1.0
    return [
        sign * round(float(r[metric.column]), 12)
        if r is not None and r["status"] == "done"
        else np.inf
        for r in records
    ]


def resampled(
    truths: Sequence[str], statistic: Callable[[Sequence[str]], float | None]
) -> Interval | None:
    """Return a 95 % percentile interval of a statistic over resampled truths."""
    if len(truths) < 3:
        return None
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(truths), size=(BOOTSTRAPS, len(truths)))
    values = [statistic([truths[k] for k in row]) for row in drawn.tolist()]
    known = [value for value in values if value is not None and np.isfinite(value)]
    if not known:
        return None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)


def mean_of_truths(values: Mapping[str, float]) -> tuple[float, Interval | None]:
    """Return the mean over truths with an interval that resamples them.

    >>> mean_of_truths({"a": 1.0, "b": 3.0})
    (2.0, None)
    """
    names = sorted(values)
    found = resampled(names, lambda drawn: float(np.mean([values[name] for name in drawn])))
    return float(np.mean(list(values.values()))), found


def means_by_truth(
    records: Iterable[Record], column: str, *, learner: str, size: int | None = None
) -> dict[str, float]:
    """Return the mean of a column for each truth, over the data sets with a value."""
    found: dict[str, list[float]] = {}
    for r in records:
        if r["learner"] == learner and size in (None, r["size"]) and r[column] is not None:
            found.setdefault(r["truth"], []).append(float(r[column]))
    return {truth: float(np.mean(own)) for truth, own in sorted(found.items())}


# -- hypotheses about KL ---------------------------------------------------------------------------


TINY = 1e-12
Verdict = Literal["same", "tie", "worse"]


@dataclass(frozen=True)
class Disagreement:
    """The cells in which a metric and the distance prefer different learners."""

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
    """The result of one cell: its best learner and its pairs of learners."""

    truth: str
    verdict: Verdict
    excess: float
    pairs: int
    opposed: int


def disagreement(records: Iterable[Record], metric: Metric) -> Disagreement:
    """Count how often the best learner by a metric is worse by distance."""
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
    """Group the data sets by cell."""
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
    """Return values (smaller is better), errors and distances of learners that have all of them."""
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
    """Return whether the mean difference of two learners exceeds its standard error."""
    difference = values[a] - values[b]
    n = len(difference)
    spread = float(difference.std(ddof=1)) / sqrt(n)
    measured = sqrt(float((errors[a] ** 2 + errors[b] ** 2).sum())) / n
    return abs(float(difference.mean())) > max(TINY, sqrt(spread**2 + measured**2))


# -- agreement of rankings -------------------------------------------------------------------------


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b between two rankings: the mean over truths, with an interval."""

    first: str
    second: str
    tau: float | None
    interval: Interval | None
    truths: int


def agreements(rankings: Sequence[Ranks]) -> list[Agreement]:
    """Compute how much each pair of rankings agrees, on the data sets that both have."""
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


# -- cost of errors in KL --------------------------------------------------------------------------


@dataclass(frozen=True)
class Slopes:
    """The cost of one percent of errors in KL, at one size."""

    size: int
    units: int
    fp: float
    fp_interval: Interval | None
    fn: float
    fn_interval: Interval | None


def slopes(records: Iterable[Record]) -> list[Slopes]:
    """Compute the slopes of KL at each size, over units whose KL is exact."""
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
    """The change of the slope of KL on false positives from the fewest to the most rows."""

    value: float
    interval: Interval | None

    @property
    def is_clear(self) -> bool:
        """True if the interval excludes 0."""
        return self.interval is not None and (self.interval[0] > 0 or self.interval[1] < 0)


def change_with_rows(records: Iterable[Record]) -> Change | None:
    """Compute that change; None for a single size."""
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
    """Return sums of squares and products of one truth about its means."""
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


# -- tables and sentences --------------------------------------------------------------------------


SHOWN = {
    "normalized": "distance",
    "fp_share": "FP",
    "fn_share": "FN",
    "kappa": "kappa",
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
        parts += [ranking_section(truths), means_section(truths), ranks_section(truths)]
        parts.append(hypotheses_section(truths))
        parts.append(failures_table(truths))
    parts += data_sections(records)
    return parts


def ranking_section(records: Sequence[Record]) -> Section:
    """Rank the learners by mean normalized distance at each size, with paired tests."""
    sizes = sorted({record["size"] for record in records}, reverse=True)
    notes = [Note("ranking", _ranking_verdict(records, size)) for size in sizes]
    return Section("Which learner is best?", tuple(notes), key="ranking")


def _ranking_verdict(records: Sequence[Record], size: int) -> str:
    """Name the best learner at one size: over truths, or over the repeats of a single truth."""
    here = [record for record in records if record["size"] == size]
    several = len({record["truth"] for record in here}) > 1
    unit = "truth" if several else "repeat"
    places = sorted({record[unit] for record in here})
    values: dict[str, list[float | None]] = {}
    for label in labels_of(here):
        by_place: dict[object, list[float]] = {}
        for record in here:
            if record["learner"] == label and record["normalized"] is not None:
                by_place.setdefault(record[unit], []).append(record["normalized"])
        if by_place:
            values[label] = [
                float(np.mean(by_place[place])) if place in by_place else None for place in places
            ]
    if not values:
        return f"{size:,} rows: no learner returned a structure."
    summary = summarize_values({"normalized": values}, unit=unit)
    return f"{size:,} rows, {plural(len(places), unit)}: {summary.verdict}"


# -- hypotheses in words ---------------------------------------------------------------------------


def hypotheses_section(records: Sequence[Record]) -> Section:
    """Return the paper's hypotheses as numbers."""
    found = [disagreement(records, metric) for metric in (KL, CMLL, KL_OWN, CMLL_OWN)]
    cost = slopes(records)
    change = change_with_rows(records)
    parts: list[Part] = [Note("summary", " ".join(hypotheses_sentences(found, cost, change)))]
    parts += [_disagreements(found), _slopes(cost)]
    return Section("Does KL or CMLL find the best structure?", tuple(parts), key="hypotheses")


def hypotheses_sentences(
    found: Sequence[Disagreement], cost: Sequence[Slopes], change: Change | None
) -> Iterable[str]:
    """Return the hypotheses in words with their numbers, and whether they hold."""
    for one in found[:2]:
        judge = one.metric.label.replace(", refitted", " of the refitted structures")
        if one.worse_share is None or one.pairs_worse is None:
            yield (
                f"The best learner by {judge} cannot be judged: this needs a truth and a size with "
                "at least two learners and two repeats."
            )
            continue
        worse = f"in {one.worse} of {plural(one.worse + one.same, 'decided cell')}"
        more = f", by {_percent(one.excess)} of all assertions on average" if one.worse else ""
        yield (
            f"The best learner by {judge} has the worse structure by distance "
            f"{worse} ({_percent(one.worse_share)}{_between(one.worse_interval, 100)}){more}; "
            f"{plural(one.ties, 'cell')} undecided. Of {one.pairs:,} pairs of learners that both "
            f"measures distinguish, it prefers the worse structure in "
            f"{_percent(one.pairs_worse)}{_between(one.pairs_interval, 100)}."
        )
    if not cost:
        yield (
            "The cost of errors in KL cannot be computed: this needs exact values of KL and "
            "structures with different errors."
        )
    for own in cost:
        ratio = f"{own.fn / own.fp:.3g} times that" if own.fp > 0 else "while that is not above 0"
        yield (
            f"At {own.size:,} rows one percent of false positives costs {own.fp:.2g} nats of KL"
            f"{_between(own.fp_interval)}, one percent of false negatives {own.fn:.2g}"
            f"{_between(own.fn_interval)}, {ratio}."
        )
    if change is not None:
        turn = "more" if change.value < 0 else "less"
        verdict = (
            f"With more rows KL becomes {turn} blind to false positives here"
            if change.is_clear
            else "That KL becomes more blind to false positives with more rows is not clear here"
        )
        yield (
            f"{verdict}: their cost changes by {change.value:.2g}{_between(change.interval)} nats "
            f"per percent from {cost[0].size:,} to {cost[-1].size:,} rows. The distance counts "
            "both alike, by definition."
        )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.3g} %"


def _between(interval: Interval | None, scale: float = 1.0) -> str:
    if interval is None:
        return ""
    return f", interval {scale * interval[0]:.2g} to {scale * interval[1]:.2g}"


def _disagreements(found: Sequence[Disagreement]) -> Table:
    heads = ("cells", "same best", "ties", "worse by d")
    columns = [Column("best by", "words"), *(Column(head, "count") for head in heads)]
    columns += [Column(head, "words") for head in ("share worse", "distance more")]
    columns += [Column("pairs of learners", "count"), Column("opposed", "words")]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *(one.metric.label, one.cells, one.same, one.ties, one.worse),
            *(_with_interval(one.worse_share, one.worse_interval),),
            *(_with_interval(one.excess, one.excess_interval), one.pairs),
            _with_interval(one.pairs_worse, one.pairs_interval),
        )
        for one in found
    )
    title = "Best learner by another metric, judged by distance"
    return Table(title, tuple(columns), rows, "disagreement")


def _slopes(cost: Sequence[Slopes]) -> Table:
    columns = (
        *(Column("rows", "count"), Column("structures", "count")),
        *(Column("KL per 1 % of FP", "words"), Column("KL per 1 % of FN", "words")),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *(one.size, one.units, _with_interval(one.fp, one.fp_interval)),
            _with_interval(one.fn, one.fn_interval),
        )
        for one in cost
    )
    return Table("Cost of errors in KL, in nats", columns, rows, "slopes")


def _with_interval(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "–"
    ends = "" if interval is None else f" ({interval[0]:.3g} to {interval[1]:.3g})"
    return f"{value:.3g}{ends}"


# -- means -----------------------------------------------------------------------------------------


def means_section(records: Sequence[Record]) -> Section:
    """Return the mean of each learner over the truths, for each size."""
    sizes = sorted({record["size"] for record in records})
    note = Note(
        "intervals",
        "Means over truths of the means over repeats, where the learner returned a structure. "
        "distance: normalized distance, with a 95 % interval that resamples truths. FP and FN: "
        "shares of all assertions. graph: Hamming distance of the graphs as a share of all pairs. "
        "KL and CMLL: in nats. true-structure is a reference, not a learner. oracle: the "
        "normalized distance with the best setting of the grid, chosen with the truth.",
    )
    tables = [_means(records, size) for size in sizes]
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
    own = [record for record in records if record["size"] == size]
    columns = [Column("learner", "name"), Column(SHOWN["normalized"], "words")]
    columns += [Column(head, "words") for key, head in SHOWN.items() if key != "normalized"]
    columns.append(Column("oracle", "words"))
    order = _by_distance(own)
    rows: list[tuple[Cell, ...]] = []
    for label in order:
        values = [means_by_truth(own, key, learner=label, size=size) for key in SHOWN]
        first = _with_interval(*mean_of_truths(values[0])) if values[0] else "–"
        others = [f"{np.mean(list(v.values())):.3g}" if v else "–" for v in values[1:]]
        rows.append((label, first, *others, _oracle(own, label)))
    truths = len({record["truth"] for record in own})
    title = f"{size:,} rows: means over {plural(truths, 'truth')}, {plural(len(own), 'unit')}"
    return Table(title, tuple(columns), tuple(rows), f"means {size}")


def _by_distance(records: Sequence[Record]) -> list[str]:
    labels = labels_of(records)
    if any(record["learner"] == TRUE_STRUCTURE for record in records):
        labels = [TRUE_STRUCTURE, *labels]
    mean = {k: means_by_truth(records, "normalized", learner=k) for k in labels}
    return sorted(labels, key=lambda k: np.mean(list(mean[k].values())) if mean[k] else np.inf)


def _oracle(records: Sequence[Record], label: str) -> str:
    found: dict[str, list[float]] = {}
    for r in records:
        if r["learner"] == label and r["oracle_distance"] is not None:
            found.setdefault(r["truth"], []).append(r["oracle_distance"] / r["assertions"])
    return f"{np.mean([np.mean(own) for own in found.values()]):.3g}" if found else "–"


# -- ranks -----------------------------------------------------------------------------------------


def rankings_of(records: Sequence[Record]) -> list[Ranks]:
    """Return the ranks by every metric."""
    return [rank(records, metric) for metric in METRICS]


def critical_ranking(ranks: Ranks) -> Ranking | None:
    """Return mean ranks over truths with Friedman's test; None with too few truths or learners."""
    by_truth = ranks.by_truth()
    if len(by_truth) < 2 or len(ranks.labels) < 2:
        return None
    values = {
        label: [float(own[k]) for own in by_truth.values()] for k, label in enumerate(ranks.labels)
    }
    return rank_groups(values, metric=ranks.metric.label, larger_is_better=False)


def mean_ranks(ranks: Ranks) -> dict[str, float]:
    """Return the mean rank of each learner over truths."""
    found = critical_ranking(ranks)
    if found is not None:
        return dict(zip(found.groups, found.ranks, strict=True))
    by_truth = list(ranks.by_truth().values())
    means = np.mean(by_truth, axis=0).tolist() if by_truth else []
    return dict(zip(ranks.labels, means, strict=False))


def ranks_section(records: Sequence[Record]) -> Section:
    """Return the mean ranks by every metric, and how much the rankings agree."""
    rankings = rankings_of(records)
    columns = [Column("metric", "words"), Column("data sets", "count"), Column("left out", "count")]
    columns += [Column(label, "mean") for label in rankings[0].labels]
    columns += [Column("p (Friedman)", "words"), Column("critical difference", "mean")]
    rows: list[tuple[Cell, ...]] = []
    for ranks in rankings:
        by_label = mean_ranks(ranks)
        means = [by_label.get(label) for label in ranks.labels]
        found = critical_ranking(ranks)
        p_value = "–" if found is None else f"{found.p_value:.2g}"
        difference = None if found is None else found.critical_difference
        rows.append(
            (ranks.metric.label, len(ranks.ranks), ranks.left_out, *means, p_value, difference)
        )
    note = Note(
        "ranks",
        "For each truth learners are ranked by their mean rank over its data sets; shown is the "
        "mean over truths. 1 is the best; a learner that failed or was too slow ranks last. "
        "Data sets are left out where a value is missing, or some values are exact and others "
        "estimates. The critical difference (Nemenyi, 5 %) is of ranks of truths.",
    )
    table = Table("Mean ranks", tuple(columns), tuple(rows), "ranks")
    return Section("Ranks", (table, note, _agreements(rankings)), key="ranks")


def _agreements(rankings: Sequence[Ranks]) -> Table:
    heads = Column("first", "words"), Column("second", "words")
    columns = (*heads, Column("tau-b", "words"), Column("truths", "count"))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (one.first, one.second, _with_interval(one.tau, one.interval), one.truths)
        for one in agreements(rankings)
    )
    title = "Kendall's tau-b between rankings, mean over truths, interval resampling truths"
    return Table(title, columns, rows, "agreements")


def failures_table(records: Sequence[Record]) -> Table:
    """Return how many units each learner finished, failed, or was too slow on."""
    heads = ("units", "done", "failed", "too slow", "rows doubtful")
    columns = (Column("learner", "name"), *(Column(head, "count") for head in heads))
    rows: list[tuple[Cell, ...]] = []
    for label in labels_of(records):
        own = [record for record in records if record["learner"] == label]
        ended = [record["status"] for record in own]
        counts = [ended.count(status) for status in ("done", "failed", "too slow")]
        rows.append((label, len(own), *counts, sum(bool(record["doubtful"]) for record in own)))
    return Table("Units", columns, tuple(rows), "units")


# -- real data -------------------------------------------------------------------------------------


def data_sections(records: Sequence[Record]) -> list[Part]:
    """Return the scores of the learners on each real data set, and their distances."""
    names = sorted({record["data"] for record in records if "data" in record})
    return [_data_section([r for r in records if r.get("data") == n], n) for n in names]


def _data_section(records: Sequence[Record], name: str) -> Section:
    heads = ("PLL", "CMLL", "log-likelihood", "instability", "seconds")
    keys = ("pll_own", "cmll_own", "log_likelihood_own", "instability", "seconds")
    columns = (
        *(Column("learner", "name"), Column("status", "words"), Column("features", "count")),
        *(Column(head, "score") for head in heads),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (r["learner"], r["status"], r["features"], *(r[key] for key in keys)) for r in records
    )
    table = Table(f"{name}: scores on test rows, nats per row", columns, rows, f"data {name}")
    labels, matrix = distances_between(records, name)
    head = (Column("learner", "name"), *(Column(label, "rate") for label in labels))
    lines: tuple[tuple[Cell, ...], ...] = tuple(
        (label, *map(float, row)) for label, row in zip(labels, matrix, strict=True)
    )
    between = Table(f"{name}: normalized distance between learners", head, lines, "between")
    return Section(f"Data: {name}", (table, between), key="data")
