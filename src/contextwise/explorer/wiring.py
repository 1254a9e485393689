"""How the views are tied to the page: inputs with types, outputs, downloads.

A view is made of functions that take values and give tags. What ties them to Shiny is here, so that
an identifier of the page stands in one place, and a value that comes from a browser is what it says
it is, or is ignored.
"""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from pathlib import Path
from typing import Any, Generic, TypeVar

from htmltools import TagChild
from shiny import reactive, render, req
from shiny.render.renderer import Jsonifiable, Renderer
from shiny.session import require_active_session
from shiny.types import ActionButtonValue, SilentException

from contextwise.errors import ContextwiseError
from contextwise.explorer.messages import Messages, quoted, warn

T = TypeVar("T")
INPUTS: dict[str, Input[Any]] = {}
"""All inputs of the page, by their keys."""


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

    def __post_init__(self) -> None:
        INPUTS[self.key] = self

    def __call__(self) -> T:
        """The value in the present session, as a reactive read: a change runs the reader again.

        Whoever asks is stopped while there is none, or none that makes sense.
        """
        sent = require_active_session(None).input[self.key]()
        try:
            return self.read(sent)
        except (OSError, TypeError, ValueError, KeyError, AttributeError):
            if sent is not None:
                warn(f"the value {quoted(sent)} of the input {self.key!r}")
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
    """Read a text."""
    if not isinstance(sent, str):
        raise TypeError
    return sent


def texts(sent: Any) -> tuple[str, ...]:
    """Read a list of texts; the browser sends an empty list as null."""
    if not isinstance(sent, list | tuple | None):
        raise TypeError
    return tuple(map(text, sent or ()))


def texts_named(*keys: str) -> Callable[[Any], tuple[str, ...]]:
    """Return a reader of an object that has a text under each key.

    >>> texts_named("variable", "state")({"variable": "A", "state": "0"})
    ('A', '0')
    """
    return lambda sent: tuple(text(sent[key]) for key in keys)


def flag(sent: Any) -> bool:
    """Read True or False."""
    if not isinstance(sent, bool):
        raise TypeError
    return sent


def choice(options: Mapping[str, object], of: Callable[[str], T]) -> Callable[[Any], T]:
    """Return a reader of one of the options; ``of`` converts its key.

    >>> choice({"99": "99 draws"}, int)("99")
    99
    """

    def read(sent: Any) -> T:
        if text(sent) not in options:
            raise ValueError
        return of(sent)

    return read


def whole(sent: Any) -> int:
    """Read a number that was chosen from a list; it is sent as digits."""
    if not (isinstance(sent, str) and sent.isascii() and sent.isdecimal() and len(sent) < 20):
        raise ValueError
    return int(sent)


@dataclass(frozen=True)
class Upload:
    """A file that somebody uploaded: where it is here, and what it was called at home."""

    path: str
    name: str


def uploads(sent: Any) -> tuple[Upload, ...]:
    """Read a list of files that this session uploaded; raise if one is any other file."""
    if not sent:
        return ()
    session: Any = require_active_session(None)
    folder = Path(session._file_upload_manager._basedir)
    return tuple(Upload(uploaded_path(file["datapath"], folder), file["name"]) for file in sent)


def uploaded_path(path: str, folder: Path) -> str:
    """Return the resolved path of a regular file inside a folder; raise if it is anything else."""
    resolved = Path(path).resolve(strict=True)
    if folder.resolve(strict=True) not in resolved.parents or not resolved.is_file():
        raise ValueError(f"{path!r} is no uploaded file")
    return str(resolved)


def clicks(sent: Any) -> ActionButtonValue:
    """Read the clicks on a button; a button that has just appeared sends 0, which is no event."""
    if isinstance(sent, bool) or not isinstance(sent, int) or sent < 0:
        raise TypeError
    return ActionButtonValue(sent)


def checked_messages() -> Messages:
    """Return what checks the messages of a new connection."""

    def reader(key: str) -> Callable[[Any], object] | None:
        source = INPUTS.get(key)
        return None if source is None else source.read

    files = frozenset(key for key, source in INPUTS.items() if source.read is uploads)
    return Messages(reader, files)


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
