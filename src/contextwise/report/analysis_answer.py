"""The sentences of an analysis: the title, what follows it, and one for each card.

Each sentence follows from one test in the records: an association is claimed if its verdict says
so, a difference between the states of a third variable if the test of equal association does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from contextwise.analysis.conclusions import Analysis
from contextwise.analysis.pair_rows import to_hide
from contextwise.evidence.pair_records import (
    Interaction,
    InteractionVerdict,
    PairEffect,
    PairEvidence,
    StateEffects,
)
from contextwise.report.analysis_contrasts import WORTH_POINTS, Contrast, contrast_of, shares_of
from contextwise.support.formatting import plural
from contextwise.support.words import (
    LEVEL,
    MOST_NAMED,
    Name,
    Phrase,
    between,
    joined_names,
    listed_phrases,
    p_is,
    p_text,
    percent,
    points,
    ratio,
    strength,
)

NOT_ON_AVERAGE = "associated, not on average"
SAME, CLOSE = 0.97, 0.8
"""Cramér's V from which two variables are nearly the same, or go together very closely."""
CLEARLY_LESS = 1.5
"""A crude difference that is larger by this factor, and by three points, is worth a sentence."""


def shown_pairs(analysis: Analysis) -> tuple[PairEvidence, ...]:
    """Return the pairs that are the question: those of the outcome, or all."""
    tested = analysis.pairs
    return tested.of_outcome if analysis.outcome else tested.pairs


def hidden_rows(analysis: Analysis) -> list[PairEvidence]:
    """Return the pairs of the outcome that could not be tested, if a sentence names them better."""
    untested = [e for e in analysis.pairs.of_outcome if e.verdict == "could not be tested"]
    return untested if len(untested) > MOST_NAMED else []


def contrasts(analysis: Analysis, pairs: Iterable[PairEvidence]) -> list[Contrast]:
    """Return the contrasts of pairs, the largest difference first."""
    ordered = [name for name, _ in analysis.settings.ordered]
    found = (contrast_of(e, ordered, analysis.smallest_count) for e in pairs)
    return sorted((c for c in found if c), key=lambda c: -(c.evidence.v or 0.0))


def other(pair: Sequence[str], outcome: str | None) -> str:
    """Return the variable of a pair that is not the outcome."""
    return pair[1] if pair[0] == outcome else pair[0]


# -- the title -------------------------------------------------------------------------------------


def title_sentence(analysis: Analysis) -> Phrase:
    """Say what holds and how much."""
    pairs = shown_pairs(analysis)
    worth = [c for c in contrasts(analysis, pairs) if c.is_worth_a_sentence]
    if analysis.outcome is None:
        return _title_of_all(analysis, pairs, worth)
    if worth:
        return _title_of_contrast(analysis, _leading_last(analysis, worth)[0])
    outcome, count = Name(analysis.outcome), len(pairs)
    associated = [e for e in pairs if e.associated]
    if all(e.verdict == "could not be tested" for e in pairs):
        rows = plural(analysis.rows.used, "row")
        return Phrase("What goes with ", outcome, f" could not be tested with these {rows}.")
    if not associated:
        others = "the other variable" if count == 1 else f"any of the {count} other variables"
        return Phrase(outcome, f": no association with {others} is shown{_held(analysis)}.")
    names = joined_names([other(e.pair, analysis.outcome) for e in associated])
    if all(e.verdict == NOT_ON_AVERAGE for e in associated):
        where = "but not on average over the other variables"
        return Phrase(outcome, " is associated with ", names, f", {where}.")
    if any((e.v or 0) >= 0.1 for e in associated):
        return Phrase(outcome, " is associated with ", names, f"{_held(analysis)}.")
    return Phrase(outcome, " has only weak associations: with ", names, f"{_held(analysis)}.")


def twin(analysis: Analysis) -> PairEvidence | None:
    """Return the pair that goes together most closely, if it hides others; the outcome's first."""
    if len(analysis.data.domain) < 3:
        return None
    for pairs in (shown_pairs(analysis), analysis.pairs.pairs):
        close = [e for e in pairs if (e.crude_v or 0.0) >= CLOSE]
        if close:
            return max(close, key=lambda e: e.crude_v or 0.0)
    return None


def _leading_last(analysis: Analysis, worth: Sequence[Contrast]) -> list[Contrast]:
    """Put the variables that say nearly the same as the outcome behind the others."""
    return sorted(worth, key=lambda c: (c.evidence.crude_v or 0.0) >= CLOSE)


