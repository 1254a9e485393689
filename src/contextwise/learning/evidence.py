"""Judge the claims of a model by rows: `judge` tests every claim and returns `Evidence`.

The test is Pearson's X² within groups of rows (`contextwise.learning.independence_test`). The
groups are by the states of both variables' blankets in the region of the claim; if that leaves
fewer than `ROWS_PER_GROUP` rows per group, by the smaller blanket. The p-values are corrected
within each kind of claim (Benjamini and Yekutieli), because many certain dependences would make
the threshold of true independencies too loose.

A claim **could not be tested** if no row carries information, if no table with these margins has a
p-value small enough, or if only a strong association (Cramér's V above 0.3) would be found with
probability 0.8.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import exp, inf, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from contextwise.counting.extraction import covered_pairs
from contextwise.data.rows import as_data, following
from contextwise.errors import ContextwiseError, DomainError
from contextwise.independence.claims import (
    Claim,
    ClaimSource,
    group_rows,
    rows_in,
    separations,
)
from contextwise.learning import exact_tail
from contextwise.learning.counted_rows import CountedRows
from contextwise.learning.effect_size import DIFFERS, common_odds_ratios, cramers_v
from contextwise.learning.independence_test import check_level, evaluate_tables
from contextwise.learning.subject_test import subject_test
from contextwise.models.domain import Domain
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
from contextwise.models.structure import Model, Structure, structure_of
from contextwise.support.arrays import BoolArray, FloatArray, IntArray
from contextwise.support.effort import NEVER, Deadline

REGIONS = 3
"""Regions of each kind to test per pair, those with most rows."""
ROWS_PER_GROUP = 5
"""Rows per group below which the groups are by the smaller blanket."""
MOST_PAIRS = 4_000
"""Pairs up to which all are tested."""
STRONGEST = 500
"""Above that: pairs claimed independent with the strongest marginal association to test."""
SAMPLE = 500
"""Above that: other pairs claimed independent, drawn at random."""
SCREENED = 2_000
"""Rows that rank pairs by their marginal association."""
FEW = 1_000
"""Rows up to which every p-value of sparse tables is exact."""
FAR = 3.0
"""With more rows, p-values of sparse tables this many times above the level need not be exact."""
CERTAIN = 0.05
"""Nor those below this share of the level, if the dense tables alone are below it."""
WEAK = 0.1
"""Cramér's V that dense tables could show, from which on sparse ones are asked exactly."""


def judge(
    model: Model,
    data: Any,
    *,
    level: float = 0.05,
    seen_by_learner: bool = False,
    used_by_learner: bool = False,
    subject: Any = None,
    deadline: Deadline | None = None,
    pairs: Iterable[Sequence[int]] | None = None,
    regions: int = REGIONS,
    dependencies: bool = True,
) -> Evidence:
    """Test the claims of a model on rows and return the verdicts.

    Parameters
    ----------
    model : Structure or LogLinear; only its structure matters
    data : Data, or anything that `contextwise.read_data` reads
    level : the false discovery rate within each kind of claim
    seen_by_learner : whether the model was learned from these rows
    used_by_learner : whether its learner decided by this test on these rows
    subject : one number or label per row; rows with equal ones are of one subject
    deadline : pairs that are not tested by then are counted in ``unfinished``
    pairs : only these pairs of positions; all, or a sample of many, by default
    regions : regions of each kind to test per pair
    dependencies : whether to test claims of dependence, too

    Examples
    --------
    The structure has A and B independent where C=0. In the rows they are equal there, too.

    >>> structure = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> evidence = judge(structure, rows)
    >>> for claim in evidence.claims[:2]:
    ...     print(f"{claim.sentence}: {claim.verdict}, {claim.finding}")
    A–B are independent when C=0: contradicted, p = 2.7e-10, odds ratio above 49
    A–B depend when C=1: supported, p = 2.7e-10, odds ratio above 49
    """
    structure = structure_of(model)
    check_level(level)
    if structure.weaker_than is not None:
        raise ContextwiseError(
            f"this model claims that pairs are weaker than {structure.weaker_than:g}, not that "
            "they are independent, so rows cannot contradict it; read it without a tolerance"
        )
    rows = as_data(data, structure.domain, following(structure))
    if not len(rows):
        raise DomainError("there are no rows, so there is nothing to check")
    subjects = rows.subjects if subject is None else np.unique(subject, return_inverse=True)[1]
    if subjects is not None and len(subjects) != len(rows.rows):
        raise DomainError(f"{len(subjects):,} subjects for {len(rows.rows):,} rows; pass one each")
    table = CountedRows.of(rows)
    if subjects is not None:  # equal rows of different subjects stay apart
        table = CountedRows(rows.rows, rows.weights, rows.domain.cardinalities)
    chosen, left_out = _chosen_pairs(structure, table, pairs)
    judged = _Judged(structure, table, deadline or NEVER, regions, dependencies, subjects)
    judged.collect(chosen)
    judged.test()
    claims = judged.decided(level, used_by_learner)
    return Evidence(
        claims=tuple(claims),
        features=structure.fingerprint,
        fingerprint=rows.fingerprint,
        count=len(rows),
        seen_by_learner=seen_by_learner,
        level=level,
        reading=dict(rows.decisions),
        subject=None if subjects is None else rows.decisions.get("subject", "subject"),
        regions_left_out=judged.regions_left_out,
        pairs_left_out=left_out,
        unfinished=len(chosen) - judged.pairs_done,
    )


