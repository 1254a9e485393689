"""One pair or one variable, next to the heat map."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.analysis.conclusions import Analysis
from contextwise.comparison.error_regions import PairExplanation
from contextwise.comparison.question import Pair
from contextwise.comparison.roles import Agreement, Roles
from contextwise.errors import OpenResult
from contextwise.explorer import controls
from contextwise.explorer.computations import explain_one, regions_of
from contextwise.explorer.job import SECONDS_BEYOND_LIMIT, Background, Done, Outcome
from contextwise.explorer.state import FIRST_TAB, State, View, context_text
from contextwise.independence.claims import PairClaims
from contextwise.models.domain import Domain
from contextwise.models.notation import Literal, between, in_words, quoted
from contextwise.report.analysis_parts import claims_table, pair_cards
from contextwise.report.comparisons import Guess
from contextwise.report.differences import region_parts
from contextwise.report.html import CellContent, Markup, cell_html, joined, tag
from contextwise.report.parts import Cell, Column, Marked, Share, Style, table
from contextwise.report.pictures import Shares, neighbours
from contextwise.support.formatting import Number, number, plural
from contextwise.support.formatting import name as short

MOST_REGIONS_SHOWN = 20  # regions of a pair
SECONDS_PER_PAIR = 20.0  # seconds to find them
MOST_NEIGHBOURS = 100
KINDS: tuple[Agreement, ...] = ("tp", "fn", "fp")
ALWAYS = "They depend in every context."

FIRST = controls.Input("first", controls.text)
SECOND = controls.Input("second", controls.text)
AROUND = controls.Input("around", controls.text)
CARD = controls.Input("card", controls.choice({"pair": "", "around": ""}, str), "pair")
PAIR = controls.Input(controls.CHOSEN_PAIR, controls.texts_named("first", "second"))
REGION = controls.Input("chosen_region", controls.text)


def panel(start: View) -> Tag:
    pair = ui.nav_panel(
        "One pair",
        ui.output_ui("pair_selectors"),
        tags.div(ui.output_ui("pair_counts"), ui.output_ui("regions"), aria_live="polite"),
        value="pair",
    )
    around = ui.nav_panel(
        "Around one variable",
        ui.output_ui("variable_search"),
        ui.output_ui("neighbours"),
        value="around",
    )
    selected = "around" if start.variable else "pair"
    return tags.section(
        ui.navset_pill(pair, around, id=CARD.key, selected=selected),
        class_="side-card",
        aria_label="One pair, or around one variable",
    )


def pair_selectors(names: Sequence[str], pair: Pair) -> Tag:
    return tags.div(
        controls.selector(FIRST.key, "First variable", names, pair[0], FIRST),
        controls.selector(SECOND.key, "Second variable", names, pair[1], SECOND),
        class_="selectors",
    )


def variable_search(names: Sequence[str], chosen: str | None = None) -> Tag:
    return controls.search(AROUND, names, label="Variable", placeholder="Type a name", value=chosen)


def counts(guess: Guess, pair: Pair) -> TagChild:
    """Show in how many contexts the pair depends, in both models and in each."""
    comparison = guess.comparison
    try:
        confusion = comparison.pair(*pair)
    except OpenResult:
        low, high = comparison.pair_bounds(*pair).distance
        return controls.notice(
            f"Not decided in time: between {number(low)} and {number(high)} contexts differ."
        )
    if guess.one is not None:
        return None
    kinds: tuple[tuple[Cell, Number], ...] = (
        *((Marked(_kind_text(comparison.roles, k), k), getattr(confusion, k)) for k in KINDS),
        ("in neither" if comparison.roles.peers else "in neither (TN)", confusion.tn),
    )
    columns: dict[str, Style] = {"dependent": "text", "share": "share", "contexts": "count"}
    rows = [(text, Fraction(n) / confusion.total, n) for text, n in kinds]
    return controls.parts([table("Contexts of this pair", columns, rows)])


def _kind_text(roles: Roles, kind: Agreement) -> str:
    return roles.only[kind] if roles.peers else f"{roles.only[kind]} ({kind.upper()})"


def regions(outcome: Outcome[PairExplanation], domain: Domain) -> TagChild:
    """Show where the models differ about the pair, with links to the graphs there."""
    if not isinstance(outcome, Done):
        return controls.not_done(outcome)
    by_text = {in_words(region.region): region.region for region in outcome.value.regions}
    return controls.parts(region_parts(outcome.value), cell=_linked("when", by_text, domain))


def independent_regions(outcome: Outcome[PairClaims | None], domain: Domain) -> TagChild:
    """Show where the pair of one model is independent, with links to the graphs there."""
    if not isinstance(outcome, Done):
        return controls.not_done(outcome)
    pair = outcome.value
    if pair is None or not pair.independent:
        unknown = pair is None or pair.undecided
        return tags.p("No context is known in which they are independent." if unknown else ALWAYS)
    by_text = {in_words(claim.region): claim.region for claim in pair.independent}
    unlisted = pair.unlisted["independent"]
    more = f" ({plural(unlisted, 'more region')})" if unlisted else ""
    heads: dict[str, Style] = {"when": "text", "given": "text", "share of contexts": "share"}
    rows = [
        (in_words(s.region), ", ".join(map(quoted, s.given)), Share(s.size, pair.contexts))
        for s in pair.independent
    ]
    listed = table(f"{between(pair.pair)} are independent{more}", heads, rows)
    return controls.parts([listed], cell=_linked("when", by_text, domain))


def card(analysis: Analysis, pair: Pair) -> Tag:
    """Show the card of a pair: what the rows show, where it differs, what the structure claims."""
    return tags.div(controls.parts(pair_cards(analysis, pair)), class_="findings")


def _linked(title: str, regions: Mapping[str, Iterable[Literal]], domain: Domain) -> CellContent:
    """Return the content of cells of a column: the text, and a link to the graph."""

    def cell(value: Cell, column: Column) -> Markup | None:
        text = str(value)
        if column.title != title or text not in regions:
            return None
        content = [cell_html(value, column.style)]
        context = region_context(regions[text], domain)
        if context:
            content += [Markup(" "), controls.choose("show this context", REGION, context)]
        return joined(content)

    return cell


def region_context(literals: Iterable[Literal], domain: Domain) -> str:
    """Write one context of a region: the first state that each literal allows."""
    context = {}
    for literal in literals:
        states = domain.states[domain.position(literal.variable)]
        context[literal.variable] = next(
            state for state in states if (state in literal.states) != literal.negated
        )
    return context_text(context)


def around(shares: Shares, variable: str, *, alone: bool = False) -> TagChild:
    """Show the neighbours of a variable, the largest differences first; or those of one model."""
    edges = {edge.pair[1]: edge for edge in neighbours(shares, variable)}
    if not edges:
        where = "" if alone else ", in either model"
        return tags.p(f"{short(variable)} depends on no other variable{where}.")
    differ = sum(1 for edge in edges.values() if edge.errors)
    text = (
        f"{len(edges):,} of {plural(len(shares.names) - 1, 'other variable')} depend on "
        f"{short(variable)} in some context"
    )
    text += "." if alone else f", in one model or both. The models differ about {differ:,} of them."
    if len(edges) > MOST_NEIGHBOURS:
        text += f" The first {MOST_NEIGHBOURS} are shown."

    def cell(value: Cell, column: Column) -> Markup | None:
        other = str(value)
        if column.title == "neighbour":
            return controls.choose_pair(short(other, 24), variable, other)
        if column.title != "share of contexts":
            return None
        bars = (
            tag("span", class_=f"paint {kind}", style=f"width: {100 * share:.2f}%")
            for kind in KINDS
            if (share := getattr(edges[other], kind))
        )
        return tag("div", *bars, class_="bar", aria_hidden="true")

    kinds: tuple[Agreement, ...] = ("tp",) if alone else ("fp", "fn", "tp")
    columns: dict[str, Style] = {"neighbour": "text", "share of contexts": "text"}
    columns |= {shares.roles.only[kind]: "share" for kind in kinds}
    rows = [
        (other, other, *(getattr(edge, kind) or None for kind in kinds))
        for other, edge in list(edges.items())[:MOST_NEIGHBOURS]
    ]
    order = "share of contexts" if alone else "differences"
    listed = table(f"Its neighbours, the largest {order} first", columns, rows, "neighbours")
    return TagList(tags.p(text), controls.parts([listed], cell=cell))


def serve(state: State) -> None:
    _serve_pair(state)
    _serve_variable(state)
    _serve_choices(state)


def _serve_pair(state: State) -> None:
    """Show the counts and the regions of the chosen pair, which a job finds."""
    explaining, describing = Background(explain_one), Background(regions_of)

    has_card = controls.Settled(lambda: isinstance(state.tested(), Done))

    def key() -> tuple[Guess, Pair]:
        return state.shown(), state.pair()

    @reactive.effect
    def explain() -> None:
        guess, pair = key()
        limits = (MOST_REGIONS_SHOWN, SECONDS_PER_PAIR)
        if guess.one is None:
            explaining.start(
                key(),
                guess.comparison,
                pair,
                *limits,
                seconds=2 * SECONDS_PER_PAIR + SECONDS_BEYOND_LIMIT,
            )
        elif not has_card():
            describing.start(
                key(),
                state.true().model,
                pair,
                *limits,
                seconds=2 * SECONDS_PER_PAIR + SECONDS_BEYOND_LIMIT,
            )

    async def where() -> TagChild:
        tested, pair = state.tested(), state.pair()
        by_rows = None
        if isinstance(tested, Done):
            by_rows = await asyncio.to_thread(card, tested.value, pair)
        if state.shown().one is None:
            heading = tags.h3(f"By the rows, as {short(state.true().label)} claims")
            found = regions(explaining.outcome(key()), state.domain())
            return TagList(found, tags.section(heading, by_rows) if by_rows else None)
        if by_rows:
            return by_rows
        known = state.true().model.evidence
        claims = known.about(*pair) if known else []
        return TagList(
            tags.div(controls.parts([claims_table(claims)]), class_="findings") if claims else None,
            independent_regions(describing.outcome(key()), state.domain()),
        )

    controls.show("pair_selectors", lambda: pair_selectors(state.domain().names, state.pair()))
    controls.show("pair_counts", lambda: counts(state.shown(), state.pair()))
    controls.show("regions", where)


def _serve_variable(state: State) -> None:
    def search() -> Tag:
        with reactive.isolate():  # the field stays when another variable is chosen
            chosen = state.variable()
        return variable_search(state.domain().names, chosen)

    def listed() -> TagChild:
        guess, name = state.shown(), state.variable()
        return None if name is None else around(guess.shares, name, alone=guess.one is not None)

    controls.show("variable_search", search)
    controls.show("neighbours", listed)


def _serve_choices(state: State) -> None:
    """Follow the choices of a pair, a variable or a region, wherever they are made."""

    def known(*names: str) -> bool:
        with reactive.isolate():
            return set(names) <= state.domain().positions.keys()

    def choose_first(place: int, name: str) -> None:
        with reactive.isolate():
            if state.current() is None or not known(name):
                return
            pair = state.pair()
        if pair[place] != name:
            other = pair[place] if pair[1 - place] == name else pair[1 - place]
            state.change(pair=(name, other) if place == 0 else (other, name))

    def choose_pair(pair: tuple[str, ...]) -> None:
        if known(*pair) and pair[0] != pair[1]:
            state.change(tab=FIRST_TAB, pair=pair, variable=None)
        else:
            controls.warn(f"the unknown pair {controls.quoted(pair)}")

    def choose_variable(name: str) -> None:
        if known(name):
            state.change(tab=FIRST_TAB, variable=name)

    def turn(which: str) -> None:
        with reactive.isolate():
            if (which == "around") != (state.variable() is None) or state.current() is None:
                return
            variable = state.pair()[0] if which == "around" else None
        state.change(variable=variable)

    def card() -> str:
        return "pair" if state.variable() is None else "around"

    controls.mirror(CARD, card, ui.update_navset)
    controls.on(FIRST, lambda name: choose_first(0, name))
    controls.on(SECOND, lambda name: choose_first(1, name))
    controls.on(PAIR, choose_pair)
    controls.on(CARD, turn)
    controls.on(AROUND, choose_variable)
    controls.on(REGION, lambda context: state.change(tab="graph", context=context))
