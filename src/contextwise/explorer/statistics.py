"""Statistics of the shown guess: whether it is better than chance, and whether rows agree."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

from htmltools import TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.errors import ContextwiseError
from contextwise.evaluation.chance import DEFAULT_NULL, NULLS, PAIR_KEYS, Chance
from contextwise.evaluation.check import Check
from contextwise.explorer import elements, request
from contextwise.explorer.background import Background
from contextwise.explorer.evaluations import chance_of, check_of
from contextwise.explorer.job import Done, Outcome
from contextwise.explorer.state import State
from contextwise.explorer.view import Entry
from contextwise.explorer.wiring import Input, Upload, choice, offer, show, uploads
from contextwise.report.chances import chance_parts
from contextwise.report.parts import Note
from contextwise.report.statistics import check_parts
from contextwise.support.records import as_csv, as_json

DRAWING, CHECKING = 900.0, 900.0  # seconds for the draws, and for the tests
TOP = 10
"""How many pairs or claims of a kind are shown."""
DRAWS = {"99": "99 draws", "999": "999 draws", "9999": "9,999 draws"}
ROLES = {"guess": "the shown guess", "true": "the true model"}


NULL = Input("null", choice(NULLS, str))
DRAW_COUNT = Input("draws", choice(DRAWS, int))
CHECKED = Input("checked", choice(ROLES, str))
ROWS = Input("rows", uploads)
CHANCE, CHECK = "chance", "check"


# -- what is shown -------------------------------------------------------------------------------


def panel() -> TagList:
    """The questions that can be asked, and their answers."""
    return TagList(
        tags.section(
            tags.h2("Better than chance?", class_="h5"),
            tags.p(
                "The distance of the shown guess beside that of random guesses of the same shape: "
                "a skill of 1 is perfect, 0 is as good as chance."
            ),
            tags.div(
                ui.input_select(
                    NULL.key,
                    "Random guesses keep",
                    {name: null.keeps for name, null in NULLS.items()},
                ),
                ui.input_select(DRAW_COUNT.key, "Drawn", DRAWS, selected="999"),
                class_="choices",
            ),
            request.panel(CHANCE),
        ),
        tags.section(
            tags.h2("Do rows agree?", class_="h5 mt-4"),
            tags.p(
                "Each claimed independence is tested in the contexts where it is claimed. The rows "
                "must be independent of each other, and not those that the model was learned from."
            ),
            tags.div(
                ui.input_select(CHECKED.key, "Whose claims", ROLES),
                ui.input_file(ROWS.key, "Rows (CSV)", accept=[".csv", ".data", ".gz", ".txt"]),
                class_="choices",
            ),
            ui.output_ui("rows_name"),
            request.panel(CHECK),
        ),
    )


def chance_view(found: Chance) -> TagList:
    """What chance says about a guess, the sentence first."""
    parts = chance_parts(found, top=TOP)
    others = [part for part in parts if not (isinstance(part, Note) and part.key == "verdict")]
    return TagList(
        tags.p(tags.strong(found.verdict), class_="lead when"),
        elements.rendered(others, titles=True),
        elements.downloads(("chance_json", "numbers (JSON)"), ("chance_csv", "all pairs (CSV)")),
    )


def check_view(found: Check) -> TagList:
    """What rows say about the claims of a model."""
    return TagList(
        elements.rendered(check_parts(found, top=TOP), titles=True),
        elements.downloads(("check_csv", "all claims (CSV)"), ("check_json", "all claims (JSON)")),
    )


def rows_name(rows: Upload | None) -> TagChild:
    """Which rows are asked."""
    if rows is None:
        words = "No rows yet: choose a file, or begin with contextwise explore --data FILE."
        return tags.p(words, class_="note")
    return tags.p("Rows: ", tags.span(rows.name, class_="when"), class_="note")


def pair_chance_records(found: Chance) -> list[dict[str, object]]:
    """Each pair beside chance, as flat records."""
    return [
        {
            "first": one.pair[0],
            "second": one.pair[1],
            "distance": one.distance,
            **{key: getattr(one, key) for key in PAIR_KEYS},
        }
        for one in found.pair_chances()
    ]


# -- what happens --------------------------------------------------------------------------------


def serve(state: State, data: Path | None) -> list[Background[Any]]:
    """Tie the view to the session; ``data`` are rows that were given from the start."""
    return [_serve_chance(state), _serve_check(state, data)]


def _found(outcome: Outcome[Any]) -> Any:
    if not isinstance(outcome, Done):
        raise ContextwiseError("there is nothing here yet")
    return outcome.value


def _serve_chance(state: State) -> Background[Chance]:
    drawing = Background(chance_of)

    def about() -> Hashable:
        shown = state.current()
        return None if shown is None else (shown.true, shown.guess, state.contexts(), *asked())

    def asked() -> tuple[str, int]:
        return NULL.or_else(DEFAULT_NULL), DRAW_COUNT.or_else(999)

    def begin() -> None:
        with reactive.isolate():
            shown, wanted = state.shown(), about()
            c, (null, draws) = shown.comparison, asked()
        drawing.start(wanted, c.true, c.guess, c.contexts, null, draws, seconds=DRAWING)

    outcome = request.serve(
        CHANCE, "Compare with chance", drawing, about=about, begin=begin, content=chance_view
    )
    found: Callable[[], Chance] = lambda: _found(outcome())  # noqa: E731

    def name() -> str:
        return f"{state.shown().name} chance"

    offer("chance_json", lambda: as_json(found().record()), name=name)
    offer("chance_csv", lambda: as_csv(pair_chance_records(found())), name=name)
    return drawing


def _serve_check(state: State, data: Path | None) -> Background[Check]:
    checking = Background(check_of)
    given = None if data is None else Upload(str(data), data.name)

    def rows() -> Upload | None:
        sent = ROWS.or_else(())
        return sent[-1] if sent else given

    def entry_to_check() -> Entry | None:
        return state.true() if CHECKED.or_else("guess") == "true" else state.guess()

    def about() -> Hashable:
        file, entry = rows(), entry_to_check()
        return None if file is None or entry is None else (file.path, entry)

    def begin() -> None:
        with reactive.isolate():
            file, entry, wanted = rows(), entry_to_check(), about()
        if file is not None and entry is not None:
            checking.start(wanted, entry.model, file.path, file.name, seconds=CHECKING)

    show("rows_name", lambda: rows_name(rows()))
    outcome = request.serve(
        CHECK, "Test the claims", checking, about=about, begin=begin, content=check_view
    )
    found: Callable[[], Check] = lambda: _found(outcome())  # noqa: E731

    def name() -> str:
        with reactive.isolate():
            entry = entry_to_check()
        return f"{entry.label if entry else 'model'} claims"

    offer("check_csv", lambda: as_csv(found().records()), name=name)
    offer("check_json", lambda: as_json(found().records()), name=name)
    return checking
