"""Graphs of other programs, checked on rows: as their files print them."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas
import pytest
from click.testing import CliRunner

import contextwise as cw
from contextwise.cli import contextwise
from contextwise.errors import ContextwiseError
from contextwise.formats.reading import FormatWarning

ARCS = [("age", "smoke"), ("smoke", "low"), ("ht", "low")]

DAGITTY = """dag {
bb="0,0,1,1"
age [adjusted,pos="0.154,0.304"]
ht [pos="0.745,0.289"]
low [outcome,pos="0.645,0.640"]
smoke [exposure,pos="0.224,0.632"]
age -> smoke
ht -> low
smoke -> low [beta=0.4]
}
"""
TETRAD = """Graph Nodes:
age;smoke;ht;low

Graph Edges:
1. age --> smoke
2. smoke --> low
3. ht --> low

Graph Attributes:
BIC: -1234.5
"""
PRINTED_BY_BNLEARN = """
  Bayesian network learned via Score-based methods

  model:
   [age][ht][smoke|age]
   [low|smoke:ht]
  nodes:                                 4
  arcs:                                  3
    undirected arcs:                     0
    directed arcs:                       3
  average markov blanket size:           2.00

  learning algorithm:                    Hill-Climbing
"""
DOT_OF_BNLEARN = """digraph {
  "age" ;
  "ht" ;
  "smoke" ;
  "low" ;
  edge [dir=forward]
  "age" -> "smoke" ;
  "smoke" -> "low" ;
  "ht" -> "low" ;
}
"""
IGRAPH = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<!-- Created by igraph -->
  <key id="v_name" for="node" attr.name="name" attr.type="string"/>
  <graph id="G" edgedefault="directed">
    <node id="n0"><data key="v_name">age</data></node>
    <node id="n1"><data key="v_name">smoke</data></node>
    <node id="n2"><data key="v_name">low</data></node>
    <node id="n3"><data key="v_name">ht</data></node>
    <edge source="n0" target="n1"></edge>
    <edge source="n1" target="n2"></edge>
    <edge source="n3" target="n2"></edge>
  </graph>
</graphml>
"""
YED = (
    '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
    'xmlns:y="http://www.yworks.com/xml/graphml">\n'
    '  <key for="node" id="d6" yfiles.type="nodegraphics"/>\n'
    '  <graph edgedefault="directed" id="G">\n'
    + "".join(
        f'    <node id="n{k}"><data key="d6"><y:ShapeNode><y:NodeLabel>{name}</y:NodeLabel>'
        "</y:ShapeNode></data></node>\n"
        for k, name in enumerate(("age", "smoke", "low", "ht"))
    )
    + '    <edge id="e0" source="n0" target="n1"/>\n    <edge id="e1" source="n1" target="n2"/>\n'
    '    <edge id="e2" source="n3" target="n2"/>\n  </graph>\n</graphml>\n'
)
BIF_WITHOUT_TABLES = (
    "network unknown {\n}\n"
    + "".join(
        f"variable {name} {{\n  type discrete [ 2 ] {{ no, yes }};\n}}\n"
        for name in ("age", "smoke", "ht", "low")
    )
    + "probability ( age ) {\n}\nprobability ( smoke | age ) {\n}\nprobability ( ht ) {\n}\n"
    + "probability ( low | smoke, ht ) {\n}\n"
)
FILES = {
    "graph.dagitty": DAGITTY,
    "graph.txt": DAGITTY,
    "script.R": f"library(dagitty)\ng <- dagitty('{DAGITTY}')\nplot(g)\n",
    "model.txt": "[age][ht][smoke|age][low|smoke:ht]\n",
    "printed.txt": PRINTED_BY_BNLEARN,
    "graph.dot": DOT_OF_BNLEARN,
    "tetrad.txt": TETRAD,
    "igraph.graphml": IGRAPH,
    "yed.graphml": YED,
    "arcs.csv": "from,to\nage,smoke\nsmoke,low\nht,low\n",
    "matrix.csv": ",age,smoke,ht,low\nage,0,1,0,0\nsmoke,0,0,0,1\nht,0,0,0,1\nlow,0,0,0,0\n",
    "bare.bif": BIF_WITHOUT_TABLES,
}


@pytest.fixture(scope="module")
def rows() -> pandas.DataFrame:
    """smoke depends on age and low on smoke; ht does nothing, and ui is not in the graphs."""
    rng = np.random.default_rng(3)
    age, ht, ui = (rng.random(1_500) < p for p in (0.5, 0.4, 0.5))
    smoke = rng.random(1_500) < np.where(age, 0.7, 0.3)
    low = rng.random(1_500) < np.where(smoke, 0.6, 0.25)
    table = {"ui": ui, "age": age, "smoke": smoke, "ht": ht, "low": low}
    return pandas.DataFrame({name: np.where(values, "yes", "no") for name, values in table.items()})


