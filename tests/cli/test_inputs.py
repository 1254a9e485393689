"""Messages: help, and errors about input that cannot be used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from contextwise import LogLinear, Structure, write
from contextwise.cli import contextwise, main
from contextwise.errors import ContextwiseError
from contextwise.formats import FORMATS
from contextwise.support.store import Ended, Store

LEARN = ("learn", "trees", "rows.csv", "--out", "x.json")
STABILITY = ("stability", "rows.csv", "--learner", "trees")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("smoker,asbestos,cancer\n" + "yes,no,no\nno,no,yes\n" * 20)
    Path("others.csv").write_text("A,B\n1,0\n")
    domain = {"A": 2, "B": 2}
    write(LogLinear(Structure(domain, ["A=1 & B=1"]), [1.0]), "weighted.json")
    write(Structure(domain, ["A=1 & B=1"]), "structure.json")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(contextwise, list(arguments))


def said(result: Result) -> str:
    """Return the error message that a person reads; raise a bug again."""
    if isinstance(result.exception, ContextwiseError):
        return str(result.exception)
    assert isinstance(result.exception, SystemExit), result.exception
    return " ".join(result.output.split())


def commands(group: click.Group, *path: str) -> Iterator[tuple[str, ...]]:
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)


@pytest.mark.parametrize("path", list(commands(contextwise)), ids=" ".join)
def test_help_shows_whole_numbers_as_such(path: tuple[str, ...]) -> None:
    shown = run(*path, "--help")
    assert shown.exit_code == 0
    defaults = re.findall(r"default: ([^;\]]*)", " ".join(shown.output.split()))
    assert [text for text in defaults if re.fullmatch(r"-?\d+\.0", text)] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn", "trees", "rows.csv", "--out", "x.json", "--grid", "penalty=1,z"], "--grid"),
        (["stability", "rows.csv", "--learner", "trees", "--set", "penalty=z"], "--set"),
    ],
)
def test_a_wrong_value_names_its_parameter(arguments: list[str], message: str) -> None:
    assert f"'{message} penalty': 'z' is not a valid float" in said(run(*arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "lung", "structure.json"], "lung, structure.json: the models have different"),
        (
            ["score", "lung", "weighted.json", "--by-position"],
            "lung, weighted.json: the",
        ),
        (["convert", "lung", "x.mn", "--names-from", "weighted.json"], "weighted.json, lung: the"),
    ],
)
def test_models_that_do_not_align_are_named(arguments: list[str], message: str) -> None:
    assert said(run(*arguments)).startswith(message)


def test_a_score_without_test_rows_says_so() -> None:
    found = run("score", "lung", "lung-learned").output
    assert "CMLL: there are no rows to predict\n" in found
    assert "AIC, BIC, G², df, p of G²: there are no rows to fit to\n" in found


def test_rows_of_other_variables_say_which_are_expected() -> None:
    message = "others.csv:1: 2 cells where 3 are expected: the variables are smoker, asbestos, canc"
    command = ["score", "lung", "lung-learned", "--test", "others.csv"]
    assert said(run(*command)).startswith(message)


def test_a_folder_of_another_run_is_refused_in_few_words() -> None:
    assert run("matrix", "lung", "lung-learned", "--store", "matrix").exit_code == 0
    message = said(run("matrix", "six", "six-guess", "six-graph", "--store", "matrix"))
    assert "models is 2 there and 3 here" in message
    with Store("study", {"structures": 5, "seed": 1, "sizes": [10], "l2": 0.1}) as store:
        store.add(Ended("all", seconds=0.1, tries=1))
    message = said(run("matrix", "lung", "lung-learned", "--store", "study"))
    assert message == "study holds a run of another kind. Choose another folder"
    message = said(run("explore", "--run", "matrix"))
    assert message.endswith("run of contextwise experiment or stability")


def test_a_page_shows_single_guesses_or_groups() -> None:
    command = ["report", "six", "--out", "page.html"]
    assert "single guesses or groups" in said(run(*command, "six-guess", "a=six-graph"))
    assert "--chance needs a GUESS" in said(run(*command, "--chance"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "lung", "lung", "--seed", "1"], "--seed needs --chance"),
        (["matrix", "lung", "lung", "--seed", "1"], "--seed needs --approximate"),
        (["replicates", "six", "a=six", "--better", "smaller"], "--better needs --table"),
        (["replicates", "--table", "rows.csv", "--pairs", "A,B"], "--pairs is for models"),
        (
            ["matrix", "lung", "lung", "--jobs", "0"],
            "'--jobs': must be a number of processes",
        ),
        (
            ["independencies", "lung", "smoker", "cancer", "--most", "1"],
            "--most is for all pairs",
        ),
        ([*STABILITY, "--how", "bootstrap", "--share", "0.5"], "--share is for subsamples"),
        ([*STABILITY, "--set", "l1=1", "--set", "l1=2"], "--set sets l1 twice"),
        ([*LEARN, "--grid", "l1=1", "--grid", "l1=2"], "--grid sets l1 twice"),
        (
            [*STABILITY, "--set", "show_progress=yes"],
            "(the parameters are penalty, min_count, prior",
        ),
    ],
)
def test_what_would_do_nothing_is_refused(arguments: list[str], message: str) -> None:
    assert message in said(run(*arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "lung", ""], "'': no such file or example"),
        (["fit", "lung", "", "--out", "x.json"], "'': No such file"),
        (["learn", "trees", "rows.csv", "--valid", "", "--out", "x.json"], "'': No such file"),
        (["info", "header.csv"], "header.csv: there are no rows below the header"),
        (["replicates", "--table", "binary.csv"], "not UTF-8 text"),
        (["compare", "lung", "lung", "--pairs", "smoker,smoker"], "'smoker', 'smoker'"),
        (["compare", "lung", "lung", "--variables", "smoker"], "no pair of variables is left"),
        (["check", "lung", "rows.csv", "--variables", "smoker"], "no pair of variables is left"),
        (["plot", "matrix", "one.json", "--out", "x.png"], "no pair of variables is left"),
        (["stability", "one.csv", "--learner", "trees"], "no pair of variables is left"),
        (["learn", "gssl", "rows.csv", "--out", "x.json", "--seed", "-1"], "-1 is not in the rang"),
        (["experiment", "kl", "--out", "x", "--model", "six-graph"], "claims nothing independent"),
        (["experiment", "kl", "--out", "x", "--model", "one.json"], "claims nothing independent"),
        (["experiment", "learners", "--out", "x", "--learners", ""], "learners must be given"),
        (["experiment", "learners", "--out", "x", "--repeats", "0"], "repeats must be >= 1"),
        (["explore", "--run", "rows.csv"], "rows.csv:2: these are not the results of an experim"),
        (["stability", "missing.csv", "--learner", "nothing"], "there is no learner 'nothing'"),
        (["report", "lung", "missing.mn", "--out", "x.html", "--stability", "rows.csv",
          "--learner", "nothing"], "there is no learner 'nothing'"),
    ],
)  # fmt: skip
def test_trouble_is_told_in_plain_words(arguments: list[str], message: str) -> None:
    Path("header.csv").write_text("A,B\n")
    Path("binary.csv").write_bytes(bytes(range(256)))
    Path("one.csv").write_text("A\n0\n1\n")
    write(Structure({"A": 2}), "one.json")
    assert message in said(run(*arguments))


def test_nothing_to_list_is_told_beside_the_list() -> None:
    assert run("independencies", "six-graph", "--json").stdout == "[]\n"
    none = run("independencies", "six-graph")
    assert none.stderr == "contextwise: no two variables are independent in any context\n"
    none = run("independencies", "survey-learned", "--context-specific")
    assert "no two variables are independent in only some contexts" in none.stderr


def test_a_target_names_the_suffixes_that_can_be_written() -> None:
    message = said(run("consensus", "lung", "lung-learned", "--out", "agreed.txt"))
    able = ", ".join(suffix for known in FORMATS if known.writer for suffix in known.suffixes)
    assert able.startswith(".mn, .json")
    assert message.endswith(f"cannot write .txt; use one of {able} (each also with .gz or .xz)")


def test_more_processes_than_units_are_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    loky = pytest.importorskip("loky")
    started: list[int] = []
    begin = loky.get_reusable_executor

    def noted(max_workers: int, **options: Any) -> Any:
        started.append(max_workers)
        return begin(max_workers=max_workers, **options)

    monkeypatch.setattr(loky, "get_reusable_executor", noted)
    assert run("matrix", "lung", "lung-learned", "--jobs", "1000").exit_code == 0
    assert set(started) == {loky.cpu_count()}


@pytest.mark.parametrize(
    ("target", "arguments"),
    [
        ("studies.kl_study.run_kl", ["experiment", "kl", "--out", "kept"]),
        ("studies.learner_study.run_learners", ["experiment", "learners", "--out", "kept"]),
        ("evaluation.resampling.run_units", [*STABILITY, "--folder", "kept"]),
        ("support.store.run_units", ["matrix", "six", "six-guess", "--store", "kept"]),
    ],
)
def test_a_run_that_is_stopped_says_that_it_goes_on(
    target: str,
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    module, _, name = target.rpartition(".")
    monkeypatch.setattr(import_module(f"contextwise.{module}"), name, stop)
    monkeypatch.setattr("sys.set_int_max_str_digits", lambda _: None)  # it would outlive the test
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 130
    words = "interrupted; finished work is kept in kept, run the same command to resume\n"
    assert capsys.readouterr().err.endswith(words)


def test_only_the_metrics_that_are_asked_for_are_shown() -> None:
    words = ["replicates", "six", "survey", "a={truth}", "b={truth}"]
    assert "normalized distance" in run(*words).output
    assert "distance" not in run(*words, "--metric", "kappa").output
