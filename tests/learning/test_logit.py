"""Logits of a variable: both versions, scores of blocks, the penalty."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from contextwise.learning import logit
from contextwise.learning.logit import Block, Logits, logits, penalty

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


@pytest.mark.skipif(bool(logit.not_compiled), reason="not compiled")
def test_options_that_share_states_are_ranked_like_single_ones() -> None:
    """The compiled logits sum once over the rows for all options with the same switches."""
    readable, compiled = _tables()
    blocks = [block for block in BLOCKS if block[0] != (1, 2)]
    weights = readable.fit(1, blocks, [])[1]
    single: list[list[Block]] = [
        [((1, 2), ((0, 1 << s), (4, 1 << t)))] for s in (0, 1) for t in (0, 1, 2)
    ]
    unions: list[list[Block]] = [
        [((1, 2), ((0, 1),))],
        [((1, 2), ((4, 0b101),))],
        [((1, 2), ((0, 1), (4, 0b011))), ((1, 2), ((0, 2), (4, 0b110)))],
        [((1, 2), ((0, 1),)), ((1, 2), ((0, 2),))],
        [((1, 2), ())],
    ]
    for options in (unions, [*single, *unions], unions[:2], [*unions, *OPTIONS]):
        expected = readable.rao(1, blocks, weights, options)
        assert compiled.rao(1, blocks, weights, options) == pytest.approx(expected, abs=1e-9)


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
