"""Track a comparison while features of the guess are added and removed.

A search for structures tries thousands of small changes. A feature changes only the pairs inside
its scope, and of these only the contexts inside its cube. A `Tracker` counts these changes; it is
exact after every step, and ``preview`` evaluates a change without making it.

A step with a feature of k variables costs k(k - 1)/2 pairs. Memory grows with the features ever
known to the tracker, one entry for each pair of their scopes, and with the steps to undo.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from typing import Unpack

import numpy as np

from contextwise.comparison.confusion import Confusion, Number
from contextwise.comparison.question import Question, Restriction, pose
from contextwise.comparison.two_models import Interrupted, answer
from contextwise.counting.changes import changing_unions
from contextwise.errors import ContextwiseError, DomainError
from contextwise.formats import ModelLike
from contextwise.models.domain import value_sets_of
from contextwise.models.features import PairIndex
from contextwise.models.notation import write_literals
from contextwise.models.structure import (
    Feature,
    Structure,
    features_of,
    require_features,
)
from contextwise.support.effort import QUIET

Literals = tuple[tuple[int, int], ...]
Unions = tuple[Number, Number, Number]
Growth = dict[PairIndex, tuple[Number, Number]]
"""For each changed pair, the growth of the guess's union and of the union of both models."""


def track(true: ModelLike, guess: ModelLike, **restriction: Unpack[Restriction]) -> Tracker:
    """Compare two models and track changes of the guess.

    Parameters
    ----------
    true, guess : models, paths of model files, or names of bundled examples
    **restriction
        The keywords of `compare` that restrict it, except ``data``.

    Examples
    --------
    >>> tracker = track("lung", "lung-learned")
    >>> tracker.preview(add=["smoker=yes & asbestos=yes & cancer=yes"]).distance, tracker.distance
    (1, 2)
    """
    return Tracker(pose([true, guess], **restriction))


