"""`Evidence`: what rows say about each claim of a model.

`contextwise.evidence.claim_tests.judge_claims` makes it, JSON files keep it, and everything that
shows a claim shows it too. It belongs to the features that were tested: `Structure.evidence`
returns it only while the fingerprint of the features is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any, Literal

from contextwise.models.notation import Literal as NamedLiteral
from contextwise.models.notation import quoted
from contextwise.models.pair_regions import KINDS, Claim, Kind
from contextwise.support.formatting import Printed, listed, plural
from contextwise.support.words import between, p_is, p_text, ratio, strength

CONTRADICTED, NOT_CONTRADICTED = "contradicted", "not contradicted"
SUPPORTED, NOT_SUPPORTED = "supported", "not supported"
UNTESTABLE, USED = "could not be tested", "used by the learner"
VERDICTS = (CONTRADICTED, NOT_CONTRADICTED, SUPPORTED, NOT_SUPPORTED, UNTESTABLE, USED)

CORRECTION = "benjamini-yekutieli"


@dataclass(frozen=True)
class Effect:
    """The size of an association with its 95 % interval: an odds ratio, or partial Cramér's V."""

    measure: Literal["odds ratio", "V"]
    value: float  # an odds ratio can be 0 or infinite
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """False if the rows leave every value open."""
        return not (self.low == 0 and self.high == inf)

    @property
    def number(self) -> str:
        """The value alone: ``1.9``, or ``above 27`` at a zero cell, where an odds ratio is inf."""
        if self.measure == "V":
            return strength(self.value)
        if self.value == inf:
            return f"above {ratio(self.low)}"
        return f"below {ratio(self.high)}" if self.value == 0 else ratio(self.value)

    @property
    def text(self) -> str:
        """The value with its interval: ``1.9 (1.6 to 2.3)``."""
        if not self.is_known:
            return "unknown"
        if self.measure == "odds ratio" and self.value in (0, inf):
            return self.number
        written = strength if self.measure == "V" else ratio
        return f"{self.number} ({between(self.low, self.high, written)})"

    def __str__(self) -> str:
        return f"{self.measure} {self.text}"


@dataclass(frozen=True, kw_only=True)
class ClaimEvidence(Claim):
    """A claim of a model, the test of it, and the verdict; ``given`` is what the test held fixed.

    >>> tested = ClaimEvidence(("A", "B"), claim="independent", verdict=CONTRADICTED, rows=80,
    ...     p=2e-10, adjusted=2e-10, effect=Effect("V", 0.7, 0.5, 0.8))
    >>> f"{tested.sentence}: {tested.verdict}, {tested.finding}"
    'A–B are independent in every context: contradicted, p < 0.001, V 0.70 (0.50 to 0.80)'
    """

    verdict: str  # one of `VERDICTS`
    rows: int  # in the region
    freedom: int = 0  # degrees of freedom
    p: float | None = None  # None if no row carries information
    adjusted: float | None = None  # corrected among all tested claims of this kind
    method: str = ""  # "chi-square", "draws", "permutations" or "clusters"
    effect: Effect | None = None
    could_show: float | None = None  # the partial V that the test finds with probability 0.8
    reason: str = ""  # why the claim could not be tested
    context: str = ""  # the variable by whose states the association differs, if only that shows it

    @property
    def finding(self) -> str:
        """The result of the test: ``"p < 0.001, V 0.19 (0.16 to 0.23)"``.

        If p is not significant, the corrected p follows it: ``"p = 0.02 (0.13 corrected), V 0.1"``.
        """
        if self.p is None:
            return self.reason
        p = p_is(self.p)
        if self.verdict not in (CONTRADICTED, SUPPORTED) and p != p_is(self.adjusted):
            p += f" ({p_text(self.adjusted)} corrected)"
        differs = f"differs by {self.context}" if self.context else ""
        return ", ".join([p, *map(str, filter(None, (self.effect, differs, self.reason)))])

    def record(self) -> dict[str, Any]:
        """Return the claim and its test as one flat mapping, for tables and files."""
        effect = self.effect
        return {
            "first": self.pair[0],
            "second": self.pair[1],
            "claim": self.claim,
            "when": self.when,
            "verdict": self.verdict,
            "given": ", ".join(map(quoted, self.given)),
            "rows": self.rows,
            **{key: getattr(self, key) for key in ("freedom", "p", "adjusted", "method")},
            "effect": effect and effect.measure,
            **{key: effect and getattr(effect, key) for key in ("value", "low", "high")},
            "could_show": self.could_show,
            "reason": self.reason,
            "context": self.context,
        }


