"""Bayesian networks and Markov random fields of the package pyAgrum, by their objects.

The same as for `contextwise.convert.pgmpy`: each cell of a table becomes a feature, the log of its
number the weight; ``.structure`` is what the scopes say and `contextwise.convert.by_values` what
the numbers say. The directions of a Bayesian network are lost, and with them the independencies
that hold only while a child is not observed.

::

    import pyagrum
    from contextwise.convert import from_pyagrum
    model = from_pyagrum(pyagrum.fastBN("A->B<-C"))    # a LogLinear
    model.structure.pairs()                            # A–B, B–C, and the parents A–C
"""

from __future__ import annotations

from typing import Any

import numpy as np

from contextwise.errors import DomainError, require
from contextwise.models.domain import Domain
from contextwise.models.factors import Factor, factors_to_write, log_linear, numbers
from contextwise.models.structure import LogLinear


def from_pyagrum(network: Any) -> LogLinear:
    """The log-linear model of a pyAgrum Bayesian network or Markov random field."""
    if hasattr(network, "cpt"):
        tables = [network.cpt(node) for node in network.nodes()]
    elif hasattr(network, "factors"):
        tables = [network.factor(scope) for scope in network.factors()]
    else:
        raise DomainError(f"a {type(network).__name__} is not a network of pyAgrum")
    variables = [network.variable(node) for node in network.nodes()]
    domain = Domain({variable.name(): variable.labels() for variable in variables})
    with np.errstate(divide="ignore"):
        factors = [
            Factor(
                # the array of a table has its last variable first
                tuple(domain.position(name) for name in reversed(table.names)),
                np.log(np.asarray(table.toarray(), dtype=np.float64)),
            )
            for table in tables
        ]
    return log_linear(domain, factors)


def to_pyagrum(model: LogLinear) -> Any:
    """The Markov random field of a log-linear model, one factor for each scope of its features."""
    pyagrum = require("pyagrum", "pyagrum")
    domain = model.domain
    network = pyagrum.MarkovRandomField()
    for name, states in zip(domain.names, domain.states, strict=True):
        network.add(pyagrum.LabelizedVariable(name, name, list(states)))
    for factor in factors_to_write(model, "a pyAgrum network"):
        if factor.scope:
            table = network.addFactor([domain.names[v] for v in factor.scope])
            order = [factor.scope.index(domain.position(name)) for name in reversed(table.names)]
            values = numbers(factor, "a pyAgrum network").transpose(order)
            table[:] = np.ascontiguousarray(values)
    return network
