"""PairBlocks: its logits, its trees, and what it finds in rows with known structure."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import contextwise as cw
from contextwise.errors import ContextwiseError
from contextwise.learning import PairBlocks, as_data, logit
from contextwise.learning.base import Run
from contextwise.learning.logit import BlockScores
from contextwise.support.arrays import IntArray
from contextwise.support.effort import Deadline
from independence_oracle import is_independent


def _rows(count: int, seed: int = 0) -> IntArray:
    """Draw rows where B and D depend on A, and B and C on each other only where A=0."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, count), rng.integers(0, 3, count)
    c = np.where((a == 0) & (rng.random(count) < 0.5), b, rng.integers(0, 3, count))
    b = np.where((a == 1) & (rng.random(count) < 0.4), 0, b)
    c = np.where((a == 1) & (rng.random(count) < 0.4), 1, c)
    d = np.where(rng.random(count) < 0.6, a, rng.integers(0, 4, count))
    return np.stack([a, b, c, d], axis=1)


DOMAIN = {"A": 2, "B": 3, "C": 3, "D": 4}


def test_it_finds_a_planted_context() -> None:
    learned = PairBlocks().fit(_rows(3000), domain=DOMAIN).structure_
    assert ("B", "C") in learned.restrict("A=0").pairs()
    assert ("B", "C") not in learned.restrict("A=1").pairs()
    assert ("A", "D") in learned.pairs()
    assert ("B", "D") not in learned.pairs()


def test_depth_zero_finds_a_graph() -> None:
    structure = PairBlocks(depth=0).fit(_rows(3000), domain=DOMAIN).structure_
    assert {len(literals) for literals in structure.features.literals()} == {2}


def test_the_readable_version_learns_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _rows(600, 5)
    compiled = PairBlocks().fit(rows, domain=DOMAIN).structure_
    monkeypatch.setattr(logit, "not_compiled", "for this test")
    assert PairBlocks().fit(rows, domain=DOMAIN).structure_ == compiled


