"""The words of an analysis: its answer, and sentences about pairs, claims and rows.

A `Phrase` is a sequence of texts in which a `Name` is a variable, which pages print in bold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from contextwise.evaluation.analysis import Analysis, Card, PairFinding
from contextwise.evaluation.pair_rows import Estimate, Group, Groups, Standardised
from contextwise.models.evidence import (
    CONTRADICTED,
    NOT_CONTRADICTED,
    NOT_SUPPORTED,
    SUPPORTED,
    UNTESTABLE,
    USED,
    ClaimEvidence,
    Effect,
)
from contextwise.models.notation import Literal
from contextwise.support.formatting import listed, plural

WEAK = 0.1  # a Cramér's V up to which an association is called weak
MOST_LISTED = 4


class Name(str):
    """The name of a variable."""

    __slots__ = ()


Phrase = tuple[str, ...]


def plain(phrase: Iterable[str]) -> str:
    """Return a phrase as text."""
    return "".join(phrase)


# -- numbers ---------------------------------------------------------------------------------------


def percent(share: float) -> str:
    """Write a share: ``46 %``; ``< 1 %`` and ``> 99 %`` where rounding would say none or all."""
    if 0 < share < 0.005:
        return "< 1 %"
    if 0.995 < share < 1:
        return "> 99 %"
    return f"{100 * share:.0f} %"


def points(value: float) -> str:
    """Write a difference of shares in percentage points, with its sign."""
    rounded = round(100 * value)
    return f"{'−' if rounded < 0 else '+'}{abs(rounded)}"


def points_text(estimate: Estimate) -> str:
    """Write a difference with its interval: ``+52 points (+46 to +58)``."""
    ends = f"{points(estimate.low)} to {points(estimate.high)}"
    return f"{points(estimate.value)} points ({ends})"


def p_value(p: float | None) -> str:
    """Write a p-value: ``< 0.001``, ``0.049``, ``0.32``."""
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.2g}" if p < 0.995 else "1"


def v_text(estimate: Estimate | None) -> str:
    """Write Cramér's V with its interval: ``0.14 (0.08 to 0.21)``."""
    if estimate is None:
        return "–"
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def effect_text(effect: Effect | None) -> str:
    """Write an effect: ``OR 1.4 (0.82 to 2.3)``, ``OR above 27``, ``V 0.14 (0.08 to 0.21)``."""
    if effect is None:
        return "–"
    if effect.measure == "V":
        return f"V {v_text(Estimate(effect.value, effect.low, effect.high))}"
    if effect.value == inf:
        return f"OR above {_ratio(effect.low)}"
    if effect.value == 0:
        return f"OR below {_ratio(effect.high)}"
    return f"OR {_ratio(effect.value)} ({_ratio(effect.low)} to {_ratio(effect.high)})"


def _ratio(value: float) -> str:
    """Write an odds ratio with two digits, without exponents where it can be read."""
    if value >= 10_000:
        return "10,000 or more"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


# -- regions and pairs -----------------------------------------------------------------------------


def region_phrase(literals: Sequence[Literal]) -> Phrase:
    """Write a region: ``class is not 3rd and sex is male``."""
    words: list[str] = []
    for literal in literals:
        words += [" and "] if words else []
        verb = " is not " if literal.negated else " is "
        words += [Name(literal.variable), verb, " or ".join(literal.states)]
    return tuple(words)


def listed_names(names: Sequence[str], last: str = "and") -> Phrase:
    """List variables: ``class, sex and age``."""
    words: list[str] = []
    for k, name in enumerate(names):
        if k:
            words.append(f" {last} " if k == len(names) - 1 else ", ")
        words.append(Name(name))
    return tuple(words)


def context_phrase(finding: PairFinding) -> Phrase:
    """Say where an association holds: ``not where class is 3rd``; empty if everywhere."""
    if not finding.partly:
        return ()
    absent = [c for c in finding.absent if c.region]
    present = [c for c in finding.present if c.region]
    if len(present) == 1:
        return ("only where ", *region_phrase(present[0].region))
    if len(absent) == 1:
        return ("not where ", *region_phrase(absent[0].region))
    return (f"only in {percent(finding.holds)} of the rows",)


