"""Covers: classes of values, encoding and decoding, and sizes by definition."""

from itertools import product
from math import prod

from hypothesis import given
from hypothesis import strategies as st

from contextwise.counting.cover import Cover, Cube, class_space, cover_of
from contextwise.testing import value_sets

Drawn = tuple[list[int], list[Cube], list[list[int]]]


@st.composite
def drawn_cubes(draw: st.DrawFn) -> Drawn:
    """Cardinalities, cubes over them, and a weight for each value."""
    cardinalities = draw(st.lists(st.integers(1, 4), max_size=4))
    cubes: list[Cube] = []
    for _ in range(draw(st.integers(0, 4))):
        tested = [v for v in range(len(cardinalities)) if draw(st.booleans())]
        cubes.append([(v, draw(value_sets(cardinalities[v]))) for v in tested])
    weights = [[draw(st.integers(0, 3)) for _ in range(c)] for c in cardinalities]
    return cardinalities, cubes, weights


def allows(cube: Cube, context: tuple[int, ...]) -> bool:
    return all(allowed >> context[v] & 1 for v, allowed in cube)


@given(drawn_cubes())
def test_sizes_are_those_of_the_contexts(drawn: Drawn) -> None:
    cardinalities, cubes, weights = drawn
    contexts = [*product(*map(range, cardinalities))]
    assert cover_of(cardinalities, cubes).total == len(contexts)
    for own in (None, weights):
        space = class_space(cardinalities, cubes, own)
        cover = space.cover(cubes)
        for cube in cubes:
            size = sum(
                prod(1 if own is None else own[v][k] for v, k in enumerate(context))
                for context in contexts
                if allows(cube, context)
            )
            assert cover.size(space.encode(cube)) * cover.scale == size


@given(drawn_cubes())
def test_decoding_is_the_inverse_of_encoding(drawn: Drawn) -> None:
    cardinalities, cubes, _ = drawn
    space = class_space(cardinalities, cubes)
    for cube in cubes:
        everything = [(1 << cardinalities[v]) - 1 for v, _ in cube]
        tests = [each for each, whole in zip(cube, everything, strict=True) if each[1] != whole]
        assert list(space.decode(space.encode(cube))) == tests


@given(drawn_cubes())
def test_classes_are_the_values_that_no_cube_distinguishes(drawn: Drawn) -> None:
    cardinalities, cubes, _ = drawn
    space = class_space(cardinalities, cubes)
    for variable, classes in zip(space.variables, space.classes, strict=True):
        assert sum(classes) == (1 << cardinalities[variable]) - 1
        sets = {allowed for cube in cubes for v, allowed in cube if v == variable}
        seen = {tuple(bool(part & allowed) for allowed in sets) for part in classes}
        assert len(seen) == len(classes)
        assert all(part & allowed in (0, part) for part in classes for allowed in sets)


def test_equal_cubes_are_one() -> None:
    cube = [(0, 0b01)]
    assert len(cover_of([2, 2], [cube, cube]).cubes) == 1


def test_no_cube_and_a_cube_that_tests_nothing() -> None:
    assert cover_of([2, 3], []) == Cover((), (), 6)
    assert cover_of([2, 3], [[]]) == Cover((), (0,), 6)
