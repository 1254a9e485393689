"""The errors of this package.

Every error that a user can cause is a `ContextwiseError`; the command prints its message on one
line and exits with code 2. A message names what is wrong, the place, and the remedy.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

__all__ = [
    "ContextwiseError",
    "DomainError",
    "EngineError",
    "FileError",
    "NotRepresentable",
    "OpenResult",
    "ParseError",
    "TooLargeError",
]


class ContextwiseError(Exception):
    """The base class of all errors that this package raises on purpose.

    Examples
    --------
    >>> try:
    ...     require("pandas_of_tomorrow", "frames")
    ... except ContextwiseError as error:
    ...     print(error)
    this needs the package 'pandas_of_tomorrow': pip install 'pandas>=2.1'
    """


class ParseError(ContextwiseError, ValueError):
    """A text that is not valid, with the file and the line.

    >>> str(ParseError("a weight is missing", path="model.mn", line=7))
    'model.mn:7: a weight is missing'
    """

    def __init__(
        self, message: str, *, path: str | os.PathLike[str] | None = None, line: int | None = None
    ) -> None:
        self.message, self.path, self.line = message, path, line
        place = "" if path is None else os.fspath(path)
        if line is not None:
            place = f"{place}:{line}" if place else f"line {line}"
        super().__init__(f"{place}: {message}" if place else message)

    def __reduce__(self) -> tuple[object, ...]:
        return _parse_error, (self.message, self.path, self.line)


def _parse_error(message: str, path: str | None, line: int | None) -> ParseError:
    return ParseError(message, path=path, line=line)


class DomainError(ContextwiseError, ValueError):
    """Variables or states that are unknown, repeated, or differ between two models."""


class TooLargeError(ContextwiseError):
    """Work that would take too much time or memory; the message has its size."""


class EngineError(ContextwiseError):
    """A counting engine that is unknown, not installed, or failed."""


class OpenResult(ContextwiseError):
    """A number that is not known, because a time limit left some pairs unfinished."""


class NotRepresentable(ContextwiseError):
    """A claim that features cannot express; the message names a pair and a context."""


class FileError(ContextwiseError, OSError):
    """A file that cannot be read or written; the message has its path and the reason."""


class MissingPackage(ContextwiseError):
    """A package of an extra that is not installed; the message has the command to install it."""


@contextmanager
def enough_memory(what: str) -> Iterator[None]:
    """Raise `TooLargeError` that names the work if there is not enough memory for it."""
    try:
        yield
    except MemoryError:
        raise TooLargeError(f"there is not enough memory for {what}; ask for less") from None


def require(module: str, extra: str) -> Any:
    """Import a package of an extra; raise with the command that installs it if it is missing."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        command = command_to_install(extra)
        raise MissingPackage(f"this needs the package {package!r}: {command}") from None


def command_to_install(extra: str) -> str:
    """Return the command that installs the packages of an extra, whether released or not."""
    return " ".join(["pip install", *dict.fromkeys(_packages(extra))])


def _packages(extra: str) -> Iterator[str]:
    from importlib.metadata import requires

    for line in requires("contextwise") or ():
        package, _, condition = line.partition(";")
        if re.search(rf"extra == .{re.escape(extra)}.$", condition):
            inner = re.fullmatch(r"contextwise\[(.*)\]", package.strip())
            for name in inner[1].split(",") if inner else ():
                yield from _packages(name)
            if not inner:
                yield f"'{package.strip()}'"