def not_where(finding: PairFinding) -> str:
    """Return the label of an interrupted line: where the association does not hold."""
    absent = [c for c in finding.absent if c.region]
    if finding.partly and len(absent) == 1 and not any(r.negated for r in absent[0].region):
        negated = [r.negated for c in finding.present for r in c.region]
        if any(negated) or len(finding.present) != 1:
            return plain(("not where ", *region_phrase(absent[0].region)))
    return plain(context_phrase(finding))


# -- the answer ------------------------------------------------------------------------------------


def first_sentence(analysis: Analysis) -> Phrase:
    """Say how many pairs are associated, and the exception by context."""
    names = analysis.domain.names
    if len(names) == 2:
        return _two_variables(analysis.findings[0])
    if analysis.outcome is not None:
        return _outcome_sentence(analysis, analysis.outcome)
    associated = [f for f in analysis.ranked if f.associated]
    every, count = len(analysis.findings), len(associated)
    held = _held_fixed(len(names))
    if not count:
        return (f"The rows show no association between any of the {len(names)} variables{held}.",)
    if count == every:
        start: Phrase = (f"Every pair of the {len(names)} variables is associated{held}",)
    elif count <= 2:
        pairs = _listed_pairs(associated)
        verb = "is" if count == 1 else "are"
        start = (f"{count} of the {every} pairs of variables {verb} associated{held}: ", *pairs)
    elif every - count <= 2:
        others = _listed_pairs([f for f in analysis.findings if not f.associated])
        start = ("All pairs of variables but ", *others, f" are associated{held}")
    else:
        start = (f"{count} of the {every} pairs of variables are associated{held}",)
    return (*start, *_exceptions(associated), ".")


def _two_variables(finding: PairFinding) -> Phrase:
    first, second = map(Name, finding.pair)
    if finding.associated:
        return (first, " and ", second, " are associated.")
    if finding.kind == "untested" or all(c.verdict == UNTESTABLE for c in finding.claims):
        return ("The rows cannot show whether ", first, " and ", second, " are associated.")
    return ("The rows show no association of ", first, " and ", second, ".")


def _held_fixed(variables: int) -> str:
    words = {3: "the third", 4: "the other two"}
    return (
        f" when {words.get(variables, 'the others')} {'is' if variables == 3 else 'are'} held fixed"
    )


def _listed_pairs(findings: Sequence[PairFinding]) -> Phrase:
    words: list[str] = []
    for k, finding in enumerate(findings):
        if k:
            words.append(" and " if k == len(findings) - 1 else ", ")
        words += [Name(finding.pair[0]), " with ", Name(finding.pair[1])]
    return tuple(words)


def _exceptions(associated: Sequence[PairFinding], outcome: str | None = None) -> Phrase:
    """Name the pair that is associated in some contexts only, and count the others."""
    partly = [f for f in associated if f.partly]
    if not partly:
        return ()
    first, *others = partly
    who = listed_names([n for n in first.pair if n != outcome])
    words = [", but ", *(("with ",) if outcome else ()), *who, " ", *context_phrase(first)]
    if others:
        words.append(f", and {plural(len(others), 'other pair')} only in some contexts")
    return tuple(words)


def _outcome_sentence(analysis: Analysis, outcome: str) -> Phrase:
    own = [f for f in analysis.ranked if outcome in f.pair]
    associated = sorted((f for f in own if f.associated), key=lambda f: -f.strength)
    others = [next(n for n in f.pair if n != outcome) for f in associated]
    held = f" when {'the third is' if len(own) == 2 else 'the rest are'} held fixed"
    if not associated:
        return (
            "The rows show no association of ",
            Name(outcome),
            f" with any other variable{held}.",
        )
    if len(others) == len(own):
        everything = "both" if len(own) == 2 else f"all {len(own)}"
        start: Phrase = (Name(outcome), f" is associated with {everything} other variables{held}")
    elif len(others) <= MOST_LISTED:
        start = (Name(outcome), " is associated with ", *listed_names(others), held)
    else:
        start = (
            Name(outcome),
            f" is associated with {len(others)} of the {len(own)} other variables{held}, "
            "most with ",
            *listed_names(others[:2]),
        )
    return (*start, *_exceptions(associated, outcome), ".")


