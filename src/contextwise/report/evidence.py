"""Show what rows say about the claims of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from contextwise.models.evidence import (
    CONTRADICTED,
    NOT_CONTRADICTED,
    NOT_SUPPORTED,
    UNTESTABLE,
    ClaimEvidence,
    Evidence,
)
from contextwise.models.notation import in_words, quoted
from contextwise.report.parts import TOP, Note, Part, Style, Table, makes_parts, table
from contextwise.support.formatting import name, plural

if TYPE_CHECKING:
    from contextwise.evaluation.check import Check

MEANING = (
    "A contradicted independence means that a dependence is missing near this pair: between the "
    "two variables, or between one of them and a variable connected to the other."
)
COLUMNS = (
    "The test is Pearson's X² within groups of rows with equal states of the variables in the "
    "column 'given': the neighbours of both variables in the model, or (marked *) of one of them "
    "where both leave too few rows per group. Rows used: those in groups where both variables "
    "vary. Effect: the odds ratio, or Cramér's V, with its 95 % interval. Could show: the effect "
    "that this test finds with probability 0.8. p is not corrected; the verdicts use corrected "
    "values."
)
SEEN = (
    "The model was learned from these rows, so they agree with it more than other rows would. "
    "Check it against rows that the learner did not see."
)
UNSEEN = "The rows must be independent observations, and not those that the model was learned from."


@makes_parts("evaluation.check", "Check")
def check_parts(check: Check, *, top: int = TOP) -> list[Part]:
    """Show the verdict, the claims that rows contradict, and what else they could have shown."""
    parts: list[Part] = [Note("verdict", check.verdict)]
    if check.overall is not None:
        simulated = plural(len(check.overall.simulated), "simulated data set")
        how = "" if check.overall.exact else " Gibbs sampling drew them, which is not exact."
        text = "Overall test: the sum of -log p over all claims of independence, compared with "
        parts.append(Note("overall", f"{text}{simulated}.{how}"))
    return [*parts, *evidence_parts(check.evidence, top=top)]


def evidence_parts(evidence: Evidence, *, top: int = TOP) -> list[Part]:
    """Show the rows, tables of the claims by verdict, and what was left out."""
    about = f"{plural(evidence.count, 'row')}. {SEEN if evidence.seen_by_learner else UNSEEN}"
    parts: list[Part] = [Note("rows", about, warns=evidence.seen_by_learner)]
    tables = [
        claims_table(title, evidence.with_verdict(verdict), top)
        for title, verdict in (
            ("Contradicted by the rows, clearest first", CONTRADICTED),
            ("Dependences without support, smallest p first", NOT_SUPPORTED),
            ("Independencies not contradicted, smallest p first", NOT_CONTRADICTED),
        )
        if top and evidence.with_verdict(verdict)
    ]
    parts += tables
    if evidence.contradicted:
        parts.append(Note("meaning", MEANING))
    if tables:
        parts.append(Note("columns", COLUMNS))
    return [*parts, *_left_out(evidence)]


def _left_out(evidence: Evidence) -> Iterator[Part]:
    reasons = Counter(claim.reason for claim in evidence.with_verdict(UNTESTABLE))
    if reasons:
        listed = "; ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common(4))
        more = "" if len(reasons) <= 4 else "; …"
        yield Note("untestable", f"Could not be tested: {listed}{more}.")
    if evidence.regions_left_out:
        left_out = plural(evidence.regions_left_out, "region")
        yield Note("left out", f"{left_out} not tested: the pair has others with more rows.")
    if evidence.pairs_left_out:
        left_out = plural(evidence.pairs_left_out, "pair")
        text = f"{left_out} that the model claims to be independent not tested: of so many pairs, "
        yield Note("sample", f"{text}those with the strongest association and a sample are.")
    if evidence.unfinished:
        late = f"{plural(evidence.unfinished, 'pair')} not tested within the time limit."
        yield Note("unfinished", late, warns=True)


def claims_table(title: str, claims: Sequence[ClaimEvidence], top: int = TOP) -> Table:
    """Show the first ``top`` claims with their tests, one row each."""
    columns: dict[str, Style] = {"pair": "text", "when": "text", "given": "text"}
    columns |= {"rows used": "text", "p": "text", "effect": "text", "could show": "text"}
    rows = (
        (
            "–".join(name(quoted(v), 24) for v in claim.pair),
            name(in_words(claim.region), 48) or "always",
            name(", ".join(map(quoted, claim.given)), 32) + ("*" if claim.smaller_blanket else ""),
            f"{claim.informative:,} of {claim.rows:,}",
            "–" if claim.p is None else f"{claim.p:.2g}",
            str(claim.effect or "–"),
            "–" if claim.could_show is None else f"{claim.could_show:.2g}",
        )
        for claim in claims[:top]
    )
    more = f" ({top:,} of {len(claims):,})" if len(claims) > top else ""
    return table(f"{title}{more}", columns, rows, "checked claims")
