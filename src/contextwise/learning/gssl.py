"""GSSL: features by generalising rows at random, then one sparse fit (Van Haaren and Davis 2012).

"Markov network structure learning: a randomized feature generation approach". The rows are the
first features of a pool, each a conjunction of all its variables. Again and again a feature of the
pool is drawn, some of its variables are dropped, and what is left joins the pool. Short
conjunctions that hold often are generated often; those that were generated at least ``min_count``
times are kept, their weights are fitted together by L1-penalised pseudo-likelihood, and what ends
at 0 is dropped.

Where the paper leaves a choice open: every member of the pool is as likely to be drawn as any
other, equal ones included; of L literals, 1 to L - 1 are dropped, each number as likely, so at
least one stays; a feature of one literal is drawn no further.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from contextwise.data.rows import Data
from contextwise.distributions.potentials import distinct
from contextwise.errors import DomainError
from contextwise.learning.base import Learner, refit_l1
from contextwise.models.domain import Domain
from contextwise.models.features import IntArray, single_values, words_of
from contextwise.models.structure import LogLinear, Structure
from contextwise.support.progress import Progress, progress_of

BoolArray = npt.NDArray[np.bool_]

CELLS = 2**22
"""How many (feature, variable) cells are worked on at once."""


class GSSL(Learner):
    """Features by generalising rows at random, then one sparse fit (Van Haaren and Davis).

    Conjunctions that are generated often are kept, and those whose weight ends at 0 are dropped.

    Parameters
    ----------
    count : int
        How many features are generated. The more variables, the more it takes until short ones come
        often enough: for 69 variables, a million.
    min_count : int
        How often a feature must have been generated to be kept.
    l1 : float
        The L1 penalty of the fit, on the total over the rows.
    l2 : float
        The L2 penalty of the fit.
    rng : int or Generator
        Where chance comes from; equal seeds give equal structures.
    show_progress : bool or function
        A line on standard error, or a function of (done, in all) of each part in turn.

    Attributes
    ----------
    generated_ : int
        How many different features were generated.
    kept_ : int
        How many of them were generated often enough.

    Examples
    --------
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 20
    >>> GSSL(count=1000, l1=2, rng=1).fit(rows).structure_.pairs()
    [('v0', 'v1')]
    """

    name = "gssl"

    def __init__(
        self,
        *,
        count: int = 100_000,
        min_count: int = 10,
        l1: float = 5.0,
        l2: float = 0.0,
        rng: int | np.random.Generator = 0,
        show_progress: bool | Progress = False,
    ) -> None:
        self.count = count
        self.min_count = min_count
        self.l1 = l1
        self.l2 = l2
        self.rng = rng
        self.show_progress = show_progress

    def learn(self, data: Data) -> LogLinear:
        """Generate, keep what came often, and fit."""
        if self.count < 0 or self.min_count < 1:
            raise DomainError("count is a number from 0 up, and min_count one from 1 up")
        pool = generate(data.rows, self.count, np.random.default_rng(self.rng), self.show_progress)
        numbers, first = distinct(pool)
        self.generated_ = len(first)
        kept = pool[first[np.bincount(numbers) >= self.min_count]]
        self.kept_ = len(kept)
        structure = conjunctions(data.domain, kept.astype(np.int64))
        if not len(data):
            return LogLinear(structure, np.zeros(len(structure)))
        return refit_l1(structure, data, self.l1, l2=self.l2, show_progress=self.show_progress)


def generate(
    rows: IntArray,
    count: int,
    rng: np.random.Generator,
    show_progress: bool | Progress = False,
) -> npt.NDArray[np.signedinteger]:
    """Generalisations of rows: one per line, -1 where a variable was dropped.

    Who is drawn is known before what it looks like: member k of the pool comes from a member before
    it. So all draws are made first, and the features follow generation by generation.

    Parameters
    ----------
    rows : positions of states, shape (rows, variables)
    count : how many to generate
    rng : Generator
    show_progress : bool or function

    Returns
    -------
    array of int, of shape (count, variables)
    """
    first, width = len(rows), rows.shape[1]
    count = count if first and width else 0
    parents = (rng.random(count) * (first + np.arange(count))).astype(np.int64)
    codes = rows.astype(np.min_scalar_type(-int(rows.max(initial=1)) - 1))
    pool = np.concatenate([codes, np.full((count, width), -1, dtype=codes.dtype)])
    step = max(1, CELLS // max(1, width))
    done = 0
    with progress_of(show_progress, "generalising rows") as progress:
        for members in _generations(parents, first):
            for begin in range(0, len(members), step):
                own = members[begin : begin + step]
                pool[own] = _shorter(pool[parents[own - first]], rng)
                done += len(own)
                if progress:
                    progress(done, count)
    return pool[first:]


def _generations(parents: IntArray, first: int) -> list[IntArray]:
    """The members of the pool that are generated, grouped by how many draws led to them."""
    depth = np.zeros(first + len(parents), dtype=np.int64)
    for k, parent in enumerate(parents.tolist()):
        depth[first + k] = depth[parent] + 1
    order = np.argsort(depth[first:], kind="stable") + first
    ends = np.cumsum(np.bincount(depth[first:], minlength=1))
    return [part for part in np.split(order, ends[:-1]) if len(part)]


def _shorter(
    features: npt.NDArray[np.signedinteger], rng: np.random.Generator
) -> npt.NDArray[np.signedinteger]:
    """The features with some of their literals dropped, at least one and never all."""
    lengths = (features >= 0).sum(axis=1)
    kept = np.where(lengths > 1, 1 + (rng.random(len(features)) * (lengths - 1)), 1).astype(int)
    keys = np.where(features >= 0, rng.random(features.shape), 2.0)
    ranks = keys.argsort(axis=1).argsort(axis=1)
    return np.where(ranks < kept[:, None], features, -1).astype(features.dtype)


def conjunctions(domain: Domain, table: IntArray) -> Structure:
    """The structure of distinct conjunctions, one per line: a position of a state, or -1.

    Parameters
    ----------
    domain : Domain
    table : int array of shape (features, variables)

    Examples
    --------
    >>> conjunctions(Domain({"A": 2, "B": 3}), np.array([[1, 2], [-1, 0]]))
    Structure(2 variables, 2 features: A=1 & B=2; B=0)
    """
    owners, variables = np.nonzero(table >= 0)
    values = single_values(table[owners, variables], words_of(domain.cardinalities))
    return Structure.from_literals(domain, owners, variables, values, len(table))[0]
