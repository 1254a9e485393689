r"""Measure how strong the dependencies are that a guess misses, invents and finds.

The distance counts an error whatever its strength. Where a model has weights, the **strength** of a
dependence in a context is the largest absolute log odds ratio of the pair there: with W[a, b] the
sum of the weights of all features that contain both variables and match i=a, j=b and the context,
it is the largest \|W[a, b] + W[a', b'] - W[a, b'] - W[a', b]\|.

Few dependencies are all measured. Of many, some of each kind are drawn at random, all with the same
probability, from the cubes of the model that has them (see `draw_union`). That needs no regions and
works at any size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import comb, inf, isfinite
from typing import TYPE_CHECKING, Literal

import numpy as np

from contextwise.comparison.confusion import ratio
from contextwise.comparison.roles import AGREEMENTS, TRUE_AND_GUESS, Kind, Roles
from contextwise.counting.assertions import Assertions, answers, draw_union, hold_bits
from contextwise.counting.extraction import find_pairs, pair_features
from contextwise.counting.pair_counts import PairShares
from contextwise.models.factors import log_odds_ratio
from contextwise.models.structure import LogLinear
from contextwise.support.arrays import BoolArray, FloatArray, IntArray, WordArray
from contextwise.support.formatting import Shown
from contextwise.support.statistics import CONFIDENCE

if TYPE_CHECKING:
    from contextwise.comparison.two_models import Comparison

MOST_ASSERTIONS_MEASURED = 1024
"""With at most this many assertions, all are measured."""
WANTED = 200
"""Dependencies to draw of each kind."""
FIRST_DRAWS = 512  # the first draws; then four times as many
MOST_CONTEXTS_DRAWN = 2**14
"""Most contexts to draw for one kind."""
MOST_VARIABLES_DRAWN = 3_000


@dataclass(frozen=True)
class Quantile:
    """A quantile of a sample, and an interval that has that of all dependencies in 95 % of samples.

    The ends of the interval are order statistics, so no distribution is assumed.
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        ends = "" if self.low == self.high else f" ({self.low:.2g} to {self.high:.2g})"
        return f"{self.value:.2g}{ends}"


@dataclass(frozen=True)
class StrengthSample:
    """Strengths of dependencies of one kind: of all, or of some drawn at random."""

    kind: Kind
    weights_of: Literal["true", "guess"]  #: the model whose weights give the strengths
    values: FloatArray  #: rising; infinite where some joint states are impossible
    complete: bool = False  #: these are all dependencies of the kind

    def __len__(self) -> int:
        return len(self.values)

    def quantile(self, share: float) -> Quantile:
        """Return a quantile, such as 0.5 for the median.

        >>> StrengthSample("found", "true", np.arange(200.0)).quantile(0.5)
        Quantile(value=99.0, low=85.0, high=114.0)
        """
        value = float(np.quantile(self.values, share, method="inverted_cdf"))
        if self.complete:
            return Quantile(value, value, value)
        n, tail, below = len(self.values), (1 - CONFIDENCE) / 2, 0.0
        ranks = []  # the first number of values below the quantile that is not too unlikely
        # The number of drawn values below the quantile is binomial: its tails give the ranks.
        for rank in range(n + 1):
            chance = comb(n, rank) * share**rank * (1 - share) ** (n - rank)
            if (below <= tail < below + chance) or (below < 1 - tail <= below + chance):
                ranks.append(rank)
            below += chance
        low = float(self.values[ranks[0] - 1]) if ranks[0] else 0.0
        high = float(self.values[ranks[-1]]) if ranks[-1] < n else inf
        return Quantile(value, low, high)

    def record(self) -> dict[str, object]:
        """Return the numbers as a flat mapping; infinite ones as text."""
        record: dict[str, object] = {
            "kind": self.kind,
            "drawn": len(self),
            "complete": self.complete,
            "weights_of": self.weights_of,
        }
        for name, share in (("lower_quartile", 0.25), ("median", 0.5), ("upper_quartile", 0.75)):
            quantile = self.quantile(share)
            ends = {name: quantile.value, f"{name}_from": quantile.low, f"{name}_to": quantile.high}
            record |= {key: value if isfinite(value) else "inf" for key, value in ends.items()}
        return record


