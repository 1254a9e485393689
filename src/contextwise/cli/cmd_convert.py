"""``contextwise convert``: a model from one format to another."""

from __future__ import annotations

import click

from contextwise.cli.inputs import (
    ZeroWeights,
    complete_model,
    format_type,
    load,
    model_argument,
    only_one_from_stdin,
    zero_weights_option,
)


@click.command()
@model_argument("source", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path())
@click.option(
    "--from", "source_format", type=format_type, metavar="FORMAT", help="The format of IN."
)
@click.option(
    "--to", "target_format", type=format_type, metavar="FORMAT", help="The format of OUT."
)
@click.option(
    "--names-from",
    metavar="MODEL",
    shell_complete=complete_model,
    help="Name variables and states as MODEL does, in the same order.",
)
@zero_weights_option
def convert(
    source: str,
    target: str,
    source_format: str | None,
    target_format: str | None,
    names_from: str | None,
    zero_weights: ZeroWeights,
) -> None:
    """Write the model IN to the file OUT, or to standard output if OUT is -.

    The suffix says the format (.gz after it packs the file) unless --from or --to does. A FORMAT
    is mn, json, bn, dn, uai or bif; bn and dn are only read.

    \b
    Examples:
      contextwise convert learned.mn learned.json
      contextwise convert learned.mn learned.json.gz --zero-weights drop
      contextwise convert learned.mn learned.json --names-from truth.bif
      contextwise convert - - --from mn --to json < learned.mn
    """
    from contextwise.formats import encode, write
    from contextwise.models.alignment import named

    if target == "-" and target_format is None:
        raise click.UsageError("say with --to in which format to write to standard output")
    model = load(source, format=source_format, zero_weights=zero_weights)
    if names_from is not None:
        only_one_from_stdin([source, names_from])
        with named(names_from, source):
            model = model.aligned_to(load(names_from).domain, align="position")
    if target == "-" and target_format is not None:
        click.echo(encode(model, target_format), nl=False)
    else:
        write(model, target, format=target_format)
