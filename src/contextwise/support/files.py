"""Bytes from files and to files: packed or not, and never half written.

A file is written beside its place and then renamed, so that nobody meets half a file. A packed
file (gzip) is known by its first bytes; unpacking stops at a limit, because a small file can
unpack to fill any memory.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import zlib
from errno import EISDIR

from contextwise.errors import FileError, ParseError

MOST_UNPACKED_BYTES = 2**29
_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some editors put it before a text


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The contents of a file, unpacked if it is packed."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:  # a path with a NUL character is a ValueError
        raise _file_error(path, error) from None
    return unpacked(data, os.fspath(path))


def unpacked(data: bytes, name: str) -> bytes:
    """The data itself, or what it unpacks to; more than the limit is an error."""
    if not data.startswith(_GZIP_MAGIC):
        return data.removeprefix(_BYTE_ORDER_MARK)
    try:
        with gzip.open(io.BytesIO(data)) as file:
            plain: bytes = file.read(MOST_UNPACKED_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ParseError(f"this gzip file is damaged: {error}", path=name) from None
    if len(plain) > MOST_UNPACKED_BYTES:
        raise ParseError(
            f"unpacks to more than {MOST_UNPACKED_BYTES >> 20} MiB; if it is meant to be that "
            "large, unpack it with gunzip and give the plain file",
            path=name,
        )
    return plain.removeprefix(_BYTE_ORDER_MARK)


def packed(data: bytes) -> bytes:
    """The data as a gzip file; equal data give equal files."""
    return gzip.compress(data, mtime=0)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Put data into a file, all or nothing; a pipe or a device is written to as it is."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                file.write(data)
        else:
            _replace(os.path.realpath(path), data)
    except (OSError, ValueError) as error:
        raise _file_error(path, error) from None


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse, before long work, a path that `write_bytes` would refuse after it."""
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if os.path.isfile(path) or not os.path.exists(path):
            beside = _beside(os.path.realpath(path))
            open(beside, "xb").close()
            os.unlink(beside)
    except (OSError, ValueError) as error:
        raise _file_error(path, error) from None


def _replace(path: str, data: bytes) -> None:
    beside = _beside(path)
    try:
        with open(beside, "xb") as file:
            file.write(data)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def _beside(path: str) -> str:
    return f"{path}.{os.urandom(4).hex()}.tmp"


def _file_error(path: str | os.PathLike[str], error: OSError | ValueError) -> FileError:
    reason = getattr(error, "strerror", None) or str(error)
    return FileError(f"{os.fspath(path) or repr(path)}: {reason}")
