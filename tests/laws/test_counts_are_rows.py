"""Counted rows mean the same as one row per observation, wherever rows are used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import contextwise as cw
from contextwise import Structure, distributions
from contextwise.comparison.context_weights import marginals
from contextwise.data.rows import Data, as_data
from contextwise.evaluation.likelihood_scores import score
from contextwise.learning import LEARNERS, learner_named
from contextwise.learning.chow_liu import mutual_information

OWN_LEARNERS = [name for name, entry in LEARNERS.items() if not entry.package]
"""Learners of other packages always get the expanded rows."""


@cache
def titanic() -> Data:
    """Return the Titanic as a table of counts, with a cell that nobody is in left out."""
    data = as_data("titanic")
    cells, counts = np.unique(data.rows, axis=0, return_counts=True)
    return replace(data, rows=cells, multiplicity=counts)


@cache
def learned() -> Structure:
    structure: Structure = learner_named("pair-blocks")().fit(as_data("titanic")).structure_
    return structure


@cache
def fitted() -> Any:
    return distributions.fit(learned(), as_data("titanic")).model


@pytest.mark.parametrize("name", OWN_LEARNERS)
def test_learners_learn_the_same(name: str) -> None:
    counted = learner_named(name)().fit(titanic())
    expanded = learner_named(name)().fit(titanic().expanded)
    assert cw.distance(counted.structure_, expanded.structure_) == 0
    np.testing.assert_allclose(counted.model_.weights, expanded.model_.weights, atol=1e-4)


USES: dict[str, Callable[[Data], Any]] = {
    "check": lambda rows: cw.check(learned(), rows).records(),
    "score": lambda rows: score(fitted(), fitted(), rows=rows).record(),
    "fit": lambda rows: distributions.fit(learned(), rows).model.weights.tolist(),
    "fit by likelihood": lambda rows: distributions.fit(
        learned(), rows, method="likelihood"
    ).model.weights.tolist(),
    "goodness of fit": lambda rows: vars(distributions.goodness_of_fit(learned(), rows)),
    "log-likelihood": lambda rows: distributions.mean_log_likelihood(fitted(), rows),
    "pseudo-log-likelihood": lambda rows: distributions.mean_pseudo_log_likelihood(fitted(), rows),
    "marginal log-likelihood": lambda rows: vars(distributions.cmll(fitted(), rows)),
    "marginals": lambda rows: marginals(rows.domain, rows),
    "mutual information": lambda rows: mutual_information(rows).tolist(),
    "occurring contexts": lambda rows: (
        cw.compare(learned(), Structure(rows.domain, []), data=rows).confusion
    ),
    "stability": lambda rows: cw.stability(rows, "chow-liu", resamples=6, seed=1).record(),
    "bootstrap": lambda rows: cw.stability(
        rows, "chow-liu", resamples=6, how="bootstrap", seed=1
    ).record(),
    "groups": lambda rows: cw.groups(rows, "sex", "chow-liu").records(),
}


@pytest.mark.parametrize("use", USES)
def test_each_use_of_rows_gives_the_same(use: str) -> None:
    counted, expanded = USES[use](titanic()), USES[use](titanic().expanded)
    assert rounded(counted) == rounded(expanded)


def rounded(result: Any) -> Any:
    """Round floats, whose last digits depend on the order of sums; leave out fingerprints."""
    if isinstance(result, dict):
        return {k: rounded(v) for k, v in result.items() if k not in ("fingerprint", "seconds")}
    if isinstance(result, list | tuple):
        return [rounded(value) for value in result]
    return float(f"{result:.6g}") if isinstance(result, float) else result
