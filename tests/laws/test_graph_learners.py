"""Laws of the learners of graphs and contexts, by tests and by marginal pseudo-likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import contextwise as cw
from contextwise.errors import ContextwiseError
from contextwise.learning import CSGS, CSPC, GSMN, MPL, ContextualMPL, Learner, PairBlocks
from contextwise.learning.base import fresh
from known_truths import CHAIN, SWITCH, WIDE, drawn_rows, exact_rows

BY_TESTS = [CSPC(), CSPC(max_size=1), CSGS(), CSGS(rule="or")]
BY_SCORES = [ContextualMPL(), PairBlocks()]
ALL = [GSMN(), GSMN(rule="or"), MPL(), *BY_TESTS, *BY_SCORES]


@pytest.mark.parametrize("learner", BY_TESTS, ids=repr)
def test_contexts_are_found_by_tests(learner: Learner) -> None:
    found = fresh(learner).fit(exact_rows(SWITCH, 20_000), domain=SWITCH.domain)
    assert cw.distance(SWITCH, found.structure_) == 0
    noisy = fresh(learner).fit(drawn_rows(SWITCH, 20_000, 2), domain=SWITCH.domain)
    assert cw.distance(SWITCH, noisy.structure_) == 0


@pytest.mark.parametrize("learner", BY_SCORES, ids=repr)
@pytest.mark.parametrize("truth", [SWITCH, WIDE], ids=["two values", "three values"])
def test_contexts_are_found_by_scores(learner: Learner, truth: cw.LogLinear) -> None:
    for seed in range(3):
        found = fresh(learner).fit(drawn_rows(truth, 20_000, seed), domain=truth.domain)
        assert cw.distance(truth, found.structure_) == 0


@pytest.mark.parametrize("learner", ALL, ids=repr)
def test_graphs_are_found(learner: Learner) -> None:
    found = fresh(learner).fit(drawn_rows(CHAIN, 20_000, 1), domain=CHAIN.domain)
    assert cw.distance(CHAIN, found.structure_) == 0
    chance = np.random.default_rng(8).integers(0, [2, 3, 2, 4], (5000, 4))
    assert fresh(learner).fit(chance).structure_.pairs() == []


@pytest.mark.parametrize("learner", ALL, ids=repr)
@pytest.mark.parametrize(("truth", "count"), [(CHAIN, 400), (WIDE, 700)], ids=["chain", "wide"])
def test_order_of_variables_and_labels_do_not_matter(
    learner: Learner, truth: cw.LogLinear, count: int
) -> None:
    names, cards = truth.domain.names, truth.domain.cardinalities
    rows = drawn_rows(truth, count, 5)
    plain = fresh(learner).fit(rows, domain=truth.domain).structure_
    order = [2, 0, 1]
    domain = cw.Domain({names[v]: [str(k) for k in np.roll(range(cards[v]), 1)] for v in order})
    moved = [[str(row[v]) for v in order] for row in rows.tolist()]
    other = fresh(learner).fit(moved, domain=domain).structure_
    assert cw.distance(plain, other.aligned_to(plain.domain)) == 0
    assert len(plain) == len(other) or learner in BY_SCORES


@pytest.mark.parametrize("learner", ALL, ids=repr)
@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((0, 3), dtype=int),
        np.zeros((1, 3), dtype=int),
        np.ones((50, 3), dtype=int),
        np.random.default_rng(1).integers(0, 2, (4, 3)),
        np.random.default_rng(1).integers(0, 2, (50, 1)),
    ],
    ids=["no rows", "one row", "constant columns", "few rows", "one variable"],
)
def test_nothing_to_learn_from_gives_no_pairs(learner: Learner, rows: Any) -> None:
    domain = {f"v{k}": 2 for k in range(rows.shape[1])}
    found = fresh(learner).fit(rows, domain=domain).structure_
    assert found.pairs() == [] or isinstance(learner, CSPC)  # silent tests delete nothing


@pytest.mark.parametrize("learner", ALL, ids=repr)
def test_wide_tables_many_values_and_constants(learner: Learner) -> None:
    rng = np.random.default_rng(4)
    rows = np.concatenate([rng.integers(0, 2, (12, 14)), np.zeros((12, 1), dtype=int)], axis=1)
    constant = fresh(learner).fit(rows, domain={f"v{k}": 2 for k in range(15)}).structure_
    assert not any("v14" in pair for pair in constant.pairs())
    wide = rng.integers(0, 65, 4000)
    table = np.stack([wide, (wide // 8 + (rng.random(4000) < 0.1)) % 9, wide * 0], axis=1)
    many = fresh(learner)
    if "min_count" in many.get_params():
        many.set_params(min_count=1)
    many.fit(table, domain={"A": 200, "B": 9, "C": 1})
    assert many.structure_.pairs() == [("A", "B")]


@pytest.mark.parametrize("kind", [GSMN, CSPC, CSGS, MPL, ContextualMPL, PairBlocks])
def test_progress_is_told_and_bad_parameters_are_errors(kind: Any) -> None:
    rows = drawn_rows(CHAIN, 300, 5)
    told: list[tuple[int, int]] = []
    kind().fit(rows, show_progress=lambda done, total: told.append((done, total)))
    assert told
    assert all(0 < done <= total for done, total in told)
    wrong = {
        "level": (0, "level must be > 0"),
        "min_count": (-1, "min_count must be >= 0"),
        "prior": (0, "prior must be > 0"),
        "max_size": (-1, "max_size must be >= 0"),
        "depth": (-1, "depth must be >= 0"),
        "rule": ("xor", "rule must be 'and' or 'or'"),
    }
    for name in wrong.keys() & kind.defaults():
        value, message = wrong[name]
        with pytest.raises(ContextwiseError, match=message):
            kind(**{name: value}).fit(rows)
