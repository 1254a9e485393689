"""Files of other programs: what they hold, hidden sheets, codes with one label, and their limit."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pyreadstat
import pytest

from contextwise.data import read_data, summarize_data
from contextwise.data.rows import parse_data
from contextwise.errors import ParseError
from contextwise.formats import r_files
from contextwise.support import files
from contextwise.support.files import most_unpacked
from memory import peak

TEXT = b"a,b,c\n" + b"yes,no,maybe\n" * 5_000


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small files unpack to 1 MiB."""
    monkeypatch.setattr(files, "SMALL_UNPACKED_BYTES", 2**20)


def zipped(content: bytes, **more: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, each in {"rows.csv": content, **more}.items():
            archive.writestr(name, each)
    return packed.getvalue()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zipped])
def test_a_small_file_does_not_fill_the_memory(
    pack: Callable[[bytes], bytes], tmp_path: Path, small: None
) -> None:
    packed = pack(b"x" * 40_000_000)
    (tmp_path / "rows").write_bytes(packed)
    with peak(20_000_000), pytest.raises(ParseError, match="unpacks to more than 1 MiB"):
        summarize_data(tmp_path / "rows")
    (tmp_path / "rows").write_bytes(pack(TEXT[: 6 + 13 * 4_615]))
    assert summarize_data(tmp_path / "rows").rows == 4_615


def test_the_limit_grows_with_the_file() -> None:
    assert most_unpacked(10) == 2**26 < most_unpacked(2**22) < most_unpacked(2**30) == 2**29


def test_an_archive_that_lies_about_its_size_is_refused() -> None:
    packed = zipped(TEXT[: 6 + 13 * 4_615])
    stated = (6 + 13 * 4_615).to_bytes(4, "little")
    lying = packed.replace(stated, (10).to_bytes(4, "little"))
    with pytest.raises(ParseError):
        parse_data(lying, "rows.zip")


def test_a_file_of_r_with_many_texts_is_refused(small: None) -> None:
    content = bz2.compress(b"X\n\x00\x00\x00\x03" + r_files._TEXT * 100_000)
    with pytest.raises(ParseError, match="unpacks to more than"):
        parse_data(content, "rows.rds")


def test_parquet_of_one_value_is_refused(small: None) -> None:
    table = pa.table({"a": pa.array(np.zeros(200_000, dtype=np.int64))})
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file, row_group_size=200_000)
    assert len(file.getvalue()) < 2**15
    with pytest.raises(ParseError, match="unpacks to more than 1 MiB"):
        parse_data(file.getvalue(), "rows.parquet")


def test_spss_of_one_value_is_refused(tmp_path: Path, small: None) -> None:
    frame = pd.DataFrame({f"v{k}": np.zeros(20_000) for k in range(10)})
    pyreadstat.write_sav(frame, str(tmp_path / "rows.zsav"), compress=True)
    assert (tmp_path / "rows.zsav").stat().st_size < 2**15
    with pytest.raises(ParseError, match="unpacks to more than 1 MiB"):
        read_data(tmp_path / "rows.zsav")


def test_two_codes_with_one_label_stay_two_states(tmp_path: Path) -> None:
    frame = pd.DataFrame({"why": [1, 2, 3] * 8, "sex": [1, 2] * 12})
    labels = {"why": {1: "Other", 2: "Other ", 3: "Work"}, "sex": {1: "f", 2: "m"}}
    for name in ("x.sav", "x.dta"):
        getattr(pyreadstat, f"write_{name[2:]}")(
            frame, str(tmp_path / name), variable_value_labels=labels
        )
        data = read_data(tmp_path / name)
        assert data.domain.states[0] == ("Other (1)", "Other (2)", "Work")
        assert data.counts()[0].tolist() == [8, 8, 8]
        assert any("several codes of 'why' are called 'Other'" in note for note in data.notes)


def test_whole_numbers_of_bit64_are_decoded() -> None:
    bits = np.array([1, -1, 0, np.iinfo(np.int64).min, 2**60], dtype=np.int64)
    assert list(r_files._whole_numbers(bits.view(np.float64)).to_numpy(object)) == [
        1,
        -1,
        0,
        pd.NA,
        2**60,
    ]


def test_ordinal_variables_of_spss_are_ordered(tmp_path: Path) -> None:
    frame = pd.DataFrame({"pain": [float(k % 3) for k in range(30)], "sex": [1.0, 2.0] * 15})
    labels = {"pain": {0.0: "none", 1.0: "mild", 2.0: "severe"}, "sex": {1.0: "m", 2.0: "f"}}
    measures = {"pain": "ordinal", "sex": "nominal"}
    path = str(tmp_path / "rows.sav")
    pyreadstat.write_sav(frame, path, variable_value_labels=labels, variable_measure=measures)
    data = read_data(path)
    assert data.decisions["in_order"] == ["pain"]
    assert data.domain.states[0] == ("none", "mild", "severe")
