"""Simulate the tests of pairs: level, power, coverage of intervals, and whole analyses.

- **level**: a pair that is independent given the others. How often is p at most 0.05, on average
  over the others alone, and with the search of contexts?
- **power**: the same for pairs that are associated.
- **coverage**: how often do the 95 % intervals of odds ratios, shares, differences and ratios hold
  the true value, and how many of them are called approximate? **v**: the same for V.
- **whole**: random networks. How many of the weak edges are called associated, and how often is any
  pair that is independent given the others?
- **missing**: a confounder is missing in 30 % of the rows. Drop them, or keep a state "missing"?
- **groups**: a common association in groups with different margins; and one that differs.

Next to level and power is the likelihood ratio test of a logit with main effects, which R's `glm`
and `multinom` make (no survey weights, no subjects).

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
from contextwise.evidence.logits import Logit, Term, contrasts
from contextwise.evidence.pair_records import PairEffect, PairEvidence
from contextwise.evidence.residual_products import chi_square_tail
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

    def glm(self) -> float:
        """Return p of the likelihood ratio test of v1 in a logit of v0 with main effects."""
        columns = [np.unique(c, return_inverse=True)[1] for c in self.codes.T]
        states, terms = columns[0], []
        width = int(states.max())
        if not width or not columns[1].any():
            return 1.0
        constant = np.zeros(len(states), dtype=np.int64)
        terms.append(Term(constant, np.ones((1, 1)), 0, width, 1e-6))
        for v, codes in enumerate(columns[1:]):
            if codes.any():
                basis = contrasts(int(codes.max()) + 1)
                terms.append(Term(codes, basis, 0, width, 1e-6, frozenset([v])))
        logit = Logit(terms, contrasts(width + 1), states, np.ones(len(states)))
        out = logit.parameters_of(frozenset([0]))
        logit.fit()
        whole, part = logit.evaluate(logit.theta)[1], logit.evaluate(logit.maximum(out)[0])[1]
        return chi_square_tail(2 * (whole - part), len(out))


def normal_share(z: Any) -> Any:
    from scipy.special import ndtr

    return ndtr(z)


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
    yield f"{title}: share of p <= {LEVEL}, on average; with contexts; glm; could not; data sets"
    for name, draw in cases.items():
        average = whole = done = glm = open_pairs = 0
        seconds = 0.0
        for seed in range(count):
            sample = draw(np.random.default_rng([seed, len(name)]))
            start = process_time()
            tested = sample.tested()
            seconds += process_time() - start
            open_pairs += tested.verdict == "could not be tested"
            if tested.p is None:
                continue
            done += 1
            average += (tested.average_p or 1.0) <= LEVEL
            whole += tested.p <= LEVEL
            glm += sample.glm() <= LEVEL
        shown = [f"{each / max(done, 1):.3f}" for each in (average, whole, glm, open_pairs)]
        each = f"{seconds / max(count, 1):.4f} s each"
        yield f"  {name:44s} {'  '.join(shown)}  {done}  {each}"


# -- coverage --------------------------------------------------------------------------------------


CELLS = np.array([(x, z) for x in range(2) for z in range(3)])


def drawn_outcome(
    rng: Rng, rows: int, base: float = -0.4, subjects: int = 0, tau: float = 1.0
) -> tuple[Codes, Codes, Codes, Any]:
    """Draw an outcome whose logit is known, a cause and two others; alike within subjects.

    Subjects share a normal part (a copula), so the logit of each row stays what it is.
    """
    others = np.stack([rng.integers(2, size=rows), rng.integers(3, size=rows)], axis=1)
    who = np.arange(rows) % subjects if subjects else np.arange(rows)
    own = [rng.normal(size=who.max() + 1)[who] * sqrt(tau / 2) for _ in range(2)]
    u, v = (normal_share(each + rng.normal(size=rows) * sqrt(1 - tau / 2)) for each in own)
    b = (v < 1 / (1 + np.exp(-0.7 * others[:, 0] + 0.5 * (others[:, 1] == 2)))).astype(np.int64)
    eta = base + 0.7 * b + 0.8 * others[:, 0] - 0.6 * (others[:, 1] == 1)
    return (u < 1 / (1 + np.exp(-eta))).astype(np.int64), b, others, who


def binary_truth(base: float) -> dict[str, float]:
    eta = base + 0.8 * CELLS[:, 0] - 0.6 * (CELLS[:, 1] == 1)
    shares = [float((1 / (1 + np.exp(-(eta + 0.7 * b)))).mean()) for b in (0, 1)]
    return {"odds ratio": exp(0.7), "share": shares[1], "difference": shares[1] - shares[0]}


Case = tuple[Callable[[Rng], Sample], Mapping[str, float]]


def plain(rows: int, base: float) -> Case:
    def draw(rng: Rng) -> Sample:
        a, b, others, _ = drawn_outcome(rng, rows, base, tau=0.0)
        return Sample([a, b, *others.T])

    return draw, binary_truth(base)


def by_subject(subjects: int, each: int) -> Case:
    def draw(rng: Rng) -> Sample:
        a, b, others, who = drawn_outcome(rng, subjects * each, -0.4, subjects)
        return Sample([a, b, *others.T], subjects=who)

    return draw, binary_truth(-0.4)


def by_weight(rows: int, subjects: int = 0) -> Case:
    """Keep rows by outcome and cause; the weights undo it."""

    def draw(rng: Rng) -> Sample:
        a, b, others, who = drawn_outcome(
            rng, 3 * rows, -0.4, subjects, 0.0 if not subjects else 1.0
        )
        chance = np.where(a == b, 0.5, 0.15)
        kept = rng.random(len(a)) < chance
        how: dict[str, Any] = {"weights": 1 / chance[kept]}
        if subjects:
            how["subjects"] = who[kept]
        return Sample([a[kept], b[kept], *others[kept].T], **how)

    return draw, binary_truth(-0.4)


def ordered_cause(rows: int) -> Case:
    """An outcome of two states, and a cause of four ordered ones."""

    def draw(rng: Rng) -> Sample:
        z = rng.integers(2, size=rows)
        b = np.minimum(rng.integers(3, size=rows) + rng.integers(2, size=rows) * z, 3)
        return Sample([logistic(0.3 * b + 0.6 * z - 0.8, rng), b, z], ordered=True)

    return draw, {"odds ratio per step": exp(0.3)}


def ordered_outcome(rows: int, ordered: bool) -> Case:
    """An outcome of five ordered states (adjacent categories); the cause has four, or two."""

    def draw(rng: Rng) -> Sample:
        z = rng.integers(3, size=rows)
        b = rng.integers(4 if ordered else 2, size=rows)
        steps = np.arange(5)
        eta = np.array([0.0, 0.5, 0.7, 0.4, -0.3]) + np.outer(0.25 * b + 0.3 * (z - 1), steps)
        return Sample([multinomial(eta, rng), b, z], ordered=True)

    return draw, {"odds ratio per step": exp(0.25)}


def rare_cause(rows: int, effect: float) -> Case:
    """Four in a hundred rows have the cause; most of these, or few, have the event."""

    def eta(b: Any, z: Any) -> Any:
        return -0.5 + effect * b + 0.4 * z

    def draw(rng: Rng) -> Sample:
        z, b = rng.integers(2, size=rows), (rng.random(rows) < 0.04).astype(np.int64)
        b[0] = 1
        return Sample([logistic(eta(b, z), rng), b, z])

    shares = [np.mean([1 / (1 + exp(-eta(b, z))) for z in (0, 1)]) for b in (0, 1)]
    return draw, {
        "odds ratio": exp(effect),
        "share": float(shares[1]),
        "difference": float(shares[1] - shares[0]),
    }


COVERAGES: Mapping[str, Case] = {
    "100 rows": plain(100, -0.4),
    "300 rows": plain(300, -0.4),
    "1,000 rows": plain(1000, -0.4),
    "300 rows, a tenth with the event": plain(300, -2.2),
    "1,000 rows, a tenth with the event": plain(1000, -2.2),
    "5,000 rows, a tenth with the event": plain(5000, -2.2),
    "1,000 rows, 2 % with the event": plain(1000, -4.2),
    "600 rows, 24 with the cause, 94 % event": rare_cause(600, 3.0),
    "600 rows, 24 with the cause, 6 % event": rare_cause(600, -2.5),
    "20 subjects with 30 rows": by_subject(20, 30),
    "50 subjects with 10 rows": by_subject(50, 10),
    "200 subjects with 5 rows": by_subject(200, 5),
    "about 1,000 rows with survey weights": by_weight(1000),
    "survey weights and 100 subjects": by_weight(1000, 100),
    "ordered cause, 300 rows": ordered_cause(300),
    "ordered cause, 1,000 rows": ordered_cause(1000),
    "ordered outcome, 300 rows": ordered_outcome(300, False),
    "ordered outcome, 1,000 rows": ordered_outcome(1000, False),
    "both ordered, 300 rows": ordered_outcome(300, True),
    "both ordered, 1,000 rows": ordered_outcome(1000, True),
}


def coverage(count: int) -> Iterator[str]:
    """Cover true odds ratios, and true shares over the population."""
    yield "coverage of 95 % intervals; of those called approximate; share of these; data sets"
    for name, (draw, truths) in COVERAGES.items():
        hits: dict[str, list[list[bool]]] = {kind: [[], []] for kind in truths}
        for seed in range(count):
            tests = draw(np.random.default_rng([seed, len(name)])).tests()
            found = tests.pairs(outcome="v0", pairs=[("v0", "v1")]).pairs[0].effects
            for kind, value in truths.items():
                of_kind = [e for e in found if e.kind == kind and e.at in ("", "b", "1")]
                if of_kind:
                    one: PairEffect = of_kind[0]
                    hits[kind][one.approximate].append(one.low <= value <= one.high)
        for kind, (sure, rough) in hits.items():
            share = len(rough) / max(len(sure) + len(rough), 1)
            shown = [f"{np.mean(each):.3f}" if each else "  –  " for each in (sure, rough)]
            yield f"  {name:36s} {kind:20s} {'  '.join(shown)}  {share:.2f}  {count}"


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
    yield "coverage of the 95 % interval of V; of those called approximate; share of these"
    for name, table in v_tables():
        expected = np.outer(table.sum(axis=1), table.sum(axis=0))
        v = sqrt(((table - expected) ** 2 / expected).sum() / (min(table.shape) - 1))
        for rows in (200, 1000, 5000):
            sides = np.nonzero(np.ones(table.shape))

            def draw(rng: Rng, table: Any = table, rows: int = rows, sides: Any = sides) -> Sample:
                cell = rng.choice(table.size, size=rows, p=table.ravel())
                return Sample([sides[0][cell], sides[1][cell]])

            yield f"  {f'{name}, {rows:,} rows':44s} {v:.3f}  {covered_v(draw, v, count)}"
    for name, (draw_one, _) in list(COVERAGES.items())[2:12]:
        v = true_v(name)
        yield f"  {f'given two others, {name}':44s} {v:.3f}  {covered_v(draw_one, v, count)}"


def true_v(name: str) -> float:
    """Return partial V in a large sample without weights and subjects."""
    base = -2.2 if "tenth" in name else -4.2 if "2 %" in name else -0.4
    a, b, others, _ = drawn_outcome(np.random.default_rng(0), 400_000, base, tau=0.0)
    return float(Sample([a, b, *others.T]).tested().v or 0.0)


def covered_v(draw: Callable[[Rng], Sample], v: float, count: int) -> str:
    hits: list[list[bool]] = [[], []]
    for seed in range(count):
        sample = draw(np.random.default_rng([seed, 7]))
        one = sample.tested()
        if one.v_low is not None and one.v_high is not None:
            hits[one.v_approximate].append(one.v_low - 1e-12 <= v <= one.v_high + 1e-12)
    share = len(hits[1]) / max(len(hits[0]) + len(hits[1]), 1)
    shown = [f"{np.mean(each):.3f}" if each else "  –  " for each in hits]
    return f"{'  '.join(shown)}  {share:.2f}  {count}"


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


def two_groups(ratio: float) -> Callable[[Rng], Sample]:
    def draw(rng: Rng) -> Sample:
        group, z = rng.integers(2, size=800), rng.integers(3, size=800)
        a = logistic(0.8 * group - 0.5 * z + 0.3, rng)
        b = logistic((0.7 + log(ratio) * group) * a - 0.6 * group + 0.4 * z - 0.5, rng)
        return Sample([a, b, group, z])

    return draw


def ordered_groups(
    rows: int, effect: float, change: float, steps: int = 5
) -> Callable[[Rng], Sample]:
    """Two ordered variables with linear-by-linear log odds, and other margins in each group."""

    def draw(rng: Rng) -> Sample:
        group, z = rng.integers(2, size=rows), rng.integers(3, size=rows)
        scores = np.arange(steps) / (steps - 1)
        first = np.where(group[:, None] == 1, [0, 0.3, 0.5, 1.0, 0.9], [0, 0.8, 0.7, 0.2, -0.4])
        eta = first[:, :, None] + 0.6 * (z[:, None, None] - 1) * scores[:, None]
        eta = eta + 0.5 * (z[:, None, None] - 1) * scores - 0.8 * group[:, None, None] * scores
        slope = (effect + change * group)[:, None, None]
        eta = eta + slope * scores[:, None] * scores
        cell = multinomial(eta.reshape(rows, -1), rng)
        return Sample([cell // steps, cell % steps, group, z], ordered=True)

    return draw


def curved(rows: int) -> Callable[[Rng], Sample]:
    """An outcome that a scale moves at both ends, by a second scale that goes with the first."""

    def draw(rng: Rng) -> Sample:
        factor = rng.normal(size=rows)
        items = [
            np.clip(np.round(1.2 * factor + rng.normal(size=rows) + 2), 0, 4) for _ in range(2)
        ]
        return Sample([logistic(0.5 * (items[0] - 2) ** 2 - 1, rng), *items], ordered=True)

    return draw


GROUPS: Mapping[str, tuple[Callable[[Rng], Sample], float | None]] = {
    "the same, 800 rows": (two_groups(1.0), 1.0),
    "ratio 2, 800 rows": (two_groups(2.0), 2.0),
    "ordered, the same, 300 rows": (ordered_groups(300, 2.0, 0.0), 1.0),
    "ordered, the same, 800 rows": (ordered_groups(800, 2.0, 0.0), 1.0),
    "ordered, the same and none, 800 rows": (ordered_groups(800, 0.0, 0.0), 1.0),
    "the same curve, by a scale, 1,000 rows": (curved(1000), None),
    "ordered, other, 800 rows": (ordered_groups(800, 1.0, 1.5), None),
}


def groups(count: int) -> Iterator[str]:
    """Ask whether an association is the same in two groups with different margins."""
    yield "same association in two groups: share of p <= 0.05; coverage of the ratio; data sets"
    for name, (draw, ratio) in GROUPS.items():
        rejected = covered = 0
        for seed in range(count):
            tests = draw(np.random.default_rng(seed)).tests()
            one = tests.same(("v0", "v1"), "v2", effects=False)
            rejected += (one.p or 1.0) <= LEVEL
            covered += (one.ratio_low or 0.0) <= (ratio or 0.0) <= (one.ratio_high or 0.0)
        share = "  –  " if ratio is None else f"{covered / count:.3f}"
        yield f"  {name:44s} {rejected / count:.3f}  {share}  {count}"


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
