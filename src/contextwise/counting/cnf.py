"""Covers as formulas, for model counters: the models of the formula are the uncovered contexts.

- A variable with two classes of values is one Boolean; one with more is a Boolean per class, of
  which exactly one is true.
- Each cube, negated, is a clause: some variable takes a class that the cube does not allow.
- A class of weight w must count w times, exactly, so the variable gets a few more Booleans, the
  binary digits of a **copy number**: under a class of weight w it can be 0, 1, …, w - 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

from contextwise.counting.cover import Cover

Clause = tuple[int, ...]
"""Literals as in the DIMACS format: k for the Boolean k = 1, 2, …, and -k for its negation."""


@dataclass(frozen=True)
class Formula:
    """Clauses over the Booleans 1, 2, …, ``booleans``.

    The number of uncovered contexts is the number of models times ``factor``.
    """

    booleans: int
    clauses: tuple[Clause, ...]
    factor: int

    @property
    def obvious(self) -> int | None:
        """The number of models, where it takes no counting."""
        if not self.clauses:
            return 1 << self.booleans
        return None if all(self.clauses) else 0


def uncovered_formula(cover: Cover) -> Formula:
    """The formula whose models are the contexts that no cube of the cover allows.

    >>> from contextwise.counting.cover import cover_of
    >>> uncovered_formula(cover_of([2, 2, 5], [[(0, 0b01), (1, 0b10)]]))
    Formula(booleans=2, clauses=((1, -2),), factor=5)

    A variable of which one value in four is ever tested. The digits 2 and 3 of a copy number
    are 0 where it takes that value (not 1), and make 0, 1 or 2 where it takes another (1).

    >>> uncovered_formula(cover_of([4], [[(0, 0b0001)]]))
    Formula(booleans=3, clauses=((1, -2), (1, -3), (-1, -2, -3), (1,)), factor=1)
    """
    everything = (1 << len(cover.bit_weights)) - 1
    forbidden = [everything ^ cube for cube in cover.cubes]
    tested = 0
    for bits in forbidden:
        tested |= bits
    booleans, factor, at = 0, cover.scale, 0
    clauses: list[Clause] = []
    literal: dict[int, int] = {}
    for weights, field in zip(cover.weights, cover.fields, strict=True):
        if tested & field:
            common = gcd(*weights) or 1
            factor *= common
            variable = _Variable(booleans, [weight // common for weight in weights])
            booleans += variable.booleans
            clauses += variable.clauses()
            literal.update({at + k: own for k, own in enumerate(variable.classes)})
        else:
            factor *= sum(weights)
        at += len(weights)
    clauses += (tuple(literal[bit] for bit in literal if bits >> bit & 1) for bits in forbidden)
    return Formula(booleans, tuple(clauses), factor)


class _Variable:
    """The Booleans of one variable: which class it takes, and which copy of it."""

    def __init__(self, first: int, weights: Sequence[int]) -> None:
        self.weights = weights
        if len(weights) == 2:
            self.classes = [-(first + 1), first + 1]
            used = 1
        else:
            self.classes = [first + 1 + k for k in range(len(weights))]
            used = len(weights)
        digits = max((weight - 1).bit_length() if weight else 0 for weight in weights)
        self.digits = [first + used + 1 + d for d in range(digits)]
        self.booleans = used + digits

    def clauses(self) -> Iterator[Clause]:
        if len(self.classes) > 2:
            yield tuple(self.classes)
            for k, one in enumerate(self.classes):
                yield from ((-one, -other) for other in self.classes[:k])
        for weight, own in zip(self.weights, self.classes, strict=True):
            if weight:
                yield from ((-own, *clause) for clause in self._at_most(weight - 1))
            else:
                yield (-own,)

    def _at_most(self, largest: int) -> Iterator[Clause]:
        """The digits make a number up to ``largest``.

        A larger number has a one where ``largest`` has a zero, and ones wherever ``largest`` has
        them above that place.
        """
        for d, digit in enumerate(self.digits):
            if not largest >> d & 1:
                above = self.digits[d + 1 :]
                ones = (-own for e, own in enumerate(above, d + 1) if largest >> e & 1)
                yield (-digit, *ones)
