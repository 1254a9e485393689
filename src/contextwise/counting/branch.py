"""The fast method, readable: count what is *not* covered, by branching.

The uncovered contexts of a list of cubes are counted recursively:

1. no cube: all of them; a cube that tests nothing: none; one or two cubes: in closed form;
2. **unit rule**: a cube that tests one variable only covers all contexts with the values it
   allows, so that variable keeps the other values;
3. **absorption**: a cube inside another one is dropped;
4. **components**: cubes that share no variable are counted apart, and multiply;
5. **memory**: a subproblem is counted once;
6. **branching on a long cube**: count without it, and take away what it alone covers; inside a
   cube that tests many variables nearly everything is decided;
7. **branching on a variable** once all cubes are short: the variable with the largest sum of
   ``GROWTH ** (tests of the cube)`` over the cubes that test it; values that lead to the same
   subproblem are taken together.

Before that, once, cubes are **widened** by their neighbours: if D lies in C on every variable but
one, D may as well allow what C allows of that one. A decision tree that splits on a variable and
treats both sides alike loses the split, and nothing shrinks a real cover more.

The compiled kernel branches by the same rules (``kernel/recursion.hpp``) and differs in the rest:
features of one scope are merged before any pair is looked at (``kernel/claims.hpp``), cubes inside
others are dropped once and not at every step, the variable that most cubes test is branched on, few
binary variables are counted by truth table, few cubes by inclusion and exclusion.

A cube is kept as the int of the bits it *forbids*, among the values still alive: it tests a
variable if it forbids a bit of its field, it tests nothing if it is 0, and it lies inside another
cube if it forbids all that the other forbids.

Proving that a union is everything is a satisfiability proof, so no method is fast on every cover;
real ones are far from the worst case.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cache, partial
from math import prod

from contextwise.counting.contract import OverBudget
from contextwise.counting.cover import Cover
from contextwise.support.deadline import NEVER, Deadline

LONG = 6
"""A cube that tests this many variables is branched on as a whole."""
GROWTH = 1.1


def count_union(cover: Cover, *, deadline: Deadline = NEVER, node_budget: int | None = None) -> int:
    """The size of the union of the cubes.

    >>> from contextwise.counting.cover import cover_of
    >>> count_union(cover_of([2, 3, 5], [[(0, 0b01)], [(0, 0b10), (1, 0b001)]]))
    20
    """
    counter = _Counter(cover, deadline, node_budget)
    everything = (1 << len(cover.bit_weights)) - 1
    _allow_depth(3 * (len(cover.weights) + len(cover.cubes)))
    cubes = widen([everything ^ cube for cube in cover.cubes], counter.field_at)
    uncovered = counter.uncovered(cubes, everything)
    return cover.total - cover.scale * uncovered


def _allow_depth(frames: int) -> None:
    """Let the recursion, which branches once per variable or cube, go as deep as it must."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 1000 + frames))


