"""``contextwise fit``: weights from data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from contextwise.cli.inputs import (
    format_option,
    load,
    load_rows,
    model_argument,
    only_one_from_stdin,
)

if TYPE_CHECKING:
    from contextwise.distributions.fitting import Fit


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
@click.option(
    "--l1", type=click.FloatRange(min=0), default=0, show_default=True, help="L1 penalty."
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0, min_open=True),
    default=1e-6,
    show_default=True,
    help="The largest gap to the optimum, as a part of the objective.",
)
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
    tolerance: float,
    max_iterations: int,
    format_name: str | None,
) -> None:
    """Fit the weights of STRUCTURE to the rows of DATA.

    DATA is a CSV file, with the names of the variables as header, or without a header and with the
    columns in the order of the model; - is standard input. A model whose features have weights
    already gets new ones. The penalties l1 · Σ|w| and l2/2 · Σw² are taken from the total
    log-(pseudo-)likelihood. With --l1, features whose weight ends at 0 are left out. The answer
    says how far from the optimum it can be.

    \b
    Examples:
      contextwise fit learned.mn train.csv --out fitted.mn
      contextwise fit learned.mn train.csv --out sparse.mn --l1 5 --l2 0
      contextwise fit learned.mn train.csv.gz --out fitted.json --method likelihood --l2 1
    """
    from contextwise import formats
    from contextwise.distributions.fitting import fit as fit_weights

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
        tolerance=tolerance,
        max_iterations=max_iterations,
        show_progress=True,
    )
    formats.write(found.model, out)
    click.echo(summary(found), err=True)


def summary(found: Fit) -> str:
    """How a fit went, for people."""
    from contextwise.support.formatting import plural

    state = "converged" if found.converged else "NOT converged"
    gap = f", at most {found.gap:.1e} of it above the optimum" if found.gap < math.inf else ""
    lines = [
        f"{plural(found.rows, 'row')}, {plural(len(found.weights), 'weight')} by {found.method}",
        f"{state} after {plural(found.iterations, 'iteration')}: {found.value:.6g} per row",
        f"objective {found.objective:,.2f}{gap}",
    ]
    if len(found.model) < len(found.weights):
        zeros = plural(len(found.weights) - len(found.model), "weight")
        lines.append(f"exactly 0, and left out: {zeros}; {len(found.model):,} stay")
    if len(found.unseen):
        unseen = plural(len(found.unseen), "feature")
        lines.append(f"in no row: {unseen}, whose weights only the penalty bounds")
    return "\n".join(lines)
