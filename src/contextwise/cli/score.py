"""``contextwise score``: the metric beside every other score of the field."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from contextwise.cli.data import load_rows
from contextwise.cli.distributions import as_record, seed_option
from contextwise.cli.models import (
    format_option,
    load,
    model_argument,
    only_one_from_stdin,
    short_names,
)
from contextwise.cli.output import print_csv, print_records

if TYPE_CHECKING:
    from contextwise.evaluation.scores import Score


@click.command()
@model_argument("true")
@model_argument("guesses", metavar="GUESS...", nargs=-1, required=True)
@click.option("--data", type=click.Path(), help="CSV file of rows to predict.")
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
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the reasons.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, one row a guess.")
@format_option
def score(
    true: str,
    guesses: tuple[str, ...],
    data: str | None,
    fit_to: str | None,
    groups: int,
    no_sampling: bool,
    seed: int,
    as_json: bool,
    as_csv: bool,
    format_name: str | None,
) -> None:
    """Score each GUESS against the TRUE model: the metric, and what else the field reports.

    Divergences need weights in both models; likelihood, pseudo-likelihood, CMLL, AIC and BIC need
    weights in the guess and rows (--data); likelihoods are means over the rows, in nats. What is
    too large to be exact is sampled and given with its standard error. What cannot be had is left
    out, with the reason.

    \b
    Examples:
      contextwise score true.mn guess.mn
      contextwise score true.mn a.mn b.mn --fit train.csv --data test.csv
    """
    from contextwise.evaluation.scores import score as score_one

    only_one_from_stdin([true, *guesses, data, fit_to])
    model = load(true, format=format_name)
    rows = None if data is None else load_rows(data, model.domain)
    train = None if fit_to is None else load_rows(fit_to, model.domain)
    found = [
        score_one(
            model,
            load(name, format=format_name),
            data=rows,
            fit_to=train,
            sampling=not no_sampling,
            groups=groups,
            rng=seed,
            show_progress=True,
        )
        for name in guesses
    ]
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


def _record(name: str, score: Score) -> dict[str, object]:
    keys = ("features", "mean_length", "largest_length", "distance", "normalized")
    flat = score.record()
    return {
        "guess": name,
        **{key: flat[key] for key in (*keys, "tp", "fn", "fp", "tn", "precision", "recall", "f1")},
        "scores": {key: as_record(value) for key, value in score.values.items()},
        "missing": dict(score.missing),
    }
