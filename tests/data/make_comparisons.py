"""Make `comparisons.jsonl`: random comparisons, and counts that independent ways agree on.

Run it from the repository with the package and its test extra installed::

    PYTHONPATH=tests python tests/data/make_comparisons.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from contextwise import Domain, Structure, compare
from contextwise.comparison.question import Contexts
from contextwise.testing import brute_force, random_structure
from perturbed import perturb

PLACE = Path(__file__).with_name("comparisons.jsonl")
BOTH: tuple[Contexts, ...] = ("fully-contextualized", "canonical")


def small(rng: np.random.Generator) -> tuple[Structure, Structure]:
    """Two to six variables of two to four values: small enough to visit every context."""
    domain = Domain.of_cardinalities(rng.integers(2, 5, size=rng.integers(2, 7)).tolist())
    first, second = (
        random_structure(
            domain, features=int(rng.integers(0, 9)), lengths=(1, 4), set_literals=0.4, seed=rng
        )
        for _ in range(2)
    )
    return first, second


def large(rng: np.random.Generator) -> tuple[Structure, Structure]:
    """Twenty to seventy variables, and a guess that differs in some features."""
    domain = Domain.of_cardinalities(rng.integers(2, 4, size=rng.integers(20, 71)).tolist())
    true = random_structure(domain, features=40, lengths=(3, 6), set_literals=0.2, seed=rng)
    return true, perturb(true, changes=10, rng=rng)


def record(true: Structure, guess: Structure, contexts: Contexts, ways: list[str]) -> str:
    """One line of the file; the ways to count must agree."""
    matrices = [
        brute_force(true, guess, contexts=contexts)
        if way == "definition"
        else compare(true, guess, contexts=contexts, engine=way).confusion
        for way in ways
    ]
    first, *others = matrices
    assert all(matrix == first for matrix in others), (true, guess, contexts)
    line: dict[str, Any] = {
        "cardinalities": true.domain.cardinalities,
        "true": [true.feature_text(f) for f in range(len(true))],
        "guess": [guess.feature_text(f) for f in range(len(guess))],
        "contexts": contexts,
        "counts": [first.tp, first.fn, first.fp, first.tn],
        "agreed": ways,
    }
    return json.dumps(line)


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(20210521)
    lines = []
    for _ in range(20):
        pair = small(rng)
        lines += [record(*pair, way, ["definition", "branch", "partition"]) for way in BOTH]
    for _ in range(2):
        lines.append(record(*large(rng), BOTH[0], ["branch", "native"]))
    PLACE.write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
