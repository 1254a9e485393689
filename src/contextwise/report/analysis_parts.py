"""The parts of an analysis: the answer, its verdicts, one table, where it differs, the other pairs.

The terminal, notebooks, LaTeX and the page show the same parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from contextwise.analysis.conclusions import Analysis
from contextwise.analysis.pair_rows import is_scale
from contextwise.analysis.resampling import Repeats
from contextwise.evidence.pair_effects import FEWEST_ROWS_QUOTED
from contextwise.evidence.pair_records import (
    VERDICTS,
    Interaction,
    PairEffect,
    PairEvidence,
    StateEffects,
)
from contextwise.models.evidence import ClaimEvidence
from contextwise.models.notation import in_words
from contextwise.report.analysis_answer import (
    NOT_ON_AVERAGE,
    change_start,
    change_text,
    contrasts,
    differences,
    effect_label,
    evidence_sentence,
    hidden_rows,
    interaction_sentence,
    next_sentences,
    other,
    shown_pairs,
    title_sentence,
    verdict_note,
)
from contextwise.report.analysis_contrasts import (
    Contrast,
    effect_by_state,
    shares_of,
    step_of,
)
from contextwise.report.analysis_drawings import (
    Lines,
    Rows,
    SharePoint,
    share_with_interval,
    shortened,
)
from contextwise.report.analysis_notes import cautions, untested
from contextwise.report.groups_of_rows import columns_parts
from contextwise.report.parts import (
    TOP,
    Card,
    Cell,
    Drawn,
    Judged,
    Note,
    PairName,
    Part,
    Picture,
    Section,
    Spread,
    Style,
    Table,
    Verdicts,
    table,
)
from contextwise.support.formatting import listed, plural
from contextwise.support.words import Name, Phrase, p_is, p_text, percent, points

MOST_CARDS = 3
"""Cards that a page shows open; the others are folded."""
FEWEST_HALVES_SHOWN = 20
LONGEST_GROUP = 12
"""Letters of the name of a group beside its line."""
Groups = Sequence[tuple[StateEffects, PairEffect]]
"""The same effect in several states of a third variable."""


def parts_of_analysis(analysis: Analysis, *, top: int = TOP) -> list[Part]:
    """Return the parts of an analysis; ``top`` limits the pairs besides those of the outcome."""
    parts: list[Part] = [*answer_parts(analysis), main_table(analysis, top)]
    if hidden_rows(analysis):
        parts.append(Note("untested", untested(analysis)))
    cards = difference_cards(analysis)
    if cards:
        parts.append(Section("Where the association differs", (*cards[:MOST_CARDS],), "where"))
    if analysis.outcome and len(analysis.pairs) > len(shown_pairs(analysis)):
        parts.append(other_pairs(analysis, top))
    if analysis.groups is not None:
        parts.append(Section("Groups", tuple(columns_parts(analysis.groups, top=top))))
    told = [text.replace("`", "") for text in cautions(analysis)]
    return [*parts, Note("cautions", "\n".join(told))]


def answer_parts(analysis: Analysis) -> list[Part]:
    """Return the title, the sentences after it, and the count of verdicts."""
    notes = [Note("answer", sentence) for sentence in next_sentences(analysis)]
    return [Note("title", title_sentence(analysis)), *notes, verdicts(analysis)]


def verdicts(analysis: Analysis, pairs: Sequence[PairEvidence] | None = None) -> Verdicts:
    """Count the verdicts of the pairs that are the question."""
    chosen = shown_pairs(analysis) if pairs is None else pairs
    counts = Counter(each.verdict for each in chosen)
    title = plural(len(chosen), "pair")
    title += f" with {analysis.outcome}" if analysis.outcome and pairs is None else ""
    return Verdicts(title, tuple((verdict, counts[verdict]) for verdict in VERDICTS))


# -- tables ----------------------------------------------------------------------------------------


def main_table(analysis: Analysis, top: int = TOP) -> Table:
    """Return the table of the outcome's pairs, or of all pairs."""
    if analysis.outcome is None:
        return pairs_table(analysis, shown_pairs(analysis), "Pairs", top)
    return outcome_table(analysis)


