"""Answers to independence queries, with their reasons.

An answer that did not come in time is `UNDECIDED`: it is no bool, and using it as one is an error,
so that it never passes for a guess.
"""

from __future__ import annotations

from dataclasses import dataclass

from contextwise.errors import OpenResult
from contextwise.independence.statements import Statement
from contextwise.models.domain import listed
from contextwise.models.notation import quoted


class Undecided:
    """The answer of a query that was not decided in time; it refuses to be a bool."""

    def __repr__(self) -> str:
        return "UNDECIDED"

    def __bool__(self) -> bool:
        raise OpenResult(
            "the query was not decided in time, so it is neither true nor false; "
            "give it a longer time_limit"
        )


UNDECIDED = Undecided()


@dataclass(frozen=True)
class Answer:
    """An answer and its reason; as a bool it is whether the sets are independent.

    Attributes
    ----------
    statement : what was asked
    independent : True, False or `UNDECIDED`
    path : if dependent, variables from one set to the other, each linked to the next
    features : if dependent, the feature of each step of the path, as text
    assignment : if dependent, the values of given variables that the steps need
    separator : if independent by separation, a minimal set of given variables that separates
    blocking : if independent otherwise, given variables such that every path needs two values of
        one of them
    """

    statement: Statement
    independent: bool | Undecided
    path: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    assignment: tuple[tuple[str, str], ...] = ()
    separator: tuple[str, ...] | None = None
    blocking: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.independent)

    @property
    def word(self) -> str:
        """``independent``, ``dependent`` or ``undecided``."""
        if isinstance(self.independent, Undecided):
            return "undecided"
        return "independent" if self.independent else "dependent"

    @property
    def reason(self) -> str:
        """Why, as a sentence."""
        if isinstance(self.independent, Undecided):
            return "the time limit passed before a path or a proof was found"
        if self.path:
            where = ", ".join(f"{quoted(name)}={quoted(state)}" for name, state in self.assignment)
            way = " – ".join(map(quoted, self.path))
            return f"they are connected by {way}" + (f" when {where}" if where else "")
        if self.separator:
            return f"every path goes through {listed(self.separator)}"
        if self.blocking:
            names = listed(self.blocking)
            one = names if len(self.blocking) == 1 else f"one of {names}"
            return f"every path needs two values of {one}"
        return "no path connects them"

    def __str__(self) -> str:
        return f"{self.word}: {self.reason}"
