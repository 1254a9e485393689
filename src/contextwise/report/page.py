"""A report as one HTML file: it needs no network, and opens by a double click.

The page holds the table of the guesses, and for each of them the confusion matrix and rates, the
heat map of pairs, the graph of both structures, and the explanation of the worst pairs and
features; then the statistics of the models, and how the page was made. It follows the reader's
choice of dark or light, and prints in light. It has no script, unless heat maps that zoom are asked
for; these have still pictures behind them for readers without scripts and for paper.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import datetime

import numpy as np

import contextwise
from contextwise.comparison.compare import Comparison
from contextwise.models.numbers import name
from contextwise.models.structure import Structure
from contextwise.report.comparisons import Guess, comparison_parts, guesses_parts
from contextwise.report.elements import Cell, Column, Note, Part, Section, Table
from contextwise.report.explanations import explanation_parts
from contextwise.report.html import render
from contextwise.report.pictures import graph_picture, pairs_picture


def report_page(
    true: str,
    guesses: Sequence[Guess],
    *,
    command: str = "",
    made: datetime | None = None,
    interactive: bool = False,
) -> str:
    """The page.

    Parameters
    ----------
    true : the name of the true model
    guesses : at least one, all compared with that model
    command : the command that made the page, to be shown
    made : when; now if not given
    interactive : whether readers can zoom into the heat maps, by a script in the page

    Returns
    -------
    str
        HTML that needs nothing else.
    """
    several = len(guesses) > 1
    who = f"{len(guesses)} guesses" if several else name(guesses[0].name)
    return render(
        "page.html",
        title=f"{who} compared with {name(true)}",
        overview=guesses_parts(guesses, medium="page") if several else [],
        guesses=[
            Section(name(guess.name), tuple(guess_parts(guess, interactive=interactive)))
            for guess in guesses
        ],
        interactive=interactive,
        models=Section("Models", (models_table(true, guesses),)),
        made=_made(guesses[0].comparison, command, made),
    )


def guess_parts(guess: Guess, *, interactive: bool = False) -> list[Part]:
    """What the page says of one guess."""
    c = guess.comparison
    explained = [] if guess.explanation is None else explanation_parts(guess.explanation)
    pictures = pairs_picture(c, interactive=interactive), graph_picture(c)
    return [
        Note("summary", c.summary()),
        *comparison_parts(c, top=0, medium="page"),
        Section("Pictures", pictures, key="pictures"),
        *explained,
    ]


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
    models += [(guess.name, guess.comparison.guess) for guess in guesses]
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
