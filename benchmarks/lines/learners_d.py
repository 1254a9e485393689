"""The distance of learners to the truth: d, FP and FN, from 50 to 100,000 rows.

Five kinds of truth, each drawn anew in every repeat:

- **paper**: the model of the paper's experiment (all of six variables interact under X0=0, a star
  under X0=1), with the weights of the study of KL;
- **switched**: eight binary variables; X0 chooses between two random graphs over the others (an
  edge with probability 0.3) and interacts with all of them; weights drawn in the same way;
- **scattered**: seven variables of two or three values and twelve random features of two or three
  literals, their weights 1 to 3 in size, of either sign;
- **grown**: the paper's model grown to nine variables with two flags of three values;
- **network**: a random Bayesian network of eight variables with context-specific tables.

The last two (see `contextwise.truths.named`) were added when the learners were finished: nothing
in them was decided after a look at these.

Rows are drawn independently from the exact distribution, and the learners have their default
parameters: nothing is chosen by d. A learner of one graph cannot come closer than the graph of the
truth, which is shown as "true graph".
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.cases import Models
from benchmarks.families import SEED
from benchmarks.measure import Figure, Line, Measurement, at_most
from contextwise import Domain, LogLinear, Structure, compare
from contextwise.convert import from_canonical, from_graph
from contextwise.distributions import probabilities
from contextwise.formats import as_log_linear
from contextwise.learning import CSPC, LEARNERS, Data, Learner, learner_named
from contextwise.models.structure import structure_of
from contextwise.testing import random_structure
from contextwise.truths.bundled import load
from contextwise.truths.named import INTERACTION, strong_weights, truth

SIZES = (50, 200, 1000, 5000, 20_000, 100_000)
REPEATS = 5

GRAPHS = ("chow-liu", "sparse-pairs", "gsmn", "mpl")
"""Learners of one graph for all contexts."""
IN_CONTEXTS = ("contextual-mpl", "cspc", "cspc, 1 given", "csgs", "pair-blocks")
"""Learners that find contexts."""


def paper(rng: np.random.Generator) -> LogLinear:
    """The model of the paper's experiment."""
    return strong_weights(structure_of(load("six")), rng)


def switched(rng: np.random.Generator) -> LogLinear:
    """One variable that chooses between two graphs."""
    domain = Domain({f"X{k}": 2 for k in range(8)})
    pairs = list(combinations(domain.names[1:], 2))
    graphs = {f"X0={v}": [p for p in pairs if rng.random() < 0.3] for v in (0, 1)}
    return strong_weights(from_canonical(graphs, domain), rng)


def scattered(rng: np.random.Generator) -> LogLinear:
    """Random features, each with a weight of its own."""
    domain = Domain({f"X{k}": 2 + k % 2 for k in range(7)})
    model = random_structure(domain, features=12, lengths=(2, 3), seed=rng)
    sizes = rng.uniform(*INTERACTION, len(model))
    return LogLinear(model, np.where(rng.random(len(model)) < 0.5, sizes, -sizes))


def grown(rng: np.random.Generator) -> LogLinear:
    """The paper's model with more variables and two flags of three values."""
    return as_log_linear(truth(f"grown-9-2-three#{_seed(rng)}"))


def network(rng: np.random.Generator) -> LogLinear:
    """A random Bayesian network whose tables are trees."""
    return as_log_linear(truth(f"random-8#{_seed(rng)}"))


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


TRUTHS: dict[str, Callable[[np.random.Generator], LogLinear]] = {
    "paper": paper,
    "switched": switched,
    "scattered": scattered,
    "grown": grown,
    "network": network,
}


def run(models: Models) -> Line:
    """Run every learner on every kind of truth and number of rows."""
    measurements = [
        measurement
        for kind, draw in TRUTHS.items()
        for size in SIZES
        for measurement in _measure(kind, draw, size)
    ]
    title = f"Learners: distance to the truth, means of {REPEATS} repeats"
    return Line("distances", title, measurements, _figures(measurements))


def _measure(
    kind: str, draw: Callable[[np.random.Generator], LogLinear], size: int
) -> list[Measurement]:
    found: dict[str, list[dict[str, float]]] = {}
    for repeat in range(REPEATS):
        rng = np.random.default_rng([SEED, list(TRUTHS).index(kind), repeat])
        truth = draw(rng)
        data = Data(truth.domain, _rows(truth, size, np.random.default_rng([SEED, repeat, size])))
        for name, learner in _learners().items():
            began = time.process_time()
            structure = learner.fit(data).structure_
            seconds = time.process_time() - began
            found.setdefault(name, []).append(_errors(truth, structure) | {"seconds": seconds})
        graph = from_graph(truth.structure.pairs(), truth.domain, by="edges")
        found.setdefault("true graph", []).append(_errors(truth, graph) | {"seconds": 0.0})
    return [_mean(kind, size, name, own) for name, own in found.items()]


def _learners() -> dict[str, Learner]:
    """Return our learners with default parameters, and one variant."""
    own: dict[str, Learner] = {
        name: learner_named(name)() for name, entry in LEARNERS.items() if not entry.package
    }
    return own | {"cspc, 1 given": CSPC(max_size=1)}


def _rows(truth: LogLinear, size: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    table = probabilities(truth)
    chosen = rng.choice(table.size, size, p=table.ravel() / table.sum())
    return np.stack(np.unravel_index(chosen, table.shape), axis=1)


def _errors(truth: LogLinear, guess: Structure) -> dict[str, float]:
    found = compare(truth, guess)
    counts = {"distance": found.distance, "fp": found.fp, "fn": found.fn}
    return {name: float(count) for name, count in (counts | {"assertions": found.total}).items()}


def _mean(kind: str, size: int, name: str, own: list[dict[str, float]]) -> Measurement:
    notes: dict[str, Any] = {"truth": kind, "rows": size, "repeats": len(own)}
    means = {key: fmean(one[key] for one in own) for key in own[0]}
    seconds = means.pop("seconds")
    each = [one["distance"] for one in own]
    return Measurement(f"{kind}, {size:,} rows", name, seconds, notes | means | {"each": each})


def _figures(measurements: list[Measurement]) -> list[Figure]:
    """Compare each learner of contexts with the best graph at the most rows; test if d falls."""
    by = {(m.notes["truth"], m.notes["rows"], m.contender): m.notes for m in measurements}
    figures = []
    for kind in TRUTHS:
        for name in IN_CONTEXTS:
            ratios = [
                by[kind, size, name]["distance"]
                / max(1e-9, min(by[kind, size, graph]["distance"] for graph in GRAPHS))
                for size in SIZES
            ]
            what = f"{kind}: d of {name} over that of the best graph learner, {SIZES[-1]:,} rows"
            figures.append(at_most(what, ratios[-1], 1))
            last, before = (by[kind, size, name]["distance"] for size in SIZES[:-3:-1])
            what = f"{kind}: d of {name} at {SIZES[-1]:,} rows over that at {SIZES[-2]:,}"
            figures.append(at_most(what, last / max(before, 1e-9), 1))
    return figures
