"""``contextwise consensus``: find a structure that many models agree on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from contextwise.cli.inputs import load_all
from contextwise.cli.options import (
    NOTHING_LEFT,
    by_position_option,
    csv_option,
    format_option,
    json_option,
    model_argument,
    refuse_two_outputs,
    time_limit_option,
    top_option,
    zero_weights_option,
)
from contextwise.cli.printing import print_csv, print_json
from contextwise.errors import ContextwiseError

if TYPE_CHECKING:
    from contextwise.formats import ZeroWeights
    from contextwise.models.alignment import Align

HEADER = ("first", "second", "dependent", "when", "throughout", "somewhere", "of")


@click.command()
@model_argument("models", metavar="MODEL...", nargs=-1, required=True)
@click.option("--out", type=click.Path(), help="Write the structure to this model file.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="Share of the models that must have a dependence.",
)
@time_limit_option()
@top_option()
@json_option
@csv_option
@by_position_option
@zero_weights_option
@format_option
def consensus(
    models: tuple[str, ...],
    out: str | None,
    threshold: float,
    time_limit: float | None,
    top: int,
    as_json: bool,
    as_csv: bool,
    align: Align,
    zero_weights: ZeroWeights,
    format_name: str | None,
) -> None:
    """Find a structure with a small sum of distances to all MODELs.

    The search starts from the model in the middle and from the features that enough models share.
    It adds and removes features while the sum of distances decreases. The result includes a lower
    bound that holds for every structure, and how many models support each dependence.

    \b
    Examples:
      contextwise consensus runs/*.mn --out consensus.json
      contextwise consensus runs/*.mn --threshold 0.8 --csv > supports.csv
    """
    from contextwise import formats
    from contextwise.evaluation import consensus as find_consensus

    refuse_two_outputs(as_json=as_json, as_csv=as_csv)
    if out is not None:
        formats.check_target(out)
    result = find_consensus(
        load_all(models, format=format_name, zero_weights=zero_weights),
        threshold=threshold,
        time_limit=time_limit,
        align=align,
        show_progress=True,
    )
    if not result.total:
        raise ContextwiseError(NOTHING_LEFT)
    if out is not None:
        formats.write(result.structure, out)
    if as_csv:
        print_csv((support.record() for support in result.widest_supports()), HEADER)
    elif as_json:
        supports = [support.record() for support in result.widest_supports()]
        print_json({**result.record(), "supports": supports})
    else:
        click.echo("\n".join([*result.lines(), *map(str, result.widest_supports(top))]))
