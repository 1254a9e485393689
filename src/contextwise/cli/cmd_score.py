"""``contextwise score``: the distance next to divergences, likelihoods and other scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

import contextwise as cw
from contextwise.cli import options
from contextwise.cli.inputs import (
    holds_ensembles,
    load,
    load_all,
    load_data,
    load_guesses,
    only_one_from_stdin,
    short_names,
)
from contextwise.support.deadline import Deadline

if TYPE_CHECKING:
    from contextwise.data.options import RowOptions
    from contextwise.distributions.sampling import Estimate
    from contextwise.evaluation.scores import Score
    from contextwise.report.parts import Note


@click.command(cls=options.SectionedCommand)
@options.model("true")
@options.model("guesses", metavar="GUESS...", nargs=-1, required=True)
@options.path("--test", help="Score predictions of the rows of this CSV file.")
@options.path("--fit", "fit_to", help="Fit the guesses to this CSV file first.")
@options.number(
    "--groups", default=4, help="Number of parts into which CMLL divides the variables."
)
@click.option(
    "--no-sampling",
    "sampling",
    flag_value=False,
    default=True,
    help="Leave out scores that must be estimated.",
)
@click.option("--consensus", is_flag=True, help="For ensembles: score their consensus, too.")
@options.number(
    "--assertions", help="For ensembles: estimate from this many random assertions instead."
)
@options.probabilities
@options.seed
@options.time_limit()
@options.output("json", "csv")
@options.by_position
@options.reading
@options.rows
@click.pass_context
def score(
    ctx: click.Context,
    /,
    true: str,
    guesses: tuple[str, ...],
    test: str | None,
    fit_to: str | None,
    time_limit: float | None,
    output: str,
    reading: options.Reading,
    row_options: RowOptions,
    consensus: bool,
    assertions: int | None,
    probabilities: bool,
    **keywords: Any,
) -> None:
    """Score each GUESS by the distance, KL divergence, likelihood and other measures.

    The first lines name the nearest guess, and whether KL divergence or likelihood prefers another.

    The divergences (KL both ways, Jensen-Shannon, total variation) need weights in both models.
    Log-likelihood, pseudo-likelihood and CMLL need weights in the guess, and rows (--test).
    Divergences and likelihoods are in nats; likelihoods are means over the rows.

    With --fit, parameters, AIC, BIC and G² are by maximum likelihood without a penalty on those
    rows, as in log-linear analysis, and a guess that is nested in another is tested against it.

    Scores that are too large to compute exactly are sampled and printed with their standard
    errors. Scores that cannot be computed are left out, with the reason.

    A GUESS, or the TRUE model, can be an ensemble: a folder of models, a .json file of stability
    --ensemble, a .npy array of graphs, or, with --probabilities, a .csv matrix. Then all guesses
    get the Brier score, the expected distance, the spread, and the distance of the medoid.

    \b
    Examples:
      contextwise score true.mn guess.mn
      contextwise score true.mn resamples.json single.mn
      contextwise score true.mn edges.csv --probabilities
      contextwise score true.mn a.mn b.mn --fit train.csv --test test.csv
    """
    only_one_from_stdin([true, *guesses, test, fit_to])
    if holds_ensembles([true, *guesses], probabilities):
        for flag in options.typed_flags(ctx, ("test", "fit_to", "groups", "sampling")):
            raise click.UsageError(f"{flag} is for models with weights, not for ensembles")
        truth, *loaded = load_guesses([true, *guesses], reading.format_name, probabilities)
        ensembles = dict(zip(short_names(guesses), loaded, strict=True))
        how = {"consensus": consensus, "assertions": assertions, "align": keywords["align"]}
        of_ensembles = cw.evaluation.score_ensembles(
            truth, ensembles, rng=keywords["rng"], time_limit=time_limit, show_progress=True, **how
        )
        options.print_result(of_ensembles, output)
        return
    for flag in options.typed_flags(ctx, ("consensus", "assertions")):
        raise click.UsageError(f"{flag} is for ensembles")
    deadline = Deadline.after(time_limit)
    model = load(true, *reading)
    keywords["test"] = None if test is None else load_data(test, row_options, model)
    keywords["fit_to"] = None if fit_to is None else load_data(fit_to, row_options, model)
    scores: list[Score] = []
    for guess in load_all(guesses, *reading):
        limit = deadline.left()
        scores.append(cw.score(model, guess, time_limit=limit, show_progress=True, **keywords))
    options.refuse_nothing(scores[0].comparison.question)
    named = list(zip(guesses, scores, strict=True))
    if output == "json":
        options.print_records([_record(name, result) for name, result in named])
    elif output == "csv":
        records = [{"guess": name, **result.record()} for name, result in named]
        options.print_csv(records)
    else:
        labels = short_names(guesses)
        click.echo(
            cw.report.text.as_text(
                [_verdict(labels, scores), *cw.report.evaluations.scores_parts(labels, scores)]
            )
        )
    if any(
        result.comparison.open_pairs or cw.evaluation.scores.LATE in result.missing.values()
        for result in scores
    ):
        ctx.exit(3)


def _verdict(labels: Sequence[str], scores: Sequence[Score]) -> Note:
    """Name the guess nearest by the distance, and the guesses that other scores prefer."""
    comparisons = [score.comparison for score in scores]
    if len(scores) == 1:
        return cw.report.parts.Note("verdict", comparisons[0].summary())
    if any(comparison.open_pairs for comparison in comparisons):
        return cw.report.comparisons.open_note(dict(zip(labels, comparisons, strict=True)))
    guesses = list(map(cw.report.comparisons.Guess, labels, comparisons))
    lines = [cw.report.comparisons.nearest_text(guesses)]
    least = min(comparison.normalized for comparison in comparisons)
    nearest = [score for score in scores if score.comparison.normalized == least]
    agreeing = []
    for key, sign in (("kl_true_guess", 1), ("log_likelihood", -1)):
        if all(key in score.values for score in scores):
            best = min(scores, key=lambda score: sign * score.values[key].value)
            label = cw.report.evaluations.SCORE_LABELS[key]
            if any(not _differs(best.values[key], score.values[key]) for score in nearest):
                agreeing.append(label)
            else:
                lines.append(f"{label} prefers {labels[scores.index(best)]}.")
    if agreeing:
        verb = "prefer" if agreeing[1:] else "prefers"
        lines.append(f"{' and '.join(agreeing)} {verb} no other guess.")
    lines += filter(None, map(cw.report.comparisons.guess_strength, guesses))
    return cw.report.parts.Note("verdict", "\n".join(lines))


def _differs(first: Estimate, second: Estimate) -> bool:
    """Return True if two estimates differ by more than rounding and two standard errors."""
    error = 2 * math.hypot(first.standard_error, second.standard_error)
    return not math.isclose(first.value, second.value, rel_tol=1e-9, abs_tol=max(error, 1e-12))


def _record(name: str, score: Score) -> dict[str, object]:
    others = cw.evaluation.scores.SCORES
    return {
        "guess": name,
        **{key: value for key, value in score.record().items() if not key.startswith(others)},
        "by_position": score.comparison.question.align == "position",
        "open_pairs": len(score.comparison.open_pairs),
        "scores": {
            key: {name: getattr(estimate, name) for name in ("value", "standard_error", "how")}
            for key, estimate in score.values.items()
        },
        "missing": dict(score.missing),
        "strengths": cw.comparison.compare.strength_records(score.comparison),
    }
