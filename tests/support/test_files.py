"""Files are written all or nothing, keep their mode, and are refused if they are read-only."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from contextwise import examples, write
from contextwise.errors import FileError, ParseError
from contextwise.support.files import check_target, decoded, write_bytes


def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text("mine")
    path.chmod(0o444)
    refused = pytest.raises(FileError, match=r"model\.json: the file is read-only")
    with refused:
        write(examples.load("lung"), path)
    with refused:
        write_bytes(path, b"new")
    with refused:
        check_target(path)
    assert path.read_text() == "mine"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.json"]


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text("old")
    path.chmod(0o640)
    write_bytes(path, b"new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    os.symlink(path, tmp_path / "link.json")
    write_bytes(tmp_path / "link.json", b"newer")
    assert (tmp_path / "link.json").is_symlink()
    assert path.read_text() == "newer"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04\xff", "this is a ZIP archive, such as an Excel workbook"),
        (b"\xd0\xcf\x11\xe0\xff", "this is an Excel workbook"),
        ("a\nb".encode("utf-16"), "this is UTF-16 text"),
        ("a\né".encode("latin-1"), "x:2: this is not UTF-8 text: byte 0xe9.*Latin-1"),
    ],
)
def test_the_kind_of_a_file_that_is_not_text(data: bytes, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        decoded(data, "x")
