"""``contextwise plot``: the options of every figure."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from commands import run
from contextwise.comparison.two_models import Comparison, compare
from contextwise.errors import DomainError


def test_title_names_and_sizes(tmp_path: Path) -> None:
    plain, changed = tmp_path / "plain.svg", tmp_path / "changed.svg"
    command = ["plot", "errors", "six", "six-guess", "six-graph", "--out"]
    assert run(*command, str(plain)).exit_code == 0
    more = ["--title", "Two guesses", "--names", "Truth,Trees,Pairs", "--width", "5"]
    assert run(*command, str(changed), *more, "--font-size", "9").exit_code == 0
    assert plain.read_bytes() != changed.read_bytes()
    assert 'width="360pt"' in changed.read_text()


def test_the_variables_to_draw_around_are_known(tmp_path: Path) -> None:
    for models in (["survey"], ["survey", "survey-learned"]):
        out = str(tmp_path / "g.svg")
        with pytest.raises(DomainError, match="unknown variable 'gendr'; did you mean 'gender'"):
            run("plot", "graph", *models, "--around", "gendr", "--out", out)


def test_every_model_needs_a_name(tmp_path: Path) -> None:
    out = str(tmp_path / "p.png")
    for command in (["pairs", "six", "six-guess"], ["matrix", "six", "six-graph"]):
        result = run("plot", *command, "--names", "Truth", "--out", out)
        assert result.exit_code == 2
        assert "--names needs a name for each of the 2 models, got 1" in result.stderr


def test_the_time_limit_is_for_all_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[float] = []

    def slow(*models: Any, time_limit: float, **how: Any) -> Comparison:
        left.append(time_limit)
        time.sleep(0.2)
        return compare(*models, time_limit=time_limit, **how)

    monkeypatch.setattr("contextwise.compare", slow)
    groups = ["--group", "a=six-guess", "--group", "b=six-graph"]
    out = str(tmp_path / "groups.svg")
    result = run("plot", "groups", "six", *groups, "--time-limit", "60", "--out", out)
    assert result.exit_code == 0
    first, second = left
    assert second <= first - 0.2
