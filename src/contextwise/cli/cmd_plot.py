"""``contextwise plot``: pictures for papers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from contextwise.cli.cmd_groups import group_files
from contextwise.cli.cmd_rank import Ranked, ranking_options
from contextwise.cli.inputs import load_all, model_argument, only_one_from_stdin, short_names
from contextwise.cli.options import time_limit_option
from contextwise.cli.restrictions import (
    NOTHING_LEFT,
    Asked,
    refuse_nothing,
    restricting_options,
)
from contextwise.errors import ContextwiseError
from contextwise.models.notation import parse_names

if TYPE_CHECKING:
    from contextwise.comparison.compare import Comparison


def _check_picture(ctx: click.Context, param: click.Parameter, path: str) -> str:
    """The path of a picture; one that cannot be written is refused before the work."""
    from contextwise.report.plots.style import format_of
    from contextwise.support.files import check_target

    if not ctx.resilient_parsing:
        format_of(path)
        check_target(path)
    return path


out_option = click.option(
    "--out",
    metavar="FILE",
    type=click.Path(),
    required=True,
    callback=_check_picture,
    help="The picture: a .png, .svg or .pdf file.",
)
limit_option = time_limit_option("Draw what is known by then.")
min_share_option = click.option(
    "--min-share",
    type=click.FloatRange(0, 1),
    default=0,
    show_default=True,
    metavar="SHARE",
    help="Only edges in at least this share of contexts, from 0 to 1.",
)


def edges_option(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Which edges are drawn."""
    return click.option(
        "--edges",
        type=click.Choice(["all", "differences", "strongest"]),
        help="Which edges: where the models differ most, or where either depends most.  "
        f"[default: {default}]",
    )


@click.group()
def plot() -> None:
    """Draw where models differ, at the width of a paper's column or page.

    \b
    Examples:
      contextwise plot pairs true.mn learned.mn --out pairs.pdf
      contextwise plot graph true.mn learned.mn --around smoker --out graph.svg
      contextwise plot neighbours true.mn learned.mn smoker --out smoker.pdf
      contextwise plot confusion true.mn first.mn second.mn --out rates.png
      contextwise plot groups true.mn --group trees='runs/trees/*.mn' --out groups.pdf
      contextwise plot ranks --table results.csv --out ranks.pdf
      contextwise plot matrix *.mn --out models.pdf
    """


@plot.command(short_help="A heat map of the errors of each pair.")
@model_argument("true")
@model_argument("guess")
@out_option
@click.option("--reorder", is_flag=True, help="Put variables that err alike side by side.")
@restricting_options
@limit_option
def pairs(
    true: str,
    guess: str,
    out: str,
    reorder: bool,
    asked: Asked,
    time_limit: float | None,
) -> None:
    """A heat map of the pairs: false positives above the diagonal, false negatives below.

    \b
    Examples:
      contextwise plot pairs true.mn learned.mn --out pairs.pdf
      contextwise plot pairs true.mn learned.mn --reorder --out pairs.png
    """
    from contextwise.report.plots import plot_pairs, save

    found, title = _compare_two(true, guess, asked, time_limit)
    save(plot_pairs(found, reorder=reorder, title=title), out)


@plot.command(short_help="What can be read of both structures' graphs.")
@model_argument("true")
@model_argument("guess")
@out_option
@edges_option("differences, or strongest with --around")
@click.option("--around", metavar="A,B,...", help="Only edges of these variables.")
@min_share_option
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=40,
    show_default=True,
    help="How many edges, and how many variables; the strongest edges come first.",
)
@restricting_options
@limit_option
def graph(
    true: str,
    guess: str,
    out: str,
    edges: str | None,
    around: str | None,
    min_share: float,
    most: int,
    asked: Asked,
    time_limit: float | None,
) -> None:
    """Both structures in one graph; lines are as wide as their share of contexts.

    It shows as many edges as can be read, the largest differences first, and says how many of how
    many these are. For all pairs of many variables, use: contextwise plot pairs. With --context,
    the graph in this context stands beside the one over all contexts.

    \b
    Examples:
      contextwise plot graph true.mn learned.mn --out graph.svg
      contextwise plot graph true.mn learned.mn --around smoker,cough --out graph.svg
      contextwise plot graph true.mn learned.mn --edges all --min-share 0.5 --out graph.pdf
      contextwise plot graph true.mn learned.mn --context "age=old" --out graph.pdf
    """
    from contextwise.report.plots import plot_graphs, save
    from contextwise.report.shares import edges_of, select_edges

    found, title = _compare_two(true, guess, asked, time_limit)
    whole = found
    if asked.context is not None:
        whole, title = _compare_two(true, guess, asked._replace(context=None), time_limit)
    names = [] if around is None else parse_names(around)
    for name in names:
        whole.domain.position(name)  # an unknown name is an error that says so
    selection = select_edges(
        edges_of(whole),
        which=edges,  # type: ignore[arg-type]
        around=names,
        min_share=min_share,
        most_edges=most,
        most_nodes=most,
    )
    in_context, fixed = None if asked.context is None else found, found.question.context
    drawn = plot_graphs(whole, in_context, fixed=fixed, title=title, selection=selection)
    save(drawn[0], out)
    if len(selection.edges) < selection.of:
        words = f"{selection.words}; for all pairs: contextwise plot pairs"
        click.echo(f"contextwise: {words}", err=True)


