"""``contextwise stability``: measure how stable a learner's result is under resampling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from contextwise.cli import options
from contextwise.cli.cmd_learn import make_learner
from contextwise.cli.inputs import load, load_data
from contextwise.errors import ContextwiseError
from contextwise.learning.registry import LEARNERS
from contextwise.support.deadline import Deadline

if TYPE_CHECKING:
    from contextwise.evaluation.consensus import Consensus
    from contextwise.evaluation.stability import Stability

GRACE = 1.0
"""Seconds after the time limit in which the results have to be shown."""


def learner_options(required: bool) -> options.Decorator:
    """Add ``--learner``, ``--set`` and ``--resamples``."""
    return options.stacked(
        click.option(
            "--learner",
            metavar="NAME",
            required=required,
            help=f"Learner: {', '.join(LEARNERS)}.",
        ),
        click.option(
            "--set",
            "parameters",
            metavar="NAME=VALUE",
            multiple=True,
            help="Parameter of the learner, as in penalty=10; repeatable.",
        ),
        options.number(
            "--resamples", default=100, least=2, help="Number of resamples of the rows."
        ),
    )


@click.command()
@options.data
@learner_options(required=True)
@options.choice(
    "--how",
    "subsample",
    "bootstrap",
    help="Draw a share of the rows without replacement, or all with replacement.",
)
@options.share("--share", default=0.5, help="Share of the rows in a subsample.")
@options.domain_from
@options.path("--folder", help="Keep the learned structures here; an interrupted run resumes.")
@options.seed
@options.parallel
@options.path("--medoid", help="Write the most typical structure to this file.")
@options.path("--consensus", help="Find the structure nearest to all and write it to this file.")
@options.time_limit()
@options.path("--picture", help="Draw a heat map of the supports here.")
@options.top()
@options.output("json", "csv")
@click.pass_context
def stability(
    ctx: click.Context,
    /,
    data: str,
    learner: str,
    parameters: tuple[str, ...],
    domain_from: str | None,
    medoid: str | None,
    consensus: str | None,
    time_limit: float | None,
    picture: str | None,
    top: int,
    output: str,
    **keywords: Any,
) -> None:
    """Learn from many resamples of the rows of DATA and measure how much the results differ.

    DATA is a file as for contextwise learn. The instability is the share of assertions on which
    structures from two resamples differ, on average. A dependence is most unstable if half of the
    resamples have it.

    \b
    Examples:
      contextwise stability train.csv --learner trees --set penalty=10
      contextwise stability train.csv --learner trees --resamples 200 --folder runs/trees --jobs 4
      contextwise stability train.csv --learner trees --consensus agreed.json --picture supports.pdf
    """
    from contextwise import formats
    from contextwise.evaluation import stability as resample

    deadline = Deadline.after(time_limit)
    if keywords["how"] == "bootstrap" and options.typed_flags(ctx, ["share"]):
        raise click.UsageError("--share is for subsamples; leave it out with --how bootstrap")
    for model in (medoid, consensus):
        if model is not None:
            formats.check_target(model)
    if picture is not None:
        options.check_out(picture, [".png", ".svg", ".pdf"])
    configured = make_learner(learner, parameters)
    rows = load_data(data, None if domain_from is None else load(domain_from).domain)
    if len(rows.domain) < 2:
        raise ContextwiseError(options.NOTHING_LEFT)
    with options.resumable(keywords["folder"]):
        result = resample(
            rows, configured, time_limit=deadline.left(), show_progress=True, **keywords
        )
    if medoid is not None:
        formats.write(result.medoid, medoid)
    agreed = None
    if consensus is not None:
        agreed = result.consensus(time_limit=deadline.left(), show_progress=True)
        formats.write(agreed.structure, consensus)
    with deadline.enforced(GRACE):
        _show(result, agreed, picture, top, output)
    if result.resamples + len(result.failed) < keywords["resamples"]:
        ctx.exit(3)


def _show(
    result: Stability, agreed: Consensus | None, picture: str | None, top: int, output: str
) -> None:
    from contextwise.report.evaluations import stability_parts
    from contextwise.report.text import as_text

    if picture is not None:
        from contextwise.report.plots import save
        from contextwise.report.plots.plot_pairs import plot_supports

        save(plot_supports(result), picture)
    supports = [support.record() for support in result.supports()]
    if output == "json":
        structures = {"medoid": result.medoid} | ({"consensus": agreed.structure} if agreed else {})
        features = {
            key: [structure.feature_text(k) for k in range(len(structure))]
            for key, structure in structures.items()
        }
        regions = [region.record() for region in result.top_regions(top)]
        distance = {} if agreed is None else {"consensus_distance": agreed.mean_distance}
        options.print_json(
            {**result.record(), **distance, **features, "pairs": supports, "regions": regions}
        )
    elif output == "csv":
        options.print_csv(supports, supports[0] if supports else ["first", "second"])
    else:
        click.echo(as_text(stability_parts(result, top=top, consensus=agreed)))
