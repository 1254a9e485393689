"""The words of an analysis: its answer, and sentences about pairs, claims and rows.

A `Phrase` is a sequence of texts in which a `Name` is a variable, which pages print in bold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contextwise.analysis.findings import Analysis, Card, PairFinding
from contextwise.analysis.pair_rows import Standardised, Strata, Stratum, WithInterval
from contextwise.evidence.verdicts import SAMPLE, STRONGEST
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
from contextwise.support.formatting import capitalized, listed, plural

WEAK = 0.1  # a Cramér's V up to which an association is called weak
MOST_LISTED = 4


class Name(str):
    __slots__ = ()


Phrase = tuple[str, ...]


def plain(phrase: Iterable[str]) -> str:
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


def p_value(p: float | None) -> str:
    """Write a p-value: ``< 0.001``, ``0.049``, ``0.32``."""
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.2g}" if p < 0.995 else "1"


def v_text(estimate: WithInterval | Effect | None) -> str:
    """Write Cramér's V with its interval: ``0.14 (0.08 to 0.21)``."""
    if estimate is None:
        return "–"
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def effect_text(effect: Effect | None) -> str:
    """Write an effect: ``OR 1.4 (0.82 to 2.3)``, ``OR above 27``, ``V 0.14 (0.08 to 0.21)``."""
    if effect is None:
        return "–"
    return (
        f"V {v_text(effect)}" if effect.measure == "V" else str(effect).replace("odds ratio", "OR")
    )


# -- regions and pairs -----------------------------------------------------------------------------


def region_phrase(literals: Sequence[Literal]) -> Phrase:
    """Write a region: ``class is not 3rd and sex is male``."""
    words: list[str] = []
    for literal in literals:
        words += [" and "] if words else []
        verb = " is not " if literal.negated else " is "
        words += [Name(literal.variable), verb, " or ".join(literal.states)]
    return tuple(words)


def _listed(phrases: Iterable[Phrase]) -> Phrase:
    """List phrases: ``class, sex and age``."""
    *others, last = phrases
    words = [text for phrase in others for text in (", ", *phrase)][1:]
    return (*words, " and ", *last) if words else last


def _names(names: Iterable[str]) -> Phrase:
    return _listed((Name(name),) for name in names)


def _few_names(names: Sequence[str]) -> Phrase:
    return (f"{len(names)} variables",) if len(names) > MOST_LISTED else _names(names)


def _pairs(findings: Sequence[PairFinding], most: int = MOST_LISTED) -> Phrase:
    pairs: list[Phrase] = [(Name(f.pair[0]), " with ", Name(f.pair[1])) for f in findings[:most]]
    more = len(findings) - most
    return _listed([*pairs, (f"{more} more",)] if more > 0 else pairs)


def context_phrase(finding: PairFinding) -> Phrase:
    """Say where an association holds: ``not where class is 3rd``; empty if everywhere."""
    if not finding.partly:
        return ()
    only, but = "only", "not"
    if finding.limit_is_open:
        only, but = "shown only", "not shown"
    if finding.only_where:
        return (f"{only} where ", *region_phrase(finding.only_where))
    if finding.not_where:
        return (f"{but} where ", *region_phrase(finding.not_where))
    return (f"{only} in {percent(finding.holds)} of the rows",)


# -- the answer ------------------------------------------------------------------------------------


def first_sentence(analysis: Analysis) -> Phrase:
    """Say which pairs are associated, the exception by context, and how many were not tested."""
    variables, outcome = len(analysis.domain), analysis.outcome
    findings = [f for f in analysis.ranked if analysis.is_about_outcome(f)]
    if not findings:
        return (f"{variables} variables are too many to look at each pair of them.",)
    if variables == 2:
        finding = findings[0]
        found = " are associated" if finding.associated else f": {finding_text(finding)}"
        return (*_names(finding.pair), found, ".")
    held = f" when {'the third is' if variables == 3 else 'the rest are'} held fixed"
    associated = [f for f in findings if f.associated]
    if not associated:
        return _none_associated(findings, outcome, held)
    if outcome is not None:
        start = _some_of_outcome(associated, len(findings), outcome, held)
    else:
        start = _some_pairs(associated, findings, variables, held)
    return (*start, *_exceptions(associated, outcome), *_untested(findings), ".")