def outcome_table(analysis: Analysis) -> Table:
    """Return a row per variable: shares, difference, odds ratio, p and verdict."""
    rows: list[list[Cell]] = []
    event = analysis_event(analysis)
    hidden = hidden_rows(analysis)
    for each in in_order(analysis, (e for e in shown_pairs(analysis) if e not in hidden)):
        contrast = _contrast(analysis, each)
        name = other(each.pair, analysis.outcome)
        shares = difference = None
        span, ratio = "", step_of(each) if contrast is None else contrast.odds
        if contrast is not None:
            span = f"{contrast.first.at} → {contrast.last.at}"
            ends = f"{percent(contrast.first.estimate)} → {percent(contrast.last.estimate)}"
            shares = ends if event else f"{contrast.difference.state}: {ends}"
            difference = spread_of(contrast.difference, analysis.smallest_count)
        odds = spread_of(ratio, analysis.smallest_count) if ratio else None
        p = None if each.p is None else each.adjusted
        verdict = judged(analysis, each, contrast)
        rows.append([name, span, shares, difference, difference, odds, p, verdict])
    columns: dict[str, Style] = {
        "variable": "name",
        "from → to": "text",
        f"share {event}" if event else "share": "text",
        "plot": "plot",
        "points": "score",
        "odds ratio": "score",
        "p": "p",
        "verdict": "text",
    }
    if not any(row[5] for row in rows):  # an outcome with more than two states
        del columns["odds ratio"]
        rows = [row[:5] + row[6:] for row in rows]
    return table(f"What goes with {analysis.outcome}", columns, rows, key="outcome")


def analysis_event(analysis: Analysis) -> str:
    """Return the state of a two-state outcome whose share is shown; empty for more states."""
    states = {
        e.state
        for each in shown_pairs(analysis)
        for e in each.effects
        if e.kind == "difference" and e.of == analysis.outcome
    }
    return states.pop() if len(states) == 1 else ""


def judged(analysis: Analysis, evidence: PairEvidence, contrast: Contrast | None) -> Judged:
    """Return the verdict about a pair with what limits it; V, if its row has no difference."""
    note, verdict = differs_note(analysis, evidence), evidence.verdict
    if verdict == "no association shown" and contrast is not None:
        if not any(analysis.differing(*evidence.pair)):
            most = max(-contrast.difference.low, contrast.difference.high)
            note = Phrase(f"at most {plural(round(100 * most), 'point')}")
    elif contrast is None and evidence.v is not None and verdict in VERDICTS[:3]:
        note = Phrase(note, "; " if note else "", f"V {_strength(evidence)}")
    return Judged(verdict, note)


def differs_note(analysis: Analysis, evidence: PairEvidence) -> Phrase:
    """Say what limits a verdict, such as the third variables between whose states it differs."""
    differing = list(analysis.differing(*evidence.pair))
    by = dict.fromkeys(({*each.pair, each.by} - {*evidence.pair}).pop() for each in differing)
    note = verdict_note(evidence, list(by))
    if not by or evidence.verdict != NOT_ON_AVERAGE:
        return note
    least = min((each.adjusted for each in differing if each.adjusted is not None), default=None)
    return Phrase(note, f" ({p_is(least)} corrected)")


def _strength(evidence: PairEvidence) -> Spread | None:
    """Return V with its interval as a cell."""
    v, low, high = evidence.v, evidence.v_low, evidence.v_high
    if v is None or low is None or high is None:
        return None
    return Spread(v, low, high, evidence.crude_v, "V", evidence.v_approximate)


def pairs_table(
    analysis: Analysis, pairs: Iterable[PairEvidence], title: str, top: int | None = None
) -> Table:
    """Return a row per pair: V with its interval, crude V, p and verdict."""
    chosen = list(pairs)
    rows = []
    for each in chosen if top is None else chosen[:top]:
        v = _strength(each)
        p = None if each.p is None else each.adjusted
        verdict = Judged(each.verdict, differs_note(analysis, each))
        rows.append((PairName(*each.pair), v, v, each.crude_v, p, verdict))
    left = len(chosen) - len(rows)
    more = f" ({left} more)" if left else ""
    columns: dict[str, Style] = {"pair": "name", "plot": "plot", "V": "score", "crude V": "mean"}
    columns |= {"p": "p", "verdict": "text"}
    return table(f"{title}{more}", columns, rows, key="pairs")


def other_pairs(analysis: Analysis, top: int | None) -> Table:
    """Return the table of the pairs without the outcome, the strongest first."""
    rest = [each for each in analysis.pairs if analysis.outcome not in each.pair]
    return pairs_table(analysis, in_order(analysis, rest), f"Pairs without {analysis.outcome}", top)


def in_order(analysis: Analysis, pairs: Iterable[PairEvidence]) -> list[PairEvidence]:
    """Sort pairs by verdict, then by strength."""

    def key(each: PairEvidence) -> tuple[int, float]:
        return VERDICTS.index(each.verdict), -(each.v or 0.0)

    return sorted(pairs, key=key)


