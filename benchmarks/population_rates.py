"""Simulate the p-values of `populations`: their level, and how often differences are found.

1. **null**: both groups (30 % and 70 % of 300 rows) come from one random model. P(p <= α) must be
   at most α. With ties broken at random, p must be uniform (Kolmogorov–Smirnov).
2. **third**: of three groups, the first two come from one model and the third from another. How
   often are the first two called different, permuting only their rows? And permuting all rows?
3. **power**: A and B depend in group a only where C=1. How often does the overall test find a
   difference, and max-T the pair A–B itself, with and without resamples?

Run ``python -m benchmarks.population_rates`` to print the tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from benchmarks.check_rates import interval, random_model
from contextwise import Domain, LogLinear
from contextwise.data.rows import Data
from contextwise.distributions import sample
from contextwise.evaluation.group_tests import (
    Plan,
    Values,
    _plan,
    observe,
    p_value,
    p_values,
    permute,
    total,
)
from contextwise.learning.base import as_learner
from contextwise.support.maps import choose_map

LEARNERS = ("edge-trees", "trees", "mpl")
LEVELS = (0.01, 0.05, 0.1)
CARDINALITIES = (2, 3, 2, 2)
PERMUTATIONS = 199
POWER_PERMUTATIONS = 99
ROWS = (500, 2_000, 10_000)
RESAMPLES = 4

Rows = npt.NDArray[np.int64]


def plan_of(rows: Rows, labels: Rows, learner: str, resamples: int | None = None) -> Plan:
    """Return the plan of a test; the cardinalities are those of the rows."""
    sizes = [*(rows.max(axis=0) + 1).tolist(), int(labels.max()) + 1]
    names = [*(f"v{v}" for v in range(rows.shape[1])), "group"]
    data = Data(Domain(dict(zip(names, sizes, strict=True))), np.column_stack([rows, labels]))
    made: dict[str, Any] = {"learner": as_learner(learner), "design": "separate", "seed": 0}
    return _plan(data, "group", None, {}, resamples=resamples, **made)


def run_test(plan: Plan, permutations: int, place: int = 0) -> tuple[Values, list[Values]]:
    """Run one test of a plan, all groups or a pair: the observed values, and the permuted ones."""
    plans = {plan.by: plan}
    (found,) = observe(plans, plan.by)
    permuted = permute(plans, (plan.by, place, range(permutations)))
    apart = found["apart"] if not place else [found["apart"][place - 1]]
    return total(map(dict, apart)), [dict(record["apart"]) for record in permuted]


def sums_of(observed: Values, permuted: Sequence[Values]) -> Rows:
    return np.array([sum(values.values()) for values in (observed, *permuted)])


def random_p_value(sums: Rows, rng: np.random.Generator) -> float:
    """Return p with ties broken at random."""
    return float(((sums > sums[0]).sum() + rng.random() * (sums == sums[0]).sum()) / len(sums))


def drawn(model: LogLinear, rows: int, rng: np.random.Generator) -> Rows:
    return np.asarray(sample(model, rows, rng=rng, method="exact"))


def null_data_set(number: int, learner: str) -> tuple[float, float]:
    """Return p and p with random ties of one data set without a difference."""
    rng = np.random.default_rng([1, number])
    rows = drawn(random_model(CARDINALITIES, rng), 300, rng)
    labels = (np.arange(300) >= 90).astype(np.int64)
    sums = sums_of(*run_test(plan_of(rows, labels, learner), PERMUTATIONS))
    return p_value(sums), random_p_value(sums, rng)


def third_data_set(number: int, learner: str) -> tuple[float, float]:
    """Return p of two equal groups: permuting their rows, and permuting those of the third, too."""
    rng = np.random.default_rng([2, number])
    first, other = random_model(CARDINALITIES, rng), random_model(CARDINALITIES, rng)
    rows = np.concatenate([drawn(first, 300, rng), drawn(other, 300, rng)])
    plan = plan_of(rows, np.repeat([0, 1, 2], [150, 150, 300]), learner)
    within = sums_of(*run_test(plan, PERMUTATIONS, place=1))
    (found,) = observe({"group": plan}, "group")
    observed, at_least = sum(dict(found["apart"][0]).values()), 1
    for b in range(PERMUTATIONS):
        generator = plan.generator(9, b)
        counts = plan.permuted((0, 1, 2), generator)
        (apart,) = plan.apart(plan.learn(counts, (0, 1), generator))
        at_least += sum(apart.values()) >= observed
    return p_value(within), at_least / (PERMUTATIONS + 1)


def planted(rows: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Draw rows of A, B, C, D: in group 0, A and B have log-odds 1.5 where C=1."""
    labels = np.arange(rows) % 2
    a, c, d = rng.integers(2, size=(3, rows))
    chance = np.where((labels == 0) & (c == 1), 1 / (1 + np.exp(1.5 * (0.5 - a))), 0.5)
    return np.column_stack([a, (rng.random(rows) < chance).astype(np.int64), c, d]), labels


