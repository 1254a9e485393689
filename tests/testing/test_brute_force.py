"""The brute-force oracle, by hand: every engine is compared with it."""

from __future__ import annotations

from math import inf

import pytest

from contextwise import LogLinear, Structure
from contextwise.comparison.confusion import Confusion
from contextwise.models.claims import Claims
from contextwise.testing import (
    brute_force,
    brute_force_at,
    brute_force_pairs,
    contexts_of,
    depends,
    random_structure,
    strength,
)

DOMAIN = {"A": 2, "B": 2, "C": 3}
TRUE = Structure(DOMAIN, ["A=1 & B=1 & C!=0", "B=1 & C=2"])
GUESS = Structure(DOMAIN, ["A=1 & B=1"])


def test_a_pair_depends_where_the_other_literals_of_a_feature_hold() -> None:
    assert [depends(TRUE, ("A", "B"), {"C": c}) for c in "012"] == [False, True, True]
    assert [depends(TRUE, ("A", "C"), {"B": b}) for b in "01"] == [False, True]
    assert all(depends(TRUE, ("B", "C"), {"A": a}) for a in "01")
    assert not depends(GUESS, ("B", "C"), {"A": "1"})


def test_a_claim_is_about_its_own_pair_alone() -> None:
    claims = Claims(DOMAIN, {("A", "B"): ["C=1"]})
    assert [depends(claims, ("A", "B"), {"C": c}) for c in "012"] == [False, True, False]
    assert not depends(claims, ("A", "C"), {"B": "1"})


def test_canonical_contexts_assign_the_pair_too() -> None:
    assert len(list(contexts_of(TRUE.domain, ("A", "B")))) == 3
    assert len(list(contexts_of(TRUE.domain, ("A", "B"), canonical=True))) == 12
    assert brute_force(GUESS, GUESS, contexts="canonical").tp == 3  # A=1 & B=1 & any C


def test_counts_by_hand() -> None:
    pairs = brute_force_pairs(TRUE, GUESS)
    assert pairs["A", "B"] == Confusion(tp=2, fn=0, fp=1, tn=0)
    assert pairs["A", "C"] == Confusion(tp=0, fn=1, fp=0, tn=1)
    assert pairs["B", "C"] == Confusion(tp=0, fn=2, fp=0, tn=0)
    assert brute_force(TRUE, GUESS) == Confusion(tp=2, fn=3, fp=1, tn=1)


def test_the_strength_is_the_largest_absolute_log_odds_ratio() -> None:
    structure = Structure(DOMAIN, ["A=1 & C=1", "A=1 & C=2", "A=1", "C=2"])
    model = LogLinear(structure, [-1.5, 1.0, 7.0, 9.0])
    assert strength(model, ("A", "C"), {"B": "0"}) == 2.5  # between C=1 and C=2
    assert strength(model, ("C", "A"), {"B": "0"}) == 2.5
    assert strength(model, ("A", "B"), {"C": "1"}) == 0


@pytest.mark.parametrize(
    ("impossible", "expected"),
    [
        (["A=1 & B=1"], inf),  # the possible cells are no product
        (["A=1 & B=1", "A=1 & B=0"], 0.0),  # one row is left
        (["A=1", "A=0"], 0.0),  # the context itself is impossible
    ],
)
def test_impossible_cells(impossible: list[str], expected: float) -> None:
    model = LogLinear(Structure(DOMAIN, impossible), [-inf] * len(impossible))
    assert strength(model, ("A", "B"), {"C": "0"}) == expected


def test_a_tolerance_has_to_be_exceeded() -> None:
    model = LogLinear(GUESS, [-0.5])
    assert brute_force_at(model, TRUE, tolerance=0.4).fn == 1
    assert brute_force_at(model, TRUE, tolerance=0.5).fn == 0
    assert brute_force_at(LogLinear(GUESS, [1e-10]), TRUE, tolerance=0).fn == 0


def test_random_structures_have_lengths_and_sets_as_asked() -> None:
    domain = Structure(dict.fromkeys("ABCDEF", 4)).domain
    single = random_structure(domain, features=30, lengths=(2, 3), seed=1)
    assert set(single.features.lengths.tolist()) == {2, 3}
    assert all(allowed.bit_count() == 1 for f in single.features.literals() for _, allowed in f)
    sets = random_structure(domain, features=30, set_literals=1.0, seed=1)
    sizes = {allowed.bit_count() for f in sets.features.literals() for _, allowed in f}
    assert sizes == {1, 2, 3}
