"""The units of a run by cell: what each learner reached on the same rows.

A **cell** is a truth and a size; it holds as many data sets as there are repeats. A learner that
failed or was too slow has no values there and ranks last. A measurement that could not be had (a
likelihood that is too large, say) is no failure of the learner: that data set is left out of the
ranking by this metric, and counted. The same holds where some of the values are exact and others
are estimates: they are never ranked together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.errors import require
from contextwise.studies.learners.configuration import TRUE_STRUCTURE

Record = Mapping[str, Any]
FloatArray = npt.NDArray[np.float64]
Interval = tuple[float, float]
BOOTSTRAPS = 1000


@dataclass(frozen=True)
class Metric:
    """Something that learners are judged by.

    Attributes
    ----------
    column : of a record
    label : for people
    larger_is_better : whether the largest value is the best
    estimated : whether a value may be an estimate
    """

    column: str
    label: str
    larger_is_better: bool = False
    estimated: bool = False

    @property
    def _whose(self) -> str:
        return "_own" if self.column.endswith("_own") else ""

    def is_exact(self, record: Record) -> bool:
        """Whether the value of a record is exact."""
        name = self.column.removesuffix("_own")
        return not self.estimated or bool(record[f"{name}_exact{self._whose}"])

    def error(self, record: Record) -> float:
        """The standard error of the value of a record."""
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
    """The records with a known truth."""
    return [record for record in records if "truth" in record]


def labels_of(records: Iterable[Record]) -> list[str]:
    """The learners, in the order of their labels; the true structure is none."""
    return sorted({record["learner"] for record in records} - {TRUE_STRUCTURE})


def by_rows(records: Iterable[Record]) -> dict[tuple[str, int, int], dict[str, Record]]:
    """The records of each data set (truth, size, repeat), by learner."""
    found: dict[tuple[str, int, int], dict[str, Record]] = {}
    for record in records:
        key = record["truth"], record["size"], record["repeat"]
        found.setdefault(key, {})[record["learner"]] = record
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class Ranks:
    """The ranks of the learners on every data set, by one metric.

    Attributes
    ----------
    metric : Metric
    labels : the learners
    ranks : for each data set, in the order of the labels; 1 is the best, ties share
    left_out : how many data sets have values that are missing, or not of one kind
    """

    metric: Metric
    labels: tuple[str, ...]
    ranks: Mapping[tuple[str, int, int], FloatArray]
    left_out: int

    def by_truth(self) -> dict[str, FloatArray]:
        """The mean ranks for each truth."""
        truths: dict[str, list[FloatArray]] = {}
        for (truth, _, _), own in self.ranks.items():
            truths.setdefault(truth, []).append(own)
        return {truth: np.mean(own, axis=0) for truth, own in truths.items()}


def rank(records: Iterable[Record], metric: Metric) -> Ranks:
    """Rank the learners on every data set.

    Parameters
    ----------
    records : of truths
    metric : Metric

    Returns
    -------
    Ranks
    """
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
    """Values of which the smallest is the best; infinite for a learner that gave nothing."""
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
    """A 95 % percentile interval of a statistic, over truths drawn with replacement.

    Parameters
    ----------
    truths : names
    statistic : function of some truths, repeated ones included; None where it is not defined

    Returns
    -------
    (low, high), or None for fewer than three truths
    """
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
    """The mean over truths, with an interval that resamples them.

    >>> mean_of_truths({"a": 1.0, "b": 3.0})
    (2.0, None)
    """
    names = sorted(values)
    found = resampled(names, lambda drawn: float(np.mean([values[name] for name in drawn])))
    return float(np.mean(list(values.values()))), found


def means_by_truth(
    records: Iterable[Record], column: str, *, learner: str, size: int | None = None
) -> dict[str, float]:
    """The mean of a column for each truth, over the data sets where the learner gave a value.

    Parameters
    ----------
    records : of truths
    column : name
    learner : label
    size : number of rows; None for all sizes together

    Returns
    -------
    dict from truths to means
    """
    found: dict[str, list[float]] = {}
    for r in records:
        if r["learner"] == learner and size in (None, r["size"]) and r[column] is not None:
            found.setdefault(r["truth"], []).append(float(r[column]))
    return {truth: float(np.mean(own)) for truth, own in sorted(found.items())}
