"""What a result depends on: parameters, versions and source."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from contextwise.learning import Pgmpy, Trees
from contextwise.learning.identity import changes, identity_of_learner, source_hash


def test_what_an_identity_tells() -> None:
    first, second = (identity_of_learner(Trees(penalty=p)) for p in (5.0, 9.0))
    assert changes("trees", first, first) == []
    assert changes("trees", first, second) == ["trees: penalty was 5.0 and is 9.0"]
    assert "pgmpy" in identity_of_learner(Pgmpy())["versions"]


CELLS = """
from dataclasses import dataclass
import numpy as np
from contextwise.learning import Learner
LEVEL, WEIGHTS, rows = 0.1, np.ones(3), [1]

def used(x, *, low=0):
    return x.rows > LEVEL + WEIGHTS.sum()

@dataclass(eq=False, repr=False)
class Mine(Learner):
    t: float = 0.5
    def learn(self, data, run):
        return [used(x) for x in {"a", "b"}]
"""
CHANGES = [
    ("LEVEL, WEIGHTS, rows = 0.1", "LEVEL, WEIGHTS, rows = 0.2"),
    ("np.ones(3)", "np.ones(4)"),
    ("low=0", "low=1"),
    ('{"a", "b"}', '{"a", "c"}'),
    ("t: float = 0.5", "t: float = 0.7"),
    ("x.rows >", "x.rows <"),
]


def hash_in_another_process(text: str) -> str:
    text += "\nfrom contextwise.learning.identity import source_hash\nprint(source_hash(Mine))"
    done = subprocess.run([sys.executable, "-"], input=text, capture_output=True, text=True)
    return done.stdout


def test_the_source_of_a_class_of_a_notebook() -> None:
    """It is the same in each process, and changes with every constant that the class uses."""
    first = hash_in_another_process(CELLS)
    assert len(first) == 9
    assert first == hash_in_another_process(
        CELLS.replace("rows = 0.1, np.ones(3), [1]", "rows = 0.1, np.ones(3), [2]")
    )
    others = [hash_in_another_process(CELLS.replace(*change)) for change in CHANGES]
    assert len({first, *others}) == 1 + len(CHANGES)


def test_the_source_of_a_notebook_is_what_a_function_uses() -> None:
    def notebook(constant: int) -> Any:
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(f"def used(): return {constant}\ndef learn(rows): return used()", names)
        return names["learn"]

    assert source_hash(notebook(1)) == source_hash(notebook(1))
    assert source_hash(notebook(1)) != source_hash(notebook(2))
