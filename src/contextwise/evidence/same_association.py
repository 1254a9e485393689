"""Test whether the association of two variables is the same in all states of a third one.

The two variables a and b are one response whose states are the pairs of theirs. Its logit given the
third variable g and the others R has, for each state of g, main effects of a and of b, and of all R
on both::

    log p(a, b | R, g) = association(a, b) + main(a, g) + main(b, g) + R·(a, g) + R·(b, g) + const

A score test asks whether the association must differ by g as well. a and b have the same place in
the model, so the test is symmetric. Between ordered variables, what may differ by g is the product
of their scores (one degree of freedom); two states count as ordered. What they have in common may
be curved: else a slope that changes along b would look as if it changed along a g that goes with b.
An ordered g is tested for a linear change, too, which has most of the level (`either`).
"""

from __future__ import annotations

from dataclasses import replace
from math import exp, prod, sqrt

import numpy as np

from contextwise.evidence.coded_rows import CodedRows, folded_to
from contextwise.evidence.logits import FIXED, Logit, Term, contrasts, score_contrasts
from contextwise.evidence.pair_effects import effects_of, reference_of, variance_of_sum
from contextwise.evidence.pair_records import Interaction, PairEffect, StateEffects
from contextwise.evidence.pair_verdicts import either
from contextwise.evidence.residual_products import (
    TIED,
    chi_square_tail,
    rao_scott,
    sums_by_cluster,
)
from contextwise.evidence.variable_fits import COLUMN_SHARE, RIDGE, Fits, columns_to_hold
from contextwise.support.arrays import FloatArray
from contextwise.support.statistics import Z

LEAST_ROWS_PER_STATE = 20
"""Rows of a state of g that takes part."""
MOST_STATES_OF_PAIR, MOST_ORDERED_STATES = 5, 7
"""States of a and b; the rarest are one, and neighbours of ordered ones merge."""
MOST_CURVES = 12
"""Curved parts of the common association; if there are more, only those of squared scores."""
SHARE_OF_EFFECTS = 0.1
"""Columns per row that are held fixed for the effects in a state: with more, they are too large."""
WEAK = 0.01
"""Ridge of the main effects of groups, and of curves."""
LIKELIHOOD_BELOW = 0.1  # p of the score test, where few rows in a cell may have made it small
LEAST_SCORE_INFORMATION = 0.25


def compare_associations(
    rows: CodedRows,
    a: int,
    b: int,
    by: int,
    *,
    of: int | None = None,
    effects: bool = True,
    level: float = 0.05,
    known: Interaction | None = None,
) -> Interaction:
    """Test that a and b have the same association in all states of ``by``, all others held fixed.

    The effects within states are measured if p is at most ``level``: those on the variable ``of``,
    or on that with fewer states. ``known`` has the test, if another form of the question was asked.
    """
    names = rows.names
    found = Interaction((names[a], names[b]), names[by], "could not be tested", None, None, "")
    part = _usable(rows, a, b, by)
    if part is None and len(names) == 3 and rows.is_simple and (rows.cards == 2).all():
        table = np.zeros((2, 2, 2))
        np.add.at(table, tuple(rows.codes[:, [by, a, b]].T), rows.counts)
        exact = exact_p(table)
        if exact is not None:
            return replace(found, p=exact, freedom=1, method="exact")
    if part is None:
        states = f"{LEAST_ROWS_PER_STATE} rows in which both vary"
        return replace(found, reason=f"fewer than two states of {names[by]} have {states}")
    place = {name: k for k, name in enumerate(part.names)}
    first, second = sorted((a, b), key=lambda v: names[v])
    others = [k for k, name in enumerate(part.names) if name not in (names[a], names[b], names[by])]
    triple = place[names[first]], place[names[second]], place[names[by]]
    model = _Model(part, *triple, others)
    if known is not None and known.p is not None:
        p, trend, freedom, method = known.p, None, known.freedom, known.method
    else:
        p, trend, freedom, method = model.test()
    if not freedom:
        return replace(found, reason=f"too little varies within the states of {names[by]}")
    ratio = model.ratio() if model.is_single else (None, None, None)
    within: tuple[StateEffects, ...] = ()
    if effects and p <= level:
        within = _states(rows, a, b, by, of)
    return replace(
        found,
        p=p,
        freedom=freedom,
        trend_p=trend,
        states=within,
        ratio=ratio[0],
        ratio_low=ratio[1],
        ratio_high=ratio[2],
        given=tuple(part.names[k] for k in model.held),
        left_out=tuple(n for n in names if n not in (names[a], names[b], names[by])
                       and n not in {part.names[k] for k in model.held}),
        method=method,
    )  # fmt: skip


