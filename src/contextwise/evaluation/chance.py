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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial, reduce
from math import comb
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import Comparison, compare
from contextwise.comparison.confusion import Number, ratio
from contextwise.comparison.pairs import Pair, active_pairs, all_pairs
from contextwise.comparison.question import Restriction
from contextwise.counting import DEFAULT, ObjectArray, get_engine
from contextwise.counting.extraction import (
    ValueWeights,
    contexts_of_pairs,
    covered_pairs,
    pair_features,
)
from contextwise.counting.pair_counts import PairCounts, count_rows
from contextwise.counting.redrawn import count_redrawn
from contextwise.errors import ContextwiseError, DomainError
from contextwise.formats import ModelLike
from contextwise.models.features import WORD, Features, IntArray, WordArray, normalized
from contextwise.support.maps import choose_map
from contextwise.support.progress import Progress, progress_of
from contextwise.support.showing import Printed

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Chance", "ChanceInterrupted", "PairChance", "Skeleton", "chance"]


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


# -- A comparison beside guesses by chance: the numbers, and what they mean in words.


ALPHA = 0.05
"""A p-value up to this is called better than chance in words."""
OF_PAIR = ("expected", "skill", "p_value", "percentile")
"""What is known of a pair beside chance."""


def skill_of(distance: Number, expected: Number) -> float | None:
    """1 - distance / expected; None if nothing is expected.

    >>> skill_of(1, 4), skill_of(0, 0)
    (0.75, None)
    """
    return 1 - ratio(distance, expected) if expected else None


@dataclass(frozen=True)
class Skeleton:
    """The graphs alone: how many edges they share, and how many two random graphs would.

    With ``pairs`` pairs, the number of common edges of a random graph with as many edges as the
    guess is hypergeometric.

    Attributes
    ----------
    pairs : how many pairs there are
    true, guess, common : the edges of the true graph, of the guess, and of both
    p_value : the probability of at least so many common edges

    Examples
    --------
    >>> skeleton = Skeleton.of(pairs=6, true=3, guess=3, common=3)
    >>> skeleton.expected, skeleton.p_value
    (Fraction(3, 2), 0.05)
    >>> skeleton.expected_precision, skeleton.expected_recall
    (Fraction(1, 2), Fraction(1, 2))
    """

    pairs: int
    true: int
    guess: int
    common: int
    p_value: float

    @classmethod
    def of(cls, *, pairs: int, true: int, guess: int, common: int) -> Skeleton:
        """The test of these numbers of edges.

        Parameters
        ----------
        pairs : how many pairs there are
        true, guess : how many edges each graph has
        common : how many edges both have

        Returns
        -------
        Skeleton
        """
        ways = sum(
            comb(true, k) * comb(pairs - true, guess - k)
            for k in range(common, min(true, guess) + 1)
        )
        return cls(pairs, true, guess, common, ratio(ways, comb(pairs, guess)))

    @property
    def expected(self) -> Fraction:
        """The expected number of common edges."""
        return Fraction(self.true * self.guess, self.pairs or 1)

    @property
    def expected_precision(self) -> Fraction | None:
        """The share of a random graph's edges that are expected to be true; None without edges."""
        return Fraction(self.true, self.pairs) if self.guess else None

    @property
    def expected_recall(self) -> Fraction | None:
        """The share of the true edges that a random graph is expected to have; None without any."""
        return Fraction(self.guess, self.pairs) if self.true else None

    @property
    def is_right(self) -> bool:
        """Whether both graphs have the same edges."""
        return self.true == self.guess == self.common

    @property
    def decides(self) -> bool:
        """Whether a random graph could have fewer common edges."""
        return max(0, self.true + self.guess - self.pairs) < min(self.true, self.guess)


@dataclass(frozen=True)
class PairChance:
    """One pair beside chance.

    Attributes
    ----------
    pair : the names
    distance : in how many contexts the models differ
    expected : the expected distance of a drawn guess, exactly
    skill : 1 - distance / expected; None if the expected distance is 0
    p_value, percentile : as in `Chance`; None where every draw has the same distance
    """

    pair: Pair
    distance: Number
    expected: Fraction
    skill: float | None
    p_value: float | None
    percentile: float | None

    def record(self) -> dict[str, object]:
        """All but the names, under keys that say what they are beside."""
        return {f"chance_{key}": getattr(self, key) for key in OF_PAIR}


