"""``contextwise matrix``: the distance of each two models."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from contextwise.cli.inputs import load_all, model_argument, short_names
from contextwise.cli.options import (
    cluster_option,
    engine_option,
    jobs_option,
    record_options,
    refuse_alone,
    seed_option,
    time_limit_option,
)
from contextwise.cli.printing import check_out, kept_in
from contextwise.cli.restrictions import (
    NOTHING_LEFT,
    Asked,
    restricting_options,
)
from contextwise.errors import ContextwiseError

if TYPE_CHECKING:
    from contextwise.comparison.matrix import DistanceMatrix
    from contextwise.comparison.sketch import EstimatedMatrix


@click.command()
@model_argument("models", metavar="MODEL...", nargs=-1, required=True)
@click.option(
    "--out", type=click.Path(), help="Write to this file: CSV, or JSON if it is a .json file."
)
@click.option("--normalized", is_flag=True, help="Distances as shares of all assertions.")
@record_options("one row and one column per model")
@jobs_option("How many processes; 1 counts here, on all cores, and -1 is one per core.")
@cluster_option
@engine_option
@click.option(
    "--store",
    type=click.Path(),
    metavar="FOLDER",
    help="Count in blocks that are kept here: the same command goes on after a stop.",
)
@click.option("--approximate", is_flag=True, help="Estimate, by sampling: for thousands of models.")
@click.option(
    "--assertions",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --approximate: how many random assertions.  [default: 262144]",
)
@seed_option
@restricting_options
@time_limit_option("Stop after so long; distances that are not known then have bounds.")
@click.pass_context
def matrix(
    ctx: click.Context,
    models: tuple[str, ...],
    out: str | None,
    normalized: bool,
    as_csv: bool,
    as_json: bool,
    jobs: int,
    cluster: str | None,
    engine: str | None,
    store: str | None,
    approximate: bool,
    assertions: int | None,
    seed: int,
    asked: Asked,
    time_limit: float | None,
) -> None:
    """Say how far each two of the MODELs are from each other, exactly.

    Each model's own counts are made once, and equal ones of whatever models are shared. The
    matrix is symmetric, so it does not matter which model is the true one.

    With --approximate the numbers are estimated shares of all assertions, and the answer says how
    far off they may be: all models are asked the same random assertions.

    \b
    Examples:
      contextwise matrix first.mn second.mn third.mn
      contextwise matrix *.mn --out distances.csv
      contextwise matrix *.mn --normalized --jobs 4
      contextwise matrix *.mn --store runs/matrix --jobs -1 --out distances.csv
      contextwise matrix six six-graph six-guess --json | jq .distances
      contextwise matrix *.mn --approximate --csv > estimates.csv
    """
    refuse_alone(ctx, ("assertions", "seed"), "approximate")
    if approximate and (engine or cluster or jobs != 1 or store or time_limit is not None):
        raise click.UsageError(
            "--approximate takes none of --engine, --jobs, --cluster, --store, --time-limit"
        )
    from contextwise.comparison.matrix import distance_matrix
    from contextwise.counting import DEFAULT

    if out is not None:
        check_out(out, [".csv", ".json"])
        as_json = as_json or (out.lower().endswith(".json") and not as_csv)
    given = load_all(models, format=asked.format_name)
    if approximate:
        estimated = distance_matrix(
            given,
            names=models,
            approximate=assertions or True,
            rng=seed,
            show_progress=True,
            **asked.of(given[0].domain),
        )
        _show_estimates(estimated, seed, out, as_csv, as_json)
        return
    with kept_in(store):
        found = distance_matrix(
            given,
            names=models,
            store=store,
            engine=engine or DEFAULT,
            n_jobs=jobs,
            cluster=cluster,
            show_progress=True,
            time_limit=time_limit,
            **asked.of(given[0].domain),
        )
    if not found.total:
        raise ContextwiseError(NOTHING_LEFT)
    if as_json:
        text = _json(found)
    elif as_csv or out is not None:
        text = _csv(found.names, _cells(found, normalized))
    else:
        text = _table(found, normalized)
    _show(text, out)
    if as_csv or as_json or out is not None:
        _say_ganak(found)
    if found.open:
        click.echo(f"contextwise: {found.open} distances were not decided in time", err=True)
        ctx.exit(3)


def _say_ganak(found: DistanceMatrix) -> None:
    """Say on standard error what the table would say, so that rows stay rows."""
    from contextwise.report.notes import matrix_ganak_notes

    for note in matrix_ganak_notes(found):
        click.echo(f"contextwise: {note.text}", err=True)


def _show(text: str, out: str | None) -> None:
    from contextwise.support.files import write_bytes

    if out is None:
        click.echo(text, nl=False)
    else:
        write_bytes(out, text.encode())


def _show_estimates(
    matrix: EstimatedMatrix, seed: int, out: str | None, as_csv: bool, as_json: bool
) -> None:
    from contextwise.report.many import estimate_words, estimated_parts
    from contextwise.report.text import as_text

    if as_json:
        _show(_estimates_json(matrix, seed), out)
    elif as_csv or out is not None:
        _show(_csv(matrix.names, matrix.normalized.tolist()), out)
        click.echo(f"contextwise: {estimate_words(matrix)}", err=True)
    else:
        click.echo(as_text(estimated_parts(matrix, names=short_names(matrix.names))))


def _estimates_json(matrix: EstimatedMatrix, seed: int) -> str:
    from contextwise.comparison.sketch import CONFIDENCE
    from contextwise.support.records import as_json

    low, high = matrix.interval()
    record = {
        "models": matrix.names,
        "estimated": True,
        "sampled_assertions": matrix.assertions,
        "seed": seed,
        "normalized": matrix.normalized,
        "low": low,
        "high": high,
        "confidence": CONFIDENCE,
        "by_position": matrix.by_position,
    }
    return as_json(record) + "\n"


def _cells(matrix: DistanceMatrix, normalized: bool) -> list[list[Any]]:
    """The distances or their shares; one that is open is the two numbers it lies between."""
    from contextwise.report.many import matrix_cells
    from contextwise.report.parts import Interval

    return [
        [[cell.low, cell.high] if isinstance(cell, Interval) else cell for cell in row]
        for row in matrix_cells(matrix, normalized=normalized)
    ]


def _json(matrix: DistanceMatrix) -> str:
    from contextwise.support.records import as_json

    record = {
        "models": matrix.names,
        "assertions": matrix.total,
        "distances": _cells(matrix, False),
        "normalized": _cells(matrix, True),
        "open": matrix.open,
        "by_position": matrix.by_position,
        "rests_on_ganak": matrix.rests_on_ganak,
    }
    return as_json(record) + "\n"


def _csv(names: Sequence[str], cells: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", *names])
    for name, row in zip(names, cells, strict=True):
        writer.writerow([name, *(_between(cell, str) for cell in row)])
    return text.getvalue()


def _between(cell: Any, written: Callable[[Any], str]) -> str:
    return " to ".join(map(written, cell)) if isinstance(cell, list) else written(cell)


def _table(matrix: DistanceMatrix, normalized: bool) -> str:
    from contextwise.report.many import matrix_parts
    from contextwise.report.text import as_text

    parts = matrix_parts(matrix, names=short_names(matrix.names), normalized=normalized)
    return as_text(parts) + "\n"
