"""Help, completion, and options that contradict each other, for all commands."""

from __future__ import annotations

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from commands import run
from contextwise.cli import COMMANDS, contextwise
from contextwise.errors import ContextwiseError
from contextwise.evaluation.skill import NULLS
from contextwise.formats import FORMATS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command: str) -> None:
    out = run(command, "--help").stdout
    assert "Examples:" in out
    assert f"contextwise {command}" in out


def test_the_command_alone_prints_its_help() -> None:
    assert run().stdout == run("--help").stdout
    assert all(f"\n  {command} " in run().stdout for command in COMMANDS)


def test_no_summary_of_a_command_is_cut() -> None:
    for arguments in ((), ("plot", "--help"), ("experiment", "--help")):
        out = run(*arguments).stdout
        assert not [line for line in out.splitlines()[1:] if line.endswith("...")]


def test_the_formats_of_the_command_line_are_those_there_are() -> None:
    assert ", ".join(known.name for known in FORMATS) in " ".join(
        run("compare", "--help").stdout.split()
    )


@pytest.mark.parametrize("command", ["compare", "report"])
def test_the_nulls_are_listed_when_asked_for(command: str) -> None:
    out = run(command, "--null", "help").stdout
    assert [line.split()[0] for line in out.splitlines()] == list(NULLS)
    assert all(null.description in out for null in NULLS.values())


def test_an_unknown_null_is_refused() -> None:
    with pytest.raises(ContextwiseError, match="unknown null 'edges'; use "):
        run("compare", "lung", "lung-learned", "--chance", "--null", "edges")


@pytest.mark.parametrize("command", ["compare", "explain", "report", "matrix", "replicates"])
def test_restrictions_have_a_section_of_their_own(command: str) -> None:
    options, restrictions = run(command, "--help").stdout.split("\nWhat to compare:\n")
    assert "  --weights " in restrictions
    assert "  --weights " not in options


class TestCompletion:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_the_script_of_a_shell(self, shell: str) -> None:
        assert f"_CONTEXTWISE_COMPLETE={shell}_complete" in run("--completion", shell).stdout

    @pytest.mark.parametrize(
        ("words", "incomplete", "expected"),
        [
            ([], "co", {"compare", "consensus", "convert"}),
            (["compare"], "lung", {"lung", "lung-learned"}),
            (["compare", "lung"], "sur", {"survey", "survey-learned"}),
            (["compare", "lung", "lung-learned"], "--zero", {"--zero-weights"}),
            (["compare", "lung", "lung", "--zero-weights"], "d", {"drop"}),
            (["compare", "lung", "lung", "--engine"], "enu", {"enumerate"}),
            (["compare", "lung", "lung", "--null"], "v", {"variables", "values"}),
            (["info"], "six-", {"six-guess", "six-graph"}),
            (["learn"], "tr", {"trees", "trees-and-pairs"}),
            (["learn", "trees", "d.csv"], "--pen", {"--penalty"}),
        ],
    )
    def test_words_are_completed(
        self, words: list[str], incomplete: str, expected: set[str]
    ) -> None:
        completer = ShellComplete(contextwise, {}, "contextwise", "_CONTEXTWISE_COMPLETE")
        found = completer.get_completions(words, incomplete)
        assert {item.value for item in found if item.type == "plain"} == expected

    def test_a_model_can_be_a_file(self) -> None:
        completer = ShellComplete(contextwise, {}, "contextwise", "_CONTEXTWISE_COMPLETE")
        assert [item.type for item in completer.get_completions(["info"], "")] == ["file"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "lung", "rows.csv"],
        ["consensus", "lung", "lung-learned"],
        ["matrix", "lung", "lung-learned"],
        ["replicates", "lung", "a=lung"],
        ["score", "lung", "lung-learned"],
        ["stability", "rows.csv", "--learner", "trees"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_json_or_csv_but_not_both(arguments: list[str]) -> None:
    result = run(*arguments, "--json", "--csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--json and --csv exclude each other" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "lung", "lung-learned", "--draws", "9"], "--draws needs --chance"),
        (["compare", "lung", "lung-learned", "--estimate"], "--estimate needs --time-limit"),
        (["report", "lung", "lung-learned", "--out", "p.html", "--null", "values"], "--null needs"),
    ],
)
def test_an_option_without_the_one_it_belongs_to(arguments: list[str], message: str) -> None:
    found = CliRunner().invoke(contextwise, arguments)
    assert found.exit_code == 2
    assert message in found.output
