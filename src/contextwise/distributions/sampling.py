"""Sample from a model: exactly where the treewidth allows or tables are known, or by Gibbs chains.

`draw` reports which of the two it used; `DrawnRows.worst_mixing` reports how well chains mixed.
Quantities computed from samples are `Estimate` objects with a standard error.

Many **Gibbs chains** run at once. Variables that share no feature are drawn together: a greedy
colouring groups them, and one step redraws a colour in every chain. Each chain keeps the number of
failing literals of every feature. A feature affects variable i exactly when none of its other
literals fails. The weights must be finite: with forbidden states a chain may not reach the whole
state space.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from contextwise.distributions.inference import exact_inference, in_context
from contextwise.distributions.potentials import allowed_values, failures
from contextwise.errors import ContextwiseError, DomainError, TooLargeError, enough_memory, require
from contextwise.formats import ModelLike, as_log_linear
from contextwise.models.directions import Directions
from contextwise.models.domain import Assignment, Domain
from contextwise.models.features import Features
from contextwise.models.structure import LogLinear
from contextwise.support.arrays import BoolArray, FloatArray, IntArray
from contextwise.support.effort import NEVER, Deadline, Progress, progress_of

SampleMethod = Literal["auto", "exact", "gibbs"]
Rows = npt.NDArray[Any]
Seed = np.random.Generator | int

FEWEST_CHAINS, MOST_CHAINS, ROWS_PER_CHAIN = 100, 1000, 10
BURN_IN = 100
THIN = 10


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error (0 if exact) and how it was obtained."""

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
class DrawnRows:
    """Encoded rows drawn from a model, and how."""

    domain: Domain
    positions: IntArray
    chains: IntArray | None = None
    """The Gibbs chains of the rows, shape (chains, draws, variables); None if rows are exact."""

    @property
    def how(self) -> str:
        """Description of how the rows were drawn."""
        return "exact" if self.chains is None else f"from {len(self.chains)} Gibbs chains"

    @property
    def rows(self) -> Rows:
        """The rows as labels."""
        return labels_of(self.domain, self.positions)

    @property
    def worst_mixing(self) -> tuple[str, float] | None:
        """The variable with the largest split R-hat, and that; None if it cannot be computed.

        It is near 1 (usually below 1.01) where the halves of all chains agree.
        """
        if self.chains is None or self.chains.shape[0] < 2 or self.chains.shape[1] < 4:
            return None
        size = self.chains.shape[1] // 2
        halves = np.concatenate([self.chains[:, :size], self.chains[:, -size:]])
        within = halves.var(axis=1, ddof=1).mean(axis=0)
        between = halves.mean(axis=1).var(axis=0, ddof=1)
        if not between.any():  # no variable moves
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            r_hat = np.sqrt((size - 1) / size + between / within)
        worst = int(np.nanargmax(r_hat))
        return self.domain.names[worst], float(r_hat[worst])


def sample(
    model: ModelLike,
    count: int,
    *,
    seed: Seed = 0,
    array: bool = False,
    context: Assignment | None = None,
    method: SampleMethod = "auto",
    burn_in: int = BURN_IN,
    thin: int = THIN,
    show_progress: bool | Progress = False,
) -> Any:
    """Draw rows from a model, as a DataFrame where pandas is installed.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    count : how many rows
    seed : generator or seed; equal seeds give equal rows
    array : bool
        Return an array in any case.
    context : partial assignment, optional
        Rows are drawn from the distribution given these states.
    method : "exact", "gibbs", or "auto": exact where that is possible
        A Bayesian network of any size is drawn from its tables, which is exact.
        By Gibbs sampling the rows come from 100 chains, in turn; for more than 1,000 rows there is
        one chain for ten of them, up to 1,000 chains.
    burn_in, thin : for Gibbs sampling
        Sweeps before the first row of a chain, and from one row to the next.
    show_progress : bool or function of (done, total)

    Returns
    -------
    pandas.DataFrame, or array of shape (count, variables)
        Labels of states, as all functions take them: ints if all labels are ``0``, ``1``, …

    Examples
    --------
    >>> from contextwise import Structure
    >>> model = LogLinear(Structure({"A": 2, "B": ["no", "yes"]}, ["A=1 & B=yes"]), [9.0])
    >>> sample(model, 3, seed=1, array=True).tolist()
    [['1', 'yes'], ['1', 'yes'], ['1', 'yes']]
    """
    drawn = draw(
        model,
        count,
        seed=seed,
        context=context,
        method=method,
        burn_in=burn_in,
        thin=thin,
        show_progress=show_progress,
    )
    if array or not find_spec("pandas"):
        return drawn.rows
    return require("pandas", "frames").DataFrame(drawn.rows, columns=list(drawn.domain.names))


