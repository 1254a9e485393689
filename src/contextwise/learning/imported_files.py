"""Find the files whose code a module runs: its own, and those of its package that it imports.

Import statements are found in the text, in functions too, so nothing is imported. Names that the
module makes up at run time are missed; names that only annotations use are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

Stamp = tuple[int, int]
"""When a file changed, and its size."""
_ANNOTATIONS = re.compile(r"^if (?:typing\.)?TYPE_CHECKING:\n(?:[ \t]+[^\n]*\n|\n)+", re.MULTILINE)
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<home>\.*[\w.]*)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#]*)"
    r"|import[ \t]+(?P<modules>[^\n#]*))",
    re.MULTILINE,
)


def source_files(module: ModuleType, *, installed: bool = True) -> dict[str, Path]:
    """Return the files of a module and of what it imports next to it, by the names of the modules.

    For an installed module these are modules of its package; for another one, all in its folder.

    >>> from contextwise.learning import pair_blocks
    >>> found = source_files(pair_blocks)
    >>> found["contextwise.evidence.blanket_tests"].name, "numpy" in found
    ('blanket_tests.py', False)
    """
    file = Path(module.__file__ or "").absolute()
    name = module.__name__
    root = file.parent
    for _ in range(name.count(".") + (file.stem == "__init__")):
        root = root.parent
    top = name.partition(".")[0]
    found, waiting = {name: file}, [name]
    while waiting:
        current = waiting.pop()
        for imported in _imported(current, found[current]):
            if imported in found or (installed and imported.partition(".")[0] != top):
                continue
            path = _file_of(root, imported)
            if path is not None:
                found[imported] = path
                waiting.append(imported)
    return found


def hash_of_files(files: dict[str, Path]) -> bytes:
    """Return a digest of the names and contents of files."""
    digest = sha256()
    for name, path in sorted(files.items()):
        digest.update(f"{name} {_digest(path, _stamp(path))}\n".encode())
    return digest.digest()


def _stamp(path: Path) -> Stamp:
    about = path.stat()
    return about.st_mtime_ns, about.st_size


@cache
def _digest(path: Path, stamp: Stamp) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _imported(name: str, path: Path) -> Iterator[str]:
    """Yield the names that a file imports, which may be those of modules."""
    if path.suffix == ".py":
        yield from _names_in(name, path, _stamp(path))


@cache
def _names_in(name: str, path: Path, stamp: Stamp) -> tuple[str, ...]:
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    text = _ANNOTATIONS.sub("", path.read_text(encoding="utf-8", errors="replace") + "\n")
    names: dict[str, None] = {}
    for match in _IMPORT.finditer(text):
        if match["modules"] is not None:
            names |= dict.fromkeys(
                each.split(" as ")[0].strip() for each in match["modules"].split(",")
            )
            continue
        home = match["home"]
        dots = len(home) - len(home.lstrip("."))
        if dots:
            above = package.split(".")[: package.count(".") + 2 - dots] if package else []
            home = ".".join(filter(None, [*above, home.lstrip(".")]))
        inside = (each.split(" as ")[0].strip(" \n\t()") for each in match["names"].split(","))
        names |= dict.fromkeys(
            [home, *(f"{home}.{each}" if home else each for each in inside if each)]
        )
    return tuple(names)


def _file_of(root: Path, name: str) -> Path | None:
    """Return the file of a module below a folder, if it is one."""
    if not name or not all(part.isidentifier() for part in name.split(".")):
        return None
    base = root.joinpath(*name.split("."))
    own = (
        base / "__init__.py",
        *(base.parent / f"{base.name}{s}" for s in (".py", *EXTENSION_SUFFIXES)),
    )
    return next((path for path in own if path.is_file()), None)
