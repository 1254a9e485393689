"""``contextwise convert``: write a model in another format, or its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from contextwise.cli import options
from contextwise.cli.inputs import load, only_one_from_stdin

if TYPE_CHECKING:
    from contextwise.formats import ZeroWeights

GRAPHS = {"dot": "dot", "graphml": "graphml", "node-link": "json"}
"""The formats of graphs, and their names in `contextwise.independence.graphs`."""


@click.command()
@options.model("source", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path())
@click.option(
    "--from",
    "source_format",
    type=click.Choice(options.FORMATS),
    metavar="FORMAT",
    help="Format of IN.",
)
@click.option(
    "--to",
    "target_format",
    type=click.Choice((*options.FORMATS, *GRAPHS)),
    metavar="FORMAT",
    help="Format of OUT.",
)
@options.model_option(
    "--names-from", help="Rename variables and states as in MODEL, in the same order."
)
@options.context
@options.zero_weights
def convert(
    source: str,
    target: str,
    source_format: str | None,
    target_format: str | None,
    names_from: str | None,
    context: str | None,
    zero_weights: ZeroWeights,
) -> None:
    """Write the model IN to the file OUT in another format; - is standard output.

    The suffix gives the format unless --from or --to does; .gz after it compresses the file.
    The formats of models are mn, json, bn, dn, uai and bif; bn and dn are read only.

    The formats dot, graphml and node-link write the graph of the model: an edge for each pair
    that depends in some context. With --context, the graph has the variables that the context
    does not assign, and an edge for each pair that still depends.

    \b
    Examples:
      contextwise convert learned.mn learned.json
      contextwise convert learned.mn learned.json.gz --zero-weights drop
      contextwise convert learned.mn learned.json --names-from truth.bif
      contextwise convert learned.mn learned.graphml
      contextwise convert six - --to dot --context "X0=1" | dot -Tsvg > six.svg
    """
    from contextwise.formats import encode, write
    from contextwise.models.structure import named

    if target == "-" and target_format is None:
        raise click.UsageError("standard output needs a format; add --to FORMAT")
    suffix = target.lower().rpartition(".")[2]
    graph = GRAPHS.get(target_format or suffix)
    if context is not None and graph is None:
        raise click.UsageError("--context needs a graph; write dot, graphml or node-link")
    model = load(source, format=source_format, zero_weights=zero_weights)
    if names_from is not None:
        only_one_from_stdin([source, names_from])
        with named(names_from, source):
            model = model.aligned_to(load(names_from).domain, align="position")
    if graph is not None:
        from contextwise.independence.graphs import edges_of, encode_graph
        from contextwise.support.files import write_bytes

        content = encode_graph(edges_of(model, context), graph)
        if target == "-":
            click.echo(content.decode(), nl=False)
        else:
            write_bytes(target, content)
    elif target == "-" and target_format is not None:
        click.echo(encode(model, target_format), nl=False)
    else:
        write(model, target, format=target_format)
