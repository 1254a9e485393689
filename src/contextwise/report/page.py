"""Write the report page: one HTML file that needs no network and opens by a double click.

It follows the reader's choice of dark or light, and prints in light.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from contextwise.comparison.question import Pair
from contextwise.comparison.roles import ALONE
from contextwise.comparison.two_models import Comparison
from contextwise.independence.claims import REGIONS
from contextwise.independence.model_claims import ModelExplanation
from contextwise.report.claims import check_parts
from contextwise.report.claims import explanation_parts as model_parts
from contextwise.report.comparisons import (
    Guess,
    comparison_parts,
    guesses_parts,
    scope_text,
)
from contextwise.report.differences import explanation_parts
from contextwise.report.evaluations import chance_parts
from contextwise.report.html import as_html, page_html, tag
from contextwise.report.parts import TOP, Note, Part, Section, Style, Table, table
from contextwise.report.pictures import Shares, arcs_of, graph_picture, pairs_picture, shares_of
from contextwise.support.formatting import name

if TYPE_CHECKING:
    from contextwise.evidence.model_check import Check


def report_page(
    true: str,
    guesses: Sequence[Guess],
    *,
    command: str = "",
    made: datetime | None = None,
    check: Check | None = None,
    top: int = TOP,
) -> str:
    """Return the page about guesses at one true model.

    ``check`` is that of the first model, if neither is true. Each section shows ``top`` pairs or
    claims.
    """
    several = len(guesses) > 1
    body: list[str] = []
    terms = terms_note(guesses[0].comparison)
    if several:
        links = (
            tag("li", tag("a", name(guess.title), href=f"#guess-{k}"))
            for k, guess in enumerate(guesses)
        )
        body.append(tag("nav", tag("ul", *links), aria_label="Models"))
        body.append(as_html([*guesses_parts(guesses), terms]))
    for k, guess in enumerate(guesses):
        verdict, *parts = guess_parts(guess, top=top)
        if several:
            body.append(tag("h2", name(guess.title), id=f"guess-{k}"))
            body.append(as_html([verdict], level=3))
            body.append(tag("details", tag("summary", "All details"), as_html(parts, level=3)))
        else:
            body.append(as_html([verdict, terms, *parts], level=3))
    if check is not None:
        body.append(as_html([checked_section(true, check, top)]))
    body.append(as_html([Section("Models", (models_table(true, guesses),))]))
    noun = "models" if guesses[0].comparison.roles.peers else "guesses"
    who = f"{len(guesses)} {noun}" if several else name(guesses[0].title)
    return page_html(f"{who} compared with {name(true)}", "".join(body), _origin(command, made))


def _origin(command: str, made: datetime | None) -> list[tuple[str, str]]:
    """Return how a page was made: the command, the time and the versions."""
    rows = [
        ("command", command),
        ("made", (made or datetime.now().astimezone()).isoformat(" ", "minutes")),
        ("contextwise", version("contextwise")),
        ("Python", platform.python_version()),
        ("NumPy", np.__version__),
    ]
    return rows if command else rows[1:]


def model_page(
    title: str, explained: ModelExplanation, *, command: str = "", made: datetime | None = None
) -> str:
    """Return the page about one model without rows: its pictures and its claims."""
    counted = explained.counted
    verdict, *claims = model_parts(explained, regions=REGIONS)
    parts: list[Part] = [verdict, one_terms(counted)]
    if len(counted.domain) > 1:
        shares = shares_of(counted, ALONE)
        parts.append(pictures_section(shares, arcs_of(counted.true)))
    parts += claims
    return page_html(name(title), as_html(parts, level=2), _origin(command, made))


def check_page(title: str, check: Check, *, command: str = "") -> str:
    """Return the page about the claims of one model or graph on rows."""
    return page_html(title, as_html(check_parts(check), level=2), _origin(command, None))


def one_terms(comparison: Comparison) -> Note:
    text = f"{_context_text(comparison, comparison.domain.names[:2])} Two variables depend in a "
    text += "context if the model links them there, and are independent in it if not."
    return Note("terms", text)


def terms_note(comparison: Comparison) -> Note:
    """Explain assertion and context with the variables of these models."""
    worst = comparison.worst_pairs(1)
    pair = worst[0][0] if worst else comparison.domain.names[:2]
    if len(pair) < 2:
        return Note("terms", "An assertion is about two variables; these models have fewer.")
    kinds = (
        "A false positive is a dependence that only the guess has, a false negative one that only "
        "the true model has."
    )
    if comparison.roles.peers:
        kinds = "No model is taken as the truth."
    return Note(
        "terms",
        f"An assertion is the claim that two variables, such as {name(pair[0])} and "
        f"{name(pair[1])}, depend on each other in one context, or do not. "
        f"{_context_text(comparison, pair)} This page compares {scope_text(comparison)}. {kinds}",
    )


def _context_text(comparison: Comparison, pair: Sequence[str]) -> str:
    """Say what a context is, with a variable beyond a pair as an example."""
    domain = comparison.domain
    every = "every variable" if comparison.question.space.canonical else "every other variable"
    other = next((variable for variable in domain.names if variable not in pair), None)
    if other is None:
        return f"A context gives a state to {every}."
    state = domain.states[domain.position(other)][0]
    return f"A context gives a state to {every}, such as {name(other)}={name(state)}."


def guess_parts(guess: Guess, *, top: int = TOP) -> list[Part]:
    """Return the section of one guess; the verdict comes first."""
    c = guess.comparison
    explained = [] if guess.explanation is None else explanation_parts(guess.explanation)
    parts = comparison_parts(c, top=0 if explained else top, chance=guess.chance)
    parts.append(pictures_section(guess.shares))
    parts += explained
    if guess.chance is not None:
        parts.append(Section("Compared with chance", tuple(chance_parts(guess.chance))))
    if guess.check is not None:
        parts.append(checked_section(guess.title, guess.check, top))
    return parts


def pictures_section(shares: Shares, arcs: frozenset[Pair] = frozenset()) -> Section:
    """Show the heat map and the graph of one or two models."""
    pictures = pairs_picture(shares), graph_picture(shares, arcs)
    return Section("Pictures", pictures, key="pictures")


def checked_section(title: str, check: Check, top: int) -> Section:
    return Section(f"{name(title)} checked on data", tuple(check_parts(check, top=top)))


def models_table(true: str, guesses: Sequence[Guess]) -> Table:
    models = [(true, guesses[0].comparison.true)]
    models += [(guess.title, guess.comparison.guess) for guess in guesses]
    columns: dict[str, Style] = {"model": "name"}
    for key, value in models[0][1].statistics().items():
        columns[key.replace("_", " ")] = "count" if isinstance(value, int) else "mean"
    rows: list[tuple[Any, ...]] = [(label, *model.statistics().values()) for label, model in models]
    return table("", columns, rows, "models")
