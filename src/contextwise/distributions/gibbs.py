"""Run Gibbs sampling with many chains at once.

Variables that share no feature are drawn together: a greedy colouring groups them, and one step
redraws a colour in every chain. Each chain keeps the number of failing literals of every feature. A
feature affects variable i exactly when none of its other literals fails.

The weights must be finite: with forbidden states a chain may not reach the whole state space.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from contextwise.distributions.potentials import BoolArray, FloatArray, allowed_values, failures
from contextwise.errors import DomainError
from contextwise.models.features import Features, IntArray
from contextwise.models.structure import LogLinear


@dataclass(frozen=True, eq=False)
class Colour:
    """Variables that are drawn together, and the literals on them."""

    variables: IntArray
    literals: IntArray
    starts: IntArray
    place: IntArray
    owners: IntArray
    effect: FloatArray
    refused: BoolArray
    possible: FloatArray


@dataclass(frozen=True, eq=False)
class Chains:
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
        return cls(
            features, tuple(_colour(features, model.weights, own) for own in colours), unrelated
        )

    def begin(self, rows: IntArray, rng: np.random.Generator) -> Chains:
        """Start one chain per row, with free variables at random."""
        values = np.ascontiguousarray(rows.T)
        cards = self.features.cardinalities
        for variables in (self.unrelated, *(colour.variables for colour in self.colours)):
            values[variables] = _evenly(cards[variables], values.shape[1], rng)
        return self.resume(values.T)

    def resume(self, rows: IntArray) -> Chains:
        """Start one chain per row, at the row."""
        found = failures(self.features, rows)
        return Chains(np.ascontiguousarray(rows.T), found.literals, found.counts)

    def sweep(self, chains: Chains, rng: np.random.Generator) -> None:
        """Redraw every free variable once, in every chain."""
        for colour in self.colours:
            self.move(chains, colour, self.conditionals(chains, colour), rng)
        if len(self.unrelated):
            cards = self.features.cardinalities[self.unrelated]
            chains.values[self.unrelated] = _evenly(cards, chains.values.shape[1], rng)

    def conditionals(self, chains: Chains, colour: Colour) -> FloatArray:
        """Return p(value | the others): shape (values, variables of the colour, chains)."""
        speaks = chains.failing[colour.owners] == chains.fails[colour.literals]
        count = chains.values.shape[1]
        potentials = np.zeros((len(colour.effect) + 1, len(colour.variables), count))
        for own, potential in zip(colour.effect, potentials[1:], strict=True):
            if len(colour.variables) == 1:
                np.matmul(own, speaks, out=potential[0])
            else:
                np.add.reduceat(speaks * own[:, None], colour.starts, axis=0, out=potential)
        potentials[1:] += colour.possible
        np.exp(potentials - potentials.max(axis=0), out=potentials)
        potentials /= potentials.sum(axis=0)
        return potentials

    def move(self, chains: Chains, colour: Colour, p: FloatArray, rng: np.random.Generator) -> None:
        """Draw the variables of a colour from these conditionals."""
        draws = rng.random(p.shape[1:])
        up_to = np.cumsum(p[:-1], axis=0)
        values = (draws >= up_to).sum(axis=0)
        chains.values[colour.variables] = values
        now = values[colour.place]
        fails = colour.refused[0] & (now == 0)
        for value, refused in enumerate(colour.refused[1:], start=1):
            fails |= refused & (now == value)
        before = chains.fails[colour.literals]
        chains.failing[colour.owners] += fails.view(np.int8) - before.view(np.int8)
        chains.fails[colour.literals] = fails


def run(
    model: LogLinear,
    start: IntArray,
    *,
    free: Collection[int] | None,
    draws: int,
    burn_in: int,
    thin: int,
    rng: np.random.Generator,
) -> Iterator[IntArray]:
    """Rows of positions, one per chain, after the burn-in and at every ``thin``-th sweep.

    Parameters
    ----------
    model : LogLinear
    start : one row per chain; where the variables that are not free stay
    free : positions of the variables that are drawn; None means all
    draws : how many rows of each chain
    burn_in, thin : sweeps before the first row, and from one row to the next
    rng : Generator

    Yields
    ------
    array of int of shape (chains, variables)
    """
    sampler = Gibbs.of(model, free)
    chains = sampler.begin(start, rng)
    for _ in range(burn_in):
        sampler.sweep(chains, rng)
    for _ in range(draws):
        for _ in range(thin):
            sampler.sweep(chains, rng)
        yield chains.values.T.copy()


def colouring(features: Features, variables: Collection[int]) -> list[list[int]]:
    """Group variables that share no feature, those with most neighbours first."""
    neighbours: dict[int, set[int]] = {v: set() for v in variables}
    bounds, own = features.starts.tolist(), features.variables.tolist()
    for scope in {frozenset(own[a:b]) for a, b in pairwise(bounds)}:
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
    mine = np.flatnonzero(np.isin(features.variables, variables))
    literals = mine[np.argsort(features.variables[mine], kind="stable")]
    own = features.variables[literals]
    owners = features.owners[literals]
    allowed = allowed_values(features)[literals]
    numbers = allowed.T.astype(np.float64)
    chosen = np.array(variables, dtype=np.int64)
    values = np.arange(1, len(numbers))[:, None]
    possible = np.where(values < features.cardinalities[chosen], 0.0, -np.inf)
    return Colour(
        chosen,
        literals,
        np.searchsorted(own, chosen),
        np.searchsorted(chosen, own),
        owners,
        (numbers[1:] - numbers[:1]) * weights[owners],
        ~allowed.T[:, :, None],
        possible[:, :, None],
    )


def _evenly(cards: IntArray, chains: int, rng: np.random.Generator) -> IntArray:
    return rng.integers(cards[:, None], size=(len(cards), chains))
