"""Lists of edges and matrices: graphs, and weights of Ising models."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from contextwise import LogLinear, read
from contextwise.errors import ParseError
from contextwise.formats import read_stream
from contextwise.formats.reading import FormatWarning
from read_graphs import arcs, graph


@pytest.mark.parametrize(
    "text",
    [
        "from,to\nA,B\nC,B\n",
        '"","from","to"\n"1","A","B"\n"2","C","B"\n',
        "source\ttarget\nA\tB\nC\tB\n",
        "Source,Target,Type,Weight\nA,B,Directed,1\nC,B,Directed,1\n",
        "A --> B\nB <-- C\n",
        "1. A -> B\n2. C -> B\n",
        "A,B,C\n0,1,0\n0,0,0\n0,1,0\n",
        '"","A","B","C"\n"A",0,1,0\n"B",0,0,0\n"C",0,1,0\n',
        "A B C\nA 0 1 0\nB 0 0 0\nC 0 1 0\n",
        "A,B,C\nFALSE,TRUE,FALSE\nFALSE,FALSE,FALSE\nFALSE,TRUE,FALSE\n",
        '"","A","B","C"\n"1",0,1,0\n"2",0,0,0\n"3",0,1,0\n',
        ",A,B,C\nC,0,1,0\nA,0,1,0\nB,0,0,0\n",
        "# arcs\nfrom,to,weight\nA,B,0.5\nC,B,0.5\n",
        "A->B\nB<-C\n",
    ],
)
def test_lists_of_edges_and_matrices(text: str, tmp_path: Path) -> None:
    for name in ("graph.csv", "graph.txt", "graph.csv.gz"):
        (tmp_path / name).write_text(text)
        assert arcs(read(tmp_path / name)) == [("A", "B"), ("C", "B")]
    assert arcs(read_stream(io.StringIO(text))) == [("A", "B"), ("C", "B")]


def test_a_matrix_without_names_and_the_endpoints_of_causal_learn() -> None:
    assert arcs(graph("0 1 0\n0 0 0\n0 1 0\n", "edges")) == [("X1", "X2"), ("X3", "X2")]
    # [i, j] is the end at i: a tail (-1) or a head (1)
    assert arcs(graph("0 -1 0\n1 0 1\n0 -1 0\n", "edges")) == [("X1", "X2"), ("X3", "X2")]
    with pytest.raises(ParseError, match="the edge X1 o-o X2 has a circle"):
        graph("0 2 0\n1 0 1\n0 -1 0\n", "edges")


def test_weights_of_edges_are_said_to_be_ignored(tmp_path: Path) -> None:
    path = tmp_path / "arcs.csv"
    path.write_text("from,to,weight\nA,B,0.5\nC,B,-2\n")
    with pytest.warns(FormatWarning, match="'weight' is ignored"):
        assert len(read(path).domain) == 3


WEIGHTS = "A,B,C\n0,0.5,0\n0.5,0,-1.25\n0,-1.25,0\n"


def test_a_symmetric_matrix_has_the_weights_of_an_ising_model() -> None:
    with pytest.warns(FormatWarning, match="the file has no thresholds, so they are 0$"):
        model = graph(WEIGHTS, "edges")
    with pytest.warns(FormatWarning, match="if they are inclusion probabilities, replace"):
        graph(WEIGHTS.replace("-1.25", "0.75"), "edges")
    assert isinstance(model, LogLinear)
    assert repr(model) == "LogLinear(3 variables, 2 features: 0.5 A=1 & B=1; -1.25 B=1 & C=1)"
