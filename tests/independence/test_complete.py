"""The complete dependency model: its size, its content, and what it has to do with the distance."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.comparison.compare import compare
from contextwise.errors import TooLargeError
from contextwise.independence import (
    compare_complete,
    dependency_model,
    edges_of,
    is_independent,
)
from contextwise.independence.complete import triplet_count
from contextwise.models.domain import Domain
from contextwise.models.structure import Structure
from contextwise.testing import claims, domains, families, structures
from independence_oracle import independent, triplets

BINARY = Domain(dict.fromkeys("ABCD", 2))
SMALL = domains(max_variables=4, max_states=3)


def test_the_table_of_the_paper() -> None:
    sizes = Counter((len(t.given), len(t.context)) for t in triplets(BINARY))
    assert sizes == {(0, 0): 6, (1, 0): 12, (2, 0): 6, (0, 1): 24, (0, 2): 24, (1, 1): 24}
    assert triplet_count(BINARY) == 96


@given(SMALL)
def test_triplets_are_distinct_and_as_many_as_said(domain: Domain) -> None:
    found = [(t.first, t.second, t.given, tuple(t.context.items())) for t in triplets(domain)]
    assert len(set(found)) == len(found) == triplet_count(domain)


@given(structures(SMALL) | claims(SMALL))
def test_it_holds_what_depends_and_nothing_else(structure: Structure) -> None:
    dependent = set(map(str, dependency_model(structure)))
    for statement in triplets(structure.domain):
        assert (str(statement) in dependent) == (not independent(structure, statement))


@given(structures(SMALL) | claims(SMALL))
def test_queries_agree(structure: Structure) -> None:
    dependent = set(map(str, dependency_model(structure)))
    for t in triplets(structure.domain):
        answer = is_independent(structure, t.first, t.second, given=t.given, context=t.context)
        assert answer is (str(t) not in dependent)


@given(families(2, SMALL, with_claims=True))
def test_the_confusion_matrix_counts_triplets(models: tuple[Structure, Structure]) -> None:
    true, guess = models
    in_true, in_guess = (set(map(str, dependency_model(model))) for model in models)
    matrix = compare_complete(true, guess)
    assert matrix.total == triplet_count(true.domain)
    assert matrix.tp == len(in_true & in_guess)
    assert matrix.fn == len(in_true - in_guess)
    assert matrix.fp == len(in_guess - in_true)


@given(families(2, SMALL, with_claims=True))
def test_equal_claims_are_equal_models(models: tuple[Structure, Structure]) -> None:
    """The discrimination of the metric: d = 0 exactly when the complete models are equal."""
    assert (compare(*models).distance == 0) == (compare_complete(*models).distance == 0)


@given(families(2, SMALL, with_claims=True))
def test_errors_never_exceed_those_of_the_complete_models(
    models: tuple[Structure, Structure],
) -> None:
    reduced, complete = compare(*models), compare_complete(*models)
    assert reduced.fp <= complete.fp
    assert reduced.fn <= complete.fn


@st.composite
def undirected(draw: st.DrawFn) -> Structure:
    """A graph as a structure: the features of every edge's full table."""
    edges = draw(st.sets(st.sampled_from(list(combinations(BINARY.names, 2)))))
    return Structure(
        BINARY, [{i: a, j: b} for i, j in sorted(edges) for a in (0, 1) for b in (0, 1)]
    )


@given(undirected(), undirected())
def test_graphs_are_equal_exactly_when_their_complete_models_are(
    true: Structure, guess: Structure
) -> None:
    """The equivalence that the paper states without proof."""
    same_graph = edges_of(true) == edges_of(guess)
    assert same_graph == (compare_complete(true, guess).distance == 0)
    assert same_graph == (compare(true, guess).distance == 0)


def test_too_large_says_how_large_before_it_starts() -> None:
    large = Structure(Domain.of_cardinalities([2] * 1001))
    for ask in (
        lambda: dependency_model(large),
        lambda: compare_complete(large, large),
    ):
        with pytest.raises(TooLargeError, match=r"1001 variables has \S+e607 assertions"):
            ask()
    with pytest.raises(TooLargeError, match="has 96 assertions, more than 95"):
        dependency_model(Structure(BINARY), limit=95)
