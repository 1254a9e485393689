"""``contextwise explain``: where a guess differs from the true model."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from contextwise.cli.models import (
    ZeroWeights,
    contexts_option,
    load_all,
    model_argument,
    pair_of,
    reading_options,
)
from contextwise.cli.output import print_json

if TYPE_CHECKING:
    from contextwise.comparison.explain import Explanation, PairExplanation


@click.command()
@model_argument("true")
@model_argument("guess")
@click.option("--pair", metavar="A,B", help="Explain this pair instead of the whole comparison.")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How many regions, pairs and features.",
)
@contexts_option
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Say what is known by then.",
)
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON; sizes are exact.")
@click.pass_context
def explain(
    ctx: click.Context,
    true: str,
    guess: str,
    pair: str | None,
    top: int,
    contexts: str,
    time_limit: float | None,
    zero_weights: ZeroWeights,
    format_name: str | None,
    as_json: bool,
) -> None:
    """Say where GUESS differs from the TRUE model: in which contexts, and by which features.

    Contexts are given as regions that do not overlap, largest first. "only in guess" are false
    positives, "only in true" false negatives.

    Exit code: 0, or 3 if a time limit left something out.

    \b
    Examples:
      contextwise explain true.mn learned.mn
      contextwise explain true.mn learned.mn --pair smoker,cough
      contextwise explain true.mn learned.mn --json | jq '.features[0]'
    """
    from contextwise.comparison.explain import explain as explain_models

    first, second = load_all([true, guess], format=format_name, zero_weights=zero_weights)
    found = explain_models(
        first,
        second,
        pair=None if pair is None else pair_of(pair, "--pair"),  # type: ignore[call-overload]
        top=top,
        contexts=contexts,
        time_limit=time_limit,
    )
    if as_json:
        print_json(_record(found))
    else:
        click.echo(str(found))
    if found.partial:
        ctx.exit(3)


def _record(found: Explanation | PairExplanation) -> dict[str, object]:
    from contextwise.comparison.explain import PairExplanation
    from contextwise.report.records import comparison_record

    if isinstance(found, PairExplanation):
        return _pair_record(found)
    return {
        "comparison": comparison_record(found.comparison),
        "summary": found.comparison.summary(),
        "pairs": [_pair_record(pair) for pair in found.pairs],
        "features": [asdict(feature) for feature in found.features],
        "partial": found.partial,
    }


def _pair_record(pair: PairExplanation) -> dict[str, object]:
    record = asdict(pair)
    for region in record["regions"]:
        region["share"] = float(region["share"])
    return record
