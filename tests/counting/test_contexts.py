"""The contexts of pairs: their numbers by definition, and the unit in which the kernel counts."""

from itertools import combinations
from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from contextwise.counting.contexts import UNIFORM, ContextSpace, bits_of, unit_of

CARDINALITIES = st.lists(st.integers(1, 5), min_size=2, max_size=7)


@given(CARDINALITIES, st.booleans(), st.data())
def test_numbers_of_contexts_are_products(
    cardinalities: list[int], canonical: bool, data: st.DataObject
) -> None:
    weights = [[data.draw(st.integers(1, 3)) for _ in range(c)] for c in cardinalities]
    pairs = [*combinations(range(len(cardinalities)), 2)]
    for space in (ContextSpace(canonical), ContextSpace(canonical, weights)):
        sizes = space.sizes(cardinalities)
        assert sizes == (cardinalities if space.weights is None else [*map(sum, weights)])
        expected = [
            prod(size for v, size in enumerate(sizes) if canonical or v not in pair)
            for pair in pairs
        ]
        assert space.of_pairs(cardinalities, np.array(pairs)) == expected
        assert space.of_all_pairs(cardinalities) == sum(expected)


@given(CARDINALITIES, st.integers(0, 7))
def test_a_unit_leaves_the_variables_that_a_pair_can_involve(
    cardinalities: list[int], limit: int
) -> None:
    kinds = UNIFORM.kinds(cardinalities)
    unit = unit_of(kinds, limit)
    whole = prod(cardinalities)
    assert whole % unit == 0
    assert whole // unit <= 2 ** bits_of(kinds, limit)
    assert unit_of(kinds, len(cardinalities)) == 1


def test_a_space_is_a_key() -> None:
    assert ContextSpace(weights=[[1, 2]]) == ContextSpace(weights=((1, 2),))
    assert len({ContextSpace(weights=[[1, 2]]), ContextSpace(weights=[[1, 2]]), UNIFORM}) == 2


def test_counts_far_beyond_64_bits() -> None:
    assert UNIFORM.of_pairs([2] * 300, np.array([[0, 1]])) == [2**298]
    assert UNIFORM.of_all_pairs([3] * 100) == 3**98 * (100 * 99 // 2)
