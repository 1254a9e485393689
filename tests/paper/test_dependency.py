"""Dependency models agree with the definitions by brute force; what they say about the metric."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import compare
from contextwise.errors import ContextwiseError
from contextwise.independence import query
from contextwise.independence.queries import Statement, parse_statement
from contextwise.models.domain import Domain
from contextwise.models.structure import Structure
from contextwise.paper import (
    Assertion,
    assertions,
    complete_model,
    confusion_complete,
    dependency_model,
    triplets,
)
from contextwise.testing import (
    brute_force,
    claims,
    contexts_of,
    depends,
    domains,
    families,
    structures,
)
from independence_oracle import independent

BINARY = Domain(dict.fromkeys("ABCD", 2))
SMALL = domains(max_variables=4, max_states=3)
TINY = domains(max_variables=3, max_states=3)


def statement(a: Assertion) -> Statement:
    return Statement((a.first,), (a.second,), a.given, dict(a.context))


def test_the_table_of_the_paper() -> None:
    sizes = Counter((len(t.given), len(t.context)) for t in triplets(BINARY))
    assert sizes == {(0, 0): 6, (1, 0): 12, (2, 0): 6, (0, 1): 24, (0, 2): 24, (1, 1): 24}


@given(SMALL)
def test_no_assertion_is_listed_twice(domain: Domain) -> None:
    everything = triplets(domain)
    assert len(set(everything)) == len(everything)
    full = {t for t in everything if not t.given and len(t.context) == len(domain) - 2}
    assert set(assertions(domain)) == full
    pairs = combinations(domain.names, 2)
    assert len(full) == sum(len(list(contexts_of(domain, pair))) for pair in pairs)


@given(structures(SMALL) | claims(SMALL))
def test_dependency_models_agree_with_their_definitions(structure: Structure) -> None:
    complete, reduced = complete_model(structure), dependency_model(structure)
    for t in triplets(structure.domain):
        assert (t not in complete) is independent(structure, statement(t))
    for t in assertions(structure.domain):
        assert (t in reduced) is depends(structure, t[:2], dict(t.context))
        assert (t in reduced) is (t in complete)


@given(structures(TINY) | claims(TINY))
def test_queries_agree(structure: Structure) -> None:
    complete = complete_model(structure)
    for t in triplets(structure.domain):
        assert bool(query(structure, statement(t))) is (t not in complete)


@given(domains(max_variables=3, max_states=2))
def test_an_assertion_reads_as_it_is_printed(domain: Domain) -> None:
    for t in triplets(domain):
        assert parse_statement(str(t)) == statement(t)


@given(families(2, SMALL, with_claims=True))
def test_confusion_matrices_are_those_of_the_sets(models: tuple[Structure, Structure]) -> None:
    true, guess = map(complete_model, models)
    complete = confusion_complete(*models)
    assert (complete.tp, complete.fn, complete.fp) == (
        len(true & guess), len(true - guess), len(guess - true)
    )  # fmt: skip
    assert complete.total == len(triplets(models[0].domain))
    reduced = brute_force(*models)
    assert compare(*models).confusion == reduced
    assert reduced.fp <= complete.fp
    assert reduced.fn <= complete.fn
    assert (reduced.distance == 0) == (complete.distance == 0)  # the discrimination of the metric


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
    same_graph = true.pairs() == guess.pairs()
    assert same_graph == (complete_model(true) == complete_model(guess))
    assert same_graph == (compare(true, guess).distance == 0)


@pytest.mark.parametrize("names", ["", "A", "AB"])
def test_empty_models_and_few_variables(names: str) -> None:
    nothing = Structure(dict.fromkeys(names, 3))
    assert triplets(nothing.domain) == assertions(nothing.domain)
    assert complete_model(nothing) == dependency_model(nothing) == set()
    assert confusion_complete(nothing, nothing).tn == len(names) // 2


def test_a_large_domain_names_compare() -> None:
    domain = {f"X{k}": 2 for k in range(10)}
    with pytest.raises(ContextwiseError, match=r"has 2,949,120 elements.*contextwise\.compare"):
        complete_model(Structure(domain))
    with pytest.raises(ContextwiseError, match=r"T_FC has 49,807,360 .*compare"):
        assertions({f"X{k}": 2 for k in range(20)})
