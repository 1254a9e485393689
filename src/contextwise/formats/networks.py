"""What the files of Markov and Bayesian networks have in common: tables of numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from contextwise.domain import Domain
from contextwise.errors import ContextwiseError
from contextwise.factors import Factor, FloatArray, cells_of, factors_of
from contextwise.formats.assembly import ListedFeatures, assembled
from contextwise.formats.source import Source
from contextwise.structure import LogLinear, Model


def factor_of(scope: Sequence[int], values: FloatArray) -> Factor:
    """A factor from its numbers; 0 has the log ``-inf``."""
    with np.errstate(divide="ignore"):
        return Factor(tuple(scope), np.log(values))


def network(domain: Domain, factors: Sequence[Factor], source: Source, format: str) -> Model:
    """The model of the tables of a file: each cell a feature, the log of its number the weight."""
    owners, variables, values, count = cells_of(domain, [factor.scope for factor in factors])
    weights = np.concatenate([np.zeros(0), *(factor.logs.ravel() for factor in factors)])
    lengths = np.bincount(owners, minlength=count)
    return assembled(ListedFeatures(domain, lengths, variables, values, weights), source, format)


def tables_to_write(model: Model, suffix: str) -> list[Factor]:
    """The tables of a model, in logs; a model without weights has none."""
    if not isinstance(model, LogLinear):
        raise ContextwiseError(
            f"a {suffix} file holds numbers and this structure has no weights; write .json or .mn"
        )
    return factors_of(model)


def numbers(factor: Factor, suffix: str) -> FloatArray:
    """The numbers of a table; what is too large or too small for a file is an error."""
    with np.errstate(over="ignore", under="ignore"):
        values = np.exp(factor.logs)
    if not np.isfinite(values).all() or (values == 0)[factor.logs > -np.inf].any():
        raise ContextwiseError(
            f"a weight is too large or too small for a {suffix} file, which holds numbers and not "
            "their logs"
        )
    return np.asarray(values)
