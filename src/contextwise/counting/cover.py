"""Covers: the cubes of one pair of variables, ready to be counted.

A **cube** is a feature without the two literals of the pair: the values it allows of each other
variable. All cubes of a pair are its **cover**. Their union is the set of contexts in which the
pair depends, and engines count its size.

Building a cover makes two reductions. Values of a variable that no cube distinguishes are one
**class**, whose weight is their number: a variable with 50 states of which features test one has
two classes. Variables that no cube tests leave the cover; the product of their cardinalities is its
``scale``.

A cube is one Python int: variable ``k`` owns a field of bits, one bit per class, and the cube
*allows* the classes whose bit is set. So cubes meet by ``&``, and a cube lies inside another when
``a & b == a``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from math import prod

from contextwise.models.features import members

Cube = Sequence[tuple[int, int]]
"""A cube before encoding: (variable, value set as an int) for each variable it tests."""


@dataclass(frozen=True)
class Cover:
    """Cubes as bit sets over value classes.

    ``weights`` are the numbers of values in the classes of each variable, ``scale`` is the number
    of assignments of the variables that no cube tests.

    Variables with 2, 3 and 5 values; one cube tests the first, one the first two.

    >>> cover = cover_of([2, 3, 5], [[(0, 0b01)], [(0, 0b10), (1, 0b001)]])
    >>> cover.weights, cover.scale, cover.total
    (((1, 1), (1, 2)), 5, 30)
    >>> [f"{cube:04b}" for cube in cover.cubes]
    ['1101', '0110']
    """

    weights: tuple[tuple[int, ...], ...]
    cubes: tuple[int, ...]
    scale: int = 1

    @cached_property
    def fields(self) -> tuple[int, ...]:
        """For each variable, the mask of its bits."""
        masks, at = [], 0
        for classes in self.weights:
            masks.append(((1 << len(classes)) - 1) << at)
            at += len(classes)
        return tuple(masks)

    @cached_property
    def bit_weights(self) -> tuple[int, ...]:
        """The weight of each bit, over all variables."""
        return tuple(weight for classes in self.weights for weight in classes)

    @cached_property
    def total(self) -> int:
        """The number of all contexts, covered or not."""
        return self.scale * prod(sum(classes) for classes in self.weights)

    def size(self, cube: int) -> int:
        """Return the number of contexts of one cube, without the scale."""
        size = 1
        for classes in self.weights:
            size *= sum(weight for k, weight in enumerate(classes) if cube >> k & 1)
            cube >>= len(classes)
        return size


@dataclass(frozen=True)
class ClassSpace:
    """The meaning of the bits of a cover: its variables, and the classes of their values.

    Cubes of two models that are encoded in one space can be compared, and cubes that result from a
    computation can be decoded. ``classes`` are value sets as ints, one tuple per variable.

    >>> space = class_space([2, 3, 5], [[(1, 0b011)], [(0, 0b10), (1, 0b001)]])
    >>> space.variables, space.classes, space.scale
    ((0, 1), ((1, 2), (1, 2, 4)), 5)
    >>> space.decode(space.encode([(0, 0b10), (1, 0b001)]))
    ((0, 2), (1, 1))
    """

    variables: tuple[int, ...]
    classes: tuple[tuple[int, ...], ...]
    weights: tuple[tuple[int, ...], ...]
    scale: int

    @cached_property
    def everything(self) -> int:
        """The cube that tests nothing."""
        return (1 << sum(map(len, self.classes))) - 1

    @cached_property
    def _places(self) -> dict[int, tuple[int, tuple[int, ...]]]:
        """The first bit and the classes of each variable."""
        begins = accumulate(map(len, self.classes), initial=0)
        return dict(zip(self.variables, zip(begins, self.classes, strict=False), strict=True))

    def _forbids(self, literal: tuple[int, int]) -> int:
        variable, allowed = literal
        begin, classes = self._places[variable]
        return sum(1 << k for k, values in enumerate(classes) if not values & allowed) << begin

    def encode(self, cube: Cube) -> int:
        """Return a cube as the int of the classes it allows."""
        return self.everything ^ sum(map(self._forbids, cube))

    def decode(self, cube: int) -> tuple[tuple[int, int], ...]:
        """Return the literals of a cube: the inverse of `encode`."""
        literals = []
        for variable, (begin, classes) in self._places.items():
            allowed = [values for k, values in enumerate(classes) if cube >> begin + k & 1]
            if len(allowed) < len(classes):
                literals.append((variable, sum(allowed)))
        return tuple(literals)

    def cover(self, cubes: Iterable[Cube]) -> Cover:
        """Encode cubes as a cover."""
        raw = list(cubes)
        forbids = {literal: self._forbids(literal) for literal in set(chain(*raw))}.__getitem__
        coded = (self.everything ^ sum(map(forbids, cube)) for cube in raw)
        return Cover(self.weights, tuple(dict.fromkeys(coded)), self.scale)


def class_space(
    cardinalities: Sequence[int],
    cubes: Iterable[Cube],
    value_weights: Sequence[Sequence[int]] | None = None,
) -> ClassSpace:
    """Return the space in which these cubes can be encoded."""
    sets: dict[int, set[int]] = {}
    for variable, allowed in set(chain(*cubes)):
        sets.setdefault(variable, set()).add(allowed)
    variables = tuple(sorted(sets))
    classes = tuple(_classes(cardinalities[v], frozenset(sets[v])) for v in variables)
    if value_weights is None:
        weights = tuple(tuple(map(int.bit_count, parts)) for parts in classes)
    else:
        weights = tuple(
            tuple(sum(value_weights[v][k] for k in members(values)) for values in parts)
            for v, parts in zip(variables, classes, strict=True)
        )
    sizes = cardinalities if value_weights is None else list(map(sum, value_weights))
    scale = prod(size for v, size in enumerate(sizes) if v not in sets)
    return ClassSpace(variables, classes, weights, scale)


def cover_of(
    cardinalities: Sequence[int],
    cubes: Iterable[Cube],
    value_weights: Sequence[Sequence[int]] | None = None,
) -> Cover:
    """Return the cover of some cubes over variables with these cardinalities."""
    raw = list(cubes)
    return class_space(cardinalities, raw, value_weights).cover(raw)


@lru_cache(maxsize=4096)  # most variables are binary: a handful of cases for thousands of pairs
def _classes(cardinality: int, sets: frozenset[int]) -> tuple[int, ...]:
    """Group the values of a variable that all sets treat alike, in the order of values."""
    classes = [(1 << cardinality) - 1]
    for allowed in sets:
        classes = [part for c in classes for part in (c & allowed, c & ~allowed) if part]
    # c & -c is the lowest bit: the first value of the class.
    return tuple(sorted(classes, key=lambda c: c & -c))