@plot.command(short_help="One variable against all others.")
@model_argument("true")
@model_argument("guess")
@click.argument("variable")
@out_option
@edges_option("strongest")
@min_share_option
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="How many neighbours; the strongest come first.",
)
@restricting_options
@limit_option
def neighbours(
    true: str,
    guess: str,
    variable: str,
    out: str,
    edges: str | None,
    min_share: float,
    most: int,
    asked: Asked,
    time_limit: float | None,
) -> None:
    """The neighbours of a VARIABLE in both models: in which share of contexts it depends on each.

    \b
    Examples:
      contextwise plot neighbours true.mn learned.mn smoker --out smoker.pdf
      contextwise plot neighbours true.mn learned.mn smoker --edges differences --out smoker.pdf
    """
    from contextwise.report.plots import plot_neighbours, save

    found, title = _compare_two(true, guess, asked, time_limit)
    which = None if edges == "all" else edges
    drawn = plot_neighbours(
        found, variable, title=title, which=which, min_share=min_share, most=most
    )
    save(drawn, out)


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

    found = _compare_all(true, guesses, asked, time_limit)
    title = f"true: {short_names([true])[0]}"
    if len(guesses) == 1:
        title += f", guess: {short_names(guesses)[0]}"
    save(plot_guesses(found, title=title)[0], out)


@plot.command(short_help="Groups of guesses: means, and FP against FN.")
@model_argument("true")
@click.option(
    "--group",
    "groups",
    metavar="NAME=FILES",
    multiple=True,
    required=True,
    help="A group of guesses, as in trees='runs/trees/*.mn'; repeatable.",
)
@out_option
@restricting_options
@limit_option
def groups(
    true: str,
    groups: tuple[str, ...],
    out: str,
    asked: Asked,
    time_limit: float | None,
) -> None:
    """Groups of guesses at a TRUE model, such as learners and their repeats.

    The mean distance of each group has its 95 % interval (by Student's t, or from 20 guesses on by
    the bootstrap); the plane of false positives against false negatives has one point per guess.

    \b
    Examples:
      contextwise plot groups true.mn --group trees='t/*.mn' --group pairs='p/*.mn' --out groups.pdf
    """
    from contextwise.report.plots import plot_groups, save

    members = group_files(groups)
    found = {name: _compare_all(true, files, asked, time_limit) for name, files in members.items()}
    save(plot_groups(found, title=f"true: {short_names([true])[0]}")[0], out)


@plot.command(short_help="Groups over several truths: critical differences.")
@ranking_options("What to rank by: one metric.")
@out_option
@restricting_options
def ranks(ranked: Ranked, out: str, asked: Asked) -> None:
    """The mean ranks of groups over several TRUTHs; a bar joins groups that do not differ.

    It takes what contextwise rank takes, and draws one metric.

    \b
    Examples:
      contextwise plot ranks truths/*.mn --group trees='t/{truth}*.mn' --group pairs='p/{truth}*.mn'
          --group graphs='g/{truth}*.mn' --out ranks.pdf
      contextwise plot ranks --table results.csv --metric f1 --out ranks.pdf
    """
    from contextwise.report.plots import plot_critical_difference, save

    if len(ranked.metrics) > 1:
        raise click.UsageError("a picture shows one --metric")
    (ranking,) = ranked.summary(asked).rankings
    save(plot_critical_difference(ranking), out)


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
    from contextwise.comparison.matrix import distance_matrix
    from contextwise.report.plots import plot_models, save

    given = load_all(models, format=asked.format_name)
    found = distance_matrix(
        given,
        names=short_names(models),
        time_limit=time_limit,
        show_progress=True,
        **asked.of(given[0].domain),
    )
    if not found.total:
        raise ContextwiseError(NOTHING_LEFT)
    save(plot_models(found.names, found.normalized)[0], out)


def _compare_two(
    true: str, guess: str, asked: Asked, time_limit: float | None
) -> tuple[Comparison, str]:
    """The comparison of two models, and their names for a title."""
    (found,) = _compare_all(true, (guess,), asked, time_limit).values()
    first, second = short_names([true, guess])
    return found, f"true: {first}, guess: {second}"


def _compare_all(
    true: str, guesses: Sequence[str], asked: Asked, time_limit: float | None
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
