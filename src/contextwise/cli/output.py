"""Results for other programs, on standard output: JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence

import click


def print_json(value: object) -> None:
    """A value as JSON: ints stay exact, whatever their size; a fraction is a text like ``1/3``."""
    click.echo(json.dumps(value, indent=2, allow_nan=False, default=str))


def print_records(records: Sequence[object]) -> None:
    """Records as JSON: the object itself if there is one, a list of objects otherwise."""
    print_json(records[0] if len(records) == 1 else records)


def print_csv(records: Iterable[Mapping[str, object]], header: Iterable[str]) -> None:
    """Records as CSV, one row each, under a header; None is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(header), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    click.echo(text.getvalue(), nl=False)
