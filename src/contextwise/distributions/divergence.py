"""Compute divergences: Kullback-Leibler, Jensen-Shannon, total variation.

All are means of functions of r(x) = log p(x) - log q(x)::

    KL(p ‖ q) = E_p[r]            Jensen-Shannon = ½ E_p[log 2/(1 + e^-r)] + ½ E_q[log 2/(1 + e^r)]
    KL(q ‖ p) = E_q[-r]           total variation = E_p[max(0, 1 - e^-r)]

with 0 · log(0 / q) = 0, and infinity where p is positive and q is 0. Up to 2**24 states, one pass
over all states computes all four. Beyond that, KL is exact where elimination can compute the
expectations of the other model's features, and the others are means over exact samples with
standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from contextwise.distributions.inference import (
    STATES,
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
from contextwise.support.arrays import FloatArray

SAMPLES, GROUPS = 10_000, 20
"""The number of exact samples of an estimate, and of groups of them that give its error."""


@dataclass(frozen=True)
class Divergences:
    """All divergences between two models; p is the first, q the second."""

    kl_p_q: Estimate
    kl_q_p: Estimate
    jensen_shannon: Estimate
    total_variation: Estimate


def divergences(p: ModelLike, q: ModelLike, *, rng: Seed = 0) -> Divergences:
    """Compute KL in both directions, Jensen-Shannon and total variation.

    Parameters
    ----------
    p, q : LogLinear, path of a file, or name of an example
        q is aligned to p's domain by names.
    rng : for estimates beyond 2**24 states; equal seeds give equal estimates

    Raises
    ------
    TooLargeError
        If the treewidth is too large for exact inference.

    Examples
    --------
    >>> structure = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    >>> p, q = LogLinear(structure, [1.0]), LogLinear(structure, [0.0])
    >>> divergences(p, q).kl_p_q
    Estimate(0.117993, exact)
    """
    p, q = _aligned(p, q)
    if prod(p.domain.cardinalities) <= STATES:
        return _enumerated(p, q)
    estimates = _sampled(p, q, np.random.default_rng(rng))
    return Divergences(
        _exact_kl(p, q) or estimates.kl_p_q,
        _exact_kl(q, p) or estimates.kl_q_p,
        estimates.jensen_shannon,
        estimates.total_variation,
    )


def _aligned(p: ModelLike, q: ModelLike) -> tuple[LogLinear, LogLinear]:
    first, second = as_log_linear(p), as_log_linear(q)
    with named(str(first.info.get("file", "")), str(second.info.get("file", ""))):
        return first, second.aligned_to(first.domain)


def kl_divergence(p: ModelLike, q: ModelLike) -> Estimate:
    """Compute KL(p ‖ q) in nats, and nothing else; exactly, or else as `divergences` does."""
    p, q = _aligned(p, q)
    if prod(p.domain.cardinalities) <= STATES:
        return _enumerated(p, q).kl_p_q
    return _exact_kl(p, q) or _sampled(p, q, np.random.default_rng(0)).kl_p_q


def _enumerated(p: LogLinear, q: LogLinear) -> Divergences:
    """Compute all four in one pass over the states, after a pass for the partition functions."""
    log_z = [-np.inf, -np.inf]
    for blocks in log_potential_blocks(p, q):
        for k, block in enumerate(blocks):
            log_z[k] = float(np.logaddexp(log_z[k], log_sum_exp(block)))
    if -np.inf in log_z:
        raise DomainError("infinite weights exclude every state; use finite weights")
    totals = np.zeros(4)
    for in_p, in_q in log_potential_blocks(p, q):
        totals += _terms(in_p - log_z[0], in_q - log_z[1])
    values = np.maximum(totals, 0.0).tolist()  # rounding may leave -1e-17
    return Divergences(*map(Estimate, values))


def _terms(log_p: FloatArray, log_q: FloatArray) -> FloatArray:
    """Return the contribution of some states to each divergence."""
    p, q = np.exp(log_p), np.exp(log_q)
    log_mean = np.logaddexp(log_p, log_q) - np.log(2)
    shannon = _relative(p, log_p, log_mean) + _relative(q, log_q, log_mean)
    return np.array(
        [
            _relative(p, log_p, log_q),
            _relative(q, log_q, log_p),
            shannon / 2,
            np.abs(p - q).sum() / 2,
        ]
    )


def _relative(p: FloatArray, log_p: FloatArray, log_q: FloatArray) -> float:
    """Return Σ p (log p - log q), with 0 · log 0 = 0."""
    positive = p > 0
    return float((p[positive] * (log_p[positive] - log_q[positive])).sum())


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


def _sampled(p: LogLinear, q: LogLinear, rng: np.random.Generator) -> Divergences:
    """Estimate the divergences from independent exact samples of both models."""
    first, second = exact_inference(p), exact_inference(q)
    log_ratio = second.log_partition - first.log_partition
    r_p, r_q = (
        (log_ratio + log_potential_of(p, rows) - log_potential_of(q, rows)).reshape(GROUPS, -1)
        for rows in (model.sample(SAMPLES, rng) for model in (first, second))
    )
    # expm1 may overflow where q is far above p; the maximum with 0 removes it.
    with np.errstate(over="ignore"):
        # With r = log p/q: E_p r, -E_q r, Jensen-Shannon, and E_p max(0, 1 - q/p).
        terms = [
            r_p.mean(axis=1),
            -r_q.mean(axis=1),
            np.log(2)
            - (np.logaddexp(0, -r_p).mean(axis=1) + np.logaddexp(0, r_q).mean(axis=1)) / 2,
            np.maximum(0, -np.expm1(-r_p)).mean(axis=1),
        ]
    return Divergences(*(mean_of(values, f"from {SAMPLES} exact samples") for values in terms))
