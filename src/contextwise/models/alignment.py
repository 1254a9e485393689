"""How one domain is laid over another: by names and labels, or by position.

Variables are known by name and states by label, so two models over the same variables in another
order speak of the same things. Some files know no names (Libra's ``.mn``, UAI): there the first
variable is the first one of the data, and so models are laid over each other **by position** when
the caller says so. Then only the cardinalities must agree.
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
    """For each variable of a domain its place in another one, and for each state too.

    Attributes
    ----------
    target : the other domain
    variables : the place of each variable in the target
    states : the place of each state of each variable in the target
    """

    target: Domain
    variables: tuple[int, ...]
    states: tuple[tuple[int, ...], ...]

    @property
    def trivial(self) -> bool:
        """Whether nothing moves."""
        return self.variables == tuple(range(len(self.variables))) and all(
            places == tuple(range(len(places))) for places in self.states
        )


def alignment(source: Domain, target: Domain, *, align: Align = "names") -> Alignment:
    """Lay a domain over another one; what does not fit is an error that names it.

    Parameters
    ----------
    source, target : domains
        Messages call the target the first model and the source the second, as in `compare`.
    align : "names" or "position"
        What says which variables and states are the same.

    Returns
    -------
    Alignment

    Raises
    ------
    DomainError
        If the domains do not fit. Where they would fit by position, the message says so.

    Examples
    --------
    >>> alignment(Domain({"B": 2, "A": 2}), Domain({"A": 2, "B": 2})).variables
    (1, 0)
    >>> alignment(Domain({"v0": 2}), Domain({"ill": ["no", "yes"]}), align="position").states
    ((0, 1),)
    """
    if align not in ("names", "position"):
        raise DomainError(f"align is 'names' or 'position', not {align!r}")
    # Equal domains lie over each other by position as well, and names need not be looked up.
    by_names = align == "names" and source != target
    return _by_names(source, target) if by_names else _by_position(source, target)


@contextmanager
def named(first: str, second: str) -> Iterator[None]:
    """Name the two models, where they have names, in the error that they do not align.

    >>> with named("true.mn", "learned.mn"):
    ...     alignment(Domain({"A": 2}), Domain({"A": 3}), align="position")
    Traceback (most recent call last):
    contextwise.errors.DomainError: true.mn, learned.mn: the models cannot be aligned ...
    """
    try:
        yield
    except DomainError as error:
        which = f"{first}, {second}: " if first and second else ""
        raise DomainError(f"{which}{error}") from None


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
    for name, own in zip(source.names, source.states, strict=True):
        place = target.positions[name]
        other = target.states[place]
        if set(own) != set(other):
            raise DomainError(
                f"variable {name!r} has different states in the two models: "
                f"{listed(other)} in the first, {listed(own)} in the second"
                f"{_advice(source, target)}"
            )
        variables.append(place)
        states.append(tuple(target.state_positions[place][label] for label in own))
    return Alignment(target, tuple(variables), tuple(states))


def _advice(source: Domain, target: Domain) -> str:
    """The way out, where there is one."""
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
    for v, (own, other) in enumerate(zip(source.cardinalities, target.cardinalities, strict=True)):
        if own != other:
            raise DomainError(
                "the models cannot be aligned by position: variable number "
                f"{v + 1}, {target.names[v]!r}, has {other} states in the first model, and "
                f"{source.names[v]!r} has {own} in the second"
            )
    places = tuple(range(len(source)))
    return Alignment(target, places, tuple(tuple(range(c)) for c in source.cardinalities))


def lay(features: Features, over: Alignment) -> tuple[Features, IntArray]:
    """Features over the target of an alignment, and the new place of each of them.

    Parameters
    ----------
    features : over the source of the alignment
    over : the alignment

    Returns
    -------
    features : Features
    places : array of int
        For each feature its index in the result.
    """
    if over.trivial:
        return features, np.arange(len(features))
    variables = np.array(over.variables, dtype=np.int64)[features.variables]
    values = np.zeros_like(features.values)
    for variable, places in enumerate(over.states):
        mine = features.variables == variable
        for old, new in enumerate(places):
            bit = features.values[mine, old // 64] >> np.uint64(old % 64) & np.uint64(1)
            values[mine, new // 64] |= bit << np.uint64(new % 64)
    return normalized(over.target.cardinalities, features.owners, variables, values, len(features))
