"""``contextwise sample``: draw rows from a model."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import click

from contextwise.cli import options
from contextwise.cli.inputs import load
from contextwise.errors import ContextwiseError

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Drawn

MIXED = 1.01
"""The usual upper limit for R-hat."""


@click.command()
@options.model("model")
@options.number("-n", "count", default=1000, least=0, help="Number of rows.")
@options.seed
@click.option(
    "--out",
    type=click.Path(),
    default="-",
    help="Write a .csv file, or a .data file of codes (Libra); also .gz.  [default: stdout]",
)
@click.option("--context", metavar="'A=1, B=0'", help="Draw only rows with these states.")
@options.choice(
    "--method", "auto", "exact", "gibbs", help="Draw in this way; auto is exact where possible."
)
@options.number("--burn-in", default=100, least=0, help="Gibbs: number of sweeps to discard.")
@options.number("--thin", default=10, help="Gibbs: number of sweeps between rows.")
@options.format_name
def sample(model: str, count: int, out: str, format_name: str | None, **keywords: Any) -> None:
    """Draw rows from MODEL, which must have weights.

    Rows are exact and independent if the treewidth of the model allows. Otherwise they come from
    100 Gibbs chains (more for many rows), and a line on standard error reports how well the chains
    mixed.

    \b
    Examples:
      contextwise sample fitted.mn -n 10000 --seed 1 --out data.csv
      contextwise sample truth.bif -n 10000 --seed 1 --out train.data
      contextwise sample fitted.mn -n 100 --context "v0=1" --method gibbs
    """
    from contextwise.data.rows import format_rows
    from contextwise.distributions.sampling import draw
    from contextwise.models.structure import LogLinear
    from contextwise.support import files

    suffix = ".csv" if out == "-" else options.check_out(out, [".csv", ".data"], packed=True)
    loaded = load(model, format_name)
    if not isinstance(loaded, LogLinear):
        raise ContextwiseError(
            f"{model}: this model has no weights; fit them to data first, with: contextwise fit"
        )
    drawn = draw(loaded, count, show_progress=True, **keywords)
    if suffix == ".data":
        text = format_rows(drawn.positions)
    else:
        text = format_rows(drawn.rows, loaded.domain.names)
    if out == "-":
        click.echo(text, nl=False)
    else:
        data = text.encode()
        files.write_bytes(out, files.packed(data) if out.lower().endswith(".gz") else data)
    if drawn.chains is not None:
        click.echo(f"contextwise: {_mixing(drawn)}", err=True)


def _mixing(drawn: Drawn) -> str:
    """Report how well the Gibbs chains mixed."""
    from contextwise.support.formatting import plural

    assert drawn.chains is not None
    chains, draws, _ = drawn.chains.shape
    head = f"the rows come from {plural(chains, 'Gibbs chain')} and are not independent"
    try:
        diagnosis = drawn.diagnosis
    except ContextwiseError as problem:  # the rows are written anyway
        return f"{head}; cannot report how well the chains mixed: {problem}"
    if diagnosis is None:
        return f"{head}; too few rows to report how well the chains mixed"
    variable, largest = diagnosis.worst
    if isnan(largest):
        return f"{head}; no variable ever changes"
    head += (
        f": the largest R-hat is {largest:.3f} (of {variable}), the smallest effective number of "
        f"rows {diagnosis.fewest:,.0f} of {chains * draws:,}"
    )
    if largest > MIXED:
        head += "; the chains have not mixed: raise --burn-in and --thin"
    return head
