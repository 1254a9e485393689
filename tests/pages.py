"""The explorer in a real browser, for tests: a running page, a visit to it, and what it shows.

The page runs as the command runs it. Every request that leaves this machine, every error of a
script, and every traceback in the terminal fails the test.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright for Python")
from playwright.sync_api import Browser, Page, expect  # noqa: E402

__all__ = ["Browser", "Page", "expect"]

CHROMIUM = shutil.which("chromium")
NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: Debian's chromium")
PATIENCE = 30_000  # milliseconds; a busy machine is slow, not wrong
PLAIN_BROWSER = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""A browser that asks for nothing by itself."""
FLAGS = [*PLAIN_BROWSER, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
AXE = {"resultTypes": ["violations"], "preload": False}


@contextmanager
def explorer(temporary: Path, *arguments: str) -> Iterator[str]:
    """The address of a running explorer, which keeps its temporary files in a folder."""
    command = [sys.executable, "-m", "contextwise", "explore", "--no-browser", *arguments]
    said = temporary / "stderr.txt"
    with (
        said.open("w") as stderr,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env={**os.environ, "TMPDIR": str(temporary)},
        ) as server,
    ):
        assert server.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", server.stdout.readline())
        try:
            assert found is not None
            yield found[0]
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(20) == 0
    assert said.read_text() == ""


@contextmanager
def launched(flags: Sequence[str] = FLAGS) -> Iterator[Browser]:
    """A browser."""
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=[*flags])
        yield chromium
        chromium.close()


@contextmanager
def visit(browser: Browser, address: str, **options: Any) -> Iterator[Page]:
    """Open a new session at an address; an error on the page fails the test."""
    trouble: list[str] = []
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 1600}, **options})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("http://127.0.0.1:", "data:", "blob:"))
            else trouble.append(request.url)
        ),
    )
    page.on(  # failed requests too; a missing icon is reported only here
        "console", lambda said: trouble.append(said.text) if said.type == "error" else None
    )
    page.goto(address)
    yield page
    context.close()
    assert not trouble


def tab(page: Page, name: str) -> None:
    """Turn to a view of the explorer."""
    head = page.get_by_role("tab", name=name)
    head.click()
    expect(head).to_have_attribute("aria-selected", "true")


def shows(page: Page, selector: str, text: str | re.Pattern[str]) -> None:
    expect(page.locator(selector)).to_contain_text(text, timeout=PATIENCE)


def settle(page: Page) -> None:
    """Wait until nothing moves any more: the server is idle, no work is under way, fonts are there.

    Hidden outputs do not count: the server updates them when they are shown again. Whoever measures
    where something is waits first for what comes last, and then for this.
    """
    page.wait_for_function(
        """() => !document.documentElement.classList.contains('shiny-busy')
          && ![...document.querySelectorAll('.under-way:not(.connecting *), .recalculating')].some(
            (output) => output.checkVisibility())
          && document.fonts.status === 'loaded'"""
    )


def ungroup(page: Page) -> None:
    """Draw the variables in the order of the domain, and wait for it."""
    page.get_by_label("Group similar variables").uncheck()
    page.wait_for_function(
        "document.querySelector('#heat').heatMap?.data?.order.every((v, k) => v === k)"
    )


def zoomed(page: Page, condition: str) -> None:
    """Wait until the zoom of the heat map is what a condition on it says."""
    page.wait_for_function(f"document.querySelector('#heat').heatMap.view.zoom {condition}")


def centre(page: Page, first: str, second: str) -> dict[str, float]:
    """Return the middle of a cell of the heat map, and the size of the cell."""
    page.wait_for_function("document.querySelector('#heat').heatMap?.side > 0")
    settle(page)
    script = "([a, b]) => document.querySelector('#heat').heatMap.cellCentre(a, b)"
    found: dict[str, float] = page.evaluate(script, [first, second])
    return found


def click_cell(page: Page, first: str, second: str) -> None:
    place = centre(page, first, second)
    page.mouse.click(place["x"], place["y"])


def shows_pair(page: Page, first: str, second: str) -> None:
    expect(page.locator("#first")).to_have_value(first, timeout=PATIENCE)
    expect(page.locator("#second")).to_have_value(second)


def marked(page: Page) -> list[str]:
    found: list[str] = page.evaluate("document.querySelector('#heat').heatMap.chosen")
    return found


def serious_findings(page: Page) -> list[tuple[str, list[str]]]:
    """Return the serious and critical findings of axe-core."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs axe-core"
    ).Axe()
    found = axe.run(page, options=AXE).response["violations"]
    return [
        (one["id"], [node["html"][:200] for node in one["nodes"]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
