"""Tests that the commands in the README print the output shown there.

In a fenced block, a line ``$ contextwise …`` is a command, and the lines up to the next ``$`` or
the end of the block are its output; ``...`` stands for anything, and a command without output below
it must only work. The commands of a page run in order, in one empty folder. Python examples are
doctests, which pytest collects by itself.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sysconfig
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "CONTRIBUTING.md")


class Shown(NamedTuple):
    """A command that a page shows, and what it says the command prints."""

    command: str
    output: str


def shown_commands(page: str) -> list[Shown]:
    """The commands in the fenced blocks of a page."""
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    found = []
    for block in blocks:
        for part in re.split(r"^\$ ", block.replace("\\\n", ""), flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if command.startswith("contextwise"):
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
    for shown in shown_commands(page):
        done = run(shown.command, folder)
        if shown.output:
            agrees = doctest.OutputChecker().check_output(
                shown.output, done.stdout, doctest.ELLIPSIS
            )
            assert agrees, f"$ {shown.command}\n{done.stdout}"
        else:
            assert done.returncode == 0, f"$ {shown.command}\n{done.stdout}"


@pytest.mark.parametrize("page", PAGES)
def test_the_page_shows_what_the_command_prints(page: str, tmp_path: Path) -> None:
    check((ROOT / page).read_text(encoding="utf-8"), tmp_path)


PAGE = """
```console
$ contextwise engines
...branch ...
$ ls
whatever
$ contextwise xyzzy
contextwise: No such command 'xyzzy'. Try: contextwise --help
$ contextwise engines \\
    --json > script
```
"""


def test_the_commands_of_a_page_are_found() -> None:
    assert [shown.command for shown in shown_commands(PAGE)] == [
        "contextwise engines",
        "contextwise xyzzy",
        "contextwise engines     --json > script",
    ]


def test_true_output_passes(tmp_path: Path) -> None:
    check(PAGE, tmp_path)


@pytest.mark.parametrize("change", [("branch", "brunch"), ("--json >", "--jsn >")])
def test_false_output_fails(change: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"\$ contextwise"):
        check(PAGE.replace(*change), tmp_path)
