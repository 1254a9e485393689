"""One small file per quirk of real data: what is read, what is said, and that the advice works."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest

from contextwise.cli import main
from contextwise.data import UnclearData, read_data, summarize_data
from contextwise.data.options import RowOptions, row_options
from contextwise.data.rows import as_data
from contextwise.formats import read, write
from contextwise.formats.reading import FormatWarning

QUIRKS = Path(__file__).parent / "quirks"

PEOPLE = {"sex": 2, "smoker": 3, "item": 5}
"""The variables of most files, with their numbers of states; they have 30 rows."""


class Quirk(NamedTuple):
    """A file and the right reading of it."""

    file: str
    said: str = ""
    """A part of the notes, of the problems, or of the refusal."""
    advice: str = ""
    """The options that the command advises."""
    more: dict[str, int] = {}  # noqa: RUF012 (a named tuple)
    """Variables besides those of `PEOPLE`."""
    rows: int = 30
    variables: dict[str, int] = PEOPLE
    given: dict[str, Any] = {}  # noqa: RUF012
    """Keywords that the user gives from the start."""

    @property
    def path(self) -> str:
        return str(QUIRKS / self.file)

    @property
    def options(self) -> RowOptions:
        return row_options(**self.given)

    @property
    def words(self) -> list[str]:
        """The path and the given keywords as words of a command."""
        return [self.path, *self.options.words()]


TWO_BINS = {"age": 4, "bmi": 4}

ONE_TABLE = {"sex": 2, "smoker": 3}

UNNAMED = {"v0": 2, "v1": 3, "v2": 5}

DROPPED = "not part of the table, dropped: "

READ = [
    # separators, encodings, header lines
    Quirk("semicolons.csv", "semicolons"),
    Quirk("tabs.txt", "tabs"),
    Quirk("pipes.txt", "pipes"),
    Quirk("fixed-width.txt", "blanks"),
    Quirk("write-table.txt", "blanks"),
    Quirk("sep-line.csv"),
    Quirk("byte-order-mark.csv"),
    Quirk("utf-16.csv"),
    Quirk("latin-1.csv", "read as Windows-1252"),
    Quirk("single-quotes.csv"),
    Quirk("line-ends-between-blanks.txt", "blanks"),
    Quirk("markdown.txt", "line 2 only underlines the names"),
    Quirk("hash-states.csv", "the first line has no names", variables=UNNAMED),
    Quirk(
        "years-above-codes.csv",
        "the first line was read as names, also '2019', '2020', '2021' (--no-header)",
        variables={"2019": 2, "2020": 3, "2021": 5},
    ),
    Quirk("line-ends-in-cells.csv"),
    Quirk("trailing-commas.csv"),
    Quirk("title.csv", DROPPED + "2 lines (1, 2)"),
    Quirk("comments.csv", DROPPED + "2 lines (1, 2)"),
    Quirk("source-below.csv", DROPPED + "1 line (33)"),
    Quirk("empty-lines.csv", DROPPED + "2 lines (32, 33)"),
    Quirk("own-head.data", DROPPED + "4 lines (1, 2, 3, 4)", more={"v3": 2}, variables=UNNAMED),
    Quirk("no-header.data", "the first line has no names", variables=UNNAMED),
    Quirk("codes-from-1.data", variables={"v0": 3, "v1": 5}),
    Quirk("numbered-header.csv", variables={"0": 2, "1": 3, "2": 5}),
    Quirk("corner.csv", "it labels the rows", rows=6, variables={"1940": 3, "1945": 2}),
    Quirk("cardinalities.csv", "Benchpress", rows=24, variables={"A": 2, "B": 3, "C": 2}),
    Quirk("response.csv", "line 2 is a second header (Response)"),
    Quirk(
        "types.tab",
        "lines 2 and 3 describe the columns (Orange)",
        "--bins age=4",
        variables={**ONE_TABLE, "age": 4},
    ),
    Quirk("same-names.csv", "called 'sex.2'", variables={"sex": 2, "sex.2": 3, "item": 5}),
    Quirk("unnamed.csv", "called 'v1'", variables={"sex": 2, "v1": 3, "item": 5}),
    # row numbers and identifiers
    Quirk("row-names.csv", "it labels the rows"),
    Quirk("id.csv", "an identifier", "--drop RespondentID"),
    Quirk("text-id.csv", "an identifier", "--drop name"),
    Quirk("dates.csv", "30 different dates", "--drop day"),
    Quirk("empty-column.csv", "no values", "--drop note"),
    Quirk(
        "identifier-without-header.data",
        "--drop v0, or --bins v0=4",
        "--drop v0",
        variables={"v1": 5, "v2": 2},
    ),
    # numbers
    Quirk("measurements.csv", "a measurement", "--bins age=4,bmi=4", TWO_BINS),
    Quirk("decimal-commas.csv", "decimal commas", "--bins age=4,bmi=4", TWO_BINS),
    Quirk("thousands.csv", "a measurement", "--bins income=4", {"income": 4}),
    Quirk("european.csv", "a measurement", "--bins income=4", {"income": 4}),
    Quirk("percent.csv", "a measurement", "--bins share=4", {"share": 4}),
    Quirk(
        "decimal-or-thousands.csv",
        "1,100 may be 1100 or 1.1",
        "--bins income=4 --decimal income=point",
        {"income": 4},
    ),
    Quirk(
        "points-between-thousands.csv",
        "2.674 of 'income' is 2674",
        "--bins income=4,height=4",
        {"income": 4, "height": 4},
    ),
    Quirk("codes-with-zeros.csv", "'250.1' and '250.10' are different", more={"code": 3}),
    Quirk("codes-with-many-values.csv", "--bins if they are", more={"occupation": 15}),
    Quirk(
        "odd-names.csv",
        "--category 'age, in years'",
        "--bins bmi=index=4 --bins 'age, in years=4'",
        variables={
            'person\'s "sex"': 2,
            "smoker": 3,
            "item": 5,
            "age, in years": 4,
            "bmi=index": 4,
        },
    ),
    # missing values
    Quirk("missing.csv", "(N/A; line 5)", "--missing drop --bins age=4,bmi=4", TWO_BINS, 26),
    Quirk("mostly-missing.csv", "24 missing values", "--missing state", {"income": 3}),
    Quirk("dot-among-numbers.csv", "2 missing values (.; ", "--missing drop", rows=28),
    Quirk("none-is-a-state.csv", "--na smoker=None"),
    Quirk("code-99.csv", "99 occurs 3 times", variables={**ONE_TABLE, "item": 6}),
    # counts
    Quirk("counts.csv", "looks like counts", "--counts Freq", rows=107, variables=ONE_TABLE),
    Quirk(
        "counts-by-another-name.csv",
        "looks like counts",
        "--counts people",
        rows=107,
        variables=ONE_TABLE,
    ),
    Quirk(
        "dose-and-counts.csv",
        "looks like counts",
        "--counts n",
        rows=175,
        variables={"dose": 5, "dead": 2},
    ),
    # files of other programs
    Quirk("nominal.arff", "ARFF", "--bins age=4", variables={"sex": 3, "is smoker": 3, "age": 4}),
    Quirk("sparse.arff", "ARFF", rows=4, variables={"bread": 2, "milk": 2, "eggs": 2}),
    Quirk("packed.zip"),
    Quirk("packed-on-a-mac.zip"),
    Quirk("merged-header.xlsx", "the line above the names was dropped"),
    Quirk("merged-cells.xlsx", "Excel"),
    Quirk("title-and-two-sheets.xlsx", "of 'answers', 'codes'", "--bins age=4,bmi=4", TWO_BINS),
    Quirk("value-labels.sav", "SPSS"),
    Quirk("value-labels.dta", "Stata"),
    Quirk("factors.rds", "R"),
    Quirk("compact-levels.rds", "R", variables={"sex": 2, "smoker": 3, "item": 6}),
    Quirk("table.rds", "30 rows counted by 'Freq'", variables=ONE_TABLE),
    Quirk("unnamed-table.rds", "30 rows counted", variables={"Var1": 2, "Var2": 3}),
    Quirk("array.rds", "30 rows counted by 'Freq'", variables=ONE_TABLE),
    Quirk("matrix.rds", "R", variables={"a": 2, "b": 2, "c": 5}),
    Quirk("text-matrix.rds", "R"),
    Quirk("matrix-without-names.rds", "R", variables={"V1": 2, "V2": 2}),
    Quirk("ascii.rds", "R"),
    Quirk("dates-of-R.rds", "R", more={"day": 3}),
    Quirk("native-letters.rds", "R", more={"Größe": 2}),
    Quirk("list.rds", "R", given={"object": "first"}),
    Quirk("list.rda", "R", given={"object": "second"}),
    Quirk("two-frames.rda", "R", given={"object": "d"}),
    Quirk("table.parquet", "Parquet"),
    Quirk("table.feather", "Feather"),
    # what the user knows better
    Quirk("code-99.csv", "27 rows left", rows=27, given={"na": {"item": 99}, "missing": "drop"}),
    Quirk("wide-counts.csv", rows=4, variables={"no": 4, "yes": 4, "ex": 4}, given={"bins": 2}),
]

REFUSED = [
    Quirk("wide-counts.csv", "a wide table of counts"),
    Quirk("weights.csv", "looks like weights of the other columns"),
    Quirk("two-frames.rda", "several objects: d (data frame), e (data frame)"),
    Quirk("list.rds", "several objects: first (data frame), second (data frame)"),
    Quirk("proportions.rds", "counts must be whole numbers from 0 to"),
    Quirk("ftable.rds", "in R, make one with as.data.frame(x) or as.table(x)"),
    Quirk("web-page.csv", "this is a web page or XML, not rows"),
    Quirk("stray-quotes.csv", "stray-quotes.csv:11: a quote"),
]

LIBRARIES = {
    ".xlsx": "openpyxl",
    ".sav": "pyreadstat",
    ".dta": "pyreadstat",
    ".rds": "rdata",
    ".rda": "rdata",
    ".parquet": "pyarrow",
    ".feather": "pyarrow",
}


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main(list(words))
    shown = capsys.readouterr()
    return int(end.value.code or 0), shown.out + shown.err


def require(file: str) -> None:
    if (suffix := Path(file).suffix) in LIBRARIES:
        pytest.importorskip(LIBRARIES[suffix])


def test_every_file_has_its_line() -> None:
    assert {q.file for q in (*READ, *REFUSED)} == {path.name for path in QUIRKS.iterdir()}


@pytest.mark.parametrize("quirk", READ, ids=lambda q: q.file)
def test_a_file_is_read_rightly_at_once_or_after_the_printed_advice(
    quirk: Quirk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require(quirk.file)
    out = tmp_path / "learned.json"
    code, shown = run(capsys, "learn", *quirk.words, "--learner", "chow-liu", "--out", str(out))
    said = shown
    if quirk.advice:
        assert code == 2
        assert not out.exists()
        line = next(line for line in shown.splitlines() if line.startswith("Try: "))
        assert line.endswith(f"{out} {quirk.advice}")
        code, shown = run(capsys, *shlex.split(line)[2:])
    assert code == 0, shown
    assert quirk.said in said + shown
    model = json.loads(out.read_text())
    states = {v["name"]: len(v["states"]) for v in model["variables"]}
    assert read(out).domain.names == tuple(states)
    assert states == {**quirk.variables, **quirk.more}
    assert f"{quirk.rows:,} rows, {len(states)} variables" in shown


@pytest.mark.parametrize("quirk", REFUSED, ids=lambda q: q.file)
def test_a_file_that_no_option_helps_is_refused_with_the_reason(
    quirk: Quirk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require(quirk.file)
    out = tmp_path / "learned.json"
    code, shown = run(capsys, "learn", *quirk.words, "--learner", "chow-liu", "--out", str(out))
    assert code == 2
    assert quirk.said in shown
    assert not out.exists()


@pytest.mark.parametrize("quirk", [q for q in READ if q.advice], ids=lambda q: q.file)
def test_the_advice_in_python_gives_the_same_rows(quirk: Quirk) -> None:
    require(quirk.file)
    with pytest.raises(UnclearData) as refused:
        read_data(quirk.path, **quirk.given)
    line = str(refused.value).splitlines()[-2].removeprefix("Try: ")
    data = eval(line, {"read_data": read_data})  # what a user would copy
    same = as_data(quirk.path, None, refused.value.summary.remedy)
    assert data.domain == same.domain
    assert data.rows.tolist() == same.rows.tolist()
    assert len(data) == quirk.rows


@pytest.mark.parametrize("quirk", [*READ, REFUSED[0], REFUSED[1]], ids=lambda q: q.file)
def test_info_shows_each_column(quirk: Quirk, capsys: pytest.CaptureFixture[str]) -> None:
    require(quirk.file)
    code, shown = run(capsys, "info", *quirk.words)
    assert code == 0
    columns = summarize_data(quirk.path, quirk.options).columns
    for column in columns:
        assert any(line.startswith(column.name[:30]) for line in shown.splitlines())
    assert (f"{quirk.advice}\nMore: " in shown) if quirk.advice else "Try: " not in shown


FRAMES = [
    "row-names.csv",
    "id.csv",
    "text-id.csv",
    "measurements.csv",
    "missing.csv",
    "mostly-missing.csv",
    "counts.csv",
    "counts-by-another-name.csv",
    "dose-and-counts.csv",
    "percent.csv",
    "odd-names.csv",
    "code-99.csv",
    "dates.csv",
]


@pytest.mark.parametrize("file", FRAMES)
def test_a_frame_gives_the_same_answer_as_its_file(file: str) -> None:
    path = QUIRKS / file
    frame = pd.read_csv(path, na_values="?", index_col=0 if file == "row-names.csv" else None)
    in_file, in_frame = summarize_data(path), summarize_data(frame)
    assert in_frame.remedy == in_file.remedy
    data, same = as_data(path, None, in_file.remedy), as_data(frame, None, in_frame.remedy)
    assert data.domain == same.domain
    assert data.rows.tolist() == same.rows.tolist()
    assert data.weights.tolist() == same.weights.tolist()


def test_the_two_lines_of_pandas_melt_a_wide_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (QUIRKS / "wide-counts.csv").read_text()
    (tmp_path / "wide.csv").write_text(text.replace(",", ";"))
    with pytest.raises(UnclearData) as refused:
        read_data("wide.csv")
    lines = [line for line in str(refused.value).splitlines() if line.startswith("  long")]
    exec("\n".join(map(str.strip, lines)), {"pandas": pd})
    data = read_data("long.csv", counts="Freq")
    assert len(data) == pd.read_csv("wide.csv", sep=";").iloc[:, 1:].to_numpy().sum()
    assert data.domain.cardinalities == (4, 3)


@pytest.mark.parametrize(
    ("file", "largest"),
    [("thousands.csv", 900 + 29 * 7919), ("european.csv", 9758.36), ("percent.csv", 89.9)],
)
def test_the_decimal_sign_is_understood(file: str, largest: float) -> None:
    column = next(c for c in summarize_data(QUIRKS / file).columns if c.kind == "measurement")
    data = read_data(QUIRKS / file, bins={column.name: 30})
    edges = data.decisions["bins"][column.name]
    assert largest * 0.9 < max(edges) < largest


def test_a_model_file_keeps_how_its_rows_were_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, test = str(tmp_path / "learned.json"), str(tmp_path / "test.csv")
    text = (QUIRKS / "missing.csv").read_text()
    Path(test).write_text(text.replace(",1,", ",99,", 3))
    words = ["--missing", "drop", "--bins", "age=4,bmi=4", "--na", "item=99"]
    code, _ = run(capsys, "learn", test, "--learner", "chow-liu", "--out", out, *words)
    assert code == 0
    stored = json.loads(Path(out).read_text())["data"]
    assert stored["missing"] == "drop"
    assert stored["na"] == ["item=99"]
    left = len(read_data(test, missing="drop", na={"item": 99}, bins={"age": 4, "bmi": 4}))
    commands = [
        ["check", out, test],
        ["compare", out, out, "--score", test],
        ["fit", out, test, "--out", out.replace(".json", ".2.json")],
        ["report", out, "--check", test, "--out", out.replace(".json", ".html")],
    ]
    for command in commands:
        code, shown = run(capsys, *command)
        assert code == 0, shown
        assert f"{left} rows left" in shown
    with pytest.warns(FormatWarning, match="does not record how rows are read"):
        write(read(out), out.replace(".json", ".mn"))
