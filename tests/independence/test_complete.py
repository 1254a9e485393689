"""The complete dependency model of the paper, by brute force, and what it says about the metric."""

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from contextwise.comparison.two_models import compare
from contextwise.independence import edges_of
from contextwise.models.domain import Domain
from contextwise.models.structure import Structure
from contextwise.testing import claims, domains, families, structures
from independence_oracle import complete_model, independent, is_independent, triplets

BINARY = Domain(dict.fromkeys("ABCD", 2))
SMALL = domains(max_variables=4, max_states=3)


def test_the_table_of_the_paper() -> None:
    sizes = Counter((len(t.given), len(t.context)) for t in triplets(BINARY))
    assert sizes == {(0, 0): 6, (1, 0): 12, (2, 0): 6, (0, 1): 24, (0, 2): 24, (1, 1): 24}


@given(structures(SMALL) | claims(SMALL))
def test_queries_agree(structure: Structure) -> None:
    for t in triplets(structure.domain):
        answer = is_independent(structure, t.first, t.second, given=t.given, context=t.context)
        assert answer is independent(structure, t)


@given(families(2, SMALL, with_claims=True))
def test_equal_claims_are_equal_models(models: tuple[Structure, Structure]) -> None:
    """The discrimination of the metric: d = 0 exactly when the complete models are equal."""
    true, guess = map(complete_model, models)
    assert (compare(*models).distance == 0) == (true == guess)


@given(families(2, SMALL, with_claims=True))
def test_errors_never_exceed_those_of_the_complete_models(
    models: tuple[Structure, Structure],
) -> None:
    reduced = compare(*models)
    true, guess = map(complete_model, models)
    assert reduced.fp <= len(guess - true)
    assert reduced.fn <= len(true - guess)


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
    assert same_graph == (complete_model(true) == complete_model(guess))
    assert same_graph == (compare(true, guess).distance == 0)
