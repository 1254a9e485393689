"""Sample from a model: exactly where the treewidth allows, otherwise with Gibbs chains.

`draw` reports which of the two it used; `Drawn.diagnosis` reports how well chains mixed. Quantities
computed from samples are `Estimate` objects with a standard error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from contextwise.distributions.elimination import exact_inference
from contextwise.distributions.gibbs import run
from contextwise.distributions.potentials import FloatArray
from contextwise.errors import ContextwiseError, DomainError, TooLargeError, require
from contextwise.formats import ModelLike, as_log_linear
from contextwise.models.domain import Assignment, Domain
from contextwise.models.features import IntArray
from contextwise.support.progress import Progress, progress_of

SampleMethod = Literal["auto", "exact", "gibbs"]
Rows = npt.NDArray[Any]
Seed = np.random.Generator | int

FEWEST_CHAINS, MOST_CHAINS, ROWS_PER_CHAIN = 100, 1000, 10
BURN_IN = 100
THIN = 10


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error (0 if exact) and how it was obtained.

    Attributes
    ----------
    value : float
    standard_error : float
    how : str

    Examples
    --------
    >>> Estimate(0.5)
    Estimate(0.5, exact)
    >>> float(Estimate(0.25, 0.01, "from 400 samples"))
    0.25
    """

    value: float
    standard_error: float = 0.0
    how: str = "exact"

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        error = f" ± {self.standard_error:.2g}" if self.standard_error else ""
        return f"Estimate({self.value:.6g}{error}, {self.how})"

    @property
    def exact(self) -> bool:
        """True if no sampling was involved."""
        return self.how.startswith("exact")


