"""Draw covers, and count their unions by inclusion and exclusion."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import prod

from hypothesis import strategies as st

from contextwise.counting.cover import Cover, cover_of
from contextwise.models.features import members
from contextwise.testing import value_sets


def inclusion_exclusion(cover: Cover) -> int:
    """Count the union of the cubes of a cover, in time 2 to the number of cubes."""
    size = 0
    for number in range(1, len(cover.cubes) + 1):
        for chosen in combinations(cover.cubes, number):
            size -= (-1) ** number * _size_of_meet(cover, chosen)
    return size * cover.scale


def _size_of_meet(cover: Cover, cubes: tuple[int, ...]) -> int:
    meet = (1 << len(cover.bit_weights)) - 1
    for cube in cubes:
        meet &= cube
    return prod(
        sum(cover.bit_weights[bit] for bit in members(meet & field)) for field in cover.fields
    )


@cache
def _few(size: int, most: int) -> st.SearchStrategy[set[int]]:
    """Draw small subsets of range(size)."""
    return st.sets(st.integers(0, size - 1), max_size=most) if size else st.just(set())


@st.composite
def covers(
    draw: st.DrawFn,
    *,
    max_variables: int = 5,
    max_states: int = 4,
    max_cubes: int = 6,
    max_tests: int = 4,
) -> Cover:
    """Draw covers of few cubes, each of which tests few variables.

    ``covers(max_variables=70, max_states=70)`` draws wide ones, whose bits need several words.
    """
    cardinalities = draw(st.lists(st.integers(1, max_states), max_size=max_variables))
    cubes = []
    for _ in range(draw(st.integers(0, max_cubes))):
        tested = draw(_few(len(cardinalities), max_tests))
        cubes.append([(v, draw(value_sets(cardinalities[v]))) for v in tested])
    return cover_of(cardinalities, cubes)
