"""Rows from files and Python objects, and errors that name the place and the remedy."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Structure, analyse, distributions, learn, read_data
from contextwise.cli import contextwise
from contextwise.comparison.context_weights import marginals
from contextwise.data import text as reading
from contextwise.data.options import BUNDLED, row_options
from contextwise.data.rows import (
    as_advised,
    as_data,
    format_rows,
    infer_domain,
    parse_data,
)
from contextwise.distributions.sampling import labels_of
from contextwise.errors import ContextwiseError, DomainError, OpenResult, ParseError
from contextwise.learning import learner_named
from contextwise.models.domain import Domain
from contextwise.support.effort import Deadline, check_reading, limited_reading
from contextwise.testing import domains

SURVEY = Domain({"smoker": ["no", "yes"], "age": ["young", "old", "very old"]})

PEOPLE = Domain({"smoker": ["no", "yes"], "age": ["young", "very old"]})


def parsed(text: str, domain: Domain = PEOPLE) -> list[list[str]]:
    return parse_data(text.encode(), "people.csv", domain).labels()


def test_with_and_without_header() -> None:
    expected = [["yes", "young"], ["no", "very old"]]
    assert parsed("smoker,age\nyes,young\nno,very old\n") == expected
    assert parsed("age,id,smoker\nyoung,7,yes\nvery old,8,no\n") == expected
    assert parsed("yes,young\nno,very old\n") == expected
    assert parsed('\n yes , "young"\r\n\r\nno,very old') == expected
    assert parsed("0,1\n1,1\n", Domain.of_cardinalities([2, 2])) == [["0", "1"], ["1", "1"]]


def test_packed_files(tmp_path: Path) -> None:
    path = tmp_path / "people.data.gz"
    path.write_bytes(gzip.compress(b"yes,young\n"))
    assert as_data(path, PEOPLE).labels() == [["yes", "young"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "people.csv: there are no rows in this file"),
        ("smoker,age\n", "people.csv: there are no rows below the header"),
        ("yes,young\nno,\n", "people.csv:2: the value of 'age' is missing"),
        ("smoker,age\n*,young\n", "people.csv:2: the value of 'smoker' is missing"),
        ("yes,young\n,\n", "people.csv:2: the value of 'smoker' is missing"),
        ("yes,old\n", "people.csv:1: variable 'age' has no state 'old'; its states are young"),
        ("yes\n", "people.csv:1: 1 cell where 2 are expected; cells are separated by"),
        ("2|yes,young\n", "people.csv:1: '2|yes' looks like a row with a weight"),
        ("yes,young\n\nno,young,7\n", "people.csv:3: 3 cells where 2 are expected"),
        ("smoker,years,id\n", "people.csv:1: 3 cells.*if this line is a header, it lacks age"),
        (
            'yes,"young\n',
            r"people.csv:1: a quote \(\"\) opens a cell on this line and does not close",
        ),
    ],
)
def test_errors_say_where(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=f"^{message}"):
        parsed(text)


def test_text_that_is_no_text() -> None:
    with pytest.raises(ParseError, match=r"^x: this is a binary file"):
        parse_data(b"yes,young\n\x00\x01,young\n", "x", PEOPLE)
    with pytest.raises(ParseError, match=r"^x:2: this is not utf-8 text"):
        parse_data(b"yes,young\n\xff,young\n", "x", PEOPLE, row_options(encoding="utf-8"))


def test_a_state_may_be_called_like_a_missing_value() -> None:
    assert parsed("?,NA\n", Domain({"A": ["?", "x"], "B": ["NA", "y"]})) == [["?", "NA"]]


def test_a_header_of_numbers_is_a_header() -> None:
    assert parse_data(b"0,1\n1,0\n", "x", Domain({"0": 2, "1": 2})).rows.tolist() == [[1, 0]]


@given(domains(min_variables=1), st.integers(0, 99))
def test_rows_survive_a_round_trip(domain: Domain, seed: int) -> None:
    rng = np.random.default_rng(seed)
    positions = np.stack([rng.integers(c, size=3) for c in domain.cardinalities], axis=1)
    stripped = {label.strip() for own in domain.states for label in own}
    if any(label != label.strip() for own in domain.states for label in own) or "" in stripped:
        return  # blanks around a cell do not count, so such labels cannot be told apart
    if any(name != name.strip() or not name for name in domain.names):
        return
    text = format_rows(labels_of(domain, positions), domain.names)
    assert np.array_equal(parse_data(text.encode(), "x", domain).rows, positions)


def test_what_csv_files_of_other_programs_hold_is_told_in_words(tmp_path: Path) -> None:
    for cell, message in {
        "NaN": "the value of 'A' is missing",
        "inf": "variable 'A' has no state 'inf'",
        "x" * 200_000: "a cell has more than 131,072 characters; is a closing quote missing",
        "9" * 5_000: "variable 'A' has no state '9999",
    }.items():
        path = tmp_path / "rows.csv"
        path.write_text(f"A,B\n0,1\n{cell},1\n")
        with pytest.raises(ParseError, match=f":3: {message}"):
            as_data(path, Domain({"A": 2, "B": 2}))


def test_a_long_row_of_digits_is_a_label() -> None:
    digits = "9" * 5_000
    assert parse_data(f"A\n{digits}\n1\n".encode(), "rows.csv").domain.states == (("1", digits),)


def test_info_gives_the_domain_of_a_data_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("smoker,age\nyes,10\nno,9\nyes,9\n")
    shown = CliRunner().invoke(contextwise, ["info", str(path)])
    assert shown.stdout.splitlines() == [
        "rows.csv: 3 rows, 2 columns",
        "column  kind      values  missing  most frequent    advice",
        "smoker  category       2           yes (2), no (1)",
        "age     category       2           9 (2), 10 (1)",
    ]
    record = json.loads(CliRunner().invoke(contextwise, ["info", str(path), "--json"]).stdout)
    assert record["rows"] == 3
    assert [(column["name"], column["values"]) for column in record["columns"]] == [
        ("smoker", 2),
        ("age", 2),
    ]
    (tmp_path / "codes.data").write_text("0,2\n1,0\n")
    codes = CliRunner().invoke(contextwise, ["info", str(tmp_path / "codes.data")])
    assert codes.stdout.startswith("codes.data: 2 rows, 2 columns\n")
    assert CliRunner().invoke(contextwise, ["info", str(path), "lung"]).exit_code == 2


def test_a_domain_from_data_of_every_kind() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"A": ["b", "a", None], "B": [10, 9, 9], "C": [1.0, None, 0.0]})
    frame["D"] = pandas.Categorical(["low", "low", "high"], categories=["low", "mid", "high"])
    wanted = {"A": ["a", "b"], "B": ["9", "10"], "C": ["0", "1"], "D": ["low", "mid", "high"]}
    assert infer_domain(frame) == Domain(wanted)
    assert infer_domain(np.array([[0, 1], [2, 1]])) == Domain({"v0": 3, "v1": 2})
    assert infer_domain([["x", 0.0], ["y", 3.0]]) == Domain({"v0": ["x", "y"], "v1": 4})
    assert infer_domain([]) == Domain({})
    for bad, message in (
        (b"rows.csv", "'bytes' cannot be read as data"),
        (3, "'int' cannot be read as data"),
        (np.zeros(3), "shape"),
        ([[1j]], "1j is not a state"),
        ([[[0]]], "a cell is a list"),
        ([[10_000]], "is not a code of 'v0'"),
        ([[-1]], "is not a code of 'v0'"),
    ):
        with pytest.raises(DomainError, match=message):
            infer_domain(bad)


def test_a_path_is_a_file_even_if_a_data_set_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("titanic").write_text("A,B\nyes,no\n")
    assert len(as_data(Path("./titanic"))) == len(as_data("./titanic")) == 1
    assert len(as_data("titanic")) == 2201


@pytest.mark.parametrize("left_out", [{"drop": ["Hair"]}, {"columns": ["Eye", "Sex"]}])
def test_counts_are_found_where_columns_are_left_out(left_out: dict[str, Any]) -> None:
    table = Path(__file__).with_name("hair-eye-color.csv")
    with pytest.raises(DomainError, match="Freq  looks like counts of the other columns"):
        read_data(table, **left_out)
    assert len(read_data(table, counts="Freq", **left_out)) == 592


def test_counted_rows_are_aligned_to_another_domain() -> None:
    data = as_data("berkeley")
    turned = {
        n: list(s)[::-1]
        for n, s in reversed([*zip(data.domain.names, data.domain.states, strict=True)])
    }
    same = as_data(data, turned)
    assert len(same) == 4526
    assert Counter(map(tuple, np.array(same.labels())[:, ::-1].tolist())) == Counter(
        map(tuple, data.labels())
    )


@pytest.mark.parametrize("form", [list, pd.DataFrame])
def test_counts_and_subjects_are_columns_besides_a_domain(form: Any) -> None:
    rows = form([{"n": 2, "A": k % 2, "B": 0, "who": k // 2, "age": 3.7} for k in range(4)])
    domain = {"A": 2, "B": 2}
    assert len(read_data(rows, domain, counts="n")) == 8
    subjects = read_data(rows, domain, subject="who").subjects
    assert subjects is not None
    assert subjects.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_the_separator_is_detected(separator: str) -> None:
    text = "x,y,z\nyes,old,1\nno,young,0\n".replace(",", separator)
    data = parse_data(text.encode(), "rows.csv")
    assert data.domain.names == ("x", "y", "z")
    assert parse_data(text.encode(), "rows.csv", data.domain).labels() == data.labels()
    assert data.labels() == [["yes", "old", "1"], ["no", "young", "0"]]


def test_codes_may_be_separated_by_blanks() -> None:
    assert parse_data(b"0 1 2\n1 0 0\n", "x.data").labels() == [["0", "1", "2"], ["1", "0", "0"]]


def test_a_separator_inside_labels_does_not_count() -> None:
    data = parse_data(b"x,y\na;b,c\nd,e;f\n", "rows.csv")
    assert data.labels() == [["a;b", "c"], ["d", "e;f"]]
    assert parse_data(b"x\na;b\n", "rows.csv").labels() == [["a;b"]]
    assert parse_data(b"height\tname\n1,5\ta\n1,7\tb\n", "x").labels()[0] == ["1,5", "a"]


def test_columns_with_the_same_name_are_refused_with_a_domain() -> None:
    with pytest.raises(ParseError, match="two columns have the name smoker"):
        parse_data(b"smoker,age,smoker\nyes,old,no\n", "x", SURVEY)
    frame = pd.DataFrame([["yes", "old", "no"]], columns=["smoker", "age", "smoker"])
    with pytest.raises(ContextwiseError, match="two columns have the name smoker"):
        as_data(frame, SURVEY)


def test_marginals_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("age,smoker\nold,yes\nyoung,no\n")
    assert marginals(SURVEY, path) == marginals(SURVEY, [["yes", "old"], ["no", "young"]])


def test_an_unknown_data_set_is_named() -> None:
    with pytest.raises(ContextwiseError, match=r"titanik: no such file or bundled.*titanic"):
        as_data("titanik")


SIZES = {
    "berkeley": (4526, (2, 2, 6)),
    "titanic": (2201, (4, 2, 2, 2)),
    "women-math": (1190, (2,) * 6),
}


@pytest.mark.parametrize("name", BUNDLED)
def test_sizes(name: str) -> None:
    data = as_data(name)
    assert (len(data), data.domain.cardinalities) == SIZES[name]


def test_berkeley_has_the_published_statistics() -> None:
    """G² of Admit ⫫ Gender in department A, and summed over the others."""
    data = as_data("berkeley")
    table = np.zeros((2, 2, 6))
    np.add.at(table, tuple(data.rows.T), data.weights)
    expected = table.sum(0, keepdims=True) * table.sum(1, keepdims=True) / table.sum((0, 1))
    g_squared = 2 * (table * np.log(table / expected)).sum((0, 1))
    assert g_squared[0] == pytest.approx(19.054, abs=5e-4)
    assert g_squared[1:].sum() == pytest.approx(2.6815, abs=5e-4)
    assert infer_domain("berkeley") == data.domain
    assert len(as_data("berkeley", data.domain)) == 4526


def test_titanic_has_the_published_log_likelihoods() -> None:
    """The values of stagedtrees' article in the Journal of Statistical Software."""
    data = as_data("titanic")
    cells = Counter(map(tuple, data.rows.tolist()))
    saturated = sum(n * log(n / len(data)) for n in cells.values())
    assert saturated == pytest.approx(-5151.517, abs=5e-4)
    names, states = data.domain.names, data.domain.states
    single = [{name: state} for name, own in zip(names, states, strict=True) for state in own[1:]]
    fitted = distributions.fit(Structure(data.domain, single), "titanic", l2=0.0).model
    independent = len(data) * distributions.mean_log_likelihood(fitted, "titanic")
    assert independent == pytest.approx(-5773.349, abs=5e-3)


