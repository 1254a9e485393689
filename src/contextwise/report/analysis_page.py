"""Write the page of an analysis: one HTML file that needs no network.

The parts are functions of their own, because the explorer and ``report MODEL`` show them too:
`verdict_chip`, `strength_plot`, `card_html`, `evidence_table` and `decisions_html`. Their style
sheet is ``static/findings.css``. Words are in `analysis_words` and `analysis_notes`, pictures in
`analysis_pictures`, numbers in `contextwise.analysis.findings`; nothing is computed here.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from importlib.metadata import version

import numpy as np

from contextwise.analysis.findings import Analysis, Card, CardPart, PairFinding
from contextwise.analysis.pair_rows import Standardised, Strata, Stratum, state_order, to_hide
from contextwise.analysis.resampling import Repeats
from contextwise.models.evidence import CONTRADICTED, USED, ClaimEvidence
from contextwise.report import analysis_notes as notes
from contextwise.report import analysis_words as words
from contextwise.report.analysis_pictures import (
    axis,
    graph_of_findings,
    line_kind,
    matrix_of_findings,
    row_plot,
    sample,
)
from contextwise.report.analysis_words import Name, Phrase, percent
from contextwise.report.html import Markup, as_html, full_page, joined, scrolling, tag
from contextwise.report.parts import Column, Section, Table, parts_of
from contextwise.support.formatting import name as short
from contextwise.support.formatting import plural

ClaimContent = Callable[[ClaimEvidence], Markup]
GRAPH, MATRIX = 12, 60  # variables up to which the picture is a graph, or a matrix
MOST_CARDS, MOST_FOLDED = 12, 48
MOST_LINES = 30  # rows of the plot of strengths
MOST_GROUPS = 8  # groups of rows of one claim
MOST_PANELS, MOST_STATES = 6, 12
MOST_CLAIMS, MOST_LISTED = 40, 2_000  # claims above the fold, and at all
MOST_PAIRS = 500  # rows of the table of all pairs


def page_of_analysis(
    analysis: Analysis, *, command: str = "", model: str = "", made: datetime | None = None
) -> str:
    """Return the page; ``command`` made it, and ``model`` is the file of the model."""
    release, when = version("contextwise"), made or datetime.now().astimezone()
    date = f"{when.day} {when:%B %Y}"
    cards = _cards_of(analysis)
    groups = (
        Section(f"Groups by {short(each.by)}", tuple(parts_of(each)))
        for each in analysis.groups or ()
    )
    main = tag(
        "main",
        _header(analysis, f"contextwise {release} · {date}"),
        _picture(analysis),
        _cards(analysis, cards),
        _evidence(analysis),
        as_html(groups),
        _data(analysis),
        _cautions(analysis, cards),
        _folded(analysis, release, command, model),
        tag("footer", f"Made by contextwise {release} on {date}."),
        class_="findings",
    )
    title = f"{analysis.title}: what goes with what"
    return full_page(title, main, "findings.css", "analysis.css")


def phrase_html(phrase: Phrase) -> Markup:
    """Return a phrase with its variables in bold."""
    html = joined(tag("b", short(p), class_="v") if isinstance(p, Name) else p for p in phrase)
    return Markup(html.replace(" %", "&nbsp;%").replace("(V ", "(V&nbsp;"))


def section(title: str, *content: Markup | None) -> Markup:
    return tag("section", tag("h2", title), *content)


def folded(title: str, *content: Markup | None) -> Markup:
    return tag("details", tag("summary", title), *content)


def note(text: str | Markup, kind: str | None = "note") -> Markup:
    return tag("p", text, class_=kind)


# -- the answer ------------------------------------------------------------------------------------


def _header(analysis: Analysis, origin: str) -> Markup:
    data = analysis.data
    about = f"{len(data):,} rows · {len(data.domain)} variables · {origin}"
    facts = (tag("div", tag("dt", k), tag("dd", text)) for k, text in notes.facts(analysis))
    return tag(
        "header",
        tag("p", f"{analysis.title} ", tag("span", about), class_="kick"),
        tag("h1", phrase_html(words.first_sentence(analysis))),
        tag("div", _next_sentences(analysis), class_="sub"),
        score_line(analysis.evidence.claims),
        tag("dl", *facts, class_="must"),
    )


def _next_sentences(analysis: Analysis) -> Markup:
    return joined(tag("p", phrase_html(s)) for s in words.next_sentences(analysis))


def answer_html(analysis: Analysis) -> Markup:
    """Return the first sentences and the verdicts, for a page that has its own heading."""
    first = note(phrase_html(words.first_sentence(analysis)), "verdict")
    return joined([first, _next_sentences(analysis), score_line(analysis.evidence.claims)])


def findings_html(analysis: Analysis) -> Markup:
    """Return the picture, the cards and the decisions, for a page that has its own heading."""
    cards = _cards_of(analysis)
    parts = _picture(analysis), _cards(analysis, cards), _data(analysis), _cautions(analysis, cards)
    return joined(parts)


def score_line(claims: Sequence[ClaimEvidence]) -> Markup | None:
    """Count the verdicts; the line is also the key to their marks."""
    if not claims:
        return None
    counts = dict.fromkeys(words.VERDICT_MARKS, 0)
    for claim in claims:
        counts[claim.verdict] += 1
    entries = (
        tag(
            "span",
            verdict_mark(verdict),
            tag("b", f"{count:,}"),
            f" {verdict}",
            class_=None if count else "zero",
        )
        for verdict, count in counts.items()
        if count or verdict != USED
    )
    total = tag("span", f"{plural(len(claims), 'claim')}, tested:", class_="total")
    return tag("p", total, *entries, class_="score")


def verdict_mark(verdict: str) -> Markup:
    return _mark(words.VERDICT_MARKS[verdict])


def _mark(kind: str) -> Markup:
    return tag("i", class_=f"mark {kind}", aria_hidden="true")


def verdict_chip(verdict: str) -> Markup:
    kind = words.VERDICT_MARKS[verdict]
    return tag("span", verdict_mark(verdict), verdict, class_=f"chip {kind}")


# -- the picture -----------------------------------------------------------------------------------


def _picture(analysis: Analysis) -> Markup | None:
    variables = len(analysis.domain)
    if variables == 2 or not analysis.findings:
        return None  # the card shows it all, or there are too many pairs
    shown = [f for f in analysis.ranked if f.noted or variables <= 5]
    shown.sort(key=lambda f: (not analysis.is_about_outcome(f), -f.strength))
    plot = strength_plot(shown, linked={f.pair for f in _with_cards(analysis)})
    if variables <= GRAPH:
        return section("The picture", tag("div", graph_figure(analysis), plot, class_="two"))
    if variables <= MATRIX:
        return section("The picture", matrix_figure(analysis), plot)
    if plot is None:
        return None
    text = f"{variables} variables have too many pairs for a picture; these are the strongest."
    return section("The strongest pairs", note(text, "lede"), plot)


def graph_figure(analysis: Analysis) -> Markup:
    kinds = {f.kind for f in analysis.findings}
    caption = [words.EMPTY_CAPTION if kinds <= {"none", "skipped"} else words.GRAPH_CAPTION]
    if any(f.partly for f in analysis.findings):
        caption.append(words.INTERRUPTED)
    if "left out" in kinds:
        caption.append(words.DASHED)
    if kinds & {"not shown", "untested"}:
        caption.append(words.PALE)
    text = tag("figcaption", marked(" ".join(caption)))
    return tag("figure", graph_of_findings(analysis), text, class_="map")


def matrix_figure(analysis: Analysis) -> Markup:
    key = (tag("span", _mark(kind), text) for kind, text in words.MATRIX_KEY.items())
    return tag(
        "figure",
        scrolling(matrix_of_findings(analysis), "Matrix of all pairs"),
        tag("p", *key, class_="legend"),
        tag("figcaption", words.MATRIX_CAPTION),
    )


def anchor(finding: PairFinding) -> str:
    return "p-" + re.sub(r"[^A-Za-z0-9_-]+", "-", "-".join(finding.pair))


def strength_plot(
    findings: Sequence[PairFinding], *, linked: Iterable[tuple[str, str]] = ()
) -> Markup | None:
    """Plot the strength of each pair, crude and with the others held fixed."""
    shown, cards = list(findings)[:MOST_LINES], set(linked)
    ends = [f.adjusted.high for f in shown if f.adjusted]
    ends += [f.crude.value for f in shown if f.crude]
    if not ends:
        return None
    end = _round_up(max(ends))
    left = len(findings) - len(shown)
    more = f" {left} weaker pairs are in the table at the end." if left > 0 else ""
    head = tag("span", "Cramér’s V", class_="cl"), axis(end, "{:.2g}".format), tag("span")
    return tag(
        "figure",
        _legend(("", "others held fixed, with 95 % interval"), ("hollow", "crude")),
        *(_strength_row(f, end, f.pair in cards) for f in shown),
        tag("div", *head, class_="rrow ax"),
        tag("figcaption", words.STRENGTH_CAPTION + more),
        class_="rank",
    )


def _strength_row(finding: PairFinding, end: float, linked: bool) -> Markup:
    first, second = (short(name, 22) for name in finding.pair)
    remark, crude = words.remark(finding), finding.crude
    values = [(line_kind(finding), finding.adjusted)] if finding.adjusted else []
    numbers = f"V {words.v_text(finding.adjusted)}, crude {words.v_text(crude)}"
    text = f"{first} and {second}: {numbers}"
    return tag(
        "a" if linked else "div",
        tag("span", f"{first} – {second}", tag("small", remark) if remark else None, class_="cl"),
        row_plot(text, values, end=end, crude=crude.value if crude else None),
        tag("span", f"{finding.strength:.2f}", class_="rv"),
        class_="rrow",
        href=f"#{anchor(finding)}" if linked else None,
    )


def _round_up(value: float) -> float:
    return next((k / 10 for k in range(1, 10) if value <= k / 10), 1.0)


def _legend(*entries: tuple[str, str], title: str | None = None) -> Markup:
    shown = (tag("span", sample(kind), text) for kind, text in entries)
    return tag("p", title, *shown, class_="legend")


# -- pair by pair ----------------------------------------------------------------------------------


def _with_cards(analysis: Analysis) -> list[PairFinding]:
    chosen = [f for f in analysis.ranked if f.noted or len(analysis.findings) <= 3]
    return chosen[: MOST_CARDS + MOST_FOLDED]


def _cards_of(analysis: Analysis) -> list[Card]:
    return [analysis.card(finding) for finding in _with_cards(analysis)]


def _cards(analysis: Analysis, cards: Sequence[Card]) -> Markup | None:
    if not cards:
        return None
    lede = note(words.cards_lede(analysis), "lede") if len(cards) > 1 else None
    shown = [
        tag("div", *map(card_html, some), class_="cards")
        for some in (cards[:MOST_CARDS], cards[MOST_CARDS:])
        if some
    ]
    more = (folded(plural(len(cards) - MOST_CARDS, "more pair"), rest) for rest in shown[1:])
    return section("Pair by pair", lede, shown[0], *more)


def card_html(card: Card) -> Markup:
    """Return the card of a pair: its sentence, its verdicts, and the rows behind each claim."""
    finding = card.finding
    verdicts = dict.fromkeys(claim.verdict for claim in finding.claims)
    first, second = map(short, finding.pair)
    v = f"V {words.v_text(finding.adjusted or finding.crude)}"
    head = tag("h3", f"{first} and {second}"), tag("span", v, class_="chip mu")
    rows = " rows" if any(part.groups for part in card.parts) else ""
    return tag(
        "article",
        tag("div", *head, *map(verdict_chip, verdicts), class_="ch"),
        tag("p", phrase_html(words.card_sentence(card)), class_="say"),
        tag("div", *(_card_part(card, part) for part in card.parts), class_=f"claims{rows}"),
        class_=f"pair {'wide' if _is_wide(card) else 'narrow'}",
        id=anchor(finding),
    )


def _is_wide(card: Card) -> bool:
    panels = max((len(p.shares.of_states) for p in card.parts if p.shares), default=0)
    return any(p.groups for p in card.parts) or len(card.parts) > 1 or panels > 1


def _card_part(card: Card, part: CardPart) -> Markup:
    claim = part.claim
    if part.groups is not None:
        body = _groups_html(card, part.groups, {literal.variable for literal in claim.region})
    elif part.shares is not None:
        body = _panels_html(card, part.shares)
    else:
        why = "Shares are hidden, because counts are small."
        body = note(
            why if part.hidden else "One of the two variables does not vary here.", "silent"
        )
    title = tag("b", phrase_html(words.part_title(claim)))
    numbers = tag("span", f" · {words.part_numbers(claim)}")
    heading = tag("p", verdict_mark(claim.verdict), title, numbers, class_="cgh")
    return tag("div", heading, body, class_=f"cg {words.VERDICT_MARKS[claim.verdict]}")


def _groups_html(card: Card, groups: Strata, region: set[str]) -> Markup:
    """Return one row per group: both shares, their counts, and the difference.

    Variables of the ``region`` of the claim that have one state in it are not repeated.
    """
    silent = [note(text, "silent") for text in words.group_notes(groups, MOST_GROUPS)]
    if not groups.groups:
        return joined(silent)
    first, second = (short(state, 24) for state in groups.states)
    states = {literal for group in groups.groups for literal in group.states}
    repeated = [variable for variable, _ in states]
    constant = {variable for variable in region if repeated.count(variable) == 1}
    title = f"Share with {short(card.of)} = {short(groups.state)}, where {short(card.by)} is"
    difference = tag("span", "difference", class_="cd mu")
    cells = tag("span", class_="cl"), axis(1.0, percent), tag("span", class_="cv"), difference
    rows = (_group_row(g, (first, second), constant) for g in groups.groups[:MOST_GROUPS])
    legend = _legend(("one", first), ("two", second), title=title)
    return joined([legend, tag("div", *cells, class_="crow ax"), *rows, *silent])


def _group_row(group: Stratum, states: tuple[str, str], constant: set[str]) -> Markup:
    held = [f"{short(n, 18)} {short(s, 18)}" for n, s in group.states if n not in constant]
    label = ", ".join(held) or "all rows"
    texts, numbers = [], []
    for share, state in zip(group.shares, states, strict=True):
        value, counts = percent(share.value), f"{share.part:,} of {share.whole:,}"
        texts.append(f"{state} {value} {counts}")
        numbers.append(tag("span", tag("em", state), f"{value} ", tag("small", counts)))
    values = list(zip(("one", "two"), group.shares, strict=True))
    points = words.points(group.points)
    return tag(
        "div",
        tag("span", label, class_="cl"),
        row_plot(f"{label}: {'; '.join(texts)}", values),
        tag("span", *numbers, class_="cv"),
        tag("span", points, tag("small", " points"), class_="cd"),
        class_="crow",
    )


def _panels_html(card: Card, shares: Standardised) -> Markup:
    """Return one panel per state: standardised and crude shares of it, by the other variable."""
    largest = np.argsort([-share for share in shares.overall], kind="stable")[:MOST_PANELS]
    chosen, rows = sorted(largest.tolist()), range(min(len(shares.states), MOST_STATES))
    ends = [shares.shares[k][r].high for k in chosen for r in rows]
    end = _round_up(max(ends + [shares.crude[k][r] for k in chosen for r in rows]))
    texts = words.panel_notes(shares)
    if len(shares.of_states) > MOST_PANELS or len(shares.states) > MOST_STATES:
        texts += " States with few rows are in the table."
    panels = (_panel(card, shares, k, rows, end) for k in chosen)
    numbers = folded("The numbers", _shares_table(card, shares))
    return joined(
        [
            tag("div", *panels, class_="panels"),
            note(texts),
            tag("div", numbers, class_="numbers"),
        ]
    )


def _shares_table(card: Card, shares: Standardised) -> Markup:
    heads = [short(card.by), *(f"{short(card.of)} = {short(state)}" for state in shares.of_states)]
    cells = [
        [
            f"{percent(e.value)} ({percent(e.low)} to {percent(e.high)}), crude {percent(crude)}"
            for e, crude in zip(each, crudes, strict=True)
        ]
        for each, crudes in zip(shares.shares, shares.crude, strict=True)
    ]
    return _text_table(heads, zip(shares.states, *cells, strict=True))


def _panel(card: Card, shares: Standardised, k: int, rows: Iterable[int], end: float) -> Markup:
    lines = []
    for r in rows:
        share, crude = shares.shares[k][r], shares.crude[k][r]
        state, text = short(shares.states[r], 24), percent(share.value)
        plot = row_plot(
            f"{state}: {text}", [("", share)], end=end, crude=crude, overall=shares.overall[k]
        )
        lines.append(tag("div", tag("span", state, class_="cl"), plot, tag("b", text), class_="pr"))
    by = tag("span", tag("b", short(card.by, 20), class_="v"), class_="rn")
    of = tag("b", short(card.of, 20), class_="v")
    foot = tag("span", class_="cl"), axis(end, percent), tag("b")
    return tag(
        "div",
        tag("p", by, of, f" = {short(shares.of_states[k])}", class_="ph"),
        *lines,
        tag("div", *foot, class_="pr ax"),
        class_="panel",
    )


# -- evidence --------------------------------------------------------------------------------------


def _evidence(analysis: Analysis) -> Markup | None:
    if not analysis.evidence.claims:
        return None
    return section(
        "The claims and their evidence",
        note(words.evidence_lede(analysis), "lede"),
        claims_html(analysis),
        *(note(marked(text)) for text in words.evidence_notes(analysis)),
    )


def claims_html(analysis: Analysis, shown: ClaimContent | None = None) -> Markup:
    """Return the claims with their evidence, disagreements first; many are folded."""
    rank = {f.pair: k for k, f in enumerate(analysis.ranked)}
    claims = sorted(
        analysis.evidence.claims,
        key=lambda c: (c.verdict != CONTRADICTED, not c.dependent, rank.get(c.pair, len(rank))),
    )
    rows = partial(evidence_table, smallest_count=analysis.smallest_count)
    more = None
    if rest := claims[MOST_CLAIMS:MOST_LISTED]:
        count = f"{len(claims) - MOST_CLAIMS:,} more claims"
        more = folded(count, rows(rest, analysis.halves, shown))
    return joined([rows(claims[:MOST_CLAIMS], analysis.halves, shown), more])


def marked(text: str) -> Markup:
    """Return a text whose ``*words*`` are bold and whose ```words``` are code."""
    plain, *rest = re.split(r"([*`])(.+?)\1", text)
    pieces: list[str] = [plain]
    for sign, inner, after in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        pieces += [tag("b" if sign == "*" else "code", inner), after]
    return joined(pieces)


def claim_html(claim: ClaimEvidence) -> Markup:
    return phrase_html(words.claim_phrase(claim))


HEADS = (
    "Claim of the model",
    "In the rows",
    "Strength in the rows of the test",
    "Rows that count",
    "Corrected p",
)
NUMBERS = HEADS[3:]  # aligned to the right


def evidence_table(
    claims: Sequence[ClaimEvidence],
    halves: Repeats | None = None,
    shown: ClaimContent | None = None,
    *,
    smallest_count: int = 0,
) -> Markup:
    """Return one row per claim: verdict, strength, rows, p, and how often it is found again.

    ``shown`` returns the words of a claim, such as a button that opens its pair. Numbers of rows
    are rounded to a multiple of ``smallest_count``.
    """
    heads = [*HEADS, *([f"Found again in {halves.count} random halves"] if halves else [])]
    top = (tag("th", head, scope="col", class_=_side(head)) for head in heads)
    rows = []
    for claim in claims:
        remark = words.effect_remark(claim)
        effect = words.effect_text(claim.effect), tag("small", f" {remark}") if remark else None
        cells = [
            (shown or claim_html)(claim),
            verdict_chip(claim.verdict),
            tag("span", *effect, class_="eff"),
            _rounded(claim.informative, smallest_count),
            words.p_value(claim.adjusted),
            *([_found_again(claim, halves)] if halves else []),
        ]
        row = (
            tag("td", cell, class_=_side(head), data_l=head.partition(" in ")[0])
            for head, cell in zip(heads, cells, strict=True)
        )
        rows.append(tag("tr", *row, class_=words.VERDICT_MARKS[claim.verdict]))
    content = tag("table", tag("thead", tag("tr", *top)), tag("tbody", *rows), class_="ev")
    return scrolling(content, "Claims and evidence")


def _side(head: str) -> str | None:
    return "r" if head in NUMBERS else None


def _rounded(count: int, base: int) -> str:
    """Round a number of rows, so that its difference to another does not tell a few rows."""
    if base < 2:
        return f"{count:,}"
    return f"< {base}" if 0 < count < base else f"≈ {base * round(count / base):,}"


def _found_again(claim: ClaimEvidence, halves: Repeats) -> Markup:
    count = halves.claims.get(claim)
    if count is None:
        return Markup("–")
    pair = halves.pairs[claim.pair]
    differs = claim.dependent and pair != count
    tick = tag("i", style=f"left:{100 * count / halves.count:.0f}%")
    return tag(
        "span",
        tag("span", tick, class_="bar", aria_hidden="true"),
        f"{count}",
        tag("small", f"pair found in {pair}") if differs else None,
        class_="half",
    )


# -- the data --------------------------------------------------------------------------------------


def _data(analysis: Analysis) -> Markup:
    data = analysis.data
    boxes = []
    columns = zip(data.domain.names, data.domain.states, data.counts(), strict=True)
    for name, states, counts in columns:
        entries = [(states[k], int(counts[k])) for k in state_order(data, name)]
        boxes.append(_variable(name, entries, len(data), analysis.smallest_count))
    shown = tag("div", *boxes, class_="vars")
    if len(boxes) > GRAPH:
        shown = folded(f"The states of all {len(boxes)} variables", shown)
    decided = tag("div", tag("h3", "Decisions"), decisions_html(notes.decisions(analysis)))
    return section("The data, as read", tag("div", shown, decided, class_="two"))


def _variable(
    name: str, entries: Sequence[tuple[str, int]], rows: int, smallest_count: int
) -> Markup:
    lines = []
    counts = [count for _, count in entries]
    hidden = to_hide(counts, counts, smallest_count)
    for k, (state, count) in enumerate(entries[:MOST_STATES]):
        width, number, share = 100 * count / rows, f"{count:,}", percent(count / rows)
        if k in hidden:  # neither its share nor its bar may tell the count
            number = f"< {smallest_count}" if count < smallest_count else "hidden"
            width, share = 0.0, ""
        cells = (
            tag("span", short(state, 24)),
            tag("span", tag("i", style=f"width:{width:.1f}%"), class_="lb"),
            tag("span", number, class_="r"),
            tag("span", share, class_="r mu"),
        )
        lines.append(tag("div", *cells, class_="lv"))
    if len(entries) > MOST_STATES:
        lines.append(note(f"and {len(entries) - MOST_STATES} more states"))
    return tag("div", tag("h3", short(name)), *lines, class_="var")


def decisions_html(entries: Iterable[notes.Decision]) -> Markup:
    items = []
    for topic, text, option in entries:
        how = (tag("br"), tag("code", option)) if option else ()
        items += [tag("dt", topic), tag("dd", text, *how)]
    return tag("dl", *items, class_="dec")


def _cautions(analysis: Analysis, cards: Sequence[Card]) -> Markup:
    shown = [group.smallest for card in cards for group in card.groups]
    texts = notes.cautions(analysis, min(shown, default=0))
    items = (tag("li", marked(text)) for text in texts)
    return section("Before you quote this", tag("ul", *items, class_="cav"))


# -- folded ----------------------------------------------------------------------------------------


def _folded(analysis: Analysis, release: str, command: str, model: str) -> Markup:
    lines = [tag("p", "This page: ", tag("code", command))] if command else []
    if model:
        go_on = tag("code", f"contextwise explore {model}")
        file = tag("code", model)
        lines.append(tag("p", "The model with its evidence: ", file, ". Go on with ", go_on))
    versions = (
        f"contextwise {release}, Python {platform.python_version()}, NumPy {np.__version__}, seed "
        f"{analysis.seed}; fingerprint of the rows {analysis.data.fingerprint}."
    )
    methods = notes.methods(analysis, release)
    return tag(
        "section",
        folded("Methods paragraph for a paper", note(methods, None), note(notes.CITE, None)),
        folded("How each number is computed", note(notes.HOW_COMPUTED, None)),
        folded("All pairs as a table", pairs_table(analysis.ranked)),
        folded("Files and commands", *lines, note(versions, None)),
        class_="fold",
    )


def pairs_table(findings: Sequence[PairFinding]) -> Markup:
    """Return the pairs with their strengths, as many as a page can hold."""
    heads = ("Pair", "Finding", "V, others held fixed", "V, crude", "Share of rows", "Held fixed")
    rows = (
        (
            " – ".join(map(short, f.pair)),
            words.finding_text(f),
            words.v_text(f.adjusted),
            words.v_text(f.crude),
            percent(f.holds) if f.noted else "",
            ", ".join(map(short, f.given)) if f.adjusted else "",
        )
        for f in findings[:MOST_PAIRS]
    )
    return _text_table(heads, rows)


def _text_table(heads: Iterable[str], rows: Iterable[Sequence[str]]) -> Markup:
    columns = tuple(Column(head, "text") for head in heads)
    return as_html([Table("", columns, tuple(map(tuple, rows)))])
