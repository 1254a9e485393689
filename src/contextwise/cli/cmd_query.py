"""``contextwise query``: ask a model about an independence."""

from __future__ import annotations

from itertools import pairwise

import click

from contextwise.cli import options
from contextwise.cli.inputs import load

EXIT_CODES = {"independent": 0, "dependent": 1, "undecided": 3}


@click.command()
@options.model("model")
@click.argument("question", metavar="QUERY")
@options.time_limit(60)
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

    Exit codes: 0 independent, 1 dependent, 2 error, 3 undecided within the time limit.

    \b
    Examples:
      contextwise query six "X1 _||_ X2 | X0=1"
      contextwise query learned.mn "v1, v2 ⫫ v3 | v4, v5=0"
      contextwise query learned.mn '"blood pressure" _||_ age' --json
    """
    from contextwise.independence.queries import answer_to, parse_statement
    from contextwise.models.notation import quoted
    from contextwise.support.formatting import printable

    statement = parse_statement(question)
    loaded = load(model, *reading)
    answer = answer_to(loaded, statement, time_limit=time_limit)
    if output == "json":
        options.print_json(
            {
                "query": str(answer.statement),
                "answer": answer.word,
                "reason": answer.reason,
                "path": list(answer.path),
                "features": list(answer.features),
                "assignment": dict(answer.assignment),
                "separator": None if answer.separator is None else list(answer.separator),
                "blocking": list(answer.blocking),
            }
        )
    else:
        click.echo(printable(str(answer)))
        for (here, there), feature in zip(pairwise(answer.path), answer.features, strict=True):
            click.echo(printable(f"  {quoted(here)} – {quoted(there)}: {feature}"))
    ctx.exit(EXIT_CODES[answer.word])
