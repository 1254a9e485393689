"""The complete dependency model: every assertion I(X_i, X_j | x_U, X_W), for small domains.

For a pair, every other variable is free (not in the condition), assigned one of its states (in U),
or given with any value (in W). So a domain has

    Σ over pairs of Π over the other variables of (number of states + 2)

assertions, 96 for four binary variables. The functions refuse domains beyond a limit.

All assertions of a pair are decided together on one array with an axis for each variable: index 0
is free, 1 … c are its states, c + 1 is given. The first c + 1 are connectivity in the instantiated
graph. The last is "for some state", the definition of dependence given a variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np

from contextwise.comparison.confusion import Confusion
from contextwise.counting.contexts import UNIFORM
from contextwise.errors import TooLargeError
from contextwise.formats import ModelLike, as_structure
from contextwise.independence.statements import Statement
from contextwise.models.domain import Domain
from contextwise.models.structure import Structure
from contextwise.support.arrays import BoolArray
from contextwise.support.formatting import number

LIMIT = 2**22
"""Default limit of the number of assertions."""


def triplet_count(domain: Domain) -> int:
    """Count the assertions of the complete model.

    >>> triplet_count(Domain({"A": 2, "B": 2, "C": 2, "D": 2}))
    96
    """
    return UNIFORM.of_all_pairs([cardinality + 2 for cardinality in domain.cardinalities])


def dependency_model(model: ModelLike, *, limit: int = LIMIT) -> Iterator[Statement]:
    """Yield the complete dependency model of the paper: the assertions that do *not* hold.

    Each is a statement ``A ⫫ B | …`` such that A and B depend there.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
    limit : largest number of assertions

    Yields
    ------
    Statement

    Raises
    ------
    TooLargeError
        If there are more assertions, before any work is done.

    Examples
    --------
    >>> chain = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    >>> [str(s) for s in dependency_model(chain) if s.first == ("A",) and s.second == ("C",)]
    ['A ⫫ C']
    """
    structure = as_structure(model)
    _refuse_beyond(limit, structure.domain)
    return (
        statement
        for i, j, dependent in _tables(structure)
        for statement in _statements(structure.domain, i, j, dependent)
    )


def compare_complete(true: ModelLike, guess: ModelLike, *, limit: int = LIMIT) -> Confusion:
    """Compute the confusion matrix over all assertions: TP_C, FN_C, FP_C and TN_C of the paper.

    Parameters
    ----------
    true, guess : Structure, LogLinear, path of a file, or name of an example
    limit : largest number of assertions

    Returns
    -------
    Confusion

    Raises
    ------
    TooLargeError
        If there are more assertions, before any work is done.

    Examples
    --------
    >>> domain = {"A": 2, "B": 2, "C": 2}
    >>> chain = Structure(domain, ["A=1 & B=1", "B=1 & C=1"])
    >>> compare_complete(chain, Structure(domain, ["A=1 & B=1"]))
    Confusion(tp=4, fn=5, fp=0, tn=3)
    """
    a = as_structure(true)
    b = as_structure(guess).aligned_to(a.domain)
    _refuse_beyond(limit, a.domain)
    total = Confusion(0, 0, 0, 0)
    for (_, _, x), (_, _, y) in zip(_tables(a), _tables(b), strict=True):
        counts = ((x & y).sum(), (x & ~y).sum(), (~x & y).sum(), (~x & ~y).sum())
        total += Confusion(*map(int, counts))
    return total


def _refuse_beyond(limit: int, domain: Domain) -> None:
    count = triplet_count(domain)
    if count > limit:
        raise TooLargeError(
            f"the complete dependency model of {len(domain)} variables has {number(count)} "
            f"assertions, more than {limit:,}; pass a larger limit="
        )


def _tables(structure: Structure) -> Iterator[tuple[int, int, BoolArray]]:
    """Yield each pair, and whether it depends, for every role of the other variables."""
    for i, j in combinations(range(len(structure.domain)), 2):
        dependent = _connected(structure, i, j)
        for axis in range(dependent.ndim):
            if axis not in (i, j):
                states = np.delete(dependent, 0, axis=axis)
                possible = states.any(axis=axis, keepdims=True)
                dependent = np.concatenate([dependent, possible], axis=axis)
        yield i, j, dependent


def _connected(structure: Structure, i: int, j: int) -> BoolArray:
    """Decide whether two variables are connected, for every partial assignment of the others.

    Index 0 of an axis is unassigned; an assigned variable is connected to nothing.
    """
    n = len(structure.domain)
    cards = structure.domain.cardinalities
    # Place 0 of an axis means that the variable is not assigned.
    shape = [1 if v in (i, j) else c + 1 for v, c in enumerate(cards)]
    edges = np.zeros([*shape, n, n], dtype=bool)
    features = structure.features
    for literals, scope in zip(features.literals(), features.covered_scopes(), strict=True):
        compatible = np.ones(shape, dtype=bool)
        for v, allowed in literals:
            roles = [True, *(bool(allowed >> k & 1) for k in range(shape[v] - 1))]
            compatible &= _along(np.array(roles), v, n)
        for a, b in permutations(scope, 2):
            edges[..., a, b] |= compatible
    for v, length in enumerate(shape):
        # An assigned variable leaves the graph.
        free = _along(np.arange(length) == 0, v, n)[..., None]
        edges[..., v, :] &= free
        edges[..., :, v] &= free
    for v in range(n):
        # Warshall: paths that may pass through v.
        edges |= edges[..., :, v, None] & edges[..., None, v, :]
    connected: BoolArray = edges[..., i, j]
    return connected


def _along(values: BoolArray, axis: int, axes: int) -> BoolArray:
    """Lay a vector along one of several axes."""
    return values.reshape([-1 if k == axis else 1 for k in range(axes)])


def _statements(domain: Domain, i: int, j: int, chosen: BoolArray) -> Iterator[Statement]:
    """Yield the chosen assertions of a pair."""
    for roles in np.argwhere(chosen).tolist():
        assigned = {
            domain.names[v]: domain.states[v][role - 1]
            for v, role in enumerate(roles)
            if 0 < role <= domain.cardinalities[v]
        }
        given = (domain.names[v] for v, r in enumerate(roles) if r > domain.cardinalities[v])
        yield Statement((domain.names[i],), (domain.names[j],), tuple(given), assigned)