# -- which claims ----------------------------------------------------------------------------------


def _chosen_pairs(
    structure: Structure, table: CountedRows, pairs: Iterable[Sequence[int]] | None
) -> tuple[IntArray, int]:
    """Return the pairs to test, and the number of those that are left out."""
    if pairs is not None:
        return np.array([tuple(pair) for pair in pairs], dtype=np.int64).reshape(-1, 2), 0
    n = len(structure.domain)
    everything = np.stack(np.triu_indices(n, 1), axis=1)
    if len(everything) <= MOST_PAIRS:
        return everything, 0
    dependent = np.zeros((n, n), dtype=bool)
    covered = covered_pairs(structure.features)
    dependent[covered[:, 0], covered[:, 1]] = dependent[covered[:, 1], covered[:, 0]] = True
    strength = _marginal_strengths(table)[everything[:, 0], everything[:, 1]]
    is_dependent = dependent[everything[:, 0], everything[:, 1]]
    free = np.flatnonzero(~is_dependent)
    order = free[np.argsort(-strength[free], kind="stable")]
    rest = np.random.default_rng(0).permutation(order[STRONGEST:])[:SAMPLE]
    used = np.flatnonzero(is_dependent)
    used = used[np.argsort(-strength[used], kind="stable")][:MOST_PAIRS]
    kept = np.sort(np.concatenate([used, order[:STRONGEST], rest]))
    return everything[kept], len(everything) - len(kept)


def _marginal_strengths(table: CountedRows) -> FloatArray:
    """Return X² over its scale for each pair of variables, on some of the rows."""
    chosen = np.arange(len(table.rows))
    if len(chosen) > SCREENED:
        chosen = np.random.default_rng(0).choice(chosen, SCREENED, replace=False)
    rows, counts = table.rows[chosen], table.counts[chosen].astype(np.float32)
    sizes = np.array(table.cardinalities)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    hot = np.zeros((len(rows), starts[-1]), dtype=np.float32)
    hot[np.arange(len(rows))[:, None], starts[:-1] + rows] = 1.0
    joint = hot.T @ (hot * counts[:, None])
    margin = np.maximum(np.diag(joint), 1e-9)
    squares = joint**2 / margin[:, None] / margin
    sums = np.add.reduceat(np.add.reduceat(squares, starts[:-1], axis=0), starts[:-1], axis=1)
    least = np.minimum(sizes[:, None], sizes) - 1
    return np.asarray((sums - 1) / np.maximum(least, 1))


# -- testing ---------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """A claim, its groups, and where its test is: the shape of its tables and its number there."""

    claim: Claim
    given: tuple[int, ...]
    smaller: bool
    rows: int
    groups: int
    shape: tuple[int, int]
    number: int


