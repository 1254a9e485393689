"""Check a built site: internal links work, and no page loads anything from another site.

Run it on the folder that Sphinx wrote::

    python docs/check_site.py docs/_build/html

Links to other sites are allowed; scripts, styles, fonts and pictures from them are not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""Elements that load a file, and the attribute with its address."""

NOT_LOADED = {"canonical", "next", "prev", "author", "search", "index"}
"""Relations of a ``link`` that load nothing."""


@dataclass
class Page(HTMLParser):
    """The anchors, links and loaded files of a page."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.anchors.update(attributes[name] for name in ("id", "name") if name in attributes)
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        address = attributes.get(LOADS.get(tag, ""))
        if address is not None and attributes.get("rel") not in NOT_LOADED:
            self.loads.append(address)


def read_page(path: Path) -> Page:
    """Parse a page."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def problems(folder: Path) -> Iterator[str]:
    """Yield the problems of the pages in a folder, one line each."""
    folder = folder.resolve()
    pages = {path: read_page(path) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(folder)
        for target in page.loads:
            if urlsplit(target).scheme in ("http", "https") or target.startswith("//"):
                yield f"{name}: loads {target}"
        for link in (*page.links, *page.loads):
            if not _leads_somewhere(path, link, pages):
                yield f"{name}: leads nowhere: {link}"


def _leads_somewhere(path: Path, link: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if parts.fragment and target in pages:
        return unquote(parts.fragment) in pages[target].anchors
    return target.exists()


def main() -> None:
    """Check the folder that the command line names."""
    lines = list(problems(Path(sys.argv[1])))
    print(*lines, sep="\n")
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
