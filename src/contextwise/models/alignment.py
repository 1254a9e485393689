"""Align two domains: by names and labels, or by position.

Some files have no names (Libra's ``.mn``, UAI), so models can also be aligned **by position**, when
the caller asks for it. Then only the cardinalities must agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np

from contextwise.errors import DomainError
from contextwise.models.domain import Domain, listed
from contextwise.models.features import Features, IntArray, normalized

Align = Literal["names", "position"]


@dataclass(frozen=True)
class Alignment:
    """The index in a target domain of each variable of a source domain, and of each state."""

    target: Domain
    variables: tuple[int, ...]
    states: tuple[tuple[int, ...], ...]

    @property
    def trivial(self) -> bool:
        """True if every index stays the same."""
        return self.variables == tuple(range(len(self.variables))) and all(
            places == tuple(range(len(places))) for places in self.states
        )


def alignment(source: Domain, target: Domain, *, align: Align = "names") -> Alignment:
    """Align a domain to another one; raise `DomainError` if they do not match.

    Messages call the target the first model and the source the second, as in `compare`.

    >>> alignment(Domain({"B": 2, "A": 2}), Domain({"A": 2, "B": 2})).variables
    (1, 0)
    >>> alignment(Domain({"v0": 2}), Domain({"ill": ["no", "yes"]}), align="position").states
    ((0, 1),)
    """
    if align not in ("names", "position"):
        raise DomainError(f"align must be 'names' or 'position', got {align!r}")
    # Equal domains match by position as well, which is faster.
    by_names = align == "names" and source != target
    return _by_names(source, target) if by_names else _by_position(source, target)


@contextmanager
def named(first: str, second: str) -> Iterator[None]:
    """Put the names of the two models into the error that they do not align.

    >>> with named("true.mn", "learned.mn"):
    ...     alignment(Domain({"A": 2}), Domain({"A": 3}), align="position")
    Traceback (most recent call last):
    contextwise.errors.DomainError: true.mn, learned.mn: the models cannot be aligned ...
    """
    try:
        yield
    except DomainError as error:
        names = f"{first}, {second}: " if first and second else ""
        raise DomainError(f"{names}{error}") from None


def _by_names(source: Domain, target: Domain) -> Alignment:
    missing = [name for name in target.names if name not in source.positions]
    extra = [name for name in source.names if name not in target.positions]
    if missing or extra:
        parts = []
        if missing:
            parts.append(f"only the first model has {listed(missing)}")
        if extra:
            parts.append(f"only the second model has {listed(extra)}")
        raise DomainError(
            f"the models have different variables: {'; '.join(parts)}{_advice(source, target)}"
        )
    variables, states = [], []
    for name, labels in zip(source.names, source.states, strict=True):
        place = target.positions[name]
        if set(labels) != set(target.states[place]):
            raise DomainError(
                f"variable {name!r} has different states in the two models: "
                f"{listed(target.states[place])} in the first, {listed(labels)} in the second"
                f"{_advice(source, target)}"
            )
        variables.append(place)
        states.append(tuple(target.state_positions[place][label] for label in labels))
    return Alignment(target, tuple(variables), tuple(states))


def _advice(source: Domain, target: Domain) -> str:
    if source.cardinalities != target.cardinalities:
        return ""
    return (
        ". If they are the same in the same order, align them by position: "
        "--by-position on the command line, align='position' in Python"
    )


def _by_position(source: Domain, target: Domain) -> Alignment:
    if len(source) != len(target):
        raise DomainError(
            f"the models cannot be aligned by position: the first has {len(target)} variables, "
            f"the second {len(source)}"
        )
    cardinalities = zip(target.cardinalities, source.cardinalities, strict=True)
    for v, (first, second) in enumerate(cardinalities):
        if first != second:
            raise DomainError(
                "the models cannot be aligned by position: variable number "
                f"{v + 1}, {target.names[v]!r}, has {first} states in the first model, and "
                f"{source.names[v]!r} has {second} in the second"
            )
    places = tuple(range(len(source)))
    return Alignment(target, places, tuple(tuple(range(c)) for c in source.cardinalities))


def realigned(features: Features, over: Alignment) -> tuple[Features, IntArray]:
    """Move features from the source to the target of an alignment; return their new indices too."""
    if over.trivial:
        return features, np.arange(len(features))
    variables = np.array(over.variables, dtype=np.int64)[features.variables]
    values = np.zeros_like(features.values)
    for variable, places in enumerate(over.states):
        tested = features.variables == variable
        for old, new in enumerate(places):
            bit = features.values[tested, old // 64] >> np.uint64(old % 64) & np.uint64(1)
            values[tested, new // 64] |= bit << np.uint64(new % 64)
    return normalized(over.target.cardinalities, features.owners, variables, values, len(features))
