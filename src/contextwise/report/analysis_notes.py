"""Notes on an analysis: decisions about the rows, what to know before quoting, and methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from contextwise.analysis.conclusions import Analysis
from contextwise.evidence.pair_records import PairEvidence
from contextwise.report.analysis_answer import (
    SAME,
    contrasts,
    differences,
    hidden_rows,
    other,
    questions,
    shown_pairs,
    twin,
)
from contextwise.support.formatting import listed, plural
from contextwise.support.words import joined_names, p_text, percent, strength

MOST_TOLD = 6
NEAR_LEVEL = 0.02
CITE = (
    "For the tests, shares and intervals of this page, cite the program: contextwise, with its "
    "version. For distances between structures, which this page does not use, cite: J. Strappa and "
    "F. Bromberg, “Efficient comparison of independence structures of log-linear models”, The "
    "Computer Journal, 2023, doi 10.1093/comjnl/bxad054."
)
Decision = tuple[str, str, str]
"""A topic, what was decided, and the option that changes it."""


# -- what was held fixed ---------------------------------------------------------------------------


def held_text(analysis: Analysis) -> str:
    """Say what is held fixed in the table, in the words of its key."""
    others = max((len(e.given) for e in shown_pairs(analysis)), default=0)
    if not others:
        return "with 95 % interval"
    held = "the other variable" if others == 1 else f"the {others} other variables"
    if any(e.left_out for e in shown_pairs(analysis)):
        held = "as many other variables as the rows allow"
    return f"{held} held fixed, with 95 % interval"


def table_note(analysis: Analysis) -> str:
    """Explain the table of the outcome in a few sentences."""
    pairs = shown_pairs(analysis)
    kinds = {e.kind for each in pairs for e in each.effects}
    told = [
        "Shares and differences go from the first state named to the second, standardised over "
        "all rows."
    ]
    if "odds ratio per step" in kinds:
        told.append("Odds ratios of ordered variables are per step.")
    if any(each.candidates > 1 for each in contrasts(analysis, pairs)):
        told.append(
            "Ordered variables go from their first to their last state with 20 rows. Where there "
            "are more states, the row has the largest difference of a state from the first one "
            "named, if an association is shown or suggestive; its intervals are wider to pay for "
            "that choice (Bonferroni). Sentences name the lowest and the highest share of "
            "states with 20 rows."
        )
    told.append(f"p is corrected for the {plural(_tested(pairs), 'pair')} tested (Holm).")
    if any(each.approximate for pair in pairs for each in pair.effects):
        told.append("With fewer than 300 rows the intervals are approximate.")
    told += _left_out(analysis)
    return " ".join(told)


def pairs_note(analysis: Analysis) -> str:
    """Explain the table of all pairs."""
    rest = [e for e in analysis.pairs if analysis.outcome not in e.pair]
    told = [
        "V is Cramér’s V with the other variables held fixed and its 95 % interval; crude V holds "
        f"nothing fixed. p is corrected for the {plural(_tested(rest), 'pair')} tested (Holm)."
    ]
    return " ".join(told + _left_out(analysis))


def _tested(pairs: Iterable[PairEvidence]) -> int:
    """Count the pairs with a p-value, for which Holm's method corrects."""
    return sum(each.p is not None for each in pairs)


def _left_out(analysis: Analysis) -> list[str]:
    left = {name for each in shown_pairs(analysis) for name in each.left_out}
    if not left:
        return []
    named = joined_names(sorted(left))
    return [f"The rows are too few to hold everything fixed; some pairs leave out {named}."]


def structure_text(analysis: Analysis) -> str:
    """Say where the structure comes from, and what its tests are worth."""
    learned = analysis.structure.origin.learned
    if not analysis.found or learned is None:
        return "The structure was given. Each of its claims was tested on these rows."
    text = (
        f"The learner `{learned.learner}` found these regions by looking at the rows, and they "
        "were tested on the same rows: their p-values are too small, and no verdict above rests "
        "on them."
    )
    if analysis.halves is not None and analysis.halves.count >= 20:
        text += " The last column counts the random halves of the rows that give a claim again."
    return text


# -- decisions -------------------------------------------------------------------------------------


