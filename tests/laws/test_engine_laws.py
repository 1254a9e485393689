"""The first contract, on every engine: ``count_union`` is the exact size of a union of cubes."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contextwise.counting.contract import get_engine
from contextwise.counting.cover import Cover, cover_of
from contextwise.testing import value_sets
from random_covers import covers, inclusion_exclusion

FEW = settings(max_examples=25)


@given(covers())
@example(Cover((), ()))
@example(Cover((), (0,)))
def test_equal_to_inclusion_and_exclusion(engine: str, cover: Cover) -> None:
    assert get_engine(engine).count_union(cover) == inclusion_exclusion(cover)


@FEW
@given(covers(max_variables=70, max_states=3, max_cubes=5, max_tests=5))
def test_many_variables(wide_engine: str, cover: Cover) -> None:
    assert get_engine(wide_engine).count_union(cover) == inclusion_exclusion(cover)


@FEW
@given(covers(max_variables=3, max_states=70, max_cubes=4, max_tests=2))
def test_many_states(engine: str, cover: Cover) -> None:
    assert get_engine(engine).count_union(cover) == inclusion_exclusion(cover)


@pytest.mark.parametrize("cardinality", [1, 2, 31, 32, 33, 63, 64, 65, 70, 127, 128, 129])
def test_one_variable_with_a_value_a_class(engine: str, cardinality: int) -> None:
    """Each value but the first is a cube, so each value is a class of its own."""
    values = range(1, cardinality)
    cover = cover_of([cardinality], [[(0, 1 << value)] for value in values])
    assert get_engine(engine).count_union(cover) == cardinality - 1


@pytest.mark.parametrize("variables", [31, 32, 33, 63, 64, 65])
def test_a_chain_of_binary_variables(wide_engine: str, variables: int) -> None:
    """Cubes "k and k+1 are both 1": the uncovered strings have no two ones in a row (Fibonacci)."""
    if wide_engine == "partition":
        pytest.skip("the pieces of the published method multiply where many cubes overlap")
    links = [[(k, 0b10), (k + 1, 0b10)] for k in range(variables - 1)]
    without, ending_in_one = 1, 0
    for _ in range(variables):
        without, ending_in_one = without + ending_in_one, without
    cover = cover_of([2] * variables, links)
    assert get_engine(wide_engine).count_union(cover) == 2**variables - without - ending_in_one


def test_counts_beyond_64_bits(engine: str) -> None:
    cover = cover_of([3] * 100, [[(0, 0b001), (1, 0b010)], [(2, 0b110)]])
    counted = get_engine(engine).count_union(cover)
    assert type(counted) is int
    assert counted == 3**100 - 3**97 * 8


@given(st.data())
def test_invariant_under_the_order_of_cubes_and_absorbed_ones(
    engine: str, data: st.DataObject
) -> None:
    cover = data.draw(covers())
    count = get_engine(engine).count_union
    shuffled = data.draw(st.permutations(cover.cubes))
    inside = [cube & other for cube, other in zip(cover.cubes, shuffled, strict=True)]
    real = [cube for cube in inside if all(cube & field for field in cover.fields)]
    more = tuple(dict.fromkeys([*shuffled, *real]))
    assert count(Cover(cover.weights, more, cover.scale)) == count(cover)


@given(st.data())
def test_everything_is_covered_by_a_variable_split_in_two(engine: str, data: st.DataObject) -> None:
    """A cube and its opposite on one variable cover all there is."""
    cardinality = data.draw(st.integers(2, 70))
    values = data.draw(value_sets(cardinality))
    everything = (1 << cardinality) - 1
    rest = everything ^ values or everything
    cover = cover_of([cardinality, 3], [[(0, values)], [(0, rest)]])
    assert get_engine(engine).count_union(cover) == cover.total == cardinality * 3
