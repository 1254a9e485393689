"""Guesses that know less: random structures of the same shape, and what to expect of them.

A **null** says what a guess by chance would look like. All three keep the number of features and
their lengths, and lose something else:

``"states"``
    the states of every variable are relabelled at random. The graph stays, and so does what tells
    the features of a tree apart; which contexts they speak of is left to chance.
``"variables"``
    variables of equal cardinality are relabelled at random, and their states, too: the graph is
    left to chance as well.
``"values"``
    scopes stay, and the value set of every literal is drawn anew among those of its size. Features
    that were apart come to overlap, so the density changes.

Under each null the drawn guess has a pair depend in any given context with one probability, its
**density** g (`densities`). If the pair depends in contexts that count T of N in the true model,
the expected distance is T + (N - 2·T)·g, exactly, whatever the contexts of other pairs do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Literal

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import Number
from contextwise.counting.extraction import pair_features
from contextwise.errors import ContextwiseError
from contextwise.models.features import WORD, Features, IntArray, WordArray, normalized

Null = Literal["states", "variables", "values"]
NULLS: tuple[Null, ...] = ("states", "variables", "values")
Bits = npt.NDArray[np.uint8]


def check_null(null: str) -> None:
    """Refuse a null that does not exist.

    >>> check_null("edges")
    Traceback (most recent call last):
    contextwise.errors.ContextwiseError: unknown null 'edges'; choose states, variables or values
    """
    if null not in _DRAW:
        raise ContextwiseError(f"unknown null {null!r}; choose states, variables or values")


# -- what to expect ------------------------------------------------------------------------------


def densities(null: Null, uniform: Comparison, pairs: IntArray) -> list[Fraction]:
    """For each pair the probability that a drawn guess has it depend in any one context.

    Parameters
    ----------
    null : which guesses are drawn
    uniform : the comparison over all contexts; for ``"variables"`` over all pairs, too
    pairs : positions of the pairs: shape (p, 2)

    Returns
    -------
    list of Fraction
        One density per pair, in the order of ``pairs``.
    """
    if null == "values":
        found = _value_densities(uniform.guess.features, uniform.contexts == "canonical")
    else:
        sizes = (Fraction(size) for size in uniform.sizes)
        shares = [b / size for b, size in zip(uniform.unions.lower[:, 1], sizes, strict=True)]
        found = dict(zip(map(_code, uniform.pairs.tolist()), shares, strict=True))
    if null == "variables":
        return _class_densities(uniform, found, pairs)
    return [found.get(_code(pair), Fraction(0)) for pair in pairs.tolist()]


def _code(pair: list[int]) -> tuple[int, int]:
    return pair[0], pair[1]


def _class_densities(
    uniform: Comparison, found: Mapping[tuple[int, int], Fraction], pairs: IntArray
) -> list[Fraction]:
    """The mean density over all pairs with the same two cardinalities."""
    cards = uniform.domain.cardinalities
    total: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for pair, density in found.items():
        total[_kind(cards, pair)] += density
    variables = {card: cards.count(card) for card in cards}

    def mean(pair: tuple[int, int]) -> Fraction:
        kind = _kind(cards, pair)
        a, b = variables[kind[0]], variables[kind[1]]
        return total[kind] / (a * (a - 1) // 2 if kind[0] == kind[1] else a * b)

    return [mean(_code(pair)) for pair in pairs.tolist()]


def _kind(cardinalities: tuple[int, ...], pair: tuple[int, int]) -> tuple[int, ...]:
    return tuple(sorted(cardinalities[v] for v in pair))


def _value_densities(features: Features, canonical: bool) -> dict[tuple[int, int], Fraction]:
    """The density of each covered pair when every value set is drawn anew with its size.

    A feature holds in a context with the product of its literals' shares, those of the pair apart
    (with canonical contexts they count, too), and features are drawn independently.
    """
    sizes = _bits(features).sum(axis=1, dtype=np.int64).tolist()
    cards, variables = features.cardinalities.tolist(), features.variables.tolist()
    bounds = features.starts.tolist()
    pairs, starts, owners = pair_features(features)
    result = {}
    for k, pair in enumerate(pairs.tolist()):
        misses = outcomes = 1  # big ints, and one division at the end
        for f in owners[starts[k] : starts[k + 1]].tolist():
            holds = all_of = 1
            for literal in range(bounds[f], bounds[f + 1]):
                if canonical or variables[literal] not in pair:
                    holds *= sizes[literal]
                    all_of *= cards[variables[literal]]
            misses *= all_of - holds
            outcomes *= all_of
        result[_code(pair)] = 1 - Fraction(misses, outcomes)
    return result


# -- drawing -------------------------------------------------------------------------------------


def draw_features(features: Features, null: Null, generator: np.random.Generator) -> Features:
    """The features of one guess by chance.

    Parameters
    ----------
    features : those of the guess
    null : what is drawn at random
    generator : where randomness comes from

    Returns
    -------
    Features

    Examples
    --------
    >>> from contextwise import Structure
    >>> model = Structure({"A": 2, "B": 3, "C": 2}, ["A=1 & B!=2", "B=0 & C=1"])
    >>> drawn = draw_features(model.features, "states", np.random.default_rng(1))
    >>> Structure(model.domain, drawn)
    Structure(3 variables, 2 features: A=1 & B!=1; B=2 & C=0)
    """
    return _DRAW[null](features, generator)


def _draw_states(features: Features, generator: np.random.Generator) -> Features:
    cards = features.cardinalities
    width = int(cards.max(initial=1))
    keys = generator.random((len(cards), width))
    keys[np.arange(width) >= cards[:, None]] = 2.0  # values that are not there stay behind
    order = np.argsort(keys, axis=1, kind="stable")
    bits = np.take_along_axis(_bits(features), order[features.variables], axis=1)
    return _with_bits(features, bits)


def _draw_variables(features: Features, generator: np.random.Generator) -> Features:
    return draw_moved(features, generator)[0]


def draw_moved(features: Features, generator: np.random.Generator) -> tuple[Features, IntArray]:
    """One guess by chance of the null ``"variables"``, and where each variable went.

    Parameters
    ----------
    features : those of the guess
    generator : where randomness comes from

    Returns
    -------
    Features
    array of int
        For each variable, the one whose place it took.

    Examples
    --------
    >>> from contextwise import Structure
    >>> model = Structure({"A": 2, "B": 3, "C": 2}, ["A=1 & B!=2", "B=0 & C=1"])
    >>> drawn, place = draw_moved(model.features, np.random.default_rng(3))
    >>> Structure(model.domain, drawn), place.tolist()
    (Structure(3 variables, 2 features: B!=2 & C=1; A=1 & B=0), [2, 1, 0])
    """
    cards = features.cardinalities
    place = np.arange(len(cards))
    for cardinality in np.unique(cards).tolist():
        own = np.flatnonzero(cards == cardinality)
        place[own] = generator.permutation(own)
    variables = place[features.variables]
    # Features are in order already, which a stable sort makes use of.
    order = np.argsort(features.owners * len(cards) + variables, kind="stable")
    moved = Features(
        cards, features.starts, variables[order].astype(np.int32), features.values[order]
    )
    return _draw_states(moved, generator), place


def _draw_values(features: Features, generator: np.random.Generator) -> Features:
    drawn = _draw_sets(features, generator)
    return normalized(
        features.cardinalities, features.owners, features.variables, drawn, len(features)
    )[0]


def draw_value_sets(features: Features, null: Null, generator: np.random.Generator) -> WordArray:
    """The value sets of one guess by chance whose scopes stay, literal by literal.

    Features that come out equal are not united, so that literals keep their places.

    Parameters
    ----------
    features : those of the guess
    null : what is drawn at random; ``"variables"`` only where no variable can move
    generator : where randomness comes from

    Returns
    -------
    words, one row per literal
    """
    if null == "values":
        return _draw_sets(features, generator)
    return _DRAW[null](features, generator).values


def _draw_sets(features: Features, generator: np.random.Generator) -> WordArray:
    bits = _bits(features)
    keys = generator.random(bits.shape)
    keys[np.arange(bits.shape[1]) >= features.cardinalities[features.variables, None]] = 2.0
    # Rows are short: column by column is ten times as quick.
    sizes = reduce(np.add, bits.T, np.zeros(len(bits), dtype=np.int64))[:, None]
    if (sizes == 1).all():  # as of binary variables: no need to sort
        largest = reduce(np.minimum, keys.T)[:, None]
    else:
        largest = np.take_along_axis(np.sort(keys, axis=1), sizes - 1, axis=1)
    return _words(keys <= largest, features.values.shape[1])


_DRAW: Mapping[str, Callable[[Features, np.random.Generator], Features]] = {
    "states": _draw_states,
    "variables": _draw_variables,
    "values": _draw_values,
}


def _bits(features: Features) -> Bits:
    """Each value set as a row of zeros and ones, as wide as the largest cardinality."""
    flat = np.ascontiguousarray(features.values).astype("<u8").view(np.uint8)
    width = int(features.cardinalities.max(initial=1))
    used = flat[:, : -(-width // 8)]
    return np.unpackbits(used, axis=1, bitorder="little")[:, :width]


def _words(bits: npt.NDArray[np.bool_] | Bits, words: int) -> WordArray:
    packed = np.packbits(bits, axis=1, bitorder="little")
    wide = np.zeros((len(bits), words * WORD // 8), dtype=np.uint8)
    wide[:, : packed.shape[1]] = packed
    return wide.view("<u8").astype(np.uint64)


def _with_bits(features: Features, bits: Bits) -> Features:
    values = _words(bits, features.values.shape[1])
    return Features(features.cardinalities, features.starts, features.variables, values)


def can_move(cardinalities: tuple[int, ...]) -> bool:
    """Whether variables can take each other's place: two have the same cardinality.

    >>> can_move((2, 3, 4)), can_move((2, 3, 2))
    (False, True)
    """
    return len(set(cardinalities)) < len(cardinalities)


def sizes_of_pairs(comparison: Comparison, pairs: IntArray) -> Sequence[Number]:
    """What all contexts of each of these pairs count together."""
    return comparison.question.sizes(pairs)