def power_data_set(
    number: int, learner: str, rows: int, resamples: int | None
) -> tuple[float, float]:
    """Return p of all pairs together, and the adjusted p of A–B."""
    plan = plan_of(*planted(rows, np.random.default_rng([3, number])), learner, resamples)
    sums, pairs = p_values(*run_test(plan, POWER_PERMUTATIONS), [4] * 6)
    return p_value(sums), {place: adjusted for place, _, _, adjusted in pairs}.get(0, 1.0)


def repeated(
    simulate: Callable[[int], tuple[float, float]], repeats: int, jobs: int
) -> npt.NDArray[np.float64]:
    """Return the results of all data sets: shape (2, repeats)."""
    done = {each.item: each.value for each in choose_map(n_jobs=jobs)(simulate, range(repeats))}
    return np.array([done[k] for k in range(repeats)]).T


def null_rows(repeats: int, jobs: int, learners: Sequence[str]) -> Iterator[str]:
    yield "| learner | p ≤ 0.01 | p ≤ 0.05 | p ≤ 0.1 | KS test of uniformity, ties at random |"
    yield "|---|---|---|---|---|"
    for learner in learners:
        p, random = repeated(partial(null_data_set, learner=learner), repeats, jobs)
        shares = (interval(int((p <= level + 1e-9).sum()), repeats) for level in LEVELS)
        uniform = stats.kstest(random, "uniform").pvalue
        yield f"| {learner} | {' | '.join(shares)} | p = {uniform:.2g} |"


def third_rows(repeats: int, jobs: int, learners: Sequence[str]) -> Iterator[str]:
    yield "| learner | equal two called different, p ≤ 0.05 | permuting all three groups (wrong) |"
    yield "|---|---|---|"
    for learner in learners:
        both = repeated(partial(third_data_set, learner=learner), repeats, jobs)
        shares = (interval(int((p <= 0.05 + 1e-9).sum()), repeats) for p in both)
        yield f"| {learner} | {' | '.join(shares)} |"


def power_rows(repeats: int, jobs: int, learners: Sequence[str]) -> Iterator[str]:
    yield "| learner | rows | resamples | groups differ, p ≤ 0.05 | A–B, adjusted p ≤ 0.05 |"
    yield "|---|---|---|---|---|"
    for learner in learners:
        for rows in ROWS:
            for resamples in (None, RESAMPLES):
                how: dict[str, Any] = {"learner": learner, "rows": rows, "resamples": resamples}
                both = repeated(partial(power_data_set, **how), repeats, jobs)
                shares = (interval(int((p <= 0.05 + 1e-9).sum()), repeats) for p in both)
                yield f"| {learner} | {rows:,} | {resamples or '–'} | {' | '.join(shares)} |"


PARTS = {"null": null_rows, "third": third_rows, "power": power_rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--part", choices=list(PARTS), help="only this table")
    parser.add_argument("--learners", nargs="+", default=LEARNERS)
    options = parser.parse_args()
    for name, rows in PARTS.items():
        if options.part in (None, name):
            for row in rows(options.repeats, options.jobs, options.learners):
                print(row, flush=True)
            print()


if __name__ == "__main__":
    main()
