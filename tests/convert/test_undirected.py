"""Undirected classes: random parameters, joint tables, and what the features claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any

import networkx as nx
import numpy as np
import pytest

import contextwise as cw
from contextwise import Domain, distance, examples
from contextwise.convert import (
    from_canonical,
    from_graph,
    from_interactions,
    from_stratified,
)
from contextwise.errors import DomainError, TooLargeError
from contextwise.models.structure import structure_of
from convert_oracle import (
    Pair,
    assert_equal,
    claims,
    constrained,
    interactions,
    random_context,
    random_domain,
    random_edges,
    random_table,
    representable,
    table_of,
)

SEEDS = range(25)
ABC = Domain({"A": 2, "B": 2, "C": 2})


# -- graphs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("by", ["cliques", "edges"])
def test_graphs(seed: int, by: Any) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 4)
    graph: Any = nx.Graph()
    graph.add_nodes_from(domain.names)
    graph.add_edges_from(random_edges(rng, domain, 0.6))
    logs = sum(random_table(rng, domain, clique) for clique in nx.find_cliques(graph))
    assert_equal(claims(from_graph(graph, domain, by=by)), interactions(np.asarray(logs)))


def test_three_ways_to_write_a_graph() -> None:
    edges = [("A", "B"), ("B", "C")]
    matrix = np.array([[0, 1, 0], [1, 0, 2.5], [0, 2.5, 0]])
    assert from_graph(edges, ABC) == from_graph(matrix, ABC) == from_graph(nx.Graph(edges), ABC)
    assert from_graph([("B", "A"), ("C", "B")], ABC) == from_graph(iter(edges), ABC)


def test_a_large_clique_names_the_way_out() -> None:
    domain = Domain.of_cardinalities([2] * 30)
    complete = nx.complete_graph(domain.names)
    with pytest.raises(TooLargeError, match=r"27 more has 1073741824 cells.*by='edges'"):
        from_graph(complete, domain)
    assert len(from_graph(complete, domain, by="edges")) == 435 * 4


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([("A", "A")], "two different variables, got 'A', 'A'"),
        ([("A", "Z")], "unknown variable 'Z'"),
        ([("A", "B", "C")], "two different variables, got 'A', 'B', 'C'"),
        (["AB"], "two different variables, got 'AB'"),
        ("AB", "'AB' is not a graph"),
        (7, "7 is not a graph"),
        (np.ones((2, 2)), r"shape \(2, 2\); expected \(3, 3\)"),
        (np.triu(np.ones((3, 3)), 1), "'A' and 'B' have an edge one way only"),
        (np.eye(3), "'A' cannot have an edge to itself"),
    ],
)
def test_bad_graphs(graph: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        from_graph(graph, ABC)


# -- stratified graphical models -----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_stratified(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 4)
    edges = random_edges(rng, domain, 0.85)
    graph = nx.Graph(edges)
    strata = {}
    for edge in edges:
        common = sorted(nx.common_neighbors(graph, *edge))
        if common and rng.random() < 0.5:
            strata[edge] = [random_context(rng, domain, common) for _ in range(2)]
    where = {
        tuple(map(domain.position, edge)): [domain.assignment(outcome) for outcome in outcomes]
        for edge, outcomes in strata.items()
    }
    present = {tuple(map(domain.position, edge)) for edge in edges}

    def independent(pair: Pair, context: Mapping[int, int]) -> bool:
        return pair not in present or any(
            outcome.items() <= context.items() for outcome in where.get(pair, [])
        )

    structure = from_stratified(edges, domain, strata)
    wanted = table_of(domain, independent)
    assert_equal(claims(structure), wanted)
    assert isinstance(structure, cw.Claims) != representable(wanted, domain)
    if representable(wanted, domain):
        assert_equal(wanted, interactions(constrained(rng, domain, independent)))


def test_a_stratum_over_neighbours_that_are_not_adjacent() -> None:
    domain = Domain({"A": 2, "B": 2, "C": 2, "D": 2})
    edges = [("A", "B"), ("A", "C"), ("B", "C"), ("A", "D"), ("B", "D")]
    opposite = {("A", "B"): ["C=0 & D=0", "C=1 & D=1"]}
    alone = from_stratified(edges, domain, opposite)
    assert isinstance(alone, cw.Claims)
    assert alone.restrict("C=0 & D=0").pairs() == []
    assert alone.restrict("C=0 & D=1").pairs() == [("A", "B")]
    joined = from_stratified([*edges, ("C", "D")], domain, opposite)
    assert joined.restrict("C=0 & D=0").pairs() == []
    assert joined.restrict("C=0 & D=1").pairs() == [("A", "B")]


@pytest.mark.parametrize(
    ("strata", "message"),
    [
        ({("A", "C"): ["B=0"]}, "no edge between 'A' and 'C'"),
        ({("A", "B"): ["C=0"]}, "mentions C, which is not a common neighbour"),
        ({("A", "B"): ["A=0"]}, "mentions A, which is not a common neighbour"),
        ({("A", "B"): "C=0"}, "as a list of contexts"),
        ({("A", "B"): ["C=0 & C=1"]}, "leaves no state of 'C'"),
    ],
)
def test_bad_strata(strata: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        from_stratified([("A", "B"), ("B", "C")], ABC, strata)


# -- canonical models ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_canonical(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 4)
    by = list(domain.names[: rng.integers(1, 3)])
    rest = [name for name in domain.names if name not in by]
    contexts = [f"{by[0]}={state}" for state in domain.states[0]]
    if len(by) == 2:
        contexts = [*contexts[:-1], *(f"{contexts[-1]} & {by[1]}={s}" for s in domain.states[1])]
    graphs: dict[str, Any] = {}
    for context in contexts:
        nodes = rest if by[-1] in context else [*by[1:], *rest]
        graph: Any = nx.Graph()
        graph.add_nodes_from(nodes)
        graph.add_edges_from(pair for pair in combinations(nodes, 2) if rng.random() < 0.6)
        graphs[context] = graph

    def independent(pair: Pair, context: Mapping[int, int]) -> bool:
        names = {domain.names[v] for v in pair}
        return any(
            names <= set(graph.nodes)
            and not graph.has_edge(*names)
            and domain.assignment(text).items() <= context.items()
            for text, graph in graphs.items()
        )

    structure = from_canonical(graphs, domain)
    assert_equal(claims(structure), interactions(constrained(rng, domain, independent)))
    if len(by) == 1:
        for context, graph in graphs.items():
            edges = {tuple(sorted(edge)) for edge in graph.edges}
            assert set(structure.restrict(context).pairs()) == edges


def test_the_model_of_the_paper_is_two_graphs() -> None:
    six = structure_of(examples.load("six"))
    others = six.domain.names[1:]
    graphs = {"X0=0": list(combinations(others, 2)), "X0=1": []}
    assert distance(from_canonical(graphs, six.domain), six) == 0
    strata = {pair: ["X0=1"] for pair in combinations(others, 2)}
    complete = nx.complete_graph(six.domain.names)
    assert distance(from_stratified(complete, six.domain, strata), six) == 0
    terms: list[tuple[str, Any]] = [("X0=0", [others]), ("X0=1", [[name] for name in others])]
    assert distance(from_interactions(terms, six.domain), six) == 0


def test_an_edge_that_a_context_switches_needs_its_ends_to_depend_on_it() -> None:
    graphs = {"C=0": nx.Graph([("A", "B")]), "C=1": nx.Graph()}
    for graph in graphs.values():
        graph.add_nodes_from(ABC.names)
    assert repr(from_canonical(graphs, ABC)) == "Claims(3 variables, 1 region: A–B where C=0)"
    for graph in graphs.values():
        graph.add_edges_from([("A", "C"), ("B", "C")])
    assert from_canonical(graphs, ABC).restrict("C=0").pairs() == [("A", "B")]


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        ({"C=0": []}, "no graph covers the context C=1"),
        ({}, "no graph covers the context without literals"),
        ({"": [("A", "B")], "C=0": []}, "A and B have an edge in the graph of '' and none in"),
        (
            {"C=0": [("A", "C"), ("A", "B")], "C=1": [("B", "C")]},
            "A and C have an edge in the graph of 'C=0' and none in that of 'C=1'",
        ),
        ({"Z=0": []}, "unknown variable 'Z'"),
    ],
)
def test_bad_canonical_models(graphs: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        from_canonical(graphs, ABC)


def partitions_of_a_cube() -> Iterator[set[tuple[int, tuple[int, ...]]]]:
    """Yield the edges (direction, other coordinates) inside the parts of a cube's vertices.

    These are the regular labellings of a node Y with three binary neighbours: Y does not depend on
    a neighbour where the rows at both ends are equal. No neighbour is without effect everywhere.
    """
    edges = [(d, c) for d in range(3) for c in product((0, 1), repeat=2)]
    ends = {(d, c): [(*c[:d], x, *c[d:]) for x in (0, 1)] for d, c in edges}
    for size in range(len(edges) + 1):
        for chosen in combinations(edges, size):
            part = {vertex: {vertex} for vertex in product((0, 1), repeat=3)}
            for a, b in (ends[edge] for edge in chosen):
                merged = part[a] | part[b]
                part |= dict.fromkeys(merged, merged)
            inside = {edge for edge in edges if ends[edge][1] in part[ends[edge][0]]}
            regular = all(sum(e[0] == d for e in inside) < 4 for d in range(3))
            if regular and inside == {*chosen}:
                yield inside


def test_every_labelling_of_a_clique_of_four_converts() -> None:
    """172 of them have no features; they become claims."""
    domain, kinds = Domain(dict.fromkeys("ABCY", 2)), Counter[bool]()
    for labelling in partitions_of_a_cube():
        strata: dict[tuple[str, str], list[str]] = {}
        wanted = {pair: np.ones((2, 2), dtype=bool) for pair in combinations(range(4), 2)}
        for d, context in labelling:
            others = [name for name in "ABC" if name != "ABC"[d]]
            text = " & ".join(f"{name}={x}" for name, x in zip(others, context, strict=True))
            strata.setdefault(("ABC"[d], "Y"), []).append(text)
            wanted[d, 3][context] = False
        model = from_stratified(list(combinations("ABCY", 2)), domain, strata)
        kinds[model.given_by_claims] += 1
        assert_equal(claims(model), wanted)
    assert kinds == {False: 755, True: 172}
