"""The formulas of covers, and Ganak as an independent opinion on the engines' counts."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import pytest
from benchmarks.formulas import Formula, uncovered_formula
from hypothesis import given
from hypothesis import strategies as st

from contextwise.counting.contract import DEFAULT, get_engine
from contextwise.counting.cover import Cover, cover_of
from hard import hard_cubes
from random_covers import covers, inclusion_exclusion


def models_of(formula: Formula) -> int:
    """The number of models, by trying every assignment."""
    return sum(
        all(any(bits[abs(literal) - 1] == (literal > 0) for literal in c) for c in formula.clauses)
        for bits in itertools.product([False, True], repeat=formula.booleans)
    )


@given(covers(max_variables=3, max_cubes=4))
def test_the_models_are_the_uncovered_contexts(cover: Cover) -> None:
    formula = uncovered_formula(cover)
    if formula.booleans <= 12:
        uncovered = cover.total - inclusion_exclusion(cover)
        assert models_of(formula) * formula.factor == uncovered
        assert formula.obvious in (None, models_of(formula))


@given(st.lists(st.integers(0, 9), min_size=2, max_size=4), st.data())
def test_a_class_of_weight_w_counts_w_times(weights: list[int], data: st.DataObject) -> None:
    everything = (1 << len(weights)) - 1
    cube = data.draw(st.integers(1, everything - 1))
    cover = Cover((tuple(weights),), (cube,))
    formula = uncovered_formula(cover)
    assert models_of(formula) * formula.factor == cover.total - cover.size(cube)


COUNT = """
import json, sys, pyganak
booleans, clauses = json.load(sys.stdin)
counter = pyganak.Counter()
counter.new_vars(booleans)
counter.add_clauses(clauses)
sys.stderr.write(f"{counter.count():x}")
"""
"""Ganak writes to standard output, so the answer goes to standard error."""


def counted_by_ganak(cover: Cover) -> int:
    formula = uncovered_formula(cover)
    models = formula.obvious
    if models is None:
        pytest.importorskip("pyganak")
        text = f"[{formula.booleans}, {[list(clause) for clause in formula.clauses]}]"
        ran = subprocess.run(
            [sys.executable, "-c", COUNT],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            env=os.environ,
        )
        models = int(ran.stderr, 16)
    return cover.total - formula.factor * models


@pytest.mark.parametrize("seed", range(3))
def test_ganak_counts_the_same(seed: int) -> None:
    cubes = hard_cubes(40, 90, seed)
    literals = [[(v, 1 << value) for v, value in cube.items()] for cube in cubes]
    cover = cover_of([2 + v % 2 for v in range(40)], literals)
    assert get_engine(DEFAULT).count_union(cover) == counted_by_ganak(cover)


def test_weights_beyond_64_bits() -> None:
    cover = Cover(((3**60, 7**50), (5, 11**40)), (0b0101, 0b1010))
    union = 3**60 * 5 + 7**50 * 11**40
    assert counted_by_ganak(cover) == get_engine(DEFAULT).count_union(cover) == union
