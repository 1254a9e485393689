"""Read Libra's ``.mn``, ``.bn`` and ``.dn`` files, and write ``.mn``.

``docs/reference/formats.md`` has the grammar and the differences to Libra. The parser in this
module has a compiled twin, ``scan.cpp``, which falls back to this parser for every file that it
cannot read, so all error messages are written here.

A parser makes a `Listing`, with one number per test: ``v = k`` and ``v ≠ k`` are the numbers ``2s``
and ``2s + 1``, where ``s`` is ``k`` plus the number of states of all variables before ``v``.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.errors import ContextwiseError, DomainError, ParseError
from contextwise.formats.reading import (
    Source,
    Token,
    check_states,
    model_of,
    most_literals,
    network_in_tables,
    too_many_literals,
)
from contextwise.models.directions import Directions
from contextwise.models.domain import Domain
from contextwise.models.features import WORD, Features, all_values, members, words_of
from contextwise.models.structure import LogLinear, Model, structure_of
from contextwise.support.arrays import FloatArray, IntArray, WordArray

_scan: Any
try:
    from contextwise.formats import _scan
except ImportError:  # built without a compiler
    _scan = None

_REMARK = "contextwise "
_VERSION = "1"
_TOKEN = re.compile(
    r"""[ \t]*(?: (?P<literal>[+-]v[0-9]+_[0-9]+)
                | (?P<test>v[0-9]+_[0-9]+)
                | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|-?inf(?![A-Za-z]))
                | (?P<variable>v[0-9]+)
                | (?P<word>[A-Za-z]+)
                | (?P<sign>[{}()\n]) )""",
    re.VERBOSE,
)
_INT = re.compile(r"-?[0-9]+")
_BLOCKS = ("features", "table", "tree")
_CELLS = 2**18
"""The largest table of a variable that is kept as the table of a network."""


@dataclass(frozen=True)
class Listing:
    """The features of a file: their numbers of tests, the tests, and the weights if any."""

    cardinalities: list[int]
    lengths: IntArray
    tests: IntArray
    weights: npt.NDArray[np.float64] | None
    children: IntArray
    """In a BN or DN the variable whose section has the feature; empty in a MN."""
    rest: str
    """The text after the last brace."""
    line: int
    """The line of that brace."""


def _header(source: Source) -> tuple[bytes, list[int], int]:
    """Return the bytes, with ``\\n`` at the ends of lines, the cardinalities, and where they end.

    They are in the first line that is not blank.
    """
    data = source.data
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    start = len(data) - len(data.lstrip(b" \t\n"))
    end = data.find(b"\n", start)
    line = data[start : len(data) if end < 0 else end].decode("latin-1")
    number = data.count(b"\n", 0, start) + 1
    if not line:
        raise source.error("the file is empty", 1)
    cells = [cell.strip(" \t") for cell in line.split(",")]
    if not cells[-1]:
        cells.pop()  # a trailing comma
    digits = "".join(cells)
    if not all(cells) or not (digits.isascii() and digits.isdigit()):
        raise source.error(
            "expected the numbers of values of the variables, such as 2,3,2, "
            f"but found {_shown(line)}",
            number,
        )
    cardinalities = [int(cell) if len(cell) < 10 else _whole(cell) for cell in cells]
    if 0 in cardinalities:
        empty = cardinalities.index(0)
        raise source.error(f"variable v{empty} has no values; it needs at least one", number)
    check_states(source, cardinalities)
    return data, cardinalities, start + len(line)


def _whole(digits: str) -> int:
    """Convert digits to an int, or to a billion if it is larger."""
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) < 10 else 10**9


def _shown(text: str) -> str:
    """Quote a piece of the text for a message, shortened."""
    if not text:
        return "the end of the file"
    if text == "\n":
        return "the end of the line"
    return repr(text if len(text) <= 30 else text[:27] + "...")


class Parser:
    """A recursive-descent parser without recursion: a tree may be nested without limit."""

    def __init__(self, source: Source, keyword: str) -> None:
        self.source, self.keyword = source, keyword
        data, self.cardinalities, self.at = _header(source)
        self.text = data.decode("latin-1")  # decodes any byte; the parser refuses odd ones
        self.offsets = list(accumulate(self.cardinalities, initial=0))
        self.most_literals = most_literals(source, self.cardinalities)
        self.lengths, self.tests, self.weights = array("q"), array("q"), array("d")
        self.children = array("q")
        self.weightless = False

    def next(self) -> Token:
        """Return the next token, of kind ``"end"`` after the last one."""
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            rest = self.text[self.at :].lstrip(" \t").partition("\n")[0]
            if rest:
                raise self.error(f"cannot read {_shown(rest)}", self.at)
            return Token("end", "", len(self.text))
        self.at = match.end()
        kind = match.lastgroup or ""
        text = match[kind]
        return Token(text if kind == "sign" else kind, text, match.start(kind))

    def take(self, kind: str, wanted: str) -> Token:
        """Return the next token, which must have this kind."""
        token = self.next()
        if token.kind != kind:
            raise self.unexpected(token, wanted)
        return token

    def next_after_line_ends(self) -> Token:
        token = self.next()
        while token.kind == "\n":
            token = self.next()
        return token

    def error(self, message: str, at: int) -> ParseError:
        return self.source.error(message, self.text.count("\n", 0, at) + 1)

    def unexpected(self, token: Token, wanted: str) -> ParseError:
        return self.error(f"expected {wanted} but found {_shown(token.text)}", token.at)

    def file(self) -> Listing:
        token = self.next_after_line_ends()
        if token.kind == "word" and token.text.upper() in {"MN", "BN", "DN"} - {self.keyword}:
            keyword = token.text.upper()
            raise self.error(
                f"expected {self.keyword} but found {keyword}; read it as the format "
                f"{keyword.lower()}",
                token.at,
            )
        if token.text.upper() != self.keyword:
            raise self.unexpected(token, f"'{self.keyword} {{'")
        token = self.next_after_line_ends()
        if token.kind != "{":
            raise self.unexpected(token, f"'{{' after {self.keyword}")
        if self.keyword == "MN":
            self.factors("MN")
        else:
            self.sections()
        return Listing(
            self.cardinalities,
            np.frombuffer(self.lengths, dtype=np.int64),
            np.frombuffer(self.tests, dtype=np.int64),
            np.frombuffer(self.weights, dtype=np.float64) if self.weights else None,
            np.frombuffer(self.children, dtype=np.int64),
            self.text[self.at :],
            self.text.count("\n", 0, self.at) + 1,
        )

    def sections(self) -> None:
        """Read the factors of each variable: ``v0 { … } v1 { … } … }``."""
        while (token := self.next_after_line_ends()).kind != "}":
            if token.kind != "variable":
                raise self.unclosed(token, self.keyword, "'v0 {' or '}'")
            child = _whole(token.text[1:])
            if child >= len(self.cardinalities):
                raise self.unknown(token, token.text)
            self.take("{", f"'{{' after {token.text}")
            self.factors(token.text)
            self.children.extend([child] * (len(self.lengths) - len(self.children)))

    def factors(self, owner: str) -> None:
        """Read features and blocks up to the closing brace."""
        while (token := self.next_after_line_ends()).kind != "}":
            word = token.text.lower()
            if token.kind in ("number", "literal"):
                self.feature(token)
            elif word == "w" and token.kind == "word":
                number = self.take("number", "the number of a weight")
                if not _INT.fullmatch(number.text):
                    raise self.unexpected(number, "the number of a weight")
                self.take("number", "a weight")
            elif word in _BLOCKS and token.kind == "word":
                self.take("{", f"'{{' after {word}")
                self.tree() if word == "tree" else self.block(word)
            else:
                raise self.unclosed(token, owner, "a feature, a block or '}'")

    def block(self, name: str) -> None:
        while (token := self.next_after_line_ends()).kind != "}":
            if token.kind not in ("number", "literal"):
                raise self.unclosed(token, name, "a feature or '}'")
            self.feature(token)

    def unclosed(self, token: Token, owner: str, wanted: str) -> ParseError:
        if token.kind == "end":
            return self.error(f"the file ends before the '}}' of {owner}", token.at)
        if token.text.lower() == "nan":
            return self.error("a weight is not a number (nan)", token.at)
        return self.unexpected(token, wanted)

    def feature(self, token: Token) -> None:
        """Read a line: an optional number that is ignored, a weight, literals."""
        first, weight, length = token, None, 0
        if token.kind == "number":
            weight = token
            token = self.next()
            if token.kind == "number" and _INT.fullmatch(weight.text):
                weight = token
                token = self.next()
        while token.kind == "literal":
            negated = token.text[0] == "-"
            self.tests.append(2 * self.state(token, token.text[2:]) + negated)
            length += 1
            token = self.next()
        if token.kind == "end":
            raise self.error("the file ends in the middle of a feature", token.at)
        if token.kind != "\n":
            raise self.unexpected(token, "a literal like +v0_1 or the end of the line")
        self.add(first, length, weight)

    def tree(self) -> None:
        """Read a tree: each leaf is a feature with the tests on its path, without repetitions."""
        path: list[int] = []
        on_path: set[int] = set()
        opened: list[tuple[int, bool]] = []  # the open tests, and whether each is new to the path

        def enter(test: int) -> None:
            opened.append((test, test not in on_path))
            if opened[-1][1]:
                path.append(test)
                on_path.add(test)

        def leave() -> int:
            test, fresh = opened.pop()
            if fresh:
                path.pop()
                on_path.discard(test)
            return test

        while True:
            token = self.next_after_line_ends()
            if token.kind == "(":
                test = self.next_after_line_ends()
                if test.kind != "test":
                    raise self.unclosed(test, "tree", "a test like v0_1 after '('")
                enter(2 * self.state(test, test.text[1:]))
                continue
            if token.kind != "number":
                raise self.unclosed(token, "tree", "a number or '('")
            self.tests.extend(path)
            self.add(token, len(path), token)
            while opened and opened[-1][0] % 2:  # both branches of this test are read
                self.close(")")
                leave()
            if not opened:
                return self.close("}")
            enter(leave() + 1)

    def close(self, sign: str) -> None:
        token = self.next_after_line_ends()
        if token.kind != sign:
            raise self.unclosed(token, "tree", f"'{sign}'")

    def state(self, token: Token, name: str) -> int:
        """Return the number of a state, counted over all variables, from a name like ``0_1``."""
        variable, value = map(_whole, name.split("_"))
        if variable >= len(self.cardinalities):
            raise self.unknown(token, f"v{name.split('_')[0]}")
        if value >= self.cardinalities[variable]:
            raise self.error(
                f"{_shown(token.text)} is out of range: v{variable} has "
                f"{self.cardinalities[variable]} values, counted from 0",
                token.at,
            )
        return self.offsets[variable] + value

    def unknown(self, token: Token, name: str) -> ParseError:
        count = len(self.cardinalities)
        return self.error(
            f"unknown variable {_shown(name)}; the first line gives {count} variables, "
            f"v0 to v{count - 1}",
            token.at,
        )

    def add(self, token: Token, length: int, weight: Token | None) -> None:
        """Add a feature whose tests have been appended."""
        if weight is None:
            self.weightless = True
        else:
            value = float(weight.text)
            if math.isinf(value) and "inf" not in weight.text:
                raise self.error(f"the weight {_shown(weight.text)} is too large", weight.at)
            self.weights.append(value)
        if self.weightless and self.weights:
            raise self.error(
                "some features have weights and some do not; give weights to all or to none",
                token.at,
            )
        self.lengths.append(length)
        if len(self.tests) > self.most_literals:
            raise too_many_literals(self.source, self.most_literals)


# -- from a listing to a model ---------------------------------------------------------------------


def scanned(source: Source, keyword: str) -> Listing | None:
    """Read a file with the compiled scanner; return None if it cannot read the file."""
    if _scan is None:
        return None
    data, cardinalities, at = _header(source)
    states = np.array(cardinalities, dtype=np.int64)
    result = _scan.scan(data, at, keyword, states, most_literals(source, cardinalities))
    if result is None:
        return None
    lengths, tests, weights, children, end = result
    rest, line = data[end:].decode("latin-1"), data.count(b"\n", 0, end) + 1
    weights = weights if len(weights) else None
    return Listing(cardinalities, lengths, tests, weights, children, rest, line)


def _literals(listing: Listing) -> tuple[IntArray, WordArray]:
    """Turn the tests of a listing into variables and value sets."""
    cardinalities = np.array(listing.cardinalities, dtype=np.int64)
    before = np.cumsum(cardinalities) - cardinalities
    # A test is 2 · (number of the state among all states) + (1 if negated).
    states = listing.tests >> 1
    variables = np.repeat(np.arange(len(cardinalities)), cardinalities)[states]
    places = states - before[variables]
    values = np.zeros((len(states), words_of(cardinalities)), dtype=np.uint64)
    bits = np.left_shift(np.uint64(1), (places % WORD).astype(np.uint64))
    values[np.arange(len(states)), places // WORD] = bits
    negated = (listing.tests & 1).astype(np.uint64)
    # XOR with all values negates a set; XOR with 0 keeps it.
    values ^= all_values(cardinalities)[variables] * negated[:, None]
    return variables, values


def read(source: Source, keyword: str) -> Model:
    """Read a file with the keyword ``MN``, ``BN`` or ``DN``; the last one has no weights."""
    listing = scanned(source, keyword) or Parser(source, keyword).file()
    weights = None if keyword == "DN" else listing.weights
    domain = Domain.of_cardinalities(listing.cardinalities)
    remark = _remark_of(source, listing) if keyword == "MN" else {}
    if remark.get("weights") is False:
        weights = None
    elif remark.get("weights") is True and weights is None:
        weights = np.zeros(len(listing.lengths))
    if "names" in remark or "states" in remark:
        names, states = remark.get("names", domain.names), remark.get("states", domain.states)
        domain = _named(source, listing, names, states)
    variables, values = _literals(listing)
    directions = None
    if keyword == "BN":
        directions = _directions(source, domain, listing, variables, values)
    lengths = listing.lengths
    return model_of(domain, lengths, variables, values, weights, source, directions=directions)


def _directions(
    source: Source, domain: Domain, listing: Listing, variables: IntArray, values: WordArray
) -> Directions | None:
    """Return the arcs of a BN, and the tables of the variables whose tables are not too large.

    The parents of a variable are the other variables that its section tests.
    """
    starts = np.concatenate([[0], np.cumsum(listing.lengths)]).astype(np.int64)
    raw = Features(np.array(domain.cardinalities), starts, variables.astype(np.int32), values)
    rows = np.argsort(listing.children, kind="stable")
    bounds = np.searchsorted(listing.children[rows], np.arange(len(domain) + 1))
    scopes: list[list[int]] = []
    tables: list[FloatArray | None] = []
    for child, (first, last) in enumerate(pairwise(bounds.tolist())):
        section = raw.take(rows[first:last])
        scope = [*sorted(set(section.variables.tolist()) - {child}), child]
        cardinalities = [domain.cardinalities[v] for v in scope]
        scopes.append(scope)
        if listing.weights is None or math.prod(cardinalities) > _CELLS:
            tables.append(None)
            continue
        logs = np.zeros(cardinalities)
        weights = listing.weights[rows[first:last]].tolist()
        for literals, weight in zip(section.literals(), weights, strict=True):
            allowed = {v: (1 << c) - 1 for v, c in zip(scope, cardinalities, strict=True)}
            for variable, value_set in literals:
                allowed[variable] &= value_set
            with np.errstate(invalid="ignore"):  # inf - inf; the table is not used
                logs[np.ix_(*map(members, allowed.values()))] += weight
        # A variable without features is uniform.
        if first == last:
            logs -= np.log(cardinalities[-1])
        with np.errstate(over="ignore"):
            tables.append(np.exp(logs))
    return network_in_tables(domain, scopes, tables, source)


read_mn, read_bn, read_dn = (partial(read, keyword=keyword) for keyword in ("MN", "BN", "DN"))


def _remark_of(source: Source, listing: Listing) -> dict[str, Any]:
    """Return the remark after the last brace; ignore any other text."""
    line = listing.rest.lstrip().split("\n", 1)[0].strip()
    if not line.startswith(_REMARK):
        return {}
    version, _, text = line.removeprefix(_REMARK).partition(" ")
    if version != _VERSION:
        raise _remark_error(source, listing, f"unknown version {version[:20]!r}")
    try:
        remark = json.loads(text)
    except (ValueError, RecursionError):
        raise _remark_error(source, listing, "this is not valid JSON") from None
    if not isinstance(remark, dict) or not remark.keys() <= {"weights", "names", "states"}:
        raise _remark_error(source, listing, "expected the keys weights, names, states")
    return remark


def _named(source: Source, listing: Listing, names: Any, states: Any) -> Domain:
    try:
        if len(names) != len(set(names)):
            raise DomainError("two variables have one name")
        domain = Domain(dict(zip(names, states, strict=True)))
    except (DomainError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, DomainError) else "names or states do not match"
        raise _remark_error(source, listing, reason) from None
    if list(domain.cardinalities) != listing.cardinalities:
        raise _remark_error(source, listing, "the states do not match the first line of the file")
    return domain


def _remark_error(source: Source, listing: Listing, reason: str) -> ContextwiseError:
    blank = len(listing.rest) - len(listing.rest.lstrip())
    line = listing.line + listing.rest.count("\n", 0, blank)
    return source.error(f"the remark after the last brace: {reason}", line)


# -- writing ---------------------------------------------------------------------------------------


def write_mn(model: Model) -> bytes:
    """Write a model as a ``.mn`` file; a set of several values becomes ``-`` literals."""
    domain = model.domain
    if not domain.names:
        raise ContextwiseError("a .mn file needs at least one variable; write .json instead")
    lines = [",".join(map(str, domain.cardinalities)), "MN {", *_feature_lines(model), "}"]
    # The remark has the names, states and kind, where Libra's own would be different.
    plain = Domain.of_cardinalities(domain.cardinalities)
    remark: dict[str, Any] = {}
    if not isinstance(model, LogLinear):
        remark["weights"] = False
    elif not len(model):
        remark["weights"] = True  # without features, the file has no weights
    if domain.names != plain.names:
        remark["names"] = domain.names
    if domain.states != plain.states:
        remark["states"] = domain.states
    if remark:
        lines.append(f"{_REMARK}{_VERSION} {json.dumps(remark)}")
    return "\n".join([*lines, ""]).encode("ascii")


def _feature_lines(model: Model) -> Iterator[str]:
    structure = structure_of(model)
    cardinalities = structure.domain.cardinalities

    @cache
    def text_of(variable: int, allowed: int) -> str:
        if allowed.bit_count() == 1:
            return f" +v{variable}_{allowed.bit_length() - 1}"
        refused = allowed ^ ((1 << cardinalities[variable]) - 1)
        return "".join(f" -v{variable}_{k}" for k in members(refused))

    # repr gives the shortest digits that read back as the same float
    weights = map(repr, model.weights.tolist()) if isinstance(model, LogLinear) else None
    for literals in structure.features.literals():
        weight = next(weights) if weights is not None else "0"
        yield weight + "".join(text_of(*literal) for literal in literals)
