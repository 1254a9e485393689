"""Rows of data: their columns with advice, learning from them, and tests of a model's claims."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from htmltools import HTML, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.data.columns import DataSummary
from contextwise.data.options import RowOptions
from contextwise.evaluation.claim_tests import Check
from contextwise.explorer import controls
from contextwise.explorer.computations import (
    Learned,
    Recipe,
    check_of,
    learn_from,
    stability_of,
    summarize_rows,
)
from contextwise.explorer.job import Background, Done, Outcome, Upload, value_of
from contextwise.explorer.state import FIRST_TAB, ROWS, Entry, State
from contextwise.explorer.wiring import Input, choice, flag, offer, on, show, text
from contextwise.formats import encode
from contextwise.learning import LEARNERS, learner_named
from contextwise.learning.parameters import Parameter, parameters_of
from contextwise.report.evaluations import check_parts
from contextwise.report.parts import Cell, Note, Part, Style, table
from contextwise.report.structures import OneModel
from contextwise.support.formatting import as_csv, as_json, plural

READING, LEARNING, CHECKING = 60.0, 900.0, 900.0  # seconds for each kind of work
TOP = 10  # claims of a kind that are shown
MISSING = "there is nothing here yet"
FIRST_LEARNER = "edge-trees"
ROLES = {"true": "the model", "guess": "the model it is compared with"}
OFFERED = {
    name: entry for name, entry in LEARNERS.items() if not entry.package or find_spec(entry.package)
}

ADVISED = Input("advised", flag, True)
LEARNER = Input("learner", choice(OFFERED, str), FIRST_LEARNER)
CHECKED = Input("checked", choice(ROLES, str), "true")
SHOW_LEARNED = Input("show_learned", text)
LEARN, CHECK, STABILITY = "learn", "check", "stability"
RESAMPLES = 50  # halves of the rows


def panel() -> TagList:
    return TagList(
        tags.section(
            tags.h2("Rows", class_="h5"),
            tags.div(
                ui.input_file(
                    ROWS.key,
                    "A file of rows",
                    placeholder="CSV, Excel, SPSS, …",
                ),
                class_="choices",
            ),
            tags.div(ui.output_ui("columns"), aria_live="polite"),
        ),
        tags.section(
            tags.h2("Learn a structure", class_="h5 mt-3"),
            tags.div(
                ui.input_select(
                    LEARNER.key,
                    "Learner",
                    {name: f"{name}: {entry.summary}" for name, entry in OFFERED.items()},
                    selected=FIRST_LEARNER,
                    width="100%",
                ),
                class_="ask",
            ),
            ui.output_ui("learner_settings"),
            controls.request_panel(LEARN),
            class_="needs-rows",
        ),
        tags.section(
            tags.h2("Do the rows agree with a model?", class_="h5 mt-3"),
            tags.p(
                "Test each independence that the model claims, in the contexts where it claims it. "
                "The rows must be independent of each other, and the model must not be learned "
                "from them."
            ),
            tags.div(ui.input_select(CHECKED.key, "Model", ROLES), class_="choices needs-guess"),
            controls.request_panel(CHECK),
            class_="needs-rows",
        ),
    )


def columns(outcome: Outcome[DataSummary], rows: Upload | None) -> TagChild:
    """Show the columns of the rows, with advice as ``contextwise info`` gives it."""
    if rows is None:
        text = "No rows yet: choose a file, or start with contextwise explore FILE.csv."
        return tags.p(text, class_="note")
    if not isinstance(outcome, Done):
        return controls.not_done(outcome)
    summary = outcome.value
    unclear = f"; {plural(len(summary.unclear), 'column')} to decide about"
    head = f"{rows.name}: {plural(summary.rows, 'row')}, {plural(len(summary.columns), 'column')}"
    heads: dict[str, Style] = {"column": "text", "kind": "text", "values": "count"}
    heads |= {"missing": "count", "most frequent": "text"}
    cells: list[tuple[Cell, ...]] = [
        (
            column.name,
            column.kind,
            column.values,
            column.missing,
            ", ".join(f"{label} ({count:,})" for label, count in column.frequent),
        )
        for column in summary.columns
    ]
    advised = [column.advice or column.decision or "" for column in summary.columns]
    if any(advised):
        heads["advice"] = "text"
        cells = [(*row, words) for row, words in zip(cells, advised, strict=True)]
    notes: list[Part] = [Note("rows", note) for note in summary.notes]
    if summary.obstacle:
        notes.append(Note("obstacle", summary.obstacle, warns=True))
    verdict = Note("verdict", f"{head}{unclear if summary.unclear else ''}.")
    return TagList(
        controls.parts([verdict, table("", heads, cells, "columns"), *notes]),
        ui.input_checkbox(ADVISED.key, f"Follow the advice: {advice(summary)}", True, width="100%")
        if summary.unclear
        else None,
    )


def advice(summary: DataSummary) -> str:
    return " ".join(summary.remedy.words())


def reading(outcome: Outcome[DataSummary], advised: bool) -> RowOptions:
    """Return how to read the rows: as advised, if there is something to decide."""
    if not isinstance(outcome, Done) or not (advised and outcome.value.unclear):
        return RowOptions()
    return outcome.value.remedy


# -- the parameters of a learner -------------------------------------------------------------------


def setting_key(learner: str, parameter: str) -> str:
    return f"set_{learner}_{parameter}".replace("-", "_")


def setting(learner: str, parameter: Parameter) -> Input[str]:
    """Return the input of a parameter; making it lets its messages pass."""
    default = parameter.default
    written = f"{default:g}" if isinstance(default, float) else str(default)
    key = setting_key(learner, parameter.name)
    return Input(key, text, "" if default is None else written)


def settings_form(learner: str) -> TagChild:
    """Return a field for each parameter of a learner, with its help below."""
    fields = []
    for parameter in parameters_of(learner_named(learner)).values():
        source = setting(learner, parameter)
        label = parameter.name.replace("_", " ")
        if parameter.kind is bool or parameter.choices:
            values = parameter.choices or ("True", "False")
            offered = ["", *values] if parameter.default is None else list(values)
            field = ui.input_select(source.key, label, offered, selected=source.default)
        else:
            field = ui.input_text(source.key, label, source.default or "")
        fields.append(tags.div(field, tags.p(parameter.help, class_="note"), class_="setting"))
    return tags.div(*fields, class_="settings") if fields else None


# -- results ---------------------------------------------------------------------------------------


def check_view(check: Check) -> TagList:
    return TagList(
        controls.parts(check_parts(check, top=TOP)),
        controls.downloads(("check_csv", "all claims (CSV)"), ("check_json", "all claims (JSON)")),
    )


def serve(state: State) -> None:
    summarizing = Background(summarize_rows)

    def outcome() -> Outcome[DataSummary]:
        rows = state.rows()
        return None if rows is None else summarizing.outcome(rows)

    @reactive.effect
    def summarize() -> None:
        rows = state.rows()
        if rows is not None:
            summarizing.start(rows, rows, seconds=READING)

    def recipe() -> Recipe | None:
        """Return how to learn, as the page has it now."""
        rows, learner = state.rows(), LEARNER()
        if rows is None:
            return None
        parameters = parameters_of(learner_named(learner)).values()
        written = tuple((p.name, setting(learner, p)()) for p in parameters)
        return Recipe(rows, reading(outcome(), ADVISED()), learner, written)

    show("columns", lambda: columns(outcome(), state.rows()))
    show("learner_settings", lambda: settings_form(LEARNER()))
    recipes: dict[str, Recipe] = {}  # of the models that were learned here, by their keys
    _serve_learning(state, recipe, recipes)
    _serve_stability(state, recipe, recipes)
    _serve_check(state)


def _serve_learning(
    state: State, recipe: Callable[[], Recipe | None], recipes: dict[str, Recipe]
) -> None:
    new: reactive.Value[str] = reactive.value("", name="new")
    taken: set[int] = set()

    def learned(result: Learned) -> TagChild:
        return TagList(
            tags.p(f"Learned {result.label}. {result.text}.", class_="when"),
            controls.notice(result.missed) if result.missed else None,
            tags.p(HTML(controls.choose("Show it in the overview", SHOW_LEARNED, new())))
            if new()
            else None,
            controls.downloads(("learned_json", "model file (JSON)")),
        )

    outcome = controls.serve_request(
        LEARN,
        "Learn",
        learn_from,
        about=recipe,
        call=lambda: (LEARNING, recipe()),
        content=learned,
    )

    @reactive.effect
    def take() -> None:
        known = outcome()
        if isinstance(known, Done) and id(known.value) not in taken:
            taken.add(id(known.value))
            key = state.show_new(known.value.label, known.value.model)
            with reactive.isolate():
                used = recipe()
            if used is not None:
                recipes[key] = used
            new.set(key)

    def show_learned(key: str) -> None:
        if state.knows(key):
            state.go(replace(state.now(), true=key, guesses=(), shown="", tab=FIRST_TAB))

    on(SHOW_LEARNED, show_learned)
    offer(
        "learned_json",
        lambda: encode(value_of(outcome(), MISSING).model, "json").decode(),
        name=lambda: value_of(outcome(), MISSING)[0],
    )


def _serve_stability(
    state: State, recipe: Callable[[], Recipe | None], recipes: dict[str, Recipe]
) -> None:
    """Learn from resamples on request, as the shown model was learned, else as the page has it."""

    def wanted() -> tuple[OneModel, Recipe] | None:
        current, rows = state.current(), state.rows()
        one = None if current is None else current.one
        how = recipes.get(state.true().key) or recipe()
        if one is None or rows is None or how is None:
            return None
        return one, replace(how, rows=rows)

    def again(one: OneModel) -> TagChild:
        return None if one.stability is None else tags.p(one.stability.verdict)

    state.stability = controls.serve_request(
        STABILITY,
        "Learn again from resamples",
        stability_of,
        about=wanted,
        call=lambda: (LEARNING, *(wanted() or ()), RESAMPLES),
        content=again,
    )


def _serve_check(state: State) -> None:
    def entry() -> Entry:
        guess = state.guess()
        return guess if guess is not None and CHECKED() == "guess" else state.true()

    def about() -> Hashable:
        file = state.rows()
        return None if file is None else (file, entry())

    def call() -> tuple[Any, ...]:
        file = state.rows()
        assert file is not None
        return CHECKING, entry().model, file

    outcome = controls.serve_request(
        CHECK, "Test the claims", check_of, about=about, call=call, content=check_view
    )

    def records() -> list[dict[str, object]]:
        return value_of(outcome(), MISSING).records()

    def name() -> str:
        with reactive.isolate():
            return f"{entry().label} claims"

    offer("check_csv", lambda: as_csv(records()), name=name)
    offer("check_json", lambda: as_json(records()), name=name)
