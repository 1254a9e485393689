"""Graphs of pyAgrum and networkx are accepted where those of pgmpy are."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest

import contextwise as cw
from contextwise.errors import DomainError

DOMAIN = dict.fromkeys("ABCD", 2)
KEPT: list[Any] = []
"""Networks of pyAgrum: an EssentialGraph reads names from its network, also after its end."""
MORAL = [("A", "B"), ("A", "C"), ("B", "C"), ("C", "D")]


def _graphs() -> dict[str, Any]:
    gum: Any = pytest.importorskip("pyagrum")
    network = gum.fastBN("A->B<-C->D")
    unnamed = gum.PDAG()
    unnamed.addNodes(4)
    for arc in ((0, 1), (2, 1)):
        unnamed.addArc(*arc)
    unnamed.addEdge(2, 3)
    KEPT.append(network)
    return {
        "DAG": network.dag(),
        "EssentialGraph": gum.EssentialGraph(network),
        "PDAG": unnamed,
        "DiGraph": nx.DiGraph([("A", "B"), ("C", "B"), ("C", "D")]),
    }


@pytest.mark.parametrize("kind", ["DAG", "EssentialGraph", "PDAG", "DiGraph"])
def test_every_function_takes_every_graph(kind: str) -> None:
    graph = _graphs()[kind]
    made = [cw.convert.from_graph(graph, DOMAIN), cw.convert.from_pgmpy(graph, DOMAIN)]
    if kind != "DiGraph":
        made.append(cw.convert.from_pyagrum(graph, DOMAIN))
    assert [structure.pairs() for structure in made] == [MORAL] * len(made)
    assert all(structure.directions is not None for structure in made), made


@pytest.mark.filterwarnings("ignore:the graphs have no states")
def test_named_graphs_are_models() -> None:
    graphs = _graphs()
    for kind in ("DAG", "EssentialGraph"):
        assert cw.compare(graphs[kind], graphs["DiGraph"]).distance == 0


def test_a_graph_without_states_asks_for_them() -> None:
    graphs = _graphs()
    with pytest.raises(DomainError, match="a graph has no states; pass domain="):
        cw.convert.from_pyagrum(graphs["DAG"])
    with pytest.raises(DomainError, match="the graph has a node 3, and there are 3 variables"):
        cw.convert.from_pyagrum(graphs["PDAG"], dict.fromkeys("ABC", 2))
