"""A hierarchical log-linear model by stepwise BIC, as R's ``step`` finds it from independence."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import log, prod

import numpy as np
import numpy.typing as npt

from contextwise.convert import from_generators
from contextwise.learning import Data, Learner
from contextwise.learning.base import Run
from contextwise.models.structure import Structure

Term = frozenset[int]
Table = npt.NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class Step(Learner):
    """Add or drop the term that lowers BIC most, until none does."""

    def learn(self, data: Data, run: Run) -> Structure:
        """Return the structure of the chosen model."""
        cards = data.domain.cardinalities
        table = np.zeros(cards)
        np.add.at(table, tuple(data.expanded.rows.T), 1.0)
        terms = {frozenset([v]) for v in range(len(cards))}
        fitted = _fit(table, terms, np.ones(cards))
        best = _bic(table, fitted, terms)
        while not run.is_late():
            options = []
            for changed in _neighbours(terms, len(cards)):
                start = fitted if changed > terms else np.ones(cards)
                candidate = _fit(table, changed, start)
                options.append((_bic(table, candidate, changed), changed, candidate))
                if run.is_late():
                    break
            value, changed, candidate = min(options, key=lambda option: option[0])
            if value >= best - 1e-6:
                break
            best, terms, fitted = value, changed, candidate
        names = data.domain.names
        return from_generators([[names[v] for v in term] for term in terms], data.domain)


def _neighbours(terms: set[Term], count: int) -> Iterator[set[Term]]:
    """Yield the hierarchical models with one term more or one less."""
    for size in range(2, count + 1):
        for variables in combinations(range(count), size):
            term = frozenset(variables)
            if term not in terms and all(term - {v} in terms for v in term):
                yield {*terms, term}
    for term in terms:
        if len(term) > 1 and not any(term < other for other in terms):
            yield terms - {term}


def _fit(table: Table, terms: Collection[Term], fitted: Table) -> Table:
    """Fit a hierarchical model by iterative proportional fitting."""
    largest = [term for term in terms if not any(term < other for other in terms)]
    sums = [tuple(v for v in range(table.ndim) if v not in term) for term in largest]
    margins = [table.sum(axis=axes, keepdims=True) for axes in sums]
    for _ in range(200):
        before = fitted
        for axes, margin in zip(sums, margins, strict=True):
            whole = fitted.sum(axis=axes, keepdims=True)
            fitted = fitted * np.divide(margin, whole, out=np.zeros_like(whole), where=whole > 0)
        if np.abs(fitted - before).max() < 1e-3:
            break
    return fitted


def _bic(table: Table, fitted: Table, terms: Collection[Term]) -> float:
    seen = table > 0
    total = table.sum()
    likelihood = float((table[seen] * np.log(np.maximum(fitted[seen], 1e-300) / total)).sum())
    free = sum(prod(table.shape[v] - 1 for v in term) for term in terms)
    return float(free * log(total) - 2 * likelihood)
