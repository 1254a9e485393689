"""Write the page of an analysis: one HTML file that needs no network and prints well.

The same parts as in the terminal, and what only a page can hold: the plots, the picture of all
pairs, the data as read, what to know before quoting, and the methods paragraph.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from importlib.metadata import version

import numpy as np

from contextwise.analysis.conclusions import Analysis
from contextwise.analysis.pair_rows import state_order, to_hide
from contextwise.report import analysis_notes as notes
from contextwise.report.analysis_answer import (
    differences,
    next_sentences,
    questions,
    shown_pairs,
    title_sentence,
)
from contextwise.report.analysis_drawings import (
    MOST_ARCS,
    Arcs,
    Scale,
    Squares,
    axis,
    shortened,
    spread_plot,
)
from contextwise.report.analysis_parts import (
    MOST_CARDS,
    difference_cards,
    in_order,
    line_cards,
    outcome_table,
    pairs_table,
    structure_table,
    verdicts,
)
from contextwise.report.groups_of_rows import columns_parts
from contextwise.report.html import (
    Markup,
    as_html,
    card_html,
    cell_html,
    full_page,
    joined,
    phrase_html,
    tag,
    verdict_line,
)
from contextwise.report.parts import Card, Cell, Spread, Table
from contextwise.support.formatting import name as short
from contextwise.support.formatting import plural
from contextwise.support.words import points, strength

MOST_SQUARES = 60
MOST_IN_LIST, MOST_OPEN, MOST_BESIDE = 30, 12, 6
"""Pairs that a page lists unfolded: without a picture, as its answer, and beside those of an
outcome."""
MOST_BOXES = 8
"""Variables whose states a page counts unfolded."""
MOST_STATES = 12
"""States of a variable that the page counts."""


def page_of_analysis(
    analysis: Analysis, *, command: str = "", model: str = "", made: date | None = None
) -> str:
    """Return the page of an analysis as HTML."""
    release = version("contextwise")
    differing = difference_cards(analysis)
    lines_open = max(1, MOST_CARDS - len(differing))
    main = tag(
        "main",
        _header(analysis, release, made or date.today()),
        _answer_table(analysis),
        _cards("Over the states", _lines_lede(), line_cards(analysis), lines_open),
        _cards("Where the association differs", _where_lede(analysis), differing),
        _groups(analysis),
        _all_pairs(analysis),
        _data(analysis),
        section("Before you quote this", _list(notes.cautions(analysis))),
        _folded(analysis, release, command, model),
        tag("footer", f"contextwise {release}"),
        class_="findings",
    )
    about = f": what goes with {analysis.outcome}" if analysis.outcome else ""
    return full_page(f"{analysis.title}{about}", main, "findings.css", "analysis.css")


def section(title: str, *content: Markup | None) -> Markup:
    """Return a section with its heading."""
    return tag("section", tag("h2", title), *content)


def folded(title: str, *content: Markup | None) -> Markup:
    """Return a part that opens by a click."""
    return tag("details", tag("summary", title), *content)


def note(text: str) -> Markup:
    """Return a small paragraph; text between backticks is code."""
    return tag("p", marked(text), class_="note")


def marked(text: str) -> Markup:
    """Return text in which backticks are code."""
    pieces = text.split("`")
    return joined(tag("code", piece) if k % 2 else piece for k, piece in enumerate(pieces))


def _list(texts: Iterable[str]) -> Markup:
    return tag("ol", *(tag("li", marked(text)) for text in texts), class_="cav")


# -- the answer ------------------------------------------------------------------------------------


def _header(analysis: Analysis, release: str, made: date) -> Markup:
    facts = [f"{len(analysis.data):,} rows", plural(len(analysis.data.domain), "variable")]
    facts += [f"outcome: {analysis.outcome}"] if analysis.outcome else []
    facts += [f"contextwise {release}", f"{made.day} {made:%B %Y}"]
    kick = tag("p", short(analysis.title), tag("span", " · ".join(facts)), class_="kick")
    return tag("header", kick, answer_html(analysis))


def answer_html(analysis: Analysis) -> Markup:
    """Return the title, the sentences after it, and the line of verdicts."""
    sentences = (tag("p", phrase_html(each)) for each in next_sentences(analysis))
    return joined(
        [
            tag("h1", phrase_html(title_sentence(analysis))),
            tag("div", *sentences, class_="sub"),
            verdict_line(verdicts(analysis)),
        ]
    )


def findings_html(analysis: Analysis) -> Markup:
    """Return what follows the answer: the table, where it differs, and the picture of all pairs."""
    where = _where_lede(analysis)
    return joined(
        [
            _answer_table(analysis),
            _cards("Where the association differs", where, difference_cards(analysis)),
            _all_pairs(analysis),
        ]
    )


def _answer_table(analysis: Analysis) -> Markup:
    key = tag(
        "p",
        *(tag("span", class_="key", aria_hidden="true"), notes.held_text(analysis)),
        *(" ", tag("span", class_="key o", aria_hidden="true"), "crude"),
        class_="lede",
    )
    if analysis.outcome is None:
        ordered = in_order(analysis, shown_pairs(analysis))
        shown = pairs_table(analysis, ordered, "Pairs", _most_rows(analysis))
        drawn = drawn_table(shown, "V", strength)
        return section("Pair by pair", key, drawn, note(notes.pairs_note(analysis)))
    table = outcome_table(analysis)
    drawn = drawn_table(table, "Difference in points", points)
    hidden = note(notes.untested(analysis)) if notes.untested(analysis) else None
    return section(table.title, key, drawn, hidden, note(notes.table_note(analysis)))


def _most_rows(analysis: Analysis) -> int:
    """Return how many pairs a page lists unfolded: more where no picture can show all."""
    has_picture = len(analysis.data.domain) <= MOST_SQUARES
    return MOST_IN_LIST if not has_picture else MOST_BESIDE if analysis.outcome else MOST_OPEN


CLASSES = {
    "from → to": "",
    "points": "r cpt",
    "V": "r cv",
    "odds ratio": "r cor",
    "crude V": "r cme",
    "p": "r cp",
    "verdict": "cve",
}
"""The classes of the columns of a table with plots; that without one goes below the name."""


def drawn_table(table: Table, axis_title: str, written: Callable[[float], str]) -> Markup:
    """Return a table with plots; on a phone each row becomes a block."""
    plotted = [column.style for column in table.columns].index("plot")
    spreads = [cell for row in table.rows if isinstance(cell := row[plotted], Spread)]
    ends = [min(max(v, -1.0), 1.0) for s in spreads for v in (s.low, s.high, s.crude or 0.0)]
    scale = Scale.of(ends or [-0.1, 0.1], 0.0)
    heads = []
    for column in table.columns:
        kind = CLASSES.get(column.title, "csh")
        if column.style == "plot":
            heads.append(tag("th", axis_title, axis(scale, written), scope="col", class_="axh"))
        elif kind:
            interval = tag("small", "95 % interval") if column.style == "score" else None
            heads.append(tag("th", column.title, interval, scope="col", class_=kind))
    body = (_drawn_row(table, row, scale) for row in table.rows)
    drawn = tag(
        "table",
        tag("thead", tag("tr", *heads)),
        tag("tbody", *body),
        class_="main",
        aria_label=table.title,
    )
    return tag("div", tag("div", axis(scale, written), class_="only-s"), drawn)


def _drawn_row(table: Table, row: Sequence[Cell], scale: Scale) -> Markup:
    cells = list(zip(row, table.columns, strict=True))[1:]
    below = next((cell for cell, column in cells if CLASSES.get(column.title) == ""), None)
    small = tag("small", str(below)) if below else None
    shown = [tag("th", tag("b", str(row[0])), small, scope="row", class_="cn")]
    for cell, column in cells:
        kind = CLASSES.get(column.title, "csh")
        if column.style == "plot":
            plot = spread_plot(cell, scale, 0.0) if isinstance(cell, Spread) else None
            shown.append(tag("td", plot, class_="cpl"))
        elif kind:
            shown.append(tag("td", cell_html(cell, column.style), class_=kind))
    return tag("tr", *shown)


# -- where it differs, and all pairs ---------------------------------------------------------------


def _cards(title: str, lede: Markup, cards: list[Card], most: int = MOST_CARDS) -> Markup | None:
    if not cards:
        return None
    shown = tag("div", *map(card_html, cards[:most]), class_="cards")
    rest = cards[most:]
    more = None
    if rest:
        more = folded(f"{len(rest)} more", tag("div", *map(card_html, rest), class_="cards"))
    return section(title, lede, shown, more)


def _lines_lede() -> Markup:
    text = "Standardised shares over the states of ordered variables, with 95 % intervals."
    return tag("p", text, class_="lede")


def _where_lede(analysis: Analysis) -> Markup:
    asked, found = questions(analysis), len(differences(analysis))
    text = (
        f"{found} of {plural(asked, 'test')} of equal association, corrected together, "
        f"{'shows' if found == 1 else 'show'} a difference between the states of a third variable. "
        "Shares are standardised, intervals not corrected, differences bold if they exclude 0."
    )
    return tag("p", text, class_="lede")


def _all_pairs(analysis: Analysis) -> Markup | None:
    tested, outcome = analysis.pairs, analysis.outcome
    names = [n for n in analysis.data.domain.names if n not in analysis.settings.constant]
    if len(names) < 3:
        return None
    rest = [each for each in tested if outcome is None or outcome not in each.pair]
    if outcome is not None:
        ranked = [n for e in in_order(analysis, tested.of_outcome) for n in e.pair if n != outcome]
        names = [outcome, *ranked]
    picture: Markup | None = None
    words = "Lines: associated, all others held fixed; wider is stronger, the number is Cramér’s V"
    words += " from 0.10 on, where there is room (0 none, 1 perfect). Dashed: not on average."
    words += f" Left: {outcome}. Right: the others." if outcome else ""
    if len(names) <= MOST_ARCS:
        picture = Arcs(tuple(names), tested.pairs, outcome).svg()
    elif len(names) <= MOST_SQUARES:
        picture = tag("div", Squares(tuple(names), tested.pairs).svg(), class_="scroll", tabindex=0)
        words = (
            "Filled: associated, all others held fixed; darker is stronger. Outlined: suggestive."
        )
    figure = tag("figure", picture) if picture else None
    lede = tag("p", words, class_="lede") if picture else None
    ordered = in_order(analysis, rest)
    title = f"All {plural(len(rest), 'pair')}" + (f" without {outcome}" if outcome else "")
    table = as_html([pairs_table(analysis, ordered, "")])
    most = _most_rows(analysis)
    list_: list[Markup] = []
    if outcome is not None and rest:
        shown = [each for each in ordered if each.associated]
        strongest = pairs_table(analysis, shown, "The strongest", most).only("pair", "plot", "V")
        drawn = drawn_table(strongest, "V", strength) if shown else Markup("")
        list_ = [verdict_line(verdicts(analysis, rest)), drawn]
    if outcome is not None or len(ordered) > most:
        list_.append(folded(title, table))
    layout = "two" if len(names) <= MOST_ARCS else "under"
    return section("All pairs", tag("div", figure, tag("div", lede, *list_), class_=layout))


def _groups(analysis: Analysis) -> Markup | None:
    if analysis.groups is None:
        return None
    drawn = as_html(columns_parts(analysis.groups), level=3)
    return section("Groups", tag("div", drawn, class_="groups"))


def _structure(analysis: Analysis) -> Markup | None:
    """Say what the structure adds: its regions with their own tests."""
    table = structure_table(analysis)
    if not table.rows:
        return None
    lede = note(notes.structure_text(analysis))
    return folded(table.title, lede, as_html([table]))


# -- the data and the rest -------------------------------------------------------------------------


def _data(analysis: Analysis) -> Markup:
    data = analysis.data
    ordered = {name for name, _ in analysis.settings.ordered}
    boxes = []
    columns = zip(data.domain.names, data.domain.states, data.counts(), strict=True)
    for name, states, counts in columns:
        entries = [(states[k], int(counts[k])) for k in state_order(data, name)]
        shown = _variable(name, entries, len(data), analysis.smallest_count, name in ordered)
        boxes.append(shown)
    drawn = tag("div", *boxes, class_="vars")
    if len(boxes) > MOST_BOXES:
        drawn = folded(f"The states of all {len(boxes)} variables", drawn)
    return section("The data as read", drawn, decisions_html(notes.decisions(analysis)))


def _variable(
    name: str, entries: list[tuple[str, int]], rows: int, least: int, ordered: bool
) -> Markup:
    lines: list[Markup] = []
    counts = [count for _, count in entries]
    hidden = to_hide(counts, counts, least)
    for k, (state, count) in enumerate(entries[:MOST_STATES]):
        width, number = 100 * count / rows, f"{count:,}"
        if k in hidden:  # neither its number nor its bar may tell the count
            number, width = (f"< {least}" if count < least else "hidden"), 0.0
        lines.append(
            tag(
                "div",
                tag("span", shortened(state, 24), title=state),
                tag("span", tag("i", style=f"width:{width:.1f}%"), class_="lb"),
                tag("span", number, class_="r"),
                class_="lv",
            )
        )
    if len(entries) > MOST_STATES:
        lines.append(note(f"and {len(entries) - MOST_STATES} more states"))
    kind = tag("small", " ordered") if ordered else None
    return tag("div", tag("h3", shortened(name, 28), kind), *lines, class_="var")


def decisions_html(entries: Iterable[notes.Decision]) -> Markup:
    """Return what was decided about the rows, with the options that change it."""
    items = []
    for topic, text, option in entries:
        how = (" ", tag("code", option)) if option else ()
        items += [tag("dt", topic), tag("dd", text, *how)]
    return tag("dl", *items, class_="dec")


def _folded(analysis: Analysis, release: str, command: str, model: str) -> Markup:
    lines = [tag("p", "This page: ", tag("code", command))] if command else []
    if model:
        go_on = tag("code", f"contextwise explore {model}")
        lines.append(tag("p", "The model: ", tag("code", model), ". Go on with ", go_on))
    versions = (
        f"contextwise {release}, Python {platform.python_version()}, NumPy {np.__version__}, seed "
        f"{analysis.settings.seed}; fingerprint of the rows {analysis.data.fingerprint}."
    )
    return tag(
        "section",
        _structure(analysis),
        folded(
            "For the methods section of a paper",
            note(notes.methods(analysis, release)),
            note(notes.CITE),
        ),
        folded("How each number is computed", note(notes.HOW_COMPUTED)),
        folded("Files and commands", *lines, note(versions)),
        class_="fold",
    )
