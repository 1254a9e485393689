"""``contextwise score``: the metric beside every other score of the field."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from contextwise.cli.inputs import (
    load,
    load_rows,
    model_argument,
    only_one_from_stdin,
    short_names,
)
from contextwise.cli.options import record_options, seed_option, time_limit_option
from contextwise.cli.printing import estimate_record, print_csv, print_records
from contextwise.cli.restrictions import (
    Asked,
    refuse_nothing,
    restricting_options,
)

if TYPE_CHECKING:
    from contextwise.evaluation.score import Score


@click.command()
@model_argument("true")
@model_argument("guesses", metavar="GUESS...", nargs=-1, required=True)
@click.option("--test", type=click.Path(), help="CSV file of rows to predict.")
@click.option("--fit", "fit_to", type=click.Path(), help="Fit the guesses to this CSV file first.")
@click.option(
    "--groups",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="Of CMLL: into how many parts the variables are divided.",
)
@click.option("--no-sampling", is_flag=True, help="Only what is exact.")
@seed_option
@restricting_options
@time_limit_option("Stop counting after so long, for each guess.")
@record_options("one row per guess", json_help="Print JSON, with the reasons.")
@click.pass_context
def score(
    ctx: click.Context,
    true: str,
    guesses: tuple[str, ...],
    test: str | None,
    fit_to: str | None,
    groups: int,
    no_sampling: bool,
    seed: int,
    asked: Asked,
    time_limit: float | None,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Score each GUESS against the TRUE model: the metric, and what else the field reports.

    Divergences need weights in both models; likelihood, pseudo-likelihood, CMLL, AIC and BIC need
    weights in the guess and rows (--test); likelihoods are means over the rows, in nats. What is
    too large to be exact is sampled and given with its standard error. What cannot be had is left
    out, with the reason.

    \b
    Examples:
      contextwise score true.mn guess.mn
      contextwise score true.mn a.mn b.mn --fit train.csv --test test.csv
    """
    from contextwise.evaluation.score import score as score_one

    only_one_from_stdin([true, *guesses, test, fit_to, asked.data])
    model = load(true, format=asked.format_name)
    rows = None if test is None else load_rows(test, model.domain)
    train = None if fit_to is None else load_rows(fit_to, model.domain)
    restriction = asked.of(model.domain)
    found = [
        score_one(
            model,
            load(name, format=asked.format_name),
            test=rows,
            fit_to=train,
            sampling=not no_sampling,
            groups=groups,
            rng=seed,
            time_limit=time_limit,
            show_progress=True,
            **restriction,
        )
        for name in guesses
    ]
    refuse_nothing(found[0].comparison.question)
    if as_json:
        print_records([_record(name, one) for name, one in zip(guesses, found, strict=True)])
    elif as_csv:
        records = [
            {"guess": name, **one.record()} for name, one in zip(guesses, found, strict=True)
        ]
        print_csv(records, records[0])
    else:
        from contextwise.report.many import scores_parts
        from contextwise.report.text import as_text

        click.echo(as_text(scores_parts(short_names(guesses), found)))
    if any(one.comparison.open_pairs for one in found):
        ctx.exit(3)


def _record(name: str, score: Score) -> dict[str, object]:
    from contextwise.evaluation.score import DIVERGENCES, PREDICTIONS

    others = (*DIVERGENCES, *PREDICTIONS)
    flat = score.record()
    return {
        "guess": name,
        **{key: value for key, value in flat.items() if not key.startswith(others)},
        "by_position": score.comparison.by_position,
        "open_pairs": len(score.comparison.open_pairs),
        "scores": {key: estimate_record(value) for key, value in score.values.items()},
        "missing": dict(score.missing),
    }
