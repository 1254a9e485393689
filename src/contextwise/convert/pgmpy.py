"""Bayesian and Markov networks of the package pgmpy, by their objects.

A Markov network is a product of tables (factors), a Bayesian network one of conditional
distributions, a table each. Each cell becomes a feature and the log of its number the weight, so
the distribution comes over whole, and its ``.structure`` says that the variables of a table depend
on each other in every context. What the numbers say beyond that (equal rows, vanishing
interactions) is found by `contextwise.convert.by_values`.

Of a Bayesian network the directions are lost, and with them the independencies that hold only while
a child is not observed. A network without numbers is a graph: give it to
`contextwise.convert.from_ldag` or `contextwise.convert.from_graph`, with the states.

::

    from contextwise.convert import by_values, from_pgmpy
    model = from_pgmpy(network)                        # a LogLinear
    structure = by_values(model, tolerance=1e-6)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from contextwise.errors import DomainError, require
from contextwise.models.domain import Domain
from contextwise.models.factors import Factor, factors_to_write, log_linear, numbers
from contextwise.models.structure import LogLinear


def from_pgmpy(network: Any) -> LogLinear:
    """The log-linear model of a pgmpy network.

    Parameters
    ----------
    network : DiscreteBayesianNetwork or DiscreteMarkovNetwork
        With a distribution or a factor for every variable. Names and states that are not texts
        stand for their texts.
    """
    if hasattr(network, "get_cpds"):
        tables = [cpd.to_factor() for cpd in network.get_cpds()]
    elif hasattr(network, "get_factors"):
        tables = list(network.get_factors())
    else:
        raise DomainError(f"a {type(network).__name__} is not a network of pgmpy")
    states: dict[str, list[str]] = {}
    for table in tables:
        for name in table.variables:
            states[str(name)] = [str(state) for state in table.state_names[name]]
    for node in network.nodes:
        if str(node) not in states:
            raise DomainError(
                f"the variable {str(node)!r} has no table, so nobody knows its states"
            )
    domain = Domain(states)
    with np.errstate(divide="ignore"):
        factors = [
            Factor(
                tuple(domain.position(str(name)) for name in table.variables),
                np.log(np.asarray(table.values, dtype=np.float64)),
            )
            for table in tables
        ]
    return log_linear(domain, factors)


def to_pgmpy(model: LogLinear) -> Any:
    """The Markov network of a log-linear model, one factor for each scope of its features."""
    models = require("pgmpy.models", "pgmpy")
    factors = require("pgmpy.factors.discrete", "pgmpy")
    domain = model.domain
    network = models.DiscreteMarkovNetwork()
    network.add_nodes_from(domain.names)
    for factor in factors_to_write(model, "a pgmpy network"):
        names = [domain.names[v] for v in factor.scope]
        if not names:
            continue
        network.add_edges_from((a, b) for k, a in enumerate(names) for b in names[k + 1 :])
        network.add_factors(
            factors.DiscreteFactor(
                names,
                [domain.cardinalities[v] for v in factor.scope],
                numbers(factor, "a pgmpy network"),
                state_names={domain.names[v]: list(domain.states[v]) for v in factor.scope},
            )
        )
    return network
