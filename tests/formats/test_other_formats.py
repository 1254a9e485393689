"""A package brings a format of model files by an entry point."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import contextwise as cw
from contextwise import formats
from contextwise.cli.inputs import is_data
from contextwise.errors import ContextwiseError
from contextwise.models.structure import structure_of

THEIRS = """
from contextwise import Structure
from contextwise.formats import Format

def read(source):
    pairs = [line.split() for line in source.text.splitlines()]
    names = sorted({name for pair in pairs for name in pair})
    return Structure(dict.fromkeys(names, 2), [f"{a}=1 & {b}=1" for a, b in pairs])

def write(model):
    return "".join(f"{a} {b}\\n" for a, b in model.pairs()).encode()

FORMAT = Format("theirs", (".their",), "format_of_theirs:read", "format_of_theirs:write")
"""


def test_a_format_of_another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "format_of_theirs.py").write_text(THEIRS)
    about = tmp_path / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: theirs\nVersion: 1.0\n")
    entry = "[contextwise.formats]\ntheirs = format_of_theirs:FORMAT\n"
    (about / "entry_points.txt").write_text(entry)
    monkeypatch.syspath_prepend(str(tmp_path))
    formats.other_formats.cache_clear()
    try:
        file = tmp_path / "model.their"
        cw.write(cw.Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"]), file)
        assert file.read_text() == "A B\nB C\n"
        assert cw.formats.as_structure(file).pairs() == [("A", "B"), ("B", "C")]
        assert structure_of(cw.read(file, format="theirs")).pairs() == [("A", "B"), ("B", "C")]
        (tmp_path / "bad.their").write_text("A B C\n")
        assert not is_data(str(tmp_path / "bad.their"))
        with pytest.raises(
            ContextwiseError, match="format_of_theirs:read, of the format theirs, f"
        ):
            cw.read(tmp_path / "bad.their")
        with pytest.raises(ContextwiseError, match="unknown suffix"):
            cw.read(tmp_path / "model.unknown")
    finally:
        formats.other_formats.cache_clear()
        sys.modules.pop("format_of_theirs", None)
