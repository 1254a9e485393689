"""One pair: its counts, and the regions of contexts in which the models differ about it."""

from __future__ import annotations

from htmltools import Tag, TagList, tags
from shiny import reactive, render, req, ui

from contextwise.comparison.compare import Comparison
from contextwise.comparison.explain import PairExplanation, in_words
from contextwise.comparison.pairs import Pair
from contextwise.execution.records import as_csv, as_json
from contextwise.explorer import elements, jobs
from contextwise.explorer.state import State
from contextwise.explorer.work import Worker
from contextwise.models.numbers import number, percent

TOP = 20
LIMIT = 20.0  # seconds to find regions
REGION_KEYS = ("only_in", "when", "size", "share")


def panel() -> Tag:
    """The card of a pair."""
    return ui.card(
        ui.card_header(tags.h2("One pair", class_="h5 m-0")),
        tags.div(
            ui.input_select("first", "First variable", []),
            ui.input_select("second", "Second variable", []),
            class_="selectors",
        ),
        tags.div(ui.output_ui("pair_counts"), ui.output_ui("regions"), aria_live="polite"),
        elements.downloads(("regions_csv", "regions (CSV)"), ("regions_json", "regions (JSON)")),
    )


def serve(state: State) -> Worker:
    """Register what the card shows."""
    worker = Worker(jobs.explain_one, seconds=LIMIT + 10)

    @reactive.effect
    def explain() -> None:
        shown, pair = state.shown(), state.pair()
        worker.start(
            shown.comparison.true,
            shown.comparison.guess,
            pair,
            shown.comparison.contexts,
            TOP,
            LIMIT,
        )

    @render.ui
    def pair_counts() -> TagList:
        return _counts(state.shown().comparison, state.pair())

    @render.ui
    def regions() -> TagList:
        if worker.running():
            return TagList(tags.p("Looking for the contexts in which the models differ …"))
        found = worker.result()
        req(set(found.pair) == set(state.pair()))
        return _regions(found)

    def records() -> list[dict[str, object]]:
        return [region.record() for region in found().regions]

    def found() -> PairExplanation:
        explanation: PairExplanation = worker.result()
        return explanation

    def regions_as_csv() -> str:
        return as_csv(records(), REGION_KEYS)

    def regions_as_json() -> str:
        return as_json(found().record())

    elements.offer("regions_csv", regions_as_csv)
    elements.offer("regions_json", regions_as_json)
    return worker


def _counts(c: Comparison, pair: Pair) -> TagList:
    if tuple(pair) in c.open_pairs or tuple(reversed(pair)) in c.open_pairs:
        bounds = c.pair_bounds(*pair)
        low, high = bounds.distance
        words = f"Not decided in time: between {number(low)} and {number(high)} errors."
        return TagList(elements.notice(words))
    one = c.pair(*pair)
    return TagList(
        elements.numbers(
            ("in both (TP)", number(one.tp)),
            ("only in true (FN)", number(one.fn)),
            ("only in guess (FP)", number(one.fp)),
            ("in neither (TN)", number(one.tn)),
        )
    )


def _regions(found: PairExplanation) -> TagList:
    if not found.errors and not found.undecided:
        return TagList(tags.p("The models agree about this pair in every context."))
    rows = [
        (
            tags.span(
                f"only in {region.only_in}", class_="fp" if region.only_in == "guess" else "fn"
            ),
            tags.span(in_words(region.literals) or "in every context", class_="when text-wrap"),
            percent(region.size, found.contexts),
        )
        for region in found.regions
    ]
    left = []
    if found.rest:
        left.append(f"{percent(found.rest, found.contexts)} of contexts are in other regions.")
    if found.undecided:
        share = percent(found.undecided, found.contexts)
        left.append(f"{share} of contexts were not decided in time.")
    return TagList(
        elements.table(
            ("dependent", "when", "of contexts"),
            rows,
            caption="Where the models differ about this pair",
            numeric=(2,),
        ),
        tags.p(" ".join(left)) if left else None,
    )
