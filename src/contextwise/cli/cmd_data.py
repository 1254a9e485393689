"""``contextwise fit``, ``sample`` and ``check``: models and rows of data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

import contextwise as cw
from contextwise.cli import commands, options, printing
from contextwise.cli.inputs import load, load_data, only_one_from_stdin, time_left
from contextwise.errors import ContextwiseError
from contextwise.support import files
from contextwise.support.formatting import plural
from contextwise.support.words import p_is

if TYPE_CHECKING:
    from contextwise.data.options import RowOptions
    from contextwise.distributions.fitting import GoodnessOfFit
    from contextwise.distributions.sampling import DrawnRows


@commands.command()
@options.model("structure")
@options.data
@options.path("--out", metavar="FILE", required=True, help="Write the fitted model here.")
@options.choice(
    "--method",
    "pseudo-likelihood",
    "likelihood",
    help="Maximize this; likelihood needs exact inference.",
)
@options.not_negative("--l2", help="L2 penalty.  [default: 0.1]")
@options.not_negative("--l1", default=0, help="L1 penalty, by pseudo-likelihood only.")
@options.number("--max-iterations", default=2000, help="Largest number of iterations.")
@options.section(commands.MODELS, options.format_name)
@options.rows
def fit(
    structure: str,
    data: str,
    out: str,
    format_name: str | None,
    row_options: RowOptions,
    **keywords: Any,
) -> None:
    """Fit the weights of STRUCTURE to the rows of DATA.

    DATA is a CSV file with a header, or without one if its columns are in the order of the
    model; - is standard input. Existing weights are replaced. The fit maximizes the total
    log-(pseudo-)likelihood minus the penalties l1 · Σ|w| and l2/2 · Σw². With --l1, features
    whose weight becomes 0 are dropped. The output bounds the distance to the optimum. With --method
    likelihood it adds AIC, BIC and G² of the fit without a penalty.

    \b
    Examples:
      contextwise fit learned.mn train.csv --out fitted.mn
      contextwise fit learned.mn train.csv --out sparse.mn --l1 5 --l2 0
      contextwise fit learned.mn train.csv.gz --out fitted.json --method likelihood --l2 1
    """
    only_one_from_stdin([structure, data])
    cw.formats.check_target(out)
    model = load(structure, format=format_name)
    rows = load_data(data, row_options, model)
    fitted = cw.distributions.fitting.fit(model, rows, show_progress=True, **keywords)
    cw.formats.write(fitted.model, out)
    weights, remaining = len(fitted.weights), len(fitted.model)
    state = "converged" if fitted.converged else "NOT converged"
    gap = f", at most {fitted.gap:.1e} (relative) above the optimum"
    lines = [
        f"{plural(fitted.rows, 'row')}, {plural(weights, 'weight')} by {fitted.method}",
        f"{state} after {plural(fitted.iterations, 'iteration')}: {fitted.value:.6g} per row",
        f"objective {fitted.objective:,.2f}{gap if fitted.gap < math.inf else ''}",
    ]
    if remaining < weights:
        zeros = plural(weights - remaining, "weight")
        lines.append(f"dropped {zeros} that became exactly 0; {remaining:,} remain")
    if len(fitted.unseen):
        unseen = plural(len(fitted.unseen), "feature")
        bounded = "its weight" if len(fitted.unseen) == 1 else "their weights"
        lines.append(f"{unseen} in no row; only the penalty bounds {bounded}")
    if fitted.method == "likelihood":
        lines.append(_goodness(cw.distributions.goodness_of_fit(model, rows, show_progress=True)))
    click.echo("\n".join(lines), err=True)


def _goodness(fitted: GoodnessOfFit) -> str:
    """Summarize the fit by maximum likelihood, as log-linear analysis reports it."""
    head = f"without a penalty: log-likelihood {fitted.log_likelihood:,.2f}"
    if fitted.parameters is None:
        return f"{head}; the number of free parameters is unknown"
    p_value = "" if fitted.p_value is None else f" ({p_is(fitted.p_value)})"
    return (
        f"{head}, {plural(fitted.parameters, 'free parameter')}, AIC {fitted.aic:,.2f}, "
        f"BIC {fitted.bic:,.2f}, G² {fitted.g_squared:,.2f} on {fitted.degrees_of_freedom:,} "
        f"df{p_value}"
    )


MIXED = 1.01
"""The usual upper limit for R-hat."""


@commands.command()
@options.model("model")
@options.number("-n", "--rows", "count", default=1000, least=0, help="Number of rows.")
@options.seed
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(),
    default="-",
    help="Write a .csv file, or a .data file of codes (Libra); also .gz.  [default: stdout]",
)
@click.option("--context", metavar="'A=1, B=0|2'", help="Draw only rows with these states.")
@options.choice(
    "--method", "auto", "exact", "gibbs", help="Draw in this way; auto is exact where possible."
)
@options.number("--burn-in", default=100, least=0, help="Gibbs: number of sweeps to discard.")
@options.number("--thin", default=10, help="Gibbs: number of sweeps between rows.")
@options.section(commands.MODELS, options.format_name)
def sample(model: str, count: int, out: str, format_name: str | None, **keywords: Any) -> None:
    """Draw rows from MODEL, which must have weights.

    Rows are exact and independent if the treewidth of the model allows. Otherwise they come from
    100 Gibbs chains (more for many rows), and a line on standard error reports how well the chains
    mixed.

    \b
    Examples:
      contextwise sample fitted.mn --rows 10000 --seed 1 --out data.csv
      contextwise sample truth.bif --rows 10000 --seed 1 --out train.data
      contextwise sample fitted.mn --rows 100 --context "v0=1" --method gibbs
    """
    suffix = ".csv" if out == "-" else options.check_out(out, [".csv", ".data"], packed=True)
    loaded = load(model, format_name)
    if not isinstance(loaded, cw.LogLinear):
        cw.models.structure.require_features(loaded, "sampling")
        raise ContextwiseError(
            f"{model}: this model has no weights; fit them to data first, with: contextwise fit"
        )
    drawn = cw.distributions.sampling.draw(loaded, count, show_progress=True, **keywords)
    if suffix == ".data":
        text = cw.data.rows.format_rows(drawn.positions)
    else:
        text = cw.data.rows.format_rows(drawn.rows, loaded.domain.names)
    if out == "-":
        click.echo(text, nl=False)
    else:
        files.write_bytes(out, files.packed(text.encode(), out))
    if drawn.chains is not None:
        click.echo(f"contextwise: {_mixing(drawn)}", err=True)


def _mixing(drawn: DrawnRows) -> str:
    assert drawn.chains is not None
    chains = plural(len(drawn.chains), "Gibbs chain")
    head = f"the rows come from {chains} and are not independent"
    if drawn.worst_mixing is None:
        return f"{head}; too few rows to report how well the chains mixed"
    variable, largest = drawn.worst_mixing
    head += f": the largest R-hat is {largest:.3f} (of {variable})"
    if largest > MIXED:
        head += "; the chains have not mixed: raise --burn-in and --thin"
    return head


@commands.command()
@options.model("model")
@click.argument("rows", type=click.Path())
@options.section(commands.COMPARED, options.pairs, options.variables, options.context)
@options.share("--fdr", default=0.05, help="False discovery rate.")
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
@options.path(
    "--out",
    metavar="FILE",
    help="Write a page (.html), or the model with this evidence (.json).",
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 if the rows contradict the model.")
@options.reading
@options.rows
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
    out: str | None,
    exit_code: bool,
    reading: options.Reading,
    row_options: RowOptions,
    **keywords: Any,
) -> None:
    """Test the claims of MODEL, or of a graph, against the ROWS of a CSV file.

    A claim says that a pair of variables is independent, or dependent, in a region of contexts.
    Rows can contradict a claimed independence and support a claimed dependence; a claim that they
    tell nothing about could not be tested. With --out model.json, the verdicts are stored in the
    model's file, and explain, query and report show them next to the claims.

    A graph without states, from dagitty, bnlearn, Tetrad, causal-learn, pgmpy, networkx or a
    matrix, takes them from the rows. MODEL can also be its text. Each missing edge is tested as one
    independence, and each arrow as one dependence. Columns that the graph lacks are left out;
    variables that the rows lack count as hidden.

    Of a Bayesian network, the command also tests one d-separation for each pair without an arc,
    given the parents of the later variable. Each kind of claims is corrected on its own.

    Exit codes: 0 done, 1 contradicted (only with --exit-code), 2 error, 3 stopped by the time
    limit.

    \b
    Examples:
      contextwise check learned.mn test.csv
      contextwise check learned.mn test.csv --pairs smoker,cough --context "age=old"
      contextwise check learned.mn test.csv --overall --jobs -1 --time-limit 600
      contextwise check learned.json test.csv --out learned.json
      contextwise check learned.mn test.csv --csv > claims.csv
      contextwise check causes.dagitty survey.csv --bins age=4 --out audit.html
      contextwise check "dag { smoke -> cough <- age }" survey.csv
    """
    options.refuse_alone(ctx, ("simulations",), "overall")
    only_one_from_stdin([model, rows])
    is_page = out is not None and out.endswith(".html")
    if out is not None and not is_page:
        _refuse_partial_evidence(ctx, out)
    loaded = load(model, *reading)
    data = load_data(rows, row_options, loaded, for_graph=loaded.origin.unknown_states)
    keywords["overall"] = simulations if overall else 0
    keywords["time_limit"] = time_left()
    result = cw.check(loaded, data, show_progress=True, **keywords)
    evidence, records = result.evidence, result.records()
    if not records and not evidence.unfinished:
        raise ContextwiseError("there is nothing to check: no pair of variables is left")
    if out is not None and is_page:
        title = f"{cw.support.formatting.name(model)} checked on {cw.support.formatting.name(rows)}"
        made = cw.report.page.check_page(title, result, command=options.command_line(ctx))
        cw.support.files.write_bytes(out, made.encode())
    elif out is not None:
        cw.formats.write(result.model.with_evidence(evidence), out)
    if output == "json":
        printing.print_json(
            {
                "model": model,
                "data": rows,
                "rows": evidence.count,
                "fdr": evidence.level,
                "seen_by_learner": evidence.seen_by_learner,
                "contradicted": len(evidence.contradicted),
                "verdict": result.verdict,
                "overall_p_value": result.overall.p_value if result.overall else None,
                "simulations": len(result.overall.simulated) if result.overall else None,
                "regions_left_out": evidence.regions_left_out,
                "pairs_left_out": evidence.pairs_left_out,
                "pairs_unfinished": evidence.unfinished,
                "claims": records,
            }
        )
    elif output == "csv":
        printing.print_csv(records)
    else:
        printing.print_text(result, top)
    if exit_code and evidence.contradicted:
        ctx.exit(1)
    simulated = 0 if result.overall is None else len(result.overall.simulated)
    if evidence.unfinished or simulated < keywords["overall"]:
        ctx.exit(3)


def _refuse_partial_evidence(ctx: click.Context, out: str) -> None:
    """Raise unless the evidence is about the whole model and the file can hold it."""
    why = "leaves out claims; --out stores the evidence of all of them"
    options.refuse(ctx, ("pairs", "variables", "context"), why)
    if not out.endswith(".json"):
        raise click.UsageError(
            f"--out {out}: only .json files hold evidence, and .html pages show it"
        )