@dataclass(frozen=True)
class Strengths(Shown):
    """How strong the errors of a guess are; made by `Comparison.with_strengths`."""

    samples: Mapping[Kind, StrengthSample]  #: the kinds that occur and whose model has weights
    roles: Roles = TRUE_AND_GUESS  #: the words for the two models

    @property
    def complete(self) -> bool:
        """True if all dependencies were measured."""
        return all(sample.complete for sample in self.samples.values())

    def compared(self, kind: Kind) -> Literal["weaker", "stronger", "unclear"] | None:
        """Compare the medians of a kind of error and of the dependencies that were found.

        They are called different if their intervals do not overlap; None if either is missing.
        """
        if kind not in self.samples or "found" not in self.samples:
            return None
        error, found = (self.samples[k].quantile(0.5) for k in (kind, "found"))
        if error.high < found.low:
            return "weaker"
        return "stronger" if error.low > found.high else "unclear"

    def label(self, kind: Kind) -> str:
        """Name a kind of dependencies."""
        return self.roles.only[AGREEMENTS[kind]] if self.roles.peers else kind

    def records(self) -> list[dict[str, object]]:
        """Return one record for each kind."""
        return [sample.record() for sample in self.samples.values()]


def strengths_of(comparison: Comparison) -> Strengths | None:
    """Measure the strengths of the dependencies of each kind: of all, or of some drawn at random.

    Returns None if no model has weights, if pairs are open, if contexts are canonical or observed
    rows, or if there are more than `MOST_VARIABLES_DRAWN`: a draw has a state of each variable.
    """
    question = comparison.question
    if not any(question.weighted) or question.space.canonical or question.rows is not None:
        return None
    if len(question.domain) > MOST_VARIABLES_DRAWN or len(comparison.unions.open_places):
        return None
    samples: dict[Kind, StrengthSample] = {}
    cubes: dict[int, PairShares] = {}
    complete = question.space.weights is None and question.total <= MOST_ASSERTIONS_MEASURED
    every = _every_assertion(comparison) if complete else None
    kinds: tuple[tuple[Kind, int], ...] = (
        ("missed", 0),
        ("invented", 1),
        ("found", 0 if question.weighted[0] is not None else 1),
    )
    for kind, place in kinds:
        model = question.weighted[place]
        if model is None:
            continue
        if every is not None:
            pairs, states, first, second = every
            wrong = first & ~second if place == 0 else second & ~first
            chosen = first & second if kind == "found" else wrong
            pairs, states = pairs[chosen], states[chosen]
        else:
            if place not in cubes:
                cubes[place] = PairShares(question.structures[place].features, question.space)
            pairs, states = _draw(comparison, kind, place, cubes[place])
        if len(pairs):
            values = np.sort(strengths_at(model, pairs, states))
            weights_of: Literal["true", "guess"] = "guess" if place else "true"
            samples[kind] = StrengthSample(kind, weights_of, values, complete)
    return Strengths(samples, comparison.roles)


def _every_assertion(comparison: Comparison) -> tuple[IntArray, IntArray, BoolArray, BoolArray]:
    """Return all assertions, a pair and states each, and whether they depend in each model."""
    structures, covered = comparison.question.structures, comparison.pairs
    cards = structures[0].features.cardinalities
    pairs, starts = [], [0]
    rows: list[tuple[int, ...]] = []
    for pair in covered.tolist():
        # The states of the pair itself do not matter, so one of them is enough.
        ranges = [range(1 if v in pair else c) for v, c in enumerate(cards.tolist())]
        rows += product(*ranges)
        pairs += [pair] * (len(rows) - starts[-1])
        starts.append(len(rows))
    states = np.array(rows, dtype=np.int64).reshape(len(rows), len(cards))
    sample = Assertions(cards, covered, np.array(starts), hold_bits(cards, states))
    first, second = (answers(model.features, sample)[1] >= 0 for model in structures)
    return np.array(pairs, dtype=np.int64).reshape(-1, 2), states, first, second


