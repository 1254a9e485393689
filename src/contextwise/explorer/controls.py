"""Inputs with types, outputs, downloads, and the pieces of the page, all of them escaped.

A view consists of functions from values to HTML. This module has their buttons, searches and
progress, and connects them to Shiny. Each input has a reader, which raises if a value from the
browser is invalid; see `contextwise.explorer.server`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from operator import eq
from pathlib import Path
from typing import Any, Generic, TypeVar

from htmltools import HTML, Tag, TagChild, tags
from shiny import reactive, render, req, ui
from shiny.render.renderer import Jsonifiable, Renderer
from shiny.session import require_active_session
from shiny.types import ActionButtonValue, SilentException

from contextwise.errors import ContextwiseError
from contextwise.explorer.job import Failed, Upload, Working
from contextwise.explorer.shiny_private import upload_folder
from contextwise.report.html import CellContent, Markup, as_html, tag
from contextwise.report.parts import Cell, Column, PairName, Part, cell_text

T = TypeVar("T")
INPUTS: dict[str, Input[Any]] = {}  # all inputs of the page, by their keys
SHOWN = 60  # characters of an invalid value in the terminal
CHOSEN_PAIR = "chosen_pair"  # the input that a click on any pair sets
UNBOUND: dict[str, str | float | bool | HTML | None] = {"data-shiny-no-bind-input": ""}
"""A field that our own script reads instead of Shiny."""
LINK = "btn btn-link btn-sm p-0 text-start"


# -- inputs and outputs ----------------------------------------------------------------------------


def warn(what: str) -> None:
    """Print one line in the terminal about something that was ignored."""
    print(f"contextwise explore: ignored {what}", file=sys.stderr, flush=True)


def quoted(value: object) -> str:
    """Shorten a value for the terminal; control characters are escaped."""
    text = ascii(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


@dataclass(frozen=True)
class Input(Generic[T]):
    """A control of the page: its identifier, the reader of its values, and a default."""

    key: str
    read: Callable[[Any], T]
    default: T | None = None

    def __post_init__(self) -> None:
        INPUTS[self.key] = self

    def __call__(self) -> T:
        """Return the value as a reactive read; without one, stop the reader (`req`)."""
        value = require_active_session(None).input[self.key]
        sent = value() if value.is_set() else None
        # An empty list is sent as null.
        if sent is None and not (value.is_set() and self.read is texts):
            req(self.default is not None)
            assert self.default is not None
            return self.default
        return self.read(sent)

    def now(self) -> T:
        """Return the value without a reactive dependency."""
        with reactive.isolate():
            return self()


def text(sent: Any) -> str:
    if not isinstance(sent, str):
        raise TypeError
    sent.encode()  # raises on lone surrogates, which cannot be sent back
    return sent


def texts(sent: Any) -> tuple[str, ...]:
    if not isinstance(sent, list | tuple | None):
        raise TypeError
    return tuple(map(text, sent or ()))


def texts_named(*keys: str) -> Callable[[Any], tuple[str, ...]]:
    """Return a reader of an object that has a string under each key."""
    return lambda sent: tuple(text(sent[key]) for key in keys)


def flag(sent: Any) -> bool:
    if not isinstance(sent, bool):
        raise TypeError
    return sent


def choice(options: Mapping[str, object], convert: Callable[[str], T]) -> Callable[[Any], T]:
    """Return a reader of one of the options."""

    def read(sent: Any) -> T:
        if text(sent) not in options:
            raise ValueError
        return convert(sent)

    return read


def clicks(sent: Any) -> ActionButtonValue:
    """Read the clicks on a button; a button that has just appeared sends 0, which is no event."""
    if isinstance(sent, bool) or not isinstance(sent, int) or sent < 0:
        raise TypeError
    return ActionButtonValue(sent)


def uploads(sent: Any) -> tuple[Upload, ...]:
    """Read a list of files that this session uploaded; raise if one is any other file."""
    if not sent:
        return ()
    folder = upload_folder(require_active_session(None))
    return tuple(Upload(uploaded_path(file["datapath"], folder), file["name"]) for file in sent)


def uploaded_path(path: str, folder: Path) -> str:
    """Return the resolved path of a regular file inside a folder; raise if it is anything else."""
    resolved = Path(path).resolve(strict=True)
    if folder.resolve(strict=True) not in resolved.parents or not resolved.is_file():
        raise ValueError(f"{path!r} is no uploaded file")
    return str(resolved)


def on(source: Input[T], action: Callable[[T], object]) -> None:
    """Call a function whenever the user sets an input."""

    @reactive.effect
    @reactive.event(source)
    def act() -> None:
        action(source())


def follow(wanted: Callable[[], T], update: Callable[[T], object]) -> None:
    """Call a function whenever a value changes, but not for its first value."""
    first = True

    @reactive.effect
    def act() -> None:
        nonlocal first
        value = wanted()
        if not first:
            update(value)
        first = False


def mirror(
    source: Input[T], wanted: Callable[[], T], update: Callable[..., object], name: str = "selected"
) -> None:
    """Update an input on the page, by its argument ``name``, whenever a value changes."""

    def set_input(value: T) -> None:
        if source.now() != value:
            update(source.key, **{name: value})

    follow(wanted, set_input)


class Settled(Generic[T]):
    """A reactive value that notifies its readers only when ``same`` says that it changed."""

    def __init__(self, made: Callable[[], T], same: Callable[[T, T], bool] = eq) -> None:
        with reactive.isolate():
            self._value: reactive.Value[T] = reactive.value(made(), name=made.__name__)

        @reactive.effect(priority=10)
        def settle() -> None:
            value = made()
            with reactive.isolate():
                if not same(value, self._value()):
                    self._value.set(value)

    def __call__(self) -> T:
        return self._value()


def show(
    key: str, content: Callable[[], TagChild | Awaitable[TagChild]], *, eager: bool = False
) -> None:
    """Show what a function returns in an output; ``eager`` also computes it while it is hidden."""

    async def output() -> TagChild:
        made = content()
        return await made if isawaitable(made) else made

    # Shiny names an output after its function.
    output.__name__ = key
    renderer = render.ui(output)
    if eager:
        require_active_session(None).output(id=key, suspend_when_hidden=False)(renderer)


class _Data(Renderer[dict[str, Any]]):
    async def transform(self, value: dict[str, Any]) -> Jsonifiable:
        return value


def send(key: str, data: Callable[[], Awaitable[dict[str, Any] | None]]) -> None:
    """Send what a function returns to an output that a script of the page draws."""

    async def output() -> dict[str, Any] | None:
        return await data()

    output.__name__ = key
    require_active_session(None).output(id=key, suspend_when_hidden=False)(_Data()(output))


def offer(key: str, content: Callable[[], str], *, name: Callable[[], str]) -> None:
    """Offer a string as a download; the last part of the key is the suffix of the file."""
    suffix = key.rsplit("_", 1)[1]

    async def made() -> AsyncIterator[str]:
        try:
            yield content()
        except ContextwiseError as error:
            yield f"{error}\n"
        except SilentException:
            yield "there is nothing here yet\n"

    def named() -> str:
        try:
            return f"{file_name(name())}.{suffix}"
        except SilentException:
            return f"nothing.{suffix}"

    made.__name__ = key
    render.download_button(filename=named)(made)


def file_name(text: str) -> str:
    """Return a name that is valid for a file on any machine."""
    return re.sub(r"[^\w.+-]+", "-", text).strip("-.")[:120] or "contextwise"


# -- pieces of the page ----------------------------------------------------------------------------


def parts(shown: Iterable[Part], *, cell: CellContent | None = None) -> HTML:
    """Show parts, one below the other; pairs in tables are buttons."""

    def content(value: Cell, column: Column) -> Markup | None:
        if isinstance(value, PairName):
            return choose_pair(cell_text(value, column.style), value.first, value.second)
        return cell(value, column) if cell else None

    return HTML(as_html(shown, level=3, cell=content))


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