@dataclass(eq=False)
class _Shape:
    """The tables of all claims about variables with these numbers of states, and their tests."""

    tables: list[FloatArray] = field(default_factory=list)

    def test(self, shape: tuple[int, int]) -> None:
        """Test all claims at once."""
        counts = [len(each) for each in self.tables]
        self.count = len(counts)
        owners = np.repeat(np.arange(self.count), counts)
        tables = np.concatenate(self.tables) if self.tables else np.zeros((0, *shape))
        tests = evaluate_tables(tables)
        usable = tests.variance > 1e-12
        tables, owners = tables[usable], owners[usable]
        self.all, self.owners = tables, owners
        self.starts = np.searchsorted(owners, np.arange(self.count + 1))
        self.dense = exact_tail.is_dense(tables)
        states = [(tables.sum(axis=axis) > 0).sum(axis=1) for axis in (2, 1)]
        n = tables.sum(axis=(1, 2))

        def total(values: FloatArray | IntArray | BoolArray) -> FloatArray:
            return np.asarray(np.bincount(owners, values, minlength=self.count), dtype=np.float64)

        self.part_mean, self.part_variance = tests.mean[usable], tests.variance[usable]
        self.statistic = total(np.maximum(tests.statistic[usable], 0.0))
        self.mean, self.variance = total(self.part_mean), total(self.part_variance)
        self.rows, self.groups = total(n), total(np.ones(len(n)))
        self.freedom = total((states[0] - 1) * (states[1] - 1))
        self.scale = total(n * (np.minimum(*states) - 1))
        self.sparse = total(~self.dense) > 0
        self.smallest = np.exp(total(np.log(np.maximum(exact_tail.smallest_p(tables), 1e-300))))
        self.p = exact_tail.gamma_tail(self.statistic, self.mean, self.variance)
        of_dense = [
            total(np.where(self.dense, part, 0.0))
            for part in (tests.statistic[usable], self.part_mean, self.part_variance)
        ]
        self.p_dense = exact_tail.gamma_tail(*of_dense)
        self.bits = (total(_g_squared(tables)) - self.mean) / np.maximum(self.rows, 1)
        self.bits /= 2 * log(2)
        self.value, self.low, self.high = cramers_v(self.statistic, self.mean, self.scale)
        self.ratios = common_odds_ratios(tables, owners, self.count) if shape == (2, 2) else None

    def needs_exact(self, k: int, level: float) -> bool:
        """Return whether the tables are sparse, and the gamma tail does not settle the verdict."""
        if not self.sparse[k]:
            return False
        settled = self.p[k] > FAR * level or max(self.p[k], self.p_dense[k]) < CERTAIN * level
        return bool(not settled or self.rows[k] <= FEW)

    def exact_p(self, k: int, rng: np.random.Generator) -> tuple[float, str]:
        """Return the p-value of a test, exact for its sparse tables, and the method."""
        part = slice(self.starts[k], self.starts[k + 1])
        dense = self.dense[part]
        moments = (
            float(self.part_mean[part][dense].sum()),
            float(self.part_variance[part][dense].sum()),
        )
        return exact_tail.exact_p(self.all[part][~dense], float(self.statistic[k]), moments, rng)

    def effect(self, k: int) -> Effect:
        """Return the odds ratio, or Cramér's V if there is none or it differs between groups."""
        if self.ratios is not None:
            value, low, high, p_common = (float(part[k]) for part in self.ratios)
            if p_common > DIFFERS:
                return Effect("odds ratio", value, low, high)
        value, low, high = (float(part[k]) for part in (self.value, self.low, self.high))
        return Effect("V", value, low, high, differs=self.ratios is not None)

    def could_show(self, k: int, level: float, as_ratio: bool) -> tuple[float, float | None]:
        """Return V and the stated effect that the test finds with probability 0.8.

        The second is the odds ratio or V, or None if it cannot be said. Sparse tables of two states
        each are asked exactly; V is 1 if no effect of at most `exact_tail.STRONG` is found.
        """
        strength = _noncentrality(float(self.freedom[k]), level)
        v = sqrt(strength / max(float(self.scale[k]), 1e-12))
        if self.ratios is None:
            return v, None if self.sparse[k] else v
        part = slice(self.starts[k], self.starts[k + 1])
        tables = self.all[part]
        n, margins = tables.sum(axis=(1, 2)), (tables.sum(axis=1), tables.sum(axis=2))
        precision = float((margins[0].prod(axis=1) * margins[1].prod(axis=1) / n**3).sum())
        ratio = exp(min(sqrt(strength / precision), 20.0))
        if self.sparse[k] and v > WEAK and v <= exact_tail.STRONG:
            found = exact_tail.odds_ratio_shown(tables, level, ratio)
            if found is None:
                return 1.0, None
            ratio = found
        return v, ratio if as_ratio else v


