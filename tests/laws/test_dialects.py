"""Law: a table in any dialect is read as it was written, or a question is asked.

A dialect is a separator, a decimal sign, a sign between thousands, quotes, an encoding and a
container. The content is known: words with accents, codes such as 250.1 and 250.10, whole numbers
with few values, heights and amounts of many sizes. What is read is never something else.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import random
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import openpyxl
import pytest

from contextwise.data import UnclearData
from contextwise.data.options import row_options
from contextwise.data.rows import parse_data
from contextwise.errors import ContextwiseError
from contextwise.support.files import unpacked

ROWS = 60
POINTS = [0.5, 2.0, 5.0, 50.0, 437.0, 999.5, 2_674.0, 50_000.0, 1_000_000.0]
"""Amounts are compared by the bins between these."""
AMOUNTS: Mapping[str, Sequence[float]] = {
    "whole": [3, 437, 999, 2_674, 9_205, 1_240, 61_000],
    "large": [437, 2_674, 1_234_567, 61_000],
    "cents": [0.25, 1.5, 437.75, 2_674.5, 61_000.05],
    "three decimals": [0.125, 1.234, 437.506, 2.674],
    "three decimals above one": [1.234, 43.506, 2.674],
    "thousands alone": [2_674, 9_205, 61_000],
}


class Dialect(NamedTuple):
    """How a table is written."""

    separator: str
    decimal: str
    thousands: str
    quoting: int
    encoding: str
    container: str
    amounts: str
    has_heights: bool

    def number(self, value: float, digits: int) -> str:
        text = f"{value:,.{digits}f}" if digits else f"{value:,.0f}"
        return text.replace(",", "\0").replace(".", self.decimal).replace("\0", self.thousands)


def zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("rows.txt", content)
    return packed.getvalue()


def as_workbook(content: bytes) -> bytes:
    """Put the cells of a text between tabs into a workbook, as texts."""
    book = openpyxl.Workbook()
    for row in csv.reader(io.StringIO(content.decode(), newline=""), delimiter="\t"):
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
    "xlsx": as_workbook,
}


def dialects() -> list[Dialect]:
    """Draw 200 dialects in which a decimal sign and a sign between thousands differ."""
    every = product(
        ",;\t| ",
        ".,",
        ["", ",", ".", "'", "\u202f"],
        [csv.QUOTE_MINIMAL, csv.QUOTE_ALL],
        ["utf-8", "utf-8-sig", "utf-16", "cp1252"],
        PACKED,
        AMOUNTS,
        [True, False],
    )
    possible = [
        Dialect(*each)
        for each in every
        if each[1] != each[2]
        and (each[2] != "\u202f" or each[4] != "cp1252")
        and (each[5] != "xlsx" or (each[0], each[4]) == ("\t", "utf-8"))
    ]
    return random.Random(54).sample(possible, 200)


def content(dialect: Dialect) -> tuple[bytes, list[list[str]], list[float]]:
    """Return a file, the cells of its categories, and its amounts."""
    rng = random.Random(str(dialect))
    values = AMOUNTS[dialect.amounts]
    digits = {"cents": 2, "three decimals": 3, "three decimals above one": 3}.get(
        dialect.amounts, 0
    )
    amounts = [values[k % len(values)] for k in range(ROWS)]
    rng.shuffle(amounts)
    categories = [
        [["Größe", "naïve", "a b"][k % 3], ["250.1", "250.10", "401.9"][k * k % 3], str(k % 2 + 1)]
        for k in range(ROWS)
    ]
    rows = [["word", "code", "item", "amount", *(["height"] if dialect.has_heights else [])]]
    for cells, amount in zip(categories, amounts, strict=True):
        height = dialect.number(1 + rng.randrange(100) / 100, 2)
        rows.append(
            [*cells, dialect.number(amount, digits), *([height] if dialect.has_heights else [])]
        )
    text = io.StringIO()
    writer = csv.writer(text, delimiter=dialect.separator, quoting=dialect.quoting)  # type: ignore[arg-type]
    writer.writerows(rows)
    packed = PACKED[dialect.container](text.getvalue().encode(dialect.encoding))
    return packed, categories, [float(amount) for amount in amounts]


def outcome(dialect: Dialect) -> str:
    """Return "equal", "asked", "asked by a note" or "wrong"."""
    packed, categories, amounts = content(dialect)
    options = row_options(
        category=["word", "code", "item"],
        bins={"amount": POINTS},
        drop="height" if dialect.has_heights else None,
    )
    try:
        data = parse_data(unpacked(packed, "rows"), "rows", options=options)
    except UnclearData as error:
        return "asked" if error.summary.remedy.decimal else f"refused: {error}"
    except ContextwiseError as error:
        return f"refused: {error}"
    wanted = np.searchsorted(POINTS, amounts)
    agrees = data.rows[:, 3].tolist() == wanted.tolist()
    agrees &= [row[:3] for row in data.labels()] == categories
    asked = any("(--decimal" in note for note in data.notes)
    return "equal" if agrees else "asked by a note" if asked else "wrong"


@pytest.fixture(scope="module")
def counts() -> Counter[str]:
    return Counter(map(outcome, dialects()))


def test_a_table_in_any_dialect_is_equal_or_asked_about(counts: Counter[str]) -> None:
    assert set(counts) <= {"equal", "asked", "asked by a note"}, counts


def test_most_dialects_are_read_without_a_question(counts: Counter[str]) -> None:
    assert counts.total() == 200
    assert counts["equal"] >= 150, counts
