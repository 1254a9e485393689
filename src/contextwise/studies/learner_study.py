"""Run a study: draw rows from known truths, learn from them, and compare with the truth.

The key of a unit has a hash of its truth, its columns, and its learner: parameters, source and the
versions of its packages. So a study can be given more truths, learners, sizes and repeats, and
computes only what is new; if something changed, it tells what, and computes that again.
"""

from __future__ import annotations

import os
import platform
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from contextwise.comparison.tolerances import checked
from contextwise.convert import by_values as by_numbers
from contextwise.distributions.sampling import Seed
from contextwise.errors import ContextwiseError, require
from contextwise.evaluation.groups_of_guesses import GroupComparison
from contextwise.formats import encode
from contextwise.learning.base import as_learner
from contextwise.learning.identity import (
    changes,
    short_hash,
    source_hash,
    user_modules,
    versions_of,
)
from contextwise.models.structure import Model, numbers_of, structure_of
from contextwise.studies.planted import LABELS, Planted, draw_structures, draws
from contextwise.studies.summary import comparison_of, mean_over_truths
from contextwise.studies.units import (
    MODEL,
    AddedColumns,
    DataSet,
    GuessSource,
    Learned,
    Strong,
    Task,
    compute,
)
from contextwise.support.effort import Effort, Progress
from contextwise.support.formatting import Printed, as_json, plural, renderers
from contextwise.support.other_process import sent_by_value
from contextwise.support.store import Store, Unit, run_units
from contextwise.truths import named

PACKAGES = {"contextwise", "numpy", "scipy"}
"""The packages whose versions are recorded for every study."""


AT = "normalized_at_"


class ChangedStudy(UserWarning):
    """Something that results in the folder depend on has changed."""


class UnsentLearner(UserWarning):
    """A learner cannot run in a process of its own."""


@dataclass(frozen=True, eq=False, repr=False)
class Study(Printed):
    """The results of a study.

    Attributes
    ----------
    results : list of dict
        One record per truth, set of weights, number of rows, repeat and guess.
    provenance : dict
        The command, the seed, versions, parameters, truths, rows and repeats.
    models : dict
        The learned models as JSON texts, by the paths of their files; see ``keep_models``.

    Examples
    --------
    >>> result = study("lung", ["chow-liu", "independent"], rows=100, repeats=2)
    >>> result
    Study(1 truth, 2 learners, 4 results)
    >>> result.comparison(100).groups[1].means["fn_share"].mean
    0.6666666666666666
    """

    results: list[dict[str, Any]]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)

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
        return [name for name in self._values("learner") if name not in LABELS.values()]

    @property
    def planted(self) -> list[dict[str, Any]]:
        """The records of structures with planted errors."""
        return [record for record in self.results if record.get("structure") is not None]

    @property
    def sizes(self) -> list[int]:
        """The numbers of rows."""
        return sorted(self._values("rows"))

    @property
    def learned(self) -> list[dict[str, Any]]:
        """The records of learners."""
        return [record for record in self.results if record.get("structure") is None]

    def comparison(
        self, rows: int, *, truth: str | None = None, measure: str = "normalized"
    ) -> GroupComparison | None:
        """Compare the learners that finished, by means, intervals and paired tests.

        Parameters
        ----------
        rows : number of rows
        truth : label of one truth, optional; otherwise every truth has the same weight
        measure : column to test, such as "normalized", "kappa" or "shd"
        """
        records = [r for r in self.learned if r["rows"] == rows and truth in (None, r["truth"])]
        return comparison_of(records, measure=measure)

    @property
    def tolerances(self) -> list[str]:
        """The tolerances at which errors were counted, as text."""
        keys = self.results[0] if self.results else ()
        return [key.removeprefix(AT) for key in keys if key.startswith(AT)]

    def mean_at(self, tolerance: str, learner: str, rows: int) -> float | None:
        """Return the mean normalized distance at a tolerance; None unless it is always known.

        Parameters
        ----------
        tolerance : one of `tolerances`
        learner : name
        rows : number of rows
        """
        own = [r for r in self.learned if r["learner"] == learner and r["rows"] == rows]
        return mean_over_truths(own, f"{AT}{tolerance}")

    def ranking(self, rows: int) -> list[str]:
        """Return the learners that finished on all data sets, the nearest to the truths first.

        Parameters
        ----------
        rows : number of rows
        """
        compared = self.comparison(rows)
        groups = compared.groups if compared else ()
        return [g.name for g in sorted(groups, key=lambda g: g.means["normalized"].mean or 0.0)]

    def __repr__(self) -> str:
        return (
            f"Study({plural(len(self.truths), 'truth')}, {plural(len(self.learners), 'learner')}, "
            f"{plural(len(self.results), 'result')})"
        )


