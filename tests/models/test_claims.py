"""Models given by their claims: what they say, and what is refused."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import (
    Claims,
    Structure,
    compare,
    compare_many,
    distance_matrix,
)
from contextwise.counting.contract import ENGINES
from contextwise.models.features import by_pairs
from contextwise.testing import (
    assignments,
    brute_force,
    brute_force_pairs,
    claims,
    contexts_of,
    depends,
    families,
    structures,
)

ABC = {"A": 2, "B": 2, "C": 2}


@given(families(2, with_claims=True))
def test_counts_of_claims_are_those_of_brute_force(models: tuple[Structure, ...]) -> None:
    true, guess = models
    wanted = brute_force_pairs(true, guess)
    comparison = compare(true, guess)
    for pair in combinations(true.domain.names, 2):
        assert comparison.pair(*pair) == wanted[pair]


@pytest.mark.parametrize("engine", sorted(ENGINES))
@given(models=families(2, with_claims=True))
def test_every_engine_counts_claims(engine: str, models: tuple[Structure, ...]) -> None:
    if ENGINES[engine].missing():
        pytest.skip(str(ENGINES[engine].missing()))
    assert compare(*models, engine=engine).confusion == brute_force(*models)


@given(structures())
def test_the_claims_of_features_are_at_distance_0(model: Structure) -> None:
    made = Claims.of(model)
    assert compare(model, made).distance == 0
    assert made == Claims(model.domain, by_pairs(model.features))


@given(families(3, with_claims=True))
def test_a_matrix_of_claims(models: tuple[Structure, ...]) -> None:
    exact = [[brute_force(a, b).distance for b in models] for a in models]
    assert distance_matrix(models).distances.tolist() == exact
    assert [c.distance for c in compare_many(models[0], models[1:])] == exact[0][1:]


@given(st.data())
def test_restricting_and_aligning_claims(data: st.DataObject) -> None:
    model = data.draw(claims())
    domain = model.domain
    context = data.draw(assignments(domain))
    restricted = model.restrict(context)
    for pair in combinations(restricted.domain.names, 2):
        for rest in contexts_of(restricted.domain, pair):
            assert depends(restricted, pair, rest) == depends(model, pair, {**rest, **context})
    order = data.draw(st.permutations(domain.names))
    moved = type(domain)({name: domain.states[domain.position(name)] for name in order})
    aligned = model.aligned_to(moved)
    assert isinstance(aligned, Claims)
    assert brute_force(model, aligned.aligned_to(domain)).distance == 0
    assert aligned.aligned_to(domain) == model


@given(families(2, with_claims=True))
def test_a_union_depends_where_either_does(models: tuple[Structure, ...]) -> None:
    a, b = models
    union = a | b
    for pair in combinations(a.domain.names, 2):
        for context in contexts_of(a.domain, pair):
            either = depends(a, pair, context) or depends(b, pair, context)
            assert depends(union, pair, context) == either