def exact_p(table: FloatArray) -> float | None:
    """Return the exact p-value that both 2 x 2 tables have one odds ratio (Zelen 1971).

    Given all two-way margins one count is free: moving ``d`` observations adds d to four cells and
    takes d from the others. Tables at most as likely as the observed one count. None if there is no
    other table.

    >>> round(exact_p(np.array([[[3, 0], [0, 3]], [[0, 3], [3, 0]]])), 4)
    0.0122
    """
    from scipy.special import gammaln

    signs = np.array([1, -1, -1, 1, -1, 1, 1, -1])
    cells = np.asarray(table, dtype=np.float64).ravel()
    moves = np.arange(-cells[signs > 0].min(), cells[signs < 0].min() + 1)
    if len(moves) == 1:
        return None
    logs = -gammaln(cells + 1 + moves[:, None] * signs).sum(axis=1)
    chances = np.exp(logs - logs.max())
    observed = chances[moves == 0][0]
    return float(chances[chances <= observed * (1 + TIED)].sum() / chances.sum())


def question_work(rows: CodedRows, a: str, b: str) -> float:
    """Return about how many additions one Hessian of the test of a pair and a third takes."""
    places = [rows.names.index(name) for name in (a, b)]
    states = [
        min(int(rows.cards[v]), MOST_ORDERED_STATES if rows.ordered[v] else MOST_STATES_OF_PAIR)
        for v in places
    ]
    is_score = [rows.is_score(v) for v in places]
    mains = sum(2 if scored else k - 1 for k, scored in zip(states, is_score, strict=True))
    joint = [1 if scored else k - 1 for k, scored in zip(states, is_score, strict=True)]
    width = sum(states) - 2 + joint[0] * joint[1]
    by_terms = len(rows.names) ** 2 / 2 * mains * (mains + 1) / 2
    return len(rows.counts) * (by_terms + states[0] * states[1] * width * (width + 1) / 2)


def _usable(rows: CodedRows, a: int, b: int, by: int) -> CodedRows | None:
    """Return the rows of the states of ``by`` that have enough rows in which a and b vary."""
    good = []
    for state in range(int(rows.cards[by])):
        inside = rows.codes[:, by] == state
        varies = all(np.ptp(rows.codes[inside, v]) > 0 for v in (a, b)) if inside.any() else False
        if varies and rows.counts[inside].sum() >= LEAST_ROWS_PER_STATE:
            good.append(state)
    if len(good) < 2:
        return None
    part = rows.where(np.isin(rows.codes[:, by], good))
    kept = [v for v, states in enumerate(part.states) if len(states) > 1]
    part = part.only(kept)
    for v in (a, b):
        most = MOST_ORDERED_STATES if rows.ordered[v] else MOST_STATES_OF_PAIR
        part = folded_to(part, part.names.index(rows.names[v]), most)
    return part.merged()


def _states(
    rows: CodedRows, a: int, b: int, by: int, chosen: int | None
) -> tuple[StateEffects, ...]:
    """Return the effects of the pair within each state of ``by``."""
    found, names = [], rows.names
    of, other = sorted((a, b), key=lambda v: (v != chosen, rows.cards[v], names[v]))
    reference = rows.states[other][reference_of(rows, other)]
    for state, label in enumerate(rows.states[by]):
        inside = rows.codes[:, by] == state
        size = float(rows.counts[inside].sum())
        measured: tuple[PairEffect, ...] = ()
        if size >= LEAST_ROWS_PER_STATE:
            part = rows.where(inside)
            part = part.only([v for v, states in enumerate(part.states) if len(states) > 1])
            if {names[of], names[other]} <= {*part.names}:
                x, y = part.names.index(names[of]), part.names.index(names[other])
                others = [v for v in range(len(part.names)) if v not in (x, y)]
                fits = Fits(part, products=False)
                held = columns_to_hold(
                    part, [x, y], fits.widths, fits.slopes(x), others, SHARE_OF_EFFECTS
                )
                fits = Fits(part.only([x, y, *held]), products=False, always=[1])
                measured = effects_of(fits, 0, 1, reference=reference)
        found.append(StateEffects(label, size, measured))
    return tuple(found)