@lru_cache(maxsize=2**12)
def _noncentrality(freedom: float, level: float) -> float:
    """Return the noncentrality that chi-square at this level finds with probability 0.8."""
    from scipy.special import chdtri, chndtrinc

    return float(chndtrinc(chdtri(freedom, level), freedom, 1 - exact_tail.POWER))


def _g_squared(tables: FloatArray) -> FloatArray:
    """Return the likelihood-ratio statistic of each table."""
    from scipy.special import xlogy

    n, rows, columns = tables.sum(axis=(1, 2)), tables.sum(axis=2), tables.sum(axis=1)
    inner = xlogy(tables, tables).sum(axis=(1, 2)) + xlogy(n, n)
    outer = xlogy(rows, rows).sum(axis=1) + xlogy(columns, columns).sum(axis=1)
    return np.asarray(2 * (inner - outer))


@dataclass(eq=False)
class _Judged:
    """The claims of a structure, their tables, and their tests."""

    structure: Structure
    table: CountedRows
    deadline: Deadline
    regions: int
    dependencies: bool
    subjects: IntArray | None = None
    places: list[_Place] = field(default_factory=list)
    shapes: dict[tuple[int, int], _Shape] = field(default_factory=dict)
    pairs_done: int = 0
    regions_left_out: int = 0

    def __post_init__(self) -> None:
        self.source = ClaimSource(self.structure.features, self.structure.separation_holds)
        self.varying = set(self.table.varying)
        self.inflation: dict[int, float] = {}
        self.counts = self.table.counts.astype(np.float64)
        self.every = np.arange(len(self.counts))
        self.total = int(self.table.counts.sum())

    def collect(self, pairs: IntArray) -> None:
        """Make the tables of all claims about these pairs, as far as time allows."""
        try:
            for i, j in pairs.tolist():
                for claim in self._kept(self.source.listed((i, j), self.deadline)):
                    self._add(claim)
                self.pairs_done += 1
            if self.structure.directions is not None:
                for claim in separations(self.structure.directions, pairs.tolist()):
                    self.deadline.check()
                    self._add(claim)
        except self.deadline.out_of_time:
            pass

    def _kept(self, claims: list[Claim]) -> Iterator[Claim]:
        """Yield the claims in the regions with most rows, of each kind."""
        for dependent in (False, True)[: 1 + self.dependencies]:
            kind = [claim for claim in claims if claim.dependent == dependent]
            if len(kind) > self.regions:
                sizes = [self.counts[rows_in(self.table.rows, c.literals)].sum() for c in kind]
                order = np.argsort(-np.array(sizes), kind="stable")
                self.regions_left_out += len(kind) - self.regions
                kind = [kind[k] for k in order[: self.regions].tolist()]
            yield from kind

    def _add(self, claim: Claim) -> None:
        inside = None
        if claim.literals:
            inside = np.flatnonzero(rows_in(self.table.rows, claim.literals))
        rows = self.total if inside is None else int(self.counts[inside].sum())
        smaller = False
        if claim.given is not None:
            given = sorted(claim.given)
            tables, groups = self._tables(claim.pair, given, inside)
        else:
            sides = [
                [v for v in self.source.blanket(u, claim.literals).tolist() if v not in claim.pair]
                for u in claim.pair
            ]
            given = sorted({*sides[0], *sides[1]})
            tables, groups = self._tables(claim.pair, given, inside)
            if rows < ROWS_PER_GROUP * groups and sides[0] != sides[1]:
                least = min(sides, key=lambda side: self._contexts(side))
                if len(least) < len(given):
                    given, smaller = least, True
                    tables, groups = self._tables(claim.pair, given, inside)
        shape = tables.shape[1], tables.shape[2]
        of_shape = self.shapes.setdefault(shape, _Shape())
        place = _Place(claim, tuple(given), smaller, rows, groups, shape, len(of_shape.tables))
        of_shape.tables.append(tables)
        self.places.append(place)

    def _contexts(self, variables: Sequence[int]) -> float:
        return sum(log(self.table.cardinalities[v]) for v in variables)

    def _tables(
        self, pair: tuple[int, int], given: Sequence[int], inside: IntArray | None
    ) -> tuple[FloatArray, int]:
        """Return the informative tables of the pair in groups of rows, and the number of groups."""
        chosen = self.every if inside is None else inside
        high, wide = (self.table.cardinalities[v] for v in pair)
        compiled = self.table.compiled
        if compiled is not None:
            found = compiled.tables_within(chosen, list(given), *pair)
            return found[:-1].reshape(-1, high, wide), int(found[-1])
        rows = self.table.rows[chosen]
        groups = group_rows(rows, given)
        count = int(groups.max(initial=-1)) + 1
        codes = (groups * high + rows[:, pair[0]]) * wide + rows[:, pair[1]]
        cells = np.bincount(codes, self.counts[chosen], minlength=count * high * wide)
        tables = cells.reshape(count, high, wide).astype(np.float64)
        varies = [(tables.any(axis=axis)).sum(axis=1) > 1 for axis in (1, 2)]
        return tables[varies[0] & varies[1] & (tables.sum(axis=(1, 2)) > 3)], count

    def test(self) -> None:
        """Test all claims."""
        for shape, tables in self.shapes.items():
            tables.test(shape)

    def decided(self, level: float, used_by_learner: bool) -> list[ClaimEvidence]:
        """Return the claims with their corrected p-values and verdicts."""
        tested = [
            (float(self.shapes[place.shape].p[place.number]), "asymptotic") for place in self.places
        ]
        _, levels = self._corrected([p for p, _ in tested], level)
        for k, place in enumerate(self.places):
            of_shape = self.shapes[place.shape]
            if self.subjects is not None:
                p, self.inflation[k] = self._by_subject(place, self.subjects)
                # Matching can make scores of subjects vary too little: never below p of the rows.
                tested[k] = max(p, tested[k][0]), BY_SUBJECT
            elif of_shape.needs_exact(place.number, levels[k]) and not self.deadline.passed:
                rng = np.random.default_rng([k, *place.claim.pair])
                tested[k] = of_shape.exact_p(place.number, rng)
        adjusted, levels = self._corrected([p for p, _ in tested], level)
        return [
            self._verdict(k, place, *tested[k], adjusted[k], levels[k], level, used_by_learner)
            for k, place in enumerate(self.places)
        ]

    def _by_subject(self, place: _Place, subjects: IntArray) -> tuple[float, float]:
        """Test a claim between subjects; also return how much larger its variance is."""
        rows = rows_in(self.table.rows, place.claim.literals)
        inside = self.table.rows[rows]
        groups = group_rows(inside, place.given)
        first, second = (inside[:, v] for v in place.claim.pair)
        return subject_test(first, second, groups, subjects[rows])

    def _is_informed(self, place: _Place) -> bool:
        return bool(self.shapes[place.shape].rows[place.number])

    def _corrected(self, p: Sequence[float], level: float) -> tuple[list[float], list[float]]:
        """Correct the p-values within each kind; also return the raw level that decides each."""
        adjusted, levels = [1.0] * len(p), [level] * len(p)
        kinds: dict[str, list[int]] = {}
        for k, place in enumerate(self.places):
            if self._is_informed(place):
                kinds.setdefault(_kind(place.claim), []).append(k)
        for members in kinds.values():
            corrected = benjamini_yekutieli(np.array([p[k] for k in members]))
            rejected = int((corrected <= level).sum())
            harmonic = float((1 / np.arange(1, len(members) + 1)).sum())
            for k, value in zip(members, corrected.tolist(), strict=True):
                adjusted[k] = value
                wanted = rejected + (value > level)
                levels[k] = wanted * level / (len(members) * harmonic)
        return adjusted, levels

    def _verdict(
        self,
        k: int,
        place: _Place,
        p: float,
        method: str,
        adjusted: float,
        deciding: float,
        level: float,
        used_by_learner: bool,
    ) -> ClaimEvidence:
        claim, domain = place.claim, self.structure.domain
        known = _named(domain, place)
        if not self._is_informed(place):
            constant = [domain.names[v] for v in claim.pair if v not in self.varying]
            reason = f"{constant[0]!r} has one value in the rows" if constant else NO_ROW
            return ClaimEvidence(**known, verdict=UNTESTABLE, silent=place.groups, reason=reason)
        wider = sqrt(self.inflation.get(k, 1.0))
        test, k = self.shapes[place.shape], place.number
        effect = _widened(test.effect(k), wider)
        smallest = None if method == BY_SUBJECT else float(test.smallest[k])
        reason, could_show = "", None
        if adjusted <= level:
            verdict = SUPPORTED if claim.dependent else CONTRADICTED
        else:
            v, could_show = test.could_show(k, deciding, effect.measure == "odds ratio")
            verdict = NOT_SUPPORTED if claim.dependent else NOT_CONTRADICTED
            if method == BY_SUBJECT:
                v, could_show = v * wider, None
            if smallest is not None and smallest > deciding:
                reason = f"no rows with these totals have p below {smallest:.2g}"
            elif v > exact_tail.STRONG:
                reason = "only a strong association would show"
            if reason:
                verdict, could_show = UNTESTABLE, None
            elif used_by_learner and not claim.dependent:
                verdict = USED
        return ClaimEvidence(
            **known,
            verdict=verdict,
            informative=int(test.rows[k]),
            silent=place.groups - int(test.groups[k]),
            freedom=int(test.freedom[k]),
            p=p,
            adjusted=adjusted,
            smallest_p=smallest,
            method=method,
            effect=effect,
            bits=float(test.bits[k]),
            could_show=could_show,
            reason=reason,
        )


