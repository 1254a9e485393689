"""Read text files as tables: the encoding, the separator, the header, and ARFF.

Each rule looks at the content and never at the name of the file, and each decision that a user
might not expect is a note of the table.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from unicodedata import normalize

import numpy as np

from contextwise.data.notation import POINT, Written, is_number, numbers_of
from contextwise.data.options import RowOptions
from contextwise.data.table import (
    Column,
    Note,
    Sheet,
    check_unique,
    unique_names,
)
from contextwise.errors import DomainError, ParseError
from contextwise.models.domain import Domain, listed
from contextwise.support.arrays import IntArray
from contextwise.support.effort import check_reading
from contextwise.support.formatting import plural

_splitter: Any
try:
    from contextwise.data import _cells as _splitter
except ImportError:  # the extension was not built
    _splitter = None

_ERRORS_OF_EXCEL = ("#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!")
TOKENS = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "?", *_ERRORS_OF_EXCEL})
"""Cells that are missing values, unless a domain has a state of that name."""
DOUBTFUL = frozenset({"None", "-", ".", "*"})
"""Cells that are missing values among numbers; elsewhere they are states."""

SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "pipes", " ": "blanks"}
_NAMES = {"tab": "\t", "\\t": "\t", "blank": " ", "space": " ", "comma": ",", "semicolon": ";"}
FEWEST_BELOW = 10
"""From this number of rows on, numbers that none of their columns has again are names."""
MOST_COLUMNS = 200_000
LINES_AT_ONCE = 1_000
"""Number of lines after which the time limit is checked."""
MOST_LINES_OUTSIDE = 20
"""Most lines of other widths above or below a table that an empty line separates from it."""
SNIFFED = 50
"""The number of lines that decide about the separator."""
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_NO_TABLES = {
    r"\s*(\[\s*\{|\{.*\}\s*\n\s*\{)": "this is JSON; write records as CSV with "
    "pandas.read_json(…).to_csv(…, index=False)",
    r"\s*<(!doctype|html|\?xml)": "this is a web page or XML, not rows; download the file itself, "
    "or save its table as CSV",
}
"""How texts start that are no tables, and what to do about each."""


def decode(content: bytes, name: str, encoding: str | None) -> tuple[str, list[Note]]:
    """Decode text: UTF-8, UTF-16 by its mark, otherwise Windows-1252, which is noted."""
    chosen = encoding or _MARKS.get(content[:2], "utf-8-sig")
    try:
        text, notes = content.decode(chosen), list[Note]()
    except LookupError:
        raise DomainError(f"unknown encoding {encoding!r}; try utf-8 or latin-1") from None
    except UnicodeDecodeError as error:
        if encoding is not None:
            line = content.count(b"\n", 0, error.start) + 1
            raise ParseError(f"this is not {encoding} text", path=name, line=line) from None
        text, how = _decode_lines(content)
        notes = [Note(f"the text is not UTF-8 and was read as {how} (--encoding)", "decision")]
    if re.search(r"[\x00-\x08\x0e-\x1a]", text[:4096]) or "\0" in text:
        raise ParseError(
            "this is a binary file of an unknown kind, or text in an encoding that has to be named "
            "(--encoding utf-16-le)",
            path=name,
        )
    if not text.isascii():
        text = normalize("NFC", text)  # é is one letter, however it was typed
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes


def _decode_lines(content: bytes) -> tuple[str, str]:
    """Decode text of which some lines are not UTF-8; return it, and what it was read as."""
    try:
        content.decode("cp1252")
        other, called = "cp1252", "Windows-1252"
    except UnicodeDecodeError:
        other, called = "latin-1", "Latin-1"
    lines, mixed = [], 0
    for line in content.split(b"\n"):
        try:
            lines.append(line.decode())
            mixed += not line.isascii()
        except UnicodeDecodeError:
            lines.append(line.decode(other))
    return "\n".join(lines), f"UTF-8 in {plural(mixed, 'line')}, else {called}" if mixed else called


def text_table(content: bytes, name: str, how: RowOptions) -> Sheet:
    """Read a text file as a table."""
    text, notes = decode(content, name, how.encoding)
    for pattern, reason in _NO_TABLES.items():
        if re.match(pattern, text, re.I):
            raise DomainError(f"{name}: {reason}")
    if "@" in text and re.search(r"(?ims)^\s*@relation\b.*^\s*@data\b", text):
        return _arff_table(text, name)
    first = text.partition("\n")[0].strip('"')
    if re.fullmatch("sep=.", first):  # a line for Excel
        how = how if how.separator else how._replace(separator=first[-1])
        text = text.partition("\n")[2]
    return _Reader(name, how, notes).of_text(text)


def sheet_table(
    rows: list[list[str]], lines: Sequence[int], name: str, how: RowOptions, notes: list[Note]
) -> Sheet:
    """Return the table of the rows of a spreadsheet."""
    reader = _Reader(name, how, notes)
    return reader.of_rows(*reader.without_titles(rows, np.array(lines)))


_BACKSLASHED = re.compile(r"""(?m)(^|[,;\t| ])"[^"\n]*\\"[^",;\t| \n]""")


_SOURCE = re.compile(
    r"\W*(sources?|(foot)?notes?|remarks?|last updated|copyright|quellen?|hinweise?|stand|"
    r"anmerkung(en)?|bron|fuente|fonte|nota)\b\s*[:(.]|[©†‡]",
    re.I,
)
"""The start of a line below a table that names its source."""


@dataclass
class _Reader:
    """Makes the table of one file from its text or its cells; collects the decisions."""

    name: str
    how: RowOptions
    notes: list[Note]

    def of_text(self, text: str) -> Sheet:
        if _BACKSLASHED.search(text):  # R's write.table puts a backslash before a quote
            text = text.replace('\\"', '""')
        separator = _separator(text, self.how)
        if separator != "," and self.how.separator is None:
            self.notes.append(Note(SEPARATORS[separator], "separator", option="--separator"))
        width = text.partition("\n")[0].count(separator) + 1
        if width > MOST_COLUMNS:
            raise ParseError(
                f"{width:,} columns; at most {MOST_COLUMNS:,} are read", path=self.name
            )
        if separator == " ":
            text = _without_edges(text)
        columns = _coded(text, separator)
        if columns is None:
            rows, lines = _cells(text, self.name, separator)
            if not rows:
                raise ParseError("there are no rows in this file", path=self.name)
            if self.how.domain is None or self.how.learned is not None:
                rows, lines = self.without_titles(rows, lines)
            table = self.of_rows(rows, lines)
        else:
            lines = np.arange(1, len(columns[0].codes) + 1)
            self.rectangle([_line(columns, 0)], lines)
            table = self.of_columns(columns, lines)
        return replace(table, decimal=POINT) if separator == "," else table

    def of_rows(self, rows: list[list[str]], lines: IntArray) -> Sheet:
        rows, is_short = self.rectangle(rows, lines)
        return self.of_columns(_columns_of(rows), lines, is_short)

    def without_titles(
        self, rows: list[list[str]], lines: IntArray
    ) -> tuple[list[list[str]], IntArray]:
        """Drop comments, the head above a table, and empty lines and sources below it."""
        widths = np.array([len(row) for row in rows])
        usual = np.bincount(widths).argmax()
        if usual < 2:
            return rows, lines
        filled = np.array([sum(bool(cell.strip()) for cell in row) for row in rows])
        words = np.array([" " in "".join(row).strip() for row in rows])
        title = (filled == 0) | ((filled == 1) & ((widths == 1) | (usual > 2)))
        odd = np.array([row[0].lstrip()[:1] == "#" for row in rows]) & (widths != usual)
        gaps = np.flatnonzero(np.diff(lines) > 1) + 1
        above = int(np.argmin(title | odd))
        if above:  # the head may have lines of several cells, and ends with one of a single cell
            head = widths[: np.argmax(widths == usual)] == 1
            above = max([above, *(np.flatnonzero(head) + 1)])
        for k in gaps[gaps <= MOST_LINES_OUTSIDE].tolist():
            above = k if (widths[:k] != usual).all() else above
        sources = np.array([bool(_SOURCE.match(row[0])) for row in rows]) & (
            filled <= 1 + (widths != usual)
        )
        below = (filled == 0) | ((widths == 1) & words) | sources
        for k in gaps[gaps >= len(rows) - MOST_LINES_OUTSIDE].tolist():
            below[k:] |= bool((widths[k:] != usual).all())
        after = len(rows) - np.argmin((below | odd)[::-1])
        odd[:above] = odd[after:] = True
        self.refuse_second_table(rows, lines, range(above + 4, after))
        if not odd.any() or odd.all():
            return rows, lines
        shown = ", ".join(map(str, lines[odd][:5])) + ", …" * (int(odd.sum()) > 5)
        text = f"not part of the table, dropped: {plural(int(odd.sum()), 'line')} ({shown})"
        self.notes.append(Note(text, "dropped"))
        return [row for row, gone in zip(rows, odd, strict=True) if not gone], lines[~odd]

    def refuse_second_table(
        self, rows: list[list[str]], lines: IntArray, inside: Sequence[int]
    ) -> None:
        """Raise if an empty line is followed by names, words that no column has."""
        for k in inside[:-1]:
            row, is_gap = rows[k], lines[k] - lines[k - 1] > 1 + "".join(rows[k]).count("\n")
            if (
                not is_gap
                or len(row) < 2
                or len(rows[k + 1]) != len(row)
                or len(set(row)) < len(row)
                or any(map(is_number, row))
                or "" in row
            ):
                continue
            others = [each for j, each in enumerate(rows) if j != k and len(each) == len(row)]
            columns = [*zip(*others, strict=True)]
            repeat = any(2 * len(set(cells)) <= len(cells) for cells in columns)
            if repeat and not any(c in cells for c, cells in zip(row, columns, strict=False)):
                raise ParseError(
                    f"an empty line and other names ({listed(row)}): a second table starts here; "
                    "save each table as a file of its own",
                    path=self.name,
                    line=int(lines[k]),
                )

    def rectangle(self, rows: list[list[str]], lines: IntArray) -> tuple[list[list[str]], bool]:
        """Check that all lines have as many cells as expected.

        R leaves out the name of the column of row labels; then the first line gets an empty name,
        and the second result is True.
        """
        first, domain = [cell.strip() for cell in rows[0]], self.how.domain
        is_ragged = any(len(row) < len(first) for row in rows)
        if is_ragged and _are_types(rows[1]):
            # Orange may leave out empty cells at the end of a line.
            rows = [row + [""] * (len(first) - len(row)) for row in rows]
        widths = np.array([len(row) for row in rows])
        usual = int(np.bincount(widths[1:]).argmax()) if len(widths) > 1 else len(first)
        if len(first) == usual:  # signs between cells after the last one
            rows = [row[:usual] if not any(row[usual:]) else row for row in rows]
            widths = np.array([len(row) for row in rows])
        width = max(usual, len(first))
        is_short = len(widths) > 1 and 0 < len(first) == width - 1
        if is_short and domain is not None and len(domain) == len(first):
            is_short = set(domain.names) == set(first)
        expected = np.full(len(widths), width)
        if is_short:
            expected[0] = len(first)
        if domain is not None and not set(domain.names) <= set(first):
            expected[:] = len(domain)
        for row in np.flatnonzero(widths != expected)[:1].tolist():
            raise ParseError(
                f"{plural(len(rows[row]), 'cell')} where {expected[row]} are expected"
                + _hint(rows[row], domain, row == 0),
                path=self.name,
                line=int(lines[row]),
            )
        return ([["", *first], *rows[1:]] if is_short else rows), is_short

    def of_columns(self, columns: list[Column], lines: IntArray, is_short: bool = False) -> Sheet:
        """Return the table of the columns, with the names of the first line if it has names."""
        name, domain, notes = self.name, self.how.domain, self.notes
        first = _line(columns, 0)
        below = [column.take(slice(1, None)) for column in columns]
        again = np.logical_and.reduce([column.codes[1:] == column.codes[0] for column in columns])
        if 0 < 10 * again.sum() <= len(again):
            others = [column.take(~again) for column in below]
            if not any(n and n in c.labels for n, c in zip(first, others, strict=True)):
                text = f"the names again, dropped: {plural(int(again.sum()), 'line')}"
                notes.append(Note(text, "dropped"))
                below, lines = others, lines[[True, *~again]]
        if is_short and set(below[-1].labels) <= {""}:  # a separator at the end of each row
            first = [*first[1:], ""]
        if not (is_short or self.has_header(first, below)):
            names = [f"v{k}" for k in range(len(first))]
            if domain is not None:
                names = list(domain.names)
            named = [replace(column, name=n) for n, column in zip(names, columns, strict=True)]
            return Sheet(named, len(lines), name, lines, domain is None, notes)
        if len(lines) == 1:
            raise ParseError("there are no rows below the header", path=name)
        skipped, text = _more_headers(first, below) if domain is None else (0, "")
        if skipped:
            notes.append(Note(text, "dropped"))
            if text == _BANNER:
                first = _line(below, 0)
            below = [column.take(slice(skipped, None)) for column in below]
        if domain is not None:
            wanted = [n for n in first if n in domain.positions]
            check_unique(wanted, name, int(lines[0]))
        lines = lines[1 + skipped :]
        named, renamed = _named(first, below)
        return Sheet(named, len(lines), name, lines, False, [*notes, *renamed])

    def has_header(self, first: Sequence[str], below: Sequence[Column]) -> bool:
        """Return whether the first line has names, as the user says or by its cells."""
        if self.how.header is not None:
            return self.how.header
        if self.how.domain is not None:
            return set(self.how.domain.names) <= set(first)
        has_header = _is_header(first, below)
        numbers = [cell for cell in first if is_number(cell)]
        if not has_header and len(numbers) < len(first):
            text = "the first line has no names; the columns are called v0, v1, … (--header)"
            self.notes.append(Note(text, option="--header"))
        elif not has_header and _is_odd(first, below):
            text = "the first line was read as a row; --header if its numbers are names"
            self.notes.append(Note(text, "question", option="--header"))
        if has_header and numbers:
            shown = ", ".join(map(repr, numbers[:3])) + (", …" if len(numbers) > 3 else "")
            text = f"the first line was read as names, also {shown} (--no-header)"
            self.notes.append(Note(text, option="--no-header"))
        return has_header


# -- cells -----------------------------------------------------------------------------------------


def _separator(text: str, how: RowOptions) -> str:
    """Return the separator that gives the first lines the same number of cells, above one."""
    if how.separator is not None:
        chosen = _NAMES.get(how.separator, how.separator)
        if len(chosen) != 1:
            raise DomainError(f"separator must be one sign, tab or blank, got {how.separator!r}")
        return chosen
    if how.domain is not None and len(how.domain) <= 1:
        return ","
    head = text[: 2**18]
    lines = (head if len(head) == len(text) else head.rpartition("\n")[0]).split("\n")
    for is_quoted in (True, False):  # with stray quotes nothing is regular if quotes count
        found = _regular(lines, is_quoted)
        if found:
            return found
    return ","


def _regular(lines: list[str], is_quoted: bool) -> str:
    """Return the separator for which most lines have the same number of cells, or ""."""
    shares = {"": 0.5}
    for separator in SEPARATORS:
        widths = _widths(lines, separator, is_quoted)
        if (widths == widths[0]).all() and widths[0] > 1:
            return separator
        if len(widths) > 1 and (widths[1:] == widths[0] + 1).all() and widths[0] > 1:
            return separator  # R's write.table: the header has no name for the row labels
        usual = int(np.bincount(widths).argmax())
        shares[separator] = float(np.mean(widths == usual)) if usual > 1 else 0.0
    return max(shares, key=shares.__getitem__)


def _widths(lines: list[str], separator: str, is_quoted: bool) -> IntArray:
    """Return the number of cells of each of the first lines; comments do not count."""
    if separator == " ":
        lines = _without_edges("\n".join(lines)).split("\n")
    try:
        split = _rows(lines, separator) if is_quoted else (x.split(separator) for x in lines)
        rows = [row for row in islice(split, SNIFFED) if "".join(row)]
    except csv.Error:
        rows = []
    plain = [row for row in rows if not row[0].startswith("#")]
    return np.array([len(row) for row in (plain if 2 * len(plain) > len(rows) else rows)] or [1])


def _without_edges(text: str) -> str:
    """Return a text with blanks between cells, but not at the ends of lines."""
    return re.sub(r" *\n *", "\n", text.replace("\t", " ")).strip(" ")


def _rows(lines: Iterable[str], separator: str, quote: str = '"') -> Any:
    return csv.reader(
        lines, delimiter=separator, quotechar=quote, skipinitialspace=True, strict=True
    )


def _quote(text: str, separator: str) -> str:
    """Return the sign around quoted cells: single quotes if the first line has two such cells."""
    cells = text.lstrip().partition("\n")[0].split(separator)
    single = sum(
        len(cell.strip()) > 1 and cell.strip()[0] == cell.strip()[-1] == "'" for cell in cells
    )
    return "'" if single > 1 and '"' not in text else '"'


def _coded(text: str, separator: str) -> list[Column] | None:
    """Read a plain table with compiled code; return None unless all lines are alike."""
    parsed = _splitter and _quote(text, separator) == '"'
    parsed = parsed and _splitter.coded_columns(text, separator)
    if not parsed:
        return None
    return [
        Column("", (), codes).mapped([label.strip() for label in labels], codes)
        for codes, labels in zip(*parsed, strict=True)
    ]


def _cells(text: str, name: str, separator: str) -> tuple[list[list[str]], IntArray]:
    """Read any table with Python's csv module; return the rows and their last lines."""
    quote = _quote(text, separator)
    source = text.split("\n")
    reader = _rows((f"{line}\n" for line in source), separator, quote)
    rows, lines = [], []
    joined, last = 0, 0  # the first line of a cell that continues on the next line
    try:
        for row in reader:
            joined = joined or (last + 1 if reader.line_num > last + 1 else 0)
            last = reader.line_num
            if not last % LINES_AT_ONCE:
                check_reading()
            if source[last - 1].strip():
                rows.append(row)
                lines.append(last)
    except csv.Error as error:
        message = f"this is not CSV: {error}"
        if "field limit" in str(error):
            most = csv.field_size_limit()
            message = f"a cell has more than {most:,} characters; is a closing quote missing?"
        else:
            _refuse_stray_quotes(text, name, separator, quote, joined or last + 1)
        raise ParseError(message, path=name, line=last + 1) from None
    if joined:
        _refuse_stray_quotes(text, name, separator, quote, joined)
    return rows, np.array(lines, dtype=np.int64)


