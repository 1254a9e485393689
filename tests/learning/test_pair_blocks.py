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
from contextwise.learning.logit import Block, BlockScores, Context, Logits, logits, penalty
from contextwise.learning.pair_trees import EVERYWHERE, NOWHERE, PairTrees
from contextwise.support.arrays import IntArray
from contextwise.support.effort import Deadline
from independence_oracle import is_independent

CARDS = [2, 3, 4, 2, 3]
BLOCKS: list[Block] = [((0, 1), ((3, 1),)), ((1, 2), ()), ((2, 4), ((1, 0b110),)), ((1, 3), ())]
OPTIONS: list[list[Block]] = [
    [((1, 4), ())],
    [((1, 4), ((3, 1),)), ((1, 4), ((3, 2),))],
    [((3, 4), ((1, 0b10),))],
]


def _tables(rows: int = 400) -> tuple[Logits, Any]:
    rng = np.random.default_rng(3)
    codes = np.stack([rng.integers(0, card, rows) for card in CARDS])
    codes[1] = (codes[0] + codes[1] * (rng.random(rows) < 0.6)) % 3
    distinct, counts = np.unique(codes.T, axis=0, return_counts=True)
    arguments = distinct.T, counts.astype(float), CARDS
    return Logits(*arguments), logits(*arguments)


@pytest.mark.skipif(bool(logit.not_compiled), reason="not compiled")
@pytest.mark.parametrize("v", [0, 1, 2, 3])
def test_both_versions_fit_alike(v: int) -> None:
    readable, compiled = _tables()
    blocks = [b for b in BLOCKS if v in b[0] or v in dict(b[1])]
    likelihood, weights = readable.fit(v, blocks, [])
    found = compiled.fit(v, blocks, [])
    assert found[0] == pytest.approx(likelihood, abs=1e-9)
    assert found[1] == pytest.approx(weights, abs=1e-9)


@pytest.mark.skipif(bool(logit.not_compiled), reason="not compiled")
def test_both_versions_rank_alike() -> None:
    readable, compiled = _tables()
    weights = readable.fit(1, BLOCKS, [])[1]
    expected = readable.rao(1, BLOCKS, weights, OPTIONS)
    assert compiled.rao(1, BLOCKS, weights, OPTIONS) == pytest.approx(expected, abs=1e-9)


LITERALS = [(3, 0), (2, 0b0011), (2, 0b0100), (1, 0b011), (0, 0b01), (4, 0b110)]


@pytest.mark.skipif(bool(logit.not_compiled), reason="not compiled")
@pytest.mark.parametrize("v", [0, 1, 2, 3])
def test_both_versions_scale_alike(v: int) -> None:
    readable, compiled = _tables()
    blocks = [b for b in BLOCKS if v in b[0] or v in dict(b[1])]
    weights = readable.fit(v, blocks, [])[1]
    scope = {u for effects, where in blocks for u in [*effects, *dict(where)]} - {v}
    literals = [literal for literal in LITERALS if literal[0] in scope]
    for k in range(len(blocks)):
        expected = readable.only(v, blocks, weights, k, literals)
        assert compiled.only(v, blocks, weights, k, literals) == pytest.approx(expected, abs=1e-8)


def test_the_loss_without_a_block_is_predicted() -> None:
    _, table = _tables(20_000)
    block: Block = ((1, 4), ())
    likelihood, weights = table.fit(1, [*BLOCKS[1:], block], [])
    loss = table.fit(1, BLOCKS[1:], [])[0] - likelihood
    predicted = table.only(1, [*BLOCKS[1:], block], weights, 3, [(4, 0)])[0]
    assert predicted == pytest.approx(loss, rel=0.1, abs=0.5)


def test_the_saturated_logit_is_the_table() -> None:
    """With all interactions, the likelihood is that of relative frequencies, up to the ridge."""
    rows, table = _tables(4000)
    blocks = [((0, 1), ()), ((0, 3), ()), ((0, 1, 3), ())]
    likelihood, _ = table.fit(0, blocks, [])
    expected = 0.0
    for b, d in product(range(3), range(2)):
        inside = (rows.codes[1] == b) & (rows.codes[3] == d)
        counts = [rows.counts[inside & (rows.codes[0] == a)].sum() for a in range(2)]
        expected += sum(n * np.log(n / sum(counts)) for n in counts if n)
    assert likelihood == pytest.approx(expected, abs=0.01)


def test_rao_is_near_the_gain_of_a_refit() -> None:
    _, table = _tables(20_000)
    likelihood, weights = table.fit(1, BLOCKS[1:], [])
    for option in OPTIONS:
        gain = table.fit(1, BLOCKS[1:] + option, [])[0] - likelihood
        assert table.rao(1, BLOCKS[1:], weights, [option])[0] == pytest.approx(
            gain, rel=0.1, abs=0.1
        )


def test_penalty_is_bic_for_one_and_above_aic_for_many() -> None:
    assert penalty(1, 500) == pytest.approx(np.log(500) / 2)
    assert all(penalty(df, 500) >= df for df in range(100))


@pytest.mark.parametrize("seed", range(20))
def test_trees_agree_with_enumeration(seed: int) -> None:
    """What a tree leaves out, what it covers and what is possible, cell by cell."""
    rng = np.random.default_rng(seed)
    cards = [2, 2, 3, 2]
    cells = list(product(*(range(card) for card in cards[2:])))

    def holds(context: Context, cell: tuple[int, ...]) -> bool:
        return all(states >> cell[v - 2] & 1 for v, states in context)

    def draw() -> Context:
        scope = [v for v in (2, 3) if rng.random() < 0.6]
        return tuple((v, int(rng.integers(1, (1 << cards[v]) - 1))) for v in scope)

    tree = tuple({draw() for _ in range(2)})
    trees = PairTrees(cards)
    absent = trees.absent(tree)
    for cell in cells:
        inside = any(holds(context, cell) for context in tree)
        assert sum(holds(context, cell) for context in absent) == (not inside)
    region = draw()
    expected = all(any(holds(c, x) for c in tree) for x in cells if holds(region, x))
    assert trees.covers(tree, region) == expected


def test_features_claim_what_the_trees_do() -> None:
    trees = PairTrees([2, 2, 2])
    trees[0, 2] = trees[1, 2] = EVERYWHERE
    assert trees.is_possible((0, 1), (((2, 1),),))
    trees[0, 1] = (((2, 1),),)
    assert not trees.is_possible((0, 2), NOWHERE)
    assert not trees.is_possible((0, 2), (((1, 1),),))
    domain = cw.Domain({"A": 2, "B": 2, "C": 2})
    structure = trees.structure(domain, [[[0], [1]]] * 3)
    assert structure.restrict("C=0").pairs() == [("A", "B")]
    assert structure.restrict("C=1").pairs() == []


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
