"""Read and write Bayesian networks in the interchange format BIF: ``.bif``.

bnlearn writes NaN for a row whose parent configuration was never observed. A file with such rows is
read as a `Structure`, without weights, with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from math import isnan
from operator import getitem

import numpy as np

from contextwise.errors import ContextwiseError, NotRepresentable
from contextwise.formats.networks import ParsedNetwork
from contextwise.formats.reading import Source, Token, Tokens, tables_to_write
from contextwise.models.directions import Directions, bayesian_network
from contextwise.models.domain import Domain, listed
from contextwise.models.factors import Factor, check_scopes, numbers, spread
from contextwise.models.notation import quoted
from contextwise.models.structure import Model
from contextwise.support.arrays import FloatArray

_SKIP = r"[\s{0}] | //[^\n]* | /\*.*?\*/"
_TOKEN = r"""
    "(?P<quoted>[^"\n]*)" | (?P<sign>[{{}}()\[\];])
  | (?P<word>(?:[^\s{0}{{}}()\[\];"/]+|/(?![/*]))+)"""

PRINTED = 1e-4
"""The largest distance from 1 when writing a model whose weights were printed with six digits."""


@dataclass
class _Block:
    """A probability block of a file."""

    family: list[str]
    """The child and its parents."""
    table: list[float] | None = None
    default: list[float] | None = None
    rows: list[tuple[list[str], int, list[float]]] = field(default_factory=list)


class _Parser(Tokens):
    """Parse BIF, or the dialect of Microsoft's ``.dsc`` files, in which rows number the states."""

    def __init__(self, source: Source, *, is_dsc: bool) -> None:
        blanks = ",|:=" if is_dsc else ",|"
        super().__init__(source, _SKIP.format(blanks), _TOKEN.format(blanks))
        self.is_dsc = is_dsc
        self.network = ParsedNetwork(source)
        while self.next.kind != "end":
            keyword = self.take("word")
            word = keyword.text.lower()
            if word == "belief" and is_dsc:  # "belief network NAME", without braces
                self.take("word")
                if self.next.text.lower() not in ("node", "probability"):
                    self.take("word")
            elif word == "network":
                while self.next.kind != "{":
                    self.take("word")
                self.take_until("}")
            elif word == ("node" if is_dsc else "variable"):
                self.variable()
            elif word == "probability":
                self.probability()
            else:
                raise self.error(
                    f"expected network, variable or probability, got {keyword.text[:30]!r}", keyword
                )
        if not self.at:
            raise self.error("the file is empty", self.tokens[0])

    def variable(self) -> None:
        name = self.take("word")
        has_type = False
        self.take("{")
        while (token := self.take("word", "}")).kind != "}":
            if token.text.lower() == "type":
                self.states(name)
                has_type = True
            elif token.text.lower() == "property" or self.is_dsc:
                self.take_until(";")
            else:
                raise self.error(f"expected type or property, got {token.text[:30]!r}", token)
        if not has_type:
            raise self.error(f"variable {name.text!r} has no type", name)

    def states(self, name: Token) -> None:
        kind = self.take("word")
        if kind.text.lower() != "discrete":
            raise self.error(f"only discrete variables can be read, got {kind.text[:30]!r}", kind)
        self.take("[")
        count = self.take("word")
        self.take("]")
        self.take("{")
        states = [token.text for token in self.take_until("}", "word")]
        self.take(";")
        if count.text != str(len(states)):
            raise self.error(
                f"variable {name.text!r} has {len(states)} states, expected {count.text[:30]}",
                count,
            )
        self.network.add_variable(name.text, states, self.line(count))

    def probability(self) -> None:
        opening = self.take("(")
        block = _Block([name.text for name in self.take_until(")", "word")])
        if not block.family or len(set(block.family)) < len(block.family):
            raise self.error("expected a variable and its parents, each once", opening)
        self.take("{")
        while (token := self.take("word", "(", "}")).kind != "}":
            word = token.text.lower()
            if token.kind == "(":
                states = [state.text for state in self.take_until(")", "word")]
                block.rows.append((states, self.line(token), self.numbers()))
            elif word == "table":
                block.table = self.numbers()
            elif word == "default":
                block.default = self.numbers()
            elif word == "property":
                self.take_until(";")
            elif self.is_dsc and len(block.family) == 1:  # numbers without a keyword
                self.at -= 1
                block.table = self.numbers()
            else:
                text = token.text[:30]
                raise self.error(f"expected table, default or a row, got {text!r}", token)
        line = self.line(opening)
        is_empty = block.table is None and block.default is None and not block.rows
        fill = None if is_empty else partial(self.filled, block, line)
        self.network.add_family(block.family[0], block.family[1:], fill, line)

    def numbers(self) -> list[float]:
        values = []
        for token in self.take_until(";", "word"):
            try:
                value = float(token.text)
            except ValueError:
                value = -1.0
            if not (0 <= value <= 1 or isnan(value)):
                raise self.error(f"expected a probability, got {token.text[:30]!r}", token)
            values.append(value)
        return values

    def filled(self, block: _Block, line: int, shape: list[int]) -> FloatArray:
        """Make the table of a block, over its parents and then the child; NaN rows stay NaN."""
        child, *parents = block.family
        owner = f"the probability of {child!r}"

        def checked(row: list[float], wanted: int, line: int) -> FloatArray:
            if len(row) != wanted:
                raise self.source.error(f"{owner} needs {wanted} numbers, got {len(row)}", line)
            return np.array(row)

        # -1 marks cells without a number; NaN is a number that the file has.
        values = np.full(shape, -1.0)
        if block.default is not None:
            values[...] = checked(block.default, shape[-1], line)
        if block.table is not None:
            table = checked(block.table, values.size, line)
            # In a BIF table the child varies slowest; here it comes last.
            values = np.moveaxis(table.reshape([shape[-1], *shape[:-1]]), 0, -1)
        positions = list(map(self.positions, parents))
        seen = set()
        for labels, at, row in block.rows:
            if len(labels) != len(parents):
                raise self.source.error(
                    f"{owner} has {len(parents)} parents and this row {len(labels)} states", at
                )
            for name, known, label in zip(parents, positions, labels, strict=True):
                if label not in known:
                    states = listed(self.network.states[name])
                    message = f"variable {name!r} has no state {label[:30]!r}; its states are "
                    raise self.source.error(message + states, at)
            place = tuple(map(getitem, positions, labels))
            if place in seen:
                raise self.source.error(f"{owner} has this row twice", at)
            seen.add(place)
            values[place] = checked(row, shape[-1], at)
        if (values < 0).any():
            raise self.source.error(f"{owner} has no row for some states of its parents", line)
        return values

    def positions(self, name: str) -> dict[str, int]:
        """Return the places of the states of a variable; rows of ``.dsc`` files may number them."""
        states = self.network.states[name]
        numbers = {str(k): k for k in range(len(states))} if self.is_dsc else {}
        return {state: k for k, state in enumerate(states)} | numbers


def read(source: Source) -> Model:
    """Read a ``.bif`` file."""
    return _Parser(source, is_dsc=False).network.model()


def read_dsc(source: Source) -> Model:
    """Read a ``.dsc`` file of Microsoft's Belief Networks."""
    return _Parser(source, is_dsc=True).network.model()


# -- writing -------------------------------------------------------------------------------------


def write(model: Model) -> bytes:
    """Write a Bayesian network as a ``.bif`` file; raise `NotRepresentable` for other models."""
    domain = model.domain
    families = _own_families(model)
    if families is None:
        directions = model.directions
        if directions is not None and directions.logs() is None:  # learned trees have only arcs
            factors = tables_to_write(model, "a .bif file", are_joined=True)
            factors = _joined(domain, factors, directions)
        else:
            factors = tables_to_write(model, "a .bif file")
        families = _families(domain, factors)
    lines = ["network contextwise {", "}"]
    for name, states in zip(domain.names, domain.states, strict=True):
        kind = f"discrete [ {len(states)} ] {{ {', '.join(map(_word, states))} }}"
        lines += [f"variable {_word(name)} {{", f"  type {kind};", "}"]
    for child in range(len(domain)):
        lines += _probability(domain, child, families.get(child))
    return "\n".join([*lines, ""]).encode("utf-8")


def _own_families(model: Model) -> dict[int, Factor] | None:
    """Return the tables of the network that the model was made of; None if it is another model.

    Only these tables name the variables of one state: no feature mentions such a variable. A model
    that was fitted again keeps its arcs, but no longer agrees with its tables.
    """
    directions = model.directions
    logs = directions.logs() if directions else None
    if directions is None or logs is None:
        return None
    network = bayesian_network(model.domain, directions.parents, directions.tables)
    if model != network:
        return None
    scopes = directions.scopes()
    return {
        v: Factor(scope, table) for v, (scope, table) in enumerate(zip(scopes, logs, strict=True))
    }


def _joined(domain: Domain, factors: list[Factor], directions: Directions) -> list[Factor]:
    """Multiply the tables that belong to the same child, such as the paths of its tree.

    The child of a table is the variable that comes last in the order of the network.
    """
    place = {variable: k for k, variable in enumerate(directions.order)}
    by_child: dict[int, list[Factor]] = {}
    for factor in factors:
        if factor.scope:
            by_child.setdefault(max(factor.scope, key=place.__getitem__), []).append(factor)
    scopes = [
        tuple(sorted({variable for factor in tables for variable in factor.scope}))
        for tables in by_child.values()
    ]
    check_scopes(domain, scopes, "a .bif file holds whole tables; write .mn or .json instead")
    joined = []
    for scope, tables in zip(scopes, by_child.values(), strict=True):
        logs = np.zeros([domain.cardinalities[v] for v in scope])
        for factor in tables:
            logs += spread(factor.logs, factor.scope, scope)
        joined.append(Factor(scope, logs))
    return joined


def _families(domain: Domain, factors: list[Factor]) -> dict[int, Factor]:
    """Return the conditional distribution of each child.

    If a variable occurs in one table only, and the table sums to 1 over it, then it has no
    children. Remove it with its table, and the rest is again a Bayesian network. A variable that is
    left without a table is uniform.
    """
    holders: dict[int, list[Factor]] = {}
    for factor in factors:
        for variable in factor.scope:
            holders.setdefault(variable, []).append(factor)
    waiting = list(holders)
    families: dict[int, Factor] = {}
    while waiting:
        child = waiting.pop()
        if len(holders[child]) != 1:
            continue
        (factor,) = holders[child]
        sums = numbers(factor, "a .bif file").sum(axis=factor.scope.index(child))
        if (np.abs(sums - 1) <= PRINTED).all():
            families[child] = factor
            for variable in factor.scope:
                holders[variable] = [other for other in holders[variable] if other is not factor]
                waiting.append(variable)
    for left in holders.values():
        for factor in left:
            names = ", ".join(quoted(domain.names[v]) for v in factor.scope)
            raise NotRepresentable(
                f"a .bif file needs a Bayesian network, and the table over {names} is not the "
                "conditional distribution of one of its variables"
            )
    return families


def _probability(domain: Domain, child: int, family: Factor | None) -> Iterator[str]:
    """Yield the lines of the probability block of one variable."""
    if family is None:
        family = Factor((child,), -np.log(np.full(size := domain.cardinalities[child], size)))
    parents = [v for v in family.scope if v != child]
    values = np.moveaxis(numbers(family, "a .bif file"), family.scope.index(child), -1)
    condition = f" | {', '.join(_word(domain.names[v]) for v in parents)}" if parents else ""
    yield f"probability ( {_word(domain.names[child])}{condition} ) {{"
    for place in np.ndindex(values.shape[:-1]):
        row = ", ".join(map(repr, values[place].tolist()))
        states = ", ".join(_word(domain.states[v][k]) for v, k in zip(parents, place, strict=True))
        yield f"  ({states}) {row};" if parents else f"  table {row};"
    yield "}"


def _word(name: str) -> str:
    if '"' in name or not name.isprintable():
        raise ContextwiseError(f"a .bif file cannot hold the name {name!r}; rename it first")
    return name if re.fullmatch(r"[^\s{}()\[\];,|/]+", name) else f'"{name}"'