def _columns_of(rows: list[list[str]]) -> list[Column]:
    columns = []
    for cells in zip(*rows, strict=True):
        check_reading()
        place = {cell: k for k, cell in enumerate(dict.fromkeys(cells))}
        codes = np.fromiter(map(place.__getitem__, cells), np.int64, len(cells))
        known = any(isinstance(cell, Written) for cell in place) and all(
            isinstance(cell, Written) for cell in place if "." in cell and is_number(cell)
        )
        column = Column("", (), codes, decimal=POINT if known else "")
        columns.append(column.mapped([cell.strip() for cell in place], codes))
    return columns


def _line(columns: Sequence[Column], row: int) -> list[str]:
    return [column.labels[column.codes[row]] for column in columns]


def _refuse_stray_quotes(text: str, name: str, separator: str, quote: str, line: int) -> None:
    """Raise if, without quotes, all lines have the same number of cells."""
    widths = {each.count(separator) for each in text.split("\n") if each.strip()}
    if len(widths) == 1 and widths != {0}:
        raise ParseError(
            f"a quote ({quote}) opens a cell on this line and does not close at its end, although "
            "each line by itself has the same number of cells; remove stray quotes",
            path=name,
            line=line,
        )


# -- the header ------------------------------------------------------------------------------------


def _named(first: Sequence[str], below: Sequence[Column]) -> tuple[list[Column], list[Note]]:
    """Return the columns with unique names, and what was renamed; empty columns are left out."""
    named = [(n, c) for n, c in zip(first, below, strict=True) if n or not set(c.labels) <= {""}]
    names = []
    for place, (text, column) in enumerate(named):
        are_row_labels = place == 0 and len(column.labels) == len(column.codes)
        names.append(text or ("" if are_row_labels else f"v{place}"))
    unique, renamed = unique_names(names)
    for new, (given, _) in zip(unique, named, strict=True):
        if new and not given:
            text = f"a column has no name and is called {new!r} here"
            renamed.append(Note(text, "renamed", new))
    columns = [replace(c, name=n) for n, (_, c) in zip(unique, named, strict=True)]
    return columns, renamed


