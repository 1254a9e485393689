"""Compute divergences: Kullback-Leibler, Jensen-Shannon, total variation.

All are means of functions of r(x) = log p(x) - log q(x)::

    KL(p ‖ q) = E_p[r]            Jensen-Shannon = ½ E_p[log 2/(1 + e^-r)] + ½ E_q[log 2/(1 + e^r)]
    KL(q ‖ p) = E_q[-r]           total variation = E_p[max(0, 1 - e^-r)]

with 0 · log(0 / q) = 0, and infinity where p is positive and q is 0. Up to 2**24 states, one pass
over all states computes all four. Beyond that, KL is exact where elimination can compute the
expectations of the other model's features, and the others are means over exact samples with
standard errors. If the partition functions are out of reach as well, Gibbs chains estimate the
difference of their logarithms by **bridge sampling**.

The models with weights (1 - t) · p + t · q form a ladder from p to q. Neighbours on the ladder
overlap, and Bennett's acceptance ratio estimates the ratio of their partition functions from
samples of both: the r that solves ::

    Σ_{x from the lower} σ(w(x) - r)  =  Σ_{x from the upper} σ(r - w(x))

with w(x) the log of the ratio of their potentials and σ the logistic function. The sum of r over
the steps is log Z_q - log Z_p. Gibbs chains climb the ladder; each starts where it was on the
previous step. Chains are independent, so groups of chains are replicates of the estimate, and the
spread over groups is its standard error. The error does not cover chains that have not mixed. See
C. H. Bennett (1976), "Efficient estimation of free energy differences from Monte Carlo data", and
X.-L. Meng and W. H. Wong (1996), "Simulating ratios of normalizing constants via a simple
identity".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import log, prod
from typing import Literal

import numpy as np

from contextwise.distributions.inference import (
    STATES,
    exact_inference,
    log_potential_blocks,
    log_sum_exp,
)
from contextwise.distributions.potentials import log_potential_of
from contextwise.distributions.sampling import Estimate, Gibbs, Seed, mean_of
from contextwise.errors import DomainError, TooLargeError
from contextwise.formats import ModelLike, as_log_linear
from contextwise.models.features import concatenated
from contextwise.models.structure import LogLinear, Structure, named
from contextwise.support.arrays import FloatArray
from contextwise.support.progress import Progress, progress_of

How = Literal["auto", "exact", "sampled"]
SAMPLES = 10_000
GROUPS, CHAINS, STEPS, SWEEPS, BURN_IN = 20, 200, 20, 10, 100
"""Of bridge sampling: groups of chains, chains, and steps of the ladder with their sweeps."""


@dataclass(frozen=True)
class Divergences:
    """All divergences between two models; p is the first, q the second."""

    kl_p_q: Estimate
    kl_q_p: Estimate
    jensen_shannon: Estimate
    total_variation: Estimate


def divergences(
    p: ModelLike,
    q: ModelLike,
    *,
    how: How = "auto",
    samples: int = SAMPLES,
    rng: Seed = 0,
    show_progress: bool | Progress = False,
) -> Divergences:
    """Compute KL in both directions, Jensen-Shannon and total variation.

    Parameters
    ----------
    p, q : LogLinear, path of a file, or name of an example
        q is aligned to p's domain by names.
    how : "exact" refuses what is too large, "sampled" never tries, "auto" falls back to samples
    samples, rng : for estimates; equal seeds give equal estimates
    show_progress : bool or function of (done, total)

    Examples
    --------
    >>> structure = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    >>> p, q = LogLinear(structure, [1.0]), LogLinear(structure, [0.0])
    >>> divergences(p, q).kl_p_q
    Estimate(0.117993, exact)
    """
    p, q = _aligned(p, q)
    if how != "sampled" and prod(p.domain.cardinalities) <= STATES:
        return _enumerated(p, q)
    if how == "exact":
        raise TooLargeError(
            f"{len(p.domain)} variables have too many states to visit all; KL can still be exact "
            "where the treewidth allows, and sampling estimates the rest"
        )
    sampled = _sampled(p, q, samples, rng, show_progress)
    if how == "sampled":
        return sampled
    return replace(
        sampled,
        kl_p_q=_exact_kl(p, q) or sampled.kl_p_q,
        kl_q_p=_exact_kl(q, p) or sampled.kl_q_p,
    )


def _aligned(p: ModelLike, q: ModelLike) -> tuple[LogLinear, LogLinear]:
    first, second = as_log_linear(p), as_log_linear(q)
    with named(str(first.info.get("file", "")), str(second.info.get("file", ""))):
        return first, second.aligned_to(first.domain)


def kl_divergence(p: ModelLike, q: ModelLike, *, how: How = "auto") -> Estimate:
    """Compute KL(p ‖ q) in nats, and nothing else; exactly, or else as `divergences` does."""
    p, q = _aligned(p, q)
    if how == "sampled" or prod(p.domain.cardinalities) <= STATES:
        return divergences(p, q, how=how).kl_p_q
    exact = _exact_kl(p, q)
    if exact is None and how == "exact":
        raise TooLargeError(
            "exact inference is too large for these two models together; sampling estimates KL"
        )
    return exact or _sampled(p, q, SAMPLES, 0, False).kl_p_q


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


def _sampled(
    p: LogLinear, q: LogLinear, samples: int, rng: Seed, show_progress: bool | Progress
) -> Divergences:
    """Estimate the divergences from samples of both models."""
    drawn = _exact_samples(p, q, samples, np.random.default_rng(rng))
    if drawn is None:
        drawn = bridge(p, q, samples=samples, rng=rng, show_progress=show_progress)
    # expm1 may overflow where q is far above p; the maximum with 0 removes it.
    with np.errstate(over="ignore"):
        r_p, r_q = (drawn.log_ratio[:, None] - part for part in (drawn.in_p, drawn.in_q))
        # With r = log p/q: E_p r, -E_q r, Jensen-Shannon, and E_p max(0, 1 - q/p).
        terms = [
            r_p.mean(axis=1),
            -r_q.mean(axis=1),
            np.log(2)
            - (np.logaddexp(0, -r_p).mean(axis=1) + np.logaddexp(0, r_q).mean(axis=1)) / 2,
            np.maximum(0, -np.expm1(-r_p)).mean(axis=1),
        ]
    return Divergences(*(mean_of(values, drawn.how) for values in terms))


def _exact_samples(
    p: LogLinear, q: LogLinear, samples: int, rng: np.random.Generator
) -> Differences | None:
    """Draw independent samples of both; None if exact inference is too large."""
    try:
        first, second = exact_inference(p), exact_inference(q)
    except TooLargeError:
        return None
    each = max(2, -(-samples // GROUPS))
    in_p, in_q = (
        (log_potential_of(q, rows) - log_potential_of(p, rows)).reshape(GROUPS, each)
        for rows in (model.sample(GROUPS * each, rng) for model in (first, second))
    )
    ratio = np.full(GROUPS, second.log_partition - first.log_partition)
    return Differences(in_p, in_q, ratio, f"from {samples} exact samples")


# -- bridge sampling -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Differences:
    """log q̃ - log p̃ at samples of p and of q, shape (groups, samples), in independent groups."""

    in_p: FloatArray
    in_q: FloatArray
    log_ratio: FloatArray
    how: str


def bridge(
    p: LogLinear,
    q: LogLinear,
    *,
    samples: int,
    rng: Seed,
    show_progress: bool | Progress = False,
) -> Differences:
    """Move Gibbs chains from p to q and collect the log ratios of their potentials."""
    if not (np.isfinite(p.weights).all() and np.isfinite(q.weights).all()):
        raise DomainError("Gibbs chains need finite weights")
    generator = np.random.default_rng(rng)
    features, places = concatenated(p.structure.features, q.structure.features)
    structure = Structure(p.domain, features)
    low, high = np.zeros(len(structure)), np.zeros(len(structure))
    low[places[: len(p)]] = p.weights
    high[places[len(p) :]] = q.weights
    change = LogLinear(structure, high - low)
    draws = max(1, -(-samples // CHAINS))
    rows = np.zeros((CHAINS, len(p.domain)), dtype=np.int64)
    seen = []  # log q̃ - log p̃ along the chains, step by step: shape (chains, draws)
    with progress_of(show_progress, "climbing") as progress:
        for step in range(STEPS + 1):
            share = step / STEPS
            sampler = Gibbs.of(LogLinear(structure, (1 - share) * low + share * high))
            chains = sampler.begin(rows, generator) if step == 0 else sampler.resume(rows)
            for _ in range(BURN_IN if step == 0 else SWEEPS):
                sampler.sweep(chains, generator)
            along = []
            for _ in range(draws if step in (0, STEPS) else SWEEPS):
                sampler.sweep(chains, generator)
                along.append(log_potential_of(change, chains.values.T))
            seen.append(np.stack(along, axis=1))
            rows = np.ascontiguousarray(chains.values.T)
            if progress:
                progress(step + 1, STEPS + 1)
    grouped = [differences.reshape(GROUPS, -1) for differences in seen]
    ratio = np.zeros(GROUPS)
    for below, above in pairwise(grouped):
        ratio += [bennett(a / STEPS, b / STEPS) for a, b in zip(below, above, strict=True)]
    how = f"from {CHAINS} Gibbs chains over {STEPS} steps"
    return Differences(grouped[0], grouped[-1], ratio, how)


def estimated_log_partition(
    model: ModelLike, *, samples: int = 2000, rng: Seed = 0, show_progress: bool | Progress = False
) -> Estimate:
    """Estimate log Z with its standard error, from ``samples`` of Gibbs chains at either end.

    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(5)])
    >>> estimated_log_partition(model)
    Estimate(2.07... ± 0.0..., from 200 Gibbs chains over 20 steps)
    """
    model = as_log_linear(model)
    uniform = LogLinear(Structure(model.domain), np.zeros(0))
    ladder = bridge(uniform, model, samples=samples, rng=rng, show_progress=show_progress)
    # Without weights, Z is the number of states.
    return mean_of(sum(map(log, model.domain.cardinalities)) + ladder.log_ratio, ladder.how)


def bennett(below: FloatArray, above: FloatArray) -> float:
    """Return the log ratio of partition functions from log ratios of potentials at samples.

    Both sides of the equation are monotone in r, so it is found by halving an interval.

    >>> round(bennett(np.array([1.0]), np.array([1.0])), 9)
    1.0
    """
    margin = log(1 + max(len(below), len(above)))
    low = float(min(below.min(), above.min())) - margin
    high = float(max(below.max(), above.max())) + margin
    # 60 halvings leave an error far below that of the samples.
    for _ in range(60):
        middle = (low + high) / 2
        if _logistic(below - middle).mean() > _logistic(middle - above).mean():
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _logistic(x: FloatArray) -> FloatArray:
    return 0.5 * (1.0 + np.tanh(x / 2))
