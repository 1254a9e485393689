"""Show the claims of one model, each with what the rows say about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextwise.independence.independencies import PairClaims
from contextwise.independence.model_claims import ModelExplanation, explain_model
from contextwise.models.evidence import ClaimEvidence
from contextwise.models.notation import in_words, quoted
from contextwise.models.structure import Model
from contextwise.report.parts import TOP, Cell, Note, PairName, Part, Style, makes_parts, table
from contextwise.support.formatting import listed, plural

HEADS: dict[str, Style] = {
    "pair": "name",
    "claim": "text",
    "when": "text",
    "given": "text",
    "of contexts": "share",
    "rows": "text",
}
Row = tuple[Cell, ...]
NOTEBOOK_LIMIT = 2.0  # seconds to find the claims of a model that a notebook shows


@makes_parts("models.structure", "Structure", "LogLinear")
def model_parts(model: Model, *, top: int = TOP) -> list[Part]:
    """Show the claims of a model in a notebook, as far as they are found within seconds."""
    if sum(states > 1 for states in model.domain.cardinalities) < 2:
        variables = plural(len(model.domain), "variable")
        return [Note("verdict", f"The model has {variables}, and no pair of them can depend.")]
    return explanation_parts(explain_model(model, top=top, time_limit=NOTEBOOK_LIMIT))


@makes_parts("independence.model_claims", "ModelExplanation")
def explanation_parts(explained: ModelExplanation, *, top: int = TOP) -> list[Part]:
    """Show how many pairs depend, and list the claims, those that hold in some contexts first."""
    counts = explained.counts
    somewhere = [row for claims in explained.somewhere for row in _region_rows(explained, claims)]
    never: list[Row] = []
    for claims in explained.never:
        (statement,) = claims.independent
        tested = explained.evidence(claims.pair, "independent")
        never.append(_row(claims.pair, given=statement.given, tested=tested))
    always = [
        _row(one.pair, tested=explained.evidence(one.pair, "dependent")) for one in explained.always
    ]
    separations = [_row((one.first, one.second), given=one.given) for one in explained.separations]
    word = explained.word.capitalize()
    is_network = bool(counts["separations"])
    lists = [
        ("Depend in some contexts only", somewhere, len(explained.somewhere), counts["somewhere"]),
        # The separations of a network include these, with smaller sets.
        (f"{word} in every context", [] if is_network else never, len(never), counts["never"]),
        (
            "Independent by d-separation; parents of one child first, which depend given it",
            separations,
            len(separations),
            counts["separations"],
        ),
        ("Depend in every context", always, len(always), counts["always"]),
    ]
    parts: list[Part] = [Note("verdict", " ".join(_sentences(explained)))]
    for title, rows, shown, count in lists:
        if rows:
            part_of_all = "" if shown == count else f", {shown:,} of {plural(count, 'pair')}"
            parts.append(_listing(title + part_of_all, rows))
    return parts


def _sentences(explained: ModelExplanation) -> Iterator[str]:
    """Yield the verdict: how many pairs there are of each kind, and what rows say about them."""
    word = explained.word
    words = {
        "somewhere": ("depends in some contexts only", "depend in some contexts only"),
        "always": ("depends in every context", "depend in every context"),
        "never": (f"is {word} in every context", f"are {word} in every context"),
    }
    counts = {kind: explained.counts[kind] for kind in words}
    told = [f"{n:,} {words[kind][n != 1]}" for kind, n in counts.items() if n]
    yield f"{plural(sum(counts.values()), 'pair')}: {', '.join(told)}."
    if len(explained.constants) == 1:
        yield f"{listed(explained.constants)} has one state; its pairs are left out."
    elif explained.constants:
        yield f"{listed(explained.constants)} have one state each; their pairs are left out."
    known = explained.structure.evidence
    if known is None:
        yield "This is what the model claims; contextwise check MODEL ROWS --out MODEL tests it."
    else:
        yield known.summary
    if explained.partial:
        yield "The time limit left some contexts or pairs undecided."


def _region_rows(explained: ModelExplanation, claims: PairClaims) -> Iterator[Row]:
    """Yield a row for each region of a pair, and one for those that are not listed."""
    pair, independent = claims.pair, claims.independent
    claim = explained.word
    for one in independent:
        tested = explained.evidence(pair, "independent", one.region)
        yield _row(pair, claim, in_words(one.region), one.given, one.share, tested)
    if independent.unlisted:
        yield _row(pair, claim, f"… {plural(independent.unlisted, 'more region')}")
    for region in claims.dependent:
        tested = explained.evidence(pair, "dependent", region.region)
        yield _row(pair, "dependent", in_words(region.region), (), region.share, tested)
    if claims.unlisted:
        yield _row(pair, "dependent", f"… {plural(claims.unlisted, 'more region')}")


def _row(
    pair: tuple[str, str],
    claim: str = "",
    when: str = "",
    given: Sequence[str] = (),
    share: float | None = None,
    tested: ClaimEvidence | None = None,
) -> Row:
    rows = ""
    if tested is not None:
        rows = ": ".join(filter(None, [tested.verdict, tested.finding]))
    return PairName(*pair), claim, when, ", ".join(map(quoted, given)), share, rows


def _listing(title: str, rows: Sequence[Row]) -> Part:
    """Make a table without the columns that would be empty; a list of pairs is a sentence."""
    columns = [k for k in range(len(HEADS)) if any(row[k] not in ("", None) for row in rows)]
    if columns == [0]:
        return Note("pairs", f"{title}: {', '.join(str(row[0]) for row in rows)}.")
    heads = list(HEADS.items())
    shown = [[row[k] for k in columns] for row in rows]
    return table(title, dict(heads[k] for k in columns), shown)
