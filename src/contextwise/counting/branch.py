"""The fast method in readable form: count the contexts that are *not* covered, by branching.

The uncovered contexts of a list of cubes are counted recursively:

1. no cube: all contexts; a cube that tests nothing: none; one or two cubes: in closed form;
2. **unit rule**: a cube that tests only one variable covers all contexts with the values it
   allows, so that variable keeps the other values;
3. **absorption**: drop a cube inside another one;
4. **components**: count cubes that share no variable separately, and multiply;
5. **memory**: count each subproblem once;
6. **branching on a long cube**: count without it, and subtract the contexts that only it covers;
   inside a cube that tests many variables nearly everything is decided;
7. **branching on a variable** if all cubes are short: choose the one with the largest sum of
   ``GROWTH ** (tests of the cube)`` over the cubes that test it; values that lead to the same
   subproblem are counted together.

For example, three binary variables, of which any two at 1 are covered::

    cubes x=1 y=1,  y=1 z=1,  x=1 z=1      4 contexts are uncovered
    ├─ x=0:  y=1 z=1                       3: one cube in closed form, 4 - 1
    └─ x=1:  y=1,  z=1                     1: the unit rule leaves y=0 z=0

>>> from contextwise.counting.cover import cover_of
>>> count_union(cover_of([2] * 3, [[(0, 2), (1, 2)], [(1, 2), (2, 2)], [(0, 2), (2, 2)]]))
4

Before the recursion, cubes are **widened** by their neighbours: if D lies in C on every variable
but one, D may allow what C allows of that one. Nothing shrinks real covers more: if a decision tree
splits on a variable and both sides are equal, widening removes the split.

The compiled kernel branches by the same rules (``kernel/recursion.hpp``). In addition it merges
features of one scope before it looks at pairs, drops cubes inside others only once, branches on the
variable that most cubes test, counts few binary variables by truth table, and counts few cubes by
inclusion and exclusion.

A cube is the int of the bits it *forbids*, among the values still alive. It tests a variable if it
forbids a bit of its field, it tests nothing if it is 0, and it lies inside another cube if it
forbids all that the other forbids.

Proving that a union is everything is a satisfiability proof, so no method is fast on every cover.
Real covers are far from the worst case.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from math import prod
from threading import Lock

from contextwise.counting.cover import Cover
from contextwise.support.effort import NEVER, Deadline

LONG = 6
"""A cube that tests at least this many variables is long."""
GROWTH = 1.1


def count_union(cover: Cover, *, deadline: Deadline = NEVER) -> int:
    """Count the union of the cubes."""
    counter = _Counter(cover, deadline)
    everything = (1 << len(cover.bit_weights)) - 1
    # A cover stores the bits a cube allows; the recursion needs those it forbids.
    cubes = widen([everything ^ cube for cube in cover.cubes], counter.field_at)
    # The recursion branches at most once per variable and cube.
    with _deep_recursion(1000 + 3 * (len(cover.weights) + len(cover.cubes))):
        uncovered = counter.uncovered(cubes, everything)
    return cover.total - cover.scale * uncovered


_deep: list[int] = []
"""The limits of recursion before each thread that raised it; the first is the process's own."""
_deep_lock = Lock()


@contextmanager
def _deep_recursion(depth: int) -> Iterator[None]:
    """Raise the limit of recursion, which all threads share, until the last one is done."""
    with _deep_lock:
        _deep.append(sys.getrecursionlimit())
        sys.setrecursionlimit(max(_deep[-1], depth))
    try:
        yield
    finally:
        with _deep_lock:
            if len(_deep) == 1:
                sys.setrecursionlimit(_deep[0])
                _deep.clear()
            else:
                _deep.pop()


