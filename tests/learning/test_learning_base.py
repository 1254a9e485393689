"""What every learner keeps: scikit-learn's manners, data of every kind, records of its origin."""

from __future__ import annotations

import gzip
import itertools
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwise as cw
from contextwise.data.rows import Data
from contextwise.distributions import mean_log_likelihood
from contextwise.errors import ContextwiseError, DomainError, ParseError
from contextwise.learning import LEARNERS, ChowLiu, Independent, Learner, as_data, as_learner
from contextwise.learning.base import NotFittedError, fresh
from contextwise.learning.chow_liu import mutual_information
from contextwise.learning.registry import learner_named

ROWS = np.random.default_rng(5).integers(0, 2, (60, 4)) | np.array([[0, 0, 1, 0]])
ROWS[:, 1] = ROWS[:, 0] ^ (np.arange(60) % 7 == 0)


@pytest.fixture(params=[name for name, entry in LEARNERS.items() if not entry.package])
def learner(request: pytest.FixtureRequest) -> Learner:
    """Every learner of our own, as it is made without a word."""
    return learner_named(request.param)()


# -- laws of every learner -------------------------------------------------------------------------


def test_fit_returns_the_learner_and_says_where_the_result_comes_from(learner: Learner) -> None:
    assert learner.fit(ROWS) is learner
    info = learner.structure_.info
    assert info["learner"] == learner.name
    assert LEARNERS[learner.name].class_name == type(learner).__name__
    assert info["fingerprint"] == as_data(ROWS).fingerprint
    assert info["version"] == cw.__version__
    assert info["rows"] == 60
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
    parameter, value = next(iter(learner.get_params().items()))
    search = selection.GridSearchCV(learner, {parameter: [value]}, cv=2)
    search.fit(ROWS, domain=as_data(ROWS).domain)
    assert isinstance(search.best_estimator_, Learner)
    assert math.isfinite(search.best_score_)
    pipeline = pytest.importorskip("sklearn.pipeline")
    assert math.isfinite(pipeline.make_pipeline(base.clone(learner)).fit(ROWS).score(ROWS))


# -- functions as learners -------------------------------------------------------------------------


def test_a_function_is_a_learner_and_gets_the_data_as_given() -> None:
    seen: list[Any] = []

    def learn(data: Any) -> cw.Structure:
        seen.append(data)
        return cw.Structure({"v1": 2, "v0": 2, "v2": 2, "v3": 2}, ["v0=1 & v1=1"])

    found = as_learner(learn).fit(ROWS, domain=cw.Domain.of_cardinalities([2] * 4))
    assert seen[0] is ROWS
    assert found.domain_.names == ("v0", "v1", "v2", "v3")
    assert found.structure_.pairs() == [("v0", "v1")]
    assert found.score(ROWS) > Independent().fit(ROWS).score(ROWS) - 1  # weights were fitted


def test_what_is_no_learner_or_no_model_is_an_error() -> None:
    with pytest.raises(ContextwiseError, match="is no learner"):
        as_learner(3)
    with pytest.raises(ContextwiseError, match="the nearest is 'chow-liu'"):
        as_learner("chowliu")
    with pytest.raises(DomainError, match="is not a model"):
        as_learner(lambda data: 7).fit(ROWS)
    own = ChowLiu(prior=2)
    assert as_learner(own) is own
    assert isinstance(as_learner(ChowLiu), ChowLiu)


# -- data ------------------------------------------------------------------------------------------


