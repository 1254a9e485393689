"""Fit structures of few states by maximum likelihood, with Newton's method on the whole table.

`contextwise.distributions.fitting` fits models of any size. This module is for studies that fit
thousands of small ones: with up to `MOST_STATES_OF_A_TABLE` states it takes milliseconds, and the
result is the table of log-probabilities, from which divergences and likelihoods are sums.
"""

from __future__ import annotations

from math import prod

import numpy as np

from contextwise.errors import ContextwiseError
from contextwise.models.domain import Domain
from contextwise.models.structure import Structure
from contextwise.support.arrays import FloatArray

MOST_STATES_OF_A_TABLE = 1024
TOLERANCE_IN_NATS = 1e-10
MOST_STEPS = 200


def is_small(domain: Domain) -> bool:
    """Check whether this module can fit structures over a domain."""
    return prod(domain.cardinalities) <= MOST_STATES_OF_A_TABLE


def basis_of(structure: Structure) -> FloatArray:
    """Return an orthogonal basis of the log-potentials that a structure can have.

    It is the row space of the 0/1 matrix of states and features: directions of the weights that
    leave the distribution unchanged are gone, and a ridge on the coordinates is one on the weights.

    >>> basis_of(Structure({"A": 2, "B": 2}, ["A=0 & B=0", "A=1 & B=1"])).shape
    (4, 2)
    """
    cards = structure.domain.cardinalities
    states = np.indices(cards).reshape(len(cards), -1)
    design = np.ones((states.shape[1], len(structure)))
    for feature, literals in enumerate(structure.features.literals()):
        for variable, allowed in literals:
            design[:, feature] *= allowed >> states[variable] & 1
    if not len(structure):
        return design
    left, scale, _ = np.linalg.svd(design, full_matrices=False)
    rank = int((scale > scale[0] * 1e-10).sum())
    basis: FloatArray = left[:, :rank] * scale[:rank]
    return basis


def fit_table(structure: Structure, shares: FloatArray, ridge: float) -> FloatArray:
    """Fit to the share of each state; return the fitted log-probability of each state.

    Maximise the mean log-likelihood minus ridge/2 · Σ w².

    Parameters
    ----------
    structure : Structure
    shares : array of the share of each state, the last variable fastest
    ridge : penalty per row; the `l2` of `contextwise.distributions.fit` over the number of rows

    Examples
    --------
    >>> fitted = fit_table(Structure({"A": 2}, ["A=1"]), np.array([0.25, 0.75]), 0.0)
    >>> np.exp(fitted).round(6).tolist()
    [0.25, 0.75]
    """
    basis = basis_of(structure)
    point = np.zeros(basis.shape[1])
    floor = (ridge + 1e-12) * np.eye(len(point))
    value, logs = _objective(basis, point, shares, ridge)
    for _ in range(MOST_STEPS):
        p = np.exp(logs)
        mean = p @ basis
        gradient = basis.T @ shares - mean - ridge * point
        curvature = (basis * p[:, None]).T @ basis - np.outer(mean, mean)
        step = np.linalg.solve(curvature + floor, gradient)
        gain = float(gradient @ step)
        if gain / 2 < TOLERANCE_IN_NATS:
            return logs
        length = 1.0
        while (tried := _objective(basis, point + length * step, shares, ridge))[0] < (
            value + 0.1 * length * gain
        ):
            length /= 2
            if length < 1e-10:
                return logs
        point, (value, logs) = point + length * step, tried
    raise ContextwiseError(f"the fit has not converged after {MOST_STEPS} steps")


def _objective(
    basis: FloatArray, point: FloatArray, shares: FloatArray, ridge: float
) -> tuple[float, FloatArray]:
    """Return the penalised mean log-likelihood, and the log-probability of each state."""
    potentials = basis @ point
    top = potentials.max()
    logs = potentials - (top + np.log(np.exp(potentials - top).sum()))
    return float(shares @ logs) - ridge / 2 * float(point @ point), logs
