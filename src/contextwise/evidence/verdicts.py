"""Judge the claims of a model by rows: `judge` tests every claim and returns `Evidence`.

Two tests within groups of rows (`contextwise.evidence.independence_test`) look for associations of
any kind, and for those that groups have in common. The smaller p-value, times 2, decides. The
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
from math import exp, inf, isfinite, log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from contextwise.counting.extraction import covered_pairs
from contextwise.data.rows import as_data, following
from contextwise.errors import ContextwiseError, DomainError
from contextwise.evidence import p_values
from contextwise.evidence.counted_rows import CountedRows, joint_counts
from contextwise.evidence.effect_size import (
    DIFFERS,
    POWER,
    STRONG,
    Cells,
    common_odds_ratios,
    odds_ratio_shown,
    odds_ratios_pooled,
    strengths_within,
)
from contextwise.evidence.independence_test import (
    PooledTests,
    check_level,
    evaluate_tables,
    tables_within,
)
from contextwise.independence.claims import (
    Claim,
    ClaimSource,
    group_rows,
    separations,
)
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
    Kind,
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
BY_SUBJECT, NO_ROW = "by subject", "no row carries information"


def judge(
    model: Model,
    data: Any,
    *,
    level: float = 0.05,
    seen_by_learner: bool = False,
    used_by_learner: bool = False,
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
    table = CountedRows.of(rows)
    if rows.subjects is not None:  # equal rows of different subjects stay apart
        table = CountedRows(rows.rows, rows.weights, rows.domain.cardinalities)
    chosen, left_out = _chosen_pairs(structure, table, pairs)
    judged = _Judged(structure, table, deadline or NEVER, regions, dependencies, rows.subjects)
    judged.collect(chosen)
    claims = judged.decided(level, used_by_learner)
    return Evidence(
        claims=tuple(claims),
        features=structure.fingerprint,
        fingerprint=rows.fingerprint,
        count=len(rows),
        seen_by_learner=seen_by_learner,
        level=level,
        reading=dict(rows.decisions),
        subject=None if rows.subjects is None else rows.decisions.get("subject", "subject"),
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
    varying = np.flatnonzero(np.array(structure.domain.cardinalities) > 1)
    everything = varying[np.stack(np.triu_indices(len(varying), 1), axis=1)]
    if len(everything) <= MOST_PAIRS:
        return everything, 0
    dependent = np.zeros((n, n), dtype=bool)
    covered = covered_pairs(structure.features)
    dependent[covered[:, 0], covered[:, 1]] = dependent[covered[:, 1], covered[:, 0]] = True
    some = np.arange(len(table.rows))
    if len(some) > SCREENED:
        some = np.random.default_rng(0).choice(some, SCREENED, replace=False)
    counts, sizes = table.counts[some].astype(np.float32), np.array(table.cardinalities)
    strengths = marginal_strengths(table.rows[some], counts, sizes)
    strength = strengths[everything[:, 0], everything[:, 1]]
    is_dependent = dependent[everything[:, 0], everything[:, 1]]
    free = np.flatnonzero(~is_dependent)
    order = free[np.argsort(-strength[free], kind="stable")]
    rest = np.random.default_rng(0).permutation(order[STRONGEST:])[:SAMPLE]
    used = np.flatnonzero(is_dependent)
    used = used[np.argsort(-strength[used], kind="stable")][:MOST_PAIRS]
    kept = np.sort(np.concatenate([used, order[:STRONGEST], rest]))
    return everything[kept], len(everything) - len(kept)


def marginal_strengths(
    rows: IntArray, counts: npt.NDArray[Any], cardinalities: IntArray
) -> FloatArray:
    """Return the square of Cramér's V of each pair of variables."""
    joint, starts = joint_counts(rows, counts, cardinalities)
    margin = np.maximum(np.diag(joint), 1e-9)
    squares = joint**2 / margin[:, None] / margin
    sums = np.add.reduceat(np.add.reduceat(squares, starts, axis=0), starts, axis=1)
    least = np.minimum(cardinalities[:, None], cardinalities) - 1
    return np.asarray((sums - 1) / np.maximum(least, 1))


