"""The operations on features do what the paper proves of them, on features with value sets."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.errors import ContextwiseError, DomainError, ParseError
from contextwise.models.domain import Domain
from contextwise.paper import (
    Feature,
    c1,
    c2,
    cardinality,
    context_set,
    d_e_fg,
    d_fg,
    difference,
    features_of,
    intersection,
    partition_model,
)
from contextwise.testing import contexts_of, depends, domains, families

DOMAINS = domains(min_variables=2, max_variables=4, max_states=3)
Drawn = tuple[list[Feature], list[Feature], tuple[str, str], Domain]


@st.composite
def two_sets_and_a_pair(draw: st.DrawFn, max_features: int = 4) -> Drawn:
    """The features of two models, a pair, and the domain."""
    a, b = draw(families(2, DOMAINS, max_features=max_features))
    pair = draw(st.sampled_from(list(combinations(a.domain.names, 2))))
    return features_of(a), features_of(b), pair, a.domain


@given(families(1, DOMAINS))
def test_context_sets_are_those_of_the_definition(models: tuple) -> None:  # type: ignore[type-arg]
    (model,) = models
    for pair in combinations(model.domain.names, 2):
        contexts = {
            Feature(context)
            for context in contexts_of(model.domain, pair)
            if depends(model, pair, context)
        }
        assert context_set(features_of(model), pair, model.domain) == contexts


@given(two_sets_and_a_pair())
def test_intersection_and_difference_of_single_features(drawn: Drawn) -> None:
    true, guess, pair, domain = drawn
    for f in true:
        for g in guess:
            in_f, in_g = context_set(f, pair, domain), context_set(g, pair, domain)
            assert len(in_f) == cardinality(f, pair, domain)
            assert context_set(intersection(f, g, pair), pair, domain) == in_f & in_g
            pieces = difference(f, g, pair, domain)
            assert context_set(pieces, pair, domain) == in_f - in_g
            assert sum(cardinality(d, pair, domain) for d in pieces) == len(in_f - in_g)
            if c1(f, pair) and c1(g, pair) and c2(f, g, pair):
                simple = context_set(d_fg(f, g, pair, domain), pair, domain)
                exclusive = context_set(d_e_fg(f, g, pair, domain), pair, domain)
                assert simple == exclusive == in_f - in_g


@given(two_sets_and_a_pair(max_features=6))
def test_a_partition_model_has_the_same_contexts_once_each(drawn: Drawn) -> None:
    features, _, pair, domain = drawn
    parts = partition_model(features, pair, domain)
    contexts = context_set(features, pair, domain)
    assert context_set(parts, pair, domain) == contexts
    for p, q in combinations(parts, 2):
        assert not context_set(p, pair, domain) & context_set(q, pair, domain)
    assert sum(cardinality(p, pair, domain) for p in parts) == len(contexts)


def test_what_is_refused() -> None:
    with pytest.raises(ParseError, match=r"X0=0\|2"):
        Feature("<X0!=1>")
    with pytest.raises(DomainError, match="Z"):
        cardinality(Feature("<A=1, Z=1>"), ("A", "Z"), {"A": 2, "B": 2})
    many = {"A": 2, "B": 2, **{f"X{k}": 2 for k in range(30)}}
    with pytest.raises(ContextwiseError, match=r"1,073,741,824 elements.*compare"):
        context_set(Feature("<A=1, B=1>"), ("A", "B"), many)
