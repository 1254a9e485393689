"""Score how well a model predicts rows.

All scores are means over the rows, in nats.

**CMLL**, the conditional marginal log-likelihood, divides the variables into groups. Each group in
turn is the query, and all other variables are the evidence ::

    CMLL(x) = Σ_groups Σ_{i in the group} log p(x_i | x outside the group)

With one variable per group it is the pseudo-likelihood. It is exact while a group has at most
`GROUP_STATES` states, and uses Gibbs sampling beyond.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from contextwise.data.rows import Data, as_data, following
from contextwise.distributions.conditionals import log_conditionals_of
from contextwise.distributions.inference import log_partition, states
from contextwise.distributions.potentials import (
    MissArray,
    counts_of,
    distinct_rows,
    failures,
    log_potential_of,
)
from contextwise.distributions.sampling import Estimate, Gibbs, Seed
from contextwise.errors import DomainError
from contextwise.formats import ModelLike, as_log_linear
from contextwise.models.domain import Domain
from contextwise.models.features import Features
from contextwise.models.structure import LogLinear
from contextwise.support.arrays import BoolArray, FloatArray, IntArray

GROUP_STATES = 2**12
SCORED_CELLS_IN_MEMORY = 2**22
REPLICATES = 8
SWEEPS = 50
SWEEPS_BEFORE_SCORING = 20
SAMPLED_ROWS = 500


def mean_log_likelihood(model: ModelLike, rows: Any) -> float:
    """Compute the exact mean of log p(x) over the rows.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    rows : array, DataFrame, list of rows, or path of a file; see `Domain.encode`

    Examples
    --------
    >>> from contextwise import Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(3)])
    >>> round(mean_log_likelihood(model, [[1, 1], [1, 0]]), 4)  # 3/6 and 1/6
    -1.2425
    """
    model = as_log_linear(model)
    data = scored_rows(model, rows)
    return data.mean(log_potential_of(model, data.rows)) - log_partition(model)


def mean_pseudo_log_likelihood(model: ModelLike, rows: Any) -> float:
    """Compute the mean over the rows of Σ_i log p(x_i | the others).

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    rows : array, DataFrame, list of rows, or path of a file; see `Domain.encode`

    Examples
    --------
    >>> from contextwise import Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(3)])
    >>> round(mean_pseudo_log_likelihood(model, [[1, 1]]), 4)  # log 3/4, twice
    -0.5754
    """
    model = as_log_linear(model)
    data = scored_rows(model, rows)
    return data.mean(log_conditionals_of(model, data.rows).sum(axis=1))


def scored_rows(model: LogLinear, rows: Any) -> Data:
    """Read rows as those that the model was learned from, and require at least one."""
    data = as_data(rows, model.domain, following(model))
    if not len(data):
        raise DomainError("cannot score 0 rows; pass at least one")
    return data


def cmll(
    model: ModelLike,
    rows: Any,
    *,
    groups: int | Sequence[Iterable[str]] = 4,
    seed: Seed = 0,
) -> Estimate:
    """Compute the conditional marginal log-likelihood per row.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    rows : array, DataFrame, list of rows, or path of a file; see `Domain.encode`
    groups : int or lists of names
        The number of groups of neighbours in the order of the domain, as even as possible, or the
        groups themselves, which must contain every variable once.
    seed : for Gibbs sampling of groups that are too large
        At most 500 of the rows are then used, drawn by this generator, and the standard error
        covers that.

    Examples
    --------
    >>> from contextwise import Structure
    >>> model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [np.log(3)])
    >>> cmll(model, [[1, 1], [1, 0]], groups=1)  # the marginals: log 4/6 + log 4/6, …
    Estimate(-1.1575, exact)
    """
    model = as_log_linear(model)
    if not np.isfinite(model.weights).all():
        raise DomainError("CMLL needs finite weights")
    encoded = scored_rows(model, rows)
    divided = _groups(model.domain, groups)
    cards = model.domain.cardinalities
    large = [group for group in divided if prod(cards[v] for v in group) > GROUP_STATES]
    generator = np.random.default_rng(seed)
    if large and len(encoded) > SAMPLED_ROWS:
        chosen = generator.choice(len(encoded), SAMPLED_ROWS, replace=False)
        scored = encoded.take(np.sort(chosen)).expanded.rows
        weights = np.ones(SAMPLED_ROWS, dtype=np.int64)
    else:
        scored, weights = distinct_rows(encoded.rows, encoded.multiplicity)
    totals = np.zeros((REPLICATES, len(scored)))
    for group in divided:
        if group in large:
            totals += _by_gibbs(model, scored, group, generator)
        else:
            totals += _exactly(model, scored, group)
    if not large:
        return Estimate(float(totals[0] @ weights) / len(encoded))
    return _with_error(totals, weights, len(encoded))


def _groups(domain: Domain, groups: int | Sequence[Iterable[str]]) -> list[list[int]]:
    if isinstance(groups, int):
        if groups < 1:
            raise DomainError("CMLL needs at least one group")
        parts = np.array_split(np.arange(len(domain)), min(groups, max(1, len(domain))))
        return [part.tolist() for part in parts if len(part)]
    divided = [[domain.position(name) for name in group] for group in groups]
    if sorted(v for group in divided for v in group) != list(range(len(domain))):
        raise DomainError("groups must contain every variable exactly once")
    return divided


def _exactly(model: LogLinear, rows: IntArray, group: list[int]) -> FloatArray:
    """Return Σ log p(x_i | outside) of each row from tables of (row, state of the group)."""
    whole, domain = model.structure.features, model.domain
    # Other features add the same to every state of the group, so they cancel.
    touching = np.unique(whole.owners[np.isin(whole.variables, group)])
    features, weights = whole.take(touching), model.weights[touching]
    inside = np.isin(features.variables, group)
    inner = states(Domain({domain.names[v]: domain.cardinalities[v] for v in group}))
    cells = np.zeros((len(inner), len(domain)), dtype=np.int64)
    cells[:, group] = inner
    holds_inside = (_failing(features, inside, cells) == 0).astype(np.float64)
    score = np.empty(len(rows))
    step = max(1, SCORED_CELLS_IN_MEMORY // max(len(cells), len(features), 1))
    for first in range(0, len(rows), step):
        block = rows[first : first + step]
        outside = _failing(features, ~inside, block) == 0
        # A feature holds in a cell if its parts outside and inside both hold.
        potentials = (outside.T * weights) @ holds_inside
        p = np.exp(potentials - potentials.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        score[first : first + step] = sum(
            np.log((p * (block[:, [v]] == cells[:, v])).sum(axis=1)) for v in group
        )
    return score


def _failing(features: Features, counted: BoolArray, rows: IntArray) -> MissArray:
    """Count the failing literals of each feature in each row."""
    return counts_of(features, failures(features, rows)[0] & counted[:, None])


def _by_gibbs(
    model: LogLinear, rows: IntArray, group: list[int], rng: np.random.Generator
) -> FloatArray:
    """Estimate Σ log p(x_i | outside) of each row with each replicate: (replicates, rows)."""
    sampler = Gibbs.of(model, group)
    probabilities = np.zeros((REPLICATES, len(group), len(rows)))
    step = max(
        1, SCORED_CELLS_IN_MEMORY // (REPLICATES * max(1, len(model.structure.features.variables)))
    )
    place = {variable: k for k, variable in enumerate(group)}
    cards = model.domain.cardinalities
    for first in range(0, len(rows), step):
        block = rows[first : first + step]
        repeated = np.tile(block, (REPLICATES, 1))
        chains = sampler.begin(repeated, rng)
        tally = np.zeros((len(group), len(repeated)))
        for variable in sampler.unrelated.tolist():
            # No feature mentions it, so its conditional is uniform in every draw.
            tally[place[variable]] = SWEEPS / cards[variable]
        for sweep in range(SWEEPS_BEFORE_SCORING + SWEEPS):
            for colour in sampler.colours:
                p = sampler.conditionals(chains, colour)
                if sweep >= SWEEPS_BEFORE_SCORING:
                    for k, variable in enumerate(colour.variables.tolist()):
                        # Averaging conditional probabilities varies less than counting draws.
                        chosen = p[repeated[:, variable], k, np.arange(len(repeated))]
                        tally[place[variable]] += chosen
                sampler.move(chains, colour, p, rng)
        by_replicate = tally.reshape(len(group), REPLICATES, len(block)) / SWEEPS
        probabilities[:, :, first : first + step] = by_replicate.transpose(1, 0, 2)
    # jackknife pseudo-values of Σ log(mean of the replicates)
    whole = np.log(probabilities.mean(axis=0)).sum(axis=0)
    others = (probabilities.sum(axis=0) - probabilities) / (REPLICATES - 1)
    values: FloatArray = REPLICATES * whole - (REPLICATES - 1) * np.log(others).sum(axis=1)
    return values


def _with_error(totals: FloatArray, weights: IntArray, rows: int) -> Estimate:
    """Return the mean over rows and replicates with its standard error."""
    used = int(weights.sum())
    by_replicate = totals @ weights / used
    variance = float(by_replicate.var(ddof=1)) / len(by_replicate)
    how = f"by Gibbs sampling, {REPLICATES} chains per row"
    if used < rows:
        by_row = totals.mean(axis=0)
        variance += float(by_row.var(ddof=1)) / used * (1 - used / rows)
        how += f", on {used} of {rows} rows"
    return Estimate(float(by_replicate.mean()), float(np.sqrt(variance)), how)
