"""Pairs of variables, by name and by position, and the two kinds of contexts.

A **context** of a pair is an assignment of the other variables (``"fully-contextualized"``, the
default, as in the paper). The authors' program counts full assignments instead, including the
pair's own literals (``"canonical"``); published numbers were made with it. With canonical contexts,
models with equal claims can have a distance above 0: ``<X0=1, X1=1>`` and its full table make the
same pair depend, and differ in three assignments.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from contextwise.counting.cover import Cover
from contextwise.counting.extraction import CoverSource, covered_pairs
from contextwise.errors import DomainError
from contextwise.models.domain import Domain
from contextwise.models.features import IntArray
from contextwise.models.structure import Model, structure_of

Contexts = Literal["fully-contextualized", "canonical"]
FULLY: Contexts = "fully-contextualized"
Pair = tuple[str, str]


def is_canonical(contexts: str) -> bool:
    """Return whether contexts are full assignments; raise for an unknown word.

    >>> is_canonical("fully-contextualized"), is_canonical("canonical")
    (False, True)
    """
    if contexts not in ("fully-contextualized", "canonical"):
        raise DomainError(
            f"unknown contexts {contexts!r}; choose 'fully-contextualized' or 'canonical'"
        )
    return contexts == "canonical"


def pair_positions(domain: Domain, pair: Iterable[str]) -> tuple[int, int]:
    """Return a pair of names as rising positions."""
    names = [pair] if isinstance(pair, str) else list(pair)
    if len(names) != 2 or names[0] == names[1]:
        text = ", ".join(map(repr, names)) or "nothing"
        raise DomainError(f"a pair must be two different variables, got {text}")
    i, j = sorted(map(domain.position, names))
    return i, j


def active_pairs(*models: Model) -> IntArray:
    """Return the pairs that a feature of any of the models covers, as positions: shape (p, 2)."""
    return covered_pairs(*(structure_of(model).features for model in models))


def cover(model: Model, pair: Pair, *, contexts: Contexts = FULLY) -> Cover:
    """Return the cover of a pair: the features that cover it, without the pair's literals.

    >>> from contextwise.models.structure import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 3}, ["A=1 & B=1 & C=0", "A=0 & B=0 & C!=1"])
    >>> cover(model, ("A", "B"))
    Cover(weights=((1, 1, 1),), cubes=(1, 5), scale=1)
    """
    structure = structure_of(model)
    positions = pair_positions(structure.domain, pair)
    source = CoverSource(structure.features, canonical=is_canonical(contexts))
    return source.cover(positions, source.cubes(0, positions))


def all_pairs(variables: Iterable[int]) -> IntArray:
    """Return all pairs of these positions, in order: shape (p, 2)."""
    chosen = np.array(sorted(set(variables)), dtype=np.int64)
    first, second = np.triu_indices(len(chosen), 1)
    return np.stack([chosen[first], chosen[second]], axis=1).astype(np.int64)


def asked_pairs(
    domain: Domain, pairs: Iterable[Pair] | None, variables: Iterable[str] | None
) -> IntArray | None:
    """Return the pairs that the keywords of `compare` select, as positions; None means all.

    >>> asked_pairs(Domain({"A": 2, "B": 2, "C": 2}), None, ["C", "A"]).tolist()
    [[0, 2]]
    """
    if isinstance(variables, str):
        raise DomainError(f"variables must be a list of names, got {variables!r}")
    inside = None if variables is None else {domain.position(name) for name in variables}
    if pairs is None:
        return None if inside is None else all_pairs(inside)
    chosen = {pair_positions(domain, pair) for pair in pairs}
    if inside is not None:
        chosen = {pair for pair in chosen if inside.issuperset(pair)}
    return np.array(sorted(chosen), dtype=np.int64).reshape(-1, 2)
