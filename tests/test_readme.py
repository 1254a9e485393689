"""Tests that commands and Python examples of all pages print the output shown there.

In a fenced block, a line ``$ command`` is a command, and the lines up to the next ``$`` or the end
of the block are its output; ``...`` stands for anything, and a command without output below it must
only work. Blocks with ``>>>`` are doctests that share their names. The examples of a page run in
order, in one empty folder. Commands that are not ours (pip, R) are not run, except those that
write or show files.

Blocks ``sh`` name files that a reader would have. They run in a folder with such files
(`files_of_readers`); `SMALLER` makes long ones short, and `NOT_RUN` has the reasons of the others.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sysconfig
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
import pandas
import pytest

import contextwise as cw
from contextwise import sample, write
from contextwise.cli import contextwise as contextwise_command

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = ("contextwise ", "cat ", "head ", "ls", "mkdir ", "printf ", "tail ", "cp ", "for ", "grep ")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Shown(NamedTuple):
    """A command that a page shows, and what it says the command prints."""

    command: str
    output: str


def blocks_of(page: str) -> list[str]:
    """Return the fenced blocks of a page."""
    return re.findall(r"^```[^\n]*\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def shown_commands(block: str) -> list[Shown]:
    """Return the commands of a block; a here-document belongs to its command."""
    found = []
    for part in re.split(r"^\$ ", block.replace("\\\n", ""), flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        if end := re.search(r"<<\s*'?(\w+)'?", command):
            document, _, output = output.partition(f"\n{end[1]}\n")
            command = f"{command}\n{document}\n{end[1]}"
        if command.startswith(RUN):
            found.append(Shown(command, output.strip("\n") + "\n" if output.strip() else ""))
    return found


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell command and capture its output, including standard error."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )


def check(page: str, folder: Path) -> None:
    """Run the examples of a page in a folder."""
    names: dict[str, object] = {}
    for number, block in enumerate(blocks_of(page)):
        for shown in shown_commands(block):
            done = run(shown.command, folder)
            if shown.output:
                agrees = doctest.OutputChecker().check_output(shown.output, done.stdout, FLAGS)
                assert agrees, f"$ {shown.command}\n{done.stdout}"
            else:
                assert done.returncode == 0, f"$ {shown.command}\n{done.stdout}"
        examples = doctest.DocTestParser().get_doctest(block, names, f"block {number}", None, None)
        if examples.examples:
            runner, told = doctest.DocTestRunner(optionflags=FLAGS), io.StringIO()
            with contextlib.chdir(folder):
                runner.run(examples, out=told.write, clear_globs=False)
            names = examples.globs
            assert not runner.failures, told.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_shows_what_its_examples_print(page: Path, tmp_path: Path) -> None:
    check(page.read_text(encoding="utf-8"), tmp_path)


NOT_RUN = {
    "pip install": "installs the package, which is there",
    "contextwise explore": "serves pages until Ctrl-C; tests/explorer starts it",
    "--cluster tcp://scheduler:8786": "needs a Dask scheduler of that name",
    "libra ": "another program",
}
"""Parts of commands of shell blocks that are not run, and why."""
SMALLER = {
    "--planted 1000": "--planted 2",
    "--rows 50,100,1000,10000": "--rows 50",
    "--weight-sets 10": "--weight-sets 1",
    "--rows 200,1000,5000": "--rows 50",
    "--repeats 2 --rows 1000,5000": "--repeats 1 --rows 60",
    "random-8#1 states-6#1 ldag-10#1 cstree-8#1 bnlearn-asia bnlearn-survey": "",
    "--resamples 200": "--resamples 2",
}
"""Parts of commands that take minutes, and what the test runs instead."""


@pytest.fixture(scope="module")
def files_of_readers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that shell blocks name."""
    folder = tmp_path_factory.mktemp("reader")
    lung, learned = (cw.formats.read_example(name) for name in ("lung", "lung-learned"))
    for name, model in {"true": lung, "learned": learned, "other": lung}.items():
        write(model, folder / f"{name}.json")
        write(model, folder / f"{name}.mn")
    network = cw.truths.named.truth("bnlearn-cancer")
    for name in ("true", "learned", "alarm"):
        write(network, folder / f"{name}.bif")
    for group in ("t", "p", "trees", "chow-liu"):
        (folder / group).mkdir()
        for k in range(3):
            for suffix in ("mn", "json"):
                write(learned if k else lung, folder / group / f"{k}.{suffix}")
    for name in ("a", "b"):
        write(learned, folder / f"{name}.mn")
    write(lung, folder / "truth.json")
    rows = sample(lung, 300, seed=1)
    for name in ("rows", "test", "train"):
        rows.to_csv(folder / f"{name}.csv", index=False)
    rng = np.random.default_rng(0)
    survey = pandas.DataFrame(
        {
            "country": rng.choice(["A", "B"], 200),
            "vote": rng.choice(["yes", "no"], 200),
            "trust": rng.choice(["low", "mid", "high"], 200),
            "weight": rng.choice([0.5, 1.0, 2.25, 1.75], 200),
        }
    )
    survey.to_csv(folder / "survey.csv", index=False)
    visits = survey[["vote", "trust"]].assign(patient=[f"p{k // 4}" for k in range(200)])
    visits.to_csv(folder / "visits.csv", index=False)
    return folder


