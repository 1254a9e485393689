r"""Measure how strong the dependencies are that a guess misses, invents and finds.

The distance counts an error whatever its strength. Where a model has weights, the **strength** of a
dependence in a context is the largest absolute log odds ratio of the pair there: with W[a, b] the
sum of the weights of all features that contain both variables and match i=a, j=b and the context,
it is the largest \|W[a, b] + W[a', b'] - W[a, b'] - W[a', b]\|.

The dependencies of each kind are drawn at random, all with the same probability, from the cubes of
the model that has them (see `draw_union`). That needs no regions and works at any size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb, inf, isfinite
from typing import TYPE_CHECKING, Literal

import numpy as np

from contextwise.comparison.confusion import ratio
from contextwise.comparison.roles import AGREEMENTS, TRUE_AND_GUESS, Kind, Roles
from contextwise.counting.assertions import draw_union
from contextwise.counting.extraction import find_pairs, pair_features
from contextwise.counting.pair_counts import PairShares
from contextwise.models.factors import log_odds_ratio
from contextwise.models.structure import LogLinear
from contextwise.support.arrays import FloatArray, IntArray
from contextwise.support.formatting import Shown

if TYPE_CHECKING:
    from contextwise.comparison.compare import Comparison
    from contextwise.comparison.question import Question

WANTED = 200
"""Dependencies to draw of each kind."""
BATCH = 512  # the first draws; then four times as many
MOST = 2**14
"""Most contexts to draw for one kind."""
MOST_VARIABLES = 3_000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Quantile:
    """A quantile of a sample, and an interval that has that of all dependencies in 95 % of samples.

    The ends of the interval are order statistics, so no distribution is assumed.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class StrengthSample:
    """Strengths of dependencies drawn at random from those of one kind."""

    kind: Kind
    weights_of: Literal["true", "guess"]  #: the model whose weights give the strengths
    values: FloatArray  #: rising; infinite where some joint states are impossible

    def __len__(self) -> int:
        return len(self.values)

    def quantile(self, share: float) -> Quantile:
        """Return a quantile, such as 0.5 for the median.

        >>> StrengthSample("found", "true", np.arange(200.0)).quantile(0.5)
        Quantile(value=99.0, low=85.0, high=114.0)
        """
        n, tail, below = len(self.values), (1 - CONFIDENCE) / 2, 0.0
        ranks = []  # the first number of values below the quantile that is not too unlikely
        for rank in range(n + 1):
            chance = comb(n, rank) * share**rank * (1 - share) ** (n - rank)
            if (below <= tail < below + chance) or (below < 1 - tail <= below + chance):
                ranks.append(rank)
            below += chance
        low = float(self.values[ranks[0] - 1]) if ranks[0] else 0.0
        high = float(self.values[ranks[-1]]) if ranks[-1] < n else inf
        return Quantile(float(np.quantile(self.values, share, method="inverted_cdf")), low, high)

    @property
    def median(self) -> float:
        """The median strength."""
        return self.quantile(0.5).value

    def record(self) -> dict[str, object]:
        """Return the numbers as a flat mapping; infinite ones as text."""
        record: dict[str, object] = {"kind": self.kind, "drawn": len(self)}
        record["weights_of"] = self.weights_of
        for name, share in (("lower_quartile", 0.25), ("median", 0.5), ("upper_quartile", 0.75)):
            found = self.quantile(share)
            ends = {name: found.value, f"{name}_from": found.low, f"{name}_to": found.high}
            record |= {key: value if isfinite(value) else "inf" for key, value in ends.items()}
        return record


@dataclass(frozen=True)
class Strengths(Shown):
    """How strong the errors of a guess are; made by `Comparison.strengths`."""

    samples: Mapping[Kind, StrengthSample]  #: the kinds that occur and whose model has weights
    roles: Roles = TRUE_AND_GUESS  #: the words for the two models

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


def strengths_of(comparison: Comparison, *, wanted: int = WANTED, rng: int = 0) -> Strengths | None:
    """Draw dependencies of each kind and measure their strengths.

    Returns None if no model has weights, if contexts are canonical or observed rows, or if there
    are more than `MOST_VARIABLES`: a draw has a state of each variable.
    """
    question = comparison.question
    if not any(question.weighted) or question.space.canonical or question.rows is not None:
        return None
    if len(question.domain) > MOST_VARIABLES:
        return None
    samples: dict[Kind, StrengthSample] = {}
    cubes: dict[int, PairShares] = {}
    kinds: tuple[tuple[Kind, int], ...] = (
        ("missed", 0),
        ("invented", 1),
        ("found", 0 if question.weighted[0] is not None else 1),
    )
    for kind, place in kinds:
        model = question.weighted[place]
        if model is None:
            continue
        if place not in cubes:
            cubes[place] = PairShares(question.structures[place].features, question.space)
        generator = np.random.default_rng(rng)
        values = np.sort(_draw(comparison, kind, place, model, cubes[place], wanted, generator))
        if len(values):
            samples[kind] = StrengthSample(kind, "guess" if place else "true", values)
    return Strengths(samples, comparison.roles)


