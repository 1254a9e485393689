"""Count a union of cubes by inclusion and exclusion, in time 2 to the number of cubes."""

from __future__ import annotations

from itertools import combinations
from math import prod

from contextwise.counting.cover import Cover
from contextwise.models.features import members


def inclusion_exclusion(cover: Cover) -> int:
    """Count the union of the cubes of a cover."""
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
