"""``contextwise compare``: the confusion matrix, the distance and the rates of guesses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from contextwise.cli.cmd_chance import Drawn, chance_options
from contextwise.cli.cmd_groups import group_option, refuse_both, show_groups, show_truths
from contextwise.cli.inputs import load, model_argument, only_one_from_stdin, short_names
from contextwise.cli.options import (
    csv_option,
    engine_option,
    json_option,
    refuse_alone,
    time_limit_option,
    top_option,
    typed_flags,
)
from contextwise.cli.printing import print_records
from contextwise.cli.restrictions import (
    Asked,
    refuse_nothing,
    restricting_options,
)

if TYPE_CHECKING:
    from contextwise.cli.cmd_compare_output import Given, Result
    from contextwise.comparison.question import Restriction

ABOUT_ONE = ("time_limit", "estimate", "chance", "top", "per_pair", "exit_code")
"""Parameters that mean nothing where groups or truths are summarized."""


@click.command()
@model_argument("true")
@model_argument("guesses", metavar="GUESS...", nargs=-1)
@restricting_options
@engine_option
@time_limit_option(
    "Stop after so long, for each guess; what is not finished then has proven bounds."
)
@click.option(
    "--estimate",
    is_flag=True,
    help="With --time-limit: estimate what is not finished by sampling, with intervals.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="How many threads count.  [default: one per core]",
)
@group_option
@click.option(
    "--training-share",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="With --group: each replicate learned from this share of the same rows.",
)
@click.option(
    "--truths",
    metavar="FILES",
    help="More draws of an uncertain truth, as in 'posterior/*.json': mean and interval.",
)
@chance_options
@top_option("How many of the worst pairs to show.")
@json_option("Print JSON; a list for several guesses.")
@csv_option("one row per guess")
@click.option("--latex", "as_latex", is_flag=True, help="With --group: print LaTeX tables.")
@click.option("--per-pair", is_flag=True, help="With --csv or --json: the counts of every pair.")
@click.option("--exit-code", is_flag=True, help="Leave with 0 if nothing differs, 1 if it does.")
@click.pass_context
def compare(
    ctx: click.Context,
    true: str,
    guesses: tuple[str, ...],
    asked: Asked,
    engine: str | None,
    time_limit: float | None,
    estimate: bool,
    threads: int | None,
    groups: tuple[str, ...],
    training_share: float | None,
    truths: str | None,
    drawn: Drawn,
    top: int,
    as_json: bool,
    as_csv: bool,
    as_latex: bool,
    per_pair: bool,
    exit_code: bool,
) -> None:
    """Say how far each GUESS is from the TRUE model, exactly.

    For each pair of variables and each context (an assignment of the other variables) a model
    says "dependent" or "independent". The distance counts where the two models differ: FN where
    only the true one has the dependence, FP where only the guess has it.

    Pairs that no feature of either model covers have no row in --per-pair: they are
    independent in every context of both. Ctrl-C stops the counting, too, and shows what is
    known. Exit codes: 0 done, 2 trouble, 3 not decided in time; with --exit-code, 1 if a guess
    differs, like diff.

    \b
    Examples:
      contextwise compare true.mn learned.mn
      contextwise compare true.mn *.learned.mn
      contextwise compare true.mn learned.mn --pairs smoker,cough --context "age=old"
      contextwise compare true.mn learned.mn --data observed.csv
      contextwise compare true.bif learned.mn --by-position
      contextwise compare true.mn learned.mn --json | jq .distance
      contextwise compare true.mn learned.mn --csv --per-pair > pairs.csv
      contextwise compare true.mn learned.mn --time-limit 60 --estimate
      contextwise compare true.mn learned.mn --chance
      contextwise compare true.mn --group trees='t/*.mn' --group pairs='p/*.mn' --latex
      contextwise compare true.mn learned.mn --truths 'posterior/*.mn'
      contextwise compare true.mn learned.mn --exit-code > /dev/null || echo different
    """
    _refuse_contradictions(as_json, as_csv, as_latex, per_pair)
    _refuse_other_questions(ctx, guesses, groups, truths)
    refuse_alone(ctx, ("null", "draws", "seed"), "chance")
    refuse_alone(ctx, ("estimate",), "time_limit")
    refuse_alone(ctx, ("as_latex", "training_share"), "groups")
    only_one_from_stdin([true, *guesses, asked.data])
    from contextwise.cli.cmd_compare_output import Result, as_records, as_text, print_rows
    from contextwise.comparison.compare import Interrupted
    from contextwise.comparison.compare import compare as compare_models
    from contextwise.counting import DEFAULT

    first, *others = _all_given([true, *guesses], asked)
    restriction = asked.of(first.model.domain)
    counting: dict[str, Any] = {
        "engine": engine or DEFAULT,
        "threads": threads,
        "show_progress": True,
    }
    if groups or truths:
        output = "json" if as_json else "csv" if as_csv else "latex" if as_latex else "text"
        shown = {**counting, "format_name": asked.format_name, "output": output}
        if groups:
            show_groups(first.model, groups, restriction, training_share=training_share, **shown)
        else:
            show_truths(first.model, truths or "", others[0].model, restriction, **shown)
        return
    results: list[Result] = []
    for other in others:
        try:
            comparison = compare_models(
                first.model,
                other.model,
                time_limit=time_limit,
                estimate=estimate,
                **counting,
                **restriction,
            )
        except Interrupted as stop:
            comparison = stop.comparison
        refuse_nothing(comparison.question)
        results.append(Result(other, comparison, asked.context, asked.data))
        if comparison.interrupted:
            break
    if drawn.chance:
        results = [_beside_chance(drawn, first, result, restriction, engine) for result in results]
    if as_json:
        print_records(as_records(first, results, top=top, per_pair=per_pair))
    elif as_csv:
        print_rows(first, results, per_pair=per_pair)
    else:
        click.echo(as_text(first, results, zero_weights=asked.zero_weights, top=top))
    if exit_code and any(result.comparison.distance_bounds[0] for result in results):
        ctx.exit(1)
    if any(result.comparison.open_pairs or result.interrupted for result in results):
        ctx.exit(3)


def _beside_chance(
    drawn: Drawn, true: Given, result: Result, restriction: Restriction, engine: str | None
) -> Result:
    """The result beside guesses by chance; what is not decided has none."""
    from dataclasses import replace

    from contextwise.counting import DEFAULT

    if result.comparison.open_pairs:
        return result
    found, stopped = drawn.beside(
        true.model, result.guess.model, restriction, engine=engine or DEFAULT
    )
    return replace(result, chance=found, stopped=stopped)


def _refuse_contradictions(as_json: bool, as_csv: bool, as_latex: bool, per_pair: bool) -> None:
    if as_json + as_csv + as_latex > 1:
        raise click.UsageError("choose one of --json, --csv and --latex")
    if per_pair and not (as_json or as_csv):
        raise click.UsageError("--per-pair goes with --csv or --json")


def _refuse_other_questions(
    ctx: click.Context, guesses: tuple[str, ...], groups: tuple[str, ...], truths: str | None
) -> None:
    """Groups, many truths and single guesses are three questions; one at a time."""
    if truths and len(guesses) != 1:
        raise click.UsageError("--truths takes one GUESS")
    refuse_both(guesses, groups)
    alone = typed_flags(ctx, ABOUT_ONE) if groups or truths else []
    if alone:
        raise click.UsageError(f"{alone[0]} is about single guesses")


def _all_given(names: list[str], asked: Asked) -> list[Given]:
    from contextwise.cli.cmd_compare_output import Given
    from contextwise.models.structure import LogLinear

    found = []
    for name, label in zip(names, short_names(names), strict=True):
        model = load(name, format=asked.format_name)
        zeros = int((model.weights == 0).sum()) if isinstance(model, LogLinear) else 0
        left = len(model) - (zeros if asked.zero_weights == "drop" else 0)
        found.append(Given(name, label, model, left, zeros))
    return found
