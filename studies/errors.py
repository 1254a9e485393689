"""Draw structures with a given number of errors of one kind.

Adding features can only add dependencies, so it causes only false positives; removing features
causes only false negatives. A *chain* is a random sequence of features to add, or a random order in
which to remove the features of the structure. Along a chain the number of errors never decreases,
so bisection with exact counts finds the point closest to the wanted number. Then later features of
the chain are tried one by one.

Not every number can be reached, because a feature makes every pair of its scope depend. In the
model ``six`` the smallest number of false positives is 8 (``X0=1 & X1=0 & X2=0`` makes X1 and X2
depend wherever X0=1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

import contextwise as cw
from contextwise.models.structure import features_of
from contextwise.testing import random_literals

Side = Literal["fp", "fn"]
Literals = list[tuple[int, int]]
CHAIN = 4096
"""The number of features drawn for a chain of false positives."""
TRIES = 48
"""The number of later features of a chain that are tried to come closer."""


def with_errors(
    structure: cw.Structure, side: Side, target: int, rng: np.random.Generator
) -> tuple[cw.Structure, int]:
    """Draw a structure with about this many errors of one kind; return their exact number, too."""
    if side == "fp":
        chain = _additions(structure, rng)
    else:
        features = structure.features.literals()
        steps = [features[k] for k in rng.permutation(len(features))]
        chain = Chain(structure.domain, [], steps, adds=False)

    def errors(candidate: cw.Structure) -> int:
        return int(getattr(cw.compare(structure, candidate), side))

    return _closest(chain, errors, target)


@dataclass(frozen=True)
class Chain:
    """Features in the order in which they are added or removed; errors increase along it."""

    domain: cw.Domain
    kept: list[Literals]
    steps: list[Literals]
    adds: bool

    def at(self, taken: Sequence[int]) -> cw.Structure:
        """Return the structure after some of the steps."""
        chosen = set(taken)
        steps = [s for k, s in enumerate(self.steps) if (k in chosen) == self.adds]
        return cw.Structure(self.domain, features_of(self.domain, [*self.kept, *steps]))


def _additions(structure: cw.Structure, rng: np.random.Generator) -> Chain:
    longest = max(2, int(structure.features.lengths.max(initial=2)))
    kept = structure.features.literals()
    seen = {tuple(feature) for feature in kept}
    steps = []
    for _ in range(CHAIN):
        feature = random_literals(structure.domain, (2, longest), 0.0, rng)
        if tuple(feature) not in seen:
            seen.add(tuple(feature))
            steps.append(feature)
    return Chain(structure.domain, kept, steps, adds=True)


def _closest(
    chain: Chain, errors: Callable[[cw.Structure], int], target: int
) -> tuple[cw.Structure, int]:
    """Return the structure of the chain whose number of errors is closest to the target."""
    low, high = 0, len(chain.steps)
    while low < high:  # find the last place with at most `target` errors
        middle = (low + high + 1) // 2
        if errors(chain.at(range(middle))) <= target:
            low = middle
        else:
            high = middle - 1
    taken = list(range(low))
    best = chain.at(taken)
    reached = errors(best)
    for step in range(low, min(low + TRIES, len(chain.steps))):
        if reached == target:
            break
        candidate = chain.at([*taken, step])
        count = errors(candidate)
        if abs(count - target) < abs(reached - target):
            best, reached = candidate, count
            if count <= target:
                taken.append(step)
    return best, reached
