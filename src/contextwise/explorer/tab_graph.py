"""The graph of one or two models, in all contexts or in a chosen one; it zooms and pans."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Hashable, Sequence

from htmltools import HTML, Tag, TagChild, TagList, tags
from shiny import reactive, req, ui

from contextwise.comparison.question import Pair
from contextwise.explorer import controls
from contextwise.explorer.computations import shares_in
from contextwise.explorer.job import SECONDS_BEYOND_LIMIT, Background, Done, Outcome, Working
from contextwise.explorer.state import Context, State, View, context_in, context_text
from contextwise.models.box import Box
from contextwise.models.domain import Domain
from contextwise.report.comparisons import Guess
from contextwise.report.graphs import Positions, graph_layout, graph_svg
from contextwise.report.html import as_html
from contextwise.report.pictures import (
    MOST_NODES,
    Edge,
    Selection,
    Shares,
    Which,
    arcs_of,
    graph_legend,
    graph_of,
    select_edges,
)
from contextwise.support.formatting import capitalized, plural

SECONDS_PER_CONTEXT = 20.0  # seconds for the shares in a context
MOST_SELECTORS = 12  # variables that all have a selector
MOST_DIFFERENCES, MOST_EDGES = 40, 100  # edges that are drawn
RANKED = 20  # differences that are listed
KEYS = "Plus and minus zoom, arrow keys move the picture, 0 shows everything."

STATE = controls.Input("chosen_state", controls.texts_named("variable", "state"))
NODE = controls.Input("chosen_node", controls.text)
LITERAL = controls.Input("chosen_literal", controls.text)
ALL_EDGES = controls.Input("all_edges", controls.flag, False)


def panel(start: View) -> TagList:
    return TagList(
        tags.p(
            "A line is as wide as the share of contexts in which the two variables depend. Click a "
            "variable, or choose states, to see only the contexts that have them.",
            class_="note",
        ),
        tags.div(
            ui.output_ui("literal_search"),
            tags.div(
                ui.input_checkbox(ALL_EDGES.key, "Also show where they agree", start.all_edges),
                class_="needs-guess",
            ),
            tags.div(ui.output_ui("context_states"), class_="context-states"),  # grows to the right
            class_="graph-choices",
        ),
        tags.div(
            tags.div(ui.output_ui("context_work"), class_="context-work"),
            ui.output_ui("context_graphs"),
            aria_live="polite",
            class_="context-result",
        ),
    )


def literal_search(domain: Domain) -> TagChild:
    """Show a field that finds a state among those of many variables."""
    if len(domain) <= MOST_SELECTORS:
        return None
    literals = [
        context_text({name: state})
        for name, states in zip(domain.names, domain.states, strict=True)
        for state in states
    ]
    hint = f"Type a variable, for example {literals[1]}"
    return controls.search(LITERAL, literals, label="Add a state", placeholder=hint, clears=True)


def context_states(domain: Domain, context: Context) -> Tag:
    """Show a selector for each variable; if they are many, for each one that has a state.

    Several states of a variable are one more choice, as long as they are chosen.
    """
    names = domain.names if len(domain) <= MOST_SELECTORS else tuple(context)
    selectors = []
    for name in names:
        v = domain.position(name)
        states, chosen = domain.states[v], context.get(name)
        if isinstance(chosen, tuple):
            chosen = Box.of(domain, {name: chosen}).labels[name]
            states = (*states, chosen)
        selectors.append(
            controls.selector(f"state_{v}", name, states, chosen, STATE, variable=name)
        )
    return tags.div(*selectors, class_="selectors")


def selection_of(edges: Sequence[Edge], *, all_edges: bool) -> Selection:
    """Select the edges that are drawn: the largest differences, or the strongest of all."""
    which: Which = "strongest" if all_edges else "differences"
    most = MOST_EDGES if all_edges else MOST_DIFFERENCES
    return select_edges(edges, which=which, most_edges=most, most_nodes=max(most, MOST_NODES))


def places(guess: Guess, selection: Selection) -> Positions:
    """Place the variables: a few in the same way in every context, of many those with an edge."""
    everywhere = guess.shares
    if len(everywhere.names) > MOST_NODES:
        return graph_of(selection).positions
    return graph_layout(everywhere.names, [edge.pair for edge in everywhere.edges()])


def graphs(
    true: str,
    guess: Guess,
    shares: Shares,
    context: Context,
    *,
    all_edges: bool,
) -> TagList:
    """Show the graph in a context, and the list of differences; ``true`` is a label."""
    edges = shares.edges()
    alone = guess.one is not None
    all_edges |= alone
    selection = selection_of(edges, all_edges=all_edges)
    still_open = shares.open_pairs()
    where = places(guess, selection)
    arcs = arcs_of(guess.comparison.true) if alone else frozenset()
    return TagList(
        controls.notice(f"{still_open:,} pairs were not decided in time and are left out.")
        if still_open
        else None,
        tags.p(
            f"Shown: {selection.description}, among {plural(len(shares.names), 'variable')}, in "
            f"{'this context' if context else 'all contexts'}.",
            class_="note",
        ),
        None if alone or not selection.edges else HTML(as_html([graph_legend(selection.edges)])),
        tags.div(
            _figure(true if alone else "Both models", picture(selection, where, context, arcs)),
            tags.div(ranked(edges, alone=alone)),
            class_="graphs",
        ),
    )


def picture(
    selection: Selection,
    where: Positions,
    context: Context,
    arcs: Collection[Pair] = (),
) -> str:
    """Draw a graph as SVG; more edges get a larger picture with smaller labels."""
    size = round(480 * min(max(len(selection.edges) / 40, 1), 2.25) ** 0.5)
    return graph_svg(selection.edges, where, fixed=context, arcs=arcs, size=size)


def _figure(label: str, drawn: str) -> Tag:
    return tags.figure(
        tags.div(
            tags.figcaption(label, class_="when"),
            controls.zoom_buttons("zoom", "graph"),
            class_="map-head",
        ),
        tags.div(
            HTML(drawn),
            class_="pan-zoom",
            tabindex="0",
            role="group",
            aria_label=f"Graph: {label}. {KEYS}",
        ),
    )


def ranked(edges: Sequence[Edge], *, alone: bool) -> TagList:
    """List the pairs that differ, the largest first, or those of one model that depend."""
    which: Which = "strongest" if alone else "differences"
    listed = select_edges(edges, which=which, most_edges=RANKED, most_nodes=2 * RANKED)
    if not listed.edges:
        nothing = "No pair depends here." if alone else "The two models agree here."
        return TagList(tags.p(nothing))
    items = (tags.li(HTML(controls.choose_pair(edge.text, *edge.pair))) for edge in listed.edges)
    title = f"{capitalized(listed.description)}; among all variables"
    return TagList(tags.h3(title, class_="h6 mt-2"), tags.ol(*items))


def serve(state: State) -> None:
    outcome = _serve_shares(state)
    _serve_graphs(state, outcome)
    _serve_choices(state)


def _serve_shares(state: State) -> Callable[[], Outcome[Shares]]:
    """Compare in the chosen context while the tab is shown."""
    comparing = Background(shares_in)

    def key() -> Hashable:
        return state.shown(), tuple(state.context().items())

    @reactive.effect
    def compare() -> None:
        guess, context = state.shown(), state.context()
        if context and state.tab() == "graph":
            with reactive.isolate():
                if comparing.key() == key():
                    return
            roles = guess.shares.roles
            comparing.start(
                key(),
                guess.comparison,
                roles,
                context,
                SECONDS_PER_CONTEXT,
                seconds=SECONDS_PER_CONTEXT + SECONDS_BEYOND_LIMIT,
            )

    def outcome() -> Outcome[Shares]:
        return comparing.outcome(key()) if state.context() else Done(state.shown().shares)

    return outcome


def _serve_graphs(state: State, outcome: Callable[[], Outcome[Shares]]) -> None:
    def work() -> TagChild:
        known = outcome()
        return None if isinstance(known, Done) else controls.not_done(known)

    async def content() -> TagChild:
        known = outcome()
        # The graphs stay until the next ones are known, so that nothing below them moves.
        req(not isinstance(known, Working), cancel_output="progress")
        if not isinstance(known, Done):
            return None
        return await asyncio.to_thread(
            graphs,
            state.true().label,
            state.shown(),
            known.value,
            state.context(),
            all_edges=state.all_edges(),
        )

    controls.show("literal_search", lambda: literal_search(state.domain()))
    controls.show("context_states", lambda: context_states(state.domain(), state.context()))
    controls.show("context_work", work)
    controls.show("context_graphs", content)


def _serve_choices(state: State) -> None:
    """Follow the choices of states, wherever they are made."""

    def set_state(variable: str, chosen: str) -> None:
        with reactive.isolate():
            domain = state.domain()
        state.go(state.now().with_state(domain, variable, chosen or None))

    def next_state(variable: str) -> None:
        """Give a variable its next state; after the last one, any state."""
        with reactive.isolate():
            domain, chosen = state.domain(), state.context().get(variable)
        if variable not in domain.positions:
            controls.warn(f"the unknown variable {controls.quoted(variable)}")
            return
        states = ("", *domain.states[domain.position(variable)], "")
        at = states.index(chosen) if isinstance(chosen, str) else 0  # several: begin again
        set_state(variable, states[at + 1])

    def add_literal(literal: str) -> None:
        with reactive.isolate():
            added = context_in(state.domain(), literal)
            context = {**state.context(), **added}
        if added:  # else it is still being typed
            state.change(context=context_text(context))

    controls.on(STATE, lambda chosen: set_state(*chosen))
    controls.on(NODE, next_state)
    controls.on(LITERAL, add_literal)
    controls.on(ALL_EDGES, lambda wanted: state.change(all_edges=wanted))
    controls.mirror(ALL_EDGES, state.all_edges, ui.update_checkbox, "value")
