"""The smaller commands: info, convert, examples, engines, completion."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from commands import run
from contextwise import LogLinear, examples, formats, read
from contextwise.cli import COMMANDS, contextwise
from contextwise.cli.inputs import FORMATS
from contextwise.counting import DEFAULT, ENGINES

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
        assert "..." not in out[out.index("\nCommands:") :]


def test_the_formats_of_the_command_line_are_those_there_are() -> None:
    assert tuple(format.name for format in formats.FORMATS) == FORMATS
    assert ", ".join(FORMATS) in " ".join(run("compare", "--help").stdout.split())


class TestInfo:
    def test_one_model(self, model: str) -> None:
        lines = dict(line.rsplit(maxsplit=1) for line in run("info", model).stdout.splitlines())
        assert lines["model"] == "model.mn"
        assert lines["variables"] == "2"
        assert lines["features"] == "3"
        assert lines["mean length"] == "1.67"
        assert lines["longest"] == "2"
        assert lines["in file"] == "4"
        assert lines["duplicates"] == "1"
        assert lines["weight 0"] == "1"

    def test_several_models_are_a_row_each(self, model: str) -> None:
        head, first, second = run("info", model, "survey").stdout.splitlines()
        assert head.split()[:3] == ["model", "variables", "features"]
        assert first.split()[:3] == ["model.mn", "2", "3"]
        assert second.split()[:3] == ["survey", "4", "2"]
        assert second.split()[-1] == "–"  # a structure has no weights

    def test_json(self, model: str) -> None:
        first, second = json.loads(run("info", model, "survey", "--json").stdout)
        assert first["model"] == model
        assert first["format"] == "mn"
        assert [first[key] for key in ("features", "raw_features", "zero_weights")] == [3, 4, 1]
        assert second["largest_cardinality"] == 3
        assert second["zero_weights"] is None

    def test_standard_input(self) -> None:
        assert json.loads(run("info", "-", "--json", stdin=MN).stdout)["features"] == 3


class TestConvert:
    def test_by_suffix(self, model: str, tmp_path: Path) -> None:
        target = tmp_path / "model.json.gz"
        assert run("convert", model, str(target)).exit_code == 0
        assert read(target) == read(model)

    def test_zero_weights_can_be_dropped(self, model: str, tmp_path: Path) -> None:
        target = tmp_path / "model.json"
        run("convert", model, str(target), "--zero-weights", "drop")
        converted = read(target)
        assert isinstance(converted, LogLinear)
        assert converted.weights.tolist() == [1.0, 1.0]

    def test_standard_input_to_standard_output(self, model: str, tmp_path: Path) -> None:
        result = run("convert", "-", "-", "--from", "mn", "--to", "json", stdin=MN)
        target = tmp_path / "out.json"
        target.write_bytes(result.stdout_bytes)
        assert read(target) == read(model)

    def test_another_format_than_the_suffix_says(self, model: str, tmp_path: Path) -> None:
        target = tmp_path / "model.txt"
        run("convert", model, str(target), "--to", "json")
        assert read(target, format="json") == read(model)

    def test_an_example_by_name(self, tmp_path: Path) -> None:
        target = tmp_path / "survey.json"
        run("convert", "survey", str(target))
        assert read(target) == examples.load("survey")

    def test_standard_output_needs_a_format(self, model: str) -> None:
        result = run("convert", model, "-")
        assert result.exit_code == 2
        assert "--to" in result.stderr


class TestExamples:
    def test_all_are_listed(self) -> None:
        lines = run("examples").stdout.splitlines()
        assert [line for line in lines if not line.startswith(" ")] == list(examples.names())

    @pytest.mark.parametrize("name", examples.names())
    def test_one_is_shown(self, name: str) -> None:
        out = run("examples", name).stdout
        model = examples.load(name)
        assert f"{len(model.domain)} variables:" in out
        assert f"{len(model)} features:" in out


class TestEngines:
    def test_all_are_listed_and_the_default_is_marked(self) -> None:
        records = json.loads(run("engines", "--json").stdout)
        assert [record["engine"] for record in records] == list(ENGINES)
        assert [record["engine"] for record in records if record["default"]] == [DEFAULT]

    def test_a_missing_engine_says_why(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "contextwise.counting.enumerate.missing", lambda: "it is asleep", raising=False
        )
        assert "cannot be used: it is asleep" in run("engines").stdout


class TestCompletion:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_the_script_of_a_shell(self, shell: str) -> None:
        assert f"_CONTEXTWISE_COMPLETE={shell}_complete" in run("completion", shell).stdout

    @pytest.mark.parametrize(
        ("words", "incomplete", "expected"),
        [
            ([], "co", {"compare", "completion", "consensus", "convert"}),
            (["compare"], "lung", {"lung", "lung-learned"}),
            (["compare", "lung"], "sur", {"survey", "survey-learned"}),
            (["compare", "lung", "lung-learned"], "--zero", {"--zero-weights"}),
            (["compare", "lung", "lung", "--zero-weights"], "d", {"drop"}),
            (["compare", "lung", "lung", "--engine"], "enu", {"enumerate"}),
            (["examples"], "six-", {"six-guess", "six-graph"}),
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
        ["nearest", "lung", "lung-learned"],
        ["score", "lung", "lung-learned"],
        ["stability", "rows.csv", "--learner", "trees"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_json_or_csv_but_not_both(arguments: list[str]) -> None:
    result = run(*arguments, "--json", "--csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "choose one of --json and --csv" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "lung", "lung-learned", "--draws", "9"], "--draws goes with --chance"),
        (["compare", "lung", "lung-learned", "--estimate"], "--estimate goes with --time-limit"),
        (["report", "lung", "lung-learned", "--out", "p.html", "--null", "values"], "--null goes"),
    ],
)
def test_an_option_without_the_one_it_belongs_to(arguments: list[str], message: str) -> None:
    found = CliRunner().invoke(contextwise, arguments)
    assert found.exit_code == 2
    assert message in found.output


def test_one_pair_that_differs_is_one() -> None:
    found = CliRunner().invoke(
        contextwise, ["explain", "lung", "lung-learned", "--pairs", "smoker,asbestos"]
    )
    assert "1 of 1 pair differs" in found.output
