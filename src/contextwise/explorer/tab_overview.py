"""The first tab: the verdict, the heat map of pairs, and one pair or one variable next to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from htmltools import HTML, Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.comparison.compare import PAIR_KEYS, Comparison, comparison_record, pair_records
from contextwise.comparison.explain import PairExplanation
from contextwise.comparison.question import Pair
from contextwise.comparison.roles import Agreement, Roles
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.explorer import controls, wiring
from contextwise.explorer.computations import evidence_of, explain_one, regions_of
from contextwise.explorer.job import Background, Done, Outcome, value_of
from contextwise.explorer.state import FIRST_TAB, State, View, context_text
from contextwise.independence.independencies import PairIndependencies
from contextwise.models.domain import Domain
from contextwise.models.notation import Literal, in_words
from contextwise.report.comparisons import Guess, comparison_parts, region_parts
from contextwise.report.html import Markup, as_html, cell_html, joined, tag
from contextwise.report.page import model_page, one_terms, terms_note
from contextwise.report.parts import (
    Cell,
    Column,
    Marked,
    Note,
    Part,
    Style,
    Table,
    cell_text,
    table,
)
from contextwise.report.pictures import (
    GROUPED,
    ONE_CAPTION,
    HeatMap,
    dependence_heat,
    heat_legends,
    heat_map,
    heat_text,
    one_legends,
    packed,
    packed_one,
)
from contextwise.report.plots import plot_pairs
from contextwise.report.plots.style import encoded
from contextwise.report.shares import Shares, neighbours
from contextwise.report.structures import (
    OneModel,
    pairs_table,
    sentence,
    sentence_parts,
    sentence_records,
    sentence_table,
    verdict,
)
from contextwise.support.formatting import Number, as_csv, as_json, number, plural
from contextwise.support.formatting import name as short

WORST = 10  # pairs and variables that are listed
TOP = 20  # regions of a pair
LIMIT, TESTING = 20.0, 300.0  # seconds to find regions, and to test sentences
GRACE = 10.0  # seconds that it may take beyond that
MOST_NEIGHBOURS = 100
REGION_KEYS = ("only_in", "when", "size", "share")
VERDICT = ("verdict", "summary")
KINDS: tuple[Agreement, ...] = ("tp", "fn", "fp")
KEYS = (
    "Arrow keys move from cell to cell, Enter shows the pair, plus and minus zoom, 0 shows "
    "everything, N and P go to the next and the previous error, the largest first."
)

ALWAYS = "They depend in every context."

CLUSTER = wiring.Input("cluster", wiring.flag, False)
FIRST = wiring.Input("first", wiring.text)
SECOND = wiring.Input("second", wiring.text)
AROUND = wiring.Input("around", wiring.text)
CARD = wiring.Input("card", wiring.choice({"pair": "", "around": ""}, str), "pair")
PAIR = wiring.Input(controls.CHOSEN_PAIR, wiring.texts_named("first", "second"))
REGION = wiring.Input("chosen_region", wiring.text)


# -- content -------------------------------------------------------------------------------------


def panel(start: View, variables: int) -> TagList:
    return TagList(
        ui.output_ui("summary"),
        tags.div(map_panel(variables), card_panel(start), class_="map-and-card needs-comparison"),
        tags.div(
            ui.output_ui("worst"),
            tags.div(
                controls.downloads(
                    ("comparison_json", "comparison (JSON)"),
                    ("comparison_csv", "comparison (CSV)"),
                    ("pairs_csv", "all pairs (CSV)"),
                    ("pairs_json", "all pairs (JSON)"),
                    ("heat_svg", "heat map (SVG)"),
                ),
                class_="needs-guess",
            ),
            tags.div(
                controls.downloads(
                    ("one_html", "report (HTML)"),
                    ("sentences_csv", "sentences (CSV)"),
                    ("dependence_csv", "all pairs (CSV)"),
                ),
                class_="needs-one",
            ),
            class_="needs-comparison",
        ),
    )


def map_panel(variables: int) -> Tag:
    """Return the heat map, which ``heatmap.js`` draws, with its buttons and its legend."""
    return tags.section(
        tags.div(
            tags.h2("Pairs", class_="h5 m-0"),
            ui.input_checkbox(CLUSTER.key, "Group similar variables", variables > GROUPED),
            tags.button(
                {"data-heat": "worst", "aria-pressed": "false"},
                "Worst pairs",
                type="button",
                class_="btn btn-outline-secondary btn-sm",
                title="Colour each cell by its worst pair instead of the mean",
            ),
            controls.zoom_buttons("heat", "heat map"),
            class_="map-head",
        ),
        tags.div(
            tags.canvas(
                tabindex="0",
                role="application",
                aria_label=f"Heat map of pairs. {KEYS}",
                aria_describedby="heat_readout",
            ),
            id="heat",
            class_="heat-map",
        ),
        tags.p(
            "Point at a cell to read it.", id="heat_readout", class_="readout", aria_live="polite"
        ),
        tags.p(class_="cell-words note m-0"),
        ui.output_ui("heat_legend"),
        class_="map",
        aria_label="Heat map of pairs",
    )


def card_panel(start: View) -> Tag:
    pair = ui.nav_panel(
        "One pair",
        ui.output_ui("pair_selectors"),
        tags.div(ui.output_ui("pair_counts"), ui.output_ui("regions"), aria_live="polite"),
        ui.output_ui("pair_downloads"),
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


def summary(guess: Guess) -> Tag:
    """Show the verdict, then the confusion matrix and the measures; or that of one model."""
    if guess.one is not None:
        shown = [Note("verdict", verdict(guess.one)), one_terms(guess.comparison)]
        return tags.div(controls.parts(shown), class_="headline")
    return tags.div(controls.parts(_split(guess)[0]), class_="headline")


def sentences(one: OneModel, tested: Outcome[OneModel]) -> TagList:
    """Show the sentences about one model, with the evidence of rows once it is known."""
    listed = sentence_parts(tested.value if isinstance(tested, Done) else one)
    listed.append(pairs_table(one.comparison, WORST))
    progress = None if isinstance(tested, Done) else controls.not_done(tested)
    return TagList(progress, controls.parts(part for part in listed if part))


def worst(guess: Guess) -> HTML:
    """Show the pairs and variables with the most errors, and the notes."""

    def cell(value: Cell, column: Column) -> Markup | None:
        if column.title == "variable" and isinstance(value, str):
            return controls.choose(cell_text(value, column.style), AROUND, value)
        return None

    return controls.parts(_split(guess)[1], cell=cell)


def _split(guess: Guess) -> tuple[list[Part], list[Part]]:
    """Split the parts of a comparison into those above and below the heat map."""
    parts = comparison_parts(guess.comparison, top=WORST, medium="page")
    verdict = [part for part in parts if isinstance(part, Note) and part.key in VERDICT]
    above: list[Part] = [*verdict, terms_note(guess.comparison)]
    below: list[Part] = []
    for part in parts:
        is_table = isinstance(part, Table) and part.key != "confusion"
        is_note = isinstance(part, Note) and part.key != "open"
        if part not in verdict:
            (below if is_table or is_note else above).append(part)
    return above, below


def one_legend(heat: HeatMap) -> Tag:
    return tags.div(HTML(as_html(one_legends(heat))), tags.p(ONE_CAPTION, class_="note m-0"))


def heat_legend(heat: HeatMap) -> Tag:
    text = tags.p(heat_text(heat.roles), class_="note m-0")
    return tags.div(HTML(as_html(heat_legends(heat))), text)


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
        text = {"dependent": confusion.tp, "independent": confusion.tn}
        shares = [(key, Fraction(n) / confusion.total, n) for key, n in text.items()]
        heads: dict[str, Style] = {"the pair is": "text", "share": "share", "contexts": "count"}
        return controls.parts([table("Contexts of this pair", heads, shares)])
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
    explained = outcome.value
    by_text = {in_words(region.literals): region for region in explained.regions}

    def cell(value: Cell, column: Column) -> Markup | None:
        region = by_text.get(str(value)) if column.title == "when" else None
        context = region_context(region.literals, domain) if region else ""
        if not context:
            return None
        link = controls.choose("show this context", REGION, context)
        return joined([cell_html(value, column.style), " ", link])

    return controls.parts(region_parts(explained), cell=cell)


def independent_regions(outcome: Outcome[PairIndependencies], domain: Domain) -> TagChild:
    """Show where the pair of one model is independent, with links to the graphs there."""
    if not isinstance(outcome, Done):
        return controls.not_done(outcome)
    pair = outcome.value
    if not pair.statements:
        known = "No context is known in which they are independent." if pair.undecided else ALWAYS
        return tags.p(known)
    by_text = {sentence(statement): statement.region for statement in pair.statements}

    def cell(value: Cell, column: Column) -> Markup | None:
        region = by_text.get(str(value)) if column.title == "sentence" else None
        if not region:
            return None
        link = controls.choose("show this context", REGION, region_context(region, domain))
        return joined([cell_html(value, column.style), " ", link])

    more = f" ({plural(pair.unlisted, 'more region')})" if pair.unlisted else ""
    return controls.parts([sentence_table(f"Independent{more}", [pair])], cell=cell)


def region_context(literals: Iterable[Literal], domain: Domain) -> str:
    """Write one context of a region: the first state that each literal allows."""
    context = {}
    for literal in literals:
        states = domain.states[domain.position(literal.variable)]
        context[literal.variable] = next(
            state for state in states if (state in literal.states) != literal.negated
        )
    return context_text(context)


def around(shares: Shares, variable: str) -> TagChild:
    """Show the neighbours of a variable in both models, the largest errors first."""
    edges = {edge.pair[1]: edge for edge in neighbours(shares, variable)}
    if not edges:
        return tags.p(f"{short(variable)} depends on no other variable, in either model.")
    differ = sum(1 for edge in edges.values() if edge.errors)
    text = (
        f"{len(edges):,} of {len(shares.names) - 1:,} other variables depend on {short(variable)} "
        f"in some context, in one model or both. The models differ about {differ:,} of them."
    )
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

    columns: dict[str, Style] = {"neighbour": "text", "share of contexts": "text"}
    columns |= {"guess only": "share", "true only": "share", "both": "share"}
    rows = [
        (other, other, edge.fp or None, edge.fn or None, edge.tp or None)
        for other, edge in list(edges.items())[:MOST_NEIGHBOURS]
    ]
    listed = table("Its neighbours, the largest errors first", columns, rows, "neighbours")
    return TagList(tags.p(text), controls.parts([listed], cell=cell))


def around_one(shares: Shares, variable: str) -> TagChild:
    """Show the neighbours of a variable in one model, those in the most contexts first."""
    edges = sorted(neighbours(shares, variable), key=lambda edge: -edge.tp)
    if not edges:
        return tags.p(f"{short(variable)} depends on no other variable.")
    text = (
        f"{len(edges):,} of {len(shares.names) - 1:,} other variables depend on {short(variable)} "
        "in some context."
    )
    if len(edges) > MOST_NEIGHBOURS:
        text += f" The first {MOST_NEIGHBOURS} are shown."

    def cell(value: Cell, column: Column) -> Markup | None:
        if column.title == "neighbour":
            return controls.choose_pair(short(str(value), 24), variable, str(value))
        return None

    columns: dict[str, Style] = {"neighbour": "text", "dependent": "share"}
    rows = [(edge.pair[1], edge.tp) for edge in edges[:MOST_NEIGHBOURS]]
    listed = table("Share of contexts in which they depend", columns, rows, "neighbours")
    return TagList(tags.p(text), controls.parts([listed], cell=cell))


def serve(state: State) -> None:
    @reactive.calc
    async def drawn() -> HeatMap:
        guess = state.shown()
        draw = heat_map if guess.one is None else dependence_heat
        return await asyncio.to_thread(draw, guess.shares, reorder=CLUSTER())

    async def data() -> dict[str, Any] | None:
        guess = state.shown()
        order = (await drawn()).order if CLUSTER() else np.arange(len(guess.shares.names))
        return (packed if guess.one is None else packed_one)(guess.shares, order)

    async def legend() -> TagChild:
        return (heat_legend if state.shown().one is None else one_legend)(await drawn())

    wiring.show("summary", lambda: summary(state.shown()))
    testing = Background(evidence_of)

    def evidence_key() -> Hashable:
        one, rows = state.shown().one, state.rows()
        return None if one is None or rows is None else (one, rows)

    @reactive.effect
    def test() -> None:
        key = evidence_key()
        one, rows = state.shown().one, state.rows()
        if key is not None and one is not None and rows is not None:
            testing.start(key, one, rows.path, rows.name, seconds=TESTING)

    def below() -> TagChild:
        guess = state.shown()
        if guess.one is None:
            return worst(guess)
        return sentences(guess.one, testing.outcome(evidence_key()))

    wiring.show("worst", below)
    wiring.show("heat_legend", legend)
    wiring.send("heat", data)
    wiring.follow(
        wiring.Settled(lambda: len(state.domain()) > GROUPED),
        lambda many: ui.update_checkbox(CLUSTER.key, value=many),
    )

    def comparison() -> Comparison:
        return state.shown().comparison

    def name(what: str) -> Callable[[], str]:
        return lambda: state.file_name(what)

    def one() -> OneModel:
        shown = state.shown().one
        if shown is None:
            raise ContextwiseError("two models are compared; deselect one of them")
        tested = testing.outcome(evidence_key())
        return tested.value if isinstance(tested, Done) else shown

    def picture() -> str:
        return encoded(plot_pairs(comparison(), reorder=CLUSTER()), "svg").decode()

    def record() -> dict[str, Any]:
        return dict(comparison_record(comparison()))

    def pairs() -> Iterable[Mapping[str, object]]:
        return pair_records(comparison())

    wiring.offer("comparison_json", lambda: as_json(record()), name=name("comparison"))
    wiring.offer("comparison_csv", lambda: as_csv([record()]), name=name("comparison"))
    wiring.offer(
        "pairs_csv", lambda: as_csv(pair_records(comparison()), PAIR_KEYS), name=name("pairs")
    )
    wiring.offer(
        "pairs_json", lambda: as_json(list(pair_records(comparison()))), name=name("pairs")
    )
    wiring.offer("heat_svg", picture, name=name("heat map"))
    wiring.offer("sentences_csv", lambda: as_csv(sentence_records(one())), name=name("sentences"))
    wiring.offer("one_html", lambda: model_page(state.true().label, one()), name=name("report"))
    wiring.offer("dependence_csv", lambda: as_csv(dependence(comparison())), name=name("pairs"))
    _serve_pair(state)


def dependence(comparison: Comparison) -> Iterable[Mapping[str, object]]:
    """Yield the contexts in which the pairs of one model depend."""
    for record in pair_records(comparison):
        ends = {"first": record["first"], "second": record["second"]}
        dependent, independent = int(str(record["tp"])), int(str(record["tn"]))
        yield {**ends, "dependent": dependent, "contexts": dependent + independent}


def _serve_pair(state: State) -> None:
    explaining, describing = Background(explain_one), Background(regions_of)

    def key() -> tuple[Guess, Pair]:
        return state.shown(), state.pair()

    def explanation() -> Outcome[PairExplanation]:
        return explaining.outcome(key())

    @reactive.effect
    def explain() -> None:
        guess, pair = key()
        if guess.one is not None:
            model = guess.comparison.true
            describing.start(key(), model, pair, TOP, LIMIT, seconds=LIMIT + GRACE)
            return
        explaining.start(key(), guess.comparison, pair, TOP, LIMIT, seconds=2 * LIMIT + GRACE)

    def downloads() -> TagChild:
        if not isinstance(explanation(), Done):
            return None
        return controls.downloads(
            ("regions_csv", "regions (CSV)"), ("regions_json", "regions (JSON)")
        )

    def search() -> Tag:
        with reactive.isolate():  # the field stays when another variable is chosen
            chosen = state.variable()
        return variable_search(state.domain().names, chosen)

    def listed() -> TagChild:
        guess, name = state.shown(), state.variable()
        if name is None:
            return None
        return (around if guess.one is None else around_one)(guess.shares, name)

    def where() -> TagChild:
        if state.shown().one is not None:
            return independent_regions(describing.outcome(key()), state.domain())
        return regions(explanation(), state.domain())

    wiring.show("pair_selectors", lambda: pair_selectors(state.domain().names, state.pair()))
    wiring.show("variable_search", search)
    wiring.show("pair_counts", lambda: counts(state.shown(), state.pair()))
    wiring.show("regions", where)
    wiring.show("neighbours", listed)
    wiring.show("pair_downloads", downloads)

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
            wiring.warn(f"the unknown pair {wiring.quoted(pair)}")

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

    wiring.mirror(CARD, card, ui.update_navset)
    wiring.on(FIRST, lambda name: choose_first(0, name))
    wiring.on(SECOND, lambda name: choose_first(1, name))
    wiring.on(PAIR, choose_pair)
    wiring.on(CARD, turn)
    wiring.on(AROUND, choose_variable)
    wiring.on(REGION, lambda context: state.change(tab="graph", context=context))

    def explained() -> PairExplanation:
        return value_of(explanation(), "no pair has been explained yet")

    def name() -> str:
        return state.file_name(" ".join((*state.pair(), "regions")))

    def rows() -> str:
        return as_csv((region.record() for region in explained().regions), REGION_KEYS)

    wiring.offer("regions_csv", rows, name=name)
    wiring.offer("regions_json", lambda: as_json(explained().record()), name=name)
