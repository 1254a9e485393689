"""True models by name, to evaluate learners against.

====================  ============================================================================
``paper``             the model of the paper's experiment, complete under X0=0 and a star under X0=1
``grown-N-F``         that model grown to N variables with F flags, F from 1 to 3
``grown-N-F-three``   the same with flags of three values; under the third nothing interacts
``random-N``          a random Bayesian network of N variables with context-specific tables
``states-N``          N variables of two to five states; each edge is a random table, a third of
                      them only in some states of another variable
outside truths        such as ``ldag-10`` or ``bnlearn-asia``: see `contextwise.truths.outside`
a model's name        a bundled example, or the path of a model file
====================  ============================================================================

``#K`` after a name, such as ``paper#3``, selects the set of weights number K, by default 0. A model
with weights has only these.

**Grown.** The first F variables are the flags. The others form groups of at most five, as in the
paper, and each group belongs to one flag. Where the flag is 0, all variables of the group interact;
where it is 1, each of them interacts with the flag alone. Neighbouring flags interact, so that the
network is connected. The treewidth stays small, so rows and divergences are exact up to 30
variables.

**Random.** Each variable has up to three parents among those before it. Its table is a tree: at one
value of the first parent it depends on the others, at the other value it does not.
"""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from zlib import crc32

import numpy as np

from contextwise.errors import ContextwiseError
from contextwise.formats import EXAMPLES, as_model
from contextwise.models.domain import Domain
from contextwise.models.factors import Factor, log_linear, log_odds_ratio
from contextwise.models.features import members
from contextwise.models.structure import LogLinear, Model, Structure, numbers_of, structure_of

TRUTHS = ("paper", "grown-N-F", "grown-N-F-three", "random-N", "states-N")
"""The names of our own truths, with letters for numbers; `NAMES` has those of others."""
NETWORKS = ("asia", "cancer", "earthquake", "survey", "sachs", "child", "insurance", "alarm")
"""The bundled networks of the bnlearn repository, from 5 to 37 variables."""
NAMES = (
    "ldag-10",
    "cstree-8",
    "boolean-5",
    *(f"bnlearn-{name}" for name in NETWORKS),
    *(f"bnlearn-{name}-values" for name in NETWORKS),
    "coronary",
    "women-math-pairs",
)
GROUP = 5
"""The size of the largest group, as in the paper."""
FEWEST, MOST, MOST_FLAGS = 6, 30, 3
PARENTS = 3
MOST_STATES_OF_A_VARIABLE = 5
INTERACTION = (1.0, 3.0)
"""The range of the log-odds ratios of strong weights."""


def truth(name: str) -> Model:
    """Return a true model by name, to judge learners by.

    Parameters
    ----------
    name : str
        Such as ``paper``, ``random-8#3``, ``ldag-10#2`` or ``bnlearn-asia-values``; see
        `contextwise.truths.named` and `contextwise.truths.outside`.

    Returns
    -------
    Structure or LogLinear
        `contextwise.sample` draws rows from either.

    Examples
    --------
    >>> truth("bnlearn-asia").structure.pairs()[:3]
    [('asia', 'tub'), ('tub', 'lung'), ('tub', 'either')]
    """
    kind, _, number = name.partition("#")
    if number and not number.isdecimal():
        raise ContextwiseError(f"{name!r}: expected a number after #, as in paper#3")
    rng = np.random.default_rng([1, crc32(kind.encode()), int(number or 0)])
    if kind in NAMES:
        from contextwise.truths.outside import outside_truth  # here, as it loads much

        return outside_truth(kind, number, rng)
    if match := re.fullmatch(r"random-(\d+)", kind):
        _check_size(name, int(match[1]))
        return _random_network(int(match[1]), rng)
    if match := re.fullmatch(r"states-(\d+)", kind):
        _check_size(name, int(match[1]))
        return _states(int(match[1]), rng)
    if match := re.fullmatch(r"grown-(\d+)-(\d+)(-three)?", kind):
        structure = _grown(name, int(match[1]), int(match[2]), 3 if match[3] else 2)
        return strong_weights(structure, rng)
    if kind not in ("paper", *EXAMPLES) and not Path(kind).exists():
        raise ContextwiseError(
            f"unknown truth {name!r}; use a model file, or one of "
            f"{', '.join((*TRUTHS, *NAMES, *EXAMPLES))}"
        )
    model = as_model("six" if kind == "paper" else kind)
    if numbers_of(model):
        if number not in ("", "0"):
            raise ContextwiseError(f"{kind!r} has its own weights, so there is no set {number}")
        return model
    return strong_weights(structure_of(model), rng)


def is_truth(name: str) -> bool:
    """Check for the name of a truth that is neither that of an example nor that of a file.

    >>> [is_truth(name) for name in ("paper", "six", "six#3", "random-10", "missing.json")]
    [True, False, True, True, False]
    """
    kind, mark, number = name.partition("#")
    if name in EXAMPLES or Path(name).exists():
        return False
    if kind in ("paper", *NAMES) or re.fullmatch(
        r"(random|states)-\d+|grown-\d+-\d+(-three)?", kind
    ):
        return True
    return bool(mark) and number.isdecimal() and (kind in EXAMPLES or Path(kind).exists())


