"""Truths that others wrote, to judge learners by; `truth` returns them by name.

=========================  =========================================================================
``ldag-10#K``              the labelled DAG of ten binary variables, 20 arcs and 12 labels after
                           Pensar, Nyman, Lintusaari and Corander (2016), as the R package *ldags*
                           of V. Kvisgaard has it (``example_bn("LDAG10")``); K draws its tables
``cstree-8#K``             the tree over 8 binary variables with up to two context variables that
                           cstrees 1.3.1 (Apache-2.0) draws with the seed K
``boolean-5#K``            the Boolean network of nested canalizing functions that boolforge 1.0.2
                           (MIT) draws with the seed K: five variables at one step (``x0``) decide
                           five at the next (``y0``), with an error rate of 5 to 20 %
``bnlearn-NAME``           a network of the bnlearn repository (CC BY-SA 3.0, M. Scutari) as pgmpy
                           ships it, by d-separation
``bnlearn-NAME-values``    the same by its numbers: where equal rows of its tables make a pair
                           independent, it is
``coronary``               the graph of Whittaker (1990) for 1,841 men (Reinis et al. 1981), as the
                           documentation of bnlearn's ``coronary`` has it, fitted to the table
``women-math-pairs``       the six pairs that a Bayesian Ising analysis of Women and Mathematics
                           includes (easybgm), fitted to the table (Fowlkes et al. 1988)
=========================  =========================================================================

Trees and Boolean networks are stored in ``outside.json``, for the seeds 0 to 19 and 100 to 139;
``studies/collect_truths.py`` of the repository draws them. Their probabilities, and those of the
labelled DAG, are drawn here, uniformly, one distribution per stage. The order of the variables is
shuffled: an order that agrees with the arcs would help learners that take the first of equal ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from io import BytesIO
from pkgutil import get_data
from typing import Literal

import numpy as np

from contextwise.convert.directed import labelled_stages
from contextwise.convert.from_values import by_values
from contextwise.convert.undirected import from_graph
from contextwise.data.rows import Data, as_data, by_position
from contextwise.distributions.fitting import fit
from contextwise.errors import ContextwiseError
from contextwise.formats.io import read_stream
from contextwise.models.domain import Domain
from contextwise.models.factors import Factor, log_linear
from contextwise.models.structure import LogLinear, Model
from contextwise.support.arrays import IntArray

PARENTS: dict[int, list[int]] = {
    1: [],
    2: [1],
    3: [1, 2],
    4: [1, 3],
    5: [1, 4, 8],
    6: [],
    7: [2, 3, 4, 6],
    8: [4, 7],
    9: [5, 8],
    10: [6, 7, 8, 9],
}
LABELS: dict[tuple[int, int], list[dict[int, int]]] = {
    (2, 3): [{1: 0}],
    (1, 4): [{3: 1}],
    (4, 5): [{1: 0}],
    (8, 5): [{1: 0}],
    (2, 7): [{3: 1, 4: 1, 6: 0}],
    (3, 7): [{2: 0, 4: 1, 6: 1}, {2: 1, 6: 1}],
    (4, 7): [{2: 1, 3: 1}],
    (6, 7): [{2: 1, 3: 1}],
    (5, 9): [{8: 1}],
    (7, 10): [{6: 1}],
    (8, 10): [{6: 1}],
    (9, 10): [{6: 1}],
}
"""The labelled DAG: the parents of each variable, and the contexts in which an arc vanishes."""

CORONARY = Domain(
    {
        "Smoking": ["no", "yes"],
        "M. Work": ["no", "yes"],
        "P. Work": ["no", "yes"],
        "Pressure": ["<140", ">140"],
        "Proteins": ["<3", ">3"],
        "Family": ["neg", "pos"],
    }
)
MEN = """
44 107 112 0 129 145 12 23 35 12 80 33 109 67 7 9 23 32 70 66 50 80 7 13 24 25 73 57 51 63 7 16
5 7 21 9 9 17 1 4 4 3 11 8 14 17 5 2 7 3 14 14 9 16 2 3 4 0 13 11 5 14 4 4
"""
"""The counts of the table, the first variable varying fastest."""
CORONARY_EDGES = [(5, 1), (1, 2), (1, 4), (1, 0), (2, 0), (2, 4), (0, 3), (0, 4), (3, 4)]
WOMEN_MATH_EDGES = [(1, 3), (1, 4), (2, 4), (2, 5), (3, 4), (3, 5)]

Stages = Mapping[int, tuple[Sequence[int], IntArray]]
"""For each variable its parents, and the stage of each of their assignments."""


def outside_truth(kind: str, number: str, rng: np.random.Generator) -> Model:
    """Return an outside truth; ``number`` is its seed, and ``rng`` draws probabilities."""
    if kind == "ldag-10":
        return _with_tables(_labelled_dag(), [f"X{v}" for v in PARENTS], rng)
    if kind in ("cstree-8", "boolean-5"):
        stored = _stored()[kind].get(number or "0")
        if stored is None:
            raise ContextwiseError(
                f"{kind}#{number}: this seed is not stored; use 0 to 19 or 100 to 139"
            )
        if kind == "cstree-8":
            return _with_tables(_staged_tree(stored), [f"X{v + 1}" for v in range(8)], rng)
        names = [f"{step}{v}" for step in "xy" for v in range(len(stored))]
        return _with_tables(_boolean_network(stored), names, rng, error=(0.05, 0.2))
    if number not in ("", "0"):
        raise ContextwiseError(f"{kind!r} has its own weights, so there is no set {number}")
    if kind == "coronary":
        cells = np.indices([2] * 6).reshape(6, -1).T[:, ::-1]  # the first varies fastest
        table = np.repeat(cells, [*map(int, MEN.split())], axis=0)
        return _fitted(CORONARY_EDGES, Data(CORONARY, table), "cliques")
    if kind == "women-math-pairs":
        return _fitted(WOMEN_MATH_EDGES, as_data("women-math"), "edges")
    name = kind.removesuffix("-values")
    packed = get_data("contextwise", f"truths/{name}.bif.gz") or b""
    model = read_stream(BytesIO(packed), name=f"{name}.bif.gz")
    return by_values(model) if kind != name and isinstance(model, LogLinear) else model


@cache
def _stored() -> dict[str, dict[str, list[str]]]:
    stored: dict[str, dict[str, list[str]]] = json.loads(
        get_data("contextwise", "truths/outside.json") or b""
    )
    return stored


def _labelled_dag() -> Stages:
    domain = Domain.of_cardinalities([2] * len(PARENTS))
    stages = {}
    for child, parents in PARENTS.items():
        labels = [
            (parent - 1, {v - 1: 1 << state for v, state in context.items()})
            for (parent, labelled), contexts in LABELS.items()
            for context in contexts
            if labelled == child
        ]
        found = labelled_stages(domain, child - 1, [p - 1 for p in parents], labels)
        stages[child - 1] = found.parents, found.table
    return stages


def _staged_tree(levels: Sequence[str]) -> Stages:
    """Read the stages of each level, such as ``"*1 00 01"``; the first variable has none."""
    stages: dict[int, tuple[Sequence[int], IntArray]] = {0: ([], np.zeros((), dtype=np.int64))}
    for child, level in enumerate(levels, start=1):
        contexts = level.split()
        parents = [v for v in range(child) if any(context[v] != "*" for context in contexts)]
        table = np.zeros([2] * len(parents), dtype=np.int64)
        for stage, context in enumerate(contexts):
            values = [context[v] for v in parents]
            table[tuple(slice(None) if x == "*" else int(x) for x in values)] = stage
        stages[child] = parents, table
    return stages


def _boolean_network(functions: Sequence[str]) -> Stages:
    """Read inputs and outputs of each function, such as ``"01 0001"``, as a second slice."""
    count = len(functions)
    stages: dict[int, tuple[Sequence[int], IntArray]] = {}
    for child, function in enumerate(functions):
        inputs, outputs = function.split()
        stages[child] = [], np.zeros((), dtype=np.int64)
        table = np.array([*map(int, outputs)]).reshape([2] * len(inputs))
        stages[count + child] = [*map(int, inputs)], table
    return stages


def _with_tables(
    stages: Stages,
    names: Sequence[str],
    rng: np.random.Generator,
    *,
    error: tuple[float, float] | None = None,
) -> Model:
    """Draw a distribution for each stage, and shuffle the variables.

    With ``error`` a stage is the value of a binary function, which is wrong with a probability from
    this range.
    """
    places = rng.permutation(len(names))
    factors = []
    for child, (parents, table) in stages.items():
        if error and parents:
            wrong = rng.uniform(*error, size=2)
            shares = np.array([[1 - wrong[0], wrong[0]], [wrong[1], 1 - wrong[1]]])
        else:
            shares = rng.dirichlet([1.0, 1.0], size=int(table.max()) + 1)
        scope = [int(places[v]) for v in (*parents, child)]
        logs = np.log(shares)[table]
        factors.append(Factor(tuple(sorted(scope)), logs.transpose(np.argsort(scope))))
    shuffled = [names[int(v)] for v in np.argsort(places)]
    return by_values(log_linear(Domain(dict.fromkeys(shuffled, 2)), factors))


def _fitted(
    edges: Sequence[tuple[int, int]], data: Data, by: Literal["cliques", "edges"]
) -> LogLinear:
    """Fit a graph's tables to data by maximum likelihood."""
    names = data.domain.names
    graph = from_graph([(names[a], names[b]) for a, b in edges], data.domain, by=by)
    fitted = fit(by_position(graph), data.coded, method="likelihood")
    return LogLinear(graph, fitted.model.weights)
