"""Compare the shown guess with chance, and a model with rows of data."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

from htmltools import TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.evaluation.claim_tests import Check
from contextwise.evaluation.skill import DEFAULT_NULL, NULLS, PAIR_KEYS, Chance
from contextwise.explorer import controls
from contextwise.explorer.computations import chance_of, check_of
from contextwise.explorer.job import value_of
from contextwise.explorer.state import Entry, State
from contextwise.explorer.wiring import Input, Upload, choice, offer, show, uploads
from contextwise.report.evaluations import chance_parts, check_parts
from contextwise.report.parts import Note
from contextwise.support.formatting import as_csv, as_json

DRAWING, CHECKING = 900.0, 900.0  # seconds for the draws, and for the tests
TOP = 10  # pairs or claims of a kind that are shown
DRAWS = {"99": "99 draws", "999": "999 draws", "9999": "9,999 draws"}
ROLES = {"guess": "the shown guess", "true": "the true model"}
MISSING = "there is nothing here yet"

NULL = Input("null", choice(NULLS, str), DEFAULT_NULL)
DRAW_COUNT = Input("draws", choice(DRAWS, int), 999)
CHECKED = Input("checked", choice(ROLES, str), "guess")
ROWS: Input[tuple[Upload, ...]] = Input("rows", uploads, ())
CHANCE, CHECK = "chance", "check"


def panel() -> TagList:
    return TagList(
        tags.section(
            tags.h2("Better than chance?", class_="h5"),
            tags.p(
                "Compare the distance of the shown guess with those of random guesses of the same "
                "shape. A skill of 1 is perfect, and 0 is as good as chance."
            ),
            tags.div(
                ui.input_select(
                    NULL.key,
                    "Random guesses keep",
                    {name: null.keeps for name, null in NULLS.items()},
                ),
                ui.input_select(DRAW_COUNT.key, "Number of draws", DRAWS, selected="999"),
                class_="choices",
            ),
            controls.request_panel(CHANCE),
        ),
        tags.section(
            tags.h2("Do rows of data agree?", class_="h5 mt-4"),
            tags.p(
                "Test each independence that the model claims, in the contexts where it claims it. "
                "The rows must be independent of each other, and the model must not be learned "
                "from them."
            ),
            tags.div(
                ui.input_select(CHECKED.key, "Model", ROLES),
                ui.input_file(ROWS.key, "Rows (CSV)", accept=[".csv", ".data", ".gz", ".txt"]),
                class_="choices",
            ),
            ui.output_ui("rows_name"),
            controls.request_panel(CHECK),
        ),
    )


def chance_view(chance: Chance) -> TagList:
    """Show the comparison with random guesses, the verdict first."""
    shown = chance_parts(chance, top=TOP)
    shown.sort(key=lambda part: not (isinstance(part, Note) and part.key == "verdict"))
    return TagList(
        controls.parts(shown),
        controls.downloads(("chance_json", "numbers (JSON)"), ("chance_csv", "all pairs (CSV)")),
    )


def check_view(check: Check) -> TagList:
    return TagList(
        controls.parts(check_parts(check, top=TOP)),
        controls.downloads(("check_csv", "all claims (CSV)"), ("check_json", "all claims (JSON)")),
    )


def rows_name(rows: Upload | None) -> TagChild:
    if rows is None:
        words = "No rows yet: choose a file, or start with contextwise explore --data FILE."
        return tags.p(words, class_="note")
    return tags.p("Rows: ", tags.span(rows.name, class_="when"), class_="note")


def pair_chance_records(chance: Chance) -> list[dict[str, object]]:
    return [
        {"first": p.pair[0], "second": p.pair[1], "distance": p.distance}
        | {key: getattr(p, key) for key in PAIR_KEYS}
        for p in chance.pair_chances()
    ]


def serve(state: State, data: Path | None) -> None:
    """Connect the tab to the session; ``data`` is a file of rows from the command line."""
    _serve_chance(state)
    _serve_check(state, data)


def _serve_chance(state: State) -> None:
    def about() -> Hashable:
        guess = state.current()
        return None if guess is None else (guess, NULL(), DRAW_COUNT())

    def call() -> tuple[Any, ...]:
        return DRAWING, state.shown().comparison, NULL(), DRAW_COUNT()

    outcome = controls.serve_request(
        CHANCE, "Compare with chance", chance_of, about=about, call=call, content=chance_view
    )

    def result() -> Chance:
        return value_of(outcome(), MISSING)

    def name() -> str:
        return state.file_name("chance")

    offer("chance_json", lambda: as_json(result().record()), name=name)
    offer("chance_csv", lambda: as_csv(pair_chance_records(result())), name=name)


def _serve_check(state: State, data: Path | None) -> None:
    def rows() -> Upload | None:
        if sent := ROWS():
            return sent[-1]
        return None if data is None else Upload(str(data), data.name)

    def entry() -> Entry | None:
        return state.true() if CHECKED() == "true" else state.guess()

    def about() -> Hashable:
        file, model = rows(), entry()
        return None if file is None or model is None else (file.path, model)

    def call() -> tuple[Any, ...]:
        file, model = rows(), entry()
        assert file is not None
        assert model is not None
        return CHECKING, model.model, file.path, file.name

    show("rows_name", lambda: rows_name(rows()))
    outcome = controls.serve_request(
        CHECK, "Test the claims", check_of, about=about, call=call, content=check_view
    )

    def records() -> list[dict[str, object]]:
        return value_of(outcome(), MISSING).records()

    def name() -> str:
        with reactive.isolate():
            model = entry()
        return f"{model.label if model else 'model'} claims"

    offer("check_csv", lambda: as_csv(records()), name=name)
    offer("check_json", lambda: as_json(records()), name=name)
