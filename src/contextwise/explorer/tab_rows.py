"""Rows of data: their columns with advice and choices, and learning from them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

from htmltools import HTML, Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.analysis.conclusions import Analysis
from contextwise.data.columns import ColumnSummary, DataSummary
from contextwise.data.options import RowOptions
from contextwise.explorer import controls
from contextwise.explorer.computations import (
    Recipe,
    learn_from,
    summarize_rows,
)
from contextwise.explorer.controls import (
    Input,
    choice,
    clicks,
    flag,
    offer,
    on,
    show,
    text,
    texts_named,
)
from contextwise.explorer.job import Background, Done, Outcome, Upload, Working, value_of
from contextwise.explorer.state import ROWS, State
from contextwise.formats import encode
from contextwise.learning import DEFAULT_LEARNER, LEARNERS, learner_named
from contextwise.learning.parameters import Parameter, parameters_of
from contextwise.report.analysis_page import answer_html, findings_html
from contextwise.report.parts import Note, Part
from contextwise.support.formatting import name as short
from contextwise.support.formatting import plural

READING, LEARNING = 60.0, 900.0  # seconds for each kind of work
MOST_COLUMNS_SHOWN = 200  # columns with their own controls
USES = {
    "": "",
    "category": "as categories",
    "drop": "leave it out",
    "counts": "how often the row occurs",
}
MISSING_VALUES = {
    "": "as advised",
    "drop": "leave out their rows",
    "state": "make missing a state",
}
OFFERED = {
    name: entry for name, entry in LEARNERS.items() if not entry.package or find_spec(entry.package)
}

LEARNER = Input("learner", choice(OFFERED, str), DEFAULT_LEARNER)
OUTCOME = Input("outcome", text, "")
HALVES = Input("halves", flag, False)
USE, CUT, NA = (
    Input(f"column_{what}", texts_named("variable", "state")) for what in ("use", "cut", "na")
)
MISSING_MEANS = Input("missing", choice(MISSING_VALUES, str), "")
LEARN, STOP = Input("learn_begin", clicks), Input("learn_stop", clicks)
FOUND_AGAIN = 20  # random halves of the rows

Choices = dict[tuple[str, str], str]
"""The choices of the user, by the key of the control and the column."""


def panel() -> TagList:
    return TagList(
        tags.section(
            tags.h2("Rows", class_="h5"),
            tags.div(
                ui.input_file(ROWS.key, "A file of rows", placeholder="CSV, Excel, SPSS, …"),
                tags.div(
                    ui.input_select(
                        LEARNER.key,
                        "Learner",
                        {name: f"{name}: {entry.summary}" for name, entry in OFFERED.items()},
                        selected=DEFAULT_LEARNER,
                    ),
                    ui.output_ui("outcomes"),
                    class_="needs-rows choices",
                ),
                class_="choices",
            ),
            tags.div(
                ui.output_ui("learn_buttons"),
                tags.div(
                    ui.output_ui("learn_outcome"), aria_live="polite", class_="request-outcome"
                ),
                tags.details(
                    tags.summary("Settings of the learner"),
                    ui.output_ui("learner_settings"),
                    ui.input_checkbox(
                        HALVES.key,
                        f"Also learn from {FOUND_AGAIN} random halves of the rows, and count those "
                        "that make each claim",
                        width="100%",
                    ),
                ),
                class_="needs-rows",
            ),
            tags.div(ui.output_ui("columns"), aria_live="polite"),
        ),
    )


# -- how the rows are read -------------------------------------------------------------------------


def columns(outcome: Outcome[DataSummary], rows: Upload | None) -> TagChild:
    """Show the columns of the rows, each with its advice and what can be chosen for it."""
    if rows is None:
        text = "No rows yet: choose a file, or start with contextwise explore FILE.csv."
        return tags.p(text, class_="note")
    if not isinstance(outcome, Done):
        return controls.not_done(outcome)
    summary = outcome.value
    head = f"{rows.name}: {plural(summary.rows, 'row')}, {plural(len(summary.columns), 'column')}."
    notes: list[Part] = [Note("rows", note) for note in summary.notes]
    if summary.obstacle:
        notes.append(Note("obstacle", summary.obstacle, warns=True))
    heads = ("column", "values", "use it", "bins or cut points", "also missing", "advice")
    return TagList(
        tags.p(tags.b(head), class_="when"),
        ui.input_select(MISSING_MEANS.key, "Missing values", MISSING_VALUES),
        tags.div(
            tags.table(
                tags.thead(tags.tr(*(tags.th(text, scope="col") for text in heads))),
                tags.tbody(*map(_column_row, summary.columns[:MOST_COLUMNS_SHOWN])),
                class_="table columns",
            ),
            class_="scroll",
            tabindex="0",
            role="group",
            aria_label="Columns",
        ),
        tags.p(f"The first {MOST_COLUMNS_SHOWN} columns are shown; the others follow the advice.")
        if len(summary.columns) > MOST_COLUMNS_SHOWN
        else None,
        controls.parts(notes),
    )


def outcomes(outcome: Outcome[DataSummary]) -> TagChild:
    """Offer each column as the variable in question."""
    if not isinstance(outcome, Done):
        return None
    names = [column.name for column in outcome.value.columns]
    offered = {"": "none: all pairs"} | {name: short(name, 30) for name in names if name}
    return ui.input_select(OUTCOME.key, "Outcome", offered)


def _column_row(column: ColumnSummary) -> Tag:
    values = ", ".join(f"{short(label, 24)} ({count:,})" for label, count in column.frequent)
    missing = f"; {column.missing:,} missing" if column.missing else ""
    advised = "as advised" if column.problems or column.decision else "unchanged"
    reasons = [reason for reason, _ in column.problems]
    advice = [*reasons, *(_remedy(*remedies[0]) for _, remedies in column.problems if remedies)]
    return tags.tr(
        tags.th(short(column.name, 30), scope="row"),
        tags.td(f"{column.kind}, {plural(column.values, 'value')}{missing}: {values}"),
        tags.td(
            tags.select(
                controls.UNBOUND,
                *(tags.option(text or advised, value=use) for use, text in USES.items()),
                class_="form-select form-select-sm",
                aria_label=f"Use of {column.name}",
                data_input=USE.key,
                data_variable=column.name,
            )
        ),
        tags.td(_field(CUT, column.name, "Bins of", "4 or 20|30") if _has_numbers(column) else ""),
        tags.td(_field(NA, column.name, "Values that are missing in", "99")),
        tags.td("; ".join(advice) or column.decision),
    )


def _has_numbers(column: ColumnSummary) -> bool:
    """Return whether a column can be cut into bins."""
    return column.values > 2 and any(
        re.fullmatch(r"[-+]?[\d.,]+", label.strip()) for label, _ in column.frequent
    )


def _field(source: Input[Any], column: str, label: str, example: str) -> Tag:
    return tags.input(
        controls.UNBOUND,
        type="text",
        placeholder=example,
        class_="form-control form-control-sm",
        aria_label=f"{label} {column}",
        data_input=source.key,
        data_variable=column,
    )


def _remedy(option: str, value: str) -> str:
    """Say what following the advice does."""
    if option == "bins":
        return f"{value.rpartition('=')[2]} bins"
    return {"missing": "", "drop": "leave it out"}.get(option, USES.get(option, option))


def _chosen_for(chosen: Choices, source: Input[Any]) -> dict[str, str]:
    """Return what was chosen with one kind of control, by column."""
    texts = {name: text.strip() for (key, name), text in chosen.items() if key == source.key}
    return {name: text for name, text in texts.items() if text}


def used_as(chosen: Choices, use: str) -> tuple[str, ...]:
    """Return the columns for which the user chose a use."""
    return tuple(name for name, text in _chosen_for(chosen, USE).items() if text == use)


def reading(chosen: Choices, missing: str = "") -> RowOptions:
    """Return the options that the user chose; `learn_from` follows the advice for the rest."""
    dropped, counts = used_as(chosen, "drop"), used_as(chosen, "counts")
    cut = {n: text for n, text in _chosen_for(chosen, CUT).items() if n not in dropped}
    missing_of = _chosen_for(chosen, NA).items()
    return RowOptions(
        drop=dropped,
        missing=missing or None,  # type: ignore[arg-type]
        na=tuple(f"{n}={token.strip()}" for n, text in missing_of for token in text.split(",")),
        bins=tuple(f"{name}={text}" for name, text in cut.items()),
        counts=counts[0] if counts else None,
        category=tuple(name for name in used_as(chosen, "category") if name not in cut),
    )


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


# -- learning -------------------------------------------------------------------------------------


def learned_view(label: str, analysis: Analysis) -> Tag:
    """Show the answer first, then the picture and the cards."""
    return tags.div(
        tags.p(
            f"Learned {label} from {plural(len(analysis.data), 'row')}; the other tabs show it.",
            class_="when",
        ),
        HTML(answer_html(analysis)),
        controls.downloads(("learned_json", "model with its evidence (JSON)")),
        HTML(findings_html(analysis)),
        class_="findings learned",
    )


def serve(state: State) -> None:
    summarizing = Background(summarize_rows)
    chosen: reactive.Value[Choices] = reactive.value({}, name="chosen")

    def outcome() -> Outcome[DataSummary]:
        rows = state.rows()
        return None if rows is None else summarizing.outcome(rows)

    @reactive.effect
    def summarize() -> None:
        rows = state.rows()
        chosen.set({})
        if rows is not None:
            summarizing.start(rows, rows, seconds=READING)

    def choose(source: Input[Any], column: str, value: str) -> None:
        with reactive.isolate():
            chosen.set({**chosen(), (source.key, column): value})

    def recipe() -> Recipe | None:
        """Return how to learn, as the page has it now."""
        rows, learner = state.rows(), LEARNER()
        if rows is None:
            return None
        parameters = parameters_of(learner_named(learner)).values()
        written = tuple((p.name, setting(learner, p)()) for p in parameters)
        how = reading(chosen(), MISSING_MEANS())
        counting = used_as(chosen(), "counts")
        again = FOUND_AGAIN if HALVES() else 0
        return Recipe(rows, how, learner, written, again, counting, OUTCOME())

    for source in (USE, CUT, NA):
        on(source, partial(lambda source, sent: choose(source, *sent), source))
    show("columns", lambda: columns(outcome(), state.rows()))
    show("outcomes", lambda: outcomes(outcome()), eager=True)
    show("learner_settings", lambda: settings_form(LEARNER()), eager=True)
    _serve_learning(state, recipe)


def _serve_learning(state: State, recipe: Callable[[], Recipe | None]) -> None:
    """Learn when the user asks, and show what was learned.

    The two buttons have different places, so that a late click does not do the opposite.
    """
    learning = Background(learn_from)
    taken: set[int] = set()

    def outcome() -> Outcome[Analysis]:
        return learning.outcome(recipe())

    busy = controls.Settled(lambda: isinstance(outcome(), Working))

    def label() -> str:
        used = recipe()
        return "" if used is None else f"{used.learner} on {used.rows.name}"

    def buttons() -> TagChild:
        if state.rows() is None:
            return None
        begins = ui.input_action_button(LEARN.key, "Learn", class_="btn-sm", disabled=busy())
        stops = ui.input_action_button(STOP.key, "Stop", class_="btn-sm btn-warning ms-2")
        return TagList(begins, stops if busy() else None)

    def learned() -> TagChild:
        known = outcome()
        if isinstance(known, Done):
            return learned_view(label(), known.value)
        return controls.not_done(known)

    def start(_: int) -> None:
        with reactive.isolate():
            wanted = recipe()
        if wanted is not None:
            learning.start(wanted, wanted, seconds=LEARNING)

    @reactive.effect
    def take() -> None:
        known = outcome()
        if isinstance(known, Done) and id(known.value) not in taken:
            taken.add(id(known.value))
            with reactive.isolate():
                rows = state.rows()
            assert rows is not None
            state.show_learned(label(), rows, known.value)

    def model() -> str:
        found = value_of(outcome(), "nothing has been learned yet")
        return encode(found.structure, "json").decode()

    show("learn_buttons", buttons)
    show("learn_outcome", learned)
    on(LEARN, start)
    on(STOP, lambda _: learning.interrupt())
    offer("learned_json", model, name=label)
