"""Random Bayesian networks."""

from __future__ import annotations

import numpy as np

from contextwise import Domain, LogLinear
from contextwise.models.directions import bayesian_network


def random_network(
    rng: np.random.Generator,
    variables: int,
    *,
    most_parents: int = 3,
    zeros: bool = False,
    equal_rows: float = 0.0,
) -> LogLinear:
    """Draw arcs and tables; some rows of a table may be equal, and some numbers zero."""
    names = [f"X{k}" for k in range(variables)]
    domain = Domain({name: int(rng.integers(2, 4)) for name in names})
    order = rng.permutation(variables).tolist()
    parents: list[tuple[int, ...]] = [()] * variables
    tables: list[np.ndarray] = [np.zeros(0)] * variables
    for place, child in enumerate(order):
        count = int(rng.integers(0, min(place, most_parents) + 1))
        parents[child] = tuple(rng.permutation(order[:place])[:count].tolist())
        shape = [domain.cardinalities[v] for v in parents[child]]
        rows = rng.dirichlet(np.ones(domain.cardinalities[child]), size=shape)
        if zeros:
            rows = rows * (rng.random(rows.shape) < 0.7)
            rows[..., 0] += rows.sum(axis=-1) == 0
            rows /= rows.sum(axis=-1, keepdims=True)
        for axis in range(count):  # copy slices along an axis, where the other parents agree
            where = rng.random([s for k, s in enumerate(shape) if k != axis]) < equal_rows
            moved = np.moveaxis(rows, axis, 0)
            moved[:, where] = moved[:1, where]
        tables[child] = rows
    model = bayesian_network(domain, parents, tables)
    assert isinstance(model, LogLinear)
    return model
