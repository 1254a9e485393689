"""Write the page of an analysis: one HTML file that needs no network.

The parts are functions of their own, because the explorer and ``report MODEL`` show them too:
`verdict_chip`, `strength_plot`, `card_html`, `evidence_table` and `decisions_html`. Their style
sheet is ``static/findings.css``. Words are in `analysis_words` and `analysis_notes`, numbers in
`contextwise.evaluation.analysis`; nothing is computed here.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from importlib.metadata import version

import numpy as np

from contextwise.evaluation.analysis import Analysis, Card, CardPart, PairFinding
from contextwise.evaluation.pair_rows import Standardised, Stratum, state_order, to_hide
from contextwise.evaluation.stability import Repeats
from contextwise.models.evidence import CONTRADICTED, USED, ClaimEvidence
from contextwise.report import analysis_notes as notes
from contextwise.report import analysis_words as words
from contextwise.report.analysis_pictures import graph_of_findings, matrix_of_findings
from contextwise.report.analysis_words import Name, Phrase, percent
from contextwise.report.html import Markup, as_html, filled, full_page, joined
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


def analysis_page(
    analysis: Analysis, *, command: str = "", model: str = "", made: datetime | None = None
) -> str:
    """Return the page; ``command`` made it, and ``model`` is the file of the model."""
    release, when = version("contextwise"), made or datetime.now().astimezone()
    date = f"{when.day} {when:%B %Y}"
    cards = [analysis.card(finding) for finding in _with_cards(analysis)]
    groups = [
        as_html([Section(f"Groups by {short(each.by)}", tuple(parts_of(each)))])
        for each in analysis.groups or ()
    ]
    body = [
        _header(analysis, f"contextwise {release} · {date}"),
        _picture(analysis),
        _cards(analysis, cards),
        _evidence(analysis),
        *groups,
        _data(analysis),
        _cautions(analysis, cards),
        _folded(analysis, release, command, model),
        filled("<footer>{}</footer>", f"Made by contextwise {release} on {date}."),
    ]
    main = filled('<main class="findings">{}</main>', joined(body))
    title = f"{analysis.title}: what goes with what"
    return full_page(title, main, "findings.css", "analysis.css")


def phrase_html(phrase: Phrase) -> Markup:
    """Return a phrase with its variables in bold."""
    bold = '<b class="v">{}</b>'
    html = joined(filled(bold, short(p)) if isinstance(p, Name) else p for p in phrase)
    return Markup(html.replace(" %", "&nbsp;%").replace("(V ", "(V&nbsp;"))


def section(title: str, *content: Markup | None) -> Markup:
    return filled("<section><h2>{}</h2>{}</section>", title, joined(content))


def folded(title: str, *content: Markup | None) -> Markup:
    return filled("<details><summary>{}</summary>{}</details>", title, joined(content))


def note(text: str | Markup, kind: str = "note") -> Markup:
    return filled('<p class="{}">{}</p>', kind, text)


def scrolling(content: Markup, label: str) -> Markup:
    region = '<div class="scroll" tabindex="0" role="group" aria-label="{}">{}</div>'
    return filled(region, label, content)


# -- the answer ------------------------------------------------------------------------------------


def _header(analysis: Analysis, origin: str) -> Markup:
    data = analysis.data
    about = f"{len(data):,} rows · {len(data.domain)} variables · {origin}"
    return filled(
        '<header><p class="kick">{} <span>{}</span></p><h1>{}</h1><div class="sub">{}</div>{}{}'
        "</header>",
        analysis.title,
        about,
        phrase_html(words.first_sentence(analysis)),
        _next_sentences(analysis),
        score_line(analysis.evidence.claims),
        facts_html(notes.facts(analysis)),
    )


def _next_sentences(analysis: Analysis) -> Markup:
    return joined(filled("<p>{}</p>", phrase_html(s)) for s in words.next_sentences(analysis))


def answer_html(analysis: Analysis) -> Markup:
    """Return the first sentences and the verdicts, for a page that has its own heading."""
    return filled(
        '<p class="verdict">{}</p>{}{}',
        phrase_html(words.first_sentence(analysis)),
        _next_sentences(analysis),
        score_line(analysis.evidence.claims),
    )


def findings_html(analysis: Analysis) -> Markup:
    """Return the picture, the cards and the decisions, for a page that has its own heading."""
    cards = [analysis.card(finding) for finding in _with_cards(analysis)]
    parts = _picture(analysis), _cards(analysis, cards), _data(analysis), _cautions(analysis, cards)
    return joined(parts)


def score_line(claims: Sequence[ClaimEvidence]) -> Markup | None:
    """Count the verdicts; the line is also the key to their marks."""
    if not claims:
        return None
    counts = dict.fromkeys(words.VERDICT_MARKS, 0)
    for claim in claims:
        counts[claim.verdict] += 1
    entry = '<span class="{}">{}<b>{}</b> {}</span>'
    entries = (
        filled(entry, "" if count else "zero", verdict_mark(verdict), f"{count:,}", verdict)
        for verdict, count in counts.items()
        if count or verdict != USED
    )
    total = f"{plural(len(claims), 'claim')}, tested:"
    line = '<p class="score"><span class="total">{}</span>{}</p>'
    return filled(line, total, joined(entries))


def verdict_mark(verdict: str) -> Markup:
    return _mark(words.VERDICT_MARKS[verdict])


def _mark(kind: str) -> Markup:
    return filled('<i class="mark {}" aria-hidden="true"></i>', kind)


def verdict_chip(verdict: str) -> Markup:
    kind = words.VERDICT_MARKS[verdict]
    return filled('<span class="chip {}">{}{}</span>', kind, verdict_mark(verdict), verdict)


def facts_html(entries: Iterable[tuple[str, str]]) -> Markup:
    items = joined(filled("<div><dt>{}</dt><dd>{}</dd></div>", *entry) for entry in entries)
    return filled('<dl class="must">{}</dl>', items)


# -- the picture -----------------------------------------------------------------------------------


def _picture(analysis: Analysis) -> Markup | None:
    variables = len(analysis.domain)
    shown = [f for f in analysis.ranked if f.noted or variables <= 5]
    shown.sort(key=lambda f: (not analysis.is_about_outcome(f), -f.strength))
    linked = {f.pair for f in _with_cards(analysis)}
    plot = strength_plot(shown, linked=linked)
    if variables == 2 or not analysis.findings:
        return None  # the card shows it all, or there are too many pairs
    if variables <= GRAPH:
        both = filled('<div class="two">{}{}</div>', graph_figure(analysis), plot)
        return section("The picture", both)
    if variables <= MATRIX:
        return section("The picture", matrix_figure(analysis), plot)
    if plot is None:
        return None
    text = f"{variables} variables have too many pairs for a picture; these are the strongest."
    return section("The strongest pairs", note(text, "lede"), plot)


def graph_figure(analysis: Analysis) -> Markup:
    kinds = {f.kind for f in analysis.findings}
    is_empty = kinds <= {"none", "skipped"}
    caption = ["The page knows of no association. " if is_empty else words.GRAPH_CAPTION]
    if any(f.partly for f in analysis.findings):
        caption.append(filled("<b>An interrupted line</b> {}", words.INTERRUPTED))
    if "left out" in kinds:
        caption.append(filled("<b>A dashed line</b> {}", words.DASHED))
    if kinds & {"not shown", "untested"}:
        caption.append(filled("<b>A pale line</b> {}", words.PALE))
    figure = '<figure class="map">{}<figcaption>{}</figcaption></figure>'
    return filled(figure, graph_of_findings(analysis), joined(caption))


def matrix_figure(analysis: Analysis) -> Markup:
    entries = joined(
        filled("<span>{}{}</span>", _mark(kind), text) for kind, text in words.MATRIX_KEY.items()
    )
    return filled(
        '<figure>{}<p class="legend">{}</p><figcaption>{}</figcaption></figure>',
        scrolling(matrix_of_findings(analysis), "Matrix of all pairs"),
        entries,
        words.MATRIX_CAPTION,
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
    return filled(
        '<figure class="rank"><p class="legend"><span>{}others held fixed, with 95 % interval'
        "</span><span>{}crude</span></p>{}"
        '<div class="rrow ax"><span class="rl">Cramér’s V</span>{}<span></span></div>'
        "<figcaption>{}</figcaption></figure>",
        _sample("dot"),
        _sample("hollow"),
        joined(_strength_row(f, end, f.pair in cards) for f in shown),
        _axis(end),
        words.STRENGTH_CAPTION + more,
    )


def _strength_row(finding: PairFinding, end: float, linked: bool) -> Markup:
    first, second = (short(name, 22) for name in finding.pair)
    remark = words.remark(finding)
    kind = "bad" if finding.kind == "left out" else "" if finding.associated else "pale"
    value, marks = finding.adjusted, _ticks()
    if value is not None:
        marks.append(_line(value.low / end, value.high / end, f"ci {kind}"))
    if finding.crude is not None:
        marks.append(_dot(finding.crude.value / end, "hollow"))
    if value is not None:
        marks.append(_dot(value.value / end, f"dot {kind}"))
    numbers = f"V {words.v_text(value)}, crude {words.v_text(finding.crude)}"
    row = filled(
        '<span class="rl">{} – {}{}</span>{}<span class="rv">{}</span>',
        first,
        second,
        filled("<small>{}</small>", remark) if remark else None,
        _strip(marks, f"{first} and {second}: {numbers}"),
        f"{finding.strength:.2f}",
    )
    if linked:
        return filled('<a class="rrow" href="#{}">{}</a>', anchor(finding), row)
    return filled('<div class="rrow">{}</div>', row)


# -- small plots -----------------------------------------------------------------------------------


def _round_up(value: float) -> float:
    return next((k / 10 for k in range(1, 10) if value <= k / 10), 1.0)


def _place(share: float) -> str:
    return f"{2 + 96 * min(max(share, 0.0), 1.0):.2f}%"


def _strip(marks: Iterable[Markup], told: str, height: int = 22) -> Markup:
    strip = '<svg class="strip" height="{}" role="img" aria-label="{}">{}</svg>'
    return filled(strip, f"{height}", told, joined(marks))


def _line(low: float, high: float, kind: str, y: int = 11) -> Markup:
    ends = _place(low), _place(high)
    return filled('<line class="{0}" x1="{1}" x2="{2}" y1="{3}" y2="{3}"/>', kind, *ends, f"{y}")


def _rule(share: float, kind: str, height: int) -> Markup:
    line = '<line class="{0}" x1="{1}" x2="{1}" y1="0" y2="{2}"/>'
    return filled(line, kind, _place(share), f"{height}")


def _dot(share: float, kind: str, y: int = 11) -> Markup:
    return filled('<circle class="{}" cx="{}" cy="{}" r="4.4"/>', kind, _place(share), f"{y}")


def _diamond(share: float, kind: str, y: int) -> Markup:
    shape = '<svg class="at" x="{}" y="{}"><path class="{}" d="M0 -5L5 0L0 5L-5 0Z"/></svg>'
    return filled(shape, _place(share), f"{y}", kind)


def _ticks(height: int = 22) -> list[Markup]:
    return [_rule(share, "tick", height) for share in (0, 0.5, 1)]


def _axis(end: float, *, as_percent: bool = False) -> Markup:
    texts = [(k, percent(k * end) if as_percent else f"{k * end:.2g}") for k in (0, 0.5, 1)]
    label = '<span style="left:{}">{}</span>'
    labels = joined(filled(label, _place(k), text) for k, text in texts)
    return filled('<div class="axis">{}</div>', labels)


def _sample(kind: str) -> Markup:
    shape = '<circle class="{}" cx="7" cy="6" r="4.4"/>'
    if kind == "dot2":
        shape = '<path class="{}" d="M7 1L12 6L7 11L2 6Z"/>'
    sample = '<svg width="14" height="12" aria-hidden="true">{}</svg>'
    return filled(sample, filled(shape, kind))


# -- pair by pair ----------------------------------------------------------------------------------


def _with_cards(analysis: Analysis) -> list[PairFinding]:
    chosen = [f for f in analysis.ranked if f.noted or len(analysis.findings) <= 3]
    return chosen[: MOST_CARDS + MOST_FOLDED]


def _cards(analysis: Analysis, cards: Sequence[Card]) -> Markup | None:
    if not cards:
        return None
    drawn = [card_html(card) for card in cards]
    grid = '<div class="cards">{}</div>'
    more = None
    if rest := drawn[MOST_CARDS:]:
        more = folded(plural(len(rest), "more pair"), filled(grid, joined(rest)))
    lede = note(words.cards_lede(analysis), "lede") if len(cards) > 1 else None
    return section("Pair by pair", lede, filled(grid, joined(drawn[:MOST_CARDS])), more)


def card_html(card: Card) -> Markup:
    """Return the card of a pair: its sentence, its verdicts, and the rows behind each claim."""
    finding = card.finding
    verdicts = dict.fromkeys(claim.verdict for claim in finding.claims)
    first, second = map(short, finding.pair)
    return filled(
        '<article class="pair {}" id="{}"><div class="ch"><h3>{} and {}</h3>'
        '<span class="chip mu">{}</span>{}</div>'
        '<p class="say">{}</p><div class="claims {}">{}</div></article>',
        "wide" if _is_wide(card) else "narrow",
        anchor(finding),
        first,
        second,
        f"V {words.v_text(finding.adjusted or finding.crude)}",
        joined(map(verdict_chip, verdicts)),
        phrase_html(words.card_sentence(card)),
        "rows" if any(part.groups for part in card.parts) else "",
        joined(_card_part(card, part) for part in card.parts),
    )


def _is_wide(card: Card) -> bool:
    panels = max((len(p.shares.of_states) for p in card.parts if p.shares), default=0)
    return any(p.groups for p in card.parts) or len(card.parts) > 1 or panels > 1


def _card_part(card: Card, part: CardPart) -> Markup:
    claim = part.claim
    why = "Shares are hidden, because counts are small."
    body = note(why if part.hidden else "One of the two variables does not vary here.", "silent")
    if part.groups is not None:
        body = _groups_html(card, part)
    elif part.shares is not None:
        body = _panels_html(card, part.shares)
    return filled(
        '<div class="cg {}"><p class="cgh">{}<b>{}</b><span> · {}</span></p>{}</div>',
        words.VERDICT_MARKS[claim.verdict],
        verdict_mark(claim.verdict),
        phrase_html(words.part_title(claim)),
        words.part_numbers(claim),
        body,
    )


def _groups_html(card: Card, part: CardPart) -> Markup:
    """Return one row per group: both shares, their counts, and the difference."""
    groups = part.groups
    assert groups is not None
    texts = words.group_notes(groups, MOST_GROUPS)
    silent = joined(note(text, "silent") for text in texts)
    if not groups.groups:
        return silent
    first, second = (short(state, 24) for state in groups.states)
    region = [literal.variable for literal in part.claim.region]
    states = {v: {s for g in groups.groups for n, s in g.states if n == v} for v in region}
    constant = [v for v in region if len(states[v]) == 1]  # fixed by the region, so not repeated
    legend = f"Share with {short(card.of)} = {short(groups.state)}, where {short(card.by)} is"
    return filled(
        '<p class="legend">{}<span>{}{}</span><span>{}{}</span></p>'
        '<div class="crow ax"><span class="cl"></span>{}<span class="cv"></span>'
        '<span class="cd mu">difference</span></div>{}{}',
        legend,
        _sample("dot1"),
        first,
        _sample("dot2"),
        second,
        _axis(1.0, as_percent=True),
        joined(
            _group_row(group, (first, second), constant) for group in groups.groups[:MOST_GROUPS]
        ),
        silent,
    )


def _group_row(group: Stratum, states: tuple[str, str], constant: Iterable[str]) -> Markup:
    held = [f"{short(n, 18)} {short(s, 18)}" for n, s in group.states if n not in constant]
    label = ", ".join(held) or "all rows"
    one, two = group.shares
    low, high = sorted((one.value, two.value))
    span = '<rect class="span" x="{}" width="{}" y="8" height="14"/>'
    marks = [
        *_ticks(30),
        filled(span, _place(low), f"{96 * (high - low):.2f}%"),
        _line(one.low, one.high, "ci1", 10),
        _line(two.low, two.high, "ci2", 20),
        _dot(one.value, "dot1", 10),
        _diamond(two.value, "dot2", 20),
    ]
    number = "<span><em>{}</em>{} <small>{}</small></span>"
    texts = [
        (state, percent(share.value), f"{share.part:,} of {share.whole:,}")
        for share, state in zip(group.shares, states, strict=True)
    ]
    return filled(
        '<div class="crow"><span class="cl">{}</span>{}<span class="cv">{}</span>'
        '<span class="cd">{}<small> points</small></span></div>',
        label,
        _strip(marks, f"{label}: {'; '.join(map(' '.join, texts))}", 30),
        joined(filled(number, *text) for text in texts),
        words.points(group.points),
    )


def _panels_html(card: Card, shares: Standardised) -> Markup:
    """Return one panel per state: standardised and crude shares of it, by the other variable."""
    largest = np.argsort([-share for share in shares.overall], kind="stable")[:MOST_PANELS]
    chosen, rows = sorted(largest.tolist()), range(min(len(shares.states), MOST_STATES))
    ends = [shares.shares[k][r].high for k in chosen for r in rows]
    end = _round_up(max(ends + [shares.crude[k][r] for k in chosen for r in rows]))
    panels = joined(_panel(card, shares, k, rows, end) for k in chosen)
    heads = [short(card.by), *(f"{short(card.of)} = {short(state)}" for state in shares.of_states)]
    cells = [[state, *_share_texts(shares, r)] for r, state in enumerate(shares.states)]
    texts = words.panel_notes(shares)
    if len(shares.of_states) > MOST_PANELS or len(shares.states) > MOST_STATES:
        texts += " States with few rows are in the table."
    numbers = folded("The numbers", _text_table(heads, cells))
    shown = '<div class="panels">{}</div>{}<div class="numbers">{}</div>'
    return filled(shown, panels, note(texts), numbers)


def _share_texts(shares: Standardised, row: int) -> list[str]:
    return [
        f"{percent(e.value)} ({percent(e.low)} to {percent(e.high)}), crude {percent(crude[row])}"
        for e, crude in zip((each[row] for each in shares.shares), shares.crude, strict=True)
    ]


def _panel(card: Card, shares: Standardised, k: int, rows: Iterable[int], end: float) -> Markup:
    lines = []
    for r in rows:
        share, crude = shares.shares[k][r], shares.crude[k][r]
        marks = [
            *_ticks(24),
            _rule(shares.overall[k] / end, "ref", 24),
            _line(share.low / end, share.high / end, "ci", 12),
            _dot(crude / end, "hollow", 12),
            _dot(share.value / end, "dot", 12),
        ]
        state, text = short(shares.states[r], 24), percent(share.value)
        line = '<div class="pr"><span class="cl">{}</span>{}<b>{}</b></div>'
        lines.append(filled(line, state, _strip(marks, f"{state}: {text}", 24), text))
    return filled(
        '<div class="panel"><p class="ph"><span class="rn"><b class="v">{}</b></span>'
        '<b class="v">{}</b> = {}</p>{}'
        '<div class="pr ax"><span class="cl"></span>{}<b></b></div></div>',
        short(card.by, 20),
        short(card.of, 20),
        short(shares.of_states[k]),
        joined(lines),
        _axis(end, as_percent=True),
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
    table = partial(evidence_table, smallest_count=analysis.smallest_count)
    more = None
    if rest := claims[MOST_CLAIMS:MOST_LISTED]:
        count = f"{len(claims) - MOST_CLAIMS:,} more claims"
        more = folded(count, table(rest, analysis.halves, shown))
    return joined([table(claims[:MOST_CLAIMS], analysis.halves, shown), more])


def marked(text: str) -> Markup:
    """Return a text whose ``*words*`` are bold and whose ```words``` are code."""
    kinds = {"*": "<b>{}</b>", "`": "<code>{}</code>"}
    parts = re.split(r"([*`])(.+?)\1", text)
    plain_parts, signs, inner = parts[::3], parts[1::3], parts[2::3]
    shown = [filled(kinds[sign], word) for sign, word in zip(signs, inner, strict=True)]
    return joined(x for pair in zip(plain_parts, [*shown, None], strict=True) for x in pair)


def claim_html(claim: ClaimEvidence) -> Markup:
    return phrase_html(words.claim_phrase(claim))


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
    again = '<th scope="col">{}</th>'
    found = filled(again, f"Found again in {halves.count} random halves") if halves else None
    content = filled(
        '<table class="ev"><thead><tr><th scope="col">Claim of the model</th>'
        '<th scope="col">In the rows</th>'
        '<th scope="col">Strength <small>in the rows of the test</small></th>'
        '<th scope="col" class="r">Rows that count</th>'
        '<th scope="col" class="r">p <small>corrected</small></th>{}</tr></thead>'
        "<tbody>{}</tbody></table>",
        found,
        joined(_claim_row(claim, halves, shown or claim_html, smallest_count) for claim in claims),
    )
    return scrolling(content, "Claims and evidence")


def _claim_row(
    claim: ClaimEvidence, halves: Repeats | None, shown: ClaimContent, smallest_count: int
) -> Markup:
    remark = words.effect_remark(claim)
    found = '<td data-l="Found again">{}</td>'
    return filled(
        '<tr class="{}"><td data-l="">{}</td><td data-l="In the rows">{}</td>'
        '<td data-l="Strength"><span class="eff">{}{}</span></td>'
        '<td class="r" data-l="Rows that count">{}</td>'
        '<td class="r" data-l="p, corrected">{}</td>{}</tr>',
        words.VERDICT_MARKS[claim.verdict],
        shown(claim),
        verdict_chip(claim.verdict),
        words.effect_text(claim.effect),
        filled("<small> {}</small>", remark) if remark else None,
        _rounded(claim.informative, smallest_count),
        words.p_value(claim.adjusted),
        filled(found, _found_again(claim, halves)) if halves else None,
    )


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
    remark = f"pair found in {pair}" if claim.dependent and pair != count else ""
    return filled(
        '<span class="half"><span class="bar" aria-hidden="true"><i style="left:{}%"></i></span>'
        "{}{}</span>",
        f"{100 * count / halves.count:.0f}",
        f"{count}",
        filled("<small>{}</small>", remark) if remark else None,
    )


# -- the data --------------------------------------------------------------------------------------


def _data(analysis: Analysis) -> Markup:
    data = analysis.data
    boxes = []
    columns = zip(data.domain.names, data.domain.states, data.counts(), strict=True)
    for name, states, counts in columns:
        entries = [(states[k], int(counts[k])) for k in state_order(data, name)]
        boxes.append(_variable(name, entries, len(data), analysis.smallest_count))
    shown = filled('<div class="vars">{}</div>', joined(boxes))
    if len(boxes) > GRAPH:
        shown = folded(f"The states of all {len(boxes)} variables", shown)
    decided = filled("<div><h3>Decisions</h3>{}</div>", decisions_html(notes.decisions(analysis)))
    return section("The data, as read", filled('<div class="two">{}{}</div>', shown, decided))


def _variable(
    name: str, entries: Sequence[tuple[str, int]], rows: int, smallest_count: int
) -> Markup:
    line = (
        '<div class="lv"><span>{}</span><span class="lb"><i style="width:{}%"></i></span>'
        '<span class="r">{}</span><span class="r mu">{}</span></div>'
    )
    lines = []
    counts = [count for _, count in entries]
    hidden = to_hide(counts, counts, smallest_count)
    for k, (state, count) in enumerate(entries[:MOST_STATES]):
        width, texts = 100 * count / rows, (f"{count:,}", percent(count / rows))
        if k in hidden:  # neither its share nor its bar may tell the count
            width, texts = 0.0, (f"< {smallest_count}" if count < smallest_count else "hidden", "")
        lines.append(filled(line, short(state, 24), f"{width:.1f}", *texts))
    if len(entries) > MOST_STATES:
        lines.append(note(f"and {len(entries) - MOST_STATES} more states"))
    return filled('<div class="var"><h3>{}</h3>{}</div>', short(name), joined(lines))


def decisions_html(entries: Iterable[tuple[str, str, str]]) -> Markup:
    items = joined(
        filled(
            "<dt>{}</dt><dd>{}{}</dd>",
            topic,
            text,
            filled("<br><code>{}</code>", option) if option else None,
        )
        for topic, text, option in entries
    )
    return filled('<dl class="dec">{}</dl>', items)


def _cautions(analysis: Analysis, cards: Sequence[Card]) -> Markup:
    shown = [group.smallest for card in cards for group in card.groups]
    texts = notes.cautions(analysis, min(shown, default=0))
    items = joined(filled("<li>{}</li>", marked(text)) for text in texts)
    return section("Before you quote this", filled('<ul class="cav">{}</ul>', items))


# -- folded ----------------------------------------------------------------------------------------


def _folded(analysis: Analysis, release: str, command: str, model: str) -> Markup:
    lines = [filled("<p>This page: <code>{}</code></p>", command) if command else None]
    if model:
        text = (
            "<p>The model with its evidence: <code>{0}</code>. Go on with <code>{1} {0}</code></p>"
        )
        lines.append(filled(text, model, "contextwise explore"))
    versions = (
        f"contextwise {release}, Python {platform.python_version()}, NumPy {np.__version__}, seed "
        f"{analysis.seed}; fingerprint of the rows {analysis.data.fingerprint}."
    )
    methods = notes.methods(analysis, release)
    return filled(
        '<section class="fold">{}{}{}{}</section>',
        folded("Methods paragraph for a paper", note(methods, ""), note(notes.CITE, "")),
        folded("How each number is computed", note(notes.HOW_COMPUTED, "")),
        folded("All pairs as a table", pairs_table(analysis.ranked)),
        folded("Files and commands", *lines, note(versions, "")),
    )


def pairs_table(findings: Sequence[PairFinding]) -> Markup:
    """Return the pairs with their strengths, as many as a page can hold."""
    heads = ("Pair", "Finding", "V, others held fixed", "V, crude", "Share of rows", "Held fixed")
    rows = [
        (
            " – ".join(map(short, f.pair)),
            words.finding_text(f),
            words.v_text(f.adjusted),
            words.v_text(f.crude),
            percent(f.holds) if f.noted else "",
            ", ".join(map(short, f.given)) if f.adjusted else "",
        )
        for f in findings[:MOST_PAIRS]
    ]
    return _text_table(heads, rows)


def _text_table(heads: Iterable[str], rows: Iterable[Sequence[str]]) -> Markup:
    columns = tuple(Column(head, "text") for head in heads)
    return as_html([Table("", columns, tuple(map(tuple, rows)))])
