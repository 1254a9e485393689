"""Print results: JSON, CSV, text, and other renderings of parts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

import contextwise as cw

if TYPE_CHECKING:
    from contextwise.report.parts import Part


def print_json(value: object) -> None:
    click.echo(cw.support.formatting.as_json(value))


def print_parts(parts: list[Part], output: str) -> None:
    """Print parts as text, or as another of `RENDERED`."""
    click.echo(cw.report.rendered(parts, output).rstrip("\n"))


def print_text(result: object, top: int) -> None:
    """Print a result as text, with the ``top`` entries of each list."""
    click.echo(cw.report.text.text_of(result, top=top))


def print_records(records: Sequence[object]) -> None:
    """Print one record as a JSON object, several as a list."""
    print_json(records[0] if len(records) == 1 else records)


def print_csv(records: Iterable[Mapping[str, object]], header: Iterable[str] | None = None) -> None:
    """Print records as CSV, one row each; the header is by default all their keys."""
    sys.stdout.writelines(cw.support.formatting.csv_lines(records, header))


@contextmanager
def resumable(folder: str | None) -> Iterator[None]:
    """On Ctrl-C, tell the user that the same command resumes, if a folder keeps the results."""
    try:
        yield
    except KeyboardInterrupt:
        if folder is None:
            raise
        click.echo(err=True)  # end the line of the progress, as click does
        raise click.Abort(
            f"; finished work is kept in {folder}, run the same command to resume"
        ) from None
