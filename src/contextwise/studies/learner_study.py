"""The study of learners: learn from rows of known truths and judge the structures.

One TOML file defines a run. A learner has a label, a name in the registry, fixed settings, and a
grid for its other settings::

    [learners.trees]
    learner = "trees"
    [learners.trees.grid]
    penalty = [2.0, 5.0, 10.0, 20.0]

With ``resamples = 20`` the guess is the ensemble of what the learner finds in as many bootstrap
resamples; its medoid is the structure that is scored where one structure is needed.

The file holds a hash of every model and data file, so that a changed file is an error.

A unit is a learner on one data set: rows of a truth, of a size and a repeat, or a real data set.
All learners get the same rows, and every structure is refitted in the same way before it is scored.
Only the main thread of a process can stop a learner at its time limit; elsewhere a slow learner is
noticed when it ends.
"""

from __future__ import annotations

import json
import os
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from hashlib import sha256
from itertools import product
from math import isnan, prod
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

import numpy as np

from contextwise.comparison.compare import compare
from contextwise.comparison.confusion import CAUSAL, RATES, computed, shown_in
from contextwise.data.rows import Data, as_data, by_position
from contextwise.distributions import cmll, fit, mean_log_likelihood, mean_pseudo_log_likelihood
from contextwise.distributions.batch_fitting import STATES, empirical, fit_many
from contextwise.distributions.divergence import kl_divergence
from contextwise.distributions.sampling import Estimate
from contextwise.errors import ContextwiseError, ParseError
from contextwise.evaluation.ensemble_scores import score_ensembles
from contextwise.evaluation.ensembles import Ensemble
from contextwise.evaluation.resampling import stability
from contextwise.evaluation.skill import skills
from contextwise.learning import LEARNERS, learner_named
from contextwise.learning.base import Learner, fresh
from contextwise.learning.selection import select
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure, features_of
from contextwise.studies.run_study import check_rules, read_settings, run_study
from contextwise.support.arrays import IntArray
from contextwise.support.deadline import Deadline
from contextwise.support.effort import Effort
from contextwise.support.files import read_bytes
from contextwise.support.store import Outcome, Unit
from contextwise.truths.named import Rows, draw_rows, truth_named

TRUE_STRUCTURE = "true-structure"
"""A reference that is no learner: the structure of the truth itself, refitted to the rows."""
RULES = ("pseudo-likelihood", "bic")


@dataclass(frozen=True)
class Plan:
    """A learner of the study: its name, fixed settings, and the grid of the others."""

    learner: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, list[Any]] = field(default_factory=dict)
    resamples: int = 0  # of an ensemble; 0 is one structure

    def __post_init__(self) -> None:
        if self.resamples < 0 or self.resamples == 1:
            raise ContextwiseError(f"resamples must be 0 or >= 2, got {self.resamples}")
        if self.resamples and self.learner == TRUE_STRUCTURE:
            raise ContextwiseError("the true structure is not resampled; leave out resamples")

    def make(self, **settings: Any) -> Learner:
        """Create the learner."""
        return learner_named(self.learner)(**self.settings, **settings)

    def combinations(self) -> list[dict[str, Any]]:
        """Return all settings of the grid."""
        return [
            dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())
        ]


PLANS: dict[str, Plan] = {
    "trees": Plan("trees", grid={"penalty": [2.0, 5.0, 10.0, 20.0]}),
    "dtsl": Plan("trees", {"refit": "l1", "penalty": 5.0}, {"l1": [2.0, 5.0, 10.0]}),
    "acyclic-trees": Plan("acyclic-trees", grid={"penalty": [2.0, 5.0, 10.0, 20.0]}),
    "sparse-pairs": Plan("sparse-pairs", grid={"l1": [2.0, 5.0, 10.0, 20.0]}),
    "trees-and-pairs": Plan("trees-and-pairs", grid={"l1": [2.0, 5.0, 10.0]}),
    "gssl": Plan("gssl", grid={"l1": [2.0, 5.0, 10.0]}),
    "gsmn": Plan("gsmn", grid={"level": [0.01, 0.05]}),
    "cspc": Plan("cspc", grid={"level": [0.01, 0.05]}),
    "csgs": Plan("csgs", grid={"level": [0.01, 0.05]}),
}
"""The plans with settings; other learners of the registry run with their defaults."""
BOOTSTRAP = "-bootstrap"
"""Ends the label of a learner whose guess is an ensemble of bootstrap resamples."""
RESAMPLES = 20

