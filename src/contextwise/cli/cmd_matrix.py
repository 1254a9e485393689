"""``contextwise matrix``: pairwise distances of many models, and the models nearest to one."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from contextwise.cli.inputs import load_all, short_names
from contextwise.cli.options import (
    NOTHING_LEFT,
    Scope,
    SectionedCommand,
    cluster_option,
    complete_model,
    csv_option,
    engine_option,
    jobs_option,
    json_option,
    model_argument,
    refuse_alone,
    refuse_two_outputs,
    scope_options,
    seed_option,
    time_limit_option,
    top_option,
    typed_flags,
)
from contextwise.cli.printing import check_out, resumable
from contextwise.errors import ContextwiseError
from contextwise.support.records import as_csv as csv_of
from contextwise.support.records import as_json as json_of

if TYPE_CHECKING:
    from contextwise.comparison.matrix import DistanceMatrix
    from contextwise.comparison.sketch import EstimatedMatrix

ONLY_EXACT = ("engine", "jobs", "cluster", "store", "time_limit")
ONLY_MATRIX = (*ONLY_EXACT, "normalized", "approximate", "assertions", "seed")


@click.command(cls=SectionedCommand)
@model_argument("models", metavar="MODEL...", nargs=-1, required=True)
@click.option(
    "--nearest",
    "query",
    metavar="MODEL",
    shell_complete=complete_model,
    help="List only the models nearest to this one.",
)
@top_option(3, least=1)
@click.option("--out", type=click.Path(), help="Write to this .csv or .json file.")
@click.option("--normalized", is_flag=True, help="Show distances as shares of all assertions.")
@json_option
@csv_option
@jobs_option
@cluster_option
@engine_option
@click.option(
    "--store",
    type=click.Path(),
    metavar="FOLDER",
    help="Keep finished blocks here; an interrupted run resumes.",
)
@click.option("--approximate", is_flag=True, help="Estimate by sampling, for thousands of models.")
@click.option(
    "--assertions",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --approximate: number of random assertions.  [default: 262144]",
)
@seed_option
@time_limit_option()
@scope_options
@click.pass_context
def matrix(
    ctx: click.Context,
    models: tuple[str, ...],
    query: str | None,
    top: int,
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
    time_limit: float | None,
    scope: Scope,
) -> None:
    """Compute the matrix of pairwise distances of the MODELs.

    With --nearest, list only the models nearest to one model, with their exact distances. Models
    that proven bounds rule out are not counted to the end.

    With --approximate, estimate normalized distances from random assertions, with a bound on the
    error.

    Exit codes: 0 done, 2 error, 3 if a time limit left distances unfinished.

    \b
    Examples:
      contextwise matrix first.mn second.mn third.mn
      contextwise matrix *.mn --normalized --out distances.csv
      contextwise matrix *.mn --store runs/matrix --jobs -1 --out distances.csv
      contextwise matrix *.mn --approximate --csv > estimates.csv
      contextwise matrix learned/*.mn --nearest true.mn --top 10
    """
    refuse_two_outputs(as_json=as_json, as_csv=as_csv)
    refuse_alone(ctx, ("top",), "query")
    refuse_alone(ctx, ("assertions", "seed"), "approximate")
    conflicts = ONLY_EXACT if approximate else ONLY_MATRIX if query is not None else ()
    for flag in typed_flags(ctx, conflicts):
        mode = "--approximate" if approximate else "--nearest"
        raise click.UsageError(f"{flag} has no effect with {mode}; leave one of them out")
    if out is not None:
        check_out(out, [".csv", ".json"])
        as_json = as_json or (out.lower().endswith(".json") and not as_csv)
        as_csv = not as_json
    if query is not None:
        _show(_nearest(query, models, typed_flags(ctx, ["top"]), top, scope, as_json, as_csv), out)
        return
    from contextwise.comparison.matrix import distance_matrix
    from contextwise.counting import DEFAULT

    loaded = load_all(models, format=scope.format_name)
    options: dict[str, Any] = {
        "names": models,
        "show_progress": True,
        **scope.keywords(loaded[0].domain),
    }
    if approximate:
        estimates = distance_matrix(loaded, approximate=assertions or True, rng=seed, **options)
        _show_estimates(estimates, seed, out, as_csv, as_json)
        return
    with resumable(store):
        distances = distance_matrix(
            loaded,
            store=store,
            engine=engine or DEFAULT,
            n_jobs=jobs,
            cluster=cluster,
            time_limit=time_limit,
            **options,
        )
    if not distances.total:
        raise ContextwiseError(NOTHING_LEFT)
    if as_json:
        text = _json(distances)
    elif as_csv:
        text = _csv(distances.names, _cells(distances, normalized))
    else:
        text = _table(distances, normalized)
    _show(text, out)
    if as_csv or as_json:
        from contextwise.report.notes import matrix_ganak_notes

        for note in matrix_ganak_notes(distances):
            click.echo(f"contextwise: {note.text}", err=True)
    if distances.open:
        click.echo(f"contextwise: {distances.open} distances are unfinished", err=True)
        ctx.exit(3)


def _show(text: str, out: str | None) -> None:
    from contextwise.support.files import write_bytes

    if out is None:
        click.echo(text, nl=False)
    else:
        write_bytes(out, text.encode())


def _nearest(
    query: str,
    models: Sequence[str],
    typed_top: list[str],
    top: int,
    scope: Scope,
    as_json: bool,
    as_csv: bool,
) -> str:
    from contextwise.comparison.confusion import ratio
    from contextwise.comparison.neighbours import nearest
    from contextwise.report.many import neighbours_parts
    from contextwise.report.notes import BY_POSITION
    from contextwise.report.text import as_text

    true, *others = load_all([query, *models], format=scope.format_name)
    count = top if typed_top else min(top, len(others))
    neighbours = nearest(true, others, count, show_progress=True, **scope.keywords(true.domain))
    if not neighbours.total:
        raise ContextwiseError(NOTHING_LEFT)
    by_position = scope.align == "position"
    records = [
        {
            "model": models[place],
            "distance": distance,
            "normalized": ratio(distance, neighbours.total),
        }
        for place, distance in zip(neighbours.places, neighbours.distances, strict=True)
    ]
    if as_json:
        record = {
            "query": query,
            "nearest": records,
            "assertions": neighbours.total,
            "compared": neighbours.compared,
            "of": neighbours.of,
            "by_position": by_position,
        }
        return json_of(record) + "\n"
    if as_csv:
        return csv_of(records, ["model", "distance", "normalized"])
    text = as_text(neighbours_parts(neighbours, short_names(models))) + "\n"
    return f"{text}{BY_POSITION}\n" if by_position else text


def _show_estimates(
    matrix: EstimatedMatrix, seed: int, out: str | None, as_csv: bool, as_json: bool
) -> None:
    from contextwise.report.many import estimate_words, estimated_parts
    from contextwise.report.text import as_text

    if as_json:
        _show(_estimates_json(matrix, seed), out)
    elif as_csv:
        _show(_csv(matrix.names, matrix.normalized.tolist()), out)
        click.echo(f"contextwise: {estimate_words(matrix)}", err=True)
    else:
        click.echo(as_text(estimated_parts(matrix, names=short_names(matrix.names))))


def _estimates_json(matrix: EstimatedMatrix, seed: int) -> str:
    from contextwise.comparison.sketch import CONFIDENCE

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
    return json_of(record) + "\n"


def _cells(matrix: DistanceMatrix, normalized: bool) -> list[list[Any]]:
    """Return the distances or their shares; an unfinished one is the list of its two bounds."""
    from contextwise.report.many import matrix_cells
    from contextwise.report.parts import Interval

    return [
        [[cell.low, cell.high] if isinstance(cell, Interval) else cell for cell in row]
        for row in matrix_cells(matrix, normalized=normalized)
    ]


def _json(matrix: DistanceMatrix) -> str:
    record = {
        "models": matrix.names,
        "assertions": matrix.total,
        "distances": _cells(matrix, False),
        "normalized": _cells(matrix, True),
        "open": matrix.open,
        "by_position": matrix.by_position,
        "rests_on_ganak": matrix.rests_on_ganak,
    }
    return json_of(record) + "\n"


def _csv(names: Sequence[str], cells: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", *names])
    for name, row in zip(names, cells, strict=True):
        written = (
            " to ".join(map(str, cell)) if isinstance(cell, list) else str(cell) for cell in row
        )
        writer.writerow([name, *written])
    return text.getvalue()


def _table(matrix: DistanceMatrix, normalized: bool) -> str:
    from contextwise.report.many import matrix_parts
    from contextwise.report.text import as_text

    parts = matrix_parts(matrix, names=short_names(matrix.names), normalized=normalized)
    return as_text(parts) + "\n"
