"""Values and records as texts: JSON and CSV for other programs, differences for people.

Every JSON text that a command prints or the explorer hands out is made by `as_json`. Counts can
have hundreds of digits, and most JSON readers keep numbers as doubles: they would read another
number, or infinity, without a word. So an int that a double may not hold is written as a string of
its digits. What such a count is a share of stands beside it, as a number.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import isfinite
from typing import Any

LARGEST_EXACT = 2**53
"""Up to here a double holds every int."""
MOST_DIFFERENCES = 3
"""How many differences a message shows."""
LONGEST_VALUE = 60
"""How many characters of a value a message shows."""


def as_json(value: object) -> str:
    """A value as JSON that every reader reads as it was meant.

    Parameters
    ----------
    value : anything made of mappings, lists, texts, numbers and None
        Ints beyond 2^53 become strings of digits, fractions that are not whole texts like ``1/3``,
        and what JSON does not know, ``inf`` and ``nan``, texts as well.

    Returns
    -------
    str

    Examples
    --------
    >>> print(as_json({"errors": 2**70, "share": 0.25, "pairs": 3}))
    {
      "errors": "1180591620717411303424",
      "share": 0.25,
      "pairs": 3
    }
    """
    return json.dumps(_readable(value), indent=2, allow_nan=False)


def _readable(value: Any) -> Any:
    """The value, with every number that a reader might take for another one as a text."""
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        value = value.tolist()
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if abs(value) <= LARGEST_EXACT else str(value)
        case float():
            return value if isfinite(value) else str(value)
        case Fraction() if value.denominator == 1:
            return _readable(int(value))
        case Mapping():
            return {str(key): _readable(item) for key, item in value.items()}
        case list() | tuple():
            return [_readable(item) for item in value]
    return str(value)


def as_csv(records: Iterable[Mapping[str, object]], header: Iterable[str] | None = None) -> str:
    """Records as CSV under a header; None is an empty cell, and ints have all their digits.

    Parameters
    ----------
    records : mappings
    header : names of the columns, optional
        By default the keys of the first record.

    Returns
    -------
    str

    Examples
    --------
    >>> print(as_csv([{"pair": "A,B", "errors": 2**70}, {"pair": "C", "errors": None}]))
    pair,errors
    "A,B",1180591620717411303424
    C,
    <BLANKLINE>
    """
    rows = list(records)
    columns = next(iter(rows), {}) if header is None else header
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def difference_words(stored: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """What differs between two records of settings, in a few words.

    Parameters
    ----------
    stored : the record that is there
    given : the record that was given now

    Returns
    -------
    str
        At most `MOST_DIFFERENCES` settings with their values, and how many more differ.

    Examples
    --------
    >>> difference_words({"seed": 1, "learner": {"l1": 5}}, {"seed": 1, "learner": {"l1": 2}})
    'learner.l1 is 5 there and 2 here'
    """
    there, here = _nested(stored, given), _nested(given, stored)
    keys = sorted(key for key in there | here if there.get(key) != here.get(key))
    words = [
        f"{key} is {_short(there.get(key))} there and {_short(here.get(key))} here"
        for key in keys[:MOST_DIFFERENCES]
    ]
    more = len(keys) - len(words)
    return "; ".join(words) + (f"; and {more} more" if more else "")


def _nested(record: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """The record, with what stands inside a mapping under a name of its own if both have it."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        twin = other.get(key)
        if isinstance(value, Mapping) and isinstance(twin, Mapping) and value.keys() == twin.keys():
            flat |= {f"{key}.{inner}": own for inner, own in value.items()}
        else:
            flat[key] = value
    return flat


def _short(value: object) -> str:
    """A value for a message; of a model's features the first is enough."""
    text = "not set" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
