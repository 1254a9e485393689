"""Compare the shown distance with chance."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from htmltools import TagList, tags
from shiny import ui

from contextwise.evaluation.skill import DEFAULT_NULL, NULLS, PAIR_KEYS, Chance
from contextwise.explorer import controls
from contextwise.explorer.computations import chance_of
from contextwise.explorer.job import value_of
from contextwise.explorer.state import State
from contextwise.explorer.wiring import Input, choice, offer
from contextwise.report.evaluations import chance_parts
from contextwise.report.parts import Note
from contextwise.support.formatting import as_csv, as_json

DRAWING = 900.0  # seconds for the draws
TOP = 10  # pairs or claims of a kind that are shown
DRAWS = {"99": "99 draws", "999": "999 draws", "9999": "9,999 draws"}
MISSING = "there is nothing here yet"

NULL = Input("null", choice(NULLS, str), DEFAULT_NULL)
DRAW_COUNT = Input("draws", choice(DRAWS, int), 999)
CHANCE = "chance"


def panel() -> TagList:
    return TagList(
        tags.section(
            tags.h2("Better than chance?", class_="h5"),
            tags.p(
                "Compare the shown distance with those of random structures of the same shape. A "
                "skill of 1 is perfect, and 0 is as good as chance."
            ),
            tags.div(
                ui.input_select(
                    NULL.key,
                    "Random structures keep",
                    {name: null.keeps for name, null in NULLS.items()},
                ),
                ui.input_select(DRAW_COUNT.key, "Number of draws", DRAWS, selected="999"),
                class_="choices",
            ),
            controls.request_panel(CHANCE),
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


def pair_chance_records(chance: Chance) -> list[dict[str, object]]:
    return [
        {"first": p.pair[0], "second": p.pair[1], "distance": p.distance}
        | {key: getattr(p, key) for key in PAIR_KEYS}
        for p in chance.pair_chances()
    ]


def serve(state: State) -> None:
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
