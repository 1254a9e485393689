"""Models with weights that tests of distributions share."""

from itertools import product

import numpy as np

from contextwise.models.domain import Domain
from contextwise.models.structure import LogLinear, Structure


def grid(rows: int, columns: int, rng: np.random.Generator) -> LogLinear:
    domain = Domain({f"g{r}{c}": 2 for r in range(rows) for c in range(columns)})
    edges = [
        f"g{r}{c}=1 & g{r + i}{c + j}=1"
        for r, c in product(range(rows), range(columns))
        for i, j in ((0, 1), (1, 0))
        if r + i < rows and c + j < columns
    ]
    structure = Structure(domain, [*edges, *(f"{name}=1" for name in domain.names)])
    return LogLinear(structure, rng.normal(0, 0.6, len(structure)))
