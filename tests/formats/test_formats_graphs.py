"""Graphs without tables: model strings, Tetrad, DOT, GML, lists of edges, matrices, .bnet."""

from __future__ import annotations

import io
from itertools import combinations, product
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

from contextwise import compare, read, write
from contextwise.errors import ContextwiseError, DomainError, ParseError
from contextwise.formats import read_stream
from contextwise.formats.reading import FormatWarning
from contextwise.models.directions import moral_pairs
from contextwise.models.structure import Model, Structure
from read_graphs import arcs, graph

COLLIDER = {
    "modelstring": "[A][B|A:C][C]\n",
    "tetrad": "Graph Nodes:\nA;B;C\n\nGraph Edges:\n1. A --> B\n2. C --> B dd nl\n\n"
    "Graph Attributes:\nBIC: 3\n",
    "dot": '/* x */ strict digraph "n" { graph [dpi=300]; rankdir=LR\n'
    'A [label="<b>" pos="1,2!"]; {A "C"} -> B:n [color=red] // y\n}',
    "gml": 'Creator "x"\ngraph [ directed 1 node [ id 0 label "A" ] node [ id 1 label "B" ]\n'
    'node [ id 2 label "C" ] edge [ source 0 target 1 ] edge [ source 2 target 1 ] ]',
    "edges": "ID;Variable 1;Dependency;Variable 2\n1;A;->;B\n2;B;<-;C\n",
    "bnet": "targets, factors\n# x\nB, A & !(C | A)\n",
}


@pytest.mark.parametrize("format", COLLIDER)
def test_a_collider_in_each_format(format: str) -> None:
    model = graph(COLLIDER[format], format)
    assert arcs(model) == [("A", "B"), ("C", "B")]
    assert isinstance(model, Structure)
    assert sorted(map(sorted, model.pairs())) == [["A", "B"], ["A", "C"], ["B", "C"]]
    assert model.origin.unknown_states


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("graph.edges", "A B\nC B\n"),
        ("graph.txt", "digraph {\nA -> B\nC -> B\n}\n"),
        ("graph.txt", "dag {\nA [exposure]\nA -> B <- C\n}\n"),
        ("graph.txt", '"[A][B|A:C][C]"\n'),
        ("graph.txt", '[1] "[A][B|A:C][C]"\n'),
        ("graph.txt", COLLIDER["tetrad"].replace("Nodes", "nodes").replace("C\n", "C;\n")),
        ("graph.gml", "digraph { A -> B; C -> B }"),
        ("graph.gml", COLLIDER["gml"].replace("label", "name")),
        ("graph.dot", "digraph { A -> B; C -> B; A -> C [style=invis] }"),
        ("graph.bnet", "A, A\nB, A | C\nC, 1\n"),
    ],
)
def test_files_as_other_programs_write_them(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert arcs(read(tmp_path / name)) == [("A", "B"), ("C", "B")]


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("graph { A -- B -- C }", "dot"),
        ("digraph { edge [dir=none] A -> B -> C }", "dot"),
        ("A -- B\nB -- C\n", "edges"),
        ("A,B,C\n0,1,0\n1,0,1\n0,1,0\n", "edges"),
        ("from,to\nA,B\nB,A\nB,C\nC,B\n", "edges"),
        ("Source;Target;Type\nA;B;Undirected\nB;C;Undirected\n", "edges"),
        ("node1,node2\nA,B\nB,C\n", "edges"),
        ("Graph Nodes:\nA,B,C\n\nGraph Edges:\n1. A --- B\n2. B --- C\n", "tetrad"),
        (COLLIDER["gml"].replace("directed 1", ""), "gml"),
    ],
)
def test_an_undirected_graph_has_no_directions(text: str, format: str) -> None:
    model = graph(text, format)
    assert isinstance(model, Structure)
    assert model.pairs() == [("A", "B"), ("B", "C")]
    assert model.directions is None