def _draw(
    comparison: Comparison,
    kind: Kind,
    place: int,
    model: LogLinear,
    cubes: PairShares,
    wanted: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw dependencies of one kind from the model at a place; return their strengths."""
    question = comparison.question
    # Only pairs that have the kind; a pair that is not finished may have it.
    column = ("tp", "fn", "fp").index(AGREEMENTS[kind])
    has_it = comparison.unit_counts[:, column] != 0
    has_it[comparison.unions.open_places] = True
    pairs = comparison.pairs[has_it]
    if question.space.weights is None:  # in proportion; the factor does not matter
        sizes = 1 / np.prod(question.structures[place].features.cardinalities[pairs], axis=1)
    else:
        sizes = np.array([ratio(size, question.total) for size in question.sizes(pairs)])
    chosen_pairs, chosen_states = [np.zeros((0, 2), np.int64)], []
    found = 0
    draws, tried = BATCH, 0
    while len(pairs) and tried < MOST:
        batch = draw_union(
            question.structures[place].features,
            question.structures[1 - place].features,
            pairs,
            sizes,
            draws,
            rng,
            space=question.space,
            cubes=cubes,
        )
        tried, draws = tried + draws, min(4 * draws, MOST)
        if not len(batch.pair):
            break
        mask = batch.first & batch.in_other if kind == "found" else batch.hits
        chosen = rng.permutation(np.flatnonzero(mask))[: wanted - found]
        chosen_pairs.append(pairs[batch.pair[chosen]])
        chosen_states.append(batch.states[chosen])
        found += len(chosen)
        if found == wanted:
            break
    if not found:
        return np.zeros(0)
    return _strengths(model, question, np.concatenate(chosen_pairs), np.concatenate(chosen_states))


def _strengths(
    model: LogLinear, question: Question, pairs: IntArray, states: IntArray
) -> FloatArray:
    """Return the strength of each pair in its context.

    The states are those of the free variables of the question; the context fixes the others.
    """
    domain = model.domain
    place = np.array([domain.position(name) for name in question.domain.names], dtype=np.int64)
    whole = np.zeros((len(states), len(domain)), dtype=np.int64)
    whole[:, place] = states
    for variable, state in domain.assignment(question.context).items():
        whole[:, variable] = state
    return strengths_at(model, np.sort(place[pairs], axis=1), whole)


def strengths_at(model: LogLinear, pairs: IntArray, states: IntArray) -> FloatArray:
    """Return the strength of each pair in the context of its row of states.

    The states of the pair's own variables are ignored.

    >>> from contextwise.models.structure import Structure
    >>> features = ["A=1 & B=1", "A=1 & B=1 & C=1"]
    >>> model = LogLinear(Structure({"A": 2, "B": 2, "C": 2}, features), [0.5, 2.0])
    >>> strengths_at(model, np.array([[0, 1], [0, 1]]), np.array([[0, 0, 0], [0, 0, 1]]))
    array([0.5, 2.5])
    """
    features, result = model.structure.features, np.zeros(len(pairs))
    covered, starts, owners = pair_features(features)
    distinct, group = np.unique(pairs, axis=0, return_inverse=True)
    places = find_pairs(covered, distinct, len(model.domain))
    for k, ((i, j), at) in enumerate(zip(distinct.tolist(), places.tolist(), strict=True)):
        if at < 0:
            continue
        features_of_pair = owners[starts[at] : starts[at + 1]]
        rows = np.flatnonzero(group.reshape(-1) == k)
        result[rows] = _pair_strengths(model, (i, j), features_of_pair, states[rows])
    return result


def _pair_strengths(
    model: LogLinear, pair: tuple[int, int], chosen: IntArray, states: IntArray
) -> FloatArray:
    """Return the strength of one pair in several contexts, from the features that contain it."""
    features = model.structure.features.take(chosen)
    weights = model.weights[chosen]
    cards = model.domain.cardinalities
    variables, values, owners = features.variables, features.values, features.owners
    state = states[:, variables]  # one column per literal
    words = values[np.arange(len(variables)), state // 64]
    holds = (words >> (state % 64).astype(np.uint64) & np.uint64(1)).astype(bool)
    holds[:, np.isin(variables, pair)] = True
    matches = np.logical_and.reduceat(holds, features.starts[:-1], axis=1)
    allowed = []
    for v in pair:
        literals = np.flatnonzero(variables == v)  # every feature has one literal on each
        bits = np.arange(cards[v])
        mask = values[literals][:, bits // 64] >> (bits % 64).astype(np.uint64) & np.uint64(1)
        allowed.append(mask[np.argsort(owners[literals], kind="stable")].astype(np.float64))
    first, second = allowed
    joint = (first[:, :, None] * second[:, None, :]).reshape(len(weights), -1)
    impossible = np.isneginf(weights)
    logs = (matches * np.where(impossible, 0.0, weights)) @ joint
    if impossible.any():
        logs[(matches * impossible) @ joint > 0] = -np.inf
    logs = logs.T.reshape(first.shape[1], second.shape[1], -1)
    return log_odds_ratio(logs)
