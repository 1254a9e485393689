"""``contextwise experiment``: studies that take a while, and go on where they stopped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from contextwise.cli.inputs import complete_model, load
from contextwise.cli.options import cluster_option, jobs_option
from contextwise.cli.printing import kept_in
from contextwise.errors import ContextwiseError

if TYPE_CHECKING:
    from contextwise.support.store import Outcome


out_option = click.option(
    "--out", "folder", required=True, metavar="FOLDER", help="Where the results go."
)
quick_option = click.option("--quick", is_flag=True, help="A small run, for a first look.")
config_option = click.option(
    "--config", metavar="FILE", help="Repeat the run that this TOML file defines."
)
sizes_option = click.option("--sizes", metavar="N,N,...", help="The numbers of rows of the data.")
study_seed_option = click.option("--seed", type=int, metavar="S", help="The seed of everything.")


@click.group()
def experiment() -> None:
    """Run a study; the results survive a crash, and the same command goes on where it stopped.

    \b
    Examples:
      contextwise experiment kl --out runs/quick --quick
      contextwise experiment learners --out runs/learners --quick --jobs 2
      contextwise experiment kl --help
    """


@experiment.command()
@out_option
@quick_option
@config_option
@click.option(
    "--model",
    shell_complete=complete_model,
    help="The true model, if not the paper's; of at most 1,024 states.",
)
@click.option("--structures", type=int, metavar="N", help="Random structures per side.")
@sizes_option
@study_seed_option
@jobs_option()
@cluster_option
def kl(
    folder: str,
    quick: bool,
    config: str | None,
    model: str | None,
    structures: int | None,
    sizes: str | None,
    seed: int | None,
    jobs: int,
    cluster: str | None,
) -> None:
    """Set the metric against KL-divergence, as the paper does.

    Random structures with false positives only, and with false negatives only, are fitted to data
    from the true model; the figures show KL-divergence against the percentage of errors.

    The folder gets results.sqlite, configuration.toml, results.csv, summary.md and one figure
    per number of rows, as PNG and SVG.

    \b
    Examples:
      contextwise experiment kl --out runs/quick --quick
      contextwise experiment kl --out runs/kl --jobs 2
      contextwise experiment kl --out runs/mine --model mine.mn --sizes 100,1000
      contextwise experiment kl --out runs/again --config runs/kl/configuration.toml
    """
    from contextwise.studies import configuration as settings
    from contextwise.studies.kl import run_kl
    from contextwise.studies.publication import publish

    changed = {"structures": structures, "sizes": _sizes(sizes), "seed": seed}
    given = _given(changed, config, quick=quick, others=model is not None)
    if config is not None:
        wanted = settings.from_toml(config)
    else:
        wanted = settings.configuration_of(None if model is None else load(model), **given)
    wanted = wanted.quick() if quick else wanted
    with kept_in(folder):
        _tell(run_kl(wanted, folder, n_jobs=jobs, cluster=cluster, show_progress=True))
    click.echo(publish(folder), nl=False)
    click.echo(f"figures, tables and summary are in {Path(folder)}", err=True)


@experiment.command()
@out_option
@quick_option
@config_option
@click.option(
    "--truths",
    metavar="NAME,...",
    help="paper, paper#1, grown-N-FLAGS[-three|-nested], random-N, an example, or a model file.",
)
@click.option("--learners", metavar="NAME,...", help="Those to judge; see contextwise learn.")
@sizes_option
@click.option("--repeats", type=int, metavar="N", help="Data sets per truth and size.")
@click.option(
    "--data",
    metavar="FOLDER",
    help="Real data, NAME.train.data, NAME.valid.data and NAME.test.data (or .csv).",
)
@click.option(
    "--unit-limit", type=float, metavar="S", help="Seconds of processor time per learner and unit."
)
@study_seed_option
@jobs_option()
@cluster_option
def learners(
    folder: str,
    quick: bool,
    config: str | None,
    truths: str | None,
    learners: str | None,
    sizes: str | None,
    repeats: int | None,
    data: str | None,
    unit_limit: float | None,
    seed: int | None,
    jobs: int,
    cluster: str | None,
) -> None:
    """Judge learners by the metric, beside KL-divergence and CMLL.

    Every learner learns from rows of models whose structure is known, all of them from the same
    rows, with settings chosen inside these rows. A learner that fails or takes too long is counted
    and ranks last. Real data have no known structure: there learners are scored on test rows, and
    compared with one another.

    The folder gets results.sqlite, configuration.toml, units.csv, summary.md, tables.tex, page.html
    and the figures, as PNG and SVG.

    \b
    Examples:
      contextwise experiment learners --out runs/quick --quick --jobs 2
      contextwise experiment learners --out runs/learners --jobs 2
      contextwise experiment learners --out runs/mine --truths mine.mn --learners trees,chow-liu
      contextwise experiment learners --out runs/data --data benchmarks --jobs 2
      contextwise experiment learners --out runs/again --config runs/quick/configuration.toml
    """
    from contextwise.studies.learners import configuration as settings
    from contextwise.studies.learners.publication import publish
    from contextwise.studies.learners.run import run_learners

    changed = {
        "truths": _names(truths),
        "learners": _names(learners),
        "sizes": _sizes(sizes),
        "repeats": repeats,
        "data": data,
        "unit_limit": unit_limit,
        "seed": seed,
    }
    given = _given(changed, config, quick=quick)
    wanted = settings.configuration_of(**given) if config is None else settings.from_toml(config)
    wanted = wanted.quick() if quick else wanted
    with kept_in(folder):
        _tell(run_learners(wanted, folder, n_jobs=jobs, cluster=cluster, show_progress=True))
    click.echo(publish(folder), nl=False)
    click.echo(f"figures, tables and page are in {Path(folder)}", err=True)


def _given(
    changed: dict[str, Any], config: str | None, *, quick: bool, others: bool = False
) -> dict[str, Any]:
    """The settings that were given; none of them goes with a file that has them all."""
    settings = {key: value for key, value in changed.items() if value is not None}
    if config is not None and (settings or others or quick):
        raise click.UsageError("--config defines the whole run; leave the other settings out")
    return settings


def _tell(outcome: Outcome) -> None:
    """Say what was done; units that failed are trouble."""
    from contextwise.support.formatting import plural

    click.echo(str(outcome), err=True)
    if outcome.failed:
        raise ContextwiseError(
            f"{plural(len(outcome.failed), 'unit')} failed; what is done is kept, run the command "
            "again"
        )


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _sizes(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise click.UsageError(
            f"--sizes takes numbers with commas between them, not {text!r}"
        ) from None
