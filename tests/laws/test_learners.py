"""Laws of every learner: scikit-learn's interface, reproducible results, records of origin."""

from __future__ import annotations

import math
import pickle
import tracemalloc
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import contextwise as cw
from contextwise.errors import ContextwiseError, OpenResult, TooLargeError
from contextwise.learning import LEARNERS, Learner, as_data, learner_named
from contextwise.learning.base import NotFittedError, fresh

ROWS = np.random.default_rng(5).integers(0, 2, (60, 4)) | np.array([[0, 0, 1, 0]])
ROWS[:, 1] = ROWS[:, 0] ^ (np.arange(60) % 7 == 0)


@pytest.fixture(params=[name for name, entry in LEARNERS.items() if not entry.package])
def learner(request: pytest.FixtureRequest) -> Learner:
    """Each learner of the package with its default parameters."""
    return learner_named(request.param)()


def test_fit_returns_the_learner_and_says_where_the_result_comes_from(learner: Learner) -> None:
    assert learner.fit(ROWS) is learner
    origin = learner.structure_.origin
    used = learner.settled(as_data(ROWS))
    assert LEARNERS[origin.learner].class_name == type(used).__name__
    assert origin.saw(as_data(ROWS).fingerprint)
    assert not origin.saw(as_data(ROWS[1:]).fingerprint)
    assert origin.learned is not None
    assert (origin.learned.rows, origin.learned.version) == (60, cw.__version__)
    assert learner.model_.structure == learner.structure_
    assert learner.domain_ == as_data(ROWS).domain
    assert math.isfinite(learner.score(ROWS))


def test_parameters_are_stored_as_given(learner: Learner) -> None:
    parameters = learner.get_params()
    assert fresh(learner).get_params() == parameters
    for name in parameters:
        marker: Any = object()
        assert type(learner)(**{**parameters, name: marker}).get_params()[name] is marker
    with pytest.raises(ContextwiseError, match="no parameter 'colour'"):
        learner.set_params(colour=1)


def test_the_same_data_give_the_same_result(learner: Learner) -> None:
    again = fresh(learner).fit(ROWS)
    assert learner.fit(ROWS).model_ == again.model_
    copied = pickle.loads(pickle.dumps(learner))
    assert copied.structure_ == again.structure_


def test_nothing_is_learned_before_fit(learner: Learner) -> None:
    for attribute in ("model_", "structure_", "domain_"):
        assert not hasattr(learner, attribute)
    with pytest.raises(NotFittedError, match="call fit"):
        learner.score(ROWS)


def test_one_row_and_one_variable_are_enough(learner: Learner) -> None:
    assert learner.fit(ROWS[:1]).domain_ == as_data(ROWS[:1]).domain
    assert not fresh(learner).fit(ROWS[:, :1]).structure_.pairs()
    one_valued = np.zeros((30, 2), dtype=int)
    assert not fresh(learner).fit(one_valued).structure_.pairs()


@pytest.mark.filterwarnings("ignore:.*found too little")
def test_a_time_limit_gives_the_best_structure_so_far(learner: Learner) -> None:
    stopped = fresh(learner).fit(ROWS, time_limit=0)
    origin = stopped.structure_.origin
    assert origin.learned is not None
    assert origin.learned.finished is stopped.finished_
    assert stopped.finished_ == ("time limit" not in origin.words)
    assert math.isfinite(stopped.score(ROWS))
    assert pickle.loads(pickle.dumps(stopped)).structure_ == stopped.structure_
    enough = fresh(learner).fit(ROWS, time_limit=600)
    assert enough.finished_
    assert enough.structure_ == learner.fit(ROWS).structure_
    again = cw.learn(ROWS, learner, time_limit=0)
    assert again.structure_ == stopped.structure_
    with pytest.raises(ContextwiseError, match="time limit must be >= 0"):
        learner.fit(ROWS, time_limit=-1)


def test_columns_of_many_codes_need_little_memory(learner: Learner) -> None:
    """Tables of a million cells, which some learners cannot fill."""
    rows = np.random.default_rng(0).integers(1000, size=(300, 3))
    tracemalloc.start()
    try:
        with suppress(OpenResult, TooLargeError):
            learner.fit(rows, domain=dict.fromkeys("ABC", 1000), time_limit=1)
        assert tracemalloc.get_traced_memory()[1] < 500e6
    finally:
        tracemalloc.stop()
    with pytest.raises(ContextwiseError, match="different numbers: a measurement"):
        learner.fit(rows.astype(str))


def test_names_and_labels_do_not_matter(learner: Learner) -> None:
    domain = {name: ["no", "yes"] for name in "ABCD"}
    named = fresh(learner).fit(as_data(ROWS, {f"v{k}": 2 for k in range(4)}))
    labels = np.array(["no", "yes"], dtype=object)[ROWS]
    labelled = fresh(learner).fit(labels, domain=domain)
    assert labelled.structure_.features.rows == named.structure_.features.rows
    assert labelled.score(labels) == pytest.approx(named.score(ROWS))


def test_clone_and_grid_search_of_scikit_learn(learner: Learner) -> None:
    base = pytest.importorskip("sklearn.base")
    selection = pytest.importorskip("sklearn.model_selection")
    assert base.clone(learner).get_params() == learner.get_params()
    grid = {name: [value] for name, value in list(learner.get_params().items())[:1]}
    search = selection.GridSearchCV(learner, grid, cv=2)
    search.fit(ROWS, domain=as_data(ROWS).domain)
    assert isinstance(search.best_estimator_, Learner)
    assert math.isfinite(search.best_score_)
    pipeline = pytest.importorskip("sklearn.pipeline")
    assert math.isfinite(pipeline.make_pipeline(base.clone(learner)).fit(ROWS).score(ROWS))
