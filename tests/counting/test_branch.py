"""The readable engine step by step: what it does at each node, and how many nodes it needs."""

import inspect
import sys
from contextlib import nullcontext

import pytest
from hypothesis import given

from contextwise.counting import branch
from contextwise.counting.cover import Cover, cover_of
from contextwise.support.effort import NEVER, Deadline, OutOfTime
from random_covers import covers, inclusion_exclusion


def chain(links: int) -> Cover:
    return cover_of([2] * (links + 1), [[(v, 2), (v + 1, 2)] for v in range(links)])


def subproblems(cover: Cover) -> int:
    """Return how many subproblems the recursion remembers: the work of a count."""
    counter = branch._Counter(cover, NEVER)
    everything = (1 << len(cover.bit_weights)) - 1
    cubes = branch.widen([everything ^ cube for cube in cover.cubes], counter.field_at)
    counter.uncovered(cubes, everything)
    return len(counter.memory)


def test_the_example_of_the_module() -> None:
    """Any two of three variables at 1: the docstring draws the tree of this count."""
    two_of_three = cover_of([2] * 3, [[(a, 2), (b, 2)] for a, b in ((0, 1), (1, 2), (0, 2))])
    assert branch.count_union(two_of_three) == 4
    assert subproblems(two_of_three) == 1


@pytest.mark.parametrize("links", [10, 100])
def test_a_chain_is_split_into_components_that_are_counted_once(links: int) -> None:
    assert subproblems(chain(links)) <= links


def test_disjoint_parts_are_counted_apart() -> None:
    """Ten chains cost what one costs, since equal numbers of variables differ in their bits."""
    apart = [[(5 * k + v, 2), (5 * k + v + 1, 2)] for k in range(10) for v in range(4)]
    assert subproblems(cover_of([2] * 50, apart)) == 10 * subproblems(chain(4))


@given(covers())
def test_widening_and_minimal_keep_the_union(cover: Cover) -> None:
    field_at = [field for field in cover.fields for _ in range(field.bit_count())]
    everything = (1 << len(cover.bit_weights)) - 1
    forbidden = [everything ^ cube for cube in cover.cubes]
    for cubes in (branch.widen(forbidden, field_at), branch.minimal(forbidden)):
        same = Cover(cover.weights, tuple(everything ^ cube for cube in cubes), cover.scale)
        assert inclusion_exclusion(same) == inclusion_exclusion(cover)
        assert len(cubes) <= len(cover.cubes)


def test_a_deadline_ends_a_count() -> None:
    with pytest.raises(OutOfTime):
        branch.count_union(chain(60), deadline=Deadline.after(0))


def test_the_limit_of_recursion_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    before, long = sys.getrecursionlimit(), chain(149)
    exact = branch.count_union(long)
    low = len(inspect.stack(0)) + 100  # not enough for the chain
    try:
        sys.setrecursionlimit(low)
        assert branch.count_union(long) == exact
        assert sys.getrecursionlimit() == low
        monkeypatch.setattr(branch, "_deep_recursion", nullcontext)
        with pytest.raises(RecursionError):
            branch.count_union(long)
    finally:
        sys.setrecursionlimit(before)
