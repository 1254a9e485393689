"""Write records as JSON and CSV for other programs.

Counts can have hundreds of digits, and most JSON readers store numbers as doubles: they would read
a different number, or infinity. So an int beyond 2^53 is written as a string of its digits.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import isfinite
from typing import Any

from contextwise.support.formatting import digits_of

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

    The header is by default the keys of the first record.
    """
    rows = [
        {
            key: digits_of(cell) if isinstance(cell, int) and abs(cell) > LARGEST_EXACT else cell
            for key, cell in record.items()
        }
        for record in records
    ]
    columns = next(iter(rows), {}) if header is None else header
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