class _Counter:
    """The recursion over one cover, with its memory."""

    def __init__(self, cover: Cover, deadline: Deadline, node_budget: int | None) -> None:
        self.deadline, self.node_budget = deadline, node_budget
        self.field_at = [field for field in cover.fields for _ in range(field.bit_count())]
        self.memory: dict[tuple[frozenset[int], int], int] = {}
        # The same cubes come back at node after node, and so do the values left of a variable.
        self.tested = cache(partial(fields_of, self.field_at))
        self.weight = cache(partial(weight_of, cover.bit_weights))

    def uncovered(self, cubes: Iterable[int], alive: int) -> int:
        """The weight of the assignments of alive values that no cube allows.

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
        """The cubes and the alive values that the unit rule leaves; {0} if all is covered."""
        cubes = set(cubes)
        while units := [cube for cube in cubes if len(self.tested(cube)) == 1]:
            for unit in units:
                (field,) = self.tested(unit)
                alive &= unit | ~field
                if not alive & field:
                    return {0}, alive
            for field in {self.tested(unit)[0] for unit in units}:
                left = alive & field
                cubes = {cube for cube in cubes if cube & left != left}  # else it allows nothing
            cubes = {cube & alive for cube in cubes}
        return cubes, alive

    def remembered(self, cubes: list[int], alive: int) -> int:
        """The same for one component, counted once; ``alive`` holds its variables only."""
        if len(cubes) <= 2:
            return self.size(alive) - self.size_of_few(cubes, alive)
        key = frozenset(cubes), alive
        if key not in self.memory:
            self.memory[key] = self.branched(cubes, alive)
        return self.memory[key]

    def size_of_few(self, cubes: list[int], alive: int) -> int:
        """One or two cubes: their sizes added, less what they share."""
        sizes = [self.size(alive, cube) for cube in cubes]
        return sum(sizes) - (self.size(alive, cubes[0] | cubes[1]) if len(cubes) == 2 else 0)

    def branched(self, cubes: list[int], alive: int) -> int:
        self.deadline.check()
        if self.node_budget is not None and len(self.memory) >= self.node_budget:
            raise OverBudget
        longest = max(cubes, key=lambda cube: len(self.tested(cube)))
        if len(self.tested(longest)) >= LONG:
            return self.by_cube(longest, [c for c in cubes if c != longest], alive)
        return self.by_values(self.best_field(cubes), cubes, alive)

    def by_cube(self, cube: int, others: list[int], alive: int) -> int:
        """Without the cube, less what it alone covers: what the others leave uncovered in it."""
        inside = alive & ~cube
        left = [
            other & inside
            for other in others
            if all(inside & field & ~other for field in self.tested(other))
        ]
        return self.uncovered(others, alive) - self.uncovered(left, inside)

    def by_values(self, field: int, cubes: list[int], alive: int) -> int:
        """One variable at each of its values."""
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
        """The cubes that hang together, and all bits of the variables they test."""
        groups: list[tuple[list[int], int]] = []
        for cube in cubes:
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
        return max(score, key=lambda field: (score[field], -field))

    def size(self, alive: int, forbidden: int = 0) -> int:
        """The weight of all assignments of alive values that are not forbidden."""
        return prod(
            self.weight(alive & ~forbidden & field) for field in fields_of(self.field_at, alive)
        )


def fields_of(field_at: Sequence[int], cube: int) -> tuple[int, ...]:
    """The fields of the variables of which the cube has a bit: those that it tests."""
    found = []
    while cube:
        field = field_at[cube.bit_length() - 1]
        found.append(field)
        cube &= ~field
    return tuple(found)


def weight_of(bit_weights: Sequence[int], values: int) -> int:
    """The weight of some values of one variable."""
    return sum(bit_weights[bit.bit_length() - 1] for bit in bits(values))


def bits(cube: int) -> list[int]:
    """The bits of a cube, each alone.

    >>> bits(0b1010)
    [2, 8]
    """
    found = []
    while cube:
        low = cube & -cube
        found.append(low)
        cube ^= low
    return found


def widen(cubes: Iterable[int], field_at: Sequence[int]) -> list[int]:
    """Cubes with the same union, as wide as their neighbours make them, none inside another.

    Of ``x=0 y=0`` and ``x=1 y=0`` (which forbid 0b1010 and 0b1001) only ``y=0`` is left:

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
        beyond = other & ~cube  # what the other forbids and the cube does not
        if beyond:
            field = field_at[beyond.bit_length() - 1]
            if not beyond & ~field:
                cube &= other | ~field
    return cube


def minimal(cubes: Iterable[int]) -> list[int]:
    """The cubes that lie in no other one; here a cube lies inside what forbids less."""
    kept: list[int] = []
    for cube in sorted(cubes, key=int.bit_count):
        for other in kept:
            if cube & other == other:
                break
        else:
            kept.append(cube)
    return kept