def test_tables_find_effects_that_cancel() -> None:
    """Two causes of a common effect depend given it, with opposite signs."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, (2, 4000))
    p = np.array([[0.85, 0.5], [0.15, 0.6]])[a, b]
    rows = np.stack([a, b, rng.random(4000) < p], axis=1).astype(int)
    assert len(PairBlocks().fit(rows, domain={"A": 2, "B": 2, "C": 2}).structure_.pairs()) == 3


def test_independent_rows_have_no_pairs() -> None:
    rows = np.random.default_rng(4).integers(0, 3, (2000, 8))
    assert PairBlocks().fit(rows).structure_.pairs() == []


def test_constraints_are_respected() -> None:
    learner = PairBlocks(require=[("D", "B")], forbid=[("A", "D")])
    pairs = learner.fit(_rows(2000), domain=DOMAIN).structure_.pairs()
    assert ("B", "D") in pairs
    assert ("A", "D") not in pairs


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"require": [("A", "X")]}, "unknown variable 'X'"),
        ({"forbid": [("A", "A")]}, "two different variables"),
        ({"require": [("A", "B")], "forbid": [("B", "A")]}, "both required and forbidden"),
        ({"depth": -1}, "depth must be >= 0"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ContextwiseError, match=message):
        PairBlocks(**parameters).fit(_rows(50), domain=DOMAIN)


def test_the_time_limit_keeps_the_best_so_far() -> None:
    learner = PairBlocks().fit(_rows(3000), domain=DOMAIN, time_limit=0)
    assert not learner.finished_
    assert learner.structure_.pairs() == []


@pytest.mark.parametrize("looks", [1, 20, 60, 150])
def test_it_looks_at_the_clock_in_every_phase(looks: int) -> None:
    """After the time is up, few logits are fitted."""
    fits = 0

    class Late(Deadline):
        passes = 0

        @property
        def passed(self) -> bool:
            self.passes += 1
            return self.passes > looks

    def counted(*arguments: Any) -> Any:
        nonlocal fits
        fits += deadline.passes > looks
        return fit(*arguments)

    deadline = Late()
    data = as_data(cw.sample(cw.examples.truth("random-8"), 2000, seed=1, array=True))
    fit = BlockScores.fit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BlockScores, "fit", counted)
        run = Run(deadline)
        PairBlocks().learn(data, run)
    assert not run.finished
    assert fits <= 40


def test_an_interrupt_keeps_the_best_so_far() -> None:
    def interrupt(done: int, total: int) -> None:
        learner.calls = getattr(learner, "calls", 0) + 1  # type: ignore[attr-defined]
        if learner.calls > 8:  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    learner = PairBlocks()
    with pytest.raises(KeyboardInterrupt):
        learner.fit(_rows(3000), domain=DOMAIN, show_progress=interrupt)
    assert not learner.finished_
    assert ("A", "D") in learner.structure_.pairs()
    assert "unfinished" in learner.structure_.origin.words


def test_unseen_and_many_states() -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 30, 3000)
    rows = np.stack([codes, codes // 8, rng.integers(0, 2, 3000)], axis=1)
    learned = PairBlocks().fit(rows, domain={"A": 40, "B": 4, "C": 3}).structure_
    assert learned.pairs() == [("A", "B")]


def test_constant_columns_and_single_rows() -> None:
    assert PairBlocks().fit([[0, 1]], domain={"A": 2, "B": 2}).structure_.pairs() == []
    rows = [[0, 0, k % 2] for k in range(50)]
    assert PairBlocks().fit(rows, domain={"A": 1, "B": 2, "C": 2}).structure_.pairs() == []


def test_it_finds_a_conjunction() -> None:
    """Rows of exp(2 A B C): each pair depends only where the third is 1."""
    cells = np.array(list(product(range(2), repeat=3)))
    p = np.exp(3.0 * cells.all(axis=1))
    rows = cells[np.random.default_rng(7).choice(8, 5000, p=p / p.sum())]
    learned = PairBlocks().fit(rows, domain={"A": 2, "B": 2, "C": 2}).structure_
    truth = cw.Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
    assert cw.distance(truth, learned) == 0


def test_no_region_is_excluded_that_its_own_test_contradicts() -> None:
    """In one part of town, alcohol and status are associated weakly (Danish welfare, R's vcd)."""
    tables = Path(__file__).parents[2] / "studies" / "tables"
    rows = cw.read_data(str(tables / "danish-welfare.csv"), counts="count")
    claims = PairBlocks().fit(rows).evidence_.claims
    assert len(claims) > 3
    assert not [c.sentence for c in claims if c.region and c.verdict == "contradicted"]


@pytest.mark.parametrize(
    ("table", "first", "second"),
    [("chile", "sex", "vote"), ("danish-welfare", "Alcohol", "Urban")],
)
def test_clear_associations_of_ordinary_tables_are_found(
    table: str, first: str, second: str
) -> None:
    """Chi-square tests have p below 1e-15, and learners that pay for each split missed both."""
    path = Path(__file__).parents[2] / "studies" / "tables" / f"{table}.csv"
    learned = cw.learn(str(path), counts="count")
    assert not is_independent(learned.structure_, first, second)
    claims = learned.evidence_.about(first, second)
    assert {claim.verdict for claim in claims} == {"supported"}
    assert all(claim.dependent for claim in claims)


def test_the_model_of_a_conjunction_keeps_the_share_of_each_state() -> None:
    """Features of a conjunction alone would make all states of its literals equally likely."""
    cells = np.array(list(product(range(2), repeat=3)))
    p = np.exp(3.0 * cells.all(axis=1) - cells @ [1.0, 1.5, 2.0])
    rows = cells[np.random.default_rng(7).choice(8, 5000, p=p / p.sum())]
    structure = PairBlocks().fit(rows, domain={"A": 2, "B": 2, "C": 2}).structure_
    assert {len(literals) for literals in structure.features.literals()} == {1, 3}
    fitted = cw.distributions.fit(structure, rows, method="likelihood").model
    table = cw.distributions.probabilities(fitted)
    for v in range(3):
        others = tuple(u for u in range(3) if u != v)
        assert table.sum(axis=others)[1] == pytest.approx(rows[:, v].mean(), abs=1e-4)
