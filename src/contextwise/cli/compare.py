"""``contextwise compare``: the confusion matrix, the distance and the rates of guesses."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from contextwise.cli.compared import Given, Result, as_records, as_text, print_rows
from contextwise.cli.data import load_rows
from contextwise.cli.models import (
    ZeroWeights,
    contexts_option,
    load,
    model_argument,
    only_one_from_stdin,
    pair_of,
    reading_options,
    short_names,
)
from contextwise.cli.output import print_records
from contextwise.errors import ContextwiseError, DomainError
from contextwise.models.notation import parse_names


def _complete_engine(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from contextwise.counting import ENGINES

    return [CompletionItem(name) for name in ENGINES if name.startswith(incomplete)]


@click.command()
@model_argument("true")
@model_argument("guesses", metavar="GUESS...", nargs=-1, required=True)
@click.option("--pairs", "pairs", metavar="A,B", multiple=True, help="Only this pair; repeatable.")
@click.option("--variables", metavar="A,B,...", help="Only the pairs of these variables.")
@click.option("--context", metavar="'A=1, B=0'", help="Only contexts that agree with this one.")
@click.option("--data", type=click.Path(), help="Only contexts of the rows of this CSV file.")
@contexts_option
@click.option(
    "--engine",
    metavar="NAME",
    shell_complete=_complete_engine,
    help="What counts; see: contextwise engines",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Stop after so long, for each guess; what is not finished then has proven bounds.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="How many threads count.  [default: one a core]",
)
@reading_options
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many of the worst pairs to show.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON; a list for several guesses.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: one row a guess.")
@click.option("--per-pair", is_flag=True, help="With --csv or --json: the counts of every pair.")
@click.option("--exit-code", is_flag=True, help="Leave with 0 if nothing differs, 1 if it does.")
@click.pass_context
def compare(
    ctx: click.Context,
    true: str,
    guesses: tuple[str, ...],
    pairs: tuple[str, ...],
    variables: str | None,
    context: str | None,
    data: str | None,
    contexts: str,
    engine: str | None,
    time_limit: float | None,
    threads: int | None,
    zero_weights: ZeroWeights,
    format_name: str | None,
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
      contextwise compare true.mn learned.mn --json | jq .distance
      contextwise compare true.mn learned.mn --csv --per-pair > pairs.csv
      contextwise compare true.mn learned.mn --time-limit 60
      contextwise compare true.mn learned.mn --exit-code > /dev/null || echo different
    """
    _refuse_contradictions(as_json, as_csv, per_pair)
    only_one_from_stdin([true, *guesses, data])
    from contextwise.comparison.compare import compare as compare_models
    from contextwise.comparison.result import Interrupted
    from contextwise.counting import DEFAULT

    first, *others = _all_given([true, *guesses], format_name, zero_weights)
    for other in others:
        _refuse_other_domains(first, other)
    rows = None if data is None else load_rows(data, first.model.domain)
    results: list[Result] = []
    for other in others:
        try:
            comparison = compare_models(
                first.model,
                other.model,
                pairs=[pair_of(text, "--pairs") for text in pairs] or None,
                variables=None if variables is None else parse_names(variables),
                context=context,
                data=rows,
                contexts=contexts,  # type: ignore[arg-type]
                engine=engine or DEFAULT,
                time_limit=time_limit,
                threads=threads,
                show_progress=True,
            )
        except Interrupted as stop:
            comparison = stop.comparison
        results.append(Result(other, comparison, context, data))
        if comparison.interrupted:
            break
    if as_json:
        print_records(as_records(first, results, top=top, per_pair=per_pair))
    elif as_csv:
        print_rows(first, results, per_pair=per_pair)
    else:
        click.echo(as_text(first, results, zero_weights=zero_weights, top=top))
    if exit_code and any(result.comparison.distance_bounds[0] for result in results):
        ctx.exit(1)
    if any(result.comparison.open_pairs or result.comparison.interrupted for result in results):
        ctx.exit(3)


def _refuse_contradictions(as_json: bool, as_csv: bool, per_pair: bool) -> None:
    if as_json and as_csv:
        raise click.UsageError("choose one of --json and --csv")
    if per_pair and not (as_json or as_csv):
        raise click.UsageError("--per-pair goes with --csv or --json")


def _refuse_other_domains(true: Given, guess: Given) -> None:
    from contextwise.models.domain import align

    try:
        align(guess.model.domain, true.model.domain)
    except DomainError as error:
        raise ContextwiseError(f"{true.name}, {guess.name}: {error}") from None


def _all_given(names: list[str], format_name: str | None, zero_weights: ZeroWeights) -> list[Given]:
    from contextwise.models.structure import LogLinear

    found = []
    for name, label in zip(names, short_names(names), strict=True):
        model, zeros = load(name, format=format_name), 0
        if isinstance(model, LogLinear):
            zeros = int((model.weights == 0).sum())
            model = model.without_zero_weights() if zero_weights == "drop" else model
        found.append(Given(name, label, model, zeros))
    return found
