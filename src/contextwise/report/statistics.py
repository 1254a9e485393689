"""Parts that show the stability of a learner, and checks of claims against data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from contextwise.models.notation import between, in_words, quoted
from contextwise.report.parts import Column, Measure, Measures, Note, Part, Table
from contextwise.report.pictures import supports_picture
from contextwise.support.formatting import name, percent, plural

if TYPE_CHECKING:
    from contextwise.evaluation.check import Check, CheckedClaim
    from contextwise.evaluation.conditional_test import ConditionalTest
    from contextwise.evaluation.consensus import Consensus
    from contextwise.evaluation.stability import PairSupport, Stability

TOP = 10
"""Default number of pairs or claims of a kind to show."""


# -- stability -------------------------------------------------------------------------------------


def stability_parts(
    stability: Stability, *, top: int = TOP, consensus: Consensus | None = None
) -> list[Part]:
    """Show what resamples agree on: the verdict, instability, support of claims, a heat map."""
    supports = stability.supports()
    learned = [support for support in supports if support.learned]
    weak = [support for support in reversed(learned) if 2 * support.resamples < support.of]
    missed = [s for s in supports if not s.learned and 2 * s.resamples >= s.of]
    claims = tuple((str(region),) for region in stability.top_regions(top) if region.dependent)
    title = "Claims of the structure of all rows, and how many resamples agree"
    parts: list[Part] = [
        Note("finding", f"{stability.verdict} {_resamples(stability)}"),
        _instability(stability, consensus),
        *([Table(title, (Column("", "words"),), claims, "claims")] if claims else []),
        *_listed("Learned from all rows, but from fewer than half of the resamples", weak, top),
        *_listed("Not learned from all rows, but from half of the resamples or more", missed, top),
    ]
    if stability.failed:
        failed = f"{plural(len(stability.failed), 'resample')} failed: {stability.failed[0]}"
        parts.append(Note("failed", failed, warns=True))
    return [*parts, supports_picture(stability)] if len(stability.domain) > 1 else parts


def _resamples(stability: Stability) -> str:
    share = "half" if stability.share == 0.5 else f"{100 * stability.share:g} %"
    drawn = f"{share} of the {stability.rows:,} rows"
    if stability.how == "bootstrap":
        drawn = f"{stability.rows:,} rows with replacement"
    differ = percent(Fraction(stability.instability), 1)
    return (
        f"{plural(stability.resamples, 'resample')} of {drawn}; two of them differ in {differ} of "
        "all assertions on average."
    )


def _instability(stability: Stability, consensus: Consensus | None) -> Measures:
    rows = [
        (
            "instability",
            "instability",
            stability.instability,
            "Share of assertions in which two resamples differ: the mean of 2θ(1 - θ).",
        ),
        (
            "medoid_distance",
            f"medoid ({plural(len(stability.medoid), 'feature')}), mean normalized distance",
            stability.medoid_distance,
            "Mean normalized distance of the most typical resample to all resamples.",
        ),
        (
            "least_distance",
            "lower bound of that mean for any structure",
            stability.least_distance,
            "No structure at all has a smaller mean normalized distance to the resamples.",
        ),
    ]
    if consensus is not None:
        features = plural(len(consensus.structure), "feature")
        label = f"consensus ({features}), mean normalized distance"
        meaning = "Mean normalized distance of the consensus to the resamples."
        rows.insert(2, ("consensus_distance", label, consensus.mean_distance, meaning))
    measures = (Measure(key, label, value, "rate", text) for key, label, value, text in rows)
    return Measures((tuple(measures),))


def _listed(title: str, supports: Sequence[PairSupport], top: int) -> list[Part]:
    if not supports:
        return []
    shown = ", ".join(f"{between(s.pair)} ({s.resamples} of {s.of})" for s in supports[:top])
    more = f" and {len(supports) - top:,} more" if len(supports) > top else ""
    return [Note("supports", f"{title}: {shown}{more}.")]


# -- checks on data --------------------------------------------------------------------------------

MEANING = (
    "A contradiction means that a dependence is missing near this pair: between the two "
    "variables, or between one of them and a variable connected to the other. If p given both "
    "blankets is small as well, it is more likely to be between the two."
)
COLUMNS = (
    "The test groups the rows by the states of the blanket of one of the two variables: its "
    "neighbours in the model. It uses the rows of groups in which both variables vary. Bits: how "
    "much one variable tells about the other per such row, beyond chance. Both p-values are "
    "uncorrected; the decisions use corrected ones."
)
ROWS_MUST = (
    "The rows must be independent observations, and not those that the model was learned from."
)


def check_parts(check: Check, *, top: int = TOP) -> list[Part]:
    """Show which claims of a structure rows contradict, confirm, or cannot test."""
    head = f"{plural(check.rows, 'row')}, {plural(check.pairs, 'pair')}. {ROWS_MUST}"
    parts: list[Part] = [Note("verdict", check.verdict), Note("rows", head)]
    if check.overall is not None:
        simulated = plural(len(check.overall.simulated), "simulated data set")
        how = "" if check.overall.exact else " Gibbs sampling drew them, which is not exact."
        text = "Overall test: the sum of -log p over all claims of independence, compared with "
        parts.append(Note("overall", f"{text}{simulated}.{how}"))
    parts += _independencies(check, top)
    if any(claim.dependent for claim in check.claims):
        parts += _dependencies(check, top)
    if any(isinstance(part, Table) for part in parts):
        parts.append(Note("columns", COLUMNS))
    if check.undecided:
        text = (
            f"{plural(len(check.undecided), 'claim')} not decided: too few tables were drawn; "
            "allow more draws."
        )
        parts.append(Note("undecided", text, warns=True))
    if check.left_out:
        left_out = f"{plural(check.left_out, 'region')} with fewer rows not tested."
        parts.append(Note("left out", left_out))
    if check.unfinished:
        late = f"{plural(check.unfinished, 'pair')} not tested within the time limit."
        parts.append(Note("unfinished", late, warns=True))
    return parts


def _independencies(check: Check, top: int) -> Iterator[Part]:
    claims = [c for c in check.claims if not c.dependent]
    untestable = sum(not c.is_testable for c in claims)
    against = check.contradicted
    text = (
        f"Claims of independence: {len(claims):,}. The rows contradict {len(against):,}, do not "
        f"contradict {len(claims) - untestable - len(against):,}, and cannot test {untestable:,} "
        f"(false discovery rate {check.alpha:g})."
    )
    yield Note("finding", text)
    if against and top:
        yield claims_table("Contradicted by the rows, clearest first", against, top)
    if against:
        yield Note("meaning", MEANING)


def _dependencies(check: Check, top: int) -> Iterator[Part]:
    claims = [c for c in check.claims if c.dependent]
    untestable = sum(not c.is_testable for c in claims)
    shown = len(check.shown)
    text = (
        f"Claims of dependence: {len(claims):,}. The rows confirm {shown:,}, do not confirm "
        f"{len(claims) - untestable - shown:,} (which does not refute them), and cannot test "
        f"{untestable:,}."
    )
    yield Note("finding", text)
    unseen = [claim for claim in check.of(True) if claim.adjusted > check.alpha]
    if unseen and top:
        most = sorted(unseen, key=lambda claim: -claim.test.rows)
        yield claims_table("Not confirmed, most rows first", most, top)


def claims_table(title: str, claims: Sequence[CheckedClaim], top: int = TOP) -> Table:
    """Show the first ``top`` claims with their tests, one row each."""
    titles = ("pair", "when", "rows used", "bits", "p", "p given both blankets")
    columns = tuple(Column(title, "bits" if title == "bits" else "words") for title in titles)
    rows = tuple(
        (
            "–".join(name(quoted(v), 24) for v in claim.pair),
            name(in_words(claim.literals), 48) or "always",
            f"{claim.test.rows:,} of {claim.rows:,}",
            claim.test.bits,
            _p_value(claim.test),
            _p_value(claim.both),
        )
        for claim in claims[:top]
    )
    more = f" ({top:,} of {len(claims):,})" if len(claims) > top else ""
    return Table(f"{title}{more}", columns, rows, "checked claims")


def _p_value(test: ConditionalTest) -> str:
    if not test.rows:
        return "–"
    return f"{'≤' if test.draws and not test.clear else ''}{test.p_value:.2g}"
