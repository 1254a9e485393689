"""Reading and writing files: suffixes, formats, links, packed and damaged files."""

import gzip
from pathlib import Path

import pytest

from bad_files import refused
from contextwise import Structure, read, write
from contextwise.errors import ContextwiseError, FileError
from contextwise.support import files

HEAD = "2,3,2\nMN {\n"


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"absent\.mn: No such file or directory"):
        read(tmp_path / "absent.mn")
    (tmp_path / "folder.mn").mkdir()
    with pytest.raises(OSError, match=r"folder\.mn: Is a directory"):
        read(tmp_path / "folder.mn")
    with pytest.raises(ContextwiseError, match="null"):
        read("a\0.mn")


def test_a_suffix_that_says_nothing(tmp_path: Path) -> None:
    message = refused(tmp_path / "model.abc", HEAD + "}")
    assert "model.abc: unknown suffix; use one of .mn, .json" in message
    assert "or name the format, one of mn, json" in message
    assert len(read(tmp_path / "model.abc", format="mn")) == 0


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("n.dne", "Netica and GeNIe save such files as .dsc or .xdsl"),
        ("n.pgmx", "OpenMarkov saves such files as .net or .bif"),
        ("n.xlsx", "for rows, learn a structure first: contextwise learn "),
        ("n.gexf", "networkx converts graphs to .gml"),
    ],
)
def test_a_file_of_another_program_names_one_that_converts_it(
    tmp_path: Path, name: str, advice: str
) -> None:
    assert advice in refused(tmp_path / name, "anything")


def test_rows_that_are_given_as_a_model(tmp_path: Path) -> None:
    message = refused(tmp_path / "rows.csv", "A,B\nno,yes\nyes,yes\nno,no\n")
    assert "these are rows, not a model; learn a structure first: contextwise learn" in message


def test_an_unknown_format_and_an_unknown_option(tmp_path: Path) -> None:
    assert "unknown format 'nm'; the formats are mn, json" in refused(
        tmp_path / "x.mn", HEAD + "}", format="nm"
    )
    assert "zero_weights must be 'keep' or 'drop'" in refused(
        tmp_path / "x.mn", HEAD + "}", zero_weights="no"
    )


def test_formats_that_are_only_read(tmp_path: Path) -> None:
    with pytest.raises(ContextwiseError, match=r"cannot write \.bn; use one of \.mn"):
        write(Structure({"A": 2}), tmp_path / "x.bn")
    assert not list(tmp_path.iterdir())


def test_a_mn_file_needs_a_variable(tmp_path: Path) -> None:
    with pytest.raises(ContextwiseError, match=r"needs at least one variable; write \.json"):
        write(Structure({}), tmp_path / "x.mn")


def test_writing_keeps_the_old_file_if_it_fails(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write(Structure({"A": 2}), path)
    before = path.read_bytes()
    with pytest.raises(ContextwiseError, match="not valid Unicode"):
        write(Structure({"\ud800": 2}), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileError, match="No such file or directory"):
        write(Structure({"A": 2}), tmp_path / "absent" / "x.json")


def test_writing_follows_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "x.json")
    write(Structure({"A": 2}), tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert read(tmp_path / "x.json") == Structure({"A": 2})


def test_damaged_and_oversized_packed_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = gzip.compress((HEAD + "1 +v0_1\n" * 1000 + "}").encode())
    assert "x.mn.gz: this gzip file is damaged" in refused(tmp_path / "x.mn.gz", whole[:-9])
    assert "x.mn.gz: this gzip file is damaged" in refused(tmp_path / "x.mn.gz", whole[:40])
    spoiled = whole[:30] + bytes([whole[30] ^ 255]) + whole[31:]
    assert "x.mn.gz: this gzip file is damaged" in refused(tmp_path / "x.mn.gz", spoiled)
    monkeypatch.setattr(files, "MOST_UNPACKED_BYTES", 2**20)
    bomb = gzip.compress(bytes(2**21))
    assert "x.mn.gz: unpacks to more than 1 MiB" in refused(tmp_path / "x.mn.gz", bomb)
