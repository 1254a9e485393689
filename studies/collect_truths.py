"""Draw the structures of ``src/contextwise/truths/outside.json`` again.

Run once, with the packages that draw them::

    pip install cstrees==1.3.1 boolforge==1.0.2
    python studies/collect_truths.py > src/contextwise/truths/outside.json

cstrees (Apache-2.0) draws staged trees over 8 binary variables with up to two context variables.
boolforge (MIT) draws Boolean networks of 5 variables whose functions are nested canalizing. Only
structures are stored: the truths draw their own probabilities.
"""

import json
import random

import boolforge
import cstrees.cstree
import numpy

SEEDS = [*range(20), *range(100, 140)]
DEGREES = [1, 2, 2, 3, 3]


def staged_tree(seed: int) -> list[str]:
    """Return the stages of each level after the first: ``"*1 00 01"`` is a level of three."""
    numpy.random.seed(seed)  # noqa: NPY002  (cstrees draws from it)
    random.seed(seed)
    tree = cstrees.cstree.sample_cstree([2] * 8, max_cvars=2, prob_cvar=0.5, prop_nonsingleton=1)
    return [
        " ".join(
            "".join("*" if isinstance(value, set) else str(value) for value in stage.list_repr)
            for stage in tree.stages[level]
        )
        for level in range(7)
    ]


def boolean_network(seed: int) -> list[str]:
    """Return the inputs of each variable and its outputs: ``"024 00000001"`` is a conjunction."""
    network = boolforge.random_network(N=5, n=DEGREES, depth=3, rng=seed)
    return [
        "".join(map(str, inputs)) + " " + "".join(map(str, function.f.tolist()))
        for inputs, function in zip(network.I, network.F, strict=True)
    ]


if __name__ == "__main__":
    drawn = {
        "cstree-8": {str(seed): staged_tree(seed) for seed in SEEDS},
        "boolean-5": {str(seed): boolean_network(seed) for seed in SEEDS},
    }
    print(json.dumps(drawn, indent=0, separators=(",", ":")).replace(',\n"', ',"'))
