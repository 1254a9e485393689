"""Show parts as HTML: on the report page, on the page of a study, in notebooks and in the explorer.

`as_html` is the only renderer. Every text is escaped; only `Markup` is trusted. Pages need no other
file: the style sheet and the script of the heat maps are in ``static/``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from html import escape
from importlib.resources import files

from contextwise.report.parts import (
    Card,
    Cell,
    Column,
    Entries,
    Entry,
    Judged,
    Legend,
    Mark,
    Marked,
    Note,
    Part,
    Picture,
    Section,
    Spread,
    Style,
    Table,
    Verdicts,
    cell_text,
    exact_digits,
)
from contextwise.support.formatting import printable
from contextwise.support.words import Name, Phrase

KEYS = (
    "Arrow keys move from cell to cell, plus and minus zoom, 0 shows everything, N and P go to the "
    "next and the previous pair, the largest first."
)
VOID = ("br", "meta", "img")


class Markup(str):
    """HTML that needs no escaping."""

    __slots__ = ()


Point = tuple[float, float]
CellContent = Callable[[Cell, Column], Markup | None]
"""Make the content of a cell; None leaves it to `cell_html`."""


def tag(name: str, /, *children: str | None, **attributes: object) -> Markup:
    """Return an element; texts and attributes are escaped, and floats rounded."""
    texts = {
        key.rstrip("_").replace("_", "-"): coordinate(v) if isinstance(v, float) else str(v)
        for key, v in attributes.items()
        if v is not None
    }
    shown = "".join(f' {key}="{escape(printable(text))}"' for key, text in texts.items())
    if name in VOID:
        return Markup(f"<{name}{shown}>")
    return Markup(f"<{name}{shown}>{joined(children)}</{name}>")


def coordinate(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def joined(children: Iterable[str | None]) -> Markup:
    """Return one text after the other; all but `Markup` is escaped."""
    return Markup(
        "".join(
            child if isinstance(child, Markup) else escape(printable(child))
            for child in children
            if child is not None
        )
    )


@cache
def static(name: str) -> Markup:
    """Read one of our own style sheets or scripts."""
    return Markup(files("contextwise.report").joinpath("static", name).read_text("utf-8"))


# -- elements of SVG -------------------------------------------------------------------------------


def svg_picture(kind: str, size: Point, text: str, *shapes: str | None, **style: str) -> Markup:
    """Return a picture of a class and its shapes; ``text`` describes it to screen readers."""
    width, height = map(coordinate, size)
    style |= {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    xmlns = "http://www.w3.org/2000/svg"
    return tag("svg", tip(text), *shapes, class_=kind, xmlns=xmlns, role="img", **style)


def tip(text: str) -> Markup:
    """Return a tip, which a browser shows when the reader points at the element around it."""
    return tag("title", text)


def line(start: Point, stop: Point, *children: str, **style: str | float) -> Markup:
    (x1, y1), (x2, y2) = start, stop
    return tag("line", *children, **style, x1=x1, y1=y1, x2=x2, y2=y2)


def label(text: str, place: Point, anchor: str, **style: str | float) -> Markup:
    usual = {"font_size": "12", "fill": "currentColor", "dy": "0.35em", "text_anchor": anchor}
    return tag("text", text, x=place[0], y=place[1], **(usual | style))


def path(*points: Point) -> str:
    return "M" + "L".join(" ".join(map(coordinate, point)) for point in points)


# -- pages -----------------------------------------------------------------------------------------


def page_html(title: str, body: str, made: Iterable[tuple[str, str]]) -> str:
    entries = [
        tag("li", f"{label}: ", tag("code", value) if label == "command" else value)
        for label, value in made
    ]
    origin = tag("h2", "How this page was made"), tag("ul", *entries)
    return full_page(title, tag("main", tag("h1", title), Markup(body), *origin), "page.css")


def full_page(title: str, main: Markup, *styles: str) -> str:
    """Return a page that needs no other file, with the style sheets and scripts it needs."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", *map(static, styles)),
    )
    needed = {
        "heatmap.js": 'class="heat-map"',
        "unfold.js": "<details",
        "scatter.js": 'class="scatter"',
    }
    scripts = [tag("script", static(name)) for name, sign in needed.items() if sign in main]
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', main, *scripts), lang='en')}\n"


