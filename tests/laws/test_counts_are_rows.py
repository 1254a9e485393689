"""Counted rows mean the same as one row per observation, wherever rows are used."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import contextwise as cw
from contextwise import Structure, distributions
from contextwise.comparison.context_weights import marginals
from contextwise.data.options import row_options
from contextwise.data.rows import Data, as_data, parse_data
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


CENSUS = """sex,age,urban,ill,Freq
f,young,yes,yes,28758347
f,young,yes,no,60105592
f,young,no,yes,58187451
f,young,no,no,20088311
f,old,yes,yes,19863256
f,old,yes,no,42436795
f,old,no,yes,59837775
f,old,no,no,35427685
m,young,yes,yes,28226223
m,young,yes,no,37217600
m,young,no,yes,20020534
m,young,no,no,28449010
m,old,yes,yes,37907582
m,old,yes,no,40441785
m,old,no,yes,28947444
m,old,no,no,28850411
"""
OF_A_CENSUS: dict[str, Callable[[Any], Any]] = {
    "learn": lambda rows: cw.learn(rows, learner="pair-blocks"),
    "chow-liu": lambda rows: cw.learn(rows, learner="chow-liu"),
    "check": lambda rows: cw.check(cw.Structure(rows.domain, ["sex=m & ill=yes"]), rows),
    "check in a context": lambda rows: cw.check(
        cw.Structure(rows.domain, ["sex=m & ill=yes"]), rows, context="age=old"
    ),
    "stability": lambda rows: cw.stability(rows, "chow-liu", resamples=4),
    "bootstrap": lambda rows: cw.stability(rows, "chow-liu", resamples=4, how="bootstrap"),
    "analyse": lambda rows: cw.analyse(rows, learner="chow-liu", resamples=2),
}


@pytest.mark.parametrize("use", OF_A_CENSUS)
def test_millions_of_people_take_no_more_memory_than_their_lines(use: str) -> None:
    rows = parse_data(CENSUS.encode(), "census.csv", options=row_options(counts="Freq"))
    few = rows.with_counts(np.maximum(1, rows.weights // 10**6))
    OF_A_CENSUS[use](few)  # so that everything is imported
    tracemalloc.start()
    OF_A_CENSUS[use](rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(rows) > 5 * 10**8
    assert peak < 2**24