# -- testing ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Tests:
    """The tables of all claims about variables with these numbers of states, and their tests."""

    shape: tuple[int, int]
    tables: list[FloatArray] = field(default_factory=list)

    def run(self) -> None:
        """Test all claims at once."""
        counts = [len(each) for each in self.tables]
        self.count = len(counts)
        owners = np.repeat(np.arange(self.count), counts)
        # Fortran's order makes sums over the cells of many tables fast.
        tables = np.asfortranarray(np.concatenate(self.tables))
        tests = evaluate_tables(tables)
        usable = tests.variance > 1e-12
        tables, owners = np.asfortranarray(tables[usable]), owners[usable]
        self.all = tables
        self.starts = np.searchsorted(owners, np.arange(self.count + 1))
        self.dense = p_values.is_dense(tables)
        states = [(tables.sum(axis=axis) > 0).sum(axis=1) for axis in (2, 1)]
        n = tables.sum(axis=(1, 2))

        def total(values: FloatArray | IntArray | BoolArray) -> FloatArray:
            return np.asarray(np.bincount(owners, values, minlength=self.count), dtype=np.float64)

        statistic = np.maximum(tests.statistic[usable], 0.0)
        self.part_mean, self.part_variance = tests.mean[usable], tests.variance[usable]
        parts = statistic, self.part_mean, self.part_variance
        self.statistic, mean, variance = map(total, parts)
        self.p_within = p_values.gamma_tail(self.statistic, mean, variance)
        self.pooled = PooledTests(tables, self.starts)
        self.choices = np.where(self.pooled.is_valid, 2.0, 1.0)
        self.p = np.minimum(1.0, self.choices * np.minimum(self.p_within, self.pooled.p))
        self.is_pooled = self.pooled.p < self.p_within
        self.p_dense = p_values.gamma_tail(*(total(np.where(self.dense, x, 0.0)) for x in parts))
        self.sparse = total(~self.dense) > 0
        self.smallest = np.exp(total(np.log(np.maximum(p_values.smallest_p(tables), 1e-300))))
        self.rows, self.groups = total(n), total(np.ones(len(n)))
        self.freedom = total((states[0] - 1) * (states[1] - 1))
        self.scale = total(n * (np.minimum(*states) - 1))
        self.bits = (total(_g_squared(tables)) - mean) / np.maximum(self.rows, 1) / (2 * log(2))
        self.v = strengths_within(self.statistic, mean, variance, self.pooled, self.scale)
        self.ratios = None
        if self.shape == (2, 2):
            self.cells, self.owners = Cells.of(tables), owners
            self.ratios = common_odds_ratios(self.cells, owners, self.count)

    def needs_exact(self, k: int, level: float) -> bool:
        """Return whether the tables are sparse, and the gamma tail does not settle the verdict."""
        if not self.sparse[k]:
            return False
        p_within, pooled = float(self.p_within[k]), float(self.pooled.p[k])
        level /= float(self.choices[k])
        is_certain = min(pooled, max(p_within, float(self.p_dense[k]))) < CERTAIN * level
        settled = is_certain or min(pooled, p_within) > FAR * level
        return bool(not settled or self.rows[k] <= FEW)

    def exact_p(self, k: int, seed: Sequence[int]) -> tuple[float, str]:
        """Return the p-value of a test, exact for its sparse tables, and the method."""
        part = slice(self.starts[k], self.starts[k + 1])
        dense = self.dense[part]
        moments = (
            float(self.part_mean[part][dense].sum()),
            float(self.part_variance[part][dense].sum()),
        )
        sparse, statistic = self.all[part][~dense], float(self.statistic[k])
        p_within, method = p_values.exact_p(sparse, statistic, moments, seed)
        pooled = float(self.pooled.p[k])
        self.is_pooled[k] = pooled < p_within
        if pooled < p_within:
            method = "asymptotic"
        return min(1.0, float(self.choices[k]) * min(p_within, pooled)), method

    def effect(self, k: int) -> Effect:
        """Return the odds ratio, or Cramér's V if there is none or it differs between groups."""
        if self.ratios is not None:
            value, low, high, p_common = (float(part[k]) for part in self.ratios)
            if p_common > DIFFERS:
                return Effect("odds ratio", value, low, high)
        value, low, high = (float(part[k]) for part in self.v)
        return Effect("V", value, low, high, differs=self.ratios is not None)

    def find_pooled_ratios(self, levels: FloatArray) -> None:
        """Find the odds ratios that the pooled tests find at these levels, with power `POWER`.

        A test at level 0 is not asked.
        """
        if self.ratios is not None:
            asked = self.pooled.is_valid & (self.ratios.p_common > DIFFERS)
            levels = np.where(asked, levels / self.choices, 0.0)
            self.pooled_ratios = odds_ratios_pooled(self.cells, self.owners, levels)

    def could_show(self, k: int, level: float, as_ratio: bool) -> tuple[float, float | None]:
        """Return V and the stated effect that the test finds with probability `POWER`.

        The second is the odds ratio or V, or None if it cannot be said. Sparse tables of two states
        each are asked exactly; V is 1 if no effect of at most `STRONG` is found.
        """
        level /= float(self.choices[k])
        is_pooled = bool(self.pooled.is_valid[k])
        freedom = (self.pooled if is_pooled else self).freedom[k]
        strength = _noncentrality(float(freedom), level)
        v = sqrt(strength / max(float(self.scale[k]), 1e-12))
        if self.ratios is None:
            return v, None if self.sparse[k] and not is_pooled else v
        if is_pooled:
            pooled = float(self.pooled_ratios[k]) if as_ratio else v
            return v, pooled if isfinite(pooled) else None
        tables = self.all[self.starts[k] : self.starts[k + 1]]
        n, margins = tables.sum(axis=(1, 2)), (tables.sum(axis=1), tables.sum(axis=2))
        precision = float((margins[0].prod(axis=1) * margins[1].prod(axis=1) / n**3).sum())
        ratio = exp(min(sqrt(strength / precision), 20.0))
        if self.sparse[k] and WEAK < v <= STRONG:
            found = odds_ratio_shown(tables, level, ratio)
            if found is None:
                return 1.0, None
            ratio = found
        return v, ratio if as_ratio else v