def _none_associated(findings: Sequence[PairFinding], outcome: str | None, held: str) -> Phrase:
    of: Phrase = () if outcome is None else (" of ", Name(outcome), " with another variable")
    tested = sum(f.kind != "skipped" and not f.undecided for f in findings)
    if not tested:
        verb = "could be" if any(f.undecided for f in findings) else "was"
        return (f"None of the {len(findings):,} pairs", *of, f" {verb} tested.")
    start = f"The rows show no association in any of the {tested:,} tested pairs"
    return (start, *of, held, *_untested(findings), ".")


def _some_pairs(
    associated: Sequence[PairFinding], findings: Sequence[PairFinding], variables: int, held: str
) -> Phrase:
    every, count = len(findings), len(associated)
    if count == every:
        return (f"Every pair of the {variables} variables is associated{held}",)
    if every - count <= 2 < count:
        others = _pairs([f for f in findings if not f.associated])
        return ("All pairs of variables but ", *others, f" are associated{held}")
    verb = "is" if count == 1 else "are"
    start = f"{count:,} of the {every:,} pairs of variables {verb} associated{held}"
    return (f"{start}: ", *_pairs(associated)) if count <= 2 else (start,)


def _some_of_outcome(
    associated: Sequence[PairFinding], every: int, outcome: str, held: str
) -> Phrase:
    strongest = sorted(associated, key=lambda f: -f.strength)
    others = [next(n for n in f.pair if n != outcome) for f in strongest]
    start: Phrase = (Name(outcome), " is associated with ")
    if len(others) == every:
        return (*start, f"{'both' if every == 2 else f'all {every}'} other variables{held}")
    if len(others) <= MOST_LISTED:
        return (*start, *_names(others), held)
    text = f"{len(others)} of the {every} other variables{held}, most with "
    return (*start, text, *_names(others[:2]))


def _exceptions(associated: Sequence[PairFinding], outcome: str | None) -> Phrase:
    """Name the pair that is associated in some contexts only, and count the others."""
    partly = sorted((f for f in associated if f.partly), key=lambda f: f.limit_is_open)
    if not partly:
        return ()
    first, *others = partly
    names = _names(n for n in first.pair if n != outcome)
    who: Phrase = (*names, " ")
    if outcome:
        who = ("with ", *names, " ") if len(associated) > 1 else ()
    elif first.limit_is_open:
        who = ("for ", *names, " this is ")
    more = f", and {plural(len(others), 'other pair')} only in some contexts" if others else ""
    return (", but ", *who, *context_phrase(first), more)


def _untested(findings: Sequence[PairFinding]) -> Phrase:
    counts = {
        "could not be tested": sum(f.undecided for f in findings),
        "not tested": sum(f.kind == "skipped" for f in findings),
    }
    return tuple(f"; {plural(n, 'pair')} {text}" for text, n in counts.items() if n)


def next_sentences(analysis: Analysis) -> list[Phrase]:
    """Return the sentences after the first one, which may be none."""
    sentences = [strongest_sentence(analysis), disagreement_sentence(analysis)]
    if analysis.evidence.pairs_left_out and not analysis.evidence.unfinished:
        text = (
            "Of so many pairs the tests took the associations of the model, the "
            f"{STRONGEST} others with the strongest crude association, and {SAMPLE} at random."
        )
        sentences.append((text,))
    if analysis.unfinished:
        text = "The analysis was stopped, by its time limit or by you: "
        sentences.append((text, listed(analysis.unfinished), "."))
    return [sentence for sentence in sentences if sentence]


