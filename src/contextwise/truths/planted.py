"""Draw structures with a given number of planted errors: at a guaranteed distance from a model.

Adding features only adds dependencies, so it causes only false positives; removing features causes
only false negatives. A *chain* is a random sequence of features to add, or a random order in which
to remove those of the structure. Along a chain the number of errors never decreases, so bisection
with exact counts finds the place closest to the wanted number. Then later features of the chain are
tried one by one.

Not every number can be reached, because a feature makes every pair of its scope depend. In the
model ``six`` the smallest number of false positives is 8 (``X0=1 & X1=0 & X2=0`` makes X1 and X2
depend wherever X0=1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from contextwise.comparison.two_models import compare
from contextwise.errors import ContextwiseError
from contextwise.formats import ModelLike, as_structure
from contextwise.models.domain import Domain
from contextwise.models.structure import Structure, features_of, require_features
from contextwise.testing import random_literals

Side = Literal["fp", "fn"]
Literals = list[tuple[int, int]]
CHAIN = 4096
"""The number of features drawn for a chain of false positives."""
DRAWS_OF_A_CHAIN = 48
"""The number of later features of a chain that are tried to come closer."""


def with_errors(model: ModelLike, *, fp: int = 0, fn: int = 0, seed: int = 0) -> Structure:
    """Draw a structure with about this many false positives or false negatives, and no others.

    These are the paper's random structures at a guaranteed distance: `compare` has their exact
    number of errors, which differs from the wanted one where no structure of the chain has it. For
    many structures that are also far from each other, choose among them with
    `contextwise.comparison.farthest_first`.

    Parameters
    ----------
    model : the true model
    fp : wanted number of false positives
    fn : wanted number of false negatives; one of the two must be 0
    seed : seed of the draw

    Examples
    --------
    >>> guess = with_errors("six", fp=24, seed=1)
    >>> compare("six", guess)
    Comparison(distance=24, normalized=0.1, tp=160, fn=0, fp=24, tn=56)
    """
    structure = require_features(as_structure(model), "planting errors")
    if fp < 0 or fn < 0 or (fp and fn):
        raise ContextwiseError(f"plant errors of one kind: fp or fn > 0, got fp={fp}, fn={fn}")
    if not (fp or fn):
        return structure
    side: Side = "fp" if fp else "fn"
    most, wanted = most_errors(structure)[side], fp or fn
    if wanted > most:
        raise ContextwiseError(f"this model has room for {most:,} errors ({side}), got {wanted:,}")
    return plant(structure, side, wanted, np.random.default_rng(seed))[0]


def most_errors(structure: Structure) -> dict[Side, int]:
    """Count the assertions that can become false positives and false negatives."""
    against_nothing = compare(structure, Structure(structure.domain))
    return {"fp": int(against_nothing.tn), "fn": int(against_nothing.fn)}


def plant(
    structure: Structure, side: Side, wanted: int, rng: np.random.Generator
) -> tuple[Structure, int]:
    """Draw a structure with about this many errors of one kind; return their exact number, too."""
    if side == "fp":
        chain = _additions(structure, rng)
    else:
        features = structure.features.literals()
        steps = [features[k] for k in rng.permutation(len(features))]
        chain = Chain(structure.domain, [], steps, adds=False)

    def errors(candidate: Structure) -> int:
        return int(getattr(compare(structure, candidate), side))

    return _closest(chain, errors, wanted)


@dataclass(frozen=True)
class Chain:
    """Features in the order in which they are added or removed; errors increase along it."""

    domain: Domain
    kept: list[Literals]
    steps: list[Literals]
    adds: bool

    def at(self, taken: Sequence[int]) -> Structure:
        """Return the structure after some of the steps."""
        chosen = set(taken)
        steps = [s for k, s in enumerate(self.steps) if (k in chosen) == self.adds]
        return Structure(self.domain, features_of(self.domain, [*self.kept, *steps]))


def _additions(structure: Structure, rng: np.random.Generator) -> Chain:
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
    chain: Chain, errors: Callable[[Structure], int], target: int
) -> tuple[Structure, int]:
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
    for step in range(low, min(low + DRAWS_OF_A_CHAIN, len(chain.steps))):
        if reached == target:
            break
        candidate = chain.at([*taken, step])
        count = errors(candidate)
        if abs(count - target) < abs(reached - target):
            best, reached = candidate, count
            if count <= target:
                taken.append(step)
    return best, reached