@lru_cache(maxsize=2**12)
def _noncentrality(freedom: float, level: float) -> float:
    """Return the noncentrality that chi-square at this level finds with probability `POWER`."""
    from scipy.special import chdtri, chndtrinc

    return float(chndtrinc(chdtri(freedom, level), freedom, 1 - POWER))


def _g_squared(tables: FloatArray) -> FloatArray:
    """Return the likelihood-ratio statistic of each table."""
    from scipy.special import xlogy

    n, rows, columns = tables.sum(axis=(1, 2)), tables.sum(axis=2), tables.sum(axis=1)
    inner = xlogy(tables, tables).sum(axis=(1, 2)) + xlogy(n, n)
    outer = xlogy(rows, rows).sum(axis=1) + xlogy(columns, columns).sum(axis=1)
    return np.asarray(2 * (inner - outer))


class _Place(NamedTuple):
    """A claim, its groups of rows, and its test: the ``number``-th of ``tests``."""

    claim: Claim
    given: Sequence[int]
    smaller: bool  # the groups are by the smaller blanket
    rows: int
    groups: int
    tests: _Tests
    number: int

    @property
    def kind(self) -> Kind:
        """The kind of the claim."""
        if self.claim.given is not None:
            return "d-separated"
        return "dependent" if self.claim.dependent else "independent"

    @property
    def is_informed(self) -> bool:
        """True if some row carries information."""
        return bool(self.tests.rows[self.number])


