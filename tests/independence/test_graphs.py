"""Graphs, blankets, and what a graph distance sees."""

from hypothesis import given
from hypothesis import strategies as st

from contextwise.independence import graph
from contextwise.models.domain import Domain
from contextwise.models.structure import Structure
from contextwise.testing import assignments, domains, structures
from independence_oracle import connected, is_independent


@st.composite
def in_context(draw: st.DrawFn) -> tuple[Structure, dict[str, str]]:
    structure = draw(structures(domains(max_variables=5, max_states=3)))
    return structure, draw(assignments(structure.domain))


@given(in_context())
def test_edges_are_shared_compatible_features(case: tuple[Structure, dict[str, str]]) -> None:
    structure, context = case
    found = graph(structure, context)
    free = [name for name in structure.domain.names if name not in context]
    assert list(found.nodes) == free
    for k, a in enumerate(free):
        for b in free[k + 1 :]:
            linked = any(
                {a, b} <= feature.keys()
                and all(context[v] in s for v, s in feature.items() if v in context)
                for feature in structure
            )
            assert found.has_edge(a, b) == linked


@given(in_context())
def test_components_are_what_the_definition_connects(
    case: tuple[Structure, dict[str, str]],
) -> None:
    import networkx as nx

    structure, context = case
    found = graph(structure, context)
    for a in found.nodes:
        for b in found.nodes:
            assert nx.has_path(found, a, b) == (a == b or connected(structure, [a], [b], context))


@given(in_context())
def test_the_neighbours_are_a_blanket(case: tuple[Structure, dict[str, str]]) -> None:
    structure, context = case
    found = graph(structure, context)
    for name in found.nodes:
        blanket = set(found.neighbors(name))
        rest = set(found.nodes) - blanket - {name}
        if rest:
            assert is_independent(structure, name, rest, given=blanket, context=context)


def test_equal_graphs_can_be_far_apart() -> None:
    domain = Domain({"X0": 2, "X1": 2, "X2": 2})
    saturated = [f"X0={a} & X1=1 & X2=1" for a in (0, 1)]
    some, other = Structure(domain, saturated), Structure(domain, saturated[:1])
    assert some.pairs() == other.pairs()
