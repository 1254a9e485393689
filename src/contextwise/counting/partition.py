"""The published method: features made mutually exclusive, then their sizes added.

A union is easy to count when its members do not overlap. Algorithm 1 of the paper replaces a list
of features by a **partition model**: features with the same union, of which no two share a context.
It takes one after the other and subtracts from it all that stand already; what is left of a feature
is itself a list of features, by the lemma on the difference of two single features.

The paper's literals have one value. Here they allow a set of values: with A_k the values that f
allows at variable k and B_k those that g allows, the difference of f and g is

- f itself, if some A_k and B_k do not meet (the condition C2 fails);
- nothing, if every A_k lies in B_k;
- otherwise one piece for each k with A_k ⊄ B_k: it allows A_k∖B_k at k, A_m∩B_m at the earlier
  variables m, and all that f allows at the later ones. The pieces do not overlap.

Here this is an engine, on the cubes of a cover; `contextwise.counting.theorem` has the sets of the
paper's theorem in its own terms.

Cost: exponential in the overlapping features in the worst case. The default engine is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from contextwise.counting.contract import check
from contextwise.counting.cover import Cover

T = TypeVar("T")


def partition(features: Iterable[T], difference: Callable[[T, T], Iterable[T]]) -> list[T]:
    """Algorithm 1: mutually exclusive features with the same union.

    ``difference(f, g)`` gives mutually exclusive features for what is in f and not in g.

    >>> partition([{1, 2}, {2, 3}, {1, 3}], lambda f, g: [f - g] if f - g else [])
    [{1, 2}, {3}]
    """
    parts: list[T] = []
    for feature in features:
        left = [feature]
        for part in parts:
            left = [piece for one in left for piece in difference(one, part)]
        parts += left
    return parts


def count_union(cover: Cover, *, deadline: float | None = None) -> int:
    """The size of the union of the cubes, from their partition model.

    >>> from contextwise.counting.cover import cover_of
    >>> count_union(cover_of([2, 3, 5], [[(0, 0b01)], [(0, 0b10), (1, 0b001)]]))
    20
    """
    fields = cover.fields

    def difference(f: int, g: int) -> list[int]:
        check(deadline)
        return cube_difference(f, g, fields)

    parts = partition(cover.cubes, difference)
    return cover.scale * sum(map(cover.size, parts))


def cube_difference(f: int, g: int, fields: Sequence[int]) -> list[int]:
    """What is in cube f and not in cube g, as mutually exclusive cubes.

    Parameters
    ----------
    f, g : the two cubes
    fields : the bits of each variable; see `Cover.fields`

    Returns
    -------
    list of int

    Examples
    --------
    >>> [f"{piece:04b}" for piece in cube_difference(0b1111, 0b0101, (0b0011, 0b1100))]
    ['1110', '1001']
    """
    meet = f & g
    if not all(meet & field for field in fields):
        return [f]
    pieces = []
    for field in fields:
        outside = f & ~g & field
        if outside:
            pieces.append(f & ~field | outside)
            f &= g | ~field
    return pieces
