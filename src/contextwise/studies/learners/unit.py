"""One unit of the study: a learner on rows of a truth, and everything that is measured of it.

**Pairing.** Rows are drawn from the run's seed by truth, size and repeat, never by learner: all
learners see the same rows, and the same part of them to choose their settings on.

**Settings** are chosen inside the rows at hand (by pseudo-likelihood on a part of them, or by BIC),
and the learner then learns from all rows. The truth plays no part in it. What the best setting of
the grid would have been by the metric is a column of its own, `oracle_distance`.

**Refit.** A learner's own weights come from its own way of fitting. To compare structures by KL,
every structure is refitted in the same way: with a feature for every state of every variable
beside its own, so that nobody loses for a missing marginal, by maximum likelihood with a small L2
penalty where the states can be enumerated, and by pseudo-likelihood beyond. Columns that end in
``_own`` are with the learner's own weights. Seconds are of processor time.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from contextwise.comparison.compare import compare
from contextwise.data.rows import Data, by_position
from contextwise.distributions import (
    Estimate,
    cmll,
    empirical,
    fit,
    fit_many,
    kl_divergence,
    mean_log_likelihood,
    mean_pseudo_log_likelihood,
)
from contextwise.distributions.batch_fitting import STATES
from contextwise.evaluation.chance import skills
from contextwise.learning.base import Learner, fresh
from contextwise.learning.registry import learner_named
from contextwise.learning.selection import select
from contextwise.models.features import IntArray
from contextwise.models.structure import LogLinear, Structure
from contextwise.studies.learners.configuration import TRUE_STRUCTURE, Configuration, Plan
from contextwise.studies.learners.limits import attempt, within
from contextwise.truths.named import Rows, Truth, draw_rows, truth_named

_TRAIN, _TEST, _SPLIT = range(3)
"""What is drawn, as the first number of its place in the run's tree of seeds."""
TIMINGS = ("seconds", "memory")
"""The columns that differ when a run is repeated."""

STRUCTURE_COLUMNS = (
    *("distance", "assertions", "normalized", "fp", "fn", "fp_share", "fn_share", "mcc", "kappa"),
    *("skill", "context_skill", "hamming", "hamming_share", "features", "mean_length"),
    *("longest", "oracle_distance", "oracle_settings"),
)
SCORES = ("kl", "cmll", "log_likelihood", "pll")
SCORE_COLUMNS = tuple(
    f"{score}{part}{whose}"
    for whose in ("", "_own")
    for score in SCORES
    for part in ("", "_error", "_exact")
)
COLUMNS = (
    *("truth", "size", "repeat", "learner", "status", "error", "settings", "variables"),
    *("rows_from", "r_hat", "effective_share", "doubtful", *STRUCTURE_COLUMNS, "refit"),
    *(*SCORE_COLUMNS, "warnings", *TIMINGS),
)
"""The columns of a unit's record, in order."""


class Task(NamedTuple):
    """The parameters of a unit."""

    configuration: Configuration
    truth: str
    size: int
    repeat: int
    label: str


def learn_unit(task: Task) -> list[dict[str, Any]]:
    """Learn, and measure what was learned; a learner that fails or is too slow is a record, too.

    Parameters
    ----------
    task : Task

    Returns
    -------
    list of one record
    """
    configuration, label = task.configuration, task.label
    truth = plain_truth(task.truth, configuration.interaction, configuration.seed)
    rows = train_rows(task)
    record: dict[str, Any] = dict.fromkeys(COLUMNS)
    record |= {"truth": task.truth, "size": task.size, "repeat": task.repeat, "learner": label}
    record |= {"variables": len(truth.model.domain), "rows_from": rows.drawn.how}
    record |= {"r_hat": rows.r_hat, "effective_share": rows.effective_share}
    record["doubtful"] = rows.is_doubtful
    data = Data(truth.model.domain, np.ascontiguousarray(rows.drawn.positions))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        plan = configuration.learners[label]
        learned, told = attempt(
            configuration.unit_limit, lambda: _learn(configuration, truth, plan, data)
        )
        record |= told
        if learned is None:
            return [record]
        record["settings"] = json.dumps(learned.settings, sort_keys=True)
        record |= structure_record(truth, learned.structure)
        record |= _oracle(configuration, truth, plan, data)
        record |= _score_record(task, truth, learned, data)
    return [record | {"warnings": len(heard)}]


