"""Regions: disjoint, right, few, and honest about what was not looked at."""

from itertools import combinations, product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.counting.branch import count_union
from contextwise.counting.contexts import ContextSpace
from contextwise.counting.cover import Cube, class_space
from contextwise.counting.extraction import CoverSource
from contextwise.counting.regions import Regions, complement, difference, union
from contextwise.models.structure import Structure
from contextwise.support.effort import Deadline
from contextwise.testing import value_sets

Lists = tuple[list[int], list[Cube], list[Cube]]


@st.composite
def two_lists(draw: st.DrawFn) -> Lists:
    """Cardinalities, and two lists of cubes over them."""
    cardinalities = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))

    def cubes() -> list[Cube]:
        tested = st.sets(st.sampled_from(range(len(cardinalities))), max_size=4)
        return [
            [(v, draw(value_sets(cardinalities[v]))) for v in sorted(draw(tested))]
            for _ in range(draw(st.integers(0, 6)))
        ]

    return cardinalities, cubes(), cubes()


def allows(cube: Cube, context: tuple[int, ...]) -> bool:
    return all(allowed >> context[v] & 1 for v, allowed in cube)


def in_one(regions: Regions, context: tuple[int, ...]) -> bool:
    """Return whether a context lies in a region; assert that it never lies in two."""
    holding = sum(allows(region.literals, context) for region in regions)
    assert holding <= 1
    return holding == 1


@given(two_lists())
def test_every_context_is_on_its_side(lists: Lists) -> None:
    cardinalities, a, b = lists
    space = class_space(cardinalities, [*a, *b])
    found = difference(space, a, b), union(space, a), complement(space, a)
    for context in product(*map(range, cardinalities)):
        in_a = any(allows(cube, context) for cube in a)
        in_b = any(allows(cube, context) for cube in b)
        wanted = in_a and not in_b, in_a, not in_a
        assert tuple(in_one(regions, context) for regions in found) == wanted


@given(two_lists())
def test_sizes_add_up_to_the_counts(lists: Lists) -> None:
    cardinalities, a, b = lists
    space = class_space(cardinalities, [*a, *b])
    of_a, of_b, of_both = (count_union(space.cover(cubes)) for cubes in (a, b, [*a, *b]))
    assert union(space, a).size == of_a
    assert complement(space, a).size == prod(cardinalities) - of_a
    assert difference(space, a, b).size == of_both - of_b
    assert difference(space, b, a).size == of_both - of_a


@given(two_lists())
def test_no_two_regions_could_be_one(lists: Lists) -> None:
    cardinalities, a, b = lists
    found = difference(class_space(cardinalities, [*a, *b]), a, b)
    for first, second in combinations(found, 2):
        one, other = dict(first.literals), dict(second.literals)
        differing = [v for v in one.keys() | other.keys() if one.get(v) != other.get(v)]
        assert len(differing) > 1


@given(two_lists(), st.integers(1, 6))
def test_a_limit_leaves_part_open_and_the_rest_right(lists: Lists, boxes: int) -> None:
    cardinalities, a, b = lists
    space = class_space(cardinalities, [*a, *b])
    whole, part = difference(space, a, b), difference(space, a, b, boxes=boxes)
    assert part.size <= whole.size <= part.size + part.undecided
    for context in product(*map(range, cardinalities)):
        assert not in_one(part, context) or in_one(whole, context)


def test_no_time_at_all() -> None:
    cubes: list[Cube] = [[(v, 1), (v + 1, 1)] for v in range(9)]
    space = class_space([2] * 10, cubes)
    nothing = union(space, cubes, deadline=Deadline.after(0))
    assert (nothing.size, nothing.undecided) == (0, 2**10)


def test_regions_are_sorted_and_add_up() -> None:
    cubes: list[Cube] = [[(v, 1), (v + 1, 1)] for v in range(9)]
    space = class_space([2] * 10, cubes)
    found = union(space, cubes)
    sizes = [region.size for region in found]
    assert sizes == sorted(sizes, reverse=True)
    assert found.size == count_union(space.cover(cubes))


@pytest.mark.parametrize("count", [3, 12])
def test_a_union_that_is_everything_is_one_region(count: int) -> None:
    """All assignments of some variables, a cube each."""
    cubes: list[Cube] = [
        [(v, 1 << value) for v, value in enumerate(values)]
        for values in product(range(2), repeat=min(count, 6))
    ]
    found = union(class_space([2] * count, cubes), cubes)
    assert [region.literals for region in found] == [()]


def test_regions_of_a_pair_count_weighted_values() -> None:
    model = Structure({"A": 2, "B": 2, "C": 2, "D": 2}, ["A=1 & B=1 & C=1", "A=1 & B=1 & D=1"])
    weights = [(1, 1), (1, 1), (3, 7), (9, 1)]
    source = CoverSource(model.features, space=ContextSpace(weights=weights))
    cubes = source.cubes(0, (0, 1))
    found = union(source.space((0, 1), cubes), cubes)
    assert found.size == count_union(source.cover((0, 1), cubes)) == 100 - 3 * 9
