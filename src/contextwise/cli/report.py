"""``contextwise report``: a page that shows where guesses differ from the true model."""

from __future__ import annotations

import shlex
import time

import click
from click.core import ParameterSource

from contextwise.cli.models import load_all, model_argument, only_one_from_stdin, short_names
from contextwise.cli.output import check_out
from contextwise.cli.restrictions import (
    Asked,
    refuse_nothing,
    restricting_options,
    time_limit_option,
)


@click.command()
@model_argument("true")
@model_argument("guesses", metavar="GUESS...", nargs=-1, required=True)
@click.option(
    "--out", metavar="FILE", type=click.Path(), required=True, help="The page: an .html file."
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How many of the worst pairs and features.",
)
@click.option("--interactive", is_flag=True, help="Heat maps that zoom, by a script in the page.")
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
    interactive: bool,
    asked: Asked,
    time_limit: float,
) -> None:
    """Write a page about each GUESS and the TRUE model: one HTML file that needs no network.

    It has the counts and rates, a heat map of the pairs, the graph of both structures, the worst
    pairs and features with their contexts, and the models' statistics.

    \b
    Examples:
      contextwise report true.mn learned.mn --out report.html
      contextwise report true.mn first.mn second.mn --out report.html
      contextwise report true.mn learned.mn --interactive --out report.html
    """
    from contextwise.comparison.compare import compare
    from contextwise.comparison.explain import explain_comparison
    from contextwise.execution.files import write_bytes
    from contextwise.report.comparisons import Guess
    from contextwise.report.page import report_page

    check_out(out, [".html", ".htm"])
    names = [true, *guesses]
    only_one_from_stdin([*names, asked.data])
    first, *others = load_all(names, format=asked.format_name)
    restriction = asked.of(first.domain)
    label, *labels = short_names(names)
    reported = []
    for name, other in zip(labels, others, strict=True):
        found = compare(first, other, time_limit=time_limit, show_progress=True, **restriction)
        refuse_nothing(found.question)
        deadline = time.monotonic() + time_limit
        reported.append(
            Guess(
                name,
                found,
                explanation=explain_comparison(found, top=top, deadline=deadline),
            )
        )
    page = report_page(label, reported, command=_command_line(ctx), interactive=interactive)
    write_bytes(out, page.encode("utf-8"))


def _command_line(ctx: click.Context) -> str:
    """The command as it was given, in words that a shell understands."""
    words = ["contextwise", str(ctx.info_name)]
    for parameter in ctx.command.params:
        key = str(parameter.name)
        if ctx.get_parameter_source(key) is not ParameterSource.COMMANDLINE:
            continue
        value = ctx.params[key]
        if isinstance(parameter, click.Option):
            words.append(parameter.opts[0])
            if parameter.is_flag:
                continue
        words += map(str, value) if isinstance(value, tuple) else [str(value)]
    return shlex.join(words)
