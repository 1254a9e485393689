"""``contextwise query`` and ``independencies``: the independencies of one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import contextwise as cw
from contextwise.cli import options
from contextwise.cli.inputs import load, time_left
from contextwise.models.notation import quoted
from contextwise.support.formatting import percent, plural, printable

if TYPE_CHECKING:
    from contextwise.independence.independencies import Independencies, PairIndependencies


@click.command()
@options.model("model")
@click.argument("question", metavar="QUERY")
@options.time_limit(default=60)
@options.reading
@options.output("json")
@click.pass_context
def query(
    ctx: click.Context,
    model: str,
    question: str,
    time_limit: float,
    reading: options.Reading,
    output: str,
) -> None:
    """Ask MODEL whether variables are independent, and why.

    The QUERY "A _||_ B | C, D=yes" (or with ⫫) asks: is A independent of B, given any value of C,
    when D is yes? Separate several variables on a side by commas. The part after the bar is
    optional. Put names with special characters in double quotes.

    A Bayesian network answers by d-separation, CSI-separation and its features. The answer names
    the rule that shows an independence. If none does, it is "dependent in general" (for almost all
    tables of this network), or "not shown independent" if there is a context or tables have equal
    rows.

    Exit codes: 0 independent, 1 dependent (or not shown independent), 2 error, 3 undecided within
    the time limit.

    \b
    Examples:
      contextwise query six "X1 _||_ X2 | X0=1"
      contextwise query learned.mn "v1, v2 ⫫ v3 | v4, v5=0"
      contextwise query learned.mn '"blood pressure" _||_ age' --json
    """
    statement = cw.independence.queries.parse_statement(question)
    loaded = load(model, *reading)
    answer = cw.independence.queries.answer_to(loaded, statement, time_limit=time_left())
    if output == "json":
        options.print_json(
            {
                "query": str(answer.statement),
                "answer": answer.word,
                "rule": answer.rule,
                "reason": answer.reason,
                "path": list(answer.path),
                "arrows": list(answer.arrows),
                "features": list(answer.features),
                "assignment": dict(answer.assignment),
                "separator": None if answer.separator is None else list(answer.separator),
                "blocking": list(answer.blocking),
            }
        )
    else:
        click.echo(printable(str(answer)))
        for step in answer.steps:
            click.echo(printable(f"  {step}"))
    ctx.exit(3 if answer.word == "undecided" else int(not answer))


@click.command()
@options.model("model")
@click.argument("pair", metavar="[A B]", nargs=-1)
@options.number("--most", default=50, help="Number of pairs to list, the most independent first.")
@click.option(
    "--context-specific",
    is_flag=True,
    help="Only pairs that are independent in some contexts and dependent in others.",
)
@click.option(
    "--separators",
    is_flag=True,
    help="Of a Bayesian network: one minimal d-separating set for each pair without an arc.",
)
@options.top(least=1)
@options.time_limit()
@options.reading
@options.output("json")
@click.pass_context
def independencies(
    ctx: click.Context,
    /,
    model: str,
    pair: tuple[str, ...],
    most: int,
    context_specific: bool,
    separators: bool,
    reading: options.Reading,
    output: str,
    **limits: Any,
) -> None:
    """List the independencies of MODEL: of the variables A and B, or of every pair.

    "A ⫫ B | C=yes, D" means: A and B are independent when C is yes, given any value of D. The
    statements of a pair do not overlap. Each is followed by the share of the pair's contexts it
    covers, unless it covers all of them.

    Pairs that are independent in every context come first, then those that are independent in
    the largest share. Pairs that always depend are not listed.

    Exit codes: 0 done, 2 error, 3 if some contexts stayed undecided.

    \b
    Examples:
      contextwise independencies six
      contextwise independencies learned.mn --context-specific --most 20
      contextwise independencies learned.mn v3 v7 --top 5
      contextwise independencies network.bif --separators
      contextwise independencies learned.mn --json
    """
    if len(pair) not in (0, 2):
        raise click.UsageError(f"give two variables or none, not {len(pair)}")
    for flag in (
        options.typed_flags(ctx, ["most", "context_specific", "separators"]) if pair else []
    ):
        raise click.UsageError(f"{flag} is for all pairs; leave out the variables")
    loaded = load(model, *reading)
    limits["time_limit"] = time_left()
    pairs: list[PairIndependencies] | Independencies
    if pair:
        pairs = [cw.independence.context_specific_independencies(loaded, *pair, **limits)]
    else:
        pairs = cw.independence.independencies(
            loaded,
            most=most,
            context_specific=context_specific,
            separators=separators,
            **limits,
        )
    undecided = False
    records = []
    for listed in pairs:  # text is printed pair by pair
        undecided |= listed.undecided > 0
        if output == "json":
            records.append(_record(listed))
        else:
            _print_pair(listed)
    if output == "json":
        options.print_json(records)
    if not isinstance(pairs, list):
        undecided |= pairs.unreached > 0
        _report_unlisted(pairs)
        if not pairs.pairs:
            where = "in only some contexts" if context_specific else "in any context"
            click.echo(f"contextwise: no two variables are independent {where}", err=True)
    ctx.exit(3 if undecided else 0)


def _report_unlisted(listed: Independencies) -> None:
    if listed.unreached:
        late = plural(listed.unreached, "pair")
        click.echo(f"contextwise: {late} not reached within the time limit", err=True)
    counts = {
        "every context": listed.unlisted_everywhere,
        "some contexts": listed.unlisted_somewhere,
    }
    parts = [f"{plural(count, 'pair')} in {where}" for where, count in counts.items() if count]
    if parts:
        click.echo(
            f"contextwise: not listed: {' and '.join(parts)}; list more with --most", err=True
        )


def _print_pair(pair: PairIndependencies) -> None:
    names = printable(f"{quoted(pair.first)} and {quoted(pair.second)}")
    for statement in pair:
        share = f"  ({percent(statement.contexts, pair.contexts)})" if statement.region else ""
        click.echo(printable(str(statement)) + share)
    if pair.unlisted:
        left = pair.independent - sum(statement.contexts for statement in pair)
        more = plural(pair.unlisted, "more statement")
        click.echo(f"  … {more} on {names}  ({percent(left, pair.contexts)})")
    if pair.undecided:
        share = percent(pair.undecided, pair.contexts)
        click.echo(f"contextwise: {names}: {share} of the contexts are undecided", err=True)
    elif not pair.statements:
        click.echo(f"{names} depend in every context")


def _record(pair: PairIndependencies) -> dict[str, object]:
    statements = [
        {
            "text": str(statement),
            "region": [
                {"variable": literal.variable, "states": literal.states, "negated": literal.negated}
                for literal in statement.region
            ],
            "given": statement.given,
            "contexts": statement.contexts,
            "share": statement.share,
        }
        for statement in pair
    ]
    return {
        "first": pair.first,
        "second": pair.second,
        "contexts": pair.contexts,
        "independent": pair.independent,
        "share": cw.comparison.confusion.ratio(pair.independent, pair.contexts),
        "undecided": pair.undecided,
        "unlisted": pair.unlisted,
        "statements": statements,
    }
