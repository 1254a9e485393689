"""Help, completion, and options that contradict each other, for all commands."""

from __future__ import annotations

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from commands import run
from contextwise.cli import COMMANDS, contextwise, main
from contextwise.cli.commands import COMPARED, ROWS, SECTIONS, sections
from contextwise.formats import FORMATS


def test_the_formats_of_the_command_line_are_those_there_are() -> None:
    assert ", ".join(known.name for known in FORMATS) in " ".join(
        run("compare", "--help").stdout.split()
    )


def commands_and_subcommands() -> list[tuple[str, click.Context]]:
    top = click.Context(contextwise, info_name="contextwise")
    found = []
    for name in COMMANDS:
        command = contextwise.get_command(top, name)
        assert command is not None
        context = click.Context(command, parent=top, info_name=name)
        parts = command.commands if isinstance(command, click.Group) else {}
        found += [
            (f"{name} {part}", click.Context(parts[part], parent=context, info_name=part))
            for part in parts
        ] or [(name, context)]
    return found


@pytest.mark.parametrize(("name", "context"), commands_and_subcommands())
def test_a_command_has_few_options(name: str, context: click.Context) -> None:
    """At most 16 besides --help, how to read rows and what to compare; each with a text."""
    counts = {title: len(records) for title, records in sections(context)}
    besides = sum(counts.values()) - counts.get(ROWS, 0) - counts.get(COMPARED, 0) - 1
    assert besides <= 16, name
    assert list(counts) == [title for title in SECTIONS if title in counts]
    assert all(text for _, records in sections(context) for _, text in records)


class TestCompletion:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_the_script_of_a_shell(
        self, shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("_CONTEXTWISE_COMPLETE", f"{shell}_source")
        with pytest.raises(SystemExit, match="0"):
            main([])
        assert f"_CONTEXTWISE_COMPLETE={shell}_complete" in capsys.readouterr().out

    def test_the_help_has_the_line_for_a_shell(self) -> None:
        line = 'eval "$(_CONTEXTWISE_COMPLETE=bash_source contextwise)"'
        assert line in " ".join(run("--help").stdout.split())

    @pytest.mark.parametrize(
        ("words", "incomplete", "expected"),
        [
            ([], "co", {"compare", "convert"}),
            (["compare"], "lung", {"lung", "lung-learned"}),
            (["compare", "lung"], "sur", {"survey", "survey-learned"}),
            (["compare", "lung", "lung-learned"], "--zero", {"--zero-weights"}),
            (["compare", "lung", "lung", "--zero-weights"], "d", {"drop"}),
            (["compare", "lung", "lung", "--engine"], "enu", {"enumerate"}),
            (["info"], "six-", {"six-guess", "six-graph"}),
            (["learn", "d.csv", "--learner"], "tr", {"trees"}),
            (["learn", "d.csv"], "--vali", {"--valid"}),
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
        ["matrix", "lung", "lung-learned"],
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
        (["report", "lung", "lung-learned", "--out", "p.html", "--draws", "9"], "--draws needs"),
    ],
)
def test_an_option_without_the_one_it_belongs_to(arguments: list[str], message: str) -> None:
    found = CliRunner().invoke(contextwise, arguments)
    assert found.exit_code == 2
    assert message in found.output


def test_a_learner_before_the_data() -> None:
    assert "learn d.csv --learner trees" in run("learn", "trees", "d.csv").stderr


OTHER_MEANINGS = {
    "--out": ("NAME", "FOLDER"),
    "--rows": ("N,...",),
    "--method": ("[pseudo-likelihood|likelihood]",),
}
"""What a value is called in a command where an option of this name takes something else."""


def test_an_option_takes_the_same_value_in_every_command() -> None:
    found: dict[str, dict[str, str]] = {}
    for name, context in commands_and_subcommands():
        for param in context.command.params:
            metavar = param.make_metavar(context)
            for flag in param.opts:
                if flag.startswith("--") and metavar not in OTHER_MEANINGS.get(flag, ()):
                    found.setdefault(flag, {})[name] = metavar
    assert {flag: by for flag, by in found.items() if len({*by.values()}) > 1} == {}
