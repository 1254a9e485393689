"""``contextwise matrix``: the distance of each two models."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import click

from contextwise.cli.models import (
    ZeroWeights,
    load_all,
    model_argument,
    reading_options,
    short_names,
)
from contextwise.cli.output import check_out

if TYPE_CHECKING:
    from contextwise.comparison.many import DistanceMatrix

GANAK = "some counts are Ganak's, which errs with a probability below one in a billion"


@click.command()
@model_argument("models", metavar="MODEL...", nargs=-1, required=True)
@click.option(
    "--out", type=click.Path(), help="Write to this file: CSV, or JSON if it is a .json file."
)
@click.option("--normalized", is_flag=True, help="Distances as shares of all assertions.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: one row and one column a model.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--jobs",
    type=click.IntRange(min=-1),
    default=1,
    show_default=True,
    help="How many processes; 1 counts here, on all cores, and -1 is one a core.",
)
@click.option("--cluster", metavar="ADDRESS", help="A Dask scheduler, such as tcp://host:8786.")
@click.option("--engine", metavar="NAME", help="What counts; see: contextwise engines")
@reading_options
def matrix(
    models: tuple[str, ...],
    out: str | None,
    normalized: bool,
    as_csv: bool,
    as_json: bool,
    jobs: int,
    cluster: str | None,
    engine: str | None,
    zero_weights: ZeroWeights,
    format_name: str | None,
) -> None:
    """Say how far each two of the MODELs are from each other, exactly.

    Each model's own counts are made once, and equal ones of whatever models are shared. The
    matrix is symmetric, so it does not matter which model is the true one.

    \b
    Examples:
      contextwise matrix first.mn second.mn third.mn
      contextwise matrix *.mn --out distances.csv
      contextwise matrix *.mn --normalized --jobs 4
      contextwise matrix six six-graph six-guess --json | jq .distances
    """
    if as_json and as_csv:
        raise click.UsageError("choose one of --json and --csv")
    from contextwise.comparison.many import distance_matrix
    from contextwise.counting import DEFAULT
    from contextwise.execution.files import write_bytes

    if out is not None:
        check_out(out, [".csv", ".json"])
        as_json = as_json or (out.lower().endswith(".json") and not as_csv)
    found = distance_matrix(
        load_all(models, format=format_name, zero_weights=zero_weights),
        names=models,
        engine=engine or DEFAULT,
        n_jobs=jobs,
        cluster=cluster,
        show_progress=True,
    )
    if as_json:
        text = _json(found)
    elif as_csv or out is not None:
        text = _csv(found, normalized)
    else:
        text = _table(found, normalized)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_bytes(out, text.encode())
    if found.rests_on_ganak and (as_csv or as_json or out is not None):
        click.echo(f"contextwise: {GANAK}; --engine native is deterministic", err=True)


def _cells(matrix: DistanceMatrix, normalized: bool) -> list[list[int | float]]:
    cells: list[list[int | float]] = (
        matrix.normalized if normalized else matrix.distances
    ).tolist()
    return cells


def _json(matrix: DistanceMatrix) -> str:
    from contextwise.execution.records import as_json

    record = {
        "models": matrix.names,
        "assertions": matrix.total,
        "distances": matrix.distances,
        "normalized": matrix.normalized,
        "rests_on_ganak": matrix.rests_on_ganak,
    }
    return as_json(record) + "\n"


def _csv(matrix: DistanceMatrix, normalized: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", *matrix.names])
    for name, row in zip(matrix.names, _cells(matrix, normalized), strict=True):
        writer.writerow([name, *row])
    return text.getvalue()


def _table(matrix: DistanceMatrix, normalized: bool) -> str:
    from contextwise.report.many import matrix_parts
    from contextwise.report.text import as_text

    parts = matrix_parts(matrix, names=short_names(matrix.names), normalized=normalized)
    return as_text(parts) + "\n"
