"""Domains, and how text, data and other domains are laid over them."""

from __future__ import annotations

import io
import math
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Domain, Structure, compare
from contextwise.errors import ContextwiseError, DomainError, ParseError
from contextwise.models.alignment import alignment
from contextwise.models.domain import label_of
from contextwise.models.notation import Literal, parse_literals, quoted, write_literals
from contextwise.testing import domains, families, rows

SURVEY = Domain({"smoker": ["no", "yes"], "age": ["young", "old", "very old"]})


# -- domains -------------------------------------------------------------------------------------


def test_names_states_and_cardinalities() -> None:
    domain = Domain({"A": 1, "B": ["x", 7], "C": np.int64(3)})  # type: ignore[dict-item]
    assert domain.names == ("A", "B", "C")
    assert domain.states == (("0",), ("x", "7"), ("0", "1", "2"))
    assert domain.cardinalities == (1, 2, 3)
    assert Domain.of_cardinalities([2, 3]) == Domain({"v0": 2, "v1": 3})
    assert len(Domain({})) == 0


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"A": 0}, "variable 'A' has no states"),
        ({"A": -1}, "variable 'A' has no states"),
        ({"A": []}, "variable 'A' has no states"),
        ({"A": ["x", "x"]}, "variable 'A' has the state 'x' twice"),
        ({"A": [1, "1"]}, "variable 'A' has the state '1' twice"),
        ({"A": "xy"}, "give the states of 'A' as a list"),
        ({"A": [None]}, "None is not a state"),
        ({"A": [True, False]}, "True is not a state"),
        ({"A": [0.5]}, "0.5 is not a state"),
        ({1: 2}, "a variable's name is a text, not 1"),
    ],
)
def test_bad_domains_are_named(variables: dict[str, int], words: str) -> None:
    with pytest.raises(DomainError) as caught:
        Domain(variables)
    assert words in str(caught.value)


@given(domains())
def test_domains_are_values(domain: Domain) -> None:
    again = Domain(dict(zip(domain.names, domain.states, strict=True)))
    assert again == domain
    assert hash(again) == hash(domain)
    assert all(domain.position(name) == k for k, name in enumerate(domain.names))


# -- data ----------------------------------------------------------------------------------------


@given(domains().flatmap(lambda domain: st.tuples(st.just(domain), rows(domain))))
def test_rows_in_every_form(drawn: tuple[Domain, list[tuple[str, ...]]]) -> None:
    domain, given_rows = drawn
    expected = [[domain.states[v].index(s) for v, s in enumerate(row)] for row in given_rows]
    forms: list[object] = [
        given_rows,
        [dict(zip(domain.names, r, strict=True)) for r in given_rows],
    ]
    if given_rows and len(domain):
        frame = pd.DataFrame(given_rows, columns=list(domain.names), dtype=object)
        forms += [np.array(given_rows, dtype=object), frame, frame[frame.columns[::-1]]]
    for form in forms:
        encoded = domain.encode(form)
        assert encoded.shape == (len(given_rows) if len(domain) else 0, len(domain))
        assert encoded.tolist() == (expected if len(domain) else [])


def test_numbers_stand_for_their_text() -> None:
    domain = Domain({"A": 2, "B": ["10", "20"]})
    table = np.array([[1, 20], [0, 10]])
    assert domain.encode(table).tolist() == [[1, 1], [0, 0]]
    assert domain.encode(pd.DataFrame({"B": [20], "A": [1], "more": [5]})).tolist() == [[1, 1]]
    assert domain.encode(np.zeros((0, 2), dtype=int)).shape == (0, 2)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([["yes"]], "row 0 of the data has 1 cells for 2 variables"),
        ([["yes", "old"], ["yes", "old", "x"]], "row 1 of the data has 3 cells"),
        ([["yes", "ancient"]], "row 0 of the data: variable 'age' has no state 'ancient'"),
        ([{"smoker": "yes"}], "row 0 of the data lacks age"),
        (np.zeros((2, 3)), "the data has shape (2, 3); expected rows of 2 cells"),
        (np.zeros(3), "the data has shape (3,)"),
        (pd.DataFrame({"smoker": ["yes"]}), "the data has no column for age"),
        ([["yes", None]], "row 0 of the data: the value of 'age' is missing"),
        ([["yes", math.nan]], "row 0 of the data: the value of 'age' is missing"),
        (7, "the data is 7; expected a list"),
        ("yes", "the data is 'yes'; expected a list"),
        ([["yes", "old"], "no"], "row 1 of the data is 'no'; expected a list"),
    ],
)
def test_bad_rows_are_named(data: object, words: str) -> None:
    with pytest.raises(DomainError) as caught:
        SURVEY.encode(data)
    assert words in str(caught.value)


