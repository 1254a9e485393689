"""Look at a built site: links inside it lead somewhere, and no page loads anything from outside.

Run it on the folder that Sphinx wrote::

    python docs/check_site.py docs/_build/html

Ordinary links to other sites are fine; scripts, styles, fonts and pictures from there are not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""Elements that make a browser load something, and the attribute that says what."""

MERELY_SAID = {"canonical", "next", "prev", "author", "search", "index"}
"""Relations of a ``link`` that load nothing."""


@dataclass
class Page(HTMLParser):
    """The anchors of a page, where it links to, and what it loads."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.anchors.update(said[name] for name in ("id", "name") if name in said)
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
        if tag in LOADS and LOADS[tag] in said and said.get("rel") not in MERELY_SAID:
            self.loads.append(said[LOADS[tag]])


def read_page(path: Path) -> Page:
    """A page as the browser meets it."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def problems(folder: Path) -> Iterator[str]:
    """What is wrong with the pages of a folder, one line each."""
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
    found = list(problems(Path(sys.argv[1])))
    print(*found, sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