def _draw(
    comparison: Comparison, kind: Kind, place: int, cubes: PairShares
) -> tuple[IntArray, IntArray]:
    """Draw dependencies of one kind from the model at a place: their pairs and states."""
    question, rng = comparison.question, np.random.default_rng(0)
    column = ("tp", "fn", "fp").index(AGREEMENTS[kind])
    pairs = comparison.pairs[comparison.unit_counts[:, column] != 0]  # those that have the kind
    if question.space.weights is None:  # in proportion; the factor does not matter
        sizes = 1 / np.prod(question.structures[place].features.cardinalities[pairs], axis=1)
    else:
        sizes = np.array([ratio(size, question.total) for size in question.sizes(pairs)])
    chosen_pairs = [np.zeros((0, 2), np.int64)]
    chosen_states = [np.zeros((0, len(question.domain)), np.int64)]
    kept = 0
    draws, tried = FIRST_DRAWS, 0
    while len(pairs) and tried < MOST_CONTEXTS_DRAWN:
        batch = draw_union(cubes, question.structures[1 - place].features, pairs, sizes, draws, rng)
        tried, draws = tried + draws, min(4 * draws, MOST_CONTEXTS_DRAWN)
        if not len(batch.pair):
            break
        mask = batch.first & batch.in_other if kind == "found" else batch.hits
        chosen = rng.permutation(np.flatnonzero(mask))[: WANTED - kept]
        chosen_pairs.append(pairs[batch.pair[chosen]])
        chosen_states.append(batch.states[chosen])
        kept += len(chosen)
        if kept == WANTED:
            break
    return np.concatenate(chosen_pairs), np.concatenate(chosen_states)


def strengths_at(model: LogLinear, pairs: IntArray, states: IntArray) -> FloatArray:
    """Return the strength of each pair in its row of states; those of the pair do not matter.

    >>> from contextwise.models.structure import Structure
    >>> features = ["A=1 & B=1", "A=1 & B=1 & C=1"]
    >>> model = LogLinear(Structure({"A": 2, "B": 2, "C": 2}, features), [0.5, 2.0])
    >>> strengths_at(model, np.array([[0, 1], [0, 1]]), np.array([[0, 0, 0], [0, 0, 1]]))
    array([0.5, 2.5])
    """
    features, strengths = model.structure.features, np.zeros(len(pairs))
    covered, starts, owners = pair_features(features)
    distinct, group = np.unique(pairs, axis=0, return_inverse=True)
    places = find_pairs(covered, distinct, len(features.cardinalities))
    for k, place in enumerate(places.tolist()):
        if place >= 0:  # otherwise no feature contains the pair: its strength is 0
            rows = np.flatnonzero(group.ravel() == k)
            of_pair = owners[starts[place] : starts[place + 1]]
            strengths[rows] = log_odds_ratio(_tables(model, distinct[k], of_pair, states[rows]))
    return strengths


def _tables(model: LogLinear, pair: IntArray, covering: IntArray, states: IntArray) -> FloatArray:
    """Add up the weights of each joint state of a pair, in the context of each row of states.

    A feature adds its weight to a row if its literals on other variables hold there. The first two
    axes of the result are those of the pair.
    """
    features = model.structure.features.take(covering)
    in_pair = np.isin(features.variables, pair)
    state = states[:, features.variables]
    word = features.values[np.arange(len(features.variables)), state // 64]
    holds = (word >> (state % 64).astype(np.uint64) & np.uint64(1)).astype(bool)
    # A context does not fix the pair's own states, so their literals always hold.
    matches = np.logical_and.reduceat(holds | in_pair, features.starts[:-1], axis=1)
    first, second = (
        _allowed(features.values[features.variables == v], model.domain.cardinalities[v])
        for v in pair.tolist()  # every feature has one literal on each variable of the pair
    )
    joint = (first[:, :, None] & second[:, None, :]).reshape(len(first), -1)
    weights = model.weights[covering]
    impossible = np.isneginf(weights)
    # Minus infinity times 0 would be nan; impossible cells are set below.
    logs: FloatArray = (matches * np.where(impossible, 0.0, weights)) @ joint
    logs[(matches & impossible).astype(np.int64) @ joint > 0] = -np.inf
    return logs.reshape(len(states), first.shape[1], second.shape[1]).transpose(1, 2, 0)


def _allowed(values: WordArray, cardinality: int) -> BoolArray:
    """Return a mask of the states that each literal allows."""
    states = np.arange(cardinality)
    return (values[:, states // 64] >> (states % 64).astype(np.uint64) & np.uint64(1)).astype(bool)