class _Model:
    """The logit of the pairs of states, without and with a different association by group."""

    def __init__(self, rows: CodedRows, a: int, b: int, by: int, others: list[int]) -> None:
        self.rows, self.a, self.b, self.by = rows, a, b, by
        sides = [_Slopes(rows, v) for v in (a, b)]
        ka, kb = (int(rows.cards[v]) for v in (a, b))
        joint, curves = np.kron(sides[0].score, sides[1].score), _curves(sides)
        first, second = (
            (np.kron(s, np.ones((kb, 1))) for s in (sides[0].main, sides[0].rest)),
            (np.kron(np.ones((ka, 1)), s) for s in (sides[1].main, sides[1].rest)),
        )
        (main_a, rest_a), (main_b, rest_b) = first, second
        self.slopes = np.hstack([main_a, main_b, rest_a, rest_b, curves, joint])
        self.single, self.curves = joint.shape[1], curves.shape[1]
        self.mains = main_a.shape[1] + main_b.shape[1]
        self.is_single = self.single == 1 and rows.cards[by] == 2
        self.spread = [side.deviation for side in sides]
        self.held, terms = self._terms(others)
        states = rows.codes[:, a] * kb + rows.codes[:, b]
        self.logit = Logit(terms, self.slopes, states, rows.mass)
        self.tested = np.arange(self.logit.places[-2], self.logit.places[-1])

    def _terms(self, others: list[int]) -> tuple[list[int], list[Term]]:
        """Return the variables held fixed, and the terms; the last is the one tested."""
        rows, high = self.rows, self.slopes.shape[1]
        common = high - self.single  # where the association that can differ starts
        alone = common - self.curves  # the slopes of one variable
        fits = Fits(rows)
        group, groups = rows.codes[:, self.by], int(rows.cards[self.by])
        share = np.bincount(group, rows.counts, minlength=groups) / rows.total
        basis = score_contrasts(groups) if rows.is_score(self.by) else contrasts(groups)
        basis = basis - share @ basis
        constant = np.zeros(len(group), dtype=np.int64)
        owners = frozenset([self.by])
        terms = [
            Term(constant, np.ones((1, 1)), 0, alone, FIXED),
            Term(constant, np.ones((1, 1)), common, high, FIXED),
            Term(group, basis, 0, alone, WEAK, owners),
        ]
        if self.curves:
            terms.append(Term(constant, np.ones((1, 1)), alone, common, WEAK))
        columns = fits.widths[others].sum() * self.mains
        separate = columns * groups <= COLUMN_SHARE * rows.total and columns * groups <= 800
        held = others if separate else columns_to_hold(
            rows, [self.a, self.b], fits.widths, self.mains, others
        )  # fmt: skip
        for u in held:
            own, ridge = fits.bases[u].functions, RIDGE * fits.bases[u].scale * 2
            codes = rows.codes[:, u]
            if separate:
                codes = codes * groups + group
                by_group = np.kron(own, basis)
                own = np.hstack([np.repeat(own, groups, axis=0), by_group])
            terms.append(Term(codes, own, 0, self.mains, ridge, frozenset([u])))
        terms.append(Term(group, basis, common, high, FIXED, owners))
        return held, terms

    def test(self) -> tuple[float, float | None, int, str]:
        """Return p, that of a linear change, degrees of freedom, and the method."""
        logit, tested = self.logit, self.tested
        theta, shares, curvature = logit.maximum(tested)
        gradient = logit.evaluate(theta)[2][tested]
        hessian = logit.hessian(shares)
        across = curvature.solve(hessian[:, tested])
        information = hessian[np.ix_(tested, tested)] - hessian[tested] @ across
        shrink = max(0.2, 1 - logit.columns / self.rows.total)
        spread = None
        if not self.rows.is_simple:
            directions = -across.T
            directions[:, tested] += np.eye(len(tested))
            spread = self._spread(directions, shares)
        p, freedom = _score_p(gradient, information / shrink, spread)
        method = "chi-square" if spread is None else "clusters"
        if spread is None and p < LIKELIHOOD_BELOW and self._is_sparse(shares):
            p = max(p, self._likelihood_p(theta, freedom))
        if not freedom or not self.rows.is_score(self.by):
            return p, None, freedom, method
        part = np.arange(self.single)  # the first function of an ordered group is its score
        sub = None if spread is None else (spread[0], spread[1][np.ix_(part, part)])
        trend, _ = _score_p(gradient[part], information[np.ix_(part, part)] / shrink, sub)
        return either(trend, p), trend, freedom, method

    def _is_sparse(self, shares: FloatArray) -> bool:
        """Return whether a pair of states expects less than one row in a group."""
        rows = self.rows
        expected = np.zeros((int(rows.cards[self.by]), shares.shape[1]))
        np.add.at(expected, rows.codes[:, self.by], rows.counts[:, None] * shares)
        return bool(expected.min() < 1)

    def _likelihood_p(self, theta: FloatArray, freedom: int) -> float:
        """Return p of the likelihood ratio test, which few rows in a cell mislead less."""
        logit = self.logit
        whole = logit.maximum(np.zeros(0, dtype=np.int64), theta)[0]
        gain = logit.evaluate(whole)[1] - logit.evaluate(theta)[1]
        return chi_square_tail(2 * gain, freedom)

    def _residuals(self, shares: FloatArray) -> FloatArray:
        slopes = self.slopes
        residuals = slopes[self.logit.states] - shares @ slopes
        return np.asarray(self.rows.weights[:, None] * residuals)

    def _spread(self, directions: FloatArray, shares: FloatArray) -> tuple[int, FloatArray]:
        """Return the number of independent units, and the covariance of the scores."""
        rows = self.rows
        own = self.logit.scores_of_rows(directions, self._residuals(shares))
        if rows.clusters is None:
            return max(2, int(rows.total)), (own * rows.counts[:, None]).T @ own
        sums = sums_by_cluster(rows.clusters, own * rows.counts[:, None])
        return len(sums), sums.T @ sums * (len(sums) / max(len(sums) - 1, 1))

    def ratio(self) -> tuple[float, float, float]:
        """Return the ratio of the odds ratios in two groups, with its interval.

        Of two states each; else per standard deviation of both variables.
        """
        logit, rows = self.logit, self.rows
        shares = logit.fit()
        basis = logit.terms[-1].basis
        step = float(basis[1, 0] - basis[0, 0])
        unit = step * float(np.prod(self.spread))
        chosen = np.zeros((1, len(logit.theta)))
        chosen[0, self.tested] = unit
        own = logit.scores_of_rows(chosen @ logit.inverse, self._residuals(shares))[:, 0]
        correction = rows.total / max(rows.total - logit.columns, 1.0)
        error = sqrt(variance_of_sum(rows, own) * correction)
        value = float(logit.theta[self.tested[0]]) * unit
        limits = (min(max(x, -700.0), 700.0) for x in (value, value - Z * error, value + Z * error))
        estimate, low, high = map(exp, limits)
        return estimate, low, high


