"""Samples of a model: exact where the treewidth allows, by Gibbs chains elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from contextwise.distributions.elimination import calibrated
from contextwise.distributions.firing import FloatArray
from contextwise.distributions.gibbs import run
from contextwise.errors import ContextwiseError, DomainError, TooLargeError, require
from contextwise.execution.progress import Progress, progress_of
from contextwise.formats import ModelLike, as_log_linear
from contextwise.models.domain import Assignment, Domain
from contextwise.models.features import IntArray

Way = Literal["auto", "exact", "gibbs"]
Rows = npt.NDArray[Any]
Seed = np.random.Generator | int

FEWEST_CHAINS, MOST_CHAINS, ROWS_A_CHAIN = 100, 1000, 10
BURN_IN = 100
THIN = 10


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows drawn from a model, and how.

    Attributes
    ----------
    positions : array of shape (rows, variables)
        The position of each state.
    chains : array of shape (chains, draws, variables), or None
        The Gibbs chains that the rows come from; None if they are exact and independent.
    """

    positions: IntArray
    chains: IntArray | None = None


def sample(
    model: ModelLike,
    count: int,
    *,
    rng: Seed,
    given: Assignment | None = None,
    method: Way = "auto",
    burn_in: int = BURN_IN,
    thin: int = THIN,
    show_progress: bool | Progress = False,
) -> Rows:
    """Rows drawn from a model.

    Parameters
    ----------
    model : LogLinear
    count : how many rows
    rng : generator or seed; equal seeds give equal rows
    given : partial assignment, optional
        The evidence: rows are drawn from the distribution given these states.
    method : "exact", "gibbs", or "auto": exact where that is possible
        By Gibbs sampling the rows come from 100 chains, in turn; for more than 1,000 rows from
        one for ten of them, up to 1,000 chains. `draw` gives the chains as well.
    burn_in, thin : for Gibbs sampling
        Sweeps before the first row of a chain, and from one row to the next.
    show_progress : bool or function of (done, total)

    Returns
    -------
    array of shape (count, variables)
        Labels of states, as all functions take them: ints if all labels are ``0``, ``1``, …

    Examples
    --------
    >>> from contextwise.models.structure import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": ["no", "yes"]}, ["A=1 & B=yes"]), [9.0])
    >>> sample(model, 3, rng=1).tolist()
    [['1', 'yes'], ['1', 'yes'], ['1', 'yes']]
    """
    model = as_log_linear(model)
    drawn = draw(
        model,
        count,
        rng=rng,
        given=given,
        method=method,
        burn_in=burn_in,
        thin=thin,
        show_progress=show_progress,
    )
    return labelled(model.domain, drawn.positions)


