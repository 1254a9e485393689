"""Turn results of `contextwise.evaluation` into parts: chance, checks, groups, scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import exp, log, log10
from typing import TYPE_CHECKING

from contextwise.comparison.confusion import MEASURES
from contextwise.models.evidence import Effect, p_text
from contextwise.models.notation import between
from contextwise.report.comparisons import Guess
from contextwise.report.parts import (
    TOP,
    Cell,
    Entries,
    Entry,
    Note,
    PairName,
    Part,
    Picture,
    Section,
    Style,
    Table,
    table,
)
from contextwise.support.formatting import capitalized, listed, name, percent, plural, rate

if TYPE_CHECKING:
    from contextwise.evaluation.chance import Chance
    from contextwise.evaluation.compare_groups import GroupComparison, GroupSummary, Mean
    from contextwise.evaluation.groups import GroupPair, Groups, GroupsOfColumns
    from contextwise.evaluation.scores import EnsembleScore, EnsembleScores, Reliability, Scores
    from contextwise.evaluation.stability import PairSupport, Stability
    from contextwise.report.drawing import Forest, ForestLine

# -- chance ----------------------------------------------------------------------------------------

ROUND_FROM = 10_000  # show larger expected numbers without decimals
RANDOM_GUESSES = "variables with equally many states are exchanged, and all states are relabelled"
NOT_EXCHANGED = (
    "No two variables have equally many states, so none can be exchanged: only states are "
    "relabelled."
)
Wanted = tuple[str, str, Style, str]  # key of `Chance.record`, label, style and meaning of a number
OF_DISTANCE: tuple[Wanted, ...] = (
    ("distance", "distance", "count", "Number of assertions on which the models differ."),
    ("expected", "expected", "count", "Expected distance of a random guess, exact."),
    ("skill", "skill", "rate", "1 - distance / expected: 1 is perfect, 0 is as good as chance."),
    ("draws_nearer", "nearer draws", "count", "Random guesses nearer to the true model."),
    ("draws_as_near", "draws as near", "count", "Random guesses exactly as near as the guess."),
    ("p_value", "p", "probability", "Share of random guesses that are at least as near."),
)
OF_CONTEXTS: tuple[Wanted, ...] = (
    (
        "context_skill",
        "context skill",
        "rate",
        "The skill over the pairs that depend in only some contexts in both models, compared with "
        "relabelled states.",
    ),
    ("context_pairs", "over pairs", "count", "Pairs that depend in only some contexts in both."),
)


def chance_parts(chance: Chance, *, top: int = TOP) -> list[Part]:
    """Show the verdict, what was drawn, and the numbers."""
    from contextwise.evaluation.chance import can_exchange

    values = {"distance": chance.distance, **chance.record()}
    groups = [OF_DISTANCE if chance.draws else OF_DISTANCE[:3]]
    groups += [OF_CONTEXTS] if chance.context_pairs else []
    draws = f" ({plural(chance.draws, 'draw')})" if chance.draws else ""
    cardinalities = chance.comparison.domain.cardinalities
    is_fixed = len(cardinalities) > 1 and not can_exchange(cardinalities)
    return [
        Note("verdict", chance.verdict),
        Note("null", f"Random guesses{draws}: {RANDOM_GUESSES}."),
        Entries(tuple(tuple(_measures(wanted, values)) for wanted in groups)),
        *([Note("limits", NOT_EXCHANGED)] if is_fixed else []),
    ]


def _measures(wanted: Iterable[Wanted], values: dict[str, object]) -> Iterator[Entry]:
    for key, label, style, meaning in wanted:
        value: Cell = values[key]  # type: ignore[assignment]
        if style == "count" and isinstance(value, Fraction):
            value = round(value, 2) if value < ROUND_FROM else round(value)
        yield Entry(key, label, value, style, meaning)


# -- stability -------------------------------------------------------------------------------------


def stability_parts(stability: Stability, *, top: int = TOP) -> list[Part]:
    """Show what resamples agree on: the verdict, instability, support of claims, a heat map."""
    supports = stability.supports()
    learned = [support for support in supports if support.learned_from_all_rows]
    weak = [support for support in reversed(learned) if 2 * support.resamples < support.of]
    missed = [
        support
        for support in supports
        if not support.learned_from_all_rows and 2 * support.resamples >= support.of
    ]
    parts: list[Part] = [Note("finding", f"{stability.verdict} {_resamples(stability)}")]
    for key, dependent, title in (
        ("claims", True, "Claims of dependence that the most resamples agree with"),
        ("independencies", False, "Claims of independence that the fewest resamples agree with"),
    ):
        claims = stability.claims(dependent=dependent)
        if claims:
            title += f" ({min(top, len(claims))} of {len(claims):,})"
            parts.append(table(title, {"": "text"}, [(str(claim),) for claim in claims[:top]], key))
    parts += [
        *_listed("Learned from all rows, but from fewer than half of the resamples", weak, top),
        *_listed("Not learned from all rows, but from half of the resamples or more", missed, top),
    ]
    if stability.evidence.unfinished:
        late = plural(stability.evidence.unfinished, "pair")
        parts.append(Note("late", f"The time limit left {late} without a test.", warns=True))
    if stability.failed:
        failed = f"{plural(len(stability.failed), 'resample')} failed: {stability.failed[0]}"
        parts.append(Note("failed", failed, warns=True))
    return parts


def _resamples(stability: Stability) -> str:
    share = "half" if stability.share == 0.5 else f"{100 * stability.share:g} %"
    drawn = f"{share} of the {stability.rows:,} rows"
    if stability.how == "bootstrap":
        drawn = f"{stability.rows:,} rows with replacement"
    differ = percent(Fraction(stability.instability), 1)
    return (
        f"{plural(stability.resamples, 'resample')} of {drawn}; two of them differ in {differ} of "
        "all assertions on average. This shows what the learner finds again, which need not be "
        "true; what all rows say is next to each claim."
    )


def _listed(title: str, supports: Sequence[PairSupport], top: int) -> list[Part]:
    if not supports:
        return []
    shown = ", ".join(
        f"{between((s.first, s.second))} ({s.resamples} of {s.of})" for s in supports[:top]
    )
    more = f" and {len(supports) - top:,} more" if len(supports) > top else ""
    return [Note("supports", f"{title}: {shown}{more}.")]


# -- ensembles -------------------------------------------------------------------------------------

OF_SCORES = {"brier": "Brier score", "expected_distance": "expected distance", "spread": "spread"}
FAIR = (
    "Scores of draws are corrected for their number (fair): they estimate the scores of what was "
    "drawn from. For resamples that is the limit of many resamples, not a posterior."
)
FEW_DRAWS = (
    "Few draws look overconfident even if they are calibrated: what none of {draws} draws has is "
    "still true sometimes."
)


def ensemble_scores_parts(scores: EnsembleScores, *, top: int = TOP) -> list[Part]:
    """Show which guess is best by the Brier score, and a table of all."""
    columns: dict[str, Style] = {"guess": "name", "structures": "count"}
    columns |= dict.fromkeys(OF_SCORES.values(), "rate")
    rows = [
        (score.name, len(score.guess.distinct), *(getattr(score, key) for key in OF_SCORES))
        for score in scores
    ]
    note = "All are shares of the assertions; smaller is better, except for the spread."
    if any(score.guess.correction != 1 for score in scores):
        note += f" {FAIR}"
    return [
        Note("verdict", scores.verdict),
        table("Guesses as ensembles", columns, rows, "ensembles"),
        Note("columns", note),
    ]


def ensemble_score_parts(score: EnsembleScore, *, top: int = TOP) -> list[Part]:
    from contextwise.evaluation.scores import EnsembleScores

    return ensemble_scores_parts(EnsembleScores([score]), top=top)


def ensembles_section(scores: EnsembleScores, curves: Sequence[Reliability]) -> Section:
    """Return the scores of ensembles and the reliability of each."""
    inner = [Section(name(each.name), tuple(reliability_parts(each))) for each in curves]
    return Section("As ensembles", (*ensemble_scores_parts(scores), *inner), key="ensembles")


def reliability_parts(curve: Reliability, *, top: int = TOP) -> list[Part]:
    """Show whether probabilities are right: groups of assertions, and a diagram."""
    columns: dict[str, Style] = {
        "probability": "rate",
        "share that depend": "rate",
        "from": "rate",
        "to": "rate",
        "assertions": "count",
    }
    text = f"{plural(curve.assertions, 'random assertion')}."
    if curve.draws is not None and 1 < curve.draws < 100:
        text += f" {FEW_DRAWS.format(draws=curve.draws)}"
    return [
        Note("verdict", curve.verdict),
        table("Reliability", columns, curve.groups, "reliability"),
        Note("draws", text),
    ]


# -- groups of guesses -----------------------------------------------------------------------------


def guess_groups_parts(found: GroupComparison, *, top: int = TOP) -> list[Part]:
    """Show the best group, a table of means and of differences to the best, and notes."""
    best = found.best[0].name if found.best and found.differences else None
    tested = found.groups[0].means[found.measure]
    columns: dict[str, Style] = {"group": "name", "replicates": "count"}
    for key in found.groups[0].means:
        columns[MEASURES[key].label] = "text" if key == found.measure else MEASURES[key].style
    if best is not None:
        columns[f"minus {name(best)}"] = "text"
        if found.training_share is None:
            columns["p after Holm" if len(found.differences) > 1 else "p"] = "probability"
    rows = [tuple(_group_cells(found, group, best)) for group in found.groups]
    title = f"Means of the groups, with 95 % intervals of the {found.label}"
    return [
        Note("verdict", found.verdict),
        table(title if tested.count > 1 else "Means of the groups", columns, rows, "groups"),
        Note("intervals", " ".join(_group_notes(found))),
    ]


def _group_cells(found: GroupComparison, group: GroupSummary, best: str | None) -> Iterator[Cell]:
    yield group.name
    yield group.replicates
    for key, mean in group.means.items():
        yield _with_interval(mean) if key == found.measure else mean.mean
    if best is None:
        return
    if group.name == best:
        yield from ("", None) if found.training_share is None else ("",)
        return
    difference = found.difference(group.name, best)
    yield _with_interval(difference.value, turned=difference.first == best)
    if found.training_share is None:
        yield difference.adjusted


def _with_interval(value: Mean, turned: bool = False) -> str:
    """Return a mean with its interval as text; ``turned`` changes the sign of a difference."""
    if value.mean is None:
        return "–"
    mean, low, high = value.mean, value.low, value.high
    if turned:
        mean, low, high = 0.0 - mean, None if high is None else -high, None if low is None else -low
    interval = "" if low is None or high is None else f" ({rate(low)} to {rate(high)})"
    return f"{rate(mean)}{interval}"


def _group_notes(found: GroupComparison) -> Iterator[str]:
    yield "Intervals are Student's."
    if found.training_share is not None:
        share = f"{100 * found.training_share:g} %"
        yield (
            f"Each replicate learned from {share} of the same rows. The intervals allow for that; "
            "no test is valid."
        )
    elif found.differences and found.paired:
        yield (
            "p: the share of all signs of the paired differences with a mean at least as far from "
            "0. The k-th replicates of all groups are taken to be from the same data set."
        )
    elif found.differences:
        yield (
            "p: the share of all ways to deal the replicates to two groups that put their means at "
            "least as far apart."
        )
    attainable = max((each.attainable or 0.0 for each in found.differences), default=0.0)
    if attainable > found.alpha:
        count = min(each.value.count for each in found.differences)
        yield f"With {plural(count, 'replicate')} no p-value can be below {attainable:.2g}."
    undefined = sum(
        group.replicates - mean.count for group in found.groups for mean in group.means.values()
    )
    if undefined:
        yield f"{plural(undefined, 'undefined value')} left out."


# -- scores ----------------------------------------------------------------------------------------


def scores_parts(guesses: Sequence[Guess]) -> list[Part]:
    """Return one row per guess with the scores that some guess has, and why others are missing."""
    from contextwise.evaluation.scores import SCORES

    scored = {guess.title: guess.scores for guess in guesses if guess.scores is not None}
    keys = [key for key in SCORES if any(key in each.values for each in scored.values())]
    columns: dict[str, Style] = {"guess": "name", **{SCORES[key]: "score" for key in keys}}
    rows = [(title, *(each.values.get(key) for key in keys)) for title, each in scored.items()]
    parts: list[Part] = [table("Scores, in nats", columns, rows, "scores")] if keys else []
    reasons = "\n".join(_reasons(scored))
    return [*parts, Note("missing", reasons)] if reasons else parts


def _reasons(scored: Mapping[str, Scores]) -> Iterator[str]:
    """Say why scores are missing, or how they were estimated; equal reasons once."""
    from contextwise.evaluation.scores import SCORES

    titles: dict[tuple[str, str], list[str]] = {}
    for title, each in scored.items():
        by_reason: dict[str, list[str]] = {}
        estimated = {key: value.how for key, value in each.values.items() if not value.exact}
        for key, reason in {**each.missing, **estimated}.items():
            by_reason.setdefault(reason, []).append(SCORES[key])
        for reason, labels in by_reason.items():
            titles.setdefault((", ".join(labels), reason), []).append(title)
    for (scores, reason), names in titles.items():
        yield f"{scores}: {reason} ({listed(names)})."


# -- associations in groups of rows ----------------------------------------------------------------

NOT_SHOWN = (
    "A difference shows that the groups differ in how strongly two variables go together, not why. "
    "If the group is itself an effect of the variables (such as survivors), choosing by it can "
    "create differences. Intervals of the pairs that were found are a little too narrow, because "
    "the pairs were chosen by their p-values."
)
SAME = (
    "About the same: on average over what is held fixed, the odds ratios differ by less than a "
    "factor of {margin:g} ({level:g} % interval; for each pair by itself). Undecided: the rows "
    "show neither."
)
PLACES = "Where {pair} differs; this is not evidence that the variable of the context matters"


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
        smallest = p_text(found.p_value).removeprefix("p ")
        corrected = f" after correction over {len(found.pairs):,} pairs" if found.pairs[1:] else ""
        lead = f"No association is shown to differ between the groups of {by} (smallest p "
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
    text += f"groups of {name(found.by)} ({p_text(pair.adjusted)})"
    extremes = _extremes(found, pair.odds)
    clear = extremes is not None and extremes[0][0].low > extremes[1][0].high
    where = ""
    if not clear and pair.places and pair.places[0].adjusted <= found.alpha:
        where = f" where {pair.places[0].when}"
        extremes = _extremes(found, pair.places[0].odds) or extremes
    if extremes is not None:
        (largest, first), (smallest, last) = extremes
        text += f": {largest.short} at {first}, {_number(smallest)} at {last}{where}"
    return f"{text}. {_only_in(found, pair)}".rstrip()


def ratio_text(effect: Effect) -> str:
    """Write an odds ratio with its interval: ``14 (10 to 19)``, ``above 27``, ``unknown``."""
    if effect.low == 0 and effect.high == float("inf"):
        return "unknown"
    return str(effect).removeprefix("odds ratio ")


def _number(effect: Effect) -> str:
    return effect.short.removeprefix("odds ratio ")


def _extremes(
    found: Groups, odds: Sequence[Effect]
) -> tuple[tuple[Effect, str], tuple[Effect, str]] | None:
    """Return the largest and the smallest odds ratio with their groups, if they are two."""
    known = [
        (effect, name(group.name))
        for effect, group in zip(odds, found.groups, strict=True)
        if ratio_text(effect) != "unknown"
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
    last |= {"p": "probability", "corrected p": "probability", "held fixed": "text"}
    columns |= _group_columns(found, *columns, *last) if few else {"range": "text"}
    columns |= last
    rows: list[list[Cell]] = []
    for pair in found.pairs[:top]:
        odds = [ratio_text(effect) for effect in pair.odds]
        if not few:
            ordered = sorted(pair.odds, key=lambda effect: effect.value)
            odds = [f"{ratio_text(ordered[0])} … {ratio_text(ordered[-1])}"]
        ratio = [ratio_text(pair.ratio)] if pair.ratio else []
        given = ", ".join(pair.given) or "nothing"
        missing = f" (not {', '.join(pair.left_out)})" if pair.left_out else ""
        numbers: list[Cell] = [pair.p_value, pair.adjusted]
        pair_name = PairName(*pair.pair)
        rows.append([pair_name, pair.verdict, *odds, *ratio, *numbers, f"{given}{missing}"])
    title = f"Odds ratios of each group ({len(rows)} of {plural(len(found.pairs), 'pair')})"
    return table(title, columns, rows, "pairs")


def _places_table(found: Groups, pair: GroupPair) -> Table:
    columns: dict[str, Style] = {"where": "text"}
    columns |= _group_columns(found, "where", "corrected p")
    columns["corrected p"] = "probability"
    rows: list[list[Cell]] = [
        [place.when, *map(ratio_text, place.odds), place.adjusted] for place in pair.places
    ]
    title = PLACES.format(pair=PairName(*pair.pair))
    return table(title, columns, rows, "places")


def _between_table(pair: GroupPair, alpha: float) -> Table:
    columns: dict[str, Style] = {"groups": "text", "corrected p": "probability"}
    clear = [(one, other, p) for one, other, p in pair.between if p <= alpha]
    rows: list[list[Cell]] = [[f"{one} – {other}", p] for one, other, p in clear]
    title = (
        f"Groups that differ in {PairName(*pair.pair)} ({len(rows)} of {len(pair.between)} pairs)"
    )
    return table(title, columns, rows, "between")


def _notes(found: Groups) -> Iterator[str]:
    rows = plural(sum(group.rows for group in found.groups), "row")
    yield f"All tests use the {rows} from which {found.learner} also learned what to hold fixed."
    for pair in found.pairs:
        if pair.trend is not None and pair.trend.p_value <= found.alpha:
            trend = pair.trend
            yield (
                f"{PairName(*pair.pair)}: the log odds ratio changes by {trend.value:.2g} "
                f"({trend.low:.2g} to {trend.high:.2g}) from each group to the next "
                f"({p_text(trend.p_value)}, not corrected)."
            )
    for pair in (found.differing or found.pairs)[:3]:
        (a, b), (c, d) = pair.states
        text = f"{PairName(*pair.pair)}: the odds ratios compare {b} with {a} and {d} with {c}"
        if _has_more_states(found, pair):
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
    yield SAME.format(margin=found.margin, level=round(100 - 200 * found.alpha, 6))
    yield NOT_SHOWN


def _has_more_states(found: Groups, pair: GroupPair) -> bool:
    domain = found.domain
    return any(domain.cardinalities[domain.position(v)] > 2 for v in pair.pair)


def groups_parts(found: Groups, *, top: int = TOP) -> list[Part]:
    """Show which associations differ between groups: verdict, pairs, contexts, structures."""
    parts: list[Part] = [Note("verdict", groups_verdict(found)), _pairs_table(found, top)]
    for pair in found.differing[:3]:
        if pair.places:
            parts.append(_places_table(found, pair))
        if any(p <= found.alpha for *_, p in pair.between):
            parts.append(_between_table(pair, found.alpha))
    parts.append(Note("notes", "\n".join(_notes(found)), warns=True))
    columns: dict[str, Style] = {
        name(found.by): "name",
        "rows": "count",
        "dependent pairs": "count",
    }
    rows = [(g.name, g.rows, len(g.structure.pairs())) for g in found.groups]
    parts.append(table(f"Structures of the groups, by {found.learner}", columns, rows, "groups"))
    level = f"{round(100 - 100 * found.alpha, 6):g} %"
    parts.append(Picture(f"Odds ratios of each group, {level} intervals.", (), forest_of(found)))
    return parts


def columns_parts(found: GroupsOfColumns, *, top: int = TOP) -> list[Part]:
    """Show which columns differ, and the parts of each column."""
    columns: dict[str, Style] = {"column": "name", "groups": "count", "pairs that differ": "count"}
    columns |= {"p": "probability", "p after Holm": "probability"}
    rows = [
        (each.by, len(each.groups), len(each.differing), each.p_value, each.adjusted)
        for each in found
    ]
    differ = [name(each.by) for each in found if (each.adjusted or 0) <= each.alpha]
    verdict = f"Associations differ by {listed(differ)}" if differ else "No association differs"
    verdict += f", after Holm over {plural(len(found), 'column')}."
    sections = [Section(name(each.by), tuple(groups_parts(each, top=top))) for each in found]
    return [Note("verdict", verdict), table("Columns", columns, rows, "columns"), *sections]


# -- the picture -----------------------------------------------------------------------------------

FOREST_PAIRS = 8
"""Pairs of variables in the picture, those with the smallest p-values."""


def forest_of(found: Groups) -> Forest:
    """Place the odds ratios of each group on a common axis."""
    from contextwise.report.drawing import Forest, ForestLine

    shown = found.pairs[:FOREST_PAIRS]
    ends = [
        x
        for pair in shown
        for effect in pair.odds
        for x in (effect.low, effect.value, effect.high)
        if exp(-7) < x < exp(7)
    ]
    low = min([0.5, *ends]) / 1.2
    high = max([2.0, *ends]) * 1.2

    def place(x: float) -> float:
        return log(min(max(x, low), high) / low) / log(high / low)

    def line(label: str, effect: Effect) -> ForestLine:
        value = place(effect.value) if 0 < effect.value < float("inf") else None
        text = ratio_text(effect)
        return ForestLine(label, text, value, place(effect.low), place(effect.high))

    pairs = []
    for pair in shown:
        lines = (
            line(group.name, effect) for group, effect in zip(found.groups, pair.odds, strict=True)
        )
        pairs.append((f"{PairName(*pair.pair)}: {pair.verdict}", tuple(lines)))
    wide = log10(high / low) > 2.5
    steps = [10.0**k * m for k in range(-4, 5) for m in ((1,) if wide else (1, 2, 5))]
    return Forest(tuple(pairs), tuple((place(x), f"{x:g}") for x in steps if low < x < high))
