"""Format numbers, names and columns as text for a terminal, and records as JSON and CSV.

An exact number is shown in full while it is readable; a long one is rounded to four digits. A rate
is shown as 0 or 1 only if it is exactly that.

Counts can have hundreds of digits, and most JSON readers store numbers as doubles: they would read
a different number, or infinity. So an int beyond 2^53 is written as a string of its digits.

`Shown` and `Printed` let results show themselves; `contextwise.report` has the renderers.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import MAX_EMAX, MAX_PREC, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from contextwise.errors import require

if TYPE_CHECKING:
    import pandas

Number = int | Fraction

READABLE = 12
"""The most digits of an exact number that are shown without rounding."""


def suggested(name: object, known: Iterable[str]) -> str:
    """Ask for the known name that differs only in case or is similar; empty if there is none.

    >>> suggested("Smoker", ["cancer", "smoker"]), suggested("x", ["cancer", "smoker"])
    ("did you mean 'smoker'?", '')
    """
    from difflib import get_close_matches  # only errors need it

    folded: dict[str, str] = {}
    for one in known:
        folded.setdefault(one.casefold(), one)
    near = get_close_matches(str(name).casefold(), folded, n=1, cutoff=0.75)
    return f"did you mean {folded[near[0]]!r}?" if near else ""


def printable(text: str) -> str:
    """Escape control characters, so that the text is safe to show on one line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def digits_of(value: int) -> str:
    """Return all digits of an int; unlike ``str``, without a limit on their number.

    >>> digits_of(3 << 10_000) == str(Decimal(3 << 10_000))
    True
    """
    # Counts are often small multiples of the same power of two, which is written once: writing
    # takes the square of the number of digits, multiplying their number.
    zeros = max(0, (value & -value).bit_length() - 1) // 64 * 64
    return str(EXACT_DECIMALS.multiply(Decimal(value >> zeros), _power_of_two(zeros)))


EXACT_DECIMALS = Context(prec=MAX_PREC, Emax=MAX_EMAX)


@lru_cache(64)
def _power_of_two(exponent: int) -> Decimal:
    return Decimal(1 << exponent)


def number(value: Number, digits: int = READABLE) -> str:
    """Format an exact number: all its digits in groups, or rounded if there are too many.

    >>> number(1048576), number(2**100), number(2**100, digits=31)
    ('1,048,576', '1.268e30', '1,267,650,600,228,229,401,496,703,205,376')
    >>> number(Fraction(1, 3))
    '0.333333'
    """
    if isinstance(value, Fraction) and value.denominator != 1:
        if is_readable(value):
            return f"{float(value):.6g}"
        value = round(value)
    exact = int(value)
    if is_readable(exact, digits):
        return f"{exact:,}"
    return f"{Decimal(exact):.3e}".replace("+", "")


def is_readable(value: Number, digits: int = READABLE) -> bool:
    """Check whether `number` shows the value in full."""
    limit: int = 10**digits
    return -limit < value < limit


def rate(value: float) -> str:
    """Format a rate with four decimals; NaN is a dash, and only an exact 0 or 1 is shown as such.

    >>> [rate(x) for x in (1.0, 0.99999, 2 / 3, 0.00001234, 5e-324, 0.0, float("nan"))]
    ['1', '>0.9999', '0.6667', '1.2e-05', '<1e-300', '0', '–']
    """
    if isnan(value):
        return "–"
    if value in (0, 1, -1):
        return f"{value:.0f}"
    if abs(value) < 1e-300:
        return "<1e-300" if value > 0 else ">-1e-300"
    text = f"{value:.4f}"
    if text in ("0.0000", "-0.0000"):
        return f"{value:.1e}"
    return {"1.0000": ">0.9999", "-1.0000": "<-0.9999"}.get(text, text)


