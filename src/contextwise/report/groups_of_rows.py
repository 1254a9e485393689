"""Turn groups of rows into parts: which associations differ, and pictures of odds ratios."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextwise.analysis.groups_of_rows import GroupPair, Groups, GroupsOfColumns
from contextwise.evidence.pair_records import PairEffect
from contextwise.models.evidence import Effect
from contextwise.report.analysis_drawings import Rows
from contextwise.report.parts import (
    TOP,
    Cell,
    Note,
    PairName,
    Part,
    Picture,
    Section,
    Spread,
    Style,
    Table,
    table,
)
from contextwise.support.formatting import capitalized, listed, name, plural
from contextwise.support.words import p_is

MOST_PAIRS_DRAWN = 8
"""Pairs of variables in pictures, those with the smallest p-values."""
NOT_SHOWN = (
    "A difference shows that the groups differ in how strongly two variables go together, not why. "
    "If the group is itself an effect of the variables (such as survivors), choosing by it can "
    "create differences. Intervals of the pairs that were found are a little too narrow, because "
    "the pairs were chosen by their p-values."
)
SAME = (
    "About the same: on average over what is held fixed, the odds ratios differ by less than a "
    "factor of {margin:g} ({level:g} % interval; for each pair by itself). For ordered variables "
    "this ratio is per standard deviation of both. Undecided: the rows show neither."
)


def groups_verdict(found: Groups) -> str:
    """Say which associations differ between the groups, and by how much."""
    differing, by = found.differing, name(found.by)
    counts = {
        verdict: sum(pair.verdict == verdict for pair in found.pairs)
        for verdict in ("about the same", "undecided")
    }
    rest = [
        f"{plural(count, 'pair')} {'is' if count == 1 else 'are'} {verdict}"
        for verdict, count in counts.items()
        if count
    ]
    if not differing:
        smallest = p_is(found.p_value, "smallest p")
        corrected = f" after correction over {len(found.pairs):,} pairs" if found.pairs[1:] else ""
        lead = f"No association is shown to differ between the groups of {by} ("
        return f"{lead}{smallest}{corrected}). {_sentence(listed(rest))}"
    sentences = [_difference(found, pair) for pair in differing[:3]]
    if len(differing) > 3:
        differ = "differs" if len(differing) == 4 else "differ"
        sentences.append(f"{plural(len(differing) - 3, 'more pair')} {differ}.")
    return " ".join([*sentences, *([_sentence(listed(rest))] if rest else [])])


def _sentence(text: str) -> str:
    return f"{capitalized(text)}."


def _difference(found: Groups, pair: GroupPair) -> str:
    text = f"The association of {name(pair.first)} and {name(pair.second)} differs between the "
    text += f"groups of {name(found.by)} ({p_is(pair.adjusted)})"
    extremes = _extremes(found, pair.odds)
    if extremes is not None:
        (largest, first), (smallest, last) = extremes
        text += f": odds ratio {largest.number} at {first}, {smallest.number} at {last}"
    return f"{text}. {_only_in(found, pair)}".rstrip()


def _extremes(
    found: Groups, odds: Sequence[Effect]
) -> tuple[tuple[Effect, str], tuple[Effect, str]] | None:
    """Return the largest and the smallest odds ratio with their groups, if they are two."""
    known = [
        (effect, name(group.name))
        for effect, group in zip(odds, found.groups, strict=True)
        if effect.is_known
    ]
    if not known:
        return None
    # Infinite odds ratios are ordered by their limits.
    largest = max(known, key=lambda each: (each[0].value, each[0].low))
    smallest = min(known, key=lambda each: (each[0].value, each[0].high, each[0].low))
    return None if largest is smallest else (largest, smallest)


def _only_in(found: Groups, pair: GroupPair) -> str:
    """Say where a dependence is weak, if that is shown: never that there is none."""
    if _has_more_states(found, pair):
        return ""  # the odds ratios are of two states each, and others can depend more
    depend, weak = [], []
    for effect, group in zip(pair.odds, found.groups, strict=True):
        if effect.low > 1 or effect.high < 1:
            depend.append(name(group.name))
        elif 1 / found.margin < effect.low <= effect.high < found.margin:
            weak.append(name(group.name))
    if not depend or not weak:
        return ""
    average = "any dependence is, on average," if pair.given else "any dependence is"
    return (
        f"They depend in {listed(depend)}; in {listed(weak)} {average} weaker than an odds ratio "
        f"of {found.margin:g}."
    )


def _group_columns(found: Groups, *others: str) -> dict[str, Style]:
    """Return a column for each group; numbered, if names of columns would be equal."""
    heads = [name(group.name) for group in found.groups]
    if len({*heads, *others}) < len(heads) + len(others):
        heads = [f"{k}: {head}" for k, head in enumerate(heads, 1)]
    return dict.fromkeys(heads, "text")


def _pairs_table(found: Groups, top: int) -> Table:
    columns: dict[str, Style] = {"pair": "name", "verdict": "text"}
    few = len(found.groups) <= 4
    last: dict[str, Style] = {"ratio": "text"} if len(found.groups) == 2 else {}
    last |= {"p": "p", "corrected p": "p", "held fixed": "text"}
    columns |= _group_columns(found, *columns, *last) if few else {"range": "text"}
    columns |= last
    rows: list[list[Cell]] = []
    for pair in found.pairs[:top]:
        odds = [effect.text for effect in pair.odds]
        if not few:
            ordered = sorted(pair.odds, key=lambda effect: effect.value)
            odds = [f"{ordered[0].text} … {ordered[-1].text}"]
        ratio = [pair.ratio.text if pair.ratio else None] if len(found.groups) == 2 else []
        given = ", ".join(pair.given) or "nothing"
        missing = f" (not {', '.join(pair.left_out)})" if pair.left_out else ""
        numbers: list[Cell] = [pair.p_value, pair.adjusted]
        pair_name = PairName(*pair.pair)
        rows.append([pair_name, pair.verdict, *odds, *ratio, *numbers, f"{given}{missing}"])
    title = f"Odds ratios of each group ({len(rows)} of {plural(len(found.pairs), 'pair')})"
    return table(title, columns, rows, "pairs")


def _between_table(pair: GroupPair, level: float) -> Table:
    columns: dict[str, Style] = {"groups": "text", "corrected p": "p"}
    clear = [(one, other, p) for one, other, p in pair.between if p <= level]
    rows: list[list[Cell]] = [[f"{one} – {other}", p] for one, other, p in clear]
    title = (
        f"Groups that differ in {PairName(*pair.pair)} ({len(rows)} of {len(pair.between)} pairs)"
    )
    return table(title, columns, rows, "between")


def _notes(found: Groups) -> Iterator[str]:
    rows = plural(sum(group.rows for group in found.groups), "row")
    yield f"All tests use all {rows}, with all other variables held fixed."
    for pair in found.pairs:
        if pair.trend is not None and pair.trend <= found.level:
            text = "the association changes steadily from each group to the next"
            yield f"{PairName(*pair.pair)}: {text} ({p_is(pair.trend)}, not corrected)."
    for pair in (found.differing or found.pairs)[:3]:
        if pair.compared is not None:
            text = f"{PairName(*pair.pair)}: the odds ratios {_compared(pair.compared)}"
            if _has_more_states(found, pair) and pair.compared.kind == "odds ratio":
                text += ", the states that differ most; the test uses all states"
            yield f"{text}."
    left_out = [pair for pair in found.pairs if pair.left_out]
    if left_out:
        yield (
            f"For {plural(len(left_out), 'pair')} there are too few rows to hold everything fixed "
            "that should be (marked “not”); a difference there may come from those variables."
        )
    constant = [f"{', '.join(g.constant)} in {g.name}" for g in found.groups if g.constant]
    if constant:
        yield f"Constant: {'; '.join(constant)}; these groups say nothing about their pairs."
    if any(pair.ratio and pair.given for pair in found.pairs):
        yield (
            "With variables held fixed, the ratio compares the groups in each combination of their "
            "states, so it can differ from the quotient of the two odds ratios."
        )
    if found.subject:
        yield (
            f"Rows of one {found.subject} count together in the p-values; the intervals treat rows "
            "as independent."
        )
    yield SAME.format(margin=found.margin, level=round(100 - 200 * found.level, 6))
    yield NOT_SHOWN


def _compared(effect: PairEffect) -> str:
    """Say what an odds ratio compares."""
    if effect.kind == "odds ratio per step":
        of = f"{effect.state} of {effect.of}" if effect.state else effect.of
        return f"are for one step of {effect.by}, on {of}"
    against = effect.against or "the others"
    odds = f"are the odds of {effect.state} against {against} of {effect.of}"
    return (
        f"{odds} where {effect.by} is {effect.at}, divided by those where it is {effect.reference}"
    )


def _has_more_states(found: Groups, pair: GroupPair) -> bool:
    domain = found.domain
    return any(domain.cardinalities[domain.position(v)] > 2 for v in pair.pair)


def groups_parts(found: Groups, *, top: int = TOP) -> list[Part]:
    """Show which associations differ between groups: verdict, pairs, contexts, structures."""
    parts: list[Part] = [Note("verdict", groups_verdict(found)), _pairs_table(found, top)]
    for pair in found.differing[:3]:
        clear = any(p <= found.level for *_, p in pair.between)
        parts += [_between_table(pair, found.level)] if clear else []
    parts.append(Note("notes", "\n".join(_notes(found)), warns=True))
    columns: dict[str, Style] = {
        name(found.by): "name",
        "rows": "count",
        "dependent pairs": "count",
    }
    sizes = [(g.name, g.rows, len(g.structure.pairs())) for g in found.groups]
    parts.append(table(f"Structures of the groups, by {found.learner}", columns, sizes, "groups"))
    level = f"{round(100 - 100 * found.level, 6):g} %"
    for pair in found.pairs[:MOST_PAIRS_DRAWN]:
        rows = drawn_odds(found, pair)
        if rows:
            caption = f"{PairName(*pair.pair)}: {pair.verdict}. Odds ratios with {level} intervals."
            parts.append(Picture(caption, (), Rows("Odds ratio", rows)))
    return parts


def drawn_odds(found: Groups, pair: GroupPair) -> tuple[tuple[str, Spread], ...]:
    """Return the known odds ratios of a pair by group; infinite ones are very large here."""
    return tuple(
        (group.name, Spread(min(max(e.value, 1e-6), 1e6), e.low, e.high, None, "ratio"))
        for group, e in zip(found.groups, pair.odds, strict=True)
        if e.is_known
    )


def columns_parts(found: GroupsOfColumns, *, top: int = TOP) -> list[Part]:
    """Show which columns differ, and the parts of each column."""
    columns: dict[str, Style] = {"column": "name", "groups": "count", "pairs that differ": "count"}
    columns |= {"p": "p", "p after Holm": "p"}
    rows = [
        (each.by, len(each.groups), len(each.differing), each.p_value, each.adjusted)
        for each in found
    ]
    differ = [name(each.by) for each in found if (each.adjusted or 0) <= each.level]
    verdict = f"Associations differ by {listed(differ)}" if differ else "No association differs"
    verdict += f", after Holm over {plural(len(found), 'column')}."
    sections = [Section(name(each.by), tuple(groups_parts(each, top=top))) for each in found]
    return [Note("verdict", verdict), table("Columns", columns, rows, "columns"), *sections]
