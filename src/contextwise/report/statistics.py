"""Stability and checks on data as parts to show.

`stability_parts` and `check_parts` have every word; a terminal, the page and notebooks show them,
and so does ``print`` of a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from contextwise.models.notation import between, in_words, quoted
from contextwise.report.parts import (
    Column,
    Measure,
    Measures,
    Note,
    Part,
    Table,
)
from contextwise.report.pictures import supports_picture
from contextwise.support.formatting import name, percent, plural

if TYPE_CHECKING:
    from contextwise.evaluation.check import Check, CheckedClaim
    from contextwise.evaluation.conditional_test import ConditionalTest
    from contextwise.evaluation.consensus import Consensus
    from contextwise.evaluation.stability import PairSupport, Stability

TOP = 10
"""How many pairs or claims of a kind are shown where nothing else is said."""
# -- stability -----------------------------------------------------------------------------------


def stability_parts(
    found: Stability, *, top: int = TOP, consensus: Consensus | None = None
) -> list[Part]:
    """What resamples agree on: instability, the support of claims, a heat map of supports.

    Parameters
    ----------
    found : structures from resamples
    top : how many pairs
    consensus : of the resamples, where it was looked for

    Returns
    -------
    list of parts
    """
    supports = found.supports()
    claimed = [one for one in supports if one.learned]
    parts: list[Part] = [Note("finding", _resamples(found)), _instability(found, consensus)]
    parts += _claims(found, top)
    weak = [one for one in reversed(claimed) if 2 * one.resamples < one.of]
    missed = [one for one in supports if not one.learned and 2 * one.resamples >= one.of]
    parts += _listed("Learned from all rows, but in fewer than half of the resamples", weak, top)
    parts += _listed("Not learned from all rows, but in half of the resamples or more", missed, top)
    if found.failed:
        failed = f"{plural(len(found.failed), 'resample')} failed: {found.failed[0]}"
        parts.append(Note("failed", failed, warns=True))
    return [*parts, supports_picture(found)] if len(found.domain) > 1 else parts


def _resamples(found: Stability) -> str:
    part = "half" if found.share == 0.5 else f"{100 * found.share:g} %"
    drawn = f"{part} of the {found.rows:,} rows"
    if found.how == "bootstrap":
        drawn = f"{found.rows:,} rows with replacement"
    differ = percent(Fraction(found.instability), 1)
    return (
        f"{plural(found.resamples, 'resample')} of {drawn}. "
        f"Two of them differ in {differ} of all assertions on average."
    )


def _instability(found: Stability, consensus: Consensus | None) -> Measures:
    measures = [
        Measure(
            "instability",
            "instability",
            found.instability,
            "rate",
            "The share of assertions in which two resamples differ: the mean of 2θ(1 - θ).",
        ),
        Measure(
            "medoid_distance",
            f"medoid ({plural(len(found.medoid), 'feature')}), mean distance to resamples",
            found.medoid_distance,
            "rate",
            "How far the most typical of the resamples is from all of them on average.",
        ),
        Measure(
            "least_distance",
            "no structure has less than",
            found.least_distance,
            "rate",
            "No structure at all can be nearer to the resamples than this.",
        ),
    ]
    if consensus is not None:
        features = plural(len(consensus.structure), "feature")
        measure = Measure(
            "consensus_distance",
            f"consensus ({features}), mean distance to resamples",
            consensus.mean_distance,
            "rate",
            "How far the structure that the resamples agree on is from them on average.",
        )
        measures.insert(2, measure)
    return Measures((tuple(measures),))


def _claims(found: Stability, top: int) -> list[Part]:
    """The claims of dependence about the best supported pairs, one row each."""
    rows = tuple((str(region),) for region in found.top_regions(top) if region.dependent)
    title = "What the structure of all rows claims, and how many resamples agree"
    return [Table(title, (Column("", "words"),), rows, "claims")] if rows else []


def _listed(what: str, supports: Sequence[PairSupport], top: int) -> list[Part]:
    if not supports:
        return []
    shown = ", ".join(
        f"{between(one.pair)} ({one.resamples} of {one.of})" for one in supports[:top]
    )
    more = f" and {len(supports) - top:,} more" if len(supports) > top else ""
    return [Note("supports", f"{what}: {shown}{more}.")]


# -- checks on data ------------------------------------------------------------------------------

MEANING = (
    "A contradiction says that the claims around one of the two variables fail there. The "
    "missing dependence may lie between one of them and something that leads to the other; "
    "what is small given both blankets, too, is more likely to be about the pair itself."
)
COLUMNS = (
    "Rows are grouped by the states of the variables next to one of the pair in the model, its "
    "blanket; a row speaks if both variables of the pair vary in its group. Bits: how much one "
    "tells about the other, per such row, beyond what chance does. Both p are before the "
    "correction for all claims, and what the rows contradict or show is decided after it."
)
ROWS_MUST = (
    "The rows must be independent of each other, and not those that the model was learned from."
)


def check_parts(found: Check, *, top: int = TOP) -> list[Part]:
    """What rows say about the claims of a structure, and where they cannot speak.

    Parameters
    ----------
    found : claims that were put to rows
    top : how many claims of each kind

    Returns
    -------
    list of parts
    """
    head = f"{plural(found.rows, 'row')}, {plural(found.pairs, 'pair')}. {ROWS_MUST}"
    parts: list[Part] = [Note("rows", head), *_independencies(found, top)]
    if any(claim.dependent for claim in found.claims):
        parts += _dependencies(found, top)
    if any(isinstance(part, Table) for part in parts):
        parts.append(Note("columns", COLUMNS))
    if found.undecided:
        text = (
            f"{plural(len(found.undecided), 'claim')} not decided: too few tables were drawn "
            "for so many claims; allow more draws."
        )
        parts.append(Note("undecided", text, warns=True))
    if found.left_out:
        left_out = f"{plural(found.left_out, 'region')} with fewer rows not tested."
        parts.append(Note("left out", left_out))
    return parts


def _independencies(found: Check, top: int) -> Iterator[Part]:
    claims = [c for c in found.claims if not c.dependent]
    silent = sum(not c.speaks for c in claims)
    against = found.contradicted
    text = (
        f"Independence claimed in {plural(len(claims), 'region')}: "
        f"{len(against):,} contradicted by the rows, {len(claims) - silent - len(against):,} not, "
        f"{silent:,} where the rows cannot speak (false discovery rate {found.alpha:g})."
    )
    yield Note("finding", text)
    if against and top:
        yield claims_table("Contradicted by the rows, the clearest first", against, top)
    if against:
        yield Note("meaning", MEANING)


def _dependencies(found: Check, top: int) -> Iterator[Part]:
    claims = [c for c in found.claims if c.dependent]
    silent = sum(not c.speaks for c in claims)
    shown = len(found.shown)
    text = (
        f"Dependence claimed in {plural(len(claims), 'region')}: {shown:,} seen in the rows, "
        f"{len(claims) - silent - shown:,} not seen (which is no proof against them), "
        f"{silent:,} where the rows cannot speak."
    )
    yield Note("finding", text)
    unseen = [claim for claim in found.of(True) if claim.adjusted > found.alpha]
    if unseen and top:
        most = sorted(unseen, key=lambda claim: -claim.test.rows)
        yield claims_table("Not seen, those about which most rows speak first", most, top)


def claims_table(title: str, claims: Sequence[CheckedClaim], top: int = TOP) -> Table:
    """Claims with their tests, one row each.

    Parameters
    ----------
    title : what they have in common
    claims : in the order in which they are shown
    top : how many

    Returns
    -------
    Table
    """
    columns = (
        Column("pair", "words"),
        Column("when", "words"),
        Column("rows that speak", "words"),
        Column("bits", "bits"),
        Column("p", "words"),
        Column("p given both blankets", "words"),
    )
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
        return "silent"
    return f"{'≤' if test.draws and not test.clear else ''}{test.p_value:.2g}"