def _hint(cells: list[str], domain: Domain | None, is_first: bool) -> str:
    if len(cells) == 1:
        if is_first and domain is None:
            return (
                f"; if {cells[0].strip()[:30]!r} starts a head in a format of its own, remove the "
                "lines above the rows"
            )
        return "; cells are separated by commas, semicolons or tabs (--separator)"
    if not is_first or domain is None:
        return ""
    missing = [name for name in domain.names if name not in cells]
    if len(missing) < len(domain):
        return f"; if this line is a header, it lacks {listed(missing)}"
    return f": the variables are {listed(domain.names)}"


def _is_header(first: Sequence[str], below: Sequence[Column]) -> bool:
    """Decide whether the first line has the names of the columns, by the first rule that applies.

    A cell is new if its column does not have it below. In a column that hardly repeats, such as one
    of measurements, a new cell says nothing.
    """
    known = [set(column.labels) for column in below]
    again = [cell in labels for cell, labels in zip(first, known, strict=True)]
    rows = len(below[0].codes)
    stated = [k for k, cell in enumerate(first) if cell not in TOKENS | DOUBTFUL]
    names = [first[k] for k in stated]
    above_numbers = [k for k in stated if _are_numbers(below[k])]
    above_repeating = [k for k in stated if 2 * len(known[k]) <= rows]
    above_text = set(above_repeating) - set(above_numbers)
    all_repeat = len(above_repeating) == len(first) > 1 and rows >= FEWEST_BELOW
    all_new = not any(again[k] for k in stated)
    is_corner = len(first) > 1 and not first[0] and "" not in (*first[1:], *known[0])
    counted = [str(k) for k in range(len(first) + 1)]
    is_counted = len(first) > 2 and rows > 2 and first in (counted[:-1], counted[1:])
    filled = [seen for cell, seen in zip(first, again, strict=True) if cell]
    most_new = 2 * sum(filled) < max(1, len(filled))
    rules = (
        # an empty cell above row labels
        (is_corner and (len(known[0]) == rows or not any(again)), True),
        # 0, 1, 2, … are names unless the columns have these numbers
        (is_counted, most_new),
        # text above numbers is a name
        (any(not is_number(first[k]) for k in above_numbers), True),
        (len(above_numbers) == len(first), all_repeat and all_new),
        # numbers above numbers, or a name that occurs twice, say nothing by themselves
        (bool(above_numbers) or len(set(names)) < len(names), bool(above_text) and all_new),
        (True, most_new),
    )
    return next(verdict for applies, verdict in rules if applies)


