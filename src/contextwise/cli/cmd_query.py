"""``contextwise query``, ``independencies`` and ``graph``: what a model says about independence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from contextwise.cli.inputs import ZeroWeights, load, model_argument, reading_options
from contextwise.cli.options import json_option, time_limit_option, top_option, typed_flags
from contextwise.cli.printing import check_out, print_json

if TYPE_CHECKING:
    from contextwise.independence import (
        Answer,
        Independence,
        Independencies,
        PairIndependencies,
    )

EXIT_CODES = {"independent": 0, "dependent": 1, "undecided": 3}
UNDECIDED = EXIT_CODES["undecided"]


@click.command()
@model_argument("model")
@click.argument("question", metavar="QUERY")
@time_limit_option("After which the answer is: undecided.", 60)
@reading_options
@json_option()
@click.pass_context
def query(
    ctx: click.Context,
    model: str,
    question: str,
    time_limit: float,
    format_name: str | None,
    zero_weights: ZeroWeights,
    as_json: bool,
) -> None:
    """Ask MODEL whether variables are independent, and why.

    QUERY is written "A _||_ B | C, D=yes" (or with ⫫): is A independent of B, given C whatever
    its value, when D is yes? Several variables on a side are separated by commas; what follows
    the bar may be left out; names with signs in them stand in double quotes.

    Exit code: 0 independent, 1 dependent, 2 trouble, 3 undecided.

    \b
    Examples:
      contextwise query six "X1 _||_ X2 | X0=1"
      contextwise query learned.mn "v1, v2 ⫫ v3 | v4, v5=0"
      contextwise query learned.mn '"blood pressure" _||_ age' --json
    """
    from contextwise.independence import answer_to, parse_statement

    statement = parse_statement(question)
    asked = load(model, format=format_name, zero_weights=zero_weights)
    answer = answer_to(asked, statement, time_limit=time_limit)
    if as_json:
        print_json(_answer_record(answer))
    else:
        click.echo(_answer_text(answer))
    ctx.exit(EXIT_CODES[answer.word])


def _answer_record(answer: Answer) -> dict[str, object]:
    return {
        "query": str(answer.statement),
        "answer": answer.word,
        "reason": answer.reason,
        "path": list(answer.path),
        "features": list(answer.features),
        "assignment": dict(answer.assignment),
        "separator": None if answer.separator is None else list(answer.separator),
        "blocking": list(answer.blocking),
    }


def _answer_text(answer: Answer) -> str:
    from itertools import pairwise

    from contextwise.models.notation import quoted
    from contextwise.support.formatting import printable

    steps = [
        f"  {quoted(here)} – {quoted(there)}: {feature}"
        for (here, there), feature in zip(pairwise(answer.path), answer.features, strict=True)
    ]
    return "\n".join(map(printable, [str(answer), *steps]))


@click.command()
@model_argument("model")
@click.argument("pair", metavar="[A B]", nargs=-1)
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="How many pairs, the strongest first.",
)
@click.option(
    "--context-specific", is_flag=True, help="Only pairs that are independent in some contexts."
)
@top_option("How many statements per pair, the most general first.", least=1)
@time_limit_option("For each pair.")
@reading_options
@json_option("Print JSON: a list, one object per pair.")
@click.pass_context
def independencies(
    ctx: click.Context,
    model: str,
    pair: tuple[str, ...],
    most: int,
    context_specific: bool,
    top: int,
    time_limit: float | None,
    format_name: str | None,
    zero_weights: ZeroWeights,
    as_json: bool,
) -> None:
    """List what MODEL says about independence: of the variables A and B, or of every pair.

    "A ⫫ B | C=yes, D" says that A and B are independent wherever C is yes, given D whatever its
    value. The statements of a pair do not overlap; each is followed by its share of the pair's
    contexts, unless it holds in all of them.

    Of all pairs, those that are independent in every context come first, then those that are so
    in the most; how many were left out is said at the end. Pairs that always depend have nothing
    to list.

    Exit code: 0, or 3 if some contexts were not decided within the limits.

    \b
    Examples:
      contextwise independencies six
      contextwise independencies learned.mn --context-specific --most 20
      contextwise independencies learned.mn v3 v7 --top 5
      contextwise independencies learned.mn --json
    """
    from contextwise import independence

    if len(pair) not in (0, 2):
        raise click.UsageError(f"give two variables or none, not {len(pair)}")
    of_all = typed_flags(ctx, ["most", "context_specific"]) if pair else []
    if of_all:
        raise click.UsageError(f"{of_all[0]} is about all pairs, not about one")
    asked = load(model, format=format_name, zero_weights=zero_weights)
    limits: dict[str, Any] = {"top": top, "time_limit": time_limit}
    found: Iterable[PairIndependencies]
    if pair:
        found = [independence.context_specific_independencies(asked, *pair, **limits)]
    else:
        found = independence.independencies(
            asked, most=most, context_specific=context_specific, **limits
        )
    undecided = _show_pairs(found, as_json)
    if isinstance(found, independence.Independencies):
        _tell_unlisted(found)
        if not found.pairs:
            some = "in only some contexts" if context_specific else "in any context"
            click.echo(f"contextwise: no two variables are independent {some}", err=True)
    ctx.exit(UNDECIDED if undecided else 0)


def _show_pairs(pairs: Iterable[PairIndependencies], as_json: bool) -> bool:
    """Print pairs, as text one by one; say whether some contexts were not decided."""
    undecided = False
    records = []
    for one in pairs:
        undecided |= one.open > 0
        if as_json:
            records.append(_pair_record(one))
        else:
            _print_pair(one)
    if as_json:
        print_json(records)
    return undecided


def _tell_unlisted(found: Independencies) -> None:
    from contextwise.support.formatting import plural

    left = {
        "in every context": found.unlisted_everywhere,
        "in some contexts": found.unlisted_somewhere,
    }
    parts = [f"{plural(count, 'pair')} {where}" for where, count in left.items() if count]
    if parts:
        told = f"left out: {' and '.join(parts)}; --most lists more"
        click.echo(f"contextwise: {told}", err=True)


def _print_pair(pair: PairIndependencies) -> None:
    from contextwise.models.notation import quoted
    from contextwise.support.formatting import percent, plural, printable

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


def _pair_record(pair: PairIndependencies) -> dict[str, object]:
    from contextwise.comparison.confusion import ratio

    return {
        "first": pair.first,
        "second": pair.second,
        "contexts": pair.contexts,
        "independent": pair.independent,
        "share": ratio(pair.independent, pair.contexts),
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
    from contextwise.independence.graphs import FORMATS, edges_of, encode_graph, write_graph

    if out is not None:
        check_out(out, [f".{name}" for name in FORMATS])
    found = edges_of(load(model, format=format_name, zero_weights=zero_weights), context)
    if out is None:
        click.echo(encode_graph(found, "dot").decode(), nl=False)
    else:
        write_graph(found, out)
