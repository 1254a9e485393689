"""``contextwise explain``: where a guess differs from the true model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from contextwise.cli.inputs import load_all, model_argument
from contextwise.cli.options import json_option, time_limit_option, top_option
from contextwise.cli.printing import print_json
from contextwise.cli.restrictions import (
    Asked,
    refuse_nothing,
    restricting_options,
)

if TYPE_CHECKING:
    from contextwise.comparison.explain import Explanation


@click.command()
@model_argument("true")
@model_argument("guess")
@top_option("How many regions, pairs and features.", least=1)
@restricting_options
@time_limit_option("Say what is known by then.", 60)
@json_option("Print JSON; sizes are exact.")
@click.pass_context
def explain(
    ctx: click.Context,
    true: str,
    guess: str,
    top: int,
    asked: Asked,
    time_limit: float,
    as_json: bool,
) -> None:
    """Say where GUESS differs from the TRUE model: in which contexts, and by which features.

    Contexts are given as regions that do not overlap, largest first. "only in guess" are false
    positives, "only in true" false negatives.

    Exit code: 0, or 3 if a time limit left something out.

    \b
    Examples:
      contextwise explain true.mn learned.mn
      contextwise explain true.mn learned.mn --pairs smoker,cough
      contextwise explain true.mn learned.mn --json | jq '.features[0]'
    """
    from contextwise.comparison.explain import explain as explain_models

    first, second = load_all([true, guess], format=asked.format_name)
    found = explain_models(
        first,
        second,
        top=top,
        time_limit=time_limit,
        show_progress=True,
        **asked.of(first.domain),
    )
    refuse_nothing(found.comparison.question)
    if as_json:
        print_json(_record(found))
    else:
        click.echo(str(found))
    if found.partial:
        ctx.exit(3)


def _record(found: Explanation) -> dict[str, object]:
    from contextwise.comparison.compare import comparison_record

    return {
        "comparison": comparison_record(found.comparison),
        "summary": found.comparison.summary(),
        **found.record(),
    }
