"""Random changes of a structure, to make guesses for tests."""

from __future__ import annotations

import numpy as np

from contextwise.models.domain import Domain
from contextwise.models.structure import Structure, features_of
from contextwise.testing import Literals, random_literals, random_set


def perturb(
    structure: Structure, *, changes: int, rng: np.random.Generator | int | None = None
) -> Structure:
    """Remove a random feature, add one of a present length, or change a literal, several times."""
    generator = np.random.default_rng(rng)
    domain = structure.domain
    features = structure.features.literals()
    longest = max([len(f) for f in features], default=2)
    for _ in range(changes):
        kind = generator.integers(3) if features else 1
        if kind == 0:
            features.pop(int(generator.integers(len(features))))
        elif kind == 1:
            length = len(features[generator.integers(len(features))]) if features else longest
            features.append(random_literals(domain, (length, length), 0.0, generator))
        else:
            at = int(generator.integers(len(features)))
            features[at] = _with_another_literal(domain, features[at], generator)
    return Structure(domain, features_of(domain, features))


def _with_another_literal(domain: Domain, feature: Literals, rng: np.random.Generator) -> Literals:
    if not feature:
        return feature
    at = int(rng.integers(len(feature)))
    variable, old = feature[at]
    new = old
    while new == old:
        new = random_set(domain.cardinalities[variable], 0.5, rng)
    return [*feature[:at], (variable, new), *feature[at + 1 :]]
