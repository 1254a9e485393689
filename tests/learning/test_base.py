"""Functions as learners, and the kinds of data that learners accept."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import contextwise as cw
from contextwise.data.rows import Data
from contextwise.errors import ContextwiseError, DomainError, OpenResult, ParseError
from contextwise.learning import AcyclicTrees, ChowLiu, Independent, PairBlocks, Trees, as_data
from contextwise.learning.adapters import OtherPackage
from contextwise.learning.base import Run, as_learner
from hard import LATE

ROWS = np.random.default_rng(5).integers(0, 2, (60, 4)) | np.array([[0, 0, 1, 0]])
ROWS[:, 1] = ROWS[:, 0] ^ (np.arange(60) % 7 == 0)


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
    with pytest.raises(ContextwiseError, match="is not a learner"):
        as_learner(3)
    with pytest.raises(ContextwiseError, match="did you mean 'chow-liu'"):
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
        ("A,B\nyes,no\nno,\n", r"bad.csv: .*\n  B  1 missing value \(empty; line 3\)"),
        ("0,1\n1,?\n", r"bad.csv: .*\n  v1  1 missing value \(\?; line 2\)"),
        ("0,1\n1\n", r"bad.csv:2: 1 cell where 2 are expected"),
        ("", r"there are no rows"),
        ("A,B\n", r"there are no rows below the header"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(
    tmp_path: Path, text: str, match: str
) -> None:
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(ContextwiseError, match=match):
        as_data(tmp_path / "bad.csv")


def test_a_missing_value_in_rows_is_said_with_its_place() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(DomainError, match=r"v0  1 missing value \(empty; row 1\)"):
        as_data([[0, 1], [None, 1]])
    with pytest.raises(DomainError, match=r"v1  1 missing value \(empty; row 1\)"):
        as_data(np.array([[0, 1], [0, np.nan]]))
    with pytest.raises(DomainError, match=r"B  1 missing value \(empty; row 0\)"):
        as_data(pandas.DataFrame({"A": ["x", "y"], "B": [None, "z"]}))
    with pytest.raises(DomainError, match=r"-1 is not a code of 'v1'"):
        as_data(np.array([[0, 1], [0, -1]]))
    with pytest.raises(DomainError, match="row 1 of the data has 1 cells for 2 variables"):
        as_data([[0, 1], [0]])
    with pytest.raises(DomainError, match="cannot be read as data"):
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
        with pytest.raises(DomainError, match=rf"row 1 of the data: {code} is not the position"):
            Data(domain, np.array([[1, 2], [0, code]]))
    with pytest.raises(DomainError, match="expected 2 columns"):
        Data(domain, np.array([[1, 2, 0]]))


def test_learn_by_name() -> None:
    learned = cw.learn(ROWS, "trees", penalty=1.0)
    assert learned.structure_ == Trees(penalty=1.0).fit(ROWS).structure_
    assert cw.distance(learned, learned.structure_) == 0
    with pytest.raises(ContextwiseError, match="Trees has no parameter 'penaltie'"):
        cw.learn(ROWS, "trees", penaltie=1.0)


class Endless(OtherPackage):
    """Stands for a learner of another package, which does not look at the time."""

    def learn(self, data: Data, run: Run) -> cw.Structure:
        time.sleep(LATE)
        raise AssertionError


class Chatty(OtherPackage):
    def __init__(self, wrong: bool = False) -> None:
        self.wrong = wrong

    def learn(self, data: Data, run: Run) -> cw.Structure:
        print("on standard output")
        if self.wrong:
            raise ValueError("wrong")
        return cw.Structure(data.domain, [{data.domain.names[0]: data.domain.states[0][0]}])


def test_a_learner_of_another_package_is_stopped_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    start = time.monotonic()
    with pytest.raises(OpenResult, match="found no structure within the time limit"):
        Endless().fit(ROWS, time_limit=0.5)
    assert time.monotonic() - start < LATE
    learned = Chatty().fit(ROWS, time_limit=LATE)
    assert learned.structure_ == Chatty().fit(ROWS).structure_
    assert learned.finished_
    with pytest.raises(ValueError, match="wrong"):
        Chatty(wrong=True).fit(ROWS, time_limit=LATE)


@pytest.mark.parametrize("learner", [PairBlocks, AcyclicTrees])
def test_a_required_pair_with_one_state_is_an_error(learner: Any) -> None:
    with pytest.raises(DomainError, match="C has one state and depends on nothing"):
        learner(require=[("A", "C")]).fit(ROWS[:, [0, 3]] * [1, 0], domain={"A": 2, "C": 1})
