"""The variables of a model: their names and the labels of their states.

Variables are identified by name and states by label, not by position. An int stands for the label
``str(int)``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from unicodedata import normalize

import numpy as np

from contextwise.errors import DomainError
from contextwise.models.notation import Literal, parse_literals, quoted
from contextwise.support.formatting import printable, suggested

State = str | int | np.integer[Any]
Assignment = Mapping[str, State | Collection[State]] | str
"""States of some variables: ``{"smoker": "yes", "age": ["young", "old"]}`` or their text,
``"smoker=yes & age=young|old"``."""

LARGEST_CARDINALITY = 2**16
"""The most states of a variable: every literal has a bit for each of them."""


def composed(text: str) -> str:
    """Return a text with é as one letter, however it was typed: files hold names like that."""
    return text if text.isascii() else normalize("NFC", text)


def label_of(state: object) -> str:
    """Return the label of a state; an int or a whole float stands for its text."""
    if isinstance(state, str):
        return composed(state)
    if isinstance(state, int | np.integer) and not isinstance(state, bool):
        return str(int(state))
    if isinstance(state, float | np.floating) and float(state).is_integer():
        return str(int(state))
    raise DomainError(f"{state!r} is not a state; pass a label, such as 'yes' or 1")


@lru_cache(maxsize=64)
def _numbers(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


@dataclass(frozen=True, init=False)
class Domain:
    """Named variables, each with its labelled states.

    Attributes
    ----------
    names : tuple of str
        The variables, in order.
    states : tuple of tuples of str
        The labels of the states of each variable.

    Parameters
    ----------
    variables : mapping
        Names to states, or to the number of states (labelled ``"0"``, ``"1"``, …).

    Examples
    --------
    >>> domain = Domain({"smoker": ["no", "yes"], "age": 3})
    >>> domain.names, domain.states, domain.cardinalities
    (('smoker', 'age'), (('no', 'yes'), ('0', '1', '2')), (2, 3))
    """

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]

    def __init__(self, variables: Mapping[str, Sequence[State] | int]) -> None:
        if not isinstance(variables, Mapping):
            raise DomainError(
                "a domain must be a mapping from names to states or their number, such as "
                f"{{'smoker': ['no', 'yes'], 'age': 3}}, got {type(variables).__name__!r}"
            )
        names, states = [], []
        for name, listed_states in variables.items():
            if not isinstance(name, str):
                raise DomainError(f"the name of a variable must be a text, got {name!r}")
            if isinstance(listed_states, str):
                raise DomainError(f"pass the states of {name!r} as a list, not as one text")
            values: Any = listed_states
            numbered = isinstance(values, int | np.integer) and not isinstance(values, bool)
            if not numbered and not hasattr(values, "__len__"):
                raise DomainError(
                    f"the states of {name!r} must be a list or their number, got {values!r}"
                )
            count = int(values) if numbered else len(values)
            if count > LARGEST_CARDINALITY:
                raise DomainError(
                    f"variable {name!r} has {count:,} states, and at most "
                    f"{LARGEST_CARDINALITY:,} are possible; bin its values first"
                )
            if count < 1:
                raise DomainError(f"variable {name!r} has no states; it needs at least one")
            labels = _numbers(count) if numbered else tuple(map(label_of, values))
            if len(set(labels)) < len(labels):
                twice = Counter(labels).most_common(1)[0][0]
                raise DomainError(f"variable {name!r} has the state {twice!r} twice")
            names.append(composed(name))
            states.append(labels)
        if len(set(names)) < len(names):
            twice = Counter(names).most_common(1)[0][0]
            raise DomainError(f"two variables have the name {twice!r}")
        object.__setattr__(self, "names", tuple(names))
        object.__setattr__(self, "states", tuple(states))

    @classmethod
    def of_cardinalities(cls, cardinalities: Iterable[int]) -> Domain:
        """Name variables ``v0``, ``v1``, … and states ``"0"``, ``"1"``, …, as in a ``.mn`` file."""
        return cls({f"v{i}": int(c) for i, c in enumerate(cardinalities)})

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        shown = [
            f"{quoted(name)}: {'|'.join(map(quoted, states[:6]))}{'|…' * (len(states) > 6)}"
            for name, states in zip(self.names[:8], self.states[:8], strict=True)
        ]
        if len(self) > 8:
            shown.append(f"… {len(self) - 8} more")
        return printable(f"Domain({', '.join(shown)})")

    @cached_property
    def cardinalities(self) -> tuple[int, ...]:
        """The number of states of each variable."""
        return tuple(map(len, self.states))

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The index of each variable, by name."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def state_positions(self) -> tuple[Mapping[str, int], ...]:
        """The index of each state, by label, for each variable."""
        return tuple({label: k for k, label in enumerate(labels)} for labels in self.states)

    def position(self, name: str) -> int:
        """Return the index of a variable."""
        try:
            # Most names are written as the domain has them.
            return self.positions[name if name in self.positions else composed(name)]
        except (KeyError, TypeError, AttributeError):
            known = suggested(name, self.names) or f"the variables are {listed(self.names)}"
            raise DomainError(f"unknown variable {name!r}; {known}") from None

    def pair(self, names: Iterable[str]) -> tuple[int, int]:
        """Return the indices of two variables, the smaller first."""
        pair = [names] if isinstance(names, str) else list(names)
        if len(pair) != 2 or pair[0] == pair[1]:
            text = ", ".join(map(repr, pair)) or "nothing"
            raise DomainError(f"a pair must be two different variables, got {text}")
        i, j = sorted(map(self.position, pair))
        return i, j

    def state_position(self, variable: int, state: object) -> int:
        """Return the index of a state of the variable with the index ``variable``."""
        known_labels = self.state_positions[variable]
        if isinstance(state, str) and state in known_labels:
            return known_labels[state]
        label = label_of(state)
        try:
            return known_labels[label]
        except KeyError:
            states = self.states[variable]
            known = suggested(label, states) or f"its states are {listed(states)}"
            raise DomainError(
                f"variable {self.names[variable]!r} has no state {label!r}; {known}"
            ) from None

    def value_set(self, variable: int, states: Iterable[object], negated: bool = False) -> int:
        """Return the states (or, negated, all other states) as a bit set: state k is bit k."""
        chosen = 0
        for state in states:
            chosen |= 1 << self.state_position(variable, state)
        return chosen ^ ((1 << self.cardinalities[variable]) - 1) if negated else chosen

    def literal(self, variable: int, value_set: int) -> Literal:
        """Return a value set as a literal, with ``=`` or ``!=``, whichever is shorter."""
        states = self.states[variable]
        inside = tuple(s for k, s in enumerate(states) if value_set >> k & 1)
        outside = tuple(s for k, s in enumerate(states) if not value_set >> k & 1)
        negated = len(outside) < len(inside)
        return Literal(self.names[variable], outside if negated else inside, negated)

    def indexed(self, literals: Iterable[Literal]) -> tuple[tuple[int, int], ...]:
        """Return literals as (variable, value set as an int), the reverse of `literal`."""
        places = [(self.position(one.variable), one) for one in literals]
        return tuple((v, self.value_set(v, one.states, one.negated)) for v, one in places)

    def assignment(self, context: Assignment | None) -> dict[int, int]:
        """Return a partial assignment by index: variable to state; see `Box` for several states."""
        chosen = {}
        for variable, allowed in value_sets_of(self, {} if context is None else context).items():
            if allowed.bit_count() != 1:
                raise DomainError(
                    f"a query gives one state to a variable: {self.names[variable]}=yes; for "
                    "several, ask model.restrict(...)"
                )
            chosen[variable] = allowed.bit_length() - 1
        return chosen

    def without(self, variables: Iterable[int]) -> Domain:
        """Return the domain of the other variables."""
        kept = [v for v in range(len(self)) if v not in set(variables)]
        return Domain({self.names[v]: self.states[v] for v in kept})

    def renamed(
        self,
        names: Mapping[str, str] | None = None,
        *,
        states: Mapping[str, Mapping[State, State] | Sequence[State]] | None = None,
    ) -> Domain:
        """Rename some variables and states.

        Parameters
        ----------
        names : mapping, optional
            Old to new names of variables.
        states : mapping, optional
            The old name of a variable to its new labels: all of them in order, or a mapping from
            old to new labels.

        Examples
        --------
        >>> domain = Domain({"v0": 2, "v1": 3})
        >>> domain.renamed({"v0": "smoker"}, states={"v0": ["no", "yes"], "v1": {2: "many"}})
        Domain(smoker: no|yes, v1: 0|1|many)
        """
        names, states = names or {}, states or {}
        for old in (*names, *states):
            self.position(old)
        new = [names.get(name, name) for name in self.names]
        if len(set(new)) < len(new):
            twice = Counter(new).most_common(1)[0][0]
            raise DomainError(f"two variables would be called {twice!r} after the renaming")
        labels: list[Sequence[State]] = []
        for variable, (name, known) in enumerate(zip(self.names, self.states, strict=True)):
            changes = states.get(name, {})
            if isinstance(changes, Mapping):
                at = {self.state_position(variable, key): label for key, label in changes.items()}
                changes = [at.get(place, label) for place, label in enumerate(known)]
            if isinstance(changes, str) or len(changes) != len(known):
                raise DomainError(
                    f"variable {name!r} has {len(known)} states and needs as many new labels, "
                    f"got {changes!r}"
                )
            labels.append(changes)
        return Domain(dict(zip(new, labels, strict=True)))


def literals_of(domain: Domain, literals: Assignment) -> Iterator[tuple[int, int]]:
    """Yield written literals as (variable, value set as an int)."""
    if isinstance(literals, str):
        for literal in parse_literals(literals):
            variable = domain.position(literal.variable)
            yield variable, domain.value_set(variable, literal.states, literal.negated)
    elif isinstance(literals, Mapping):
        for name, states in literals.items():
            variable = domain.position(name)
            one = isinstance(states, str) or not isinstance(states, Iterable)
            listed_states: Iterable[object] = [states] if one else states  # type: ignore[assignment]
            yield variable, domain.value_set(variable, listed_states)
    else:
        raise DomainError(
            "expected a text such as 'smoker=yes & age!=young' or a mapping such as "
            f"{{'smoker': 'yes'}}, got {literals!r}"
        )


def value_sets_of(domain: Domain, literals: Assignment) -> dict[int, int]:
    """Return the value set of each variable that literals mention; raise if one is empty."""
    allows: dict[int, int] = {}
    for variable, allowed in literals_of(domain, literals):
        allows[variable] = allows.get(variable, allowed) & allowed
        if not allows[variable]:
            raise DomainError(f"{literals!r} leaves no state of {domain.names[variable]!r}")
    return allows


def listed(names: Iterable[str], most: int = 8) -> str:
    """List names in a message: the first few, and how many more there are."""
    all_names = [printable(quoted(name)) for name in names]
    shown = ", ".join(all_names[:most])
    return shown + (f" and {len(all_names) - most} more" if len(all_names) > most else "")
