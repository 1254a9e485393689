"""Take screenshots of the explorer in a browser.

Run it from the root of the repository::

    python docs/screenshots.py                        # of bundled examples, into docs/
    python docs/screenshots.py --one                  # of a model learned from bundled rows
    python docs/screenshots.py --models FOLDER --out OTHER true.mn guess.mn other.mn

It needs ``pip install -e '.[explorer]' playwright`` and Chromium, but no network. Pictures are
saved with a palette of 256 colours to keep them small.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

SIZES: Mapping[str, tuple[int, int]] = {"desktop": (1400, 900), "phone": (390, 844)}
THEMES = ("light", "dark")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
PATIENCE = 120_000  # milliseconds to wait for a view


@dataclass(frozen=True)
class Shot:
    """A view to take a picture of.

    Attributes
    ----------
    name : of the file
    query : the address of the view
    there : selector of an element to wait for
    click : selector of an element to click first, if any
    """

    name: str
    query: str
    there: str
    click: str = ""


SHOTS = (
    Shot("overview", "", "#worst table, #worst p"),
    Shot("around", "around={first}", "#neighbours table, #neighbours p"),
    Shot("graph", "tab=graph", "#context_graphs svg.graph"),
    Shot("question", "tab=question&question={question}", "#replies h2"),
)
ONE = (
    Shot("one", "", "#worst td:has-text('contradicted')"),
    Shot("rows", "tab=rows", "#learn_outcome article", click="#learn_begin"),
)
"""The pictures of one model and its rows."""


@contextmanager
def running(arguments: Sequence[str]) -> Iterator[str]:
    """Start an explorer with these arguments and yield its address."""
    command = [sys.executable, "-m", "contextwise", "explore", "--no-browser", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        try:
            if found is None:
                raise SystemExit("the explorer did not start")
            yield found[0]
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


def take(browser: Any, address: str, shot: Shot, *, size: str, theme: str) -> bytes:
    """Return a PNG picture of one view; ``size`` is a key of `SIZES`."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    if shot.click:
        page.locator(shot.click).click()
        page.mouse.move(0, 0)
    page.locator(shot.there).first.wait_for()
    page.wait_for_function("!document.querySelector('.under-way:not(.connecting *)')")
    page.wait_for_timeout(500)  # drawings appear in the next frame
    picture: bytes = page.screenshot()
    context.close()
    return picture


def small(picture: bytes) -> bytes:
    """Reduce the picture to a palette, if Pillow is installed."""
    try:
        from PIL import Image
    except ImportError:
        return picture
    png = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(256, dither=0).save(
        png, "PNG", optimize=True
    )
    return png.getvalue()


def views(models: Sequence[str]) -> list[Shot]:
    """Return the shots, with variables of the models in their addresses."""
    from urllib.parse import quote

    import contextwise

    names = contextwise.compare(models[0], models[1]).domain.names
    question = quote("{} _||_ {} | {}".format(*(f'"{name}"' for name in names[:3])))
    filled = {"first": quote(names[0]), "question": question}
    return [replace(shot, query=shot.query.format(**filled)) for shot in SHOTS]


def learned() -> str:
    """Learn a model from the bundled rows, and return its path."""
    import contextwise

    path = Path(tempfile.mkdtemp()) / "titanic.json"
    contextwise.write(contextwise.learn("titanic", "pair-blocks").model_, path)
    return str(path)


def main() -> None:
    """Take the pictures given on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", nargs="*", default=["survey", "survey-learned"])
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="folder of the models")
    parser.add_argument("--one", action="store_true", help="take pictures of one model instead")
    parser.add_argument("--out", type=Path, default=Path("docs"), help="folder of the pictures")
    parser.add_argument("--prefix", default="explorer", help="prefix of the file names")
    parser.add_argument("--size", choices=SIZES, action="append", help="default: desktop")
    parser.add_argument("--theme", choices=THEMES, action="append", help="default: light")
    parser.add_argument("--view", action="append", help="default: all")
    parser.add_argument("--browser", default=shutil.which("chromium"), help="path of Chromium")
    wanted = parser.parse_args()
    models = [str(wanted.models / name) if wanted.models else name for name in wanted.model]
    from playwright.sync_api import sync_playwright

    wanted.out.mkdir(parents=True, exist_ok=True)
    arguments, shots = models, list[Shot]()
    if wanted.one:
        arguments, shots = [learned(), "--check", "titanic"], list(ONE)
    else:
        shots = views(models)
    with running(arguments) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=wanted.browser, args=list(FLAGS))
        for shot in shots:
            if wanted.view and shot.name not in wanted.view:
                continue
            for size in wanted.size or ["desktop"]:
                for theme in wanted.theme or ["light"]:
                    picture = take(browser, f"{address}?{shot.query}", shot, size=size, theme=theme)
                    marks = [wanted.prefix, shot.name]
                    marks += [size] if size != "desktop" else []
                    marks += [theme] if theme != "light" else []
                    path = wanted.out / f"{'-'.join(marks)}.png"
                    path.write_bytes(small(picture))
                    print(f"{path}: {path.stat().st_size // 1024} KiB", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
