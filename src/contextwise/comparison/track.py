"""A comparison that follows changes: what one feature more or less does to the distance.

A search for structures tries thousands of small changes. A change of one feature touches only the
pairs inside its scope, and of these only the contexts inside its cube. A `Tracker` counts what
changes there and keeps the rest; it is exact after every step, and ``preview`` tells what a change
would do without making it.

The cost of a step is that of k(k - 1)/2 pairs for a feature of k variables. Memory grows with the
features that were ever known to the tracker, one entry for each pair of their scopes, and with the
steps that can be undone.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Unpack

import numpy as np

from contextwise.comparison.compare import Interrupted, answer
from contextwise.comparison.confusion import Confusion, Number
from contextwise.comparison.pairs import pair_positions
from contextwise.comparison.question import Question, Restriction, pose
from contextwise.counting.changes import changing_unions
from contextwise.errors import ContextwiseError, DomainError
from contextwise.formats import ModelLike
from contextwise.models.features import PairIndex
from contextwise.models.literals import Feature, features_of, literals_of
from contextwise.models.notation import write_literals
from contextwise.models.structure import Structure
from contextwise.support.deadline import NEVER, Deadline, OutOfTime

Literals = tuple[tuple[int, int], ...]
Unions = tuple[Number, Number, Number]
Growth = dict[PairIndex, tuple[Number, Number]]
"""Of each touched pair, how much the union of the guess grows, and that of both models."""


def track(true: ModelLike, guess: ModelLike, **restriction: Unpack[Restriction]) -> Tracker:
    """Compare two models, and follow changes of the guess.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
    **restriction
        What is compared, with the keywords of `compare`; observed rows are not followed.

    Returns
    -------
    Tracker

    Raises
    ------
    ContextwiseError
        If rows of data are given: count them anew with `compare`, which is quick.

    Examples
    --------
    >>> tracker = track("lung", "lung-learned")
    >>> tracker.preview(add=["smoker=yes & asbestos=yes & cancer=yes"]).distance, tracker.distance
    (1, 2)
    """
    return Tracker(pose([true, guess], **restriction))


class Tracker:
    """A true model and a guess that changes, and how they compare; made by `track`.

    A step that is refused (a feature that is not there, one that is there already, one of another
    domain) changes nothing.

    Parameters
    ----------
    question : the two models, and what is asked of them; `track` makes it

    Examples
    --------
    >>> tracker = track("lung", "lung-learned")
    >>> tracker.distance
    2
    >>> tracker.add("smoker=yes & asbestos=yes & cancer=yes").distance
    1
    >>> tracker.undo().distance
    2
    """

    def __init__(self, question: Question, *, deadline: Deadline = NEVER) -> None:
        if question.rows is not None:
            raise ContextwiseError("a tracker does not follow observed rows; use compare for them")
        comparison = answer(question, deadline=deadline)
        if comparison.interrupted:
            raise Interrupted(comparison)  # its counts are bounds
        if comparison.open_pairs:
            raise OutOfTime
        self._question = question
        self._total = question.total
        self._asked = None if question.asked is None else set(map(tuple, question.asked.tolist()))
        true, guess = question.structures
        self._unions = changing_unions(
            true.features,
            guess.features,
            canonical=question.canonical,
            value_weights=question.value_weights,
        )
        known = [tuple(literals) for literals in guess.features.literals()]
        self._number: dict[Literals, int] = {literals: k for k, literals in enumerate(known)}
        self._present: dict[Literals, None] = dict.fromkeys(known)
        self._sizes: dict[PairIndex, Unions] = {
            (i, j): tuple(row)
            for (i, j), row in zip(
                comparison.pairs.tolist(), comparison.unions.lower.tolist(), strict=True
            )
        }
        sums = [sum(column) for column in comparison.unions.lower.T]
        self._sums: Unions = (sums[0], sums[1], sums[2]) if len(sums) == 3 else (0, 0, 0)
        self._history: list[tuple[list[Literals], list[Literals], Growth]] = []

    # -- what is known ---------------------------------------------------------------------------

    @property
    def confusion(self) -> Confusion:
        """The confusion matrix of the guess as it is now."""
        return self._confusion(self._sums)

    @property
    def distance(self) -> Number:
        """FP + FN of the guess as it is now."""
        return self.confusion.distance

    @property
    def guess(self) -> Structure:
        """The guess as it is now."""
        domain = self._question.domain
        return Structure(domain, features_of(domain, self._present))

    @property
    def true(self) -> Structure:
        """The true structure."""
        return self._question.structures[0]

    def __len__(self) -> int:
        """How many features the guess has now."""
        return len(self._present)

    def has(self, feature: Feature) -> bool:
        """Whether the guess has a feature now."""
        return self._literals(feature) in self._present

    def pair(self, first: str, second: str) -> Confusion:
        """The confusion matrix of one pair, as it is now.

        Parameters
        ----------
        first, second : names of two variables

        Returns
        -------
        Confusion
        """
        i, j = pair_positions(self._question.domain, (first, second))
        if self._asked is not None and (i, j) not in self._asked:
            raise DomainError(f"this comparison leaves out the pair {first!r}, {second!r}")
        a, b, u = self._sizes.get((i, j), (0, 0, 0))
        size = self._question.sizes(np.array([[i, j]]))[0]
        return Confusion(a + b - u, u - b, u - a, size - u)

    # -- steps -----------------------------------------------------------------------------------

    def add(self, feature: Feature) -> Tracker:
        """Add a feature to the guess.

        Parameters
        ----------
        feature : mapping or text
            As in `Structure`.

        Returns
        -------
        the tracker itself

        Raises
        ------
        ContextwiseError
            If the guess has it already, or it can never hold.
        """
        return self._step([self._literals(feature)], [])

    def remove(self, feature: Feature) -> Tracker:
        """Remove a feature from the guess.

        Parameters
        ----------
        feature : mapping or text

        Returns
        -------
        the tracker itself

        Raises
        ------
        ContextwiseError
            If the guess does not have it.
        """
        return self._step([], [self._literals(feature)])

    def replace(self, old: Feature, new: Feature) -> Tracker:
        """Put one feature into the place of another, as one step.

        Parameters
        ----------
        old : mapping or text
            A feature of the guess.
        new : mapping or text
            One that the guess does not have.

        Returns
        -------
        the tracker itself
        """
        return self._step([self._literals(new)], [self._literals(old)])

    def preview(self, *, add: Iterable[Feature] = (), remove: Iterable[Feature] = ()) -> Confusion:
        """The confusion matrix as it would be after a change; nothing is changed.

        Parameters
        ----------
        add : features that the guess would have more
        remove : features that it would have less

        Returns
        -------
        Confusion
        """
        more = [self._literals(feature) for feature in add]
        less = [self._literals(feature) for feature in remove]
        return self._confusion(_grown(self._sums, self._growth(more, less).values()))

    def undo(self) -> Tracker:
        """Take back the last step.

        Returns
        -------
        the tracker itself

        Raises
        ------
        ContextwiseError
            If there is none.
        """
        if not self._history:
            raise ContextwiseError("there is no step to undo")
        more, less, growth = self._history.pop()
        self._apply(less, more, {pair: (-b, -u) for pair, (b, u) in growth.items()})
        return self

    def _step(self, more: list[Literals], less: list[Literals]) -> Tracker:
        growth = self._growth(more, less)
        self._apply(more, less, growth)
        self._history.append((more, less, growth))
        return self

    def _apply(self, more: list[Literals], less: list[Literals], growth: Growth) -> None:
        for literals in less:
            self._unions.erase(self._number[literals])
            del self._present[literals]
        for literals in more:
            self._unions.insert(self._number[literals])
            self._present[literals] = None
        self._sums = _grown(self._sums, growth.values())
        for pair, own in growth.items():
            self._sizes[pair] = _grown(self._sizes.get(pair, (0, 0, 0)), [own])

    def _growth(self, more: list[Literals], less: list[Literals]) -> Growth:
        """What a change does to the pairs it touches; a change that cannot be is refused."""
        self._check(more, less)
        for literals in more:
            if literals not in self._number:
                self._number[literals] = self._unions.know(literals)
        touched: dict[PairIndex, None] = {}
        for literals in (*more, *less):
            touched.update(dict.fromkeys(combinations([v for v, _ in literals], 2)))
        if self._asked is not None:
            touched = {pair: None for pair in touched if pair in self._asked}
        pairs = list(touched)
        added, removed = ([self._number[literals] for literals in side] for side in (more, less))
        found = zip(pairs, self._unions.growth(pairs, added, removed), strict=True)
        if self._question.value_weights is None:
            return dict(found)
        return {
            pair: (Fraction(b, whole), Fraction(u, whole))
            for pair, (b, u) in found
            for whole in [self._whole(pair)]
        }

    def _whole(self, pair: PairIndex) -> int:
        """What all contexts of a pair weigh, in the units of the counts."""
        weights = self._question.value_weights or ()
        inside = () if self._question.canonical else pair
        return prod(sum(own) for v, own in enumerate(weights) if v not in inside)

    def _check(self, more: list[Literals], less: list[Literals]) -> None:
        for literals in less:
            if literals not in self._present:
                raise DomainError(f"the guess has no feature {self._text(literals)}")
        for literals in more:
            if literals in self._present and literals not in less:
                raise DomainError(f"the guess has the feature {self._text(literals)} already")
        if len({*more}) < len(more) or len({*less}) < len(less):
            raise DomainError("a change names a feature twice")
        if {*more} & {*less}:
            raise DomainError("a change cannot add and remove the same feature")

    # -- small things ----------------------------------------------------------------------------

    def _confusion(self, sums: Unions) -> Confusion:
        a, b, u = sums
        return Confusion(a + b - u, u - b, u - a, self._total - u)

    def _literals(self, feature: Feature) -> Literals:
        """A feature as it is known: rising variables, and no literal that allows everything."""
        domain = self._question.domain
        found: dict[int, int] = {}
        for variable, allowed in literals_of(domain, feature):
            found[variable] = found.get(variable, allowed) & allowed
        if not all(found.values()):
            raise DomainError(f"the feature {feature!r} can never hold")
        everything = domain.cardinalities
        return tuple((v, found[v]) for v in sorted(found) if found[v] != (1 << everything[v]) - 1)

    def _text(self, literals: Literals) -> str:
        domain = self._question.domain
        return repr(write_literals(domain.literal(v, allowed) for v, allowed in literals))


def _grown(unions: Unions, growth: Iterable[tuple[Number, Number]]) -> Unions:
    """Unions after the second and the third have grown."""
    a, b, u = unions
    for more_b, more_u in growth:
        b, u = b + more_b, u + more_u
    return a, b, u