# -- rows ------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def plain_truth(name: str, interaction: tuple[float, float], seed: int) -> Truth:
    """A truth whose states are called 0, 1, …, so that rows of positions are rows of labels.

    Parameters
    ----------
    name : of the truth
    interaction, seed : of the run

    Returns
    -------
    Truth
    """
    return Truth(name, by_position(truth_named(name, interaction=interaction, seed=seed).model))


def generator(seed: int, kind: int, truth: str, *place: int) -> np.random.Generator:
    """The generator of one place in the run's tree of seeds.

    Parameters
    ----------
    seed : of the run
    kind : what is drawn
    truth : for which truth
    *place : numbers that tell this draw from others
    """
    key = (kind, crc32(truth.encode()), *place)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def train_rows(task: Task) -> Rows:
    """The rows that are learned from: the same for all learners."""
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
    """What a learner gave."""

    structure: Structure
    own: LogLinear | None
    settings: Mapping[str, Any]


def make_learner(plan: Plan, settings: Mapping[str, Any] | None = None) -> Learner:
    """A learner of a plan that has not learned.

    Parameters
    ----------
    plan : Plan
    settings : of the grid, optional

    Returns
    -------
    Learner
    """
    return learner_named(plan.learner)(**plan.settings, **(settings or {}))


def has_choice(plan: Plan) -> bool:
    """Whether there is more than one combination of settings."""
    return prod(len(values) for values in plan.grid.values()) > 1


def _learn(configuration: Configuration, truth: Truth, plan: Plan, data: Data) -> Learned:
    if plan.learner == TRUE_STRUCTURE:
        return Learned(truth.model.structure, None, {})
    chosen = {key: values[0] for key, values in plan.grid.items()}
    if has_choice(plan):
        chosen = dict(_choose(configuration, truth.name, plan, data))
    learner = fresh(make_learner(plan), chosen).fit(data, domain=data.domain)
    return Learned(learner.structure_, learner.model_, {**plan.settings, **chosen})


def _choose(configuration: Configuration, truth: str, plan: Plan, data: Data) -> Mapping[str, Any]:
    """The settings that the rows at hand speak for."""
    learner, domain = make_learner(plan), data.domain
    if configuration.choose == "bic":
        return select(learner, plan.grid, data, by="bic", domain=domain).best.parameters
    order = generator(configuration.seed, _SPLIT, truth, len(data)).permutation(len(data))
    held = max(1, round(configuration.valid_share * len(data)))
    valid, train = data.take(np.sort(order[:held])), data.take(np.sort(order[held:]))
    return select(learner, plan.grid, train, valid=valid, domain=domain).best.parameters


def _oracle(configuration: Configuration, truth: Truth, plan: Plan, data: Data) -> dict[str, Any]:
    """The smallest distance in the grid: what the truth itself would have chosen."""
    if not configuration.oracle or not has_choice(plan):
        return {}
    combinations = product(*plan.grid.values())
    every = [dict(zip(plan.grid, values, strict=True)) for values in combinations]

    def distances() -> list[int]:
        learned = (make_learner(plan, one).fit(data, domain=data.domain) for one in every)
        return [int(compare(truth.model.structure, one.structure_).distance) for one in learned]

    found = within(configuration.unit_limit, distances)
    if found is None:
        return {}
    best = found.index(min(found))
    chosen = json.dumps(every[best], sort_keys=True)
    return {"oracle_distance": found[best], "oracle_settings": chosen}


# -- measuring -------------------------------------------------------------------------------------


