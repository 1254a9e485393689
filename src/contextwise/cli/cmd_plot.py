"""``contextwise plot``: draw figures for papers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import contextwise as cw
from contextwise.cli import commands, options
from contextwise.cli.inputs import (
    load,
    load_all,
    load_guesses,
    short_names,
    time_left,
)
from contextwise.errors import ContextwiseError
from contextwise.models.notation import parse_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from contextwise.models.structure import Align
    from contextwise.report.comparisons import Guess


class PlotOptions(NamedTuple):
    """The options of a figure."""

    out: str
    title: str | None
    width: float | None
    font_size: float | None
    names: list[str] | None = None
    time_limit: float | None = None  # `time_left` reads it
    align: Align = "names"
    peers: bool = False
    by_values: float | None = None

    def labels(self, models: Sequence[str]) -> list[str]:
        return options.Naming(self.names, self.peers).labels(models)

    def compare(
        self,
        models: Sequence[str],
        contexts: Sequence[str | None] = (None,),
        at: Sequence[float] | None = None,
    ) -> list[Guess]:
        """Compare the first model with each of the others."""
        labels = self.labels(models)
        loaded = load_all(models, by_values=self.by_values)
        guesses = []
        for k, context in product(range(1, len(models)), contexts):
            comparison = cw.compare(
                loaded[0],
                loaded[k],
                time_limit=time_left(),
                align=self.align,
                context=context,
                at=at,
                show_progress=True,
                peers=(labels[0], labels[k]) if self.peers else False,
            )
            options.refuse_nothing(comparison.question)
            guesses.append(
                cw.report.comparisons.Guess(models[k], comparison, labels[k], truth=labels[0])
            )
        return guesses

    def save(self, plot: Callable[..., Figure], *drawn: Any, title: str = "", **how: Any) -> None:
        """Draw a figure with a plot function and write it; ``title`` is the default.

        Exit with 3 if the figure shows comparisons with unfinished pairs.
        """
        sizes = {"width": self.width, "font_size": self.font_size}
        how |= {key: value for key, value in sizes.items() if value is not None}
        cw.report.plots.save(
            plot(*drawn, title=title if self.title is None else self.title, **how), self.out
        )
        several = (d.values() if isinstance(d, dict) else [d] for d in drawn)
        if any(getattr(value, "is_open", False) for values in several for value in values):
            click.echo("contextwise: the time limit left pairs unfinished", err=True)
            click.get_current_context().exit(3)


TOLERANCES = (0, 0.03, 0.1, 0.3, 1, 3)
"""The tolerances of ``plot strength`` by default."""
SIZE = options.FiniteNumber(0, 100, min_open=True)
FIGURE = (
    options.path(
        "--out",
        metavar="FILE",
        required=True,
        callback=options.check_picture,
        help="Write this .png, .svg or .pdf file.",
    ),
    click.option("--title", help="Title of the figure.  [default: the names of the models]"),
    click.option("--width", type=SIZE, metavar="INCHES", help="Width of the figure."),
    click.option("--font-size", type=SIZE, metavar="POINTS", help="Size of the text."),
)
comparing = options.options_as(
    "picture",
    PlotOptions,
    *FIGURE,
    options.section(commands.COMPARED, options.names, options.peers),
    options.section(commands.MODELS, options.by_position, options.by_values),
    options.time_limit(),
)
"""Add the options of all figures that compare models."""


class Plots(commands.SuggestingGroup):
    """A group whose commands list their options in sections."""

    command_class = commands.SectionedCommand


@click.group(cls=Plots)
def plot() -> None:
    """Draw figures for papers, at the width of a column or page.

    \b
    Examples:
      contextwise plot pairs true.mn learned.mn --out pairs.pdf
      contextwise plot groups true.mn --group trees='t/*.mn' --group pairs='p/*.mn' --out g.pdf
      contextwise plot matrix a.mn b.mn --names Trees,Pairs --width 7 --out models.pdf
    """


@plot.command(short_help="Draw a heat map of the errors of each pair.")
@options.model("true")
@options.model("guess")
@comparing
@click.option("--reorder", is_flag=True, help="Group variables with similar errors.")
def pairs(true: str, guess: str, picture: PlotOptions, reorder: bool) -> None:
    """Draw a heat map of the pairs: false positives above the diagonal, false negatives below.

    \b
    Examples:
      contextwise plot pairs true.mn learned.mn --out pairs.pdf
      contextwise plot pairs true.mn learned.mn --reorder --out pairs.png
    """
    (compared,) = picture.compare([true, guess])
    picture.save(
        cw.report.plots.plot_pairs, compared.comparison, reorder=reorder, title=_title(compared)
    )


@plot.command(short_help="Draw the graphs of one or two structures.")
@options.model("true")
@options.model("guess", required=False)
@comparing
@click.option(
    "--edges",
    type=options.words(["differences", "strongest"]),
    help="Draw the edges where the models differ most, or those where either depends most.  "
    "[default: differences; strongest with --around, and for one model]",
)
@options.number("--top", default=40, help="Largest number of edges and of variables.")
@click.option("--around", metavar="A,B,...", help="Draw only edges of these variables.")
@options.context
def graph(
    true: str,
    guess: str | None,
    picture: PlotOptions,
    edges: str | None,
    around: str | None,
    top: int,
    context: str | None,
) -> None:
    """Draw both structures as one graph, or one structure alone.

    The wider a line, the larger the share of contexts in which the pair depends. The graph shows
    as many edges as are readable, the largest differences first, and reports how many it left
    out. To see all pairs of many variables, use contextwise plot pairs. With --context, the graph
    in this context is drawn next to the graph over all contexts.

    To write the graph of a model for other programs, use contextwise convert.

    \b
    Examples:
      contextwise plot graph true.mn --out graph.svg
      contextwise plot graph true.mn learned.mn --around smoker,cough --out graph.svg
      contextwise plot graph true.mn learned.mn --context "age=old" --out graph.pdf
    """
    names = [] if around is None else parse_names(around)
    how: dict[str, Any] = {"around": names, "most_edges": top, "most_nodes": top}
    if guess is None:
        (label,) = picture.labels([true])
        (model,) = load_all([true], by_values=picture.by_values)
        how |= {"which": edges or "strongest", "context": context, "title": label}
        picture.save(cw.report.plots.plot_structure, model, **how)
        return
    contexts = [None] if context is None else [None, context]
    compared, *restricted = picture.compare([true, guess], contexts)
    comparison, in_context = compared.comparison, [guess.comparison for guess in restricted]
    for name in names:
        comparison.domain.position(name)  # raises for an unknown name
    selection = cw.report.pictures.select_edges(
        cw.report.pictures.edges_of(comparison),
        **how,
        which=edges,  # type: ignore[arg-type]
    )
    if len(selection.edges) < selection.of:
        click.echo(
            f"contextwise: {selection.description}; for all pairs: contextwise plot pairs", err=True
        )
    picture.save(
        cw.report.plots.plot_graphs,
        comparison,
        *in_context,
        selection=selection,
        title=_title(compared),
    )


@plot.command(short_help="Draw the errors of guesses.")
@options.model("true")
@options.model("guesses", metavar="GUESS...", nargs=-1, required=True)
@comparing
def errors(true: str, guesses: tuple[str, ...], picture: PlotOptions) -> None:
    """Draw the distance of each guess, split into false positives and false negatives.

    \b
    Examples:
      contextwise plot errors true.mn first.mn second.mn --out errors.png
    """
    compared = picture.compare([true, *guesses])
    comparisons = {guess.title: guess.comparison for guess in compared}
    picture.save(cw.report.plots.plot_guesses, comparisons, title=_title(*compared))


@plot.command(short_help="Draw the distance where dependences are strong.")
@options.model("true")
@options.model("guesses", metavar="GUESS...", nargs=-1, required=True)
@options.at
@comparing
def strength(
    true: str, guesses: tuple[str, ...], at: list[float] | None, picture: PlotOptions
) -> None:
    """Draw the distance of each guess, counting only dependences stronger than a tolerance.

    One guess is drawn with its two kinds of errors, several as lines. The tolerances are absolute
    log odds ratios, by default 0, 0.03, 0.1, 0.3, 1 and 3. Shaded bands are proven bounds.

    \b
    Examples:
      contextwise plot strength true.mn learned.mn --out strength.pdf
      contextwise plot strength true.mn first.mn second.mn --at 0,0.5,1 --out strength.png
    """
    compared = picture.compare([true, *guesses], at=at or TOLERANCES)
    comparisons = {guess.title: guess.comparison for guess in compared}
    picture.save(cw.report.plots.plot_strength, comparisons, title=_title(*compared))


@plot.command(short_help="Draw the means of groups of guesses.")
@options.model("true")
@options.groups
@comparing
def groups(true: str, groups: dict[str, list[str]], picture: PlotOptions) -> None:
    """Draw the distance of each guess, and the mean of each group with its 95 % interval.

    \b
    Examples:
      contextwise plot groups true.mn --group trees='t/*.mn' --group pairs='p/*.mn' --out groups.pdf
    """
    if not groups:
        raise click.UsageError("name the groups of guesses, as in --group trees='t/*.mn'")
    members = {
        group: [guess.comparison for guess in picture.compare([true, *files])]
        for group, files in groups.items()
    }
    picture.save(cw.report.plots.plot_groups, members, title=f"true: {short_names([true])[0]}")


@plot.command(short_help="Draw the distances of many models.")
@options.model("models", metavar="MODEL...", nargs=-1, required=True)
@comparing
def matrix(models: tuple[str, ...], picture: PlotOptions) -> None:
    """Draw the distances of many models: a matrix, and a tree.

    \b
    Examples:
      contextwise plot matrix *.mn --out models.pdf
    """
    distances = cw.distance_matrix(
        load_all(models, by_values=picture.by_values),
        names=picture.labels(models),
        time_limit=time_left(),
        align=picture.align,
        show_progress=True,
    )
    if not distances.total:
        raise ContextwiseError(options.NOTHING_LEFT)
    picture.save(cw.report.plots.plot_models, distances.names, distances.normalized)


@plot.command(short_help="Draw how often assertions of a given probability are true.")
@options.model("true")
@options.model("ensemble")
@options.probabilities
@options.seed
@options.stacked(*FIGURE)
def reliability(true: str, ensemble: str, probabilities: bool, seed: int, **figure: Any) -> None:
    """Draw the share of assertions that depend in the TRUE model against their probability.

    The ENSEMBLE is a file or folder as for contextwise compare. Numbers next to the points count
    the assertions; lines are 95 % intervals.

    \b
    Examples:
      contextwise plot reliability true.mn resamples.json --out reliability.pdf
    """
    picture = PlotOptions(**figure)
    truth = load(true)
    (guess,) = load_guesses([ensemble], truth, probabilities=probabilities)
    curve = cw.evaluation.reliability(
        truth, guess, name=short_names([ensemble])[0], seed=seed, show_progress=True
    )
    picture.save(cw.report.plots.plot_reliability, curve, title=curve.name)
    click.echo(curve.verdict)


def _title(guess: Guess, *others: Guess) -> str:
    if guess.comparison.roles.peers:
        return f"{guess.truth} and {f'{len(others) + 1} others' if others else guess.title}"
    return f"true: {guess.truth}" + ("" if others else f", guess: {guess.title}")
