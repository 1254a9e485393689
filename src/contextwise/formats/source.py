"""What a reader is given, and what a format is.

A format is a module with a function from a `Source` to a model and, if it can be written, one from
a model to bytes. `contextwise.formats.FORMATS` is the list of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from contextwise.errors import ParseError
from contextwise.models.structure import Model


@dataclass(frozen=True)
class Source:
    """The bytes of a file, unpacked, and the name that messages call it by."""

    data: bytes
    name: str

    @cached_property
    def text(self) -> str:
        """The bytes as UTF-8 text, with every line end as ``\\n``.

        >>> Source(b"a\\r\\nb", "x").text
        'a\\nb'
        """
        try:
            text = self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise self.error("this is not text (not valid UTF-8)", line) from None
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @property
    def lines(self) -> int:
        """The number of lines; a last line without an end counts."""
        return self.data.count(b"\n") + (not self.data.endswith(b"\n") and bool(self.data))

    def error(self, message: str, line: int | None = None) -> ParseError:
        """An error at a line of this source, to be raised; a very long message is cut."""
        shown = message if len(message) <= 400 else f"{message[:300]} … {message[-80:]}"
        return ParseError(shown, path=self.name, line=line)


@dataclass(frozen=True)
class Format:
    """A way to keep a model in a file.

    Attributes
    ----------
    name : what ``format=`` takes
    suffixes : the ends of file names that mean it
    read : from a source to a model
    write : from a model to bytes; None if the format is only read
    fits : whether data without a file name (standard input) look like it
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Source], Model]
    write: Callable[[Model], bytes] | None
    fits: Callable[[bytes], bool]
