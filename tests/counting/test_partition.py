"""The parts of Algorithm 1 on cubes; `tests/paper` tests the paper's operations on features."""

from itertools import combinations

from hypothesis import given

from contextwise.counting.cover import Cover
from contextwise.counting.partition import cube_difference, disjoint_parts
from random_covers import covers


@given(covers())
def test_the_parts_of_cubes_do_not_meet(cover: Cover) -> None:
    parts = disjoint_parts(cover.cubes, lambda f, g: cube_difference(f, g, cover.fields))
    for p, q in combinations(parts, 2):
        assert not all(p & q & field for field in cover.fields)
