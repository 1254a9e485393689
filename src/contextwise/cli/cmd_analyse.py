"""``contextwise analyse``: from a file of rows to a page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import contextwise as cw
from contextwise.cli import options
from contextwise.cli.cmd_learn import learner_options, make_learner
from contextwise.data.options import FLAGS
from contextwise.errors import ContextwiseError

if TYPE_CHECKING:
    from contextwise.data.options import RowOptions


@options.command()
@options.data
@options.path(
    "--out",
    metavar="NAME",
    help="Write NAME.html and NAME.json.  [default: the name of the file]",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.option("--outcome", metavar="NAME", help="The variable of most interest; it comes first.")
@learner_options()
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="SHARE",
    help="Share of the rows for the tests alone.  [default: a third from 500 rows on, else 0]",
)
@click.option(
    "--by", metavar="COLUMN", multiple=True, help="Compare the groups of this column; repeatable."
)
@options.number(
    "--resamples",
    default=100,
    least=0,
    help="Most random halves to learn from again, for 30 to 90 seconds; 0 for none.",
)
@options.number(
    "--smallest-count", default=0, least=0, help="Hide groups that reveal fewer rows than this."
)
@options.seed
@options.time_limit()
@options.rows
@click.pass_context
def analyse(
    ctx: click.Context,
    /,
    data: str,
    out: str | None,
    force: bool,
    learner: str,
    parameters: tuple[str, ...],
    rng: int,
    row_options: RowOptions,
    **keywords: Any,
) -> None:
    """Find out which variables of DATA go together, where, how strongly and how surely.

    The command reads the file, learns a structure, tests each of its claims on rows that the
    learner did not see, and writes a page to show to others, and the model with its evidence.
    Columns that need a decision are read as contextwise info advises; the page lists the decisions
    with the options that change them.

    Exit codes: 0 done, 2 error, 3 if the time limit left something out.

    \b
    Examples:
      contextwise analyse survey.csv
      contextwise analyse survey.csv --outcome vote --by country --out vote
      contextwise analyse visits.csv --subject patient --bins age=3 --missing state
    """
    stem = Path(data).name.split(".")[0] if out is None else out
    page, model = (f"{stem.removesuffix('.html')}{suffix}" for suffix in (".html", ".json"))
    for path in (page, model):
        if os.path.exists(path) and not force:
            raise ContextwiseError(f"{path} exists; overwrite it with --force, or name --out NAME")
        cw.support.files.check_target(path)
    reading = {field: getattr(row_options, field) for field in FLAGS}
    reading = {field: value for field, value in reading.items() if value not in (None, ())}
    result = cw.analyse(
        data,
        learner=make_learner(learner, parameters),
        seed=rng,
        show_progress=True,
        **keywords,
        **reading,
    )
    cw.formats.write(result.model, model)
    command = options.command_line(ctx)
    html = cw.report.analysis_page.analysis_page(result, command=command, model=model)
    cw.support.files.write_bytes(page, html.encode("utf-8"))
    for line in cw.report.analysis_notes.terminal_lines(result, page, model):
        click.echo(line)
    if result.unfinished:
        ctx.exit(3)
