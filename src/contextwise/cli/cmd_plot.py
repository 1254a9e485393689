"""``contextwise plot``: draw figures for papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from contextwise.cli import options
from contextwise.cli.cmd_replicates import Replicates, replicates_options
from contextwise.cli.inputs import load_all, short_names, split_groups
from contextwise.errors import ContextwiseError
from contextwise.models.notation import parse_names
from contextwise.support.deadline import Deadline

if TYPE_CHECKING:
    from contextwise.comparison.compare import Comparison
    from contextwise.models.alignment import Align


def _check_picture(ctx: click.Context, param: click.Parameter, path: str) -> str:
    """Raise, before the work starts, if the picture cannot be written."""
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
    help="Write this .png, .svg or .pdf file.",
)
comparing = options.stacked(out_option, options.time_limit(), options.by_position)
"""Add what all figures of comparisons take."""


def edge_options(default: str, most: int) -> options.Decorator:
    """Add the options that select edges."""
    return options.stacked(
        click.option(
            "--edges",
            type=click.Choice(["all", "differences", "strongest"]),
            help="Draw all edges, those where the models differ most, or those where either "
            f"depends most.  [default: {default}]",
        ),
        click.option(
            "--min-share",
            type=click.FloatRange(0, 1),
            default=0,
            show_default=True,
            metavar="SHARE",
            help="Draw only edges that depend in at least this share of contexts.",
        ),
        options.number("--most", default=most, help="Largest number of edges and of variables."),
    )


@click.group()
def plot() -> None:
    """Draw figures for papers, at the width of a column or page.

    \b
    Examples:
      contextwise plot pairs true.mn learned.mn --out pairs.pdf
      contextwise plot graph true.mn learned.mn --around smoker --out graph.svg
      contextwise plot neighbours true.mn learned.mn smoker --out smoker.pdf
      contextwise plot confusion true.mn first.mn second.mn --out rates.png
      contextwise plot replicates true.mn trees='runs/trees/*.mn' --out groups.pdf
      contextwise plot matrix *.mn --out models.pdf
    """


@plot.command(short_help="Draw a heat map of the errors of each pair.")
@options.model("true")
@options.model("guess")
@comparing
@click.option("--reorder", is_flag=True, help="Group variables with similar errors.")
def pairs(
    true: str, guess: str, out: str, reorder: bool, time_limit: float | None, align: Align
) -> None:
    """Draw a heat map of the pairs: false positives above the diagonal, false negatives below.

    \b
    Examples:
      contextwise plot pairs true.mn learned.mn --out pairs.pdf
      contextwise plot pairs true.mn learned.mn --reorder --out pairs.png
    """
    from contextwise.report.plots import plot_pairs, save

    comparison = _compare(true, guess, align, time_limit)
    save(plot_pairs(comparison, reorder=reorder, title=_title(true, guess)), out)


@plot.command(short_help="Draw the graphs of one or two structures.")
@options.model("true")
@options.model("guess", required=False)
@comparing
@edge_options("differences; strongest with --around, and for one model", 40)
@click.option("--around", metavar="A,B,...", help="Draw only edges of these variables.")
@options.context
def graph(
    true: str,
    guess: str | None,
    out: str,
    edges: str | None,
    around: str | None,
    min_share: float,
    most: int,
    context: str | None,
    time_limit: float | None,
    align: Align,
) -> None:
    """Draw both structures as one graph, or one structure alone.

    The wider a line, the larger the share of contexts in which the pair depends. The graph shows
    as many edges as are readable, the largest differences first, and reports how many it left
    out. To see all pairs of many variables, use contextwise plot pairs. With --context, the graph
    in this context is drawn next to the graph over all contexts.

    To write the graph of a model for other programs, use contextwise convert.

    \b
    Examples:
      contextwise plot graph true.mn learned.mn --out graph.svg
      contextwise plot graph true.mn --out graph.svg
      contextwise plot graph true.mn learned.mn --around smoker,cough --out graph.svg
      contextwise plot graph true.mn learned.mn --context "age=old" --out graph.pdf
    """
    from contextwise.report.plots import plot_graphs, save
    from contextwise.report.shares import edges_of, select_edges

    deadline = Deadline.after(time_limit)
    comparison = _compare(true, guess or true, align, time_limit)
    in_context = None
    if context is not None:
        in_context = _compare(true, guess or true, align, deadline.left(), context=context)
    names = [] if around is None else parse_names(around)
    for name in names:
        comparison.domain.position(name)  # raises for an unknown name
    selection = select_edges(
        edges_of(comparison),
        which=edges or ("strongest" if guess is None else None),  # type: ignore[arg-type]
        around=names,
        min_share=min_share,
        most_edges=most,
        most_nodes=most,
    )
    figure = plot_graphs(
        comparison,
        in_context,
        fixed=None if in_context is None else in_context.question.context,
        title=_title(true, guess),
        selection=selection,
    )
    save(figure, out)
    if len(selection.edges) < selection.of:
        click.echo(
            f"contextwise: {selection.words}; for all pairs: contextwise plot pairs", err=True
        )


@plot.command(short_help="Draw one variable's dependence on the others.")
@options.model("true")
@options.model("guess")
@click.argument("variable")
@comparing
@edge_options("strongest", 30)
def neighbours(
    true: str,
    guess: str,
    variable: str,
    out: str,
    edges: str | None,
    min_share: float,
    most: int,
    time_limit: float | None,
    align: Align,
) -> None:
    """Draw the share of contexts in which VARIABLE depends on each other variable.

    \b
    Examples:
      contextwise plot neighbours true.mn learned.mn smoker --out smoker.pdf
      contextwise plot neighbours true.mn learned.mn smoker --edges differences --out smoker.pdf
    """
    from contextwise.report.plots import plot_neighbours, save

    figure = plot_neighbours(
        _compare(true, guess, align, time_limit),
        variable,
        title=_title(true, guess),
        which=None if edges == "all" else edges,  # type: ignore[arg-type]
        min_share=min_share,
        most=most,
    )
    save(figure, out)


@plot.command(short_help="Draw the confusion matrix, errors and rates.")
@options.model("true")
@options.model("guesses", metavar="GUESS...", nargs=-1, required=True)
@comparing
def confusion(
    true: str, guesses: tuple[str, ...], out: str, time_limit: float | None, align: Align
) -> None:
    """Draw the confusion matrix of one guess, or the errors of several, and the rates.

    \b
    Examples:
      contextwise plot confusion true.mn learned.mn --out confusion.pdf
      contextwise plot confusion true.mn first.mn second.mn --out rates.png
    """
    from contextwise.report.plots import plot_guesses, save

    comparisons = _compare_all(true, guesses, align, time_limit)
    title = _title(true, guesses[0] if len(guesses) == 1 else None)
    save(plot_guesses(comparisons, title=title), out)


@plot.command(short_help="Draw means, errors or ranks of groups of guesses.")
@replicates_options
@out_option
def replicates(replicates: Replicates, out: str) -> None:
    """Draw groups of guesses; takes the arguments of contextwise replicates.

    With one TRUTH: the mean distance of each group with its 95 % interval (Student's t, or the
    bootstrap from 20 guesses on), and the false positives and negatives of each guess.

    With several TRUTHs or a --table: the mean ranks by one metric; a bar connects groups that do
    not differ.

    \b
    Examples:
      contextwise plot replicates true.mn trees='t/*.mn' pairs='p/*.mn' --out groups.pdf
      contextwise plot replicates truths/*.mn trees='t/{truth}*.mn' pairs='p/{truth}*.mn'
          graphs='g/{truth}*.mn' --out ranks.pdf
      contextwise plot replicates --table results.csv --metric f1 --out ranks.pdf
    """
    from contextwise.report.plots import plot_critical_difference, plot_groups, save

    truths, groups = split_groups(replicates.arguments)
    if len(truths) == 1 and groups and replicates.table is None:
        compared = replicates.comparisons(truths, groups)
        members = {
            group: [comparison for _, comparison in runs] for group, runs in compared.items()
        }
        save(plot_groups(members, title=_title(truths[0])), out)
        return
    if len(replicates.metrics) > 1:
        raise click.UsageError("a figure shows one --metric")
    (ranking,) = replicates.summary().rankings
    save(plot_critical_difference(ranking), out)


@plot.command(short_help="Draw the distances of many models, and a map.")
@options.model("models", metavar="MODEL...", nargs=-1, required=True)
@comparing
def matrix(models: tuple[str, ...], out: str, time_limit: float | None, align: Align) -> None:
    """Draw the distances of many models: a matrix, a tree, and a map in two dimensions.

    \b
    Examples:
      contextwise plot matrix *.mn --out models.pdf
    """
    from contextwise.comparison.matrix import distance_matrix
    from contextwise.report.plots import plot_models, save

    distances = distance_matrix(
        load_all(models),
        names=short_names(models),
        time_limit=time_limit,
        align=align,
        show_progress=True,
    )
    if not distances.total:
        raise ContextwiseError(options.NOTHING_LEFT)
    save(plot_models(distances.names, distances.normalized), out)


def _title(true: str, guess: str | None = None) -> str:
    if guess is None:
        return f"true: {short_names([true])[0]}"
    first, second = short_names([true, guess])
    return f"true: {first}, guess: {second}"


def _compare(
    true: str, guess: str, align: Align, time_limit: float | None, context: str | None = None
) -> Comparison:
    (comparison,) = _compare_all(true, (guess,), align, time_limit, context).values()
    return comparison


def _compare_all(
    true: str,
    guesses: Sequence[str],
    align: Align,
    time_limit: float | None,
    context: str | None = None,
) -> dict[str, Comparison]:
    """Compare guesses with the true model; return the comparisons by short name."""
    from contextwise.comparison.compare import compare

    deadline = Deadline.after(time_limit)
    first, *others = load_all([true, *guesses])
    comparisons = {}
    for label, other in zip(short_names(guesses), others, strict=True):
        limit = deadline.left()
        comparison = compare(
            first, other, time_limit=limit, align=align, context=context, show_progress=True
        )
        options.refuse_nothing(comparison.question)
        comparisons[label] = comparison
    return comparisons
