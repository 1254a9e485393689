"""The two graphs in a context: what is left of each model once some variables are known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from zlib import crc32

from htmltools import Tag, TagList, tags
from shiny import reactive, render, ui

from contextwise.errors import ContextwiseError
from contextwise.execution.records import as_csv, as_json
from contextwise.explorer import elements, jobs
from contextwise.explorer.state import Entry, State
from contextwise.explorer.work import Worker
from contextwise.models.domain import Domain
from contextwise.models.notation import Literal, write_literals
from contextwise.report.edges import (
    Edge,
    View,
    edge_words,
    edges_between,
    edges_of,
    worst_variables,
)
from contextwise.report.layout import Positions, graph_layout
from contextwise.report.svg import graph_svg

LIMIT = 20.0  # seconds for the edges in a context
MOST_NODES = 40
"""A graph of more variables shows those with the most errors."""
OFFERED = 12
"""Up to so many variables, all have a selector from the start."""
DIFFERENT = 20
ANY = ""
EDGE_KEYS = ("first", "second", "tp", "fp", "fn")


def panel() -> TagList:
    """The selectors and the two graphs."""
    return TagList(
        tags.p(
            "Choose the states of some variables: the graphs show which of the others still "
            "depend, in each model. A line is as wide as the share of the remaining contexts "
            "in which the two variables depend."
        ),
        ui.input_selectize(
            "context_variables",
            "Variables whose state is chosen",
            [],
            multiple=True,
            options={"placeholder": "Add a variable"},
        ),
        ui.output_ui("context_selectors"),
        elements.legend(("tp", "fp", "fn")),
        ui.output_ui("graphs"),
        elements.downloads(
            ("graph_true_svg", "graph of the true model (SVG)"),
            ("graph_guess_svg", "graph of the guess (SVG)"),
            ("edges_csv", "edges (CSV)"),
            ("edges_json", "edges (JSON)"),
        ),
    )


def serve(state: State, wanted: str) -> tuple[Worker, Callable[[], dict[str, str]]]:
    """Register what the view shows, and give the context that is chosen in it.

    ``wanted`` is the context of the link; it is taken if it fits.
    """
    input = state.input
    worker = Worker(jobs.edges_in, seconds=LIMIT + 10)

    def chosen(domain: Domain) -> list[str]:
        return [name for name in input.context_variables() or () if name in domain.positions]

    @reactive.effect
    def offer_variables() -> None:
        names = state.domain().names
        first = names if len(names) <= OFFERED else _fitting(state.domain(), wanted)
        ui.update_selectize("context_variables", choices=list(names), selected=list(first))

    @render.ui
    def context_selectors() -> Tag:
        domain = state.domain()
        before = _fitting(domain, wanted)
        selects = []
        for name in chosen(domain):
            key = selector(domain, name)
            with reactive.isolate():
                now = input[key]() if input[key].is_set() else before.get(name, ANY)
            options = {ANY: "any", **{s: s for s in domain.states[domain.position(name)]}}
            selects.append(ui.input_select(key, name, options, selected=now))
        return tags.div(*selects, class_="selectors")

    @reactive.calc
    def context() -> dict[str, str]:
        domain = state.domain()
        states = {}
        for name in chosen(domain):
            key = selector(domain, name)
            if input[key].is_set() and input[key]() != ANY:
                states[name] = input[key]()
        return states

    @reactive.calc
    async def places() -> Positions:
        """One layout for all contexts, so that nodes stay where they are."""
        comparison = state.shown().comparison
        names, edges = comparison.domain.names, edges_of(comparison)
        if len(names) > MOST_NODES:
            names = worst_variables(names, edges, MOST_NODES)
        pairs = [edge.pair for edge in edges_between(edges, names)]
        return await asyncio.to_thread(graph_layout, names, pairs)

    @reactive.effect
    async def ask() -> None:
        comparison, fixed, names = state.shown().comparison, context(), list(await places())
        if fixed:
            worker.start(
                comparison.true, comparison.guess, names, fixed, comparison.contexts, LIMIT
            )

    @reactive.calc
    async def edges() -> list[Edge]:
        if context():
            found: list[Edge] = worker.result()
            return found
        return edges_between(edges_of(state.shown().comparison), await places())

    async def picture(view: View) -> str:
        return graph_svg(await edges(), await places(), view=view, fixed=context())

    async def side(entry: Entry, view: View) -> Tag:
        head = tags.h3(f"{entry.label} ({view})", class_="h6 mb-0 when")
        return tags.div(head, elements.svg(await picture(view)))

    @render.ui
    async def graphs() -> TagList:
        shown, found, nodes = state.shown(), await edges(), await places()
        variables = len(shown.comparison.domain)
        sides: list[tuple[Entry, View]] = [(shown.true, "true"), (shown.guess, "guess")]
        return TagList(
            elements.notice(
                f"Shown are the {len(nodes)} of {variables:,} variables with the most errors.",
                "info",
            )
            if len(nodes) < variables
            else None,
            tags.div(*[await side(*one) for one in sides], class_="graphs"),
            _differences(found),
        )

    async def edges_as_csv() -> str:
        return as_csv(map(_edge_record, await edges()), EDGE_KEYS)

    async def edges_as_json() -> str:
        return as_json({"context": context(), "edges": [_edge_record(e) for e in await edges()]})

    async def true_picture() -> str:
        return await picture("true")

    async def guess_picture() -> str:
        return await picture("guess")

    elements.offer("graph_true_svg", true_picture)
    elements.offer("graph_guess_svg", guess_picture)
    elements.offer("edges_csv", edges_as_csv)
    elements.offer("edges_json", edges_as_json)
    return worker, context


def selector(domain: Domain, name: str) -> str:
    """The identifier of a variable's selector; another domain has others.

    >>> domain = Domain({"A": 2, "B": 2})
    >>> selector(domain, "A") == selector(domain, "A") != selector(domain, "B")
    True
    """
    return f"state_{crc32(repr(domain.names).encode())}_{domain.position(name)}"


def context_text(context: dict[str, str]) -> str:
    """A context as it is written.

    >>> context_text({"age": "old", "smoker": "yes"})
    'age=old & smoker=yes'
    """
    return write_literals(Literal(name, (state,)) for name, state in context.items())


def _fitting(domain: Domain, wanted: str) -> dict[str, str]:
    """The context of a link, if it makes sense in this domain."""
    try:
        fixed = domain.assignment(wanted)
    except ContextwiseError:
        return {}
    return {domain.names[v]: domain.states[v][state] for v, state in fixed.items()}


def _edge_record(edge: Edge) -> dict[str, str | float]:
    first, second = edge.pair
    return {"first": first, "second": second, "tp": edge.tp, "fp": edge.fp, "fn": edge.fn}


def _differences(edges: Sequence[Edge]) -> TagList:
    """The edges that differ, in words, for those who do not see the graphs."""
    worst = sorted((edge for edge in edges if edge.errors), key=lambda edge: -edge.errors)
    if not worst:
        return TagList(tags.p("The two graphs are the same here, in every context."))
    more = f"… and {len(worst) - DIFFERENT:,} more" if len(worst) > DIFFERENT else None
    return TagList(
        tags.h3("Differences, the largest first", class_="h6 mt-2"),
        tags.ul(*(tags.li(edge_words(edge)) for edge in worst[:DIFFERENT])),
        tags.p(more) if more else None,
    )
