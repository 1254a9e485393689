"""Connect the views to the page: inputs with types, outputs, downloads.

A view consists of functions from values to HTML. This module connects them to Shiny. Each input has
a reader, which raises if a value from the browser is invalid; see `contextwise.explorer.server`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from operator import eq
from pathlib import Path
from typing import Any, Generic, TypeVar

from htmltools import TagChild
from shiny import reactive, render, req
from shiny.render.renderer import Jsonifiable, Renderer
from shiny.session import require_active_session
from shiny.types import ActionButtonValue, SilentException

from contextwise.errors import ContextwiseError
from contextwise.explorer.job import Upload
from contextwise.explorer.shiny_private import upload_folder

T = TypeVar("T")
INPUTS: dict[str, Input[Any]] = {}  # all inputs of the page, by their keys
SHOWN = 60  # characters of an invalid value in the terminal


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
        try:
            return self.read(sent)
        except (OSError, TypeError, ValueError, KeyError, AttributeError):
            warn(f"the value {quoted(sent)} of the input {self.key!r}")
            req(False)
            raise AssertionError from None

    def now(self) -> T:
        """Return the value without a reactive dependency."""
        with reactive.isolate():
            return self()


def text(sent: Any) -> str:
    if not isinstance(sent, str):
        raise TypeError
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
