"""Simulate the error rates of verdicts about claims, and their stated power.

Random structures get random weights, and rows are drawn from them exactly. Parts:

- **true**: claims of the true structure. How often is p at most a level, and how often is any true
  independence called contradicted?
- **learned**, **held out**: structures learned from half of the rows, judged on these or on the
  other half. Which share of the independencies that hold in the joint distribution is called
  contradicted?
- **sparse**: independent variables with rare states, in many groups of rows.
- **repeated**: independent traits of subjects with four rows each.
- **power**: how often is the odds ratio found that a claim says it could show?

Run ``python -m benchmarks.evidence_rates`` to print the table; a part of it is in
``docs/explanation/statistics.md``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy import stats

from contextwise import Domain, LogLinear, Structure
from contextwise.data.rows import Data
from contextwise.distributions import probabilities
from contextwise.distributions.sampling import draw
from contextwise.evidence.verdicts import judge
from contextwise.learning import learner_named
from contextwise.models.domain import literals_of
from contextwise.models.evidence import ClaimEvidence
from contextwise.models.features import rows_in
from contextwise.testing import random_structure

DOMAINS = {"binary": (2,) * 6, "mixed": (2, 3, 2, 4)}
ROWS = 500
LEVELS = (0.01, 0.05)
LEARNERS = ("mpl", "pair-blocks")
Joint = npt.NDArray[np.float64]


def random_model(cardinalities: tuple[int, ...], rng: np.random.Generator) -> LogLinear:
    """Draw a structure with five features and weights of either sign and size about 1."""
    domain = Domain.of_cardinalities(cardinalities)
    structure = random_structure(domain, features=5, lengths=(2, 3), set_literals=0.5, seed=rng)
    signs = rng.choice([-1, 1], size=len(structure))
    return LogLinear(structure, signs * rng.uniform(0.5, 1.5, size=len(structure)))


def is_true(claim: ClaimEvidence, domain: Domain, joint: Joint) -> bool:
    """Return whether an independence holds in the joint distribution, in its region and groups."""
    states = np.array(list(product(*map(range, domain.cardinalities))))
    i, j = map(domain.position, claim.pair)
    inside = rows_in(states, tuple(literals_of(domain, claim.when)))
    held = states[:, [domain.position(name) for name in claim.given]]
    for key in np.unique(held[inside], axis=0):
        rows = inside & (held == key).all(axis=1)
        table = np.zeros((domain.cardinalities[i], domain.cardinalities[j]))
        np.add.at(table, (states[rows, i], states[rows, j]), joint[rows])
        factorized = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        if not np.allclose(table, factorized, atol=1e-9):
            return False
    return True


def interval(hits: int, of: int) -> str:
    """Format a share with its exact 95 % interval."""
    low, high = stats.binomtest(hits, of).proportion_ci()
    return f"{hits / of:.3f} ({low:.3f} to {high:.3f})"


def below(p_values: list[float], what: str) -> Iterator[str]:
    """Write how often p is at most each level."""
    for level in LEVELS:
        hits = int((np.array(p_values) <= level).sum())
        yield f"| p ≤ {level:g}, {what} | {level:g} | {interval(hits, len(p_values))} |"


def true_rows(repeats: int, seed: int) -> Iterator[str]:
    for part, (name, cardinalities) in enumerate(DOMAINS.items()):
        rng = np.random.default_rng([seed, 1, part])
        p_values: list[float] = []
        wrong = 0
        for _ in range(repeats):
            model = random_model(cardinalities, rng)
            rows = draw(model, ROWS, seed=rng, method="exact").rows
            evidence = judge(model, rows)
            p_values += [c.p for c in evidence.of("independent") if c.p is not None]
            wrong += bool(evidence.contradicted)
        yield from below(p_values, f"claims of the true structure, {name} variables")
        what = f"true structures with a claim called contradicted, {name} variables"
        yield f"| {what} | 0.05 | {interval(wrong, repeats)} |"


def learned_rows(repeats: int, seed: int) -> Iterator[str]:
    for place, learner in enumerate(LEARNERS):
        counts = {"the rows of learning": [0, 0], "held-out rows": [0, 0]}
        rng = np.random.default_rng([seed, 2, place])
        for _ in range(repeats):
            model = random_model(DOMAINS["binary"], rng)
            joint = probabilities(model).ravel()
            rows = draw(model, 2 * ROWS, seed=rng, method="exact").rows
            learned = learner_named(learner)().fit(rows[:ROWS], domain=model.domain).structure_
            for name, part in zip(counts, (rows[:ROWS], rows[ROWS:]), strict=True):
                for claim in judge(learned, part).of("independent"):
                    if claim.p is not None and is_true(claim, model.domain, joint):
                        counts[name][0] += claim.verdict == "contradicted"
                        counts[name][1] += 1
        for name, (wrong, tested) in counts.items():
            what = f"true independencies called contradicted, {learner}, {name}"
            yield f"| {what} | 0.05 | {interval(wrong, tested)} |"


def sparse_rows(repeats: int, seed: int) -> Iterator[str]:
    settings = (("two states, 16 groups", 2, 4), ("two states, 1 group", 2, 0))
    for part, (name, states, held) in enumerate((*settings, ("four states, 4 groups", 4, 2))):
        rng = np.random.default_rng([seed, 3, part])
        domain = Domain.of_cardinalities([states, states, *[2] * held])
        features = [f"v0=1 & v{k + 2}=1" for k in range(held)]
        features += [f"v1=1 & v{k + 2}=1" for k in range(held)]
        structure = Structure(domain, features)
        chances = np.array([0.94, *[0.06 / (states - 1)] * (states - 1)])
        p_values = []
        for _ in range(5 * repeats):
            pair = rng.choice(states, size=(200, 2), p=chances)
            rows = np.concatenate([pair, rng.integers(0, 2, (200, held))], axis=1)
            claim = judge(structure, rows, pairs=[(0, 1)]).claims[0]
            p_values.append(1.0 if claim.p is None else claim.p)
        yield from below(p_values, f"rare states (6 %), 200 rows, {name}")


def repeated_rows(repeats: int, seed: int) -> Iterator[str]:
    structure = Structure({"A": 2, "B": 2})
    for subjects in (20, 60, 300):
        rng = np.random.default_rng([seed, 4, subjects])
        naive, compared = [], []
        for _ in range(5 * repeats):
            traits = rng.random((subjects, 1, 2)) < rng.beta(1, 1, (subjects, 1, 2))
            rows = np.where(
                rng.random((subjects, 4, 2)) < 0.8, traits, rng.random((subjects, 4, 2)) < 0.5
            )
            rows = rows.reshape(-1, 2).astype(int)
            owner = np.repeat(np.arange(subjects), 4)
            naive.append(judge(structure, rows).claims[0].p or 1.0)
            data = Data(structure.domain, rows, subjects=owner)
            compared.append(judge(structure, data).claims[0].p or 1.0)
        yield from below(naive, f"{subjects} subjects with 4 rows, as if rows were independent")
        yield from below(compared, f"{subjects} subjects with 4 rows, --subject")


def power_rows(repeats: int, seed: int) -> Iterator[str]:
    structure = Structure({"A": 2, "B": 2})
    for share, rows in (
        (0.5, 200),
        (0.5, 1_000),
        (0.1, 200),
        (0.1, 1_000),
        (0.03, 1_000),
        (0.03, 200),
        (0.015, 200),
    ):
        rng = np.random.default_rng([seed, 5, rows, int(1_000 * share)])
        stated, found, silent = [], 0, 0
        for _ in range(5 * repeats):
            first = (rng.random(rows) < share).astype(int)
            second = (rng.random(rows) < 0.3).astype(int)
            ratio = judge(structure, np.stack([first, second], axis=1)).claims[0].could_show
            if ratio is None:
                silent += 1
                continue
            stated.append(ratio)
            odds = 0.3 / 0.7 * np.where(first == 1, ratio, 1.0)
            second = (rng.random(rows) < odds / (1 + odds)).astype(int)
            found += (
                judge(structure, np.stack([first, second], axis=1)).claims[0].p or 1.0
            ) <= 0.05
        ratio_text = f"{np.median(stated):.2g}" if stated else "none"
        measured = interval(found, len(stated)) if stated else "–"
        nothing = f"nothing stated in {silent / (5 * repeats):.0%} of the samples"
        what = f"power, {rows:,} rows, rare state {share:.1%}, stated odds ratio {ratio_text}"
        what = f"{what} ({nothing})"
        yield f"| {what} | 0.8 | {measured} |"


PARTS = {
    "true": true_rows,
    "learned": learned_rows,
    "sparse": sparse_rows,
    "repeated": repeated_rows,
    "power": power_rows,
}


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
