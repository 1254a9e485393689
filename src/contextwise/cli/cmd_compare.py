"""``contextwise compare`` and ``matrix``: compare guesses with the true model, or many models."""

from __future__ import annotations

import csv
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import contextwise as cw
from contextwise.cli import commands, options, printing
from contextwise.cli.inputs import (
    holds_ensembles,
    load_data,
    load_guesses,
    only_one_from_stdin,
    short_names,
    time_left,
)
from contextwise.data.options import FLAGS
from contextwise.errors import ContextwiseError, OpenResult

if TYPE_CHECKING:
    from contextwise.comparison.matrix import DistanceMatrix
    from contextwise.comparison.two_models import Comparison
    from contextwise.data.rows import Data
    from contextwise.evaluation.random_guesses import Chance
    from contextwise.models.structure import Model
    from contextwise.report.comparisons import Guess


@commands.command()
@options.model("true")
@options.model("guesses", metavar="GUESS...", nargs=-1)
@options.groups
@options.section(
    commands.COMPARED,
    options.share(
        "--training-share",
        help="With --group: share of the rows that each replicate learned from, if they overlap.",
    ),
)
@options.path("--score", "score_rows", metavar="ROWS", help="Also print likelihoods of these rows.")
@click.option("--kl", is_flag=True, help="Also print KL in both directions.")
@options.chance
@options.top()
@options.output("json", "csv", *options.RENDERED)
@click.option("--per-pair", is_flag=True, help="With --csv or --json: add the counts of each pair.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if a guess differs, like diff.")
@click.option(
    "--strengths",
    is_flag=True,
    help="Also say how strong the errors are, if the models have weights.",
)
@options.at
@options.engine
@options.time_limit()
@options.section(
    commands.EFFORT,
    click.option(
        "--estimate",
        is_flag=True,
        help="With --time-limit: estimate the unfinished part by sampling, with intervals.",
    ),
)
@options.threads
@options.probabilities
@options.naming
@options.scope
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    true: str,
    guesses: tuple[str, ...],
    groups: dict[str, list[str]],
    training_share: float | None,
    score_rows: str | None,
    kl: bool,
    by_chance: options.ChanceOptions,
    top: int,
    output: str,
    per_pair: bool,
    exit_code: bool,
    strengths: bool,
    at: list[float] | None,
    engine: str,
    estimate: bool,
    threads: int | None,
    probabilities: bool,
    naming: options.Naming,
    scope: options.Scope,
    **_: Any,  # the time limit, which `deadline` has
) -> None:
    """Compare each GUESS with the TRUE model, exactly.

    A context of two variables is one state for each other variable. An assertion is a pair in a
    context; in each model it is dependent or independent. The distance is the number of
    assertions on which the two models differ. A false negative (FN) is dependent only in the true
    model, a false positive (FP) only in the guess. If neither model is true, use --peers.

    With --per-pair, pairs that occur together in no feature are left out; both models
    make them independent in every context. Ctrl-C stops the counting and shows the results so far.

    --score and --kl add columns: mean log-likelihood, pseudo-likelihood and CMLL of the rows, and
    KL-divergences, all in nats. They need models with weights (contextwise fit).

    With --group, compare groups of guesses, such as the runs of several learners: the mean distance
    of each group with its interval, and a test for each pair of groups. If the groups have equally
    many guesses, the k-th ones are taken to be from the same data set.

    A GUESS can be an ensemble: a folder of models, a .json file of stability --ensemble, or, with
    --probabilities, a .csv matrix. Then all guesses get the Brier score, the expected distance and
    the spread.

    Exit codes: 0 done, 1 a guess differs (only with --exit-code), 2 error, 3 stopped before the
    end.

    \b
    Examples:
      contextwise compare true.mn learned.mn
      contextwise compare true.mn first.mn second.mn third.mn
      contextwise compare true.mn first.mn second.mn --kl --score test.csv
      contextwise compare true.mn --group trees='t/*.mn' --group pairs='p/*.mn'
      contextwise compare true.mn learned.mn --chance
      contextwise compare true.mn learned.mn --pairs smoker,cough --context "age=old"
      contextwise compare true.mn learned.mn --csv --per-pair > pairs.csv
      contextwise compare true.mn learned.mn --time-limit 60 --estimate
      contextwise compare true.mn learned.mn --at 0,0.1,0.3,1
      contextwise compare controls.json patients.json --peers
    """
    options.refuse_alone(ctx, ("draws", "seed"), "chance")
    options.refuse_alone(ctx, ("estimate",), "time_limit")
    options.refuse_alone(ctx, ("training_share",), "groups")
    options.refuse_alone(ctx, FLAGS, "data", "score_rows")
    if bool(guesses) == bool(groups):
        raise click.UsageError("give one GUESS or more, or groups of guesses with --group")
    only_one_from_stdin([true, *guesses, scope.data, score_rows])
    names = [true, *guesses]
    if groups:
        options.refuse(ctx, (*SINGLE, *NAMED), "is for single guesses, not for a --group")
        _compare_groups(true, groups, training_share, scope, output, engine, threads)
        return
    if holds_ensembles(names, probabilities):
        options.refuse(ctx, (*SINGLE, *COUNTED), "is for single models, not for ensembles")
        _compare_ensembles(naming.labels(names), names, scope, probabilities, output)
        return
    if per_pair and output in cw.report.RENDERERS:
        raise click.UsageError("--per-pair needs --csv or --json")
    first, *others = scope.load_all(names)
    rows = None if score_rows is None else load_data(score_rows, scope.row_options, first)
    counting = Counting(engine, threads, estimate, strengths, at)
    compared, stopped = _compare_each(names, first, others, naming, scope, by_chance, counting)
    if kl or rows is not None:
        compared = [
            _with_scores(g, first, m, scope, rows, kl)
            for g, m in zip(compared, others, strict=False)
        ]
    _show(first, (true, naming.labels(names)[0]), compared, scope, output, top, per_pair)
    if exit_code and any(guess.comparison.distance_bounds[0] for guess in compared):
        ctx.exit(1)
    late = (by_chance.is_late(g.chance) or g.comparison.is_open for g in compared)
    if stopped or any(late):
        ctx.exit(3)