def strongest_sentence(analysis: Analysis) -> Phrase:
    """Describe the strongest association in shares, or the strongest crude one."""
    findings = [f for f in analysis.findings if analysis.is_about_outcome(f)]
    associated = [f for f in findings if f.associated]
    if not associated:
        return _crude_sentence(findings) if len(analysis.domain) > 2 else ()
    strongest = max(associated, key=lambda f: f.strength)
    only = len(associated) == 1
    start: Phrase = ()
    if len(analysis.domain) > 2:
        noun = "The association" if only else "The strongest association"
        place = (", ", *context_phrase(strongest)) if strongest.partly else ()
        start = (f"{noun} is ", *_pairs([strongest]), *place, ": ")
    card = analysis.card(strongest)
    if card.whole is None or card.whole.gap is None:
        return (*start, f"V {strongest.strength:.2f}.")
    held: Phrase = ()
    if card.whole.given:
        held = (", standardised for ", *_few_names(card.whole.given))
    strength: Phrase = (f" (V {strongest.strength:.2f}",)
    if card.whole.left_out:
        strength = (*strength, " with ", *_few_names(strongest.given), " held fixed")
    words = (*start, *gap_phrase(card, card.whole), *held, *strength, ").")
    if strongest.strength < WEAK and not only:
        return (*words, f" All associations are weak: V is at most {strongest.strength:.2f}.")
    return words


def _crude_sentence(findings: Sequence[PairFinding]) -> Phrase:
    clear = [f for f in findings if f.crude is not None and f.crude.low > WEAK]
    if not clear:
        return ()
    first = max(clear, key=lambda f: f.crude.value if f.crude else 0.0)
    held = "With nothing held fixed, the strongest association in all rows is "
    return (held, *_pairs([first]), f": V {v_text(first.crude)}.")


def gap_phrase(card: Card, shares: Standardised) -> Phrase:
    """Write the largest gap: ``survived is yes for 75 % where sex is female, 22 % where …``."""
    gap = shares.gap
    assert gap is not None
    high, low = map(percent, gap.shares)
    of, by = Name(card.of), Name(card.by)
    where = (f" is {gap.state} for {high} where ", by, f" is {gap.high}")
    return (of, *where, f", for {low} where it is {gap.low}")


def disagreement_sentence(analysis: Analysis) -> Phrase:
    """Name the pairs about which model and rows disagree; empty if there are none."""
    ranked = analysis.ranked
    tested = f"not by the {analysis.held_out:,} of the tests, which show only stronger ones"
    kinds = {
        "Left out by the model, but shown by the rows": [f for f in ranked if f.kind == "left out"],
        "Shown by the rows in more contexts than the model says": [f for f in ranked if f.wider],
        "In the model, but not shown by the tests": [
            f for f in ranked if f.kind == "not shown" and not f.in_all_rows
        ],
        f"In the model and shown by all {len(analysis.data):,} rows, but {tested}": [
            f for f in ranked if f.kind in ("not shown", "untested") and f.in_all_rows
        ],
    }
    words: list[str] = []
    for text, findings in kinds.items():
        if findings:
            words += [" ", f"{text}: ", *_pairs(findings, most=MOST_LISTED - 1), "."]
    return tuple(words[1:])


# -- captions and notes ----------------------------------------------------------------------------

