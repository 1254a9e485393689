"""True models by name, to evaluate learners against.

====================  ============================================================================
``paper``             the model of the paper's experiment, complete under X0=0 and a star under X0=1
``grown-N-F``         that model grown to N variables with F flags, F from 1 to 3
``grown-N-F-three``   the same with flags of three values; under the third nothing interacts
``grown-N-F-nested``  the same with nested flags: each one applies where those before it are 0
``random-N``          a random Bayesian network of N variables with context-specific tables
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
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from zlib import crc32

import numpy as np

from contextwise.distributions.sampling import Drawn, draw
from contextwise.errors import ContextwiseError, TooLargeError
from contextwise.formats import EXAMPLES, as_model
from contextwise.models.domain import Domain
from contextwise.models.features import members
from contextwise.models.structure import LogLinear, Structure

GROUP = 5
"""The size of the largest group, as in the paper."""
FEWEST, MOST, MOST_FLAGS = 6, 30, 3
PARENTS = 3
MOST_R_HAT, LEAST_EFFECTIVE = 1.05, 0.5
"""Rows from Gibbs chains are doubtful beyond this R-hat or below this effective share."""
DIAGNOSED = 2000
"""The fewest rows that the diagnosis of Gibbs chains is based on."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows drawn from a true model, with the diagnosis of Gibbs chains if there is one."""

    drawn: Drawn
    r_hat: float | None
    effective_share: float | None

    @property
    def is_doubtful(self) -> bool:
        """True for chains that mixed badly or could not be diagnosed."""
        if self.drawn.chains is None:
            return False
        if self.r_hat is None or self.effective_share is None:
            return True
        return not (self.r_hat <= MOST_R_HAT and self.effective_share >= LEAST_EFFECTIVE)


def truth_named(
    name: str, *, interaction: tuple[float, float] = (1.0, 3.0), seed: int = 1
) -> LogLinear:
    """Return the true model of a name; ``interaction`` is the range of the log-odds ratios.

    >>> truth_named("grown-9-2")
    LogLinear(9 variables, 54 features: ...
    """
    kind, _, number = name.partition("#")
    if number and not number.isdecimal():
        raise ContextwiseError(f"{name!r}: expected a number after #, as in paper#3")
    rng = np.random.default_rng([seed, crc32(kind.encode()), int(number or 0)])
    if match := re.fullmatch(r"random-(\d+)", kind):
        _check_size(name, int(match[1]))
        return _random_network(int(match[1]), interaction, rng)
    if match := re.fullmatch(r"grown-(\d+)-(\d+)(-three|-nested)?", kind):
        structure = _grown(name, int(match[1]), int(match[2]), (match[3] or "-")[1:])
        return strong_weights(structure, interaction=interaction, rng=rng)
    if kind not in ("paper", *EXAMPLES) and not Path(kind).exists():
        raise ContextwiseError(
            f"unknown truth {name!r}; use paper, grown-N-F, grown-N-F-three, grown-N-F-nested, "
            f"random-N, a model file, or one of {', '.join(EXAMPLES)}"
        )
    model = as_model("six" if kind == "paper" else kind)
    if isinstance(model, LogLinear):
        if number not in ("", "0"):
            raise ContextwiseError(f"{kind!r} has its own weights, so there is no set {number}")
        return model
    return strong_weights(model, interaction=interaction, rng=rng)


def draw_rows(truth: LogLinear, count: int, *, rng: np.random.Generator) -> Rows:
    """Draw rows exactly where the treewidth allows it, else from Gibbs chains with a diagnosis."""
    try:
        return Rows(draw(truth, count, rng=rng, method="exact"), None, None)
    except TooLargeError:
        drawn = draw(truth, max(count, DIAGNOSED), rng=rng, method="gibbs")
    diagnosis, chains = drawn.diagnosis, drawn.chains
    drawn = replace(drawn, positions=drawn.positions[:count])
    if diagnosis is None or chains is None:
        return Rows(drawn, None, None)
    share = diagnosis.fewest / (chains.shape[0] * chains.shape[1])
    return Rows(drawn, diagnosis.worst[1], share)