def strongest_sentence(analysis: Analysis) -> Phrase:
    """Describe the strongest association in shares; empty if there is none."""
    associated = [f for f in analysis.findings if f.associated]
    if analysis.outcome is not None:
        associated = [f for f in associated if analysis.outcome in f.pair] or associated
    if not associated:
        return ()
    strongest = max(associated, key=lambda f: f.strength)
    card = analysis.card(strongest)
    first, second = map(Name, strongest.pair)
    only = len(associated) == 1
    start: Phrase = (
        ("", "")
        if len(analysis.domain) == 2
        else (
            "The association" if only else "The strongest association",
            " is ",
            first,
            " with ",
            second,
            ": ",
        )
    )
    gap = card.whole.gap if card.whole else None
    if gap is None or card.whole is None:
        return (*start, f"V {strongest.strength:.2f}.")
    held = _standardised_for(card.whole)
    words = (*start, *gap_phrase(card, card.whole), *held, f" (V {strongest.strength:.2f}).")
    if strongest.strength < WEAK and not only:
        return (*words, f" All associations are weak: V is at most {strongest.strength:.2f}.")
    return words


def gap_phrase(card: Card, shares: Standardised) -> Phrase:
    """Write the largest gap: ``survived is yes for 75 % where sex is female, 22 % where …``."""
    gap = shares.gap
    assert gap is not None
    high, low = map(percent, gap.shares)
    of, by = Name(card.of), Name(card.by)
    return (
        of,
        f" is {gap.state} for {high} where ",
        by,
        f" is {gap.high}, for {low} where it is {gap.low}",
    )


def groups_phrase(high: Group, low: Group) -> Phrase:
    """Write two groups: ``The difference depends on the group: +8 points where …``."""
    told = [(points(group.points), _group_phrase(group)) for group in (high, low)]
    (first, where), (second, elsewhere) = told
    return (
        f"The difference depends on the group: {first} points where ",
        *where,
        f", {second} points where ",
        *elsewhere,
        ".",
    )


def _group_phrase(group: Group) -> Phrase:
    return region_phrase([Literal(name, (state,)) for name, state in group.states])


def _standardised_for(shares: Standardised) -> Phrase:
    if not shares.given:
        return ()
    if len(shares.given) > MOST_LISTED:
        return (f", standardised for {len(shares.given)} variables",)
    return (", standardised for ", *listed_names(shares.given))


def disagreement_sentence(analysis: Analysis) -> Phrase:
    """Name the pairs about which model and rows disagree; empty if there are none."""
    left_out = [f for f in analysis.ranked if f.kind == "left out"]
    absent = [f for f in analysis.ranked if f.kind == "not shown"]
    words: list[str] = []
    if left_out:
        noun = "One association was" if len(left_out) == 1 else f"{len(left_out)} associations were"
        shows = "it" if len(left_out) == 1 else "them"
        words += [f"{noun} left out by the model, but the rows show {shows}"]
        words += _some_pairs(left_out)
    wider = [f for f in analysis.ranked if f.wider]
    if wider:
        words += [" "] if words else []
        words += ["The rows show "]
        words += [*_listed_pairs(wider[:2]), " in more contexts than the model does."]
    if absent:
        noun = "One association" if len(absent) == 1 else f"{len(absent)} associations"
        verb = "does" if len(absent) == 1 else "do"
        words += [" "] if words else []
        words += [f"{noun} of the model {verb} not show in the rows of the tests"]
        words += _some_pairs(absent)
        seen = sum(f.in_all_rows for f in absent)
        words += [f" In all rows {seen} of them can be seen."] if seen else []
    return tuple(words)


def _some_pairs(findings: Sequence[PairFinding]) -> Phrase:
    if len(findings) > MOST_LISTED - 1:
        return (", such as ", *_listed_pairs(findings[:2]), ".")
    return (": ", *_listed_pairs(findings), ".")


# -- captions and notes ----------------------------------------------------------------------------

