"""Small models with weights, for samples and scores."""

from __future__ import annotations

import numpy as np

from contextwise import Domain, LogLinear, Structure

DOMAIN = Domain({"A": 2, "B": ["no", "yes"], "C": 3})

TRUE = LogLinear(
    Structure(DOMAIN, ["A=1 & B=yes", "B=yes & C!=0", "C=2", "A=1"]),
    np.array([1.5, -1.0, 0.4, 0.2]),
)

GUESS = Structure(DOMAIN, ["A=1 & B=yes", "A=1 & C=1", "C=2", "B=yes"])

CHAIN = Structure(
    Domain.of_cardinalities([2] * 5), ["v0=1 & v1=1", "v1=1 & v2=1", "v2=1 & v3=1 & v4=1", "v3=1"]
)

TRUTH = LogLinear(CHAIN, [1.5, -1.5, 2.0, -0.5])
