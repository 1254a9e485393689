"""The fast method, readable: count what is *not* covered, by branching.

The uncovered contexts of a list of cubes are counted recursively:

1. no cube: all of them; a cube that tests nothing: none;
2. **unit rule**: a cube that tests one variable only covers all contexts with the values it
   allows, so that variable keeps the other values;
3. **absorption**: a cube inside another one is dropped;
4. **components**: cubes that share no variable are counted apart, and multiply;
5. **memory**: a subproblem is counted once;
6. **branching** on the variable that settles most: the one with the largest sum of
   ``BASE ** -(tests of the cube)`` over the cubes that test it; values that lead to the same
   subproblem are taken together.

A cube is kept as the int of the bits it *forbids*, among the values still alive: it tests a
variable if it forbids a bit of its field, it tests nothing if it is 0, and it lies inside another
cube if it forbids all that the other forbids.

Proving that a union is everything is a satisfiability proof, so no method is fast on every cover;
real ones are far from the worst case.
"""

from __future__ import annotations

from contextwise.counting.cover import Cover
from contextwise.counting.limits import check

BASE = 1.1


def count_union(cover: Cover, *, deadline: float | None = None) -> int:
    """The size of the union of the cubes.

    >>> from contextwise.counting.cover import cover_of
    >>> count_union(cover_of([2, 3, 5], [[(0, 0b01)], [(0, 0b10), (1, 0b001)]]))
    20
    """
    counter = _Counter(cover, deadline)
    everything = (1 << len(cover.bit_weights)) - 1
    uncovered = counter.uncovered([everything ^ cube for cube in cover.cubes], everything)
    return cover.total - cover.scale * uncovered


class _Counter:
    """The recursion over one cover, with its memory."""

    def __init__(self, cover: Cover, deadline: float | None) -> None:
        self.deadline = deadline
        self.fields = cover.fields
        self.bit_weights = cover.bit_weights
        self.memory: dict[tuple[frozenset[int], int], int] = {}

    def uncovered(self, cubes: list[int], alive: int) -> int:
        """The weight of the assignments of alive values that no cube allows.

        A variable without an alive value is not part of this subproblem.
        """
        while unit := next((c for c in cubes if self.is_unit(c)), 0):
            alive &= unit | ~self.field_of(unit)
            cubes = self.reduced(cubes, alive)
        if 0 in cubes:
            return 0
        result = 1
        tested = 0
        for part in self.components(minimal(cubes)):
            field = self.support(part)
            tested |= field
            result *= self.remembered(part, alive & field)
            if not result:
                return 0
        for field in self.fields:
            if field & alive & ~tested:
                result *= self.weight(alive & field)
        return result

    def remembered(self, cubes: list[int], alive: int) -> int:
        """The same for one component, counted once; ``alive`` holds its variables only."""
        key = frozenset(cubes), alive
        if key not in self.memory:
            self.memory[key] = self.branched(cubes, alive)
        return self.memory[key]

    def branched(self, cubes: list[int], alive: int) -> int:
        check(self.deadline)
        field = self.best_field(cubes, alive)
        rest = alive & ~field
        branches: dict[tuple[int, ...], int] = {}
        for bit in bits(alive & field):
            left = tuple(c & rest for c in cubes if not c & bit)
            branches[left] = branches.get(left, 0) + self.weight(bit)
        return sum(weight * self.uncovered(list(left), rest) for left, weight in branches.items())

    def reduced(self, cubes: list[int], alive: int) -> list[int]:
        """The cubes among the values still alive: those that allow one of each variable."""
        fields = self.fields
        return [
            c & alive for c in cubes if all(alive & field & ~c for field in fields if c & field)
        ]

    def components(self, cubes: list[int]) -> list[list[int]]:
        groups: list[tuple[int, list[int]]] = []
        for cube in cubes:
            support, members = self.support([cube]), [cube]
            apart = []
            for other, theirs in groups:
                if other & support:
                    support |= other
                    members += theirs
                else:
                    apart.append((other, theirs))
            groups = [*apart, (support, members)]
        return [members for _, members in groups]

    def best_field(self, cubes: list[int], alive: int) -> int:
        score = dict.fromkeys((f for f in self.fields if f & alive), 0.0)
        for cube in cubes:
            tested = [field for field in score if cube & field]
            for field in tested:
                score[field] += BASE ** -len(tested)
        return max(score, key=lambda field: score[field])

    def is_unit(self, cube: int) -> bool:
        return cube != 0 and not cube & ~self.field_of(cube)

    def field_of(self, cube: int) -> int:
        """The field of the lowest variable that the cube tests."""
        return next(field for field in self.fields if cube & field)

    def support(self, cubes: list[int]) -> int:
        """All bits of the variables that some cube tests."""
        tested = 0
        for cube in cubes:
            tested |= cube
        return sum(field for field in self.fields if field & tested)

    def weight(self, cube: int) -> int:
        return sum(self.bit_weights[bit.bit_length() - 1] for bit in bits(cube))


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


def minimal(cubes: list[int]) -> list[int]:
    """The cubes that lie in no other one; here a cube lies inside what forbids less."""
    kept: list[int] = []
    for cube in sorted(set(cubes), key=int.bit_count):
        if not any(cube & other == other for other in kept):
            kept.append(cube)
    return kept