SINGLE = (
    *("score_rows", "kl", "chance", "per_pair", "exit_code", "estimate", "strengths", "top", "at"),
)
NAMED = ("names", "peers", "probabilities")
COUNTED = ("engine", "threads", "peers")
"""Options that have no effect on groups or ensembles."""


class Counting(NamedTuple):
    """The keywords of `contextwise.compare` that choose how to count."""

    engine: str = "auto"
    threads: int | None = None
    estimate: bool = False
    strengths: bool = False
    at: Sequence[float] | None = None


def _compare_each(
    names: Sequence[str],
    first: Model,
    others: Sequence[Model],
    naming: options.Naming,
    scope: options.Scope,
    by_chance: options.ChanceOptions,
    counting: Counting,
) -> tuple[list[Guess], bool]:
    """Compare each guess with the first model; also return whether Ctrl-C stopped it."""
    label, *labels = naming.labels(names)
    scoped = scope.keywords(first)
    compared: list[Guess] = []
    for name, other_label, other in zip(names[1:], labels, others, strict=True):
        restriction, stopped = naming.restrict(scoped, label, other_label), False
        try:
            comparison, chance = compare_guess(first, other, by_chance, restriction, counting)
        except cw.comparison.two_models.Interrupted as stop:
            comparison, chance, stopped = stop.comparison, None, True
        counts = _feature_counts(other, scope)
        guess = cw.report.comparisons.Guess(name, comparison, other_label, *counts, chance=chance)
        compared.append(guess)
        if stopped:
            return compared, True
    return compared, False


def _with_scores(
    guess: Guess, first: Model, other: Model, scope: options.Scope, rows: Data | None, kl: bool
) -> Guess:
    """Add likelihoods of rows, and KL-divergences."""
    aligned = other.aligned_to(first.domain, align=scope.align)
    scores = cw.evaluation.likelihood_scores.score(first, aligned, rows=rows, kl=kl)
    return replace(guess, scores=scores)


