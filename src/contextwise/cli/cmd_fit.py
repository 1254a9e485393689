"""``contextwise fit``: fit the weights of a structure to data."""

from __future__ import annotations

import math
from typing import Any

import click

from contextwise.cli import options
from contextwise.cli.inputs import load, load_data, only_one_from_stdin


@click.command()
@options.model("structure")
@options.data
@options.path("--out", required=True, help="Write the fitted model here.")
@options.choice(
    "--method",
    "pseudo-likelihood",
    "likelihood",
    help="Maximize this; likelihood needs exact inference.",
)
@options.not_negative("--l2", help="L2 penalty.  [default: 0.1]")
@options.not_negative("--l1", default=0, help="L1 penalty.")
@options.positive(
    "--tolerance",
    default=1e-6,
    help="Largest relative gap between the objective and its optimum.",
)
@options.number("--max-iterations", default=2000, help="Largest number of iterations.")
@options.format_name
def fit(structure: str, data: str, out: str, format_name: str | None, **keywords: Any) -> None:
    """Fit the weights of STRUCTURE to the rows of DATA.

    DATA is a CSV file with a header, or without one if its columns are in the order of the
    model; - is standard input. Existing weights are replaced. The fit maximizes the total
    log-(pseudo-)likelihood minus the penalties l1 · Σ|w| and l2/2 · Σw². With --l1, features
    whose weight becomes 0 are dropped. The output bounds the distance to the optimum.

    \b
    Examples:
      contextwise fit learned.mn train.csv --out fitted.mn
      contextwise fit learned.mn train.csv --out sparse.mn --l1 5 --l2 0
      contextwise fit learned.mn train.csv.gz --out fitted.json --method likelihood --l2 1
    """
    from contextwise import formats
    from contextwise.distributions.fitting import fit as fit_weights
    from contextwise.support.formatting import plural

    only_one_from_stdin([structure, data])
    formats.check_target(out)
    model = load(structure, format=format_name)
    rows = load_data(data, model.domain)
    fitted = fit_weights(model, rows, show_progress=True, **keywords)
    formats.write(fitted.model, out)
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
        lines.append(f"{unseen} in no row; only the penalty bounds their weights")
    click.echo("\n".join(lines), err=True)
