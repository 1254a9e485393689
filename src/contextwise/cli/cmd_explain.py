"""``contextwise explain``: show where a guess differs from the true model."""

from __future__ import annotations

from typing import Any

import click

from contextwise.cli import options
from contextwise.cli.inputs import load_all


@click.command(cls=options.SectionedCommand)
@options.model("true")
@options.model("guess")
@options.top(least=1)
@options.time_limit(60)
@options.output("json")
@options.scope
@click.pass_context
def explain(
    ctx: click.Context,
    /,
    true: str,
    guess: str,
    output: str,
    scope: options.Scope,
    **limits: Any,
) -> None:
    """Show where GUESS differs from the TRUE model: the contexts, and the features responsible.

    Contexts are grouped into regions that do not overlap, largest first. False positives are
    marked "only in guess", false negatives "only in true".

    Exit codes: 0 done, 2 error, 3 stopped by the time limit.

    \b
    Examples:
      contextwise explain true.mn learned.mn
      contextwise explain true.mn learned.mn --pairs smoker,cough
      contextwise explain true.mn learned.mn --json | jq '.features[0]'
    """
    from contextwise.comparison.explain import explain as explain_models

    first, second = load_all([true, guess], format=scope.format_name)
    restriction = scope.keywords(first.domain)
    explanation = explain_models(first, second, show_progress=True, **limits, **restriction)
    options.refuse_nothing(explanation.comparison.question)
    if output == "json":
        from contextwise.comparison.compare import comparison_record

        options.print_json(
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
