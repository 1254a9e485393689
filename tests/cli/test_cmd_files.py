"""``contextwise info``, ``convert`` and ``engines``: models and their files, examples, engines."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import networkx as nx
import pytest

from commands import run
from contextwise import Domain, LogLinear, Structure, examples, read, write
from contextwise.counting.contract import DEFAULT, ENGINES, get_engine
from contextwise.errors import ContextwiseError
from contextwise.independence import graph
from contextwise.independence.graphs import encode_graph
from contextwise.models.directions import bayesian_network

MN = b"""2,3
MN {
0.5 +v0_1 +v1_2
0.5 +v0_1 +v1_2
0.0 +v0_1 -v1_0
1.0 +v1_1
}
"""


@pytest.fixture(name="model")
def _model(tmp_path: Path) -> str:
    """A file with four lines of features, one of them twice and one of weight 0."""
    path = tmp_path / "model.mn"
    path.write_bytes(MN)
    return str(path)


def test_one_model(model: str) -> None:
    table, *_ = run("info", model).stdout.split("\n\n")
    lines = dict(line.rsplit(maxsplit=1) for line in table.splitlines())
    assert lines["model"] == "model.mn"
    assert lines["variables"] == "2"
    assert lines["features"] == "3"
    assert lines["mean length"] == "1.67"
    assert lines["longest"] == "2"
    assert lines["in file"] == "4"
    assert lines["duplicates"] == "1"
    assert lines["weight 0"] == "1"


def test_several_models_are_a_row_each(model: str) -> None:
    head, first, second = run("info", model, "survey").stdout.splitlines()
    assert head.split()[:3] == ["model", "variables", "features"]
    assert first.split()[:3] == ["model.mn", "2", "3"]
    assert second.split()[:3] == ["survey", "4", "2"]
    assert second.split()[-1] == "–"  # a structure has no weights


def test_models_and_data_files_are_not_mixed(model: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("A,B\n" + "x,y\ny,x\n" * 5)
    for files in ([model, str(rows)], [str(rows), str(rows), model]):
        result = run("info", *files)
        assert result.exit_code == 2
        assert "cannot mix models and data files" in result.output
        assert not result.stdout
    assert run("info", str(rows)).exit_code == 0


def test_json(model: str) -> None:
    first, second = json.loads(run("info", model, "survey", "--json").stdout)
    assert first["model"] == model
    assert first["format"] == "mn"
    assert [first[key] for key in ("features", "raw_features", "zero_weights")] == [3, 4, 1]
    assert second["largest_cardinality"] == 3
    assert second["zero_weights"] is None


def test_standard_input() -> None:
    assert json.loads(run("info", "-", "--json", stdin=MN).stdout)["features"] == 3


def test_the_examples_are_listed() -> None:
    models, _, data = run("info").stdout.partition("\n\n")
    lines = models.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == list(examples.names())
    assert "titanic" in data
    assert "women-math" in data
    record = json.loads(run("info", "--json").stdout)
    assert list(record["models"]) == list(examples.names())


@pytest.mark.parametrize("name", examples.names())
def test_a_small_model_is_listed_in_full(name: str) -> None:
    out = run("info", name).stdout
    model = examples.load(name)
    assert f"{len(model.domain)} variables:" in out
    assert f"{len(model)} features:" in out


def test_all_engines_are_listed_and_the_default_is_marked() -> None:
    default = get_engine(DEFAULT).name
    record = json.loads(run("info", "--json").stdout)
    assert list(record["engines"]) == list(ENGINES)
    assert record["default_engine"] == default
    assert f"{default} (default)" in run("info").stdout.splitlines()[-1]


def test_a_missing_engine_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "contextwise.counting.enumerate.missing", lambda: "it is asleep", raising=False
    )
    assert "enumerate (missing: it is asleep)" in run("info").stdout


# -- convert ---------------------------------------------------------------------------------------


def test_by_suffix(model: str, tmp_path: Path) -> None:
    target = tmp_path / "model.json.gz"
    assert run("convert", model, str(target)).exit_code == 0
    assert read(target) == read(model)


def test_zero_weights_can_be_dropped(model: str, tmp_path: Path) -> None:
    target = tmp_path / "model.json"
    run("convert", model, str(target), "--zero-weights", "drop")
    converted = read(target)
    assert isinstance(converted, LogLinear)
    assert converted.weights.tolist() == [1.0, 1.0]


def test_standard_input_to_standard_output(model: str, tmp_path: Path) -> None:
    result = run("convert", "-", "-", "--from", "mn", "--to", "json", stdin=MN)
    target = tmp_path / "out.json"
    target.write_bytes(result.stdout_bytes)
    assert read(target) == read(model)


def test_another_format_than_the_suffix_says(model: str, tmp_path: Path) -> None:
    target = tmp_path / "model.txt"
    run("convert", model, str(target), "--to", "json")
    assert read(target, format="json") == read(model)


def test_an_example_by_name(tmp_path: Path) -> None:
    target = tmp_path / "survey.json"
    run("convert", "survey", str(target))
    assert read(target) == examples.load("survey")


def test_standard_output_needs_a_format(model: str) -> None:
    result = run("convert", model, "-")
    assert result.exit_code == 2
    assert "--to" in result.stderr


def test_graph_on_standard_output() -> None:
    dot = run("convert", "six", "-", "--to", "dot", "--context", "X0=1").stdout
    assert dot.splitlines() == ["graph {", *(f'  "X{k}";' for k in range(1, 6)), "}"]


@pytest.mark.parametrize("suffix", ["graphml", "dot"])
def test_graph_files_hold_the_graph(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"g.{suffix}"
    assert run("convert", "survey", str(path)).stdout == ""
    wanted = graph(examples.load("survey"))
    if suffix == "dot":
        text = path.read_text()
        assert all(f'"{a}" -- "{b}";' in text for a, b in wanted.edges)
        assert text.count("--") == wanted.number_of_edges()
        return
    found = nx.read_graphml(path)
    assert set(map(frozenset, found.edges)) == set(map(frozenset, wanted.edges))
    assert set(found.nodes) == set(wanted.nodes)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_context_needs_a_graph() -> None:
    result = run("convert", "six", "six.json", "--context", "X0=1")
    assert result.exit_code == 2
    assert "--context needs a graph" in result.stderr


def test_names_with_signs_in_files() -> None:
    odd = Structure({'a"b\\c\nd': 2, "<&>": 2}, [{'a"b\\c\nd': 1, "<&>": 1}])
    assert '"a\\"b\\\\c\\nd" -- "<&>";' in encode_graph(odd, "dot").decode()
    assert b"&lt;&amp;&gt;" in encode_graph(odd, "graphml")
    with pytest.raises(ContextwiseError, match="GraphML cannot hold"):
        encode_graph(Structure({"a\x00": 2}), "graphml")


def test_dot_needs_no_other_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    assert '"gender" -- "children";' in run("convert", "survey", "-", "--to", "dot").stdout
    with pytest.raises(ContextwiseError, match="needs the package 'networkx'"):
        run("convert", "survey", str(tmp_path / "g.graphml"))


def test_info_shows_arcs(tmp_path: Path) -> None:
    domain = Domain(dict.fromkeys("ABCD", 2))
    write(bayesian_network(domain, [(), (0, 2), (), ()], undirected=[(2, 3)]), tmp_path / "x.json")
    out = run("info", str(tmp_path / "x.json")).stdout
    assert "\narcs                  2\n" in out
    assert "2 arcs, 1 edge without a direction:\nB  ←  A, C\nD  –  C\n" in out
    record = json.loads(run("info", str(tmp_path / "x.json"), "--json").stdout)
    assert record["arcs"] == [["A", "B"], ["C", "B"]]
    assert record["undirected"] == [["C", "D"]]
    assert record["tables"] == 0


def test_info_of_a_network_of_another_program_names_one_that_converts_it(tmp_path: Path) -> None:
    (tmp_path / "x.pgmx").write_text("<ProbModelXML/>\n")
    with pytest.raises(ContextwiseError, match="unknown suffix; OpenMarkov saves such files as"):
        run("info", str(tmp_path / "x.pgmx"))
