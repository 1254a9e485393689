"""Learners of other packages, with the packages themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import contextwise as cw
from contextwise.errors import ContextwiseError
from contextwise.learning import CStrees, Data, Learner, Pgmpy, PyAgrum, as_data
from contextwise.learning.base import as_learner


@pytest.fixture(scope="module", name="data")
def _data() -> Data:
    """A → C ← B, C → D, E alone: 800 rows with names and labels."""
    rng = np.random.default_rng(12)
    a, b, e = rng.integers(0, 2, (3, 800))
    c = np.where(rng.random(800) < 0.08, rng.integers(0, 3, 800), a + b)
    d = np.where(rng.random(800) < 0.08, rng.integers(0, 2, 800), c > 0)
    domain = cw.Domain({"A": ["no", "yes"], "B": 2, "C": ["l", "m", "h"], "D": 2, "E": 2})
    return Data(domain, np.stack([a, b, c, d, e], axis=1).astype(np.int64))


MORAL = {("A", "C"), ("B", "C"), ("A", "B"), ("C", "D")}


@pytest.mark.parametrize(
    ("package", "learner"),
    [
        ("pgmpy", Pgmpy(method="hill-climb")),
        ("pgmpy", Pgmpy(method="ges", scoring="bdeu")),
        ("pgmpy", Pgmpy(method="pc")),
        ("pyagrum", PyAgrum(method="greedy")),
        ("pyagrum", PyAgrum(method="tabu", scoring="BIC")),
        ("pyagrum", PyAgrum(method="miic")),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_the_moral_graph_is_learned(package: str, learner: Learner, data: Data) -> None:
    pytest.importorskip(package)
    learner.fit(data)
    assert learner.domain_ == data.domain
    assert set(learner.structure_.pairs()) == MORAL
    assert learner.score(data) > -2.5  # each variable alone: -3.7
    learned = learner.structure_.origin.learned
    assert learned is not None
    assert learned.parameters["method"] == learner.get_params()["method"]


@pytest.mark.parametrize("learner", [Pgmpy, PyAgrum])
@pytest.mark.filterwarnings("ignore")
def test_an_unknown_method_is_an_error(learner: Any, data: Data) -> None:
    pytest.importorskip(learner.__name__.lower())
    with pytest.raises(ContextwiseError, match="unknown method 'magic'; choose from"):
        learner(method="magic").fit(data)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("package", "learner", "message"),
    [
        ("pgmpy", Pgmpy(method="pc", level=3), "level must be > 0 and < 1, got 3"),
        ("pyagrum", PyAgrum(prior=-2), "prior must be > 0 .*, got -2"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_parameter_is_told_in_our_words(
    package: str, learner: Learner, message: str, data: Data
) -> None:
    pytest.importorskip(package)
    with pytest.raises(ContextwiseError, match=message):
        learner.fit(data)


def test_any_function_of_a_package_is_a_learner(data: Data) -> None:
    pyagrum = pytest.importorskip("pyagrum")

    def learn(frame: Any) -> cw.LogLinear:
        network = pyagrum.BNLearner(frame.astype(str)).learnBN()
        learned: cw.LogLinear = cw.convert.from_pyagrum(network)
        return learned

    found = as_learner(learn).fit(data.frame(), domain=data.domain)
    assert set(found.structure_.pairs()) >= {("C", "D")}
    assert found.domain_ == data.domain


def test_data_go_to_packages_by_name_and_label(data: Data) -> None:
    pytest.importorskip("pandas")
    frame = data.frame()
    assert list(frame.columns) == list("ABCDE")
    assert as_data(frame).rows.tolist() == data.rows.tolist()
    assert as_data(frame).domain == data.domain


@pytest.mark.filterwarnings("ignore")
def test_cstrees_learns_contexts(data: Data) -> None:
    pytest.importorskip("cstrees")
    found = CStrees().fit(data)
    assert set(found.structure_.pairs()) >= {("A", "C"), ("B", "C"), ("C", "D")}
    assert found.structure_.directions is not None
