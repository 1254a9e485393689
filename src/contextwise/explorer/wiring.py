"""How the views are tied to the page: inputs with types, outputs, downloads.

A view is made of functions that take values and give tags. What ties them to Shiny is here, so that
an identifier of the page stands in one place, and a value that comes from a browser is what it says
it is, or is ignored.
"""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Generic, TypeVar

from htmltools import TagChild
from shiny import reactive, render, req
from shiny.render.renderer import Jsonifiable, Renderer
from shiny.session import require_active_session
from shiny.types import SilentException

from contextwise.errors import ContextwiseError

T = TypeVar("T")


@dataclass(frozen=True)
class Input(Generic[T]):
    """Something that a person sets on the page.

    Attributes
    ----------
    key : its identifier there
    read : makes of what the browser sends the value that is meant, or raises
    """

    key: str
    read: Callable[[Any], T]

    def __call__(self) -> T:
        """The value in the present session, as a reactive read: a change runs the reader again.

        Whoever asks is stopped while there is none, or none that makes sense.
        """
        sent = require_active_session(None).input[self.key]()
        try:
            return self.read(sent)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError):
            req(False)
            raise AssertionError from None

    def or_else(self, default: T) -> T:
        """The value, or another one while there is none; whoever asks is told when it changes."""
        return self() if require_active_session(None).input[self.key].is_set() else default

    def now(self, default: T) -> T:
        """The value, for somebody who need not know when it changes."""
        with reactive.isolate():
            return self.or_else(default)


def text(sent: Any) -> str:
    """A value that is a text."""
    if not isinstance(sent, str):
        raise TypeError
    return sent


def texts(sent: Any) -> tuple[str, ...]:
    """A value that is a list of texts; an empty list comes as nothing at all."""
    return tuple(map(text, sent or ()))


def texts_named(*keys: str) -> Callable[[Any], tuple[str, ...]]:
    """A reader of an object that has a text under each of these keys.

    >>> texts_named("variable", "state")({"variable": "A", "state": "0"})
    ('A', '0')
    """
    return lambda sent: tuple(text(sent[key]) for key in keys)


@dataclass(frozen=True)
class Upload:
    """A file that somebody uploaded: where it is here, and what it was called at home."""

    path: str
    name: str


def uploads(sent: Any) -> tuple[Upload, ...]:
    """A value that is a list of uploaded files."""
    return tuple(Upload(file["datapath"], file["name"]) for file in sent or ())


def clicks(sent: Any) -> int:
    """A value that counts clicks; a button that has just appeared has none, and does nothing."""
    if not (isinstance(sent, int) and sent > 0):
        raise ValueError("not clicked")
    return int(sent)


def on(source: Input[T], action: Callable[[T], object]) -> None:
    """Do something whenever a person sets an input."""

    @reactive.effect
    @reactive.event(source)
    def act() -> None:
        action(source())


def follow(wanted: Callable[[], T], update: Callable[[T], object]) -> None:
    """Do something whenever a value changes; its first one is on the page already."""
    first = True

    @reactive.effect
    def act() -> None:
        nonlocal first
        value = wanted()
        if not first:
            update(value)
        first = False


def forgo_traces() -> None:
    """Keep Shiny from looking up where each reactive function is written.

    It reads and parses source files for traces that nobody collects here, which is half of what a
    session needs to start. A Shiny that has no such function is left as it is.
    """
    for name in ("shiny.reactive._reactives", "shiny.session._session"):
        module: Any = sys.modules.get(name)
        if hasattr(module, "extract_source_ref"):
            module.extract_source_ref = lambda function: {}


Content = Callable[[], TagChild | Awaitable[TagChild]]


def show(key: str, content: Content, *, eager: bool = False) -> None:
    """Let an output of the page show what a function gives, whenever that changes.

    Parameters
    ----------
    key : identifier of the output
    content : makes what it shows
    eager : whether it is made even while it is not on screen
    """

    async def output() -> TagChild:
        made = content()
        return await made if isawaitable(made) else made

    output.__name__ = key
    renderer = render.ui(output)
    if eager:
        require_active_session(None).output(id=key, suspend_when_hidden=False)(renderer)


class _Data(Renderer[dict[str, Any]]):
    """An output that a script of the page draws."""

    async def transform(self, value: dict[str, Any]) -> Jsonifiable:
        return value


def send(key: str, data: Callable[[], Awaitable[dict[str, Any] | None]]) -> None:
    """Send what a function gives to an output that a script of the page draws."""

    async def output() -> dict[str, Any] | None:
        return await data()

    output.__name__ = key
    # Made at once, even if it is not on screen yet: it is the first thing to be looked at.
    require_active_session(None).output(id=key, suspend_when_hidden=False)(_Data()(output))


def offer(
    key: str,
    content: Callable[[], str | Awaitable[str]],
    *,
    name: Callable[[], str],
) -> None:
    """Let the session download a text.

    Parameters
    ----------
    key : identifier of the link; its last part is the suffix of the file
    content : makes the text; a `ContextwiseError` says why there is none
    name : what the file is called, without its suffix
    """
    suffix = key.rsplit("_", 1)[1]

    async def made() -> AsyncIterator[str]:
        try:
            found = content()
            yield await found if isawaitable(found) else found
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
    """A text as the name of a file on any machine.

    >>> file_name("a/b: <c>.mn vs d.mn"), file_name("..")
    ('a-b-c-.mn-vs-d.mn', 'contextwise')
    """
    return re.sub(r"[^\w.+-]+", "-", text).strip("-.")[:120] or "contextwise"