def verdicts(found: Any) -> set[tuple[frozenset[str], str, frozenset[str], str]]:
    return {(frozenset(c.pair), c.claim, frozenset(c.given), c.verdict) for c in found.claims}


EXPECTED = {
    (frozenset({"age", "smoke"}), "dependent", frozenset(), "supported"),
    (frozenset({"smoke", "low"}), "dependent", frozenset({"ht"}), "supported"),
    (frozenset({"ht", "low"}), "dependent", frozenset({"smoke"}), "not supported"),
    (frozenset({"age", "ht"}), "d-separated", frozenset(), "not contradicted"),
    (frozenset({"smoke", "ht"}), "d-separated", frozenset({"age"}), "not contradicted"),
    (frozenset({"age", "low"}), "d-separated", frozenset({"smoke", "ht"}), "not contradicted"),
}


@pytest.mark.filterwarnings("ignore:.*without some probabilities")
@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_program(name: str, rows: pandas.DataFrame, tmp_path: Path) -> None:
    """One claim per pair; an independence is given the parents of either variable."""
    path = tmp_path / name
    path.write_text(FILES[name])
    found = cw.check(path, rows)
    alone: frozenset[str] = frozenset()
    either = (frozenset({"smoke", "ht"}), "d-separated", alone, "not contradicted")
    swapped = {claim for claim in EXPECTED if claim[0] != either[0]} | {either}
    assert verdicts(found) in (EXPECTED, swapped)
    assert "none of the 3 independences" in found.verdict
    assert "show 2 of its 3 edges (not" in found.verdict


def test_objects_of_other_packages(rows: pandas.DataFrame) -> None:
    graph = networkx.DiGraph(ARCS)
    expected = cw.check(graph, rows).records()
    assert len(expected) == 6
    assert cw.check(networkx.to_pandas_adjacency(graph), rows).records() == expected
    gml = (
        "graph [ directed 1 "
        + " ".join(
            f'node [ id {k} label "{name}" ]'
            for k, name in enumerate(("age", "smoke", "ht", "low"))
        )
        + " edge [ source 0 target 1 ] edge [ source 1 target 3 ] edge [ source 2 target 3 ] ]"
    )
    for text in ("[age][smoke|age][low|smoke:ht][ht]", "age -> smoke -> low <- ht", gml):
        assert cw.check(text, rows).records() == expected
    base = pytest.importorskip("pgmpy.base")
    assert cw.check(base.DAG(ARCS), rows).records() == expected
    for unclear in (ARCS, np.zeros((4, 4))):
        with pytest.raises(ContextwiseError, match=r"networkx\.DiGraph\(edges\)"):
            cw.check(unclear, rows)


def test_a_network_with_tables_is_checked_as_its_graph(rows: pandas.DataFrame) -> None:
    models = pytest.importorskip("pgmpy.models")
    network = models.DiscreteBayesianNetwork(ARCS)
    network.fit(rows)
    claims = verdicts(cw.check(network, rows))
    assert {claim[:2] for claim in claims} == {claim[:2] for claim in EXPECTED}


def test_contradictions_come_first_with_effect_and_place(rows: pandas.DataFrame) -> None:
    claim, *_ = cw.check("dag { smoke age low }", rows).contradicted
    assert set(claim.pair) == {"age", "smoke"}
    assert claim.effect is not None
    assert claim.effect.low > 0.1
    # an association of opposite signs: the place is named
    rng = np.random.default_rng(1)
    c = rng.integers(0, 2, 2_000)
    a = rng.integers(0, 2, 2_000)
    b = np.where(rng.random(2_000) < 0.8, a ^ c, rng.integers(0, 2, 2_000))
    found = cw.check("dag { C -> B; C -> A }", pandas.DataFrame({"A": a, "B": b, "C": c}))
    (wrong,) = found.contradicted
    assert (set(wrong.pair), wrong.context) == ({"A", "B"}, "C")
    (place,) = found.places
    signs = [
        np.sign(effect.estimate)
        for part in place.states
        for effect in part.effects
        if effect.kind == "difference"
    ]
    assert sorted(signs) == [-1, 1]
    assert "A–B differs by C: " in str(found)


