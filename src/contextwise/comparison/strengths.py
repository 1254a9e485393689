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
from math import comb
from typing import TYPE_CHECKING, Literal

import numpy as np

from contextwise.comparison.confusion import ratio
from contextwise.counting.assertions import draw_union
from contextwise.counting.extraction import pair_features
from contextwise.models.factors import log_odds_ratio
from contextwise.models.structure import LogLinear
from contextwise.support.arrays import FloatArray, IntArray
from contextwise.support.formatting import Shown

if TYPE_CHECKING:
    from contextwise.comparison.compare import Comparison
    from contextwise.comparison.question import Question

Kind = Literal["missed", "invented", "found"]

WANTED = 200
"""Dependencies to draw of each kind."""
BATCH = 4_096
MOST = 2**14
"""Most contexts to draw from one model."""
CONFIDENCE = 0.95


@dataclass(frozen=True)
class StrengthSample:
    """Strengths of dependencies drawn at random from those of one kind."""

    kind: Kind
    weights_of: Literal["true", "guess"]  #: the model whose weights give the strengths
    values: FloatArray  #: rising; infinite where some joint states are impossible

    def __len__(self) -> int:
        return len(self.values)

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """The lower quartile, the median and the upper quartile."""
        low, median, high = np.quantile(self.values, [0.25, 0.5, 0.75], method="nearest").tolist()
        return low, median, high

    @property
    def median(self) -> float:
        """The median strength."""
        return self.quartiles[1]

    @property
    def interval(self) -> tuple[float, float]:
        """An interval that holds the median of all dependencies of this kind in 95 % of samples.

        Its ends are order statistics, so no distribution is assumed.
        """
        n = len(self.values)
        below, tail, rank = 0.0, (1 - CONFIDENCE) / 2, 0
        while below + comb(n, rank) / 2**n <= tail:
            below += comb(n, rank) / 2**n
            rank += 1
        ends = max(rank - 1, 0), min(n - rank, n - 1)
        return float(self.values[ends[0]]), float(self.values[ends[1]])

    def record(self) -> dict[str, object]:
        """Return the numbers as a flat mapping; infinite ones as text."""
        low, median, high = self.quartiles
        least, most = self.interval
        numbers = {
            "median": median,
            "median_from": least,
            "median_to": most,
            "lower_quartile": low,
            "upper_quartile": high,
        }
        written = {k: v if np.isfinite(v) else "inf" for k, v in numbers.items()}
        return {"kind": self.kind, "drawn": len(self), "weights_of": self.weights_of, **written}


@dataclass(frozen=True)
class Strengths(Shown):
    """How strong the errors of a guess are; made by `Comparison.strengths`."""

    names: tuple[str, str]
    samples: Mapping[Kind, StrengthSample]  #: the kinds that occur and whose model has weights

    def compared(self, kind: Kind) -> Literal["weaker", "stronger", "unclear"] | None:
        """Compare the medians of a kind of error and of the dependencies that were found.

        They are called different if their intervals do not overlap; None if either is missing.
        """
        if kind not in self.samples or "found" not in self.samples:
            return None
        low, high = self.samples[kind].interval
        least, most = self.samples["found"].interval
        return "weaker" if high < least else "stronger" if low > most else "unclear"

    def records(self) -> list[dict[str, object]]:
        """Return one record for each kind."""
        return [sample.record() for sample in self.samples.values()]


def strengths_of(comparison: Comparison, *, wanted: int = WANTED, rng: int = 0) -> Strengths | None:
    """Draw dependencies of each kind and measure their strengths.

    Returns None if no model has weights, or if contexts are canonical or observed rows.
    """
    question = comparison.question
    weighted = question.weighted
    if not any(weighted) or question.space.canonical or question.rows is not None:
        return None
    generator = np.random.default_rng(rng)
    sizes = np.array([ratio(size, question.total) for size in comparison.sizes])
    samples: dict[Kind, StrengthSample] = {}
    for place, kinds in ((0, ("missed", "found")), (1, ("invented",))):
        model = weighted[place]
        if model is None:
            continue
        drawn: dict[str, list[FloatArray]] = {kind: [] for kind in kinds}
        tried = 0
        while tried < MOST and min(sum(map(len, d)) for d in drawn.values()) < wanted:
            batch = draw_union(
                question.structures[place].features,
                question.structures[1 - place].features,
                comparison.pairs,
                sizes,
                BATCH,
                generator,
                space=question.space,
            )
            tried += BATCH
            if not len(batch.pair):
                break
            for kind, mask in zip(kinds, (batch.hits, batch.first & batch.in_other), strict=False):
                left = max(wanted - sum(map(len, drawn[kind])), 0)
                chosen = generator.permutation(np.flatnonzero(mask))[:left]
                pairs = comparison.pairs[batch.pair[chosen]]
                drawn[kind].append(_strengths(model, question, pairs, batch.states[chosen]))
        for kind in kinds:
            values = np.sort(np.concatenate([np.zeros(0), *drawn[kind]]))
            if len(values):
                owner: Literal["true", "guess"] = "guess" if place else "true"
                samples[kind] = StrengthSample(kind, owner, values)  # type: ignore[arg-type, index]
    return Strengths(("true", "guess"), samples)


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
    place_of = {(i, j): k for k, (i, j) in enumerate(covered.tolist())}
    distinct, group = np.unique(pairs, axis=0, return_inverse=True)
    for k, (i, j) in enumerate(distinct.tolist()):
        if (i, j) not in place_of:
            continue
        at = place_of[i, j]
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
    impossible = np.isneginf(weights)
    finite = np.where(impossible, 0.0, weights)
    logs = np.einsum("df,f,fa,fb->abd", matches.astype(float), finite, *allowed, optimize=True)
    if impossible.any():
        never = np.einsum(
            "df,f,fa,fb->abd", matches.astype(float), impossible.astype(float), *allowed
        )
        logs = np.where(never > 0, -np.inf, logs)
    return log_odds_ratio(logs)
