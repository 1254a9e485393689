"""The explorer as a server on this machine: one port, no strangers, no large uploads."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import uvicorn

from contextwise.errors import ContextwiseError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_UPLOAD = 64 << 20
TOO_LARGE = f"files up to {LARGEST_UPLOAD >> 20} MiB can be uploaded"
HERE = ("127.0.0.1", "localhost", "::1")


def serve(
    app: ASGIApp, *, host: str, port: int, open_browser: bool, tell: Callable[[str], None]
) -> None:
    """Run the page until Ctrl-C.

    Parameters
    ----------
    app : the application
    host : the name or number under which it listens
    port : where it listens; 0 is any free one
    open_browser : whether to show it at once
    tell : is told its address once it answers
    """
    listening = _listen(host, port)
    shown = "127.0.0.1" if host in ("", "0.0.0.0") else host
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{listening.getsockname()[1]}/"
    config = uvicorn.Config(
        guarded(app, host),
        log_level="error",
        timeout_graceful_shutdown=1,
        ws_max_size=2**20,
        ws_per_message_deflate=False,  # on one machine, packing costs more than it saves
    )

    async def ready() -> None:
        _announce(address, open_browser, tell)
        await ask_once(app)

    server = _Server(config, ready)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server that says when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await self._ready()


def _announce(address: str, open_browser: bool, tell: Callable[[str], None]) -> None:
    tell(address)
    if open_browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


async def ask_once(app: ASGIApp) -> None:
    """Ask for the page before anybody does, while the browser starts.

    What makes the page is loaded then, and what it shows has been begun.
    """
    scope: Scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/",
        "root_path": "",
        "query_string": b"",
        "headers": [],
    }

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        """Nobody reads it."""

    await app(scope, receive, send)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ContextwiseError(f"cannot listen on {host} port {port}: {reason}") from None
    return listening


def guarded(app: ASGIApp, host: str) -> ASGIApp:
    """The application, for requests that are meant for it.

    A page of another site that is open in the same browser can send requests to this machine. It
    cannot choose the ``Origin`` header that the browser adds, nor, under a name that it has
    pointed at this machine, the ``Host`` header. An upload without a length, or with one above the
    limit, is refused before it is read; one that is longer than it says is cut off.
    """
    hosts = {*HERE, host} if host in HERE else None

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        refused = None if scope["type"] == "lifespan" else _refusal(scope, hosts)
        if refused is not None:
            await _refuse(scope, send, *refused)
        elif scope["type"] == "http":
            await _within_limit(app, scope, receive, send)
        else:
            await app(scope, receive, send)

    return guard


def _refusal(scope: Scope, hosts: set[str] | None) -> tuple[int, str] | None:
    """Why a request is refused, as a status and a sentence; None if it is not."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    try:
        named = urlsplit(f"//{headers.get('host', '')}")
        origin = urlsplit(headers["origin"]).netloc if "origin" in headers else named.netloc
    except ValueError:
        return 400, "the headers of this request make no sense"
    if hosts is not None and named.hostname not in hosts:
        return 403, "this page is for the machine it runs on"
    if origin != named.netloc:
        return 403, "this request comes from another site"
    if scope["type"] == "http" and scope["method"] == "POST":
        length = headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LARGEST_UPLOAD:
            return 413, TOO_LARGE
    return None


async def _within_limit(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Run the application; if more bytes arrive than the limit allows, it sees the client leave.

    A header can lie about the length, or be overruled by chunked encoding: what counts is what
    arrives.
    """
    arrived = 0

    async def counted() -> Message:
        nonlocal arrived
        message = await receive()
        arrived += len(message.get("body", b""))
        return {"type": "http.disconnect"} if arrived > LARGEST_UPLOAD else message

    async def answer(message: Message) -> None:
        if arrived <= LARGEST_UPLOAD:
            await send(message)

    try:
        await app(scope, counted, answer)
    except Exception:
        if arrived <= LARGEST_UPLOAD:
            raise
    if arrived > LARGEST_UPLOAD:
        await _refuse(scope, send, 413, TOO_LARGE)


async def _refuse(scope: Scope, send: Send, status: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    kind, closing = (b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")
    await send({"type": "http.response.start", "status": status, "headers": [kind, closing]})
    await send({"type": "http.response.body", "body": sentence.encode()})