# -- alignment -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"smoker": ["no", "yes"]}, "only the first model has age"),
        (
            {"smoker": ["no", "yes"], "age": ["young", "old", "very old"], "ill": 2},
            "only the second model has ill",
        ),
        (
            {"smoker": ["no", "yes"], "years": 3},
            "only the first model has age; only the second model has years",
        ),
        (
            {"smoker": ["no", "yes"], "age": ["young", "old"]},
            "variable 'age' has different states in the two models: young, old, very old in the "
            "first, young, old in the second",
        ),
    ],
)
def test_what_does_not_align_is_named(other: dict[str, list[str]], words: str) -> None:
    with pytest.raises(DomainError) as caught:
        compare(Structure(SURVEY), Structure(other))
    assert words in str(caught.value)


@given(families(1), st.randoms(use_true_random=False))
def test_alignment_there_and_back(models: tuple[Structure, ...], random: object) -> None:
    (model,) = models
    shuffled = {
        name: random.sample(own, len(own))  # type: ignore[attr-defined]
        for name, own in random.sample(  # type: ignore[attr-defined]
            list(zip(model.domain.names, model.domain.states, strict=True)), len(model.domain)
        )
    }
    other = Domain(shuffled)
    assert alignment(model.domain, model.domain).trivial
    there = model.aligned_to(other)
    there.features.check()
    assert there.aligned_to(model.domain) == model


# -- notation ------------------------------------------------------------------------------------

TEXTS = st.text(max_size=6)


@given(
    st.lists(
        st.builds(
            Literal, TEXTS, st.lists(TEXTS, min_size=1, max_size=3).map(tuple), st.booleans()
        ),
        max_size=3,
    )
)
def test_literals_are_read_as_they_are_written(literals: list[Literal]) -> None:
    assert parse_literals(write_literals(literals)) == literals
    assert parse_literals(f"  <{write_literals(literals)}> ") == literals


@given(st.text(st.sampled_from('ab=!≠&,|<>"\\ \n'), max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ParseError):
        literals = parse_literals(text)
        assert parse_literals(write_literals(literals)) == literals


@given(TEXTS)
def test_a_quoted_name_is_one_name(name: str) -> None:
    assert parse_literals(f"{quoted(name)}=x")[0].variable == name


def test_labels() -> None:
    assert label_of(np.int32(3)) == "3"
    with pytest.raises(ContextwiseError, match="is not a state"):
        label_of(b"yes")


# -- data as pandas reads them ---------------------------------------------------------------------


def test_columns_of_bools_and_of_whole_floats_are_encoded() -> None:
    pandas = pytest.importorskip("pandas")
    text = "ill,age,smoker\nTrue,1,yes\nFalse,0,no\nTrue,2,yes\n"
    frame = pandas.read_csv(io.StringIO(text))
    frame["age"] = frame["age"].astype(float)
    assert frame["ill"].dtype == bool
    domain = Domain.from_data(frame)
    assert domain == Domain({"ill": ["False", "True"], "age": 3, "smoker": ["no", "yes"]})
    assert domain.encode(frame).tolist() == [[1, 1, 1], [0, 0, 0], [1, 2, 1]]
    for states in (["false", "true"], ["FALSE", "TRUE"], ["0", "1"]):
        other = Domain({"ill": states, "age": 3, "smoker": ["no", "yes"]})
        assert other.encode(frame)[:, 0].tolist() == [1, 0, 1]
    with pytest.raises(DomainError, match="has no state 'True'; its states are no, yes"):
        Domain({"ill": ["no", "yes"]}).encode(frame[["ill"]])
    frame.loc[1, "age"] = 0.5
    with pytest.raises(DomainError, match=r"row 1 of the data: .*0\.5"):
        domain.encode(frame)


def test_a_domain_from_data_of_every_kind() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"A": ["b", "a", None], "B": [10, 9, 9], "C": [1.0, None, 0.0]})
    frame["D"] = pandas.Categorical(["low", "low", "high"], categories=["low", "mid", "high"])
    wanted = {"A": ["a", "b"], "B": ["9", "10"], "C": ["0", "1"], "D": ["low", "mid", "high"]}
    assert Domain.from_data(frame) == Domain(wanted)
    assert Domain.from_data(np.array([[0, 1], [2, 1]])) == Domain({"v0": 3, "v1": 2})
    assert Domain.from_data([["x", 0.0], ["y", 3.0]]) == Domain({"v0": ["x", "y"], "v1": 4})
    assert Domain.from_data([]) == Domain({})
    for bad, message in (
        ("rows.csv", "'str' is no data"),
        (3, "'int' is no data"),
        (np.zeros(3), "shape"),
        ([[0.5]], "0.5 is not a state"),
        ([[10_000]], "is not a code of 'v0'"),
        ([[-1]], "is not a code of 'v0'"),
    ):
        with pytest.raises(DomainError, match=message):
            Domain.from_data(bad)


def test_a_domain_has_a_largest_cardinality() -> None:
    assert Domain({"A": 2**16}).cardinalities == (2**16,)
    with pytest.raises(DomainError, match="'A' has 65,537 states, and at most 65,536"):
        Domain({"A": 2**16 + 1})
    with pytest.raises(DomainError, match="at most 65,536"):
        Domain({"A": 10**15})
