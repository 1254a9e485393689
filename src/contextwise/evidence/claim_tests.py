"""Test the claims of a structure on rows: `judge_claims` returns the verdict on each.

A graph of arcs claims one thing per pair: an arc is a dependence given the
other parents of its child, a missing one a d-separation. For any other structure, a claim about all
contexts is the question that `RowTests` answers for the pair: are both variables
associated given all others? So a claim has the p-value that the pair has, whoever made the claim. A
claim about a region is tested on the rows of the region, a d-separation given the parents that
separate. The p-values are corrected within each kind of claim (Benjamini and Yekutieli).

With more than `MOST_PAIRS` pairs those with the strongest association are tested, and a random
sample of the others; the evidence counts those left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from contextwise.counting.extraction import covered_pairs
from contextwise.data.rows import Data, DataLike, as_data, following
from contextwise.errors import ContextwiseError, DomainError
from contextwise.evidence.independence_test import check_level
from contextwise.evidence.pair_records import Interaction, PairEvidence, PairsTested
from contextwise.evidence.pair_verdicts import STRONG
from contextwise.evidence.row_tests import RowTests
from contextwise.evidence.variable_fits import associations
from contextwise.independence.claims import REGIONS, ClaimLister, arc_claims, separations
from contextwise.independence.separation import has_whole_tables
from contextwise.models.evidence import (
    CONTRADICTED,
    NOT_CONTRADICTED,
    NOT_SUPPORTED,
    SUPPORTED,
    UNTESTABLE,
    USED,
    ClaimEvidence,
    Effect,
    Evidence,
)
from contextwise.models.features import PairIndex, rows_in
from contextwise.models.notation import quoted
from contextwise.models.pair_regions import KINDS, Claim
from contextwise.models.structure import Structure
from contextwise.support.effort import NEVER, QUIET, Deadline, Effort
from contextwise.support.machine import one_thread
from contextwise.support.statistics import benjamini_yekutieli

MOST_PAIRS = 60 * 59 // 2
"""Pairs up to which all are tested."""
STRONGEST, SAMPLE = 150, 50
"""Above that: pairs of each kind with the strongest association, and drawn claims of independence.
"""
MOST_REGIONS = 200
"""Above that: regions to test, those with most rows."""
MOST_PLACES = 200
"""Questions up to which contradicted associations are compared between groups."""
NOT_ON_AVERAGE = "associated, not on average"


def judge_claims(
    structure: Structure,
    data: DataLike,
    *,
    level: float = 0.05,
    seen_by_learner: bool = False,
    used_by_learner: bool = False,
    deadline: Deadline | None = None,
    pairs: Iterable[Sequence[int]] | None = None,
    regions: int = REGIONS,
    dependencies: bool = True,
    known: PairsTested | None = None,
    effort: Effort = QUIET,
) -> Evidence:
    """Test the claims of a structure on rows.

    Parameters
    ----------
    structure : Structure
    data : Data, or anything that `contextwise.read_data` reads
    level : the false discovery rate within each kind of claim
    seen_by_learner : whether the structure was learned from these rows
    used_by_learner : whether its learner decided by a test on these rows
    deadline : pairs that are not tested by then are counted in ``unfinished``
    pairs : only these pairs of positions
    regions : regions of each kind to test per pair, those with most contexts
    dependencies : whether to test claims of dependence, too
    known : tests of the pairs on the same rows, if they were made already

    Examples
    --------
    The structure has A and B independent where C=0. In the rows they are equal there, too.

    >>> structure = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> for claim in judge_claims(structure, rows).claims[:2]:
    ...     print(f"{claim.sentence}: {claim.verdict}")
    A–B are independent when C=0: contradicted
    A–B depend when C=1: supported
    """
    check_level(level)
    if structure.weaker_than is not None:
        raise ContextwiseError(
            f"this model claims that pairs are weaker than {structure.weaker_than:g}, not that "
            "they are independent, so rows cannot contradict it; read it without a tolerance"
        )
    data = as_data(data, structure.domain, following(structure))
    if not len(data):
        raise DomainError("there are no rows, so there is nothing to check")
    tester = _ClaimTests(structure, data, known, deadline or NEVER, effort)
    with one_thread():
        chosen = tester.chosen(pairs)
        found = tester.collect(chosen, regions, dependencies)
        claims = tuple(_decided(found, level, used_by_learner))
        if is_plain_graph(structure):
            claims = tester.located(claims, level)
    return Evidence(
        claims=claims,
        features=structure.fingerprint,
        fingerprint=data.fingerprint,
        count=len(data),
        seen_by_learner=seen_by_learner,
        level=level,
        reading=dict(data.decisions),
        subject=None if data.subjects is None else data.decisions.get("subject", "subject"),
        regions_left_out=tester.regions_left_out,
        pairs_left_out=tester.pairs_left_out,
        unfinished=len(chosen) - tester.pairs_done,
    )


def is_plain_graph(structure: Structure) -> bool:
    """Check for a graph of arcs that was given, not learned here, and has no contexts."""
    directions = structure.directions
    if directions is None or structure.origin.learned is not None:
        return False
    return has_whole_tables(structure.features, directions.scopes())


class _ClaimTests:
    """List the claims about pairs, and test them as long as time allows."""

    def __init__(
        self,
        structure: Structure,
        data: Data,
        known: PairsTested | None,
        deadline: Deadline,
        effort: Effort,
    ) -> None:
        self.structure, self.data, self.deadline = structure, data, deadline
        self.domain, self.effort = structure.domain, effort
        self.lister = ClaimLister(structure)
        self.tests, self.known = RowTests(data), known
        self.pairs_done = self.regions_left_out = self.pairs_left_out = 0

    def chosen(self, pairs: Iterable[Sequence[int]] | None) -> list[PairIndex]:
        """Return the pairs to test: those asked for, all, or a sample of many."""
        if pairs is not None:
            return [(int(i), int(j)) for i, j in pairs]
        cards = self.domain.cardinalities
        every = list(combinations([v for v, states in enumerate(cards) if states > 1], 2))
        if len(every) <= MOST_PAIRS:
            return every
        rows, names = self.tests.rows, self.domain.names
        place = {name: k for k, name in enumerate(rows.names)}
        strengths = np.array([associations(rows, v) for v in range(len(place))])

        def strength(pair: PairIndex) -> float:
            """Return the strength of a pair; a constant has none."""
            i, j = (place.get(names[v]) for v in pair)
            return 0.0 if i is None or j is None else float(strengths[i, j])

        ranked = sorted(every, key=lambda pair: -strength(pair))
        covered = set(map(tuple, covered_pairs(self.structure.features).tolist()))
        free = [pair for pair in ranked if pair not in covered]
        drawn = np.random.default_rng(0).permutation(len(free[STRONGEST:]))[:SAMPLE]
        kept = [pair for pair in ranked if pair in covered][:STRONGEST]
        kept += free[:STRONGEST] + [free[STRONGEST + k] for k in drawn.tolist()]
        self.pairs_left_out = len(every) - len(kept)
        return sorted(kept)

    def collect(
        self, pairs: Sequence[PairIndex], regions: int, dependencies: bool
    ) -> list[ClaimEvidence]:
        """Return the claims with their tests, without verdicts."""
        found: list[ClaimEvidence] = []
        directions = self.structure.directions
        try:
            if directions is not None and is_plain_graph(self.structure):
                claims = separations(self.structure, pairs)
                claims += arc_claims(self.structure, pairs) if dependencies else []
                with self.effort.showing("claims") as shown:
                    for number, claim in enumerate(claims):
                        self.deadline.check()
                        found.append(self._tested(claim))
                        shown.report(number + 1, len(claims))
                self.pairs_done = len(pairs)
                return found
            listed = [(p, self._kept(p, regions, dependencies)) for p in pairs]
            if self.pairs_left_out:
                listed = self._largest(listed)
            whole = [pair for pair, claims in listed if any(not c.region for c in claims)]
            self._test_whole(whole)
            with self.effort.showing("claims") as shown:
                for _, claims in listed:
                    found += [self._tested(claim) for claim in claims]
                    self.pairs_done += 1
                    self.deadline.check()
                    shown.report(self.pairs_done, len(pairs))
            if directions is not None:
                for claim in separations(self.structure, pairs):
                    self.deadline.check()
                    found.append(self._tested(claim))
        except self.deadline.out_of_time:
            pass
        return found

    def _kept(self, pair: PairIndex, regions: int, dependencies: bool) -> list[Claim]:
        """Return the claims about a pair in the regions with most contexts, of each kind."""
        claims = self.lister.tested(pair, regions, self.deadline)
        kept = [*claims.independent, *(claims.dependent if dependencies else ())]
        every = claims.unlisted.values() if dependencies else [claims.unlisted["independent"]]
        self.regions_left_out += sum(every)
        return kept

    def _largest(
        self, listed: Sequence[tuple[PairIndex, list[Claim]]]
    ) -> list[tuple[PairIndex, list[Claim]]]:
        """Keep the regions of all pairs that have most rows."""
        regions = [claim for _, claims in listed for claim in claims if claim.region]
        regions.sort(key=lambda claim: -self._rows(claim))
        out = {id(claim) for claim in regions[MOST_REGIONS:]}
        self.regions_left_out += len(out)
        return [(pair, [c for c in claims if id(c) not in out]) for pair, claims in listed]

    def _rows(self, claim: Claim) -> int:
        inside = rows_in(self.data.rows, self.domain.indexed(claim.region))
        return int(self.data.weights[inside].sum())

    def _test_whole(self, pairs: Sequence[PairIndex]) -> None:
        """Test pairs given all others at once, unless that was done."""
        if self.known is None and pairs:
            names = self.domain.names
            within = replace(self.effort, deadline=self.deadline)
            asked = [(names[i], names[j]) for i, j in pairs]
            self.known = self.tests.pairs(pairs=asked, effects=False, effort=within)
            if self.known.unfinished:
                self.deadline.check()

    def _tested(self, claim: Claim) -> ClaimEvidence:
        """Test a claim; only one about all contexts without a given set was tested before."""
        pair, held = claim.pair, claim.given if self._has_given(claim) else None
        tested: PairEvidence | None
        if claim.region or held is not None:
            tested = self.tests.given(pair, held, claim.region, effects=False)
        else:
            tested = None if self.known is None else self.known.about(*pair)
        numbers = _numbers(tested, self._constant(*pair))
        if held is not None:
            numbers["given"] = held  # constant ones, too
        return ClaimEvidence(
            pair,
            claim.region,
            claim.size,
            claim=claim.claim,
            verdict=UNTESTABLE,
            rows=self._rows(claim),
            **numbers,
        )

    def _has_given(self, claim: Claim) -> bool:
        """Check for a claim of a graph of arcs: it says what to hold fixed, even if nothing."""
        return claim.claim == "d-separated" or is_plain_graph(self.structure)

    def located(self, claims: tuple[ClaimEvidence, ...], level: float) -> tuple[ClaimEvidence, ...]:
        """Name the variable between whose states a contradicted association differs most."""
        places = [
            (k, by)
            for k, claim in enumerate(claims)
            if claim.verdict == CONTRADICTED and not claim.context
            for by in claim.given
            if by in self.tests.rows.names
        ]
        found: dict[int, list[Interaction]] = {}
        for k, by in places if len(places) <= MOST_PLACES else ():
            if self.deadline.left() == 0:
                break
            held = [name for name in claims[k].given if name != by]
            tested = self.tests.same(claims[k].pair, by, held, effects=False)
            if tested.p is not None and tested.p * len(places) <= level:
                found.setdefault(k, []).append(tested)
        clearest = {k: min(some, key=lambda each: each.p or 0.0).by for k, some in found.items()}
        return tuple(
            replace(claim, context=clearest[k]) if k in clearest else claim
            for k, claim in enumerate(claims)
        )

    def _constant(self, *names: str) -> str:
        """Return the reason why a pair has no test in all rows."""
        constant = [name for name in names if name not in self.tests.rows.names]
        return f"{quoted(constant[0])} has one value in the rows" if constant else ""


def _numbers(tested: PairEvidence | None, reason: str) -> dict[str, Any]:
    """Return the fields of a claim that its test determines."""
    if tested is None:
        return {"given": (), "reason": reason}
    effect = None
    if tested.v is not None:
        low, high = (tested.v if end is None else end for end in (tested.v_low, tested.v_high))
        effect = Effect("V", tested.v, low, high)
    return {
        "given": tested.given,
        "p": tested.p,
        "method": tested.method,
        "freedom": tested.freedom,
        "effect": effect,
        "could_show": tested.could_show,
        "context": tested.context if tested.verdict == NOT_ON_AVERAGE else "",
        "reason": reason or ("" if tested.p is not None else tested.reason),
    }


def _decided(claims: Sequence[ClaimEvidence], level: float, used: bool) -> Iterator[ClaimEvidence]:
    """Correct the p-values within each kind, and decide the verdicts; keep the order."""
    adjusted: dict[int, float] = {}
    for kind in KINDS:
        members = [k for k, c in enumerate(claims) if c.claim == kind and c.p is not None]
        if members:
            corrected = benjamini_yekutieli([claims[k].p or 0.0 for k in members])
            adjusted |= dict(zip(members, corrected, strict=True))
    for k, claim in enumerate(claims):
        p = adjusted.get(k)
        verdict, reason = UNTESTABLE, claim.reason
        if p is not None and p <= level:
            verdict = SUPPORTED if claim.dependent else CONTRADICTED
        elif p is not None and (claim.could_show or 0.0) > STRONG:
            reason = "only a strong association would show"
        elif p is not None:
            verdict = NOT_SUPPORTED if claim.dependent else USED if used else NOT_CONTRADICTED
        is_open = verdict in (SUPPORTED, CONTRADICTED, UNTESTABLE)
        could_show = None if is_open else claim.could_show
        yield replace(claim, adjusted=p, verdict=verdict, reason=reason, could_show=could_show)
