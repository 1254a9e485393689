"""What can go wrong, in the user's words.

Every error that a user can cause is a `ContextwiseError`; the command line prints its message as
one line and leaves with exit code 2. A message says what is wrong, where, and what to do about it.
"""

from __future__ import annotations

import os
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
    "require",
]


class ContextwiseError(Exception):
    """The root of every error this package raises on purpose.

    Examples
    --------
    >>> try:
    ...     require("scipy_of_tomorrow", "distributions")
    ... except ContextwiseError as error:
    ...     print(error)
    this needs the package 'scipy_of_tomorrow': pip install 'contextwise[distributions]'
    """


class ParseError(ContextwiseError, ValueError):
    """A text that cannot be understood; it knows the file and the line.

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
    """Variables or states that are unknown, repeated, or do not align between two models."""


class TooLargeError(ContextwiseError):
    """Work that is exponential by definition and too large here; the message says how large."""


class EngineError(ContextwiseError):
    """An engine that does not exist, is not installed, or failed at its work."""


class OpenResult(ContextwiseError):
    """A number that is not known yet, because a time limit left some pairs open."""


class NotRepresentable(ContextwiseError):
    """A claim that no set of features can make; the message names a pair and a context."""


class FileError(ContextwiseError, OSError):
    """A file that cannot be read or written; the message is its path and the system's reason."""


def require(module: str, extra: str) -> Any:
    """Import a package that comes with an extra; if it is missing, say how to install it.

    Parameters
    ----------
    module : str
        What to import, a package or a module in it.
    extra : str
        The extra of this package that brings it.

    Returns
    -------
    the module

    Raises
    ------
    ContextwiseError
        If the package is not installed.

    Examples
    --------
    >>> require("scipy_of_tomorrow.sparse", "distributions")
    Traceback (most recent call last):
    contextwise.errors.ContextwiseError: this needs the package 'scipy_of_tomorrow': pip install ...
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ContextwiseError(
            f"this needs the package {package!r}: pip install 'contextwise[{extra}]'"
        ) from None
