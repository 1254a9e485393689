"""The grammar of BIF: from a text to variables and distributions, with their lines.

Checks the form; what the numbers and names mean is the business of `contextwise.formats.bif`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

import numpy as np

from contextwise.errors import (
    ContextwiseError,
    DomainError,
    NotRepresentable,
    ParseError,
    TooLargeError,
)
from contextwise.formats.reading import Format, Source, check_states, factor_of, model_of_factors
from contextwise.models.domain import Domain
from contextwise.models.factors import Factor, FloatArray, check_scopes, factors_to_write, numbers
from contextwise.models.notation import quoted
from contextwise.models.structure import Model

_TOKEN = re.compile(
    r"""(?P<skip>[\s,|]+|//[^\n]*|/\*.*?\*/)
      | (?P<open>/\*)
      | (?P<quoted>"[^"\n]*")
      | (?P<sign>[{}()\[\];])
      | (?P<word>[^\s,|{}()\[\];"]+)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass
class Distribution:
    """A probability block as it is written."""

    child: str
    parents: list[str]
    line: int
    table: list[float] | None = None
    default: list[float] | None = None
    rows: list[tuple[list[str], int, list[float]]] = field(default_factory=list)


@dataclass(frozen=True)
class Network:
    """All blocks of a file."""

    variables: dict[str, list[str]]
    distributions: list[Distribution]


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def parse(source: Source) -> Network:
    """Read the blocks of a file."""
    return _Parser(source).network()


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = self.split()
        self.at = 0
        self.variables: dict[str, list[str]] = {}

    def split(self) -> list[_Token]:
        text, line, at = self.source.text, 1, 0
        found = []
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup == "open":
                what = "a quoted name" if match is None else "a comment"
                raise self.source.error(f"{what} has no end", line)
            if match.lastgroup == "quoted":
                found.append(_Token("word", match[0][1:-1], line))
            elif match.lastgroup != "skip":
                kind = "word" if match.lastgroup == "word" else match[0]
                found.append(_Token(kind, match[0], line))
            line += match[0].count("\n")
            at = match.end()
        found.append(_Token("end", "the end of the file", line))
        return found

    def network(self) -> Network:
        distributions = []
        while self.tokens[self.at].kind != "end":
            keyword = self.take("word")
            if keyword.text.lower() == "network":
                self.ignore_block()
            elif keyword.text.lower() == "variable":
                self.variable()
            elif keyword.text.lower() == "probability":
                distributions.append(self.probability())
            else:
                raise self.error(
                    f"expected network, variable or probability, not {keyword.text[:30]!r}", keyword
                )
        if not self.at:
            raise self.error("the file is empty", self.tokens[0])
        return Network(self.variables, distributions)

    # -- blocks ----------------------------------------------------------------------------------

    def ignore_block(self) -> None:
        while self.tokens[self.at].kind != "{":
            self.take("word")
        while self.take_any().kind != "}":
            pass

    def variable(self) -> None:
        name = self.take("word")
        if name.text in self.variables:
            raise self.error(f"two variables have the name {name.text!r}", name)
        states: list[str] | None = None
        self.take("{")
        while (token := self.take("word", "}")).kind != "}":
            if token.text.lower() == "type":
                states = self.states(name)
            elif token.text.lower() == "property":
                self.ignore_property()
            else:
                raise self.error(f"expected type or property, not {token.text[:30]!r}", token)
        if states is None:
            raise self.error(f"variable {name.text!r} has no type", name)
        self.variables[name.text] = states

    def states(self, name: _Token) -> list[str]:
        kind = self.take("word")
        if kind.text.lower() != "discrete":
            raise self.error(f"only discrete variables are known, not {kind.text[:30]!r}", kind)
        self.take("[")
        count = self.take("word")
        self.take("]")
        self.take("{")
        states = [token.text for token in self.words_until("}")]
        self.take(";")
        if count.text != str(len(states)):
            raise self.error(
                f"variable {name.text!r} has {len(states)} states, not {count.text[:30]}", count
            )
        if len(set(states)) < len(states):
            raise self.error(f"variable {name.text!r} has a state twice", count)
        return states

    def probability(self) -> Distribution:
        opening = self.take("(")
        names = self.words_until(")")
        for name in names:
            if name.text not in self.variables:
                raise self.error(f"unknown variable {name.text!r}", name)
        family = [name.text for name in names]
        if not family or len(set(family)) < len(family):
            raise self.error("expected a variable and its parents, each once", opening)
        own = Distribution(family[0], family[1:], opening.line)
        self.take("{")
        while (token := self.take("word", "(", "}")).kind != "}":
            self.entry(own, token)
        return own

    def entry(self, own: Distribution, token: _Token) -> None:
        if token.kind == "(":
            states = [state.text for state in self.words_until(")")]
            own.rows.append((states, token.line, self.numbers()))
        elif token.text.lower() == "table":
            own.table = self.numbers()
        elif token.text.lower() == "default":
            own.default = self.numbers()
        elif token.text.lower() == "property":
            self.ignore_property()
        else:
            raise self.error(f"expected table, default or a row, not {token.text[:30]!r}", token)

    # -- smaller parts ---------------------------------------------------------------------------

    def numbers(self) -> list[float]:
        values = []
        for token in self.words_until(";"):
            try:
                value = float(token.text)
            except ValueError:
                value = -1.0
            if not 0 <= value <= 1:
                raise self.error(f"expected a probability, not {token.text[:30]!r}", token)
            values.append(value)
        return values

    def ignore_property(self) -> None:
        while self.take_any().kind != ";":
            pass

    def words_until(self, end: str) -> list[_Token]:
        words = []
        while (token := self.take("word", end)).kind != end:
            words.append(token)
        return words

    def take_any(self) -> _Token:
        token = self.tokens[self.at]
        if token.kind == "end":
            raise self.error("the file ends inside a block", token)
        self.at += 1
        return token

    def take(self, *kinds: str) -> _Token:
        token = self.tokens[self.at]
        if token.kind not in kinds:
            wanted = " or ".join("a name" if kind == "word" else repr(kind) for kind in kinds)
            found = token.text if token.kind == "end" else repr(token.text[:30])
            raise self.error(f"expected {wanted} but found {found}", token)
        return self.take_any()

    def error(self, message: str, token: _Token) -> ParseError:
        return self.source.error(message, token.line)


# -- Bayesian networks in the interchange format BIF: ``.bif``.


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
