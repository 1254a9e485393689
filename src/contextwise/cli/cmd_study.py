"""``contextwise study``: compare learners on rows drawn from known truths."""

from __future__ import annotations

from typing import Any

import click

import contextwise as cw
from contextwise.cli import options


def _numbers(ctx: click.Context, param: click.Parameter, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"expected numbers such as 200,1000, got {text!r}") from None


@options.command()
@options.model("truths", nargs=-1, required=True, metavar="TRUTH...")
@click.option(
    "--learners",
    required=True,
    metavar="NAME,...",
    callback=options.split_names,
    help="Learners to compare; contextwise learn --help lists them.",
)
@options.option(
    "--rows", default="200,1000", metavar="N,...", callback=_numbers, help="Rows of a data set."
)
@options.number("--repeats", default=5, help="Number of data sets per truth and number of rows.")
@options.path("--out", required=True, metavar="FOLDER", help="Write the results to this folder.")
@options.seed
@options.not_negative(
    "--time-limit", metavar="SECONDS", help="Limit for each learner and data set."
)
@options.parallel
@options.output("json", "csv")
def study(truths: tuple[str, ...], out: str, output: str, **settings: Any) -> None:
    """Compare learners on rows drawn from models whose structure is known.

    A TRUTH is a model file, or a name that contextwise info lists, such as six, random-10 or
    bnlearn-asia (#K after a name selects its set of weights). A structure without weights gets
    strong random ones. Every learner gets the same rows; the distance is that of contextwise
    compare.

    The folder gets results.csv, study.html and study.png. Repeat the command to resume an
    interrupted study, or to add truths, learners, rows and repeats.

    \b
    Examples:
      contextwise study lung six --learners chow-liu,mpl --out runs/small
      contextwise study paper bnlearn-asia true.bif --learners trees,csgs --rows 200,1000,5000 \\
        --out runs/mine --jobs 2 --time-limit 60
    """
    with options.resumable(out):
        result = cw.study(list(truths), out=out, show_progress=True, **settings)
    if output == "text":
        click.echo(result)
        click.echo(f"page, figure and results are in {out}", err=True)
    elif output == "csv":
        options.print_csv(result.results)
    else:
        options.print_json(result.results)