class _Slopes:
    """The slopes of one variable: the score of the association, main effects, and their rest."""

    def __init__(self, rows: CodedRows, v: int) -> None:
        states = int(rows.cards[v])
        whole = score_contrasts(states) if rows.is_score(v) else contrasts(states)
        share = np.bincount(rows.codes[:, v], rows.mass, minlength=states)
        share = share / share.sum()
        if rows.is_score(v):
            self.main, self.rest = whole[:, :1], whole[:, 1:]
            score = whole[:, :1]
            mean = float(share @ score[:, 0])
            self.deviation = sqrt(float(share @ score[:, 0] ** 2) - mean**2)
        else:
            self.main, self.rest, score = whole, whole[:, :0], whole
            self.deviation = float(whole[1, 0] - whole[0, 0])  # from the first state to the second
        # Close to orthogonal to the main effects.
        self.score, self.bends = score - share @ score, self.rest - share @ self.rest


def _curves(sides: list[_Slopes]) -> FloatArray:
    """Return the parts of the association of two variables that are no product of their scores."""
    states = len(sides[0].score) * len(sides[1].score)
    widths = [(side.score.shape[1], side.bends.shape[1]) for side in sides]
    most = prod(sum(each) for each in widths) - prod(scores for scores, _ in widths)
    kept = [side.bends if most <= MOST_CURVES else side.bends[:, :1] for side in sides]
    (score_a, bends_a), (score_b, bends_b) = zip((s.score for s in sides), kept, strict=True)
    parts = (score_a, bends_b), (bends_a, score_b), (bends_a, bends_b)
    return np.hstack([np.zeros((states, 0)), *(np.kron(*each) for each in parts)])


def _score_p(
    gradient: FloatArray, information: FloatArray, spread: tuple[int, FloatArray] | None
) -> tuple[float, int]:
    """Return the p-value of a score test and its degrees of freedom."""
    values, vectors = np.linalg.eigh(information)
    keep = values > max(1e-6 * values[-1], LEAST_SCORE_INFORMATION * 1e-3)
    freedom = int(keep.sum())
    if not freedom:
        return 1.0, 0
    root = vectors[:, keep] / np.sqrt(values[keep])
    statistic = float(((gradient @ root) ** 2).sum())
    if spread is None:
        return chi_square_tail(statistic, freedom), freedom
    return rao_scott(statistic, root.T @ spread[1] @ root, spread[0])[0], freedom
