"""Analyse rows: read, learn, test every claim, and measure what the page of an analysis shows.

`analyse` decides what each pair of variables is, and **where learner and rows disagree, it follows
the rows**: an independence that the rows contradict is an association, and an association that the
rows do not show is none. The structure, its verdicts and p-values come from two parts of the rows:
one that the learner saw, one held out. Shares, strengths and their intervals are from all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any, Literal

import numpy as np

from contextwise.analysis import pair_rows
from contextwise.analysis.groups_of_rows import GroupsOfColumns, for_groups, grouped, groups
from contextwise.analysis.pair_rows import Standardised, Strata, Stratum, WithInterval
from contextwise.analysis.resampling import Repeats
from contextwise.comparison.question import Pair
from contextwise.counting.extraction import CoverSource
from contextwise.data.columns import DataSummary
from contextwise.data.options import row_options
from contextwise.data.rows import Data, DataLike, as_advised, split_rows
from contextwise.errors import DomainError, OpenResult, TooLargeError
from contextwise.evidence.model_check import check
from contextwise.evidence.verdicts import ROWS_PER_GROUP, judge
from contextwise.independence.claims import group_rows
from contextwise.learning import DEFAULT_LEARNER
from contextwise.learning.base import as_learner
from contextwise.models.domain import Domain
from contextwise.models.evidence import (
    CONTRADICTED,
    NOT_CONTRADICTED,
    SUPPORTED,
    UNTESTABLE,
    USED,
    ClaimEvidence,
    Evidence,
)
from contextwise.models.features import rows_in
from contextwise.models.notation import Literal as NamedLiteral
from contextwise.models.structure import Model, Structure, structure_of
from contextwise.support.arrays import BoolArray
from contextwise.support.effort import Deadline, Effort, Progress
from contextwise.support.formatting import listed, plural

__all__ = ["Analysis", "analyse"]

FEWEST_TO_SPLIT = 500
"""From this many rows on, a third of them is held out."""
HELD_OUT = 1 / 3
HALVES_SECONDS = 30.0
FEWEST_HALVES, FEWEST_SECONDS = 20, 90.0
"""After `HALVES_SECONDS` there are at least so many halves, unless they take longer than this."""
MOST_VARIABLES = 200
"""More variables need a choice of the user."""
FEWEST_ROWS = 10
MOST_ADJUSTED = 80
"""Pairs whose strength with the others held fixed is computed, those with findings first."""
SHOWN = (SUPPORTED, CONTRADICTED)
"""The verdicts that show an association."""

Kind = Literal["associated", "left out", "not shown", "untested", "none", "skipped"]
"""The kind of a pair by the rows: associated, also where the learner left it out; not shown or
untested, although the learner has an association; no association claimed and none shown; or
skipped, because no claim about the pair was tested."""
Region = tuple[NamedLiteral, ...]


@dataclass(frozen=True, eq=False)
class PairFinding:
    """The result about one pair."""

    pair: Pair
    kind: Kind
    claims: tuple[ClaimEvidence, ...]
    inside: BoolArray | None  # the distinct rows in which the pair is associated; None for all
    holds: float  # the share of the rows in them
    given: tuple[str, ...]  # held fixed: neighbours of both, the most important first
    crude: WithInterval | None  # Cramér's V without and with the others held fixed
    adjusted: WithInterval | None = None
    only_where: Region = ()  # the region in which the pair is associated, or
    not_where: Region = ()  # the one in which it is not, if one region says it
    elsewhere: WithInterval | None = None  # the strength in the other rows
    held_out: bool = False  # the tests were on a part of the rows

    @property
    def associated(self) -> bool:
        """True if the page counts the pair as associated."""
        return self.kind in ("associated", "left out")

    @property
    def noted(self) -> bool:
        """True if the model or the rows have an association."""
        return self.kind not in ("none", "skipped")

    @property
    def undecided(self) -> bool:
        """True if there are claims about the pair, and none could be tested."""
        return bool(self.claims) and all(c.verdict == UNTESTABLE for c in self.claims)

    @property
    def partly(self) -> bool:
        """True if the association holds in a part of the rows only."""
        return self.associated and self.holds < 1

    @property
    def limit_is_open(self) -> bool:
        """True unless the tests and all rows show that the association ends where it is said to.

        No claim about the other rows is open, and there the strength is clearly lower.
        """
        is_open = bool({c.verdict for c in self.claims} - {*SHOWN, NOT_CONTRADICTED, USED})
        inside, elsewhere = self.adjusted, self.elsewhere
        is_lower = inside is not None and elsewhere is not None and elsewhere.high < inside.low
        return self.partly and (is_open or not is_lower)

    @property
    def wider(self) -> bool:
        """True if the rows show the association in contexts in which the learner has none."""
        return self.kind == "associated" and any(c.verdict == CONTRADICTED for c in self.claims)

    @property
    def disagrees(self) -> bool:
        """True if learner and rows disagree about the pair."""
        return self.kind in ("left out", "not shown") or self.wider

    @property
    def in_all_rows(self) -> bool:
        """True if the tests show no association, but the strength in all rows is above 0."""
        is_clear = self.adjusted is not None and self.adjusted.low > 0
        return self.held_out and is_clear and self.kind in ("none", "not shown", "untested")

    @property
    def differs(self) -> bool:
        """True if the odds ratio clearly differs between groups of rows."""
        return any(c.effect is not None and c.effect.differs for c in self.claims)

    @property
    def strength(self) -> float:
        """Cramér's V with the others held fixed, or crude if that is not known."""
        known = self.adjusted or self.crude
        return known.value if known else 0.0