def decisions(analysis: Analysis) -> list[Decision]:
    """Return the decisions about rows and columns, each with the option that changes it."""
    settings = analysis.settings
    entries = [*_rows(analysis), *_columns(analysis)]
    if settings.ordered:
        names: dict[str, list[str]] = {}
        for name, reason in settings.ordered:
            names.setdefault(reason, []).append(name)
        told = [f"{joined_names(same, MOST_TOLD)} ({reason})" for reason, same in names.items()]
        entries.append(("Ordered", f"{'; '.join(told)}.", f"--category {settings.ordered[0][0]}"))
    if settings.maybe_ordered:
        named = joined_names(settings.maybe_ordered, MOST_TOLD)
        text = f"{named}: numbers, taken as categories without an order. If they have one:"
        options = " ".join(f"--ordered {name}" for name in settings.maybe_ordered[:MOST_TOLD])
        entries.append(("Not ordered", text, options))
    for each in settings.folded:
        text = f"{each.name} has {each.states} states; the tests use its {each.kept} most frequent"
        text += " and “other”."
        entries.append(("Many states", text, ""))
    if settings.weights:
        entries.append(("Weights", f"Survey weights: {settings.weights}.", ""))
    learned = analysis.structure.origin.learned
    if analysis.found and learned is not None:
        entries.append(
            ("Learner", f"{learned.learner}, for the structure alone.", "--learner NAME")
        )
    return entries


def _rows(analysis: Analysis) -> Iterator[Decision]:
    data, rows, total = analysis.data, analysis.rows, analysis.pairs.settings
    used = f"{len(data):,}"
    if data.multiplicity is not None:
        column = data.decisions.get("counts") or "their number"
        yield (
            "Rows",
            f"{len(data.rows):,} different rows stand for {used}, counted by {column}.",
            (f"--bins {analysis.found_counts}=4" if analysis.found_counts else ""),
        )
    else:
        gone = []
        if rows.without_outcome:
            gone.append(f"{rows.without_outcome:,} without {analysis.outcome}")
        if rows.incomplete:
            gone.append(f"{rows.incomplete:,} with another missing value")
        if rows.without_weight:
            gone.append(f"{rows.without_weight:,} with weight 0")
        option = "--missing state" if rows.incomplete else ""
        left = f"; left out: {listed(gone)}" if gone else ", all of the file"
        yield "Rows", f"{used} used{left}.", option
    if total.subject:
        yield "Subjects", f"{total.clusters:,} of {total.subject}; their rows count together.", ""
    elif data.multiplicity is None:
        yield (
            "Each row",
            "A separate observation. If a person can have several, name them:",
            ("--subject COLUMN"),
        )
    if data.decisions.get("missing") == "state":
        yield "Missing", "Missing values are a state of their own.", "--missing drop"


def _columns(analysis: Analysis) -> Iterator[Decision]:
    data = analysis.data
    subject = data.decisions.get("subject")
    dropped = [n for n in data.decisions.get("dropped", []) if n != subject]
    if dropped:
        named = [n or "the column without a name" for n in dropped[:MOST_TOLD]]
        more = [f"{len(dropped) - MOST_TOLD} more"] if len(dropped) > MOST_TOLD else []
        known = next((n for n in dropped if n and n not in analysis.options.drop), "")
        yield "Left out", f"{listed([*named, *more])}.", f"--category {known}" if known else ""
    bins = data.decisions.get("bins", {})
    for name, edges in list(bins.items())[:MOST_TOLD]:
        cuts = listed([f"{edge:g}" for edge in edges])
        edges_text = "|".join(f"{edge:g}" for edge in edges)
        yield (
            name,
            f"Cut at {cuts} into {len(edges) + 1} groups; other numbers change that:",
            f"--bins '{name}={edges_text}'",
        )
    if len(bins) > MOST_TOLD:
        yield "Numbers", f"{len(bins) - MOST_TOLD} more columns are cut into groups.", ""


# -- before you quote ------------------------------------------------------------------------------


