"""``contextwise compare``: the confusion matrix, the distance and the rates of guesses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from contextwise.cli.models import (
    ZeroWeights,
    format_option,
    load,
    model_argument,
    only_one_from_stdin,
    short_names,
    zero_weights_option,
)
from contextwise.cli.output import print_csv, print_json
from contextwise.errors import ContextwiseError, DomainError
from contextwise.notation import parse_names

if TYPE_CHECKING:
    from contextwise.comparison import Comparison
    from contextwise.report.records import Record
    from contextwise.structure import Model


@dataclass(frozen=True)
class Given:
    """A model as it was given: its name, and how many of its features have weight 0."""

    name: str
    label: str  # the name in a table: without its folder, where that is enough
    model: Model
    zero_weights: int


@dataclass(frozen=True)
class Result:
    """A guess, and how it compares."""

    guess: Given
    comparison: Comparison


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
@click.option(
    "--contexts",
    type=click.Choice(["fully-contextualized", "canonical"]),
    default="fully-contextualized",
    show_default=True,
    help="Contexts of the other variables, or full assignments.",
)
@click.option(
    "--engine",
    metavar="NAME",
    shell_complete=_complete_engine,
    help="What counts; see: contextwise engines",
)
@zero_weights_option
@format_option
@click.option("--top", default=10, show_default=True, help="How many of the worst pairs to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list, one object a guess.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: one row a guess.")
@click.option("--per-pair", is_flag=True, help="With --csv or --json: the counts of every pair.")
@click.option("--exit-code", is_flag=True, help="Leave with 0 if nothing differs, 1 otherwise.")
@click.pass_context
def compare(
    ctx: click.Context,
    true: str,
    guesses: tuple[str, ...],
    pairs: tuple[str, ...],
    variables: str | None,
    context: str | None,
    contexts: str,
    engine: str | None,
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
    independent in every context of both.

    \b
    Examples:
      contextwise compare true.mn learned.mn
      contextwise compare true.mn *.learned.mn
      contextwise compare true.mn learned.mn --pairs smoker,cough --context "age=old"
      contextwise compare true.mn learned.mn --json | jq '.[0].distance'
      contextwise compare true.mn learned.mn --csv --per-pair > pairs.csv
      contextwise compare true.mn learned.mn --exit-code > /dev/null || echo different
    """
    _refuse_contradictions(as_json, as_csv, per_pair, [true, *guesses])
    from contextwise.comparison import compare as compare_models
    from contextwise.counting import DEFAULT

    first, *others = _all_given([true, *guesses], format_name, zero_weights)
    for other in others:
        _refuse_other_domains(first, other)
    results = [
        Result(
            other,
            compare_models(
                first.model,
                other.model,
                pairs=[_pair(text) for text in pairs] or None,
                variables=None if variables is None else parse_names(variables),
                context=context,
                contexts=contexts,  # type: ignore[arg-type]
                engine=engine or DEFAULT,
                show_progress=True,
            ),
        )
        for other in others
    ]
    if as_json:
        print_json([_json_record(first, result, top, per_pair) for result in results])
    elif as_csv:
        _print_csv(first, results, per_pair)
    else:
        click.echo(_text(first, results, zero_weights, context, top))
    if exit_code and any(result.comparison.distance for result in results):
        ctx.exit(1)


def _refuse_contradictions(as_json: bool, as_csv: bool, per_pair: bool, names: list[str]) -> None:
    if as_json and as_csv:
        raise click.UsageError("choose one of --json and --csv")
    if per_pair and not (as_json or as_csv):
        raise click.UsageError("--per-pair goes with --csv or --json")
    only_one_from_stdin(names)


def _refuse_other_domains(true: Given, guess: Given) -> None:
    from contextwise.domain import align

    try:
        align(guess.model.domain, true.model.domain)
    except DomainError as error:
        raise ContextwiseError(f"{true.name}, {guess.name}: {error}") from None


def _all_given(names: list[str], format_name: str | None, zero_weights: ZeroWeights) -> list[Given]:
    from contextwise.structure import LogLinear

    found = []
    for name, label in zip(names, short_names(names), strict=True):
        model, zeros = load(name, format=format_name), 0
        if isinstance(model, LogLinear):
            zeros = int((model.weights == 0).sum())
            model = model.without_zero_weights() if zero_weights == "drop" else model
        found.append(Given(name, label, model, zeros))
    return found


def _pair(text: str) -> tuple[str, str]:
    names = parse_names(text)
    if len(names) != 2:
        raise click.UsageError(f"--pairs takes two names, as in --pairs A,B; not {text!r}")
    return names[0], names[1]


# -- for programs --------------------------------------------------------------------------------


def _record(true: Given, result: Result) -> Record:
    from contextwise.report.records import comparison_record

    guess = result.guess
    return {
        "true": true.name,
        "guess": guess.name,
        "variables": len(true.model.domain),
        "true_features": len(true.model),
        "guess_features": len(guess.model),
        "true_zero_weights": true.zero_weights,
        "guess_zero_weights": guess.zero_weights,
        **comparison_record(result.comparison),
    }


def _json_record(true: Given, result: Result, top: int, per_pair: bool) -> dict[str, object]:
    from contextwise.report.records import pair_records, worst_pair_records

    record: dict[str, object] = {**_record(true, result)}
    record["worst_pairs"] = list(worst_pair_records(result.comparison, top))
    if per_pair:
        record["per_pair"] = list(pair_records(result.comparison))
    return record


def _print_csv(true: Given, results: Sequence[Result], per_pair: bool) -> None:
    from contextwise.report.records import PAIR_KEYS, pair_records

    if per_pair:
        rows: Iterable[Record] = (
            {"guess": result.guess.name, **record}
            for result in results
            for record in pair_records(result.comparison)
        )
        print_csv(rows, ["guess", *PAIR_KEYS])
    else:
        records = [_record(true, result) for result in results]
        print_csv(records, records[0])


# -- for people ----------------------------------------------------------------------------------


def _text(
    true: Given, results: Sequence[Result], zero_weights: str, context: str | None, top: int
) -> str:
    from contextwise.report.tables import comparison_table, comparisons_table

    if len(results) == 1:
        table = comparison_table(results[0].comparison, top=top)
    else:
        table = comparisons_table((r.guess.label, r.comparison) for r in results)
    return f"{_head(true, results, zero_weights, context)}\n\n{table}"


def _head(true: Given, results: Sequence[Result], zero_weights: str, context: str | None) -> str:
    """What was compared."""
    from contextwise.report.text import columns, name, plural

    guesses = [result.guess for result in results]
    rows = [("true", _size(true))]
    if len(guesses) == 1:
        rows.append(("guess", _size(guesses[0])))
    c = results[0].comparison
    over = f"{plural(c.pair_count, 'pair')}, {plural(c.total, 'assertion')}"
    if c.contexts == "canonical":
        over += " on full assignments"
    if context is not None:
        over += f" in the context {name(context)}"
    rows.append(("over", over))
    zeros = [
        f"{given.zero_weights:,} in {name(given.label)}"
        for given in (true, *guesses)
        if given.zero_weights
    ]
    if zeros:
        kept = "counted; --zero-weights drop leaves them out"
        done = "left out" if zero_weights == "drop" else kept
        rows.append(("note", f"features of weight 0: {', '.join(zeros)} ({done})"))
    return columns(rows, "<<")


def _size(given: Given) -> str:
    from contextwise.report.text import name, plural

    variables = plural(len(given.model.domain), "variable")
    return f"{name(given.label)}: {variables}, {plural(len(given.model), 'feature')}"
