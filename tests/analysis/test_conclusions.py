"""Analyse rows whole: what is refused, what Ctrl-C keeps, which questions are asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyses import analysed
from analyses import chain as analysed_chain
from contextwise import Domain, Structure
from contextwise.analysis import conclusions
from contextwise.analysis.conclusions import MOST_VARIABLES, Analysis, analyse, analysis_of
from contextwise.data.rows import Data
from contextwise.errors import ContextwiseError, DomainError, TooLargeError
from contextwise.evidence.pair_tester import PairTester
from contextwise.support.arrays import FloatArray, IntArray
from contextwise.support.effort import Effort


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


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.zeros((9, 2)), "9 rows: too few to show any association"),
        (np.zeros((30, 3)), "0 usable columns .v0, v1, v2 never vary."),
        (np.eye(30, 2), None),
    ],
)
def test_rows_that_can_show_nothing_are_refused(rows: FloatArray, message: str | None) -> None:
    data = Data(Domain.of_cardinalities([2] * rows.shape[1]), rows.astype(np.int64))
    if message is None:
        assert len(analysed(data).pairs) == 1
        return
    with pytest.raises(DomainError, match=message):
        analysed(data)


def test_too_many_columns_and_an_unknown_outcome_are_refused_before_the_work() -> None:
    with pytest.raises(TooLargeError, match="choose some with --columns"):
        analysed(analysed_chain(MOST_VARIABLES + 1, rows=20))
    with pytest.raises(ContextwiseError, match="unknown variable 'v9'"):
        analysed(analysed_chain(3), outcome="v9")


def test_neighbours_in_a_chain_are_associated_and_others_are_not() -> None:
    found = analysed(analysed_chain(4))
    assert {each.pair for each in found.pairs if each.verdict == "associated"} == {
        ("v0", "v1"),
        ("v1", "v2"),
        ("v2", "v3"),
    }
    assert found.found
    assert len(found.records()) == len(found.to_frame()) == 6


def test_the_pairs_of_an_outcome_come_first_and_are_asked_about() -> None:
    found = analysed(analysed_chain(4), outcome="v1")
    assert ["v1" in each.pair for each in found.pairs] == [True] * 3 + [False] * 3
    assert found.asked == "pairs with the outcome"
    assert found.outcome == "v1"


def test_a_given_model_keeps_its_evidence_only_about_these_rows() -> None:
    data, others = analysed_chain(3), analysed_chain(3, rows=300)
    model = Structure(data.domain, ["v0=1 & v1=1"])
    first = analysis_of(model, data, "rows.csv", Effort.of(None))
    assert not first.found
    again = analysis_of(first.structure, data, "rows.csv", Effort.of(None))
    assert again.evidence is first.evidence
    fresh = analysis_of(first.structure, others, "others.csv", Effort.of(None))
    assert fresh.evidence.fingerprint == others.fingerprint != data.fingerprint
    assert "v1–v2" in str({claim.sentence for claim in fresh.evidence.contradicted})


def test_no_time_leaves_pairs_unfinished_and_says_so() -> None:
    data = analysed_chain(4)
    found = analysis_of(Structure(data.domain), data, "rows.csv", Effort.of(0.0))
    assert found.unfinished
    assert replace(found, unfinished=()).unfinished == ()
