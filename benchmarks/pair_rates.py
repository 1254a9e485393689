"""Simulate the tests of pairs: level, power, coverage of intervals, and whole analyses.

- **level**: a pair that is independent given the others. How often is p at most 0.05, on average
  over the others alone, and with the search of contexts?
- **power**: the same for pairs that are associated.
- **coverage**: how often do the 95 % intervals of odds ratio, share, difference and V hold the true
  value?
- **whole**: random networks. How many of the weak edges are called associated, and how often is any
  pair that is independent given the others?
- **missing**: a confounder is missing in 30 % of the rows. Drop them, or keep a state "missing"?
- **groups**: a common association in groups with different margins; and one that differs.

``python -m benchmarks.pair_rates --count 1000`` prints a table; with ``--only level`` a part. Set
``OMP_NUM_THREADS=1``: the matrices are small.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from math import exp, log, sqrt
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise import Domain
from contextwise.data.rows import Data
from contextwise.evidence.pair_records import PairEvidence
from contextwise.evidence.row_tests import RowTests

Codes = npt.NDArray[np.int64]
Rng = np.random.Generator
LEVEL = 0.05


class Sample:
    """Rows whose first two columns are the pair in question."""

    def __init__(self, columns: Any, ordered: bool = False, **how: Any) -> None:
        self.codes = np.stack(list(columns), axis=1).astype(np.int64)
        self.ordered, self.weights = ordered, how.get("weights")
        self.subjects = how.get("subjects")

    def tests(self) -> RowTests:
        cards = self.codes.max(axis=0) + 1
        names = [f"v{k}" for k in range(len(cards))]
        labels = "0123456789" if self.ordered else "abcdefghij"
        domain = Domain({n: list(labels[: max(c, 2)]) for n, c in zip(names, cards, strict=True)})
        data = Data(domain, self.codes, subjects=self.subjects)
        ordered = [n for n, c in zip(names, cards, strict=True) if c > 2] if self.ordered else []
        return RowTests(data, weights=self.weights, ordered=ordered)

    def tested(self, **how: Any) -> PairEvidence:
        rows = self.tests()
        if not {"v0", "v1"} <= set(rows.rows.names):
            return PairEvidence(("v0", "v1"), "could not be tested", None, None, "")
        return rows.pairs(pairs=[("v0", "v1")], effects=False, **how).pairs[0]


def logistic(eta: Any, rng: Rng) -> Codes:
    eta = np.asarray(eta)
    return np.asarray(rng.random(len(eta)) < 1 / (1 + np.exp(-eta)), dtype=np.int64)


def multinomial(eta: Any, rng: Rng) -> Codes:
    p = np.exp(eta - eta.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return np.asarray((rng.random((len(p), 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1))


def network(rng: Rng, variables: int, rows: int, states: int = 2, strength: float = 0.8) -> Codes:
    """Draw a chain of dependent variables, each with two earlier parents."""
    columns = [rng.integers(states, size=rows)]
    for v in range(1, variables):
        eta = rng.normal(0, 0.5, states) * np.ones((rows, 1))
        for u in rng.choice(v, min(2, v), replace=False):
            eta = eta + rng.normal(0, strength, (states, states))[columns[u]]
        columns.append(multinomial(eta, rng))
    return np.stack(columns, axis=1)


def conditioned(
    rng: Rng, others: Codes, states: int = 2, shift: float = 0.0, parents: int = 3
) -> Codes:
    """Draw a variable that depends on some of the others."""
    eta = np.zeros((len(others), states))
    eta[:, 0] += shift
    for u in rng.choice(others.shape[1], min(parents, others.shape[1]), replace=False):
        eta += rng.normal(0, 0.8, (others[:, u].max() + 1, states))[others[:, u]]
    return multinomial(eta, rng)


def null(
    variables: int, rows: int, states: int = 2, ordered: bool = False
) -> Callable[[Rng], Sample]:
    def draw(rng: Rng) -> Sample:
        others = network(rng, variables - 2, rows, states)
        pair = [conditioned(rng, others, states) for _ in range(2)]
        return Sample([*pair, *others.T], ordered)

    return draw


def by_parity(rows: int, variables: int) -> Callable[[Rng], Sample]:
    """Confound the pair by the parity of some of the others."""

    def draw(rng: Rng) -> Sample:
        others = rng.integers(2, size=(rows, 4))
        eta = 2.4 * (others[:, :variables].sum(axis=1) % 2) - 1.2
        return Sample([logistic(eta, rng), logistic(eta, rng), *others.T])

    return draw


def zero_cells(rng: Rng) -> Sample:
    others = rng.integers(3, size=(1000, 3))
    eta = np.where(others[:, 0] == 0, -50.0, 0.8 * others[:, 1] - 0.5)
    other = np.where(others[:, 1] == 2, 50.0, 0.6 * others[:, 2] - 0.8)
    return Sample([logistic(eta, rng), logistic(other, rng), *others.T])


def rare(rows: int, effect: float) -> Callable[[Rng], Sample]:
    def draw(rng: Rng) -> Sample:
        others = rng.integers(2, size=(rows, 4))
        a = logistic(-4.9 + 0.7 * others[:, 0], rng)
        b = logistic(-4.9 + 0.7 * others[:, 1] + effect * a, rng)
        return Sample([a, b, *others.T])

    return draw


def weighted(rng: Rng) -> Sample:
    """Select rows by both variables; the weights undo it."""
    rows = 4000
    others = rng.integers(2, size=(rows, 3))
    a, b = (logistic(0.8 * others[:, k] - 0.4, rng) for k in range(2))
    chance = np.where(a == b, 0.9, 0.3) * np.where(others[:, 2] == 1, 0.5, 1.0)
    kept = rng.random(rows) < chance
    return Sample([a[kept], b[kept], *others[kept].T], weights=1 / chance[kept])


def clustered(clusters: int, each: int) -> Callable[[Rng], Sample]:
    def draw(rng: Rng) -> Sample:
        subjects = np.repeat(np.arange(clusters), each)
        own = rng.normal(0, 1.0, (clusters, 2))[subjects]
        others = rng.integers(2, size=(len(subjects), 3))
        a = logistic(own[:, 0] + 0.5 * others[:, 0], rng)
        b = logistic(own[:, 1] + 0.5 * others[:, 0], rng)
        return Sample([a, b, *others.T], subjects=subjects)

    return draw


def seven_points(rows: int, effect: float, items: int = 8) -> Callable[[Rng], Sample]:
    def draw(rng: Rng) -> Sample:
        factor = rng.normal(size=(rows, 1))
        latent = 0.7 * factor + rng.normal(size=(rows, items))
        latent[:, 1] = 0.7 * factor[:, 0] + rng.normal(size=rows)
        if not effect:  # independent given the others, which are the parents
            scores = np.clip(np.round(latent[:, 2:] * 1.2 + 3), 0, 6)
            mean = scores.mean(axis=1) - 3
            pair = [np.clip(np.round(mean + rng.normal(size=rows) + 3), 0, 6) for _ in range(2)]
            return Sample([*pair, *scores.T], ordered=True)
        latent[:, 1] += effect * latent[:, 0]
        return Sample(np.clip(np.round(latent * 1.2 + 3), 0, 6).T, ordered=True)

    return draw


def reversal(rows: int, variables: int, effect: float) -> Callable[[Rng], Sample]:
    """Associate the pair in opposite directions by the state of one other variable."""

    def draw(rng: Rng) -> Sample:
        others = network(rng, variables - 2, rows)
        a = conditioned(rng, others)
        sign = 2 * others[:, 0] - 1
        b = logistic(effect * sign * (2 * a - 1) + 0.5 * others[:, 1] - 0.25, rng)
        return Sample([a, b, *others.T])

    return draw


def direct(variables: int, rows: int, effect: float) -> Callable[[Rng], Sample]:
    def draw(rng: Rng) -> Sample:
        others = network(rng, variables - 2, rows)
        a = conditioned(rng, others)
        b = logistic(effect * a + 0.8 * others[:, 0] + 0.5 * others[:, 1] - 0.5, rng)
        return Sample([a, b, *others.T])

    return draw


LEVELS: Mapping[str, Callable[[Rng], Sample]] = {
    "5 binary, 100 rows": null(5, 100),
    "20 binary, 100 rows": null(20, 100),
    "20 variables of 4 states, 300 rows": null(20, 300, 4),
    "9 binary, 1,000 rows": null(9, 1000),
    "6 variables of 5 states, 500 rows": null(6, 500, 5),
    "the same, called ordered": null(6, 500, 5, True),
    "20 variables of 4 states called ordered, 300": null(20, 300, 4, True),
    "confounded by XOR, 300 rows": by_parity(300, 2),
    "confounded by XOR, 100 rows": by_parity(100, 2),
    "confounded by parity of three, 300 rows": by_parity(300, 3),
    "zero cells, 1,000 rows": zero_cells,
    "1 % states, 1,000 rows": rare(1000, 0.0),
    "1 % states, 5,000 rows": rare(5000, 0.0),
    "informative weights, 2,000 rows": weighted,
    "20 clusters of 30 rows": clustered(20, 30),
    "100 clusters of 10 rows": clustered(100, 10),
    "8 items of seven points, 300 rows": seven_points(300, 0.0),
}
POWERS: Mapping[str, Callable[[Rng], Sample]] = {
    "12 binary, 1,000 rows, log odds 0.6": direct(12, 1000, 0.6),
    "1 % states, 5,000 rows, log odds 2": rare(5000, 2.0),
    "8 items of seven points, 300 rows": seven_points(300, 0.2),
    "reversal, 12 binary, 1,000 rows": reversal(1000, 12, 0.35),
}


def rates(title: str, cases: Mapping[str, Callable[[Rng], Sample]], count: int) -> Iterator[str]:
    yield f"{title}: share of p <= {LEVEL}, on average over the others; with contexts; data sets"
    for name, draw in cases.items():
        start, average, whole, done = process_time(), 0, 0, 0
        for seed in range(count):
            tested = draw(np.random.default_rng([seed, len(name)])).tested()
            if tested.p is None:
                continue
            done += 1
            average += (tested.average_p or 1.0) <= LEVEL
            whole += tested.p <= LEVEL
        seconds = (process_time() - start) / max(done, 1)
        yield f"  {name:42s} {average / done:.3f}  {whole / done:.3f}  {done}  {seconds:.4f} s each"


# -- coverage --------------------------------------------------------------------------------------


def effects_case(rng: Rng, rows: int, low: bool = False) -> tuple[Sample, Callable[[Codes], Any]]:
    """Draw rows whose outcome has a known logit, and return its shares given the others."""
    others = np.stack([rng.integers(2, size=rows), rng.integers(3, size=rows)], axis=1)
    b = logistic(0.7 * others[:, 0] - 0.5 * (others[:, 1] == 2), rng)
    base = -2.2 if low else -0.4

    def eta(b: Any) -> Any:
        return base + 0.7 * b + 0.8 * others[:, 0] - 0.6 * (others[:, 1] == 1)

    return Sample([logistic(eta(b), rng), b, *others.T]), eta


def coverage(count: int) -> Iterator[str]:
    """Cover the true odds ratio, and the true shares over the population."""
    yield "coverage of 95 % intervals: odds ratio; share; difference; data sets"
    cells = np.array([(x, z) for x in range(2) for z in range(3)])
    for rows, low in ((100, False), (300, False), (1000, False), (1000, True), (5000, True)):
        base = -2.2 if low else -0.4

        def truth(b: int, base: float = base) -> float:
            eta = base + 0.7 * b + 0.8 * cells[:, 0] - 0.6 * (cells[:, 1] == 1)
            return float((1 / (1 + np.exp(-eta))).mean())

        hits = {"odds ratio": 0, "share": 0, "difference": 0}
        for seed in range(count):
            sample, _ = effects_case(np.random.default_rng([seed, rows]), rows, low)
            found = sample.tests().pairs(outcome="v0", pairs=[("v0", "v1")]).pairs[0].effects
            for kind, value in (
                ("odds ratio", exp(0.7)),
                ("share", truth(1)),
                ("difference", truth(1) - truth(0)),
            ):
                one = next(e for e in found if e.kind == kind and (kind != "share" or e.at == "b"))
                hits[kind] += one.low <= value <= one.high
        shown = "  ".join(f"{hit / count:.3f}" for hit in hits.values())
        name = f"{rows:,} rows, {'a tenth' if low else 'half'} with the event"
        yield f"  {name:42s} {shown}  {count}"


def v_tables() -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
    for a, b, v in (
        (0.5, 0.5, 0.0), (0.5, 0.5, 0.3), (0.5, 0.5, 0.8), (0.2, 0.2, 0.2),
        (0.05, 0.05, 0.3), (0.02, 0.02, 0.5), (0.1, 0.1, 0.5),
    ):  # fmt: skip
        c = v * sqrt(a * (1 - a) * b * (1 - b))
        table = np.outer([1 - a, a], [1 - b, b]) + c * np.array([[1, -1], [-1, 1]])
        yield f"2 × 2, shares {a} and {b}, V {v}", table
    rare_states = np.outer([0.8, 0.15, 0.05], [0.85, 0.1, 0.05])
    yield "3 × 3 independent, rare states", rare_states
    tilted = rare_states.copy()
    tilted[[2, 0], [2, 0]] += 0.02
    tilted[[2, 0], [0, 2]] -= 0.02
    yield "3 × 3, rare states", tilted
    yield "3 × 3, equal shares", (np.full((3, 3), 1 / 9) + 0.1 * (np.eye(3) - 1 / 3) / 1) / 1.0
    zipf = np.arange(1, 11) ** -1.2
    table = np.outer(zipf / zipf.sum(), np.full(10, 0.1))
    table[0, 0] *= 1.5
    yield "10 × 10, rare states, weak", table / table.sum()


def v_coverage(count: int) -> Iterator[str]:
    yield "coverage of the 95 % interval of V: V; with 200, 1,000, 5,000 rows; data sets"
    for name, table in v_tables():
        expected = np.outer(table.sum(axis=1), table.sum(axis=0))
        v = sqrt(((table - expected) ** 2 / expected).sum() / (min(table.shape) - 1))
        shown = []
        for rows in (200, 1000, 5000):
            hits = done = 0
            for seed in range(count):
                rng = np.random.default_rng([seed, rows])
                counts = rng.multinomial(rows, table.ravel()).reshape(table.shape)
                if min((counts.sum(axis=k) > 0).sum() for k in (0, 1)) < 2:
                    continue
                a, b = np.nonzero(counts)
                domain = Domain({"v0": table.shape[0], "v1": table.shape[1]})
                data = Data(domain, np.stack([a, b], axis=1), multiplicity=counts[a, b])
                one = RowTests(data).pairs(effects=False).pairs[0]
                if one.v_low is None or one.v_high is None:
                    continue
                done += 1
                hits += one.v_low - 1e-12 <= v <= one.v_high + 1e-12
            shown.append(f"{hits / max(done, 1):.3f}")
        yield f"  {name:42s} {v:.3f}  {'  '.join(shown)}  {count}"


# -- whole analyses --------------------------------------------------------------------------------


def whole(count: int) -> Iterator[str]:
    """Analyse networks of nine binary variables; edges have log odds ratios of 0.5 to 1.5."""
    weak = found = wrong = any_wrong = null_pairs = 0
    seconds = 0.0
    for seed in range(count):
        rng = np.random.default_rng(seed)
        variables, rows = 9, 1000
        weight = np.zeros((variables, variables))
        for i in range(variables):
            for j in range(i):
                if rng.random() < 0.3:
                    weight[i, j] = weight[j, i] = rng.choice([-1, 1]) * rng.uniform(0.5, 1.5)
        states = rng.integers(2, size=(rows, variables))
        for _ in range(60):  # Gibbs sampling
            for v in range(variables):
                states[:, v] = logistic((states - 0.5) @ weight[v], rng)
        start = process_time()
        tested = Sample(states.T).tests().pairs(effects=False)
        seconds += process_time() - start
        false = 0
        for each in tested:
            a, b = (int(name[1:]) for name in each.pair)
            if weight[a, b] == 0:
                null_pairs += 1
                false += each.associated
            elif abs(weight[a, b]) < 1:
                weak += 1
                found += each.associated
        wrong += false
        any_wrong += false > 0
    yield f"whole analyses of 9 binary variables, 1,000 rows; {count} networks"
    yield f"  weak edges (log odds 0.5 to 1) called associated: {found} of {weak}"
    share = any_wrong / count
    yield f"  independent pairs called associated: {wrong} of {null_pairs}; any: {share:.3f}"
    yield f"  {seconds / count:.3f} s of processor time each"


def groups(count: int) -> Iterator[str]:
    """Ask whether an association is the same in two groups with different margins."""
    yield "same association in two groups, 800 rows: share of p <= 0.05; coverage of the ratio"
    for name, ratio in (("the same", 1.0), ("ratio 2", 2.0)):
        rejected = covered = 0
        for seed in range(count):
            rng = np.random.default_rng(seed)
            group, z = rng.integers(2, size=800), rng.integers(3, size=800)
            a = logistic(0.8 * group - 0.5 * z + 0.3, rng)
            b = logistic((0.7 + log(ratio) * group) * a - 0.6 * group + 0.4 * z - 0.5, rng)
            one = Sample([a, b, group, z]).tests().same(("v0", "v1"), "v2", effects=False)
            rejected += (one.p or 1.0) <= LEVEL
            covered += (one.ratio_low or 0.0) <= ratio <= (one.ratio_high or 0.0)
        yield f"  {name:42s} {rejected / count:.3f}  {covered / count:.3f}  {count}"


def with_missing(effect: float, keep: bool, depends: bool) -> Callable[[Rng], Sample]:
    """Lose the confounder of 30 % of the rows; drop these rows, or keep them as a state."""

    def draw(rng: Rng) -> Sample:
        z, other = rng.integers(3, size=1000), rng.integers(2, size=1000)
        a = logistic(1.2 * (z - 1) + 0.5 * other, rng)
        b = logistic(1.2 * (z - 1) + effect * a - 0.3 * other, rng)
        lost = rng.random(1000) < (0.15 + 0.3 * a if depends else 0.3)
        if keep:
            return Sample([a, b, np.where(lost, 3, z), other])
        return Sample([each[~lost] for each in (a, b, z, other)])

    return draw


MISSING: Mapping[str, Callable[[Rng], Sample]] = {
    f"{'state' if keep else 'dropped'}, {'lost by a' if depends else 'at random'}, log odds {e}": (
        with_missing(e, keep, depends)
    )
    for e in (0.0, 0.4)
    for depends in (False, True)
    for keep in (False, True)
}


PARTS: Mapping[str, Callable[[int], Iterator[str]]] = {
    "level": lambda count: rates("level", LEVELS, count),
    "power": lambda count: rates("power", POWERS, count),
    "missing": lambda count: rates("confounder missing in 30 % of 1,000 rows", MISSING, count),
    "coverage": coverage,
    "v": v_coverage,
    "whole": whole,
    "groups": groups,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="data sets per line")
    parser.add_argument("--only", choices=PARTS, action="append", help="some parts")
    chosen = parser.parse_args()
    for name in chosen.only or PARTS:
        for line in PARTS[name](chosen.count):
            print(line, flush=True)


if __name__ == "__main__":
    main()