def notebook_html(parts: Iterable[Part]) -> str:
    drawn = [part for part in parts if not isinstance(part, Picture)]
    findings = any(isinstance(part, Verdicts) for part in drawn)
    sheets = ("notebook.css", "findings.css") if findings else ("notebook.css",)
    kind = "contextwise findings" if findings else "contextwise"
    return tag("div", tag("style", *map(static, sheets)), as_html(drawn, level=4), class_=kind)


# -- parts -----------------------------------------------------------------------------------------


def as_html(
    parts: Iterable[Part],
    *,
    level: int = 2,
    cell: CellContent | None = None,
) -> Markup:
    """Return parts as HTML; ``cell`` makes the content of some cells of tables, such as links."""
    return joined(_part(part, level, cell) for part in parts)


def _part(part: Part, level: int, cell: CellContent | None) -> Markup:
    match part:
        case Verdicts():
            return verdict_line(part)
        case Card():
            return card_html(part, level)
        case Note() if isinstance(part.text, Phrase):
            return tag("p", phrase_html(part.text), class_=part.key or "note")
        case Note():
            kind = part.key if part.key in ("summary", "verdict", "finding", "terms") else "note"
            lines = [child for line in part.text.splitlines() for child in (tag("br"), line)][1:]
            return tag("p", *lines, class_=f"{kind} warns" if part.warns else kind)
        case Entries():
            return tag("div", *map(_measures, part.groups), class_="measures")
        case Table():
            return _table(part, cell)
        case Legend():
            return _legend(part)
        case Picture():
            caption = tag("figcaption", part.caption)
            return tag("figure", _drawn(part), *map(_legend, part.legends), caption)
        case Section():
            inner = as_html(part.parts, level=level + 1, cell=cell)
            heading = tag(f"h{level}", part.title)
            return tag("section", heading, inner, class_=part.key or None)


def _measures(group: Iterable[Entry]) -> Markup:
    entries = []
    for measure in group:
        value = tag("dd", cell_html(measure.value, measure.style))
        title = measure.meaning or None
        entries.append(tag("div", tag("dt", measure.label), value, title=title))
    return tag("dl", *entries)


def _table(table: Table, cell: CellContent | None) -> Markup:
    """Return a table that scrolls sideways where it is too wide; its title does not scroll."""
    table = table.as_words
    body = []
    for row in table.rows:
        cells = []
        for k, (value, column) in enumerate(zip(row, table.columns, strict=True)):
            content = cell(value, column) if cell is not None else None
            cells.append(
                tag(
                    "td" if k else "th",
                    cell_html(value, column.style) if content is None else content,
                    scope=None if k else "row",
                    class_="number" if column.is_number else None,
                )
            )
        body.append(tag("tr", *cells))
    head = tag("tr", *map(_head, table.columns))
    title = table.title or None
    drawn = tag(
        "table",
        title and tag("caption", title),
        tag("thead", head),
        tag("tbody", *body),
        class_=f"table {table.key.replace(' ', '-') or 'plain'}",
    )
    caption = title and tag("p", title, class_="caption", aria_hidden="true")
    shown = scrolling(drawn, title or "Table", role="region" if title else "group")
    return joined([caption, shown])


def scrolling(content: Markup, label: str, role: str = "group") -> Markup:
    """Return an element that scrolls sideways, also by the keyboard."""
    return tag("div", content, class_="scroll", tabindex=0, role=role, aria_label=label)


def _head(column: Column) -> Markup:
    if not column.title:
        return tag("td")  # accessibility: a head must have a text
    kind = "number" if column.is_number else None
    return tag("th", column.title, scope="col", class_=kind)


def cell_html(cell: Cell, style: Style) -> Markup:
    """Return a value as text; a rounded count has all its digits as a tip."""
    text = cell_text(cell, style)
    if isinstance(cell, Marked):
        return tag("b", text, class_=cell.kind)
    if isinstance(cell, Judged):
        note = joined([" ", tag("small", phrase_html(cell.note))]) if cell.note else None
        return joined([mark(cell.verdict), tag("span", cell.verdict, note)])
    if isinstance(cell, Spread):
        return joined(
            [
                tag("b", cell.written(cell.value)),
                " ",
                tag("small", ", ".join(filter(None, (cell.unit, cell.interval)))),
            ]
        )
    digits = exact_digits(cell, style)
    return joined([text]) if digits is None else tag("span", text, title=digits)


