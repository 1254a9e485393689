"""``contextwise experiment``: run a study; interrupted runs resume."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import contextwise as cw
from contextwise.cli import options
from contextwise.cli.inputs import load
from contextwise.errors import ContextwiseError
from contextwise.support.formatting import plural

if TYPE_CHECKING:
    from contextwise.support.store import Outcome


class Run(NamedTuple):
    """The options that all studies have and that are no settings of them."""

    folder: str
    quick: bool
    config: str | None
    n_jobs: int
    cluster: str | None


study_options = options.options_as(
    "how",
    Run,
    click.option(
        "--out", "folder", required=True, metavar="FOLDER", help="Write the results to this folder."
    ),
    click.option("--quick", is_flag=True, help="Make a small run, for a first look."),
    click.option("--config", metavar="FILE", help="Repeat the run that this TOML file defines."),
    click.option("--sizes", metavar="N,N,...", help="Numbers of rows of the data sets."),
    click.option("--seed", type=int, metavar="N", help="Seed of the random generator."),
    options.parallel,
)


@click.group()
def experiment() -> None:
    """Run a study; to resume an interrupted run, repeat the command.

    \b
    Examples:
      contextwise experiment kl --out runs/quick --quick
      contextwise experiment learners --out runs/learners --quick --jobs 2
      contextwise experiment kl --help
    """


@experiment.command(short_help="Compare the distance with KL divergence.")
@study_options
@options.model_option("--model", help="True model of at most 1,024 states.  [default: the paper's]")
@click.option("--structures", type=int, metavar="N", help="Number of random structures per side.")
def kl(model: str | None, **settings: Any) -> None:
    """Compare the distance with KL divergence, as the paper does.

    Fit random structures that have only false positives, or only false negatives, to data from
    the true model. The figures plot KL divergence against the percentage of errors.

    The folder gets results.sqlite, configuration.toml, results.csv, summary.md and a figure per
    number of rows, as PNG and SVG.

    \b
    Examples:
      contextwise experiment kl --out runs/quick --quick
      contextwise experiment kl --out runs/kl --jobs 2
      contextwise experiment kl --out runs/mine --model mine.mn --sizes 100,1000
      contextwise experiment kl --out runs/again --config runs/kl/configuration.toml
    """
    settings["model"] = None if model is None else load(model)
    _run(
        cw.studies.kl_study, cw.studies.kl_study.run_kl, cw.studies.kl_study.publish_kl, **settings
    )


@experiment.command(short_help="Compare learners by the distance.")
@study_options
@click.option(
    "--truths",
    metavar="NAME,...",
    help="True models: paper, paper#1, grown-N-FLAGS[-three|-nested], random-N, an example, or a "
    "file.",
)
@click.option(
    "--learners",
    metavar="NAME,...",
    help="Learners; see contextwise learn. NAME-bootstrap: an ensemble of 20 resamples.",
)
@click.option("--repeats", type=int, metavar="N", help="Number of data sets per truth and size.")
@click.option(
    "--data",
    metavar="FOLDER",
    help="Real data: NAME.train.data, NAME.valid.data and NAME.test.data (or .csv).",
)
@click.option(
    "--unit-limit",
    type=float,
    metavar="SECONDS",
    help="Limit of processor time per learner and data set.",
)
def learners(**settings: Any) -> None:
    """Compare learners by the distance, and by KL divergence and CMLL.

    All learners learn from the same rows of models whose structure is known, with settings
    selected on these rows. A learner that fails or takes too long ranks last. For real data, whose
    structure is unknown, the study scores learners on test rows and compares them with each other.

    The folder gets results.sqlite, configuration.toml, units.csv, summary.md, tables.tex, page.html
    and figures as PNG and SVG.

    \b
    Examples:
      contextwise experiment learners --out runs/quick --quick --jobs 2
      contextwise experiment learners --out runs/mine --truths mine.mn --learners trees,chow-liu
      contextwise experiment learners --out runs/data --data benchmarks --jobs 2
      contextwise experiment learners --out runs/again --config runs/quick/configuration.toml
    """
    _run(
        cw.studies.learner_study,
        cw.studies.learner_study.run_learners,
        cw.studies.learner_report.publish_learners,
        **settings,
    )


def _run(
    study: Any,
    run: Callable[..., Outcome],
    publish: Callable[[str], str],
    how: Run,
    **settings: Any,
) -> None:
    """Run a study with the settings that the user typed, and publish its results."""
    folder, quick, config, n_jobs, cluster = how
    typed = {key: value for key, value in settings.items() if value is not None}
    if config is not None and (typed or quick):
        raise click.UsageError("--config sets the whole run; leave out the other settings")
    for key in typed.keys() & {"truths", "learners"}:
        typed[key] = [part.strip() for part in typed[key].split(",") if part.strip()]
    if "sizes" in typed:
        try:
            typed["sizes"] = tuple(int(part) for part in typed["sizes"].split(","))
        except ValueError:
            raise click.UsageError(
                f"--sizes needs numbers separated by commas, got {typed['sizes']!r}"
            ) from None
    defined = study.configuration_of(**typed) if config is None else study.from_toml(config)
    configuration = defined.quick() if quick else defined
    with options.resumable(folder):
        outcome = run(configuration, folder, n_jobs=n_jobs, cluster=cluster, show_progress=True)
        click.echo(str(outcome), err=True)
    if outcome.failed:
        raise ContextwiseError(
            f"{plural(len(outcome.failed), 'unit')} failed; finished work is kept, run the same "
            "command to resume"
        )
    click.echo(publish(folder), nl=False)
    click.echo(f"figures, tables and summary are in {Path(folder)}", err=True)
