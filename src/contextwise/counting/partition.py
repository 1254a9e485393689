"""The published method: make features mutually exclusive, then add their sizes.

Algorithm 1 of the paper replaces a list of features by a **partition model**: features with the
same union, no two of which share a context. It subtracts from each feature all previous ones. By
the paper's lemma, the difference of two features is again a list of features.

The paper's literals have one value. Here they allow a set of values. With A_k the values that f
allows at variable k and B_k those that g allows, the difference of f and g is

- f itself, if some A_k and B_k are disjoint (the condition C2 fails);
- empty, if every A_k lies in B_k;
- otherwise one piece for each k with A_k ⊄ B_k: it allows A_k∖B_k at k, A_m∩B_m at the earlier
  variables m, and all that f allows at the later ones. The pieces do not overlap.

This is an engine on the cubes of a cover; `contextwise.paper` applies the same algorithm to the
paper's features and its sets H. In the worst case the cost is exponential in the number of
overlapping features, so the default engine is a different one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from contextwise.counting.cover import Cover
from contextwise.support.effort import NEVER, Deadline

T = TypeVar("T")


def disjoint_parts(features: Iterable[T], difference: Callable[[T, T], Iterable[T]]) -> list[T]:
    """Algorithm 1: return mutually exclusive features with the same union.

    ``difference(f, g)`` returns mutually exclusive features for f without g.

    >>> disjoint_parts([{1, 2}, {2, 3}, {1, 3}], lambda f, g: [f - g] if f - g else [])
    [{1, 2}, {3}]
    """
    parts: list[T] = []
    for feature in features:
        left = [feature]
        for part in parts:
            left = [piece for whole in left for piece in difference(whole, part)]
        parts += left
    return parts


def count_union(cover: Cover, *, deadline: Deadline = NEVER) -> int:
    """Count the union of the cubes by their partition model."""
    fields, check = cover.fields, deadline.check

    def difference(f: int, g: int) -> list[int]:
        check()
        return cube_difference(f, g, fields)

    parts = disjoint_parts(cover.cubes, difference)
    return cover.scale * sum(map(cover.size, parts))


def cube_difference(f: int, g: int, fields: Sequence[int]) -> list[int]:
    """Return cube f without cube g, as mutually exclusive cubes."""
    meet = f & g
    # Two cubes without a common value of some variable share no context.
    if not all(meet & field for field in fields):
        return [f]
    pieces = []
    for field in fields:
        outside = f & ~g & field
        if outside:
            pieces.append(f & ~field | outside)
            # The next pieces stay inside g on this variable, so no context is in two pieces.
            f &= g | ~field
    return pieces
