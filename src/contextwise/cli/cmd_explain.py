"""``contextwise explain``: show where a guess differs from the true model."""

from __future__ import annotations

import click

from contextwise.cli.inputs import load_all
from contextwise.cli.options import (
    Scope,
    SectionedCommand,
    json_option,
    model_argument,
    refuse_nothing,
    scope_options,
    time_limit_option,
    top_option,
)
from contextwise.cli.printing import print_json


@click.command(cls=SectionedCommand)
@model_argument("true")
@model_argument("guess")
@top_option(least=1)
@time_limit_option(60)
@json_option
@scope_options
@click.pass_context
def explain(
    ctx: click.Context,
    true: str,
    guess: str,
    top: int,
    time_limit: float,
    as_json: bool,
    scope: Scope,
) -> None:
    """Show where GUESS differs from the TRUE model: the contexts, and the features responsible.

    Contexts are grouped into regions that do not overlap, largest first. False positives are
    marked "only in guess", false negatives "only in true".

    Exit codes: 0 done, 2 error, 3 if the time limit left something out.

    \b
    Examples:
      contextwise explain true.mn learned.mn
      contextwise explain true.mn learned.mn --pairs smoker,cough
      contextwise explain true.mn learned.mn --json | jq '.features[0]'
    """
    from contextwise.comparison.explain import explain as explain_models

    first, second = load_all([true, guess], format=scope.format_name)
    explanation = explain_models(
        first,
        second,
        top=top,
        time_limit=time_limit,
        show_progress=True,
        **scope.keywords(first.domain),
    )
    refuse_nothing(explanation.comparison.question)
    if as_json:
        from contextwise.comparison.compare import comparison_record

        print_json(
            {
                "comparison": comparison_record(explanation.comparison),
                "summary": explanation.comparison.summary(),
                **explanation.record(),
            }
        )
    else:
        click.echo(str(explanation))
    if explanation.partial:
        ctx.exit(3)