def name(text: str, most: int = 40) -> str:
    """Format a name or path on one line; a long one loses its middle.

    >>> name("smoker"), name("a\\tb"), name("x" * 50, most=9)
    ('smoker', 'a\\\\tb', 'xxxx…xxxx')
    """
    shown = printable(text)
    if len(shown) <= most:
        return shown
    half = (most - 1) // 2
    return f"{shown[:half]}…{shown[-half:]}"


def plural(count: Number, noun: str) -> str:
    """Format a number and its noun."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def capitalized(text: str) -> str:
    """Return a text with a capital first letter; the others stay.

    >>> capitalized("the DNA")
    'The DNA'
    """
    return f"{text[:1].upper()}{text[1:]}"


def listed(words: Sequence[str], link: str = "and") -> str:
    """Join words as in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"], "or")
    ('a', 'a, b or c')
    """
    *others, last = words
    return f"{', '.join(others)} {link} {last}" if others else last


def columns(rows: Iterable[Sequence[str]], alignment: str) -> str:
    """Lay out rows of cells in columns; ``alignment`` has ``<`` or ``>`` for each column."""
    cells = list(rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            f"{cell:{side}{width}}"
            for cell, side, width in zip(row, alignment, widths, strict=True)
        ).rstrip()
        for row in cells
    )


LARGEST_EXACT = 2**53
"""The largest int up to which a double holds every int."""


def as_json(value: object) -> str:
    """Write a value as JSON that every reader reads as the same value.

    Ints beyond 2^53, fractions such as ``1/3``, ``inf`` and ``nan`` become strings.
    """
    return json.dumps(_readable(value), indent=2, allow_nan=False)


def _readable(value: Any) -> Any:
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        value = value.tolist()
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if abs(value) <= LARGEST_EXACT else digits_of(value)
        case float():
            return value if isfinite(value) else str(value)
        case Fraction() if value.denominator == 1:
            return _readable(int(value))
        case Fraction():
            return f"{digits_of(value.numerator)}/{digits_of(value.denominator)}"
        case Mapping():
            return {str(key): _readable(item) for key, item in value.items()}
        case list() | tuple():
            return [_readable(item) for item in value]
    return str(value)


def as_csv(records: Iterable[Mapping[str, object]], header: Iterable[str] | None = None) -> str:
    """Write records as CSV; None is an empty cell, and ints have all their digits.

    The header is by default all keys, in the order in which they first occur.
    """
    return "".join(csv_lines(records, header))


def csv_lines(
    records: Iterable[Mapping[str, object]], header: Iterable[str] | None = None
) -> Iterator[str]:
    """Yield the lines of `as_csv`; with a header, one record is in memory at a time."""
    if header is None:
        records = list(records)
        header = dict.fromkeys(key for record in records for key in record)
    line = io.StringIO()
    writer = csv.DictWriter(line, list(header), lineterminator="\n")
    writer.writeheader()
    for record in records:
        yield line.getvalue()
        line.seek(0)
        line.truncate()
        writer.writerow(
            {
                key: digits_of(cell)
                if isinstance(cell, int) and abs(cell) > LARGEST_EXACT
                else cell
                for key, cell in record.items()
            }
        )
    yield line.getvalue()


def renderers(module: str = "text") -> Any:
    """Return a module that shows results; by name, because it imports their rooms."""
    return import_module(f"contextwise.report.{module}")


class Shown:
    """Mixin for results that `contextwise.report` renders in notebooks."""

    def _repr_html_(self) -> str:
        html: str = renderers().html_of(self)
        return html

    def to_frame(self) -> pandas.DataFrame:
        """Return the records of the result as a pandas DataFrame."""
        result: Any = self
        rows = result.records() if hasattr(result, "records") else [result.record()]
        frame: pandas.DataFrame = require("pandas", "frames").DataFrame(rows)
        return frame


class Printed(Shown):
    """Mixin for results whose `str` is the text that the command prints."""

    def __str__(self) -> str:
        text: str = renderers().text_of(self)
        return text
