"""``contextwise consensus``: find a structure that many models agree on."""

from __future__ import annotations

from typing import Any

import click

from contextwise.cli import options
from contextwise.cli.inputs import load_all
from contextwise.errors import ContextwiseError

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
    from contextwise import formats
    from contextwise.evaluation import consensus as find_consensus

    if out is not None:
        formats.check_target(out)
    loaded = load_all(models, *reading)
    result = find_consensus(loaded, show_progress=True, **keywords)
    if not result.total:
        raise ContextwiseError(options.NOTHING_LEFT)
    if out is not None:
        formats.write(result.structure, out)
    if output == "text":
        from contextwise.report.evaluations import consensus_parts
        from contextwise.report.text import as_text

        click.echo(as_text(consensus_parts(result, result.widest_supports(top))))
    elif output == "csv":
        options.print_csv(result.records(), HEADER)
    else:
        options.print_json({**result.record(), "supports": result.records()})
    if not result.is_local_optimum:
        ctx.exit(3)
