"""Make features from what people write: ``{"smoker": "yes"}`` or ``"smoker=yes"``."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from contextwise.errors import DomainError
from contextwise.models.domain import Domain, State
from contextwise.models.features import Features, as_words, normalized, words_of
from contextwise.models.notation import parse_literals

Feature = Mapping[str, State | Sequence[State]] | str
"""A mapping such as ``{"smoker": "yes"}`` or a text such as ``"smoker=yes & age!=young"``."""


class ContradictionWarning(UserWarning):
    """Features that can never hold were dropped."""


def literals_of(domain: Domain, feature: Feature) -> Iterator[tuple[int, int]]:
    """Yield the literals of a feature: (variable, value set as an int).

    >>> list(literals_of(Domain({"smoker": 2, "age": 3}), "smoker=1 & age!=0"))
    [(0, 2), (1, 6)]
    """
    if isinstance(feature, str):
        for literal in parse_literals(feature):
            variable = domain.position(literal.variable)
            yield variable, domain.value_set(variable, literal.states, literal.negated)
    elif isinstance(feature, Mapping):
        for name, states in feature.items():
            variable = domain.position(name)
            if isinstance(states, str) or not isinstance(states, Iterable):
                states = [states]
            yield variable, domain.value_set(variable, states)
    else:
        raise DomainError(
            f"{feature!r} is not a feature; pass a mapping such as {{'smoker': 'yes'}} or a "
            "text such as 'smoker=yes & age!=young'"
        )


def features_of(domain: Domain, features: Iterable[Iterable[tuple[int, int]]]) -> Features:
    """Make features from lists of (variable, value set as an int)."""
    words = words_of(domain.cardinalities)
    owners: list[int] = []
    variables: list[int] = []
    sets: list[int] = []
    count = 0
    for literals in features:
        for variable, allowed in literals:
            owners.append(count)
            variables.append(variable)
            sets.append(allowed)
        count += 1
    values = np.array([as_words(s, words) for s in sets], dtype=np.uint64).reshape(-1, words)
    result, places = normalized(domain.cardinalities, owners, variables, values, count)
    warn_of_contradictions(int((places < 0).sum()))
    return result


def warn_of_contradictions(count: int) -> None:
    """Warn that features were dropped, if any."""
    if count:
        what = "feature that can" if count == 1 else "features that can"
        warnings.warn(f"dropped {count} {what} never hold", ContradictionWarning, stacklevel=4)
