"""The explorer as a server: who may connect, how much may arrive, and files of any content."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from shiny import reactive

from contextwise.errors import ContextwiseError
from contextwise.explorer import app
from contextwise.explorer.results import read_results
from contextwise.explorer.server import LARGEST_UPLOAD, ask_once, guarded
from contextwise.explorer.view import View
from contextwise.support.store import Ended, Store, _sum

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


def test_the_page_is_asked_for_once_at_the_start_and_begins_its_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[View] = []
    monkeypatch.setattr(app, "begin_ahead", lambda view, *_: begun.append(view))
    asyncio.run(ask_once(app.explorer()))
    assert begun == [View()]


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


# -- results that anybody may have made ----------------------------------------------------------

COLUMNS = ("structure", "side", "size", "parameters", "percentage", "kl")
GOOD = dict(zip(COLUMNS, (1, "fp", 100, 0, 10.0, 0.5), strict=True))


def _results(folder: Path, *records: object) -> str:
    """Write a store with these records; a text takes the place of the whole list."""
    text = records[0] if isinstance(records[0], str) else json.dumps(records)
    with Store(folder, {}) as store:
        store.add(Ended("unit", 0.0, 1))
    row = ("unit", 0.0, 1, None, text)
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute("UPDATE units SET records = ?, checksum = ?", (text, _sum(*row)))
    return str(store.path)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("value", ["<b>", None, [], float("inf")])
def test_results_without_numbers_are_refused_in_words(
    tmp_path: Path, column: str, value: object
) -> None:
    path = _results(tmp_path, GOOD, GOOD | {column: value})
    with pytest.raises(ContextwiseError, match=rf"mine\.sqlite: row 2: {column} is "):
        read_results(path, name="mine.sqlite")


@pytest.mark.parametrize("record", [None, "text", "\xff", "[1]", "[" * 100_000, "1" * 5000])
def test_results_that_are_not_records_are_refused(tmp_path: Path, record: object) -> None:
    with pytest.raises(ContextwiseError, match=r"^mine\.sqlite: not the results of a run"):
        read_results(_results(tmp_path, record), name="mine.sqlite")


def test_results_of_a_run_are_read_where_they_are(tmp_path: Path) -> None:
    path = _results(tmp_path, GOOD)
    for place in (path, str(tmp_path)):
        assert read_results(place, name="run")[0]["kl"] == 0.5
    assert list(tmp_path.iterdir()) == [tmp_path / "results.sqlite"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n1\n", "mine.csv:2: these are not the results"),
        (",".join(COLUMNS) + "\n1,fp,100,0,10,nan\n", "mine.csv:2: kl is 'nan'"),
        (",".join(COLUMNS) + "\n1,fp,100,0,inf,1\n", "mine.csv:2: percentage is 'inf'"),
        (",".join(COLUMNS) + "\n1,fp,1e999,0,1,1\n", "mine.csv:2: size is '1e999'"),
        (",".join(COLUMNS) + "\n1,fp,100\n", "mine.csv:2: parameters is ''"),
        (",".join(COLUMNS) + f"\n{'1' * 200_000},fp,100,0,1,1\n", "not a CSV file: field larger"),
        (
            ",".join(COLUMNS) + "\n1,fp,100,0,10,1\n1,fp,100,1,10,1\n2,fp,100,0,20,1\n",
            "structure 2 (false positives, 100 rows) has no row for the parameter set 1",
        ),
        ("", "there are no results in it"),
    ],
)
def test_rows_that_make_no_sense_are_refused_with_their_line(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "rows").write_text(text)
    with pytest.raises(ContextwiseError, match=re.escape(message)):
        read_results(str(tmp_path / "rows"), name="mine.csv")
