"""The words of Libra's files, one after another, each with its place."""

from __future__ import annotations

import re
from typing import NamedTuple

from contextwise.errors import ParseError
from contextwise.formats.source import Source

_TOKEN = re.compile(
    r"""[ \t]*(?: (?P<literal>[+-]v[0-9]+_[0-9]+)
                | (?P<test>v[0-9]+_[0-9]+)
                | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|-?inf(?![A-Za-z]))
                | (?P<variable>v[0-9]+)
                | (?P<word>[A-Za-z]+)
                | (?P<sign>[{}()\n]) )""",
    re.VERBOSE,
)
_HUGE = 10**9


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