@dataclass(frozen=True, eq=False)
class CardPart:
    """The rows behind one claim about a pair: groups of two-state variables, or shares."""

    claim: ClaimEvidence
    groups: Strata | None
    shares: Standardised | None
    hidden: bool = False  # all shares would reveal too few rows


@dataclass(frozen=True, eq=False)
class Card:
    """Everything about one pair: its finding, and the rows behind each of its claims."""

    finding: PairFinding
    by: str  # the variable whose states are compared
    of: str  # the variable whose shares are shown
    parts: tuple[CardPart, ...]
    whole: Standardised | None  # over all rows where the pair is associated
    apart: tuple[NamedLiteral, Standardised] | None = None  # the group where shares differ most

    @property
    def groups(self) -> list[Stratum]:
        """The groups of rows of all parts."""
        return [g for part in self.parts if part.groups for g in part.groups.groups]


@dataclass(frozen=True, eq=False)
class Analysis:
    """The result of `analyse`: the model with its evidence, and the findings about each pair."""

    title: str
    data: Data  #: all rows
    model: Structure  #: the structure that was tested, with its evidence
    evidence: Evidence
    learner: str  #: empty if the model was not learned
    held_out: int  #: rows of the tests that the learner did not see; 0 if all rows serve both
    findings: tuple[PairFinding, ...]  #: one per pair, in the order of the domain
    given: bool = False  #: the model was not learned here, but given
    seed: int = 0
    outcome: str | None = None
    smallest_count: int = 0
    halves: Repeats | None = None  #: structures learned from random halves
    summary: DataSummary | None = None  #: the columns of the file
    found_counts: str | None = None  #: the column of counts, if the user did not name it
    groups: GroupsOfColumns | None = None  #: whether associations are the same in all groups
    unfinished: tuple[str, ...] = ()  #: what Ctrl-C or the time limit left out

    @property
    def domain(self) -> Domain:
        """The variables."""
        return self.data.domain

    @property
    def rows_read(self) -> int:
        """The number of rows of the file."""
        return self.summary.rows if self.summary else len(self.data)

    @property
    def maker(self) -> str:
        """The author of the claims: a learner, or a given model."""
        return "learner" if self.learner else "model"

    @cached_property
    def ranked(self) -> list[PairFinding]:
        """The findings in the order of interest.

        The outcome first, then associations before pairs that the tests do not show; among them
        contexts, then disagreements, then strong ones.
        """
        return sorted(
            self.findings,
            key=lambda f: (
                not self.is_about_outcome(f),
                not f.associated,
                not f.noted,
                not f.partly,
                not f.disagrees,
                -f.strength,
            ),
        )

    def is_about_outcome(self, finding: PairFinding) -> bool:
        """Check whether a pair has the outcome; true for every pair if there is none."""
        return self.outcome is None or self.outcome in finding.pair

    def finding(self, first: str, second: str) -> PairFinding:
        """Return the finding about a pair, in either order."""
        wanted = {first, second}
        return next(f for f in self.findings if set(f.pair) == wanted)

    def card(self, finding: PairFinding) -> Card:
        """Return the rows behind a pair: one part for each claim about it."""
        data, given, least = self.data, finding.given, self.smallest_count
        by, of = self._directions(finding.pair)
        two_states = all(data.domain.cardinalities[data.domain.position(v)] == 2 for v in (by, of))
        whole = pair_rows.standardised(data, by, of, given, finding.inside, least=least)
        first = whole.gap.high if whole and whole.gap else ""
        parts = []
        for claim in sorted(finding.claims, key=lambda c: c.verdict not in SHOWN):
            inside = pair_rows.rows_where(data, claim.region) if claim.region else None
            groups = shares = None
            if two_states:
                groups = pair_rows.two_state_groups(
                    data, by, of, given, inside, first=first, least=least
                )
            else:
                shares = pair_rows.standardised(data, by, of, given, inside, least=least)
            hidden = bool(least) and groups is None and shares is None
            if hidden:
                hidden = pair_rows.standardised(data, by, of, given, inside) is not None
            parts.append(CardPart(claim, groups, shares, hidden))
        apart, is_clear = None, bool(whole and whole.gap and whole.gap.points.low > 0)
        if whole and not is_clear and finding.adjusted and finding.adjusted.low > 0:
            apart = self._clearest_group(finding, by, of)
        return Card(finding, by, of, tuple(parts), whole, apart)

    def _clearest_group(
        self, finding: PairFinding, by: str, of: str
    ) -> tuple[NamedLiteral, Standardised] | None:
        """Return the state of a variable held fixed with the clearest gap of crude shares."""
        data, found, most = self.data, None, 0.0
        for name in finding.given:
            for state in self.domain.states[self.domain.position(name)]:
                where = NamedLiteral(name, (state,))
                inside = pair_rows.rows_where(data, [where])
                if finding.inside is not None:
                    inside &= finding.inside
                least = self.smallest_count
                shares = pair_rows.standardised(data, by, of, (), inside, least=least)
                if shares and shares.gap and shares.gap.points.low > most:
                    found, most = (where, shares), shares.gap.points.low
        return found

    def _directions(self, pair: Pair) -> Pair:
        """Return the variable that groups, and the one whose share is shown.

        That is the outcome, else the one with fewer states, else the later one.
        """
        first, second = pair
        sizes = [self.domain.cardinalities[self.domain.position(name)] for name in pair]
        swap = first == self.outcome or (second != self.outcome and sizes[0] < sizes[1])
        return (second, first) if swap else (first, second)