def _held(analysis: Analysis) -> str:
    """Say that the other variables were held fixed, if there are any."""
    pairs = shown_pairs(analysis)
    if not any(e.given for e in pairs):
        return ""
    return ", with the other variables held fixed"


def _title_of_contrast(analysis: Analysis, best: Contrast) -> Phrase:
    low, high = ends_of(best, analysis.smallest_count)
    held = ""
    if best.evidence.given:
        others = "the other variables"
        if best.evidence.left_out:
            others = plural(len(best.evidence.given), "other variable")
        held = f", with {others} held fixed"
    overall = overall_share(analysis, best.of, best.difference.state)
    start = f" is {best.difference.state} for "
    start += f"{percent(overall)} of the rows: for " if overall is not None else ""
    return Phrase(
        *(Name(best.of), f"{start}{percent(high.estimate)} where ", Name(best.by)),
        f" is {high.at}, for {percent(low.estimate)} where it is {low.at}{held}.",
    )


def ends_of(contrast: Contrast, least: int) -> list[PairEffect]:
    """Return the lowest and the highest share of the state that a contrast is about."""
    shares = shares_of(contrast.evidence.effects, contrast.difference.state, least)
    known = [contrast.first, contrast.last, *(e for e in shares if e.of == contrast.of)]
    return [pick(known, key=lambda e: e.estimate) for pick in (min, max)]


def _title_of_all(
    analysis: Analysis, pairs: Sequence[PairEvidence], worth: Sequence[Contrast]
) -> Phrase:
    associated = [e for e in pairs if e.associated]
    if all(e.verdict == "could not be tested" for e in pairs):
        rows = plural(analysis.rows.used, "row")
        return Phrase(f"None of {plural(len(pairs), 'pair')} could be tested with these {rows}.")
    if not associated:
        if len(pairs) == 1:
            return Phrase("The two variables show no association.")
        return Phrase(f"None of the {len(pairs)} pairs shows an association{_held(analysis)}.")
    weak = not worth and all((e.v or 0) < 0.1 for e in associated)
    if len(pairs) == 1:
        first, second = map(Name, associated[0].pair)
        return Phrase(first, " and ", second, " are ", "weakly " if weak else "", "associated.")
    kind = "is " if len(associated) == 1 else "are "
    kind += "weakly associated" if weak else "associated"
    turned = sum(e.verdict == NOT_ON_AVERAGE for e in associated)
    kind += f" ({turned} of them not on average)" if turned else ""
    how_many = "All" if len(associated) == len(pairs) else f"{len(associated)} of"
    start = f"{how_many} {len(pairs)} pairs {kind}{_held(analysis)}"
    best = max(associated, key=lambda e: e.v or 0.0)
    if weak or not best.v:
        return Phrase(f"{start}.")
    first, second = map(Name, best.pair)
    return Phrase(f"{start}, ", first, " with ", second, f" most (V {strength(best.v)}).")


def overall_share(analysis: Analysis, name: str, state: str) -> float | None:
    """Return the share of the rows with a state; None if rows have weights, or few have a state."""
    if analysis.settings.weights is not None:
        return None
    domain = analysis.data.domain
    place = domain.position(name)
    if state not in domain.states[place]:
        return None
    counts = analysis.data.counts()[place]
    if to_hide(counts.tolist(), counts.tolist(), analysis.smallest_count):
        return None
    return float(counts[domain.states[place].index(state)] / counts.sum())


# -- the sentences after it ------------------------------------------------------------------------


def next_sentences(analysis: Analysis) -> list[Phrase]:
    """Return what follows the title: others, what the rest explains, where it differs."""
    pairs = shown_pairs(analysis)
    worth = [c for c in contrasts(analysis, pairs) if c.is_worth_a_sentence]
    told: list[Phrase] = []
    if analysis.outcome is None:
        strongest = sorted(worth, key=lambda c: -(c.evidence.v or 0.0))
        told += [_contrast_sentence(c, analysis.smallest_count) for c in strongest[:1]]
    else:
        worth = _leading_last(analysis, worth)
        told += _twin_sentence(analysis) + _also(worth, analysis.smallest_count)
    told += _reversed(contrasts(analysis, pairs)) + _explained(worth) + _power(analysis)
    differing = differences(analysis)
    if differing:
        told.append(_differs(differing, analysis.outcome))
    suggestive = [e for e in pairs if e.verdict == "suggestive"]
    if suggestive:
        told.append(_suggestive(suggestive, analysis.outcome))
    unsure = differences(analysis, "suggestive")
    if unsure:
        told.append(_suggestive_difference(unsure, analysis.outcome))
    return told