def test_titanic_has_the_published_counts() -> None:
    """R's ``margin.table(Titanic, c(1, 4))``."""
    rows = as_data("titanic").labels()
    assert Counter((row[0], row[3]) for row in rows) == {
        ("1st", "no"): 122,
        ("1st", "yes"): 203,
        ("2nd", "no"): 167,
        ("2nd", "yes"): 118,
        ("3rd", "no"): 528,
        ("3rd", "yes"): 178,
        ("crew", "no"): 673,
        ("crew", "yes"): 212,
    }


def test_women_math_has_the_published_edges() -> None:
    """The six edges that a Bayesian Ising analysis (easybgm) includes."""
    learned = learner_named("sparse-pairs")().fit("women-math").structure_
    assert {frozenset(pair) for pair in learned.pairs()} == {
        frozenset(pair)
        for pair in (
            ("gender", "need"),
            ("gender", "preference"),
            ("school", "preference"),
            ("school", "plans"),
            ("need", "preference"),
            ("need", "plans"),
        )
    }


def test_a_missing_value_of_a_column_that_is_left_out_does_nothing() -> None:
    rows = pd.DataFrame({"a": ["0", "1"] * 5, "b": ["x", "y"] * 5, "c": ["p", "q"] * 5})
    data = read_data(rows, na={"a": ["0", "1"]}, drop="a")
    assert data.domain.names == ("b", "c")
    assert len(data) == 10


