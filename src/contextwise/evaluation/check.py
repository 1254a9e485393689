"""What rows say about the claims of a structure: every test, and what was decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from contextwise.comparison.pairs import Pair, all_pairs
from contextwise.comparison.question import pose
from contextwise.errors import ContextwiseError, DomainError, require
from contextwise.evaluation.claims import (
    Claim,
    ClaimSource,
    NamedClaim,
    group_rows,
    name_claim,
    rows_in,
)
from contextwise.evaluation.conditional_test import ConditionalTest, conditional_test
from contextwise.formats import ModelLike
from contextwise.models.domain import Assignment, Domain
from contextwise.models.features import Features, IntArray
from contextwise.support.maps import choose_map
from contextwise.support.progress import Progress, progress_of
from contextwise.support.showing import Printed

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

__all__ = ["Check", "CheckedClaim", "check"]


@dataclass(frozen=True)
class CheckedClaim(NamedClaim):
    """One claim and what the rows say about it.

    Attributes
    ----------
    pair : the names
    dependent : what the structure claims about them in this region
    literals : where the region is; none for every context
    rows : how many rows lie in the region
    blanket_of : the variable whose blanket makes the groups
    test : the test within these groups
    both : the test within groups by the blankets of both variables
    adjusted : the p-value after Benjamini and Yekutieli, among all claims of its kind

    Examples
    --------
    >>> from contextwise import Structure
    >>> from contextwise.evaluation import check
    >>> rows = [[0, 0], [1, 1]] * 20
    >>> [claim] = check(Structure({"A": 2, "B": 2}), rows).claims
    >>> claim.pair, claim.dependent, claim.rows, round(claim.test.bits, 1)
    (('A', 'B'), False, 40, 1.0)
    """

    rows: int
    blanket_of: str
    test: ConditionalTest
    both: ConditionalTest
    adjusted: float

    @property
    def speaks(self) -> bool:
        """Whether any row can speak about it."""
        return self.test.rows > 0

    def record(self) -> dict[str, object]:
        """The claim as one flat mapping."""
        return {
            **self.claim_record(),
            "rows": self.rows,
            "speaking_rows": self.test.rows,
            "groups": self.test.groups,
            "silent_groups": self.test.silent,
            "blanket_of": self.blanket_of,
            "statistic": self.test.statistic,
            "bits": self.test.bits,
            "p_value": self.test.p_value if self.speaks else None,
            "p_value_both_blankets": self.both.p_value if self.both.rows else None,
            "adjusted_p_value": self.adjusted if self.speaks else None,
            "draws": self.test.draws,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Check(Printed):
    """All claims that were put to the rows.

    Attributes
    ----------
    domain : the variables
    claims : every claim that was tested, in the order of the pairs
    rows : how many rows there were
    pairs : how many pairs were looked at
    left_out : how many regions with fewer rows were not tested
    alpha : the false discovery rate

    Examples
    --------
    >>> from contextwise import Structure
    >>> from contextwise.evaluation import check
    >>> rows = [[0, 0], [1, 1]] * 20
    >>> found = check(Structure({"A": 2, "B": 2}), rows)
    >>> found
    Check(1 claims, 1 contradicted, 0 shown, 0 silent)
    >>> found.records()[0]["speaking_rows"]
    40
    """

    domain: Domain
    claims: tuple[CheckedClaim, ...]
    rows: int
    pairs: int
    left_out: int
    alpha: float

    def of(self, dependent: bool) -> list[CheckedClaim]:
        """The claims of one kind that rows can speak about, the smallest p-value first."""
        own = [c for c in self.claims if c.dependent == dependent and c.speaks]
        return sorted(own, key=lambda c: (c.adjusted, c.test.p_value, -c.test.bits))

    @property
    def contradicted(self) -> list[CheckedClaim]:
        """The claimed independencies that the rows contradict, the strongest first."""
        return [claim for claim in self.of(False) if claim.adjusted <= self.alpha]

    @property
    def shown(self) -> list[CheckedClaim]:
        """The claimed dependencies that the rows show."""
        return [claim for claim in self.of(True) if claim.adjusted <= self.alpha]

    @property
    def silent(self) -> list[CheckedClaim]:
        """The claims about which no row can speak."""
        return [claim for claim in self.claims if not claim.speaks]

    @property
    def undecided(self) -> list[CheckedClaim]:
        """The claims for which too few tables were drawn to decide."""
        return [c for c in self.claims if c.speaks and not c.test.clear and c.adjusted > self.alpha]

    def records(self) -> list[dict[str, object]]:
        """Every claim as a flat mapping, with what was decided."""
        found = {id(c) for c in (*self.contradicted, *self.shown)}
        return [{**c.record(), "rows_show_dependence": id(c) in found} for c in self.claims]

    def __repr__(self) -> str:
        return (
            f"Check({len(self.claims)} claims, {len(self.contradicted)} contradicted, "
            f"{len(self.shown)} shown, {len(self.silent)} silent)"
        )


# -- Do rows agree with a structure? Every claim of independence, region by region, put to a test.


BATCH = 32
"""How many pairs one unit of work tests."""
FIRST_DRAWS = 1_999
"""Tables drawn for a claim before it is known how small a p-value must be."""


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
    rng: Seed = 0,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> Check:
    """Test the claims of a structure against rows.

    Parameters
    ----------
    model : model, or path of a model file
        Only its structure matters.
    rows : rows of observed assignments
        See `Domain.encode` for what rows can be. They must be independent of each other, and not
        those that the model was learned from.
    pairs : pairs of names, optional
        Only these pairs.
    variables : names, optional
        Only the pairs inside this set.
    context : partial assignment, optional
        Only contexts and rows that agree with it.
    regions : int
        How many regions of each kind are tested for a pair, those with most rows.
    dependencies : bool
        Whether claimed dependencies are tested as well.
    alpha : float
        The false discovery rate, for each of the two kinds of claims.
    draws : int
        The most tables that are drawn for one claim, where the null cannot be computed.
    rng : generator or seed
        Equal seeds give equal results, whatever the number of processes.
    n_jobs : int
        How many processes test; -1 means one per core.
    cluster : address of a Dask scheduler, or a Dask client
        Goes before ``n_jobs``.
    show_progress : bool or function
        A line on standard error, or a function of (pairs done, pairs in all).

    Returns
    -------
    Check

    Raises
    ------
    DomainError
        If there are no rows, or none that agrees with the context.

    Examples
    --------
    The structure has A and B independent where C=0; in the rows they are equal there, too.

    >>> from contextwise import Structure
    >>> model = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> found = check(model, rows)
    >>> [(claim.pair, claim.when) for claim in found.contradicted]
    [(('A', 'B'), 'C=0')]
    """
    if regions < 1:
        raise ContextwiseError(f"regions is a number from 1 up, not {regions}")
    if not 0 < alpha < 1:
        raise ContextwiseError(f"alpha is a rate between 0 and 1, not {alpha}")
    if draws < 1:
        raise ContextwiseError(f"draws is a number from 1 up, not {draws}")
    question = pose([model], pairs=pairs, variables=variables, context=context, data=rows)
    (structure,), domain, table = question.structures, question.domain, question.rows
    if table is None or not len(table):
        why = "no row agrees with the context" if context else "there are no rows"
        raise DomainError(f"{why}, so there is nothing to check")
    asked = all_pairs(range(len(domain))) if question.asked is None else question.asked
    work = _Work(
        features=structure.features,
        rows=table.astype(np.min_scalar_type(int(max(domain.cardinalities, default=1)))),
        regions=regions,
        dependencies=dependencies,
        seed=int(np.random.default_rng(rng).integers(2**62)),
    )
    tested = list(_run(work, asked, n_jobs, cluster, show_progress))
    raw = [claim for found in tested for claim in found.claims]
    left_out = sum(found.left_out for found in tested)
    tests = _decide(work, raw, alpha, draws)
    claims = tuple(_named(domain, *one) for one in tests)
    return Check(domain, claims, len(table), len(asked), left_out, alpha)


# -- testing -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tested:
    """A claim, how many rows lie in its region, and its tests: with one blanket, and with both."""

    claim: Claim
    rows: int
    blanket_of: int
    test: ConditionalTest
    both: ConditionalTest


@dataclass(frozen=True)
class _OfPair:
    claims: list[_Tested]
    left_out: int


@dataclass(frozen=True, eq=False)
class _Work:
    """What every test needs; it travels to other processes."""

    features: Features
    rows: npt.NDArray[Any]
    regions: int
    dependencies: bool
    seed: int

    def test_pair(self, source: ClaimSource, pair: tuple[int, int]) -> _OfPair:
        """The tests of a pair's claims: the regions with most rows, of each kind."""
        found = list(source.claims(pair))
        kept, left_out = [], 0
        for dependent in (False, True)[: 1 + self.dependencies]:
            own = [claim for claim in found if claim.dependent == dependent]
            counts = [int(rows_in(self.rows, claim.literals).sum()) for claim in own]
            order = sorted(range(len(own)), key=lambda k: -counts[k])
            kept += [own[k] for k in order[: self.regions]]
            left_out += len(order[self.regions :])
        return _OfPair([self.test(source, claim, FIRST_DRAWS) for claim in kept], left_out)

    def test(self, source: ClaimSource, claim: Claim, draws: int) -> _Tested:
        """One claim put to the test."""
        rows = self.rows[rows_in(self.rows, claim.literals)]
        blankets = [source.blanket(v, claim.literals) for v in claim.pair]
        sides = [np.setdiff1d(blanket, claim.pair) for blanket in blankets]
        groups = [group_rows(rows, side) for side in sides]
        side = int(groups[1].max(initial=0) < groups[0].max(initial=0))
        together = group_rows(rows, np.union1d(*sides))
        first, second = (rows[:, v].astype(np.int64) for v in claim.pair)
        tests = [
            conditional_test(first, second, own, rng=self.generator(claim, draws), draws=draws)
            for own in (groups[side], together)
        ]
        return _Tested(claim, len(rows), claim.pair[side], tests[0], tests[1])

    def generator(self, claim: Claim, draws: int) -> np.random.Generator:
        """A generator that is the claim's own, wherever it is tested."""
        place = [number for literal in claim.literals for number in literal]
        entropy = [self.seed, *claim.pair, int(claim.dependent), draws, *place]
        return np.random.default_rng(entropy)


