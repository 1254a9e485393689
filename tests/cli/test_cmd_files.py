"""``contextwise info`` and ``engines``: models, data files, the bundled examples, engines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import run
from contextwise import examples
from contextwise.counting.contract import DEFAULT, ENGINES

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
    records = json.loads(run("info", "--json").stdout)
    assert [record["model"] for record in records] == list(examples.names())


@pytest.mark.parametrize("name", examples.names())
def test_a_small_model_is_listed_in_full(name: str) -> None:
    out = run("info", name).stdout
    model = examples.load(name)
    assert f"{len(model.domain)} variables:" in out
    assert f"{len(model)} features:" in out


def test_all_engines_are_listed_and_the_default_is_marked() -> None:
    records = json.loads(run("engines", "--json").stdout)
    assert [record["engine"] for record in records] == list(ENGINES)
    assert [record["engine"] for record in records if record["default"]] == [DEFAULT]


def test_a_missing_engine_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "contextwise.counting.enumerate.missing", lambda: "it is asleep", raising=False
    )
    assert "not available: it is asleep" in run("engines").stdout
