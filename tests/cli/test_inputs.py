"""Messages: help, and errors about input that cannot be used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import contextwise as cw
from contextwise import Ensemble, LogLinear, Structure, write
from contextwise.cli import contextwise
from contextwise.errors import ContextwiseError
from contextwise.formats import FORMATS
from contextwise.support.store import Store

LEARN = ("learn", "rows.csv", "--learner", "trees", "--out", "x.json")

STABILITY = ("stability", "rows.csv", "--learner", "trees")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("smoker,asbestos,cancer\n" + "yes,no,no\nno,no,yes\n" * 20)
    Path("others.csv").write_text("A,B\n1,0\n")
    domain = {"A": 2, "B": 2}
    write(LogLinear(Structure(domain, ["A=1 & B=1"]), [1.0]), "weighted.json")
    write(Structure(domain, ["A=1 & B=1"]), "structure.json")
    Ensemble([Structure(domain, ["A=1 & B=1"]), Structure(domain)]).write("both.json")


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
        (["compare", "lung", "structure.json"], "lung, structure.json: the models have different"),
        (
            ["compare", "lung", "weighted.json", "--by-position"],
            "lung, weighted.json: the",
        ),
        (["convert", "lung", "x.mn", "--names-from", "weighted.json"], "weighted.json, lung: the"),
    ],
)
def test_models_that_do_not_align_are_named(arguments: list[str], message: str) -> None:
    assert said(run(*arguments)).startswith(message)


def test_rows_of_other_variables_say_which_are_expected() -> None:
    message = "others.csv:1: 2 cells where 3 are expected: the variables are smoker, asbestos, canc"
    command = ["compare", "lung", "lung-learned", "--score", "others.csv"]
    assert said(run(*command)).startswith(message)


def test_a_folder_of_another_run_is_refused_in_few_words() -> None:
    assert run("matrix", "lung", "lung-learned", "--folder", "matrix").exit_code == 0
    message = said(run("matrix", "six", "six-guess", "six-graph", "--folder", "matrix"))
    assert "models is 2 there and 3 here" in message
    with Store("study", {"structures": 5, "seed": 1, "sizes": [10], "l2": 0.1}) as store:
        store.add("all", [])
    message = said(run("matrix", "lung", "lung-learned", "--folder", "study"))
    assert message == "study holds a run of another kind. Choose another folder"


def test_a_page_counts_with_as_many_threads_as_told(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[object] = []
    compare = cw.compare

    def counting(*models: Any, **how: Any) -> Any:
        threads.append(how["threads"])
        return compare(*models, **how)

    monkeypatch.setattr(cw, "compare", counting)
    assert run("report", "six", "six-guess", "--out", "p.html", "--jobs", "1").exit_code == 0
    assert run("report", "six", "six-guess", "--out", "p.html").exit_code == 0
    assert threads == [1, None]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "lung", "lung", "--seed", "1"], "--seed needs --chance"),
        (["compare", "lung", "lung", "--drop", "x"], "--drop needs --contexts-of or --score"),
        (["compare", "lung", "--group", "a=lung", "--peers"], "--peers is for single guesses"),
        (["compare", "lung", "--group", "a=lung", "--top", "1"], "--top is for single guesses"),
        (["report", "lung", "--out", "p.html", "--chance"], "--chance needs a GUESS"),
        (["explain", "lung", "--na", "9"], "--na needs --contexts-of"),
        (["matrix", "lung", "lung", "--no-header"], "--header needs --contexts-of"),
        (["report", "lung", "--out", "p.html", "--drop", "x"], "--drop needs --check or --context"),
        (["report", "lung", "lung", "--out", "p.html", "--seed", "1"], "--seed needs --chance"),
        (["report", "lung", "--out", "p.html", "--jobs", "2"], "--jobs needs a GUESS"),
        (
            ["report", "lung", "--out", "p.html", "--check", "rows.csv", "--top", "3"],
            "--top has no effect on the page of one model with --check",
        ),
        (
            ["compare", "weighted.json", "both.json", "--by-values", "0.5"],
            "both.json: --by-values is for single models, got an ensemble",
        ),
        (
            ["report", "weighted.json", "both.json", "--out", "p.html"],
            "both.json: one model is needed here, got an ensemble",
        ),
        (["info", "lung", "--drop", "x"], "--drop is for data files"),
        (
            ["matrix", "lung", "lung", "--jobs", "0"],
            "'--jobs': must be a number of processes",
        ),
        (["explain", "lung", "--weights", "w.json"], "--weights needs a GUESS"),
        ([*STABILITY, "--how", "bootstrap", "--share", "0.5"], "--share is for subsamples"),
    ],
)
def test_what_would_do_nothing_is_refused(arguments: list[str], message: str) -> None:
    assert message in said(run(*arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "lung", ""], "'': no such file or example"),
        (["fit", "lung", "", "--out", "x.json"], "'': No such file"),
        (["learn", "rows.csv", "--valid", "", "--out", "x.json"], "'': No such file"),
        (["info", "header.csv"], "header.csv: there are no rows below the header"),
        (["compare", "lung", "lung", "--pairs", "smoker,smoker"], "'smoker', 'smoker'"),
        (["compare", "lung", "lung", "--variables", "smoker"], "no pair of variables is left"),
        (["check", "lung", "rows.csv", "--variables", "smoker"], "no pair of variables is left"),
        (["plot", "matrix", "one.json", "--out", "x.png"], "no pair of variables is left"),
        (["stability", "one.csv", "--learner", "trees"], "no pair of variables is left"),
        (["learn", "rows.csv", "--out", "x.json", "--jobs", "-2"], "-2 is not in the rang"),
        (["compare", "lung", "lung", "--weights", "nested.json"], "this is not JSON"),
        (["compare", "lung", "lung", "--jobs", "9" * 20], "is not in the range 1<=x<=2147483647"),
        (["sample", "lung", "--rows", "9" * 20], "is not in the range 0<=x<=2147483647"),
        (["study", "six", "--out", "x", "--learners", "mpl", "--rows", "9" * 20], "such as 200"),
        (["groups", "rows.csv", "--by", "cancer", "--margin", "nan"], "must be a finite number"),
        (["plot", "graph", "lung", "--out", "x.svg", "--width", "nan"], "a finite number"),
        (["plot", "graph", "lung", "--out", "x.svg", "--width", "1e9"], "0<x<=100"),
        (["learn", "rows.csv", "--out", "x.json", "--counts", "smoker,cancer"], "one column, got"),
        (["learn", "rows.csv", "--out", "x.json", "--subject", "smoker,cancer"], "one column, g"),
        (["study", "six", "--out", "x", "--learners", ""], "name guesses: --learners"),
        (["study", "six", "--out", "x", "--learners", "mpl,ges"], "there is no learner 'ges'"),
        (["study", "nil", "--out", "x", "--learners", "mpl"], "unknown truth 'nil'"),
        (["study", "six", "--out", "x", "--learners", "mpl", "--rows", "1"], "rows must be num"),
        (["study", "six", "--out", "x", "--learners", "mpl", "--rows", "a"], "such as 200,1000"),
        (["stability", "missing.csv", "--learner", "nothing"], "there is no learner 'nothing'"),
    ],
)  # fmt: skip
def test_trouble_is_told_in_plain_words(arguments: list[str], message: str) -> None:
    Path("header.csv").write_text("A,B\n")
    Path("binary.csv").write_bytes(bytes(range(256)))
    Path("one.csv").write_text("A\n0\n1\n")
    Path("nested.json").write_text("[" * 100_000)
    write(Structure({"A": 2}), "one.json")
    assert message in said(run(*arguments))


def test_a_target_names_the_suffixes_that_can_be_written() -> None:
    message = said(run("convert", "lung", "agreed.txt"))
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
    words = ["titanic", "--learner", "chow-liu", "--resamples", "2", "--jobs", "1000"]
    assert run("stability", *words).exit_code == 0
    assert set(started) == {3}  # all rows and two halves
