"""``contextwise check``: test a model's independence claims against data."""

from __future__ import annotations

from typing import Any

import click

from contextwise.cli import options
from contextwise.cli.inputs import load, load_data, only_one_from_stdin
from contextwise.errors import ContextwiseError


@click.command()
@options.model("model")
@click.argument("rows", type=click.Path())
@options.pairs
@options.variables
@options.context
@options.number(
    "--regions",
    default=3,
    help="Per pair, test at most this many independent and as many dependent regions.",
)
@options.share("--alpha", default=0.05, help="False discovery rate.")
@options.number(
    "--draws",
    default=1_000_000,
    help="Largest number of random tables per claim, if the exact p-value is too costly.",
)
@click.option(
    "--overall",
    is_flag=True,
    help="Also test the structure as a whole, by simulating data sets from it. This takes long.",
)
@options.number("--simulations", default=199, help="With --overall: number of data sets.")
@options.time_limit()
@options.seed
@options.parallel
@options.top()
@options.output("json", "csv")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if the rows contradict the model.")
@options.reading
@click.pass_context
def check(
    ctx: click.Context,
    /,
    model: str,
    rows: str,
    overall: bool,
    simulations: int,
    top: int,
    output: str,
    exit_code: bool,
    reading: options.Reading,
    **keywords: Any,
) -> None:
    """Test the independence claims of MODEL against the ROWS of a CSV file.

    A claim says that a pair of variables is independent, or dependent, in a region of contexts.
    Each claimed independence is tested by a conditional G² test with an exact null distribution.
    Claimed dependencies are tested in the same way; a small p-value confirms them. The rows must
    be independent observations, and must not be the rows that the model was learned from.

    Exit codes: 0 done, 1 contradicted (only with --exit-code), 2 error, 3 stopped by the time
    limit.

    \b
    Examples:
      contextwise check learned.mn test.csv
      contextwise check learned.mn test.csv --pairs smoker,cough --context "age=old"
      contextwise check learned.mn test.csv --overall --jobs -1 --time-limit 600
      contextwise check learned.mn test.csv --csv > claims.csv
    """
    options.refuse_alone(ctx, ("simulations",), "overall")
    only_one_from_stdin([model, rows])
    from contextwise.evaluation import check as check_model

    loaded = load(model, *reading)
    data = load_data(rows, loaded.domain)
    keywords["overall"] = simulations if overall else 0
    result = check_model(loaded, data, show_progress=True, **keywords)
    if not result.pairs:
        raise ContextwiseError("there is nothing to check: no pair of variables is left")
    records = result.records()
    if output == "json":
        options.print_json(
            {
                "model": model,
                "data": rows,
                "rows": result.rows,
                "pairs": result.pairs,
                "alpha": result.alpha,
                "contradicted": len(result.contradicted),
                "verdict": result.verdict,
                "overall_p_value": result.overall.p_value if result.overall else None,
                "simulations": len(result.overall.simulated) if result.overall else None,
                "regions_left_out": result.left_out,
                "pairs_unfinished": result.unfinished,
                "claims": records,
            }
        )
    elif output == "csv":
        options.print_csv(records, records[0] if records else [])
    else:
        from contextwise.report.evaluations import check_parts
        from contextwise.report.text import as_text

        click.echo(as_text(check_parts(result, top=top)))
    if exit_code and result.contradicted:
        ctx.exit(1)
    simulated = 0 if result.overall is None else len(result.overall.simulated)
    if result.unfinished or simulated < keywords["overall"]:
        ctx.exit(3)
