"""Structures as people make them, and what can be made from them."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Domain, LogLinear, Structure, compare
from contextwise.errors import DomainError, ParseError
from contextwise.models.origin import Origin
from contextwise.models.structure import ContradictionWarning
from contextwise.testing import (
    assignments,
    domains,
    families,
    features,
    log_linear_models,
    structures,
)
from contextwise.testing.strategies import NAMES
from features_invariant import check_features

SURVEY = Domain({"smoker": ["no", "yes"], "age": ["young", "old", "very old"], "ill": 2})


def holds(feature: Mapping[str, Sequence[str]], row: dict[str, str]) -> bool:
    return all(row[name] in allowed for name, allowed in feature.items())


def all_rows(domain: Domain) -> Iterator[dict[str, str]]:
    for states in product(*domain.states):
        yield dict(zip(domain.names, states, strict=True))


# -- made by people ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "feature",
    [
        {"smoker": "yes", "age": ["old", "very old"]},
        {"age": ("very old", "old"), "smoker": ["yes"]},
        "smoker=yes & age!=young",
        "smoker=yes, age=old|very old",
        "<smoker≠no, age≠young>",
        'age="old"|"very old" & smoker=yes & ill=0|1',
        "smoker=yes & age!=young & age!=young",
    ],
)
def test_one_feature_in_many_words(feature: object) -> None:
    model = Structure(SURVEY, [feature])  # type: ignore[list-item]
    assert list(model) == [{"smoker": ("yes",), "age": ("old", "very old")}]
    assert model == Structure(SURVEY, ["smoker=yes & age!=young"])
    check_features(model.features)


def test_an_int_is_a_label_and_never_an_index() -> None:
    domain = Domain({"A": [1, 0], "B": ["10", "20"]})
    assert list(Structure(domain, [{"A": 1, "B": 20}])) == [{"A": ("1",), "B": ("20",)}]
    assert Structure(domain, [{"A": np.int64(0)}]) == Structure(domain, ["A=0"])
    with pytest.raises(DomainError, match="variable 'B' has no state '1'; its states are 10, 20"):
        Structure(domain, [{"B": 1}])


@pytest.mark.parametrize(
    ("feature", "error", "words"),
    [
        ("age=ancient", DomainError, "'age' has no state 'ancient'; its states are young, old"),
        ({"weight": 1}, DomainError, "unknown variable 'weight'; the variables are smoker, age"),
        ({"age": None}, DomainError, "None"),
        ({"age": 1.5}, DomainError, "1.5"),
        ({"ill": True}, DomainError, "True is not a state"),
        ({1: "yes"}, DomainError, "unknown variable 1"),
        (7, DomainError, "{'smoker': 'yes'}, got 7"),
        ("age", ParseError, "expected '=' or '!=' but found the end"),
        ("age=", ParseError, "expected a name"),
        ("age=old smoker=yes", ParseError, "expected '&' or ','"),
        ("age=old &", ParseError, "expected a name"),
        ('age="old', ParseError, "cannot read"),
    ],
)
def test_bad_features_are_named(feature: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        Structure(SURVEY, [feature])  # type: ignore[list-item]
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_feature_that_never_holds_is_dropped_with_a_warning() -> None:
    with pytest.warns(ContradictionWarning, match="dropped 2 features that can never hold"):
        model = Structure(SURVEY, ["ill=0 & ill=1", {"age": []}, "ill=1 & smoker=yes"])
    assert model == Structure(SURVEY, ["ill=1 & smoker=yes"])


def test_a_literal_that_allows_everything_is_none() -> None:
    domain = {"A": 2, "B": 2, "C": 1}
    assert Structure(domain, ["A=0|1 & B=1 & C=0"]) == Structure(domain, ["B=1"])
    assert list(Structure(domain, ["C=0"])) == [{}]


@given(domains(max_states=70).flatmap(lambda d: st.tuples(st.just(d), st.lists(features(d)))))
def test_the_invariant_holds_whatever_is_given(
    drawn: tuple[Domain, list[dict[str, list[str]]]],
) -> None:
    domain, given_features = drawn
    model = Structure(domain, given_features)
    check_features(model.features)
    for row in all_rows(domain) if np.prod(domain.cardinalities) < 300 else ():
        before = {tuple(f) for f in given_features if holds(f, row)}
        assert bool(before) == any(holds(f, row) for f in model)


# -- values --------------------------------------------------------------------------------------


@given(data=st.data())
def test_equality_and_hash_look_at_the_features(data: st.DataObject) -> None:
    model = data.draw(structures())
    shuffled = data.draw(st.permutations(list(model)))
    again = Structure(model.domain, [*shuffled, *shuffled])
    assert again == model
    assert hash(again) == hash(model)
    assert len(again) == len(model) == len({*map(str, model)})
    assert (again != model) is False


@given(families(2))
def test_different_features_are_different_structures(models: tuple[Structure, ...]) -> None:
    a, b = models
    same = {tuple(f.items()) for f in a} == {tuple(f.items()) for f in b}
    assert (a == b) == same


def test_a_structure_is_no_other_thing() -> None:
    model = Structure({"A": 2})
    assert model != "A"
    assert model != LogLinear(model, [])
    assert model != Structure({"B": 2})
    assert model == Structure({"A": 2}, origin=Origin(description="elsewhere"))


def test_structures_are_frozen_and_can_be_pickled() -> None:
    model = Structure(SURVEY, ["smoker=yes & ill=1"], origin=Origin(directed=True))
    with pytest.raises(AttributeError):
        model.domain = SURVEY  # type: ignore[misc]
    copy = pickle.loads(pickle.dumps(model))
    assert copy == model
    assert copy.origin == Origin(directed=True)


@given(structures())
def test_the_text_of_a_feature_is_the_feature(model: Structure) -> None:
    texts = [model.feature_text(f) for f in range(len(model))]
    assert Structure(model.domain, texts) == model


@given(structures())
def test_repr_is_one_line_that_says_the_sizes(model: Structure) -> None:
    text = repr(model)
    assert re.match(rf"Structure\({len(model.domain)} variables?, {len(model)} features?", text)
    assert len(text.splitlines()) == len(repr(model.domain).splitlines()) == 1


class Tags(HTMLParser):
    """Collects the tags of a page, so that a smuggled one is seen."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.add(tag)


