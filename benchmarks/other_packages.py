"""Models as networks of pgmpy and pyAgrum, which answer independently."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from contextwise.errors import require
from contextwise.models.factors import factors_to_write, numbers
from contextwise.models.structure import LogLinear


def to_pgmpy(model: LogLinear) -> Any:
    """Return the Markov network of pgmpy with one factor per scope."""
    models = require("pgmpy.models", "pgmpy")
    factors = require("pgmpy.factors.discrete", "pgmpy")
    domain = model.domain
    network = models.DiscreteMarkovNetwork()
    network.add_nodes_from(domain.names)
    for factor in factors_to_write(model, "a pgmpy network"):
        names = [domain.names[v] for v in factor.scope]
        if not names:
            continue
        network.add_edges_from(combinations(names, 2))
        network.add_factors(
            factors.DiscreteFactor(
                names,
                [domain.cardinalities[v] for v in factor.scope],
                numbers(factor, "a pgmpy network"),
                state_names={domain.names[v]: list(domain.states[v]) for v in factor.scope},
            )
        )
    return network


def to_pyagrum(model: LogLinear) -> Any:
    """Return the Markov random field of pyAgrum with one factor per scope."""
    pyagrum = require("pyagrum", "pyagrum")
    domain = model.domain
    network = pyagrum.MarkovRandomField()
    for name, states in zip(domain.names, domain.states, strict=True):
        network.add(pyagrum.LabelizedVariable(name, name, list(states)))
    for factor in factors_to_write(model, "a pyAgrum network"):
        if factor.scope:
            table = network.addFactor([domain.names[v] for v in factor.scope])
            # The arrays of pyAgrum have the first variable last.
            order = [factor.scope.index(domain.position(name)) for name in reversed(table.names)]
            values = numbers(factor, "a pyAgrum network").transpose(order)
            table[:] = np.ascontiguousarray(values)
    return network
