"""The oracle: it visits every context, in blocks, and refuses what is too large."""

from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise.counting import enumerate as oracle
from contextwise.counting.cover import Cover, cover_of
from contextwise.errors import TooLargeError
from contextwise.support.effort import Deadline, OutOfTime
from random_covers import covers


def by_definition(cover: Cover) -> int:
    """Visit every cell of classes in plain Python."""
    total = 0
    for cell in product(*(range(len(classes)) for classes in cover.weights)):
        starts = [field & -field for field in cover.fields]
        bits = sum(start << k for start, k in zip(starts, cell, strict=True))
        if any(cube & bits == bits for cube in cover.cubes):
            weights = zip(cover.weights, cell, strict=True)
            total += prod(classes[k] for classes, k in weights)
    return total * cover.scale


@given(covers(max_variables=4, max_states=4), st.sampled_from([1, 7, 2**16]))
def test_blocks_of_any_size(cover: Cover, at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oracle, "CELLS_VISITED_AT_ONCE", at_once)
        assert oracle.count_union(cover) == by_definition(cover)


def test_what_is_too_large_is_refused_with_its_cost() -> None:
    wide = cover_of([2] * 40, [[(v, 1) for v in range(40)]])
    with pytest.raises(TooLargeError, match=f"would visit {2**40} cells.*use engine auto"):
        oracle.count_union(wide)


def test_a_deadline_ends_the_visits() -> None:
    with pytest.raises(OutOfTime):
        oracle.count_union(cover_of([2], [[(0, 1)]]), deadline=Deadline.after(0))


def test_weights_beyond_machine_integers() -> None:
    heavy = cover_of([2, 2], [[(0, 0b10)]], [[1, 2**70], [1, 1]])
    assert oracle.count_union(heavy) == 2**71