@dataclass(eq=False)
class _Judged:
    """The claims of a structure, their tables, and their tests."""

    structure: Structure
    table: CountedRows
    deadline: Deadline
    regions: int
    dependencies: bool
    subjects: IntArray | None
    places: list[_Place] = field(default_factory=list)
    shapes: dict[tuple[int, int], _Tests] = field(default_factory=dict)
    pairs_done: int = 0
    regions_left_out: int = 0

    def __post_init__(self) -> None:
        self.source = ClaimSource(self.structure.features, self.structure.separation_holds)
        self.every = np.arange(len(self.table.counts))
        self.total = int(self.table.counts.sum())

    def collect(self, pairs: IntArray) -> None:
        """Make the tables of all claims about these pairs, as far as time allows, and test them."""
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
        for tests in self.shapes.values():
            tests.run()

    def _kept(self, claims: list[Claim]) -> Iterator[Claim]:
        """Yield the claims in the regions with most rows, of each kind."""
        for dependent in (False, True)[: 1 + self.dependencies]:
            kind = [claim for claim in claims if claim.dependent == dependent]
            if len(kind) > self.regions:
                counts = self.table.counts
                sizes = np.array([counts[self.table.inside(c.literals)].sum() for c in kind])
                self.regions_left_out += len(kind) - self.regions
                largest = np.argsort(-sizes, kind="stable")[: self.regions]
                kind = [kind[k] for k in largest.tolist()]
            yield from kind

    def _add(self, claim: Claim) -> None:
        """Group the rows of a claim by the blankets of its variables, and keep the tables."""
        inside, rows, smaller = self.every, self.total, False
        if claim.literals:
            inside = np.flatnonzero(self.table.inside(claim.literals))
            rows = int(self.table.counts[inside].sum())
        blankets = [list(claim.given or ())]
        if claim.given is None:
            found = [self.source.blanket(v, claim.literals).tolist() for v in claim.pair]
            blankets = [[v for v in blanket if v not in claim.pair] for blanket in found]
        given = sorted(set().union(*blankets))
        tables, groups = self._tables(claim.pair, given, inside)
        if rows < ROWS_PER_GROUP * groups:
            least = min(blankets, key=self._contexts)
            if len(least) < len(given):
                given, smaller = list(least), True
                tables, groups = self._tables(claim.pair, given, inside)
        shape = tables.shape[1], tables.shape[2]
        tests = self.shapes.setdefault(shape, _Tests(shape))
        self.places.append(_Place(claim, given, smaller, rows, groups, tests, len(tests.tables)))
        tests.tables.append(tables)

    def _contexts(self, variables: Sequence[int]) -> float:
        return sum(log(self.table.cardinalities[v]) for v in variables)

    def _tables(
        self, pair: tuple[int, int], given: Sequence[int], chosen: IntArray
    ) -> tuple[FloatArray, int]:
        """Return the informative tables of the pair in groups of rows, and the number of groups."""
        high, wide = (self.table.cardinalities[v] for v in pair)
        if self.table.compiled is not None:
            found = self.table.compiled.tables_within(chosen, list(given), *pair)
            return found[:-1].reshape(-1, high, wide), int(found[-1])
        rows, counts = self.table.rows[chosen], self.table.counts[chosen]
        tables = tables_within(rows, counts, pair, (high, wide), group_rows(rows, given))
        varies = [(tables.any(axis=axis)).sum(axis=1) > 1 for axis in (1, 2)]
        return tables[varies[0] & varies[1] & (tables.sum(axis=(1, 2)) > 3)], len(tables)

    def decided(self, level: float, used_by_learner: bool) -> list[ClaimEvidence]:
        """Return the claims with their corrected p-values and verdicts."""
        p = [float(place.tests.p[place.number]) for place in self.places]
        methods, inflation = ["asymptotic"] * len(p), [1.0] * len(p)
        _, levels = self._corrected(p, level)
        for k, place in enumerate(self.places):
            if self.subjects is not None:
                by_subject, inflation[k] = self._by_subject(place, self.subjects)
                # Matching can make scores of subjects vary too little: never below p of the rows.
                p[k], methods[k] = max(by_subject, p[k]), BY_SUBJECT
            elif place.tests.needs_exact(place.number, levels[k]) and not self.deadline.passed:
                seed = [k, *place.claim.pair]
                p[k], methods[k] = place.tests.exact_p(place.number, seed)
        adjusted, levels = self._corrected(p, level)
        for tests in self.shapes.values():
            own = [k for k, place in enumerate(self.places) if place.tests is tests]
            tests.find_pooled_ratios(np.array([levels[k] * (adjusted[k] > level) for k in own]))
        claims = []
        for k, place in enumerate(self.places):
            if place.is_informed:
                result = _Result(p[k], adjusted[k], methods[k], sqrt(inflation[k]))
                found = _tested(place, result, level, levels[k])
                if used_by_learner and found["verdict"] == NOT_CONTRADICTED:
                    found["verdict"] = USED
            else:
                found = self._untested(place)
            claims.append(ClaimEvidence(**self._about(place), **found))
        return claims

    def _by_subject(self, place: _Place, subjects: IntArray) -> tuple[float, float]:
        """Test a claim between subjects; also return how much larger its variance is."""
        rows = self.table.inside(place.claim.literals)
        inside = self.table.rows[rows]
        groups = group_rows(inside, place.given)
        first, second = (inside[:, v] for v in place.claim.pair)
        return p_values.subject_test(first, second, groups, subjects[rows])

    def _corrected(self, p: Sequence[float], level: float) -> tuple[list[float], list[float]]:
        """Correct the p-values within each kind; also return the raw level that decides each."""
        adjusted, levels = [1.0] * len(p), [level] * len(p)
        kinds: dict[str, list[int]] = {}
        for k, place in enumerate(self.places):
            if place.is_informed:
                kinds.setdefault(place.kind, []).append(k)
        for members in kinds.values():
            corrected = p_values.benjamini_yekutieli(np.array([p[k] for k in members]))
            rejected = int((corrected <= level).sum())
            harmonic = float((1 / np.arange(1, len(members) + 1)).sum())
            for k, value in zip(members, corrected.tolist(), strict=True):
                adjusted[k] = value
                wanted = rejected + (value > level)
                levels[k] = wanted * level / (len(members) * harmonic)
        return adjusted, levels

    def _about(self, place: _Place) -> dict[str, Any]:
        """Return the fields of the evidence that say which claim and rows it is about."""
        domain = self.structure.domain
        first, second = sorted(place.claim.pair)
        return {
            "pair": (domain.names[first], domain.names[second]),
            "region": tuple(domain.literal(*literal) for literal in place.claim.literals),
            "claim": place.kind,
            "given": tuple(domain.names[v] for v in place.given),
            "rows": place.rows,
            "groups": place.groups,
            "smaller_blanket": place.smaller,
        }

    def _untested(self, place: _Place) -> dict[str, Any]:
        """Return the other fields if no row carries information."""
        constant = [v for v in place.claim.pair if v not in self.table.varying]
        reason = NO_ROW
        if constant:
            reason = f"{self.structure.domain.names[constant[0]]!r} has one value in the rows"
        return {"verdict": UNTESTABLE, "silent": place.groups, "reason": reason}


