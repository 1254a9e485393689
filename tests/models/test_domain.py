"""Domains, and how text, data and other domains are laid over them."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Domain, Structure, compare
from contextwise.errors import ContextwiseError, DomainError, ParseError
from contextwise.models.domain import label_of
from contextwise.models.notation import Literal, parse_literals, quoted, write_literals
from contextwise.models.structure import alignment
from contextwise.testing import domains, families
from features_invariant import check_features

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
        ({"A": "xy"}, "pass the states of 'A' as a list"),
        ({"A": [None]}, "None is not a state"),
        ({"A": [True, False]}, "True is not a state"),
        ({"A": [0.5]}, "0.5 is not a state"),
        ({"A": 1.5}, "the states of 'A' must be a list or their number, got 1.5"),
        ({"A": True}, "the states of 'A' must be a list or their number, got True"),
        ({"A": None}, "the states of 'A' must be a list or their number, got None"),
        ({1: 2}, "the name of a variable must be a text, got 1"),
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
    places = alignment(model.domain, model.domain).variables
    assert places == tuple(range(len(model.domain)))
    there = model.aligned_to(other)
    check_features(there.features)
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


def test_a_domain_has_a_largest_cardinality() -> None:
    assert Domain({"A": 2**16}).cardinalities == (2**16,)
    with pytest.raises(DomainError, match="'A' has 65,537 states, and at most 65,536"):
        Domain({"A": 2**16 + 1})
    with pytest.raises(DomainError, match="at most 65,536"):
        Domain({"A": 10**15})
