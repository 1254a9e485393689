"""Draw random structures, and structures with a given number of errors.

Adding features can only add dependencies, so it causes only false positives; removing features
causes only false negatives. `with_errors` uses a *chain*: a random sequence of features to add, or
a random order in which to remove the features of the structure. Along a chain the number of errors
never decreases, so bisection with exact counts finds the point closest to the wanted number. Then
later features of the chain are tried one by one.

Not every number can be reached, because a feature makes every pair of its scope depend. In the
model ``six`` the smallest number of false positives is 8 (``X0=1 & X1=0 & X2=0`` makes X1 and X2
depend wherever X0=1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from contextwise.comparison.compare import compare
from contextwise.errors import DomainError
from contextwise.models.domain import Domain
from contextwise.models.structure import Structure, features_of

__all__ = ["random_structure"]

Rng = np.random.Generator | int | None
Literals = list[tuple[int, int]]

CHAIN = 4096
"""The number of features drawn for a chain of false positives."""
TRIES = 48
"""The number of later features of a chain that are tried to come closer."""


def random_structure(
    domain: Domain,
    *,
    features: int,
    lengths: tuple[int, int] = (2, 4),
    set_literals: float = 0.0,
    rng: Rng = None,
) -> Structure:
    """Draw a structure of random features; variables with one state are never drawn.

    Parameters
    ----------
    domain : Domain
    features : number of draws; equal features count once
    lengths : (shortest, longest); lengths, and scopes of one length, are drawn uniformly
    set_literals : probability that a literal allows a random value set instead of one value
    rng : generator or seed

    Returns
    -------
    Structure

    Examples
    --------
    >>> random_structure(Domain({"A": 2, "B": 3, "C": 2}), features=2, rng=1)
    Structure(3 variables, 2 features: B=2 & C=1; A=0 & B=2 & C=1)
    """
    generator = np.random.default_rng(rng)
    drawn = [random_literals(domain, lengths, set_literals, generator) for _ in range(features)]
    return Structure(domain, features_of(domain, drawn))


def with_errors(
    structure: Structure,
    *,
    false_positives: int | None = None,
    false_negatives: int | None = None,
    rng: Rng = None,
) -> tuple[Structure, int]:
    """Draw a structure with about this many errors of one kind; return their exact number, too.

    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1"])
    >>> with_errors(model, false_negatives=2, rng=0)
    (Structure(3 variables, 0 features), 2)
    """
    if (false_positives is None) == (false_negatives is None):
        raise DomainError("pass either false_positives or false_negatives, not both")
    target = (false_positives or 0) + (false_negatives or 0)
    if target < 0:
        raise DomainError(f"the number of errors must be >= 0, got {target}")
    generator = np.random.default_rng(rng)
    if false_positives is not None:
        longest = int(structure.features.lengths.max(initial=2))
        chain = _additions(structure, max(2, longest), generator)
    else:
        features = structure.features.literals()
        steps = [features[k] for k in generator.permutation(len(features))]
        chain = _Chain(structure.domain, [], steps, adds=False)

    def errors(candidate: Structure) -> int:
        comparison = compare(structure, candidate)
        return int(comparison.fp if chain.adds else comparison.fn)

    return _closest(chain, errors, target)


# -- chains --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Chain:
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


def _additions(structure: Structure, longest: int, rng: np.random.Generator) -> _Chain:
    domain = structure.domain
    kept = structure.features.literals()
    seen = {tuple(feature) for feature in kept}
    steps = []
    for _ in range(CHAIN):
        feature = random_literals(domain, (2, longest), 0.0, rng)
        if tuple(feature) not in seen:
            seen.add(tuple(feature))
            steps.append(feature)
    return _Chain(domain, kept, steps, adds=True)


def _closest(
    chain: _Chain, errors: Callable[[Structure], int], target: int
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


# -- features ------------------------------------------------------------------------------------


def random_literals(
    domain: Domain, lengths: tuple[int, int], set_literals: float, rng: np.random.Generator
) -> Literals:
    usable = [v for v, c in enumerate(domain.cardinalities) if c > 1]
    shortest, longest = (min(length, len(usable)) for length in lengths)
    length = int(rng.integers(shortest, longest + 1))
    scope = sorted(rng.choice(usable, size=length, replace=False).tolist()) if length else []
    return [(v, random_set(domain.cardinalities[v], set_literals, rng)) for v in scope]


def random_set(cardinality: int, set_literals: float, rng: np.random.Generator) -> int:
    if rng.random() >= set_literals:
        return 1 << int(rng.integers(cardinality))
    while True:
        chosen = sum(1 << k for k in np.flatnonzero(rng.random(cardinality) < 0.5).tolist())
        if 0 < chosen < (1 << cardinality) - 1:
            return chosen