# -- findings --------------------------------------------------------------------------------------


def findings_of(data: Data, model: Structure, evidence: Evidence) -> list[PairFinding]:
    """Decide what each pair is, and measure its strength."""
    names = data.domain.names
    crude = pair_rows.crude_strengths(data)
    values = {frozenset(pair): each.value for pair, each in crude.items() if each}
    covers = CoverSource(model.features)
    claims: dict[Pair, tuple[ClaimEvidence, ...]] = {}
    kinds: dict[Pair, Kind] = {}
    near: dict[str, set[str]] = {name: set() for name in names}
    for pair in crude:
        about = evidence.about(*pair)
        claims[pair] = tuple(c for c in about if c.claim != "d-separated")
        kinds[pair] = _kind(claims[pair])
        if kinds[pair] not in ("none", "skipped"):
            near[pair[0]].add(pair[1])
            near[pair[1]].add(pair[0])

    def closeness(name: str, pair: Pair) -> float:
        return min(values.get(frozenset((name, end)), 0.0) for end in pair)

    findings, held_out = [], evidence.count < len(data)
    for pair, kind in kinds.items():
        inside = _associated_rows(data, covers, pair, claims[pair])
        held = {r.variable for c in claims[pair] for r in c.region} | near[pair[0]] | near[pair[1]]
        ranked = sorted(held - set(pair), key=lambda v: (-closeness(v, pair), names.index(v)))
        given = _held_fixed(data, ranked)
        finding = PairFinding(
            pair, kind, claims[pair], None, 1.0, given, crude[pair], held_out=held_out
        )
        if not inside.all():
            holds = float(data.weights[inside].sum() / len(data))
            finding = replace(finding, holds=holds)
            if finding.associated:
                only, but = _regions(data, claims[pair], inside)
                finding = replace(finding, inside=inside, only_where=only, not_where=but)
        findings.append(finding)
    order = sorted(findings, key=lambda f: (not f.noted, -values.get(frozenset(f.pair), 0.0)))
    wanted = {f.pair for f in order[:MOST_ADJUSTED]}
    return [_adjusted(data, f) if f.pair in wanted else f for f in findings]