# -- verdicts and cards ----------------------------------------------------------------------------

MARKS = {
    "associated": "yes",
    "associated, not on average": "part",
    "suggestive": "weak",
    "no association shown": "none",
    "could not be tested": "na",
}
"""The class of the mark of each verdict, which has a shape of its own."""


def phrase_html(phrase: str) -> Markup:
    """Return a phrase with its names in bold; no line ends before a percent sign."""
    words = phrase.words if isinstance(phrase, Phrase) else (phrase,)
    return joined(
        tag("b", word)
        if isinstance(word, Name)
        else Markup(joined([word]).replace(" %", "&nbsp;%"))
        for word in words
    )


def mark(verdict: str) -> Markup:
    """Return the mark of a verdict; its words stand beside it."""
    return tag("i", class_=f"m {MARKS[verdict]}", aria_hidden="true")


def verdict_line(verdicts: Verdicts) -> Markup:
    """Return the line that counts verdicts, which is the key of their marks too."""
    entries = (
        tag(
            "span",
            mark(verdict),
            tag("b", f"{count:,}"),
            f" {verdict}",
            class_=None if count else "zero",
        )
        for verdict, count in verdicts.counts
    )
    spaced = (each for entry in entries for each in (" ", entry))
    return tag("p", tag("span", f"{verdicts.title}:", class_="total"), *spaced, class_="score")


def card_html(card: Card, level: int = 3) -> Markup:
    """Return a card; its numbers are folded."""
    drawn = card.picture.content if card.picture else None
    folded = tag("details", tag("summary", "The numbers"), as_html([card.numbers]))
    return tag(
        "div",
        tag(f"h{level}", phrase_html(card.title)),
        tag("p", card.test, class_="chip"),
        tag("p", phrase_html(card.sentence), class_="say") if card.sentence else None,
        drawn.svg() if drawn else None,
        folded if card.numbers.rows else None,
        class_="card",
    )


# -- pictures --------------------------------------------------------------------------------------


def _legend(legend: Legend) -> Markup:
    title = tag("li", f"{legend.title}:") if legend.title else None
    entries = (tag("li", _sample(mark), text) for mark, text in legend.entries)
    return tag("ul", title, *entries, class_="legend")


def _sample(mark: Mark) -> Markup:
    if mark.shape == "box":
        size: dict[str, object] = {"width": 14, "height": 14}
        paint = {"fill": mark.colour, "fill_opacity": mark.opacity}
        drawn = tag("rect", class_=mark.kind, **size, **paint)
    else:
        size = {"width": 36, "height": 8}
        dashes = None if mark.dashes is None else f"{mark.dashes[0]} {mark.dashes[1]}"
        ends = {"x1": 0, "y1": 4, "x2": 36, "y2": 4}
        style = {"stroke": mark.colour, "stroke_width": 4, "stroke_dasharray": dashes}
        drawn = tag("line", class_=mark.kind, **ends, **style)
    return tag("svg", drawn, class_="swatch", aria_hidden="true", **size)


def _drawn(picture: Picture) -> Markup:
    if picture.packed:
        return _canvas(picture.packed)
    assert picture.content is not None
    return tag("div", picture.content.svg(), class_="scroll")


def _canvas(packed: str) -> Markup:
    buttons = (
        tag("button", "+", type="button", data_heat="in", aria_label="Zoom in"),
        tag("button", "−", type="button", data_heat="out", aria_label="Zoom out"),
        tag("button", "All", type="button", data_heat="fit"),
        tag("button", "Largest of a cell", type="button", data_heat="worst", aria_pressed="false"),
    )
    canvas = tag("canvas", tabindex=0, role="application", aria_label=f"Heat map of pairs. {KEYS}")
    hint = "Point at a cell to read it; zoom with the wheel, two fingers or the buttons."
    return tag(
        "div",
        tag("div", *buttons, class_="buttons"),
        tag("div", canvas, class_="heat-map"),
        tag("p", "", class_="cell-words note"),
        tag("p", hint, class_="readout", aria_live="polite"),
        tag("noscript", tag("p", "This heat map needs JavaScript.", class_="note")),
        tag("script", Markup(packed), type="application/octet-stream"),
        class_="map",
    )