class _Result(NamedTuple):
    """The result of a test, and how much wider intervals are than those of independent rows."""

    p: float
    adjusted: float
    method: str
    wider: float


def _tested(place: _Place, result: _Result, level: float, deciding: float) -> dict[str, Any]:
    """Return the verdict, and the other fields of a test.

    ``deciding`` is the raw p-value that would be significant.
    """
    tests, k, dependent = place.tests, place.number, place.claim.dependent
    by_subject = result.method == BY_SUBJECT
    smallest = None if by_subject else min(1.0, float(tests.choices[k] * tests.smallest[k]))
    effect = tests.effect(k)
    reason, could_show = "", None
    if result.adjusted <= level:
        verdict = SUPPORTED if dependent else CONTRADICTED
    else:
        verdict = NOT_SUPPORTED if dependent else NOT_CONTRADICTED
        v, could_show = tests.could_show(k, deciding, effect.measure == "odds ratio")
        if smallest is not None and smallest > deciding:
            reason = "no rows with these totals would be significant"
        elif v * result.wider > STRONG:
            reason = "only a strong association would show"
        verdict = UNTESTABLE if reason else verdict
        could_show = None if reason or by_subject else could_show
    return {
        "verdict": verdict,
        "p": result.p,
        "adjusted": result.adjusted,
        "method": result.method,
        "informative": int(tests.rows[k]),
        "silent": place.groups - int(tests.groups[k]),
        "freedom": int((tests.pooled if tests.is_pooled[k] else tests).freedom[k]),
        "smallest_p": smallest,
        "effect": _widened(effect, result.wider),
        "bits": float(tests.bits[k]),
        "could_show": could_show,
        "reason": reason,
    }


def _widened(effect: Effect, factor: float) -> Effect:
    """Widen an interval, on the log scale for odds ratios."""
    if factor == 1.0 or effect.value in (0.0, inf):
        return effect
    if effect.measure == "odds ratio":
        low, high = ((limit / effect.value) ** factor for limit in (effect.low, effect.high))
        return replace(effect, low=effect.value * low, high=effect.value * high)
    low, high = (effect.value + (end - effect.value) * factor for end in (effect.low, effect.high))
    return replace(effect, low=max(0.0, low), high=min(1.0, high))
