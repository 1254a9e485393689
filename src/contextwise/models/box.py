"""A restriction of contexts: the states that some variables may have.

``Dept=A|B & sex=f`` leaves two states of *Dept* and one of *sex*. Inside the box, *sex* is no
variable any more, and *Dept* has two states. `Box` is the only place that knows this: whatever
restricts models, rows or weights asks it, and so does whatever names the restriction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from contextwise.models.domain import Assignment, Domain, value_sets_of
from contextwise.models.features import members
from contextwise.models.notation import quoted
from contextwise.support.arrays import BoolArray, IntArray


@dataclass(frozen=True)
class Box:
    """The contexts in which some variables have one of some states.

    >>> domain = Domain({"Dept": ["A", "B", "C"], "sex": ["f", "m"], "admitted": 2})
    >>> box = Box.of(domain, "Dept=A|B & sex=f")
    >>> box.words, box.inside
    ('Dept=A or B, sex=f', Domain(Dept: A|B, admitted: 0|1))
    """

    domain: Domain  # of what it restricts
    allowed: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """The places of the states that are left, rising, by the place of a restricted variable."""

    @classmethod
    def of(cls, domain: Domain, context: Assignment | Box | None) -> Box:
        """Read a box: literals, or a mapping from names to a state or to several."""
        if context is None:
            return cls(domain)
        if isinstance(context, Box):
            context = context.states
        return cls(
            domain,
            {
                variable: tuple(members(left))
                for variable, left in value_sets_of(domain, context).items()
                if left.bit_count() < domain.cardinalities[variable]
                or domain.cardinalities[variable] == 1
            },
        )

    def __bool__(self) -> bool:
        return bool(self.allowed)

    @cached_property
    def fixed(self) -> dict[int, int]:
        """The state of each variable that has only one, by places."""
        return {v: states[0] for v, states in self.allowed.items() if len(states) == 1}

    @cached_property
    def several(self) -> Box:
        """The same without the variables that have only one state."""
        return Box(self.domain, {v: s for v, s in self.allowed.items() if len(s) > 1})

    @cached_property
    def states(self) -> dict[str, str | tuple[str, ...]]:
        """The label of the state of each restricted variable; several labels as a tuple."""
        labels = {v: tuple(self.domain.states[v][k] for k in s) for v, s in self.allowed.items()}
        return {self.domain.names[v]: s if len(s) > 1 else s[0] for v, s in labels.items()}

    @cached_property
    def labels(self) -> dict[str, str]:
        """The states of each restricted variable as words: ``A or B``."""
        return {
            name: quoted(states) if isinstance(states, str) else " or ".join(map(quoted, states))
            for name, states in self.states.items()
        }

    @property
    def words(self) -> str:
        """The restriction as words: ``Dept=A or B, sex=f``."""
        return ", ".join(f"{quoted(name)}={states}" for name, states in self.labels.items())

    @cached_property
    def inside(self) -> Domain:
        """The variables and states that are left."""
        return Domain(
            {
                name: [states[k] for k in self.allowed.get(v, range(len(states)))]
                for v, (name, states) in enumerate(
                    zip(self.domain.names, self.domain.states, strict=True)
                )
                if v not in self.fixed
            }
        )

    @cached_property
    def place(self) -> IntArray:
        """The place inside of each variable, or -1 if its state is fixed."""
        stays = np.array([v not in self.fixed for v in range(len(self.domain))], dtype=bool)
        return np.where(stays, np.cumsum(stays) - 1, -1)

    def agrees(self, rows: IntArray) -> BoolArray:
        """Mask the rows inside."""
        agrees = np.ones(len(rows), dtype=bool)
        for variable, states in self.allowed.items():
            agrees &= np.isin(rows[:, variable], states)
        return agrees

    def rows(self, rows: IntArray) -> IntArray:
        """Return the rows inside, encoded over the variables that are left."""
        kept = rows[self.agrees(rows)]
        for variable, states in self.allowed.items():
            kept[:, variable] = np.searchsorted(states, kept[:, variable])
        return kept[:, self.place >= 0]

    def outside(self, rows: IntArray) -> IntArray:
        """Return rows inside, on the last axis, as rows of the whole domain."""
        whole = np.zeros((*rows.shape[:-1], len(self.domain)), dtype=np.int64)
        whole[..., self.place >= 0] = rows
        for variable, states in self.allowed.items():
            whole[..., variable] = np.take(states, whole[..., variable])
        return whole

    def values(self, values: Iterable[Iterable[Any]]) -> tuple[tuple[Any, ...], ...]:
        """Keep the numbers of the states inside, given one number per state of each variable."""
        return tuple(
            tuple(each) if v not in self.allowed else tuple(list(each)[k] for k in self.allowed[v])
            for v, each in enumerate(values)
            if v not in self.fixed
        )
