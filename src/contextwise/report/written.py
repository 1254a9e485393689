"""Values and records as texts for other programs: JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping


def as_json(value: object) -> str:
    """A value as JSON: ints stay exact, whatever their size; a fraction is a text like ``1/3``."""
    return json.dumps(value, indent=2, allow_nan=False, default=str)


def as_csv(records: Iterable[Mapping[str, object]], header: Iterable[str] | None = None) -> str:
    """Records as CSV under a header (by default the keys of the first); None is an empty cell.

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