def _held_fixed(data: Data, given: list[str]) -> tuple[str, ...]:
    """Return the first variables, as many as leave enough rows per group."""
    places = [data.domain.position(name) for name in given]
    for count in range(len(given), 0, -1):
        groups = int(group_rows(data.rows, places[:count]).max(initial=0)) + 1
        if len(data) >= ROWS_PER_GROUP * groups:
            return tuple(given[:count])
    return ()


def _kind(claims: Iterable[ClaimEvidence]) -> Kind:
    verdicts = {c.verdict for c in claims}
    of_dependence = {c.verdict for c in claims if c.dependent}
    if not verdicts:
        return "skipped"
    if SUPPORTED in verdicts:
        return "associated"
    if CONTRADICTED in verdicts:
        return "left out"
    if not of_dependence:
        return "none"
    return "untested" if of_dependence == {UNTESTABLE} else "not shown"


def _associated_rows(
    data: Data, covers: CoverSource, pair: Pair, claims: Iterable[ClaimEvidence]
) -> BoolArray:
    """Mask the distinct rows in which the pair is associated: by the model, but rows overrule it.

    If a region is supported or contradicted, regions whose dependence is not shown do not count.
    """
    inside = np.zeros(len(data.rows), dtype=bool)
    for cube in covers.cubes(0, data.domain.pair(pair)):
        inside |= rows_in(data.rows, tuple(cube))
    shown = [c for c in claims if c.verdict in SHOWN]
    for claim in claims if shown else ():
        if claim.dependent and claim not in shown:
            inside &= ~pair_rows.rows_where(data, claim.region)
    for claim in shown:
        inside |= pair_rows.rows_where(data, claim.region)
    return inside


def _regions(
    data: Data, claims: Iterable[ClaimEvidence], inside: BoolArray
) -> tuple[Region, Region]:
    """Return the region that is the rows inside, or the one outside; rather one without "not"."""
    for claim in sorted(claims, key=lambda c: (any(r.negated for r in c.region), not c.dependent)):
        within = pair_rows.rows_where(data, claim.region)
        if np.array_equal(within, inside):
            return claim.region, ()
        if np.array_equal(within, ~inside):
            return (), claim.region
    return (), ()


def _adjusted(data: Data, finding: PairFinding) -> PairFinding:
    """Measure the strength with as much held fixed as leaves groups that carry information.

    If that hides an association that a test shows, hold fixed what the test held fixed.
    """
    given = finding.given
    value = pair_rows.strength(data, finding.pair, given, finding.inside)
    while value is None and given:
        given = given[:-1]
        value = pair_rows.strength(data, finding.pair, given, finding.inside)
    shown = [c for c in finding.claims if c.verdict in SHOWN]
    if shown and value is not None and value.low == 0:
        tested = min(shown, key=lambda c: c.p or 0.0).given
        again = pair_rows.strength(data, finding.pair, tested, finding.inside)
        if again is not None and again.low > 0:
            given, value = tested, again
    elsewhere = None
    if finding.inside is not None:
        elsewhere = pair_rows.strength(data, finding.pair, given, ~finding.inside)
    return replace(finding, adjusted=value, given=given, elsewhere=elsewhere)