def compare_guess(
    true: Model,
    guess: Model,
    by_chance: options.ChanceOptions,
    restriction: Any,
    counting: Counting,
) -> tuple[Comparison, Chance | None]:
    """Compare a guess, also with chance if all pairs are counted.

    Ctrl-C raises `Interrupted`, which carries the comparison so far.
    """
    comparison = cw.compare(
        true,
        guess,
        time_limit=time_left(),
        show_progress=True,
        **counting._asdict(),
        **restriction,
    )
    options.refuse_nothing(comparison.question)
    if not by_chance.chance or len(comparison.unions.open_places):
        return comparison, None
    drawing: Any = {"draws": by_chance.draws, "seed": by_chance.seed, "time_limit": time_left()}
    drawing |= {"engine": counting.engine, "show_progress": True}
    try:
        return comparison, cw.chance(true, guess, **drawing, **restriction)
    except OpenResult as error:
        warnings.warn(str(error), stacklevel=2)
        return comparison, None
    except KeyboardInterrupt:
        warnings.warn("the random guesses were interrupted", stacklevel=2)
        raise cw.comparison.two_models.Interrupted(comparison) from None


def _show(
    first: Model,
    true: tuple[str, str],
    compared: Sequence[Guess],
    scope: options.Scope,
    output: str,
    top: int,
    per_pair: bool,
) -> None:
    """Print comparisons as text, CSV or JSON; ``true`` is the name and the label of the model."""
    if output in cw.report.RENDERERS:
        features, zeros = _feature_counts(first, scope)
        parts = cw.report.comparisons.compare_parts(
            true[1],
            compared,
            features=features,
            top=top,
            data=os.path.basename(scope.data or ""),
            zero_weights=zeros,
            drops_zeros=scope.zero_weights == "drop",
        )
        printing.print_parts(parts, output)
    elif output == "csv" and per_pair:
        _print_pairs(compared)
    else:
        records = [_record(true[0], first, guess, scope) for guess in compared]
        if output == "csv":
            more = (() if g.comparison.at is None else g.comparison.at.record() for g in compared)
            printing.print_csv([{**a, **dict(b)} for a, b in zip(records, more, strict=True)])
        else:
            nested = (_nested(guess, top, per_pair) for guess in compared)
            printing.print_records([a | b for a, b in zip(records, nested, strict=True)])


def _compare_groups(
    true: str,
    groups: Mapping[str, Sequence[str]],
    training_share: float | None,
    scope: options.Scope,
    output: str,
    engine: str,
    threads: int | None,
) -> None:
    """Compare every guess of every group with the true model, and the groups with each other."""
    first = scope.load(true)
    how: Any = {"engine": engine, "threads": threads, "show_progress": True}
    how |= scope.keywords(first)
    compared: dict[str, list[Comparison]] = {}
    for group, files in groups.items():
        compared[group] = []
        for file in files:
            if holds_ensembles([file], False):
                raise click.UsageError(f"{file}: a group holds single models, got an ensemble")
            guess = scope.load(file)
            comparison = cw.compare(first, guess, time_limit=time_left(), **how)
            options.refuse_nothing(comparison.question)
            compared[group].append(comparison)
    found = cw.compare_groups(compared, training_share=training_share)
    if output == "json":
        differences = found.difference_records()
        printing.print_json(
            {"verdict": found.verdict, "groups": found.records(), "differences": differences}
        )
    elif output == "csv":
        printing.print_csv(found.records())
    else:
        printing.print_parts(cw.report.parts.parts_of(found), output)


def _compare_ensembles(
    labels: Sequence[str],
    names: Sequence[str],
    scope: options.Scope,
    probabilities: bool,
    output: str,
) -> None:
    """Score guesses of which some are ensembles, and show how reliable these are."""
    true = scope.load(names[0])
    guesses = load_guesses(names[1:], true, scope.format_name, probabilities, scope.by_values)
    restriction = scope.keywords(true)
    named = dict(zip(labels[1:], guesses, strict=True))
    scores = cw.evaluation.score_ensembles(
        true, named, time_limit=time_left(), show_progress=True, **restriction
    )
    if output == "json":
        printing.print_json({"verdict": scores.verdict, "guesses": scores.records()})
    elif output == "csv":
        printing.print_csv(scores.records())
    else:
        curves = [
            cw.evaluation.reliability(true, guess, name=label, show_progress=True, **restriction)
            for label, guess in named.items()
            if isinstance(guess, cw.Ensemble)
        ]
        section = cw.report.evaluations.ensembles_section(scores, curves)
        printing.print_parts(list(section.parts), output)


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
        "contexts_of": scope.data,
        **cw.comparison.two_models.comparison_record(guess.comparison),
        **{f"chance_{key}": value for key, value in chance.items()},
        **({} if guess.scores is None else guess.scores.record()),
    }


