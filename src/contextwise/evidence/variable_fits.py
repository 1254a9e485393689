"""Fit each variable given all others, once; leave one of them out for each pair.

The logits have main effects of all columns, and those products of two columns that the residuals
ask for: all are scored at once, and the clearest are added (Bonferroni .01, at most twelve).

With many columns a variable is fitted given those most associated with it. What is left out biases
a test only by the product of what both logits miss.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from contextwise.evidence.coded_rows import CodedRows
from contextwise.evidence.logits import (
    FIXED,
    KERNEL,
    Logit,
    Term,
    contrasts,
    score_contrasts,
    sums_by_code,
)
from contextwise.evidence.residual_products import Side, rao_scott, sums_by_cluster
from contextwise.support.arrays import FloatArray, IntArray

RIDGE = 0.1
"""Prior precision of each log odds ratio between two states of both variables."""
SCREEN = 0.01
MOST_PRODUCTS, MOST_PRODUCT_SLOPES = 12, 60
"""Products in one logit, and their coefficients: responses with many states have fewer."""
ROWS_PER_COLUMN = 20
"""Rows per column needed to code ordered variables by all their states."""
COLUMN_SHARE = 0.2
"""Columns per row that can be held fixed."""
MOST_CANDIDATES, SUBJECTS_PER_PRODUCT = 60, 10
"""Products that are tested by subject; subjects needed for each."""
MOST_PARAMETERS = 500
"""Coefficients of one logit, without those of products."""
MOST_ADDITIONS = 1e6
"""Additions of one Hessian, above which few of many variables are held fixed."""
MANY_HELD, ENOUGH_HELD = 30, 20
"""More than the first are many; the second is held then."""


class Basis(NamedTuple):
    """The functions of a variable in a logit, and the candidates for products."""

    functions: FloatArray  # (states, functions), with mean zero over the rows
    scale: float  # of the ridge: the squared distance of two states
    candidates: FloatArray
    labels: tuple[str, ...]  # of the candidates


class Product(NamedTuple):
    """A product of two candidate functions."""

    first: tuple[int, int]  # variable and candidate
    second: tuple[int, int]


class Fits:
    """The logits of all variables of some rows; all hold ``always`` fixed."""

    def __init__(self, rows: CodedRows, products: bool = True, always: Sequence[int] = ()) -> None:
        self.rows, self.with_products, self.always = rows, products, always
        self.products: dict[int, list[Product]] = {}
        self._logits: dict[int, Logit] = {}
        self._shares: dict[int, FloatArray] = {}
        self._held: dict[int, list[int]] = {}

    def held(self, v: int) -> list[int]:
        """Return the variables that the logit of a variable holds fixed."""
        if v not in self._held:
            others, rows, slopes = self._others(v), self.rows, self.slopes(v)
            held = columns_to_hold(rows, [v], self.widths, slopes, others)
            additions = len(rows.counts) * (len(held) * slopes) ** 2 / 2
            if additions > MOST_ADDITIONS and len(held) > MANY_HELD:
                held = strongest_first(rows, [v], held)[:ENOUGH_HELD]
            self._held[v] = sorted({*held, *(u for u in self.always if u != v)})
        return self._held[v]

    def _others(self, v: int) -> list[int]:
        return [u for u in range(len(self.rows.names)) if u != v]

    @cached_property
    def is_coarse(self) -> bool:
        """True if ordered variables enter by their score and its square."""
        return int((self.rows.cards - 1).sum()) * ROWS_PER_COLUMN > self.rows.total

    @cached_property
    def bases(self) -> list[Basis]:
        """The functions of each variable."""
        return [self._basis(v) for v in range(len(self.rows.names))]

    @cached_property
    def widths(self) -> IntArray:
        """The number of columns of each variable."""
        return np.array([basis.functions.shape[1] for basis in self.bases])

    def slopes(self, v: int) -> int:
        """Return the coefficients per column in the logit of a variable.

        With few rows, columns move an ordered variable up or down, and to the middle or the ends.
        """
        states = int(self.rows.cards[v])
        return 2 if self.rows.ordered[v] and states > 3 and self.is_coarse else states - 1

    def _basis(self, v: int) -> Basis:
        rows, name = self.rows, self.rows.names[v]
        states, codes = int(rows.cards[v]), rows.codes[:, v]
        share = np.bincount(codes, rows.counts, minlength=states) / rows.total
        if rows.ordered[v] and states > 3 and self.is_coarse:
            z = np.arange(states) - share @ np.arange(states)
            z = z / np.sqrt(share @ z**2)
            functions = np.column_stack([z, z**2])
            functions -= share @ functions
            return Basis(functions, 1.0, functions, (name, f"{name}²"))
        functions = contrasts(states)
        candidates = np.eye(states)[:, : 1 if states == 2 else states]
        labels = tuple(f"{name}={state}" for state in rows.states[v])
        return Basis(functions - share @ functions, 2.0, candidates - share @ candidates, labels)

    def logit(self, v: int) -> Logit:
        """Return the logit of a variable given all others."""
        if v not in self._logits:
            fit = Logit(*self._parts(v, []))
            fit.fit()
            chosen = self._products(v, fit) if self.with_products else []
            if chosen:
                main = len(fit.theta)
                start = fit.theta
                fit = Logit(*self._parts(v, chosen))
                fit.theta[:main] = start
                fit.fit()
            self.products[v], self._logits[v] = chosen, fit
        return self._logits[v]

    def response(self, v: int) -> tuple[FloatArray, float]:
        """Return the slopes of a response and the scale of its ridge."""
        states = int(self.rows.cards[v])
        if self.slopes(v) < states - 1:
            return score_contrasts(states), 1.0
        return contrasts(states), 2.0

    def _parts(
        self, v: int, products: list[Product]
    ) -> tuple[list[Term], FloatArray, IntArray, FloatArray]:
        """Return the terms, slopes, states and weights of the logit of a variable."""
        rows, high = self.rows, self.slopes(v)
        slopes, scale = self.response(v)
        constant = np.zeros(len(rows.counts), dtype=np.int64)
        terms = [Term(constant, np.ones((1, 1)), 0, slopes.shape[1], FIXED)]
        for u in self.held(v):
            basis, codes = self.bases[u], rows.codes[:, u]
            ridge = RIDGE * scale * basis.scale
            terms.append(Term(codes, basis.functions, 0, high, ridge, frozenset([u])))
        for product in products:
            codes, basis_of = self._codes(product)
            owners = frozenset([product.first[0], product.second[0]])
            terms.append(Term(codes, basis_of, 0, high, RIDGE * scale, owners))
        return terms, slopes, rows.codes[:, v], rows.mass

    def _codes(self, product: Product) -> tuple[IntArray, FloatArray]:
        """Return a code per row of a product, and its value at each code."""
        rows = self.rows
        (u, i), (w, j) = product
        table = np.outer(self.bases[u].candidates[:, i], self.bases[w].candidates[:, j])
        values, place = np.unique(table.round(12), return_inverse=True)
        codes = place.reshape(table.shape)[rows.codes[:, u], rows.codes[:, w]]
        share = np.bincount(codes, rows.counts, minlength=len(values)) / rows.total
        return codes, (values - share @ values)[:, None]

    def _products(self, v: int, fit: Logit) -> list[Product]:
        """Return the products of two candidates with a clear score, the clearest first.

        The score of a product is the sum over the rows of product times residual. All come from
        the sums of residuals, and of their squares, by each pair of states.
        """
        from scipy.special import chdtrc

        rows, others = self.rows, self.held(v)
        if len(others) < 2:
            return []
        moved = fit.slopes[:, : self.slopes(v)]
        residuals = moved[rows.codes[:, v]] - fit.evaluate(fit.theta)[0] @ moved
        values = np.hstack(
            [
                residuals * rows.mass[:, None],
                residuals**2 * (rows.mass * rows.weights)[:, None],
            ]
        )
        ends = np.cumsum(rows.cards[others])
        starts = (ends - rows.cards[others]).astype(np.int64)
        codes = np.ascontiguousarray(rows.codes[:, others])
        function = cross_sums_in_python if KERNEL is None else KERNEL.cross_sums
        sums = function(codes, starts, int(ends[-1]), np.ascontiguousarray(values))
        candidates = block_diagonal([self.bases[u].candidates for u in others])
        width = residuals.shape[1]
        blocks = (candidates, sums[..., :width]), (candidates**2, sums[..., width:])
        score, spread = (
            np.stack([table.T @ part @ table for part in np.moveaxis(block, 2, 0)])
            for table, block in blocks
        )
        value = (score**2 / np.maximum(spread, 2.0)).sum(axis=0)
        owner = np.repeat(others, [self.bases[u].candidates.shape[1] for u in others])
        first = np.searchsorted(owner, owner)  # others are rising
        lefts, rights = np.nonzero(owner[:, None] < owner)
        found = value[lefts, rights]
        most = min(MOST_PRODUCTS, MOST_PRODUCT_SLOPES // width)
        if rows.clusters is not None:
            most = min(most, (int(rows.clusters.max()) + 1) // SUBJECTS_PER_PRODUCT)
        clear: list[tuple[float, Product]] = []
        for place in np.argsort(-found, kind="stable")[:MOST_CANDIDATES].tolist():
            p = float(chdtrc(width, found[place]))
            if p * len(found) >= SCREEN or (rows.clusters is None and len(clear) >= most):
                break
            ends_of = (int(lefts[place]), int(rights[place]))
            i, j = ((int(owner[k]), int(k - first[k])) for k in ends_of)
            if rows.clusters is not None:
                p = self._p_by_subject(Product(i, j), residuals)
            if p * len(found) < SCREEN:
                clear.append((p, Product(i, j)))
        if rows.clusters is not None:
            clear.sort(key=lambda each: each[0])
        return [product for _, product in clear[:most]]

    def _p_by_subject(self, product: Product, residuals: FloatArray) -> float:
        """Return the p-value of the score of a product, from its sums over subjects."""
        rows = self.rows
        assert rows.clusters is not None
        codes, values = self._codes(product)
        score = values[codes] * residuals
        own = sums_by_cluster(rows.clusters, rows.mass[:, None] * score)
        root = 1 / np.sqrt(np.maximum((rows.mass * rows.weights) @ score**2, 2.0))
        statistic = float(((own.sum(axis=0) * root) ** 2).sum())
        away = (own - own.mean(axis=0)) * root
        units = len(own)
        return rao_scott(statistic, away.T @ away * (units / max(units - 1, 1)), units)[0]

    def side(self, v: int, other: int) -> Side:
        """Return a variable with its shares given all others but one."""
        if len(self.rows.names) == 2:
            states = int(self.rows.cards[v])
            share = np.bincount(self.rows.codes[:, v], self.rows.mass, minlength=states)
            shares = np.tile(share / share.sum(), (len(self.rows.counts), 1))
            return Side(self.rows.codes[:, v], shares, 0)
        fit, left_out = self.logit(v), frozenset([other])
        out = fit.parameters_of(left_out)
        if not len(out) and v not in self._shares:
            self._shares[v] = fit.without(out)
        shares = fit.without(out) if len(out) else self._shares[v]
        return Side(self.rows.codes[:, v], shares, fit.columns_without(left_out))

    def named(self, v: int, other: int) -> tuple[str, ...]:
        """Return the products in the logit of a variable that do not involve another one."""
        self.logit(v)
        return tuple(
            " × ".join(self.bases[u].labels[i] for u, i in product)
            for product in self.products[v]
            if other not in (product.first[0], product.second[0])
        )


def cross_sums_in_python(
    codes: IntArray, starts: IntArray, size: int, values: FloatArray
) -> FloatArray:
    """Return the sums of values by the codes of each pair of columns; twin of ``logits.cpp``."""
    result = np.zeros((size, size, values.shape[1]))
    places = codes + starts
    for i in range(codes.shape[1]):
        for j in range(i + 1, codes.shape[1]):
            np.add.at(result, (places[:, i], places[:, j]), values)
    return result


def block_diagonal(blocks: Sequence[FloatArray]) -> FloatArray:
    """Return a matrix with these blocks on its diagonal."""
    ends = np.cumsum([block.shape for block in blocks], axis=0)
    result = np.zeros(ends[-1])
    for block, (row, column) in zip(blocks, ends.tolist(), strict=True):
        result[row - block.shape[0] : row, column - block.shape[1] : column] = block
    return result


def columns_to_hold(
    rows: CodedRows,
    of: Sequence[int],
    widths: IntArray,
    slopes: int,
    given: list[int],
    share: float = COLUMN_SHARE,
) -> list[int]:
    """Return the variables of ``given`` that the rows can hold fixed, most associated first.

    At most ``share`` as many columns as rows, and `MOST_PARAMETERS` coefficients. ``of`` are the
    variables that they are to be associated with.
    """
    most = min(share * rows.total, MOST_PARAMETERS / max(slopes, 1))
    if widths[given].sum() <= most:
        return given
    ranked = strongest_first(rows, of, given)
    used = np.cumsum(widths[ranked])
    return sorted(v for v, columns in zip(ranked, used, strict=True) if columns <= most)


def strongest_first(rows: CodedRows, of: Sequence[int], given: Sequence[int]) -> list[int]:
    """Return variables in the order of their association with one of some variables."""
    strength = np.max([associations(rows, v) for v in of], axis=0)
    return sorted(given, key=lambda v: (-strength[v], rows.names[v]))


def associations(rows: CodedRows, v: int) -> FloatArray:
    """Return chi-square per degree of freedom of a variable and each variable."""
    ends = np.cumsum(rows.cards)
    starts = (ends - rows.cards).astype(np.int64)
    states = np.eye(int(rows.cards[v]))[rows.codes[:, v]] * rows.mass[:, None]
    table = sums_by_code(rows.codes, starts, int(ends[-1]), states)
    expected = table.sum(axis=1, keepdims=True) * table[starts[v] : ends[v]].sum(axis=0)
    expected /= rows.mass.sum()
    square = ((table - expected) ** 2 / np.maximum(expected, 1e-9)).sum(axis=1)
    freedom = np.maximum((rows.cards - 1) * (rows.cards[v] - 1), 1)
    return np.asarray(np.add.reduceat(square, starts) / freedom)
