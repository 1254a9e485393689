"""Serve the explorer on one port, behind a secret address.

Every request is checked before the application sees it. The address contains a random token, so
that other users of the machine cannot connect. A page of another site that is open in the same
browser cannot choose the ``Origin`` and ``Host`` headers, so these have to match as well. Uploads
are limited.

Shiny trusts its client: a forged message can name any file as an upload. `checked_message` is the
one place that checks what a page sends: known inputs, each with a value that its reader accepts.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import tempfile
import threading
import webbrowser
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import uvicorn

from contextwise.errors import ContextwiseError
from contextwise.explorer.controls import INPUTS, quoted, uploads, warn
from contextwise.explorer.controls import text as read_text
from contextwise.explorer.shiny_private import CLIENT, CLIENT_TEXT, SESSION

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_UPLOAD = 64 << 20
LARGEST_SESSION = 1 << 30  # bytes of all uploads of one session
TOO_LARGE = f"files up to {LARGEST_UPLOAD >> 20} MiB can be uploaded"
HERE = ("127.0.0.1", "localhost", "::1")
HEADERS = [(b"referrer-policy", b"same-origin"), (b"x-frame-options", b"DENY")]


def serve(
    app: ASGIApp, *, host: str, port: int, open_browser: bool, tell: Callable[[str], None]
) -> None:
    """Run the page until Ctrl-C; ``tell`` gets the address, and port 0 is any free port."""
    listening = _listen(host, port)
    token = secrets.token_hex(16)
    # A server can listen on all addresses, but a browser needs one.
    shown = "127.0.0.1" if host in ("", "0.0.0.0") else host
    number = listening.getsockname()[1]
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{number}/{token}/"
    with ExitStack() as stack:

        async def ready() -> None:
            tell(address)
            if open_browser:
                page = _redirect(address, Path(stack.enter_context(tempfile.TemporaryDirectory())))
                threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()

        server = Server(guarded(app, host=host, token=token), ready)
        stack.enter_context(suppress(KeyboardInterrupt))
        server.run(sockets=[listening])


class Server(uvicorn.Server):
    """A server that calls a function once it answers."""

    def __init__(self, app: ASGIApp, ready: Callable[[], Awaitable[None]]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_level="error",
                timeout_graceful_shutdown=1,
                ws_max_size=2**20,
                ws_per_message_deflate=False,  # on one machine, packing costs more than it saves
            )
        )
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await self._ready()


def _redirect(address: str, folder: Path) -> str:
    """Write a page that leads to the address, and return its own address.

    Other users can see the arguments of the browser's process, but cannot read this file.
    """
    page = folder / "explorer.html"
    page.write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">'
        f'<a href="{address}">Open the explorer</a>\n'
    )
    return page.as_uri()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM)
        # Else the port stays taken for a while after the last run.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ContextwiseError(f"cannot listen on {host} port {port}: {reason}") from None
    return listening


def guarded(app: ASGIApp, *, host: str, token: str) -> ASGIApp:
    """Return the application behind its checks: token, headers, size of uploads, messages."""
    hosts = {*HERE, host} if host in HERE else None
    uploaded: Counter[str] = Counter()

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        refusal = _refusal(scope, hosts, token)
        if refusal is not None:
            await _refuse(scope, send, *refusal)
            return
        path = scope["path"].removeprefix(f"/{token}")
        if not path:
            await _refuse(scope, send, 307, "add a slash", (b"location", f"/{token}/".encode()))
            return
        inner = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}
        if scope["type"] == "websocket":
            await app(inner, _checked(receive), send)
        else:
            await _within_limit(app, inner, receive, send, uploaded)

    return guard


def _refusal(scope: Scope, hosts: set[str] | None, token: str) -> tuple[int, str] | None:
    """Return a status and a sentence if a request is refused."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    try:
        named = urlsplit(f"//{headers.get('host', '')}")
        origin = urlsplit(headers["origin"]).netloc if "origin" in headers else None
    except ValueError:
        return 400, "cannot read the headers of this request"
    # Another site could let its own name point to this machine (DNS rebinding).
    if hosts is not None and named.hostname not in hosts:
        return 403, "this page is for the machine it runs on"
    changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
    if origin != named.netloc and (changes or origin is not None):
        return 403, "this request comes from another site"
    first = scope["path"].split("/", 2)[1:2]
    # Takes the same time for every wrong token, so it cannot be guessed piece by piece.
    if not hmac.compare_digest("".join(first).encode(), token.encode()):
        return 403, "wrong or missing token; open the address that contextwise explore printed"
    if scope["type"] == "http" and scope["method"] == "POST":
        length = headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LARGEST_UPLOAD:
            return 413, TOO_LARGE
    return None


