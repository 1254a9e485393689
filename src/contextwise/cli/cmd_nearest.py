"""``contextwise nearest``: which of many models are nearest to one, exactly."""

from __future__ import annotations

import click

from contextwise.cli.inputs import load_all, model_argument, short_names
from contextwise.cli.options import record_options
from contextwise.cli.printing import print_csv, print_json
from contextwise.cli.restrictions import NOTHING_LEFT, Asked, restricting_options
from contextwise.errors import ContextwiseError

FEW = 3
"""How many neighbours are shown, unless the user says otherwise or there are fewer models."""


@click.command()
@model_argument("query")
@model_argument("models", metavar="MODEL...", nargs=-1, required=True)
@click.option(
    "-k",
    "k",
    type=click.IntRange(min=1),
    help=f"How many of the nearest.  [default: {FEW}, or all if there are fewer]",
)
@restricting_options
@record_options("one row per neighbour")
def nearest(
    query: str,
    models: tuple[str, ...],
    k: int | None,
    asked: Asked,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Say which of the MODELs are nearest to the QUERY, with their exact distances.

    A distance is not counted to the end only where proven bounds say that it cannot change the
    answer; the answer says how many were. Of models at equal distance the first stays.

    \b
    Examples:
      contextwise nearest true.mn learned/*.mn
      contextwise nearest true.mn learned/*.mn -k 10 --csv
      contextwise nearest true.mn learned/*.mn --variables smoker,cough,age
    """
    from contextwise.comparison.confusion import ratio
    from contextwise.comparison.neighbours import nearest as nearest_models
    from contextwise.report.many import neighbours_parts
    from contextwise.report.notes import BY_POSITION
    from contextwise.report.text import as_text

    first, *others = load_all([query, *models], format=asked.format_name)
    found = nearest_models(
        first,
        others,
        min(FEW, len(others)) if k is None else k,
        show_progress=True,
        **asked.of(first.domain),
    )
    if not found.total:
        raise ContextwiseError(NOTHING_LEFT)
    records = [
        {"model": models[place], "distance": apart, "normalized": ratio(apart, found.total)}
        for place, apart in zip(found.places, found.distances, strict=True)
    ]
    if as_json:
        about = {"assertions": found.total, "compared": found.compared, "of": found.of}
        position = {"by_position": asked.by_position}
        print_json({"query": query, "nearest": records, **about, **position})
    elif as_csv:
        print_csv(records, ["model", "distance", "normalized"])
    else:
        click.echo(as_text(neighbours_parts(found, short_names(models))))
        if asked.by_position:
            click.echo(BY_POSITION)