def structure_record(truth: Truth, structure: Structure) -> dict[str, Any]:
    """What is said of a structure without weights.

    Parameters
    ----------
    truth : Truth
    structure : what was learned

    Returns
    -------
    dict of the columns `STRUCTURE_COLUMNS`, but the oracle's
    """
    found = compare(truth.model.structure, structure)
    skill, context_skill = skills(found)
    edges = set(found.true.pairs()) ^ set(found.guess.pairs())
    n = len(found.domain)
    lengths = structure.features.lengths
    return {
        "distance": int(found.distance),
        "assertions": int(found.total),
        "normalized": found.normalized,
        "fp": int(found.fp),
        "fn": int(found.fn),
        "fp_share": float(found.fp / found.total) if found.total else 0.0,
        "fn_share": float(found.fn / found.total) if found.total else 0.0,
        "mcc": _number(found.rate("mcc", float("nan"))),
        "kappa": _number(found.rate("kappa", float("nan"))),
        "skill": skill,
        "context_skill": context_skill,
        "hamming": len(edges),
        "hamming_share": len(edges) / max(1, n * (n - 1) // 2),
        "features": len(structure),
        "mean_length": float(lengths.mean()) if len(lengths) else 0.0,
        "longest": int(lengths.max(initial=0)),
    }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def refit(structure: Structure, rows: IntArray, *, l2: float) -> tuple[LogLinear, str]:
    """The structure with weights that are fitted in the same way for all; see the module's head.

    Parameters
    ----------
    structure : over a domain whose states are called 0, 1, …
    rows : of positions
    l2 : the penalty

    Returns
    -------
    model, method
    """
    whole = structure.union(marginals(structure))
    if prod(structure.domain.cardinalities) <= STATES:
        target = empirical(structure.domain, rows)
        found = fit_many([whole], [target], sizes=[len(rows)], l2=l2)
        return found.model(0, 0), "likelihood"
    return fit(whole, rows, l2=l2).model, "pseudo-likelihood"


def marginals(structure: Structure) -> Structure:
    """A feature for every state of every variable."""
    domain = structure.domain
    variables = zip(domain.names, domain.states, strict=True)
    return Structure(domain, [{name: k} for name, own in variables if len(own) > 1 for k in own])


def _score_record(task: Task, truth: Truth, learned: Learned, data: Data) -> dict[str, Any]:
    c = task.configuration
    test = _draw(c.interaction, c.seed, _TEST, task.truth, c.test_rows, 0).drawn.positions
    record: dict[str, Any] = {}
    found = within(c.unit_limit, lambda: refit(learned.structure, data.rows, l2=c.l2))
    if found is not None:
        record |= {"refit": found[1]}
        record |= score_record(truth.model, found[0], test, whose="", limit=c.unit_limit)
    if learned.own is not None:
        record |= score_record(truth.model, learned.own, test, whose="_own", limit=c.unit_limit)
    return record


def score_record(
    true: LogLinear | None, model: LogLinear, test: IntArray, *, whose: str, limit: float
) -> dict[str, Any]:
    """KL from the truth, and how well test rows are predicted; what cannot be had is left out.

    Parameters
    ----------
    true : the true model; None if nobody knows it
    model : what is scored
    test : rows of positions
    whose : the end of the names of the columns
    limit : seconds for each score

    Returns
    -------
    dict
    """
    scores: dict[str, Callable[[], Estimate]] = {
        "cmll": lambda: cmll(model, test),
        "log_likelihood": lambda: Estimate(mean_log_likelihood(model, test)),
        "pll": lambda: Estimate(mean_pseudo_log_likelihood(model, test)),
    }
    if true is not None:
        scores["kl"] = lambda: kl_divergence(true, model)
    record: dict[str, Any] = {}
    for name, score in scores.items():
        found = within(limit, score)
        if found is not None:
            record[f"{name}{whose}"] = found.value
            record[f"{name}_error{whose}"] = found.standard_error
            record[f"{name}_exact{whose}"] = found.exact
    return record
