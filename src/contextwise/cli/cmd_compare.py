"""``contextwise compare``: compare guesses with the true model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from contextwise.cli import options
from contextwise.cli.inputs import load, only_one_from_stdin, short_names
from contextwise.cli.printing import print_csv, print_records
from contextwise.support.deadline import Deadline

if TYPE_CHECKING:
    from contextwise.comparison.compare import Comparison
    from contextwise.evaluation.chance import Chance
    from contextwise.models.structure import Model


@click.command(cls=options.SectionedCommand)
@options.model("true")
@options.model("guesses", metavar="GUESS...", nargs=-1, required=True)
@options.engine
@options.time_limit()
@click.option(
    "--estimate",
    is_flag=True,
    help="With --time-limit: estimate the unfinished part by sampling, with intervals.",
)
@options.number("--threads", help="Number of threads.  [default: one per core]")
@options.chance
@options.top()
@options.output("json", "csv")
@click.option("--per-pair", is_flag=True, help="With --csv or --json: add the counts of each pair.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if a guess differs, like diff.")
@options.scope
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    true: str,
    guesses: tuple[str, ...],
    engine: str,
    time_limit: float | None,
    by_chance: options.ChanceOptions,
    top: int,
    output: str,
    per_pair: bool,
    exit_code: bool,
    scope: options.Scope,
    **counting: Any,
) -> None:
    """Compare each GUESS with the TRUE model, exactly.

    An assertion is a pair of variables in one context, an assignment of the other variables.
    Each model makes it dependent or independent. The distance is the number of assertions on
    which the two models differ. A false negative (FN) is dependent only in the true model, a
    false positive (FP) only in the guess.

    With --per-pair, pairs that no feature covers are left out; both models make them
    independent in every context. Ctrl-C stops the counting and shows the results so far.
    To compare groups of guesses, use contextwise replicates.

    Exit codes: 0 done, 1 a guess differs (only with --exit-code), 2 error, 3 stopped before the
    end.

    \b
    Examples:
      contextwise compare true.mn learned.mn
      contextwise compare true.mn first.mn second.mn third.mn
      contextwise compare true.mn learned.mn --chance
      contextwise compare true.mn learned.mn --pairs smoker,cough --context "age=old"
      contextwise compare true.mn learned.mn --csv --per-pair > pairs.csv
      contextwise compare true.mn learned.mn --time-limit 60 --estimate
    """
    if per_pair and output == "text":
        raise click.UsageError("--per-pair needs --csv or --json")
    options.refuse_alone(ctx, ("null", "draws", "rng"), "chance")
    options.refuse_alone(ctx, ("estimate",), "time_limit")
    only_one_from_stdin([true, *guesses, scope.data])
    from contextwise.comparison.compare import Interrupted
    from contextwise.comparison.compare import compare as compare_models

    deadline = Deadline.after(time_limit)
    first, *others = _loaded([true, *guesses], scope)
    restriction = scope.keywords(first.model.domain)
    results: list[Result] = []
    for other in others:
        try:
            comparison = compare_models(
                first.model,
                other.model,
                engine=engine,
                time_limit=deadline.left(),
                show_progress=True,
                **counting,
                **restriction,
            )
        except Interrupted as stop:
            comparison = stop.comparison
        options.refuse_nothing(comparison.question)
        chance, stopped = None, comparison.interrupted
        if by_chance.chance and not comparison.open_pairs and not stopped:
            chance, stopped = by_chance.run(first.model, other.model, restriction, engine=engine)
        results.append(Result(other, comparison, scope, chance))
        if stopped:
            break
    if output == "json":
        print_records(list(_records(first, results, top=top, per_pair=per_pair)))
    elif output == "csv":
        _print_rows(first, results, per_pair=per_pair)
    else:
        click.echo(_text(first, results, top=top))
    if exit_code and any(result.comparison.distance_bounds[0] for result in results):
        ctx.exit(1)
    if stopped or any(result.comparison.open_pairs for result in results):
        ctx.exit(3)


class Input(NamedTuple):
    """A model, its names, and its number of features (in all that are compared; of weight 0)."""

    name: str
    label: str
    model: Model
    features: int
    zero_weights: int


class Result(NamedTuple):
    """A guess and its comparison with the true model."""

    guess: Input
    comparison: Comparison
    scope: options.Scope
    chance: Chance | None


def _loaded(names: list[str], scope: options.Scope) -> list[Input]:
    from contextwise.models.structure import LogLinear

    inputs = []
    for name, label in zip(names, short_names(names), strict=True):
        model = load(name, format=scope.format_name)
        zeros = int((model.weights == 0).sum()) if isinstance(model, LogLinear) else 0
        features = len(model) - (zeros if scope.zero_weights == "drop" else 0)
        inputs.append(Input(name, label, model, features, zeros))
    return inputs


# -- for programs ----------------------------------------------------------------------------------


def _record(true: Input, result: Result) -> dict[str, object]:
    """Return the fields of a row of CSV."""
    from contextwise.comparison.compare import comparison_record

    guess, chance = result.guess, result.chance
    return {
        "true": true.name,
        "guess": guess.name,
        "variables": len(true.model.domain),
        "true_features": true.features,
        "guess_features": guess.features,
        "true_zero_weights": true.zero_weights,
        "guess_zero_weights": guess.zero_weights,
        "context": result.scope.context,
        "data": result.scope.data,
        **comparison_record(result.comparison),
        **({f"chance_{key}": value for key, value in chance.record().items()} if chance else {}),
    }


def _records(
    true: Input, results: Sequence[Result], *, top: int, per_pair: bool
) -> Iterator[dict[str, object]]:
    """Return an object per guess: the fields of CSV, and the pairs."""
    from contextwise.comparison.compare import open_pair_records, worst_pair_records

    for result in results:
        yield {
            **_record(true, result),
            "worst_pairs": list(worst_pair_records(result.comparison, top)),
            "open": list(open_pair_records(result.comparison)),
            "counted": {**result.comparison.counted},
            "seconds": {**result.comparison.seconds},
            **({"per_pair": list(_pair_records(result))} if per_pair else {}),
        }


def _print_rows(true: Input, results: Sequence[Result], *, per_pair: bool) -> None:
    """Print CSV: a row per guess, or a row per pair of each guess."""
    from contextwise.comparison.compare import PAIR_KEYS

    if per_pair:
        rows: Iterable[dict[str, object]] = (
            {"guess": result.guess.name, **record}
            for result in results
            for record in _pair_records(result)
        )
        header = ["guess", *PAIR_KEYS]
        if any(result.chance is not None for result in results):
            from contextwise.evaluation.chance import PAIR_KEYS as CHANCE_KEYS

            header += [f"chance_{key}" for key in CHANCE_KEYS]
        print_csv(rows, header)
    else:
        records = [_record(true, result) for result in results]
        print_csv(records, records[0])


def _pair_records(result: Result) -> Iterator[dict[str, object]]:
    from contextwise.comparison.compare import pair_records

    chances = {}
    if result.chance is not None:
        chances = {chance.pair: chance.record() for chance in result.chance.pair_chances()}
    for record in pair_records(result.comparison):
        pair = str(record["first"]), str(record["second"])
        yield {**record, **chances.get(pair, {})}


# -- for people ------------------------------------------------------------------------------------


def _text(true: Input, results: Sequence[Result], *, top: int) -> str:
    """Show the verdict, then what was compared, then one guess in full or several as a table."""
    from contextwise.report.comparisons import Guess, comparison_parts, guesses_parts
    from contextwise.report.parts import Note
    from contextwise.report.text import as_text

    if len(results) == 1:
        parts = comparison_parts(results[0].comparison, top=top)
    else:
        parts = guesses_parts(
            [Guess(r.guess.label, r.comparison, features=r.guess.features) for r in results]
        )
    lines = [as_text(parts[:1])] if isinstance(parts[0], Note) else []
    blocks = [_head(true, results), as_text(parts[len(lines) :])]
    for result in results:
        if result.chance is not None:
            from contextwise.report.chances import chance_parts

            label = f"{result.guess.label}: " if len(results) > 1 else ""
            verdict = Note("verdict", result.chance.verdict)
            lines.append(f"{label}{verdict.text}")
            drawn = [part for part in chance_parts(result.chance) if part != verdict]
            blocks.append(label.rstrip() + ("\n" if label else "") + as_text(drawn))
    return "\n\n".join(["\n".join(lines), *blocks] if lines else blocks)


def _head(true: Input, results: Sequence[Result]) -> str:
    from contextwise.report.notes import alignment_notes, scope_words
    from contextwise.support.formatting import columns, name

    guesses = [result.guess for result in results]
    comparison, scope = results[0].comparison, results[0].scope
    rows = [("true", _size(true))]
    if len(guesses) == 1:
        rows.append(("guess", _size(guesses[0])))
    rows.append(("over", scope_words(comparison, data=os.path.basename(scope.data or ""))))
    rows += [("note", note.text) for note in alignment_notes([comparison])]
    zeros = [
        f"{model.zero_weights:,} in {name(model.label)}"
        for model in (true, *guesses)
        if model.zero_weights
    ]
    if zeros:
        kept = "kept; --zero-weights drop drops them"
        status = "dropped" if scope.zero_weights == "drop" else kept
        rows.append(("note", f"features of weight 0: {', '.join(zeros)} ({status})"))
    return columns(rows, "<<")


def _size(model: Input) -> str:
    from contextwise.support.formatting import name, plural

    variables = plural(len(model.model.domain), "variable")
    return f"{name(model.label)}: {variables}, {plural(model.features, 'feature')}"
