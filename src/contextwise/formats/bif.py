"""Bayesian networks in the interchange format BIF: ``.bif``.

The format of the Bayesian network repositories, with names for variables and states::

    network cancer { }
    variable Smoker { type discrete [ 2 ] { yes, no }; }
    variable Cancer { type discrete [ 2 ] { yes, no }; }
    probability ( Smoker ) { table 0.3, 0.7; }
    probability ( Cancer | Smoker ) {
      (yes) 0.03, 0.97;
      default 0.01, 0.99;
    }

A row gives the distribution of the child for one assignment of its parents, ``default`` gives all
rows that are not written, and ``table`` all numbers at once, the last parent varying fastest and
the child slowest. Rows that miss 1 by a little (printed digits) are scaled to it. Comments are
``//`` and ``/* */``; commas and bars separate like blanks; properties are ignored.

Each cell of a conditional distribution becomes a feature, the log of its probability the weight. So
nothing of the distribution is lost; of the graph, the directions are, and with them the
independencies that hold only while a child is not observed.

Only a Bayesian network can be written: a log-linear model whose tables are conditional
distributions, one for each variable, without a cycle. What was read from a file is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

import numpy as np

from contextwise.errors import ContextwiseError, DomainError, NotRepresentable, TooLargeError
from contextwise.formats.bif_grammar import Distribution, Network, parse
from contextwise.formats.reading import Format, Source, check_states, factor_of, model_of_factors
from contextwise.models.domain import Domain
from contextwise.models.factors import Factor, FloatArray, check_scopes, factors_to_write, numbers
from contextwise.models.notation import quoted
from contextwise.models.structure import Model

NEAR = 0.02
"""How far the sum of a row may be from 1: digits are cut when networks are printed."""

EXACT = 1e-9
"""How far the sum of a row is from 1 if it is a distribution but for rounding."""

PRINTED = 1e-4
"""How far it may be when a model is written whose weights were once printed with six digits."""


def read(source: Source) -> Model:
    """Read a ``.bif`` file."""
    parsed = parse(source)
    check_states(source, [len(states) for states in parsed.variables.values()])
    try:
        domain = Domain(parsed.variables)
    except DomainError as error:
        raise source.error(str(error)) from None
    factors = [_factor(source, domain, own) for own in _complete(source, parsed)]
    return model_of_factors(domain, factors, source, "bif")


def _complete(source: Source, parsed: Network) -> list[Distribution]:
    """One distribution for each variable, and no cycle."""
    of = {own.child: own for own in parsed.distributions}
    for name in parsed.variables:
        if name not in of:
            raise source.error(f"variable {name!r} has no probability")
    for own in parsed.distributions:
        if of[own.child] is not own:
            raise source.error(f"variable {own.child!r} has two probabilities", own.line)
    try:
        TopologicalSorter({own.child: own.parents for own in parsed.distributions}).prepare()
    except CycleError as error:
        way = " -> ".join(error.args[1][:6])
        raise source.error(f"the network has a cycle: {way}") from None
    return parsed.distributions


def _factor(source: Source, domain: Domain, own: Distribution) -> Factor:
    """The table of one distribution: its parents, then the child."""
    child = domain.positions[own.child]
    scope = [*(domain.positions[name] for name in own.parents), child]
    shape = [domain.cardinalities[v] for v in scope]
    try:
        check_scopes(domain, [scope])
    except TooLargeError as error:
        raise source.error(str(error), own.line) from None
    values = np.full(shape, np.nan)
    if own.default is not None:
        values[...] = _row(source, own, own.default, shape[-1])
    if own.table is not None:
        table = _row(source, own, own.table, values.size)
        values = np.moveaxis(table.reshape([shape[-1], *shape[:-1]]), 0, -1)
    seen = set()
    for states, line, row in own.rows:
        place = _place(source, domain, own, states, line)
        if place in seen:
            raise source.error(f"the probability of {own.child!r} has this row twice", line)
        seen.add(place)
        values[place] = _row(source, own, row, shape[-1], line)
    return factor_of(scope, _distributions(source, own, values))


def _place(
    source: Source, domain: Domain, own: Distribution, states: list[str], line: int
) -> tuple[int, ...]:
    """Where the row of these states of the parents stands."""
    if len(states) != len(own.parents):
        raise source.error(
            f"the probability of {own.child!r} has {len(own.parents)} parents and this row "
            f"{len(states)} states",
            line,
        )
    try:
        return tuple(
            domain.state_position(domain.positions[parent], state)
            for parent, state in zip(own.parents, states, strict=True)
        )
    except DomainError as error:
        raise source.error(str(error), line) from None


def _row(
    source: Source, own: Distribution, row: list[float], wanted: int, line: int | None = None
) -> FloatArray:
    if len(row) != wanted:
        raise source.error(
            f"the probability of {own.child!r} needs {wanted} numbers, not {len(row)}",
            own.line if line is None else line,
        )
    return np.array(row)


def _distributions(source: Source, own: Distribution, values: FloatArray) -> FloatArray:
    """The table with each row scaled to the sum 1, where it is not so but for rounding."""
    if np.isnan(values).any():
        raise source.error(
            f"the probability of {own.child!r} has no row for some states of its parents", own.line
        )
    sums = values.sum(axis=-1, keepdims=True)
    if (np.abs(sums - 1) > NEAR).any():
        bad = float(sums.flat[int(np.argmax(np.abs(sums - 1)))])
        raise source.error(
            f"a row of the probability of {own.child!r} has the sum {bad:g}, not 1", own.line
        )
    return np.where(np.abs(sums - 1) > EXACT, values / sums, values)


# -- writing -------------------------------------------------------------------------------------


def write(model: Model) -> bytes:
    """A Bayesian network as a ``.bif`` file; any other model is `NotRepresentable`.

    >>> from contextwise.models.factors import Factor, log_linear
    >>> half = np.log(np.array([0.5, 0.5]))
    >>> print(write(log_linear(Domain({"A": 2}), [Factor((0,), half)])).decode())
    network contextwise {
    }
    variable A {
      type discrete [ 2 ] { 0, 1 };
    }
    probability ( A ) {
      table 0.5, 0.5;
    }
    """
    families = _families(model.domain, factors_to_write(model, "a .bif file"))
    domain = model.domain
    lines = ["network contextwise {", "}"]
    for name, states in zip(domain.names, domain.states, strict=True):
        labels = ", ".join(map(_word, states))
        lines += [
            f"variable {_word(name)} {{",
            f"  type discrete [ {len(states)} ] {{ {labels} }};",
            "}",
        ]
    for child in range(len(domain)):
        lines += _probability(domain, child, families.get(child))
    return "\n".join([*lines, ""]).encode("utf-8")


def _families(domain: Domain, factors: list[Factor]) -> dict[int, Factor]:
    """The conditional distribution of each child.

    A variable that occurs in one table only, over which this table has the sum 1 everywhere, is
    childless: it and its table can be taken away, and the rest is again a Bayesian network. A
    variable that is left without a table is uniform.
    """
    holders: dict[int, list[Factor]] = {}
    for factor in factors:
        for variable in factor.scope:
            holders.setdefault(variable, []).append(factor)
    waiting = list(holders)
    families: dict[int, Factor] = {}
    while waiting:
        child = waiting.pop()
        if len(holders[child]) == 1 and _sums_to_one(holders[child][0], child):
            families[child] = factor = holders[child][0]
            for variable in factor.scope:
                holders[variable] = [other for other in holders[variable] if other is not factor]
                waiting.append(variable)
    for left in holders.values():
        for factor in left:
            names = ", ".join(quoted(domain.names[v]) for v in factor.scope)
            raise NotRepresentable(
                "a .bif file holds Bayesian networks, and this model is not written as one: the "
                f"table over {names} is not the conditional distribution of a variable"
            )
    return families


def _sums_to_one(factor: Factor, child: int) -> bool:
    sums = numbers(factor, "a .bif file").sum(axis=factor.scope.index(child))
    return bool((np.abs(sums - 1) <= PRINTED).all())


def _probability(domain: Domain, child: int, family: Factor | None) -> Iterator[str]:
    """The block of one variable."""
    if family is None:
        family = Factor((child,), -np.log(np.full(size := domain.cardinalities[child], size)))
    parents = [v for v in family.scope if v != child]
    values = np.moveaxis(numbers(family, "a .bif file"), family.scope.index(child), -1)
    given = f" | {', '.join(_word(domain.names[v]) for v in parents)}" if parents else ""
    yield f"probability ( {_word(domain.names[child])}{given} ) {{"
    for place in np.ndindex(values.shape[:-1]):
        row = ", ".join(map(repr, values[place].tolist()))
        states = ", ".join(_word(domain.states[v][k]) for v, k in zip(parents, place, strict=True))
        yield f"  ({states}) {row};" if parents else f"  table {row};"
    yield "}"


def _word(name: str) -> str:
    """A name as it is written, in quotes where it needs them."""
    if '"' in name or not name.isprintable():
        raise ContextwiseError(f"a .bif file cannot hold the name {name!r}; rename it first")
    return name if re.fullmatch(r"[^\s{}()\[\];,|/]+", name) else f'"{name}"'


# Possessive (*+): what was read as blank or comment is never tried again as something else.
_START = re.compile(rb"(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*+\*/)*+(?:network|variable)\b")


def _fits(data: bytes) -> bool:
    return _START.match(data) is not None


FORMAT = Format("bif", (".bif",), read, write, _fits)
