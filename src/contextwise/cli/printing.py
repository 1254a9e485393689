"""Print results for other programs, and check the files that commands write."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import click

from contextwise.errors import ContextwiseError


def print_json(value: object) -> None:
    """Print a value as JSON."""
    from contextwise.support.records import as_json

    click.echo(as_json(value))


def print_records(records: Sequence[object]) -> None:
    """Print one record as a JSON object, several as a list."""
    print_json(records[0] if len(records) == 1 else records)


def print_csv(records: Iterable[Mapping[str, object]], header: Iterable[str]) -> None:
    """Print records as CSV, one row each; None is an empty cell."""
    from contextwise.support.records import as_csv

    click.echo(as_csv(records, header), nl=False)


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


def check_out(path: str, suffixes: Sequence[str], *, packed: bool = False) -> str:
    """Raise, before long work starts, if the command cannot write this file.

    Returns the suffix in lower case; with ``packed``, ``.gz`` after it is allowed and dropped.

    >>> check_out("report.pdf", [".html"])
    Traceback (most recent call last):
    contextwise.errors.ContextwiseError: report.pdf: cannot write .pdf; use .html
    """
    from contextwise.support.files import check_target

    check_target(path)
    name = path.lower().removesuffix(".gz") if packed else path.lower()
    suffix = os.path.splitext(name)[1]
    if suffix not in suffixes:
        able = " or ".join(filter(None, [", ".join(suffixes[:-1]), suffixes[-1]]))
        raise ContextwiseError(
            f"{path}: cannot write {suffix or 'a file without a suffix'}; use {able}"
            + (" (each also with .gz)" if packed else "")
        )
    return suffix
