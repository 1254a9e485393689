"""Compute the Kullback-Leibler divergence of two models.

KL(p ‖ q) is the mean under p of log p(x) - log q(x), with 0 · log(0 / q) = 0, and infinity where p
is positive and q is 0. Up to 2**24 states it is a sum over all states. Beyond that, it is exact
where elimination can compute the expectations of q's features under p, and otherwise the mean over
exact samples of p, with a standard error.
"""

from __future__ import annotations

from math import prod

import numpy as np

from contextwise.distributions.inference import (
    MOST_STATES_VISITED,
    exact_inference,
    log_potential_blocks,
    log_sum_exp,
)
from contextwise.distributions.potentials import log_potential_of
from contextwise.distributions.sampling import Estimate, Seed, mean_of
from contextwise.errors import DomainError, TooLargeError
from contextwise.formats import ModelLike, as_log_linear
from contextwise.models.features import concatenated
from contextwise.models.structure import LogLinear, Structure, named

SAMPLES, GROUPS = 10_000, 20
"""The number of exact samples of an estimate, and of groups of them that give its error."""


def kl_divergence(p: ModelLike, q: ModelLike, *, seed: Seed = 0) -> Estimate:
    """Compute KL(p ‖ q) in nats.

    Parameters
    ----------
    p, q : LogLinear, path of a file, or name of an example
        q is aligned to p's domain by names.
    seed : for an estimate beyond 2**24 states; equal seeds give equal estimates

    Returns
    -------
    Estimate
        With a standard error of 0 if it is exact.

    Raises
    ------
    TooLargeError
        If the treewidth is too large for exact inference.

    Examples
    --------
    >>> structure = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    >>> p, q = LogLinear(structure, [1.0]), LogLinear(structure, [0.0])
    >>> kl_divergence(p, q)
    Estimate(0.117993, exact)
    """
    p, q = as_log_linear(p), as_log_linear(q)
    with named(p.origin.file.name, q.origin.file.name):
        q = q.aligned_to(p.domain)
    if prod(p.domain.cardinalities) <= MOST_STATES_VISITED:
        return Estimate(_enumerated(p, q))
    return _exact_kl(p, q) or _sampled(p, q, np.random.default_rng(seed))


def _enumerated(p: LogLinear, q: LogLinear) -> float:
    """Sum over all states, after a pass for the partition functions."""
    log_z = [-np.inf, -np.inf]
    for blocks in log_potential_blocks(p, q):
        for k, block in enumerate(blocks):
            log_z[k] = float(np.logaddexp(log_z[k], log_sum_exp(block)))
    if -np.inf in log_z:
        raise DomainError("infinite weights exclude every state; use finite weights")
    total = 0.0
    for in_p, in_q in log_potential_blocks(p, q):
        positive = in_p > -np.inf
        log_p, log_q = in_p[positive] - log_z[0], in_q[positive] - log_z[1]
        total += float((np.exp(log_p) * (log_p - log_q)).sum())
    return max(total, 0.0)  # rounding may leave -1e-17


def _exact_kl(p: LogLinear, q: LogLinear) -> Estimate | None:
    """Return KL(p ‖ q) from expectations and partition functions; None if they are too large."""
    if not (np.isfinite(p.weights).all() and np.isfinite(q.weights).all()):
        return None
    features, places = concatenated(p.structure.features, q.structure.features)
    weights = np.zeros(len(features))  # p with the features of q, at weight 0
    weights[places[: len(p)]] = p.weights
    try:
        both = exact_inference(LogLinear(Structure(p.domain, features), weights))
        log_z = exact_inference(q).log_partition
    except TooLargeError:
        return None
    expected = both.expectations()[places]
    # KL = E_p[log p̃ - log q̃] + log Z_q - log Z_p.
    gap = float(p.weights @ expected[: len(p)] - q.weights @ expected[len(p) :])
    value = gap + log_z - both.log_partition
    return Estimate(max(value, 0.0), how="exact by elimination")


def _sampled(p: LogLinear, q: LogLinear, rng: np.random.Generator) -> Estimate:
    """Estimate KL(p ‖ q) from independent exact samples of p."""
    first, log_z = exact_inference(p), exact_inference(q).log_partition
    rows = first.sample(SAMPLES, rng)
    log_ratio = log_potential_of(p, rows) - log_potential_of(q, rows)
    means = (log_ratio + log_z - first.log_partition).reshape(GROUPS, -1).mean(axis=1)
    return mean_of(means, f"from {SAMPLES} exact samples")
