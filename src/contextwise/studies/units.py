"""Compute the units of a study, and define what it measures.

A **unit** is a data set (a truth with its weights, a number of rows, a repeat) and a source of
guesses: a learner with its parameters, or structures with planted errors. Its result is one record
per guess. All sources get the same rows, and every data set has a seed of its own: a record does
not depend on other units, on workers or on interruptions.

`AddedColumns` add numbers to every record of a study, from a learner or not. To write one, make a
frozen dataclass of its parameters with ``keys``, ``check`` and ``measure``::

    @dataclass(frozen=True)
    class Length:
        keys = ("longest",)

        def check(self, data):  # raise a ContextwiseError before the work begins
            pass

        def measure(self, case):
            return {"longest": int(case.guess.features.lengths.max(initial=0))}

    study("six", "mpl", columns=[Length()])
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol
from zlib import crc32

import numpy as np

from contextwise.comparison.confusion import MEASURES
from contextwise.comparison.two_models import Comparison, compare
from contextwise.data.rows import Data
from contextwise.distributions.sampling import draw
from contextwise.errors import ContextwiseError, MissingPackage, OpenResult
from contextwise.formats import encode
from contextwise.learning.base import FromFunction, Learner, fresh
from contextwise.learning.identity import Identity, defined_by, identity_of_learner
from contextwise.models.structure import Model, Structure, numbers_of, structure_of
from contextwise.support.other_process import TimeIsUp, call_elsewhere, dumps, processor_time

COUNTS = ("tp", "fp", "fn", "tn")
GRAPH_DISTANCES = ("shd", "cpdag_shd", "sid")
COLUMNS = (
    *("truth", "weights", "rows", "repeat", "learner", "structure", "status", "error", "seconds"),
    *("features", "mean_length", "assertions", "distance", "normalized", *COUNTS, "kappa"),
    *(*GRAPH_DISTANCES, "rows_from"),
)
"""The columns of every study, in order.

``weights`` is the number of the truth's set of weights, ``structure`` that of a structure with
planted errors, ``status`` is done, failed or too slow, ``seconds`` is the processor time of
learning, and distances of graphs are there where the truth and the guess are directed.
"""
MODEL = "model"
"""The key of a record that holds the learned model as JSON; not a column."""

Record = dict[str, Any]

# -- data sets -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DataSet:
    """Rows of a truth: drawn when they are asked for, always the same.

    >>> from contextwise import examples
    >>> data = DataSet("lung", examples.load("lung"), 0, 5, 0, 1)
    >>> len(data.rows), len(data.held_out(100))
    (5, 100)
    """

    truth: str
    """The label of the truth."""
    model: Model
    """The truth, with its weights or tables."""
    weights: int
    """The number of its set of weights."""
    size: int
    repeat: int
    seed: int

    @property
    def place(self) -> str:
        """The data set as text, which sorts as the numbers do."""
        return f"{self.truth} {self.weights:03} {self.size:07} {self.repeat:03}"

    @property
    def rows(self) -> Data:
        """The rows to learn from."""
        return self._drawn(self.size, 0)[0]

    @property
    def rows_from(self) -> str:
        """Description of how the rows are drawn."""
        return self._drawn(self.size, 0)[1]

    def held_out(self, count: int) -> Data:
        """Return rows to score with, independent of those to learn from."""
        return self._drawn(count, 1)[0]

    def _drawn(self, count: int, purpose: int) -> tuple[Data, str]:
        place = (self.seed, crc32(self.truth.encode()), self.weights, self.size, self.repeat)
        key = (*place, purpose, count, id(self.model))
        if key not in _last_rows:
            drawn = draw(self.model, count, seed=np.random.default_rng([*place, purpose]))
            rows = Data(self.model.domain, np.ascontiguousarray(drawn.positions))
            while len(_last_rows) >= 2:  # the learners of a data set follow each other
                _last_rows.pop(next(iter(_last_rows), key), None)
            _last_rows[key] = self.model, rows, drawn.how
        return _last_rows[key][1:]


_last_rows: dict[Any, tuple[Model, Data, str]] = {}
"""The rows that were drawn last; the model is kept so that its id stays its own."""

# -- what is measured ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Case:
    """One guess at a truth, for `AddedColumns` to measure."""

    data: DataSet
    true: Structure
    guess: Structure
    model: Model
    """The guess with the weights of its learner, if it has any."""

    @cached_property
    def comparison(self) -> Comparison:
        """The comparison of the guess with the truth."""
        return compare(self.true, self.guess)


class AddedColumns(Protocol):
    """Numbers of a guess that a study adds to its records."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the columns."""

    def check(self, data: DataSet) -> None:
        """Raise, before the work begins, if this cannot be measured on this truth."""

    def measure(self, case: Case) -> Mapping[str, Any]:
        """Return the numbers of one guess by their names."""


