"""Pictures for pages: the heat map of pairs and the graph of two structures, as SVG texts.

The pictures stand alone, and fit into a page: colours are attributes, which any style sheet of the
page overrides (by the classes ``fp``, ``fn``, ``tp``, ``covered``, ``open``, ``node``, ``halo``),
and texts have the colour of the text around them. Names are escaped. The same input gives the same
text.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from math import isinf

from contextwise.models.numbers import name as shown
from contextwise.report.colours import COLOURS, DASHES, Agreement
from contextwise.report.edges import Edge, View, edge_words, share_words, strand_lines, widest_of
from contextwise.report.heatmap import AGREED, OPEN, HeatMap, heat_map_png, palette
from contextwise.report.layout import Positions

MOST_LARGE = 24
"""Up to this many variables of a graph have large labels; those of more would touch."""
MOST_CELLS = 60
"""Up to this many variables each cell is an element with a tip; above, the cells are an image."""
LABELS = 60
"""The most labels along a side."""


def heat_map_svg(heat: HeatMap, *, size: int = 600) -> str:
    """The heat map, about ``size`` wide; false positives above the diagonal.

    The cells are in ``<g class="cells">``, which has the attributes ``data-variables`` and
    ``data-cell`` (the side of a cell); each cell that is not blank has ``data-row`` and
    ``data-column`` and a tip. Many variables make one image instead; a click's place divided by
    ``data-cell`` is its cell in both cases.
    """
    n = max(len(heat.names), 1)
    margin = 12 + 6 * max((len(shown(name, 20)) for name in heat.names), default=0)
    cell = min((size - margin) / n, 48.0)
    side = cell * n
    cells = _cells(heat, cell) if n <= MOST_CELLS else _image(heat, side)
    return "".join(
        [
            _open("heat", margin + side + 4, margin + side + 4, _heat_words(heat)),
            *_heat_labels(heat, cell, margin),
            f'<g class="cells" data-variables="{n}" data-cell="{_f(cell)}" '
            f'transform="translate({margin} {margin})">',
            f'<rect class="frame" width="{_f(side)}" height="{_f(side)}" fill="none" '
            'stroke="#7f7f7f" stroke-opacity="0.4"/>',
            *cells,
            f'<path d="M0 0L{_f(side)} {_f(side)}" stroke="#7f7f7f" stroke-opacity="0.4"/>',
            "</g></svg>",
        ]
    )


def graph_svg(
    edges: Iterable[Edge],
    positions: Positions,
    *,
    view: View = "both",
    fixed: Mapping[str, str] | None = None,
    size: int = 480,
) -> str:
    """The graph of the edges, in a square of ``size``.

    Parameters
    ----------
    positions : the place of each variable; see `contextwise.report.layout.graph_layout`
    view : both graphs in one, or the edges of the true model or of the guess
    fixed : the variables that a context assigns, with their states; drawn hollow
    """
    fixed = fixed or {}
    labels = {name: _node_label(name, fixed.get(name)) for name in positions}
    places = _scaled(positions, size, room=14 + 6.5 * max(map(len, labels.values()), default=0))
    words = f"Graph of {len(positions)} variables"
    drawn = list(edges)
    widest = widest_of(len(drawn))
    lines = [line for edge in drawn for line in _lines(edge, places, view, widest)]
    nodes = [
        _node(
            name,
            places[name],
            label,
            hollow=name in fixed,
            many=len(places) > MOST_LARGE,
            size=size,
        )
        for name, label in labels.items()
    ]
    return "".join([_open("graph", size, size, words), *lines, *nodes, "</svg>"])


def _open(kind: str, width: float, height: float, words: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="img" '
        f'viewBox="0 0 {_f(width)} {_f(height)}" width="{_f(width)}" height="{_f(height)}" '
        f'font-family="sans-serif"><title>{escape(words)}</title>'
    )


def _f(value: float) -> str:
    """A coordinate: two places are plenty, and keep the text short and the same everywhere."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


# -- the heat map --------------------------------------------------------------------------------


def _heat_words(heat: HeatMap) -> str:
    return (
        f"Errors of the pairs of {len(heat.names)} variables: "
        "only in guess above the diagonal, only in true below it"
    )


