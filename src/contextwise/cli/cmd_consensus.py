"""``contextwise consensus``: a structure that many models agree on."""

from __future__ import annotations

import click

from contextwise.cli.inputs import load_all, model_argument
from contextwise.cli.options import record_options, time_limit_option, top_option
from contextwise.cli.printing import print_csv, print_json
from contextwise.cli.restrictions import NOTHING_LEFT, Asked, restricting_options
from contextwise.errors import ContextwiseError

HEADER = ("first", "second", "dependent", "when", "throughout", "somewhere", "of")


@click.command()
@model_argument("models", metavar="MODEL...", nargs=-1, required=True)
@click.option("--out", type=click.Path(), help="Write the structure to this model file.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="Which share of the models a dependence needs.",
)
@top_option("How many pairs to show, those with the widest dependence first.")
@record_options("one row per region of a pair")
@restricting_options
@time_limit_option("Stop improving after so long; the sum is exact all the same.")
def consensus(
    models: tuple[str, ...],
    out: str | None,
    threshold: float,
    top: int,
    as_json: bool,
    as_csv: bool,
    asked: Asked,
    time_limit: float | None,
) -> None:
    """Find a structure that is as near to all MODELs as features can express.

    It begins with the most typical of the models, and with the features that enough of them share,
    and adds or removes features while the sum of the distances falls. No structure at all has a
    smaller sum than the bound that is shown beside it.

    \b
    Examples:
      contextwise consensus runs/*.mn --out consensus.json
      contextwise consensus runs/*.mn --threshold 0.8 --csv > supports.csv
    """
    from contextwise import formats
    from contextwise.evaluation import consensus as find_consensus

    if out is not None:
        formats.check_target(out)
    given = load_all(models, format=asked.format_name)
    found = find_consensus(
        given,
        threshold=threshold,
        time_limit=time_limit,
        show_progress=True,
        **asked.of(given[0].domain),
    )
    if not found.total:
        raise ContextwiseError(NOTHING_LEFT)
    if out is not None:
        formats.write(found.structure, out)
    if as_csv:
        print_csv((support.record() for support in found.widest_supports()), HEADER)
    elif as_json:
        supports = [support.record() for support in found.widest_supports()]
        print_json({**found.record(), "supports": supports})
    else:
        click.echo("\n".join([*found.lines(), *map(str, found.widest_supports(top))]))