def _nested(guess: Guess, top: int, per_pair: bool) -> dict[str, object]:
    """Return the fields that only JSON has."""
    if per_pair:  # the digits take more room than the numbers, and the text has them again
        numbers = 4 * len(guess.comparison.pairs)
        guess.comparison.unions.require_memory(8 * numbers, "use --csv, which prints as it goes")
    strengths, worst = guess.comparison.strengths, guess.comparison.worst_places(top)
    records = cw.comparison.two_models.pair_records
    return {
        **({"labels": guess.comparison.roles.labels} if guess.comparison.roles.peers else {}),
        **({} if strengths is None else {"strengths": strengths.records()}),
        **({} if guess.comparison.at is None else {"at": guess.comparison.at.records()}),
        **({} if guess.scores is None else {"missing_scores": guess.scores.missing}),
        "worst_pairs": list(records(guess.comparison, worst)),
        "open": list(cw.comparison.two_models.open_pair_records(guess.comparison)),
        **({"per_pair": list(records(guess.comparison))} if per_pair else {}),
    }


def _print_pairs(guesses: Sequence[Guess]) -> None:
    header = ["guess", *cw.comparison.two_models.PAIR_KEYS]
    records = cw.comparison.two_models.pair_records
    rows = ({"guess": g.name, **record} for g in guesses for record in records(g.comparison))
    printing.print_csv(rows, header)


# -- many models -----------------------------------------------------------------------------------


@commands.command()
@options.model("models", metavar="MODEL...", nargs=-1, required=True)
@click.option("--normalized", is_flag=True, help="With --csv: print normalized distances.")
@options.output("json", "csv")
@options.parallel
@options.engine
@options.path("--folder", help="Keep finished blocks here; an interrupted run resumes.")
@options.time_limit()
@options.scope
@click.pass_context
def matrix(
    ctx: click.Context,
    /,
    models: tuple[str, ...],
    normalized: bool,
    output: str,
    scope: options.Scope,
    **counting: Any,
) -> None:
    """Compute the matrix of pairwise distances of the MODELs.

    The table shows normalized distances, the shares of all assertions that differ. --csv and --json
    print the exact distances.

    Exit codes: 0 done, 2 error, 3 if a time limit left distances unfinished.

    \b
    Examples:
      contextwise matrix first.mn second.mn third.mn
      contextwise matrix *.mn --folder runs/matrix --jobs -1 --csv > distances.csv
    """
    options.refuse_alone(ctx, FLAGS, "data")
    loaded = scope.load_all(models)
    counting["time_limit"] = time_left()
    with printing.resumable(counting["folder"]):
        distances = cw.distance_matrix(
            loaded, names=models, show_progress=True, **counting, **scope.keywords(loaded[0])
        )
    if not distances.total:
        raise ContextwiseError(options.NOTHING_LEFT)
    _print_matrix(distances, normalized, output)
    if unfinished := distances.open_distances:
        click.echo(f"contextwise: {unfinished} distances are unfinished", err=True)
        ctx.exit(3)


def _print_matrix(matrix: DistanceMatrix, normalized: bool, output: str) -> None:
    cells = cw.report.comparisons.matrix_cells
    if output == "json":
        printing.print_json(
            {
                "models": matrix.names,
                "assertions": matrix.total,
                "distances": cells(matrix, normalized=False),
                "normalized": cells(matrix, normalized=True),
                "medoid": None if matrix.open_distances else matrix.names[matrix.medoid],
                "open": matrix.open_distances,
                "by_position": matrix.by_position,
            }
        )
    elif output == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(["model", *matrix.names])
        rows = zip(matrix.names, cells(matrix, normalized=normalized), strict=True)
        writer.writerows([name, *row] for name, row in rows)
    else:
        names = short_names(matrix.names)
        parts = cw.report.comparisons.matrix_parts(matrix, names=names, normalized=True)
        printing.print_parts(parts, output)
