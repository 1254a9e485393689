"""GSSL: generalise rows at random, then fit once (Van Haaren and Davis 2012).

"Markov network structure learning: a randomized feature generation approach". A pool of features
starts with the rows, each a conjunction of all its variables. Each step draws a feature of the
pool, drops some of its variables, and adds the rest to the pool. Short conjunctions that hold often
are generated often. Those generated at least ``min_count`` times are kept. Their weights are fitted
together by L1-penalised pseudo-likelihood, and features of weight 0 are dropped.

The paper leaves some choices open. Here all members of the pool, duplicates included, are drawn
with the same probability. Of L literals, 1 to L - 1 are dropped, each number with the same
probability. A feature of one literal does not change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from contextwise.data.rows import Data
from contextwise.distributions.potentials import distinct
from contextwise.errors import DomainError
from contextwise.learning.base import Learner, Run
from contextwise.models.factors import conjunctions
from contextwise.models.structure import LogLinear, Model
from contextwise.support.arrays import IntArray
from contextwise.support.effort import Progress, progress_of

CELLS_AT_ONCE = 2**22
"""The most (feature, variable) cells processed at once."""


@dataclass(eq=False, repr=False, kw_only=True)
class GSSL(Learner):
    """Features by generalising rows at random, then one sparse fit (Van Haaren and Davis).

    Conjunctions that are generated often are kept; features of weight 0 are dropped.

    Parameters
    ----------
    count : int
        Number of features to generate. More variables need more: a million for 69 variables.
    min_count : int
        How often a feature must be generated to be kept.
    l1 : float
        L1 penalty of the fit, on the total over the rows.
    l2 : float
        L2 penalty of the fit.
    seed : int or Generator
        Seed or generator; equal seeds give equal structures.

    Attributes
    ----------
    generated_ : int
        Number of distinct features generated.
    kept_ : int
        Number of them generated often enough.

    Examples
    --------
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> GSSL(count=1000, l1=2, seed=1).fit(rows).structure_.pairs()
    [('v0', 'v1')]
    """

    count: int = 100_000
    min_count: int = 10
    l1: float = 5.0
    l2: float = 0.0
    seed: int | np.random.Generator = 0

    def learn(self, data: Data, run: Run) -> Model:
        """Generate features, keep the frequent ones, and fit."""
        if self.count < 0:
            raise DomainError(f"count must be >= 0, got {self.count}")
        if self.min_count < 1:
            raise DomainError(f"min_count must be >= 1, got {self.min_count}")
        rng = np.random.default_rng(self.seed)
        pool = generate(data.rows, self.count, rng, run.show_progress, data.weights)
        numbers, first = distinct(pool)
        self.generated_ = len(first)
        kept = pool[first[np.bincount(numbers) >= self.min_count]]
        self.kept_ = len(kept)
        structure = conjunctions(data.domain, kept.astype(np.int64))
        if not len(data):
            return LogLinear(structure, np.zeros(len(structure)))
        return run.refit_l1(structure, data, self.l1, self.l2)


def generate(
    rows: IntArray,
    count: int,
    rng: np.random.Generator,
    show_progress: bool | Progress = False,
    counts: IntArray | None = None,
) -> npt.NDArray[np.signedinteger]:
    """Generalise rows, each as often as ``counts`` says.

    Return one feature per line, -1 where a variable was dropped. Which member is drawn does not
    depend on its literals. So all draws are made first, and the features follow generation by
    generation.
    """
    first, width = len(rows), rows.shape[1]
    count = count if first and width else 0
    ends = np.arange(1, first + 1) if counts is None else np.cumsum(counts)
    total = int(ends[-1]) if first else 0
    # Each draw chooses among the observations and the features generated before it.
    drawn = (rng.random(count) * (total + np.arange(count))).astype(np.int64)
    row = np.searchsorted(ends, drawn, side="right")
    parents = np.where(drawn < total, row, drawn - total + first)
    # The smallest signed type, which also has room for -1.
    codes = rows.astype(np.min_scalar_type(-int(rows.max(initial=1)) - 1))
    pool = np.concatenate([codes, np.full((count, width), -1, dtype=codes.dtype)])
    step = max(1, CELLS_AT_ONCE // max(1, width))
    done = 0
    with progress_of(show_progress, "generalising rows") as progress:
        # A generation needs only earlier ones, so all of it is computed at once.
        for members in _generations(parents, first):
            for begin in range(0, len(members), step):
                batch = members[begin : begin + step]
                pool[batch] = _shorter(pool[parents[batch - first]], rng)
                done += len(batch)
                if progress:
                    progress(done, count)
    return pool[first:]


def _generations(parents: IntArray, first: int) -> list[IntArray]:
    """Group the generated members of the pool by the number of draws that led to them."""
    depth = np.zeros(first + len(parents), dtype=np.int64)
    for k, parent in enumerate(parents.tolist()):
        depth[first + k] = depth[parent] + 1
    order = np.argsort(depth[first:], kind="stable") + first
    ends = np.cumsum(np.bincount(depth[first:], minlength=1))
    return [part for part in np.split(order, ends[:-1]) if len(part)]


def _shorter(
    features: npt.NDArray[np.signedinteger], rng: np.random.Generator
) -> npt.NDArray[np.signedinteger]:
    """Drop some literals of each feature, at least one and never all."""
    lengths = (features >= 0).sum(axis=1)
    kept = np.where(lengths > 1, 1 + (rng.random(len(features)) * (lengths - 1)), 1).astype(int)
    # Missing literals sort last; sorting twice turns random keys into ranks.
    keys = np.where(features >= 0, rng.random(features.shape), 2.0)
    ranks = keys.argsort(axis=1).argsort(axis=1)
    return np.where(ranks < kept[:, None], features, -1).astype(features.dtype)
