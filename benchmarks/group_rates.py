"""Simulate the p-values of `groups`: their level, false pairs beside a true difference, and power.

1. **level**: one pair whose odds ratios are equal in all groups, in the settings of `LEVELS`;
   P(p <= α) must be at most α, within the error of the simulation. The last setting learns eight
   variables, holds a separating set fixed and corrects over 28 pairs.
2. **power**: eight variables in a chain; one association is stronger in one group, reversed, or
   exists in one context only. How often is the pair found, and how often another pair?
   Compared with a permutation of the labels with the largest difference of pairwise log odds
   ratios as its statistic.

Run ``python -m benchmarks.group_rates [level|power] [DATA SETS]`` to print the tables.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.analysis.groups_of_rows import groups
from contextwise.data.rows import Data
from contextwise.evidence.equal_odds import Floats, equality_test
from contextwise.models.domain import Domain

ALPHAS = (0.01, 0.05, 0.10)
Draw = Callable[[np.random.Generator], Floats]


def drawn(
    rng: np.random.Generator,
    *,
    rows: int,
    strata: int = 4,
    shares: tuple[float, ...] = (0.5, 0.5),
    states: int = 2,
    shift: float = 0.0,
) -> Floats:
    """Draw a table whose odds ratios are random in each stratum and equal in all groups."""
    tables = np.zeros((strata, len(shares), states, states))
    for stratum in range(strata):
        joint = rng.normal(0, 1, (states, states))
        for group, share in enumerate(shares):
            one, other = shift * rng.normal(0, 1, (2, states))
            logits = joint + group * (one[:, None] + other)
            p = np.exp(logits) / np.exp(logits).sum()
            count = rng.poisson(rows * share / strata)
            tables[stratum, group] = rng.multinomial(count, p.ravel()).reshape(states, states)
    return tables


LEVELS: dict[str, dict[str, Any]] = {
    "dense, 2 x 2, 2,000 rows": {"rows": 2000},
    "margins differ, 2,000 rows": {"rows": 2000, "shift": 1.0},
    "one group of 10 %, 600 rows": {"rows": 600, "shares": (0.9, 0.1), "shift": 0.5},
    "sparse: 16 strata, 200 rows": {"rows": 200, "strata": 16, "shift": 0.5},
    "four groups, 1,200 rows": {"rows": 1200, "shares": (0.25,) * 4, "shift": 0.5},
    "five states, 300 rows": {"rows": 300, "strata": 2, "states": 5},
    "five states, 10 %, margins, 1,000 rows": {
        "rows": 1000,
        "strata": 2,
        "states": 5,
        "shares": (0.9, 0.1),
        "shift": 1.0,
    },
}


def chain(
    rng: np.random.Generator, rows: int, variables: int, change: str = "", at: int = 2
) -> Data:
    """Draw two groups of a chain of binary variables; ``change`` alters one association."""
    group = rng.integers(2, size=rows)
    values = np.zeros((rows, variables), dtype=np.int64)
    for v in range(variables):
        strength = np.full(rows, 1.2)
        if v == at + 1 and change == "strength":
            strength = np.where(group, 2.4, 0.6)
        if v == at + 1 and change == "sign":
            strength = np.where(group, 1.2, -1.2)
        if v == at + 1 and change == "context":
            strength = np.where((group == 1) & (values[:, at - 1] == 1), -1.2, 1.2)
        before = values[:, v - 1] if v else np.zeros(rows)
        logit = strength * (before - 0.5) + 0.4 * group * (v % 2)
        values[:, v] = rng.random(rows) < 1 / (1 + np.exp(-logit))
    names = [f"V{v}" for v in range(variables)]
    domain = Domain(dict.fromkeys(names, 2) | {"g": ["a", "b"]})
    return Data(domain, np.column_stack([values, group]))


def permutation_p(data: Data, rng: np.random.Generator, permutations: int = 199) -> float:
    """Return the p-value of the largest difference of pairwise log odds ratios."""
    values, group = data.rows[:, :-1].astype(float), data.rows[:, -1]

    def logs(x: npt.NDArray[np.float64]) -> Floats:
        both = x.T @ x + 0.5
        first = x.sum(axis=0)[:, None] - both + 1.0
        second = x.sum(axis=0)[None, :] - both + 1.0
        neither = len(x) - both - first - second + 2.0
        ratios: Floats = np.log(both * neither / first / second)
        return ratios

    def largest(labels: npt.NDArray[np.int64]) -> float:
        difference = np.abs(logs(values[labels == 0]) - logs(values[labels == 1]))
        return float(np.triu(difference, 1).max())

    observed = largest(group)
    draws = [largest(rng.permutation(group)) for _ in range(permutations)]
    return (1 + sum(d >= observed for d in draws)) / (permutations + 1)


def levels(count: int) -> None:
    """Print the share of p-values up to each level."""
    print("| setting | " + " | ".join(f"p ≤ {a}" for a in ALPHAS) + " | data sets |")
    print("|---|" + "---|" * (len(ALPHAS) + 1))
    for name, setting in LEVELS.items():
        rng = np.random.default_rng(100)
        found = [equality_test(drawn(rng, **setting), rng).p_value for _ in range(count)]
        _print(name, found)
    rng = np.random.default_rng(100)
    found = [groups(chain(rng, 1000, 8), "g", "mpl").p_value for _ in range(count)]
    _print("eight variables, learned, Holm, 1,000 rows", found)


def _print(name: str, p_values: list[float]) -> None:
    shares = [np.mean(np.array(p_values) <= a) for a in ALPHAS]
    print(
        f"| {name} | " + " | ".join(f"{x:.3f}" for x in shares) + f" | {len(p_values)} |",
        flush=True,
    )


def power(count: int) -> None:
    """Print how often the changed pair, and any other pair, is called different."""
    print(
        "| change | variables | rows | found | another pair | permutation finds any | data sets |"
    )
    print("|---|---|---|---|---|---|---|")
    for change in ("context", "strength", "sign"):
        changed = {("V1", "V2")}
        if change == "context":  # an interaction of three variables concerns all their pairs
            changed |= {("V0", "V1"), ("V0", "V2")}
        for variables in (4, 8):
            for rows in (500, 1000, 2000, 5000, 10_000):
                rng = np.random.default_rng(100)
                found = other = permuted = 0
                for _ in range(count):
                    data = chain(rng, rows, variables, change, at=1)
                    pairs = {pair.pair for pair in groups(data, "g", "mpl").differing}
                    found += ("V1", "V2") in pairs
                    other += bool(pairs - changed)
                    permuted += permutation_p(data, rng) <= 0.05
                shares = " | ".join(f"{x / count:.2f}" for x in (found, other, permuted))
                print(f"| {change} | {variables} | {rows:,} | {shares} | {count} |", flush=True)
    print(f"\nStandard error at most {sqrt(0.25 / count):.3f}.")


if __name__ == "__main__":
    arguments = sys.argv[1:] or ["level"]
    sets = int(arguments[1]) if len(arguments) > 1 else 1000
    {"level": levels, "power": power}[arguments[0]](sets)