def strong_weights(
    structure: Structure, *, interaction: tuple[float, float], rng: np.random.Generator
) -> LogLinear:
    """Draw weights with strong interactions.

    One log-odds ratio is drawn per scope: its size from the range, its sign by a fair coin. The
    weight of a feature is a quarter of it, times -1 for every variable whose first allowed state
    has an odd index.
    """
    strength: dict[tuple[int, ...], float] = {}
    weights = []
    for literals in structure.features.literals():
        scope = tuple(variable for variable, _ in literals)
        if scope not in strength:
            size = rng.uniform(*interaction)
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


def _grown(name: str, count: int, flags: int, kind: str) -> Structure:
    _check_size(name, count)
    if not 1 <= flags <= MOST_FLAGS or count < 2 * flags + 1:
        raise ContextwiseError(
            f"{name!r}: the number of flags must be 1 to {MOST_FLAGS}, got {flags}"
        )
    values = 3 if kind == "three" else 2
    domain = Domain({f"X{v}": values if v < flags else 2 for v in range(count)})
    features = [f"X{f}={a} & X{f + 1}={b}" for f in range(flags - 1) for a, b in _table(values)]
    groups = np.array_split(np.arange(flags, count), -(-(count - flags) // GROUP))
    for place, group in enumerate(groups):
        members_of = [f"X{v}" for v in group.tolist()]
        contexts = _contexts(place % flags, flags, kind == "nested")
        for flag, where_one, where_zero in contexts:
            features += [f"{where_one} & {x}={a}" for x in members_of for a in range(2)]
            if flag == "last":
                features += [
                    f"{where_zero} & {x}={a} & {y}={b}"
                    for x, y in combinations(members_of, 2)
                    for a, b in _table(2)
                ]
    return Structure(domain, features)


def _table(values: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(values) for b in range(values)]


def _contexts(flag: int, flags: int, nested: bool) -> list[tuple[str, str, str]]:
    """Return for each flag of a group: is it the last, the context where it is 1, and all are 0."""
    if not nested:
        return [("last", f"X{flag}=1", f"X{flag}=0")]
    zeros = [" & ".join(f"X{f}=0" for f in range(k)) for k in range(flags + 1)]
    ones = [" & ".join(filter(None, (zeros[k], f"X{k}=1"))) for k in range(flags)]
    return [("last" if k == flags - 1 else "outer", ones[k], zeros[flags]) for k in range(flags)]


# -- random networks -------------------------------------------------------------------------------


def _random_network(
    count: int, interaction: tuple[float, float], rng: np.random.Generator
) -> LogLinear:
    """Draw a Bayesian network whose tables are trees, as the features of their paths."""
    domain = Domain.of_cardinalities([2] * count)
    features: dict[str, float] = {}  # weights by text
    for child in range(count):
        most = min(child, PARENTS)
        size = int(rng.integers(1, most + 1)) if most else 0
        parents = rng.choice(child, size=size, replace=False).tolist() if size else []
        for path, log_odds in _paths(parents, interaction, rng):
            for value, sign in ((0, -1), (1, 1)):
                literals = {**path, child: value}
                text = " & ".join(f"{domain.names[v]}={k}" for v, k in sorted(literals.items()))
                features[text] = -float(np.logaddexp(0, -sign * log_odds))
    return LogLinear(Structure(domain, list(features)), np.array(list(features.values())))


def _paths(
    parents: list[int], interaction: tuple[float, float], rng: np.random.Generator
) -> list[tuple[dict[int, int], float]]:
    """Return the paths of a table's tree, with the log-odds of the child's value 1 on each."""
    base = rng.uniform(-0.5, 0.5)
    effects = [rng.uniform(*interaction) * rng.choice([-1, 1]) for _ in parents]
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
