"""Random networks as tables, for tests of the formats of networks."""

from __future__ import annotations

import io

import numpy as np

from contextwise import Domain, LogLinear
from contextwise.formats import read_stream
from contextwise.models.factors import Factor
from contextwise.support.arrays import FloatArray


def log_table(model: LogLinear) -> FloatArray:
    """The table of log p, up to a constant: the sum of the weights that hold in each cell."""
    logs = np.zeros(model.domain.cardinalities)
    grid = np.indices(logs.shape)
    for literals, weight in zip(model.structure.features.literals(), model.weights, strict=True):
        where = np.ones(logs.shape, dtype=bool)
        for v, allowed in literals:
            where &= (allowed >> grid[v] & 1).astype(bool)
        logs[where] += weight
    return logs


def random_network(rng: np.random.Generator, domain: Domain) -> list[Factor]:
    """Random conditional distributions: parents first, in any order, then the child."""
    factors = []
    for child in range(len(domain)):
        parents = [p for p in rng.permutation(child).tolist() if rng.random() < 0.6]
        shape = [domain.cardinalities[p] for p in parents]
        size = domain.cardinalities[child]
        factors.append(Factor((*parents, child), np.log(rng.dirichlet(np.full(size, 2.0), shape))))
    return factors


def joint(domain: Domain, factors: list[Factor]) -> FloatArray:
    logs = np.zeros(domain.cardinalities)
    for factor in factors:
        order = np.argsort(factor.scope)
        shape = [c if v in factor.scope else 1 for v, c in enumerate(domain.cardinalities)]
        logs = logs + factor.logs.transpose(order).reshape(shape)
    return logs


def from_text(text: str, format: str) -> LogLinear:
    model = read_stream(io.StringIO(text), format=format)
    assert isinstance(model, LogLinear)
    return model