GRAPH_CAPTION = (
    "Each line is an association with the other variables held fixed; width and number: strength "
    "(Cramér’s V, 0 none, 1 perfect). "
)
INTERRUPTED = "holds only for a part of the rows; the gap is the share of the other rows. "
DASHED = "was left out by the model but is clear in the rows. "
PALE = "is claimed by the model, but the tests do not show it. "
MATRIX_KEY = {
    "yes": "associated, supported by the rows",
    "bad": "associated in the rows, left out by the model",
    "weak": "associated says the model; the tests do not show it",
}
MATRIX_CAPTION = (
    "Below the diagonal: the other variables held fixed; a part of a circle is the share of rows "
    "for which the association holds. Above it: crude strength (Cramér’s V)."
)
STRENGTH_CAPTION = (
    "Strength of each pair. A filled dot far from its open dot: the other variables mask or "
    "explain a part of the crude association."
)
VANISHES = ". The association differs between groups, so that little of it is left on average."


def finding_text(finding: PairFinding) -> str:
    """Return what a pair is, in a few words."""
    special = {"left out": "associated, left out by the model", "none": "no association shown"}
    special |= {"not shown": "not shown by the tests", "untested": "could not be tested"}
    return special.get(finding.kind, finding.kind)


def remark(finding: PairFinding) -> str:
    """Return what a reader must know about a line of the picture; empty for a plain one."""
    if finding.kind == "left out":
        return "left out by the model"
    if finding.in_all_rows:
        return "seen in all rows, not shown by the tests"
    return not_where(finding) if finding.associated else finding_text(finding)


def cards_lede(analysis: Analysis) -> str:
    """Explain the order of the cards."""
    order = (
        "Pairs that hold only in some contexts first, then those on which model and rows "
        "disagree, then the others by strength. Shares and intervals are from all rows."
    )
    return f"Pairs with {analysis.outcome} first. {order}" if analysis.outcome else order


def card_sentence(card: Card) -> Phrase:
    """Return the sentence of a card: the largest gap, or how groups differ."""
    finding, shares = card.finding, card.whole
    starts = {
        "left out": "The model has no association here; the rows contradict it. ",
        "not shown": "The model has an association here; the tests do not show it. ",
        "untested": "Too few rows carry information about this pair. ",
        "none": "The rows show no association. ",
    }
    start: Phrase = (starts.get(finding.kind, ""),)
    if finding.wider:
        start = ("The model limits the association; the rows show it elsewhere too. ",)
    elif finding.partly:
        first, *rest = context_phrase(finding)
        start = (f"{first[:1].upper()}{first[1:]}", *rest, ": ")
    if finding.differs and card.extremes is not None:
        return (*start, *groups_phrase(*card.extremes))
    if shares is None or shares.gap is None:
        return start
    end = "." if shares.gap.points.low > 0 or not finding.associated else VANISHES
    return (*start, *gap_phrase(card, shares), f"; {points_text(shares.gap.points)}{end}")


def group_notes(groups: Groups, fit: Sequence[Group], most: int, smallest_count: int) -> list[str]:
    """Say which groups of rows are not shown: ``fit`` has those that may be."""
    notes = []
    if groups.silent:
        start = "One group" if groups.silent == 1 else f"{groups.silent:,} groups"
        verb = "says" if groups.silent == 1 else "say"
        notes.append(
            f"{start} with {groups.silent_rows:,} rows {verb} nothing about this pair: one of the "
            "two variables does not vary there."
        )
    if left := fit[most:]:
        rows = sum(group.rows for group in left)
        notes.append(f"{plural(len(left), 'smaller group')} with {rows:,} rows not shown.")
    if hidden := len(groups.groups) - len(fit):
        notes.append(f"{plural(hidden, 'group')} with counts below {smallest_count} hidden.")
    return notes


def panel_notes(shares: Standardised) -> str:
    """Say what the shares are standardised for."""
    notes = ["Open dot: crude. Dotted line: all rows."]
    if shares.left_out:
        names = listed(shares.left_out)
        notes.insert(0, f"Not held fixed, because groups would be too small: {names}.")
    if shares.given:
        rows = f"over {shares.rows:,} rows"
        notes.insert(0, f"Standardised for {listed(shares.given)}, {rows}.")
    return " ".join(notes)


