"""Compare a guess with random guesses of the same shape.

A **null** (`Null`, listed in `NULLS`) defines how a random guess is drawn: what it keeps of the
guess and what it leaves to chance. Under each null, a pair depends with the same probability in
every context of a drawn guess, its **density** g. If the pair depends in T of N contexts in the
true model, its expected distance is T + (N - 2·T)·g. This is exact, because the expectation of a
sum needs no independence between contexts.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from math import comb
from typing import TYPE_CHECKING, Unpack

import numpy as np
import numpy.typing as npt

from contextwise.comparison.compare import Comparison, answer, compare
from contextwise.comparison.confusion import Number, ratio
from contextwise.comparison.question import Pair, Question, Restriction, active_pairs
from contextwise.counting.contract import DEFAULT, get_engine
from contextwise.counting.distances import count_redrawn
from contextwise.counting.extraction import FEWER_PAIRS, covered_pairs, pair_features
from contextwise.counting.pair_counts import PairCounts, count_rows
from contextwise.errors import ContextwiseError, DomainError, OpenResult
from contextwise.formats import ModelLike
from contextwise.models.features import WORD, Features, normalized
from contextwise.models.structure import Structure, require_features
from contextwise.support.arrays import IntArray, ObjectArray, WordArray
from contextwise.support.deadline import Deadline
from contextwise.support.formatting import Printed, number
from contextwise.support.progress import Progress, progress_of

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Chance", "ChanceInterrupted", "chance"]

ALPHA = 0.05
"""A p-value up to this counts as better than chance in the verdict."""
PAIR_KEYS = ("expected", "skill", "p_value", "percentile")
"""What `PairChance` adds to the counts of a pair."""
BATCH = 20
"""Draws that are counted together."""
LITERALS = 2**20
"""Literals of draws held in memory at once (about 30 bytes each), if there are several draws."""

Bits = npt.NDArray[np.uint8]
PairShares = Mapping[tuple[int, int], Fraction]
"""For each covered pair the share of contexts in which it depends."""


# -- nulls -----------------------------------------------------------------------------------------


class Null(ABC):
    """A way to draw random guesses. All nulls keep the number of features and their lengths.

    To add one, write a subclass and list it in `NULLS`. Precondition: in a draw, every context of
    a pair depends with the same probability, and `densities` knows it in closed form.
    """

    name: str
    description: str
    """The way a guess is drawn, as a clause."""
    keeps: str
    """The part of the guess that a draw keeps."""
    draws_claims = True
    """Whether it can draw from a guess that is given by its claims."""
    keeps_counts = True
    """True if a pair whose scopes stay depends in as many contexts in every draw."""

    @abstractmethod
    def draw(self, features: Features, generator: np.random.Generator) -> Features: ...

    def draw_values(self, features: Features, generator: np.random.Generator) -> WordArray:
        """Draw the value sets of a guess whose scopes stay; do not merge equal features."""
        return self.draw(features, generator).values

    def draw_moved(
        self, features: Features, generator: np.random.Generator
    ) -> tuple[Features, IntArray]:
        """Draw one guess, and return the new place of each variable."""
        return self.draw(features, generator), np.arange(len(features.cardinalities))

    @abstractmethod
    def densities(
        self, guess: Features, canonical: bool, shares: PairShares, pairs: IntArray
    ) -> list[Fraction]:
        """For each pair, the probability that a draw has it depend in any one context."""

    def moves(self, cardinalities: Sequence[int]) -> bool:
        """Return whether a draw can cover other pairs than the guess does."""
        return False

    def limit(self, cardinalities: Sequence[int]) -> str:
        """Explain what this null cannot draw with these variables, if anything."""
        return ""


class StatesNull(Null):
    name = "states"
    description = "the states of every variable are relabelled"
    keeps = "the graph"

    def draw(self, features: Features, generator: np.random.Generator) -> Features:
        cards = features.cardinalities
        width = int(cards.max(initial=1))
        keys = generator.random((len(cards), width))
        keys[np.arange(width) >= cards[:, None]] = 2.0  # sort values that do not exist last
        order = np.argsort(keys, axis=1, kind="stable")
        bits = np.take_along_axis(_bits(features), order[features.variables], axis=1)
        values = _words(bits, features.values.shape[1])
        return replace(features, values=values)

    def densities(
        self, guess: Features, canonical: bool, shares: PairShares, pairs: IntArray
    ) -> list[Fraction]:
        return [shares.get((i, j), Fraction(0)) for i, j in pairs.tolist()]


class VariablesNull(StatesNull):
    name = "variables"
    description = "variables with equally many states are exchanged, and all states are relabelled"
    keeps = "the shape of the graph"

    def draw(self, features: Features, generator: np.random.Generator) -> Features:
        return self.draw_moved(features, generator)[0]

    def draw_moved(
        self, features: Features, generator: np.random.Generator
    ) -> tuple[Features, IntArray]:
        cards = features.cardinalities
        place = np.arange(len(cards))
        for cardinality in np.unique(cards).tolist():
            alike = np.flatnonzero(cards == cardinality)
            place[alike] = generator.permutation(alike)
        variables = place[features.variables]
        # Owners are sorted already, so a stable sort is fast.
        order = np.argsort(features.owners * len(cards) + variables, kind="stable")
        moved = replace(
            features,
            variables=variables[order].astype(np.int32),
            values=features.values[order],
            pairs=None
            if features.pairs is None
            else np.sort(place[features.pairs], axis=1).astype(np.int32),
        )
        return super().draw(moved, generator), place

    def densities(
        self, guess: Features, canonical: bool, shares: PairShares, pairs: IntArray
    ) -> list[Fraction]:
        """Return the mean share over all pairs with the same two cardinalities."""
        cards = guess.cardinalities.tolist()
        means = _mean_shares(cards, shares)
        return [means[_kind(cards, i, j)] for i, j in pairs.tolist()]

    def moves(self, cardinalities: Sequence[int]) -> bool:
        return len(set(cardinalities)) < len(cardinalities)

    def limit(self, cardinalities: Sequence[int]) -> str:
        if self.moves(cardinalities) or len(cardinalities) < 2:
            return ""
        return (
            "No two variables have equally many states, so none can be exchanged: only states are "
            "relabelled."
        )


class ValuesNull(Null):
    name = "values"
    draws_claims = False
    description = "every literal gets a random set of as many values"
    keeps = "the scopes of the features"
    keeps_counts = False

    def draw(self, features: Features, generator: np.random.Generator) -> Features:
        values = self.draw_values(features, generator)
        return normalized(
            features.cardinalities, features.owners, features.variables, values, len(features)
        )[0]

    def draw_values(self, features: Features, generator: np.random.Generator) -> WordArray:
        bits = _bits(features)
        keys = generator.random(bits.shape)
        keys[np.arange(bits.shape[1]) >= features.cardinalities[features.variables, None]] = 2.0
        # Rows are short: going column by column is ten times faster.
        sizes = reduce(np.add, bits.T, np.zeros(len(bits), dtype=np.int64))[:, None]
        if (sizes == 1).all():  # for example all variables binary: no need to sort
            largest = reduce(np.minimum, keys.T)[:, None]
        else:
            # The values with the smallest keys are a random set of the same size.
            largest = np.take_along_axis(np.sort(keys, axis=1), sizes - 1, axis=1)
        return _words(keys <= largest, features.values.shape[1])

    def densities(
        self, guess: Features, canonical: bool, shares: PairShares, pairs: IntArray
    ) -> list[Fraction]:
        """Multiply the shares of the literals of each feature; features are drawn independently.

        Literals of the pair itself count with canonical contexts only.
        """
        sizes = _bits(guess).sum(axis=1, dtype=np.int64).tolist()
        cards, variables = guess.cardinalities.tolist(), guess.variables.tolist()
        bounds = guess.starts.tolist()
        covered, starts, owners = pair_features(guess)
        density = {}
        for k, (i, j) in enumerate(covered.tolist()):
            misses = outcomes = 1  # big ints, divided once at the end
            for f in owners[starts[k] : starts[k + 1]].tolist():
                holds = ways = 1
                for literal in range(bounds[f], bounds[f + 1]):
                    if canonical or variables[literal] not in (i, j):
                        holds *= sizes[literal]
                        ways *= cards[variables[literal]]
                misses *= ways - holds
                outcomes *= ways
            density[i, j] = 1 - Fraction(misses, outcomes)
        return [density.get((i, j), Fraction(0)) for i, j in pairs.tolist()]


NULLS: dict[str, Null] = {null.name: null for null in (VariablesNull(), StatesNull(), ValuesNull())}
"""All nulls by name; the first is the default."""
DEFAULT_NULL = next(iter(NULLS))


def get_null(name: str) -> Null:
    """Return a null by its name.

    >>> get_null("edges")
    Traceback (most recent call last):
    contextwise.errors.ContextwiseError: unknown null 'edges'; use variables, ...
    """
    if name not in NULLS:
        *others, last = NULLS
        raise ContextwiseError(f"unknown null {name!r}; use {', '.join(others)} or {last}")
    return NULLS[name]


def _kind(cards: Sequence[int], i: int, j: int) -> tuple[int, int]:
    return min(cards[i], cards[j]), max(cards[i], cards[j])


def _mean_shares(cards: Sequence[int], shares: PairShares) -> dict[tuple[int, int], Fraction]:
    """The mean share of the pairs of each kind, that is, with the same two cardinalities."""
    total: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for (i, j), share in shares.items():
        total[_kind(cards, i, j)] += share
    count = {card: cards.count(card) for card in set(cards)}
    return {
        (a, b): total[a, b] / (count[a] * (count[a] - 1) // 2 if a == b else count[a] * count[b])
        for a in count
        for b in count
        if a < b or (a == b and count[a] > 1)
    }


def _bits(features: Features) -> Bits:
    """Each value set as a row of zeros and ones, as wide as the largest cardinality."""
    flat = np.ascontiguousarray(features.values).astype("<u8").view(np.uint8)
    width = int(features.cardinalities.max(initial=1))
    return np.unpackbits(flat[:, : -(-width // 8)], axis=1, bitorder="little")[:, :width]


def _words(bits: npt.NDArray[np.bool_] | Bits, words: int) -> WordArray:
    packed = np.packbits(bits, axis=1, bitorder="little")
    wide = np.zeros((len(bits), words * WORD // 8), dtype=np.uint8)
    wide[:, : packed.shape[1]] = packed
    return wide.view("<u8").astype(np.uint64)


# -- results ---------------------------------------------------------------------------------------


def skill_of(distance: Number, expected: Number) -> float | None:
    """Return 1 - distance / expected; None if the expected distance is 0."""
    return 1 - ratio(distance, expected) if expected else None


@dataclass(frozen=True)
class Skeleton:
    """The edges that two graphs share, next to random graphs (a hypergeometric test).

    >>> skeleton = Skeleton(pairs=6, true=3, guess=3, common=3)
    >>> skeleton.expected, skeleton.p_value
    (Fraction(3, 2), 0.05)
    """

    pairs: int
    true: int
    guess: int
    common: int

    @property
    def p_value(self) -> float:
        """The probability that a random graph shares at least as many edges."""
        ways = sum(
            comb(self.true, k) * comb(self.pairs - self.true, self.guess - k)
            for k in range(self.common, min(self.true, self.guess) + 1)
        )
        return ratio(ways, comb(self.pairs, self.guess))

    @property
    def expected(self) -> Fraction:
        """The expected number of common edges."""
        return Fraction(self.true * self.guess, self.pairs or 1)

    @property
    def expected_precision(self) -> Fraction | None:
        """The expected precision of a random graph's edges; None without edges in the guess."""
        return Fraction(self.true, self.pairs) if self.guess else None

    @property
    def expected_recall(self) -> Fraction | None:
        """The expected recall of a random graph's edges; None without true edges."""
        return Fraction(self.guess, self.pairs) if self.true else None

    @property
    def decides(self) -> bool:
        """True if a random graph could share fewer edges."""
        return max(0, self.true + self.guess - self.pairs) < min(self.true, self.guess)


