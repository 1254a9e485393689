"""``contextwise compare`` and ``explain``: compare guesses with the true model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

import contextwise as cw
from contextwise.cli import options
from contextwise.cli.inputs import (
    first_model,
    holds_ensembles,
    load_all,
    load_guesses,
    only_one_from_stdin,
    time_left,
)
from contextwise.support.deadline import Deadline

if TYPE_CHECKING:
    from contextwise.models.structure import Model
    from contextwise.report.comparisons import Guess


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
@options.probabilities
@options.naming
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
    probabilities: bool,
    naming: options.Naming,
    scope: options.Scope,
    **counting: Any,
) -> None:
    """Compare each GUESS with the TRUE model, exactly.

    A context of two variables is one state for each other variable. An assertion is a pair in a
    context; in each model it is dependent or independent. The distance is the number of
    assertions on which the two models differ. A false negative (FN) is dependent only in the true
    model, a false positive (FP) only in the guess. If neither model is true, use --peers.

    With --per-pair, pairs that occur together in no feature are left out; both models
    make them independent in every context. Ctrl-C stops the counting and shows the results so far.
    To compare groups of guesses, use contextwise replicates. Two ensembles, as for contextwise
    score, are compared by the probabilities of their assertions.

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
      contextwise compare controls.json patients.json --peers
    """
    if per_pair and output == "text":
        raise click.UsageError("--per-pair needs --csv or --json")
    options.refuse_alone(ctx, ("null", "draws", "rng"), "chance")
    options.refuse_alone(ctx, ("estimate",), "time_limit")
    only_one_from_stdin([true, *guesses, scope.data])

    names = [true, *guesses]
    if holds_ensembles(names, probabilities):
        both = load_guesses(names, scope.format_name, probabilities)
        if len(both) != 2:
            raise click.UsageError("compare two ensembles at a time; for more: contextwise matrix")
        first_name, second_name = naming.labels(names)
        between = cw.evaluation.compare_ensembles(
            *both,
            names=(first_name, second_name),
            time_limit=time_limit,
            show_progress=True,
            **scope.keywords(first_model(both)),
        )
        options.print_result(between, output, top)
        return
    deadline = Deadline.after(time_limit)
    first, *others = load_all(names, format=scope.format_name, by_values=scope.by_values)
    true_label, *labels = naming.labels(names)
    scoped = scope.keywords(first)
    compared: list[Guess] = []
    for name, label, other in zip(guesses, labels, others, strict=True):
        restriction = naming.restrict(scoped, true_label, label)
        try:
            comparison = cw.compare(
                first,
                other,
                engine=engine,
                time_limit=deadline.left(),
                show_progress=True,
                **counting,
                **restriction,
            )
        except cw.comparison.compare.Interrupted as stop:
            comparison = stop.comparison
        options.refuse_nothing(comparison.question)
        chance, stopped = None, comparison.unions.interrupted
        if by_chance.chance and not len(comparison.unions.open_places) and not stopped:
            chance, stopped = by_chance.run(
                first, other, restriction, engine=engine, time_limit=deadline.left()
            )
        features, zeros = _feature_counts(other, scope)
        compared.append(
            cw.report.comparisons.Guess(name, comparison, label, features, zeros, chance=chance)
        )
        if stopped:
            break
    if output == "text":
        features, zeros = _feature_counts(first, scope)
        click.echo(
            cw.report.text.as_text(
                cw.report.comparisons.compare_parts(
                    true_label,
                    compared,
                    features=features,
                    top=top,
                    data=os.path.basename(scope.data or ""),
                    zero_weights=zeros,
                    drops_zeros=scope.zero_weights == "drop",
                )
            )
        )
    elif output == "csv" and per_pair:
        _print_pairs(compared)
    else:
        records = [_record(true, first, guess, scope) for guess in compared]
        if output == "csv":
            options.print_csv(records)
        else:
            nested = (_nested(guess, top, per_pair) for guess in compared)
            options.print_records([a | b for a, b in zip(records, nested, strict=True)])
    if exit_code and any(guess.comparison.distance_bounds[0] for guess in compared):
        ctx.exit(1)
    if stopped or any(len(guess.comparison.unions.open_places) for guess in compared):
        ctx.exit(3)


def _feature_counts(model: Model, scope: options.Scope) -> tuple[int, int]:
    """Return the number of features to compare, and the number of features of weight 0."""
    zeros = int((model.weights == 0).sum()) if isinstance(model, cw.LogLinear) else 0
    return len(model) - (zeros if scope.zero_weights == "drop" else 0), zeros


# -- for programs ----------------------------------------------------------------------------------


def _record(name: str, true: Model, guess: Guess, scope: options.Scope) -> dict[str, object]:
    """Return the fields of a row of CSV."""
    features, zeros = _feature_counts(true, scope)
    chance = {} if guess.chance is None else guess.chance.record()
    return {
        "true": name,
        "guess": guess.name,
        "variables": len(true.domain),
        "true_features": features,
        "guess_features": guess.features,
        "true_zero_weights": zeros,
        "guess_zero_weights": guess.zero_weights,
        "context": scope.context,
        "data": scope.data,
        **cw.comparison.compare.comparison_record(guess.comparison),
        **{f"chance_{key}": value for key, value in chance.items()},
    }


def _nested(guess: Guess, top: int, per_pair: bool) -> dict[str, object]:
    """Return the fields that only JSON has."""
    if per_pair:  # the digits take more room than the numbers, and the text has them again
        numbers = 4 * len(guess.comparison.pairs)
        guess.comparison.unions.require_memory(8 * numbers, "use --csv, which prints as it goes")
    return {
        **({"labels": guess.comparison.roles.labels} if guess.comparison.roles.peers else {}),
        "strengths": cw.comparison.compare.strength_records(guess.comparison),
        "worst_pairs": list(cw.comparison.compare.worst_pair_records(guess.comparison, top)),
        "open": list(cw.comparison.compare.open_pair_records(guess.comparison)),
        "counted": {**guess.comparison.unions.counted},
        "seconds": {**guess.comparison.unions.seconds},
        **({"per_pair": list(_pair_records(guess))} if per_pair else {}),
    }


def _print_pairs(guesses: Sequence[Guess]) -> None:
    header = ["guess", *cw.comparison.compare.PAIR_KEYS]
    if any(guess.chance is not None for guess in guesses):
        header += [f"chance_{key}" for key in cw.evaluation.skill.PAIR_KEYS]
    rows = ({"guess": g.name, **record} for g in guesses for record in _pair_records(g))
    options.print_csv(rows, header)


def _pair_records(guess: Guess) -> Iterator[dict[str, object]]:
    chances = {}
    if guess.chance is not None:
        chances = {chance.pair: chance.record() for chance in guess.chance.pair_chances()}
    for record in cw.comparison.compare.pair_records(guess.comparison):
        pair = str(record["first"]), str(record["second"])
        yield {**record, **chances.get(pair, {})}


@click.command(cls=options.SectionedCommand)
@options.model("true")
@options.model("guess")
@options.top(least=1)
@options.time_limit(default=60)
@options.output("json")
@options.naming
@options.scope
@click.pass_context
def explain(
    ctx: click.Context,
    /,
    true: str,
    guess: str,
    output: str,
    naming: options.Naming,
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
      contextwise explain controls.json patients.json --peers
    """
    first, second = load_all([true, guess], format=scope.format_name, by_values=scope.by_values)
    restriction = naming.restrict(scope.keywords(first), *naming.labels([true, guess]))
    limits["time_limit"] = time_left()
    explanation = cw.explain(first, second, show_progress=True, **limits, **restriction)
    options.refuse_nothing(explanation.comparison.question)
    roles = explanation.comparison.roles
    if output == "json":
        options.print_json(
            {
                "comparison": cw.comparison.compare.comparison_record(explanation.comparison),
                **({"labels": roles.labels} if roles.peers else {}),
                "summary": explanation.comparison.summary(),
                "strengths": cw.comparison.compare.strength_records(explanation.comparison),
                **explanation.record(),
            }
        )
    else:
        click.echo(str(explanation))
    if explanation.partial:
        ctx.exit(3)
