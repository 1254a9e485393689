"""``contextwise independencies``: where variables are independent, as a listing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from contextwise.cli.models import (
    ZeroWeights,
    load,
    model_argument,
    reading_options,
)
from contextwise.cli.output import print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contextwise.independence import Independence, PairIndependencies
    from contextwise.models.structure import Model

UNDECIDED = 3


@click.command()
@model_argument("model")
@click.argument("pair", metavar="[A B]", nargs=-1)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How many statements of a pair, the most general first.",
)
@click.option(
    "--time-limit", type=click.FloatRange(min=0), metavar="SECONDS", help="For each pair."
)
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list, one object a pair.")
@click.pass_context
def independencies(
    ctx: click.Context,
    model: str,
    pair: tuple[str, ...],
    top: int,
    time_limit: float | None,
    format_name: str | None,
    zero_weights: ZeroWeights,
    as_json: bool,
) -> None:
    """List what MODEL says about independence: of the variables A and B, or of every pair.

    "A ⫫ B | C=yes, D" says that A and B are independent wherever C is yes, given D whatever its
    value. The statements of a pair do not overlap; each is followed by its share of the pair's
    contexts, unless it holds in all of them. Pairs that always depend are left out.

    Exit code: 0, or 3 if some contexts were not decided within the limits.

    \b
    Examples:
      contextwise independencies six
      contextwise independencies learned.mn v3 v7 --top 5
      contextwise independencies learned.mn --json
    """
    if len(pair) not in (0, 2):
        raise click.UsageError(f"give two variables or none, not {len(pair)}")
    asked = load(model, format=format_name, zero_weights=zero_weights)
    partial = False
    records = []
    for one in _listed(asked, pair, top, time_limit):
        partial |= one.open > 0
        if as_json:
            records.append(_record(one))
        else:
            _print(one)
    if as_json:
        print_json(records)
    ctx.exit(UNDECIDED if partial else 0)


def _listed(
    model: Model, pair: tuple[str, ...], top: int, time_limit: float | None
) -> Iterator[PairIndependencies]:
    from contextwise import independence

    if pair:
        first, second = pair
        yield independence.context_specific_independencies(
            model, first, second, top=top, time_limit=time_limit
        )
    else:
        yield from independence.independencies(model, top=top, time_limit=time_limit)


def _print(pair: PairIndependencies) -> None:
    from contextwise.models.notation import printable, quoted
    from contextwise.models.numbers import percent, plural

    names = printable(f"{quoted(pair.first)} and {quoted(pair.second)}")
    for one in pair:
        share = f"  ({percent(one.contexts, pair.contexts)})" if one.region else ""
        click.echo(printable(str(one)) + share)
    if pair.unlisted:
        left = pair.independent - sum(one.contexts for one in pair)
        more = plural(pair.unlisted, "more statement")
        click.echo(f"  … {more} on {names}  ({percent(left, pair.contexts)})")
    if pair.open:
        share = percent(pair.open, pair.contexts)
        click.echo(f"contextwise: {names}: {share} of the contexts were not decided", err=True)
    elif not pair.statements:
        click.echo(f"{names} depend in every context")


def _record(pair: PairIndependencies) -> dict[str, object]:
    return {
        "first": pair.first,
        "second": pair.second,
        "contexts": pair.contexts,
        "independent": pair.independent,
        "undecided": pair.open,
        "unlisted": pair.unlisted,
        "statements": [_statement(one) for one in pair],
    }


def _statement(one: Independence) -> dict[str, object]:
    region = [
        {"variable": literal.variable, "states": literal.states, "negated": literal.negated}
        for literal in one.region
    ]
    return {
        "text": str(one),
        "region": region,
        "given": one.given,
        "contexts": one.contexts,
        "share": one.share,
    }
