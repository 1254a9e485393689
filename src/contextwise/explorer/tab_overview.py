"""The first tab: verdict, heat map of pairs, one pair or one variable next to it, all guesses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from htmltools import HTML, Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.analysis.conclusions import Analysis
from contextwise.comparison.two_models import PAIR_KEYS, Comparison, pair_records
from contextwise.explorer import controls, pair_card
from contextwise.explorer.computations import analyse_claims
from contextwise.explorer.job import Background, Done, Outcome
from contextwise.explorer.state import State, View
from contextwise.independence.claims import REGIONS
from contextwise.report.analysis_page import answer_html, page_of_analysis
from contextwise.report.analysis_parts import claims_table, in_order, pairs_table
from contextwise.report.claims import explanation_parts
from contextwise.report.comparisons import Guess, comparison_parts, guesses_parts
from contextwise.report.html import Markup, as_html
from contextwise.report.page import model_page, report_page, terms_note
from contextwise.report.parts import Cell, Column, Note, PairName, Part, Table, cell_text
from contextwise.report.pictures import (
    GROUPED,
    HeatMap,
    heat_legends,
    heat_map,
    heat_text,
    no_heat_map,
    packed,
)
from contextwise.support.formatting import as_csv

WORST = 10  # pairs and variables that are listed
MOST_CLAIMS = 200  # claims that are listed
TESTING = 300.0  # seconds to test the claims of a model
SECONDS_BEYOND_TESTING = 30.0  # seconds that they may take beyond that
FIRST_NOTES = ("verdict", "summary", "open")
KEYS = (
    "Arrow keys move from cell to cell, Enter shows the pair, plus and minus zoom, 0 shows "
    "everything, N and P go to the next and the previous pair, the largest first."
)

CLUSTER = controls.Input("cluster", controls.flag, False)
SHOW = controls.Input("show_guess", controls.text)


# -- content -------------------------------------------------------------------------------------


def panel(start: View, variables: int) -> TagList:
    return TagList(
        ui.output_ui("summary"),
        tags.div(
            map_panel(variables),
            pair_card.panel(start),
            class_="map-and-card needs-comparison needs-pairs",
        ),
        tags.div(
            tags.div(ui.output_ui("guess_table"), class_="needs-several"),
            ui.output_ui("worst"),
            controls.downloads(("report_html", "report (HTML)"), ("pairs_csv", "all pairs (CSV)")),
            tags.div(
                controls.downloads(("claims_csv", "claims with evidence (CSV)")),
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
                "Largest of a cell",
                type="button",
                class_="btn btn-outline-secondary btn-sm",
                title="Colour each cell by its largest pair instead of the mean",
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


def summary(guess: Guess, tested: Outcome[Analysis] = None) -> Tag:
    """Show the verdict of a comparison or of one model, by rows if there are some."""
    if guess.one is not None and isinstance(tested, Done):
        return tags.div(HTML(answer_html(tested.value)), class_="headline findings")
    if guess.one is not None:
        return tags.div(controls.parts(explanation_parts(guess.one)[:1]), class_="headline")
    return tags.div(controls.parts(_split(guess)[0]), class_="headline")


def claims(guess: Guess, tested: Outcome[Analysis]) -> TagList:
    """Show what rows say about each pair, if there are some, and the claims of one model."""
    if isinstance(tested, Done):
        known = tested.value
        pairs = pairs_table(known, in_order(known, known.pairs), "", MOST_CLAIMS)
        listed = claims_table(known.evidence.claims[:MOST_CLAIMS])
        return TagList(_title("What the rows show"), _opening(pairs), _claims(listed))
    progress = controls.not_done(tested)
    known_evidence = guess.comparison.true.evidence
    if known_evidence is not None:
        return TagList(progress, _claims(claims_table(known_evidence.claims[:MOST_CLAIMS])))
    assert guess.one is not None
    return TagList(progress, controls.parts(explanation_parts(guess.one, regions=REGIONS)[1:]))


def _title(text: str) -> Tag:
    return tags.h2(text, class_="h5 mt-3")


def _claims(listed: Table) -> TagList:
    return TagList(_title("The claims and their evidence"), _opening(listed))


def _opening(listed: Table) -> Tag:
    """Show a table whose pairs are buttons that open their cards."""

    def cell(value: Cell, column: Column) -> Markup | None:
        return controls.choose_pair(str(value), *value) if isinstance(value, PairName) else None

    return tags.div(controls.parts([listed], cell=cell), class_="findings")


def guess_table(results: Sequence[Guess]) -> TagChild:
    """Show all guesses in a table; a click on a name shows that guess."""
    if len(results) < 2:
        return None
    keys = {guess.title: guess.name for guess in results}

    def cell(value: Cell, column: Column) -> Markup | None:
        if column.style == "name" and isinstance(value, str):
            return controls.choose(value, SHOW, keys[value])
        return None

    return TagList(
        _title("All comparisons"),
        controls.parts(guesses_parts(results), cell=cell),
    )


def worst(guess: Guess) -> HTML:
    """Show the counts, the pairs and variables with the most errors, and the notes."""

    def cell(value: Cell, column: Column) -> Markup | None:
        if column.title == "variable" and isinstance(value, str):
            return controls.choose(cell_text(value, column.style), pair_card.AROUND, value)
        return None

    return controls.parts(_split(guess)[1], cell=cell)


def _split(guess: Guess) -> tuple[list[Part], list[Part]]:
    """Split the parts of a comparison into those above and below the heat map."""
    parts = comparison_parts(guess.comparison, top=WORST)
    above = [part for part in parts if isinstance(part, Note) and part.key in FIRST_NOTES]
    return [*above, terms_note(guess.comparison)], [part for part in parts if part not in above]


def heat_legend(heat: HeatMap) -> Tag:
    text = tags.p(heat_text(heat.roles), class_="note m-0")
    return tags.div(HTML(as_html(heat_legends(heat))), text)


def serve(state: State) -> None:
    _serve_map(state)
    state.tested = _serve_testing(state)
    _serve_text(state)
    _serve_files(state)
    pair_card.serve(state)


def _serve_map(state: State) -> None:
    @reactive.calc
    async def drawn() -> HeatMap:
        guess = state.shown()
        return await asyncio.to_thread(heat_map, guess.shares, reorder=CLUSTER())

    async def data() -> dict[str, Any] | None:
        guess = state.shown()
        if no_heat_map(len(guess.shares.names)):
            return None
        order = (await drawn()).order if CLUSTER() else np.arange(len(guess.shares.names))
        return packed(guess.shares, order)

    async def legend() -> TagChild:
        if note := no_heat_map(len(state.shown().shares.names)):
            return tags.p(note.text)
        return heat_legend(await drawn())

    controls.show("heat_legend", legend)
    controls.send("heat", data)
    controls.follow(
        controls.Settled(lambda: len(state.domain()) > GROUPED),
        lambda many: ui.update_checkbox(CLUSTER.key, value=many),
    )


def _serve_testing(state: State) -> Callable[[], Outcome[Analysis]]:
    """Test the claims of the model that is shown, if there are rows; return the outcome."""
    testing = Background(analyse_claims)

    def tested() -> Outcome[Analysis]:
        rows, entry, current = state.rows(), state.true(), state.current()
        if rows is None or current is None:
            return None
        learned_from, analysis = state.learned.get(entry.key, (None, None))
        if learned_from == rows and analysis is not None:
            return Done(analysis)
        return testing.outcome((entry, rows))

    @reactive.effect
    def test() -> None:
        rows, entry = state.rows(), state.true()
        if rows is None or state.current() is None or isinstance(tested(), Done):
            return
        with reactive.isolate():
            if testing.key() == (entry, rows):
                return
        testing.start(
            (entry, rows), entry.model, rows, TESTING, seconds=TESTING + SECONDS_BEYOND_TESTING
        )

    return tested


def _serve_text(state: State) -> None:
    """Show the verdict, and below the map all guesses, and the claims or largest differences."""

    def below() -> TagChild:
        guess = state.shown()
        return worst(guess) if guess.one is None else claims(guess, state.tested())

    controls.show("summary", lambda: summary(state.shown(), state.tested()))
    controls.show("guess_table", lambda: guess_table(state.results()))
    controls.show("worst", below)
    controls.on(SHOW, lambda key: state.change(shown=key) if state.knows(key) else None)


def _serve_files(state: State) -> None:
    """Offer the report, the pairs and the claims."""

    def claim_records() -> list[dict[str, Any]]:
        tested = state.tested()
        model = tested.value.structure if isinstance(tested, Done) else state.true().model
        return [claim.record() for claim in model.evidence.claims] if model.evidence else []

    def page() -> str:
        known, label, current = state.tested(), state.true().label, state.shown()
        if current.one is None:
            return report_page(label, state.results())
        if isinstance(known, Done):
            return page_of_analysis(known.value)
        return model_page(label, current.one)

    def pairs() -> str:
        shown = state.shown()
        if shown.one is not None:
            return as_csv(dependence(shown.comparison))
        return as_csv(pair_records(shown.comparison), PAIR_KEYS)

    files: dict[str, tuple[str, Callable[[], str]]] = {
        "pairs_csv": ("pairs", pairs),
        "claims_csv": ("claims", lambda: as_csv(claim_records())),
        "report_html": ("report", page),
    }
    for key, (what, content) in files.items():
        controls.offer(key, content, name=partial(state.file_name, what))


def dependence(comparison: Comparison) -> Iterable[Mapping[str, object]]:
    """Yield in how many contexts the pairs of one model depend, and in how many not."""
    for record in pair_records(comparison):
        ends = {"first": record["first"], "second": record["second"]}
        yield {**ends, "dependent": record["fn"], "independent": record["tn"]}