def strong_weights(structure: Structure, rng: np.random.Generator) -> LogLinear:
    """Draw weights with strong interactions.

    One log-odds ratio is drawn per scope: its size from `INTERACTION`, its sign by a fair coin. The
    weight of a feature is a quarter of it, times -1 for every variable whose first allowed state
    has an odd index.
    """
    if structure.origin.by_values is not None:
        raise ContextwiseError(
            "these claims were read from numbers that the file does not keep, and random weights "
            "would be another truth; name the model with the numbers, with --by-values"
        )
    strength: dict[tuple[int, ...], float] = {}
    weights = []
    for literals in structure.features.literals():
        scope = tuple(variable for variable, _ in literals)
        if scope not in strength:
            size = rng.uniform(*INTERACTION)
            strength[scope] = size if rng.random() < 0.5 else -size
        odd = sum(members(allowed)[0] % 2 for _, allowed in literals)
        weights.append(strength[scope] / 4 * (-1) ** odd)
    return LogLinear(structure, np.array(weights))


# -- the paper's family ----------------------------------------------------------------------------


def _check_size(name: str, count: int) -> None:
    if not FEWEST <= count <= MOST:
        raise ContextwiseError(
            f"{name!r}: the number of variables must be {FEWEST} to {MOST}, got {count}"
        )


def _grown(name: str, count: int, flags: int, values: int) -> Structure:
    _check_size(name, count)
    if not 1 <= flags <= MOST_FLAGS or count < 2 * flags + 1:
        raise ContextwiseError(
            f"{name!r}: the number of flags must be 1 to {MOST_FLAGS}, got {flags}"
        )
    domain = Domain({f"X{v}": values if v < flags else 2 for v in range(count)})
    features = [f"X{f}={a} & X{f + 1}={b}" for f in range(flags - 1) for a, b in _table(values)]
    groups = np.array_split(np.arange(flags, count), -(-(count - flags) // GROUP))
    for place, group in enumerate(groups):
        members_of, flag = [f"X{v}" for v in group.tolist()], f"X{place % flags}"
        features += [f"{flag}=1 & {x}={a}" for x in members_of for a in range(2)]
        features += [
            f"{flag}=0 & {x}={a} & {y}={b}"
            for x, y in combinations(members_of, 2)
            for a, b in _table(2)
        ]
    return Structure(domain, features)


def _table(values: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(values) for b in range(values)]


# -- variables of several states -------------------------------------------------------------------


def _states(count: int, rng: np.random.Generator) -> Model:
    """Draw a random tree of pairs and half as many pairs more, each a table of log-odds ratios."""
    cards = rng.integers(2, MOST_STATES_OF_A_VARIABLE + 1, size=count).tolist()
    pairs = {(int(rng.integers(v)), v) for v in range(1, count)}
    while len(pairs) < count - 1 + count // 2:
        first, second = sorted(rng.choice(count, size=2, replace=False).tolist())
        pairs.add((first, second))
    factors = []
    for pair in sorted(pairs):
        table = rng.normal(size=[cards[v] for v in pair])
        table -= table.mean(axis=0)
        table -= table.mean(axis=1, keepdims=True)
        table *= rng.uniform(*INTERACTION) / log_odds_ratio(table)
        if rng.random() < 1 / 3:
            switch = int(rng.choice([v for v in range(count) if v not in pair]))
            states = rng.permutation(cards[switch]) <= rng.integers(cards[switch] - 1)
            scope = (*pair, switch)
            table = np.multiply.outer(table, states)
            factors.append(Factor(tuple(sorted(scope)), table.transpose(np.argsort(scope))))
        else:
            factors.append(Factor(pair, table))
    from contextwise.convert.from_values import by_values  # here, as it loads much

    return by_values(log_linear(Domain.of_cardinalities(cards), factors))


# -- random networks -------------------------------------------------------------------------------


def _random_network(count: int, rng: np.random.Generator) -> LogLinear:
    """Draw a Bayesian network whose tables are trees, as the features of their paths."""
    domain = Domain.of_cardinalities([2] * count)
    features: dict[str, float] = {}  # weights by text
    for child in range(count):
        most = min(child, PARENTS)
        size = int(rng.integers(1, most + 1)) if most else 0
        parents = rng.choice(child, size=size, replace=False).tolist() if size else []
        for path, log_odds in _paths(parents, rng):
            for value, sign in ((0, -1), (1, 1)):
                literals = {**path, child: value}
                text = " & ".join(f"{domain.names[v]}={k}" for v, k in sorted(literals.items()))
                features[text] = -float(np.logaddexp(0, -sign * log_odds))
    return LogLinear(Structure(domain, list(features)), np.array(list(features.values())))


def _paths(parents: list[int], rng: np.random.Generator) -> list[tuple[dict[int, int], float]]:
    """Return the paths of a table's tree, with the log-odds of the child's value 1 on each."""
    base = rng.uniform(-0.5, 0.5)
    effects = [rng.uniform(*INTERACTION) * rng.choice([-1, 1]) for _ in parents]
    if not parents:
        return [({}, base)]
    first, *others = parents
    silent = int(rng.integers(2)) if others else -1
    paths: list[tuple[dict[int, int], float]] = []
    for value in range(2):
        shift = base + effects[0] * (value - 0.5)
        if value == silent or not others:
            paths.append(({first: value}, shift))
            continue
        for states in np.ndindex(*[2] * len(others)):
            more = sum(e * (s - 0.5) for e, s in zip(effects[1:], states, strict=True))
            path = {first: value, **dict(zip(others, map(int, states), strict=True))}
            paths.append((path, shift + more))
    return paths