# -- the analysis ----------------------------------------------------------------------------------


def analyse(
    rows: DataLike,
    *,
    learner: Any = None,
    outcome: str | None = None,
    by: str | Sequence[str] = (),
    holdout: float | None = None,
    resamples: int = 100,
    level: float = 0.05,
    smallest_count: int = 0,
    seed: int = 0,
    time_limit: float | None = None,
    show_progress: bool | Progress = False,
    **reading: Any,
) -> Analysis:
    """Analyse rows: which variables are associated, where, how strongly, and how surely.

    Parameters
    ----------
    rows : path, name of a data set, DataFrame, array, or list of rows
        Columns that need a decision are read as `summarize_data` advises; the result lists the
        decisions.
    learner : Learner, class or name; the default learner if None
    outcome : the variable of most interest; pairs with it come first
    by : column of groups, or several: is each association the same in all groups?
    holdout : share of the rows that only the tests see
        By default a third from 500 rows on, else 0: then all rows serve both.
    resamples : most random halves to learn from again, for 30 seconds, or 90 if fewer than 20
    level : false discovery rate within each kind of claim
    smallest_count : hide what reveals groups of fewer rows on the page: counts and shares of states
        and of groups, also in sentences. Strengths, tests and ``data`` itself keep all rows.
    seed : of the split and the halves
    time_limit : seconds for everything
    show_progress : bool, or a function of (done, total)
    **reading : how to read the rows, as in `read_data`

    Returns
    -------
    Analysis

    Examples
    --------
    >>> result = analyse("titanic", resamples=0)
    >>> result.finding("age", "sex").pair
    ('sex', 'age')
    """
    if not 0 <= (holdout or 0) < 1:
        raise DomainError(f"holdout must be >= 0 and < 1, got {holdout}")
    effort = Effort.of(time_limit, show_progress=show_progress)
    chosen = row_options(**reading)
    columns = [by] if isinstance(by, str) else list(by)
    chosen = for_groups(chosen, columns)
    data, options, summary = as_advised(rows, chosen)
    if outcome is not None and outcome == options.subject:
        raise DomainError(f"outcome and subject are the same column: {outcome!r}")
    _check(data, outcome)
    for column in columns:  # refuse bad groups before anything is learned
        grouped(data, column)
    train, test = split(data, holdout, seed)
    configured = as_learner(DEFAULT_LEARNER if learner is None else learner)
    configured.fit(train, time_limit=effort.deadline.left(), show_progress=effort.show_progress)
    structure = configured.structure_
    unfinished = [] if configured.finished_ else ["the learner had not finished"]
    evidence = _judged(structure, data, test, configured, level, effort)
    if evidence.unfinished:
        late = evidence.unfinished + evidence.pairs_left_out
        unfinished.append(f"{plural(late, 'pair')} not tested")
    halves = None
    if resamples and not unfinished:
        halves, finished = _halves(data, configured, evidence, resamples, seed, effort)
        if not finished:
            unfinished.append(f"{halves.count} of at most {resamples} random halves learned")
    compared = None
    if columns and not unfinished:
        left = effort.deadline.left()
        how: dict[str, Any] = {"seed": seed, "time_limit": left, "show_progress": show_progress}
        with suppress(OpenResult, KeyboardInterrupt):
            compared = groups(data, columns, configured, **how)
    if columns and compared is None:
        unfinished.append(f"the groups of {listed(columns)} not compared")
    return Analysis(
        title=Path(rows).name if isinstance(rows, str | Path) else "the rows",
        data=data,
        model=structure.with_evidence(evidence),
        evidence=evidence,
        learner=configured.name,
        held_out=0 if test is None else len(test),
        seed=seed,
        outcome=outcome,
        smallest_count=smallest_count,
        findings=tuple(findings_of(data, structure, evidence)),
        halves=halves if halves and halves.count else None,
        summary=summary,
        found_counts=options.counts if chosen.counts is None else None,
        groups=compared,
        unfinished=tuple(unfinished),
    )


