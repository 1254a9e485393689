"""Context-specific interaction models and split models (Eriksen; Højsgaard).

A context-specific interaction model is a hierarchical model whose generators may hold in a context
only: "in general [AB], and where C=1 also [AD]". A generator g in a context c stands for a table
over g that counts where c holds and nowhere else. In features: each cell of g together with the
literals of c. So every such model is a structure, feature by feature, and nothing is lost.

Note what a context does to its own variables: a table that counts only where C=1 makes C interact
with all variables of g (its effect switches with C), and the variables of one context with each
other. That is what the model says, not an addition of the conversion.

A **split model** is the tree-shaped case: the table is split by the states of a variable, each part
again or not, and each leaf has generators for the variables that are left. In different leaves all
parameters differ, so every variable that a leaf mentions depends on the splits above it.

>>> from_interactions({"A": 2, "B": 2, "C": 2}, [("", "[A][B]"), ("C=1", "[AB]")])
Structure(3 variables, 8 features: A=0; A=1; B=0; B=1; … 4 more)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from contextwise.convert.generators import Generators, maximal, scopes_of
from contextwise.convert.target import Cube, DomainLike, cube_of, domain_of
from contextwise.errors import DomainError
from contextwise.models.domain import Domain, listed
from contextwise.models.factors import checked
from contextwise.models.literals import Feature, features_of
from contextwise.models.structure import Structure

Literals = list[tuple[int, int]]


def from_interactions(
    domain: DomainLike, interactions: Iterable[tuple[Feature, Generators]]
) -> Structure:
    """The structure of a context-specific interaction model.

    Parameters
    ----------
    domain : Domain, or a mapping that makes one
    interactions : pairs of a context and generators
        A context is a text or mapping of literals (``""`` holds everywhere), generators are as in
        `contextwise.convert.from_generators`, over variables that the context does not fix.

    Examples
    --------
    >>> domain = {"smoker": ["no", "yes"], "asbestos": 2, "ill": 2}
    >>> model = from_interactions(domain, [
    ...     ("smoker=no", "[ill]"), ("smoker=yes", "[asbestos ill]")
    ... ])
    >>> model.restrict("smoker=no").pairs(), model.restrict("smoker=yes").pairs()
    ([], [('asbestos', 'ill')])
    """
    domain = domain_of(domain)
    features: list[Literals] = []
    for context, generators in interactions:
        features += _terms(domain, cube_of(domain, context), generators)
    return Structure(domain, features_of(domain, features))


def from_split_model(domain: DomainLike, tree: Mapping[str, Any] | Generators) -> Structure:
    """The structure of a split model.

    Parameters
    ----------
    domain : Domain, or a mapping that makes one
    tree : nested mapping
        A split is ``{variable: {state: subtree, ...}}`` with a subtree for every state; a leaf is
        generators over the variables that are left.

    Examples
    --------
    >>> domain = {"X": 2, "A": 2, "B": 2, "C": 2}
    >>> model = from_split_model(domain, {"X": {0: "[AB][C]", 1: {"A": {0: "[BC]", 1: "[B][C]"}}}})
    >>> model.restrict("X=1 & A=0").pairs(), model.restrict("X=1 & A=1").pairs()
    ([('B', 'C')], [])
    """
    domain = domain_of(domain)
    features: list[Literals] = []
    for path, generators in _leaves(domain, tree, {}):
        features.append(list(path.items()))
        features += _terms(domain, path, generators)
    return Structure(domain, features_of(domain, features))


def _leaves(
    domain: Domain, tree: Mapping[str, Any] | Generators, path: dict[int, int]
) -> Iterator[tuple[dict[int, int], Generators]]:
    """The leaves of a split tree: the literals on the way, and the generators."""
    if not isinstance(tree, Mapping):
        yield path, tree
        return
    variable, branches = split_of(domain, tree, path)
    for allowed, subtree in branches:
        yield from _leaves(domain, subtree, {**path, variable: allowed})


def split_of(
    domain: Domain, tree: Mapping[str, Any], path: Iterable[int]
) -> tuple[int, list[tuple[int, Any]]]:
    """The variable of a split, and each branch as (value set, subtree); every state has one."""
    if len(tree) != 1:
        raise DomainError(
            f"a split names one variable, as in {{'A': {{0: ..., 1: ...}}}}, not {listed(tree)}"
        )
    [(name, branches)] = tree.items()
    variable = domain.position(name)
    if variable in path:
        raise DomainError(f"{name!r} is split twice on one way through the tree")
    if not isinstance(branches, Mapping):
        raise DomainError(f"the split on {name!r} needs a mapping from its states to subtrees")
    parts = []
    left = (1 << domain.cardinalities[variable]) - 1
    for states, subtree in branches.items():
        several = isinstance(states, tuple | frozenset)
        allowed = domain.value_set(variable, states if several else [states])
        if allowed & ~left:
            raise DomainError(f"the split on {name!r} has two branches for one state")
        left &= ~allowed
        parts.append((allowed, subtree))
    if left:
        missing = [s for k, s in enumerate(domain.states[variable]) if left >> k & 1]
        raise DomainError(f"the split on {name!r} has no branch for {listed(missing)}")
    return variable, parts


def _terms(domain: Domain, context: Cube, generators: Generators) -> Iterator[Literals]:
    """The cells of each generator, each with the literals of the context."""
    scopes = maximal(scopes_of(domain, generators))
    for scope in scopes:
        fixed = [domain.names[v] for v in scope if v in context]
        if fixed:
            raise DomainError(f"a generator has {listed(fixed)}, which its context fixes")
    checked(domain, scopes)
    for scope in scopes:
        for cell in product(*(range(domain.cardinalities[v]) for v in scope)):
            own = [(v, 1 << state) for v, state in zip(scope, cell, strict=True)]
            yield [*context.items(), *own]
