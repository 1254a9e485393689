"""Run a study of learners: draw rows from known truths, learn from them, compare with the truth.

A **unit** of a study is a learner on one data set: rows of a truth, of a size and a repeat. All
learners get the same rows. Every data set has a seed of its own, so a result does not depend on the
other learners, on workers or on interruptions. The key of a unit has a hash of the truth and of the
learner's parameters: a study can be given more truths, learners, sizes and repeats, and computes
only what is new.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import sqrt
from statistics import mean, variance
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from contextwise.comparison.two_models import compare
from contextwise.data.rows import Data
from contextwise.distributions.sampling import Seed, draw
from contextwise.errors import ContextwiseError, OpenResult, require
from contextwise.formats import encode
from contextwise.learning.base import Learner, as_learner, fresh, learner_configuration
from contextwise.models.structure import Model, numbers_of, structure_of
from contextwise.support.effort import Effort, Progress
from contextwise.support.formatting import Printed, plural, renderers
from contextwise.support.store import Store, Unit, run_units
from contextwise.truths import named

COLUMNS = (
    *("truth", "rows", "repeat", "learner", "status", "error", "seconds", "features"),
    *("assertions", "distance", "normalized", "fp", "fn", "rows_from"),
)
"""The columns of a record, in order; ``status`` is done, failed or too slow."""


class Score(NamedTuple):
    """Means of a learner at one number of rows: over repeats, then over truths."""

    mean: float
    """The mean normalized distance to the truths."""
    error: float | None
    """The standard error over repeats; None with one repeat."""
    fp_share: float
    fn_share: float
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class Study(Printed):
    """The results of a study.

    Attributes
    ----------
    results : list of dict
        One record per truth, number of rows, repeat and learner.

    Examples
    --------
    >>> result = study("lung", ["chow-liu", "independent"], rows=100, repeats=2)
    >>> result
    Study(1 truth, 2 learners, 4 results)
    >>> result.score("independent", 100).fn_share
    0.6666666666666666
    """

    results: list[dict[str, Any]]

    def records(self) -> list[dict[str, Any]]:
        """Return one record per truth, number of rows, repeat and learner."""
        return self.results

    def _values(self, key: str) -> list[Any]:
        return list(dict.fromkeys(record[key] for record in self.results))

    @property
    def truths(self) -> list[str]:
        """The names of the truths."""
        return self._values("truth")

    @property
    def learners(self) -> list[str]:
        """The names of the learners."""
        return self._values("learner")

    @property
    def sizes(self) -> list[int]:
        """The numbers of rows."""
        return sorted(self._values("rows"))

    def select(self, learner: str, rows: int) -> list[dict[str, Any]]:
        """Return the records of a learner at one number of rows."""
        return [r for r in self.results if r["learner"] == learner and r["rows"] == rows]

    def score(self, learner: str, rows: int) -> Score | None:
        """Return the means of a learner; None unless it finished on all data sets.

        Parameters
        ----------
        learner : name
        rows : number of rows
        """
        records = self.select(learner, rows)
        if any(record["status"] != "done" for record in records):
            return None
        shares = [
            (r["truth"], r["fp"] / r["assertions"], r["fn"] / r["assertions"], r["seconds"])
            for r in records
            if r["assertions"]
        ]
        distances = _by_truth((truth, fp + fn) for truth, fp, fn, _ in shares)
        return Score(
            _mean(distances),
            _standard_error(distances),
            _mean(_by_truth((truth, fp) for truth, fp, _, _ in shares)),
            _mean(_by_truth((truth, fn) for truth, _, fn, _ in shares)),
            _mean(_by_truth((truth, seconds) for truth, _, _, seconds in shares)),
        )

    def ranking(self, rows: int) -> list[str]:
        """Return the learners that finished on all data sets, the nearest to the truths first.

        Parameters
        ----------
        rows : number of rows
        """
        scores = {learner: self.score(learner, rows) for learner in self.learners}
        known = {learner: score.mean for learner, score in scores.items() if score}
        return sorted(known, key=lambda learner: known[learner])

    def difference(self, first: str, second: str, rows: int) -> tuple[float, float | None]:
        """Return the mean difference of two learners on the same data, and its standard error.

        Parameters
        ----------
        first, second : names of learners that finished on all data sets
        rows : number of rows
        """
        pairs = zip(self.select(first, rows), self.select(second, rows), strict=True)
        differences = _by_truth((a["truth"], a["normalized"] - b["normalized"]) for a, b in pairs)
        return _mean(differences), _standard_error(differences)

    def __repr__(self) -> str:
        return (
            f"Study({plural(len(self.truths), 'truth')}, {plural(len(self.learners), 'learner')}, "
            f"{plural(len(self.results), 'result')})"
        )


def _by_truth(values: Iterable[tuple[str, float]]) -> list[list[float]]:
    groups: dict[str, list[float]] = {}
    for truth, value in values:
        groups.setdefault(truth, []).append(value)
    return list(groups.values())


def _mean(groups: Sequence[Sequence[float]]) -> float:
    """Return the mean over truths of the means over repeats; 0 without any."""
    return mean(mean(group) for group in groups) if groups else 0.0


def _standard_error(groups: Sequence[Sequence[float]]) -> float | None:
    """Return the standard error of `_mean` for these truths; None with one repeat."""
    if not groups or any(len(group) < 2 for group in groups):
        return None
    return sqrt(sum(variance(group) / len(group) for group in groups)) / len(groups)


def study(
    truths: Any,
    learners: Any,
    *,
    rows: int | Sequence[int] = (200, 1000),
    repeats: int = 5,
    out: str | os.PathLike[str] | None = None,
    rng: Seed = 0,
    time_limit: float | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> Study:
    """Compare learners on rows drawn from models whose structure is known.

    Parameters
    ----------
    truths : name or model, or several; or a mapping from labels to models
        A name is that of an example, the path of a model file, or one that
        `contextwise.truths.named` lists. A structure without weights gets strong random ones.
    learners : name or Learner, or several; or a mapping from labels to learners
    rows : number of rows of a data set, or several
    repeats : number of data sets per truth and number of rows
    out : folder, optional
        Where to keep the results and to write ``results.csv``, ``study.html`` and ``study.png``.
        An interrupted study resumes with the same call; a finished one can be given more truths,
        learners, rows and repeats.
    rng : generator or seed
    time_limit : seconds for each learner and data set; a learner that takes longer is too slow
    n_jobs : number of processes; -1 means one per core
    cluster : address of a Dask scheduler, or a Dask client; replaces ``n_jobs``
    show_progress : bool, or a function of (units done, all units)

    Returns
    -------
    Study

    Examples
    --------
    >>> result = study(["lung", "six"], ["chow-liu", "mpl"], rows=[100, 1000], repeats=2)
    >>> result.ranking(1000)
    ['mpl', 'chow-liu']
    """
    sizes = [rows] if isinstance(rows, int) else list(dict.fromkeys(rows))
    if not sizes or min(sizes) < 2:
        raise ContextwiseError(f"rows must be numbers >= 2, got {sizes or 'none'}")
    if repeats < 1:
        raise ContextwiseError(f"repeats must be >= 1, got {repeats}")
    seed = rng if isinstance(rng, int) else int(rng.integers(2**31))
    known = {label: _truth(model) for label, model in _labelled(truths, "truth").items()}
    chosen = {label: as_learner(item) for label, item in _labelled(learners, "learner").items()}
    effort = Effort.of(n_jobs=n_jobs, cluster=cluster, show_progress=show_progress)
    if out is not None:
        require("matplotlib", "studies")  # now, not after the work
    hashes = {label: _hash_of_truth(truth) for label, truth in known.items()}
    hashes_of_learners = {label: _hash_of_learner(item) for label, item in chosen.items()}
    units = [
        Unit(
            f"{truth} {size:07} {repeat:03} {label} {hashes[truth]} {hashes_of_learners[label]}",
            Task(truth, known[truth], label, learner, size, repeat, seed, time_limit),
        )
        for repeat in range(repeats)
        for truth in known
        for size in sizes
        for label, learner in chosen.items()
    ]
    with Store(out, {"study": "learners", "seed": seed, "time_limit": time_limit}) as store:
        outcome = run_units(store, units, learn_and_compare, effort)
        if outcome.failed:
            raise ContextwiseError(f"{outcome}; finished work is kept, run the same to resume")
        result = Study(list(store.records([unit.key for unit in units])))
    if out is not None:
        renderers("studies").publish(result, out)
    return result


def _labelled(items: Any, noun: str) -> dict[str, Any]:
    """Return items by their labels: names label themselves, others are numbered."""
    if isinstance(items, Mapping):
        labelled = dict(items)
    else:
        several = items if isinstance(items, list | tuple | set) else [items]
        labels = [
            item if isinstance(item, str) else getattr(item, "name", "") or f"{noun} {k}"
            for k, item in enumerate(several, start=1)
        ]
        if len(set(labels)) < len(labels):
            labels = [f"{label} {k}" for k, label in enumerate(labels, start=1)]
        labelled = dict(zip(labels, several, strict=True))
    if not labelled:
        raise ContextwiseError(f"pass at least one {noun}")
    return labelled


def _truth(model: str | Model) -> Model:
    """Return a truth from which rows can be drawn."""
    if isinstance(model, str):
        return named.truth(model)
    if numbers_of(model):
        return model
    return named.strong_weights(structure_of(model), np.random.default_rng(1))


# -- a unit ----------------------------------------------------------------------------------------


class Task(NamedTuple):
    """The parameters of a unit."""

    truth: str
    model: Model
    label: str
    learner: Any
    size: int
    repeat: int
    seed: int
    time_limit: float | None


def _hash_of_truth(truth: Model) -> str:
    models = [truth, numbers_of(truth) or truth]
    return sha256(b"".join(encode(model, "json") for model in models)).hexdigest()[:8]


def _hash_of_learner(learner: Learner) -> str:
    return sha256(json.dumps(learner_configuration(learner), sort_keys=True).encode()).hexdigest()[
        :8
    ]


def learn_and_compare(task: Task) -> list[dict[str, Any]]:
    """Learn from the rows of a unit and compare with the truth; return one record."""
    rows, how = _rows(task.truth, task.model, task.size, task.repeat, task.seed)
    record: dict[str, Any] = dict.fromkeys(COLUMNS)
    record |= {"truth": task.truth, "rows": task.size, "repeat": task.repeat}
    record |= {"learner": task.label, "rows_from": how}
    began = _processor_time()
    try:
        fitted = fresh(task.learner).fit(rows, domain=rows.domain, time_limit=task.time_limit)
    except OpenResult:
        return [record | {"status": "too slow"}]
    except Exception as problem:  # whatever a learner raises is a result of the study
        return [record | {"status": "failed", "error": f"{type(problem).__name__}: {problem}"}]
    record["seconds"] = _processor_time() - began
    if not fitted.finished_:
        return [record | {"status": "too slow"}]
    comparison = compare(task.model, fitted.structure_)
    record |= {"status": "done", "features": len(fitted.structure_)}
    record |= {"assertions": int(comparison.total), "normalized": comparison.normalized}
    for key in ("distance", "fp", "fn"):
        record[key] = int(getattr(comparison, key))
    return [record]


def _processor_time() -> float:
    """Return the processor time of this process and of those that it started, in seconds."""
    return sum(os.times()[:4])


def _rows(truth: str, model: Model, size: int, repeat: int, seed: int) -> tuple[Data, str]:
    """Draw the rows of a data set, the same for all learners; return also how."""
    rng = np.random.default_rng([seed, crc32(truth.encode()), size, repeat])
    drawn = draw(model, size, rng=rng)
    return Data(model.domain, np.ascontiguousarray(drawn.positions)), drawn.how
