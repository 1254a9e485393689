"""Covers as logical formulas, for the solvers that counts are compared with.

A cover becomes a formula whose models are the uncovered contexts:

- A variable with two classes of values is one Boolean; one with more is a Boolean per class, of
  which exactly one is true.
- Each cube, negated, is a clause: some variable takes a class that the cube does not allow.
- A class of weight w must count w times, exactly, so the variable gets a few more Booleans, the
  binary digits of a **copy number**: under a class of weight w it can be 0, 1, …, w - 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd

from contextwise.counting.cover import Cover

Clause = tuple[int, ...]
"""Literals in DIMACS form: k for the Boolean k = 1, 2, …, and -k for its negation."""


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
        """The number of models if no counting is needed."""
        if not self.clauses:
            return 1 << self.booleans
        return None if all(self.clauses) else 0


def uncovered_formula(cover: Cover) -> Formula:
    """Return the formula whose models are the contexts that no cube of the cover allows.

    >>> from contextwise.counting.cover import cover_of
    >>> uncovered_formula(cover_of([2, 2, 5], [[(0, 0b01), (1, 0b10)]]))
    Formula(booleans=2, clauses=((1, -2),), factor=5)

    The cube tests one value of four. Booleans 2 and 3 are the digits of a copy number: 0 if the
    variable has that value (Boolean 1 is false), and 0, 1 or 2 if it has another one.

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
            # A common factor multiplies the count, so fewer copies are enough.
            common = gcd(*weights) or 1
            factor *= common
            variable = _Variable(booleans, [weight // common for weight in weights])
            booleans += variable.booleans
            clauses += variable.clauses()
            literal.update(enumerate(variable.classes, at))
        else:
            factor *= sum(weights)
        at += len(weights)
    clauses += (tuple(literal[bit] for bit in literal if bits >> bit & 1) for bits in forbidden)
    return Formula(booleans, tuple(clauses), factor)


class _Variable:
    """The Booleans of one variable: its class, and the copy number within the class."""

    def __init__(self, first: int, weights: Sequence[int]) -> None:
        self.weights = weights
        if len(weights) == 2:
            self.classes = [-(first + 1), first + 1]
            used = 1
        else:
            self.classes = [first + 1 + k for k in range(len(weights))]
            used = len(weights)
        # A class of weight w has the copy numbers 0 to w - 1.
        digits = max((weight - 1).bit_length() if weight else 0 for weight in weights)
        self.digits = [first + used + 1 + d for d in range(digits)]
        self.booleans = used + digits

    def clauses(self) -> Iterator[Clause]:
        if len(self.classes) > 2:
            yield tuple(self.classes)
            yield from ((-second, -first) for first, second in combinations(self.classes, 2))
        for weight, boolean in zip(self.weights, self.classes, strict=True):
            if weight:
                yield from ((-boolean, *clause) for clause in self._at_most(weight - 1))
            else:
                yield (-boolean,)

    def _at_most(self, largest: int) -> Iterator[Clause]:
        """Yield the clauses by which the digits make a number up to ``largest``.

        A larger number has a one where ``largest`` has a zero, and ones wherever ``largest`` has
        them above that place.
        """
        for d, digit in enumerate(self.digits):
            if not largest >> d & 1:
                above = self.digits[d + 1 :]
                ones = (-higher for e, higher in enumerate(above, d + 1) if largest >> e & 1)
                yield (-digit, *ones)