def _run(
    work: _Work, pairs: IntArray, n_jobs: int, cluster: Any, show_progress: bool | Progress
) -> Iterator[_OfPair]:
    """The tests of all pairs, in the order of the pairs."""
    batches = [pairs[first : first + BATCH].tolist() for first in range(0, len(pairs), BATCH)]
    found: dict[int, list[_OfPair]] = {}
    done = 0
    with progress_of(show_progress, "testing pairs") as progress:
        for unit in choose_map(n_jobs=n_jobs, cluster=cluster)(
            partial(_test_batch, work), enumerate(batches)
        ):
            if unit.value is None:
                raise ContextwiseError(f"testing failed {unit.tries} times: {unit.error}")
            found[unit.item[0]] = unit.value
            done += len(unit.value)
            if progress:
                progress(done, len(pairs))
    for _, batch in sorted(found.items()):
        yield from batch


def _test_batch(work: _Work, batch: tuple[int, list[list[int]]]) -> list[_OfPair]:
    source = ClaimSource(work.features)
    return [work.test_pair(source, (i, j)) for i, j in batch[1]]


# -- deciding ------------------------------------------------------------------------------------


def _decide(
    work: _Work, tested: Sequence[_Tested], alpha: float, most_draws: int
) -> list[tuple[_Tested, float]]:
    """Each claim with its p-value after Benjamini and Yekutieli, in its own kind.

    Where tables were drawn and none was as large as the observed one, the p-value is limited by the
    number of draws. Such claims are drawn for again, as often as a clear decision needs.
    """
    result, source = list(tested), ClaimSource(work.features)
    adjusted = [1.0] * len(result)
    for dependent in (False, True):
        own = [k for k, t in enumerate(result) if t.claim.dependent == dependent and t.test.rows]
        needed = min(most_draws, _needed([result[k].test for k in own], alpha))
        for k in own:
            if _at_limit(result[k].test) and needed > result[k].test.draws:
                result[k] = work.test(source, result[k].claim, needed)
        p_values = _adjusted([result[k].test.p_value for k in own])
        for k, p_value in zip(own, p_values, strict=True):
            adjusted[k] = p_value
    return list(zip(result, adjusted, strict=True))


