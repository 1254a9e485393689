"""``contextwise analyse``, ``groups`` and ``study``: learn, and say what the result shows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import contextwise as cw
from contextwise.cli import commands, options, printing
from contextwise.cli.cmd_learn import learner_option
from contextwise.cli.inputs import load_data
from contextwise.data.options import FLAGS
from contextwise.errors import ContextwiseError

if TYPE_CHECKING:
    from contextwise.data.options import RowOptions
    from contextwise.learning.base import Learner


@commands.command()
@options.data
@options.path(
    "--out",
    metavar="NAME",
    help="Write NAME.html and NAME.json.  [default: the name of the file]",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.option(
    "--outcome", metavar="NAME", help="The variable in question; rows without it are dropped."
)
@options.share("--level", default=0.05, help="Level of the tests, after Holm's correction.")
@learner_option()
@click.option(
    "--by", metavar="COLUMN", multiple=True, help="Compare the groups of this column; repeatable."
)
@options.number(
    "--resamples",
    default=100,
    least=0,
    help="Most random halves to learn from again, for 10 to 30 seconds; 0 for none.",
)
@options.number(
    "--smallest-count",
    default=0,
    least=0,
    help="On the page, hide what reveals groups of fewer rows.",
)
@options.path("--tables", metavar="FOLDER", help="Write the tables of the page here as CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON; write no page.")
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
    learner: Learner,
    seed: int,
    as_json: bool,
    tables: str | None,
    row_options: RowOptions,
    **keywords: Any,
) -> None:
    """Find out which variables of DATA go together, where, how strongly and how surely.

    The command tests each pair of variables given all others, on all rows, and asks whether the
    association is the same in all states of each third variable. Then it learns a structure. It
    writes a page to show to others, and the model with its evidence. Columns that need a decision
    are read as contextwise info advises; the page lists the decisions with the options that change
    them.

    Exit codes: 0 done, 2 error, 3 if the time limit left something out.

    \b
    Examples:
      contextwise analyse survey.csv
      contextwise analyse survey.csv --outcome vote --by country --out vote
      contextwise analyse visits.csv --subject patient --bins age=3 --missing state
      contextwise analyse survey.csv --row-weights weight --ordered 'trust=low|mid|high'
    """
    stem = Path(data).name.split(".")[0] if out is None else out
    if os.path.isdir(stem):
        raise ContextwiseError(f"{stem} is a folder; name the files, as in --out {stem}/survey")
    page, model = (f"{stem.removesuffix('.html')}{suffix}" for suffix in (".html", ".json"))
    for path in () if as_json else (page, model):
        if os.path.exists(path) and not force:
            raise ContextwiseError(f"{path} exists; overwrite it with --force, or name --out NAME")
        cw.support.files.check_target(path)
    reading = {field: getattr(row_options, field) for field in FLAGS}
    reading = {field: value for field, value in reading.items() if value not in (None, ())}
    result = cw.analyse(
        data,
        learner=learner,
        seed=seed,
        show_progress=True,
        **keywords,
        **reading,
    )
    if as_json:
        printing.print_json(result.document())
    else:
        cw.formats.write(result.structure, model)
        result.to_html(page, command=options.command_line(ctx), model=model)
        if tables is not None:
            result.to_csv(tables)
        click.echo(result)
        click.echo(f"\nPage: {page}   Structure: {model}{f'   Tables: {tables}' if tables else ''}")
    if result.unfinished:
        ctx.exit(3)


@commands.command()
@options.data
@click.option(
    "--by",
    metavar="COLUMN",
    multiple=True,
    required=True,
    help="Column of the groups; repeatable, then each column is tested.",
)
@options.positive("--margin", default=2, help="Odds ratios within this factor are about the same.")
@options.share("--level", default=0.05, help="Level of the tests.")
@learner_option()
@options.picture("Draw the odds ratios of each group here, for one --by.")
@options.top()
@options.seed
@options.time_limit(help="Give up after this many seconds; all pairs must be tested.")
@options.output("json", "csv")
@options.rows
def groups(
    data: str,
    by: tuple[str, ...],
    learner: Learner,
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
    if picture is not None and len(by) > 1:
        raise click.UsageError("--picture draws one column of groups; give one --by")
    from contextwise.analysis.groups_of_rows import for_groups

    rows = load_data(data, for_groups(row_options, by))
    result = cw.groups(rows, list(by), learner, show_progress=True, **keywords)
    if picture is not None:
        cw.report.plots.save(cw.report.plots.plot_odds(result[0]), picture)
    shown = result[0] if len(result) == 1 else result
    if output == "json":
        printing.print_json(shown.document())
    elif output == "csv":
        printing.print_csv(result.records())
    else:
        printing.print_text(shown, top)


def _numbers(ctx: click.Context, param: click.Parameter, text: str) -> list[int]:
    try:
        kind = click.IntRange(1, options.LARGEST_NUMBER)
        return [kind(part, param, ctx) for part in text.split(",")]
    except click.BadParameter:
        raise click.BadParameter(f"expected numbers such as 200,1000, got {text!r}") from None


@commands.command()
@options.model("truths", nargs=-1, required=True, metavar="TRUTH...")
@click.option(
    "--learners",
    default="",
    metavar="NAME,...",
    callback=lambda _ctx, _param, text: [part.strip() for part in text.split(",") if part],
    help="Learners, as in pair-blocks,trees:penalty=5,mylib:Mine; contextwise learn --help.",
)
@options.option(
    "--rows", default="200,1000", metavar="N,...", callback=_numbers, help="Rows of a data set."
)
@options.number("--repeats", default=5, help="Number of data sets per truth and number of rows.")
@options.by_values
@options.number(
    "--planted",
    default=0,
    least=0,
    help="Also guess N structures with planted false positives, and N with false negatives.",
)
@click.option("--kl", is_flag=True, help="Add KL, CMLL and the log-likelihood of new rows.")
@options.number("--weight-sets", default=1, help="Sets of random weights of each truth.")
@options.at
@click.option("--keep-models", is_flag=True, help="Keep every learned model, in FOLDER/models.")
@options.path("--out", required=True, metavar="FOLDER", help="Write the results to this folder.")
@options.seed
@options.time_limit(help="Limit for each learner and data set.")
@options.parallel
@options.output("json", "csv")
@click.pass_context
def study(
    ctx: click.Context,
    /,
    truths: tuple[str, ...],
    learners: list[str],
    kl: bool,
    out: str,
    output: str,
    **settings: Any,
) -> None:
    """Compare learners on rows drawn from models whose structure is known.

    A TRUTH is a model file, or a name that contextwise info lists, such as six, random-10 or
    bnlearn-asia (#K after a name selects its set of weights). A structure without weights gets
    strong random ones. Every learner gets the same rows; the distance is that of contextwise
    compare.

    The folder gets results.csv, study.html, study.png, and study.json with the command, the seed,
    parameters and versions. Repeat the command to resume an interrupted study, or to add truths,
    learners, rows and repeats. Equal commands give equal results, whatever the number of processes.
    The results of a changed learner are computed again, with a message.

    Exit codes: 0 done, 2 error, such as no learner that finished.

    \b
    Examples:
      contextwise study lung six --learners chow-liu,mpl --out runs/small
      contextwise study six --planted 100 --weight-sets 3 --kl --out runs/kl
      contextwise study paper bnlearn-asia true.bif --learners trees:penalty=5,csgs \\
        --rows 200,1000,5000 --out runs/mine --jobs 2 --time-limit 60
    """
    if not learners and not settings["planted"]:
        raise click.UsageError("name guesses: --learners NAME,... or --planted N")
    how = {"out": out, "command": options.command_line(ctx), "show_progress": True, **settings}
    if kl:
        how["columns"] = [cw.studies.kl.Divergence()]
    with printing.resumable(out):
        result = cw.study(list(truths), learners, **how)
    if output == "text":
        click.echo(result)
        click.echo(f"page, figure and results are in {out}", err=True)
    elif output == "csv":
        printing.print_csv(result.results)
    else:
        printing.print_json(result.results)
