"""Results for other programs, on standard output: JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import click

from contextwise.execution.records import as_csv, as_json


def print_json(value: object) -> None:
    """A value as JSON: ints stay exact, whatever their size; a fraction is a text like ``1/3``."""
    click.echo(as_json(value))


def print_records(records: Sequence[object]) -> None:
    """Records as JSON: the object itself if there is one, a list of objects otherwise."""
    print_json(records[0] if len(records) == 1 else records)


def print_csv(records: Iterable[Mapping[str, object]], header: Iterable[str]) -> None:
    """Records as CSV, one row each, under a header; None is an empty cell."""
    click.echo(as_csv(records, header), nl=False)
