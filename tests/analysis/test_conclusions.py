"""Analyse rows whole: what is refused, what Ctrl-C keeps, which questions are asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextwise import Domain
from contextwise.analysis import conclusions
from contextwise.analysis.conclusions import Analysis, analyse
from contextwise.data.rows import Data
from contextwise.errors import ContextwiseError
from contextwise.evidence.pair_tester import PairTester
from contextwise.support.arrays import IntArray


def chain(seed: int = 1, rows: int = 400, variables: int = 5) -> IntArray:
    """Draw variables that each follow the one before with probability 0.75."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=(rows, variables))
    for v in range(1, variables):
        same = rng.random(rows) < 0.75
        codes[same, v] = codes[same, v - 1]
    return codes


def data_of(codes: IntArray) -> Data:
    return Data(Domain({f"v{k}": ["a", "b"] for k in range(codes.shape[1])}), codes)


def facts(result: Analysis) -> dict[Any, Any]:
    return {frozenset(e.pair): (e.verdict, round(e.p or 1.0, 6)) for e in result.pairs}


@pytest.mark.parametrize(
    ("columns", "outcome", "message"),
    [
        ({"y": ["yes"] * 60}, "y", "'y' has one state|y has one state"),
        ({"y": [f"name {k}" for k in range(60)]}, "y", "left out as a column of names"),
        ({}, "z", "there is no column 'z'"),
    ],
)
def test_an_outcome_that_cannot_be_one_is_refused(
    tmp_path: Path, columns: dict[str, list[str]], outcome: str, message: str
) -> None:
    values = {"a": list("xyyxyx" * 10), "b": list("ppqpqqpqpq" * 6), **columns}
    lines = [",".join(values), *map(",".join, zip(*values.values(), strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    with pytest.raises(ContextwiseError, match=message):
        analyse(tmp_path / "rows.csv", outcome=outcome, resamples=0)


def test_ctrl_c_keeps_the_pairs_done_and_ends_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, tested = [], PairTester.tested

    def interrupted(self: PairTester, *how: Any, **more: Any) -> Any:
        calls.append(how)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return tested(self, *how, **more)

    monkeypatch.setattr(PairTester, "tested", interrupted)
    result = analyse(data_of(chain()), resamples=5, learner="chow-liu")
    assert len(result.pairs) == 2
    assert result.pairs.unfinished == 8
    assert result.unfinished == ("8 pairs not tested", "the learner not started")
    assert not result.interactions
    assert not result.structure.features


def test_if_there_are_many_questions_the_clearest_pairs_are_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = data_of(chain())
    assert analyse(data, resamples=0, learner="chow-liu").asked == "all pairs"
    monkeypatch.setattr(conclusions, "MOST_QUESTIONS", 8)
    result = analyse(data, resamples=0, learner="chow-liu")
    assert result.asked == "clearest pairs"
    pairs = [set(e.pair) for e in result.pairs if e.associated]
    asked = {frozenset((*i.pair, i.by)) for i in result.interactions}
    assert len(asked) <= 8
    assert {frozenset(i.pair) for i in result.interactions} < set(map(frozenset, pairs))
    clearest = {frozenset((*pairs[0], f"v{k}")) for k in range(5)} - {frozenset(pairs[0])}
    assert clearest <= asked
    assert "clearest of" in result.interactions[0].family


def test_a_pair_that_differs_is_associated() -> None:
    """The signs of an association cancel in the states of a third variable."""
    rng = np.random.default_rng(3)
    a, c = rng.integers(2, size=(2, 600))
    b = np.where(rng.random(600) < 0.75, a ^ c, 1 - (a ^ c))
    result = analyse(data_of(np.stack([a, b, c], axis=1)), resamples=0, learner="chow-liu")
    verdicts = {each.verdict for each in result.pairs}
    assert verdicts == {"associated, not on average"}


@pytest.mark.parametrize("seed", range(4))
def test_verdicts_depend_on_neither_order_names_learner_nor_seed(seed: int) -> None:
    codes, rng = chain(seed), np.random.default_rng(seed)
    first = facts(analyse(data_of(codes), resamples=0, learner="chow-liu"))
    shuffled = codes[rng.permutation(len(codes))]
    other = analyse(data_of(shuffled), resamples=2, learner="acyclic-trees", seed=seed + 1)
    assert facts(other) == first
    order = rng.permutation(codes.shape[1])
    domain = Domain({f"v{k}": ["z", "y"] for k in order})
    turned = facts(analyse(Data(domain, 1 - codes[:, order]), resamples=0, learner="independent"))
    assert turned == first