def test_html_is_escaped() -> None:
    evil = "<script>alert('&')</script>"
    domain = Domain({evil: [evil, "0"], "B": 2, "C": 2})
    model = Structure(domain, [{evil: evil, "B": 1, "C": 0}, {"B": 0}])
    for thing in (model, LogLinear(model, [0.5, 1.0])):
        tags = Tags()
        tags.feed(thing._repr_html_())
        assert "table" in tags.found
        assert "script" not in tags.found


# -- what it says --------------------------------------------------------------------------------


def test_statistics_scopes_and_pairs() -> None:
    model = Structure(
        SURVEY, ["smoker=yes & age=old & ill=1", "smoker=no & ill=0", "smoker=no & ill=1", "ill=1"]
    )
    expected = {
        "variables": 3,
        "features": 4,
        "mean_length": 2.0,
        "largest_length": 3,
        "pairs": 3,
        "scopes": 3,
    }
    assert expected.items() <= model.statistics().items()
    assert model.scopes() == {("smoker", "age", "ill"), ("smoker", "ill"), ("ill",)}
    assert model.pairs() == [("smoker", "age"), ("smoker", "ill"), ("age", "ill")]
    empty = Structure({})
    assert empty.statistics()["mean_length"] == 0.0
    assert empty.pairs() == []


# -- made from it --------------------------------------------------------------------------------


@given(data=st.data())
def test_restrict_keeps_what_is_compatible(data: st.DataObject) -> None:
    model = data.draw(structures(domains(max_states=70)))
    context = data.draw(assignments(model.domain))
    restricted = model.restrict(context)
    check_features(restricted.features)
    assert restricted.domain.names == tuple(n for n in model.domain.names if n not in context)
    expected = [
        {name: allowed for name, allowed in feature.items() if name not in context}
        for feature in model
        if all(state in feature.get(name, (state,)) for name, state in context.items())
    ]
    assert restricted == Structure(restricted.domain, expected)