def study(
    truths: Any,
    learners: Any = (),
    *,
    by_values: float | None = None,
    planted: int = 0,
    rows: int | Sequence[int] = (200, 1000),
    repeats: int = 5,
    weight_sets: int = 1,
    at: float | Sequence[float] | None = None,
    columns: Sequence[AddedColumns] = (),
    keep_models: bool = False,
    out: str | os.PathLike[str] | None = None,
    command: str = "",
    seed: Seed = 0,
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
        Learners of others run in a process with a fixed hash seed. Functions get a DataFrame.
    by_values : float, optional
        Take from the numbers of each truth what it claims, up to this log odds ratio; see
        `contextwise.convert.by_values`. Rows are drawn from the same numbers.
    planted : number of structures with planted errors, of each kind, per truth
        They are further guesses: with false positives only, or with false negatives only.
    rows : number of rows of a data set, or several
    repeats : number of data sets per truth, set of weights and number of rows
    weight_sets : number of sets of random weights of each truth
    at : tolerances; the records then have the errors among dependences stronger than each
    columns : further numbers to measure, such as `contextwise.studies.kl.Divergence()`
        See `contextwise.studies.units` for how to write others.
    keep_models : bool
        Keep every learned model, in the folder ``models`` of ``out``.
    out : folder, optional
        Where to keep the results and to write them: ``results.csv``, ``summary.csv``,
        ``tests.csv``, ``study.json``, ``study.tex``, ``study.html``, and the figure as PNG, PDF and
        SVG. An interrupted study resumes with the same call; a finished one can be given more
        truths, learners, rows and repeats.
    command : how the study was started, for ``study.json``
    seed : generator or seed
    time_limit : seconds for each learner and data set; a learner that takes longer is too slow
    n_jobs : number of processes; -1 means one per core
    cluster : address of a Dask scheduler, or a Dask client; replaces ``n_jobs``
    show_progress : bool, or a function of (units done, all units)

    Returns
    -------
    Study

    Raises
    ------
    ContextwiseError
        If no guess was made in any unit; the message has the first reason.

    Warns
    -----
    ChangedStudy
        If results in the folder are of another version of a learner or truth.

    Examples
    --------
    >>> result = study(["lung", "six"], ["chow-liu", "mpl"], rows=[100, 1000], repeats=2)
    >>> result.ranking(1000)
    ['mpl', 'chow-liu']
    """
    sizes = [rows] if isinstance(rows, int) else list(dict.fromkeys(rows))
    if not sizes or min(sizes) < 2:
        raise ContextwiseError(f"rows must be numbers >= 2, got {sizes or 'none'}")
    least = {"repeats": (repeats, 1), "weight_sets": (weight_sets, 1), "planted": (planted, 0)}
    for name, (count, fewest) in least.items():
        if count < fewest:
            raise ContextwiseError(f"{name} must be >= {fewest}, got {count}")
    seed = seed if isinstance(seed, int) else int(seed.integers(2**31))
    if at is not None:
        columns = [*columns, Strong(checked(at))]
    named_learners = {} if planted and not len(learners) else _labelled(learners, "learner")
    chosen = {label: as_learner(item) for label, item in named_learners.items()}
    plan = _Plan(
        {
            (label, number): _truth(model, number, by_values)
            for label, model in _labelled(truths, "truth").items()
            for number in range(weight_sets)
        },
        [Learned.of(label, learner) for label, learner in chosen.items()],
        sizes,
        repeats,
        tuple(columns),
        keep_models,
        seed,
        time_limit,
    )
    effort = Effort.of(n_jobs=n_jobs, cluster=cluster, show_progress=show_progress)
    if out is not None:
        require("matplotlib", "studies")  # now, not after the work
    plan.check()
    for source in plan.sources:
        if isinstance(source, Learned) and source.unsent:
            warnings.warn(
                f"{source.label} cannot be pickled ({source.unsent}): it runs in this process, "
                "where only the learner itself can keep a time limit, and what it learns may "
                "depend on PYTHONHASHSEED",
                UnsentLearner,
                stacklevel=2,
            )
    drawing = plan.draws(planted)
    with ExitStack() as stack:
        stack.enter_context(sent_by_value(user_modules(list(chosen.values()))))
        configuration = {"study": "learners", "seed": seed, "time_limit": time_limit}
        store = stack.enter_context(Store(out, configuration))
        _run(store, drawing, draw_structures, effort)
        plan = plan.with_planted(store, drawing)
        plan.tell_changes(store)
        parts: dict[bool, list[Unit]] = {True: [], False: []}
        for unit in plan.units:
            parts[bool(getattr(unit.parameters.source, "unsent", ""))].append(unit)
        _run(store, parts[False], compute, effort)
        _run(store, parts[True], compute, replace(effort, n_jobs=1, cluster=None))
        records = list(store.records(plan.keys))
    result = plan.result(records, command)
    if out is not None:
        renderers("studies").publish(result, out)
    failed = [record for record in records if record["status"] != "done"]
    if len(failed) == len(records):
        raise ContextwiseError(f"no learner finished: {_reason(failed[0])}")
    return result


def _run(store: Store, units: list[Unit], function: Any, effort: Effort) -> None:
    outcome = run_units(store, units, function, effort)
    if outcome.failed:
        raise ContextwiseError(f"{outcome}; finished work is kept, run the same to resume")


def _reason(record: Mapping[str, Any]) -> str:
    where = f"{record['learner']} on {record['rows']:,} rows of {record['truth']}"
    return f"{where}: {record['error'] or record['status']}"


@dataclass(frozen=True, eq=False)
class _Plan:
    """Everything that determines the results of a study."""

    truths: Mapping[tuple[str, int], Model]
    sources: Sequence[GuessSource]
    sizes: Sequence[int]
    repeats: int
    columns: tuple[AddedColumns, ...]
    keep_models: bool
    seed: int
    time_limit: float | None
    planted: Mapping[str, Sequence[Planted]] = field(default_factory=dict)
    """Further sources of guesses of each truth."""

    def draws(self, count: int) -> list[Unit]:
        """Return the units that draw structures with planted errors."""
        truths = {label: structure_of(model) for (label, _), model in self.truths.items()}
        return [
            unit
            for label, structure in (truths if count else {}).items()
            for unit in draws(label, structure, count, self.seed)
        ]

    def with_planted(self, store: Store, drawn: Sequence[Unit]) -> _Plan:
        """Return the plan with the structures that were drawn."""
        sources: dict[str, list[Planted]] = {}
        for unit in drawn:
            records = list(store.records([unit.key]))
            sources.setdefault(unit.parameters.truth, []).append(Planted(unit.parameters, records))
        return replace(self, planted=sources)

    def sources_of(self, truth: str) -> list[GuessSource]:
        """Return the sources of guesses at a truth."""
        return [*self.sources, *self.planted.get(truth, ())]

    def data_sets(self) -> Iterator[DataSet]:
        """Yield the data sets, one of each kind first."""
        for repeat in range(self.repeats):
            for (truth, number), model in self.truths.items():
                for size in self.sizes:
                    yield DataSet(truth, model, number, size, repeat, self.seed)

    def check(self) -> None:
        """Raise, before the work, if some columns cannot be measured."""
        for data in self.data_sets():
            if data.repeat == 0:
                for columns in self.columns:
                    columns.check(data)

    @cached_property
    def identities(self) -> dict[str, Any]:
        """Return what the results depend on, by what it is about."""
        truths = {
            label if not number else f"{label}, weights {number}": {"its content": _hash(model)}
            for (label, number), model in self.truths.items()
        }
        measured = {repr(columns): source_hash(columns) for columns in self.columns}
        more = {"columns": measured, "models": self.keep_models}
        return {
            **truths,
            **{source.label: dict(source.identity) for source in self.sources},
            **({"measured": more} if measured or self.keep_models else {}),
        }

    @cached_property
    def units(self) -> list[Unit]:
        """Return the units of work; the learners of a data set follow each other."""
        known = self.identities
        more = as_json(known.get("measured", {}))
        parts = {source.label: as_json(known[source.label]) for source in self.sources}
        parts |= {p.key: as_json(p.identity) for each in self.planted.values() for p in each}
        truths = {place: _hash(model) for place, model in self.truths.items()}
        return [
            Unit(
                f"{data.place} {source.key} {truths[data.truth, data.weights]} "
                f"{short_hash((parts[source.key] + more).encode())}",
                Task(data, source, self.columns, self.keep_models, self.time_limit),
            )
            for data in self.data_sets()
            for source in self.sources_of(data.truth)
        ]

    @cached_property
    def keys(self) -> list[str]:
        """Return the keys of the units in the order of the results."""
        truths = {place: number for number, place in enumerate(self.truths)}
        sources = [source for truth, _ in self.truths for source in self.sources_of(truth)]
        keys = {source.key: number for number, source in enumerate(sources)}

        def place(unit: Unit) -> tuple[int, int, int, int]:
            data: DataSet = unit.parameters.data
            where = truths[data.truth, data.weights]
            return where, data.size, data.repeat, keys[unit.parameters.source.key]

        return [unit.key for unit in sorted(self.units, key=place)]

    def tell_changes(self, store: Store) -> None:
        """Warn if something changed since the results in the store were computed."""
        before, now = store.remembered("identities") or {}, self.identities
        texts = [
            text
            for label in now
            for text in changes(label, before.get(label, now[label]), now[label])
        ]
        if texts:
            keys = set(self.keys)
            kept = len(keys & store.done())
            warnings.warn(
                f"{'; '.join(texts)}: {plural(len(keys) - kept, 'unit')} of {len(keys)} "
                f"{'is' if len(keys) - kept == 1 else 'are'} computed, {kept} kept",
                ChangedStudy,
                stacklevel=3,
            )
        store.remember("identities", {**before, **now})

    def result(self, records: list[dict[str, Any]], command: str) -> Study:
        """Return the study of these records, with its models apart."""
        models = {}
        for record in records:
            text = record.pop(MODEL, None)
            if text is not None:
                models[_path_of(record)] = text
        if self.keep_models:
            for (label, number), model in self.truths.items():
                models[f"{_folder_of(label, number)}/truth.json"] = encode(model, "json").decode()
        return Study(records, self._provenance(command), models)

    def _provenance(self, command: str) -> dict[str, Any]:
        known = self.identities
        learners = {source.label: known[source.label] for source in self.sources}
        names = {name for each in learners.values() for name in each.get("versions", ())}
        return {
            "command": command or None,
            "seed": self.seed,
            "rows": list(self.sizes),
            "repeats": self.repeats,
            "planted": sum(len(s.records) for each in self.planted.values() for s in each),
            "time_limit": self.time_limit,
            "truths": {key: known[key] for key in known if key not in (*learners, "measured")},
            "learners": learners,
            "measured": known.get("measured", {}),
            "versions": {
                "Python": platform.python_version(),
                "platform": sys.platform,
                **versions_of(names | PACKAGES),
            },
        }


def _folder_of(truth: str, weights: int) -> str:
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in os.path.basename(truth))
    return f"{name}-weights-{weights}" if weights else name


def _path_of(record: Mapping[str, Any]) -> str:
    """Return the path of a learned model below the folder of models."""
    label = "".join(c if c.isalnum() or c in "-_.=" else "-" for c in record["learner"])
    number = "" if record["structure"] is None else f"-{record['structure']}"
    folder = _folder_of(record["truth"], record["weights"])
    return f"{folder}/{record['rows']}/{record['repeat']}/{label}{number}.json"


def _labelled(items: Any, noun: str) -> dict[str, Any]:
    """Return items by their labels: names and files label themselves, others are numbered."""
    if isinstance(items, Mapping):
        labelled = dict(items)
    else:
        several = items if isinstance(items, list | tuple | set) else [items]
        labels = [
            item if isinstance(item, str) else getattr(item, "name", "") or f"{noun} {k}"
            for k, item in enumerate(several, start=1)
        ]
        # without the folder, so that the same files give the same rows wherever they are
        files = [os.path.basename(x) if os.path.isfile(x) else x for x in labels]
        if len(set(files)) == len(set(labels)):
            labels = files
        named_twice = [
            x
            for x, item in zip(labels, several, strict=True)
            if labels.count(x) > 1 and isinstance(item, str)
        ]
        if named_twice:
            raise ContextwiseError(f"the {noun} {named_twice[0]} is named twice")
        if len(set(labels)) < len(labels):
            labels = [f"{label} {k}" for k, label in enumerate(labels, start=1)]
        labelled = dict(zip(labels, several, strict=True))
    if not labelled:
        raise ContextwiseError(f"pass at least one {noun}")
    return labelled


def _truth(model: str | Model, number: int, tolerance: float | None) -> Model:
    """Return a truth from which rows can be drawn, with the set of weights of this number."""
    found = _weighted(model, number)
    numbers = None if tolerance is None else numbers_of(found)
    return (
        found if numbers is None or tolerance is None else by_numbers(numbers, tolerance=tolerance)
    )


def _weighted(model: str | Model, number: int) -> Model:
    if isinstance(model, str):
        if not number:
            return named.truth(model)
        drawn, first = named.truth(f"{model}#{number}"), named.truth(model)
        if structure_of(drawn) != structure_of(first):
            raise ContextwiseError(
                f"{model!r} draws structure and weights together, so it has no sets of weights; "
                f"name {model}#0 {model}#1 … as truths"
            )
        return drawn
    if numbers_of(model):
        if number:
            raise ContextwiseError("a truth has its own weights; leave out weight_sets")
        return model
    place = [1, number] if number else 1
    return named.strong_weights(structure_of(model), np.random.default_rng(place))


def _hash(truth: Model) -> str:
    models = [truth, numbers_of(truth) or truth]
    return short_hash(b"".join(encode(model, "json") for model in models))