def differences(analysis: Analysis, verdict: InteractionVerdict = "differs") -> list[Interaction]:
    """Return where the test of equal association shows a difference, the clearest first.

    Three variables are one question: of its forms, that with the most states to compare.
    """
    shown: dict[frozenset[str], Interaction] = {}
    for each in analysis.interactions:
        three = frozenset((*each.pair, each.by))
        known = shown.get(three)
        if each.verdict == verdict and (known is None or len(each.states) > len(known.states)):
            shown[three] = each
    return sorted(shown.values(), key=lambda each: 1.0 if each.p is None else each.p)


def questions(analysis: Analysis) -> int:
    """Count the tests of equal association that have a p-value: one for three variables."""
    tested = (each for each in analysis.interactions if each.p is not None)
    return len({frozenset((*each.pair, each.by)) for each in tested})


def _contrast_sentence(contrast: Contrast, least: int) -> Phrase:
    low, high = ends_of(contrast, least)
    start = f" is {contrast.difference.state} for {percent(high.estimate)} where "
    return Phrase(
        *(Name(contrast.of), start, Name(contrast.by)),
        f" is {high.at}, for {percent(low.estimate)} where it is {low.at}.",
    )


def _also(worth: Sequence[Contrast], least: int) -> list[Phrase]:
    """Tell the other clear differences, each with both shares; first those of the same state."""
    told, said = [], []
    state = worth[0].difference.state if worth else ""
    same = [c for c in worth[1:] if c.difference.state == state]
    for each in same[:MOST_NAMED]:
        low, high = ends_of(each, least)
        shares = f"{percent(low.estimate)} against {percent(high.estimate)} where it is {high.at}"
        said.append(Phrase("where ", Name(each.by), f" is {low.at} ({shares})"))
    if said:
        told.append(Phrase(f"It is also {state} less often ", listed_phrases(said), "."))
    rest = [c for c in worth[1:] if c.difference.state != state]
    return told + [_contrast_sentence(c, least) for c in rest[: MOST_NAMED - len(said)]]


def _twin_sentence(analysis: Analysis) -> list[Phrase]:
    """Warn of a variable that nearly is the outcome, and so hides what goes with it."""
    close = twin(analysis)
    if close is None or analysis.outcome not in close.pair:
        return []
    first, second = close.pair
    same = "say nearly the same" if (close.crude_v or 0.0) >= SAME else "go together very closely"
    return [
        Phrase(
            *(Name(first), " and ", Name(second), f" {same} (V {strength(close.crude_v)}), which "),
            f"hides what else goes with {analysis.outcome}. The rest holds it fixed; leave it out "
            f"with --drop {other(close.pair, analysis.outcome)}.",
        )
    ]


def _power(analysis: Analysis) -> list[Phrase]:
    """Say what could have been shown, where nothing is."""
    known = [e.could_show for e in shown_pairs(analysis) if e.could_show is not None]
    if not known or any(e.associated for e in shown_pairs(analysis)):
        return []
    least, most = strength(min(known)), strength(max(known))
    limit = f"V = {least}" if least == most else f"V = {least} to {most}, depending on the pair,"
    return [
        Phrase(
            f"With these rows an association above {limit} would be found 4 times of 5, before "
            "correction."
        )
    ]


def _reversed(known: Sequence[Contrast]) -> list[Phrase]:
    """Tell the largest crude difference whose direction the other variables turn round."""
    turned = [
        (abs(crude), each)
        for each in known
        if each.evidence.given
        and (crude := each.difference.crude) is not None
        and crude * each.difference.estimate < 0
        and min(abs(crude), abs(crude - each.difference.estimate)) >= WORTH_POINTS
    ]
    if not turned:
        return []
    _, best = max(turned, key=lambda each: each[0])
    change = best.difference
    return [
        Phrase(
            *(
                "From ",
                Name(best.by),
                f" {change.reference} to {change.at} the crude difference is ",
            ),
            f"{points(change.crude or 0.0)} points; with the other variables held fixed it is "
            f"{effect_text(change)}.",
        )
    ]


