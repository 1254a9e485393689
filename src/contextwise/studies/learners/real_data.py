"""Units on real data, where nobody knows the truth and none is pretended.

A data set is ``NAME.train.data``, ``NAME.valid.data`` and ``NAME.test.data``, or the same with
``.csv``, packed or not. Settings are chosen on the valid part, scores are those of the learner's
own weights on the test part. What can be said of structures is how far the learners are from one
another, and how much a learner's structure changes with the rows.
"""

from __future__ import annotations

import json
import warnings
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from contextwise.data.rows import Data, as_data, by_position
from contextwise.errors import ContextwiseError
from contextwise.evaluation.stability import stability
from contextwise.formats import encode, read_stream
from contextwise.learning.selection import select
from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure, structure_of
from contextwise.studies.learners.configuration import Configuration
from contextwise.studies.learners.limits import attempt, within
from contextwise.studies.learners.unit import has_choice, make_learner, score_record
from contextwise.support.files import packed, unpacked

PARTS = ("train", "valid", "test")
SUFFIXES = (".data", ".csv", ".data.gz", ".csv.gz")
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
    """The data sets of a folder: for each name the paths of its parts.

    Parameters
    ----------
    folder : path, or empty

    Returns
    -------
    dict from names to parts to paths; a set without all three parts is left out

    Raises
    ------
    ContextwiseError
        If there is none.
    """
    found: dict[str, dict[str, str]] = {}
    for path in sorted(Path(folder).iterdir()) if folder else []:
        for part in PARTS:
            for suffix in SUFFIXES:
                if path.name.endswith(f".{part}{suffix}"):
                    name = path.name.removesuffix(f".{part}{suffix}")
                    found.setdefault(name, {})[part] = str(path)
    whole = {name: parts for name, parts in found.items() if len(parts) == len(PARTS)}
    if folder and not whole:
        raise ContextwiseError(
            f"{folder}: there is no NAME.train.data with NAME.valid.data and NAME.test.data"
        )
    return whole


def read_parts(parts: Mapping[str, str]) -> dict[str, Data]:
    """The parts of a data set over one domain, which has the states of all of them."""
    own = {part: as_data(path) for part, path in parts.items()}
    first = own["train"].domain
    states = {
        name: _in_order([one.domain.states[v] for one in own.values()])
        for v, name in enumerate(first.names)
    }
    domain = Domain(states)
    return {part: as_data(data, domain) for part, data in own.items()}


def _in_order(lists: list[tuple[str, ...]]) -> list[str]:
    every = {state for own in lists for state in own}
    numbers = all(state.isdecimal() for state in every)
    return sorted(every, key=int) if numbers else sorted(every)


def learn_data(task: DataTask) -> list[dict[str, Any]]:
    """Learn from a data set and measure; a learner that fails or is too slow is a record, too.

    Parameters
    ----------
    task : DataTask

    Returns
    -------
    list of one record
    """
    configuration = task.configuration
    data = read_parts(task.parts)
    train = data["train"]
    record: dict[str, Any] = dict.fromkeys((*DATA_COLUMNS, "structure"))
    record |= {"data": task.name, "learner": task.label}
    record |= {"variables": len(train.domain), "rows": len(train)}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        learned, told = attempt(configuration.unit_limit, lambda: _learn(task, data))
        record |= told
        if learned is None:
            return [record]
        learner, model, settings = learned
        lengths = learner.structure_.features.lengths
        record |= {
            "settings": json.dumps(settings, sort_keys=True),
            "features": len(lengths),
            "mean_length": float(lengths.mean()) if len(lengths) else 0.0,
            "longest": int(lengths.max(initial=0)),
            "structure": structure_text(learner.structure_),
        }
        test = data["test"].rows
        scores = score_record(None, model, test, whose="_own", limit=configuration.unit_limit)
        record |= {key: value for key, value in scores.items() if key in DATA_COLUMNS}
        record |= _stability(configuration, learner, train)
    return [record | {"warnings": len(heard)}]


def _learn(task: DataTask, data: Mapping[str, Data]) -> tuple[Any, LogLinear, dict[str, Any]]:
    """The fitted learner, its model and its settings."""
    plan, train = task.configuration.learners[task.label], data["train"]
    if has_choice(plan):
        found = select(make_learner(plan), plan.grid, train, valid=data["valid"])
        learner, chosen = found.learner, {**found.best.parameters}
    else:
        chosen = {key: values[0] for key, values in plan.grid.items()}
        learner = make_learner(plan, chosen).fit(train)
    return learner, by_position(learner.model_), {**plan.settings, **chosen}


def _stability(configuration: Configuration, learner: Any, train: Data) -> dict[str, Any]:
    count = configuration.resamples
    if not count:
        return {}
    found = within(
        configuration.unit_limit,
        lambda: stability(train, learner, resamples=count, rng=configuration.seed).instability,
    )
    return {} if found is None else {"instability": float(found), "resamples": count}


def structure_text(structure: Structure) -> str:
    """A structure as one line of text, for a record."""
    return b64encode(packed(encode(structure, "json"))).decode()


def structure_from(text: str) -> Structure:
    """The structure of a line that `structure_text` wrote."""
    content = unpacked(b64decode(text), "structure")
    return structure_of(read_stream(BytesIO(content), format="json"))


def distances_between(records: Sequence[Mapping[str, Any]], name: str) -> tuple[list[str], Any]:
    """The learners of a data set, and the normalized distance of each two of their structures.

    Parameters
    ----------
    records : of a run
    name : of the data set

    Returns
    -------
    labels, matrix
    """
    from contextwise.comparison.matrix import distance_matrix

    own = [r for r in records if r.get("data") == name and r["status"] == "done"]
    if len(own) < 2:
        return [r["learner"] for r in own], np.zeros((len(own), len(own)))
    matrix = distance_matrix([structure_from(r["structure"]) for r in own])
    return [r["learner"] for r in own], matrix.normalized
