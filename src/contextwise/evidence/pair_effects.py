"""Measure how much a variable changes with another: odds ratios, standardised shares, differences.

All come from the logit of one variable given the other and everything else. A *standardised share*
is the mean over all rows of the probability of a state if each row had a given state of the other
variable (g-computation). Errors are of the sandwich form: from the influence of each row, summed
within subjects if there are any.

*Worked example.* Released or not, by colour, 5,226 rows: the logit has a coefficient for colour;
exp of it is the odds ratio 1.5. The share if all were black is the mean of 5,226 probabilities,
each with the colour of its row replaced by black: 0.79. With white: 0.85. So the difference is 6
points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import exp, hypot, log, sqrt

import numpy as np

from contextwise.evidence.coded_rows import CodedRows
from contextwise.evidence.logits import Logit, sums_by_code
from contextwise.evidence.pair_records import EffectKind, PairEffect
from contextwise.evidence.residual_products import sums_by_cluster
from contextwise.evidence.variable_fits import Fits
from contextwise.support.arrays import FloatArray
from contextwise.support.statistics import CONFIDENCE, Z, wilson_interval

ENOUGH_ROWS, ENOUGH_SUBJECTS = 300, 50
"""Rows, and subjects if there are any, below which intervals are called approximate."""
FEWEST_ROWS_QUOTED = 20
"""States with fewer rows are neither shown nor quoted, and no end of an ordered variable."""
FEW_EVENTS = 5
"""Rows with an event, or without it, below which the error of a cell counts."""
MOST_SHARES = 150
"""Cells of a pair above which no shares are computed."""


def effects_of(
    fits: Fits, of: int, by: int, most: int = MOST_SHARES, reference: str | None = None
) -> tuple[PairEffect, ...]:
    """Return the effects of a pair: how ``of`` changes with ``by``, all others held fixed.

    There are no shares if the pair has more than ``most`` cells. ``reference`` is the state of
    ``by`` that others are compared with, if it occurs; see `reference_of` for the default.
    """
    if by not in fits.held(of):
        fits = Fits(fits.rows, fits.with_products, always=[by])
    effects, states = _Effects(fits, of, by), fits.rows.states[by]
    if reference in states:
        effects.reference = states.index(reference)
    return tuple(effects.all(most))


def reference_of(rows: CodedRows, by: int) -> int:
    """Return the state others are compared with: the first, or the most frequent of unordered.

    The end of an ordered variable is its first state with enough rows to be quoted.
    """
    sizes = np.bincount(rows.codes[:, by], rows.counts, minlength=int(rows.cards[by]))
    if rows.cards[by] == 2:
        return 0
    if rows.ordered[by]:
        return int((sizes >= FEWEST_ROWS_QUOTED).argmax())
    return int(sizes.argmax())


class _Effects:
    """The logit of ``of`` in which the log odds of ``by`` are the same for all rows."""

    def __init__(self, fits: Fits, of: int, by: int) -> None:
        self.fits, self.rows, self.of, self.by = fits, fits.rows, of, by
        self.reference = reference_of(fits.rows, by)
        self.logit = constant_odds(fits, of, by)
        self.term = next(
            k for k, term in enumerate(self.logit.terms) if term.owners == frozenset([by])
        )
        rows = self.rows
        self.shares = self.logit.evaluate(self.logit.theta)[0]
        slopes = self.logit.slopes
        self.residuals = rows.weights[:, None] * (slopes[rows.codes[:, of]] - self.shares @ slopes)
        self.table = np.zeros((rows.cards[of], rows.cards[by]))
        np.add.at(self.table, (rows.codes[:, of], rows.codes[:, by]), rows.mass)
        self.cells = np.zeros(self.table.shape)
        np.add.at(self.cells, (rows.codes[:, of], rows.codes[:, by]), rows.counts)
        sizes = np.bincount(rows.codes[:, by], rows.counts, minlength=int(rows.cards[by]))
        self.sizes = sizes.astype(np.float64)
        self.correction = rows.total / max(rows.total - self.logit.columns, 1.0)

    @property
    def few_subjects(self) -> bool:
        """True if there are too few subjects for exact intervals."""
        clusters = self.rows.clusters
        return clusters is not None and int(clusters.max()) + 1 < ENOUGH_SUBJECTS

    @property
    def events(self) -> list[int]:
        """The states of ``of`` that have shares: one of two, or all."""
        states = int(self.rows.cards[self.of])
        return [1] if states == 2 else list(range(states))

    def all(self, most: int) -> Iterator[PairEffect]:
        """Yield odds ratios, then shares and differences."""
        if self.rows.cards[self.of] == 2 or self.rows.is_score(self.of):
            yield from self._odds_ratios()
        if len(self.events) * self.rows.cards[self.by] <= most:
            yield from self._shares()

    def _effect(
        self,
        kind: EffectKind,
        state: str,
        at: int | None,
        against: int | None,
        crude: float | None,
        numbers: Mapping[str, float],
    ) -> PairEffect:
        rows, states = self.rows, self.rows.states[self.by]
        return PairEffect(
            kind=kind,
            of=rows.names[self.of],
            by=rows.names[self.by],
            state=state,
            at="" if at is None else states[at],
            reference="" if against is None else states[against],
            crude=crude,
            rows=rows.total if at is None else float(self.sizes[at]),
            approximate=rows.total < ENOUGH_ROWS or self.few_subjects,
            estimate=numbers["estimate"],
            low=numbers["low"],
            high=numbers["high"],
        )

    # -- odds ratios -------------------------------------------------------------------------------

    def _odds_ratios(self) -> Iterator[PairEffect]:
        """Yield the odds ratio of each state of ``by``, or per step if it is ordered."""
        rows, logit, states = self.rows, self.logit, int(self.rows.cards[self.by])
        term, start = logit.terms[self.term], int(logit.places[self.term])
        is_binary = rows.cards[self.of] == 2
        moved = (self._response @ logit.slopes)[: term.high]
        event = rows.states[self.of][1] if is_binary else ""

        def numbers(line: FloatArray, least: float = 0.0) -> dict[str, float]:
            """Return the odds ratio of a contrast between states of ``by``, with a least error."""
            chosen = np.zeros(len(logit.theta))
            own = np.outer(line @ term.basis, moved).ravel()
            chosen[start : start + len(own)] = own
            value = float(chosen @ logit.theta)
            error = max(least, sqrt(self._variance(self._influence(chosen[None])[:, 0])))
            low, high = value - Z * error, value + Z * error
            return {"estimate": _exp(value), "low": _exp(low), "high": _exp(high)}

        if rows.is_score(self.by):
            line = per_step(self.sizes)
            slope = self._crude_slope(line)
            yield self._effect("odds ratio per step", event, None, None, slope, numbers(line))
            return
        kind: EffectKind = "odds ratio" if is_binary else "odds ratio per step"
        for j in [k for k in range(states) if k != self.reference]:
            line = np.eye(states)[j] - np.eye(states)[self.reference]
            crude = self._crude_ratio(j) if is_binary else self._crude_slope(line)
            least = self._least_error(j) if is_binary else 0.0
            yield self._effect(kind, event, j, self.reference, crude, numbers(line, least))

    @cached_property
    def _response(self) -> FloatArray:
        """The contrast between states of ``of``: from the first to the second, or per step."""
        if self.rows.cards[self.of] == 2:
            return np.array([-1.0, 1.0])
        return per_step(self.table.sum(axis=1))

    def _least_error(self, j: int) -> float:
        """Return the error of the log odds ratio of four cells, if one has few rows.

        There the ridge and the sandwich make the error of the logit too small.
        """
        cells = self.cells[:, [self.reference, j]]
        return sqrt(float((1 / (cells + 0.5)).sum())) if cells.min() < FEW_EVENTS else 0.0

    def _crude_ratio(self, j: int) -> float | None:
        (a, b), (c, d) = self.table[:, [self.reference, j]]
        return float(a * d / (b * c)) if b * c else None

    def _crude_slope(self, line: FloatArray) -> float:
        """Return the odds ratio per step of the two columns alone."""
        logit = Fits(self.rows.only([self.of, self.by]), products=False, always=[1]).logit(0)
        term = logit.terms[1]
        own = logit.theta[logit.places[1] :].reshape(term.basis.shape[1], -1)
        return _exp(float(line @ term.basis @ own @ (self._response @ logit.slopes)[: term.high]))

    # -- shares ------------------------------------------------------------------------------------

    def _shares(self) -> Iterator[PairEffect]:
        """Yield standardised shares, and their differences from the reference."""
        rows, states = self.rows, int(self.rows.cards[self.by])
        found = [self._share_of(j) for j in range(states)]
        crude = self.table / np.maximum(self.table.sum(axis=0), 1e-300)
        base, base_own = found[self.reference]
        for s in self.events:
            label, first = rows.states[self.of][s], float(crude[s, self.reference])
            for j, (means, own) in enumerate(found):
                share = float(means[s])
                low, high = self._limits(s, j, share, own)
                numbers = {"estimate": share, "low": low, "high": high}
                yield self._effect("share", label, j, None, float(crude[s, j]), numbers)
            for j, (means, own) in enumerate(found):
                if j == self.reference:
                    continue
                value = float(means[s] - base[s])
                error = Z * sqrt(self._variance(own[:, s] - base_own[:, s]))
                low, high = value - error, value + error
                if self._is_sparse(s, j) or self._is_sparse(s, self.reference):
                    ends = [
                        np.abs(np.subtract(self._limits(s, k, float(m[s]), o), m[s]))
                        for k, m, o in ((j, means, own), (self.reference, base, base_own))
                    ]
                    low = min(low, value - hypot(ends[0][0], ends[1][1]))
                    high = max(high, value + hypot(ends[0][1], ends[1][0]))
                low, high = max(-1.0, low), min(1.0, high)
                numbers = {"estimate": value, "low": low, "high": high}
                change = float(crude[s, j]) - first
                yield self._effect("difference", label, j, self.reference, change, numbers)

    def _is_sparse(self, s: int, j: int) -> bool:
        """Check whether few rows of a state of ``by`` have the event, or few have another."""
        return bool(min(self.cells[s, j], self.sizes[j] - self.cells[s, j]) < FEW_EVENTS)

    def _limits(self, s: int, j: int, share: float, own: FloatArray) -> tuple[float, float]:
        """Return the interval of a share; in sparse cells at least as wide as Wilson's."""
        low, high = share_limits(share, sqrt(self._variance(own[:, s])))
        if self._is_sparse(s, j) and self.sizes[j]:
            crude = self.cells[s, j] / self.sizes[j]
            least, most = wilson_interval(self.cells[s, j], self.sizes[j])
            low = max(0.0, min(low, share - (crude - least)))
            high = min(1.0, max(high, share + (most - crude)))
        return float(low), float(high)

    def _share_of(self, j: int) -> tuple[FloatArray, FloatArray]:
        """Return the shares if all rows had state j, and the influence of each row on them."""
        rows, logit = self.rows, self.logit
        moved = self._sums - self._own_sums + logit.tables(logit.theta)[self.term][j]
        eta = moved @ logit.slopes.T
        shares = np.exp(eta - eta.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        total = rows.mass.sum()
        means = rows.mass @ shares / total
        # How each mean changes with each coefficient.
        away = logit.slopes[None] - (shares @ logit.slopes)[:, None, :]
        change = (rows.mass[:, None, None] * shares[:, :, None] * away) / total
        count, width = logit.slopes.shape
        size = int(logit.code_starts[-1])
        flat = change.reshape(len(change), -1)
        by_code = sums_by_code(logit.layout.codes, logit.code_starts[:-1], size, flat)
        by_code = by_code.reshape(size, count, width)
        gradient = np.zeros((count, len(logit.theta)))
        for k, term in enumerate(logit.terms):
            if k == self.term:
                block = term.basis[j][:, None, None] * change.sum(axis=0)[None]
            else:
                part = by_code[logit.code_starts[k] : logit.code_starts[k] + len(term.basis)]
                block = np.einsum("cd,cks->dks", term.basis, part)
            block = block[:, :, term.low : term.high].transpose(1, 0, 2)
            gradient[:, logit.places[k] : logit.places[k + 1]] = block.reshape(count, -1)
        own = rows.weights[:, None] * (shares - means) / total + self._influence(gradient)
        return means, own

    # -- influences --------------------------------------------------------------------------------

    def _influence(self, chosen: FloatArray) -> FloatArray:
        """Return the influence of each row on some linear functions of the coefficients."""
        return self.logit.scores_of_rows(chosen @ self.logit.inverse, self.residuals)

    def _variance(self, own: FloatArray) -> float:
        """Return the variance of an estimate from the influence of each observation."""
        return variance_of_sum(self.rows, own) * self.correction

    @cached_property
    def _sums(self) -> FloatArray:
        return np.asarray(self.logit.incidence @ np.vstack(self.logit.tables(self.logit.theta)))

    @cached_property
    def _own_sums(self) -> FloatArray:
        """The part of the sums that comes from ``by``."""
        return self.logit.tables(self.logit.theta)[self.term][self.rows.codes[:, self.by]]


def constant_odds(fits: Fits, of: int, by: int) -> Logit:
    """Return the logit of a variable in which no product involves ``by``."""
    whole = fits.logit(of)
    kept = [k for k, t in enumerate(whole.terms) if len(t.owners) < 2 or by not in t.owners]
    if len(kept) == len(whole.terms):
        return whole
    terms = [whole.terms[k] for k in kept]
    logit = Logit(terms, whole.slopes, whole.states, whole.weights)
    logit.theta = np.concatenate([whole.theta[whole.places[k] : whole.places[k + 1]] for k in kept])
    logit.fit()
    return logit


def variance_of_sum(rows: CodedRows, own: FloatArray) -> float:
    """Return the variance of the sum over observations of these contributions.

    With subjects it is wider by Student's t, so `Z` errors make a 95 % interval with few of them.
    """
    if rows.clusters is None:
        return float(rows.counts @ own**2)
    from scipy.special import stdtrit

    sums = sums_by_cluster(rows.clusters, (rows.counts * own)[:, None])[:, 0]
    wider = (float(stdtrit(len(sums) - 1, 1 - (1 - CONFIDENCE) / 2)) / Z) ** 2
    return float((sums**2).sum()) * len(sums) / max(len(sums) - 1, 1) * wider


def per_step(sizes: FloatArray) -> FloatArray:
    """Return weights of the states whose sum is the slope of a line through their values."""
    steps = np.arange(len(sizes), dtype=np.float64)
    steps -= sizes @ steps / sizes.sum()
    return np.asarray(sizes * steps / (sizes @ steps**2))


def share_limits(share: float, error: float) -> tuple[float, float]:
    """Return the 95 % interval of a share, symmetric on the scale of log odds."""
    if not 1e-12 < share < 1 - 1e-12:
        return max(0.0, share - Z * error), min(1.0, share + Z * error)
    middle, spread = log(share / (1 - share)), Z * error / (share * (1 - share))
    return _share(middle - spread), _share(middle + spread)


def _share(odds: float) -> float:
    return 1 / (1 + _exp(-odds))


def _exp(value: float) -> float:
    return exp(min(max(value, -700.0), 700.0))