def _judged(
    structure: Structure, data: Data, test: Data | None, learner: Any, level: float, effort: Effort
) -> Evidence:
    """Test all claims on the rows held out, or on all; none after Ctrl-C."""
    rows, seen = (data, True) if test is None else (test, False)
    how: dict[str, Any] = {"level": level, "seen_by_learner": seen}
    how["used_by_learner"] = seen and getattr(learner, "decides_by_test", False)
    try:
        return judge(structure, rows, deadline=effort.deadline, **how)
    except KeyboardInterrupt:
        return judge(structure, rows, deadline=Deadline.after(0.0), **how)


def analysis_of(model: Model, data: Data, title: str, effort: Effort) -> Analysis:
    """Return the analysis of a model that is known already, by some rows."""
    structure = structure_of(model)
    evidence = structure.evidence
    if evidence is None or evidence.fingerprint != data.fingerprint:
        evidence = check(structure, data, time_limit=effort.deadline.left()).evidence
    few = len(structure.domain) <= MOST_VARIABLES
    late = plural(evidence.unfinished, "pair")
    return Analysis(
        title=title,
        data=data,
        model=structure.with_evidence(evidence),
        evidence=evidence,
        learner=structure.origin.learner,
        held_out=0 if evidence.seen_by_learner else evidence.count,
        given=True,
        findings=tuple(findings_of(data, structure, evidence)) if few else (),
        unfinished=(f"{late} not tested",) if evidence.unfinished else (),
    )


def _check(data: Data, outcome: str | None) -> None:
    """Raise if the rows cannot be analysed."""
    varying = [
        name
        for name, counts in zip(data.domain.names, data.counts(), strict=True)
        if (counts > 0).sum() > 1
    ]
    if outcome is not None:
        data.domain.position(outcome)
    if len(data) < FEWEST_ROWS:
        raise DomainError(
            f"{plural(len(data), 'row')}: too few to show any association; "
            f"an analysis needs at least {FEWEST_ROWS}"
        )
    if len(varying) < 2:
        constant = [name for name in data.domain.names if name not in varying]
        same = f" ({', '.join(constant[:5])} never vary)" if constant else ""
        if dropped := data.decisions.get("dropped"):
            same += f" (left out: {', '.join(map(str, dropped[:5]))})"
        raise DomainError(
            f"{plural(len(varying), 'usable column')}{same}; an analysis needs two columns that "
            "vary: look at them with contextwise info"
        )
    if len(data.domain) > MOST_VARIABLES:
        raise TooLargeError(
            f"{len(data.domain)} columns; an analysis takes at most {MOST_VARIABLES}: choose some "
            "with --columns A,B,..., or learn a model with contextwise learn"
        )


def split(data: Data, holdout: float | None, seed: int) -> tuple[Data, Data | None]:
    """Split the rows at random, by people where they are counted, and by whole subjects.

    >>> from contextwise.data import read_data
    >>> train, test = split(read_data("titanic"), None, 0)
    >>> len(train), len(test)
    (1467, 734)
    """
    if holdout is None:
        holdout = HELD_OUT if len(data) >= FEWEST_TO_SPLIT else 0.0
    if not holdout:
        return data, None
    test, train = split_rows(data, holdout, seed)
    if not len(test) or not len(train):
        raise DomainError(f"holdout={holdout:g} leaves one part of the {len(data)} rows empty")
    return train, test


def _halves(
    data: Data, learner: Any, evidence: Evidence, resamples: int, seed: int, effort: Effort
) -> tuple[Repeats, bool]:
    """Learn from random halves, and count the claims found again; False if there was no time."""
    found, start = Repeats(data.domain, evidence.claims), monotonic()
    with effort.showing("halves") as shown:
        try:
            while found.count < resamples:
                seconds = HALVES_SECONDS if found.count >= FEWEST_HALVES else FEWEST_SECONDS
                if found.count and monotonic() > start + seconds:
                    break
                half, _ = split_rows(data, 0.5, [seed, 1, found.count])
                learner.fit(half, time_limit=effort.deadline.left())
                if not learner.finished_:
                    return found, False
                found.add(learner.structure_)
                shown.report(found.count, resamples)
        except KeyboardInterrupt:
            return found, False
    return found, True
