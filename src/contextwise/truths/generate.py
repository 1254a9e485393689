"""Draw random structures."""

from __future__ import annotations

import numpy as np

from contextwise.models.domain import Domain
from contextwise.models.structure import Structure, features_of

__all__ = ["random_structure"]

Rng = np.random.Generator | int | None
Literals = list[tuple[int, int]]


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
