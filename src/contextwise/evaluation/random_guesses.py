"""Compare a guess with random guesses of the same shape.

A random guess exchanges the variables of the guess that have equally many states, and relabels all
states. Then a pair depends with the same probability in every context of a random guess, its
**density** g: the mean share of contexts over all pairs with the same two numbers of states. If the
pair depends in T of N contexts in the true model, its expected distance is T + (N - 2·T)·g. This is
exact, because the expectation of a sum needs no independence between contexts. Draws are needed for
p-values only.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Unpack

import numpy as np

from contextwise.comparison.confusion import Number, ratio
from contextwise.comparison.question import Restriction
from contextwise.comparison.two_models import Comparison, answer, compare
from contextwise.counting.contract import DEFAULT
from contextwise.counting.extraction import FEWER_PAIRS
from contextwise.errors import ContextwiseError, DomainError, OpenResult
from contextwise.formats import ModelLike
from contextwise.models.features import WORD, Features
from contextwise.models.structure import Structure
from contextwise.support.arrays import IntArray, WordArray
from contextwise.support.effort import Deadline, Effort, Progress
from contextwise.support.formatting import Printed, number
from contextwise.support.words import p_is

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Chance", "chance"]

ALPHA = 0.05
"""A p-value up to this counts as better than chance in the verdict."""
LATE = "chance was not computed within the time limit; allow more time"

PairShares = Mapping[tuple[int, int], Fraction]
"""For each covered pair the share of contexts in which it depends."""


# -- results ---------------------------------------------------------------------------------------


def skill_of(distance: Number, expected: Number) -> float | None:
    """Return 1 - distance / expected; None if the expected distance is 0."""
    return 1 - ratio(distance, expected) if expected else None


@dataclass(frozen=True, eq=False, repr=False)
class Chance(Printed):
    """A comparison next to random guesses.

    Examples
    --------
    >>> from contextwise.evaluation import chance
    >>> result = chance("six", "six-guess", draws=99)
    >>> result
    Chance(expected=106.667, skill=0.85, context_skill=1, p_value=0.09)
    >>> print(result.verdict)
    The guess is as near as the best draws, but chance gets there often (p = 0.09).
    """

    comparison: Comparison  #: the comparison of the guess
    expected: Fraction  #: expected distance of a draw, exact
    context_pairs: int  #: number of pairs whose contexts can be right or wrong
    context_skill: float | None  #: the skill over these pairs, with the states relabelled
    distances: tuple[Number, ...] = ()  #: distance of each draw, exact

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
        """1 - distance / expected; None if both are 0."""
        return skill_of(self.distance, self.expected)

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
        """The share of draws at least as near, the guess included; None without draws."""
        return (1 + self.nearer + self.as_near) / (1 + self.draws) if self.draws else None

    @property
    def verdict(self) -> str:
        """The conclusion in one sentence."""
        peers = self.comparison.roles.peers
        if not self.distance:
            if peers:
                return "The models make exactly the same claims."
            return "The guess makes exactly the claims of the true model."
        if self.p_value is None:
            return "Nothing can be judged without draws."
        if can_exchange(self.comparison.domain.cardinalities):
            subject = "The models agree" if peers else "The guess is"
        else:
            subject = "Their contexts agree" if peers else "Its contexts are"
        return f"{subject} {self._judge(self.p_value)}."

    def _judge(self, p_value: float) -> str:
        p = f"({p_is(p_value)})"
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
            "draws": self.draws,
            "expected": self.expected,
            "skill": self.skill,
            "context_skill": self.context_skill,
            "context_pairs": self.context_pairs,
            "p_value": self.p_value,
            "draws_nearer": self.nearer if self.draws else None,
            "draws_as_near": self.as_near if self.draws else None,
            "verdict": self.verdict,
        }

    def __repr__(self) -> str:
        shown = {"skill": self.skill, "context_skill": self.context_skill, "p_value": self.p_value}
        known = "".join(f", {k}={v:.4g}" for k, v in shown.items() if v is not None)
        return f"Chance(expected={number(self.expected)}{known})"


# -- the function ----------------------------------------------------------------------------------


def chance(
    true: ModelLike,
    guess: ModelLike,
    *,
    draws: int = 999,
    seed: Seed = 0,
    engine: str = DEFAULT,
    time_limit: float | None = None,
    show_progress: bool | Progress = False,
    **restriction: Unpack[Restriction],
) -> Chance:
    """Test whether a guess is nearer to the true model than random guesses are.

    A random guess exchanges variables with equally many states and relabels all states.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
    draws : number of random guesses for the p-values; 0 computes the expected distance alone
    seed : generator or seed; equal seeds give equal draws
    engine : name of an engine
    time_limit : seconds; a warning tells how many draws were made
    show_progress : bool, or a function of (draws done, all draws)
    **restriction : what to compare, with the keywords of `compare`

    Returns
    -------
    Chance

    Raises
    ------
    OpenResult
        If the time limit ends before the distance and its expectation are known.

    Examples
    --------
    The guess misses that the dependencies need D=2, but C=3 is right.

    >>> from contextwise import Structure
    >>> domain = {"A": 2, "B": 2, "C": 5, "D": 5}
    >>> true = Structure(domain, ["A=1 & B=1 & C=3 & D=2"])
    >>> result = chance(true, Structure(domain, ["A=1 & B=1 & C=3"]), draws=99)
    >>> result.distance, result.expected
    (15, Fraction(93, 5))
    >>> print(result)
    The guess is better than chance (p = 0.05).
    <BLANKLINE>
    Random guesses (99 draws): variables with equally many states are exchanged, and all states are
    relabelled.
    <BLANKLINE>
    distance       15      context skill  0.2308
    expected       18.6    over pairs     3
    skill          0.1935
    nearer draws   0
    draws as near  4
    p              0.05
    """
    if draws < 0:
        raise ContextwiseError(f"draws must be >= 0, got {draws}")
    deadline = Deadline.after(time_limit)
    comparison = compare(true, guess, engine=engine, time_limit=deadline.left(), **restriction)
    rows = comparison.question.rows
    if rows is not None and not len(rows):
        raise DomainError("no row agrees with the context, so there is nothing to compare")
    if len(comparison.unions.open_places) or deadline.passed:
        raise OpenResult(LATE)
    question = comparison.question
    pairs = question.asked_pairs
    # Exact numbers of each pair, also in the kernel.
    numbers = 6 * question.pair_count + 4 * len(comparison.pairs)
    comparison.unions.require_memory(numbers, FEWER_PAIRS, "comparing with chance")
    shares = _shares(comparison, deadline)
    density = _densities(comparison.domain.cardinalities, shares, pairs)
    known = dict(
        zip(map(tuple, comparison.pairs.tolist()), comparison.unions.lower[:, 0], strict=True)
    )
    expected = Fraction(0)
    for pair, size, g in zip(pairs.tolist(), question.sizes(pairs), density, strict=True):
        t = known.get(tuple(pair), 0)
        expected += t + (size - 2 * t) * g
    result = Chance(comparison, expected, *_context_skill(comparison, shares))
    return _with_draws(result, draws, seed, deadline, show_progress) if draws else result


# -- in closed form --------------------------------------------------------------------------------


def _shares(comparison: Comparison, deadline: Deadline) -> PairShares:
    """Return in which share of all contexts the guess has each pair depend."""
    question, counted = comparison.question, comparison
    if question.pair_size is not None or question.asked is not None:
        counted = compare(
            Structure(comparison.domain),
            comparison.guess,
            engine=comparison.engine,
            contexts=question.contexts,
            time_limit=deadline.left(),
        )
        if len(counted.unions.open_places):
            raise OpenResult(LATE)
    counts = zip(counted.pairs.tolist(), counted.unions.lower[:, 1], counted.sizes, strict=True)
    return {(i, j): Fraction(dependent) / size for (i, j), dependent, size in counts}


def _densities(cards: Sequence[int], shares: PairShares, pairs: IntArray) -> list[Fraction]:
    """Return for each pair the mean share over all pairs with the same two cardinalities."""

    def kind(i: int, j: int) -> tuple[int, int]:
        return min(cards[i], cards[j]), max(cards[i], cards[j])

    total: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for (i, j), share in shares.items():
        total[kind(i, j)] += share
    count = {card: cards.count(card) for card in set(cards)}

    def mean(kind: tuple[int, int]) -> Fraction:
        first, second = (count[card] for card in kind)
        return total[kind] / (first * (first - 1) // 2 if kind[0] == kind[1] else first * second)

    kinds = [kind(i, j) for i, j in pairs.tolist()]
    means = {each: mean(each) for each in set(kinds)}
    return [means[each] for each in kinds]


def _context_skill(comparison: Comparison, shares: PairShares) -> tuple[int, float | None]:
    """Return the number of pairs whose contexts can be right or wrong, and the skill over them.

    If only states are relabelled, the density of a pair is its own share.
    """
    uniform = comparison.question.pair_size is None
    errors = comparison.counts[:, 1] + comparison.counts[:, 2]
    distance, expected, count = Fraction(0), Fraction(0), 0
    for (i, j), t, n, wrong in zip(
        comparison.pairs.tolist(),
        comparison.unions.lower[:, 0],
        comparison.sizes,
        errors,
        strict=True,
    ):
        g = shares.get((i, j), Fraction(0))
        if 0 < g < 1 and (0 < t < n or not uniform):
            count += 1
            distance += wrong
            expected += t + (n - 2 * t) * g
    return count, skill_of(distance, expected) if count else None


# -- by draws --------------------------------------------------------------------------------------


def can_exchange(cardinalities: Sequence[int]) -> bool:
    """Return whether a draw can cover other pairs than the guess does."""
    return len(set(cardinalities)) < len(cardinalities)


def draw(features: Features, generator: np.random.Generator) -> Features:
    """Draw a random guess of the shape of this one."""
    cards = features.cardinalities
    place = np.arange(len(cards))
    for cardinality in np.unique(cards).tolist():
        alike = np.flatnonzero(cards == cardinality)
        place[alike] = generator.permutation(alike)
    variables = place[features.variables]
    # Owners are sorted already, so a stable sort is fast.
    order = np.argsort(features.owners * len(cards) + variables, kind="stable")
    pairs = features.pairs
    moved = replace(
        features,
        variables=variables[order].astype(np.int32),
        values=features.values[order],
        pairs=None if pairs is None else np.sort(place[pairs], axis=1).astype(np.int32),
    )
    return replace(moved, values=_relabelled(moved, generator))


def _relabelled(features: Features, generator: np.random.Generator) -> WordArray:
    """Return the value sets after a random relabelling of the states of every variable."""
    cards = features.cardinalities
    width = int(cards.max(initial=1))
    keys = generator.random((len(cards), width))
    keys[np.arange(width) >= cards[:, None]] = 2.0  # sort values that do not exist last
    order = np.argsort(keys, axis=1, kind="stable")
    flat = np.ascontiguousarray(features.values).astype("<u8").view(np.uint8)
    bits = np.unpackbits(flat[:, : -(-width // 8)], axis=1, bitorder="little")[:, :width]
    packed = np.packbits(
        np.take_along_axis(bits, order[features.variables], axis=1), axis=1, bitorder="little"
    )
    wide = np.zeros((len(bits), features.values.shape[1] * WORD // 8), dtype=np.uint8)
    wide[:, : packed.shape[1]] = packed
    return wide.view("<u8").astype(np.uint64)


def _with_draws(
    result: Chance, draws: int, seed: Seed, deadline: Deadline, show_progress: bool | Progress
) -> Chance:
    """Add the distances of random guesses."""
    comparison = result.comparison
    distances: list[Number] = []
    source = np.random.default_rng(seed)
    try:
        with Effort(show_progress=show_progress).showing("drawing guesses") as shown:
            for done in range(1, draws + 1):
                deadline.check()
                drawn = draw(comparison.guess.features, source.spawn(1)[0])
                models = comparison.true, type(comparison.guess)(comparison.domain, drawn)
                question = replace(comparison.question, structures=models, weighted=())
                compared = answer(question, Effort(deadline), engine=comparison.engine)
                if compared.unions.interrupted:
                    raise KeyboardInterrupt
                if len(compared.unions.open_places):
                    break
                distances.append(compared.distance)
                shown.report(done, draws)
    except deadline.out_of_time:
        pass
    if len(distances) < draws:
        text = f"the time limit ended after {len(distances)} of {draws} draws"
        warnings.warn(text, stacklevel=3)
    return replace(result, distances=tuple(distances))