def cautions(analysis: Analysis) -> list[str]:
    """Return at most five sentences that apply to this analysis."""
    told = ["These are associations, not causes: what the file does not record can explain them."]
    if analysis.unfinished:
        told.insert(0, f"The analysis was stopped: {listed(analysis.unfinished)}.")
    constant = analysis.settings.constant
    if constant:
        told.append(
            f"Nothing varies in {joined_names(constant)}, so the rows say nothing about it."
        )
    told += _reading(analysis) + _twins(analysis) + _unordered(analysis) + _near_level(analysis)
    told += _not_shown(analysis) + _dropped(analysis) + _small(analysis) + _untested(analysis)
    return told[:5]


def _reading(analysis: Analysis) -> list[str]:
    """Repeat what the reader of the rows said of missing values, and of words that are a scale."""
    every = analysis.data.notes
    notes = [note for note in every if note.option == "--missing drop"]
    notes += [note for note in every if note.option == "--missing state" and note.column]
    ordered = {name for name, _ in analysis.settings.ordered}
    scales = [note for note in analysis.data.notes if note.option.startswith("--ordered")]
    notes += [note for note in scales if note.column not in ordered][:MOST_TOLD]
    return [
        f"{note[0].upper()}{note[1:].replace(note.option, f'`{note.option}`')}." for note in notes
    ]


def _twins(analysis: Analysis) -> list[str]:
    """Warn of the pair that goes together most closely: holding one fixed hides the other."""
    worst = twin(analysis)
    if worst is None or analysis.outcome in worst.pair:  # the sentences after the title warn of it
        return []
    first, second = worst.pair
    same = "say nearly the same" if (worst.crude_v or 0) >= SAME else "go together very closely"
    return [
        f"{first} and {second} {same} (V {strength(worst.crude_v)}): holding one fixed hides what "
        f"goes with the other. Leave one out and compare: `--drop {second}`."
    ]


def _unordered(analysis: Analysis) -> list[str]:
    """Name numbers that were taken as categories."""
    names = analysis.settings.maybe_ordered
    if not names:
        return []
    options = " ".join(f"--ordered {name}" for name in names[:MOST_TOLD])
    return [
        f"Taken without an order: {joined_names(names, MOST_TOLD)}. If they have one: `{options}`."
    ]


def _near_level(analysis: Analysis) -> list[str]:
    level = analysis.settings.level
    near = [
        e
        for e in shown_pairs(analysis)
        if e.adjusted is not None and abs(e.adjusted - level) < NEAR_LEVEL
    ]
    if not near:
        return []
    each = near[0]
    name = other(each.pair, analysis.outcome) if analysis.outcome else " with ".join(each.pair)
    return [
        f"The corrected p of {name} is {p_text(each.adjusted)}, close to the limit of {level:g}."
    ]


def _not_shown(analysis: Analysis) -> list[str]:
    open_ = [
        e
        for e in shown_pairs(analysis)
        if e.verdict == "no association shown" and e.v_high is not None
    ]
    if not open_:
        return []
    widest = max(open_, key=lambda e: e.v_high or 0.0)
    name = other(widest.pair, analysis.outcome) if analysis.outcome else " with ".join(widest.pair)
    of = f" with {analysis.outcome}" if analysis.outcome else ""
    return [
        "“No association shown” is not “none”: the intervals leave room for "
        f"V up to {strength(widest.v_high)} ({name}{of})."
    ]


def _dropped(analysis: Analysis) -> list[str]:
    rows = analysis.rows
    gone = rows.without_outcome + rows.incomplete
    if analysis.data.multiplicity is not None or gone < 0.05 * (gone + rows.used):
        return []
    share = percent(gone / (gone + rows.used))
    return [
        f"{share} of the rows were left out because a value is missing. Results are biased unless "
        "values are missing at random."
    ]


def _small(analysis: Analysis) -> list[str]:
    if analysis.smallest_count:
        return []
    counts = [int(c) for each in analysis.data.counts() for c in each if c]
    if not counts or min(counts) >= 5:
        return []
    return [
        f"A state has only {plural(min(counts), 'row')}. If rows are people, hide small groups "
        "before you share the page: `--smallest-count 5`."
    ]


def _untested(analysis: Analysis) -> list[str]:
    pairs = shown_pairs(analysis)
    count = sum(e.verdict == "could not be tested" for e in pairs)
    if 2 * count <= len(pairs):
        return []
    return [
        f"{count} of {plural(len(pairs), 'pair')} could not be tested: fewer columns "
        "(`--columns A,B,…`) leave more variation in each."
    ]


