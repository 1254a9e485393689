"""``contextwise sample``: rows drawn from a model."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import click

from contextwise.cli.inputs import format_option, load_weighted, model_argument
from contextwise.cli.options import seed_option
from contextwise.cli.printing import check_out
from contextwise.errors import ContextwiseError

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Drawn

MIXED = 1.01
"""The usual demand on R-hat."""


@click.command()
@model_argument("model")
@click.option("-n", "count", type=click.IntRange(min=0), default=1000, show_default=True)
@seed_option
@click.option(
    "--out",
    type=click.Path(),
    default="-",
    help="A .csv file, or a .data file of codes for Libra; .gz packs it.  [default: stdout]",
)
@click.option("--context", metavar="LITERALS", help="Only rows with these states: 'X0=1 & X2=0'.")
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
    context: str | None,
    method: str,
    burn_in: int,
    thin: int,
    format_name: str | None,
) -> None:
    """Draw rows from MODEL, which has weights: CSV with a header, or Libra's codes without one.

    Rows are independent and exact where the model's treewidth allows; otherwise they come from
    100 Gibbs chains (more for many rows), burn-in sweeps after a random start, thin sweeps apart,
    and a line on standard error says so, and how well the chains mixed.

    \b
    Examples:
      contextwise sample fitted.mn -n 10000 --seed 1 --out data.csv
      contextwise sample truth.bif -n 10000 --seed 1 --out train.data
      contextwise sample fitted.mn -n 100 --context "v0=1" --method gibbs
    """
    from contextwise.data.rows import format_codes, format_rows
    from contextwise.distributions.sampling import draw
    from contextwise.support import files

    suffix = ".csv" if out == "-" else check_out(out, [".csv", ".data"], packed=True)
    loaded = load_weighted(model, format=format_name)
    drawn = draw(
        loaded,
        count,
        rng=seed,
        context=context,
        method=method,  # type: ignore[arg-type]
        burn_in=burn_in,
        thin=thin,
        show_progress=True,
    )
    if suffix == ".data":
        text = format_codes(drawn.positions)
    else:
        text = format_rows(drawn.rows, loaded.domain)
    if out == "-":
        click.echo(text, nl=False)
    else:
        data = text.encode()
        files.write_bytes(out, files.packed(data) if out.lower().endswith(".gz") else data)
    if drawn.chains is not None:
        click.echo(f"contextwise: {_mixing(drawn)}", err=True)


def _mixing(drawn: Drawn) -> str:
    """Where the rows of Gibbs chains come from, and how well the chains mixed."""
    from contextwise.support.formatting import plural

    assert drawn.chains is not None
    chains, draws, _ = drawn.chains.shape
    told = f"the rows come from {plural(chains, 'Gibbs chain')} and are not independent"
    try:
        found = drawn.diagnosis
    except ContextwiseError as problem:  # the rows are written all the same
        return f"{told}; to say how well the chains mixed, {problem}"
    if found is None:
        return f"{told}; they are too few to say how well the chains mixed"
    variable, largest = found.worst
    if isnan(largest):
        return f"{told}; no variable ever changes"
    told += (
        f": the largest R-hat is {largest:.3f} (of {variable}), the smallest effective number of "
        f"rows {found.fewest:,.0f} of {chains * draws:,}"
    )
    if largest > MIXED:
        told += "; the chains have not mixed: raise --burn-in and --thin"
    return told
