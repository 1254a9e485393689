"""The pieces of the page: parts of `contextwise.report`, buttons, searches, progress, downloads.

All texts are escaped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from htmltools import HTML, Tag, TagChild, TagList, tags
from shiny import reactive, ui

from contextwise.explorer.job import Background, Done, Failed, Outcome, Working
from contextwise.explorer.wiring import Input, Settled, clicks, on, show
from contextwise.report.html import CellContent, Markup, as_html, tag
from contextwise.report.parts import Cell, Column, PairName, Part, cell_text

T = TypeVar("T")
CHOSEN_PAIR = "chosen_pair"  # the input that a click on any pair sets
UNBOUND: dict[str, str | float | bool | HTML | None] = {"data-shiny-no-bind-input": ""}
"""A field that our own script reads instead of Shiny."""
LINK = "btn btn-link btn-sm p-0 text-start"


def parts(
    shown: Iterable[Part], *, cell: CellContent | None = None, sortable: bool = False
) -> HTML:
    """Show parts, one below the other; pairs in tables are buttons."""

    def content(value: Cell, column: Column) -> Markup | None:
        if isinstance(value, PairName):
            return choose_pair(cell_text(value, column.style), value.first, value.second)
        return cell(value, column) if cell else None

    return HTML(as_html(shown, level=3, cell=content, sortable=sortable))


def choose(label: str, source: Input[Any] | str, value: object, class_: str = LINK) -> Markup:
    """Return a button that sets an input to a JSON value."""
    key = source if isinstance(source, str) else source.key
    data = json.dumps(value)
    return tag("button", label, class_=class_, type="button", data_input=key, data_value=data)


def choose_pair(label: str, first: str, second: str) -> Markup:
    return choose(label, CHOSEN_PAIR, {"first": first, "second": second})


def options(values: Iterable[str], *, selected: str | None = None) -> HTML:
    """Return the options of a selector as one text, because there may be thousands."""
    made = (
        tag("option", value, value=value, selected="" if value == selected else None)
        for value in values
    )
    return HTML("".join(made))


def selector(
    key: str,
    label: str,
    values: Iterable[str],
    selected: str | None,
    source: Input[Any],
    *,
    variable: str | None = None,
) -> Tag:
    """Return a labelled selector; that of a ``variable`` also offers any state."""
    return tags.div(
        tags.label(label, for_=key, class_="when"),
        tags.select(
            UNBOUND,
            None if variable is None else tags.option("any", value=""),
            options(values, selected=selected),
            id=key,
            class_="form-select",
            data_input=source.key,
            data_variable=variable,
        ),
        class_="form-group",
    )


def search(
    source: Input[str],
    values: Iterable[str],
    *,
    label: str,
    placeholder: str,
    value: str | None = None,
    clears: bool = False,
) -> Tag:
    """Return a field that finds a string among many; ``clears`` empties it afterwards."""
    return tags.div(
        tags.label(label, for_=source.key),
        tags.input(
            UNBOUND,
            id=source.key,
            type="search",
            list=f"{source.key}_values",
            class_="form-control search",
            placeholder=placeholder,
            value=value,
            autocomplete="off",
            data_clears="" if clears else None,
        ),
        tags.datalist(options(values), id=f"{source.key}_values"),
        class_="form-group",
    )


def zoom_buttons(target: str, what: str) -> Tag:
    """Return the buttons that zoom a heat map (``heat``) or a graph (``zoom``)."""
    buttons = (("in", "Zoom in", "+"), ("out", "Zoom out", "−"), ("fit", "Show everything", "⤢"))
    return tags.div(
        *(
            tags.button(
                {f"data-{target}": action},
                sign,
                type="button",
                class_="btn btn-outline-secondary btn-sm",
                aria_label=label,
                title=label,
            )
            for action, label, sign in buttons
        ),
        class_="btn-group",
        role="group",
        aria_label=f"Zoom of the {what}",
    )


def downloads(*offers: tuple[str, str]) -> Tag:
    """Return links to downloads: identifiers of `offer` and labels."""
    links = (ui.download_link(key, label) for key, label in offers)
    return tags.div(tags.span("Download:"), *links, class_="downloads")


def notice(text: TagChild, kind: str = "warning") -> Tag:
    """Return a message that a screen reader reads at once."""
    return tags.div(text, class_=f"alert alert-{kind} py-2", role="alert")


def under_way(working: Working) -> Tag:
    """Return the progress of work; without a total, the bar has no number."""
    share = 100 * working.done // working.total if working.total else None
    count = f": {working.done:,} of {working.total:,} ({share} %)" if working.total else " …"
    moving = " progress-bar-striped progress-bar-animated" if share is None else ""
    return tags.div(
        tags.div(f"{working.text}{count}", class_="progress-words"),
        tags.div(
            tags.div(
                class_=f"progress-bar{moving}",
                style=f"width: {100 if share is None else max(share, 1)}%",
            ),
            class_="progress",
            role="progressbar",
            aria_label=working.text,
            aria_valuenow=None if share is None else str(share),
            aria_valuemin="0",
            aria_valuemax="100",
        ),
        class_="under-way",
    )


def not_done(outcome: Working | Failed | None) -> TagChild:
    """Show work that has no result: its progress or its error."""
    if isinstance(outcome, Working):
        return under_way(outcome)
    return notice(outcome.why, "danger") if isinstance(outcome, Failed) else None


def request_panel(key: str) -> Tag:
    return tags.div(
        ui.output_ui(f"{key}_buttons"),
        tags.div(ui.output_ui(f"{key}_outcome"), aria_live="polite", class_="request-outcome"),
    )


def serve_request(
    key: str,
    label: str,
    function: Callable[..., T],
    *,
    about: Callable[[], Hashable],
    call: Callable[[], tuple[Any, ...]],
    content: Callable[[T], TagChild],
) -> Callable[[], Outcome[T]]:
    """Connect a request to the session: a button begins work, and another one stops it.

    ``about`` is the key of the work, or None if there is nothing to request; ``call`` returns the
    seconds that the function may take, and its arguments. The two buttons have different places, so
    that a late click does not do the opposite. Return a function that gives the outcome.
    """
    work = Background(function)

    def outcome() -> Outcome[T]:
        return work.outcome(about())

    busy = Settled(lambda: isinstance(outcome(), Working))
    possible = Settled(lambda: about() is not None)

    def buttons() -> TagChild:
        if not possible():
            return None
        begins = ui.input_action_button(f"{key}_begin", label, class_="btn-sm", disabled=busy())
        stops = ui.input_action_button(f"{key}_stop", "Stop", class_="btn-sm btn-warning ms-2")
        return TagList(begins, stops if busy() else None)

    def made() -> TagChild:
        known = outcome()
        return content(known.value) if isinstance(known, Done) else not_done(known)

    def start(_: int) -> None:
        with reactive.isolate():
            wanted = about()
            if wanted is not None:
                seconds, *arguments = call()
                work.start(wanted, *arguments, seconds=seconds)

    show(f"{key}_buttons", buttons)
    show(f"{key}_outcome", made)
    on(Input(f"{key}_begin", clicks), start)
    on(Input(f"{key}_stop", clicks), lambda _: work.interrupt())
    return outcome
