"""Test the claims of a structure against rows of data.

`check` tests every claim of independence, region by region, given the blanket of one of the two
variables, and keeps the false discovery rate over all claims. Of a Bayesian network it also tests
one d-separation for each pair without an arc, given the parents of the later variable; they are a
family of tests of their own. With ``overall`` it also tests the structure as a whole by a
parametric bootstrap: the statistic is the sum of -log p over the claims of independence, compared
with data sets drawn from the fitted structure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, log
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from contextwise.comparison.question import Pair, pose
from contextwise.data.rows import as_data, following
from contextwise.errors import ContextwiseError, DomainError, TooLargeError
from contextwise.evaluation.claims import (
    Claim,
    ClaimSource,
    NamedClaim,
    group_rows,
    name_claim,
    rows_in,
    separations,
)
from contextwise.evaluation.g_test import ConditionalTest, Detectable, conditional_test
from contextwise.formats import ModelLike, as_model
from contextwise.models.domain import Assignment, Domain
from contextwise.models.notation import quoted
from contextwise.models.structure import (
    LogLinear,
    Structure,
    features_of,
    require_features,
    structure_of,
)
from contextwise.support.arrays import IntArray
from contextwise.support.deadline import NEVER, Deadline
from contextwise.support.effort import Effort
from contextwise.support.formatting import Printed, plural
from contextwise.support.progress import Progress

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Check", "check"]

R = TypeVar("R")
BATCH = 32
"""Pairs per unit of work."""
FIRST_DRAWS = 1_999
"""Tables drawn for a claim before it is known how small its p-value must be."""


@dataclass(frozen=True)
class CheckedClaim(NamedClaim):
    """One claim and its test."""

    rows: int  # in the region
    blanket_of: str  # the variable whose blanket, or whose parents, make the groups
    test: ConditionalTest  # within these groups
    both: ConditionalTest  # within groups by the blankets of both variables
    adjusted: float  # p-value after Benjamini and Yekutieli, among all claims of its kind
    detectable: Detectable  # the weakest dependence that the test finds with probability 0.8
    given: tuple[str, ...] | None = None  # of a d-separation: the parents

    @property
    def is_testable(self) -> bool:
        """True if some rows carry information about the claim."""
        return self.test.rows > 0

    def record(self) -> dict[str, object]:
        """Return the claim as one flat mapping."""
        return {
            **self.claim_record(),
            "given": None if self.given is None else ", ".join(map(quoted, self.given)),
            "rows": self.rows,
            "speaking_rows": self.test.rows,
            "groups": self.test.groups,
            "silent_groups": self.test.uninformative,
            "blanket_of": self.blanket_of,
            "statistic": self.test.statistic,
            "bits": self.test.bits,
            "p_value": self.test.p_value if self.is_testable else None,
            "p_value_both_blankets": self.both.p_value
            if self.both.rows and self.given is None
            else None,
            "adjusted_p_value": self.adjusted if self.is_testable else None,
            "draws": self.test.draws,
            "detectable_bits": self.detectable.bits if self.is_testable else None,
            "detectable_odds_ratio": self.detectable.odds_ratio,
        }


@dataclass(frozen=True)
class Overall:
    """The test of a structure as a whole."""

    statistic: float  # the sum of -log p over the claims of independence
    simulated: tuple[float, ...]  # the same of data sets drawn from the fitted structure
    exact: bool  # whether these were exact draws, not Gibbs sampling

    @property
    def p_value(self) -> float | None:
        """(1 + simulated statistics at least as large) / (1 + simulated); None without any."""
        if not self.simulated:
            return None
        larger = sum(value >= self.statistic for value in self.simulated)
        return (1 + larger) / (1 + len(self.simulated))


@dataclass(frozen=True, eq=False, repr=False)
class Check(Printed):
    """The tests of all claims of a structure."""

    domain: Domain  #: the variables
    claims: tuple[CheckedClaim, ...]  #: every claim that was tested, in the order of the pairs
    rows: int  #: number of rows
    pairs: int  #: number of pairs
    left_out: int  #: number of regions with fewer rows, which were not tested
    alpha: float  #: the false discovery rate
    unfinished: int = 0  #: number of pairs that were not tested within the time limit
    overall: Overall | None = None  #: the test of the structure as a whole, if it was asked for
    learned_from: bool = False  #: whether the structure was learned from these rows
    separations: tuple[CheckedClaim, ...] = ()  #: of a network: a test for each pair without an arc

    def of(self, dependent: bool) -> list[CheckedClaim]:
        """Return the testable claims of one kind, smallest p-value first."""
        claims = [c for c in self.claims if c.dependent == dependent and c.is_testable]
        return sorted(claims, key=lambda c: (c.adjusted, c.test.p_value, -c.test.bits))

    @property
    def failed_separations(self) -> list[CheckedClaim]:
        """The d-separations of a network that the rows contradict, strongest first."""
        failed = [c for c in self.separations if c.is_testable and c.adjusted <= self.alpha]
        return sorted(failed, key=lambda c: (c.adjusted, c.test.p_value, -c.test.bits))

    @property
    def contradicted(self) -> list[CheckedClaim]:
        """The claims of independence that the rows contradict, strongest first."""
        return [claim for claim in self.of(False) if claim.adjusted <= self.alpha]

    @property
    def shown(self) -> list[CheckedClaim]:
        """The claims of dependence in whose regions the rows show one somewhere."""
        return [claim for claim in self.of(True) if claim.adjusted <= self.alpha]

    @property
    def untestable(self) -> list[CheckedClaim]:
        """The claims that no row carries information about."""
        return [claim for claim in self.claims if not claim.is_testable]

    @property
    def undecided(self) -> list[CheckedClaim]:
        """The testable claims for which too few tables were drawn to decide."""
        return [
            c
            for c in (*self.claims, *self.separations)
            if c.is_testable and not c.test.clear and c.adjusted > self.alpha
        ]

    @property
    def verdict(self) -> str:
        """The conclusion in one or two sentences."""
        testable, failed = len(self.of(False)), len(self.contradicted)
        separations = sum(claim.is_testable for claim in self.separations)
        unseparated = len(self.failed_separations)
        tested = [f"{failed or 'none'} of {plural(testable, 'claim')} of independence"]
        if separations:
            of_network = f"{plural(separations, 'd-separation')} of the network"
            tested = [*tested[:testable], f"{unseparated or 'none'} of {of_network}"]
        contradict = "contradict" if failed or unseparated else "do not contradict"
        claims = f"{' and '.join(tested)} {'fail' if failed + unseparated > 1 else 'fails'}"
        if not testable and not separations:
            contradict, claims = "cannot test", "they carry no information about its claims"
        if self.overall is None:
            return f"The rows {contradict} the structure: {claims}."
        p_value, needed = self.overall.p_value, ceil(1 / self.alpha) - 1
        if p_value is None or len(self.overall.simulated) < needed:
            return (
                f"The rows {contradict} the structure: {claims}. The overall test did not finish: "
                f"{len(self.overall.simulated)} of at least {needed} simulated data sets."
            )
        contradict = "contradict" if p_value <= self.alpha else "do not contradict"
        return f"Overall, the rows {contradict} the structure (p = {p_value:.2g}); {claims}."

    def records(self) -> list[dict[str, object]]:
        """Return every claim as a flat mapping, with the decision."""
        significant = {id(c) for c in (*self.contradicted, *self.shown, *self.failed_separations)}
        return [
            {**c.record(), "rows_show_dependence": id(c) in significant}
            for c in (*self.claims, *self.separations)
        ]

    def __repr__(self) -> str:
        return (
            f"Check({len(self.claims)} claims, {len(self.contradicted)} contradicted, "
            f"{len(self.shown)} shown, {len(self.untestable)} untestable)"
        )


def check(
    model: ModelLike,
    rows: Any,
    *,
    pairs: Iterable[Pair] | None = None,
    variables: Iterable[str] | None = None,
    context: Assignment | None = None,
    regions: int = 3,
    dependencies: bool = True,
    alpha: float = 0.05,
    draws: int = 1_000_000,
    overall: int = 0,
    time_limit: float | None = None,
    rng: Seed = 0,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> Check:
    """Test the claims of a structure against rows.

    Parameters
    ----------
    model : model, or path of a model file; only its structure matters
    rows : frame, array, list of rows, or path of a data file
        They must be independent of each other, and not those that the model was learned from.
    pairs : only these pairs of names
    variables : only the pairs inside this set of names
    context : partial assignment; only contexts and rows that agree with it
    regions : number of regions of each kind to test per pair, those with most rows
    dependencies : whether to test claims of dependence as well
    alpha : the false discovery rate, for each of the two kinds of claims
    draws : most tables to draw for one claim, where the null cannot be computed
    overall : number of data sets to simulate for the test of the structure as a whole
        0 for no such test. The p-value is at least 1 / (1 + overall), so use 99 or more.
    time_limit : seconds; pairs and simulations that are not finished then are left out and counted
    rng : generator or seed; equal seeds give equal results, whatever the number of processes
    n_jobs : number of processes; -1 means one per core
    cluster : address of a Dask scheduler, or a Dask client; replaces ``n_jobs``
    show_progress : bool, or a function of (done, total): pairs, then simulations

    Returns
    -------
    Check

    Raises
    ------
    DomainError
        If there are no rows, or none that agrees with the context.

    Examples
    --------
    The structure has A and B independent where C=0. In the rows they are equal there, too.

    >>> from contextwise import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> result = check(model, rows, overall=99)
    >>> [(claim.pair, claim.when) for claim in result.contradicted], result.overall.p_value
    ([(('A', 'B'), 'C=0')], 0.01)
    >>> result
    Check(6 claims, 1 contradicted, 1 shown, 4 untestable)
    """
    effort = Effort.of(time_limit, n_jobs=n_jobs, cluster=cluster, show_progress=show_progress)
    if regions < 1:
        raise ContextwiseError(f"regions must be >= 1, got {regions}")
    if not 0 < alpha < 1:
        raise ContextwiseError(f"alpha must be between 0 and 1, got {alpha}")
    if draws < 1:
        raise ContextwiseError(f"draws must be >= 1, got {draws}")
    if overall < 0:
        raise ContextwiseError(f"overall must be >= 0, got {overall}")
    model = as_model(model)
    question = pose([model], pairs=pairs, variables=variables, context=context, data=rows)
    (structure,), domain, table = question.structures, question.domain, question.rows
    if table is None or not len(table):
        why = "no row agrees with the context" if context else "there are no rows"
        raise DomainError(f"{why}, so there is nothing to check")
    if structure.weaker_than is not None:
        raise ContextwiseError(
            f"this model claims that pairs are weaker than {structure.weaker_than:g}, not that "
            "they are independent, so rows cannot contradict it; read it without a tolerance"
        )
    wanted = question.asked_pairs
    work = _Work(
        source=ClaimSource(structure.features, structure.separation_holds),
        rows=table.astype(np.min_scalar_type(int(max(domain.cardinalities, default=1)))),
        pairs=wanted,
        regions=regions,
        dependencies=dependencies,
        seed=int(np.random.default_rng(rng).integers(2**62)),
        deadline=effort.deadline,
    )
    batches = [wanted[first : first + BATCH].tolist() for first in range(0, len(wanted), BATCH)]
    tested = _run(effort, "testing pairs", work.test_batch, batches, len(wanted))
    separated: list[Claim] = []
    if structure.directions is not None and not context:  # a context may open trails
        separated = separations(structure.directions, wanted.tolist())
    parts = [separated[first : first + BATCH] for first in range(0, len(separated), BATCH)]
    of_arcs = _run(effort, "testing separations", work.test_separations, parts, len(separated))
    first = [claim for claims, _ in tested for claim in claims]
    simulated = None
    if overall:
        require_features(structure, "the overall test")
        statistic = sum(claim.evidence for claim in first)
        simulated = _overall(work, structure, statistic, overall, effort)
    claims, of_network = (
        tuple(
            _named(domain, claim, adjusted, level)
            for claim, adjusted, level in _decide(work, family, alpha, draws)
        )
        for family in (first, of_arcs)
    )
    return Check(
        domain=domain,
        claims=claims,
        rows=len(table),
        pairs=len(wanted),
        left_out=sum(left_out for _, left_out in tested),
        alpha=alpha,
        unfinished=max(len(wanted) - len(tested), len(separated) - len(of_arcs)),
        overall=simulated,
        learned_from=_learned_from(structure_of(model), rows),
        separations=of_network,
    )


def _learned_from(structure: Structure, rows: Any) -> bool:
    """Return whether the structure records these rows as those it was learned from."""
    description = str(structure.info.get("description", ""))  # files keep it
    if "fingerprint" not in description:
        return False
    data = as_data(rows, structure.domain, following(structure))
    return f"fingerprint {data.fingerprint}" in description


# -- testing ---------------------------------------------------------------------------------------


class _Tested(NamedTuple):
    """A claim, the rows in its region, and its tests: given the blanket of a side, or both."""

    claim: Claim
    rows: int
    side: int
    test: ConditionalTest
    both: ConditionalTest

    @property
    def evidence(self) -> float:
        """The contribution of the claim to the statistic of the whole structure."""
        return 0.0 if self.claim.dependent else -log(max(self.test.p_value, 1e-300))


def _named(domain: Domain, tested: _Tested, adjusted: float, level: float) -> CheckedClaim:
    """Return a tested claim by names."""
    pair, dependent, literals = name_claim(domain, tested.claim)
    given = tested.claim.given
    detectable = tested.test.detectable(level)
    if any(domain.cardinalities[v] > 2 for v in tested.claim.pair):  # an odds ratio of some states
        detectable = detectable._replace(odds_ratio=None)
    return CheckedClaim(
        pair=pair,
        dependent=dependent,
        literals=literals,
        rows=tested.rows,
        blanket_of=domain.names[tested.side],
        test=tested.test,
        both=tested.both,
        adjusted=adjusted,
        detectable=detectable,
        given=None if given is None else tuple(domain.names[v] for v in given),
    )


PairTests = tuple[list[_Tested], int]
"""The tested claims of a pair, and the number of regions that were left out."""


def _run(
    effort: Effort,
    text: str,
    function: Callable[[Any], list[R]],
    items: Iterable[Any],
    total: int,
) -> list[R]:
    """Map over numbered items; return the results of all, in order."""
    finished: dict[int, list[R]] = {}
    with effort.showing(text) as shown:
        for (place, _), results in shown.each(text, function, enumerate(items)):
            finished[place] = results
            shown.report(sum(map(len, finished.values())), total)
    return [result for _, results in sorted(finished.items()) for result in results]


@dataclass(frozen=True, eq=False)
class _Work:
    """The data of every test; it is pickled for other processes."""

    source: ClaimSource
    rows: npt.NDArray[Any]
    pairs: IntArray
    regions: int
    dependencies: bool
    seed: int
    deadline: Deadline = NEVER

    def test_batch(self, batch: tuple[int, Sequence[Sequence[int]]]) -> list[PairTests]:
        """Test the claims of each pair of a numbered batch."""
        return self.test_pairs(batch[1])

    def test_pairs(self, pairs: Sequence[Sequence[int]], both: bool = True) -> list[PairTests]:
        """Test the claims of each pair, as far as time allows."""
        tested = []
        try:
            for i, j in pairs:
                claims = self.source.listed((i, j), self.deadline)
                tested.append(self._test_claims(claims, both))
        except self.deadline.out_of_time:
            pass
        return tested

    def test_separations(self, batch: tuple[int, Sequence[Claim]]) -> list[_Tested]:
        """Test the d-separations of a numbered batch, as far as time allows."""
        tested = []
        try:
            for claim in batch[1]:
                self.deadline.check()
                tested.append(self.test(claim, FIRST_DRAWS))
        except self.deadline.out_of_time:
            pass
        return tested

    def _test_claims(self, claims: list[Claim], both: bool) -> PairTests:
        """Test the claims of one pair in the regions with most rows, of each kind."""
        kept, left_out = [], 0
        for dependent in (False, True)[: 1 + self.dependencies]:
            kind = [claim for claim in claims if claim.dependent == dependent]
            counts = [int(rows_in(self.rows, claim.literals).sum()) for claim in kind]
            order = sorted(range(len(kind)), key=lambda k: -counts[k])
            kept += [kind[k] for k in order[: self.regions]]
            left_out += len(order[self.regions :])
        return [self.test(claim, FIRST_DRAWS, both) for claim in kept], left_out

    def test(self, claim: Claim, draws: int, both: bool = True) -> _Tested:
        rows = self.rows[rows_in(self.rows, claim.literals)]
        if claim.given is None:
            blankets = [self.source.blanket(v, claim.literals) for v in claim.pair]
            sides = [np.setdiff1d(blanket, claim.pair) for blanket in blankets]
            groups = [group_rows(rows, side) for side in sides]
            # Any of the two blankets makes a valid test; fewer groups have more rows each.
            side = int(groups[1].max(initial=0) < groups[0].max(initial=0))
        else:
            groups, side, both = [group_rows(rows, claim.given)] * 2, 1, False
        first, second = (rows[:, v].astype(np.int64) for v in claim.pair)

        def tested(groups: IntArray) -> ConditionalTest:
            # The generator of a claim is the same wherever it is tested.
            place = [number for literal in claim.literals for number in literal]
            place += [] if claim.given is None else claim.given
            rng = np.random.default_rng(
                [self.seed, *claim.pair, int(claim.dependent), draws, *place]
            )
            return conditional_test(
                first, second, groups, rng=rng, draws=draws, deadline=self.deadline
            )

        test = tested(groups[side])
        given_both = tested(group_rows(rows, np.union1d(*sides))) if both else test
        return _Tested(claim, len(rows), claim.pair[side], test, given_both)


# -- deciding --------------------------------------------------------------------------------------


def _decide(
    work: _Work, tested: Sequence[_Tested], alpha: float, most_draws: int
) -> list[tuple[_Tested, float, float]]:
    """Return each claim with its p-value after Benjamini and Yekutieli, and the level that decides.

    The correction is in its own kind. The level is that of the uncorrected p-value: with R of m
    claims rejected, one more is rejected if its p-value is at most (R + 1) · alpha / (m · Σ 1/k).

    If no drawn table was as large as the observed one, the number of draws limits the p-value. Draw
    again for such claims, as often as a clear decision needs.
    """
    result = list(tested)
    adjusted, levels = [1.0] * len(result), [alpha] * len(result)
    for dependent in (False, True):
        kind = [k for k, t in enumerate(result) if t.claim.dependent == dependent and t.test.rows]
        needed = min(most_draws, _needed([result[k].test for k in kind], alpha))
        for k in kind:
            if _at_limit(result[k].test) and needed > result[k].test.draws:
                try:
                    result[k] = work.test(result[k].claim, needed)
                except work.deadline.out_of_time:
                    break
        if kind:
            from scipy import stats

            p_values = [result[k].test.p_value for k in kind]
            corrected = stats.false_discovery_control(p_values, method="by")
            rejected = int((corrected <= alpha).sum())
            for k, p_value in zip(kind, corrected.tolist(), strict=True):
                adjusted[k] = p_value
                wanted = rejected + (p_value > alpha)
                levels[k] = wanted * alpha / (len(kind) * _harmonic(len(kind)))
    return list(zip(result, adjusted, levels, strict=True))


def _harmonic(count: int) -> float:
    return sum(1 / k for k in range(1, count + 1))


def _at_limit(test: ConditionalTest) -> bool:
    """Return whether no drawn table was as large as the observed one."""
    return test.draws > 0 and not test.clear and test.p_value <= 1 / (1 + test.draws)


def _needed(tests: Sequence[ConditionalTest], alpha: float) -> int:
    """The draws that make the claims at their limit significant, if they stay there."""
    limited = [test.p_value for test in tests if _at_limit(test)]
    if not limited:
        return 0
    # All claims at their limit fall together, so the largest of them decides how small p must be.
    together = sum(_at_limit(test) or test.p_value <= min(limited) for test in tests)
    return ceil(len(tests) * _harmonic(len(tests)) / (alpha * together)) + 1


# -- the structure as a whole ----------------------------------------------------------------------


def _overall(
    work: _Work,
    structure: Structure,
    statistic: float,
    simulations: int,
    effort: Effort,
) -> Overall:
    """Compare the statistic with data sets drawn from the structure, fitted to the rows.

    The statistic does not use the weights, so nothing has to be fitted again to a drawn data set.
    """
    work = replace(work, dependencies=False)
    try:
        with work.deadline.enforced():
            model, exact = _fitted(work, structure)
    except work.deadline.out_of_time:
        return Overall(statistic, (), True)
    seeds = np.random.default_rng([work.seed, simulations]).integers(2**62, size=simulations)
    simulated = _run(
        effort, "simulating data sets", partial(_simulate, work, model), seeds.tolist(), simulations
    )
    return Overall(statistic, tuple(simulated), exact)


def _fitted(work: _Work, structure: Structure) -> tuple[LogLinear, bool]:
    """Fit the structure to the rows; also return whether sampling from it is exact.

    Every state gets a feature of its own, which makes no claim, so that the marginals are right.
    """
    from contextwise.distributions.fitting import fit
    from contextwise.distributions.inference import log_partition
    from contextwise.distributions.sampling import labels_of

    domain = structure.domain
    literals = {tuple(feature): None for feature in structure.features.literals()}
    for v, cardinality in enumerate(domain.cardinalities):
        # Features of single variables fit their margins; the last state follows from the others.
        literals |= {((v, 1 << state),): None for state in range(cardinality - 1)}
    whole = Structure(domain, features_of(domain, [list(feature) for feature in literals]))
    rows = labels_of(domain, work.rows.astype(np.int64))
    try:
        model = fit(whole, rows, method="likelihood").model
        log_partition(model)
    except TooLargeError:
        return fit(whole, rows).model, False
    return model, True


def _simulate(work: _Work, model: LogLinear, item: tuple[int, int]) -> list[float]:
    """Draw a data set and return its statistic; nothing if time is up."""
    from contextwise.distributions.sampling import draw

    def stop(done: int, total: int) -> None:
        work.deadline.check()

    try:
        work.deadline.check()
        drawn = draw(model, len(work.rows), rng=item[1], show_progress=stop).positions
    except work.deadline.out_of_time:
        return []
    simulated = replace(work, rows=drawn.astype(work.rows.dtype))
    tested = simulated.test_pairs(work.pairs.tolist(), both=False)
    if len(tested) < len(work.pairs):
        return []
    return [sum(claim.evidence for claims, _ in tested for claim in claims)]
