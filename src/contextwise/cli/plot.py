"""``contextwise plot``: pictures for papers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from contextwise.cli.models import load_all, model_argument, only_one_from_stdin, short_names
from contextwise.cli.restrictions import (
    Asked,
    refuse_nothing,
    restricting_options,
    time_limit_option,
)

if TYPE_CHECKING:
    from contextwise.comparison.compare import Comparison


def _checked(ctx: click.Context, param: click.Parameter, path: str) -> str:
    """The path of a picture; one that cannot be written is refused before the work."""
    from contextwise.execution.files import check_target
    from contextwise.report.plots.figures import format_of

    if not ctx.resilient_parsing:
        format_of(path)
        check_target(path)
    return path


out_option = click.option(
    "--out",
    metavar="FILE",
    type=click.Path(),
    required=True,
    callback=_checked,
    help="The picture: a .png, .svg or .pdf file.",
)


limit_option = time_limit_option("Draw what is known by then.")


@click.group()
def plot() -> None:
    """Draw where models differ, at the width of a paper's column.

    \b
    Examples:
      contextwise plot pairs true.mn learned.mn --out pairs.pdf
      contextwise plot graph true.mn learned.mn --context "age=old" --out graph.svg
      contextwise plot confusion true.mn first.mn second.mn --out rates.png
      contextwise plot matrix *.mn --out models.pdf
    """


@plot.command(short_help="A heat map of the errors of each pair.")
@model_argument("true")
@model_argument("guess")
@out_option
@click.option("--cluster", is_flag=True, help="Put variables that err together side by side.")
@restricting_options
@limit_option
def pairs(
    true: str,
    guess: str,
    out: str,
    cluster: bool,
    asked: Asked,
    time_limit: float | None,
) -> None:
    """A heat map of the pairs: false positives above the diagonal, false negatives below.

    \b
    Examples:
      contextwise plot pairs true.mn learned.mn --out pairs.pdf
      contextwise plot pairs true.mn learned.mn --cluster --out pairs.png
    """
    from contextwise.report.plots import plot_pairs, save

    (found,) = _compared(true, (guess,), asked, time_limit).values()
    save(plot_pairs(found, cluster=cluster), out)


@plot.command(short_help="Both structures in one graph.")
@model_argument("true")
@model_argument("guess")
@out_option
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=60,
    show_default=True,
    help="How many variables; of more, those with the most errors.",
)
@restricting_options
@limit_option
def graph(
    true: str,
    guess: str,
    out: str,
    most: int,
    asked: Asked,
    time_limit: float | None,
) -> None:
    """Both structures in one graph; lines are as wide as their share of contexts.

    With --context, the graph in this context stands beside the one over all contexts.

    \b
    Examples:
      contextwise plot graph true.mn learned.mn --out graph.svg
      contextwise plot graph true.mn learned.mn --context "age=old" --out graph.pdf
    """
    from contextwise.report.plots import plot_graphs, save

    (found,) = _compared(true, (guess,), asked, time_limit).values()
    if asked.context is None:
        drawn = plot_graphs(found, most=most)
    else:
        everywhere = replace(asked, context=None)
        (whole,) = _compared(true, (guess,), everywhere, time_limit).values()
        drawn = plot_graphs(whole, found, fixed=found.question.context, most=most)
    save(drawn[0], out)


@plot.command(short_help="Confusion matrix, errors and rates of guesses.")
@model_argument("true")
@model_argument("guesses", metavar="GUESS...", nargs=-1, required=True)
@out_option
@restricting_options
@limit_option
def confusion(
    true: str,
    guesses: tuple[str, ...],
    out: str,
    asked: Asked,
    time_limit: float | None,
) -> None:
    """The confusion matrix of one guess, or the errors of several; and the rates.

    \b
    Examples:
      contextwise plot confusion true.mn learned.mn --out confusion.pdf
      contextwise plot confusion true.mn first.mn second.mn --out rates.png
    """
    from contextwise.report.plots import plot_guesses, save

    drawn = plot_guesses(_compared(true, guesses, asked, time_limit))
    save(drawn[0], out)


@plot.command(short_help="The distances of many models, and a map.")
@model_argument("models", metavar="MODEL...", nargs=-1, required=True)
@out_option
@restricting_options
@limit_option
def matrix(models: tuple[str, ...], out: str, asked: Asked, time_limit: float | None) -> None:
    """The distances of many models: a matrix, its tree, and a map in two dimensions.

    \b
    Examples:
      contextwise plot matrix *.mn --out models.pdf
    """
    from contextwise.comparison.many import distance_matrix
    from contextwise.report.plots import plot_models, save

    given = load_all(models, format=asked.format_name)
    found = distance_matrix(
        given,
        names=short_names(models),
        time_limit=time_limit,
        show_progress=True,
        **asked.of(given[0].domain),
    )
    save(plot_models(found.names, found.normalized)[0], out)


def _compared(
    true: str, guesses: tuple[str, ...], asked: Asked, time_limit: float | None
) -> dict[str, Comparison]:
    """The comparisons of guesses by their short names."""
    from contextwise.comparison.compare import compare

    only_one_from_stdin([true, *guesses, asked.data])
    first, *others = load_all([true, *guesses], format=asked.format_name)
    restriction = asked.of(first.domain)
    found = {
        label: compare(first, other, time_limit=time_limit, show_progress=True, **restriction)
        for label, other in zip(short_names(guesses), others, strict=True)
    }
    for comparison in found.values():
        refuse_nothing(comparison.question)
    return found