def test_the_ends_of_an_edge_as_dot_draws_them() -> None:
    """As causal-learn writes them: numbers with labels, and both ends as attributes."""

    def drawn(tail: str, head: str) -> Model:
        edge = f"0 -> 1 [dir=both, arrowtail={tail}, arrowhead={head}];"
        return graph(f'digraph {{ 0 [label="age"]; 1 [label="ill"]; {edge} }}', "dot")

    assert arcs(drawn("none", "normal")) == [("age", "ill")]
    assert arcs(drawn("normal", "none")) == [("ill", "age")]
    assert drawn("none", "none").directions is None
    assert arcs(graph("digraph { A -> B [dir=back] }", "dot")) == [("B", "A")]
    assert arcs(graph("dag { A [exposure]; A -> B; C -> B; B [outcome] }", "dot")) == [
        ("A", "B"),
        ("C", "B"),
    ]
    with pytest.raises(ParseError, match="has a circle"):
        drawn("odot", "normal")
    with pytest.warns(FormatWarning, match="age <-> ill: read as a hidden common cause"):
        directions = drawn("normal", "normal").directions
    assert directions is not None
    assert directions.confounded == {(0, 1)}


def test_a_partly_directed_graph_has_the_pairs_of_its_dags() -> None:
    text = "Graph Nodes:\nA;B;C;D\n\nGraph Edges:\n1. A --> C\n2. B --> C\n3. A --- D\n"
    model = graph(text, "tetrad")
    assert isinstance(model, Structure)
    assert model.pairs() == [("A", "B"), ("A", "C"), ("A", "D"), ("B", "C")]
    assert model.directions is not None
    assert arcs(model) == [("A", "C"), ("A", "D"), ("B", "C")]
    assert model.directions.undirected == {(0, 3)}
    cycle = "A --> B\nB --- C\nC --> D\nD --> A\n"
    with pytest.raises(ParseError, match="this partly directed graph stands for no DAG"):
        graph(cycle, "edges")


def colliders(dag: Any) -> set[tuple[int, int, int]]:
    return {
        (a, v, b)
        for v in dag
        for a, b in combinations(sorted(dag.predecessors(v)), 2)
        if not dag.has_edge(a, b) and not dag.has_edge(b, a)
    }


@pytest.mark.parametrize("seed", range(30))
def test_dags_and_their_patterns_have_the_same_pairs(seed: int) -> None:
    """Keep the arcs of colliders and drop all other directions."""
    rng = np.random.default_rng(seed)
    n = 6
    dag: Any = networkx.DiGraph()
    dag.add_nodes_from(range(n))
    order = rng.permutation(n).tolist()
    dag.add_edges_from(
        (order[i], order[j]) for i, j in combinations(range(n), 2) if rng.random() < 0.4
    )
    kept = {arc for a, v, b in colliders(dag) for arc in ((a, v), (b, v))}
    lines = [f"v{a} {'-->' if (a, b) in kept else '---'} v{b}" for a, b in dag.edges]
    nodes = ";".join(f"v{k}" for k in range(n))
    model = graph(f"Graph Nodes:\n{nodes}\n\nGraph Edges:\n" + "\n".join(lines), "tetrad")
    moral = moral_pairs([sorted(dag.predecessors(v)) for v in range(n)])
    assert isinstance(model, Structure)
    assert model.pairs() == [(f"v{a}", f"v{b}") for a, b in moral]


