"""``contextwise compare``: the confusion matrix, the distance and the rates of guesses."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from contextwise.cli.compared import Given, Result, as_records, as_text, print_rows
from contextwise.cli.models import load, model_argument, only_one_from_stdin, short_names
from contextwise.cli.output import print_records
from contextwise.cli.restrictions import (
    Asked,
    refuse_nothing,
    restricting_options,
    time_limit_option,
)


def _complete_engine(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from contextwise.counting import ENGINES

    return [CompletionItem(name) for name in ENGINES if name.startswith(incomplete)]


@click.command()
@model_argument("true")
@model_argument("guesses", metavar="GUESS...", nargs=-1, required=True)
@restricting_options
@click.option(
    "--engine",
    metavar="NAME",
    shell_complete=_complete_engine,
    help="What counts; see: contextwise engines",
)
@time_limit_option(
    "Stop after so long, for each guess; what is not finished then has proven bounds."
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="How many threads count.  [default: one per core]",
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many of the worst pairs to show.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON; a list for several guesses.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: one row per guess.")
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
    threads: int | None,
    top: int,
    as_json: bool,
    as_csv: bool,
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
      contextwise compare true.mn learned.mn --time-limit 60
      contextwise compare true.mn learned.mn --exit-code > /dev/null || echo different
    """
    _refuse_contradictions(as_json, as_csv, per_pair)
    only_one_from_stdin([true, *guesses, asked.data])
    from contextwise.comparison.compare import Interrupted
    from contextwise.comparison.compare import compare as compare_models
    from contextwise.counting import DEFAULT

    first, *others = _all_given([true, *guesses], asked)
    restriction = asked.of(first.model.domain)
    results: list[Result] = []
    for other in others:
        try:
            comparison = compare_models(
                first.model,
                other.model,
                engine=engine or DEFAULT,
                time_limit=time_limit,
                threads=threads,
                show_progress=True,
                **restriction,
            )
        except Interrupted as stop:
            comparison = stop.comparison
        refuse_nothing(comparison.question)
        results.append(Result(other, comparison, asked.context, asked.data))
        if comparison.interrupted:
            break
    if as_json:
        print_records(as_records(first, results, top=top, per_pair=per_pair))
    elif as_csv:
        print_rows(first, results, per_pair=per_pair)
    else:
        click.echo(as_text(first, results, zero_weights=asked.zero_weights, top=top))
    if exit_code and any(result.comparison.distance_bounds[0] for result in results):
        ctx.exit(1)
    if any(result.comparison.open_pairs or result.comparison.interrupted for result in results):
        ctx.exit(3)


def _refuse_contradictions(as_json: bool, as_csv: bool, per_pair: bool) -> None:
    if as_json and as_csv:
        raise click.UsageError("choose one of --json and --csv")
    if per_pair and not (as_json or as_csv):
        raise click.UsageError("--per-pair goes with --csv or --json")


def _all_given(names: list[str], asked: Asked) -> list[Given]:
    from contextwise.models.structure import LogLinear

    found = []
    for name, label in zip(names, short_names(names), strict=True):
        model = load(name, format=asked.format_name)
        zeros = int((model.weights == 0).sum()) if isinstance(model, LogLinear) else 0
        left = len(model) - (zeros if asked.zero_weights == "drop" else 0)
        found.append(Given(name, label, model, left, zeros))
    return found