def _is_odd(first: Sequence[str], below: Sequence[Column]) -> bool:
    """Check for a cell that its column does not have again, although other values repeat."""
    columns = [
        c for c in below if len(c.codes) >= FEWEST_BELOW and 2 * len(c.labels) <= len(c.codes)
    ]
    return any(cell not in c.labels for cell, c in zip(first, below, strict=True) if c in columns)


def _are_numbers(column: Column) -> bool:
    labels = [label for label in column.labels if label not in TOKENS | DOUBTFUL]
    return bool(labels) and not np.isnan(numbers_of(labels)).any()


_TYPES = {"c", "d", "s", "t", "continuous", "discrete", "string", "time"}
_ROLES = {"", "class", "meta", "i", "ignore", "m", "c"}


def _are_types(cells: Sequence[str]) -> bool:
    """Return whether cells are types of columns in Orange's format, or lists of their states."""
    named = sum(cell.strip() in _TYPES for cell in cells)
    lists = sum(len(cell.split()) > 1 for cell in cells)
    return named + lists == len(cells) and named >= lists


_BANNER = "the line above the names was dropped"


def _more_headers(first: Sequence[str], below: Sequence[Column]) -> tuple[int, str]:
    """Return the number of further header lines, and what they are."""
    second = _line(below, 0)
    rest = [column.take(slice(1, None)) for column in below]
    rows = len(rest[0].codes)
    if _are_types(second):
        third = _line(rest, 0) if rows else second
        last = [column.take(slice(1, None)) for column in rest]
        are_data = any(
            cell and cell in column.labels
            for cell, column in zip([*second, *third], [*last, *last], strict=True)
        )
        if not are_data and all(cell in _ROLES or "=" in cell for cell in third):
            return 2, "lines 2 and 3 describe the columns (Orange) and were dropped"
        if all(cell not in column.labels for cell, column in zip(second, rest, strict=True)):
            return 1, "line 2 describes the columns (Orange) and was dropped"
    filled = [cell for cell in second if cell]
    if filled and 2 * sum("response" in cell.lower() for cell in filled) >= len(filled):
        return 1, "line 2 is a second header (Response) and was dropped"
    if filled and all(re.fullmatch(":?-{2,}:?", cell) for cell in filled):
        return 1, "line 2 only underlines the names and was dropped"
    is_banner = "" in first[1:] and "" not in second and len(set(second)) == len(second)
    if is_banner and rows >= FEWEST_BELOW and _is_header(second, rest):
        return 1, _BANNER
    if rows >= FEWEST_BELOW and _are_units(second, rest):
        return 1, "line 2 has the units of the numbers and was dropped"
    if len(second) > 1 and rows >= FEWEST_BELOW and _are_sizes(second, rest):
        return 1, "line 2 has the numbers of states (Benchpress) and was dropped"
    return 0, ""


