"""``contextwise fit``: weights from data."""

from __future__ import annotations

import click

from contextwise.cli.data import load_rows
from contextwise.cli.models import format_option, load, model_argument, only_one_from_stdin


@click.command()
@model_argument("structure")
@click.argument("data", type=click.Path())
@click.option("--out", required=True, type=click.Path(), help="Write the fitted model here.")
@click.option(
    "--method",
    type=click.Choice(["pseudo-likelihood", "likelihood"]),
    default="pseudo-likelihood",
    show_default=True,
    help="What is maximised; likelihood needs exact inference.",
)
@click.option("--l2", type=click.FloatRange(min=0), help="L2 penalty.  [default: 0.1]")
@click.option("--l1", type=click.FloatRange(min=0), default=0.0, help="L1 penalty.  [default: 0]")
@click.option(
    "--max-iterations", type=click.IntRange(min=1), default=2000, show_default=True, help="At most."
)
@format_option
def fit(
    structure: str,
    data: str,
    out: str,
    method: str,
    l2: float | None,
    l1: float,
    max_iterations: int,
    format_name: str | None,
) -> None:
    """Fit the weights of STRUCTURE to the rows of DATA.

    DATA is a CSV file, with the names of the variables as header, or without a header and with the
    columns in the order of the model; - is standard input. A model whose features have weights
    already gets new ones. The penalties l1 · Σ|w| and l2/2 · Σw² are taken from the total
    log-(pseudo-)likelihood.

    \b
    Examples:
      contextwise fit learned.mn train.csv --out fitted.mn
      contextwise fit learned.mn train.csv.gz --out fitted.json --method likelihood --l2 1
    """
    from contextwise import formats
    from contextwise.distributions.fitting import fit as fit_weights
    from contextwise.models.numbers import plural

    only_one_from_stdin([structure, data])
    formats.check_target(out)
    model = load(structure, format=format_name)
    rows = load_rows(data, model.domain)
    found = fit_weights(
        model,
        rows,
        method=method,  # type: ignore[arg-type]
        l2=l2,
        l1=l1,
        max_iterations=max_iterations,
        show_progress=True,
    )
    formats.write(found.model, out)
    state = "converged" if found.converged else "NOT converged"
    weights = plural(len(found.model), "weight")
    click.echo(f"{plural(found.rows, 'row')}, {weights} by {method}", err=True)
    steps = plural(found.iterations, "iteration")
    click.echo(f"{state} after {steps}: {found.value:.6g} a row", err=True)
    if len(found.unseen):
        unseen = plural(len(found.unseen), "feature")
        click.echo(f"in no row: {unseen}, whose weights only the penalty bounds", err=True)