def _explained(worth: Sequence[Contrast]) -> list[Phrase]:
    """Tell the largest crude difference of which the other variables take a good part."""
    found = []
    for each in worth:
        crude, left = each.difference.crude, each.difference.estimate
        if crude is None or not each.evidence.given or crude * left <= 0:
            continue
        if abs(crude) >= CLEARLY_LESS * abs(left) and abs(crude) - abs(left) >= 0.03:
            found.append((abs(crude) - abs(left), each))
    if not found:
        return []
    _, best = max(found, key=lambda each: each[0])
    crude, left = (
        abs(round(100 * x)) for x in (best.difference.crude or 0, best.difference.estimate)
    )
    return [
        Phrase(
            *("Between ", Name(best.by), f" {best.difference.reference} and {best.difference.at} "),
            *(f"the crude difference is {plural(crude, 'point')}; {left} remain with the other "),
            "variables held fixed.",
        )
    ]


def _differs(found: Sequence[Interaction], outcome: str | None) -> Phrase:
    if outcome is None:
        first = found[0]
        names = Phrase(Name(first.pair[0]), " with ", Name(first.pair[1]))
        more = f"; {plural(len(found) - 1, 'more difference')} below" if len(found) > 1 else ""
        return Phrase("The association of ", names, " differs by ", Name(first.by), f"{more}.")
    said = [
        Phrase(Name(other(each.pair, outcome)), " by ", Name(each.by))
        for each in found[:MOST_NAMED]
    ]
    if len(found) > MOST_NAMED:
        said.append(Phrase(f"{len(found) - MOST_NAMED} more"))
    start = Phrase("The association with ", Name(outcome), " is not the same everywhere: ")
    return Phrase(start, "it changes for ", listed_phrases(said), ".")


def _suggestive_difference(found: Sequence[Interaction], outcome: str | None) -> Phrase:
    """Name the clearest difference that the correction does not leave."""
    first, more = found[0], ""
    if len(found) > 1:
        more = f", and {len(found) - 1} more"
    names = Phrase(Name(first.pair[0]), " with ", Name(first.pair[1]))
    if outcome is not None:
        names = Phrase(Name(other(first.pair, outcome)))
    p = f"{p_is(first.p)}, {p_text(first.adjusted)} corrected"
    start = "Suggestive only, that the association changes: "
    return Phrase(start, names, " by ", Name(first.by), f" ({p}){more}.")


def _suggestive(pairs: Sequence[PairEvidence], outcome: str | None) -> Phrase:
    said = []
    for each in pairs[:MOST_NAMED]:
        names = (
            Name(other(each.pair, outcome))
            if outcome
            else Phrase(Name(each.pair[0]), " with ", Name(each.pair[1]))
        )
        p = before_correction(each).removesuffix(" before correction")
        said.append(Phrase(names, f" ({p}, {p_text(each.adjusted)} corrected)"))
    if len(pairs) > MOST_NAMED:
        said.append(Phrase(f"{len(pairs) - MOST_NAMED} more"))
    return Phrase("Suggestive only: ", listed_phrases(said), ".")


# -- verdicts and cards ----------------------------------------------------------------------------


def verdict_note(evidence: PairEvidence, differs_by: Sequence[str]) -> Phrase:
    """Say under a verdict what limits it: where it differs, or what could still be there."""
    if differs_by:
        return Phrase("differs by ", joined_names(differs_by))
    match evidence.verdict:
        case "associated, not on average" if evidence.context:
            return Phrase("changes with ", Name(evidence.context))
        case "suggestive":
            return Phrase(before_correction(evidence))
        case "no association shown" if evidence.v_high is not None:
            return Phrase(f"V at most {strength(evidence.v_high)}")
        case "could not be tested":
            if evidence.could_show is not None:
                return Phrase(f"only V above {strength(evidence.could_show)} would show")
            return Phrase(evidence.reason)
    return Phrase(evidence.shape if evidence.shape == "trend" else "")


def before_correction(evidence: PairEvidence) -> str:
    """Write p before its correction, or that of the single test which makes a pair suggestive."""
    single = {"for the trend alone": evidence.trend_p, "on average alone": evidence.average_p}
    single["for any difference alone"] = evidence.omnibus_p
    if evidence.context:
        single[f"for a difference by {evidence.context} alone"] = evidence.context_p
    known = {which: p for which, p in single.items() if p is not None}
    if evidence.p is None or evidence.p <= LEVEL or not known:
        return f"{p_is(evidence.p)} before correction"
    which = min(known, key=lambda which: known[which])
    return f"{p_is(known[which])} {which}"