def _at_limit(test: ConditionalTest) -> bool:
    """Whether no drawn table was as large as the observed one."""
    return test.draws > 0 and not test.clear and test.p_value <= 1 / (1 + test.draws)


def _needed(tests: Sequence[ConditionalTest], alpha: float) -> int:
    """So many draws make the claims that are at their limit significant, if they stay there."""
    limited = sum(map(_at_limit, tests))
    if not limited:
        return 0
    small = min(test.p_value for test in tests if _at_limit(test))
    together = limited + sum(not _at_limit(test) and test.p_value <= small for test in tests)
    harmonic = sum(1 / k for k in range(1, len(tests) + 1))
    return ceil(len(tests) * harmonic / (alpha * together)) + 1


def _adjusted(p_values: Sequence[float]) -> list[float]:
    if not p_values:
        return []
    stats = require("scipy.stats", "statistics")
    adjusted: list[float] = stats.false_discovery_control(p_values, method="by").tolist()
    return adjusted


def _named(domain: Domain, tested: _Tested, adjusted: float) -> CheckedClaim:
    """The result as people read it: names for positions."""
    return CheckedClaim(
        *name_claim(domain, tested.claim),
        rows=tested.rows,
        blanket_of=domain.names[tested.blanket_of],
        test=tested.test,
        both=tested.both,
        adjusted=adjusted,
    )
