"""Simulate the error rates of `check`: false discoveries, and the overall test.

Random structures get random weights, and data sets are drawn from them exactly. Three questions:

1. **False discovery rate.** Leave a feature out of the structure, so that some of its claims are
   false, and check it. Which share of the contradicted claims is true? Truth is computed from the
   joint distribution. The mean share must be at most the nominal rate.
2. **Overall test under the truth.** Check the structure itself. The p-value must be at most α in a
   share of at most α of the data sets.
3. **Power of the overall test.** Leave out one edge of log-odds 1.

Run ``python -m benchmarks.check_rates`` to print the table of ``docs/explanation/statistics.md``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy import stats

from contextwise import Domain, LogLinear, Structure
from contextwise.distributions import probabilities, sample
from contextwise.evaluation import check
from contextwise.evaluation.claim_tests import CheckedClaim
from contextwise.evaluation.claims import ClaimSource, group_rows, rows_in
from contextwise.truths.generate import random_structure

DOMAINS = {"binary": (2,) * 6, "mixed": (2, 3, 2, 4)}
ROWS = 500
ALPHA = 0.05
LEVELS = (0.05, 0.1)
SIMULATIONS = 99


def random_model(cardinalities: tuple[int, ...], rng: np.random.Generator) -> LogLinear:
    """Draw a structure with five features and weights of either sign and size about 1."""
    domain = Domain.of_cardinalities(cardinalities)
    structure = random_structure(domain, features=5, lengths=(2, 3), set_literals=0.5, rng=rng)
    signs = rng.choice([-1, 1], size=len(structure))
    return LogLinear(structure, signs * rng.uniform(0.5, 1.5, size=len(structure)))


def is_true(
    claim: CheckedClaim,
    guess: Structure,
    states: npt.NDArray[np.int64],
    joint: npt.NDArray[np.float64],
) -> bool:
    """Return whether a tested claim of independence holds in the joint distribution."""
    domain = guess.domain
    i, j = (domain.position(name) for name in claim.pair)
    literals = tuple(
        (
            v := domain.position(literal.variable),
            domain.value_set(v, literal.states, literal.negated),
        )
        for literal in claim.literals
    )
    variable = domain.position(claim.blanket_of)
    blanket = np.setdiff1d(ClaimSource(guess.features).blanket(variable, literals), (i, j))
    inside = rows_in(states, literals)
    groups = group_rows(states, blanket)
    for group in np.unique(groups[inside]):
        rows = inside & (groups == group)
        table = np.zeros((domain.cardinalities[i], domain.cardinalities[j]))
        np.add.at(table, (states[rows, i], states[rows, j]), joint[rows])
        factorized = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        if not np.allclose(table, factorized, atol=1e-9):
            return False
    return True


def false_discoveries(
    cardinalities: tuple[int, ...], repeats: int, rng: np.random.Generator
) -> list[float]:
    """Return the share of true claims among the contradicted ones, for each data set."""
    states = np.array(list(product(*map(range, cardinalities))))
    shares = []
    for _ in range(repeats):
        model = random_model(cardinalities, rng)
        joint = probabilities(model).ravel()
        rows = sample(model, ROWS, rng=rng, method="exact")
        kept = np.arange(len(model)) != rng.integers(len(model))
        guess = Structure(model.domain, model.structure.features.take(kept))
        contradicted = check(guess, rows, dependencies=False, alpha=ALPHA).contradicted
        wrong = sum(is_true(claim, guess, states, joint) for claim in contradicted)
        shares.append(wrong / len(contradicted) if contradicted else 0.0)
    return shares


def overall_p_values(
    cardinalities: tuple[int, ...], repeats: int, rng: np.random.Generator
) -> list[float]:
    """Return the overall p-values of true structures."""
    p_values = []
    for _ in range(repeats):
        model = random_model(cardinalities, rng)
        rows = sample(model, ROWS, rng=rng, method="exact")
        seed = int(rng.integers(2**31))
        found = check(model, rows, dependencies=False, overall=SIMULATIONS, rng=seed).overall
        p_values.append(float(found.p_value))  # type: ignore[union-attr, arg-type]
    return p_values


def power(rows: int, repeats: int, rng: np.random.Generator) -> int:
    """Count how often the overall test rejects, at 0.05, a chain of six that lacks one edge."""
    domain = Domain.of_cardinalities([2] * 6)
    edges = [{f"v{k}": 1, f"v{k + 1}": 1} for k in range(5)]
    singles = [{name: 1} for name in domain.names]
    rejected = 0
    for _ in range(repeats):
        signs = rng.choice([-1.0, 1.0], size=5)
        biases = rng.normal(0, 0.5, size=6)
        model = LogLinear(Structure(domain, [*edges, *singles]), [*signs, *biases])
        missing = rng.integers(5)
        guess = Structure(domain, [edge for k, edge in enumerate(edges) if k != missing])
        drawn = sample(model, rows, rng=rng, method="exact")
        seed = int(rng.integers(2**31))
        found = check(guess, drawn, dependencies=False, overall=SIMULATIONS, rng=seed).overall
        rejected += found.p_value <= ALPHA  # type: ignore[union-attr, operator]
    return rejected


def interval(hits: int, of: int) -> str:
    """Format a share with its exact 95 % interval."""
    low, high = stats.binomtest(hits, of).proportion_ci()
    return f"{hits / of:.3f} ({low:.3f} to {high:.3f})"


def false_discovery_rows(repeats: int, seed: int) -> Iterator[str]:
    for part, (name, cardinalities) in enumerate(DOMAINS.items()):
        rng = np.random.default_rng([seed, 1, part])
        shares = np.array(false_discoveries(cardinalities, repeats, rng))
        mean, error = shares.mean(), 1.96 * shares.std(ddof=1) / np.sqrt(repeats)
        measured = f"{mean:.3f} ({max(0, mean - error):.3f} to {mean + error:.3f})"
        yield f"| false discovery rate, {name} variables | {ALPHA:g} | {measured} |"


def overall_rows(repeats: int, seed: int) -> Iterator[str]:
    for part, (name, cardinalities) in enumerate(DOMAINS.items()):
        rng = np.random.default_rng([seed, 2, part])
        p_values = np.array(overall_p_values(cardinalities, repeats, rng))
        for level in LEVELS:
            measured = interval(int((p_values <= level).sum()), repeats)
            what = f"overall p ≤ {level:g} for the true structure, {name} variables"
            yield f"| {what} | {level:g} | {measured} |"


def power_rows(repeats: int, seed: int) -> Iterator[str]:
    for rows in (200, 500, 1_000):
        rng = np.random.default_rng([seed, 3, rows])
        measured = interval(power(rows, repeats, rng), repeats)
        yield f"| overall p ≤ {ALPHA:g} with one edge missing, {rows:,} rows | – | {measured} |"


PARTS = {"fdr": false_discovery_rows, "overall": overall_rows, "power": power_rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", choices=list(PARTS), help="only this part of the table")
    options = parser.parse_args()
    print("| simulated | nominal | measured (95 % interval) |\n|---|---|---|")
    for name, rows in PARTS.items():
        if options.part in (None, name):
            for row in rows(options.repeats, options.seed):
                print(row, flush=True)


if __name__ == "__main__":
    main()
