"""Help in sections, and the nearest name for a wrong one."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from commands import run
from contextwise.cli import COMMANDS, contextwise


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command: str) -> None:
    out = run(command, "--help").stdout
    assert "Examples:" in out
    assert f"contextwise {command}" in out


def test_the_command_alone_prints_its_help() -> None:
    assert run().stdout == run("--help").stdout
    assert all(f"\n  {command} " in run().stdout for command in COMMANDS)


def test_no_summary_of_a_command_is_cut() -> None:
    for arguments in ((), ("plot", "--help")):
        out = run(*arguments).stdout
        assert not [line for line in out.splitlines()[1:] if line.endswith("...")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["Compare", "a", "b"], "did you mean 'compare'?"),
        (["plot", "Grahp", "lung"], "did you mean 'graph'?"),
        (["compare", "a", "b", "--CSV"], "did you mean '--csv'?"),
        (["plot", "graph", "lung", "--around", "Smoker", "--out", "g.svg"], "mean 'smoker'?"),
    ],
)
def test_a_wrong_name_gets_the_nearest(words: list[str], message: str) -> None:
    found = CliRunner().invoke(contextwise, words)
    assert message in f"{found.output}{found.exception}"