def test_hidden_variables_and_columns_that_are_not_in_the_graph(rows: pandas.DataFrame) -> None:
    """A hidden common cause leaves its pair open, and the separation through it is not claimed."""
    text = "dag { U [latent] U -> smoke; U -> low; age -> smoke; low -> ht }"
    latent = cw.check(text, rows)
    absent = cw.check(text.replace("[latent]", ""), rows)
    with pytest.warns(FormatWarning, match="smoke <-> low: read as a hidden common cause"):
        two_heads = cw.check("dag { smoke <-> low; age -> smoke; low -> ht }", rows)
    assert verdicts(latent) == verdicts(absent) == verdicts(two_heads)
    pairs = {frozenset(claim.pair) for claim in latent.claims}
    assert frozenset({"smoke", "low"}) not in pairs
    # given smoke, age and low are connected by U, so age and low are separated by nothing held
    (age_low,) = [c for c in latent.claims if set(c.pair) == {"age", "low"}]
    assert age_low.given == ()
    assert age_low.verdict == "contradicted"
    assert "The rows have no column U. The check treats it as hidden" in " ".join(
        str(absent).split()
    )
    assert "left out: 'ui'" in str(absent)


def test_an_undirected_graph(rows: pandas.DataFrame) -> None:
    found = cw.check(networkx.Graph([("age", "smoke"), ("smoke", "low")]), rows)
    assert {(c.pair, c.verdict) for c in found.claims} == {
        (("age", "smoke"), "supported"),
        (("smoke", "low"), "supported"),
        (("age", "low"), "not contradicted"),
    }
    through = cw.check(networkx.Graph([("age", "V"), ("V", "low")]), rows)
    assert [(c.pair, c.claim) for c in through.claims] == [(("age", "low"), "dependent")]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("dag { Smoke -> low }", "the graph has 'Smoke' and the rows have 'smoke'; rename one"),
        ("dag { x -> y }", "no column of the rows is in the graph"),
        ("dag { smoke -> low -> smoke }", "the network has a cycle"),
        ("digraph { smoke -> low [dir=both, arrowtail=odot] }", "has a circle"),
        ("dag { smoke -> low", "this text:1: expected a name but found the end"),
        ("[smoke][low|smok]", "the parent 'smok' has no family"),
        ("dag { U [latent] }", "every node of the graph is hidden"),
    ],
)
def test_graphs_that_cannot_be_checked(graph: str, message: str, rows: pandas.DataFrame) -> None:
    with pytest.raises(ContextwiseError, match=message):
        cw.check(graph, rows)


def test_the_command_writes_a_page_and_a_model(rows: pandas.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "graph.dagitty").write_text(DAGITTY)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    words = ["check", str(tmp_path / "graph.dagitty"), str(tmp_path / "rows.csv")]
    for out in ("page.html", "model.json"):
        shown = CliRunner().invoke(contextwise, [*words, "--out", str(tmp_path / out)])
        assert shown.exit_code == 0
        assert shown.output.startswith("The 1,500 rows contradict none of the 3 independences")
    page = (tmp_path / "page.html").read_text()
    assert "Edges that the rows do not show" in page
    kept = cw.read(tmp_path / "model.json")
    assert kept.domain.states == (("no", "yes"),) * 4
    assert isinstance(kept, cw.Structure)
    assert kept.evidence is not None
    assert len(kept.evidence.claims) == 6
    again = CliRunner().invoke(contextwise, ["explain", str(tmp_path / "model.json")])
    assert again.exit_code == 0
    refused = CliRunner().invoke(contextwise, [*words, "--out", str(tmp_path / "model.bif")])
    assert refused.exit_code == 2


def test_all_pairs_of_a_graph_have_one_claim_at_most() -> None:
    rng = np.random.default_rng(0)
    rows = pandas.DataFrame(rng.integers(0, 2, (300, 6)), columns=list("ABCDEF"))
    graph = networkx.gnp_random_graph(6, 0.5, seed=2)
    arcs = [("ABCDEF"[a], "ABCDEF"[b]) for a, b in graph.edges]
    text = f"dag {{ A B C D E F {' '.join(f'{a} -> {b}' for a, b in arcs)} }}"
    pairs = [frozenset(claim.pair) for claim in cw.check(text, rows).claims]
    assert sorted(map(sorted, pairs)) == sorted(map(sorted, combinations("ABCDEF", 2)))


def test_the_report_of_a_graph_has_the_states_of_the_rows(
    rows: pandas.DataFrame, tmp_path: Path
) -> None:
    rows.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "graph.dagitty").write_text(DAGITTY)
    page = tmp_path / "page.html"
    words = ["report", str(tmp_path / "graph.dagitty"), "--check", str(tmp_path / "rows.csv")]
    done = CliRunner().invoke(contextwise, [*words, "--out", str(page)])
    assert done.exit_code == 0, done.output
    assert "smoke" in page.read_text()
