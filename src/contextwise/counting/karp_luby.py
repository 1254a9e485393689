"""How large A ∖ B is, by drawing from A: for pairs whose unions are too hard to count in time.

The difference of two estimated unions is worthless: both errors are as large as the unions, and the
difference may be small. So contexts are drawn from the cubes of A and put to B (Karp and Luby,
1983). A cube is drawn in proportion to its size, then a context inside it; the draw counts if the
cube is the first of A's that contains the context, so that a context of many cubes counts once. A
draw that counts and lies outside B is a **hit**. With W the sizes of all cubes of A added up::

    |A ∖ B| = W · P(hit)        |A ∖ B| = |A| · P(hit | the draw counts)

The second form is used where |A| is known. Either way the number of hits is binomial, and the error
of the estimate is relative to W or |A|, not to the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from contextwise.counting.cover import Cube
from contextwise.counting.extraction import ValueWeights
from contextwise.models.features import members

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Draws:
    """What came of some draws from A: how many, how many counted, how many were hits."""

    draws: int
    counted: int
    hits: int

    def __add__(self, other: Draws) -> Draws:
        return Draws(self.draws + other.draws, self.counted + other.counted, self.hits + other.hits)


def cube_size(cube: Cube, weights: ValueWeights) -> int:
    """What the values of a cube's variables count together, those it does not test included.

    Parameters
    ----------
    cube : literals (variable, value set)
        A conjunction.
    weights : ints per value of each variable
        How much each value counts.

    Returns
    -------
    int

    Examples
    --------
    >>> cube_size([(1, 0b011)], [[1, 1], [1, 1, 1]])
    4
    """
    size = 1
    tested = dict(cube)
    for v, own in enumerate(weights):
        size *= sum(own) if v not in tested else sum(own[k] for k in members(tested[v]))
    return size


def draw_difference(
    a: Sequence[Cube],
    b: Sequence[Cube],
    weights: ValueWeights,
    draws: int,
    rng: np.random.Generator,
) -> Draws:
    """Draw contexts from the cubes of ``a``, and see which lie outside ``b``.

    Parameters
    ----------
    a, b : cubes, each a list of literals (variable, value set)
        Over the same variables; ``a`` has at least one.
    weights : ints per value of each variable
        How much each value counts; a variable of one value stands for none.
    draws : int
        How many contexts.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    Draws

    Examples
    --------
    A is x=0, B is y=0, both half of the contexts: half of A lies outside B.

    >>> found = draw_difference(
    ...     [[(0, 0b01)]], [[(1, 0b01)]], [[1, 1], [1, 1]], 1000, np.random.default_rng(1)
    ... )
    >>> found
    Draws(draws=1000, counted=1000, hits=493)
    """
    sizes = [cube_size(cube, weights) for cube in a]
    total = sum(sizes)
    chosen = rng.choice(len(a), draws, p=[size / total for size in sizes])
    tested = sorted({v for cube in (*a, *b) for v, _ in cube})
    states = {v: _states(weights[v], draws, rng) for v in tested}
    for c in np.unique(chosen).tolist():
        mine = np.flatnonzero(chosen == c)
        for v, allowed in a[c]:
            inside = members(allowed)
            own = _states([weights[v][k] for k in inside], len(mine), rng)
            states[v][mine] = np.array(inside)[own]
    earlier, outside = np.zeros(draws, dtype=bool), np.ones(draws, dtype=bool)
    for c, cube in enumerate(a):
        earlier |= (chosen > c) & _inside(cube, states, draws)
    for cube in b:
        outside &= ~_inside(cube, states, draws)
    return Draws(draws, int((~earlier).sum()), int((~earlier & outside).sum()))


def _states(weights: Sequence[int], draws: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Values, each drawn in proportion to its weight."""
    if len(set(weights)) == 1:
        return rng.integers(0, len(weights), draws)
    total = sum(weights)
    return rng.choice(len(weights), draws, p=[weight / total for weight in weights])


def _inside(cube: Cube, states: dict[int, npt.NDArray[np.int64]], draws: int) -> BoolArray:
    """Which of the contexts a cube contains."""
    found = np.ones(draws, dtype=bool)
    for v, allowed in cube:
        found &= np.isin(states[v], members(allowed))
    return found
