"""``contextwise matrix``: compare many models with each other."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

import contextwise as cw
from contextwise.cli import options
from contextwise.cli.inputs import load_all, short_names, time_left
from contextwise.errors import ContextwiseError
from contextwise.support.files import write_bytes
from contextwise.support.formatting import as_json

if TYPE_CHECKING:
    from contextwise.comparison.matrix import DistanceMatrix


@options.command()
@options.model("models", metavar="MODEL...", nargs=-1, required=True)
@options.path("--out", help="Write to this .csv or .json file.")
@click.option("--normalized", is_flag=True, help="With --csv: print normalized distances.")
@options.output("json", "csv")
@options.parallel
@options.engine
@options.path("--folder", "store", help="Keep finished blocks here; an interrupted run resumes.")
@options.time_limit()
@options.scope
@click.pass_context
def matrix(
    ctx: click.Context,
    /,
    models: tuple[str, ...],
    out: str | None,
    normalized: bool,
    output: str,
    scope: options.Scope,
    **counting: Any,
) -> None:
    """Compute the matrix of pairwise distances of the MODELs.

    The table shows normalized distances, the shares of all assertions that differ. --csv and --json
    print the exact distances.

    Exit codes: 0 done, 2 error, 3 if a time limit left distances unfinished.

    \b
    Examples:
      contextwise matrix first.mn second.mn third.mn
      contextwise matrix *.mn --folder runs/matrix --jobs -1 --out distances.csv
    """
    if out is not None:
        suffix = options.check_out(out, [".csv", ".json"])
        output = suffix[1:] if output == "text" else output
    loaded = load_all(models, format=scope.format_name, by_values=scope.by_values)
    counting["time_limit"] = time_left()
    with options.resumable(counting["store"]):
        distances = cw.distance_matrix(
            loaded, names=models, show_progress=True, **counting, **scope.keywords(loaded[0])
        )
    if not distances.total:
        raise ContextwiseError(options.NOTHING_LEFT)
    _print(_matrix(distances, normalized, output), out)
    if unfinished := distances.open_distances:
        click.echo(f"contextwise: {unfinished} distances are unfinished", err=True)
        ctx.exit(3)


def _print(text: str, out: str | None) -> None:
    if out is None:
        click.echo(text, nl=False)
    else:
        write_bytes(out, text.encode())


def _matrix(matrix: DistanceMatrix, normalized: bool, output: str) -> str:
    if output == "text":
        names = short_names(matrix.names)
        parts = cw.report.comparisons.matrix_parts(matrix, names=names, normalized=True)
        return f"{cw.report.text.as_text(parts)}\n"
    if output == "csv":
        cells = cw.report.comparisons.matrix_cells(matrix, normalized=normalized)
        return _csv(matrix.names, cells)
    record = {
        "models": matrix.names,
        "assertions": matrix.total,
        "distances": cw.report.comparisons.matrix_cells(matrix, normalized=False),
        "normalized": cw.report.comparisons.matrix_cells(matrix, normalized=True),
        "medoid": None if matrix.open_distances else matrix.names[matrix.medoid],
        "open": matrix.open_distances,
        "by_position": matrix.by_position,
    }
    return f"{as_json(record)}\n"


def _csv(names: Sequence[str], cells: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", *names])
    for name, row in zip(names, cells, strict=True):
        writer.writerow([name, *map(str, row)])
    return text.getvalue()