EMPTY_CAPTION = "The page knows of no association."
GRAPH_CAPTION = (
    "Each line is an association with the other variables held fixed; width and number: strength "
    "(Cramér’s V, 0 none, 1 perfect)."
)
INTERRUPTED = (
    "*An interrupted line* is shown only for a part of the rows; the gap is the share of the other "
    "rows."
)
DASHED = "*A dashed line* was left out by the model but is clear in the rows."
PALE = "*A pale line* is claimed by the model, but the tests do not show it."
MATRIX_KEY = {
    "yes": "associated, supported by the rows",
    "bad": "associated in the rows, left out by the model",
    "weak": "associated says the model; the tests do not show it",
}
MATRIX_CAPTION = (
    "Below the diagonal: the other variables held fixed; a part of a circle is the share of rows "
    "for which the association is shown. Above it: crude strength (Cramér’s V)."
)
STRENGTH_CAPTION = (
    "Strength of each pair. A filled dot far from its open dot: the other variables mask or "
    "explain a part of the crude association."
)
DIFFERS = ". Groups differ: where "
VANISHES = ". The association differs between groups, so that little of it is left on average"
KINDS = {
    "associated": "associated",
    "left out": "associated, left out by the model",
    "none": "no association shown",
    "not shown": "not shown by the tests",
    "untested": "could not be tested",
    "skipped": "not tested",
}
"""The texts of the kinds of findings."""
KIND_OF_VERDICT = {
    SUPPORTED: "associated",
    CONTRADICTED: "left out",
    NOT_CONTRADICTED: "none",
    USED: "none",
    NOT_SUPPORTED: "not shown",
    UNTESTABLE: "untested",
}


def finding_text(finding: PairFinding) -> str:
    return KINDS["untested" if finding.undecided else finding.kind]


def remark(finding: PairFinding) -> str:
    """Return what a reader must know about a line of the picture; empty for a plain one."""
    if finding.kind == "left out":
        return "left out by the model"
    if finding.in_all_rows:
        return f"seen in all rows, {finding_text(finding)}"
    return plain(context_phrase(finding)) if finding.associated else finding_text(finding)


def cards_lede(analysis: Analysis) -> str:
    order = (
        "Associations in some contexts only come first, then those that the rows show and the "
        "model does not, then the others by strength; pairs that the tests do not show are last. "
        "Shares and intervals are from all rows."
    )
    return f"Pairs with {analysis.outcome} first. {order}" if analysis.outcome else order


def card_sentence(card: Card) -> Phrase:
    """Return the sentence of a card: the largest gap, or how groups differ."""
    finding, shares = card.finding, card.whole
    start: Phrase = ()
    if finding.kind == "left out" or not finding.associated:
        text = finding_text(finding)
        where = ". In all rows: " if finding.in_all_rows else ": "
        start = (f"{capitalized(text)}{where}",)
    elif finding.wider:
        start = ("The model limits the association; the rows show it elsewhere too. ",)
    elif finding.partly:
        first, *rest = context_phrase(finding)
        start = (capitalized(first), *rest, ": ")
    end: Phrase = (".",)
    if finding.limit_is_open and finding.elsewhere and finding.elsewhere.low > 0:
        end = (f". In all rows, it is seen elsewhere too: V {v_text(finding.elsewhere)}.",)
    groups = sorted(card.groups, key=lambda group: -group.points)
    if finding.differs and groups and groups[-1].points < 0 < groups[0].points:
        return (*start, *_groups_phrase(groups[0], groups[-1]))
    if shares is None or shares.gap is None:
        return (*start[:-1], start[-1].removesuffix(": ")) if start else ()
    ends = shares.gap.points
    if card.apart is not None:
        group, within = card.apart
        crude = (*gap_phrase(card, within), " (crude)")
        end = (DIFFERS, *region_phrase([group]), ", ", *crude, *end)
    elif ends.low <= 0 and finding.associated:
        end = (VANISHES, *end)
    interval = f"{points(ends.value)} points ({points(ends.low)} to {points(ends.high)})"
    return (*start, *gap_phrase(card, shares), f"; {interval}", *end)


def _groups_phrase(high: Stratum, low: Stratum) -> Phrase:
    """Write two groups: ``The difference depends on the group: +8 points where …``."""
    first, second = (
        (
            f"{points(g.points)} points where ",
            *region_phrase([Literal(n, (s,)) for n, s in g.states]),
        )
        for g in (high, low)
    )
    return ("The difference depends on the group: ", *first, ", ", *second, ".")


