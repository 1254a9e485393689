"""Turn results about many models into parts: distance matrices, a consensus, scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING

from contextwise.comparison.confusion import MEASURES, RATES, Number, ratio, shown_in
from contextwise.models.notation import in_words, where
from contextwise.report.notes import BY_POSITION, Medium, matrix_ganak_notes, rounding_notes
from contextwise.report.parts import (
    Cell,
    Column,
    Interval,
    Note,
    PairName,
    Part,
    Share,
    Style,
    Table,
)
from contextwise.support.formatting import percent, plural

if TYPE_CHECKING:
    from contextwise.comparison.matrix import DistanceMatrix
    from contextwise.comparison.neighbours import Neighbours
    from contextwise.comparison.sketch import EstimatedMatrix
    from contextwise.evaluation.consensus import ClaimSupport, Consensus
    from contextwise.evaluation.score import Score

SCORE_LABELS = {
    "kl_true_guess": "KL(true ‖ guess)",
    "kl_guess_true": "KL(guess ‖ true)",
    "jensen_shannon": "JS",
    "total_variation": "TV",
    "log_likelihood": "log-likelihood",
    "pseudo_log_likelihood": "pseudo-ll",
    "cmll": "CMLL",
    "aic": "AIC",
    "bic": "BIC",
}
SCORED_RATES = tuple(name for name in shown_in("score") if name in RATES)


def matrix_parts(
    matrix: DistanceMatrix,
    *,
    names: Sequence[str] | None = None,
    normalized: bool = False,
    medium: Medium = "command",
) -> list[Part]:
    """Return the pairwise distances, or their shares of all assertions, and notes."""
    labels = matrix.names if names is None else names
    style: Style = "rate" if normalized else "count"
    cells = matrix_cells(matrix, normalized=normalized)
    title = "Pairwise normalized distances" if normalized else "Pairwise distances"
    parts: list[Part] = [_square(title, labels, cells, style)]
    if len(labels) > 2 and not matrix.open:
        parts.insert(0, Note("verdict", _extremes(matrix, labels)))
    if matrix.by_position:
        parts.append(Note("alignment", BY_POSITION))
    parts += matrix_ganak_notes(matrix)
    return [*parts, *rounding_notes(parts, medium)]


def _extremes(matrix: DistanceMatrix, labels: Sequence[str]) -> str:
    """Name the two nearest and the two farthest models."""
    distances = matrix.lower.tolist()
    pairs = {(i, j): distances[i][j] for i, j in combinations(range(len(labels)), 2)}
    words = []
    for kind, choose in (("nearest", min), ("farthest", max)):
        i, j = choose(pairs, key=pairs.__getitem__)
        share = percent(pairs[i, j], matrix.total)
        ties = sum(distance == pairs[i, j] for distance in pairs.values()) - 1
        more = f" (tied with {plural(ties, 'other pair')})" if ties else ""
        words.append(
            f"{labels[i]} and {labels[j]} are {kind}: they differ in {share} of all "
            f"assertions{more}."
        )
    return "\n".join(words)


def matrix_cells(matrix: DistanceMatrix, *, normalized: bool) -> list[list[Cell]]:
    """Return the distances, or their shares of all assertions; unfinished ones are intervals."""
    lower, upper = (
        (matrix.shares(bound) if normalized else bound).tolist()
        for bound in (matrix.lower, matrix.upper)
    )
    return [
        [low if low == high else Interval(low, high) for low, high in zip(*row, strict=True)]
        for row in zip(lower, upper, strict=True)
    ]


def estimated_parts(matrix: EstimatedMatrix, *, names: Sequence[str] | None = None) -> list[Part]:
    """Return the estimated pairwise normalized distances, and how far off they may be."""
    labels = matrix.names if names is None else names
    title = "Estimated pairwise normalized distances"
    parts: list[Part] = [_square(title, labels, matrix.normalized.tolist(), "rate")]
    parts.append(Note("estimate", estimate_words(matrix), warns=True))
    return [*parts, Note("alignment", BY_POSITION)] if matrix.by_position else parts


def estimate_words(matrix: EstimatedMatrix) -> str:
    """Say that the numbers are estimates, and how wide the widest interval is."""
    from contextwise.comparison.sketch import CONFIDENCE

    return (
        f"These are estimates from {plural(matrix.assertions, 'random assertion')}: each is within "
        f"{matrix.widest():.2g} of the true normalized distance, with at least "
        f"{100 * CONFIDENCE:g} % confidence."
    )


def _square(
    title: str, labels: Sequence[str], cells: Sequence[Sequence[Cell]], style: Style
) -> Table:
    """Return one row and one column per model; columns have numbers, because names are long."""
    places = [str(k + 1) for k in range(len(labels))]
    columns = [Column("", "count"), Column("model", "name")]
    columns += [Column(place, style) for place in places]
    rows = tuple((p, label, *row) for p, label, row in zip(places, labels, cells, strict=True))
    return Table(title, tuple(columns), rows, "matrix")


def neighbours_parts(nearest: Neighbours, names: Sequence[str]) -> list[Part]:
    """Return the nearest of the models ``names``, and how many exact comparisons it took."""
    columns = Column("model", "name"), Column("normalized distance", "share", counts=True)
    rows = tuple(
        (names[place], Share(distance, nearest.total))
        for place, distance in zip(nearest.places, nearest.distances, strict=True)
    )
    words = f"This took {plural(nearest.compared, 'exact comparison')}"
    if left := nearest.of - nearest.compared:
        words += f"; bounds ruled out {left:,} of {plural(nearest.of, 'model')}"
    parts: list[Part] = [Table("The nearest models", columns, rows, "nearest")]
    parts.append(Note("comparisons", f"{words}."))
    return [*parts, *rounding_notes(parts, "command")]


def consensus_parts(
    consensus: Consensus, supports: Sequence[ClaimSupport] = (), *, medium: Medium = "command"
) -> list[Part]:
    """Show how near a consensus is to its models, what bounds it, and who supports its claims."""
    half = consensus.threshold == Fraction(1, 2)
    columns = (
        Column("", "words"),
        Column("sum of distances" if half else "weighted sum of errors", "count"),
        Column("mean normalized distance", "rate"),
    )
    exact = "counted" if consensus.majority_is_exact else "estimated"
    majority = "majority" if half else f"vote of {100 * float(consensus.threshold):g} %"
    sums: dict[str, Number] = {
        "consensus": consensus.sum,
        "most typical model": consensus.medoid_sum,
        "lower bound for any structure": consensus.bound,
        f"{majority} of each assertion ({exact})": round(consensus.majority.value),
    }
    each = len(consensus.models) * consensus.total
    rows = tuple((label, cost, ratio(cost, each) if each else 0.0) for label, cost in sums.items())
    parts: list[Part] = [
        Note("verdict", consensus.verdict),
        Table("How near to all models", columns, rows, "sums"),
    ]
    if supports:
        parts.append(_supports(supports))
    return [*parts, *rounding_notes(parts, medium)]


def _supports(supports: Sequence[ClaimSupport]) -> Table:
    columns = (
        Column("pair", "name"),
        Column("in the consensus", "words"),
        Column("when", "words"),
        Column("models with the dependence", "words"),
    )
    rows = []
    for support in supports:
        low, high = support.throughout, support.somewhere
        rows.append(
            (
                PairName(*support.pair),
                "dependent" if support.dependent else "independent",
                in_words(support.literals) or where(()),
                f"{low if low == high else f'{low} to {high}'} of {support.of}",
            )
        )
    title = "Support of its claims, pairs that depend most first"
    return Table(title, columns, tuple(rows), "supports")


def scores_parts(
    names: Sequence[str], scores: Sequence[Score], *, medium: Medium = "command"
) -> list[Part]:
    """Return one row per guess with the scores that some guess has, and why others are missing."""
    keys = [key for key in SCORE_LABELS if any(key in score.values for score in scores)]
    columns = [Column("guess", "name"), Column("features", "count"), Column("length", "mean")]
    columns += [Column("longest", "count")]
    columns += [Column(MEASURES["normalized"].label, "share", counts=True)]
    columns += [Column(MEASURES[key].label, "rate") for key in SCORED_RATES]
    columns += [Column(SCORE_LABELS[key], "score") for key in keys]
    labelled = zip(names, scores, strict=True)
    rows = tuple((label, *_score_cells(score, keys)) for label, score in labelled)
    parts: list[Part] = [Table("Scores", tuple(columns), rows, key="scores")]
    reasons = "\n".join(_reasons(names, scores))
    parts += [Note("missing", reasons)] if reasons else []
    return [*parts, *rounding_notes(parts, medium)]


def _score_cells(score: Score, keys: Sequence[str]) -> Iterator[Cell]:
    c, counts = score.comparison, score.features
    yield int(counts["features"])
    yield counts["mean_length"]
    yield int(counts["largest_length"])
    low, high = c.distance_bounds
    yield (
        Share(low, c.total) if low == high else Interval(ratio(low, c.total), ratio(high, c.total))
    )
    for key in SCORED_RATES:
        value = float("nan") if c.open_pairs else c.rate(key, float("nan"))
        yield None if isnan(value) else value
    yield from (score.values.get(key) for key in keys)


def _reasons(names: Sequence[str], scores: Sequence[Score]) -> Iterator[str]:
    """Say why scores are missing, or how they were estimated."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for label, score in zip(names, scores, strict=True):
        reasons: Mapping[str, str] = dict(score.missing) | {
            key: value.how for key, value in score.values.items() if not value.exact
        }
        for key, reason in reasons.items():
            by_reason.setdefault((label, reason), []).append(SCORE_LABELS[key])
    for (label, reason), which in by_reason.items():
        yield f"{label}: {', '.join(which)}: {reason}"