@pytest.mark.parametrize(
    ("text", "format", "message"),
    [
        ("[A][B|A", "modelstring", "expected a family such as [B|A:C], got '[B|A'"),
        ("[A][B|Z]", "modelstring", "the parent 'Z' has no family"),
        ("[A][A|B][B]", "modelstring", "'A' has two families"),
        ("[A|B][B|A]", "modelstring", "a cycle: "),
        ("[A|A]", "modelstring", "has an edge to itself: a cycle"),
        ("Graph Nodes:\nA;B\nGraph Edges:\n1. A --> Z", "tetrad", "'Z' is not in the list"),
        ("Graph Nodes:\nA;B\nGraph Edges:\n1. A o-> B", "tetrad", "A o-> B has a circle"),
        ("Graph Nodes:\nA;B\nGraph Edges:\n1. A ~ B", "tetrad", "expected an edge such as A -->"),
        ("Graph Nodes:\n\nGraph Edges:\n", "tetrad", "the graph has no nodes"),
        ("digraph { A -> B; B -> A }", "dot", "a cycle: "),
        ("digraph { A -> B; A -> B [dir=none] }", "dot", "with and without a direction"),
        ("digraph { A -> }", "dot", "expected a name but found '}'"),
        ("digraph { A", "dot", "found the end of the file"),
        ("digraph { A [x=1", "dot", "but found the end of the file"),
        ("graph A -- B", "dot", "expected '{'"),
        ("digraph " + "{" * 5000, "dot", "nested too deeply"),
        ("graph [ node [ id 0 ]", "gml", "this is not valid GML"),
        ("B, A\nA', B\nC, C & B", "bnet", 'the name "A\'" ends like those of the next step'),
        ("B, A\nB, C", "bnet", "expected one rule for each target, got 'B, C'"),
        ("B, A[-1]", "bnet", "cannot read 'A[-1]' in the rule of 'B'"),
        ("digraph { A -> B, C }", "dot", "expected a name but found ','"),
        ("digraph { A -> B } digraph { B -> A }", "dot", "expected the end of the file"),
        ("from,to\nA,B\nC\n", "edges", "expected an edge, got 'C'"),
        ("from,to,strength\nA,B,0.1\nA,C,0.2\n", "edges", "also has the column 'strength'"),
        ("from,to,weight\nA,B,0\nA,C,0.2\n", "edges", "also has the column 'weight'"),
        ("A,B\nC,B\nA,C\n", "edges", "if each row is an edge, put the line from,to above"),
        ("A,B\n0,0.5\n0,0\n", "edges", "not symmetric and has numbers other than 0 and 1"),
        ("A,B\n0,1\n0,0\n1,1\n", "edges", "these are rows, not a model; learn a structure first"),
        ("A,B,C\n0,1,0\n0,0,1\n1,0,0\n", "edges", "a cycle: "),
    ],
)
def test_bad_graph_files(text: str, format: str, message: str) -> None:
    with pytest.raises(ContextwiseError) as caught:
        graph(text, format)
    assert message in str(caught.value)


def test_a_quote_in_a_name_of_dot() -> None:
    assert arcs(graph('digraph { "5\\" pipe" -> B; A -> B }', "dot")) == [
        ('5" pipe', "B"),
        ("A", "B"),
    ]


def test_a_graph_without_edges_is_a_model() -> None:
    empty: Any = networkx.empty_graph(["A", "B"])
    comparison = compare(empty, Structure({"A": 2, "B": 2}, ["A=1 & B=1"]))
    assert (comparison.distance, comparison.total) == (1, 1)


LAC_OPERON = """targets, factors
M, C & !R & !Rm
P, M
B, M
C, !Ge
R, !A & !Am
Rm, (!A & !Am) | R
A, L & B
Am, L | Lm
L, P & Le & !Ge
Lm, ((Lem & P) | Le) & !Ge
Ge, Ge
"""


def test_a_boolean_network_with_feedback_has_two_slices(tmp_path: Path) -> None:
    """The network of the lac operon (Veliz-Cuba and Stigler 2011), as many are published."""
    path = tmp_path / "operon.bnet"
    path.write_text(LAC_OPERON)
    with pytest.warns(FormatWarning, match="operon.bnet: the rules have feedback"):
        model = read(path)
    targets = [line.partition(",")[0] for line in LAC_OPERON.splitlines()[1:]]
    names = (*targets, "Le", "Lem")
    assert model.domain.names == (*names, *(f"{name}'" for name in names))
    expected = {"M'": "C R Rm", "P'": "M", "B'": "M", "C'": "Ge", "R'": "A Am", "Rm'": "A Am R"}
    expected |= {"A'": "L B", "Am'": "L Lm", "L'": "P Le Ge", "Lm'": "Lem P Le Ge", "Ge'": "Ge"}
    expected |= {"Le'": "Le", "Lem'": "Lem"}  # inputs, as BoolNet assumes
    assert arcs(model) == sorted(
        (name, child) for child, names in expected.items() for name in names.split()
    )


