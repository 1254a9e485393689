"""Check that a page is well-formed and fetches nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from contextwise.report.html import static

VOID = {"meta", "br"}


class Reader(HTMLParser):
    """A reader that insists on every element being closed, and remembers what it saw."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def assert_self_contained(page: str) -> None:
    """No script but our own, and nothing that a browser would fetch."""
    reader = Reader(page)
    assert page.count("<script>") == ('class="map"' in page) + ("<details" in page)
    assert reader.tags.count("script") == page.count("<script>") + page.count('class="map"')
    page = page.replace(static("heatmap.js"), "")
    assert not {"link", "iframe", "object", "embed", "form"} & set(reader.tags)
    for key, value in reader.attributes:
        assert not key.startswith("on")
        if key in ("href", "src", "xlink:href"):
            assert value is not None
            assert value.startswith(("#", "data:image/png;base64,"))
    without_namespace = page.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?://|//\w+\.|@import|url\(", without_namespace)