@dataclass(frozen=True, eq=False, repr=False)
class Chance(Printed):
    """A comparison beside guesses by chance.

    Attributes
    ----------
    comparison : the guess that was asked about
    null : which guesses were drawn
    expected : their expected distance, exactly
    dependencies : how many dependencies they are expected to assert, exactly
    context_pairs : the number of pairs whose contexts can be right or wrong
    context_skill : 1 - distance / expected over these pairs, against relabelled states; None if
        there are none
    distances : of each drawn guess, exact
    skeleton : the test of the graphs alone
    pairs : positions of the pairs that `pair_chances` goes through: shape (p, 2)
    pair_distances, pair_expected : their distances, and what to expect
    below, equal : for each of them, how many draws are nearer, and how many are as near

    Examples
    --------
    >>> from contextwise.evaluation import chance
    >>> found = chance("lung", "lung-learned", draws=99)
    >>> found
    Chance(null='states', expected=2, skill=0, p_value=1)
    >>> print(found.verdict)
    No pairs and no contexts to get right or wrong.
    """

    comparison: Comparison
    null: Null
    expected: Fraction
    dependencies: Fraction
    context_pairs: int
    context_skill: float | None
    skeleton: Skeleton
    pairs: IntArray
    pair_distances: ObjectArray
    pair_expected: tuple[Fraction, ...]
    distances: tuple[Number, ...] = ()
    below: IntArray | None = None
    equal: IntArray | None = None

    @property
    def draws(self) -> int:
        """How many guesses were drawn."""
        return len(self.distances)

    @property
    def distance(self) -> Number:
        """The distance of the guess itself."""
        return self.comparison.distance

    @property
    def skill(self) -> float | None:
        """1 - distance / expected, over all pairs; None if the expected distance is 0."""
        return skill_of(self.distance, self.expected)

    @property
    def nearer(self) -> int:
        """How many draws are nearer to the true model than the guess is."""
        return sum(distance < self.distance for distance in self.distances)

    @property
    def as_near(self) -> int:
        """How many draws are exactly as near as the guess."""
        return sum(distance == self.distance for distance in self.distances)

    @property
    def p_value(self) -> float | None:
        """How often a guess by chance is at least as near: (1 + such draws) / (1 + all draws).

        None if nothing was drawn.
        """
        return (1 + self.nearer + self.as_near) / (1 + self.draws) if self.draws else None

    @property
    def percentile(self) -> float | None:
        """The percentage of draws that are nearer; draws that are as near count one half.

        None if nothing was drawn.
        """
        return 100 * (self.nearer + self.as_near / 2) / self.draws if self.draws else None

    def pair_chances(self) -> Iterator[PairChance]:
        """Each pair beside chance: those of the comparison, in order.

        With ``null="variables"`` every pair that was asked for can be hit, so all are there.
        """
        names = self.comparison.domain.names
        for k, (i, j) in enumerate(self.pairs.tolist()):
            distance, expected = self.pair_distances[k], self.pair_expected[k]
            p_value = percentile = None
            if self.below is not None and self.equal is not None and self.below[k] >= 0:
                below, equal = int(self.below[k]), int(self.equal[k])
                p_value = (1 + below + equal) / (1 + self.draws)
                percentile = 100 * (below + equal / 2) / self.draws
            skill = skill_of(distance, expected)
            pair = names[i], names[j]
            yield PairChance(pair, distance, expected, skill, p_value, percentile)

    @property
    def verdict(self) -> str:
        """What it means, in one sentence."""
        return _verdict(self)

    def record(self) -> dict[str, object]:
        """Everything but the pairs as one flat mapping; what is undefined is None."""
        return {
            "null": self.null,
            "draws": self.draws,
            "expected": self.expected,
            "expected_dependencies": self.dependencies,
            "skill": self.skill,
            "context_skill": self.context_skill,
            "context_pairs": self.context_pairs,
            "p_value": self.p_value,
            "percentile": self.percentile,
            "draws_nearer": self.nearer if self.draws else None,
            "draws_as_near": self.as_near if self.draws else None,
            "skeleton_common": self.skeleton.common,
            "skeleton_expected": self.skeleton.expected,
            "skeleton_expected_precision": self.skeleton.expected_precision,
            "skeleton_expected_recall": self.skeleton.expected_recall,
            "skeleton_p_value": self.skeleton.p_value,
            "verdict": self.verdict,
        }

    def __repr__(self) -> str:
        shown = {"skill": self.skill, "context_skill": self.context_skill, "p_value": self.p_value}
        known = "".join(f", {k}={v:.4g}" for k, v in shown.items() if v is not None)
        return f"Chance(null={self.null!r}, expected={float(self.expected):.6g}{known})"


class ChanceInterrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of the draws; ``chance`` has those that were finished by then.

    Examples
    --------
    >>> from contextwise.evaluation import chance
    >>> def stop(done, total):
    ...     raise KeyboardInterrupt
    >>> try:
    ...     chance("six", "six-guess", show_progress=stop)
    ... except ChanceInterrupted as stopped:
    ...     print(stopped.chance.draws)
    20
    """

    def __init__(self, chance: Chance) -> None:
        super().__init__("the draws were interrupted")
        self.chance = chance


# -- in words ------------------------------------------------------------------------------------


def _verdict(found: Chance) -> str:
    if not found.distance:
        return "The guess makes exactly the claims of the true model."
    skeleton, p_value = found.skeleton, found.p_value
    if not skeleton.decides:
        pairs = "no pairs to get right or wrong"
    else:
        better = "better" if skeleton.p_value <= ALPHA else "no better"
        pairs = "right pairs" if skeleton.is_right else f"pairs {better} than chance"
    if p_value is None or found.null == "variables":
        all_of = "" if p_value is None else "; in all " + _better(found, p_value)
        return f"{pairs}{all_of}.".capitalize()
    contexts = f"contexts {_better(found, p_value)}"
    if p_value > ALPHA >= 1 / (1 + found.draws) and min(found.distances) >= found.distance:
        contexts = "contexts as right as in the best draws, but chance gets there often"
    if found.context_skill is None:
        contexts = "no contexts to get right or wrong"
    if found.context_skill is None and not skeleton.decides:
        return "No pairs and no contexts to get right or wrong."
    return f"{pairs}, {contexts}.".capitalize()


def _better(found: Chance, p_value: float) -> str:
    if p_value <= ALPHA:
        return "better than chance"
    if (1 + found.draws) * ALPHA < 1:
        return "not to be judged by so few draws"
    far = sum(distance >= found.distance for distance in found.distances)
    worse = (1 + far) / (1 + found.draws) <= ALPHA
    return "worse than chance" if worse else "no better than chance"


# -- Guesses by chance, drawn and counted exactly: here, over processes, or on a cluster.


BATCH = 20
"""How many draws one unit of work makes."""
LITERALS = 2**20
"""Of so many literals draws are held at once, if there are several: about 30 bytes each."""


@dataclass(frozen=True, eq=False)
class DrawQuestion:
    """All that a draw needs; it travels to other processes.

    Attributes
    ----------
    null : which guesses are drawn
    true, guess : the features of both models, over the same variables
    pairs : the pairs whose distance a draw can change: shape (p, 2)
    deps : for each of them, what the true model has depend
    distances : for each of them, the distance of the guess itself
    moves : whether a draw can cover other pairs than the guess does
    canonical, engine : what is counted, and by which engine
    rows : observed rows that stand for all contexts, or None
    shares : weights of the values, or None
    threads : how many threads count
    """

    null: Null
    true: Features
    guess: Features
    pairs: IntArray
    deps: ObjectArray
    distances: ObjectArray
    moves: bool
    canonical: bool
    engine: str
    rows: IntArray | None
    shares: ValueWeights | None
    threads: int | None = None

    def draw(self, generators: Sequence[np.random.Generator]) -> ObjectArray:
        """The distances of guesses by chance, one per generator: shape (draws, pairs)."""
        if self.moves or self.rows is not None:
            return np.stack([self._draw_one(generator) for generator in generators])
        step = max(1, LITERALS // max(1, len(self.guess.variables)))
        parts = range(0, len(generators), step)
        return np.concatenate([self._redrawn(generators[k : k + step]) for k in parts])

    def _redrawn(self, generators: Sequence[np.random.Generator]) -> ObjectArray:
        """The same where scopes stay: some draws are counted together."""
        sets = [draw_value_sets(self.guess, self.null, generator) for generator in generators]
        distances = count_redrawn(
            self.true,
            self.guess,
            np.stack(sets),
            self.pairs,
            engine=self.engine,
            canonical=self.canonical,
            threads=self.threads,
            value_weights=self.shares,
        )
        return distances if self.shares is None else distances / self._sizes(self.pairs)

    def _draw_one(self, generator: np.random.Generator) -> ObjectArray:
        if not self.moves:
            return self._counted(draw_features(self.guess, self.null, generator), self.pairs)
        drawn, place = draw_moved(self.guess, generator)
        own, sizes = self._own
        code = (len(place), 1)
        moved = np.sort(place[own], axis=1) @ code
        _, here, there = np.intersect1d(self.pairs @ code, moved, return_indices=True)
        distances = self.deps.copy()
        if sizes is not None:  # where the true model has nothing, the distance is what moved there
            distances[here] = sizes[there]
            here = here[self.deps[here] != 0]
        distances[here] = self._counted(drawn, self.pairs[here])
        return distances

    @cached_property
    def _own(self) -> tuple[IntArray, ObjectArray | None]:
        """The pairs that the guess covers, and in how many contexts each depends.

        Variables of equal cardinality take this number with them. Where contexts do not count
        alike they do not, and there is None.
        """
        pairs = covered_pairs(self.guess)
        if self.rows is not None or self.shares is not None:
            return pairs, None
        return pairs, self._counts(self.guess, pairs).lower[:, 1]

    def _counts(self, drawn: Features, pairs: IntArray) -> PairCounts:
        if self.rows is not None:
            counts = count_rows(self.true, drawn, pairs, self.rows, canonical=self.canonical)
        else:
            counts = get_engine(self.engine).count_pairs(
                self.true,
                drawn,
                pairs,
                canonical=self.canonical,
                value_weights=self.shares,
                threads=self.threads,
            )
        if counts.interrupted:
            raise KeyboardInterrupt
        return counts

    def _counted(self, drawn: Features, pairs: IntArray) -> ObjectArray:
        a, b, both = self._counts(drawn, pairs).lower.T
        distances: ObjectArray = 2 * both - a - b
        return distances if self.shares is None else distances / self._sizes(pairs)

    def _sizes(self, pairs: IntArray) -> ObjectArray:
        """What the contexts of each pair weigh."""
        weights = [sum(own) for own in self.shares or ()]
        sizes = contexts_of_pairs(weights, pairs, self.canonical)
        return np.array([Fraction(size) for size in sizes], dtype=object)


@dataclass(frozen=True)
class Draws:
    """Some draws: their distances over the pairs of the question, and how they compare there.

    Attributes
    ----------
    distances : of each draw, over all pairs of the question
    below, equal : for each pair, how many draws are nearer, and how many are as near
    """

    distances: list[Number]
    below: IntArray
    equal: IntArray


def make_draws(
    question: DrawQuestion,
    draws: int,
    *,
    rng: Seed,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> tuple[Draws | None, bool]:
    """So many draws, in batches that any process can make.

    Parameters
    ----------
    question : what is drawn and counted
    draws : how many
    rng : generator or seed
    n_jobs : how many processes; 1 draws here and counts on all cores
    cluster : address of a Dask scheduler, or a Dask client; goes before ``n_jobs``
    show_progress : a line on standard error, or a function of (draws done, draws in all)

    Returns
    -------
    Draws
        Those that were finished; None if there are none.
    bool
        Whether Ctrl-C ended the work.
    """
    if n_jobs != 1 or cluster is not None:
        question = replace(question, threads=1)
    source = np.random.default_rng(rng)
    batches = (source.spawn(min(BATCH, draws - first)) for first in range(0, draws, BATCH))
    found: dict[int, Draws] = {}
    try:
        with progress_of(show_progress, "drawing guesses") as progress:
            for place, batch in _units(question, batches, n_jobs, cluster):
                found[place] = batch
                if progress:
                    progress(sum(len(b.distances) for b in found.values()), draws)
    except KeyboardInterrupt:
        return _joined(found), True
    return _joined(found), False


def _units(
    question: DrawQuestion, batches: Iterable[list[np.random.Generator]], n_jobs: int, cluster: Any
) -> Iterator[tuple[int, Draws]]:
    for unit in choose_map(n_jobs=n_jobs, cluster=cluster)(
        partial(_draw_batch, question), enumerate(batches)
    ):
        if unit.value is None:
            raise ContextwiseError(f"drawing failed {unit.tries} times: {unit.error}")
        yield unit.item[0], unit.value


def _draw_batch(question: DrawQuestion, batch: tuple[int, list[np.random.Generator]]) -> Draws:
    distances: list[Number] = []
    below, equal = np.zeros((2, len(question.pairs)), dtype=np.int64)
    for drawn in question.draw(batch[1]):
        distances.append(sum(drawn.tolist()))
        below += (drawn < question.distances).astype(bool)
        equal += (drawn == question.distances).astype(bool)
    return Draws(distances, below, equal)


def _joined(found: dict[int, Draws]) -> Draws | None:
    """All batches as one, in the order of the draws."""
    if not found:
        return None
    batches = [batch for _, batch in sorted(found.items())]
    below, equal = (np.sum([getattr(b, k) for b in batches], axis=0) for k in ("below", "equal"))
    return Draws([d for batch in batches for d in batch.distances], below, equal)


# -- Is a guess better than chance? Its distance beside that of random guesses of the same shape.


def chance(
    true: ModelLike,
    guess: ModelLike,
    *,
    null: Null = "states",
    draws: int = 999,
    rng: Seed = 0,
    engine: str = DEFAULT,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Chance:
    """Say whether a guess is nearer to the true model than guesses by chance.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
    null : "states", "variables" or "values"
        What a guess by chance keeps; see `contextwise.evaluation.chance`. Where all cardinalities
        differ, no variable can take another's place, and ``"variables"`` is ``"states"``.
    draws : int
        How many guesses are drawn for the p-values; 0 for the expected distance alone.
    rng : generator or seed
        Equal seeds give equal draws, whatever the number of processes.
    engine : name of an engine
    n_jobs : int
        How many processes draw; 1 draws here and counts on all cores, -1 means one per core.
    cluster : address of a Dask scheduler, or a Dask client
        Goes before ``n_jobs``.
    show_progress : bool or function
        A line on standard error, or a function of (draws done, draws in all).
    **restriction
        What is compared, with the keywords of `compare`. A context restricts both models first.

    Returns
    -------
    Chance

    Raises
    ------
    ChanceInterrupted
        After Ctrl-C, with the draws that were finished.

    Examples
    --------
    The guess misses that the dependencies need D=2, but C=3 is right.

    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2, "C": 5, "D": 5}
    >>> true = Structure(domain, ["A=1 & B=1 & C=3 & D=2"])
    >>> found = chance(true, Structure(domain, ["A=1 & B=1 & C=3"]), draws=99)
    >>> found.distance, found.expected, found.p_value
    (15, Fraction(93, 5), 0.03)
    >>> print(found)
    Chance: the states of every variable relabelled, 99 draws.
    <BLANKLINE>
    distance       15      context skill  0.2308  common edges    3
    expected       18.6    over pairs     3       expected edges  3
    skill          0.1935                         p of the graph  1
    nearer draws   0
    draws as near  2
    p              0.03
    <BLANKLINE>
    No pairs to get right or wrong, contexts better than chance.
    """
    check_null(null)
    if draws < 0:
        raise ContextwiseError(f"draws is a number from 0 up, not {draws}")
    comparison = compare(true, guess, engine=engine, **restriction)
    asked = comparison.question
    rows, shares = asked.rows, asked.value_weights
    uniform = comparison
    if rows is not None and not len(rows):
        raise DomainError("no row agrees with the context, so there is nothing to compare")
    if rows is not None or shares is not None or (asked.asked is not None and null == "variables"):
        uniform = compare(
            comparison.true, comparison.guess, engine=engine, contexts=comparison.contexts
        )
    result = _expectations(comparison, uniform, null)
    if not draws:
        return result
    question, places = _question(result, uniform, rows, shares)
    made, interrupted = make_draws(
        question, draws, rng=rng, n_jobs=n_jobs, cluster=cluster, show_progress=show_progress
    )
    if made is None:
        raise KeyboardInterrupt
    same = comparison.distance - sum(question.distances.tolist())
    below, equal = np.full((2, len(result.pairs)), -1, dtype=np.int64)
    below[places], equal[places] = made.below, made.equal
    distances = tuple(same + distance for distance in made.distances)
    result = replace(result, distances=distances, below=below, equal=equal)
    if interrupted:
        raise ChanceInterrupted(result)
    return result


# -- in closed form ------------------------------------------------------------------------------


def expectations(comparison: Comparison) -> Chance:
    """A comparison beside relabelled states, in closed form: `chance` without draws.

    Parameters
    ----------
    comparison : over all contexts, each of which counts once

    Returns
    -------
    Chance
    """
    return _expectations(comparison, comparison, "states")


def _expectations(comparison: Comparison, uniform: Comparison, null: Null) -> Chance:
    """All that needs no draws."""
    pairs = _asked_pairs(comparison) if _moves(comparison, null) else comparison.pairs
    errors = comparison.counts[:, 1] + comparison.counts[:, 2]
    deps = _of_pairs(comparison, comparison.unions.lower[:, 0], pairs)
    sizes = sizes_of_pairs(comparison, pairs)
    density = densities(null, uniform, pairs)
    expected = _expected(deps, sizes, density)
    own = densities("states", uniform, comparison.pairs)
    where = np.flatnonzero(_varies("states", comparison, own))
    context_skill = None
    if len(where):
        by_states = _expected(comparison.unions.lower[:, 0], comparison.sizes, own)
        context_skill = skill_of(
            sum(errors[where].tolist()),
            sum((by_states[k] for k in where.tolist()), start=Fraction(0)),
        )
    return Chance(
        comparison=comparison,
        null=null,
        expected=sum(expected, start=Fraction(0)),
        dependencies=sum((g * n for g, n in zip(density, sizes, strict=True)), start=Fraction(0)),
        context_pairs=len(where),
        context_skill=context_skill,
        skeleton=_skeleton(comparison),
        pairs=pairs,
        pair_distances=_of_pairs(comparison, errors, pairs),
        pair_expected=tuple(expected),
    )


def _expected(
    deps: Iterable[Number], sizes: Iterable[Number], density: Iterable[Fraction]
) -> list[Fraction]:
    return [t + (n - 2 * t) * g for t, n, g in zip(deps, sizes, density, strict=True)]


def _varies(null: Null, comparison: Comparison, density: list[Fraction]) -> list[bool]:
    """For which of the comparison's pairs draws have different distances."""
    varies = [0 < g < 1 for g in density]
    if null == "states" and comparison.question.pair_size is None:  # all contexts count alike
        deps = comparison.unions.lower[:, 0]
        return [v and 0 < t < n for v, t, n in zip(varies, deps, comparison.sizes, strict=True)]
    return varies