@dataclass(frozen=True)
class Strong:
    """The errors among dependences stronger than some tolerances, such as ``fp_at_0.1``.

    A guess without weights keeps its claims at every tolerance.

    >>> Strong((0.1,)).keys
    ('distance_at_0.1', 'fp_at_0.1', 'fn_at_0.1', 'normalized_at_0.1')
    """

    tolerances: tuple[float, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the columns."""
        kinds = ("distance", "fp", "fn", "normalized")
        return tuple(f"{kind}_at_{t:g}" for t in self.tolerances for kind in kinds)

    def check(self, data: DataSet) -> None:
        """Raise if the truth has no weights."""
        if numbers_of(data.model) is None:
            raise ContextwiseError(f"{data.truth}: tolerances need a truth with weights or tables")

    def measure(self, case: Case) -> Mapping[str, Any]:
        """Count at the tolerances."""
        at = compare(case.data.model, case.model, at=self.tolerances).at
        assert at is not None
        return {key: value for key, value in at.record().items() if key in self.keys}


class MadeGuess(NamedTuple):
    """A guess with the record of how it was made; without a model, the record has the reason."""

    record: Mapping[str, Any]
    model: Model | None = None
    numbers: Mapping[str, Any] | None = None
    """Its `numbers_of_comparison`, if they are known already."""


class GuessSource(Protocol):
    """A source of guesses."""

    @property
    def label(self) -> str:
        """The name under which its guesses are shown."""

    @property
    def key(self) -> str:
        """The source in the key of a unit."""

    @property
    def identity(self) -> Identity:
        """The parameters and versions that its guesses depend on."""

    def guesses(self, data: DataSet, time_limit: float | None) -> Iterator[MadeGuess]:
        """Yield the guesses of one data set."""


@dataclass(frozen=True)
class Task:
    """The parameters of a unit."""

    data: DataSet
    source: GuessSource
    columns: tuple[AddedColumns, ...] = ()
    keep_models: bool = False
    time_limit: float | None = None


def compute(task: Task) -> list[Record]:
    """Make the guesses of a unit, measure them, and return one record for each."""
    keys = [*COLUMNS, *(key for columns in task.columns for key in columns.keys)]
    data = task.data
    place = {"truth": data.truth, "weights": data.weights, "rows": data.size}
    place |= {"repeat": data.repeat, "learner": task.source.label, "rows_from": data.rows_from}
    records = []
    for guess in task.source.guesses(data, task.time_limit):
        record: Record = {**dict.fromkeys(keys), **place, **guess.record}
        if guess.model is not None:
            record |= {"status": "done", **_measured(guess.model, guess.numbers, task)}
        records.append(record)
    return records


def numbers_of_comparison(guess: Structure, comparison: Comparison) -> Record:
    """Return the columns of every study that one comparison determines."""
    lengths = guess.features.lengths
    record: Record = {"features": len(guess)}
    record["mean_length"] = float(lengths.mean()) if len(guess) else 0.0
    record |= {"assertions": int(comparison.total), "distance": int(comparison.distance)}
    record |= {key: int(getattr(comparison, key)) for key in COUNTS}
    for key in ("normalized", "kappa", *GRAPH_DISTANCES):
        value = MEASURES[key].formula(comparison) if comparison.total else None
        record[key] = None if value is None else float(value) if key == "kappa" else value
    record["normalized"] = comparison.normalized
    return record


def _measured(model: Model, numbers: Mapping[str, Any] | None, task: Task) -> Record:
    """Return the numbers of a guess, with those of further columns."""
    case = Case(task.data, structure_of(task.data.model), structure_of(model), model)
    record = dict(numbers or numbers_of_comparison(case.guess, case.comparison))
    for columns in task.columns:
        try:
            record |= columns.measure(case)
        except ContextwiseError as problem:
            record["error"] = str(problem)
    if task.keep_models:
        record[MODEL] = encode(model, "json").decode()
    return record


# -- learners --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Learned:
    """A learner as a source of guesses: one for each data set."""

    label: str
    learner: Learner
    elsewhere: bool = field(default=False)
    """True to run it in a process with a fixed hash seed, on which code of others may depend."""
    unsent: str = ""
    """Why it cannot be sent to another process; empty if it can."""

    @classmethod
    def of(cls, label: str, learner: Learner) -> Learned:
        """Choose where a learner runs; one that cannot be pickled runs in this process."""
        ours = getattr(defined_by(learner), "__module__", "").startswith("contextwise.")
        problem = "" if ours else why_unsent(learner)
        return cls(label, learner, not ours and not problem, problem)

    @property
    def key(self) -> str:
        """The source in the key of a unit."""
        return self.label

    @property
    def identity(self) -> Identity:
        """Name, parameters, source and versions of the learner."""
        return identity_of_learner(self.learner)

    def guesses(self, data: DataSet, time_limit: float | None) -> Iterator[MadeGuess]:
        """Learn from the rows."""
        rows, learner = data.rows, fresh(self.learner)
        began = processor_time()
        try:
            if self.elsewhere:
                call = _Fit(learner, rows, None)
                model, finished = call_elsewhere(call, seconds=time_limit)
            else:
                model, finished = _Fit(learner, rows, time_limit)()
        except (OpenResult, TimeIsUp):
            yield MadeGuess({"status": "too slow"})
        except MissingPackage:
            raise
        except Exception as problem:  # whatever a learner raises is a result of the study
            error = f"{type(problem).__name__}: {problem}"
            yield MadeGuess({"status": "failed", "error": error})
        else:
            seconds = processor_time() - began
            if finished:
                yield MadeGuess({"seconds": seconds}, model)
            else:
                yield MadeGuess({"status": "too slow", "seconds": seconds})


@dataclass(frozen=True, eq=False)
class _Fit:
    """A call that learns, to be sent to another process."""

    learner: Learner
    rows: Data
    time_limit: float | None

    def __call__(self) -> tuple[Model, bool]:
        domain = self.rows.domain
        # A function of the user's, such as one that calls another package, takes a DataFrame.
        given: Any = self.rows.frame() if isinstance(self.learner, FromFunction) else self.rows
        fitted = self.learner.fit(given, domain=domain, time_limit=self.time_limit)
        weighted = fitted._model
        return fitted.structure_ if weighted is None else weighted, fitted.finished_


def why_unsent(learner: Learner) -> str:
    """Return why a learner cannot be pickled; empty if it can."""
    try:
        dumps(learner)
    except Exception as problem:
        return str(problem) or type(problem).__name__
    return ""
