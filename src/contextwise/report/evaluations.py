"""Turn results of `contextwise.evaluation` into parts: chance, stability, ensembles, scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from contextwise.comparison.confusion import MEASURES
from contextwise.models.notation import between
from contextwise.report.comparisons import Guess
from contextwise.report.parts import (
    TOP,
    Cell,
    Entries,
    Entry,
    Note,
    Part,
    Section,
    Style,
    table,
)
from contextwise.support.formatting import listed, name, plural, rate
from contextwise.support.words import exact_percent, p_text

if TYPE_CHECKING:
    from contextwise.analysis.resampling import PairSupport, Stability
    from contextwise.evaluation.ensemble_scores import EnsembleScore, EnsembleScores, Reliability
    from contextwise.evaluation.groups_of_guesses import GroupComparison, GroupSummary, Mean
    from contextwise.evaluation.likelihood_scores import Scores
    from contextwise.evaluation.random_guesses import Chance

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
    ("p_value", "p", "p", "Share of random guesses that are at least as near."),
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
    from contextwise.evaluation.random_guesses import can_exchange

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
    rows = f"{stability.evidence.count:,} rows"
    drawn = f"{rows} with replacement" if stability.how == "bootstrap" else f"{share} of the {rows}"
    differ = exact_percent(stability.instability)
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
    from contextwise.evaluation.ensemble_scores import EnsembleScores

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
            columns["p after Holm" if len(found.differences) > 1 else "p"] = "p"
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
    if attainable > found.level:
        count = min(each.value.count for each in found.differences)
        yield f"With {plural(count, 'replicate')} no p-value can be below {p_text(attainable)}."
    undefined = sum(
        group.replicates - mean.count for group in found.groups for mean in group.means.values()
    )
    if undefined:
        yield f"{plural(undefined, 'undefined value')} left out."


# -- scores ----------------------------------------------------------------------------------------


def scores_parts(guesses: Sequence[Guess]) -> list[Part]:
    """Return one row per guess with the scores that some guess has, and why others are missing."""
    from contextwise.evaluation.likelihood_scores import SCORES

    scored = {guess.title: guess.scores for guess in guesses if guess.scores is not None}
    keys = [key for key in SCORES if any(key in each.values for each in scored.values())]
    columns: dict[str, Style] = {"guess": "name", **{SCORES[key]: "score" for key in keys}}
    rows = [(title, *(each.values.get(key) for key in keys)) for title, each in scored.items()]
    parts: list[Part] = [table("Scores, in nats", columns, rows, "scores")] if keys else []
    reasons = "\n".join(_reasons(scored))
    return [*parts, Note("missing", reasons)] if reasons else parts


def _reasons(scored: Mapping[str, Scores]) -> Iterator[str]:
    """Say why scores are missing, or how they were estimated; equal reasons once."""
    from contextwise.evaluation.likelihood_scores import SCORES

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
