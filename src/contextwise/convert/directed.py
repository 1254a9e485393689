"""Derive the claims of directed models about each pair in each full context.

A directed model gives each variable (child) a distribution for each assignment of its parents.
Assignments that share their distribution form a **stage**. In a Bayesian network each assignment
has its own; labelled DAGs, CPT trees, staged trees and CStrees specify which ones share. The log of
the joint distribution is the sum of the logs of all children, so two variables interact in a
context if they do in some child's term (for all but special parameters, no two terms cancel):

- the child and a parent, where the parent's values lead to different stages;
- two parents, where the stages, as a table over the two, are not determined by one of them alone.
  For a table of stages s this holds if for some values s(p, q), s(0, 0) and s(p, 0), s(0, q) are
  different pairs of stages: then no sum of a term in p and a term in q fits.

The second case is moralization, context by context. **Features lose** two things. Structures
describe pairs given *all* other variables, so they cannot express that the parents of a collider
are independent while the child is unobserved, nor any other independence that holds given some
variables and fails given more. They also lose the directions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from math import prod

import numpy as np
import numpy.typing as npt

from contextwise.convert.from_claims import Claims, CubeMap, cubes_where, features_for
from contextwise.errors import DomainError
from contextwise.models.domain import Domain
from contextwise.models.factors import check_scopes
from contextwise.models.features import IntArray, PairIndex
from contextwise.models.structure import Structure

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Stages:
    """The stages of one child: a stage number for each assignment of its parents."""

    child: int
    parents: tuple[int, ...]
    table: IntArray

    @property
    def family(self) -> tuple[int, ...]:
        """The child and its parents, sorted."""
        return tuple(sorted((self.child, *self.parents)))


def all_different(domain: Domain, child: int, parents: Sequence[int]) -> Stages:
    """Return stages in which each assignment of the parents has its own.

    Parameters
    ----------
    domain : Domain
    child : position of the variable
    parents : positions of its parents
    """
    check_scopes(domain, [parents])
    shape = [domain.cardinalities[v] for v in parents]
    return Stages(child, tuple(parents), np.arange(prod(shape)).reshape(shape))


def from_stages(domain: Domain, children: Iterable[Stages]) -> Structure:
    """Convert stages to a structure."""
    return features_for(claims_of(domain, list(children)), info={"directed": True})


def claims_of(domain: Domain, children: Sequence[Stages]) -> Claims:
    """Find where each pair interacts in a directed model."""
    _require_acyclic(domain, children)
    terms: dict[PairIndex, list[tuple[tuple[int, ...], BoolArray]]] = {}
    for stages in children:
        if domain.cardinalities[stages.child] == 1:
            continue
        for pair in combinations(stages.family, 2):
            scope, where = interacting(stages, pair)
            if where.any():
                terms.setdefault(pair, []).append((scope, where))
    return Claims(domain, {pair: _independent(domain, own) for pair, own in terms.items()})


def interacting(stages: Stages, pair: PairIndex) -> tuple[tuple[int, ...], BoolArray]:
    """Find where a pair interacts in the term of one child: a table over the other parents.

    >>> xor = Stages(2, (0, 1), np.array([[0, 1], [1, 0]]))
    >>> interacting(xor, (0, 2))[1].tolist(), interacting(xor, (0, 1))[1].tolist()
    ([True, True], True)
    """
    scope = tuple(v for v in stages.parents if v not in pair)
    axes = [stages.parents.index(v) for v in pair if v != stages.child]
    table = np.moveaxis(stages.table, axes, range(len(axes)))
    if len(axes) == 1:
        return scope, (table != table[:1]).any(axis=0)
    corner, first, second = table[:1, :1], table[:, :1], table[:1, :]
    same = (table == first) & (corner == second) | (table == second) & (corner == first)
    return scope, ~same.all(axis=(0, 1))


def _independent(
    domain: Domain, terms: list[tuple[tuple[int, ...], BoolArray]]
) -> Sequence[CubeMap]:
    """Find where none of the terms of a pair interacts."""
    if any(where.all() for _, where in terms):
        return []
    scope = sorted({v for own, _ in terms for v in own})
    check_scopes(domain, [scope])
    anywhere = np.zeros([domain.cardinalities[v] for v in scope], dtype=bool)
    for own, where in terms:
        order = np.argsort(own)
        shape = [domain.cardinalities[v] if v in own else 1 for v in scope]
        anywhere |= where.transpose(order).reshape(shape)
    return cubes_where(scope, ~anywhere)


def _require_acyclic(domain: Domain, children: Sequence[Stages]) -> None:
    try:
        TopologicalSorter({stages.child: stages.parents for stages in children}).prepare()
    except CycleError as error:
        way = " -> ".join(domain.names[v] for v in error.args[1])
        raise DomainError(f"the directed model has a cycle: {way}") from None
