"""Notes on an analysis: facts, decisions, cautions and methods, and lines for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from contextwise.analysis.findings import Analysis
from contextwise.data.rows import Data
from contextwise.models.evidence import NOT_CONTRADICTED, UNTESTABLE, USED
from contextwise.report.analysis_words import (
    claim_phrase,
    context_phrase,
    first_sentence,
    next_sentences,
    percent,
    plain,
    tested_on,
    v_text,
)
from contextwise.report.groups_of_rows import groups_verdict
from contextwise.support.formatting import capitalized, listed, plural

SMALL = 5  # counts below this are mentioned in a caution
SAME = 0.97  # a Cramér's V from which two variables are nearly the same
CLOSE = 0.8  # and one from which one of them may be computed from the other
MOST_TOLD = 6  # columns that a decision names
CITE = (
    "Cite: J. Strappa and F. Bromberg, “Efficient comparison of independence structures of "
    "log-linear models”, The Computer Journal, 2023, doi 10.1093/comjnl/bxad054."
)


def facts(analysis: Analysis) -> list[tuple[str, str]]:
    meaning = "An association is not a cause."
    if len(analysis.domain) > 2:
        meaning = "Associations with the other variables held fixed. Not causes."
    return [
        ("Meaning", meaning),
        ("Rows", f"{capitalized(_rows_text(analysis))}."),
        ("Learner" if analysis.learner else "Model", f"{analysis.learner or 'given'}."),
        ("Tests", f"{capitalized(tested_on(analysis))}."),
    ]


def _rows_text(analysis: Analysis) -> str:
    """Say how many rows were used: ``168 of 237 used, 69 dropped …``."""
    data, total = analysis.data, analysis.rows_read
    if data.multiplicity is not None:
        column = data.decisions.get("counts") or "their number"
        return f"{total:,} rows stand for {len(data):,}, counted by {column}"
    if analysis.summary is None:
        return f"{len(data):,} used"
    if len(data) < total:
        gone = f"{total - len(data):,} dropped because a value is missing"
        return f"{len(data):,} of {total:,} used: {gone}{_subjects_text(data)}"
    return f"all {len(data):,} used{_subjects_text(data)}"


def _subjects_text(data: Data) -> str:
    if data.subjects is None:
        return ""
    count, column = len(np.unique(data.subjects)), data.decisions.get("subject", "subject")
    return f", of {count:,} subjects ({column}); the rows of one count together in the tests"


def _columns_text(analysis: Analysis) -> str:
    data, summary = analysis.data, analysis.summary
    kinds = {c.name: c.kind for c in summary.columns} if summary else {}
    dropped = _left_out(data)
    told = [_column_text(name, kinds.get(name, "")) for name in dropped[:MOST_TOLD]]
    told += [f"{len(dropped) - MOST_TOLD} more"] if len(dropped) > MOST_TOLD else []
    out = f"; left out: {', '.join(told)}" if told else ""
    return f"{len(data.domain)} used as categories{out}"


def _left_out(data: Data) -> list[str]:
    """Return the columns that were left out, but for the one of the subjects."""
    dropped = data.decisions.get("dropped", [])
    return [name for name in dropped if name != data.decisions.get("subject")]


def _column_text(name: str, kind: str) -> str:
    shown = name or "the column without a name"
    return f"{shown} ({kind})" if kind not in ("", "left out") else shown


Decision = tuple[str, str, str]
"""A topic, what was decided, and the option that changes it."""


def decisions(analysis: Analysis) -> list[Decision]:
    """Return the decisions about rows and columns, and then those of the analysis.

    Options are those of ``analyse``, so a model that was given has none.
    """
    data, held_out, outcome = analysis.data, analysis.held_out, analysis.outcome
    entries = [*_reading(analysis)]
    if 0 < held_out < len(data):
        text = (
            f"learned from {len(data) - held_out:,} rows, tested on {held_out:,} others, drawn at "
            f"random (seed {analysis.seed}); shares and intervals use all rows"
        )
        entries.append(("Split", text, "--holdout 0.5"))
    elif not held_out:
        entries.append(("Split", "all rows serve for learning and testing", "--holdout 0.33"))
    if analysis.learner:
        entries.append(("Learner", analysis.learner, "--learner NAME"))
    if outcome is not None:
        entries.append(("Outcome", f"{outcome}, as you asked", ""))
    elif len(data.domain) > 2:
        text = "none named; shares are of the variable with fewer states, then of the later column"
        entries.append(("Outcome", text, f"--outcome {data.domain.names[-1]}"))
    if analysis.given:
        return [(topic, text, "") for topic, text, _ in entries]
    return entries


def _reading(analysis: Analysis) -> Iterator[Decision]:
    data = analysis.data
    dropped, bins = [name for name in _left_out(data) if name], data.decisions.get("bins", {})
    other = "--missing state" if len(data) < analysis.rows_read else ""
    if data.multiplicity is not None:
        other = f"--bins {analysis.found_counts}=4" if analysis.found_counts else ""
    yield "Rows", _rows_text(analysis), other
    if data.decisions.get("missing") == "state":
        yield "Missing", "missing values are a state of their own", "--missing drop"
    for text in data.notes:
        if analysis.given or "--na" in text or "--subject" in text:
            yield "Note" if analysis.given else "Question", text, ""
    yield "Columns", _columns_text(analysis), f"--category {dropped[0]}" if dropped else ""
    for name, edges in list(bins.items())[:MOST_TOLD]:
        cuts = listed([f"{edge:g}" for edge in edges])
        text = f"{name} cut at {cuts} into {len(edges) + 1} bins"
        yield "Numbers", text, f"--bins {name}={len(edges)}"
    if len(bins) > MOST_TOLD:
        yield "Numbers", f"{len(bins) - MOST_TOLD} more columns cut into bins", ""


def cautions(analysis: Analysis, smallest_shown: int) -> list[str]:
    """Return at most five sentences to read before quoting the analysis."""
    data, evidence = analysis.data, analysis.evidence
    names, told = data.domain.names, list[str]()
    if analysis.unfinished:
        told.append(f"The analysis was stopped: {listed(analysis.unfinished)}.")
    if 0 < smallest_shown < SMALL:
        told.append(
            f"Some groups on this page show fewer than {SMALL} rows. If rows are people, "
            "hide them before you share the page: `contextwise analyse … --smallest-count 5`."
        )
    told += _twins(analysis) + _too_many_columns(analysis) + _not_held_fixed(analysis)
    if not analysis.held_out:
        told.append(
            "The tests used the rows that the learner saw, so its claims look better than they "
            "would on new rows."
        )
    if data.multiplicity is None and len(data) < 0.95 * analysis.rows_read:
        share = percent(1 - len(data) / analysis.rows_read)
        told.append(
            f"{share} of the rows were dropped because a value is missing. Results are biased "
            "unless values are missing at random."
        )
    if len(names) > 2:
        told.append(
            "An association here is what remains with the other variables of the file held fixed. "
            "Variables that are not in the file can explain it."
        )
        last = analysis.outcome or names[-1]
        told.append(
            "Holding a result of two variables fixed can make them look associated. Leave such a "
            f"variable out and compare, for example with `--drop {last}`."
        )
    else:
        told.append("Variables that are not in the file can explain an association.")
    if any(c.verdict in (NOT_CONTRADICTED, USED) for c in evidence.claims):
        told.append(
            "“No association shown” means that the rows do not show one. The interval says how "
            "large it could still be."
        )
    if data.subjects is None:
        told.append(
            "Each row must be a separate observation. If people have several rows, name the "
            "column: `--subject COLUMN`."
        )
    return told[:5]


def _twins(analysis: Analysis) -> list[str]:
    """Warn of pairs of variables that go together so closely that holding one fixed hides much."""
    close = [
        (analysis.is_about_outcome(f), f.crude.value, f.pair)
        for f in analysis.findings
        if f.crude and f.crude.value >= CLOSE
    ]
    if not close or len(analysis.domain) < 3:
        return []
    close.sort(key=lambda each: each[:2], reverse=True)
    _, v, first = close[0]
    others = [pair for _, value, pair in close[1:] if value >= SAME][:2]
    drop = dict.fromkeys(p[0] if p[1] == analysis.outcome else p[1] for p in (first, *others))
    also = f"; so do {listed([' and '.join(pair) for pair in others])}" if others else ""
    start = f"{' and '.join(first)} say nearly the same{also}. Holding"
    if v < SAME:
        start = f"{' and '.join(first)} go together very closely (V {v:.2f}){also}. "
        start += "If one is computed from the other, holding"
    return [
        f"{start} one of them fixed hides what goes with the other; leave one out: "
        f"`--drop {','.join(drop)}`."
    ]


def _too_many_columns(analysis: Analysis) -> list[str]:
    """Say what to do if most claims could not be tested."""
    verdicts = [c.verdict for c in analysis.evidence.claims]
    count = verdicts.count(UNTESTABLE)
    if analysis.given or 2 * count <= len(verdicts):
        return []
    return [
        f"{count:,} of {plural(len(verdicts), 'claim')} could not be tested. With fewer columns "
        "(`--columns A,B,...`) or bins (`--bins 2`), more rows agree in what is held fixed."
    ]


def _not_held_fixed(analysis: Analysis) -> list[str]:
    """Name variables that were not held fixed on the strength of claims that were not tested."""
    open_pairs = {frozenset(f.pair) for f in analysis.findings if f.undecided and not f.noted}
    for finding in (f for f in analysis.ranked if f.associated):
        others = (n for n in analysis.domain.names if n not in (*finding.pair, *finding.given))
        left = [n for n in others if all(frozenset((n, end)) in open_pairs for end in finding.pair)]
        if left:
            verb = "was" if len(left) == 1 else "were"
            them = "it" if len(left) == 1 else "them"
            more = [f"{len(left) - 3} more"] if len(left) > 3 else []
            return [
                f"{listed([*left[:3], *more])} {verb} not held fixed for "
                f"{' with '.join(finding.pair)}: the model has no association of {them} with "
                "either, and the rows are too few to test that."
            ]
    return []


def methods(analysis: Analysis, release: str) -> str:
    evidence, data, halves = analysis.evidence, analysis.data, ""
    kind = "a context-specific log-linear structure"
    rows, tested = f"{len(data):,} rows", "on the same rows"
    if 0 < analysis.held_out < len(data):
        rows = f"{len(data) - analysis.held_out:,} of {len(data):,} rows, drawn at random,"
        tested = f"on the {analysis.held_out:,} rows held out"
    start = f"The structure was given; {rows} served to test it with contextwise {release}"
    if analysis.learner and not analysis.given:
        learned = analysis.model.origin.learned
        settings = learned.parameters.items() if learned else ()
        parameters = ", ".join(f"{key} {value}" for key, value in settings if value != "()")
        variables = f"{len(data.domain)} categorical variables"
        start = f"We learned {kind} of {variables} from {rows} with the learner {analysis.learner}"
        start += f" ({parameters})" if parameters else ""
        start += f" of contextwise {release}"
    if analysis.halves:
        halves = f" Stability was measured by learning from {analysis.halves.count} random halves."
    small, subjects = ", exactly where counts are small", ""
    if data.subjects is not None:
        count = len(np.unique(data.subjects))
        small = ""
        subjects = (
            ", and by a cluster-robust score test that adds up the rows of each of "
            f"{count:,} subjects, of which the larger p-value counts"
        )
    return (
        f"{start}. Each of its {plural(len(evidence.claims), 'claim')} of conditional association "
        f"or independence was tested {tested} by Pearson's X² and the Cochran–Mantel–Haenszel test "
        f"within groups of equal states of the neighbours of both variables{small}, with "
        f"Bonferroni's correction for the two tests{subjects}, and a false discovery rate of "
        f"{percent(evidence.level)} within each kind of claim (Benjamini and Yekutieli 2001). "
        "Strength is Cramér's V within the groups, less its value expected by chance, with "
        "intervals of the noncentral χ² distribution, or the common odds ratio with a score "
        f"interval.{halves}"
    )


HOW_COMPUTED = (
    "Groups: rows with equal states of all variables held fixed, which are the neighbours of both "
    "variables in the picture. Rows that count: those in groups in which both variables vary. V = "
    "√((X² − its mean by chance) / Σ n·(k − 1)), with X² added over the groups, or that of "
    "Cochran, Mantel and Haenszel where it is clearer; k is the smaller number of states that "
    "occur in the group. Standardised shares: the share in each group, averaged with the group's "
    "number of rows, over groups in which every state of the other variable occurs. Points: "
    "percentage points, standardised in the same way. Differs between groups: the Breslow–Day "
    "test, level 0.01. Intervals of single shares: Wilson; all intervals are 95 %. Strengths, "
    "shares and their intervals are from all rows; verdicts and p are from the rows of the tests."
)


# -- the terminal ----------------------------------------------------------------------------------


def terminal_lines(analysis: Analysis, page: str, model: str) -> list[str]:
    """Return ten to fifteen lines: the answer, findings, decisions, and the next commands."""
    lines = [plain(first_sentence(analysis)), *map(plain, next_sentences(analysis)), ""]
    associated = sorted(
        (f for f in analysis.ranked if f.associated),
        key=lambda f: (not analysis.is_about_outcome(f), -f.strength),
    )
    if len(associated) > 1:
        first = f", those of {analysis.outcome} first" if analysis.outcome else ""
        lines.append(f"Strongest{first} (Cramér's V with the others held fixed, 95 % interval):")
        for finding in associated[:4]:
            where = plain((", ", *context_phrase(finding))) if finding.partly else ""
            value = v_text(finding.adjusted or finding.crude)
            lines.append(f"  {' – '.join(finding.pair)}  {value}{where}")
        lines += [f"  and {len(associated) - 4} more"] if len(associated) > 4 else []
    warnings = _twins(analysis) + _too_many_columns(analysis)
    lines += [f"Caution: {text.replace('`', '')}" for text in warnings]
    if analysis.groups is not None:
        lines += [f"Groups: {groups_verdict(found)}" for found in analysis.groups]
    claims = analysis.evidence.claims
    kept = [plain(claim_phrase(c)) for c in claims if c.verdict in (NOT_CONTRADICTED, USED)]
    if kept:
        more = [f"and {len(kept) - 2} more"] if len(kept) > 2 else []
        lines.append(f"Not contradicted: {'; '.join([*kept[:2], *more])}.")
    untested = Counter(c.reason for c in claims if c.verdict == UNTESTABLE)
    if untested:
        why = ", ".join(f"{reason} ({count:,})" for reason, count in untested.most_common(2))
        lines.append(f"Could not be tested: {plural(untested.total(), 'claim')}: {why}")
    told = [(topic, text) for topic, text, _ in decisions(analysis) if topic in TOLD]
    lines += [f"{topic}: {text}" for topic, text in told[:5]]
    lines.append(f"Page: {page}   Model: {model}")
    lines.append(f"Next: contextwise explain {model}; contextwise explore {model}")
    return lines


TOLD = ("Rows", "Missing", "Columns", "Numbers", "Question", "Split")
"""The decisions that the terminal shows."""