def test_numbers_of_subjects_are_not_cut_into_bins() -> None:
    records = [{"patient": k // 2, "ill": k % 2, "age": 20 + k % 40} for k in range(120)]
    for options in ({"subject": "patient"}, {"subject": "patient", "bins": ["patient=4"]}):
        data, used, summary = as_advised(records, row_options(**options))
        assert data.subjects is not None
        assert len(np.unique(data.subjects)) == 60
        assert data.domain.names == ("ill", "age")
        assert list(data.decisions["bins"]) == ["age"]
        assert "age=4" in used.bins
        assert summary is not None
        assert summary.columns[0].kind == "subject"


@pytest.mark.parametrize("name", ["individual", "respondent", "stratum_no"])
def test_numbers_of_subjects_that_are_cut_are_asked_about(name: str) -> None:
    rows = [{name: k // 4, "ill": k % 2, "sex": k // 4 % 2} for k in range(400)]
    assert as_advised(rows)[1].subject == name
    data, _, _ = as_advised(rows, row_options(bins={name: 4}))
    assert any(f"use --subject {name} instead of --bins" in note for note in data.notes)


def test_spans_of_time_are_states() -> None:
    spans = pd.to_timedelta([1, 2, None], unit="D").repeat(5)
    data = read_data(pd.DataFrame({"a": spans, "b": [1, 2, 3] * 5}), missing="drop")
    assert data.domain.states[0] == ("1 day, 0:00:00", "2 days, 0:00:00")


def test_a_time_limit_ends_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextwise.support.effort.SHORT_READING", 0.0)
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + '"x\ny",1\n"z\ny",0\n' * 3_000)
    with limited_reading(Deadline.after(60)):
        assert len(read_data(path)) == 6_000
    read: list[int] = []

    def checked() -> None:
        read.append(1)
        check_reading()

    monkeypatch.setattr(reading, "check_reading", checked)
    message = "the time limit passed while the rows were read"
    with pytest.raises(OpenResult, match=message), limited_reading(Deadline.after(0)):
        read_data(path)
    assert read == [1]  # after the first lines, not at the end
    with pytest.raises(OpenResult, match="while the rows were read"):
        learn(path, "chow-liu", time_limit=0)
    with pytest.raises(OpenResult, match="while the rows were read"):
        analyse(path, time_limit=0)
    assert len(read_data(path)) == 6_000  # the limit is gone


def test_an_analysis_never_makes_missing_values_a_state_by_itself() -> None:
    """Rows are dropped; columns that lack most are left out while fewer than half would stay."""
    rng = np.random.default_rng(0)
    columns = {name: rng.choice(["a", "b"], 200).tolist() for name in "vwxyz"}
    for name, share in {"v": 0.8, "w": 0.5, "x": 0.2}.items():
        for row in np.flatnonzero(rng.random(200) < share):
            columns[name][row] = None
    rows = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    data, used, summary = as_advised(rows)
    assert summary is not None
    assert summary.remedy.missing == "state"  # what `info` advises keeps all rows
    assert (used.missing, used.drop) == ("drop", ("v", "w"))
    assert data.domain.names == ("x", "y", "z")
    assert len(data) == sum(value is not None for value in columns["x"])
    assert "v, w" in data.notes[-1]
    kept, _, _ = as_advised(rows, row_options()._replace(outcome="w"))
    assert kept.domain.names == ("w", "x", "y", "z")
    assert as_advised(rows, row_options(missing="state"))[0].domain.names == tuple("vwxyz")
