"""`PairRegion`: two variables in a region of contexts; `Claim`: what a model says of them there.

Everything about a pair in a region is one: a claim of a model, the evidence of rows about a claim
(`contextwise.models.evidence.ClaimEvidence`), and a region in which two models differ
(`contextwise.comparison.error_regions.ErrorRegion`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from contextwise.models.notation import Literal as NamedLiteral
from contextwise.models.notation import between, quoted, where, write_literal, write_literals

Kind = Literal["independent", "dependent", "d-separated"]
"""The kind of a claim; each is a family of tests with a correction of its own."""
KINDS: tuple[Kind, ...] = ("independent", "dependent", "d-separated")


@dataclass(frozen=True)
class PairRegion:
    """Two variables, and a cube of contexts over the others.

    >>> PairRegion(("A", "B"), (NamedLiteral("C", ("yes",)),), 3).when
    'C=yes'
    """

    pair: tuple[str, str]
    region: tuple[NamedLiteral, ...] = ()  # empty for every context
    size: int | Fraction = 0  # the number of contexts, or their weight; 0 if they are not counted

    @property
    def when(self) -> str:
        """The region as text, such as ``"C=yes & D!=old"``; empty for every context."""
        return write_literals(self.region)


@dataclass(frozen=True, kw_only=True)
class Claim(PairRegion):
    """A claim of a model about two variables in a region.

    >>> print(Claim(("A", "B"), claim="independent", given=("C",)))
    A ⫫ B | C
    """

    claim: Kind
    given: tuple[str, ...] = ()  # other variables that are held fixed, or must be known
    weaker_than: float | None = None  # what no log odds ratio exceeds; None: independent

    @property
    def dependent(self) -> bool:
        """True if the model claims a dependence."""
        return self.claim == "dependent"

    @property
    def sentence(self) -> str:
        """The claim in words, such as ``"A–B depend when C=yes"``."""
        depend = "depend" if self.dependent else "are independent"
        given = ", ".join(map(quoted, self.given)) if self.claim == "d-separated" else ""
        return f"{between(self.pair)} {depend}{given and f' given {given}'} {where(self.region)}"

    def __str__(self) -> str:
        """Return an independence as a statement, such as ``"A ⫫ B | C=yes, D"``."""
        if self.dependent:
            return self.sentence
        condition = [*map(write_literal, self.region), *map(quoted, self.given)]
        sides = " ⫫ ".join(map(quoted, self.pair))
        if self.weaker_than is not None:
            sides = f"{between(self.pair)} weaker than {self.weaker_than:g}"
        return f"{sides} | {', '.join(condition)}" if condition else sides
