"""The computations of the explorer on uploaded files."""

from __future__ import annotations

import bz2
import gzip
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("shiny")

from contextwise.errors import ContextwiseError
from contextwise.explorer.computations import summarize_rows
from contextwise.explorer.job import Upload
from contextwise.support import files


def tell(*_: Any) -> None:
    """Ignore progress."""


@pytest.mark.parametrize("kind", ["gz", "bz2", "zip"])
def test_uploads_have_the_limit_of_every_file(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "SMALL_UNPACKED_BYTES", 2**20)
    path, content = tmp_path / "0", b"a,b\n" + b"x,y\n" * 400_000
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("rows.csv", content)
    else:
        path.write_bytes({"gz": gzip, "bz2": bz2}[kind].compress(content))
    with pytest.raises(ContextwiseError, match=f"^mine.{kind}: unpacks to more than 1 MiB"):
        summarize_rows(Upload(str(path), f"mine.{kind}"), tell)


def test_uploads_ask_the_same_questions(tmp_path: Path) -> None:
    lines = [f"{k % 133};{['437', '2.674', '561', '9.205'][k % 4]}" for k in range(800)]
    (tmp_path / "0").write_text("id;income\n" + "\n".join(lines))
    summary = summarize_rows(Upload(str(tmp_path / "0"), "people.csv"), tell)
    assert summary.remedy.words() == ["--decimal", "income=comma", "--subject", "id"]
