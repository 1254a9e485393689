"""Hierarchical log-linear models: generators such as ``[AB][BC]``.

A hierarchical model is written by its **generators**, the largest sets of variables that interact
jointly; all interactions inside a generator are in the model, none other is. ``[AB][BC]`` has the
main effects and the interactions AB and BC; ``[ABC]`` adds AC and the three-way interaction ABC.
R writes the same as a formula: ``~ A:B + B:C`` (``*`` and ``:`` mean the same in a hierarchical
model, since the lower terms are always in).

A generator becomes one feature for each cell of its table. Two variables depend, in every context,
if and only if some generator has both. So ``[ABC]`` and ``[AB][BC][AC]``, which differ as models,
make the same claims and are at distance 0.

>>> from_generators({"A": 2, "B": 2, "C": 2}, "[AB][BC]").scopes() == {("A", "B"), ("B", "C")}
True
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from contextwise.convert.target import DomainLike, domain_of, uncovered
from contextwise.counting.extraction import CoverSource, covered_pairs
from contextwise.errors import DomainError, NotRepresentable, ParseError
from contextwise.models.domain import Domain
from contextwise.models.factors import tables
from contextwise.models.notation import quoted
from contextwise.models.structure import Model, Structure, structure_of

Generators = str | Iterable[Iterable[str]]
"""``"[AB][BC]"``, ``"~A:B + B:C"`` or ``[("A", "B"), ("B", "C")]``."""


def from_generators(domain: DomainLike, generators: Generators) -> Structure:
    """The structure of a hierarchical model.

    Parameters
    ----------
    domain : Domain, or a mapping that makes one
    generators : text or iterable of names
        In brackets names are separated by blanks, commas, colons or stars; without any of them,
        letters that are all names are read one by one. An R formula starts with ``~``.

    Examples
    --------
    >>> domain = Domain({"smoker": 2, "age": 3, "ill": 2})
    >>> a = from_generators(domain, "[smoker ill][age]")
    >>> a == from_generators(domain, "~ smoker:ill + age")
    True
    >>> a == from_generators(domain, [("smoker", "ill"), ("age",)])
    True
    """
    domain = domain_of(domain)
    return tables(domain, maximal(scopes_of(domain, generators)))


def to_generators(model: Model) -> list[tuple[str, ...]]:
    """The generators of the hierarchical model that makes the same claims.

    They are the largest scopes of the features. It is an error (`NotRepresentable`) if a pair of
    them depends in some contexts only, since a hierarchical model cannot say that.

    Examples
    --------
    >>> domain = Domain({"A": 2, "B": 2, "C": 2})
    >>> to_generators(Structure(domain, ["A=1 & B=1", "B=0 & C=0", "C=1"]))
    [('A', 'B'), ('B', 'C')]
    >>> to_generators(Structure(domain, ["A=1 & B=1 & C=1"]))
    Traceback (most recent call last):
    contextwise.errors.NotRepresentable: A and B are independent where C=0 and depend elsewhere: ...
    """
    structure = structure_of(model)
    domain = structure.domain
    source = CoverSource(structure.features)
    for i, j in covered_pairs(structure.features).tolist():
        place = uncovered(domain, (i, j), source.cubes(0, (i, j)))
        if place is not None:
            first, second = quoted(domain.names[i]), quoted(domain.names[j])
            raise NotRepresentable(
                f"{first} and {second} are independent {place} and depend elsewhere: generators "
                "cannot say that"
            )
    scopes = maximal(tuple(map(domain.position, scope)) for scope in structure.scopes())
    return [tuple(domain.names[v] for v in scope) for scope in scopes]


def scopes_of(domain: Domain, generators: Generators) -> list[tuple[int, ...]]:
    """The generators as rising positions."""
    named = _parsed(domain, generators) if isinstance(generators, str) else generators
    scopes = []
    for names in named:
        if isinstance(names, str):
            raise DomainError(f"give a generator as a list of names, not as the text {names!r}")
        scopes.append(tuple(sorted({domain.position(name) for name in names})))
    return scopes


def maximal(scopes: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The scopes that lie in no other one, in order; the empty scope says nothing and goes.

    >>> maximal([(0, 1), (1,), (1, 2), (1, 0)[::-1]])
    [(0, 1), (1, 2)]
    """
    holders: dict[int, list[set[int]]] = {}
    kept: list[tuple[int, ...]] = []
    for scope in sorted(set(scopes), key=lambda scope: (-len(scope), scope)):
        inside = set(scope)
        if not scope or any(inside <= other for other in holders.get(scope[0], ())):
            continue
        kept.append(scope)
        for variable in scope:
            holders.setdefault(variable, []).append(inside)
    return sorted(kept)


_BRACKETS = re.compile(r"\s*\[([^\[\]]*)\]\s*")
_SEPARATORS = re.compile(r"[\s,:*]+")


def _parsed(domain: Domain, text: str) -> list[list[str]]:
    """The names of each generator of a text."""
    if "~" in text:
        terms = text.split("~", 1)[1].split("+")
        return [_names(domain, term, text) for term in terms]
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
    if len(names) == 1 and term not in domain.positions:
        letters = list(term)
        if all(letter in domain.positions for letter in letters):
            return letters
    return [term] if term in domain.positions else names
