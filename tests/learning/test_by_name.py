"""Learners as people name them: of the table, with parameters, of their own, of other packages."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from contextwise import learning, study
from contextwise.errors import ContextwiseError
from contextwise.learning import ChowLiu, PairBlocks, Trees
from contextwise.learning.base import as_learner
from contextwise.learning.by_name import learner_from_text

MINE = """
import contextwise as cw
from contextwise.learning import Data, Learner, Run


class Mine(Learner):
    def __init__(self, pairs: int = 1) -> None:
        self.pairs = pairs

    def learn(self, data: Data, run: Run) -> cw.Structure:
        names = data.domain.names[: self.pairs + 1]
        edges = list(zip(names, names[1:]))
        states = data.domain.states
        first = {name: labels[0] for name, labels in zip(data.domain.names, states)}
        return cw.Structure(data.domain, [{a: first[a], b: first[b]} for a, b in edges])


def chain(frame, pairs=1):
    names = list(frame.columns)[: pairs + 1]
    domain = {name: ["no", "yes"] for name in frame.columns}
    return cw.Structure(domain, [f"{a}=yes & {b}=yes" for a, b in zip(names, names[1:])])


fixed = Mine(2)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of the user's, as the current one."""
    (tmp_path / "mine_here.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mine_here", raising=False)
    return tmp_path


def test_texts_become_learners() -> None:
    assert isinstance(learner_from_text("pair-blocks"), PairBlocks)
    trees = as_learner("trees:penalty=5:refit=l1")
    assert isinstance(trees, Trees)
    assert (trees.penalty, trees.refit, trees.min_count) == (5.0, "l1", 10)
    with pytest.raises(ContextwiseError, match="did you mean 'chow-liu'"):
        as_learner("chowliu:prior=1")


@pytest.mark.parametrize(
    "text", ["mine_here:Mine:pairs=2", "mine_here:fixed", "mine_here:fixed:pairs=2"]
)
def test_a_learner_of_the_user(folder: Path, text: str) -> None:
    learner = learner_from_text(text)
    assert learner.get_params() == {"pairs": 2}
    assert learner.name == "Mine"
    assert learner.fit([[0, 1, 1], [1, 0, 0]]).structure_.pairs() == [("v0", "v1"), ("v1", "v2")]


def test_a_function_of_the_user_takes_parameters(folder: Path) -> None:
    result = study("lung", ["mine_here:chain:pairs=2", "mine_here:chain"], rows=20, repeats=1)
    assert [r["status"] for r in result.results] == ["done", "done"]
    assert [r["features"] for r in result.results] == [2, 1]


def test_what_of_the_user_is_no_learner(folder: Path) -> None:
    (folder / "broken_here.py").write_text("import not_there_at_all\n")
    (folder / "wrong_here.py").write_text("def broken(:\n")
    for text, message in (
        ("mine_here:MINE", "the module mine_here has no 'MINE'"),
        ("mine_here:__name__", "is not a learner; it must be a subclass"),
        ("mine_here:Mine:depth=1", "has no parameter 'depth'; its parameters are pairs"),
        ("mine_here:Mine:pairs=x", "pairs must be a whole number, got 'x'"),
        ("broken_here:Mine", "broken_here cannot be imported: No module named 'not_there_at_all'"),
        ("wrong_here:Mine", "wrong_here cannot be imported: SyntaxError"),
    ):
        with pytest.raises(ContextwiseError, match=message):
            learner_from_text(text)


def test_a_package_brings_its_own_learner(folder: Path) -> None:
    (folder / "theirs-1.0.dist-info").mkdir()
    (folder / "theirs-1.0.dist-info" / "METADATA").write_text("Name: theirs\nVersion: 1.0\n")
    entry = "[contextwise.learners]\ntheirs = mine_here:Mine\n"
    (folder / "theirs-1.0.dist-info" / "entry_points.txt").write_text(entry)
    learning.other_learners.cache_clear()
    try:
        assert learning.other_learners() == {"theirs": "mine_here:Mine"}
        assert learner_from_text("theirs:pairs=3").get_params() == {"pairs": 3}
    finally:
        learning.other_learners.cache_clear()


def test_every_command_that_learns_takes_a_learner_of_the_user(folder: Path) -> None:
    (folder / "rows.csv").write_text("A,B,C\n" + "0,0,1\n1,1,0\n0,1,1\n1,0,0\n" * 20)
    script = Path(sysconfig.get_path("scripts")) / "contextwise"
    names = "pair-blocks,trees:penalty=5,mine_here:Mine:pairs=2"
    for command in (
        "learn rows.csv --learner mine_here:Mine --out mine.json",
        "stability rows.csv --learner mine_here:Mine --resamples 3 --jobs 2",
        "analyse rows.csv --learner mine_here:Mine:pairs=2 --resamples 2 --out page",
        f"study lung --learners {names} --rows 30 --repeats 1 --jobs 2 --out run",
    ):
        done = subprocess.run([script, *command.split()], capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)


def test_our_names_are_not_taken_by_classes_of_the_user() -> None:
    mine = type("ChowLiu", (ChowLiu,), {"__module__": "elsewhere"})
    assert (mine().name, ChowLiu().name) == ("ChowLiu", "chow-liu")
