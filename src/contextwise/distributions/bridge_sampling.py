"""Estimate ratios of partition functions by bridge sampling with Gibbs chains.

The models with weights (1 - t) · p + t · q form a ladder from p to q. Neighbours on the ladder
overlap, and Bennett's acceptance ratio estimates the ratio of their partition functions from
samples of both: the r that solves ::

    Σ_{x from the lower} σ(w(x) - r)  =  Σ_{x from the upper} σ(r - w(x))

with w(x) the log of the ratio of their potentials and σ the logistic function. The sum of r over
the steps is log Z_q - log Z_p. Gibbs chains climb the ladder; each starts where it was on the
previous step. Chains are independent, so groups of chains are replicates of the estimate, and the
spread over groups is its standard error. The error does not cover chains that have not mixed.

The sources of the estimator are C. H. Bennett (1976), "Efficient estimation of free energy
differences from Monte Carlo data", and X.-L. Meng and W. H. Wong (1996), "Simulating ratios of
normalizing constants via a simple identity".
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import log

import numpy as np

from contextwise.distributions.potentials import FloatArray, log_potential_of
from contextwise.distributions.sampling import Estimate, Gibbs, Seed, mean_of
from contextwise.errors import DomainError
from contextwise.formats import ModelLike, as_log_linear
from contextwise.models.features import concatenated
from contextwise.models.structure import LogLinear, Structure
from contextwise.support.progress import Progress, progress_of

GROUPS = 20
CHAINS = 200
STEPS = 20
SWEEPS = 10
BURN_IN = 100


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
    for _ in range(60):
        middle = (low + high) / 2
        if _logistic(below - middle).mean() > _logistic(middle - above).mean():
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _logistic(x: FloatArray) -> FloatArray:
    return 0.5 * (1.0 + np.tanh(x / 2))
