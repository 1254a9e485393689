"""The grammar that Libra's ``.mn``, ``.bn`` and ``.dn`` files share, read in plain Python.

A file is a line of cardinalities, a keyword, and factors in braces; variable ``i`` is ``v<i>``::

    2,3,2                       the cardinalities of v0, v1, v2
    MN {
    1.2 +v0_1 -v1_2             a feature: weight, then v0 = 1 and v1 ≠ 2; it ends with its line
    features {                  the same, as a block
    inf +v0_0
    7 -0.5 +v2_1                a weight may have a number before it, which is ignored
    }
    table {                     the same again; cells that are not named are 0
    0.5 +v0_1 +v2_1
    }
    tree {                      (test, value if it holds, value if not); lines do not matter
    (v1_0 (v2_0 0.1 -0.2) 3)
    }
    }
    text after the last brace is ignored

Every line of a table and every leaf of a tree is a feature; a leaf's literals are the tests on its
path. Keywords are read in any case, ``v`` and ``inf`` in lower case only; blanks are optional.
Lines without weights, which the paper's own program reads and Libra does not, are accepted if no
feature of the file has one.

Refused, unlike in Libra: a value beyond the cardinality, a weight too large for a float. Accepted,
unlike in Libra: CRLF and blank lines before ``MN``, and line ends anywhere in a tree.

This module is the grammar in plain Python. ``scan.cpp`` is its compiled twin, which leaves to this
one every file that it does not understand at once, so that all errors are told here.

What a file lists comes out as a `Listing`, with one number per test: ``v = k`` and ``v ≠ k`` are
the numbers ``2s`` and ``2s + 1``, where ``s`` counts the states of all variables before ``v``, plus
``k``.
"""

from __future__ import annotations

import math
import re
from array import array
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from contextwise.errors import ParseError
from contextwise.formats.reading import Source, check_states, most_literals, too_many_literals
from contextwise.models.features import IntArray

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
_HUGE = 10**9


@dataclass(frozen=True)
class Listing:
    """What a file of this grammar lists.

    Attributes
    ----------
    cardinalities : of the variables
    lengths : the number of tests of each feature
    tests : the numbers of the tests, feature by feature
    weights : one weight per feature; None if no feature has one
    rest : the text after the last brace
    line : the line on which that brace stands
    """

    cardinalities: list[int]
    lengths: IntArray
    tests: IntArray
    weights: npt.NDArray[np.float64] | None
    rest: str
    line: int


def parse(source: Source, keyword: str) -> Listing:
    """Read a file whose factors follow the keyword ``MN``, ``BN`` or ``DN``.

    >>> listing = parse(Source(b"2,3\\nMN {\\n0.5 +v0_1 -v1_2\\n}\\n", "small.mn"), "MN")
    >>> listing.lengths, listing.tests, listing.weights
    (array([2]), array([2, 9]), array([0.5]))
    """
    return _Parser(source, keyword).file()


def header(source: Source, text: str) -> tuple[list[int], int]:
    """The cardinalities, from the first line that is not blank, and where that line ends.

    >>> header(Source(b"", "small.mn"), "2, 3\\nMN {")
    ([2, 3], 4)
    """
    start = len(text) - len(text.lstrip(" \t\n"))
    end = text.find("\n", start)
    line = text[start : len(text) if end < 0 else end]
    number = text.count("\n", 0, start) + 1
    if not line:
        raise source.error("the file is empty", 1)
    cells = [cell.strip(" \t") for cell in line.split(",")]
    if not cells[-1]:
        cells.pop()  # a trailing comma
    if not cells or not all(cell.isascii() and cell.isdigit() for cell in cells):
        raise source.error(
            "expected the numbers of values of the variables, such as 2,3,2, "
            f"but found {shown(line)}",
            number,
        )
    cardinalities = list(map(whole, cells))
    if 0 in cardinalities:
        empty = cardinalities.index(0)
        raise source.error(f"variable v{empty} has no values; it needs at least one", number)
    check_states(source, cardinalities)
    return cardinalities, start + len(line)


class Token(NamedTuple):
    """A word of the file: its kind (a sign is its own kind), its text and where it stands."""

    kind: str
    text: str
    at: int


def text_of(source: Source) -> str:
    """The text of a file; Latin-1 reads every byte, and what is no text fails later, as a word."""
    return source.data.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")


def whole(digits: str) -> int:
    """A number from digits, however many; beyond a billion they are all the same to us."""
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) < 10 else _HUGE


def shown(text: str) -> str:
    """A piece of the text for a message: in quotes, and not too long."""
    if not text:
        return "the end of the file"
    if text == "\n":
        return "the end of the line"
    return repr(text if len(text) <= 30 else text[:27] + "...")


