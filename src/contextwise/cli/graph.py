"""``contextwise graph``: a structure as a graph, in all contexts or in one."""

from __future__ import annotations

import click

from contextwise.cli.models import (
    ZeroWeights,
    load,
    model_argument,
    reading_options,
)


@click.command()
@model_argument("model")
@click.option(
    "--context", metavar="LITERALS", help='Only what is left there, as in "X0=1 & X3=no".'
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(),
    help="A .dot, .graphml or .json file; without it, DOT goes to standard output.",
)
@reading_options
def graph(
    model: str,
    context: str | None,
    out: str | None,
    format_name: str | None,
    zero_weights: ZeroWeights,
) -> None:
    """Write the graph of MODEL: an edge wherever two variables depend in some context.

    With --context, the graph that this context instantiates: over the variables that it does not
    assign, an edge wherever two of them still depend.

    \b
    Examples:
      contextwise graph six --context "X0=1"
      contextwise graph learned.mn --out learned.graphml
      contextwise graph six | dot -Tsvg > six.svg
    """
    from contextwise.independence import instantiated_graph
    from contextwise.independence.export import encode_graph, write_graph

    found = instantiated_graph(load(model, format=format_name, zero_weights=zero_weights), context)
    if out is None:
        click.echo(encode_graph(found, "dot").decode(), nl=False)
    else:
        write_graph(found, out)