TRUTHS = (
    *(f"paper#{k}" for k in range(10)),
    *("grown-8-1", "grown-9-1#1", "grown-10-2", "grown-10-3", "grown-12-2", "grown-16-2"),
    *("grown-9-2-three", "grown-10-2-nested", "grown-10-3-nested"),
    *("random-8", "random-8#1", "random-10", "random-10#1", "random-12", "random-16", "lung"),
)
"""The truths of the default run; all of them are sampled exactly."""
TRUTHS_OF_QUICK = ("paper", "paper#1", "grown-8-1", "grown-9-2-three", "random-8")


@dataclass(frozen=True)
class Configuration:
    """Everything that determines the results of a run."""

    truths: tuple[str, ...] = TRUTHS
    learners: Mapping[str, Plan] = field(default_factory=dict)
    sizes: tuple[int, ...] = (50, 200, 1000, 10_000)
    repeats: int = 3  # data sets per truth and size
    test_rows: int = 2000
    interaction: tuple[float, float] = (1.0, 3.0)  # least and largest log-odds ratio of truths
    choose: str = "pseudo-likelihood"
    valid_share: float = 0.25  # part of the rows that settings are chosen by
    l2: float = 0.1  # of the refit of every structure
    oracle: bool = True  # also find the best setting of the grid by the metric
    unit_limit: float = 60.0  # seconds per unit
    data: str = ""  # a folder of real data sets
    resamples: int = 6  # for the stability on real data; 0 leaves it out
    seed: int = 1
    files: Mapping[str, str] = field(default_factory=dict)  # hashes

    def __post_init__(self) -> None:
        low, high = self.interaction
        rules = {
            "truths": (self.truths or self.data, "given, or data"),
            "learners": (self.learners, "given"),
            "sizes": (self.sizes and min(self.sizes) >= 8, "numbers of rows >= 8"),
            "repeats": (self.repeats >= 1, ">= 1"),
            "test_rows": (self.test_rows >= 1, ">= 1"),
            "interaction": (0 < low <= high, "two rising numbers above 0"),
            "choose": (self.choose in RULES, " or ".join(RULES)),
            "valid_share": (0 < self.valid_share < 1, "between 0 and 1"),
            "l2": (self.l2 >= 0, ">= 0"),
            "unit_limit": (self.unit_limit > 0, "> 0"),
            "resamples": (self.resamples == 0 or self.resamples >= 2, "0 or >= 2"),
            "seed": (self.seed >= 0, ">= 0"),
        }
        check_rules(self, rules)

    def record(self) -> dict[str, Any]:
        """Return the configuration as plain values."""
        return asdict(self)

    def quick(self) -> Configuration:
        """Return a smaller run; truths and sizes that were chosen stay."""
        return replace(
            self,
            truths=TRUTHS_OF_QUICK if self.truths == TRUTHS else self.truths,
            sizes=(100, 1000) if self.sizes == Configuration.sizes else self.sizes,
            repeats=min(self.repeats, 2),
            test_rows=min(self.test_rows, 1000),
            unit_limit=min(self.unit_limit, 10.0),
            resamples=min(self.resamples, 3),
        )


def plans_of(labels: Iterable[str] | None = None) -> dict[str, Plan]:
    """Return the plans of some labels; by default of all learners that need no other package."""
    if labels is None:
        bundled = [name for name, entry in LEARNERS.items() if not entry.package]
        labels = dict.fromkeys((TRUE_STRUCTURE, *bundled, *PLANS))
    plans = {}
    for label in labels:
        name = label.removesuffix(BOOTSTRAP)
        plan = PLANS.get(name, Plan(name))
        plans[label] = plan if name == label else replace(plan, resamples=RESAMPLES)
    for plan in plans.values():
        if plan.learner != TRUE_STRUCTURE:
            learner_named(plan.learner)
    return plans


