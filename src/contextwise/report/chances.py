"""A guess beside chance as parts to show: what was drawn, the numbers, and what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from contextwise.evaluation.chance import can_move
from contextwise.report.elements import (
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
"""From here on an expected number is shown without its places."""
DRAWN = {
    "states": "the states of every variable relabelled",
    "variables": "variables of equal cardinality and all states relabelled",
    "values": "every value set drawn anew with its size",
}
OF_DISTANCE: tuple[tuple[str, str, Style, str], ...] = (
    ("distance", "distance", "count", "The assertions on which the models differ."),
    ("expected", "expected", "count", "The expected distance of a guess by chance, exactly."),
    ("skill", "skill", "rate", "1 - distance / expected: 1 is perfect, 0 is as good as chance."),
    ("draws_nearer", "nearer draws", "count", "Draws that are nearer to the true model."),
    ("draws_as_near", "draws as near", "count", "Draws that are exactly as near as the guess."),
    ("p_value", "p", "probability", "How often a guess by chance is at least as near."),
)
OF_CONTEXTS: tuple[tuple[str, str, Style, str], ...] = (
    (
        "context_skill",
        "context skill",
        "rate",
        "The skill over the pairs whose contexts can be right or wrong, given the graph.",
    ),
    (
        "context_pairs",
        "over pairs",
        "count",
        "Pairs that depend in some contexts and not in all, in both models.",
    ),
)
OF_GRAPHS: tuple[tuple[str, str, Style, str], ...] = (
    ("skeleton_common", "common edges", "count", "Edges that both graphs have."),
    ("skeleton_expected", "expected edges", "count", "What a random graph would share."),
    (
        "skeleton_p_value",
        "p of the graph",
        "probability",
        "How often a random graph with as many edges shares at least so many.",
    ),
)


def chance_parts(found: Chance, *, top: int = 0) -> list[Part]:
    """A guess beside guesses by chance: what was drawn, the numbers, and what they mean.

    Parameters
    ----------
    found : a comparison beside chance
    top : how many pairs, those with the least skill first

    Returns
    -------
    list of parts

    Examples
    --------
    >>> from contextwise.evaluation import chance
    >>> from contextwise.report.text import as_text
    >>> print(as_text(chance_parts(chance("lung", "lung-learned", draws=0))))
    Chance: the states of every variable relabelled.
    <BLANKLINE>
    distance  2  context skill  –  common edges    2
    expected  2  over pairs     0  expected edges  2
    skill     0                    p of the graph  1
    <BLANKLINE>
    Context skill is not defined, because no pair depends in only some contexts in both models.
    <BLANKLINE>
    No pairs to get right or wrong.
    """
    values = _values(found)
    groups = (OF_DISTANCE if found.draws else OF_DISTANCE[:3]), OF_CONTEXTS, OF_GRAPHS
    drawn = f", {plural(found.draws, 'draw')}" if found.draws else ""
    limits = "\n".join(_limits(found))
    parts: list[Part] = [Note("null", f"Chance: {DRAWN[found.null]}{drawn}.")]
    parts.append(Measures(tuple(tuple(_measures(own, values)) for own in groups)))
    parts += [Note("limits", limits)] if limits else []
    parts.append(Note("verdict", found.verdict))
    pairs = pairs_beside_chance(found, top) if top else None
    return parts if pairs is None else [*parts, pairs]


def _values(found: Chance) -> dict[str, object]:
    return {"distance": found.distance, **found.record()}


def _measures(
    wanted: Iterable[tuple[str, str, Style, str]], values: dict[str, object]
) -> Iterator[Measure]:
    for key, label, style, meaning in wanted:
        value: Cell = values[key]  # type: ignore[assignment]
        if style == "count" and isinstance(value, Fraction) and value >= ROUND_FROM:
            value = round(value)
        yield Measure(key, label, value, style, meaning)


def _limits(found: Chance) -> Iterator[str]:
    """Sentences on what the null cannot do here."""
    if found.skill is None:
        yield "Skill is not defined, because every guess by chance is at distance 0."
    elif found.draws and set(found.distances) == {found.distance}:
        yield "The guess is as near as every draw."
    cardinalities = found.comparison.domain.cardinalities
    if found.null == "variables" and len(cardinalities) > 1 and not can_move(cardinalities):
        yield (
            "All cardinalities differ, so no variable can take another's place: only states are "
            "relabelled."
        )
    if found.null == "values":
        own = sum(found.comparison.unions.lower[:, 1].tolist())
        expected = found.dependencies
        about = number(expected if expected < ROUND_FROM else round(expected))
        word = "dependency" if own == 1 else "dependencies"
        yield f"The guess asserts {number(own)} {word}, drawn ones {about} on average."
    if found.context_skill is None:
        yield (
            "Context skill is not defined, because no pair depends in only some contexts in both "
            "models."
        )


def pairs_beside_chance(found: Chance, top: int) -> Table | None:
    """The pairs that draws can get right or wrong, the least skill first; None if there are none.

    Parameters
    ----------
    found : a comparison beside chance
    top : how many

    Returns
    -------
    Table or None
    """
    moving = [pair for pair in found.pair_chances() if pair.p_value is not None]
    worst = sorted(moving, key=lambda pair: 1.0 if pair.skill is None else pair.skill)[:top]
    if not worst:
        return None
    columns = [Column("pair", "name"), Column("errors", "count"), Column("expected", "count")]
    columns += [Column("skill", "rate"), Column("p", "probability")]
    rows = tuple(
        (
            PairName(*one.pair),
            one.distance,
            one.expected if one.expected < ROUND_FROM else round(one.expected),
            one.skill,
            one.p_value,
        )
        for one in worst
    )
    title = "Pairs beside chance, the least skill first"
    if len(worst) < len(moving):
        title += f" ({len(worst):,} of {len(moving):,})"
    return Table(title, tuple(columns), rows, "pairs beside chance")


def chances_table(guesses: Sequence[Guess]) -> Table:
    """Several guesses beside chance, one row each."""
    wanted = [one for one in (*OF_DISTANCE, *OF_CONTEXTS) if not one[0].startswith("draws")]
    columns = [Column("guess", "name"), *(Column(label, style) for _, label, style, _ in wanted)]
    columns.append(Column("verdict", "words"))
    rows = []
    for guess in guesses:
        if guess.chance is not None:
            cells = (measure.value for measure in _measures(wanted, _values(guess.chance)))
            rows.append((guess.title, *cells, guess.chance.verdict))
    return Table("Every guess beside chance", tuple(columns), tuple(rows), "chances")