@dataclass(frozen=True)
class PairChance:
    """One pair compared with chance; the last two are None where all draws are equally far."""

    pair: Pair
    distance: Number
    expected: Fraction
    skill: float | None
    p_value: float | None
    percentile: float | None

    def record(self) -> dict[str, object]:
        """Return the numeric fields, keyed with the prefix ``chance_``."""
        return {f"chance_{key}": getattr(self, key) for key in PAIR_KEYS}


@dataclass(frozen=True, eq=False, repr=False)
class Chance(Printed):
    """A comparison next to random guesses.

    Examples
    --------
    >>> from contextwise.evaluation import chance
    >>> result = chance("six", "six-guess", draws=99)
    >>> result
    Chance(null='variables', expected=106.667, skill=0.85, context_skill=1, p_value=0.09)
    >>> print(result.verdict)
    The guess is as near as the best draws, but chance gets there often (p = 0.09).
    """

    comparison: Comparison  #: the comparison of the guess
    null: str  #: name of the null that was drawn from
    expected: Fraction  #: expected distance of a draw, exact
    dependencies: Fraction  #: expected number of dependencies that a draw asserts, exact
    is_stuck: bool  #: whether that is the distance of the guess, and of all draws
    context_pairs: int  #: number of pairs whose contexts can be right or wrong
    context_skill: float | None  #: the skill over these pairs, with the states relabelled
    skeleton: Skeleton  #: the test of the graphs alone
    pairs: IntArray  #: positions of the pairs of `pair_chances`: shape (p, 2)
    pair_distances: ObjectArray  #: their distances
    pair_expected: tuple[Fraction, ...]  #: their expected distances
    distances: tuple[Number, ...] = ()  #: distance of each draw, exact
    below: IntArray | None = None  #: nearer draws of each pair; -1 where all are equally far
    equal: IntArray | None = None  #: draws as near of each pair; -1 where all are equally far

    @property
    def draws(self) -> int:
        """The number of guesses that were drawn."""
        return len(self.distances)

    @property
    def distance(self) -> Number:
        """The distance of the guess itself."""
        return self.comparison.distance

    @property
    def skill(self) -> float | None:
        """1 - distance / expected; None if all draws have the same distance as the guess."""
        return None if self.is_stuck else skill_of(self.distance, self.expected)

    @property
    def nearer(self) -> int:
        """The number of draws that are nearer to the true model than the guess is."""
        return sum(distance < self.distance for distance in self.distances)

    @property
    def as_near(self) -> int:
        """The number of draws with exactly the distance of the guess."""
        return sum(distance == self.distance for distance in self.distances)

    @property
    def p_value(self) -> float | None:
        """The share of draws at least as near, the guess included; None if all are equal."""
        if not self.draws or self.is_stuck:
            return None
        return (1 + self.nearer + self.as_near) / (1 + self.draws)

    @property
    def percentile(self) -> float | None:
        """The percentage of nearer draws, plus half of those as near; None as for `p_value`."""
        if not self.draws or self.is_stuck:
            return None
        return 100 * (self.nearer + self.as_near / 2) / self.draws

    def pair_chances(self) -> Iterator[PairChance]:
        """Yield one result per pair; under ``null="variables"`` for all pairs of variables."""
        names = self.comparison.domain.names
        for k, (i, j) in enumerate(self.pairs.tolist()):
            distance, expected = self.pair_distances[k], self.pair_expected[k]
            p_value = percentile = None
            if self.below is not None and self.equal is not None and self.below[k] >= 0:
                below, equal = int(self.below[k]), int(self.equal[k])
                p_value = (1 + below + equal) / (1 + self.draws)
                percentile = 100 * (below + equal / 2) / self.draws
            skill = skill_of(distance, expected)
            yield PairChance((names[i], names[j]), distance, expected, skill, p_value, percentile)

    @property
    def verdict(self) -> str:
        """The conclusion in one or two sentences."""
        peers = self.comparison.roles.peers
        if not self.distance:
            if peers:
                return "The models make exactly the same claims."
            return "The guess makes exactly the claims of the true model."
        if self.is_stuck:
            if peers:
                first = self.comparison.roles.first
                return f"Chance cannot be judged: all random models drawn are as far from {first}."
            return "Chance cannot be judged: all random guesses drawn are as far from the truth."
        sentences = []
        if self.p_value is not None:
            moves = get_null(self.null).moves(self.comparison.domain.cardinalities)
            subject = "The guess is" if moves else "Its contexts are"
            if peers:
                subject = "The models agree" if moves else "Their contexts agree"
            sentences.append(f"{subject} {self._judge(self.p_value)}.")
        if self.skeleton.decides:
            better = "better" if self.skeleton.p_value <= ALPHA else "no better"
            is_right = self.skeleton.true == self.skeleton.guess == self.skeleton.common
            edges = "right" if is_right else f"{better} than chance"
            both = "Their edges agree" if peers else "Its edges are"
            same = "The graphs are the same." if peers and is_right else f"{both} {edges}."
            sentences.append(same)
        return " ".join(sentences) or "Nothing can be judged without draws."

    def _judge(self, p_value: float) -> str:
        p = f"(p = {p_value:.2g})"
        if p_value <= ALPHA:
            return f"better than chance {p}"
        if (1 + self.draws) * ALPHA < 1:
            return f"not judged: that takes at least {round(1 / ALPHA) - 1} draws"
        if not self.nearer and p_value < 1:
            near = "as well as" if self.comparison.roles.peers else "as near as"
            return f"{near} the best draws, but chance gets there often {p}"
        farther = sum(distance >= self.distance for distance in self.distances)
        worse = (1 + farther) / (1 + self.draws) <= ALPHA
        return "worse than chance" if worse else f"no better than chance {p}"

    def record(self) -> dict[str, object]:
        """Return everything but the pairs as one flat mapping; undefined values are None."""
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
        return f"Chance(null={self.null!r}, expected={number(self.expected)}{known})"