def _asked_pairs(comparison: Comparison) -> IntArray:
    asked = comparison.question.asked
    return all_pairs(range(len(comparison.domain))) if asked is None else asked


def _moves(comparison: Comparison, null: Null) -> bool:
    """Whether a drawn guess can cover other pairs than the guess itself."""
    return null == "variables" and can_move(comparison.domain.cardinalities)


def _of_pairs(comparison: Comparison, numbers: ObjectArray, pairs: IntArray) -> ObjectArray:
    """The numbers of the comparison's pairs for these pairs; 0 for those that no feature covers."""
    if pairs is comparison.pairs:
        return numbers
    known = dict(zip(map(tuple, comparison.pairs.tolist()), numbers, strict=True))
    return np.array([known.get(tuple(pair), 0) for pair in pairs.tolist()], dtype=object)


def _skeleton(comparison: Comparison) -> Skeleton:
    asked = set(map(tuple, _asked_pairs(comparison).tolist()))
    in_true, in_guess = (
        asked.intersection(map(tuple, active_pairs(model).tolist()))
        for model in (comparison.true, comparison.guess)
    )
    return Skeleton.of(
        pairs=len(asked),
        true=len(in_true),
        guess=len(in_guess),
        common=len(in_true & in_guess),
    )


# -- by draws ------------------------------------------------------------------------------------


def _question(
    result: Chance, uniform: Comparison, rows: IntArray | None, shares: ValueWeights | None
) -> tuple[DrawQuestion, IntArray]:
    """What is drawn, and the places of its pairs among those of the result."""
    c, moves = result.comparison, _moves(result.comparison, result.null)
    density = densities(result.null, uniform, result.pairs)
    varies = [0 < g < 1 for g in density] if moves else _varies(result.null, c, density)
    places = np.flatnonzero(varies)
    pairs = result.pairs[places]
    question = DrawQuestion(
        null=result.null,
        true=c.true.features,
        guess=c.guess.features,
        pairs=pairs,
        deps=_of_pairs(c, c.unions.lower[:, 0], pairs),
        distances=result.pair_distances[places],
        moves=moves,
        canonical=c.contexts == "canonical",
        engine=uniform.engine,
        rows=rows,
        shares=shares,
    )
    return question, places
