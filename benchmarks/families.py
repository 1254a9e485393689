"""Generated models, seeded, for runs without a folder of real ones.

``forest`` models look like what structure learners write: a random decision tree for each variable,
every leaf with every value of its variable a feature. ``forest.small`` to ``forest.large`` have
deeper and deeper trees over the same variables. The names follow the real ones, DATA.SETTING.mn.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from contextwise import Domain, Structure, write
from contextwise.models.structure import LogLinear

SEED = 20_160

FORESTS = {
    "forest.small": (40, 3),
    "forest.medium": (40, 5),
    "forest.large": (40, 7),
    "wide.small": (300, 3),
    "wide.large": (300, 5),
}
"""For each generated model the number of variables and the depth of the trees."""


def write_families(folder: Path) -> None:
    """Write the generated models to a folder."""
    for name, (variables, depth) in FORESTS.items():
        model = forest(variables, depth, np.random.default_rng([SEED, variables, depth]))
        weights = np.random.default_rng(SEED).normal(size=len(model))
        write(LogLinear(model, weights), folder / f"{name}.mn")


def forest(variables: int, depth: int, rng: np.random.Generator) -> Structure:
    """A random decision tree for each binary variable; each tree tests variables near its own."""
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
    """The paths of a random tree; a node is a leaf early with a chance of one in four."""
    if depth == 0 or not tests or rng.random() < 0.25:
        yield {}
        return
    test = tests[rng.integers(len(tests))]
    rest = [k for k in tests if k != test]
    for value in (0, 1):
        for path in _leaves(rest, depth - 1, rng):
            yield {test: value, **path}
