"""Undirected or directed? Does BIC choose between ``pair-blocks`` and ``acyclic-trees``?

    python -m studies.directed --draws 6

Both are likelihood models, so the log-likelihood minus half the free parameters times ln(rows) can
be compared. The choice is good if its distance to the truth is near that of the better of the two.
"""

from __future__ import annotations

import argparse
from math import log
from statistics import mean

import numpy as np

import contextwise as cw
from contextwise.distributions import fit, mean_log_likelihood
from contextwise.distributions.fitting import dimension
from contextwise.learning import AcyclicTrees, Data, PairBlocks

TRUTHS = ("paper", "grown-8-2", "states-7", "cstree-8", "ldag-10", "random-8", "bnlearn-asia")
ROWS = (1000, 5000)


def bic_of_trees(learned: AcyclicTrees, rows: int) -> float:
    """Return the log-likelihood of the trees' shares minus the penalty of BIC."""
    value = 0.0
    for tree in learned.trees_:
        shares = tree.counts / np.maximum(tree.counts.sum(axis=1, keepdims=True), 1)
        value += float((tree.counts * np.log(np.where(shares > 0, shares, 1))).sum())
        value -= tree.counts.shape[0] * (tree.counts.shape[1] - 1) * log(rows) / 2
    return value


def bic_of_structure(learned: PairBlocks, data: Data) -> float:
    """Return the same for a structure, fitted by maximum likelihood."""
    fitted = fit(learned.structure_, data, method="likelihood").model
    free = dimension(learned.structure_)
    assert free is not None
    return mean_log_likelihood(fitted, data) * len(data) - free * log(len(data)) / 2


def main() -> None:
    """Print the distances of both learners, of the choice, and of the better one."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=6)
    options = parser.parse_args()
    print("truth, rows, pair-blocks, acyclic-trees, chosen by BIC, better one, undirected chosen")
    for size in ROWS:
        cells = []
        for name in TRUTHS:
            found = []
            for draw in range(options.draws):
                truth = cw.examples.truth(name if "bnlearn" in name else f"{name}#{draw}")
                rows = cw.sample(truth, size, seed=draw, array=True)
                data = cw.learning.as_data(rows, truth.domain)
                undirected, directed = PairBlocks().fit(data), AcyclicTrees().fit(data)
                first, second = (
                    cw.compare(truth, learned.structure_).normalized
                    for learned in (undirected, directed)
                )
                is_first = bic_of_structure(undirected, data) >= bic_of_trees(directed, size)
                chosen = first if is_first else second
                found.append((first, second, chosen, min(first, second), float(is_first)))
            cells.append([mean(column) for column in zip(*found, strict=True)])
            print(f"{name}, {size}, " + ", ".join(f"{x:.3f}" for x in cells[-1]), flush=True)
        means = [mean(column) for column in zip(*cells, strict=True)]
        print(f"all, {size}, " + ", ".join(f"{x:.3f}" for x in means), flush=True)


if __name__ == "__main__":
    main()
