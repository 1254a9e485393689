"""Results for other programs, JSON and CSV, and the files that commands write."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from contextwise.errors import ContextwiseError
from contextwise.support.records import as_csv, as_json

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Estimate


def print_json(value: object) -> None:
    """A value as JSON; see `contextwise.support.records.as_json`."""
    click.echo(as_json(value))


def print_records(records: Sequence[object]) -> None:
    """Records as JSON: the object itself if there is one, a list of objects otherwise."""
    print_json(records[0] if len(records) == 1 else records)


def print_csv(records: Iterable[Mapping[str, object]], header: Iterable[str]) -> None:
    """Records as CSV, one row each, under a header; None is an empty cell."""
    click.echo(as_csv(records, header), nl=False)


def estimate_record(estimate: Estimate) -> dict[str, object]:
    """A number that may be estimated, for JSON, which knows no infinity."""
    finite = abs(estimate.value) != float("inf")
    return {
        "value": estimate.value if finite else str(estimate.value),
        "standard_error": estimate.standard_error,
        "how": estimate.how,
    }


@contextmanager
def kept_in(folder: str | None) -> Iterator[None]:
    """Say after Ctrl-C that the work goes on later, if there is a folder that keeps it."""
    try:
        yield
    except KeyboardInterrupt:
        if folder is None:
            raise
        click.echo(err=True)  # below the line of the progress, as click does it
        raise click.Abort(
            f"; what is done is kept in {folder}, and the same command goes on"
        ) from None


def check_out(path: str, suffixes: Sequence[str], *, packed: bool = False) -> str:
    """Refuse, before long work, a file that the command cannot write.

    Parameters
    ----------
    path : what ``--out`` was given
    suffixes : those that the command can write, such as ``.csv``
    packed : whether ``.gz`` after them packs the file

    Returns
    -------
    str
        The suffix of the path, in lower case and without ``.gz``.

    Examples
    --------
    >>> check_out("report.pdf", [".html"])
    Traceback (most recent call last):
    contextwise.errors.ContextwiseError: report.pdf: this command cannot write .pdf; ... .html
    """
    from contextwise.support.files import check_target

    check_target(path)
    name = path.lower().removesuffix(".gz") if packed else path.lower()
    suffix = os.path.splitext(name)[1]
    if suffix not in suffixes:
        able = " or ".join(filter(None, [", ".join(suffixes[:-1]), suffixes[-1]]))
        what = suffix or "a file without a suffix"
        raise ContextwiseError(
            f"{path}: this command cannot write {what}; it writes {able}"
            + (" (each also with .gz)" if packed else "")
        )
    return suffix