def test_data_of_every_kind_are_the_same(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    expected = as_data(ROWS)
    text = "\n".join(",".join(map(str, row)) for row in ROWS.tolist()) + "\n"
    (tmp_path / "rows.data").write_text(text)
    (tmp_path / "rows.data.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "rows.csv").write_text("v0,v1,v2,v3\n" + text)
    kinds = [
        ROWS.tolist(),
        ROWS.astype(float),
        [dict(zip(expected.domain.names, row, strict=True)) for row in ROWS.tolist()],
        tmp_path / "rows.csv",
        str(tmp_path / "rows.data"),
        tmp_path / "rows.data.gz",
        pandas.DataFrame(ROWS, columns=list(expected.domain.names)),
        expected.frame(),
        expected,
    ]
    for kind in kinds:
        for domain in (None, expected.domain):
            if (kind is kinds[2] and domain is None) or hasattr(kind, "columns"):
                kind = kind  # a header or names: states are the labels that occur
            found = as_data(kind, domain)
            if domain is None and found.domain != expected.domain:
                # Named columns have the labels that occur, and v2 is constant.
                assert found.domain.states[2] == ("1",)
            else:
                assert found.rows.tolist() == expected.rows.tolist()
                assert found.fingerprint == expected.fingerprint


def test_a_header_names_the_columns_and_labels_are_sorted(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,smoker\n10,yes\n9,no\n10,no\n")
    data = as_data(path)
    assert data.domain == cw.Domain({"age": ["9", "10"], "smoker": ["no", "yes"]})
    assert data.labels() == [["10", "yes"], ["9", "no"], ["10", "no"]]
    turned = as_data(data, {"smoker": ["yes", "no"], "age": ["8", "9", "10"]})
    assert turned.rows.tolist() == [[0, 2], [1, 1], [1, 2]]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("A,B\nyes,no\nno,\n", r"bad.csv:3: the value of 'B' is missing"),
        ("0,1\n1,?\n", r"bad.csv:2: the value of 'v1' is missing"),
        ("0,1\n1\n", r"bad.csv:2: 1 cell where 2 are expected"),
        ("A,A\n1,0\n", r"bad.csv:1: two columns have one name"),
        ("", r"there are no rows"),
        ("A,B\n", r"there are no rows below the header"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(
    tmp_path: Path, text: str, match: str
) -> None:
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(ParseError, match=match):
        as_data(tmp_path / "bad.csv")


def test_a_missing_value_in_rows_is_said_with_its_place() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(DomainError, match=r"row 1 of the data: the value of 'v0' is missing"):
        as_data([[0, 1], [None, 1]])
    with pytest.raises(DomainError, match=r"row 1 of the data: the value of 'v1' is missing"):
        as_data(np.array([[0, 1], [0, np.nan]]))
    with pytest.raises(DomainError, match=r"row 0 of the data: the value of 'B' is missing"):
        as_data(pandas.DataFrame({"A": ["x", "y"], "B": [None, "z"]}))
    with pytest.raises(DomainError, match=r"-1 is not a code of 'v1'"):
        as_data(np.array([[0, 1], [0, -1]]))
    with pytest.raises(DomainError, match="row 1 of the data has 1 cells for 2 variables"):
        as_data([[0, 1], [0]])
    with pytest.raises(DomainError, match="is no data"):
        as_data(7)


def test_codes_beyond_the_domain_are_an_error_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.data"
    path.write_text("0,1\n0,2\n")
    with pytest.raises(ParseError, match=r"rows.data:2: variable 'B' has no state '2'"):
        as_data(path, {"A": 2, "B": 2})


def test_categories_are_states_even_where_none_occurs() -> None:
    pandas = pytest.importorskip("pandas")
    column = pandas.Categorical(["b", "a"], categories=["c", "b", "a"])
    assert as_data(pandas.DataFrame({"A": column})).domain == cw.Domain({"A": ["c", "b", "a"]})


def test_codes_are_checked_when_data_are_made() -> None:
    domain = cw.Domain({"A": 2, "B": 3})
    for code in (-1, 3):
        with pytest.raises(DomainError, match=rf"row 1 of the data: {code} is no position .* 'B'"):
            Data(domain, np.array([[1, 2], [0, code]]))
    with pytest.raises(DomainError, match="expected 2 columns"):
        Data(domain, np.array([[1, 2, 0]]))


# -- Chow and Liu ----------------------------------------------------------------------------------


def brute_mutual_information(data: Data, i: int, j: int, prior: float) -> float:
    """The definition, cell by cell."""
    cards, total = data.domain.cardinalities, len(data) + prior
    found = 0.0
    for a, b in itertools.product(range(cards[i]), range(cards[j])):
        both = sum(row[i] == a and row[j] == b for row in data.rows)
        p = (both + prior / (cards[i] * cards[j])) / total
        one = (sum(row[i] == a for row in data.rows) + prior / cards[i]) / total
        other = (sum(row[j] == b for row in data.rows) + prior / cards[j]) / total
        found += p * math.log(p / (one * other))
    return found


@given(st.data())
def test_chow_liu_is_the_best_of_all_trees(data: st.DataObject) -> None:
    cards = data.draw(st.lists(st.sampled_from([1, 2, 3, 66]), min_size=2, max_size=4))
    cells = st.tuples(*(st.integers(0, card - 1) for card in cards))
    rows = data.draw(st.lists(cells, min_size=1, max_size=12))
    own = as_data(np.array(rows), cw.Domain.of_cardinalities(cards))
    found = ChowLiu(prior=0.5).fit(own)
    weights = mutual_information(own, 0.5)
    pairs = list(itertools.combinations(range(len(cards)), 2))
    for i, j in pairs:
        assert weights[i, j] == pytest.approx(brute_mutual_information(own, i, j, 0.5), abs=1e-9)
    totals = [
        sum(weights[edge] for edge in tree)
        for tree in itertools.combinations(pairs, len(cards) - 1)
        if _spans(tree, len(cards))
    ]
    assert sum(weights[edge] for edge in found.edges_) == pytest.approx(max(totals), abs=1e-9)


def _spans(edges: tuple[tuple[int, int], ...], nodes: int) -> bool:
    reached = {0}
    for _ in edges:
        reached |= {v for edge in edges if reached & set(edge) for v in edge}
    return len(reached) == nodes


def test_chow_liu_is_a_distribution_and_its_weights_are_conditionals() -> None:
    found = ChowLiu().fit(ROWS)
    every = list(itertools.product(*map(range, found.domain_.cardinalities)))
    logs = [math.exp(_log_potential(found.model_, state)) for state in every]
    assert sum(logs) == pytest.approx(1.0)
    assert mean_log_likelihood(found.model_, ROWS) > mean_log_likelihood(
        Independent().fit(ROWS).model_, ROWS
    )


def _log_potential(model: cw.LogLinear, state: tuple[int, ...]) -> float:
    names = model.domain.names
    return sum(
        float(weight)
        for feature, weight in zip(model.structure, model.weights.tolist(), strict=True)
        if all(str(state[names.index(name)]) in allowed for name, allowed in feature.items())
    )


def test_without_rows_nothing_is_connected() -> None:
    domain = {"A": 2, "B": 3}
    nothing = np.zeros((0, 2), dtype=int)
    assert ChowLiu().fit(nothing, domain=domain).structure_.pairs() == []
    model = Independent().fit(nothing, domain=domain).model_
    assert model.weights.tolist() == pytest.approx(np.log([1 / 2] * 2 + [1 / 3] * 3).tolist())


def test_more_variables_than_rows() -> None:
    rows = np.random.default_rng(1).integers(0, 3, (5, 40))
    assert len(ChowLiu().fit(rows).edges_) == 39
    with pytest.raises(DomainError, match="prior"):
        ChowLiu(prior=0).fit(rows)
