"""Read and write the bytes of files: gzip, bz2 and xz unpacked, writes all or nothing.

`write_bytes` writes to a temporary file in the same folder and renames it, so that a reader never
sees half a file. `most_unpacked` is the limit of every packed file and container, because a small
one can unpack to fill memory: `read_up_to` checks it while it unpacks.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import stat
from errno import EACCES, EISDIR
from importlib import import_module
from typing import IO

from contextwise.errors import FileError, ParseError
from contextwise.support.machine import free_memory, require_memory

MOST_UNPACKED_BYTES, SMALL_UNPACKED_BYTES, MOST_TIMES = 2**29, 2**26, 40
"""The most bytes that any packed file unpacks to, that a small one does, and per byte of a file."""
CHUNK_BYTES, MOST_ENTRIES = 2**20, 10_000
NEEDED = 8
"""Bytes of memory for a byte of a file: what a model of a million features takes; others more."""
PACKINGS = (".gz", ".xz", ".bz2")
"""The suffixes of packed files."""
_PACKED = {
    rb"\x1f\x8b": ("gzip", "gzip"),
    rb"\xfd7zXZ\x00": ("xz", "lzma"),
    rb"BZh[1-9]1AY&SY": ("bz2", "bz2"),
}
"""The first bytes of packed files, their kind, and the module that unpacks them."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some editors put it before a text
_OTHER_KINDS = {
    b"PK\x03\x04": "this is a ZIP archive, such as an Excel workbook (.xlsx); save it as CSV first",
    b"\xd0\xcf\x11\xe0": "this is an Excel workbook (.xls); save it as CSV first",
    b"PAR1": "this is a Parquet file; convert it to CSV first",
    b"SQLite format 3\x00": "this is an SQLite database, not a text file",
    b"\xff\xfe": "this is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "this is UTF-16 text; save it as UTF-8",
}


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the contents of a file, unpacked if it is a packed file."""
    try:
        with open(path, "rb") as file:
            needed = NEEDED * os.fstat(file.fileno()).st_size
            require_memory(needed, f"reading {os.fspath(path)}", "make the file smaller")
            data = file.read()
    except (OSError, ValueError) as error:  # a path with a NUL character is a ValueError
        raise _file_error(path, error) from None
    return unpacked(data, os.fspath(path))


def most_unpacked(size: int) -> int:
    """Return the bytes to which a packed file or a container of this size may unpack."""
    most = min(MOST_UNPACKED_BYTES, max(SMALL_UNPACKED_BYTES, MOST_TIMES * size))
    free = free_memory()
    return most if free is None else min(most, free // NEEDED)


def too_large(name: str, most: int) -> ParseError:
    """Return the error for a file that unpacks to more than its limit."""
    return ParseError(
        f"unpacks to more than {max(1, most >> 20)} MiB; if it is meant to be that large, unpack "
        "it first and pass the plain file",
        path=name,
    )


def read_up_to(file: IO[bytes], most: int, name: str) -> bytes:
    """Unpack a file; raise as soon as its contents exceed the limit."""
    plain = io.BytesIO()
    while chunk := file.read(CHUNK_BYTES):
        if plain.tell() + len(chunk) > most:
            raise too_large(name, most)
        plain.write(chunk)
    return plain.getvalue()


def check_archive(data: bytes, name: str) -> None:
    """Raise if the files of a ZIP archive unpack to too much, as it says or in fact."""
    import zipfile  # takes 6 ms

    most = most_unpacked(len(data))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sizes = [entry.file_size for entry in archive.infolist()]
        if sum(sizes) > most or len(sizes) > MOST_ENTRIES:
            raise too_large(name, most)
        for entry in archive.infolist():  # zipfile itself stops at the size that an entry states
            if entry.compress_size > len(data):
                raise ParseError("this archive is damaged", path=name)


def unpacked(data: bytes, name: str, most: int | None = None) -> bytes:
    """Unpack gzip, bz2 or xz data, up to a limit; of other data drop a byte order mark."""
    kind = next((kind for start, kind in _PACKED.items() if re.match(start, data)), None)
    if kind is None:
        return data.removeprefix(_BYTE_ORDER_MARK)
    called, module = kind
    limit = most_unpacked(len(data)) if most is None else most
    try:
        with import_module(module).open(io.BytesIO(data)) as file:
            plain = read_up_to(file, limit, name)
    except ParseError:
        raise
    except Exception as error:  # each module has its own
        raise ParseError(f"this {called} file is damaged: {error}", path=name) from None
    require_memory(NEEDED * len(plain), f"reading {name}", "make the file smaller")
    return plain.removeprefix(_BYTE_ORDER_MARK)


def packed(data: bytes, path: str | os.PathLike[str]) -> bytes:
    """Pack data as the suffix of a path says; equal data give equal files."""
    name = os.fspath(path).lower()
    if name.endswith(".gz"):
        return gzip.compress(data, mtime=0)
    module = {".xz": "lzma", ".bz2": "bz2"}.get(name[name.rfind(".") :])
    return import_module(module).compress(data) if module else data


def without_packing(name: str) -> str:
    """Remove the suffix of a packed file, such as ``.gz``."""
    suffix = next((each for each in PACKINGS if name.lower().endswith(each)), "")
    return name[: len(name) - len(suffix)]


def decoded(data: bytes, name: str) -> str:
    """Decode UTF-8 text; the error for other data names the kind of file and the remedy."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        for magic, message in _OTHER_KINDS.items():
            if data.startswith(magic):
                raise ParseError(message, path=name) from None
        line = data.count(b"\n", 0, error.start) + 1
        raise ParseError(
            f"this is not UTF-8 text: byte 0x{data[error.start]:02x}; if the file is Latin-1 or "
            "Windows-1252, convert it with: iconv -f WINDOWS-1252 -t UTF-8",
            path=name,
            line=line,
        ) from None


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file, all or nothing; an existing file keeps its mode, a read-only one is refused.

    A pipe or a device is written to directly.
    """
    try:
        # A pipe or a device such as /dev/stdout cannot be replaced.
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                file.write(data)
        else:
            _replace(os.path.realpath(path), data)
    except (OSError, ValueError) as error:
        raise _file_error(path, error) from None


def check_target(path: str | os.PathLike[str]) -> None:
    """Raise, before long work, if `write_bytes` could not write to this path."""
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if os.path.isfile(path) or not os.path.exists(path):
            target = os.path.realpath(path)
            _mode_to_keep(target)
            temporary = _temporary(target)
            open(temporary, "xb").close()
            os.unlink(temporary)
    except (OSError, ValueError) as error:
        raise _file_error(path, error) from None


def _replace(path: str, data: bytes) -> None:
    mode = _mode_to_keep(path)
    temporary = _temporary(path)
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        if mode is not None:
            os.chmod(temporary, mode)
        # Within one folder this is atomic: a reader sees the old file or the new one.
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _mode_to_keep(path: str) -> int | None:
    """Return the mode of an existing file; raise if it is read-only, also for root."""
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
    except FileNotFoundError:
        return None
    if not mode & 0o222 or not os.access(path, os.W_OK):
        raise PermissionError(EACCES, "the file is read-only; choose another name or chmod u+w it")
    return mode


def _temporary(path: str) -> str:
    return f"{path}.{os.urandom(4).hex()}.tmp"


def _file_error(path: str | os.PathLike[str], error: OSError | ValueError) -> FileError:
    reason = getattr(error, "strerror", None) or str(error)
    return FileError(f"{os.fspath(path) or repr(path)}: {reason}")
