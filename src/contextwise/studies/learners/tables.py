"""The results of the study as tables and sentences: parts that every rendering shows alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from contextwise.evaluation.replicates import Ranking, rank_groups
from contextwise.report.parts import Cell, Column, Note, Part, Section, Table
from contextwise.studies.learners.cells import (
    CMLL,
    CMLL_OWN,
    KL,
    KL_OWN,
    METRICS,
    Interval,
    Ranks,
    Record,
    labels_of,
    mean_of_truths,
    means_by_truth,
    of_truths,
    rank,
)
from contextwise.studies.learners.claims import (
    Change,
    Disagreement,
    Slopes,
    agreements,
    change_with_rows,
    disagreement,
    slopes,
)
from contextwise.studies.learners.configuration import TRUE_STRUCTURE
from contextwise.studies.learners.real_data import distances_between
from contextwise.support.formatting import plural

SHOWN = {
    "normalized": "d / N",
    "fp_share": "FP / N",
    "fn_share": "FN / N",
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
    """Everything that a run shows, but its figures.

    Parameters
    ----------
    records : of a run

    Returns
    -------
    list of parts
    """
    truths = of_truths(records)
    parts: list[Part] = []
    if truths:
        parts += [claims_section(truths), means_section(truths), ranks_section(truths)]
        parts.append(failures_table(truths))
    parts += data_sections(records)
    return parts


# -- what the paper says ---------------------------------------------------------------------------


def claims_section(records: Sequence[Record]) -> Section:
    """The paper's claims as numbers."""
    found = [disagreement(records, metric) for metric in (KL, CMLL, KL_OWN, CMLL_OWN)]
    cost = slopes(records)
    change = change_with_rows(records)
    parts: list[Part] = [Note("summary", " ".join(claims_sentences(found, cost, change)))]
    parts += [_disagreements(found), _slopes(cost)]
    return Section("What KL and CMLL see of structures", tuple(parts), key="claims")


def claims_sentences(
    found: Sequence[Disagreement], cost: Sequence[Slopes], change: Change | None
) -> Iterable[str]:
    """The claims in words, each with its numbers; a claim that does not come out is said to.

    Parameters
    ----------
    found : by KL and by CMLL, refitted, first
    cost : the slopes at each size
    change : of the slope of false positives with the rows

    Yields
    ------
    str
    """
    for one in found[:2]:
        judge = one.metric.label.replace(", refitted", " of the refitted structures")
        if one.worse_share is None or one.pairs_worse is None:
            yield (
                f"Nothing is said of the learner that {judge} calls best: that takes a truth and a "
                "size with two learners and two repeats at least."
            )
            continue
        worse = f"in {one.worse} of {plural(one.worse + one.same, 'decided cell')}"
        more = f", by {_percent(one.excess)} of all assertions on average" if one.worse else ""
        yield (
            f"The learner that {judge} calls best has a structure that is worse by d "
            f"{worse} ({_percent(one.worse_share)}{_between(one.worse_interval, 100)}){more}; "
            f"{plural(one.ties, 'cell')} apart, where it cannot tell. Of {one.pairs:,} pairs of "
            f"learners that both tell apart, it prefers the worse structure in "
            f"{_percent(one.pairs_worse)}{_between(one.pairs_interval, 100)}."
        )
    if not cost:
        yield (
            "What errors cost in KL is not said: that takes exact values of KL, and structures "
            "with different errors."
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
    columns += [Column(head, "words") for head in ("share worse", "d / N more")]
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
    title = "How often the best learner by another metric has a worse structure by d"
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
    return Table("What errors cost in KL, in nats", columns, rows, "slopes")


def _with_interval(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "–"
    ends = "" if interval is None else f" ({interval[0]:.3g} to {interval[1]:.3g})"
    return f"{value:.3g}{ends}"


# -- means -----------------------------------------------------------------------------------------


def means_section(records: Sequence[Record]) -> Section:
    """For each size the mean of each learner over the truths."""
    sizes = sorted({record["size"] for record in records})
    note = Note(
        "intervals",
        "Means over truths of the means over repeats, of the units where the learner gave a "
        "structure; d / N with a 95 % interval that resamples truths. d, FP and FN are shares of "
        "all assertions, graph is the Hamming distance of the graphs as a share of all pairs, KL "
        "and CMLL are in nats. The row true-structure is a reference and no learner. The last "
        "column is d / N with the best setting of the grid by d, which nobody can know.",
    )
    tables = [_means(records, size) for size in sizes]
    return Section("Means", (note, *_kinds_note(records), *tables), key="means")


def _kinds_note(records: Sequence[Record]) -> Iterable[Note]:
    """A word where values of KL, or refits, are of more than one kind."""
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
    """The ranks by every metric."""
    return [rank(records, metric) for metric in METRICS]


def critical_ranking(ranks: Ranks) -> Ranking | None:
    """The mean ranks over truths with Friedman's test; None for too few truths or learners."""
    by_truth = ranks.by_truth()
    if len(by_truth) < 2 or len(ranks.labels) < 2:
        return None
    values = {
        label: [float(own[k]) for own in by_truth.values()] for k, label in enumerate(ranks.labels)
    }
    return rank_groups(values, metric=ranks.metric.label, larger_is_better=False)


def mean_ranks(ranks: Ranks) -> dict[str, float]:
    """The mean rank of each learner over truths; empty if nothing could be ranked."""
    found = critical_ranking(ranks)
    if found is not None:
        return dict(zip(found.groups, found.ranks, strict=True))
    by_truth = list(ranks.by_truth().values())
    means = np.mean(by_truth, axis=0).tolist() if by_truth else []
    return dict(zip(ranks.labels, means, strict=False))


def ranks_section(records: Sequence[Record]) -> Section:
    """Mean ranks by every metric, and how much the rankings agree."""
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
    """How many units each learner did, failed and was too slow on; and doubtful rows."""
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
    """For each real data set the scores of the learners, and how far apart they are."""
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
    between = Table(f"{name}: normalized distance of each two learners", head, lines, "between")
    return Section(f"Data: {name}", (table, between), key="data")