def draw(
    model: ModelLike,
    count: int,
    *,
    rng: Seed,
    given: Assignment | None = None,
    method: Way = "auto",
    burn_in: int = BURN_IN,
    thin: int = THIN,
    show_progress: bool | Progress = False,
) -> Drawn:
    """Rows drawn from a model as positions of states, with the chains they come from.

    Parameters
    ----------
    model, count, rng, given, method, burn_in, thin, show_progress
        As in `sample`.

    Returns
    -------
    Drawn

    Examples
    --------
    >>> from contextwise.models.structure import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": ["no", "yes"]}, ["A=1 & B=yes"]), [9.0])
    >>> draw(model, 2, rng=1).positions.tolist(), draw(model, 2, rng=1).chains
    ([[1, 1], [1, 1]], None)
    """
    model = as_log_linear(model)
    if count < 0:
        raise DomainError(f"the number of rows cannot be {count}")
    if method not in ("auto", "exact", "gibbs"):
        raise ContextwiseError(f"unknown method {method!r}; choose 'auto', 'exact' or 'gibbs'")
    generator = np.random.default_rng(rng)
    if method != "gibbs":
        try:
            found = calibrated(model, pinned=model.domain.assignment(given))
        except TooLargeError:
            if method == "exact":
                raise
        else:
            return Drawn(found.sample(count, generator))
    many = min(MOST_CHAINS, max(FEWEST_CHAINS, count // ROWS_A_CHAIN))
    chains = max(1, min(count, many))
    drawn = gibbs_chains(
        model,
        chains=chains,
        draws=-(-count // chains),
        rng=generator,
        given=given,
        burn_in=burn_in,
        thin=thin,
        show_progress=show_progress,
    )
    return Drawn(drawn.transpose(1, 0, 2).reshape(-1, len(model.domain))[:count], drawn)


def gibbs_chains(
    model: ModelLike,
    *,
    chains: int,
    draws: int,
    rng: Seed,
    given: Assignment | None = None,
    burn_in: int = BURN_IN,
    thin: int = THIN,
    show_progress: bool | Progress = False,
) -> IntArray:
    """Gibbs chains as positions of states.

    Chains start at random. See `diagnose` for whether they have mixed.

    Parameters
    ----------
    model : LogLinear
    chains, draws : how many chains, and how many rows of each
    rng, given, burn_in, thin, show_progress
        As in `sample`.

    Returns
    -------
    array of shape (chains, draws, variables)
    """
    model = as_log_linear(model)
    if chains < 1 or draws < 0 or burn_in < 0 or thin < 1:
        raise DomainError("chains and thin are at least 1, draws and burn_in not negative")
    pinned = model.domain.assignment(given)
    start = np.zeros((chains, len(model.domain)), dtype=np.int64)
    for variable, state in pinned.items():
        start[:, variable] = state
    free = [v for v in range(len(model.domain)) if v not in pinned]
    rows = run(
        model,
        start,
        free=free,
        draws=draws,
        burn_in=burn_in,
        thin=thin,
        rng=np.random.default_rng(rng),
    )
    kept = np.zeros((draws, *start.shape), dtype=np.int64)
    with progress_of(show_progress, "sampling") as progress:
        for done, values in enumerate(rows):
            kept[done] = values
            if progress:
                progress(done + 1, draws)
    return kept.transpose(1, 0, 2)


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Whether chains have mixed, variable by variable.

    R-hat near 1 (below 1.01 is the usual demand) says that the chains agree; the effective sample
    size says how many independent rows they are worth. Both are NaN for a variable that never
    changes.
    """

    names: tuple[str, ...]
    r_hat: FloatArray
    effective_size: FloatArray

    @property
    def worst(self) -> tuple[str, float]:
        """The variable with the largest R-hat, and that R-hat."""
        known = np.where(np.isnan(self.r_hat), -np.inf, self.r_hat)
        place = int(np.argmax(known))
        return self.names[place], float(self.r_hat[place])


def diagnose(domain: Domain, chains: IntArray) -> Diagnosis:
    """R-hat and effective sample size of Gibbs chains, by ArviZ.

    Needs ``pip install contextwise[diagnostics]``, at least two chains with four draws each.
    """
    stats = require("arviz_stats.base", "diagnostics").array_stats
    if chains.shape[0] < 2 or chains.shape[1] < 4:
        raise DomainError("a diagnosis needs at least two chains of four draws")
    moves = np.flatnonzero(chains.reshape(-1, len(domain)).std(axis=0) > 0)
    r_hat = np.full(len(domain), np.nan)
    size = np.full(len(domain), np.nan)
    for variable in moves.tolist():
        draws = chains[:, :, variable].astype(np.float64)
        r_hat[variable] = stats.rhat(draws, chain_axis=0, draw_axis=1)
        size[variable] = stats.ess(draws, chain_axis=0, draw_axis=1)
    return Diagnosis(domain.names, r_hat, size)


def labelled(domain: Domain, positions: IntArray) -> Rows:
    """Rows of positions as rows of labels; ints if all labels are ``0``, ``1`` and so on.

    >>> labelled(Domain({"A": ["no", "yes"]}), np.array([[1], [0]])).tolist()
    [['yes'], ['no']]
    """
    if all(own == tuple(map(str, range(len(own)))) for own in domain.states):
        return positions
    columns = [np.array(own)[positions[:, v]] for v, own in enumerate(domain.states)]
    return np.stack(columns, axis=1)
