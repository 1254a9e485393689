"""The two graphs in a context: what is left of each model once some variables are known."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive, req, ui

from contextwise.explorer import elements, view
from contextwise.explorer.background import Background
from contextwise.explorer.computations import shares_in
from contextwise.explorer.job import Done, Outcome, Working, value_of
from contextwise.explorer.state import Shown, State
from contextwise.explorer.view import View
from contextwise.explorer.wiring import Input, flag, follow, offer, on, show, text, texts_named
from contextwise.models.domain import Domain
from contextwise.models.notation import parse_literals
from contextwise.report.layout import Positions, filling, graph_layout, placed_beside
from contextwise.report.pictures import graph_legend
from contextwise.report.shares import (
    MOST_NODES,
    Edge,
    Selection,
    Shares,
    edge_words,
    graph_of,
    select_edges,
)
from contextwise.report.svg import graph_svg
from contextwise.support.records import as_csv, as_json

LIMIT = 20.0  # seconds for the shares in a context
GRACE = 10.0  # seconds that they may take beyond that
OFFERED = 12
"""Up to so many variables, all have a selector."""
RANKED = 20
ANY = ""
EDGE_KEYS = ("first", "second", "tp", "fp", "fn")
Side = Literal["both", "true", "guess"]

STATE = Input("chosen_state", texts_named("variable", "state"))
LITERAL = Input("chosen_literal", text)
ALL_EDGES = Input("all_edges", flag)


# -- what is shown -------------------------------------------------------------------------------


def panel(start: View) -> TagList:
    """The states, and the graphs, as the view says."""
    return TagList(
        tags.p(
            "Choose the states of some variables. Shown is which of the others depend in the "
            "contexts that are left. A line is as wide as the share of these contexts."
        ),
        ui.output_ui("literal_search"),
        tags.div(ui.output_ui("context_states"), class_="context-states"),
        ui.input_checkbox(
            ALL_EDGES.key, "Show also where the models agree, in two graphs", start.all_edges
        ),
        tags.div(
            tags.div(ui.output_ui("context_work"), class_="context-work"),
            ui.output_ui("context_graphs"),
            aria_live="polite",
            class_="context-result",
        ),
        ui.output_ui("context_downloads"),
    )


def literal_search(domain: Domain) -> TagChild:
    """A field that finds a state of a variable among many, and takes it with one choice."""
    if len(domain) <= OFFERED:
        return None
    literals = [
        view.context_text({name: state})
        for name, states in zip(domain.names, domain.states, strict=True)
        for state in states
    ]
    hint = f"Type a variable, for example {literals[1]}"
    return elements.search(LITERAL, literals, label="Add a state", placeholder=hint, clears=True)


def context_states(domain: Domain, context: Mapping[str, str]) -> Tag:
    """A selector for each variable, or, where they are many, for each that has a state."""
    names = domain.names if len(domain) <= OFFERED else tuple(context)
    if not names:
        return tags.p("No state is chosen: all contexts are shown.", class_="note")
    return tags.div(
        *(_selector(domain, name, context.get(name)) for name in names), class_="selectors"
    )


def _selector(domain: Domain, name: str, chosen: str | None) -> Tag:
    position = domain.position(name)
    key = f"state_{position}"
    states = elements.options(domain.states[position], selected=chosen)
    return tags.div(
        tags.label(name, for_=key, class_="when"),
        tags.select(
            elements.UNBOUND,
            tags.option("any", value=ANY),
            states,
            id=key,
            class_="form-select",
            data_input=STATE.key,
            data_variable=name,
        ),
        class_="form-group",
    )


def selections(edges: Sequence[Edge], *, all_edges: bool) -> Selection:
    """The edges that are drawn: differences, or the strongest of all."""
    return select_edges(edges, which="strongest" if all_edges else "differences")


def places(shares: Shares, selection: Selection, *, all_edges: bool) -> Positions:
    """Where the variables stand; they stay there when a state is chosen.

    Few variables have one layout for all contexts. Of many, only those are drawn that have an edge,
    and those that are drawn without any state keep the places that they have there.

    Parameters
    ----------
    shares : of the pairs, in all contexts
    selection : the edges that are drawn
    all_edges : whether edges on which the models agree are drawn
    """
    edges = shares.edges()
    if len(shares.names) <= MOST_NODES:
        return filling(graph_layout(shares.names, [edge.pair for edge in edges]))
    base = graph_of(selections(edges, all_edges=all_edges))
    return placed_beside(filling(base.positions), [edge.pair for edge in selection.edges])


def graphs(shown: Shown, shares: Shares, context: Mapping[str, str], *, all_edges: bool) -> TagList:
    """The graphs in a context, and the differences in words, all of them ranked.

    Parameters
    ----------
    shown : the comparison
    shares : of the pairs that are left in the context
    context : the states that are known
    all_edges : whether to show where the models agree, too
    """
    found = shares.edges()
    selection = selections(found, all_edges=all_edges)
    words = selection.words
    still_open = shares.open_pairs()
    return TagList(
        elements.notice(f"{still_open:,} pairs were not decided in time and are left out.")
        if still_open
        else None,
        tags.p(f"Shown: {words}, among {len(shares.names):,} variables.", class_="note"),
        elements.legends([graph_legend(selection.edges)]) if selection.edges else None,
        tags.div(
            *_pictures(shown, shares, context, all_edges),
            tags.div(differences(found)),
            class_="graphs",
        ),
    )


def _pictures(
    shown: Shown, shares: Shares, context: Mapping[str, str], all_edges: bool
) -> list[Tag]:
    sides: dict[Side, str] = {"both": "Both models"}
    if all_edges:
        sides = {"true": f"{shown.true.label} (true)", "guess": f"{shown.guess.label} (guess)"}
    return [
        tags.figure(
            elements.svg(picture(shown, shares, context, side=side, all_edges=all_edges)),
            tags.figcaption(label, class_="when"),
        )
        for side, label in sides.items()
    ]


def picture(
    shown: Shown,
    shares: Shares,
    context: Mapping[str, str],
    *,
    side: Side,
    all_edges: bool,
) -> str:
    """One graph as SVG.

    Parameters
    ----------
    shown : the comparison
    shares : of the pairs that are left in the context
    context : the states that are known
    side : both graphs in one, or that of one model
    all_edges : whether edges on which the models agree are drawn
    """
    selection = selections(shares.edges(), all_edges=all_edges)
    where = places(shown.shares, selection, all_edges=all_edges)
    return graph_svg(selection.edges, where, view=side, fixed=context, whole=True)


def differences(edges: Sequence[Edge]) -> TagList:
    """The pairs that differ, the largest first; each can be looked at."""
    ranked = sorted((edge for edge in edges if edge.errors), key=lambda edge: -edge.errors)
    if not ranked:
        return TagList(tags.p("The two models agree here, in every context."))
    title = f"All {len(ranked)} differences, the largest first"
    if len(ranked) == 1:
        title = "The only difference"
    if len(ranked) > RANKED:
        title = f"The {RANKED} largest of {len(ranked):,} differences between all variables"
    items = (
        tags.li(elements.choose_pair(edge_words(edge), *edge.pair)) for edge in ranked[:RANKED]
    )
    return TagList(tags.h3(title, class_="h6 mt-2"), tags.ol(*items))


# -- what happens --------------------------------------------------------------------------------


def serve(state: State) -> Background[Shares]:
    """Tie the view to the session."""
    comparing = Background(shares_in)

    def key() -> Hashable:
        return state.shown(), tuple(state.context().items())

    def outcome() -> Outcome[Shares]:
        return comparing.outcome(key()) if state.context() else Done(state.shown().shares)

    def found() -> Shares:
        return value_of(outcome(), "nothing has been compared in this context yet")

    @reactive.effect
    def compare() -> None:
        shown, context = state.shown(), state.context()
        if context and state.tab() == "context":
            c = shown.comparison
            with reactive.isolate():
                if comparing.asked() == key():
                    return
            comparing.start(
                key(), c.true, c.guess, context, c.contexts, LIMIT, seconds=LIMIT + GRACE
            )

    def work() -> TagChild:
        known = outcome()
        return None if isinstance(known, Done) else elements.not_done(known)

    def content() -> TagChild:
        known = outcome()
        # What was there stays until the next is known, so that nothing below it moves.
        req(not isinstance(known, Working), cancel_output="progress")
        if not isinstance(known, Done):
            return None
        return graphs(state.shown(), known.value, state.context(), all_edges=state.all_edges())

    show("literal_search", lambda: literal_search(state.domain()))
    show("context_states", lambda: context_states(state.domain(), state.context()))
    show("context_work", work)
    show("context_graphs", content)
    show("context_downloads", lambda: _downloads() if isinstance(outcome(), Done) else None)
    on(STATE, lambda chosen: _set_state(state, *chosen))
    on(LITERAL, lambda literal: _add_literal(state, literal))
    on(ALL_EDGES, lambda wanted: state.go(replace(state.now(), all_edges=wanted)))

    def check(wanted: bool) -> None:
        if ALL_EDGES.now(False) != wanted:
            ui.update_checkbox(ALL_EDGES.key, value=wanted)

    follow(state.all_edges, check)

    def drawn(side: Side) -> str:
        every = side != "both"
        return picture(state.shown(), found(), state.context(), side=side, all_edges=every)

    def name(what: str) -> Any:
        return lambda: f"{state.shown().name} {view.context_text(state.context())} {what}"

    offer("graph_svg", lambda: drawn("both"), name=name("differences"))
    offer("graph_true_svg", lambda: drawn("true"), name=name("true"))
    offer("graph_guess_svg", lambda: drawn("guess"), name=name("guess"))
    offer(
        "edges_csv",
        lambda: as_csv(map(edge_record, found().edges()), EDGE_KEYS),
        name=name("edges"),
    )
    offer("edges_json", lambda: as_json(_record(state.context(), found())), name=name("edges"))
    return comparing


def _downloads() -> Tag:
    return elements.downloads(
        ("graph_svg", "graph of the differences (SVG)"),
        ("graph_true_svg", "graph of the true model (SVG)"),
        ("graph_guess_svg", "graph of the guess (SVG)"),
        ("edges_csv", "edges (CSV)"),
        ("edges_json", "edges (JSON)"),
    )


def edge_record(edge: Edge) -> dict[str, str | float]:
    """An edge as a flat record."""
    first, second = edge.pair
    return {"first": first, "second": second, "tp": edge.tp, "fp": edge.fp, "fn": edge.fn}


def _record(context: Mapping[str, str], shares: Shares) -> dict[str, Any]:
    return {"context": dict(context), "edges": [edge_record(e) for e in shares.edges()]}


def _set_state(state: State, variable: str, chosen: str) -> None:
    with reactive.isolate():
        domain = state.domain()
    state.go(view.with_state(state.now(), domain, variable, chosen if chosen != ANY else None))


def _add_literal(state: State, literal: str) -> None:
    with reactive.isolate():
        domain = state.domain()
    if not view.context_in(domain, literal):
        return  # a name that is still being typed
    for one in parse_literals(literal):
        _set_state(state, one.variable, one.states[0])
