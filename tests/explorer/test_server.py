"""Access checks and size limits of the explorer's server."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
from shiny import reactive

from contextwise.explorer import app
from contextwise.explorer.server import LARGEST_UPLOAD, guarded

# -- who may connect -----------------------------------------------------------------------------


async def _welcome(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "welcome"})


def _answer(scope: dict[str, Any], host: str = "127.0.0.1") -> Any:
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError

    async def ask() -> None:
        await guarded(_welcome, host=host, token="T")(scope, receive, send)

    asyncio.run(ask())
    return sent[0].get("status", sent[0]["type"])


def _request(method: str = "GET", kind: str = "http", **headers: str) -> dict[str, Any]:
    pairs = [(key.replace("_", "-").encode(), value.encode()) for key, value in headers.items()]
    return {"type": kind, "method": method, "headers": pairs, "path": "/T/x"}


def test_no_source_is_read_where_a_reactive_function_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app.explorer()

    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(inspect, "getsourcelines", never)
    reactive.calc(lambda: 1)
    reactive.effect(lambda: None)


def test_other_sites_other_names_and_large_uploads_are_refused() -> None:
    here = "127.0.0.1:8000"
    same = f"http://{here}"
    assert _answer(_request(host=here)) == "welcome"
    assert _answer(_request(host="localhost:8000")) == "welcome"
    assert _answer(_request(host="evil.example:8000")) == 403
    assert _answer(_request(host=here, origin="http://evil.example")) == 403
    assert _answer(_request(kind="websocket", host=here, origin=same)) == "welcome"
    assert _answer(_request(kind="websocket", host=here)) == "websocket.close"
    refused = _request(kind="websocket", host=here, origin="http://evil.example")
    assert _answer(refused) == "websocket.close"
    assert _answer(_request(host="name.example:80"), host="0.0.0.0") == "welcome"
    assert _answer(_request(host="name.example:80") | {"path": "/"}, host="0.0.0.0") == 403
    length = str(LARGEST_UPLOAD + 1)
    assert _answer(_request("POST", host=here, origin=same, content_length="10")) == "welcome"
    assert _answer(_request("POST", host=here, content_length="10")) == 403
    assert _answer(_request("POST", host=here, origin=same, content_length=length)) == 413
    assert _answer(_request("POST", host=here, origin=same)) == 413


@pytest.mark.parametrize("headers", [{"host": "["}, {"host": "127.0.0.1", "origin": "http://["}])
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_headers_that_make_no_sense_are_refused(headers: dict[str, str], host: str) -> None:
    assert _answer(_request(**headers), host=host) == 400


def test_bytes_are_counted_as_they_arrive_whatever_the_header_says() -> None:
    """Chunked encoding overrules a length: a request with both may be of any size."""
    part = LARGEST_UPLOAD // 4 + 1
    left = [part] * 8
    read = 0
    sent: list[dict[str, Any]] = []

    async def upload(scope: Any, receive: Any, send: Any) -> None:
        nonlocal read
        while (message := await receive())["type"] == "http.request":
            read += len(message["body"])
        raise RuntimeError("the client left")

    async def receive() -> Any:
        return {"type": "http.request", "body": bytes(left.pop()), "more_body": bool(left)}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = {"host": "127.0.0.1", "origin": "http://127.0.0.1", "content_length": "5"}
    request = _request("POST", **headers, transfer_encoding="chunked")

    async def ask() -> None:
        await guarded(upload, host="127.0.0.1", token="T")(request, receive, send)

    asyncio.run(ask())
    assert sent[0]["status"] == 413
    assert read <= LARGEST_UPLOAD