def _contrast(analysis: Analysis, evidence: PairEvidence) -> Contrast | None:
    return next(iter(contrasts(analysis, [evidence])), None)


# -- cards -----------------------------------------------------------------------------------------


def difference_cards(analysis: Analysis) -> list[Card]:
    """Return a card for each pair whose association differs by a third variable."""
    return [difference_card(analysis, each) for each in differences(analysis)]


def difference_card(analysis: Analysis, each: Interaction) -> Card:
    """Return the card of one difference: the effect in each state of the third variable."""
    groups = effect_by_state(each, analysis.smallest_count)
    names = [Name(name) for name in each.pair if name != analysis.outcome]
    subject = names[0] if analysis.outcome in each.pair else Phrase(names[0], " – ", names[1])
    title = Phrase(subject, ", by ", Name(each.by))
    test = f"differs: {p_is(each.p)}, {p_text(each.adjusted)} corrected"
    rows = [(group.state, spread_of(e), round(group.rows)) for group, e in groups]
    label = effect_label(groups[0][1]) if groups else "effect"
    numbers = table("", {each.by: "text", label: "score", "rows": "count"}, rows, key="ev")
    picture = None
    if groups:
        picture = Picture(label, (), _drawn(analysis, groups, each.by))
    sentence, shown = interaction_sentence(groups, each.by), {group.state for group, _ in groups}
    missing = [group.state for group in each.states if group.state not in shown]
    if groups and missing:
        sentence = Phrase(sentence, f" Not shown, for fewer than 20 rows: {listed(missing)}.")
    return Card(title, test, sentence, picture, numbers)


def _drawn(analysis: Analysis, groups: Groups, by: str) -> Drawn:
    """Draw the two shares behind each difference, or the odds ratios."""
    ordered = {name for name, _ in analysis.settings.ordered}
    first = groups[0][1]
    event = f"Share of {first.of} = {first.state}"
    shares = [
        {e.at: _point(e) for e in shares_of(group.effects, first.state, analysis.smallest_count)}
        for group, _ in groups
    ]
    if first.kind != "difference":
        return Rows(effect_label(first), tuple((g.state, spread_of(e)) for g, e in groups))
    names, both = tuple(group.state for group, _ in groups), (first.reference, first.at)
    lines = tuple((_of_group(first.by, at), tuple(s.get(at) for s in shares)) for at in both)
    under = tuple((points(e.estimate), e.excludes_none) for _, e in groups)
    return Lines(f"{event} by {by}", by, names, lines, by in ordered or is_scale(names), under)


def _of_group(variable: str, state: str) -> str:
    """Name a group in few letters: ``citizen No``; the state alone if it says enough.

    >>> _of_group("citizen", "No"), _of_group("political.knowledge", "2")
    ('citizen No', 'political… 2')
    >>> _of_group("ethnicity", "Chinese")
    'Chinese'
    """
    room = LONGEST_GROUP - len(state) - 1
    if len(variable) > room and len(state) > 3:
        return state
    return f"{shortened(variable, room)} {state}"


def _point(share: PairEffect) -> SharePoint:
    return share.estimate, share.low, share.high


def spread_of(effect: PairEffect, least: int = 0) -> Spread:
    """Return an effect as a cell; where small counts are hidden, so is the crude number."""
    kind: Literal["points", "ratio"] = "points" if effect.kind == "difference" else "ratio"
    crude = None if least else effect.crude
    unit = "per step" if effect.kind == "odds ratio per step" else ""
    ends = effect.low, effect.high
    return Spread(effect.estimate, *ends, crude, kind, effect.approximate, unit)


def line_cards(analysis: Analysis) -> list[Card]:
    """Return a card for each ordered variable that the outcome is associated with: a line."""
    if analysis.outcome is None:
        return []
    cards = []
    ordered = {name for name, _ in analysis.settings.ordered}
    for each in in_order(analysis, shown_pairs(analysis)):
        contrast = _contrast(analysis, each)
        if not each.associated or contrast is None or contrast.by not in ordered:
            continue
        state, by = contrast.difference.state, contrast.by
        drawn = _line(analysis, each, contrast)
        if drawn is None or len(drawn.states) < 3:
            continue
        sentence = Phrase("")
        if contrast.odds is not None and not contrast.odds.at:
            sentence = Phrase(change_start(contrast.odds), f" {change_text(contrast.odds)}.")
        test = f"Share of {contrast.of} = {state}: {each.verdict}"
        test += ", trend" if each.shape == "trend" and each.verdict == "associated" else ""
        shares = shares_of(each.effects, state, analysis.smallest_count)
        rows = [(e.at, share_with_interval(_point(e)), round(e.rows)) for e in shares]
        numbers = table("", {by: "text", "share": "text", "rows": "count"}, rows, key="ev")
        cards.append(Card(Phrase(Name(by)), test, sentence, Picture("", (), drawn), numbers))
    return cards


