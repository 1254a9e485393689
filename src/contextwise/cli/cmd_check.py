"""``contextwise check``: whether rows agree with the claims of a model."""

from __future__ import annotations

import click

from contextwise.cli.inputs import (
    ZeroWeights,
    load,
    load_rows,
    model_argument,
    only_one_from_stdin,
    pair_of,
    reading_options,
)
from contextwise.cli.options import (
    cluster_option,
    context_option,
    jobs_option,
    pairs_option,
    record_options,
    seed_option,
    top_option,
    variables_option,
)
from contextwise.cli.printing import print_csv, print_json
from contextwise.errors import ContextwiseError
from contextwise.models.notation import parse_names


@click.command()
@model_argument("model")
@click.argument("rows", type=click.Path())
@pairs_option
@variables_option
@context_option
@click.option(
    "--regions",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="How many regions of each kind to test for a pair, those with most rows.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="The false discovery rate.",
)
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    default=1_000_000,
    show_default=True,
    help="The most tables drawn for a claim, where the null cannot be computed.",
)
@seed_option
@jobs_option()
@cluster_option
@reading_options
@top_option("How many claims of each kind to show.")
@record_options("one row per claim", json_help="Print JSON: every claim.")
@click.option("--exit-code", is_flag=True, help="Leave with 1 if rows contradict the model.")
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
    seed: int,
    jobs: int,
    cluster: str | None,
    zero_weights: ZeroWeights,
    format_name: str | None,
    top: int,
    as_json: bool,
    as_csv: bool,
    exit_code: bool,
) -> None:
    """Test the claims of a MODEL against the ROWS of a CSV file.

    Each claimed independence is tested, region by region, by a conditional G² whose null is exact;
    claimed dependencies are looked for in the same way. The rows must be independent of each
    other, and not those that the model was learned from.

    \b
    Examples:
      contextwise check learned.mn test.csv
      contextwise check learned.mn test.csv --pairs smoker,cough --context "age=old"
      contextwise check learned.mn test.csv --csv > claims.csv
      contextwise check learned.mn test.csv --exit-code > /dev/null || echo contradicted
    """
    only_one_from_stdin([model, rows])
    from contextwise.evaluation import check as check_model
    from contextwise.report.statistics import check_parts
    from contextwise.report.text import as_text

    given = load(model, format=format_name, zero_weights=zero_weights)
    found = check_model(
        given,
        load_rows(rows, given.domain),
        pairs=[pair_of(text, "--pairs") for text in pairs] or None,
        variables=None if variables is None else parse_names(variables),
        context=context,
        regions=regions,
        alpha=alpha,
        draws=draws,
        rng=seed,
        n_jobs=jobs,
        cluster=cluster,
        show_progress=True,
    )
    if not found.pairs:
        raise ContextwiseError("there is nothing to check: no pair of variables is left")
    records = found.records()
    if as_json:
        print_json(
            {
                "model": model,
                "data": rows,
                "rows": found.rows,
                "pairs": found.pairs,
                "alpha": found.alpha,
                "contradicted": len(found.contradicted),
                "regions_left_out": found.left_out,
                "claims": records,
            }
        )
    elif as_csv:
        print_csv(records, records[0] if records else [])
    else:
        click.echo(as_text(check_parts(found, top=top)))
    if exit_code and found.contradicted:
        ctx.exit(1)
