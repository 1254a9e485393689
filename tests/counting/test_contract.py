"""The table of engines: names, the default, and the loop that counts pairs with any engine."""

import numpy as np
import pytest
from hypothesis import given

from contextwise import Domain, Structure
from contextwise.counting import native
from contextwise.counting.contract import DEFAULT, ENGINES, count_pairs_with, get_engine
from contextwise.counting.cover import Cover
from contextwise.errors import EngineError
from contextwise.support.effort import Deadline, Effort
from contextwise.testing import families

CHAIN = Structure(Domain({"A": 2, "B": 2, "C": 2}), ["A=1 & B=1", "B=1 & C=1"]).features
PAIRS = np.array([[0, 1], [0, 2], [1, 2]])


def test_engines_have_the_names_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, engine in ENGINES.items():
        assert engine.name == name
        assert engine.summary
    monkeypatch.setattr(native, "missing", lambda: "not today")
    assert get_engine(DEFAULT) is ENGINES["branch"]
    with pytest.raises(EngineError, match="'native' is not available: not today"):
        get_engine("native")
    with pytest.raises(EngineError, match="unknown engine 'fast'; choose one of auto, native"):
        get_engine("fast")


def test_equal_covers_are_counted_once() -> None:
    """Both models are one model, so its cover, that of the guess and their union are equal."""
    counted: list[Cover] = []

    def count(cover: Cover, *, deadline: Deadline) -> int:
        counted.append(cover)
        return cover.total

    count_pairs_with(count, CHAIN, CHAIN, PAIRS)
    assert len(counted) == len(set(counted)) == 2


def test_after_the_deadline_the_rest_has_bounds() -> None:
    def count(cover: Cover, *, deadline: Deadline) -> int:
        if not cover.cubes:
            return 0
        deadline.check()
        return cover.total

    found = count_pairs_with(count, CHAIN, CHAIN, PAIRS, Effort(Deadline.after(0)))
    assert found.open_places.tolist() == [0, 2]  # no feature has both A and C
    assert (found.lower < found.upper).any(axis=1).tolist() == [True, False, True]
    assert not found.interrupted


def test_ctrl_c_keeps_what_is_counted() -> None:
    counted = 0

    def count(cover: Cover, *, deadline: Deadline) -> int:
        nonlocal counted
        counted += 1
        if counted > 1:
            raise KeyboardInterrupt
        return ENGINES["enumerate"].count_union(cover)

    found = count_pairs_with(count, CHAIN, CHAIN, PAIRS)
    assert found.interrupted
    assert found.low[0].tolist() == found.high[0].tolist() == [2, 2, 2]


@given(families(2))
def test_engines_agree_on_pairs(models: tuple[Structure, Structure]) -> None:
    a, b = (model.features for model in models)
    n = len(a.cardinalities)
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)], dtype=int).reshape(-1, 2)
    results = [get_engine(name).count_pairs(a, b, pairs) for name in ENGINES]
    for result in results[1:]:
        assert result.lower.tolist() == results[0].lower.tolist()
