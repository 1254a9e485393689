"""What the files of Markov and Bayesian networks have in common: tables of numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from contextwise.errors import TooLargeError
from contextwise.formats.assembly import ListedFeatures, assembled
from contextwise.formats.source import Source
from contextwise.models.domain import Domain
from contextwise.models.factors import Factor, FloatArray, cells_of
from contextwise.models.structure import Model


def factor_of(scope: Sequence[int], values: FloatArray) -> Factor:
    """A factor from its numbers; 0 has the log ``-inf``."""
    with np.errstate(divide="ignore"):
        return Factor(tuple(scope), np.log(values))


def network(domain: Domain, factors: Sequence[Factor], source: Source, format: str) -> Model:
    """The model of the tables of a file: each cell a feature, the log of its number the weight."""
    try:
        owners, variables, values, count = cells_of(domain, [factor.scope for factor in factors])
    except TooLargeError as error:
        raise TooLargeError(f"{source.name}: {error}") from None
    weights = np.concatenate([np.zeros(0), *(factor.logs.ravel() for factor in factors)])
    lengths = np.bincount(owners, minlength=count)
    return assembled(ListedFeatures(domain, lengths, variables, values, weights), source, format)
