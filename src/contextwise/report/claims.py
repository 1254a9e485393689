"""Show the claims of a model, and what rows say about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from contextwise.comparison.confusion import ratio
from contextwise.independence.claims import REGIONS, PairClaims
from contextwise.independence.model_claims import (
    ModelExplanation,
    explain_model,
)
from contextwise.models.evidence import (
    CONTRADICTED,
    NOT_CONTRADICTED,
    NOT_SUPPORTED,
    SUPPORTED,
    UNTESTABLE,
    ClaimEvidence,
    Evidence,
)
from contextwise.models.notation import in_words, quoted
from contextwise.models.pair_regions import Claim, Kind
from contextwise.models.structure import Model, structure_of
from contextwise.report.parts import TOP, Cell, Note, PairName, Part, Style, Table, table
from contextwise.report.pictures import arcs_of
from contextwise.support import words
from contextwise.support.formatting import listed, name, plural

if TYPE_CHECKING:
    from contextwise.evidence.model_check import Check
    from contextwise.evidence.pair_records import Interaction

HEADS: dict[str, Style] = {
    "pair": "name",
    "claim": "text",
    "when": "text",
    "given": "text",
    "of contexts": "share",
    "rows": "text",
}
Row = tuple[Cell, ...]
MOST_GIVEN = 6  # variables that a row names after "given"
NOTEBOOK_LIMIT = 2.0  # seconds to find the claims of a model that a notebook shows


def model_parts(model: Model, *, top: int = TOP) -> list[Part]:
    """Show the claims of a model in a notebook, as far as they are found within seconds."""
    if sum(states > 1 for states in model.domain.cardinalities) < 2:
        variables = plural(len(model.domain), "variable")
        return [Note("verdict", f"The model has {variables}, and no pair of them can depend.")]
    explained = explain_model(model, top=top, time_limit=NOTEBOOK_LIMIT)
    return explanation_parts(explained, regions=REGIONS)


def explanation_parts(
    explained: ModelExplanation, *, top: int = TOP, regions: int = TOP
) -> list[Part]:
    """Show how many pairs depend, and list the claims, those that hold in some contexts first.

    A pair has up to ``regions`` rows of each claim.
    """
    counts, word = explained.counts, explained.word.capitalize()
    somewhere = [
        row for claims in explained.somewhere for row in _region_rows(explained, claims, regions)
    ]
    never: list[Row] = []
    for claims in explained.never if not counts["separations"] else ():
        (statement,) = claims.independent  # the separations of a network have smaller sets
        tested = explained.evidence(claims.pair, "independent")
        never.append(_row(claims.pair, given=statement.given, tested=tested))
    always = [
        _row(one.pair, tested=explained.evidence(one.pair, "dependent")) for one in explained.always
    ]
    separated = []
    for one in explained.separations:
        tested = explained.evidence(one.pair, "d-separated")
        separated.append(_row(one.pair, given=one.given, tested=tested))
    separation = "Independent by d-separation; parents of one child first, which depend given it"
    parts: list[Part] = [Note("verdict", " ".join(_sentences(explained)))]
    for title, rows, shown, count in (
        ("Depend in some contexts only", somewhere, len(explained.somewhere), counts["somewhere"]),
        (f"{word} in every context", never, len(never), counts["never"]),
        (separation, separated, len(separated), counts["separations"]),
        ("Depend in every context", always, len(always), counts["always"]),
    ):
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
    if told:
        yield f"{plural(sum(counts.values()), 'pair')}: {', '.join(told)}."
    else:
        yield "The model claims nothing: fewer than two variables have several states."
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


def _region_rows(explained: ModelExplanation, claims: PairClaims, most: int) -> Iterator[Row]:
    """Yield a row for each region of a pair, and one for those that are not listed.

    If rows tested some regions of a kind, only these are listed.
    """
    kinds: tuple[tuple[Kind, str, Sequence[Claim]], ...] = (
        ("independent", explained.word, claims.independent),
        ("dependent", "dependent", claims.dependent),
    )
    for kind, word, regions in kinds:
        of_rows = [explained.evidence(claims.pair, kind, one.region) for one in regions]
        listed = [*zip(regions, of_rows, strict=True)]
        shown = ([each for each in listed if each[1]] or listed)[:most]
        for one, tested in shown:
            share = ratio(one.size, claims.contexts)
            yield _row(claims.pair, word, in_words(one.region), one.given, share, tested)
        if unlisted := claims.unlisted[kind] + len(regions) - len(shown):
            yield _row(claims.pair, word, f"… {plural(unlisted, 'more region')}")


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
    names = [*map(quoted, given[:MOST_GIVEN])]
    names += [f"{len(given) - MOST_GIVEN} more"] if len(given) > MOST_GIVEN else []
    return PairName(*pair), claim, when, ", ".join(names), share, rows


def _listing(title: str, rows: Sequence[Row]) -> Part:
    """Make a table without the columns that would be empty; a list of pairs is a sentence."""
    columns = [k for k in range(len(HEADS)) if any(row[k] not in ("", None) for row in rows)]
    if columns == [0]:
        return Note("pairs", f"{title}: {', '.join(str(row[0]) for row in rows)}.")
    heads = list(HEADS.items())
    shown = [[row[k] for k in columns] for row in rows]
    return table(title, dict(heads[k] for k in columns), shown)


# -- the verdicts of rows --------------------------------------------------------------------------

MEANING = (
    "A contradicted independence means that a dependence is missing near this pair: between the "
    "two variables, or between one of them and a variable connected to the other."
)
COLUMNS = (
    "Both variables are tested with the variables in the column 'given' held fixed: all others, as "
    "far as the rows allow it. A claim about some contexts is tested on their rows. V: partial "
    "Cramér's V with its 95 % interval. Differs by: shown only because it differs between the "
    "states of this variable. Could show: the V that the test finds with probability 0.8. p is not "
    "corrected for the number of claims; the verdicts use corrected values."
)
COLUMNS_OF_GRAPH = (
    "Each missing edge is tested with variables held fixed that separate the pair in the graph, "
    "each arrow with the other parents of its head, each undirected edge with all others. V: "
    "partial Cramér's V with its 95 % interval. Differs by: the association is not the same in all "
    "states of this variable. Could show: the V that the test finds with probability 0.8. p is not "
    "corrected for the number of claims; the verdicts use corrected values."
)
MEANING_OF_GRAPH = (
    "Each contradicted independence needs an edge or a hidden cause that the graph lacks: between "
    "the two variables, or near them. An arrow that the rows do not show may still be there, as "
    "weak as its interval allows. Rows can contradict arrows, and never prove their directions."
)
TITLES = {
    CONTRADICTED: "Contradicted by the rows, clearest first",
    NOT_SUPPORTED: "Dependences without support, smallest p first",
    NOT_CONTRADICTED: "Independencies not contradicted, smallest p first",
}
OF_GRAPH = {
    CONTRADICTED: "Independent in the graph, and not in the rows, clearest first",
    NOT_SUPPORTED: "Edges that the rows do not show, smallest p first",
    SUPPORTED: "Edges that the rows show, clearest first",
    NOT_CONTRADICTED: "Independent in the graph and not contradicted, smallest p first",
}
SEEN = (
    "The model was learned from these rows, so they agree with it more than other rows would. "
    "Check it against rows that the learner did not see."
)
UNSEEN = "The rows must be independent observations, and not those that the model was learned from."


def check_parts(check: Check, *, top: int = TOP) -> list[Part]:
    """Show the verdict, the claims that rows contradict, and what else they could have shown."""
    parts: list[Part] = [Note("verdict", check.verdict)]
    if check.overall is not None:
        simulated = plural(len(check.overall.simulated), "simulated data set")
        how = "" if check.overall.exact else " Gibbs sampling drew them, which is not exact."
        text = "Overall test: the sum of -log p over all claims of independence, compared with "
        parts.append(Note("overall", f"{text}{simulated}.{how}"))
    if not check.is_graph:
        return [*parts, *evidence_parts(check.evidence, top=top)[1:]]
    notes = [Note("rows", SEEN, warns=True)] * check.evidence.seen_by_learner
    tables = evidence_parts(check.evidence, top=top, graph=check.model)[2:]
    first = int(bool(top and check.contradicted))
    places = map(place_table, check.places if top else ())
    return [*parts, *notes, *_graph_notes(check), *tables[:first], *places, *tables[first:]]


def place_table(place: Interaction) -> Table:
    """Show the largest difference of a pair in each state of the variable that it differs by."""
    rows: list[tuple[str, ...]] = []
    heads = ("", "")
    for part in place.states:
        differences = [each for each in part.effects if each.kind == "difference"]
        if not differences:
            rows.append((name(part.state, 24), f"{part.rows:,.0f}", "–", "–", "too few rows"))
            continue
        largest = max(differences, key=lambda each: abs(each.estimate))
        of_kind = (each for each in part.effects if each.kind == "share")
        shares = {each.at: each.estimate for each in of_kind if each.state == largest.state}
        ends = (largest.at, largest.reference)
        interval = words.between(largest.low, largest.high, words.points)
        text = f"{words.points(largest.estimate)} ({interval})"
        cells = [f"{words.percent(shares[end])} ({name(end, 24)})" for end in ends]
        heads = largest.of, largest.state
        rows.append((name(part.state, 24), f"{part.rows:,.0f}", *cells, f"{text} points"))
    pair = "–".join(name(quoted(each), 24) for each in place.pair)
    title = f"{pair} differs by {name(quoted(place.by), 24)}: {name(quoted(heads[0]), 24)} is "
    columns: dict[str, Style] = {name(quoted(place.by), 24): "text", "rows": "text"}
    columns |= {"share": "text", "against": "text", "difference": "text"}
    return table(f"{title}{name(heads[1], 24)}", columns, rows, "places")


def _graph_notes(check: Check) -> Iterator[Part]:
    """Say which columns the graph and the rows have in common, and how they were read."""
    if check.hidden:
        names = listed([name(quoted(each), 24) for each in check.hidden[:8]])
        more = f" and {len(check.hidden) - 8} more" if len(check.hidden) > 8 else ""
        them = "them" if check.hidden[1:] else "it"
        text = (
            f"The rows have no column {names}{more}. The check treats {them} as hidden and tests "
        )
        yield Note("hidden", f"{text}the claims about the other variables.", warns=True)
    if check.notes:
        yield Note("reading", f"How the rows were read: {'; '.join(check.notes)}.")


def evidence_parts(evidence: Evidence, *, top: int = TOP, graph: Model | None = None) -> list[Part]:
    """Show the summary, the rows, tables of the claims by verdict, and what was left out.

    Of a ``graph``, the claims are called edges and independences.
    """
    about = f"{plural(evidence.count, 'row')}. {SEEN if evidence.seen_by_learner else UNSEEN}"
    parts: list[Part] = [Note("verdict", evidence.summary)]
    parts.append(Note("rows", about, warns=evidence.seen_by_learner))
    arcs = () if graph is None else arcs_of(structure_of(graph))
    tables = [
        claims_table(title, evidence.with_verdict(verdict), top, arcs)
        for verdict, title in (TITLES if graph is None else OF_GRAPH).items()
        if top and evidence.with_verdict(verdict)
    ]
    parts += tables
    if evidence.contradicted:
        parts.append(Note("meaning", MEANING if graph is None else MEANING_OF_GRAPH))
    if tables:
        parts.append(Note("columns", COLUMNS if graph is None else COLUMNS_OF_GRAPH))
    return [*parts, *_left_out(evidence)]


def _left_out(evidence: Evidence) -> Iterator[Part]:
    reasons = Counter(claim.reason for claim in evidence.with_verdict(UNTESTABLE))
    if reasons:
        listed = "; ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common(4))
        more = "" if len(reasons) <= 4 else "; …"
        yield Note("untestable", f"Could not be tested: {listed}{more}.")
    if evidence.regions_left_out:
        left_out = plural(evidence.regions_left_out, "region")
        yield Note("left out", f"{left_out} not tested: others have more rows.")
    if evidence.pairs_left_out:
        left_out = plural(evidence.pairs_left_out, "pair")
        text = (
            f"{left_out} not tested: of so many pairs, those with the strongest association and a "
        )
        yield Note("sample", f"{text}sample of claims of independence are.")
    if evidence.unfinished:
        late = f"{plural(evidence.unfinished, 'pair')} not tested within the time limit."
        yield Note("unfinished", late, warns=True)


def claims_table(
    title: str,
    claims: Sequence[ClaimEvidence],
    top: int = TOP,
    arcs: Collection[tuple[str, str]] = (),
) -> Table:
    """Show the first ``top`` claims with their tests, one row each."""
    columns: dict[str, Style] = {"pair": "text", "when": "text", "given": "text"}
    columns |= {"rows": "text", "p": "p", "effect": "text", "could show": "mean"}
    has_regions = any(claim.region for claim in claims)
    if not has_regions:
        del columns["when"]
    rows = (
        (
            _pair_text(claim, arcs),
            *([name(in_words(claim.region), 48) or "always"] if has_regions else ()),
            name(", ".join(map(quoted, claim.given)), 32),
            f"{claim.rows:,}",
            claim.p,
            _effect(claim),
            claim.could_show,
        )
        for claim in claims[:top]
    )
    more = f" ({top:,} of {len(claims):,})" if len(claims) > top else ""
    return table(f"{title}{more}", columns, rows, "checked claims")


def _pair_text(claim: ClaimEvidence, arcs: Collection[tuple[str, str]]) -> str:
    """Write a pair, with an arrow if the claim is one of the arcs."""
    first, second = (name(quoted(variable), 24) for variable in claim.pair)
    if claim.dependent and claim.pair in arcs:
        return f"{first} → {second}"
    if claim.dependent and claim.pair[::-1] in arcs:
        return f"{second} → {first}"
    return f"{first}–{second}"


def _effect(claim: ClaimEvidence) -> str:
    differs = f", differs by {claim.context}" if claim.context else ""
    return f"{claim.effect or '–'}{differs}"
