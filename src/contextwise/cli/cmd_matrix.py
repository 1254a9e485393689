"""``contextwise matrix`` and ``consensus``: compare many models with each other."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

import contextwise as cw
from contextwise.cli import options
from contextwise.cli.inputs import (
    first_model,
    holds_ensembles,
    load_all,
    load_guesses,
    short_names,
    time_left,
)
from contextwise.errors import ContextwiseError
from contextwise.support.files import write_bytes
from contextwise.support.formatting import as_csv, as_json

if TYPE_CHECKING:
    from contextwise.comparison.estimate import EstimatedMatrix
    from contextwise.comparison.matrix import DistanceMatrix
    from contextwise.models.structure import Model

ONLY_EXACT = ("engine", "n_jobs", "cluster", "store", "time_limit")
ONLY_MATRIX = (*ONLY_EXACT, "normalized", "approximate", "assertions", "rng")


@click.command(cls=options.SectionedCommand)
@options.model("models", metavar="MODEL...", nargs=-1, required=True)
@options.model_option("--nearest", "query", help="List only the models nearest to this one.")
@options.top(default=3, least=1)
@options.path("--out", help="Write to this .csv or .json file.")
@click.option("--normalized", is_flag=True, help="With --csv: print normalized distances.")
@options.output("json", "csv")
@options.parallel
@options.engine
@options.path(
    "--store", metavar="FOLDER", help="Keep finished blocks here; an interrupted run resumes."
)
@options.probabilities
@click.option("--approximate", is_flag=True, help="Estimate by sampling, for thousands of models.")
@options.number(
    "--assertions", help="With --approximate: number of random assertions.  [default: 262144]"
)
@options.seed
@options.time_limit()
@options.scope
@click.pass_context
def matrix(
    ctx: click.Context,
    /,
    models: tuple[str, ...],
    query: str | None,
    top: int,
    out: str | None,
    normalized: bool,
    output: str,
    approximate: bool,
    assertions: int | None,
    rng: int,
    probabilities: bool,
    scope: options.Scope,
    **counting: Any,
) -> None:
    """Compute the matrix of pairwise distances of the MODELs.

    The table shows normalized distances, the shares of all assertions that differ. --csv and --json
    print the exact distances.

    With --nearest, list only the models nearest to one model, with their exact distances. Models
    that proven bounds rule out are not counted to the end.

    A MODEL can be an ensemble, as for contextwise score. The distance of two ensembles is the sum
    of the squared differences of their probabilities, over all assertions.

    With --approximate, estimate normalized distances from random assertions, with a bound on the
    error.

    Exit codes: 0 done, 2 error, 3 if a time limit left distances unfinished.

    \b
    Examples:
      contextwise matrix first.mn second.mn third.mn
      contextwise matrix *.mn --store runs/matrix --jobs -1 --out distances.csv
      contextwise matrix *.mn --approximate --csv > estimates.csv
      contextwise matrix learned/*.mn --nearest true.mn --top 10
    """
    options.refuse_alone(ctx, ("top",), "query")
    options.refuse_alone(ctx, ("assertions", "rng"), "approximate")
    conflicts = ONLY_MATRIX if query is not None else ONLY_EXACT if approximate else ()
    for flag in options.typed_flags(ctx, conflicts):
        mode = "--approximate" if query is None else "--nearest"
        raise click.UsageError(f"{flag} has no effect with {mode}; leave one of them out")
    if out is not None:
        suffix = options.check_out(out, [".csv", ".json"])
        output = suffix[1:] if output == "text" else output
    if holds_ensembles(models, probabilities):
        refused = [*ONLY_MATRIX, "query"] if approximate or query else ["engine", "store", "query"]
        for flag in options.typed_flags(ctx, refused):
            raise click.UsageError(f"{flag} is not for ensembles; leave it out")
        guesses = load_guesses(models, scope.format_name, probabilities)
        between = cw.evaluation.ensemble_matrix(
            dict(zip(models, guesses, strict=True)),
            show_progress=True,
            **{key: counting[key] for key in ("n_jobs", "cluster", "time_limit")},
            **scope.keywords(first_model(guesses)),
        )
        _print(_matrix(between, normalized, rng, output)[0], out)
        return
    names = models if query is None else (*models, query)
    loaded = load_all(names, format=scope.format_name, by_values=scope.by_values)
    keywords: dict[str, Any] = {"show_progress": True, **scope.keywords(loaded[0])}
    note, unfinished = "", 0
    if query is not None:
        count = top if options.typed_flags(ctx, ["top"]) else min(top, len(models))
        text = _nearest(query, models, loaded, count, output, keywords)
    elif approximate:
        keywords |= {
            "names": models,
            "assertions": assertions or cw.comparison.estimate.ASSERTIONS,
            "rng": rng,
        }
        text, note = _matrix(
            cw.comparison.estimate.estimate_matrix(loaded, **keywords), normalized, rng, output
        )
    else:
        counting["time_limit"] = time_left()
        with options.resumable(counting["store"]):
            distances = cw.distance_matrix(loaded, names=models, **counting, **keywords)
        if not distances.total:
            raise ContextwiseError(options.NOTHING_LEFT)
        text, note = _matrix(distances, normalized, rng, output)
        unfinished = distances.open_distances
    _print(text, out)
    if note:
        click.echo(f"contextwise: {note}", err=True)
    if unfinished:
        click.echo(f"contextwise: {unfinished} distances are unfinished", err=True)
        ctx.exit(3)


def _print(text: str, out: str | None) -> None:
    if out is None:
        click.echo(text, nl=False)
    else:
        write_bytes(out, text.encode())


def _nearest(
    query: str,
    models: Sequence[str],
    loaded: Sequence[Model],
    count: int,
    output: str,
    keywords: dict[str, Any],
) -> str:
    neighbours = cw.comparison.neighbours.nearest(loaded[-1], loaded[:-1], count, **keywords)
    if not neighbours.total:
        raise ContextwiseError(options.NOTHING_LEFT)
    by_position = keywords["align"] == "position"
    records = [
        {
            "model": models[place],
            "distance": distance,
            "normalized": cw.comparison.confusion.ratio(distance, neighbours.total),
        }
        for place, distance in zip(neighbours.places, neighbours.distances, strict=True)
    ]
    if output == "json":
        record = {
            "query": query,
            "nearest": records,
            "assertions": neighbours.total,
            "compared": neighbours.compared,
            "of": neighbours.of,
            "ties": neighbours.ties,
            "by_position": by_position,
        }
        return as_json(record) + "\n"
    if output == "csv":
        return as_csv(records, ["model", "distance", "normalized"])

    text = (
        cw.report.text.as_text(
            cw.report.comparisons.neighbours_parts(neighbours, short_names(models))
        )
        + "\n"
    )
    return f"{text}{cw.report.comparisons.BY_POSITION}\n" if by_position else text


def _matrix(
    matrix: DistanceMatrix | EstimatedMatrix, normalized: bool, seed: int, output: str
) -> tuple[str, str]:
    """Return the exact or estimated distances, and a note for standard error."""
    if output == "text":
        names = short_names(matrix.names)
        return cw.report.text.as_text(
            cw.report.comparisons.matrix_parts(matrix, names=names, normalized=True)
        ) + "\n", ""
    note = "".join(note.text for note in cw.report.comparisons.matrix_notes(matrix))
    if output == "csv":
        return _csv(
            matrix.names, cw.report.comparisons.matrix_cells(matrix, normalized=normalized)
        ), note
    record: dict[str, object] = {"models": matrix.names}
    if not isinstance(matrix, cw.comparison.matrix.DistanceMatrix):
        low, high = matrix.interval()
        record |= {"estimated": True, "sampled_assertions": matrix.assertions, "seed": seed}
        record |= {"normalized": matrix.normalized, "low": low, "high": high}
        record |= {
            "confidence": cw.comparison.estimate.CONFIDENCE,
            "by_position": matrix.by_position,
        }
        return as_json(record) + "\n", ""
    record |= {
        "assertions": matrix.total,
        "distances": cw.report.comparisons.matrix_cells(matrix, normalized=False),
        "normalized": cw.report.comparisons.matrix_cells(matrix, normalized=True),
        "open": matrix.open_distances,
        "by_position": matrix.by_position,
        "rests_on_ganak": matrix.rests_on_ganak,
    }
    return as_json(record) + "\n", note


def _csv(names: Sequence[str], cells: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", *names])
    for name, row in zip(names, cells, strict=True):
        writer.writerow([name, *map(str, row)])
    return text.getvalue()


HEADER = ("first", "second", "dependent", "when", "throughout", "somewhere", "of")


@click.command()
@options.model("models", metavar="MODEL...", nargs=-1, required=True)
@options.path("--out", help="Write the structure to this model file.")
@options.share("--threshold", default=0.5, help="Share of the models that must have a dependence.")
@options.time_limit()
@options.top()
@options.output("json", "csv")
@options.by_position
@options.reading
@click.pass_context
def consensus(
    ctx: click.Context,
    /,
    models: tuple[str, ...],
    out: str | None,
    top: int,
    output: str,
    reading: options.Reading,
    **keywords: Any,
) -> None:
    """Find a structure with a small sum of distances to all MODELs.

    The search starts from the model in the middle and from the features that enough models share.
    It adds and removes features while the sum of distances decreases. The result includes a lower
    bound that holds for every structure, and how many models support each dependence.

    Exit codes: 0 done, 2 error, 3 stopped by the time limit.

    \b
    Examples:
      contextwise consensus runs/*.mn --out consensus.json
      contextwise consensus runs/*.mn --threshold 0.8 --csv > supports.csv
    """
    if out is not None:
        cw.formats.check_target(out)
    loaded = load_all(models, *reading)
    result = cw.evaluation.consensus(loaded, show_progress=True, **keywords)
    if not result.total:
        raise ContextwiseError(options.NOTHING_LEFT)
    if out is not None:
        cw.formats.write(result.structure, out)
    if output == "text":
        options.print_text(result, top)
    elif output == "csv":
        options.print_csv(result.records(), HEADER)
    else:
        options.print_json({**result.record(), "supports": result.records()})
    if not result.is_local_optimum:
        ctx.exit(3)
