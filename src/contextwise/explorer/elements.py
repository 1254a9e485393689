"""The pieces that views are made of: tables, figures, legends, downloads.

Texts are handed to tags as texts, never as HTML, so a name with ``<`` in it is shown as it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from inspect import isawaitable
from typing import Any

from htmltools import HTML, Tag, TagChild, tags
from shiny import render, ui

from contextwise.report.colours import COLOURS, DASHES, WORDS, Agreement

Content = Callable[[], str | Awaitable[str]]


def svg(text: str, *, name: str = "") -> Tag:
    """A picture that one of our own writers has made (they escape what they are given)."""
    return tags.div(HTML(text), data_map=name or None, class_="wide")


def numbers(*cells: tuple[str, str]) -> Tag:
    """Figures side by side, each with its name."""
    return tags.div(
        *(tags.div(tags.b(value), tags.span(label)) for label, value in cells),
        class_="numbers-grid",
    )


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[TagChild]],
    *,
    caption: str,
    numeric: Iterable[int] = (),
    header_column: bool = False,
) -> Tag:
    """A table; ``numeric`` columns stand to the right."""
    right = set(numeric)

    def cell(column: int, content: TagChild) -> Tag:
        own = "number" if column in right else None
        if header_column and column == 0:
            return tags.th(content, scope="row", class_=own)
        return tags.td(content, class_=own)

    return _table(
        caption,
        [
            tags.th(title, scope="col", class_="number" if k in right else None)
            for k, title in enumerate(head)
        ],
        [tags.tr(*(cell(k, content) for k, content in enumerate(row))) for row in rows],
    )


def sortable(
    head: Sequence[str],
    rows: Sequence[Sequence[tuple[TagChild, Any]]],
    *,
    caption: str,
) -> Tag:
    """A table whose heads sort it; a cell is what is shown and the value it is sorted by.

    Values may be exact numbers of any size, which a browser cannot compare: it gets their ranks.
    """
    ranks = [_ranks([row[k][1] for row in rows]) for k in range(len(head))]
    result = _table(
        caption,
        [
            tags.th(
                tags.button(title, type="button"),
                scope="col",
                aria_sort="none",
                class_="number" if k else None,
            )
            for k, title in enumerate(head)
        ],
        [
            tags.tr(
                *(
                    tags.td(shown, data_sort=str(ranks[k][place]), class_="number" if k else None)
                    for k, (shown, _) in enumerate(row)
                )
            )
            for place, row in enumerate(rows)
        ],
    )
    result.children[0].add_class("sortable")  # type: ignore[union-attr]
    return result


def _table(caption: str, head: Sequence[Tag], rows: Sequence[Tag]) -> Tag:
    return tags.div(
        tags.table(
            tags.caption(caption, class_="visually-hidden"),
            tags.thead(tags.tr(*head)),
            tags.tbody(*rows),
            class_="table table-sm numbers",
        ),
        class_="wide",
    )


def _ranks(values: Sequence[Any]) -> list[int]:
    """The place of each value among all of them; what is not known comes last."""
    known = sorted({value for value in values if value is not None})
    rank = {value: k for k, value in enumerate(known)}
    return [len(known) if value is None else rank[value] for value in values]


def choose(label: TagChild, *, input: str, value: str) -> Tag:
    """A button in a table that sets an input."""
    return tags.button(
        label, type="button", class_="btn btn-link btn-sm p-0", data_input=input, data_value=value
    )


def legend(kinds: Iterable[Agreement]) -> Tag:
    """What lines mean."""
    return tags.div(*map(_sample, kinds), class_="legend")


def _sample(kind: Agreement) -> Tag:
    dashes = DASHES[kind]
    dashed = "" if dashes is None else f' stroke-dasharray="{dashes[0]} {dashes[1]}"'
    line = (
        f'<svg width="30" height="8" aria-hidden="true"><line class="{kind}" x1="0" y1="4" x2="30" '
        f'y2="4" stroke="{COLOURS[kind]}" stroke-width="3"{dashed}/></svg>'
    )
    return tags.span(HTML(line), WORDS[kind])


def downloads(*offers: tuple[str, str]) -> Tag:
    """Links to what `offer` makes, each by its identifier and its name."""
    links = (ui.download_link(key, label) for key, label in offers)
    return tags.div("Download:", *links, class_="downloads")


def offer(key: str, content: Content) -> None:
    """Let the session download a text; the last part of the key is the suffix of the file."""

    async def text() -> AsyncIterator[str]:
        made = content()
        yield await made if isawaitable(made) else made

    stem, suffix = key.rsplit("_", 1)
    text.__name__ = key
    render.download_button(filename=f"{stem.replace('_', '-')}.{suffix}")(text)


def notice(text: TagChild, kind: str = "warning") -> Tag:
    """A message that a screen reader says at once."""
    return tags.div(text, class_=f"alert alert-{kind} py-2", role="alert")
