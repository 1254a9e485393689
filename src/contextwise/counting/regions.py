"""Sets of contexts as short lists of disjoint regions: unions, complements and differences.

A **region** is a cube such as "C=yes and D≠old". The regions of a set are disjoint, their sizes add
up to its exact size, and they should be few and general.

Each set consists of the contexts that some cube of ``inside`` allows and no cube of ``outside``
allows. A decision tree over boxes of contexts finds them, largest box first:

1. a box that no inside cube meets, or that an outside cube contains, is out;
2. a box shrinks, without branching, to the hull of the inside cubes, and by every outside cube that
   tests one variable only;
3. a box inside an inside cube that no outside cube meets is a region;
4. any other box is split on one variable; values that leave the same cubes stay together.

Then regions that differ in one variable only are **merged**: first from the leaves of the tree
upwards, on the variable of each split, then any two. Finding the shortest list is a hard
optimisation problem (two-level minimisation); this finds a short one.

A set can need exponentially many regions. If a limit ends the search, the regions found so far are
correct, and ``undecided`` is the number of contexts in undecided boxes.
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from contextwise.counting.branch import bits, minimal
from contextwise.counting.cover import ClassSpace, Cover, Cube
from contextwise.support.effort import NEVER, Deadline

MOST_BOXES_OF_A_COVER = 20_000
BASE = 3.0
"""A cube weighs this much less for each variable it tests when a variable is chosen to split."""

Literals = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Region:
    """A cube: (variable, value set as an int) for each variable it tests; and its contexts."""

    literals: Literals
    size: int


@dataclass(frozen=True)
class Regions:
    """Disjoint regions, largest first.

    ``undecided`` is a number of contexts; ``complete`` is false if a limit ended the search.
    """

    regions: tuple[Region, ...]
    undecided: int = 0
    complete: bool = True

    def __iter__(self) -> Iterator[Region]:
        return iter(self.regions)

    def __len__(self) -> int:
        return len(self.regions)

    @cached_property
    def size(self) -> int:
        """The number of contexts in all regions."""
        return sum(region.size for region in self.regions)


def union(space: ClassSpace, cubes: Iterable[Cube], **limits: Any) -> Regions:
    """Return the contexts that some cube allows."""
    return difference(space, cubes, (), **limits)


def complement(space: ClassSpace, cubes: Iterable[Cube], **limits: Any) -> Regions:
    """Return the contexts that no cube allows."""
    return difference(space, ((),), cubes, **limits)


def difference(
    space: ClassSpace,
    inside: Iterable[Cube],
    outside: Iterable[Cube],
    *,
    boxes: int = MOST_BOXES_OF_A_COVER,
    deadline: Deadline = NEVER,
    most: int | None = None,
    size: Callable[[Literals], int] | None = None,
) -> Regions:
    """Return the contexts that some cube of ``inside`` allows and no cube of ``outside``.

    The search ends after ``boxes`` boxes, at the deadline, or when it has the ``most`` largest
    regions. ``size`` replaces the number of contexts as the size of a cube.

    >>> from contextwise.counting.cover import class_space
    >>> a, b = [[(0, 0b01)]], [[(0, 0b01), (1, 0b011), (2, 0b1)]]
    >>> regions = difference(class_space([2, 3, 5], [*a, *b]), a, b)
    >>> [region.literals for region in regions], regions.size, regions.undecided
    ([((0, 1), (1, 3), (2, 30)), ((0, 1), (1, 4))], 13, 0)
    """
    tree = _Tree(space, space.cover(inside), space.cover(outside), size)
    tree.grow(boxes, deadline, most)
    sized = [
        Region(space.decode(cube), tree.size(cube)) for cube in merge(tree.regions(), tree.fields)
    ]
    sized = [region for region in sized if region.size]
    sized.sort(key=lambda region: (-region.size, len(region.literals), region.literals))
    undecided = sum(-negative for negative, _, _ in tree.heap)
    return Regions(tuple(sized), undecided, complete=tree.is_complete(most))


@dataclass(frozen=True)
class _Box:
    """A box of contexts and the cubes that meet it, each as the alive bits it forbids."""

    alive: int
    inside: tuple[int, ...]
    outside: tuple[int, ...]


class _Tree:
    """The decision tree of one difference."""

    def __init__(
        self,
        space: ClassSpace,
        inside: Cover,
        outside: Cover,
        size: Callable[[Literals], int] | None = None,
    ) -> None:
        self.cover = inside
        self.space = space
        self.measure = size
        self.fields = inside.fields
        everything = space.everything
        self.heap: list[tuple[int, int, _Box]] = []
        self.parents: list[int] = []
        self.splits: list[int] = []
        self.leaves: list[tuple[int, int]] = []
        self.sizes: list[int] = []  # of the leaves, negative: the largest first
        root = _Box(
            everything,
            tuple(everything ^ cube for cube in inside.cubes),
            tuple(everything ^ cube for cube in outside.cubes),
        )
        self.add(root, 0)

    def size(self, cube: int) -> int:
        if self.measure is not None:
            return self.measure(self.space.decode(cube))
        return self.cover.size(cube) * self.cover.scale

    def grow(self, boxes: int, deadline: Deadline, most: int | None = None) -> None:
        """Split the largest box until all are decided or a limit is reached."""
        while len(self.parents) < boxes and not self.is_complete(most):
            if deadline.passed:
                return
            _, number, box = heapq.heappop(self.heap)
            field = self.best_field(box)
            self.splits[number] = field
            for part in self.split(box, field):
                self.add(part, number)

    def is_complete(self, most: int | None) -> bool:
        """Return whether every box is decided, or ``most`` regions are larger than the rest."""
        if not self.heap or not self.heap[0][0]:
            return True
        if most is None or len(self.sizes) < most:
            return False
        return most == 0 or self.sizes[most - 1] <= self.heap[0][0]

    def add(self, box: _Box, parent: int) -> None:
        """Decide a box or put it on the heap."""
        reduced = self.reduced(box)
        if reduced is None:
            return
        number = len(self.parents)
        self.parents.append(parent)
        self.splits.append(0)
        if reduced.outside or reduced.inside != (0,):
            heapq.heappush(self.heap, (-self.size(reduced.alive), number, reduced))
        else:
            self.leaves.append((number, reduced.alive))
            insort(self.sizes, -self.size(reduced.alive))

    def reduced(self, box: _Box) -> _Box | None:
        """Apply rules 1 and 2 to a box; return None if it is out."""
        alive, inside, outside = box.alive, list(box.inside), list(box.outside)
        while True:
            outside = minimal(outside)
            # A cube that forbids all that an outside cube forbids lies inside it.
            inside = [c for c in minimal(inside) if not any(c & o == o for o in outside)]
            if not inside:
                return None
            # Values that every inside cube forbids are outside their hull.
            gone = inside[0]
            for cube in inside:
                gone &= cube
            unit = next((c for c in outside if not c & ~self.field_of(c)), 0)
            if unit:
                # This outside cube tests one variable only, so the values it allows there are out.
                gone |= self.field_of(unit) & alive & ~unit
            if not gone:
                return _Box(alive, tuple(inside), tuple(outside))
            for field in self.fields:
                if gone & field:
                    alive &= ~(gone & field)
                    inside = _within(inside, field, alive)
                    outside = _within(outside, field, alive)

    def split(self, box: _Box, field: int) -> Iterator[_Box]:
        """Split a box by the values of one variable, keeping equivalent values together."""
        parts: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        for bit in bits(box.alive & field):
            left = (
                tuple(c & ~field for c in box.inside if not c & bit),
                tuple(c & ~field for c in box.outside if not c & bit),
            )
            parts[left] = parts.get(left, 0) | bit
        for (inside, outside), values in parts.items():
            yield _Box(box.alive & ~field | values, inside, outside)

    def best_field(self, box: _Box) -> int:
        score = dict.fromkeys(self.fields, 0.0)
        for cube in (*box.inside, *box.outside):
            tested = [field for field in self.fields if cube & field]
            for field in tested:
                score[field] += BASE ** -len(tested)
        return max(score, key=lambda field: score[field])

    def field_of(self, cube: int) -> int:
        """Return the field of the lowest variable that the cube tests."""
        return next(field for field in self.fields if cube & field)

    def regions(self) -> list[int]:
        """Return the regions, merged from the leaves upwards."""
        held: list[list[int]] = [[] for _ in self.parents]
        for number, cube in self.leaves:
            held[number].append(cube)
        for number in range(len(held) - 1, 0, -1):
            held[self.parents[number]] += merge_on(self.splits[number], held[number])
            held[number] = []
        return merge_on(self.splits[0], held[0]) if held else []


def merge(cubes: Iterable[int], fields: Sequence[int]) -> list[int]:
    """Merge disjoint cubes until no two differ in one variable only."""
    result = list(cubes)
    while True:
        before = len(result)
        for field in fields:
            result = merge_on(field, result)
        if len(result) == before:
            return result


def merge_on(field: int, cubes: Iterable[int]) -> list[int]:
    """Merge cubes that differ only in the variable of this field."""
    together: dict[int, int] = {}
    for cube in cubes:
        rest = cube & ~field
        together[rest] = together.get(rest, 0) | cube
    return list(together.values())


def _within(cubes: list[int], field: int, alive: int) -> list[int]:
    """Return the cubes that allow an alive value of this field, among alive values."""
    left = alive & field
    return [c & alive for c in cubes if c & left != left]