class Tracker:
    """A comparison of a true model with a guess that changes; made by `track`.

    Features are mappings or texts, as in `Structure`. Steps return the tracker itself; a step that
    raises an error changes nothing.

    >>> tracker = track("lung", "lung-learned")
    >>> tracker.add("smoker=yes & asbestos=yes & cancer=yes").distance
    1
    >>> tracker.undo().distance
    2
    """

    def __init__(self, question: Question) -> None:
        require_features(question.structures[1], "a tracked guess")
        if question.rows is not None:
            raise ContextwiseError("a tracker takes no data; use compare for observed rows")
        comparison = answer(question, QUIET)
        if comparison.unions.interrupted:
            raise Interrupted(comparison)  # its counts are bounds
        self._question = question
        self._asked = None if question.asked is None else set(map(tuple, question.asked.tolist()))
        true, guess = question.structures
        self._unions = changing_unions(true.features, guess.features, question.space)
        known = [tuple(literals) for literals in guess.features.literals()]
        self._number: dict[Literals, int] = {literals: k for k, literals in enumerate(known)}
        self._present: dict[Literals, None] = dict.fromkeys(known)
        self._sizes: dict[PairIndex, Unions] = {
            (i, j): tuple(row)
            for (i, j), row in zip(
                comparison.pairs.tolist(), comparison.unions.lower.tolist(), strict=True
            )
        }
        a, b, u = comparison.unions.total(comparison.unions.low)
        self._sums: Unions = (a, b, u)
        self._history: list[tuple[list[Literals], list[Literals], Growth]] = []

    @property
    def confusion(self) -> Confusion:
        """The confusion matrix of the current guess."""
        return Confusion.of(self._sums, self._question.total)

    @property
    def distance(self) -> Number:
        """FP + FN of the current guess."""
        return self.confusion.distance

    @property
    def guess(self) -> Structure:
        """The current guess."""
        domain = self._question.domain
        return Structure(domain, features_of(domain, self._present))

    def __len__(self) -> int:
        """Return the number of features of the current guess."""
        return len(self._present)

    def has(self, feature: Feature) -> bool:
        """Return whether the current guess has a feature."""
        return self._literals(feature) in self._present

    def pair(self, first: str, second: str) -> Confusion:
        """Return the current confusion matrix of one pair."""
        i, j = self._question.domain.pair((first, second))
        if self._asked is not None and (i, j) not in self._asked:
            raise DomainError(f"this comparison leaves out the pair {first!r}, {second!r}")
        size = self._question.sizes(np.array([[i, j]]))[0]
        return Confusion.of(self._sizes.get((i, j), (0, 0, 0)), size)

    # -- steps -----------------------------------------------------------------------------------

    def add(self, feature: Feature) -> Tracker:
        """Add a feature to the guess; raise if the guess has it, or it can never hold."""
        return self._step([self._literals(feature)], [])

    def remove(self, feature: Feature) -> Tracker:
        """Remove a feature from the guess; raise if the guess does not have it."""
        return self._step([], [self._literals(feature)])

    def replace(self, old: Feature, new: Feature) -> Tracker:
        """Replace a feature of the guess by one that it does not have, as one step."""
        return self._step([self._literals(new)], [self._literals(old)])

    def preview(self, *, add: Iterable[Feature] = (), remove: Iterable[Feature] = ()) -> Confusion:
        """Return the confusion matrix after a change, without making it."""
        more = [self._literals(feature) for feature in add]
        less = [self._literals(feature) for feature in remove]
        sums = _grown(self._sums, self._growth(more, less).values())
        return Confusion.of(sums, self._question.total)

    def undo(self) -> Tracker:
        """Undo the last step."""
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
        for pair, grown in growth.items():
            self._sizes[pair] = _grown(self._sizes.get(pair, (0, 0, 0)), [grown])

    def _growth(self, more: list[Literals], less: list[Literals]) -> Growth:
        """Count the growth of the pairs that a change affects; raise if it is impossible."""
        self._check(more, less)
        for literals in more:
            if literals not in self._number:
                self._number[literals] = self._unions.know(literals)
        changed: dict[PairIndex, None] = {}
        for literals in (*more, *less):
            changed.update(dict.fromkeys(combinations([v for v, _ in literals], 2)))
        if self._asked is not None:
            changed = {pair: None for pair in changed if pair in self._asked}
        pairs = list(changed)
        added, removed = ([self._number[literals] for literals in side] for side in (more, less))
        counted = self._unions.growth(pairs, added, removed)
        growth = zip(pairs, counted, strict=True)
        space = self._question.space
        if space.weights is None:
            return dict(growth)
        indices = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        wholes = space.of_pairs(self._question.domain.cardinalities, indices)
        return {
            pair: (Fraction(b, whole), Fraction(u, whole))
            for (pair, (b, u)), whole in zip(growth, wholes, strict=True)
        }

    def _check(self, more: list[Literals], less: list[Literals]) -> None:
        for literals in less:
            if literals not in self._present:
                raise DomainError(f"the guess has no feature {self._text(literals)}")
        for literals in more:
            if literals in self._present and literals not in less:
                raise DomainError(f"the guess already has the feature {self._text(literals)}")
        if len({*more}) < len(more) or len({*less}) < len(less):
            raise DomainError("a change must not name a feature twice")
        if {*more} & {*less}:
            raise DomainError("a change must not add and remove the same feature")

    def _literals(self, feature: Feature) -> Literals:
        """Return a feature with rising variables and without literals that allow every value."""
        domain = self._question.domain
        allows = value_sets_of(domain, feature)
        sizes = domain.cardinalities
        return tuple((v, allows[v]) for v in sorted(allows) if allows[v] != (1 << sizes[v]) - 1)

    def _text(self, literals: Literals) -> str:
        domain = self._question.domain
        return repr(write_literals(domain.literal(v, allowed) for v, allowed in literals))


def _grown(unions: Unions, growth: Iterable[tuple[Number, Number]]) -> Unions:
    """Return the unions after the second and the third have grown."""
    a, b, u = unions
    for more_b, more_u in growth:
        b, u = b + more_b, u + more_u
    return a, b, u
