"""Results of runs from files of any content."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from contextwise.errors import ContextwiseError
from contextwise.explorer.computations import read_results, read_run
from contextwise.studies.learner_study import COLUMNS as UNIT_COLUMNS
from contextwise.support.store import Ended, Store, _sum

COLUMNS = ("structure", "side", "size", "parameters", "percentage", "kl")
GOOD = dict(zip(COLUMNS, (1, "fp", 100, 0, 10.0, 0.5), strict=True))


def _results(folder: Path, *records: object) -> str:
    """Write a store with these records; a text takes the place of the whole list."""
    text = records[0] if isinstance(records[0], str) else json.dumps(records)
    with Store(folder, {}) as store:
        store.add(Ended("unit", 0.0, 1))
    row = ("unit", 0.0, 1, None, text)
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute("UPDATE units SET records = ?, checksum = ?", (text, _sum(*row)))
    return str(store.path)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("value", ["<b>", None, [], float("inf")])
def test_results_without_numbers_are_refused_in_words(
    tmp_path: Path, column: str, value: object
) -> None:
    path = _results(tmp_path, GOOD, GOOD | {column: value})
    with pytest.raises(ContextwiseError, match=rf"results\.sqlite: row 2: {column} must be "):
        read_results(path)


@pytest.mark.parametrize("record", [None, "text", "\xff", "[1]", "[" * 100_000, "1" * 5000])
def test_results_that_are_not_records_are_refused(tmp_path: Path, record: object) -> None:
    with pytest.raises(ContextwiseError, match=r"results\.sqlite: not the results of a run"):
        read_results(_results(tmp_path, record))


def test_results_of_a_run_are_read_where_they_are(tmp_path: Path) -> None:
    path = _results(tmp_path, GOOD)
    for place in (path, str(tmp_path)):
        assert read_results(place)[0]["kl"] == 0.5
    assert list(tmp_path.iterdir()) == [tmp_path / "results.sqlite"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n1\n", "rows.csv:2: these are not the results"),
        (
            ",".join(COLUMNS) + "\n1,fp,100,0,10,nan\n",
            "csv:2: kl must be a finite number",
        ),
        (
            ",".join(COLUMNS) + "\n1,fp,100,0,inf,1\n",
            "csv:2: percentage must be a finite number",
        ),
        (
            ",".join(COLUMNS) + "\n1,fp,1e999,0,1,1\n",
            "csv:2: size must be a whole number",
        ),
        (
            ",".join(COLUMNS) + "\n1,fp,100\n",
            "csv:2: parameters must be a whole number",
        ),
        (",".join(COLUMNS) + f"\n{'1' * 200_000},fp,100,0,1,1\n", "not a CSV file: field larger"),
        (
            ",".join(COLUMNS) + "\n1,fp,100,0,10,1\n1,fp,100,1,10,1\n2,fp,100,0,20,1\n",
            "structure 2 (false positives, 100 rows) has no row for the parameter set 1",
        ),
        ("", "there are no results in it"),
    ],
)
def test_rows_that_make_no_sense_are_refused_with_their_line(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(ContextwiseError, match=re.escape(message)):
        read_results(str(tmp_path / "rows.csv"))


def test_units_of_a_wrong_type_are_an_error(tmp_path: Path) -> None:
    with Store(tmp_path, {"learners": []}) as store:
        store.add(Ended("all", 0.1, 1, records=[dict.fromkeys(UNIT_COLUMNS, "nonsense")]))
    with pytest.raises(ContextwiseError, match="cannot read the records"):
        read_run(str(tmp_path), lambda *_: None)
