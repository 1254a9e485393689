"""``contextwise sample``: rows drawn from a model."""

from __future__ import annotations

import click

from contextwise.cli.distributions import load_weighted, seed_option
from contextwise.cli.models import format_option, model_argument


@click.command()
@model_argument("model")
@click.option("-n", "count", type=click.IntRange(min=0), default=1000, show_default=True)
@seed_option
@click.option("--out", type=click.Path(), default="-", help="A CSV file.  [default: stdout]")
@click.option("--evidence", metavar="CONTEXT", help="Only rows with these states: 'X0=1 & X2=0'.")
@click.option(
    "--method",
    type=click.Choice(["auto", "exact", "gibbs"]),
    default="auto",
    show_default=True,
    help="auto: exact where that is possible.",
)
@click.option(
    "--burn-in", type=click.IntRange(min=0), default=100, show_default=True, help="Gibbs."
)
@click.option("--thin", type=click.IntRange(min=1), default=10, show_default=True, help="Gibbs.")
@format_option
def sample(
    model: str,
    count: int,
    seed: int,
    out: str,
    evidence: str | None,
    method: str,
    burn_in: int,
    thin: int,
    format_name: str | None,
) -> None:
    """Draw rows from MODEL, which has weights, as CSV with a header.

    Rows are independent and exact where the model's treewidth allows; otherwise they come from
    100 Gibbs chains (more for many rows), burn-in sweeps after a random start, thin sweeps apart.

    \b
    Examples:
      contextwise sample fitted.mn -n 10000 --seed 1 --out data.csv
      contextwise sample fitted.mn -n 100 --evidence "v0=1" --method gibbs
    """
    from contextwise.distributions.sampling import sample as draw
    from contextwise.execution import files
    from contextwise.formats.data import format_rows

    if out != "-":
        files.check_target(out)
    loaded = load_weighted(model, format=format_name)
    rows = draw(
        loaded,
        count,
        rng=seed,
        given=evidence,
        method=method,  # type: ignore[arg-type]
        burn_in=burn_in,
        thin=thin,
        show_progress=True,
    )
    text = format_rows(rows, loaded.domain)
    if out == "-":
        click.echo(text, nl=False)
    else:
        data = text.encode()
        files.write_bytes(out, files.packed(data) if out.lower().endswith(".gz") else data)
