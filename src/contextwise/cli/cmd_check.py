"""``contextwise check``: test a model's independence claims against data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from contextwise.cli.inputs import load, load_data, only_one_from_stdin
from contextwise.cli.options import (
    cluster_option,
    context_option,
    csv_option,
    format_option,
    jobs_option,
    json_option,
    model_argument,
    pair_of,
    pairs_option,
    refuse_alone,
    refuse_two_outputs,
    seed_option,
    time_limit_option,
    top_option,
    variables_option,
    zero_weights_option,
)
from contextwise.cli.printing import print_csv, print_json
from contextwise.errors import ContextwiseError
from contextwise.models.notation import parse_names

if TYPE_CHECKING:
    from contextwise.formats import ZeroWeights


@click.command()
@model_argument("model")
@click.argument("rows", type=click.Path())
@pairs_option
@variables_option
@context_option
@click.option(
    "--regions",
    type=click.IntRange(min=1),
    metavar="N",
    default=3,
    show_default=True,
    help="Test this many regions of each kind per pair, those with the most rows.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="False discovery rate.",
)
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    metavar="N",
    default=1_000_000,
    show_default=True,
    help="Largest number of random tables per claim, where the p-value is not computed exactly.",
)
@click.option(
    "--overall",
    is_flag=True,
    help="Also test the structure as a whole, by simulating data sets from it. This takes long.",
)
@click.option(
    "--simulations",
    type=click.IntRange(min=1),
    metavar="N",
    default=199,
    show_default=True,
    help="With --overall: number of data sets.",
)
@time_limit_option()
@seed_option
@jobs_option
@cluster_option
@top_option()
@json_option
@csv_option
@click.option("--exit-code", is_flag=True, help="Exit with 1 if the rows contradict the model.")
@zero_weights_option
@format_option
@click.pass_context
def check(
    ctx: click.Context,
    model: str,
    rows: str,
    pairs: tuple[str, ...],
    variables: str | None,
    context: str | None,
    regions: int,
    alpha: float,
    draws: int,
    overall: bool,
    simulations: int,
    time_limit: float | None,
    seed: int,
    jobs: int,
    cluster: str | None,
    top: int,
    as_json: bool,
    as_csv: bool,
    exit_code: bool,
    zero_weights: ZeroWeights,
    format_name: str | None,
) -> None:
    """Test the independence claims of MODEL against the ROWS of a CSV file.

    A claim says that a pair of variables is independent, or dependent, in a region of contexts.
    Each claimed independence is tested by a conditional G² test with an exact null distribution.
    Claimed dependencies are tested in the same way. The rows must be independent of each other,
    and must not be the rows that the model was learned from.

    Exit codes: 0 done, 1 contradicted (only with --exit-code), 2 error.

    \b
    Examples:
      contextwise check learned.mn test.csv
      contextwise check learned.mn test.csv --pairs smoker,cough --context "age=old"
      contextwise check learned.mn test.csv --overall --jobs -1 --time-limit 600
      contextwise check learned.mn test.csv --csv > claims.csv
    """
    refuse_two_outputs(as_json=as_json, as_csv=as_csv)
    refuse_alone(ctx, ("simulations",), "overall")
    only_one_from_stdin([model, rows])
    from contextwise.evaluation import check as check_model

    loaded = load(model, format=format_name, zero_weights=zero_weights)
    result = check_model(
        loaded,
        load_data(rows, loaded.domain),
        pairs=[pair_of(text, "--pairs") for text in pairs] or None,
        variables=None if variables is None else parse_names(variables),
        context=context,
        regions=regions,
        alpha=alpha,
        draws=draws,
        overall=simulations if overall else 0,
        time_limit=time_limit,
        rng=seed,
        n_jobs=jobs,
        cluster=cluster,
        show_progress=True,
    )
    if not result.pairs:
        raise ContextwiseError("there is nothing to check: no pair of variables is left")
    records = result.records()
    if as_json:
        print_json(
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
    elif as_csv:
        print_csv(records, records[0] if records else [])
    else:
        from contextwise.report.statistics import check_parts
        from contextwise.report.text import as_text

        click.echo(as_text(check_parts(result, top=top)))
    if exit_code and result.contradicted:
        ctx.exit(1)
