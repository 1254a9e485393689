"""The pieces that views are made of: parts of `contextwise.report` as tags, and the explorer's own.

Texts are handed to tags as texts, never as HTML, so a name with ``<`` in it is shown as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from htmltools import HTML, Tag, TagChild, TagList, tags
from shiny import ui

from contextwise.explorer.job import Failed, Working
from contextwise.explorer.wiring import Input
from contextwise.report.html import picture_html
from contextwise.report.parts import (
    Cell,
    Column,
    Interval,
    Legend,
    Mark,
    Marked,
    Measure,
    Measures,
    Note,
    PairName,
    Part,
    Picture,
    Section,
    Table,
    cell_text,
    exact_digits,
)
from contextwise.support.formatting import printable

CHOSEN_PAIR = "chosen_pair"
"""The input that a click on any pair sets, wherever the pair is shown."""
UNBOUND: dict[str, str | float | bool | HTML | None] = {"data-shiny-no-bind-input": ""}
"""A field that our own script reads, and Shiny does not."""
CellTag = Callable[[Cell, Column], TagChild]


def svg(text: str) -> Tag:
    """A picture that one of our own writers has made (they escape what they are given)."""
    return tags.div(HTML(text), class_="wide")


# -- what the report room makes ------------------------------------------------------------------


def rendered(parts: Iterable[Part], *, titles: bool = False) -> TagList:
    """Parts one below the other.

    Parameters
    ----------
    parts : notes, measures, tables, pictures, and sections of them
    titles : whether tables have their titles above them, to be seen
    """
    return TagList(*(_rendered(part, titles) for part in parts))


def _rendered(part: Part, titles: bool) -> TagChild:
    match part:
        case Note():
            return note(part)
        case Measures():
            return TagList(*map(quiet_measures, part.groups))
        case Table():
            title = tags.p(part.title, class_="table-title") if titles and part.title else None
            return TagList(title, table(part))
        case Section():
            title = tags.h3(part.title, class_="h6 mt-3")
            return tags.section(title, rendered(part.parts, titles=titles))
        case Legend():
            return legends([part])
        case Picture():
            return HTML(picture_html(part))


def note(part: Note) -> Tag:
    """A sentence; one that limits what is shown stands out."""
    if part.warns:
        return notice(part.text)
    return tags.p(part.text, class_="note")


def table(part: Table, *, cell: CellTag | None = None, sortable: bool = False) -> Tag:
    """A table.

    Parameters
    ----------
    part : the table
    cell : makes the content of a cell; None is the text of its value
    sortable : whether the heads of columns sort it
    """
    made = cell or shown_cell
    ranks = [_ranks([row[k] for row in part.rows]) for k in range(len(part.columns))]

    def row(place: int, cells: Sequence[Cell]) -> Tag:
        return tags.tr(
            *(
                _cell(column, made(value, column), k == 0, ranks[k][place] if sortable else None)
                for k, (value, column) in enumerate(zip(cells, part.columns, strict=True))
            )
        )

    return tags.div(
        tags.table(
            tags.caption(part.title, class_="visually-hidden") if part.title else None,
            tags.thead(tags.tr(*(_head(column, sortable) for column in part.columns))),
            tags.tbody(*(row(k, cells) for k, cells in enumerate(part.rows))),
            class_="table table-sm numbers" + (" sortable" if sortable else ""),
        ),
        class_="wide",
        tabindex="0",
        role="region",
        aria_label=part.title or "Table",
    )


def _head(column: Column, sortable: bool) -> Tag:
    if not column.title:
        return tags.td()  # an empty head is no head
    title: TagChild = tags.button(column.title, type="button") if sortable else column.title
    return tags.th(
        title,
        scope="col",
        class_="number" if column.is_number else None,
        aria_sort="none" if sortable else None,
    )


def _cell(column: Column, content: TagChild, first: bool, rank: int | None) -> Tag:
    make = tags.th if first else tags.td
    return make(
        content,
        scope="row" if first else None,
        class_="number" if column.is_number else None,
        data_sort=None if rank is None else str(rank),
    )


def shown_cell(cell: Cell, column: Column) -> TagChild:
    """A value as it reads; all digits of a rounded one are its tip, and a pair can be chosen."""
    text = cell_text(cell, column)
    if isinstance(cell, PairName):
        return choose_pair(text, cell.first, cell.second)
    if isinstance(cell, Marked):
        return tags.span(text, class_=cell.kind)
    digits = exact_digits(cell, column)
    if digits is not None:
        return tags.span(text, title=digits if len(digits) < 400 else f"{len(digits)} digits")
    return tags.span(text, class_="when") if column.style == "words" else text


def _ranks(cells: Sequence[Cell]) -> list[int]:
    """The place of each value among all of them, as a browser cannot compare exact numbers.

    What is not known comes last.
    """
    keys = [_sort_key(cell) for cell in cells]
    known = sorted({key for key in keys if key is not None})
    rank = {key: k for k, key in enumerate(known)}
    return [len(known) if key is None else rank[key] for key in keys]


def _sort_key(cell: Cell) -> tuple[int, Any] | None:
    if isinstance(cell, Interval):
        return _sort_key(cell.low)
    if isinstance(cell, int | float | Fraction):
        return 0, cell
    return None if cell is None else (1, str(cell))


def quiet_measures(measures: Iterable[Measure]) -> Tag:
    """Numbers of the second rank, side by side, each with its name; its meaning is its tip."""
    return tags.dl(
        *(
            tags.div(tags.dt(one.label), tags.dd(one.text()), title=one.meaning or None)
            for one in measures
        ),
        class_="quiet",
    )


def legends(parts: Iterable[Legend]) -> Tag:
    """What colours and lines mean, drawn."""
    return tags.div(*map(_legend, parts), class_="legends")


def _legend(part: Legend) -> Tag:
    samples = (tags.span(_sample(mark), words) for mark, words in part.entries)
    title = tags.span(f"{part.title}:", class_="legend-title") if part.title else None
    return tags.div(title, *samples, class_="legend")


def _sample(mark: Mark) -> Tag:
    if mark.shape == "point":
        return tags.span(
            HTML(
                f'<svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">'
                f'<path d="{mark.path}" fill="{mark.colour}"/></svg>'
            )
        )
    if mark.shape == "box":
        paint = f"background-color: {mark.colour}; opacity: {mark.opacity}"
        inner = tags.span(class_=f"paint {mark.kind}", style=paint)
        return tags.span(inner, class_="swatch", aria_hidden="true")
    dashes = "" if mark.dashes is None else f' stroke-dasharray="{mark.dashes[0]} {mark.dashes[1]}"'
    return tags.span(
        HTML(
            f'<svg width="30" height="8" aria-hidden="true"><line class="{mark.kind}" x1="0" '
            f'y1="4" x2="30" y2="4" stroke="{mark.colour}" stroke-width="3"{dashes}/></svg>'
        )
    )


# -- the explorer's own --------------------------------------------------------------------------


def choose(label: TagChild, source: Input[Any] | str, value: object, **attributes: Any) -> Tag:
    """A button that sets an input to a value.

    Parameters
    ----------
    label : what it says
    source : the input, or its key
    value : any JSON value
    attributes : of the button
    """
    return tags.button(
        label,
        {"class": "btn btn-link btn-sm p-0 text-start"} if "class_" not in attributes else None,
        type="button",
        data_input=source if isinstance(source, str) else source.key,
        data_value=json.dumps(value),
        **attributes,
    )


def choose_pair(label: TagChild, first: str, second: str) -> Tag:
    """A button that turns to a pair.

    Parameters
    ----------
    label : what it says
    first, second : the variables of the pair
    """
    return choose(label, CHOSEN_PAIR, {"first": first, "second": second})


def options(values: Iterable[str], *, selected: str | None = None) -> HTML:
    """The options of a selector or of a search: a text at once, as there may be thousands."""
    marks = (
        f'<option value="{escape(value)}"{" selected" if value == selected else ""}>'
        f"{escape(printable(value))}</option>"
        for value in values
    )
    return HTML("".join(marks))


def search(
    source: Input[str],
    values: Iterable[str],
    *,
    label: str,
    placeholder: str,
    value: str | None = None,
    clears: bool = False,
) -> Tag:
    """A field that finds a text among many, and sets an input to it.

    Parameters
    ----------
    source : the input
    values : what can be found
    label : the name of the field
    placeholder : what stands in it while it is empty
    value : what stands in it at first
    clears : whether it is empty again once something was found
    """
    return tags.div(
        tags.label(label, for_=source.key),
        tags.input(
            UNBOUND,
            id=source.key,
            type="search",
            list=f"{source.key}_values",
            class_="form-control search",
            placeholder=placeholder,
            value=value,
            autocomplete="off",
            data_clears="" if clears else None,
        ),
        tags.datalist(options(values), id=f"{source.key}_values"),
        class_="form-group",
    )


def downloads(*offers: tuple[str, str]) -> Tag:
    """Links to what `contextwise.explorer.wiring.offer` makes: identifiers and names."""
    links = (ui.download_link(key, label) for key, label in offers)
    return tags.div(tags.span("Download:"), *links, class_="downloads")


def notice(text: TagChild, kind: str = "warning") -> Tag:
    """A message that a screen reader says at once."""
    return tags.div(text, class_=f"alert alert-{kind} py-2", role="alert")


def under_way(working: Working) -> Tag:
    """What work does, and how far it is; a bar without a number where nobody knows.

    >>> str(under_way(Working("Comparing", 25, 100))).count("25 %")
    1
    """
    share = 100 * working.done // working.total if working.total else None
    count = f": {working.done:,} of {working.total:,} ({share} %)" if working.total else " …"
    moving = " progress-bar-striped progress-bar-animated" if share is None else ""
    return tags.div(
        tags.div(f"{working.words}{count}", class_="progress-words"),
        tags.div(
            tags.div(
                class_=f"progress-bar{moving}",
                style=f"width: {100 if share is None else max(share, 1)}%",
            ),
            class_="progress",
            role="progressbar",
            aria_label=working.words,
            aria_valuenow=None if share is None else str(share),
            aria_valuemin="0",
            aria_valuemax="100",
        ),
        class_="under-way",
    )


def not_done(outcome: Working | Failed | None, *, nothing: str = "") -> TagChild:
    """What stands in place of a result while there is none.

    Parameters
    ----------
    outcome : what is known of the work
    nothing : what is said if nobody has asked for it
    """
    if isinstance(outcome, Working):
        return under_way(outcome)
    if isinstance(outcome, Failed):
        return notice(outcome.why, "danger")
    return tags.p(nothing, class_="note") if nothing else None