@pytest.mark.parametrize("rules", ["A, !A", "A, A | B", "B, A\nA, B"])
def test_each_feedback_of_a_boolean_network_needs_two_slices(rules: str) -> None:
    with pytest.warns(FormatWarning, match="the rules have feedback"):
        model = graph(rules, "bnet")
    assert ("A", "A'") in arcs(model) or ("B", "A'") in arcs(model)
    assert all(child.endswith("'") and not name.endswith("'") for name, child in arcs(model))


def test_a_graph_takes_the_states_of_the_model_it_is_compared_with(tmp_path: Path) -> None:
    known = Structure(
        {"B": ["x", "y"], "A": ["no", "yes", "maybe"], "C": 2},
        [{"A": a, "B": b} for a, b in product(["no", "yes", "maybe"], "xy")],
    )
    (tmp_path / "graph.txt").write_text("A -- B\n")
    two = tmp_path / "graph.dot"
    two.write_text("graph { A -- B; C }")
    for pair in ((known, two), (two, known)):
        assert compare(*pair).distance == 0
    write(read(two), tmp_path / "graph.json")
    assert compare(known, tmp_path / "graph.json").distance == 0
    with pytest.warns(UserWarning, match="every variable is taken to have two"):
        assert compare(two, two).distance == 0
    with pytest.raises(DomainError, match="different variables"):
        compare(known, tmp_path / "graph.txt")


@pytest.mark.parametrize("format", ["modelstring", "tetrad", "edges"])
def test_formats_that_share_a_suffix_are_told_by_their_content(format: str) -> None:
    model = read_stream(io.StringIO(COLLIDER[format]), name="upload.txt")
    assert model.origin.file.format == format


def test_graphs_of_other_packages_are_models() -> None:
    directed: Any = networkx.DiGraph
    undirected: Any = networkx.Graph
    chain, collider = [("A", "B"), ("B", "C")], [("A", "B"), ("C", "B")]
    with pytest.warns(UserWarning, match="the graphs have no states"):
        comparison = compare(directed(chain), directed(collider))
    assert (comparison.distance, comparison.total) == (2, 6)
    states = Structure({"A": 3, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    assert compare(undirected(chain), states).distance == 0
    both = directed([("A", "B"), ("B", "A")])
    assert compare(both, Structure({"A": 2, "B": 3}, ["A=1 & B=1"])).distance == 0
    with pytest.raises(ContextwiseError, match=r"this DiGraph.*cycle"):
        compare(directed([("A", "B"), ("B", "C"), ("C", "A")]), states)


def test_graphs_of_pgmpy_and_causal_learn_are_models() -> None:
    base = pytest.importorskip("pgmpy.base")
    graphs = pytest.importorskip("causallearn.graph.GeneralGraph")
    edges = pytest.importorskip("causallearn.graph.Edge")
    nodes = pytest.importorskip("causallearn.graph.GraphNode")
    ends = pytest.importorskip("causallearn.graph.Endpoint").Endpoint
    a, b, c = (nodes.GraphNode(name) for name in "ABC")
    learned = graphs.GeneralGraph([a, b, c])
    learned.add_edge(edges.Edge(a, b, ends.TAIL, ends.ARROW))
    learned.add_edge(edges.Edge(b, c, ends.ARROW, ends.TAIL))
    with pytest.warns(UserWarning, match="the graphs have no states"):
        assert compare(base.DAG([("A", "B"), ("C", "B")]), learned).distance == 0
    network = pytest.importorskip("pgmpy.models").DiscreteBayesianNetwork  # it has a `fit`
    with pytest.warns(UserWarning, match="the graphs have no states"):
        assert compare(network([("A", "B"), ("C", "B")]), learned).distance == 0
    learned.add_edge(edges.Edge(a, c, ends.CIRCLE, ends.ARROW))
    with pytest.raises(ContextwiseError, match="has a circle"):
        compare(learned, learned)
