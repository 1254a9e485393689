"""A comparison beside guesses by chance: the numbers, and what they mean in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from contextwise.comparison.compare import Comparison
from contextwise.comparison.confusion import Number, ratio
from contextwise.comparison.pairs import Pair
from contextwise.counting import ObjectArray
from contextwise.evaluation.nulls import Null
from contextwise.models.features import IntArray

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
class Chance:
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

    def __str__(self) -> str:
        from contextwise.report.chances import chance_parts
        from contextwise.report.text import as_text

        return as_text(chance_parts(self))

    def _repr_html_(self) -> str:
        from contextwise.report.notebook import chance_html

        return chance_html(self)

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
