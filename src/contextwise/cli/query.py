"""``contextwise query``: is A independent of B, given C, in a context?"""

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
    from contextwise.independence import Answer

EXIT_CODES = {"independent": 0, "dependent": 1, "undecided": 3}


@click.command()
@model_argument("model")
@click.argument("question", metavar="QUERY")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="After which the answer is: undecided.",
)
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
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
        print_json(_record(answer))
    else:
        click.echo(_text(answer))
    ctx.exit(EXIT_CODES[answer.word])


def _record(answer: Answer) -> dict[str, object]:
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


def _text(answer: Answer) -> str:
    from itertools import pairwise

    from contextwise.models.notation import printable, quoted

    steps = [
        f"  {quoted(here)} – {quoted(there)}: {feature}"
        for (here, there), feature in zip(pairwise(answer.path), answer.features, strict=True)
    ]
    return "\n".join(map(printable, [str(answer), *steps]))
