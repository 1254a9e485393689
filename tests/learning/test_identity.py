"""What a result depends on: parameters, versions and source."""

from __future__ import annotations

from typing import Any

from contextwise.learning import Pgmpy, Trees
from contextwise.learning.identity import changes, identity_of_learner, source_hash


def test_what_an_identity_tells() -> None:
    first, second = (identity_of_learner(Trees(penalty=p)) for p in (5.0, 9.0))
    assert changes("trees", first, first) == []
    assert changes("trees", first, second) == ["trees: penalty was 5.0 and is 9.0"]
    assert "pgmpy" in identity_of_learner(Pgmpy())["versions"]


def test_the_source_of_a_notebook_is_what_a_function_uses() -> None:
    def notebook(constant: int) -> Any:
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(f"def used(): return {constant}\ndef learn(rows): return used()", names)
        return names["learn"]

    assert source_hash(notebook(1)) == source_hash(notebook(1))
    assert source_hash(notebook(1)) != source_hash(notebook(2))
