"""The variables and tables that a reader of a Bayesian network collects, and their model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from contextwise.errors import DomainError, TooLargeError
from contextwise.formats.reading import Source, check_states, model_of_network
from contextwise.models.domain import Domain
from contextwise.models.factors import check_scopes
from contextwise.models.structure import Model
from contextwise.support.arrays import FloatArray


@dataclass
class Network:
    """The states of each variable, and its family: parents, and numbers with the child fastest."""

    source: Source
    states: dict[str, list[str]] = field(default_factory=dict)
    parents: dict[str, list[str]] = field(default_factory=dict)
    numbers: dict[str, Sequence[float] | None] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def add_variable(self, name: str, states: Iterable[str], line: int) -> None:
        labels = list(states)
        if name in self.states:
            raise self.source.error(f"two variables have the name {name!r}", line)
        if not labels:
            raise self.source.error(f"variable {name!r} has no states", line)
        if len(set(labels)) < len(labels):
            raise self.source.error(f"variable {name!r} has a state twice", line)
        self.states[name] = labels

    def add_family(
        self, child: str, parents: list[str], numbers: Sequence[float] | None, line: int
    ) -> None:
        """Add P(child | parents); pass None for numbers that the file does not have."""
        if child in self.parents:
            raise self.source.error(f"variable {child!r} has two probabilities", line)
        self.parents[child], self.numbers[child], self.lines[child] = parents, numbers, line

    def model(self, format: str) -> Model:
        """Check that variables and families fit, and make the model."""
        if not self.states:
            raise self.source.error("the file has no variables")
        for child, parents in self.parents.items():
            line = self.lines[child]
            for name in (child, *parents):
                if name not in self.states:
                    raise self.source.error(f"unknown variable {name[:60]!r}", line)
            if len({child, *parents}) <= len(parents):
                raise self.source.error(f"the parents of {child!r} must differ", line)
        for name in self.states:
            if name not in self.parents:
                raise self.source.error(f"variable {name!r} has no probability")
        check_states(self.source, list(map(len, self.states.values())))
        try:
            domain = Domain(self.states)
        except DomainError as error:
            raise self.source.error(str(error)) from None
        positions = [list(map(domain.position, self.parents[name])) for name in domain.names]
        tables = [self._table(domain, name) for name in domain.names]
        lines = [self.lines[name] for name in domain.names]
        return model_of_network(domain, positions, tables, self.source, format, lines=lines)

    def _table(self, domain: Domain, child: str) -> FloatArray | None:
        numbers = self.numbers[child]
        if numbers is None:
            return None
        scope = [domain.positions[name] for name in (*self.parents[child], child)]
        shape = [domain.cardinalities[v] for v in scope]
        try:
            check_scopes(domain, [scope])
        except TooLargeError as error:
            raise self.source.error(str(error), self.lines[child]) from None
        if len(numbers) != prod(shape):
            raise self.source.error(
                f"the probability of {child!r} needs {prod(shape)} numbers, got {len(numbers)}",
                self.lines[child],
            )
        table = np.array(numbers, dtype=np.float64).reshape(shape)
        table[table.sum(axis=-1) == 0] = np.nan  # a row of zeros was never filled in
        return table


def probabilities(source: Source, words: Iterable[str], line: int) -> list[float]:
    """Parse numbers >= 0 or NaN; raise at the line."""
    values = []
    for word in words:
        try:
            value = float(word)
        except ValueError:
            value = -1.0
        if value < 0 or value == np.inf:
            raise source.error(f"expected a probability, got {word[:30]!r}", line)
        values.append(value)
    return values