def mean_of(values: FloatArray, how: str) -> Estimate:
    """Return the mean of independent values with its standard error."""
    if np.isinf(values).any():
        return Estimate(float("inf"), 0.0, how)
    spread = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    return Estimate(float(values.mean()), spread / np.sqrt(len(values)), how)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows drawn from a model, and how.

    Attributes
    ----------
    domain : Domain
    positions : array of shape (rows, variables)
        The position of each state.
    chains : array of shape (chains, draws, variables), or None
        The Gibbs chains that the rows come from; None if they are exact and independent.

    Examples
    --------
    >>> drawn = draw("lung", 1000, rng=1)
    >>> drawn.how, drawn.positions.shape, drawn.diagnosis
    ('exact', (1000, 3), None)
    >>> draw("lung", 1000, rng=1, method="gibbs").how
    'from 100 Gibbs chains'
    """

    domain: Domain
    positions: IntArray
    chains: IntArray | None = None

    @property
    def how(self) -> str:
        """Description of how the rows were drawn."""
        return "exact" if self.chains is None else f"from {len(self.chains)} Gibbs chains"

    @property
    def rows(self) -> Rows:
        """The rows as labels."""
        return labels_of(self.domain, self.positions)

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """Convergence of the chains; None without chains or with too few."""
        if self.chains is None or self.chains.shape[0] < 2 or self.chains.shape[1] < 4:
            return None
        return diagnose(self.domain, self.chains)


def sample(
    model: ModelLike,
    count: int,
    *,
    rng: Seed,
    context: Assignment | None = None,
    method: SampleMethod = "auto",
    burn_in: int = BURN_IN,
    thin: int = THIN,
    show_progress: bool | Progress = False,
) -> Rows:
    """Draw rows from a model.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    count : how many rows
    rng : generator or seed; equal seeds give equal rows
    context : partial assignment, optional
        Rows are drawn from the distribution given these states.
    method : "exact", "gibbs", or "auto": exact where that is possible
        By Gibbs sampling the rows come from 100 chains, in turn; for more than 1,000 rows there is
        one chain for ten of them, up to 1,000 chains.
    burn_in, thin : for Gibbs sampling
        Sweeps before the first row of a chain, and from one row to the next.
    show_progress : bool or function of (done, total)

    Returns
    -------
    array of shape (count, variables)
        Labels of states, as all functions take them: ints if all labels are ``0``, ``1``, …

    Raises
    ------
    TooLargeError
        If the rows must be exact and the treewidth is too large.

    Examples
    --------
    >>> from contextwise import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": ["no", "yes"]}, ["A=1 & B=yes"]), [9.0])
    >>> sample(model, 3, rng=1).tolist()
    [['1', 'yes'], ['1', 'yes'], ['1', 'yes']]
    """
    return draw(
        model,
        count,
        rng=rng,
        context=context,
        method=method,
        burn_in=burn_in,
        thin=thin,
        show_progress=show_progress,
    ).rows


def sample_frame(
    model: ModelLike, count: int, *, rng: Seed = 0, array: bool = False, **options: Any
) -> Any:
    """Draw rows from a model, as a DataFrame where pandas is installed.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    count : number of rows
    rng : generator or seed; equal seeds give equal rows
    array : bool
        Return an array of labels instead, as `contextwise.distributions.sample` does.
    **options
        Other keywords of `contextwise.distributions.sample`.

    Returns
    -------
    pandas.DataFrame, or array of shape (count, variables)

    Examples
    --------
    >>> import contextwise as cw
    >>> cw.sample("lung", 2, rng=3).columns.tolist()
    ['smoker', 'asbestos', 'cancer']
    """
    rows = sample(model, count, rng=rng, **options)
    if array or not find_spec("pandas"):
        return rows
    names = as_log_linear(model).domain.names
    return require("pandas", "frames").DataFrame(rows, columns=list(names))


def draw(
    model: ModelLike,
    count: int,
    *,
    rng: Seed,
    context: Assignment | None = None,
    method: SampleMethod = "auto",
    burn_in: int = BURN_IN,
    thin: int = THIN,
    show_progress: bool | Progress = False,
) -> Drawn:
    """Draw encoded rows from a model, with the chains they come from.

    Parameters
    ----------
    model, count, rng, context, method, burn_in, thin, show_progress
        As in `sample`.

    Returns
    -------
    Drawn

    Raises
    ------
    TooLargeError
        If the rows must be exact and the treewidth is too large.

    Examples
    --------
    >>> from contextwise import LogLinear, Structure
    >>> model = LogLinear(Structure({"A": 2, "B": ["no", "yes"]}, ["A=1 & B=yes"]), [9.0])
    >>> draw(model, 2, rng=1).positions.tolist(), draw(model, 2, rng=1).chains
    ([[1, 1], [1, 1]], None)
    """
    own = as_log_linear(model)
    if count < 0:
        raise DomainError(f"the number of rows must be >= 0, got {count}")
    if method not in ("auto", "exact", "gibbs"):
        raise ContextwiseError(f"unknown method {method!r}; choose 'auto', 'exact' or 'gibbs'")
    generator = np.random.default_rng(rng)
    if method != "gibbs":
        try:
            found = exact_inference(own, pinned=own.domain.assignment(context))
        except TooLargeError:
            if method == "exact":
                raise
        else:
            return Drawn(own.domain, found.sample(count, generator))
    many = min(MOST_CHAINS, max(FEWEST_CHAINS, count // ROWS_PER_CHAIN))
    chains = max(1, min(count, many))
    drawn = gibbs_chains(
        own,
        chains=chains,
        draws=-(-count // chains),
        rng=generator,
        context=context,
        burn_in=burn_in,
        thin=thin,
        show_progress=show_progress,
    )
    in_turn = drawn.transpose(1, 0, 2).reshape(-1, len(own.domain))
    return Drawn(own.domain, in_turn[:count], drawn)


def gibbs_chains(
    model: ModelLike,
    *,
    chains: int,
    draws: int,
    rng: Seed,
    context: Assignment | None = None,
    burn_in: int = BURN_IN,
    thin: int = THIN,
    show_progress: bool | Progress = False,
) -> IntArray:
    """Run Gibbs chains and return encoded states.

    Chains start at random. See `diagnose` for whether they have mixed.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    chains, draws : how many chains, and how many rows of each
    rng, context, burn_in, thin, show_progress
        As in `sample`.

    Returns
    -------
    array of shape (chains, draws, variables)

    Examples
    --------
    >>> gibbs_chains("lung", chains=4, draws=50, rng=1).shape
    (4, 50, 3)
    """
    own = as_log_linear(model)
    if chains < 1 or draws < 0 or burn_in < 0 or thin < 1:
        raise DomainError("chains and thin must be >= 1, draws and burn_in >= 0")
    pinned = own.domain.assignment(context)
    start = np.zeros((chains, len(own.domain)), dtype=np.int64)
    for variable, state in pinned.items():
        start[:, variable] = state
    rows = run(
        own,
        start,
        free=[v for v in range(len(own.domain)) if v not in pinned],
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
    """Convergence of chains, variable by variable.

    R-hat near 1 (usually below 1.01) means that the chains agree. The effective sample
    size is the equivalent number of independent rows. Both are NaN for a variable that never
    changes.

    Attributes
    ----------
    names : of the variables
    r_hat : array of float, one per variable
    effective_size : array of float, one per variable

    Examples
    --------
    >>> found = draw("lung", 1000, rng=1, method="gibbs").diagnosis
    >>> found.names, bool((found.r_hat < 1.1).all())
    (('smoker', 'asbestos', 'cancer'), True)
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

    @property
    def fewest(self) -> float:
        """The smallest effective sample size; NaN if no variable ever changes."""
        known = self.effective_size[~np.isnan(self.effective_size)]
        return float(known.min()) if len(known) else float("nan")


def diagnose(domain: Domain, chains: IntArray) -> Diagnosis:
    """Compute R-hat and effective sample size of Gibbs chains with ArviZ.

    Needs ``pip install contextwise[diagnostics]``.

    Parameters
    ----------
    domain : Domain
    chains : array of shape (chains, draws, variables)
        At least two chains with four draws each.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> from contextwise import examples
    >>> chains = gibbs_chains("lung", chains=4, draws=200, rng=1)
    >>> bool(diagnose(examples.load("lung").domain, chains).worst[1] < 1.1)
    True
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


def labels_of(domain: Domain, positions: IntArray) -> Rows:
    """Decode rows to labels; to ints if all labels are ``0``, ``1`` and so on."""
    if all(own == tuple(map(str, range(len(own)))) for own in domain.states):
        return positions
    columns = [np.array(own)[positions[:, v]] for v, own in enumerate(domain.states)]
    return np.stack(columns, axis=1)
