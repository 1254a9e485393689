"""Convert hierarchical log-linear models, ``[AB][BC]``, also with generators in contexts.

A **hierarchical model** is written by its **generators**, the largest sets of variables that
interact jointly. A generator becomes one feature for each cell of its table. Two variables depend,
in every context, if and only if some generator has both, so ``[ABC]`` and ``[AB][BC][AC]`` make the
same claims.

A **context-specific interaction model** (Eriksen; Højsgaard) is a hierarchical model whose
generators may be limited to a context: "in general [AB], and where C=1 also [AD]". A table that
applies only where C=1 makes C interact with all of its variables; the model itself implies this.

A **split model** is the tree-shaped case: it splits the table by the states of a variable, splits
parts further, and gives each leaf generators for the remaining variables. All parameters differ
between leaves, so every variable that a leaf mentions depends on the splits above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from contextwise.convert.from_claims import (
    CubeMap,
    DomainLike,
    converter,
    covers_all,
    domain_of,
)
from contextwise.counting.cover import class_space
from contextwise.counting.extraction import CoverSource, covered_pairs
from contextwise.counting.regions import complement
from contextwise.errors import DomainError, NotRepresentable, ParseError
from contextwise.formats import ModelLike, as_structure
from contextwise.models.domain import Domain, listed, value_sets_of
from contextwise.models.factors import check_scopes, tables
from contextwise.models.notation import quoted, where
from contextwise.models.structure import Feature, Structure, features_of, require_features

Generators = str | Iterable[Iterable[str]]
"""``"[AB][BC]"``, ``"~A:B + B:C"`` or ``[("A", "B"), ("B", "C")]``."""


@converter
def from_generators(generators: Generators, domain: DomainLike) -> Structure:
    """Convert a hierarchical model to a structure.

    Parameters
    ----------
    generators : text or iterable of names
        In brackets names are separated by blanks, commas, colons or stars; without any of them,
        letters that are all names are read one by one. An R formula starts with ``~``.

    Examples
    --------
    >>> domain = Domain({"smoker": 2, "age": 3, "ill": 2})
    >>> from_generators("[smoker ill][age]", domain).pairs()
    [('smoker', 'ill')]
    >>> from_generators("~ smoker:ill + age", domain).pairs()
    [('smoker', 'ill')]
    """
    domain = domain_of(domain)
    return tables(domain, _scopes(domain, generators))


def to_generators(model: ModelLike) -> list[tuple[str, ...]]:
    """Return the generators of the hierarchical model that makes the same claims.

    They are the largest scopes of the features. Raises `NotRepresentable` if a pair depends in
    some contexts only.

    Parameters
    ----------
    model : Structure or LogLinear

    Examples
    --------
    >>> to_generators(Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=0 & C=0", "C=1"]))
    [('A', 'B'), ('B', 'C')]
    """
    structure = require_features(as_structure(model), "the list of generators")
    domain = structure.domain
    source = CoverSource(structure.features)
    for i, j in covered_pairs(structure.features).tolist():
        cubes = source.cubes(0, (i, j))
        if not covers_all(domain, (i, j), cubes):
            first, second = quoted(domain.names[i]), quoted(domain.names[j])
            regions = complement(class_space(domain.cardinalities, cubes), cubes).regions
            place = "in some contexts"
            if regions:
                place = where(domain.literal(*literal) for literal in regions[0].literals)
            raise NotRepresentable(
                f"{first} and {second} are independent {place} and depend elsewhere: generators "
                "cannot say that"
            )
    scopes = _maximal(tuple(map(domain.position, scope)) for scope in structure.scopes())
    return [tuple(domain.names[v] for v in scope) for scope in scopes]


def _scopes(domain: Domain, generators: Generators) -> list[tuple[int, ...]]:
    """Return the largest generators as sorted positions."""
    named = _parsed(domain, generators) if isinstance(generators, str) else generators
    scopes = []
    for names in named:
        if isinstance(names, str):
            raise DomainError(f"give a generator as a list of names, not as the text {names!r}")
        scopes.append(tuple(sorted({domain.position(name) for name in names})))
    return _maximal(scopes)


def _maximal(scopes: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the scopes that lie in no other, in order, without the empty scope."""
    holders: dict[int, list[set[int]]] = {}
    kept: list[tuple[int, ...]] = []
    for scope in sorted(set(scopes), key=lambda scope: (-len(scope), scope)):
        inside = set(scope)
        # A scope that contains this one is longer and contains its first variable.
        if not scope or any(inside <= other for other in holders.get(scope[0], ())):
            continue
        kept.append(scope)
        for variable in scope:
            holders.setdefault(variable, []).append(inside)
    return sorted(kept)


_BRACKETS = re.compile(r"\s*\[([^\[\]]*)\]\s*")
_SEPARATORS = re.compile(r"[\s,:*]+")


def _parsed(domain: Domain, text: str) -> list[list[str]]:
    """Return the names of each generator in a text."""
    if "~" in text:
        return [_names(domain, term, text) for term in text.split("~", 1)[1].split("+")]
    named, at = [], 0
    while at < len(text):
        match = _BRACKETS.match(text, at)
        if match is None:
            raise ParseError(
                f"cannot read {text[at : at + 20]!r} in the generators {text[:60]!r}; write "
                "'[A B][B C]' or '~A:B + B:C'"
            )
        named.append(_names(domain, match[1], text))
        at = match.end()
    return named


def _names(domain: Domain, term: str, text: str) -> list[str]:
    term = term.strip()
    names = [name for name in _SEPARATORS.split(term) if name]
    if not names:
        raise ParseError(f"a generator without variables in {text[:60]!r}")
    if term in domain.positions:
        return [term]
    is_word = len(names) == 1 and all(letter in domain.positions for letter in term)
    return list(term) if is_word else names


Literals = list[tuple[int, int]]


@converter
def from_interactions(
    interactions: Iterable[tuple[Feature, Generators]], domain: DomainLike
) -> Structure:
    """Convert a context-specific interaction model to a structure.

    Parameters
    ----------
    interactions : pairs of a context and generators
        A context is a text or mapping of literals (``""`` holds everywhere), generators are as in
        `contextwise.convert.from_generators`, over variables that the context does not fix.

    Examples
    --------
    >>> domain = {"smoker": ["no", "yes"], "asbestos": 2, "ill": 2}
    >>> model = from_interactions([
    ...     ("smoker=no", "[ill]"), ("smoker=yes", "[asbestos ill]")
    ... ], domain)
    >>> model.restrict("smoker=no").pairs(), model.restrict("smoker=yes").pairs()
    ([], [('asbestos', 'ill')])
    """
    domain = domain_of(domain)
    terms = (
        term
        for context, generators in interactions
        for term in _terms(domain, value_sets_of(domain, context), generators)
    )
    return Structure(domain, features_of(domain, terms))


@converter
def from_split_model(tree: Mapping[str, Any] | Generators, domain: DomainLike) -> Structure:
    """Convert a split model to a structure.

    Parameters
    ----------
    tree : nested mapping
        A split is ``{variable: {state: subtree, ...}}`` with a subtree for every state; a leaf is
        generators over the variables that are left.

    Examples
    --------
    >>> domain = {"X": 2, "A": 2, "B": 2, "C": 2}
    >>> model = from_split_model({"X": {0: "[AB][C]", 1: {"A": {0: "[BC]", 1: "[B][C]"}}}}, domain)
    >>> model.restrict("X=1 & A=0").pairs(), model.restrict("X=1 & A=1").pairs()
    ([('B', 'C')], [])
    """
    domain = domain_of(domain)
    features: list[Literals] = []
    for path, generators in leaves_of(domain, tree, {}):
        features.append(list(path.items()))
        features += _terms(domain, path, generators)
    return Structure(domain, features_of(domain, features))


def leaves_of(
    domain: Domain, tree: Any, path: Mapping[int, int]
) -> Iterator[tuple[dict[int, int], Any]]:
    """Yield the leaves of a tree of splits, each with the value sets on its path.

    A split is ``{variable: {state: subtree, ...}}``; anything that is no mapping is a leaf.
    """
    if not isinstance(tree, Mapping):
        yield dict(path), tree
        return
    if len(tree) != 1:
        raise DomainError(
            f"a split must name one variable, as in {{'A': {{0: ..., 1: ...}}}}, got {listed(tree)}"
        )
    [(name, branches)] = tree.items()
    variable = domain.position(name)
    if variable in path:
        raise DomainError(f"{name!r} is split twice on one path of the tree; split it once")
    if not isinstance(branches, Mapping):
        raise DomainError(f"the split on {name!r} needs a mapping from its states to subtrees")
    left = (1 << domain.cardinalities[variable]) - 1
    for states, subtree in branches.items():
        several = isinstance(states, tuple | frozenset)
        allowed = domain.value_set(variable, states if several else [states])
        if allowed & ~left:
            raise DomainError(f"the split on {name!r} has two branches for one state")
        left &= ~allowed
        yield from leaves_of(domain, subtree, {**path, variable: allowed})
    if left:
        missing = [s for k, s in enumerate(domain.states[variable]) if left >> k & 1]
        raise DomainError(f"the split on {name!r} has no branch for {listed(missing)}")


def _terms(domain: Domain, context: CubeMap, generators: Generators) -> Iterator[Literals]:
    """Yield the cells of each generator with the literals of the context."""
    scopes = _scopes(domain, generators)
    for scope in scopes:
        fixed = [domain.names[v] for v in scope if v in context]
        if fixed:
            raise DomainError(f"a generator has {listed(fixed)}, which its context fixes")
    check_scopes(domain, scopes)
    for scope in scopes:
        for cell in product(*(range(domain.cardinalities[v]) for v in scope)):
            literals = [(v, 1 << state) for v, state in zip(scope, cell, strict=True)]
            yield [*context.items(), *literals]