def group_notes(groups: Strata, most: int) -> list[str]:
    notes = []
    if groups.silent:
        rows = "" if groups.silent_rows is None else f" with {groups.silent_rows:,} rows"
        notes.append(
            f"{plural(groups.silent, 'group')}{rows} left out: one of the two variables does not "
            "vary there."
        )
    if left := groups.groups[most:]:
        count = sum(group.rows for group in left)
        notes.append(f"{plural(len(left), 'smaller group')} with {count:,} rows not shown.")
    if groups.hidden:
        notes.append(f"{plural(groups.hidden, 'group')} hidden, because counts are small.")
    return notes


def panel_notes(shares: Standardised) -> str:
    notes = ["Open dot: crude. Dotted line: all rows."]
    if shares.left_out:
        names = listed(shares.left_out)
        notes.insert(0, f"Shares do not hold fixed, because groups would be too small: {names}.")
    if shares.given:
        notes.insert(0, f"Standardised for {listed(shares.given)}, over {shares.rows:,} rows.")
    if shares.hidden:
        notes.append(f"{plural(shares.hidden, 'state')} hidden, because counts are small.")
    return " ".join(notes)


EVIDENCE = (
    "*V*: Cramér’s V, 0 none, 1 perfect. *OR*: odds ratio, 1 none. *p*: how often independent "
    "variables would differ this much, corrected for the number of claims of its kind. A supported "
    "association “everywhere” shows overall, not in each group."
)


def tested_on(analysis: Analysis) -> str:
    if not analysis.evidence.claims:
        return "no claim was tested"
    if analysis.held_out:
        return f"on {analysis.held_out:,} rows that the {analysis.maker} did not see"
    return "on the rows that the learner saw, so claims look better than on new rows"


def evidence_lede(analysis: Analysis) -> str:
    return (
        "What the model claims, and whether the rows agree. Where they disagree, this page "
        f"follows the rows. Tests {tested_on(analysis)}."
    )


def evidence_notes(analysis: Analysis) -> list[str]:
    """Explain the evidence; words between asterisks are bold."""
    notes = [EVIDENCE]
    if analysis.halves is not None:
        notes.append(
            f"*Random halves.* We learned {analysis.halves.count} more times, each from a random "
            "half of the rows, and counted how often the same claim came out. This shows how much "
            "the learner depends on which rows it saw, not whether the claim is true."
        )
    return notes


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
    words = (*_names(claim.pair), f" are {'associated' if claim.dependent else 'independent'}")
    if claim.region:
        return (*words, " where ", *region_phrase(claim.region))
    return (*words, " everywhere") if claim.given and claim.dependent else words


def part_title(claim: ClaimEvidence) -> Phrase:
    """Return the heading of the rows behind a claim: ``Associated where class is not 3rd``."""
    title = capitalized(KINDS[KIND_OF_VERDICT[claim.verdict]])
    return (title, " where ", *region_phrase(claim.region)) if claim.region else (title,)


def effect_remark(claim: ClaimEvidence) -> str:
    """Return what a reader must know about an effect."""
    effect = claim.effect
    if effect is not None and effect.differs:
        return "differs between groups"
    is_average = effect is not None and effect.measure == "odds ratio"
    if claim.verdict in (SUPPORTED, CONTRADICTED) and effect is not None and is_average:
        return "shown in the groups, not on average" if effect.low <= 1 <= effect.high else ""
    return claim.reason


def part_numbers(claim: ClaimEvidence) -> str:
    """Return the test behind a heading: ``test: OR 1.4 (0.82 to 2.3), p = 0.32``."""
    if claim.p is None:
        return claim.reason
    p = p_value(claim.adjusted)
    parts = [f"test: {effect_text(claim.effect)}", f"p {p if p.startswith('<') else f'= {p}'}"]
    return ", ".join(filter(None, [*parts, effect_remark(claim)]))
