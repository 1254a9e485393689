"""Test a structure's independencies by the test that learners decide by: many and fast.

A claim that A and B are independent in a region is tested within the groups of its rows that agree
in the blankets of A and B. X² added over groups and the pooled test of what groups have in common
(`contextwise.evidence.independence_test`) each give a p-value; p is twice the smaller one.

Learners that repair a structure use it, and the overall test of `contextwise.check`, which tests
hundreds of simulated data sets. Verdicts for people come from `contextwise.evidence.claim_tests`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import log
from typing import NamedTuple

import numpy as np

from contextwise.evidence.counted_rows import CountedRows
from contextwise.evidence.independence_test import (
    PooledTests,
    evaluate_tables,
    gamma_tail,
    tables_within,
)
from contextwise.independence.claims import REGIONS, ClaimLister, group_rows
from contextwise.models.features import PairIndex
from contextwise.models.pair_regions import Claim
from contextwise.models.structure import Structure
from contextwise.support.arrays import FloatArray, IntArray
from contextwise.support.effort import NEVER, Deadline

ROWS_PER_GROUP = 5
"""Rows per group below which the groups are by the smaller blanket."""


class EvaluatedClaim(NamedTuple):
    """A claim of independence and its p-value; 1 if no row carries information."""

    claim: Claim
    p: float


def evaluate_claims(
    structure: Structure,
    table: CountedRows,
    pairs: Iterable[Sequence[int]] | None = None,
    *,
    regions: int = REGIONS,
    deadline: Deadline = NEVER,
) -> list[EvaluatedClaim]:
    """Test claims of independence about some pairs, or all; raise `OutOfTime` if it is late.

    ``regions`` is the number of regions per pair, those with most contexts.

    >>> structure = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
    >>> rows = np.array([[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]])
    >>> table = CountedRows(rows, np.full(4, 20), (2, 2, 2))
    >>> found = evaluate_claims(structure, table)[0]
    >>> found.claim.sentence, found.p < 1e-9
    ('A–B are independent when C=0', True)
    """
    lister, claims = ClaimLister(structure), list[Claim]()
    for i, j in combinations(range(len(structure.domain)), 2) if pairs is None else pairs:
        claims += lister.tested((i, j), regions, deadline).independent
    shapes: dict[tuple[int, ...], list[int]] = {}
    tables: list[FloatArray] = []
    for k, claim in enumerate(claims):
        deadline.check()
        tables.append(_tables_of(lister, table, claim))
        shapes.setdefault(tables[-1].shape[1:], []).append(k)
    p_values = np.ones(len(claims))
    for members in shapes.values():
        p_values[members] = _p_values([tables[k] for k in members])
    return [EvaluatedClaim(claim, p) for claim, p in zip(claims, p_values.tolist(), strict=True)]


def _tables_of(lister: ClaimLister, table: CountedRows, claim: Claim) -> FloatArray:
    """Return the informative tables of a claim, one for each group of its rows."""
    domain = lister.structure.domain
    pair, literals = domain.pair(claim.pair), domain.indexed(claim.region)
    inside = np.flatnonzero(table.inside(literals))
    found = [lister.blanket(v, literals).tolist() for v in pair]
    blankets = [[v for v in blanket if v not in pair] for blanket in found]
    given = sorted({*blankets[0], *blankets[1]})
    tables, groups = _within(table, pair, given, inside)
    if table.counts[inside].sum() < ROWS_PER_GROUP * groups:
        least = min(blankets, key=lambda each: sum(log(table.cardinalities[v]) for v in each))
        if len(least) < len(given):
            tables, _ = _within(table, pair, least, inside)
    return tables


def _within(
    table: CountedRows, pair: PairIndex, given: Sequence[int], inside: IntArray
) -> tuple[FloatArray, int]:
    """Return the informative tables in groups of rows, and the number of groups."""
    high, wide = (table.cardinalities[v] for v in pair)
    if table.compiled is not None:
        found = table.compiled.tables_within(inside, list(given), *pair)
        return found[:-1].reshape(-1, high, wide), int(found[-1])
    rows, counts = table.rows[inside], table.counts[inside]
    tables = tables_within(rows, counts, pair, (high, wide), group_rows(rows, given))
    varies = [(tables.any(axis=axis)).sum(axis=1) > 1 for axis in (1, 2)]
    return tables[varies[0] & varies[1] & (tables.sum(axis=(1, 2)) > 3)], len(tables)


def _p_values(of_claims: Sequence[FloatArray]) -> FloatArray:
    """Return the p-value of each claim; all tables have one shape."""
    # Fortran's order makes sums over the cells of many tables fast.
    tables = np.asfortranarray(np.concatenate(of_claims))
    owners = np.repeat(np.arange(len(of_claims)), [len(each) for each in of_claims])
    tests = evaluate_tables(tables)
    usable = tests.variance > 1e-12
    tables, owners = np.asfortranarray(tables[usable]), owners[usable]
    statistic, mean, variance = (
        np.bincount(owners, part[usable], minlength=len(of_claims)).astype(np.float64)
        for part in (np.maximum(tests.statistic, 0.0), tests.mean, tests.variance)
    )
    pooled = PooledTests(tables, np.searchsorted(owners, np.arange(len(of_claims) + 1)))
    smaller = np.minimum(gamma_tail(statistic, mean, variance), pooled.p)
    return np.asarray(np.minimum(1.0, np.where(pooled.is_valid, 2.0, 1.0) * smaller))