class Tokens:
    """The tokens of a source from some place on."""

    def __init__(self, source: Source, text: str, at: int) -> None:
        self.source, self.text, self.at = source, text, at

    def next(self) -> Token:
        """The next token; at the end of the file one of kind ``"end"``, for ever."""
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            rest = self.text[self.at :].lstrip(" \t").partition("\n")[0]
            if rest:
                raise self.error(f"cannot read {shown(rest)}", self.at)
            return Token("end", "", len(self.text))
        self.at = match.end()
        kind = match.lastgroup or ""
        text = match[kind]
        return Token(text if kind == "sign" else kind, text, match.start(kind))

    def take(self, kind: str, wanted: str) -> Token:
        """The next token, which has to be of this kind."""
        token = self.next()
        if token.kind != kind:
            raise self.unexpected(token, wanted)
        return token

    def next_after_line_ends(self) -> Token:
        """The next token that is not the end of a line."""
        token = self.next()
        while token.kind == "\n":
            token = self.next()
        return token

    def error(self, message: str, at: int) -> ParseError:
        """An error at this place of the text, to be raised."""
        return self.source.error(message, self.text.count("\n", 0, at) + 1)

    def unexpected(self, token: Token, wanted: str) -> ParseError:
        """The error of a token that stands where something else is wanted."""
        return self.error(f"expected {wanted} but found {shown(token.text)}", token.at)


class _Parser(Tokens):
    """A recursive-descent parser without the recursion: a tree may be nested without limit."""

    def __init__(self, source: Source, keyword: str) -> None:
        text = text_of(source)
        self.cardinalities, at = header(source, text)
        super().__init__(source, text, at)
        self.keyword = keyword
        self.offsets = list(accumulate(self.cardinalities, initial=0))
        self.most_literals = most_literals(source, self.cardinalities)
        self.lengths, self.tests, self.weights = array("q"), array("q"), array("d")
        self.weightless = False

    # -- the file --------------------------------------------------------------------------------

    def file(self) -> Listing:
        self.opening()
        if self.keyword == "MN":
            self.factors("MN")
        else:
            self.sections()
        return Listing(
            self.cardinalities,
            np.frombuffer(self.lengths, dtype=np.int64),
            np.frombuffer(self.tests, dtype=np.int64),
            np.frombuffer(self.weights, dtype=np.float64) if self.weights else None,
            self.text[self.at :],
            self.text.count("\n", 0, self.at) + 1,
        )

    def opening(self) -> None:
        token = self.next_after_line_ends()
        if token.kind == "word" and token.text.upper() in {"MN", "BN", "DN"} - {self.keyword}:
            found = token.text.upper()
            raise self.error(
                f"expected {self.keyword} but found {found}, another kind of file: "
                f"read it as the format {found.lower()}",
                token.at,
            )
        if token.text.upper() != self.keyword:
            raise self.unexpected(token, f"'{self.keyword} {{'")
        token = self.next_after_line_ends()
        if token.kind != "{":
            raise self.unexpected(token, f"'{{' after {self.keyword}")

    def sections(self) -> None:
        """The factors of each variable: ``v0 { … } v1 { … } … }``."""
        while (token := self.next_after_line_ends()).kind != "}":
            if token.kind != "variable":
                raise self.unclosed(token, self.keyword, "'v0 {' or '}'")
            if whole(token.text[1:]) >= len(self.cardinalities):
                raise self.unknown(token, token.text)
            self.take("{", f"'{{' after {token.text}")
            self.factors(token.text)

    def factors(self, owner: str) -> None:
        """Features and blocks up to the closing brace."""
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

    # -- features --------------------------------------------------------------------------------

    def feature(self, token: Token) -> None:
        """A line: an optional number that is ignored, a weight, literals."""
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
        """A tree: each leaf is a feature with the tests on its path, each of them once."""
        path: list[int] = []  # the tests on the way to here
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
        """The number of a state, from a name like ``0_1``, counted over all variables."""
        variable, value = map(whole, name.split("_"))
        if variable >= len(self.cardinalities):
            raise self.unknown(token, f"v{name.split('_')[0]}")
        if value >= self.cardinalities[variable]:
            raise self.error(
                f"{shown(token.text)} is out of range: v{variable} has "
                f"{self.cardinalities[variable]} values, counted from 0",
                token.at,
            )
        return self.offsets[variable] + value

    def unknown(self, token: Token, name: str) -> ParseError:
        count = len(self.cardinalities)
        return self.error(
            f"unknown variable {shown(name)}; the first line gives {count} variables, "
            f"v0 to v{count - 1}",
            token.at,
        )

    def add(self, token: Token, length: int, weight: Token | None) -> None:
        """Keep a feature whose tests are in place."""
        if weight is None:
            self.weightless = True
        else:
            value = float(weight.text)
            if math.isinf(value) and "inf" not in weight.text:
                raise self.error(f"the weight {shown(weight.text)} is too large", weight.at)
            self.weights.append(value)
        if self.weightless and self.weights:
            raise self.error(
                "features with and without weights in one file; give all of them weights, or none",
                token.at,
            )
        self.lengths.append(length)
        if len(self.tests) > self.most_literals:
            raise too_many_literals(self.source, self.most_literals)