def share_texts(shares: Standardised, row: int) -> list[str]:
    """Return the standardised shares of one state with their intervals, and the crude ones."""
    return [
        f"{percent(e.value)} ({percent(e.low)} to {percent(e.high)}), crude {percent(crude[row])}"
        for e, crude in zip((each[row] for each in shares.shares), shares.crude, strict=True)
    ]


def evidence_lede(analysis: Analysis) -> str:
    """Say whose claims are tested, and on which rows."""
    rows = "on the rows that the learner saw"
    if analysis.held_out:
        rows = f"on {analysis.held_out:,} rows that the {analysis.maker} did not see"
    return (
        "What the model claims, and whether the rows agree. Where they disagree, this page "
        f"follows the rows. Tests {rows}."
    )


def evidence_notes(analysis: Analysis) -> list[str]:
    """Explain the columns of the evidence; words between asterisks are bold."""
    notes = [
        "*Rows that count* are in groups (equal states of what is held fixed) in which both "
        "variables vary. *V*: Cramér’s V, 0 none, 1 perfect. *OR*: odds ratio, 1 none. *p*: how "
        "often independent variables would differ this much, corrected for the number of claims. A "
        "supported association “everywhere” shows overall, not in each group."
    ]
    if analysis.halves is not None:
        notes.append(
            f"*Random halves.* We learned {analysis.halves.count} more times, each from a random "
            "half of the rows, and counted how often the same claim came out. This shows how much "
            "the learner depends on which rows it saw, not whether the claim is true."
        )
    if analysis.evidence.pairs_left_out:
        left = analysis.evidence.pairs_left_out
        notes.append(f"{left:,} pairs claimed independent were not tested.")
    return notes


def effect_remark(claim: ClaimEvidence) -> str:
    """Return what a reader must know about an effect."""
    return "differs between groups" if claim.effect and claim.effect.differs else claim.reason


# -- verdicts --------------------------------------------------------------------------------------

VERDICT_MARKS = {
    SUPPORTED: "yes",
    NOT_CONTRADICTED: "none",
    CONTRADICTED: "bad",
    NOT_SUPPORTED: "weak",
    UNTESTABLE: "na",
    USED: "none",
}
"""The shape of each verdict, in the order of the score line."""


def claim_phrase(claim: ClaimEvidence) -> Phrase:
    """Write a claim: ``sex and age are independent where class is 3rd``."""
    first, second = map(Name, claim.pair)
    verb = " are associated" if claim.dependent else " are independent"
    words: Phrase = (first, " and ", second, verb)
    if claim.region:
        return (*words, " where ", *region_phrase(claim.region))
    return (*words, "" if not claim.given else " everywhere" if claim.dependent else "")


def part_title(claim: ClaimEvidence) -> Phrase:
    """Return the heading of the rows behind a claim: ``Associated where class is not 3rd``."""
    titles = {
        SUPPORTED: "Associated",
        CONTRADICTED: "Association that the model left out",
        NOT_CONTRADICTED: "No association shown",
        USED: "No association shown",
        NOT_SUPPORTED: "Association of the model that the tests do not show",
        UNTESTABLE: "Could not be tested",
    }
    place: Phrase = (", where ", *region_phrase(claim.region)) if claim.region else ()
    if place and claim.verdict in (SUPPORTED, NOT_CONTRADICTED, USED, UNTESTABLE):
        place = (" where ", *place[1:])
    return (titles[claim.verdict], *place)


def part_numbers(claim: ClaimEvidence) -> str:
    """Return the test behind a heading: ``odds ratio 1.4 (0.82 to 2.3) · p = 0.32``."""
    if claim.p is None:
        return claim.reason
    parts = [f"test: {effect_text(claim.effect)}", f"p {_equals(claim.adjusted)}"]
    if claim.effect is not None and claim.effect.differs:
        parts.append("differs between groups")
    if claim.verdict == UNTESTABLE:
        parts.append(claim.reason)
    return ", ".join(parts)


def _equals(p: float | None) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"