class _Counter:
    """The recursion over one cover, with its memory."""

    def __init__(self, cover: Cover, deadline: Deadline) -> None:
        self.deadline = deadline
        self.field_at = [field for field in cover.fields for _ in range(field.bit_count())]
        self.memory: dict[tuple[frozenset[int], int], int] = {}
        # The same cubes and values occur at many nodes.
        self.tested = cache(partial(fields_of, self.field_at))
        self.weight = cache(partial(weight_of, cover.bit_weights))

    def uncovered(self, cubes: Iterable[int], alive: int) -> int:
        """Return the weight of the assignments of alive values that no cube allows.

        A variable without an alive value is not part of this subproblem.
        """
        cubes, alive = self.without_units(cubes, alive)
        if 0 in cubes:
            return 0
        result = 1
        for part, support in self.components(minimal(cubes)):
            result *= self.remembered(part, alive & support)
            if not result:
                return 0
            alive &= ~support
        return result * self.size(alive)

    def without_units(self, cubes: Iterable[int], alive: int) -> tuple[set[int], int]:
        """Apply the unit rule; the cubes are {0} if everything is covered."""
        cubes = set(cubes)
        while units := [cube for cube in cubes if len(self.tested(cube)) == 1]:
            for unit in units:
                (field,) = self.tested(unit)
                # The unit covers what it allows here, so only its forbidden values stay uncovered.
                alive &= unit | ~field
                if not alive & field:
                    return {0}, alive
            for field in {self.tested(unit)[0] for unit in units}:
                left = alive & field
                cubes = {cube for cube in cubes if cube & left != left}  # else it allows nothing
            cubes = {cube & alive for cube in cubes}
        return cubes, alive

    def remembered(self, cubes: list[int], alive: int) -> int:
        """Count one component, whose variables are those of ``alive``, only once."""
        if len(cubes) <= 2:
            return self.size(alive) - self.size_of_few(cubes, alive)
        key = frozenset(cubes), alive
        if key not in self.memory:
            self.memory[key] = self.branched(cubes, alive)
        return self.memory[key]

    def size_of_few(self, cubes: list[int], alive: int) -> int:
        """Return the size of the union of one or two cubes."""
        sizes = [self.size(alive, cube) for cube in cubes]
        return sum(sizes) - (self.size(alive, cubes[0] | cubes[1]) if len(cubes) == 2 else 0)

    def branched(self, cubes: list[int], alive: int) -> int:
        self.deadline.check()
        longest = max(cubes, key=lambda cube: len(self.tested(cube)))
        if len(self.tested(longest)) >= LONG:
            return self.by_cube(longest, [c for c in cubes if c != longest], alive)
        return self.by_values(self.best_field(cubes), cubes, alive)

    def by_cube(self, cube: int, others: list[int], alive: int) -> int:
        """Count without the cube, and subtract what the others leave uncovered inside it."""
        inside = alive & ~cube
        left = [
            other & inside
            for other in others
            # else it allows nothing of the cube on this variable, and they do not meet
            if all(inside & field & ~other for field in self.tested(other))
        ]
        return self.uncovered(others, alive) - self.uncovered(left, inside)

    def by_values(self, field: int, cubes: list[int], alive: int) -> int:
        """Count with the variable fixed at each of its values."""
        rest = alive & ~field
        branches: dict[frozenset[int], int] = {}
        for bit in bits(alive & field):
            left = frozenset([cube & rest for cube in cubes if not cube & bit])
            branches[left] = branches.get(left, 0) + self.weight(bit)
        result = 0
        for left, weight in branches.items():
            result += weight * self.uncovered(left, rest)
        return result

    def components(self, cubes: list[int]) -> list[tuple[list[int], int]]:
        """Split cubes into components, each with the bits of the variables it tests."""
        groups: list[tuple[list[int], int]] = []
        for cube in cubes:
            # Fields are disjoint, so their sum is their union.
            members, support = [cube], sum(self.tested(cube))
            apart = []
            for group in groups:
                if group[1] & support:
                    members += group[0]
                    support |= group[1]
                else:
                    apart.append(group)
            groups = [*apart, (members, support)]
        return groups

    def best_field(self, cubes: list[int]) -> int:
        score: dict[int, float] = {}
        for cube in cubes:
            tested = self.tested(cube)
            worth = GROWTH ** len(tested)
            for field in tested:
                score[field] = score.get(field, 0.0) + worth
        # The lowest field wins a tie, so that the number of nodes is reproducible.
        return max(score, key=lambda field: (score[field], -field))

    def size(self, alive: int, forbidden: int = 0) -> int:
        """Return the weight of all assignments of alive values that are not forbidden."""
        return prod(
            self.weight(alive & ~forbidden & field) for field in fields_of(self.field_at, alive)
        )


def fields_of(field_at: Sequence[int], cube: int) -> tuple[int, ...]:
    """Return the fields of the variables that the cube tests."""
    fields = []
    while cube:
        field = field_at[cube.bit_length() - 1]
        fields.append(field)
        cube &= ~field
    return tuple(fields)


def weight_of(bit_weights: Sequence[int], values: int) -> int:
    """Return the weight of some values of one variable."""
    return sum(bit_weights[bit.bit_length() - 1] for bit in bits(values))


def bits(cube: int) -> list[int]:
    """Return the single bits of a cube.

    >>> bits(0b1010)
    [2, 8]
    """
    result = []
    while cube:
        low = cube & -cube
        result.append(low)
        cube ^= low
    return result


def widen(cubes: Iterable[int], field_at: Sequence[int]) -> list[int]:
    """Widen cubes by their neighbours and drop cubes inside others; the union stays the same.

    ``x=0 y=0`` and ``x=1 y=0`` (which forbid 0b1010 and 0b1001) become ``y=0``:

    >>> [f"{cube:04b}" for cube in widen([0b1010, 0b1001], [0b0011] * 2 + [0b1100] * 2)]
    ['1000']
    """
    kept: list[int] = []
    wider = minimal(cubes)
    while kept != wider:
        kept = wider
        wider = minimal(_widened_by(cube, kept, field_at) for cube in kept)
    return kept


def _widened_by(cube: int, neighbours: Iterable[int], field_at: Sequence[int]) -> int:
    for other in neighbours:
        beyond = other & ~cube
        if beyond:
            field = field_at[beyond.bit_length() - 1]
            # Elsewhere the cube lies inside the other, so here it may allow what either allows.
            if not beyond & ~field:
                cube &= other | ~field
    return cube


def minimal(cubes: Iterable[int]) -> list[int]:
    """Return the cubes that lie inside no other one."""
    kept: list[int] = []
    for cube in sorted(cubes, key=int.bit_count):
        for other in kept:
            if cube & other == other:
                break
        else:
            kept.append(cube)
    return kept