def test_restrict_by_a_text_and_by_a_mapping() -> None:
    model = Structure(SURVEY, ["smoker=yes & age=old & ill=1", "age!=old & ill=1"])
    assert model.restrict("age=old & ill=1") == model.restrict({"age": "old", "ill": 1})
    assert list(model.restrict("age=old")) == [{"smoker": ("yes",), "ill": ("1",)}]
    assert model.restrict("ill=0|1") == model
    with pytest.raises(DomainError, match="leaves no state of 'age'"):
        model.restrict("age=old & age=young")


@given(families(3))
def test_union_is_the_union_of_features(models: tuple[Structure, ...]) -> None:
    a, b, c = models
    both = a | b
    check_features(both.features)
    assert {tuple(f.items()) for f in both} == {tuple(f.items()) for m in (a, b) for f in m}
    assert a | b == b | a
    assert (a | b) | c == a | (b | c)
    assert a | a == a == a.union(Structure(a.domain))


def test_union_aligns_by_name() -> None:
    a = Structure({"A": 2, "B": ["x", "y"]}, ["A=1 & B=x"])
    b = Structure({"B": ["y", "x"], "A": 2}, ["B=x & A=1", "B=y & A=0"])
    assert a | b == Structure(a.domain, ["A=1 & B=x", "A=0 & B=y"])
    assert a | LogLinear(b, [1.0, 2.0]) == a | b


@given(data=st.data())
def test_renaming_back_and_forth(data: st.DataObject) -> None:
    model = data.draw(structures())
    new = dict(
        zip(
            model.domain.names, data.draw(st.permutations(NAMES[: len(model.domain)])), strict=False
        )
    )
    there = model.renamed(new)
    check_features(there.features)
    assert there.domain.names == tuple(new[name] for name in model.domain.names)
    assert there.renamed({b: a for a, b in new.items()}) == model


def test_bad_renamings_are_named() -> None:
    model = Structure({"A": 2, "B": 2})
    with pytest.raises(DomainError, match="unknown variable 'C'"):
        model.renamed({"C": "D"})
    with pytest.raises(DomainError, match="would be called"):
        model.renamed({"A": "B"})


def test_features_of_another_domain_are_refused() -> None:
    with pytest.raises(DomainError, match="cardinalities"):
        Structure({"A": 3}, Structure({"A": 2}, ["A=1"]).features)


# -- weights -------------------------------------------------------------------------------------


def test_what_is_no_model_and_no_list_of_features_is_refused() -> None:
    domain = {"A": 2, "B": 2}
    with pytest.raises(DomainError, match=r"pass the features as a list, such as \['A=1'\]"):
        Structure(domain, "A=1")
    with pytest.raises(DomainError, match=r"a domain must be a mapping .* got 'list'"):
        Structure(["A", "B"], [])  # type: ignore[arg-type]
    for nothing in (None, 7, domain):
        with pytest.raises(DomainError, match="is not a model; pass a Structure, a LogLinear"):
            compare(Structure(domain), nothing)  # type: ignore[arg-type]


def test_weights_must_fit() -> None:
    structure = Structure({"A": 2, "B": 2}, ["A=1", "B=1"])
    with pytest.raises(DomainError, match=r"one weight per feature \(2\), got 1"):
        LogLinear(structure, [1.0])
    with pytest.raises(DomainError, match="feature 'B=1' is not a number"):
        LogLinear(structure, [1.0, float("nan")])
    model = LogLinear(structure, [float("inf"), 0.0])
    with pytest.raises(ValueError, match="read-only"):
        model.weights[0] = 1.0
    assert model.without_zero_weights() == LogLinear(
        Structure(structure.domain, ["A=1"]),
        [float("inf")],
    )


@given(log_linear_models())
def test_models_are_equal_by_feature_and_weight(model: LogLinear) -> None:
    backwards = LogLinear(
        Structure(model.domain, list(model.structure)[::-1]),
        model.weights[::-1],
    )
    assert backwards == model
    assert hash(backwards) == hash(model)
    assert pickle.loads(pickle.dumps(model)) == model
