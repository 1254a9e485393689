"""Write the report page: one HTML file that needs no network and opens by a double click.

It follows the reader's choice of dark or light, and prints in light.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from contextwise.comparison.compare import Comparison
from contextwise.evaluation.replicates import Summary, summarize
from contextwise.models.structure import Structure
from contextwise.report.comparisons import (
    Guess,
    comparison_parts,
    explanation_parts,
    guesses_parts,
    scope_text,
)
from contextwise.report.evaluations import (
    chance_parts,
    chances_table,
    check_parts,
    populations_parts,
    stability_parts,
    summary_parts,
)
from contextwise.report.html import as_html, page_html, tag
from contextwise.report.parts import TOP, Note, Part, Section, Style, Table, table
from contextwise.report.pictures import (
    graph_pictures,
    no_heat_map,
    one_pictures,
    pairs_picture,
    plane_picture,
    strengths_picture,
)
from contextwise.report.structures import OneModel, one_model_parts
from contextwise.support.formatting import name

if TYPE_CHECKING:
    from contextwise.evaluation.group_tests import PopulationsOfColumns
    from contextwise.evaluation.resampling import Stability


def report_page(
    true: str,
    guesses: Sequence[Guess],
    *,
    command: str = "",
    made: datetime | None = None,
    stability: Stability | None = None,
    learner: str = "the learner",
    ensembles: Section | None = None,
    populations: PopulationsOfColumns | None = None,
    top: int = TOP,
) -> str:
    """Return the page about guesses at one true model.

    Of each group of guesses, the page shows the guess of median distance. ``stability`` is that of
    structures that ``learner`` found in resamples; ``ensembles`` scores groups and resamples as
    ensembles; ``populations`` compares groups of rows. Each section shows ``top`` pairs or claims.
    """
    sections = _sections(guesses)
    several = len(guesses) > 1
    body: list[str] = []
    if len(sections) > 1:
        links = (
            tag("li", tag("a", title, href=f"#guess-{k}")) for k, (title, _) in enumerate(sections)
        )
        body.append(tag("nav", tag("ul", *links), aria_label="Models"))
    terms = terms_note(guesses[0].comparison)
    if several:
        body.append(as_html([*overview_parts(guesses), terms]))
    for k, (title, guess) in enumerate(sections):
        if len(sections) > 1:
            body.append(tag("h2", title, id=f"guess-{k}"))
        verdict, *parts = guess_parts(guess, top=top)
        head = [verdict] if several else [verdict, terms]
        body.append(as_html([*head, *parts], level=3))
    if stability is not None:
        parts = stability_parts(stability, top=top)
        body.append(as_html([Section(f"How stable: {name(learner, 60)}", tuple(parts))]))
    if ensembles is not None:
        body.append(as_html([ensembles]))
    for found in populations or ():
        title = f"Groups by {name(found.by, 60)}"
        body.append(as_html([Section(title, tuple(populations_parts(found, top=top)))]))
    body.append(as_html([Section("Models", (models_table(true, guesses),))]))
    noun = "models" if guesses[0].comparison.roles.peers else "guesses"
    who = f"{len(guesses)} {noun}" if several else name(guesses[0].title)
    engine = guesses[0].comparison.engine
    return page_html(
        f"{who} compared with {name(true)}", "".join(body), _origin(command, made, engine)
    )


def _origin(command: str, made: datetime | None, engine: str) -> list[tuple[str, str]]:
    """Return how a page was made: the command, the time and the versions."""
    rows = [
        ("command", command),
        ("made", (made or datetime.now().astimezone()).isoformat(" ", "minutes")),
        ("contextwise", version("contextwise")),
        ("Python", platform.python_version()),
        ("NumPy", np.__version__),
        ("engine", engine),
    ]
    return rows if command else rows[1:]


def model_page(
    title: str,
    one: OneModel,
    *,
    command: str = "",
    made: datetime | None = None,
    top: int = TOP,
) -> str:
    """Return the page about one model: its pairs, pictures, sentences and their evidence."""
    first, *rest = one_model_parts(one, top=top)
    comparison = one.comparison
    parts: list[Part] = [first, one_terms(comparison)]
    if len(comparison.domain) > 1:
        pictures: list[Part] = [*one_pictures(comparison)]
        if note := no_heat_map(len(comparison.domain)):
            pictures.insert(0, note)
        parts.append(Section("Pictures", tuple(pictures), key="pictures"))
    parts += rest
    if one.check is not None:
        parts.append(Section("Checked on data", tuple(check_parts(one.check, top=top))))
    if one.stability is not None:
        parts.append(Section("How stable", tuple(stability_parts(one.stability, top=top))))
    statistics = _statistics([(title, comparison.true)])
    parts.append(Section("Model", (statistics,)))
    origin = _origin(command, made, comparison.engine)
    return page_html(name(title), as_html(parts, level=2), origin)


def one_terms(comparison: Comparison) -> Note:
    """Explain dependence and context with the variables of this model."""
    domain = comparison.domain
    others = domain.names[2:3]
    example = f", such as {name(others[0])}={name(domain.states[2][0])}" if others else ""
    every = "every variable" if comparison.question.space.canonical else "every other variable"
    return Note(
        "terms",
        f"A context of two variables gives a state to {every}{example}. The two depend in a "
        "context if the model links them there, and are independent in it if not.",
    )


def _sections(guesses: Sequence[Guess]) -> list[tuple[str, Guess]]:
    """Return the guesses that have a section of their own, with its title."""
    groups: dict[str, list[Guess]] = {}
    for guess in guesses:
        groups.setdefault(guess.group, []).append(guess)
    sections = [(name(guess.title), guess) for guess in groups.pop("", [])]
    for group, members in groups.items():
        ranked = sorted(members, key=lambda guess: guess.comparison.distance_bounds)
        # The lower median, because an actual guess is shown.
        typical = ranked[(len(ranked) - 1) // 2]
        title = f"{name(group)}: {name(typical.title)}"
        if len(members) > 1:
            title += ", the guess of median distance"
        sections.append((title, typical))
    return sections


def terms_note(comparison: Comparison) -> Note:
    """Explain assertion and context with the variables of these models."""
    names = comparison.domain.names
    worst = comparison.worst_pairs(1)
    pair = worst[0][0] if worst else names[:2]
    if len(pair) < 2:
        return Note("terms", "An assertion is about two variables; these models have fewer.")
    others = [variable for variable in names if variable not in pair]
    first = comparison.domain.states[comparison.domain.position(others[0])][0] if others else ""
    states = f", such as {name(others[0])}={name(first)}" if others else ""
    every = "every variable" if comparison.question.space.canonical else "every other variable"
    roles = comparison.roles
    kinds = (
        "A false positive is a dependence that only the guess has, a false negative one that only "
        "the true model has."
    )
    if roles.peers:
        kinds = "Neither model is taken as the truth."
    return Note(
        "terms",
        f"An assertion is the claim that two variables, such as {name(pair[0])} and "
        f"{name(pair[1])}, depend on each other in one context, or do not. A context gives a state "
        f"to {every}{states}. This page compares {scope_text(comparison)}. {kinds}",
    )


def overview_parts(guesses: Sequence[Guess]) -> list[Part]:
    """Return the plane of errors, the means of groups, the table of guesses, and chance."""
    groups: dict[str, list[Comparison]] = {}
    for guess in guesses:
        groups.setdefault(guess.group, []).append(guess.comparison)
    summary: Summary | None = None
    parts: list[Part] = []
    if any(groups) and not any(len(guess.comparison.unions.open_places) for guess in guesses):
        summary = summarize(groups)
        distances = tuple(d for d in summary.differences if d.metric == "normalized")
        parts += summary_parts(replace(summary, differences=distances))
    parts += guesses_parts(guesses, medium="page")
    parts.append(plane_picture(guesses, summary))
    return [*parts, chances_table(guesses)] if any(guess.chance for guess in guesses) else parts


def guess_parts(guess: Guess, *, top: int = TOP) -> list[Part]:
    """Return the section of one guess; the verdict comes first."""
    c = guess.comparison
    explained = [] if guess.explanation is None else explanation_parts(guess.explanation)
    parts = comparison_parts(c, top=0 if explained else top, medium="page", chance=guess.chance)
    heat = no_heat_map(len(c.domain)) or pairs_picture(c)
    pictures: list[Part] = [heat, *graph_pictures(c)]
    if c.strengths is not None and c.strengths.samples:
        pictures.append(strengths_picture(c.strengths))
    parts.append(Section("Pictures", tuple(pictures), key="pictures"))
    parts += explained
    if guess.chance is not None:
        parts.append(Section("Compared with chance", tuple(chance_parts(guess.chance, top=top))))
    if guess.check is not None:
        parts.append(Section("Checked on data", tuple(check_parts(guess.check, top=top))))
    return parts


def models_table(true: str, guesses: Sequence[Guess]) -> Table:
    models = [(true, guesses[0].comparison.true)]
    return _statistics([*models, *((guess.title, guess.comparison.guess) for guess in guesses)])


def _statistics(models: Sequence[tuple[str, Structure]]) -> Table:
    statistics = [(label, model.statistics()) for label, model in models]
    columns: dict[str, Style] = {"model": "name"}
    for key, value in statistics[0][1].items():
        columns[key.replace("_", " ")] = "count" if isinstance(value, int) else "mean"
    return table("", columns, [(label, *values.values()) for label, values in statistics], "models")
