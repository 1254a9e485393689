"""Fit each variable given all others, once; leave one of them out for each pair.

The logits have main effects of all columns, and those products of two columns that the residuals
ask for: all are scored at once, and the clearest are added (Bonferroni .01, at most twelve).
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from contextwise.evidence.coded_rows import CodedRows
from contextwise.evidence.logits import FIXED, KERNEL, Logit, Term, contrasts, score_contrasts
from contextwise.evidence.residual_products import Side
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
MOST_PARAMETERS = 1_500


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
    """The logits of all variables of some rows."""

    def __init__(self, rows: CodedRows, products: bool = True) -> None:
        self.rows, self.with_products = rows, products
        self.products: dict[int, list[Product]] = {}
        self._logits: dict[int, Logit] = {}

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
        for u, basis in enumerate(self.bases):
            if u != v:
                ridge, codes = RIDGE * scale * basis.scale, rows.codes[:, u]
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

        rows, others = self.rows, [u for u in range(len(self.rows.names)) if u != v]
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
        width, values_of, named = residuals.shape[1], [], []
        for a, u in enumerate(others):
            left = self.bases[u].candidates
            for b in range(a + 1, len(others)):
                right = self.bases[others[b]].candidates
                block = sums[starts[a] : ends[a], starts[b] : ends[b]]
                score = np.tensordot(left.T @ block[:, :, :width].swapaxes(0, 1), right, (0, 0))
                spread = np.tensordot(
                    (left**2).T @ block[:, :, width:].swapaxes(0, 1), right**2, (0, 0)
                )
                values_of.append((score**2 / np.maximum(spread, 2.0)).sum(axis=1).ravel())
                named.append((u, others[b], right.shape[1]))
        found = np.concatenate(values_of)
        starts_of = np.concatenate([[0], np.cumsum([len(v) for v in values_of])])
        products = []
        most = min(MOST_PRODUCTS, MOST_PRODUCT_SLOPES // width)
        for place in np.argsort(-found, kind="stable")[:most].tolist():
            if chdtrc(width, found[place]) * len(found) < SCREEN:
                pair = int(np.searchsorted(starts_of, place, side="right")) - 1
                u, other, count = named[pair]
                i, j = divmod(place - int(starts_of[pair]), count)
                products.append(Product((u, i), (other, j)))
        return products

    def side(self, v: int, other: int) -> Side:
        """Return a variable with its shares given all others but one."""
        if len(self.rows.names) == 2:
            states = int(self.rows.cards[v])
            share = np.bincount(self.rows.codes[:, v], self.rows.mass, minlength=states)
            shares = np.tile(share / share.sum(), (len(self.rows.counts), 1))
            return Side(self.rows.codes[:, v], shares, 0)
        fit, left_out = self.logit(v), frozenset([other])
        shares = fit.without(fit.parameters_of(left_out))
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


def columns_to_hold(
    rows: CodedRows, a: int, b: int, widths: IntArray, slopes: int, given: list[int]
) -> list[int]:
    """Return the variables of ``given`` that the rows can hold fixed, most associated first.

    At most a fifth as many columns as rows, and `MOST_PARAMETERS` coefficients.
    """
    most = min(COLUMN_SHARE * rows.total, MOST_PARAMETERS / max(slopes, 1))
    if widths[given].sum() <= most:
        return given
    strength = {v: max(association(rows, a, v), association(rows, b, v)) for v in given}
    ranked = sorted(given, key=lambda v: (-strength[v], rows.names[v]))
    used = np.cumsum(widths[ranked])
    return sorted(v for v, columns in zip(ranked, used, strict=True) if columns <= most)


def association(rows: CodedRows, a: int, b: int) -> float:
    """Return chi-square per degree of freedom of two variables."""
    table = np.zeros((rows.cards[a], rows.cards[b]))
    np.add.at(table, (rows.codes[:, a], rows.codes[:, b]), rows.mass)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    freedom = (len(table) - 1) * (table.shape[1] - 1)
    return float(((table - expected) ** 2 / np.maximum(expected, 1e-9)).sum() / freedom)
