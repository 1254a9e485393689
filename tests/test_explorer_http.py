"""The explorer without a browser: links, jobs in their processes, clicks, and who may connect."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from contextwise import compare, examples
from contextwise.explorer import jobs
from contextwise.explorer.link import Link
from contextwise.explorer.overview import cell_pair
from contextwise.explorer.process import Job, WorkError
from contextwise.explorer.scatter import Point, Series, scatter_svg
from contextwise.explorer.serve import LARGEST_UPLOAD, guarded
from contextwise.explorer.state import bundled, fitting, likely
from contextwise.report.heat import HeatMap, heat_map
from hard import hard_models


def run(function: Callable[..., Any], *arguments: Any, seconds: float = 60) -> Any:
    return asyncio.run(Job(function, *arguments, seconds=seconds).result())


# -- jobs ----------------------------------------------------------------------------------------


def test_a_job_gives_what_the_function_gives() -> None:
    six, guess = examples.load("six"), examples.load("six-guess")
    found = run(jobs.compare_all, six, {"a": guess}, "fully-contextualized", 60.0)
    assert found["a"].confusion == compare(six, guess).confusion


def test_a_user_s_error_comes_back_as_its_message() -> None:
    with pytest.raises(WorkError, match="unknown variable 'Y'"):
        run(jobs.answers, [examples.load("six")], "X0 _||_ Y", 10.0)


def test_a_job_that_is_late_leaves_no_process() -> None:
    true, guess = hard_models()
    job = Job(jobs.compare_all, true, {"a": guess}, "fully-contextualized", 600.0, seconds=2)
    with pytest.raises(WorkError, match="within 2 seconds"):
        asyncio.run(job.result())
    pid = job._process.pid
    for _ in range(200):
        if not _alive(pid):
            break
        time.sleep(0.05)
    assert not _alive(pid)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# -- links and choices ---------------------------------------------------------------------------


def test_a_link_survives_signs_and_nonsense() -> None:
    link = Link(
        true="given:0",
        guesses=("given:1", "example:six"),
        contexts="canonical",
        tab="context",
        pair=("a&b", "<i>"),
        context='"a=b"=1 & c=2',
        question="A _||_ B | C",
    )
    assert Link.parse("?" + link.query()) == link
    assert Link.parse("tab=no&contexts=none&first=x&%%%") == Link()


def test_guesses_are_models_over_the_same_variables() -> None:
    entries = {entry.key: entry for entry in bundled()}
    true = entries["example:lung"]
    found = fitting(true, entries.values())
    assert [entry.key for entry in found] == ["example:lung-learned"]
    assert likely(true, found) == ["example:lung-learned"]


def test_a_click_near_a_lone_error_finds_it_among_many_variables() -> None:
    shares = np.full((300, 300), np.nan)
    shares[200, 100] = 0.5
    heat = HeatMap(tuple(f"v{k}" for k in range(300)), shares)
    assert cell_pair(heat, 202, 98) == ("v200", "v100")
    assert cell_pair(heat, 5, 5) is None
    assert cell_pair(heat, -1, 5) is None
    few = heat_map(compare(examples.load("six"), examples.load("six-guess")))
    assert cell_pair(few, 5, 4) == ("X5", "X4")


def test_tips_of_a_scatter_are_escaped() -> None:
    text = scatter_svg(
        [Series("fp", [Point(1, 2, 1.5, 2.5, "<b>")])], x_label="x<", y_label="y", title="t&"
    )
    assert "<b>" not in text
    assert "&lt;b&gt;" in text


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
        await guarded(_welcome, host)(scope, receive, send)

    asyncio.run(ask())
    return sent[0].get("status", sent[0]["type"])


def _request(method: str = "GET", kind: str = "http", **headers: str) -> dict[str, Any]:
    pairs = [(key.replace("_", "-").encode(), value.encode()) for key, value in headers.items()]
    return {"type": kind, "method": method, "headers": pairs}


def test_other_sites_other_names_and_large_uploads_are_refused() -> None:
    here = "127.0.0.1:8000"
    assert _answer(_request(host=here)) == "welcome"
    assert _answer(_request(host="localhost:8000")) == "welcome"
    assert _answer(_request(host="evil.example:8000")) == 403
    assert _answer(_request(host=here, origin="http://evil.example")) == 403
    assert _answer(_request(kind="websocket", host=here, origin=f"http://{here}")) == "welcome"
    refused = _request(kind="websocket", host=here, origin="http://evil.example")
    assert _answer(refused) == "websocket.close"
    assert _answer(_request(host="name.example:80"), host="0.0.0.0") == "welcome"
    assert _answer(_request("POST", host=here, content_length="10")) == "welcome"
    assert _answer(_request("POST", host=here, content_length=str(LARGEST_UPLOAD + 1))) == 413
    assert _answer(_request("POST", host=here)) == 413
