"""Generate seeded models, for runs without real ones.

``forest`` models resemble learned structures: a random decision tree for each variable, and a
feature for each leaf and value of the variable. From ``forest.small`` to ``forest.large`` the trees
get deeper. Names have the form DATA.SETTING.mn, like the real models. `local` draws models of any
size whose pairs are all alike, so that only the number of variables differs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from contextwise import Domain, Structure, write
from contextwise.models.features import normalized, single_values
from contextwise.models.structure import LogLinear

SEED = 20_160

FORESTS = {
    "forest.small": (40, 3),
    "forest.medium": (40, 5),
    "forest.large": (40, 7),
    "wide.small": (300, 3),
    "wide.large": (300, 5),
}
"""Number of variables and depth of the trees of each generated model."""


def write_families(folder: Path) -> None:
    """Write the generated models to a folder."""
    for name, (variables, depth) in FORESTS.items():
        model = forest(variables, depth, np.random.default_rng([SEED, variables, depth]))
        weights = np.random.default_rng(SEED).normal(size=len(model))
        write(LogLinear(model, weights), folder / f"{name}.mn")


def forest(variables: int, depth: int, rng: np.random.Generator) -> Structure:
    """Draw a random decision tree for each binary variable; each tree tests nearby variables."""
    domain = Domain({f"v{k}": 2 for k in range(variables)})
    features: list[dict[str, int]] = []
    for target in range(variables):
        near = [k for k in range(target - 12, target + 13) if 0 <= k < variables and k != target]
        for leaf in _leaves(near, depth, rng):
            features += (
                {**{f"v{k}": value for k, value in leaf.items()}, f"v{target}": value}
                for value in (0, 1)
            )
    return Structure(domain, features)


def _leaves(tests: list[int], depth: int, rng: np.random.Generator) -> Iterator[dict[int, int]]:
    """Yield the paths of a random tree; a node becomes a leaf with probability 1/4."""
    if depth == 0 or not tests or rng.random() < 0.25:
        yield {}
        return
    test = tests[rng.integers(len(tests))]
    rest = [k for k in tests if k != test]
    for value in (0, 1):
        for path in _leaves(rest, depth - 1, rng):
            yield {test: value, **path}


def local(variables: int, rng: np.random.Generator) -> Structure:
    """Draw ten features per binary variable, each over 2 to 7 of 30 neighbouring variables."""
    count = 10 * variables
    lengths = rng.integers(2, 8, count)
    first = rng.integers(0, max(1, variables - 29), count)
    order = rng.random((count, min(30, variables))).argsort(axis=1)[:, :7]
    chosen = np.arange(order.shape[1]) < lengths[:, None]
    scopes = first[:, None] + order
    values = single_values(rng.integers(0, 2, chosen.sum()), 1)
    owners = np.repeat(np.arange(count), lengths)
    features, _ = normalized([2] * variables, owners, scopes[chosen], values, count)
    return Structure(Domain({f"v{k}": 2 for k in range(variables)}), features)