def evidence_sentence(evidence: PairEvidence) -> Phrase:
    """Say what the rows show about a pair, and no more."""
    first, second = map(Name, evidence.pair)
    count = len(evidence.given)
    others = "the other column" if count == 1 else f"the {count} other columns"
    given = f" given {others} as coded" if count else ""
    if evidence.left_out:
        given = f" given {plural(count, 'other column')} as coded"
    corrected = f"{p_is(evidence.adjusted)}, corrected for {evidence.family}"
    v = "" if evidence.v is None else f"; V {strength(evidence.v)}"
    if evidence.v_low is not None and evidence.v_high is not None and v:
        v += f", {between(evidence.v_low, evidence.v_high, strength)}"
    match evidence.verdict:
        case "associated":
            return Phrase(first, " and ", second, f" are related{given} ({corrected}{v}).")
        case "associated, not on average":
            by = Name(evidence.context)
            end = f"; on average over it none is shown ({corrected})."
            return Phrase("The relation of ", first, " and ", second, " differs by ", by, end)
        case "suggestive":
            after = f"{p_text(evidence.adjusted)} after correction"
            p = before_correction(evidence).removesuffix(" before correction")
            return Phrase(f"Suggestive: {p}, {after}{v}.")
        case "no association shown" if evidence.could_show is not None:
            found = f"an association above V = {strength(evidence.could_show)}"
            power = "would have been found with probability 0.8, before correction"
            return Phrase(f"No clear relation: {found} {power}.")
        case "no association shown":
            return Phrase("No clear relation.")
    why = evidence.reason or "given the other columns too little variation is left"
    only = ""
    if evidence.could_show is not None:
        only = f"; only V above {strength(evidence.could_show)} would show"
    return Phrase(f"Could not be tested: {why}{only}.")


def interaction_sentence(groups: Sequence[tuple[StateEffects, PairEffect]], by: str) -> Phrase:
    """Say how an association differs between the two states where its effects differ most."""
    if not groups:
        return Phrase(
            "The test shows that it differs. No two states have 20 rows in each of the same cells, "
            "so no numbers are compared."
        )
    ends = [f(groups, key=lambda one: one[1].estimate) for f in (min, max)]
    if not any(effect.excludes_none for _, effect in ends):
        return Phrase("The states differ together; no state alone shows it.")
    said: list[Phrase] = []
    for group, effect in sorted(ends, key=lambda one: not one[1].excludes_none):
        where = Phrase("where it is ") if said else Phrase("where ", Name(by), " is ")
        if effect.excludes_none:
            said.append(Phrase(f"{change_text(effect)} ", where, group.state))
        else:
            number = effect_text(effect).replace(" (", ", ").rstrip(")")
            verb = "shows" if effect.kind == "difference" else "show"
            said.append(Phrase(f"{verb} no clear change ({number}) ", where, group.state))
    return Phrase(change_start(ends[0][1]), " ", said[0], ", and ", said[1], ".")


def change_start(effect: PairEffect) -> Phrase:
    """Name what changes with what: ``From colour Black to White, the share of released = Yes``."""
    by, what = Name(effect.by), Phrase(Name(effect.of), f" = {effect.state}")
    if not effect.state:
        what = Phrase("the next higher state of ", Name(effect.of))
    if not effect.at:
        return Phrase("With each step of ", by, ", the odds of ", what)
    kind = "share" if effect.kind == "difference" else "odds"
    return Phrase("From ", by, f" {effect.reference} to {effect.at}, the {kind} of ", what)


def change_text(effect: PairEffect) -> str:
    """Say how much it changes: ``rises by 14 points (8 to 20)``."""
    if effect.kind != "difference":
        return f"are multiplied by {effect_text(effect)}"
    sign = -1 if effect.estimate < 0 else 1
    low, high = sorted(round(100 * sign * end) for end in (effect.low, effect.high))
    about = "about " if effect.approximate else ""
    size = plural(round(100 * abs(effect.estimate)), "point")
    return f"{'rises' if sign > 0 else 'falls'} by {size} ({about}{low} to {high})"


def effect_label(effect: PairEffect) -> str:
    """Name what an effect measures."""
    if effect.kind == "odds ratio per step":
        return "Odds ratio per step"
    what = f"{effect.of} = {effect.state}, {effect.by} {effect.at} against {effect.reference}"
    return f"Points ({what})" if effect.kind == "difference" else f"Odds ratio ({what})"


def effect_text(effect: PairEffect) -> str:
    """Write an effect with its interval."""
    written: Callable[[float], str] = points if effect.kind == "difference" else ratio
    if written is ratio and ratio(effect.low) == ratio(effect.high):
        written = strength  # two decimals, where two digits would all be equal
    about = "about " if effect.approximate else ""
    return f"{written(effect.estimate)} ({about}{between(effect.low, effect.high, written)})"