@dataclass(frozen=True, repr=False)
class Evidence(Printed):
    """The verdicts of some rows about the claims of one model."""

    claims: tuple[ClaimEvidence, ...]
    features: str  # fingerprint of the structure that was tested
    fingerprint: str  # of the rows
    count: int  # number of rows
    seen_by_learner: bool = False  # the structure was learned from these rows
    level: float = 0.05
    correction: str = CORRECTION
    reading: Mapping[str, Any] = field(default_factory=dict)  # how the rows were read
    subject: str | None = None  # the column that says which rows belong together
    regions_left_out: int = 0  # regions with fewer rows than the tested ones
    pairs_left_out: int = 0  # pairs that were not in the sample
    unfinished: int = 0  # pairs that the time limit left out

    def __repr__(self) -> str:
        return f"Evidence({len(self.claims)} claims, {len(self.contradicted)} contradicted)"

    @cached_property
    def _of_pair(self) -> dict[tuple[str, str], list[ClaimEvidence]]:
        found: dict[tuple[str, str], list[ClaimEvidence]] = {}
        for claim in self.claims:
            found.setdefault(_in_order(claim.pair), []).append(claim)
        return found

    def about(self, first: str, second: str) -> list[ClaimEvidence]:
        """Return the claims about a pair, in either order."""
        return self._of_pair.get(_in_order((first, second)), [])

    def find(
        self, pair: tuple[str, str], claim: Kind, region: Sequence[NamedLiteral] = ()
    ) -> ClaimEvidence | None:
        """Return what the rows say about one claim, if it was tested."""
        for tested in self.about(*pair):
            if tested.claim == claim and set(tested.region) == set(region):
                return tested
        return None

    def of(self, claim: Kind) -> list[ClaimEvidence]:
        """Return the claims of one kind, smallest p first."""
        chosen = [c for c in self.claims if c.claim == claim]
        return sorted(chosen, key=lambda c: (2.0 if c.p is None else c.p, -_size_of(c)))

    def with_verdict(self, verdict: str) -> list[ClaimEvidence]:
        """Return the claims with one verdict, smallest p first."""
        return [c for kind in KINDS for c in self.of(kind) if c.verdict == verdict]

    @property
    def contradicted(self) -> list[ClaimEvidence]:
        """The claims of independence that the rows contradict, smallest p first."""
        return self.with_verdict(CONTRADICTED)

    @property
    def rows_text(self) -> str:
        """The rows in words: ``The 200 rows``, and whether the learner saw them."""
        seen = " that the learner saw" if self.seen_by_learner else ""
        return f"The {plural(self.count, 'row')}{seen}"

    def records(self) -> list[dict[str, Any]]:
        """Return every claim as a flat mapping."""
        return [claim.record() for claim in self.claims]

    def record(self) -> dict[str, Any]:
        """Return what is common to all claims as one flat mapping."""
        return {
            "rows": self.count,
            "seen_by_learner": self.seen_by_learner,
            "subject": self.subject,
            "level": self.level,
            "correction": self.correction,
        }

    @property
    def summary(self) -> str:
        """The verdicts in one or two sentences."""
        parts = [
            _counted(self.of("independent"), "independence", CONTRADICTED, "contradict"),
            _counted(self.of("d-separated"), "d-separation", CONTRADICTED, "contradict"),
            _counted(self.of("dependent"), "dependence", SUPPORTED, "support"),
        ]
        untestable = len(self.with_verdict(UNTESTABLE))
        if any(parts):
            text = f"{self.rows_text} {listed([part for part in parts if part])}."
            text += f" {plural(untestable, 'claim')} could not be tested." if untestable else ""
            used = len(self.with_verdict(USED))
            text += f" The learner decided {plural(used, 'claim')} by this test." if used else ""
        elif untestable:
            text = f"{self.rows_text} cannot test any of {plural(untestable, 'claim')}."
        else:
            text = "" if self.unfinished else "There are no claims to test."
        if self.unfinished:
            late = plural(self.unfinished, "pair")
            text = f"{text} The time limit ended the check: {late} not tested.".lstrip()
        return text


def _size_of(claim: ClaimEvidence) -> float:
    return claim.effect.value if claim.effect else 0.0


def _counted(claims: Iterable[ClaimEvidence], noun: str, verdict: str, verb: str) -> str:
    tested = [c for c in claims if c.verdict != UNTESTABLE]
    if not tested:
        return ""
    count = sum(c.verdict == verdict for c in tested)
    if len(tested) == 1:
        return f"{verb} the claim of {noun}" if count else f"do not {verb} the claim of {noun}"
    return f"{verb} {count or 'none'} of {plural(len(tested), 'claim')} of {noun}"


def _in_order(pair: tuple[str, str]) -> tuple[str, str]:
    first, second = sorted(pair)
    return first, second
