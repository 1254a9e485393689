"""Parts that show a guess compared with random guesses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from contextwise.evaluation.chance import NULLS
from contextwise.report.parts import (
    Cell,
    Column,
    Measure,
    Measures,
    Note,
    PairName,
    Part,
    Style,
    Table,
)
from contextwise.support.formatting import number, plural

if TYPE_CHECKING:
    from contextwise.evaluation.chance import Chance
    from contextwise.report.comparisons import Guess

ROUND_FROM = 10_000
"""Show larger expected numbers without decimals."""
Wanted = tuple[str, str, Style, str]
"""Key of `Chance.record`, label, style and meaning of a number."""
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
OF_GRAPHS: tuple[Wanted, ...] = (
    ("skeleton_common", "common edges", "count", "Edges of both graphs."),
    ("skeleton_expected", "expected edges", "count", "Common edges expected of a random graph."),
    (
        "skeleton_p_value",
        "p of the graph",
        "probability",
        "Share of random graphs with as many edges that have at least as many in common.",
    ),
)


def chance_parts(chance: Chance, *, top: int = 0) -> list[Part]:
    """Show what was drawn, the numbers, what they mean, and the ``top`` pairs of least skill."""
    values = {"distance": chance.distance, **chance.record()}
    groups = [OF_DISTANCE if chance.draws else OF_DISTANCE[:3]]
    groups += [OF_CONTEXTS] if chance.context_pairs else []
    groups.append(OF_GRAPHS)
    draws = f" ({plural(chance.draws, 'draw')})" if chance.draws else ""
    limits = "\n".join(_limits(chance))
    parts: list[Part] = [
        Note("null", f"Random guesses{draws}: {NULLS[chance.null].words}."),
        Measures(tuple(tuple(_measures(wanted, values)) for wanted in groups)),
        *([Note("limits", limits)] if limits else []),
        Note("verdict", chance.verdict),
    ]
    pairs = chance_of_pairs(chance, top) if top else None
    return parts if pairs is None else [*parts, pairs]


def _measures(wanted: Iterable[Wanted], values: dict[str, object]) -> Iterator[Measure]:
    for key, label, style, meaning in wanted:
        value: Cell = values[key]  # type: ignore[assignment]
        if style == "count" and isinstance(value, Fraction):
            value = _rounded(value)
        yield Measure(key, label, value, style, meaning)


def _rounded(value: Fraction) -> Fraction | int:
    return value if value < ROUND_FROM else round(value)


def _limits(chance: Chance) -> Iterator[str]:
    """Yield sentences on the limits of the null for this guess."""
    if chance.is_stuck:
        yield "No skill and no p: every random guess has the same distance as the guess."
    cardinalities = chance.comparison.domain.cardinalities
    stays = chance.null == "variables" and not NULLS[chance.null].moves(cardinalities)
    if stays and len(cardinalities) > 1:
        yield (
            "No two variables have equally many states, so none can be exchanged: only states are "
            "relabelled."
        )
    if not NULLS[chance.null].keeps_counts:
        asserted = sum(chance.comparison.unions.lower[:, 1].tolist())
        word = "dependency" if asserted == 1 else "dependencies"
        yield (
            f"The guess asserts {number(asserted)} {word}, random guesses "
            f"{number(_rounded(chance.dependencies))} on average."
        )


def chance_of_pairs(chance: Chance, top: int) -> Table | None:
    """List the pairs that draws can get right or wrong, least skill first; None without any."""
    judged = [pair for pair in chance.pair_chances() if pair.p_value is not None]
    worst = sorted(judged, key=lambda pair: 1.0 if pair.skill is None else pair.skill)[:top]
    if not worst:
        return None
    columns = [Column("pair", "name"), Column("errors", "count"), Column("expected", "count")]
    columns += [Column("skill", "rate"), Column("p", "probability")]
    rows = tuple(
        (PairName(*p.pair), p.distance, _rounded(p.expected), p.skill, p.p_value) for p in worst
    )
    title = "Pairs compared with chance, least skill first"
    if len(worst) < len(judged):
        title += f" ({len(worst):,} of {len(judged):,})"
    return Table(title, tuple(columns), rows, "chance of pairs")


def chances_table(guesses: Sequence[Guess]) -> Table:
    """Show several guesses compared with chance, one row each."""
    compared = [(guess.title, guess.chance) for guess in guesses if guess.chance is not None]
    wanted = [row for row in OF_DISTANCE if not row[0].startswith("draws")]
    if any(chance.context_pairs for _, chance in compared):
        wanted += OF_CONTEXTS
    columns = [Column("guess", "name"), *(Column(label, style) for _, label, style, _ in wanted)]
    columns.append(Column("verdict", "words"))
    rows = []
    for name, chance in compared:
        values = {"distance": chance.distance, **chance.record()}
        cells = (measure.value for measure in _measures(wanted, values))
        rows.append((name, *cells, chance.verdict))
    return Table("Every guess compared with chance", tuple(columns), tuple(rows), "chances")
