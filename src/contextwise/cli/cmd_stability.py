"""``contextwise stability``: how stable is what a learner finds in some rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from contextwise.cli.cmd_learn import once, parse_parameter
from contextwise.cli.inputs import load, load_data
from contextwise.cli.options import (
    DOMAIN_FROM,
    cluster_option,
    jobs_option,
    record_options,
    refuse_alone,
    seed_option,
    time_limit_option,
    top_option,
    typed_flags,
)
from contextwise.cli.printing import check_out, kept_in, print_csv, print_json
from contextwise.cli.restrictions import NOTHING_LEFT
from contextwise.errors import ContextwiseError
from contextwise.learning.registry import LEARNERS, learner_named

if TYPE_CHECKING:
    from contextwise.evaluation.consensus import Consensus
    from contextwise.evaluation.stability import Stability


def learner_options(required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What learns from how many resamples: ``--learner``, ``--set`` and ``--resamples``."""
    options = (
        click.option(
            "--learner",
            metavar="NAME",
            required=required,
            help=f"What learns: {', '.join(LEARNERS)}.",
        ),
        click.option(
            "--set",
            "parameters",
            metavar="NAME=VALUE",
            multiple=True,
            help="A parameter of the learner, as in penalty=10; repeatable.",
        ),
        click.option(
            "--resamples",
            type=click.IntRange(min=2),
            default=100,
            show_default=True,
            help="How many resamples of the rows.",
        ),
    )

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


def make_learner(name: str, parameters: Sequence[str]) -> Any:
    """The learner of that name, with the parameters that ``--set`` gave."""
    kind = learner_named(name)
    return kind(**once([parse_parameter(kind, text, "--set") for text in parameters], "--set"))


@click.command()
@click.argument("data", type=click.Path())
@learner_options(required=True)
@click.option(
    "--how",
    type=click.Choice(["subsample", "bootstrap"]),
    default="subsample",
    show_default=True,
    help="A share of the rows without replacement, or as many with replacement.",
)
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="Of the rows, in a subsample.",
)
@click.option("--domain-from", **DOMAIN_FROM)
@click.option(
    "--folder",
    type=click.Path(),
    help="Keep what is learned here; a run that was stopped goes on with the same command.",
)
@seed_option
@jobs_option()
@cluster_option
@top_option("How many pairs to show.")
@click.option("--medoid", type=click.Path(), help="Write the most typical structure here.")
@click.option(
    "--consensus", type=click.Path(), help="Find the structure nearest to all, and write it here."
)
@time_limit_option("With --consensus: stop improving it after so long.")
@click.option("--picture", type=click.Path(), help="Draw the heat map of supports here.")
@record_options("one row per pair")
@click.pass_context
def stability(
    ctx: click.Context,
    data: str,
    learner: str,
    parameters: tuple[str, ...],
    resamples: int,
    how: Any,
    share: float,
    domain_from: str | None,
    folder: str | None,
    seed: int,
    jobs: int,
    cluster: str | None,
    top: int,
    medoid: str | None,
    consensus: str | None,
    time_limit: float | None,
    picture: str | None,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Learn from many resamples of the rows of DATA, and say what stays the same.

    DATA is what contextwise learn takes. The instability is the share of assertions in which two
    resamples differ; a dependence that half of the resamples have is as unstable as can be.

    \b
    Examples:
      contextwise stability train.csv --learner trees --set penalty=10
      contextwise stability train.csv --learner trees --resamples 200 --folder runs/trees --jobs 4
      contextwise stability train.csv --learner chow-liu --medoid typical.json --csv > pairs.csv
      contextwise stability train.csv --learner trees --consensus agreed.json --picture supports.pdf
    """
    from contextwise import formats
    from contextwise.evaluation import stability as resample

    refuse_alone(ctx, ("time_limit",), "consensus")
    if how == "bootstrap" and typed_flags(ctx, ["share"]):
        raise click.UsageError("--share is about subsamples, not about --how bootstrap")
    for model in (medoid, consensus):
        if model is not None:
            formats.check_target(model)
    if picture is not None:
        check_out(picture, [".png", ".svg", ".pdf"])
    maker = make_learner(learner, parameters)
    rows = load_data(data, None if domain_from is None else load(domain_from).domain)
    if len(rows.domain) < 2:
        raise ContextwiseError(NOTHING_LEFT)
    with kept_in(folder):
        found = resample(
            rows,
            maker,
            resamples=resamples,
            how=how,
            share=share,
            folder=folder,
            rng=seed,
            n_jobs=jobs,
            cluster=cluster,
            show_progress=True,
        )
    if medoid is not None:
        formats.write(found.medoid, medoid)
    agreed = None
    if consensus is not None:
        agreed = found.consensus(time_limit=time_limit, show_progress=True)
        formats.write(agreed.structure, consensus)
    if picture is not None:
        from contextwise.report.plots.plot_pairs import plot_supports
        from contextwise.report.plots.style import save

        save(plot_supports(found), picture)
    _show(found, agreed, as_json, as_csv, top)


def _show(
    found: Stability, agreed: Consensus | None, as_json: bool, as_csv: bool, top: int
) -> None:
    from contextwise.report.statistics import stability_parts
    from contextwise.report.text import as_text

    supports = [one.record() for one in found.supports()]
    if as_json:
        regions = [region.record() for region in found.top_regions(top)]
        structures = {"medoid": found.medoid} | ({"consensus": agreed.structure} if agreed else {})
        written = {
            key: [own.feature_text(k) for k in range(len(own))] for key, own in structures.items()
        }
        near = {} if agreed is None else {"consensus_distance": agreed.mean_distance}
        print_json({**found.record(), **near, **written, "pairs": supports, "regions": regions})
    elif as_csv:
        print_csv(supports, supports[0] if supports else ["first", "second"])
    else:
        click.echo(as_text(stability_parts(found, top=top, consensus=agreed)))
