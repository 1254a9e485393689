"""The time of chance, and the error rates of checks on data.

Checks are measured on rows that are drawn exactly from random models. **Calibration**: of the
claims of the very model, the share with a p-value up to α is at most α, within the sampling error
between models. **Power**: one dependence of log-odds 1 is left out of the model; its pair should be
among the rejected ones, after the correction for all claims.
"""

from __future__ import annotations

import time
from itertools import combinations
from math import sqrt

import numpy as np

from benchmarks.cases import Models
from benchmarks.families import SEED
from benchmarks.measure import Figure, Line, Measurement, at_least, at_most
from contextwise import Domain, LogLinear, Structure, compare, read
from contextwise.distributions.sampling import draw
from contextwise.evaluation import chance
from contextwise.evidence import check
from contextwise.models.structure import structure_of
from contextwise.testing import random_structure

PAIRS = {
    "real": ("plants.dt-ps10", "plants.dtsl-ps10-l1_5-nz"),
    "generated": ("forest.medium", "forest.small"),
}
COMPARISONS = 50
"""Number of repetitions of one comparison, for its mean time."""
DRAWS = 999
LEVELS = (0.01, 0.05, 0.2)
DOMAINS = {"binary": (2,) * 7, "mixed": (2, 3, 2, 4, 3)}
MODELS = 200
ROWS, MANY_ROWS = 500, 5_000
REPEATS = 100
VARIABLES = 10
LOG_ODDS = 1.0


def run_chance(models: Models) -> Line:
    """Time 999 draws, in units of one comparison."""
    names = PAIRS["generated" if models.generated else "real"]
    true, guess = (structure_of(read(models.path(name))) for name in names)
    compare(true, guess)
    began = time.process_time()
    for _ in range(COMPARISONS):
        compare(true, guess)
    one = (time.process_time() - began) / COMPARISONS
    case = " / ".join(names)
    measurements = [Measurement(case, "one comparison", one)]
    began = time.process_time()
    found = chance(true, guess, draws=DRAWS)
    seconds = time.process_time() - began
    assert found.draws == DRAWS
    measurements.append(Measurement(case, f"{DRAWS} draws", seconds))
    figures = [at_most(f"{DRAWS} draws", seconds / one, 1_500, "comparisons' time")]
    return Line("chance", "Guesses by chance", measurements, figures)


def run_checks(models: Models) -> Line:
    """Calibration and power of checks on data; generated models in every run."""
    rng = np.random.default_rng(SEED)
    measurements: list[Measurement] = []
    figures: list[Figure] = []
    for name, cardinalities in DOMAINS.items():
        began = time.perf_counter()
        shares = _calibration(cardinalities, rng)
        seconds = time.perf_counter() - began
        measurements.append(Measurement(f"{MODELS} models, {name}", "check", seconds))
        for place, level in enumerate(LEVELS):
            mean = float(shares[:, place].mean())
            error = float(shares[:, place].std()) / sqrt(len(shares))
            what = f"claims with p up to {level:g}, {name} variables (± {error:.1g})"
            figures.append(at_most(what, mean, round(level + 2 * error, 4)))
    began = time.perf_counter()
    hits = sum(_found(rng) for _ in range(REPEATS))
    measurements.append(
        Measurement(
            f"{REPEATS} models, one dependence left out", "check", time.perf_counter() - began
        )
    )
    what = f"left-out dependence of log-odds {LOG_ODDS:g} rejected, of {REPEATS}"
    figures.append(at_least(what, hits, 95, "times"))
    return Line("checks", "Checks on data", measurements, figures)


def _calibration(cardinalities: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """For each random model, the share of its claims with a p-value up to each level."""
    domain = Domain.of_cardinalities(cardinalities)
    shares: list[list[float]] = []
    while len(shares) < MODELS:
        structure = random_structure(domain, features=8, lengths=(2, 3), set_literals=0.5, seed=rng)
        model = LogLinear(structure, rng.normal(size=len(structure)))
        rows = draw(model, ROWS, seed=rng, method="exact").rows
        found = check(model, rows, dependencies=False)
        p_values = [claim.p for claim in found.claims if claim.p is not None]
        if p_values:
            shares.append([float(np.mean(np.array(p_values) <= level)) for level in LEVELS])
    return np.array(shares)


def _found(rng: np.random.Generator) -> bool:
    """Return whether the check rejects a random sparse model without one dependence."""
    domain = Domain.of_cardinalities([2] * VARIABLES)
    edges = [(int(rng.integers(j)), j) for j in range(1, VARIABLES)]
    triples = [sorted(rng.choice(VARIABLES, 3, replace=False).tolist()) for _ in range(4)]
    covered = {pair for triple in triples for pair in combinations(triple, 2)}
    features = [{f"v{v}": 1 for v in scope} for scope in (*edges, *triples)]
    alone = [k for k, edge in enumerate(edges) if edge not in covered]
    left_out = int(rng.choice(alone))
    structure = Structure(domain, [*features, *({name: 1} for name in domain.names)])
    strong = LOG_ODDS * rng.choice([-1, 1], size=len(features))
    singles = rng.normal(-strong.sum() / VARIABLES, 0.5, size=VARIABLES)
    distinct = len(structure) - VARIABLES  # a triple can be drawn twice
    model = LogLinear(structure, [*strong[:distinct], *singles])
    rows = draw(model, MANY_ROWS, seed=rng, method="exact").rows
    guess = Structure(domain, [f for k, f in enumerate(features) if k != left_out])
    i, j = edges[left_out]
    found = check(guess, rows, dependencies=False)
    return (f"v{i}", f"v{j}") in {claim.pair for claim in found.contradicted}