def _checked(receive: Receive) -> Receive:
    """Pass on the valid messages of a WebSocket."""

    async def valid() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            if text := checked_message(message.get("text")):
                return {"type": "websocket.receive", "text": text}

    return valid


async def _within_limit(
    app: ASGIApp, scope: Scope, receive: Receive, send: Send, uploaded: Counter[str]
) -> None:
    """Run the application; if more bytes arrive than allowed, it sees the client leave.

    A header can lie about the length, or be overruled by chunked encoding, so the bytes that
    arrive are counted.
    """
    session = SESSION.match(scope["path"])
    key = session[1] if session else ""
    arrived, started = 0, False

    def exceeded() -> bool:
        return arrived > LARGEST_UPLOAD or uploaded[key] > LARGEST_SESSION

    async def counted() -> Message:
        nonlocal arrived
        message = await receive()
        size = len(message.get("body", b""))
        arrived += size
        if size:
            uploaded[key] += size
        return {"type": "http.disconnect"} if exceeded() else message

    async def answer(message: Message) -> None:
        nonlocal started
        if not exceeded():
            started = True
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *HEADERS]}
            await send(message)

    try:
        await app(scope, counted, answer)
    except Exception as error:
        if not exceeded():
            if not session:
                raise
            warn(f"an upload that failed: {quoted(error)}")
            if not started:
                await _refuse(scope, send, 400, "the upload failed")
            return
    if exceeded():
        await _refuse(scope, send, 413, TOO_LARGE)


async def _refuse(
    scope: Scope, send: Send, status: int, sentence: str, *headers: tuple[bytes, bytes]
) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    kind, closing = (b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")
    start = {"type": "http.response.start", "status": status, "headers": [kind, closing, *headers]}
    await send(start)
    await send({"type": "http.response.body", "body": f"{sentence}\n".encode()})


# -- messages --------------------------------------------------------------------------------------


def checked_message(text: str | None) -> str | None:
    """Return what the page may send of a message; print a line about whatever is ignored."""
    try:
        message: Any = json.loads(text or "")
    except (ValueError, RecursionError):
        message = None
    match message:
        case {"method": "init" | "update" as method, "data": dict(data)}:
            # Drop the types after colons: Shiny's conversions may raise, and readers do without.
            plain = {key.partition(":")[0]: value for key, value in data.items()}
            values = {name: value for name, value in plain.items() if _is_valid(name, value)}
            return json.dumps({"method": method, "data": values})
        case {"method": "uploadInit", "tag": int(), "args": [[*files]]} if _are_named(files):
            return text
        case {"method": "uploadEnd", "tag": int(), "args": [str(), str(key)]} if _takes_files(key):
            return text
    warn(f"a message: {quoted(text)}")
    return None


def _is_valid(name: str, value: object) -> bool:
    """Return whether the page may set an input to a value; its reader checks the type."""
    try:
        if name.startswith(CLIENT_TEXT):
            read_text(value)
        elif not name.startswith(CLIENT):
            source = INPUTS[name]
            if value is not None:  # a selector without options sends null
                if _takes_files(name):
                    raise ValueError("only an upload sets it")
                source.read(value)
    except Exception:  # a reader may raise anything on a value of the wrong type
        warn(f"the value {quoted(value)} of the input {quoted(name)}")
        return False
    return True


def _takes_files(name: str) -> bool:
    return name in INPUTS and INPUTS[name].read is uploads


def _are_named(files: list[Any]) -> bool:
    for file in files:
        match file:
            case {"name": str(), "size": int(), "type": str()}:
                continue
        return False
    return True
