"""L1-penalised pseudo-likelihood and sparse regressions: distance from the optimum, and speed.

The objectives at the optimum are those that other programs reached when they ran without an early
stop: 1,500 steps of Libra for the trees of nltcs, and liblinear for the regressions. Without the
folder of data rows are made, and what is held is the stated gap alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.cases import Models
from benchmarks.lines.learning import made_rows, scikit_trees
from benchmarks.measure import Figure, Line, Measurement, at_least, at_most, timed
from contextwise import LogLinear
from contextwise.distributions import fit, mean_pseudo_log_likelihood
from contextwise.distributions.proximal_newton import minimise
from contextwise.errors import require
from contextwise.learning import Data, SparsePairs, Trees
from contextwise.learning.sparse_pairs import Regression, ValueColumns, kept_pairs

L1, GAP, TIMES = 5.0, 1e-4, 3.0
PAIRS_L1 = 10.0
TREES_OPTIMUM = 79_458.99
"""Of 522 features of trees on nltcs: Libra without its stop, after 1,500 iterations."""
LIBRA_SCORES = {"nltcs": -4.9336, "plants": -8.9091, "dna": -58.5728}
"""Per test row: trees of penalty 10, refitted by Libra with its early stop."""
LIBLINEAR = 500_000
"""Largest number of cells of data for liblinear; with more it takes many minutes."""
PAIRS_OPTIMUM = 81_877.43
"""Of the 16 regressions on nltcs, intercepts penalised."""


def run(models: Models) -> Line:
    """Fits of the features of trees, then regressions."""
    with require("threadpoolctl", "bench").threadpool_limits(1):
        measurements: list[Measurement] = []
        figures: list[Figure] = []
        if models.data is None:
            data = made_rows(40, 2000)
            figures += _fit("made rows", Trees().fit(data).model_, data, measurements)
            figures += _pairs("made rows", data, measurements)
        else:
            figures += _real_fits(models, measurements)
            figures += _real_pairs(models, measurements)
    title = "Sparse weights and sparse pairs: converged, and how fast"
    return Line("weights", title, measurements, figures)


def _fit(name: str, model: LogLinear, data: Data, measurements: list[Measurement]) -> list[Figure]:
    case = f"{len(model):,} weights of trees on {name}, {len(data):,} rows"
    seconds, found = timed(lambda: fit(model.structure, data.rows, l1=L1, l2=0, tolerance=GAP))
    theirs, _ = timed(lambda: scikit_trees(data))
    notes = {"gap": found.gap, "steps": found.iterations, "not 0": len(found.model)}
    measurements.append(Measurement(case, f"fit, l1 = {L1:g}", seconds, notes))
    measurements.append(Measurement(case, "scikit-learn's trees", theirs))
    return [
        at_most(f"{name}: gap of the fit", found.gap, GAP),
        at_most(f"{name}: time of the fit by scikit-learn's trees", seconds / theirs, TIMES),
    ]


def _real_fits(models: Models, measurements: list[Measurement]) -> list[Figure]:
    figures: list[Figure] = []
    for name, libra in LIBRA_SCORES.items():
        data = models.rows(name)
        model = Trees().fit(data).model_
        if name == "plants":
            figures += _fit(name, model, data, measurements)
        found = fit(model.structure, data.rows, l1=L1, l2=0)
        if name == "nltcs":
            figures.append(
                at_most("nltcs: objective at the optimum", found.objective, TREES_OPTIMUM + 0.005)
            )
        test = models.rows(name, "test", data.domain)
        score = mean_pseudo_log_likelihood(found.model, test.rows)
        figures.append(at_least(f"{name}: test score less Libra's", score - libra, -0.05, "nats"))
    return figures


def _pairs(name: str, data: Data, measurements: list[Measurement]) -> list[Figure]:
    case = f"regressions on {name}, {len(data.domain)} × {len(data):,}"
    seconds, found = timed(lambda: SparsePairs(l1=PAIRS_L1).fit(data))
    notes = {"gap": found.gap_, "pairs": len(found.pairs_)}
    measurements.append(Measurement(case, f"sparse pairs, l1 = {PAIRS_L1:g}", seconds, notes))
    figures = [at_most(f"{name}: largest gap of a regression", found.gap_, 1e-6)]
    if len(data) * len(data.domain) < LIBLINEAR:
        theirs, _ = timed(lambda: _liblinear(data))
        measurements.append(Measurement(case, "scikit-learn, liblinear", theirs))
        figures.append(at_least(f"{name}: regressions, liblinear", theirs / seconds, 1))
    return figures


def _liblinear(data: Data) -> None:
    """The same regressions; it penalises the intercept, and knows no gap but a tolerance."""
    from sklearn.linear_model import LogisticRegression

    for target in range(len(data.domain)):
        values = data.rows[:, target]
        if len(np.unique(values)) > 1:
            LogisticRegression(
                l1_ratio=1, C=1 / PAIRS_L1, solver="liblinear", tol=1e-6, max_iter=10_000
            ).fit(np.delete(data.rows, target, axis=1), values)


def _with_penalised_intercept(columns: ValueColumns, target: int) -> Regression:
    """Solve a regression as liblinear poses it; our learner leaves the intercept free."""
    penalty = columns.penalty(target, PAIRS_L1, 0.0)
    prices = penalty.prices.copy()
    prices[0] = PAIRS_L1 * np.sqrt(columns.cardinalities[target] - 1)
    optimum = minimise(columns.loss(target), replace(penalty, prices=prices), tolerance=1e-6)
    others = columns.others(target)
    weights = np.zeros((columns.matrix.shape[1], columns.cardinalities[target] - 1))
    weights[others] = optimum.weights.reshape(len(others), weights.shape[1])
    return Regression(target, weights, optimum)


def _real_pairs(models: Models, measurements: list[Measurement]) -> list[Figure]:
    figures: list[Figure] = []
    data = models.rows("nltcs")
    columns = ValueColumns.of(data)
    found = [_with_penalised_intercept(columns, v) for v in range(len(data.domain))]
    weights = [own.weights[:, 0] for own in found]
    counts: dict[str, tuple[int, int]] = {
        "pair weights": (sum(int(np.count_nonzero(own[1:])) for own in weights), 218),
        "intercepts": (sum(bool(own[0]) for own in weights), 16),
        "pairs, or": (len(kept_pairs(columns, found, "or")), 112),
        "pairs, and": (len(kept_pairs(columns, found, "and")), 106),
    }
    off = abs(sum(own.optimum.objective for own in found) - PAIRS_OPTIMUM)
    figures.append(at_most("nltcs: regressions, objective off the optimum", off, 0.005))
    for what, (count, expected) in counts.items():
        figures.append(at_most(f"nltcs: {what}, {count}; off", abs(count - expected), 0))
    for name in ("nltcs", "plants", "dna", "jester"):
        figures += _pairs(name, models.rows(name), measurements)
    return figures
