"""Summarize the results of a study of learners: means with intervals, ranks, and paired tests.

Every number is a mean over data sets, and over all truths a mean of the means of truths, so a truth
with more data sets does not count more. The tests are those of `compare_groups`: all learners got
the same rows, so the signs of differences are random under the null hypothesis. A learner that did
not finish on every data set has no mean, as its mean over the others would be of easier data sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import Any

from contextwise.evaluation.groups_of_guesses import GroupComparison, compare_values

ALL = "all truths"
"""The label of the rows over all truths."""
MEASURES = ("normalized", "kappa", "fp_share", "fn_share")
GRAPH_DISTANCES = ("shd", "cpdag_shd", "sid")
COLUMNS = (
    *("truth", "rows", "learner", "data_sets", "done", "normalized", "low", "high", "kappa"),
    *("fp_share", "fn_share", *GRAPH_DISTANCES, "seconds", "rank"),
)
"""The columns of a summary; ``low`` to ``high`` is the 95 % interval of the normalized distance."""

Records = Sequence[Mapping[str, Any]]


def comparison_of(records: Records, *, measure: str = "normalized") -> GroupComparison | None:
    """Compare the learners that finished on all of these data sets; None without one.

    The records are those of one number of rows. Truths are blocks.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        groups.setdefault(record["learner"], []).append(record)
    finished = {
        name: own for name, own in groups.items() if all(r["status"] == "done" for r in own)
    }
    if not finished:
        return None
    keys = dict.fromkeys([measure, *MEASURES])
    values = {key: {n: [_value(r, key) for r in finished[n]] for n in finished} for key in keys}
    truths = [record["truth"] for record in next(iter(finished.values()))]
    return compare_values(values, measure, blocks=truths)


def _value(record: Mapping[str, Any], key: str) -> float | None:
    if key.endswith("_share"):
        total = record["assertions"]
        return record[key.removesuffix("_share")] / total if total else None
    value = record[key]
    return None if value is None else float(value)


def summaries(records: Records) -> list[dict[str, Any]]:
    """Return one mapping per truth, and over all, number of rows and learner; see `COLUMNS`."""
    truths = list(dict.fromkeys(record["truth"] for record in records))
    sizes = sorted({record["rows"] for record in records})
    found: list[dict[str, Any]] = []
    for size in sizes:
        of_size = [record for record in records if record["rows"] == size]
        by_truth = [
            row
            for truth in truths
            for row in _rows(truth, [r for r in of_size if r["truth"] == truth])
        ]
        found += by_truth
        if len(truths) > 1:
            for row in _rows(ALL, of_size):
                ranks = [r["rank"] for r in by_truth if r["learner"] == row["learner"]]
                known = [rank for rank in ranks if rank is not None]
                found.append(row | {"rank": mean(known) if len(known) == len(ranks) else None})
    return found


def _rows(truth: str, records: Records) -> Iterator[dict[str, Any]]:
    """Yield the summary of each learner on some data sets of one size."""
    compared = comparison_of(records)
    means = {} if compared is None else {group.name: group.means for group in compared.groups}
    distances = {name: own["normalized"].mean or 0.0 for name, own in means.items()}
    place = {n: 1 + sum(d < distances[n] for d in distances.values()) for n in distances}
    for learner in dict.fromkeys(record["learner"] for record in records):
        own = [record for record in records if record["learner"] == learner]
        row: dict[str, Any] = dict.fromkeys(COLUMNS)
        row |= {"truth": truth, "rows": own[0]["rows"], "learner": learner}
        row |= {"data_sets": len(own), "done": sum(r["status"] == "done" for r in own)}
        if learner in means:
            distance = means[learner]["normalized"]
            row |= {key: means[learner][key].mean for key in MEASURES}
            row |= {"low": distance.low, "high": distance.high, "rank": place[learner]}
            row |= {key: mean_over_truths(own, key) for key in (*GRAPH_DISTANCES, "seconds")}
        yield row


def mean_over_truths(records: Records, key: str) -> float | None:
    """Return the mean over truths of means; None if a value is missing."""
    truths: dict[str, list[float]] = {}
    for record in records:
        if record.get(key) is None:
            return None
        truths.setdefault(record["truth"], []).append(float(record[key]))
    return mean(map(mean, truths.values())) if truths else None


def paired_tests(records: Records, *, measure: str = "normalized") -> list[dict[str, Any]]:
    """Return one mapping per number of rows and pair of learners: difference, interval, p-values.

    The p-values of one number of rows are corrected by Holm's method.
    """
    found: list[dict[str, Any]] = []
    for size in sorted({record["rows"] for record in records}):
        compared = comparison_of([r for r in records if r["rows"] == size], measure=measure)
        differences = compared.difference_records() if compared else ()
        found += [{"rows": size, **record} for record in differences]
    return found