def benjamini_yekutieli(p: FloatArray) -> FloatArray:
    """Return p-values corrected for their number, under any dependence.

    >>> benjamini_yekutieli(np.array([0.01, 0.5])).tolist()  # times 2 · (1 + 1/2) / rank
    [0.03, 0.75]
    """
    count = len(p)
    order = np.argsort(p)
    ranks = np.arange(1, count + 1)
    raised = p[order] * count * (1 / ranks).sum() / ranks
    result = np.empty(count)
    result[order] = np.minimum.accumulate(raised[::-1])[::-1]
    return np.minimum(result, 1.0)


def _widened(effect: Effect, factor: float) -> Effect:
    """Widen an interval, on the log scale for odds ratios."""
    if factor == 1.0 or effect.value in (0.0, inf):
        return effect
    if effect.measure == "odds ratio":
        low, high = ((limit / effect.value) ** factor for limit in (effect.low, effect.high))
        return replace(effect, low=effect.value * low, high=effect.value * high)
    low, high = (effect.value + (end - effect.value) * factor for end in (effect.low, effect.high))
    return replace(effect, low=max(0.0, low), high=min(1.0, high))


BY_SUBJECT = "by subject"
NO_ROW = "no row carries information"


def _kind(claim: Claim) -> str:
    if claim.given is not None:
        return "d-separated"
    return "dependent" if claim.dependent else "independent"


def _named(domain: Domain, place: _Place) -> dict[str, Any]:
    """Return the fields of a claim's evidence that do not depend on its test."""
    first, second = sorted(place.claim.pair)
    return {
        "pair": (domain.names[first], domain.names[second]),
        "region": tuple(domain.literal(*literal) for literal in place.claim.literals),
        "claim": _kind(place.claim),
        "given": tuple(domain.names[v] for v in place.given),
        "rows": place.rows,
        "groups": place.groups,
        "smaller_blanket": place.smaller,
    }