class ChanceInterrupted(KeyboardInterrupt):
    """Raised on Ctrl-C during the draws; ``chance`` holds the finished ones."""

    def __init__(self, chance: Chance) -> None:
        super().__init__("the draws were interrupted")
        self.chance = chance


# -- the function ----------------------------------------------------------------------------------


def chance(
    true: ModelLike,
    guess: ModelLike,
    *,
    null: str = DEFAULT_NULL,
    draws: int = 999,
    rng: Seed = 0,
    engine: str = DEFAULT,
    time_limit: float | None = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Chance:
    """Test whether a guess is nearer to the true model than random guesses are.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
    null : how random guesses are drawn
        ``"variables"`` exchanges variables with equally many states and relabels all states.
        ``"states"`` relabels the states of every variable, which keeps the graph. ``"values"``
        gives every literal a random set of as many values.
    draws : number of random guesses for the p-values; 0 computes the expected distance alone
    rng : generator or seed; equal seeds give equal draws
    engine : name of an engine
    time_limit : seconds; a warning tells how many draws were made
    show_progress : bool, or a function of (draws done, all draws)
    **restriction : what to compare, with the keywords of `compare`

    Returns
    -------
    Chance

    Raises
    ------
    ChanceInterrupted
        After Ctrl-C, with the finished draws.
    OpenResult
        If the time limit ends before the distance and its expectation are known.

    Examples
    --------
    The guess misses that the dependencies need D=2, but C=3 is right.

    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2, "C": 5, "D": 5}
    >>> true = Structure(domain, ["A=1 & B=1 & C=3 & D=2"])
    >>> result = chance(true, Structure(domain, ["A=1 & B=1 & C=3"]), null="states", draws=99)
    >>> result.distance, result.expected, result.p_value
    (15, Fraction(93, 5), 0.03)
    >>> print(result)
    Its contexts are better than chance (p = 0.03).
    <BLANKLINE>
    Random guesses (99 draws): the states of every variable are relabelled.
    <BLANKLINE>
    distance       15      context skill  0.2308  common edges    3
    expected       18.6    over pairs     3       expected edges  3
    skill          0.1935                         p of the graph  1
    nearer draws   0
    draws as near  2
    p              0.03
    """
    chosen = get_null(null)
    if draws < 0:
        raise ContextwiseError(f"draws must be >= 0, got {draws}")
    deadline = Deadline.after(time_limit)
    try:
        with deadline.enforced():
            comparison = compare(true, guess, engine=engine, **restriction)
            question = comparison.question
            if not chosen.draws_claims:
                require_features(comparison.guess, f"the null {chosen.name!r}")
            if question.rows is not None and not len(question.rows):
                raise DomainError("no row agrees with the context, so there is nothing to compare")
            moves = chosen.moves(comparison.domain.cardinalities)
            # Exact numbers of each pair, and its distances in a batch, also in the kernel.
            numbers = 6 * (question.pair_count if moves else len(comparison.pairs))
            numbers += (4 + (2 * BATCH if draws else 0)) * len(comparison.pairs)
            comparison.unions.require_memory(numbers, FEWER_PAIRS, "comparing with chance")
            shares = _shares(comparison, chosen)
            pairs = comparison.question.asked_pairs if moves else comparison.pairs
            density = chosen.densities(
                comparison.guess.features, question.space.canonical, shares, pairs
            )
            sizes = question.sizes(pairs)
            deps = _of_pairs(comparison, comparison.unions.lower[:, 0], pairs)
            expected = _expected(deps, sizes, density)
            total = sum(expected, start=Fraction(0))
            errors = comparison.counts[:, 1] + comparison.counts[:, 2]
            context_pairs, context_skill = _context_skill(comparison, shares)
            result = Chance(
                comparison=comparison,
                null=chosen.name,
                expected=total,
                dependencies=sum(
                    (g * n for g, n in zip(density, sizes, strict=True)), start=Fraction(0)
                ),
                is_stuck=total == comparison.distance and _is_stuck(comparison, chosen),
                context_pairs=context_pairs,
                context_skill=context_skill,
                skeleton=_skeleton(comparison),
                pairs=pairs,
                pair_distances=_of_pairs(comparison, errors, pairs),
                pair_expected=tuple(expected),
            )
    except deadline.out_of_time:
        raise OpenResult("chance was not computed within the time limit; allow more time") from None
    if not draws:
        return result
    varies = [0 < g < 1 for g in density] if moves else _varies(chosen, comparison, density)
    places = np.flatnonzero(varies)
    guessed = result.pair_distances[places]
    plan = DrawPlan(chosen, question, pairs[places], deps[places], moves, comparison.engine)
    fixed = comparison.distance - sum(guessed.tolist())
    batches: list[tuple[list[Number], IntArray]] = []  # distances; by pair, nearer and as near
    source, interrupted = np.random.default_rng(rng), False
    try:
        with deadline.enforced(), progress_of(show_progress, "drawing guesses") as progress:
            for first in range(0, draws, BATCH):
                drawn = plan.draw(source.spawn(min(BATCH, draws - first)))
                near = np.array([drawn < guessed, drawn == guessed], dtype=bool).sum(axis=1)
                batches.append(([fixed + sum(each.tolist()) for each in drawn], near))
                if progress:
                    progress(first + len(drawn), draws)
    except deadline.out_of_time:
        pass
    except KeyboardInterrupt:
        interrupted = True
    if interrupted and not batches:
        raise KeyboardInterrupt
    if batches:
        distances = tuple(distance for batch, _ in batches for distance in batch)
        # -1 marks pairs on which all draws have the same distance.
        below, equal = np.full((2, len(pairs)), -1, dtype=np.int64)
        below[places], equal[places] = np.sum([near for _, near in batches], axis=0)
        # Equal draws prove nothing if the expected distance, which is exact, is another one.
        stuck = result.is_stuck and all(d == comparison.distance for d in distances)
        result = replace(result, distances=distances, below=below, equal=equal, is_stuck=stuck)
    if interrupted:
        raise ChanceInterrupted(result)
    if result.draws < draws:
        warnings.warn(f"the time limit ended after {result.draws} of {draws} draws", stacklevel=2)
    return result


# -- in closed form --------------------------------------------------------------------------------


def skills(comparison: Comparison) -> tuple[float | None, float | None]:
    """Return the skill under the default null and the context skill; None where undefined."""
    if comparison.question.pair_size is not None:
        return None, None
    null = NULLS[DEFAULT_NULL]
    shares = _shares(comparison, null)
    cards = comparison.domain.cardinalities
    means = _mean_shares(cards, shares)
    pairs = comparison.question.asked_pairs
    # Pairs of one kind have the same size and density: add up by kind.
    kinds, first, counts = np.unique(
        np.sort(np.array(cards, dtype=np.int64)[pairs], axis=1),
        axis=0,
        return_index=True,
        return_counts=True,
    )
    sizes = comparison.question.sizes(pairs[first])
    deps: dict[tuple[int, int], int] = defaultdict(int)
    for (i, j), dependent in zip(
        comparison.pairs.tolist(), comparison.unions.lower[:, 0], strict=True
    ):
        deps[_kind(cards, i, j)] += dependent
    expected = Fraction(0)
    for (a, b), count, size in zip(kinds.tolist(), counts.tolist(), sizes, strict=True):
        # deps (1 - g) + (size - deps) g: errors if the guess depends with probability g.
        expected += deps[a, b] + (count * size - 2 * deps[a, b]) * means[a, b]
    stuck = expected == comparison.distance and _is_stuck(comparison, null)
    skill = None if stuck else skill_of(comparison.distance, expected)
    return skill, _context_skill(comparison, shares)[1]


def _shares(comparison: Comparison, null: Null) -> PairShares:
    """Return in which share of all contexts the guess has each pair depend."""
    question, uniform = comparison.question, comparison
    restricted = question.asked is not None and null.moves(comparison.domain.cardinalities)
    if question.pair_size is not None or restricted:
        nothing = Structure(comparison.domain)
        uniform = compare(
            nothing,
            comparison.guess,
            engine=comparison.engine,
            contexts=comparison.question.contexts,
        )
    counts = zip(uniform.pairs.tolist(), uniform.unions.lower[:, 1], uniform.sizes, strict=True)
    return {(i, j): Fraction(dependent) / size for (i, j), dependent, size in counts}


def _is_stuck(comparison: Comparison, null: Null) -> bool:
    """Return whether 20 draws all have the distance of the guess.

    Then their mean has it too, so call this only if the expected distance is that of the guess.
    """
    for generator in np.random.default_rng(0).spawn(BATCH):
        moved = null.draw(comparison.guess.features, generator)
        drawn = type(comparison.guess)(comparison.domain, moved)
        again = replace(comparison.question, structures=(comparison.true, drawn))
        if answer(again, engine=comparison.engine).distance != comparison.distance:
            return False
    return True


def _expected(
    deps: Iterable[Number], sizes: Iterable[Number], density: Iterable[Fraction]
) -> list[Fraction]:
    return [t + (n - 2 * t) * g for t, n, g in zip(deps, sizes, density, strict=True)]


def _context_skill(comparison: Comparison, shares: PairShares) -> tuple[int, float | None]:
    """Return the number of pairs whose contexts can be right or wrong, and the skill over them."""
    states = NULLS["states"]
    density = states.densities(
        comparison.guess.features, comparison.question.space.canonical, shares, comparison.pairs
    )
    where = np.flatnonzero(_varies(states, comparison, density)).tolist()
    if not where:
        return 0, None
    expected = _expected(comparison.unions.lower[:, 0], comparison.sizes, density)
    errors = comparison.counts[:, 1] + comparison.counts[:, 2]
    return len(where), skill_of(
        sum(errors[k] for k in where), sum((expected[k] for k in where), start=Fraction(0))
    )


def _varies(null: Null, comparison: Comparison, density: Sequence[Fraction]) -> list[bool]:
    """Return for which pairs draws have different distances, if scopes stay."""
    varies = [0 < g < 1 for g in density]
    if null.keeps_counts and comparison.question.pair_size is None:
        deps = comparison.unions.lower[:, 0]
        return [v and 0 < t < n for v, t, n in zip(varies, deps, comparison.sizes, strict=True)]
    return varies


def _of_pairs(comparison: Comparison, numbers: ObjectArray, pairs: IntArray) -> ObjectArray:
    """Look up the numbers of these pairs; 0 for pairs that no feature covers."""
    if pairs is comparison.pairs:
        return numbers
    known = dict(zip(map(tuple, comparison.pairs.tolist()), numbers, strict=True))
    return np.array([known.get(tuple(pair), 0) for pair in pairs.tolist()], dtype=object)


def _skeleton(comparison: Comparison) -> Skeleton:
    pairs = set(map(tuple, comparison.question.asked_pairs.tolist()))
    in_true, in_guess = (
        pairs.intersection(map(tuple, active_pairs(model).tolist()))
        for model in (comparison.true, comparison.guess)
    )
    common = len(in_true & in_guess)
    return Skeleton(pairs=len(pairs), true=len(in_true), guess=len(in_guess), common=common)


# -- by draws --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DrawPlan:
    """Everything a draw needs."""

    null: Null
    question: Question
    pairs: IntArray  # those whose distance a draw can change
    deps: ObjectArray  # in how many contexts each of them depends in the true model
    moves: bool
    engine: str

    @cached_property
    def models(self) -> tuple[Features, Features]:
        """The features of the true model and of the guess."""
        true, guess = self.question.structures
        return true.features, guess.features

    def draw(self, generators: Sequence[np.random.Generator]) -> ObjectArray:
        """Return the distance of each draw in each pair: shape (draws, pairs)."""
        question, (true, guess) = self.question, self.models
        if self.moves or question.rows is not None:
            return np.stack([self._draw_one(generator) for generator in generators])
        step = max(1, LITERALS // max(1, len(guess.variables)))
        parts = []
        for first in range(0, len(generators), step):
            batch = generators[first : first + step]
            redrawn = count_redrawn(
                true,
                guess,
                np.stack([self.null.draw_values(guess, each) for each in batch]),
                self.pairs,
                engine=self.engine,
                space=question.space,
            )
            parts.append(redrawn)
        distances = np.concatenate(parts)
        weighted = question.space.weights is not None
        return distances / self._sizes(self.pairs) if weighted else distances

    def _draw_one(self, generator: np.random.Generator) -> ObjectArray:
        guess = self.models[1]
        if not self.moves:
            return self._count(self.null.draw(guess, generator), self.pairs)
        drawn, place = self.null.draw_moved(guess, generator)
        covered, counts = self._covered
        code = (len(place), 1)
        moved = np.sort(place[covered], axis=1) @ code
        _, in_pairs, in_moved = np.intersect1d(self.pairs @ code, moved, return_indices=True)
        # On a pair that the drawn guess does not cover, it misses every dependence.
        distances = self.deps.copy()
        if counts is not None:  # where the true model has no dependence, the count moves along
            distances[in_pairs] = counts[in_moved]
            in_pairs = in_pairs[self.deps[in_pairs] != 0]
        distances[in_pairs] = self._count(drawn, self.pairs[in_pairs])
        return distances

    @cached_property
    def _covered(self) -> tuple[IntArray, ObjectArray | None]:
        """The pairs that the guess covers, and how often each depends if that moves along."""
        guess = self.models[1]
        pairs = covered_pairs(guess)
        if self.question.pair_size is not None:
            return pairs, None
        return pairs, self._counts(guess, pairs).lower[:, 1]

    def _counts(self, drawn: Features, pairs: IntArray) -> PairCounts:
        true, question = self.models[0], self.question
        if question.rows is not None:
            counts = count_rows(true, drawn, pairs, question.rows, space=question.space)
        else:
            count_pairs = get_engine(self.engine).count_pairs
            counts = count_pairs(true, drawn, pairs, space=question.space)
        if counts.interrupted:
            raise KeyboardInterrupt
        return counts

    def _count(self, drawn: Features, pairs: IntArray) -> ObjectArray:
        a, b, both = self._counts(drawn, pairs).lower.T
        distances: ObjectArray = 2 * both - a - b
        weighted = self.question.space.weights is not None
        return distances / self._sizes(pairs) if weighted else distances

    def _sizes(self, pairs: IntArray) -> ObjectArray:
        """The total weight of the contexts of each pair."""
        sizes = self.question.space.of_pairs(self.question.domain.cardinalities, pairs)
        return np.array([Fraction(size) for size in sizes], dtype=object)