def lines_of_shell_blocks(page: str) -> list[str]:
    """Return the commands of the ``sh`` blocks of a page."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_shell_blocks_work(page: Path, files_of_readers: Path) -> None:
    for line in lines_of_shell_blocks(page.read_text(encoding="utf-8")):
        if not any(part in line for part in NOT_RUN):
            for long, short in SMALLER.items():
                line = line.replace(long, short)
            done = run(line, files_of_readers)
            assert done.returncode in (0, 1), f"$ {line}\n{done.stdout}"
            assert "Traceback" not in done.stdout


def commands_of_shell_blocks(page: str) -> list[list[str]]:
    """Return the words of our commands in the ``sh`` blocks of a page, which need files to run."""
    found = []
    for block in re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.shlex(line, posix=True, punctuation_chars=True)
            words.whitespace_split = True
            parts: list[list[str]] = [[]]
            for word in words:
                parts[-1:] = (
                    [parts[-1], []] if set(word) <= set("|;&<>()") else [[*parts[-1], word]]
                )
            found += [part[1:] for part in parts if part[:1] == ["contextwise"]]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_shell_blocks_have_these_options(page: Path) -> None:
    for words in commands_of_shell_blocks(page.read_text(encoding="utf-8")):
        command: click.Command = contextwise_command
        context = click.Context(command)
        while isinstance(command, click.Group) and words and words[0][:1] != "-":
            found = command.get_command(context, words[0])
            assert found is not None, words
            command, words = found, words[1:]
            context = click.Context(command, parent=context)
        command.make_parser(context).parse_args([*words])  # raises if there is no such option


def test_a_wrong_option_of_a_shell_block_is_found() -> None:
    page = "```sh\ncontextwise matrix *.json \\\n  --out a.csv | head\n```\n"
    assert commands_of_shell_blocks(page) == [["matrix", "*.json", "--out", "a.csv"]]


PAGE = """
```console
$ contextwise info
...branch...
$ ls
$ pip install whatever
$ contextwise xyzzy
contextwise: No such command 'xyzzy'. Try: contextwise --help
$ contextwise info \\
    --json > script
```
"""


def test_the_commands_of_a_page_are_found() -> None:
    (block,) = blocks_of(PAGE)
    assert [shown.command for shown in shown_commands(block)] == [
        "contextwise info",
        "ls",
        "contextwise xyzzy",
        "contextwise info     --json > script",
    ]


def test_true_output_passes(tmp_path: Path) -> None:
    check(PAGE, tmp_path)


@pytest.mark.parametrize("change", [("branch", "brunch"), ("--json >", "--jsn >")])
def test_false_output_fails(change: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"\$ contextwise"):
        check(PAGE.replace(*change), tmp_path)
