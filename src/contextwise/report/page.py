"""A report as one HTML file: it needs no network, and opens by a double click.

The page holds, for several guesses, their table, the plane of their errors, and what groups of them
say in all; for each guess the confusion matrix and rates, the heat map of pairs, the graph of both
structures, the explanation of the worst pairs and features, and, where they were asked for, chance
and checks on data; then the stability of what a learner finds, the statistics of the models, and
how the page was made. It follows the reader's choice of dark or light, and prints in light.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

import contextwise
from contextwise.comparison.compare import Comparison
from contextwise.evaluation.replicates import Summary, summarize
from contextwise.models.structure import Structure
from contextwise.report.chances import chance_parts, chances_table
from contextwise.report.comparisons import Guess, comparison_parts, guesses_parts
from contextwise.report.explanations import explanation_parts
from contextwise.report.html import as_html, page_html, tag
from contextwise.report.parts import Cell, Column, Part, Section, Table
from contextwise.report.pictures import graph_picture, pairs_picture, plane_picture
from contextwise.report.statistics import TOP, check_parts, stability_parts
from contextwise.report.summaries import summary_parts
from contextwise.support.formatting import name

if TYPE_CHECKING:
    from contextwise.evaluation.stability import Stability


def report_page(
    true: str,
    guesses: Sequence[Guess],
    *,
    command: str = "",
    made: datetime | None = None,
    stability: Stability | None = None,
    learner: str = "the learner",
    top: int = TOP,
) -> str:
    """The page.

    Guesses that belong to groups are not shown one by one: of each group the page has the guess of
    median distance.

    Parameters
    ----------
    true : the name of the true model
    guesses : at least one, all compared with that model
    command : the command that made the page, to be shown
    made : when; now if not given
    stability : structures that a learner found in resamples, optional
    learner : what it is called, and where the rows are from
    top : how many pairs or claims the sections on chance, checks and stability show

    Returns
    -------
    str
        HTML that needs nothing else.

    Examples
    --------
    >>> from contextwise import compare
    >>> from contextwise.evaluation import chance
    >>> beside = chance("six", "six-guess", draws=99)
    >>> page = report_page("six", [Guess("six-guess", beside.comparison, chance=beside)])
    >>> "Beside chance" in page
    True
    """
    several = len(guesses) > 1
    who = f"{len(guesses)} guesses" if several else name(guesses[0].title)
    body: list[str] = []
    shown = _shown(guesses)
    if len(shown) > 1:
        links = (
            tag("li", tag("a", title, href=f"#guess-{k}")) for k, (title, _) in enumerate(shown)
        )
        body.append(tag("nav", tag("ul", *links), aria_label="Guesses"))
    if several:
        body.append(as_html(overview_parts(guesses)))
    for k, (title, guess) in enumerate(shown):
        if len(shown) > 1:
            body.append(tag("h2", title, id=f"guess-{k}"))
        body.append(as_html(guess_parts(guess, top=top), level=3))
    if stability is not None:
        parts = tuple(stability_parts(stability, top=top))
        body.append(as_html([Section(f"How stable: {name(learner, 60)}", parts)]))
    body.append(as_html([Section("Models", (models_table(true, guesses),))]))
    made_by = _made(guesses[0].comparison, command, made)
    return page_html(f"{who} compared with {name(true)}", "".join(body), made_by)


def _shown(guesses: Sequence[Guess]) -> list[tuple[str, Guess]]:
    """The guesses that have a section of their own, each under its title."""
    groups: dict[str, list[Guess]] = {}
    for guess in guesses:
        groups.setdefault(guess.group, []).append(guess)
    shown = [(name(guess.title), guess) for guess in groups.pop("", [])]
    for group, own in groups.items():
        ranked = sorted(own, key=lambda guess: guess.comparison.distance_bounds)
        typical = ranked[(len(ranked) - 1) // 2]
        title = f"{name(group)}: {name(typical.title)}, the guess of median distance"
        shown.append((title if len(own) > 1 else f"{name(group)}: {name(typical.title)}", typical))
    return shown


def overview_parts(guesses: Sequence[Guess]) -> list[Part]:
    """What the page says of several guesses: their errors, their groups, their table, and chance.

    Parameters
    ----------
    guesses : all compared with one true model

    Returns
    -------
    list of parts
    """
    summary = _summary(guesses)
    parts: list[Part] = [plane_picture(guesses, summary)]
    if summary is not None:
        shown = tuple(one for one in summary.differences if one.metric == "normalized")
        parts += summary_parts(replace(summary, differences=shown))
    parts += guesses_parts(guesses, medium="page")
    return [*parts, chances_table(guesses)] if any(guess.chance for guess in guesses) else parts


def _summary(guesses: Sequence[Guess]) -> Summary | None:
    """The means of groups, if there are groups and every guess is known."""
    groups: dict[str, list[Comparison]] = {}
    for guess in guesses:
        groups.setdefault(guess.group, []).append(guess.comparison)
    if not any(groups) or any(len(guess.comparison.unions.open) for guess in guesses):
        return None
    return summarize(groups)


def guess_parts(guess: Guess, *, top: int = TOP) -> list[Part]:
    """What the page says of one guess.

    Parameters
    ----------
    guess : with all that is known of it
    top : how many pairs and claims are shown beside chance and checks

    Returns
    -------
    list of parts
    """
    c = guess.comparison
    explained = [] if guess.explanation is None else explanation_parts(guess.explanation)
    pictures = pairs_picture(c), graph_picture(c)
    return [
        *comparison_parts(c, top=0 if explained else top, medium="page"),
        Section("Pictures", pictures, key="pictures"),
        *explained,
        *_statistics(guess, top),
    ]


def _statistics(guess: Guess, top: int) -> Iterator[Part]:
    if guess.chance is not None:
        yield Section("Beside chance", tuple(chance_parts(guess.chance, top=top)))
    if guess.check is not None:
        yield Section("What the rows say", tuple(check_parts(guess.check, top=top)))


def _made(c: Comparison, command: str, made: datetime | None) -> list[tuple[str, str]]:
    when = (made or datetime.now().astimezone()).isoformat(" ", "minutes")
    rows = [
        ("made", when),
        ("contextwise", contextwise.__version__),
        ("Python", platform.python_version()),
        ("NumPy", np.__version__),
        ("engine", c.engine),
    ]
    return [("command", command), *rows] if command else rows


def models_table(true: str, guesses: Sequence[Guess]) -> Table:
    """How large the models are, one row per model.

    Parameters
    ----------
    true : the name of the true model
    guesses : all compared with it

    Returns
    -------
    Table
    """
    models: list[tuple[str, Structure]] = [(true, guesses[0].comparison.true)]
    models += [(guess.title, guess.comparison.guess) for guess in guesses]
    statistics = [(label, model.statistics()) for label, model in models]
    columns = [Column("model", "name")]
    columns += [
        Column(key.replace("_", " "), "count" if isinstance(value, int) else "mean")
        for key, value in statistics[0][1].items()
    ]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (label, *found.values()) for label, found in statistics
    )
    return Table("", tuple(columns), rows, key="models")
