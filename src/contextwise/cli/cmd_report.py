"""``contextwise report``: a page that shows where guesses differ from the true model."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from contextwise.cli.cmd_chance import Drawn, chance_options
from contextwise.cli.cmd_groups import group_files, group_option, refuse_both
from contextwise.cli.cmd_stability import learner_options, make_learner
from contextwise.cli.inputs import (
    load_all,
    load_data,
    load_rows,
    model_argument,
    only_one_from_stdin,
    short_names,
)
from contextwise.cli.options import (
    jobs_option,
    refuse_alone,
    time_limit_option,
    top_option,
)
from contextwise.cli.printing import check_out
from contextwise.cli.restrictions import (
    Asked,
    refuse_nothing,
    restricting_options,
)
from contextwise.support.deadline import Deadline

if TYPE_CHECKING:
    from contextwise.comparison.question import Restriction
    from contextwise.evaluation.check import Check
    from contextwise.evaluation.stability import Stability
    from contextwise.models.domain import Domain
    from contextwise.models.structure import Model


@click.command()
@model_argument("true")
@model_argument("guesses", metavar="GUESS...", nargs=-1)
@click.option(
    "--out", metavar="FILE", type=click.Path(), required=True, help="The page: an .html file."
)
@top_option("How many of the worst pairs and features.", least=1)
@group_option
@chance_options
@click.option(
    "--check",
    "check_rows",
    metavar="ROWS",
    type=click.Path(),
    help="Test the claims of each guess against the rows of this CSV file.",
)
@click.option(
    "--stability",
    "stability_rows",
    metavar="ROWS",
    type=click.Path(),
    help="Show how stable is what --learner finds in the rows of this file.",
)
@learner_options(required=False)
@jobs_option()
@restricting_options
@time_limit_option(
    "For counting each guess, and again for explaining it; the page says what is missing.", 60
)
@click.pass_context
def report(
    ctx: click.Context,
    true: str,
    guesses: tuple[str, ...],
    out: str,
    top: int,
    groups: tuple[str, ...],
    drawn: Drawn,
    check_rows: str | None,
    stability_rows: str | None,
    learner: str | None,
    parameters: tuple[str, ...],
    resamples: int,
    jobs: int,
    asked: Asked,
    time_limit: float,
) -> None:
    """Write a page about each GUESS and the TRUE model: one HTML file that needs no network.

    It has the counts and rates, a heat map of the pairs, the graph of both structures, the worst
    pairs and features with their contexts, and the models' statistics. With --group it has what
    groups of guesses say in all, and of each group the guess of median distance.

    \b
    Examples:
      contextwise report true.mn learned.mn --out report.html
      contextwise report true.mn first.mn second.mn --out report.html
      contextwise report true.mn learned.mn --chance --check test.csv --out report.html
      contextwise report true.mn learned.mn --stability train.csv --learner trees --out report.html
      contextwise report true.mn --group trees='t/*.mn' --group pairs='p/*.mn' --out report.html
    """
    check_out(out, [".html", ".htm"])
    refuse_both(guesses, groups)
    if stability_rows is not None and learner is None:
        raise click.UsageError("--stability needs a --learner, such as --learner trees")
    refuse_alone(ctx, ("null", "draws"), "chance")
    refuse_alone(ctx, ("learner", "parameters", "resamples"), "stability_rows")
    maker = None if learner is None else make_learner(learner, parameters)
    members = group_files(groups) if groups else {"": list(guesses)}
    names = [true, *(file for files in members.values() for file in files)]
    only_one_from_stdin([*names, asked.data, check_rows, stability_rows])
    from contextwise.report.comparisons import Guess
    from contextwise.report.page import report_page
    from contextwise.support.files import write_bytes

    first, *others = load_all(names, format=asked.format_name)
    kinds = [group for group, files in members.items() for _ in files]
    restriction = asked.of(first.domain)
    label, *labels = short_names(names)
    rows = None if check_rows is None else load_rows(check_rows, first.domain)
    reported = []
    for name, other, group in zip(labels, others, kinds, strict=True):
        own: dict[str, Any] = _explained(first, other, restriction, top, time_limit)
        if drawn.chance and not own["comparison"].open_pairs:
            own["chance"], _ = drawn.beside(first, other, restriction)
        if rows is not None:
            own["check"] = _check(first, other, rows, restriction, drawn.seed, jobs)
        reported.append(Guess(name, group=group, **own))
    stable = None
    if stability_rows is not None:
        options = {"resamples": resamples, "rng": drawn.seed, "n_jobs": jobs}
        stable = _stability(stability_rows, first.domain, maker, options)
    page = report_page(
        label,
        reported,
        command=_command_line(ctx),
        stability=stable,
        learner=f"{learner} on {os.path.basename(stability_rows or '')}",
        top=top,
    )
    write_bytes(out, page.encode("utf-8"))


def _explained(
    true: Model, guess: Model, restriction: Restriction, top: int, time_limit: float
) -> dict[str, Any]:
    """The comparison of a guess, and where it differs."""
    from contextwise.comparison.compare import compare
    from contextwise.comparison.explain import explain_comparison

    found = compare(true, guess, time_limit=time_limit, show_progress=True, **restriction)
    refuse_nothing(found.question)
    deadline = Deadline.after(time_limit)
    explanation = explain_comparison(found, top=top, deadline=deadline)
    return {"comparison": found, "explanation": explanation}


def _check(
    true: Model, guess: Model, rows: Any, restriction: Restriction, seed: int, jobs: int
) -> Check:
    """What rows say about the claims of a guess, over the variables of the true model."""
    from contextwise.comparison.question import pose
    from contextwise.evaluation import check

    how: Any = {key: restriction[key] for key in ("align", "zero_weights")}
    _, aligned = pose([true, guess], **how).structures
    return check(
        aligned,
        rows,
        pairs=restriction["pairs"],
        variables=restriction["variables"],
        context=restriction["context"],
        rng=seed,
        n_jobs=jobs,
        show_progress=True,
    )


def _stability(path: str, domain: Domain, learner: Any, options: dict[str, Any]) -> Stability:
    from contextwise.evaluation import stability

    return stability(load_data(path, domain), learner, show_progress=True, **options)


def _command_line(ctx: click.Context) -> str:
    """The command as it was given, in words that a shell understands."""
    words = ["contextwise", str(ctx.info_name)]
    for parameter in ctx.command.params:
        key = str(parameter.name)
        if ctx.get_parameter_source(key) is not ParameterSource.COMMANDLINE:
            continue
        value = ctx.params[key]
        given = list(map(str, value)) if isinstance(value, tuple) else [str(value)]
        if isinstance(parameter, click.Option):
            option = parameter.opts[0]
            given = [option] if parameter.is_flag else [w for v in given for w in (option, v)]
        words += given
    return shlex.join(words)
