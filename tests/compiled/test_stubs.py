"""The stubs of the compiled modules are those that nanobind writes.

C++ declares the compiled functions. After changing one, build it in place (see CONTRIBUTING.md) and
write the stubs again::

    python tests/compiled/test_stubs.py
"""

from __future__ import annotations

import re
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
STUBS = sorted(SOURCE.glob("contextwise/*/_*.pyi"))


def module_of(stub: Path) -> str:
    return ".".join(stub.relative_to(SOURCE).with_suffix("").parts)


def text_of(stub: Path) -> str:
    from nanobind.stubgen import StubGen

    module = import_module(module_of(stub))
    generator = StubGen(module, quiet=True)
    generator.put(module)
    text = generator.get().replace("from typing import Annotated\n", "")
    # Shape, order and device of an array, which type checkers ignore.
    text = re.sub(r"Annotated\[(NDArray\[[\w.]+\]), dict\(.*?\)\]", r"\1", text)
    return "# Written by tests/compiled/test_stubs.py.\n" + text


@pytest.mark.parametrize("stub", STUBS, ids=module_of)
def test_a_stub_agrees_with_its_module(stub: Path) -> None:
    pytest.importorskip("nanobind")
    pytest.importorskip(module_of(stub), exc_type=ImportError)
    assert stub.read_text(encoding="utf-8") == text_of(stub)


if __name__ == "__main__":
    for built in SOURCE.glob("contextwise/*/_*" + EXTENSION_SUFFIXES[0]):
        path = built.with_name(built.name.partition(".")[0] + ".pyi")
        path.write_text(text_of(path), encoding="utf-8")