def _are_units(cells: Sequence[str], below: Sequence[Column]) -> bool:
    """Check for words above columns of numbers, and nothing that another column has again."""
    units = [(cell, _are_numbers(column)) for cell, column in zip(cells, below, strict=True)]
    words = [cell for cell, are_numbers in units if are_numbers and cell not in TOKENS | DOUBTFUL]
    known = any(c and c in column.labels for c, column in zip(cells, below, strict=True))
    return (
        len(words) > 0
        and not known
        and not any(map(is_number, words))
        and len(words) >= sum(are_numbers for _, are_numbers in units) / 2
    )


def _are_sizes(cells: Sequence[str], below: Sequence[Column]) -> bool:
    """Check for numbers of states: most columns have the codes from 0 to one less."""
    if not all(cell.isdecimal() for cell in cells):
        return False
    codes = all(column.is_numeric and not column.has_fractions for column in below)
    gaps = [float(cell) - max(c.numbers) for cell, c in zip(cells, below, strict=True) if codes]
    return codes and min(gaps) > 0 and 2 * gaps.count(1) >= len(gaps)


# -- ARFF ------------------------------------------------------------------------------------------

_ATTRIBUTE = re.compile(
    r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(.*)""", re.I | re.S
)


def _arff_table(text: str, name: str) -> Sheet:
    """Read an ARFF file; its nominal attributes are declared categories."""
    names: list[str] = []
    declared: list[tuple[str, ...] | None] = []
    rows, lines, is_data = [], [], False
    for number, line in enumerate(map(str.strip, text.split("\n")), 1):
        if is_data and line and line[0] != "%":
            try:
                rows.append(_arff_row(line, declared))
            except (csv.Error, ValueError, IndexError) as error:
                message = f"cannot read this row: {error}"
                raise ParseError(message, path=name, line=number) from None
            lines.append(number)
            if len(rows[-1]) != len(names):
                cells = plural(len(rows[-1]), "cell")
                message = f"{cells} for {plural(len(names), 'attribute')}"
                raise ParseError(message, path=name, line=number)
        elif line.lower().startswith("@data"):
            is_data = True
        elif not is_data and line.lower().startswith("@attribute"):
            match = _ATTRIBUTE.match(line)
            if match is None:
                raise ParseError("cannot read this @attribute", path=name, line=number)
            names.append(match[1].strip("'\""))
            kind = match[2].strip()
            states = next(_arff_rows([kind[1:].rpartition("}")[0]])) if kind[:1] == "{" else None
            declared.append(None if states is None else tuple(cell.strip() for cell in states))
    if not rows:
        raise ParseError("there are no rows below @data", path=name)
    columns = [
        replace(column, name=column_name, declared=states)
        for column_name, column, states in zip(names, _columns_of(rows), declared, strict=True)
    ]
    return Sheet(
        columns, len(rows), name, np.array(lines, dtype=np.int64), notes=[Note("ARFF", "source")]
    )


def _arff_row(line: str, declared: Sequence[tuple[str, ...] | None]) -> list[str]:
    """Return the cells of a row; ``{place value, …}`` leaves out zeros and first states."""
    if not line.startswith("{"):
        return next(_arff_rows([line]))
    row = ["0" if states is None else states[0] for states in declared]
    for entry in filter(str.strip, next(_arff_rows([line[1:].rpartition("}")[0]]), [])):
        place, _, value = entry.strip().partition(" ")
        row[int(place)] = value.strip(" '\"")
    return row


def _arff_rows(lines: Sequence[str]) -> Iterator[list[str]]:
    quote = "'" if "'" in lines[0] else '"'
    return csv.reader(lines, quotechar=quote, escapechar="\\", skipinitialspace=True)