def untested(analysis: Analysis) -> str:
    """Name the variables that could not be tested, if they are too many for rows of the table."""
    pairs = hidden_rows(analysis)
    if not pairs:
        return ""
    names = listed([other(e.pair, analysis.outcome) for e in pairs])
    known = [e.could_show for e in pairs if e.could_show is not None]
    why = f": only V above {strength(min(known))} would show" if known else ""
    return f"Could not be tested{why}: {names}."


# -- methods ---------------------------------------------------------------------------------------


def methods(analysis: Analysis, release: str) -> str:
    """Return a methods paragraph that is true of this analysis."""
    settings, pairs = analysis.settings, shown_pairs(analysis)
    of = f"{analysis.outcome} with each other variable" if analysis.outcome else "each pair"
    apart = ", those of the outcome and the others apart" if analysis.outcome else ""
    told = [
        f"We tested the association of {of} in {settings.rows:,} rows with contextwise {release}, "
        "given the other variables: both variables of a pair were fitted by multinomial logits of "
        "the others (ridge 0.1), and the products of their residuals were compared with zero by a "
        "quadratic form.",
        *_adjustment(analysis),
        f"P-values were corrected by Holm's method at level {settings.level:g}{apart}.",
    ]
    if analysis.interactions:
        told.append(
            f"{plural(questions(analysis), 'test')} of equal association, corrected "
            f"together, showed {plural(len(differences(analysis)), 'difference')}."
        )
    if any(each.effects for each in pairs):
        told.append(
            "Odds ratios, standardised shares and differences are from logits of one variable "
            "given all others (g-computation), with sandwich errors."
        )
    if any(state.effects for each in analysis.interactions for state in each.states):
        told.append("Those in a state of a third variable are fitted in its rows alone.")
    return " ".join(told)


def _adjustment(analysis: Analysis) -> Iterator[str]:
    """Say what the adjustment had in this analysis."""
    settings, methods = analysis.settings, Counter(each.method for each in analysis.pairs)
    if settings.products:
        products = plural(settings.products, "product")
        yield (
            "The logits have main effects, and the products that the residuals of a pair asked for "
            f"({products} over all pairs)."
        )
    if "draws" in methods:
        yield (
            f"Where a cell expected few rows ({methods['draws']} of {len(analysis.pairs)} pairs), "
            "p is from draws of one variable given the others."
        )
    if "permutations" in methods:
        yield (
            f"Where nothing was held fixed and rows were few ({methods['permutations']} of "
            f"{len(analysis.pairs)} pairs), p is from permutations."
        )
    if settings.subject:
        yield (
            f"The rows of each {settings.subject} were summed ({settings.clusters:,} clusters, "
            "Rao–Scott correction)."
        )
    if settings.weights:
        yield f"Rows were weighted by {settings.weights}."
    if settings.ordered:
        yield (
            "Ordered variables have equal steps; p is the smaller of trend / 0.8 and omnibus / 0.2."
        )
    if settings.contexts != "no pair":
        yield (
            f"For {settings.contexts}, a verdict includes the third variable between whose states "
            "the association differs most (Bonferroni's correction)."
        )


HOW_COMPUTED = (
    "V: Cramér’s V of the residuals of both variables, all others held fixed; its interval is by "
    "the delta method. Standardised share: the mean over all rows of the probability of the state, "
    "if every row had the other variable in the state named. Points: a difference of two such "
    "shares. In the cards of a third variable: logits fitted in the rows of each state alone, "
    "and means over these rows. Odds ratio: from the logit in which the log odds of the other "
    "variable are the same for all rows; per step for ordered variables. Crude: with nothing held "
    "fixed; crude V is corrected for chance, as V is. Suggestive: p is at most the level before "
    "the correction, not after. Could not be tested: only an association above V = 0.3 would have "
    "been found with probability 0.8, before correction, or the others determine a variable. All "
    "intervals are 95 %, one by one, except those of a contrast chosen among several: they are "
    "wider, to pay for the choice (Bonferroni)."
)