def _line(analysis: Analysis, evidence: PairEvidence, contrast: Contrast) -> Lines | None:
    """Draw the share of the state that a contrast is about, over the states of the other."""
    ordered = {name for name, _ in analysis.settings.ordered}
    state = contrast.difference.state
    shares = shares_of(evidence.effects, state, analysis.smallest_count)
    if len(shares) < 2:
        return None
    label = f"Share of {contrast.of} = {state} by {contrast.by}"
    states, drawn = tuple(e.at for e in shares), tuple(map(_point, shares))
    return Lines(label, contrast.by, states, (("", drawn),), contrast.by in ordered)


# -- one pair, and the claims of a structure -------------------------------------------------------


def pair_cards(analysis: Analysis, pair: Sequence[str]) -> list[Part]:
    """Return the card of a pair, those of its differences, and what the structure claims."""
    evidence = analysis.pairs.about(*pair)
    claims = structure_table(analysis, pair)
    structure: list[Part] = [claims] if claims.rows else []
    if evidence is None:
        constant = [name for name in pair if name in analysis.settings.constant]
        note = f"{listed(constant)}: the same in all rows, so they say nothing about this pair."
        return [Note("note", note if constant else "This pair was not tested."), *structure]
    differing = [difference_card(analysis, each) for each in analysis.differing(*pair)]
    return [pair_card(analysis, evidence), *differing, *structure]


def pair_card(analysis: Analysis, evidence: PairEvidence) -> Card:
    """Return the card of a pair: its verdict, one sentence, and all its numbers."""
    first, second = map(Name, evidence.pair)
    contrast = _contrast(analysis, evidence)
    drawn = _line(analysis, evidence, contrast) if contrast else None
    picture = Picture(drawn.label, (), drawn) if drawn else None
    return Card(
        Phrase(first, " – ", second),
        evidence.verdict,
        evidence_sentence(evidence),
        picture,
        effects_table(evidence, analysis.smallest_count),
    )


def effects_table(evidence: PairEvidence, least: int = 0) -> Table:
    """Return all effects of a pair that rest on enough rows."""
    rows: list[tuple[Cell, ...]] = []
    for each in evidence.effects:
        if each.rows < max(least, FEWEST_ROWS_QUOTED):
            continue
        where = f"{each.by}: {each.at}" if each.at else f"each step of {each.by}"
        where += f" against {each.reference}" if each.reference else ""
        number: Cell = spread_of(each, least)
        if each.kind == "share":
            number = share_with_interval(_point(each))
        what = f"{each.of} = {each.state}" if each.state else each.of
        rows.append((f"{each.kind} of {what}", where, number, round(each.rows)))
    columns: dict[str, Style] = {"what": "text", "where": "text", "number": "score"}
    return table("", columns | {"rows": "count"}, rows, key="ev")


def structure_table(analysis: Analysis, pair: Sequence[str] = ()) -> Table:
    """Return the claims of the structure, all or about a pair; the title says which rows test."""
    chosen = analysis.evidence.about(*pair) if pair else analysis.evidence.claims
    tested = "found and tested on the same rows" if analysis.found else "tested on these rows"
    return claims_table(chosen, f", {tested}", analysis.halves)


def claims_table(
    claims: Sequence[ClaimEvidence], tested: str = "", halves: Repeats | None = None
) -> Table:
    """Return claims with their tests; of halves of the rows, how many make each claim again."""
    columns: dict[str, Style] = {"pair": "name", "claim": "text", "where": "text", "p": "p"}
    columns["verdict"] = "text"
    rows: list[list[Cell]] = []
    for claim in claims:
        kind = "dependent" if claim.dependent else "independent"
        region = in_words(claim.region) or "every context"
        rows.append([PairName(*claim.pair), kind, region, claim.p, claim.verdict])
        if halves is not None and halves.count >= FEWEST_HALVES_SHOWN:
            rows[-1].append(halves.claims.get(claim))
    if halves is not None and halves.count >= FEWEST_HALVES_SHOWN:
        columns[f"in {halves.count} halves"] = "count"
    title = f"{plural(len(rows), 'claim')} of the structure{tested}"
    return table(title, columns, rows, key="claims")