def _cells(heat: HeatMap, cell: float) -> Iterator[str]:
    paint = palette()
    side = _f(cell)
    for row, column in zip(*heat.codes.nonzero(), strict=True):
        code, share = int(heat.codes[row, column]), float(heat.shares[row, column])
        kind: Agreement = "fn" if row > column else "fp"
        colour, opacity = paint[code]
        tip = f"{shown(heat.names[row])} – {shown(heat.names[column])}: {_cell_words(kind, share)}"
        yield (
            f'<rect class="{ {AGREED: "covered", OPEN: "open"}.get(code, kind) }" '
            f'x="{_f(column * cell)}" y="{_f(row * cell)}" width="{side}" height="{side}" '
            f'fill="{colour}" fill-opacity="{opacity}" data-row="{row}" data-column="{column}">'
            f"<title>{escape(tip)}</title></rect>"
        )


def _cell_words(kind: Agreement, share: float) -> str:
    if isinf(share):
        return "not decided in time"
    return share_words(kind, share)


def _image(heat: HeatMap, side: float) -> Iterator[str]:
    picture = b64encode(heat_map_png(heat, most=int(side))).decode()
    yield (
        f'<image width="{_f(side)}" height="{_f(side)}" style="image-rendering:pixelated" '
        f'href="data:image/png;base64,{picture}"/>'
    )


def _heat_labels(heat: HeatMap, cell: float, margin: float) -> Iterator[str]:
    """Names along the left and the top; where they are many, every second, third, ... one."""
    every = max(1, -(-len(heat.names) // LABELS), -int(-9 // cell))
    for k in range(0, len(heat.names), every):
        at = margin + (k + 0.5) * cell
        text = escape(shown(heat.names[k], 20))
        label = f'font-size="{_f(min(11.0, max(8.0, cell)))}" fill="currentColor"'
        yield (
            f'<text {label} x="{_f(margin - 5)}" y="{_f(at)}" dy="0.35em" '
            f'text-anchor="end">{text}</text>'
            f'<text {label} transform="translate({_f(at)} {_f(margin - 5)}) rotate(-90)" '
            f'dy="0.35em">{text}</text>'
        )


# -- the graph -----------------------------------------------------------------------------------


def _scaled(positions: Positions, size: float, room: float) -> dict[str, tuple[float, float]]:
    """The unit square on the page, with room for labels; on a page, y grows downwards."""
    room = min(room, size / 4)
    across, along = size - 2 * room, size - 2 * 24
    return {name: (room + across * x, 24 + along * (1 - y)) for name, (x, y) in positions.items()}


def _lines(
    edge: Edge, places: Mapping[str, tuple[float, float]], view: View, widest: float
) -> Iterator[str]:
    tip = escape(edge_words(edge))
    for strand in strand_lines(edge, places, view=view, widest=widest):
        (x1, y1), (x2, y2) = strand.start, strand.end
        dashes = DASHES[strand.kind]
        dashed = "" if dashes is None else f' stroke-dasharray="{dashes[0]} {dashes[1]}"'
        yield (
            f'<line class="{strand.kind}" x1="{_f(x1)}" y1="{_f(y1)}" x2="{_f(x2)}" y2="{_f(y2)}" '
            f'stroke="{COLOURS[strand.kind]}" stroke-width="{_f(strand.width)}"{dashed}>'
            f"<title>{tip}</title></line>"
        )


def _node_label(name: str, state: str | None) -> str:
    return shown(name, 16) if state is None else f"{shown(name, 16)} = {shown(state, 10)}"


def _node(
    name: str, place: tuple[float, float], label: str, *, hollow: bool, many: bool, size: float
) -> str:
    """A dot and its name, which stands on the side away from the middle."""
    x, y = place
    right = x >= size / 2
    paint = 'fill="none" stroke="currentColor"' if hollow else 'fill="currentColor"'
    return (
        f'<circle class="node" cx="{_f(x)}" cy="{_f(y)}" r="{2.5 if many else 4}" '
        f"{paint}><title>{escape(shown(name))}</title></circle>"
        f'<text x="{_f(x + (8 if right else -8))}" y="{_f(y)}" dy="0.35em" '
        f'font-size="{9 if many else 12}" text-anchor="{"start" if right else "end"}" '
        f'fill="currentColor" class="halo" paint-order="stroke" stroke="#ffffff" '
        f'stroke-width="3" stroke-opacity="0.8">{escape(label)}</text>'
    )
