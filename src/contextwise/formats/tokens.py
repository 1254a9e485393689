"""Split a text into tokens and take them one by one, for parsers of languages with braces."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

from contextwise.errors import ParseError
from contextwise.formats.reading import Source


class Token(NamedTuple):
    """A token: ``kind`` is "word", the sign itself, or "end"; ``at`` is its place in the text."""

    kind: str
    text: str
    at: int


class Tokens:
    """The tokens of a file.

    The pattern ``skip`` matches a blank or a comment; ``token`` has the groups ``sign``, ``word``
    and others for words, such as the contents of a quoted one. Both are verbose patterns.
    """

    def __init__(self, source: Source, skip: str, token: str) -> None:
        # Possessive (*+): blanks and comments are matched once, without backtracking.
        flags = re.VERBOSE | re.DOTALL | re.MULTILINE
        blanks = re.compile(f"(?:{skip})*+", flags)
        pattern = re.compile(f"(?:{skip})*+(?:{token}|\\Z)", flags)
        self.source = source
        self.text = source.legacy_text
        self.at = 0
        self.tokens: list[Token] = []
        end = 0
        for match in pattern.finditer(self.text):
            if match.start() != end:
                break
            end = match.end()
            kind = match.lastgroup
            if kind == "sign":
                sign = match["sign"]
                self.tokens.append(Token(sign, sign, match.start("sign")))
            elif kind is not None:
                self.tokens.append(Token("word", match[kind], match.start(kind)))
        if end < len(self.text):
            skipped = blanks.match(self.text, end)
            at = skipped.end() if skipped else end
            sign = self.text[at]
            unclosed = {"/": "a comment has no end", '"': "a quoted name has no end"}
            raise self.error(unclosed.get(sign, f"unexpected {sign!r}"), Token("", "", at))
        self.tokens.append(Token("end", "the end of the file", end))

    @cached_property
    def _line_ends(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    def line(self, token: Token) -> int:
        return bisect_right(self._line_ends, token.at - 1) + 1

    def error(self, message: str, token: Token | None = None) -> ParseError:
        return self.source.error(message, self.line(token or self.next))

    @property
    def next(self) -> Token:
        """The token that is taken next."""
        return self.tokens[self.at]

    def take(self, *kinds: str) -> Token:
        """Take a token of one of these kinds, or of any if none is given."""
        token = self.tokens[self.at]
        if kinds and token.kind not in kinds:
            wanted = " or ".join("a name" if kind == "word" else repr(kind) for kind in kinds)
            actual = token.text if token.kind == "end" else repr(token.text[:30])
            raise self.error(f"expected {wanted} but found {actual}", token)
        if token.kind == "end":
            raise self.error("the file ends inside a block", token)
        self.at += 1
        return token

    def take_until(self, end: str, *kinds: str) -> list[Token]:
        """Take tokens of these kinds, or of any, up to one of the kind ``end``."""
        start = self.at
        while (kind := self.tokens[self.at].kind) != end:
            if kind == "end" or (kinds and kind not in kinds):
                self.take(*((*kinds, end) if kinds else ()))
            self.at += 1
        self.at += 1
        return self.tokens[start : self.at - 1]