def draw(
    model: ModelLike,
    count: int,
    *,
    seed: Seed,
    context: Assignment | None = None,
    method: SampleMethod = "auto",
    **chain_options: Any,
) -> DrawnRows:
    """Draw encoded rows from a model, with the chains they come from, as `sample` does."""
    model = as_log_linear(model)
    if count < 0:
        raise DomainError(f"the number of rows must be >= 0, got {count}")
    if method not in ("auto", "exact", "gibbs"):
        raise ContextwiseError(f"unknown method {method!r}; choose 'auto', 'exact' or 'gibbs'")
    generator = np.random.default_rng(seed)
    if method != "gibbs":
        try:
            restricted, box = in_context(model, context)
            exact = exact_inference(restricted, pinned=box.fixed)
        except TooLargeError:
            directions = model.structure.directions
            if context is None and directions and not any(t is None for t in directions.tables):
                with enough_memory(f"{count} rows"):
                    return DrawnRows(model.domain, forward_sample(directions, count, generator))
            if method == "exact":
                raise
        else:
            with enough_memory(f"{count} rows"):
                return DrawnRows(model.domain, box.several.outside(exact.sample(count, generator)))
    many = min(MOST_CHAINS, max(FEWEST_CHAINS, count // ROWS_PER_CHAIN))
    chains = max(1, min(count, many))
    drawn = gibbs_chains(
        model,
        chains=chains,
        draws=-(-count // chains),
        seed=generator,
        context=context,
        **chain_options,
    )
    # One row of each chain in turn, so that the cut takes about equally many of each.
    in_turn = drawn.transpose(1, 0, 2).reshape(-1, len(model.domain))
    return DrawnRows(model.domain, in_turn[:count], drawn)


def forward_sample(directions: Directions, count: int, rng: np.random.Generator) -> IntArray:
    """Draw rows from the tables of a Bayesian network, parents first; exact, for any size.

    >>> from contextwise.models.directions import directions_of
    >>> copied = directions_of(Domain({"A": 2, "B": 2}), [[], [0]], [[0.5, 0.5], np.eye(2)])
    >>> forward_sample(copied, 3, np.random.default_rng(0)).tolist()
    [[1, 1], [0, 0], [0, 0]]
    """
    rows = np.zeros((count, len(directions.parents)), dtype=np.int64)
    for variable in directions.order:
        table = directions.tables[variable]
        assert table is not None
        p = table[tuple(rows[:, parent] for parent in directions.parents[variable])]
        # Without the last limit, which rounding may leave below the draw.
        up_to = np.cumsum(np.broadcast_to(p, (count, table.shape[-1]))[:, :-1], axis=1)
        rows[:, variable] = (rng.random(count)[:, None] >= up_to).sum(axis=1)
    return rows


def gibbs_chains(
    model: ModelLike,
    *,
    chains: int,
    draws: int,
    seed: Seed,
    context: Assignment | None = None,
    burn_in: int = BURN_IN,
    thin: int = THIN,
    show_progress: bool | Progress = False,
    deadline: Deadline = NEVER,
) -> IntArray:
    """Run Gibbs chains from random states.

    Parameters
    ----------
    model : LogLinear, path of a file, or name of an example
    chains, draws : number of chains, and of rows of each
    seed, context, burn_in, thin, show_progress : as in `sample`
    deadline : Deadline
        When it has passed, sampling ends with an error.

    Returns
    -------
    array of int, of shape (chains, draws, variables)
        Positions of states.

    Examples
    --------
    >>> gibbs_chains("lung", chains=4, draws=50, seed=1).shape
    (4, 50, 3)
    """
    model = as_log_linear(model)
    if chains < 1 or draws < 0 or burn_in < 0 or thin < 1:
        raise DomainError("chains and thin must be >= 1, draws and burn_in >= 0")
    model, box = in_context(model, context)
    start = np.zeros((chains, len(model.domain)), dtype=np.int64)
    for variable, state in box.fixed.items():
        start[:, variable] = state
    sampler = Gibbs.of(model, [v for v in range(len(model.domain)) if v not in box.fixed])
    generator = np.random.default_rng(seed)
    current = sampler.begin(start, generator)
    for _ in range(burn_in):
        deadline.check()
        sampler.sweep(current, generator)
    kept = np.zeros((draws, *start.shape), dtype=np.int64)
    with progress_of(show_progress, "sampling") as progress:
        for done in range(draws):
            for _ in range(thin):
                deadline.check()
                sampler.sweep(current, generator)
            kept[done] = current.values.T
            if progress:
                progress(done + 1, draws)
    return box.several.outside(kept.transpose(1, 0, 2))


def labels_of(domain: Domain, positions: IntArray) -> Rows:
    """Decode rows to labels; to ints if all labels are ``0``, ``1`` and so on."""
    if all(labels == tuple(map(str, range(len(labels)))) for labels in domain.states):
        return positions
    columns = [np.array(labels)[positions[:, v]] for v, labels in enumerate(domain.states)]
    return np.stack(columns, axis=1)


# -- Gibbs chains ----------------------------------------------------------------------------------


class Colour(NamedTuple):
    """Variables that are drawn together, and the literals on them."""

    variables: IntArray
    literals: IntArray
    starts: IntArray
    place: IntArray
    owners: IntArray
    effect: FloatArray
    refused: BoolArray
    possible: FloatArray


class Chains(NamedTuple):
    """The current values and failing literals of all chains, updated in place."""

    values: IntArray
    fails: BoolArray
    failing: npt.NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class Gibbs:
    """A sampler of the free variables; the others keep their value in each chain."""

    features: Features
    colours: tuple[Colour, ...]
    unrelated: IntArray
    """The free variables that no feature mentions: they are drawn evenly."""

    @classmethod
    def of(cls, model: LogLinear, free: Collection[int] | None = None) -> Gibbs:
        """Prepare a sampler; ``free`` are positions, by default all variables."""
        if not np.isfinite(model.weights).all():
            raise DomainError(
                "Gibbs sampling needs finite weights; with constraints use exact sampling"
            )
        features = model.structure.features
        wanted = range(len(model.domain)) if free is None else sorted(free)
        related = set(features.variables.tolist())
        colours = colouring(features, [v for v in wanted if v in related])
        unrelated = np.array([v for v in wanted if v not in related], dtype=np.int64)
        prepared = tuple(_colour(features, model.weights, variables) for variables in colours)
        return cls(features, prepared, unrelated)

    def begin(self, rows: IntArray, rng: np.random.Generator) -> Chains:
        """Start one chain per row, with free variables at random."""
        values = np.ascontiguousarray(rows.T)
        cards = self.features.cardinalities
        for variables in (self.unrelated, *(colour.variables for colour in self.colours)):
            values[variables] = _evenly(cards[variables], values.shape[1], rng)
        return self.resume(values.T)

    def resume(self, rows: IntArray) -> Chains:
        """Start one chain per row, at the row."""
        return Chains(np.ascontiguousarray(rows.T), *failures(self.features, rows))

    def sweep(self, chains: Chains, rng: np.random.Generator) -> None:
        """Redraw every free variable once, in every chain."""
        for colour in self.colours:
            self.move(chains, colour, self.conditionals(chains, colour), rng)
        if len(self.unrelated):
            cards = self.features.cardinalities[self.unrelated]
            chains.values[self.unrelated] = _evenly(cards, chains.values.shape[1], rng)

    def conditionals(self, chains: Chains, colour: Colour) -> FloatArray:
        """Return p(value | the others): shape (values, variables of the colour, chains)."""
        # All other literals hold: no literal fails, or only this one.
        speaks = chains.failing[colour.owners] == chains.fails[colour.literals]
        count = chains.values.shape[1]
        potentials = np.zeros((len(colour.effect) + 1, len(colour.variables), count))
        for effect, potential in zip(colour.effect, potentials[1:], strict=True):
            if len(colour.variables) == 1:
                np.matmul(effect, speaks, out=potential[0])
            else:
                np.add.reduceat(speaks * effect[:, None], colour.starts, axis=0, out=potential)
        potentials[1:] += colour.possible
        np.exp(potentials - potentials.max(axis=0), out=potentials)
        potentials /= potentials.sum(axis=0)
        return potentials

    def move(self, chains: Chains, colour: Colour, p: FloatArray, rng: np.random.Generator) -> None:
        """Draw the variables of a colour from these conditionals."""
        draws = rng.random(p.shape[1:])
        # Without the last limit, which rounding may leave below the draw.
        up_to = np.cumsum(p[:-1], axis=0)
        values = (draws >= up_to).sum(axis=0)
        chains.values[colour.variables] = values
        at_literals = values[colour.place]
        fails = colour.refused[0] & (at_literals == 0)
        for value, refused in enumerate(colour.refused[1:], start=1):
            fails |= refused & (at_literals == value)
        before = chains.fails[colour.literals]
        # No feature has two variables of one colour, so no owner repeats; bools cannot subtract.
        chains.failing[colour.owners] += fails.view(np.int8) - before.view(np.int8)
        chains.fails[colour.literals] = fails


def colouring(features: Features, variables: Collection[int]) -> list[list[int]]:
    """Group variables that share no feature, those with most neighbours first."""
    neighbours: dict[int, set[int]] = {v: set() for v in variables}
    bounds, tested = features.starts.tolist(), features.variables.tolist()
    for scope in {frozenset(tested[a:b]) for a, b in pairwise(bounds)}:
        for variable in scope & neighbours.keys():
            neighbours[variable] |= scope
    colours: list[list[int]] = []
    for variable in sorted(neighbours, key=lambda v: (-len(neighbours[v]), v)):
        for colour in colours:
            if neighbours[variable].isdisjoint(colour):
                colour.append(variable)
                break
        else:
            colours.append([variable])
    return [sorted(colour) for colour in colours]


def _colour(features: Features, weights: FloatArray, variables: list[int]) -> Colour:
    unsorted = np.flatnonzero(np.isin(features.variables, variables))
    literals = unsorted[np.argsort(features.variables[unsorted], kind="stable")]
    tested = features.variables[literals]
    owners = features.owners[literals]
    allowed = allowed_values(features)[literals]
    numbers = allowed.T.astype(np.float64)
    chosen = np.array(variables, dtype=np.int64)
    values = np.arange(1, len(numbers))[:, None]
    # Variables of a colour may have fewer values than the array has room for.
    possible = np.where(values < features.cardinalities[chosen], 0.0, -np.inf)
    return Colour(
        chosen,
        literals,
        np.searchsorted(tested, chosen),
        np.searchsorted(chosen, tested),
        owners,
        (numbers[1:] - numbers[:1]) * weights[owners],
        ~allowed.T[:, :, None],
        possible[:, :, None],
    )


def _evenly(cards: IntArray, chains: int, rng: np.random.Generator) -> IntArray:
    return rng.integers(cards[:, None], size=(len(cards), chains))