def configuration_of(
    *,
    truths: Iterable[str] | None = None,
    learners: Iterable[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Configuration:
    """Return the configuration of a run; without truths only if there are data instead."""
    if truths is None:
        truths = TRUTHS if data is None else ()
    chosen = tuple(dict.fromkeys(truths))
    folder = "" if data is None else os.fspath(data)
    configuration = Configuration(
        truths=chosen,
        learners=plans_of(learners),
        data=folder,
        files=fingerprints(chosen, folder),
        **settings,
    )
    for name in chosen:
        truth_named(name, interaction=configuration.interaction, seed=configuration.seed)
    return configuration


def fingerprints(truths: Iterable[str], data: str) -> dict[str, str]:
    """Return a short hash of each file of a run."""
    paths = [Path(name) for name in truths if Path(name).is_file()]
    if data:
        if not Path(data).is_dir():
            raise ContextwiseError(
                f"{data}: folder not found; pass a folder with .data or .csv files"
            )
        paths += sorted(
            path for path in Path(data).iterdir() if ".data" in path.name or ".csv" in path.name
        )
    return {str(path): sha256(read_bytes(path)).hexdigest()[:16] for path in paths}


def from_toml(path: str | os.PathLike[str]) -> Configuration:
    """Read a configuration; raise on unknown keys, wrong values and changed files."""
    settings = read_settings(path, {each.name for each in fields(Configuration)})
    try:
        learners = settings.get("learners", {})
        settings["learners"] = {label: Plan(**plan) for label, plan in learners.items()}
        configuration = Configuration(**settings)
    except (TypeError, AttributeError, ValueError, IndexError, ContextwiseError) as error:
        raise ParseError(f"a setting is wrong: {error}", path=path) from None
    current = fingerprints(configuration.truths, configuration.data)
    # Files that are new, missing or different.
    changed = sorted(file for file, _ in current.items() ^ configuration.files.items())
    if changed:
        raise ParseError(
            f"{changed[0]} has changed since this run; restore it or start a new run", path=path
        )
    return configuration


# -- time and memory -------------------------------------------------------------------------------


T = TypeVar("T")
KIBI = 1024


class TooSlowError(ContextwiseError):
    """A learner exceeded its time limit."""


@contextmanager
def time_limited(seconds: float) -> Iterator[None]:
    """Raise `TooSlowError` after some seconds."""
    deadline = Deadline.after(seconds)
    try:
        with deadline.enforced():
            yield
        deadline.check()  # outside the main thread, nothing stopped the block
    except deadline.out_of_time:
        raise TooSlowError(f"took longer than {seconds:g} seconds") from None


def within(seconds: float, function: Callable[[], T]) -> T | None:
    """Call a function; return None if it is too slow or too large."""
    try:
        with time_limited(seconds):
            return function()
    except ContextwiseError:
        return None


def attempt(seconds: float, learn: Callable[[], T]) -> tuple[T | None, dict[str, Any]]:
    """Call a learner; return its result and a record of its time and memory, or of its failure."""
    try:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # begin a new maximum of memory
        before, began = _memory("VmRSS"), time.process_time()
        with time_limited(seconds):
            result = learn()
        took, most = time.process_time() - began, _memory("VmHWM")
        grown = None if before is None or most is None else max(0.0, (most - before) / KIBI)
        return result, {"status": "done", "seconds": took, "memory": grown}
    except TooSlowError as problem:
        return None, {"status": "too slow", "error": str(problem)}
    except Exception as problem:  # whatever a learner raises is a result of the study
        return None, {"status": "failed", "error": f"{type(problem).__name__}: {problem}"}


def _memory(field: str) -> int | None:
    """Return a field of the process's status in kilobytes, on Linux."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1])
    return None


# -- a unit on a known truth -----------------------------------------------------------------------


_TRAIN, _TEST, _SPLIT = range(3)
"""The first number of a draw's place in the run's tree of seeds."""
TIMINGS = ("seconds", "memory")
"""The columns that differ when a run is repeated."""

STUDY_RATES = [name for name in shown_in("replicates") if name in RATES]
COLUMNS = (
    *("truth", "size", "repeat", "learner", "status", "error", "settings", "variables"),
    *("rows_from", "r_hat", "effective_share", "doubtful", "distance", "assertions"),
    *("normalized", "fp", "fn", "fp_share", "fn_share", *STUDY_RATES, "skill", "context_skill"),
    *("brier", "expected_distance", "spread"),
    *("hamming", "hamming_share", *CAUSAL, "features", "mean_length", "longest"),
    *("oracle_distance", "oracle_settings", "refit"),
    *(
        f"{score}{part}{whose}"
        for whose in ("", "_own")
        for score in ("kl", "cmll", "log_likelihood", "pll")
        for part in ("", "_error", "_exact")
    ),
    *("warnings", *TIMINGS),
)
"""The columns of a unit's record, in order."""


class Task(NamedTuple):
    """The parameters of a unit."""

    configuration: Configuration
    truth: str
    size: int
    repeat: int
    label: str

    @property
    def plan(self) -> Plan:
        return self.configuration.learners[self.label]


def learn_unit(task: Task) -> list[dict[str, Any]]:
    """Learn and measure; a learner that fails or is too slow gets a record too."""
    configuration = task.configuration
    truth = plain_truth(task.truth, configuration.interaction, configuration.seed)
    rows = train_rows(task)
    data = Data(truth.domain, np.ascontiguousarray(rows.drawn.positions))
    record: dict[str, Any] = dict.fromkeys(COLUMNS) | {
        "truth": task.truth,
        "size": task.size,
        "repeat": task.repeat,
        "learner": task.label,
        "variables": len(truth.domain),
        "rows_from": rows.drawn.how,
        "r_hat": rows.r_hat,
        "effective_share": rows.effective_share,
        "doubtful": rows.is_doubtful,
    }

    def measure(learned: Learned) -> dict[str, Any]:
        return {
            **structure_record(truth, learned.structure),
            **_ensemble_record(truth, learned),
            **_oracle(task, truth, data),
            **_score_record(task, truth, learned, data),
        }

    return _learn_and_measure(record, task, lambda: _learn(task, truth, data), measure)


def _learn_and_measure(
    record: dict[str, Any],
    task: Task | DataTask,
    learn: Callable[[], Learned],
    measure: Callable[[Learned], dict[str, Any]],
) -> list[dict[str, Any]]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        learned, outcome = attempt(task.configuration.unit_limit, learn)
        record |= outcome
        if learned is None:
            return [record]
        record["settings"] = json.dumps(learned.settings, sort_keys=True)
        record |= measure(learned)
    return [record | {"warnings": len(heard)}]


# -- rows ------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def plain_truth(name: str, interaction: tuple[float, float], seed: int) -> LogLinear:
    """Rename the states of a truth to their positions."""
    return by_position(truth_named(name, interaction=interaction, seed=seed))


def generator(seed: int, kind: int, truth: str, *place: int) -> np.random.Generator:
    """Return the generator at one place of the run's tree of seeds."""
    key = (kind, crc32(truth.encode()), *place)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def train_rows(task: Task) -> Rows:
    """Draw the training rows, the same for all learners."""
    c = task.configuration
    return _draw(c.interaction, c.seed, _TRAIN, task.truth, task.size, task.repeat)


@lru_cache(maxsize=8)
def _draw(
    interaction: tuple[float, float], seed: int, kind: int, name: str, size: int, repeat: int
) -> Rows:
    truth = plain_truth(name, interaction, seed)
    return draw_rows(truth, size, rng=generator(seed, kind, name, size, repeat))


# -- learning --------------------------------------------------------------------------------------


class Learned(NamedTuple):
    """The result of a learner; the true structure has no learner and no weights."""

    learner: Learner | None
    structure: Structure
    model: LogLinear | None
    settings: Mapping[str, Any]
    ensemble: Ensemble | None = None


def _learn(task: Task, truth: LogLinear, data: Data) -> Learned:
    """Choose settings from the grid by the training rows, then learn from all of them."""
    plan, domain = task.plan, data.domain
    if plan.learner == TRUE_STRUCTURE:
        return Learned(None, truth.structure, None, {})
    chosen, *others = plan.combinations()
    if others and task.configuration.choose == "bic":
        selection = select(plan.make(), plan.grid, data, by="bic", domain=domain)
        chosen = {**selection.best.parameters}
    elif others:
        rng = generator(task.configuration.seed, _SPLIT, task.truth, len(data))
        order = rng.permutation(len(data))
        held = max(1, round(task.configuration.valid_share * len(data)))
        valid, train = data.take(np.sort(order[:held])), data.take(np.sort(order[held:]))
        selection = select(plan.make(), plan.grid, train, valid=valid, domain=domain)
        chosen = {**selection.best.parameters}
    learner, settings = fresh(plan.make(), chosen), {**plan.settings, **chosen}
    if plan.resamples:
        how: Any = {"resamples": plan.resamples, "how": "bootstrap", "domain": domain}
        ensemble = stability(data, learner, rng=task.configuration.seed, **how).ensemble
        return Learned(learner, ensemble.medoid(), None, settings, ensemble)
    learner.fit(data, domain=domain)
    return Learned(learner, learner.structure_, learner.model_, settings)


def _oracle(task: Task, truth: LogLinear, data: Data) -> dict[str, Any]:
    """Return the smallest distance in the grid."""
    grid = task.plan.combinations()
    if not task.configuration.oracle or len(grid) < 2 or task.plan.resamples:
        return {}

    def distance(settings: Mapping[str, Any]) -> int:
        learned = task.plan.make(**settings).fit(data, domain=data.domain)
        return int(compare(truth.structure, learned.structure_).distance)

    distances = within(task.configuration.unit_limit, lambda: [distance(each) for each in grid])
    if distances is None:
        return {}
    least = min(distances)
    best = json.dumps(grid[distances.index(least)], sort_keys=True)
    return {"oracle_distance": least, "oracle_settings": best}


# -- measuring -------------------------------------------------------------------------------------


def structure_record(truth: LogLinear, structure: Structure) -> dict[str, Any]:
    """Measure a structure without weights."""
    comparison = compare(truth.structure, structure)
    skill, context_skill = skills(comparison)
    edges = set(comparison.true.pairs()) ^ set(comparison.guess.pairs())
    n, total = len(comparison.domain), comparison.total
    rates = {name: comparison.rate(name, float("nan")) for name in STUDY_RATES}
    return {
        "distance": int(comparison.distance),
        "assertions": int(total),
        "normalized": comparison.normalized,
        "fp": int(comparison.fp),
        "fn": int(comparison.fn),
        "fp_share": float(comparison.fp / total) if total else 0.0,
        "fn_share": float(comparison.fn / total) if total else 0.0,
        **{name: None if isnan(rate) else rate for name, rate in rates.items()},
        "skill": skill,
        "context_skill": context_skill,
        "hamming": len(edges),
        "hamming_share": len(edges) / max(1, n * (n - 1) // 2),
        **computed(comparison, CAUSAL),
        **_size_record(structure),
    }


def _ensemble_record(truth: LogLinear, learned: Learned) -> dict[str, Any]:
    """Score a guess by the probabilities of its assertions; one structure has 0 and 1."""
    guess = learned.ensemble or Ensemble([learned.structure])
    (score,) = score_ensembles(truth.structure, {"": guess})
    return {key: float(getattr(score, key)) for key in ("brier", "expected_distance", "spread")}


def _size_record(structure: Structure) -> dict[str, Any]:
    lengths = structure.features.lengths
    return {
        "features": len(lengths),
        "mean_length": float(lengths.mean()) if len(lengths) else 0.0,
        "longest": int(lengths.max(initial=0)),
    }


def refit(structure: Structure, rows: IntArray, *, l2: float) -> tuple[LogLinear, str]:
    """Fit weights in the same way for all learners."""
    whole = structure.union(marginals(structure))
    if prod(structure.domain.cardinalities) <= STATES:
        target = empirical(structure.domain, rows)
        fitted = fit_many([whole], [target], sizes=[len(rows)], l2=l2)
        return fitted.model(0, 0), "likelihood"
    return fit(whole, rows, l2=l2).model, "pseudo-likelihood"


def marginals(structure: Structure) -> Structure:
    """Return a feature for every state of every variable."""
    domain = structure.domain
    variables = zip(domain.names, domain.states, strict=True)
    features = [{name: state} for name, states in variables if len(states) > 1 for state in states]
    return Structure(domain, features)


def _score_record(task: Task, truth: LogLinear, learned: Learned, data: Data) -> dict[str, Any]:
    c = task.configuration
    test = _draw(c.interaction, c.seed, _TEST, task.truth, c.test_rows, 0).drawn.positions
    record: dict[str, Any] = {}
    refitted = within(c.unit_limit, lambda: refit(learned.structure, data.rows, l2=c.l2))
    if refitted is not None:
        record["refit"] = refitted[1]
        record |= score_record(truth, refitted[0], test, whose="", limit=c.unit_limit)
    if learned.model is not None:
        record |= score_record(truth, learned.model, test, whose="_own", limit=c.unit_limit)
    return record


def score_record(
    true: LogLinear | None, model: LogLinear, test: IntArray, *, whose: str, limit: float
) -> dict[str, Any]:
    """Measure KL from the truth and the prediction of test rows."""
    scores: dict[str, Callable[[], Estimate]] = {
        "cmll": lambda: cmll(model, test),
        "log_likelihood": lambda: Estimate(mean_log_likelihood(model, test)),
        "pll": lambda: Estimate(mean_pseudo_log_likelihood(model, test)),
    }
    if true is not None:
        scores["kl"] = lambda: kl_divergence(true, model)
    record: dict[str, Any] = {}
    for name, score in scores.items():
        estimate = within(limit, score)
        if estimate is not None:
            record[f"{name}{whose}"] = estimate.value
            record[f"{name}_error{whose}"] = estimate.standard_error
            record[f"{name}_exact{whose}"] = estimate.exact
    return record


# -- a unit on real data ---------------------------------------------------------------------------


DATA_COLUMNS = (
    *("data", "learner", "status", "error", "settings", "variables", "rows", "features"),
    *("mean_length", "longest", "pll_own", "cmll_own", "cmll_error_own", "cmll_exact_own"),
    *("log_likelihood_own", "instability", "resamples", "warnings", "seconds", "memory"),
)
"""The columns of a record, in order; after them the structure itself."""


class DataTask(NamedTuple):
    """The parameters of a unit on real data."""

    configuration: Configuration
    name: str
    parts: Mapping[str, str]
    label: str


def data_sets(folder: str) -> dict[str, dict[str, str]]:
    """Return the paths of train, valid and test of each data set of a folder that has all three."""
    paths: dict[str, dict[str, str]] = {}
    for path in sorted(Path(folder).iterdir()) if folder else []:
        match = re.fullmatch(r"(.+)\.(train|valid|test)\.(data|csv)(\.gz)?", path.name)
        if match:
            paths.setdefault(match[1], {})[match[2]] = str(path)
    whole = {name: parts for name, parts in paths.items() if len(parts) == 3}
    if folder and not whole:
        raise ContextwiseError(
            f"{folder}: there is no NAME.train.data with NAME.valid.data and NAME.test.data"
        )
    return whole


def read_parts(parts: Mapping[str, str]) -> dict[str, Data]:
    """Read the parts of a data set over one domain with the states of all parts."""
    data = {part: as_data(path) for part, path in parts.items()}
    states = {}
    for v, name in enumerate(data["train"].domain.names):
        seen = {state for part in data.values() for state in part.domain.states[v]}
        states[name] = sorted(seen, key=int if all(map(str.isdecimal, seen)) else None)
    domain = Domain(states)
    return {part: as_data(rows, domain) for part, rows in data.items()}


def learn_data(task: DataTask) -> list[dict[str, Any]]:
    """Learn from a data set and measure; failures get a record too."""
    configuration, plan = task.configuration, task.configuration.learners[task.label]
    data = read_parts(task.parts)
    train, limit = data["train"], configuration.unit_limit
    record: dict[str, Any] = dict.fromkeys((*DATA_COLUMNS, "domain", "structure"))
    record |= {"data": task.name, "learner": task.label}
    record |= {"variables": len(train.domain), "rows": len(train)}

    def learn() -> Learned:
        chosen, *others = plan.combinations()
        if others:
            selection = select(plan.make(), plan.grid, train, valid=data["valid"])
            learner, chosen = selection.learner, {**selection.best.parameters}
        else:
            learner = plan.make(**chosen).fit(train)
        model = by_position(learner.model_)
        return Learned(learner, learner.structure_, model, {**plan.settings, **chosen})

    def measure(learned: Learned) -> dict[str, Any]:
        assert learned.model is not None
        domain = learned.structure.domain
        scores = score_record(None, learned.model, data["test"].rows, whose="_own", limit=limit)
        instability, count = None, configuration.resamples
        if count:
            options: dict[str, Any] = {"resamples": count, "rng": configuration.seed}
            instability = within(
                limit, lambda: stability(train, learned.learner, **options).instability
            )
        return {
            **_size_record(learned.structure),
            "domain": dict(zip(domain.names, domain.states, strict=True)),
            "structure": learned.structure.features.literals(),
            **{key: value for key, value in scores.items() if key in DATA_COLUMNS},
            "instability": instability,
            "resamples": None if instability is None else count,
        }

    return _learn_and_measure(record, task, learn, measure)


def distances_between(records: Sequence[Mapping[str, Any]], name: str) -> tuple[list[str], Any]:
    """Return the normalized distance of each pair of structures of a data set."""
    from contextwise.comparison.matrix import distance_matrix

    done = [r for r in records if r.get("data") == name and r["status"] == "done"]
    labels = [r["learner"] for r in done]
    if len(done) < 2:
        return labels, np.zeros((len(done), len(done)))
    domains = [Domain(r["domain"]) for r in done]
    structures = [
        Structure(domain, features_of(domain, r["structure"]))
        for domain, r in zip(domains, done, strict=True)
    ]
    return labels, distance_matrix(structures).normalized


# -- run -------------------------------------------------------------------------------------------


def run_learners(
    configuration: Configuration, folder: str | os.PathLike[str], **options: Any
) -> Outcome:
    """Run the study of learners into a folder; ``options`` are those of `Effort.of`."""
    effort = Effort.of(**options)
    return run_study(folder, configuration.record(), list(units(configuration)), do_unit, effort)


def units(configuration: Configuration) -> Iterator[Unit]:
    """Yield the units of a run, learner by learner on the same rows."""
    for repeat in range(configuration.repeats):
        for truth in configuration.truths:
            for size in configuration.sizes:
                for label in configuration.learners:
                    task = Task(configuration, truth, size, repeat, label)
                    yield Unit(f"truth {truth} {size:07} {repeat:03} {label}", task)
    for name, parts in data_sets(configuration.data).items():
        for label, plan in configuration.learners.items():
            if plan.learner != TRUE_STRUCTURE and not plan.resamples:
                yield Unit(f"data {name} {label}", DataTask(configuration, name, parts, label))


def do_unit(task: Task | DataTask) -> list[dict[str, Any]]:
    """Run a unit of either kind."""
    return learn_data(task) if isinstance(task, DataTask) else learn_unit(task)
