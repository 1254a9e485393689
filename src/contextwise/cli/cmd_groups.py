"""``contextwise groups``: compare the associations of groups of rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

import contextwise as cw
from contextwise.cli import options
from contextwise.cli.cmd_learn import learner_options, make_learner
from contextwise.cli.inputs import load_data

if TYPE_CHECKING:
    from contextwise.data.options import RowOptions


@options.command()
@options.data
@click.option(
    "--by",
    metavar="COLUMN",
    multiple=True,
    required=True,
    help="Column of the groups; repeatable, then each column is tested.",
)
@options.positive("--margin", default=2, help="Odds ratios within this factor are about the same.")
@options.share("--alpha", default=0.05, help="Level of the tests.")
@learner_options()
@options.path("--picture", help="Draw the odds ratios of each group here, for one --by.")
@options.top()
@options.seed
@options.time_limit(help="Give up after this many seconds; all pairs must be tested.")
@options.output("json", "csv")
@options.rows
def groups(
    data: str,
    by: tuple[str, ...],
    learner: str,
    parameters: tuple[str, ...],
    picture: str | None,
    top: int,
    output: str,
    row_options: RowOptions,
    **keywords: Any,
) -> None:
    """Test for each pair of variables whether its association is the same in all groups.

    DATA is a file as for contextwise learn. Each pair gets one of three verdicts: differs, about
    the same on average, or undecided, with the odds ratio of each group and where it differs.
    What connects the two variables is held fixed; the learner finds what that is.

    \b
    Examples:
      contextwise groups survey.csv --by country
      contextwise groups survey.csv --by sex --picture odds.pdf
      contextwise groups survey.csv --by sex --by region
      contextwise groups visits.csv --by visit --subject patient
      contextwise groups counts.csv --by year --counts n
    """
    if picture is not None:
        if len(by) > 1:
            raise click.UsageError("--picture draws one column of groups; give one --by")
        options.check_out(picture, [".png", ".svg", ".pdf"])
    configured = make_learner(learner, parameters)
    from contextwise.evaluation.groups import read_grouped

    rows = read_grouped(partial(load_data, data), row_options, by)
    result = cw.groups(rows, list(by), configured, show_progress=True, **keywords)
    if picture is not None:
        cw.report.plots.save(cw.report.plots.plot_odds(result[0]), picture)
    shown = result[0] if len(result) == 1 else result
    if output == "json":
        options.print_json(shown.document())
    elif output == "csv":
        options.print_csv(result.records())
    else:
        options.print_text(shown, top)
