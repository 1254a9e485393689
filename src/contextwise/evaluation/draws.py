"""Guesses by chance, drawn and counted exactly: here, over processes, or on a cluster.

Of each draw only those pairs are counted whose distance can change; every draw has a generator of
its own, so the results do not depend on where it was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from contextwise.comparison.confusion import Number
from contextwise.counting import ObjectArray, get_engine
from contextwise.counting.covered import covered_pairs
from contextwise.counting.extraction import ValueWeights, contexts_of_pairs
from contextwise.counting.pair_counts import PairCounts, count_rows
from contextwise.counting.redrawn import count_redrawn
from contextwise.errors import ContextwiseError
from contextwise.evaluation.nulls import Null, draw_features, draw_moved, draw_value_sets
from contextwise.execution.maps import choose_map
from contextwise.execution.progress import Progress, progress_of
from contextwise.models.features import Features, IntArray

if TYPE_CHECKING:
    from contextwise.distributions.sampling import Seed

BATCH = 20
"""How many draws one unit of work makes."""
LITERALS = 2**20
"""Of so many literals draws are held at once, if there are several: about 30 bytes each."""


@dataclass(frozen=True, eq=False)
class DrawQuestion:
    """All that a draw needs; it travels to other processes.

    Attributes
    ----------
    null : which guesses are drawn
    true, guess : the features of both models, over the same variables
    pairs : the pairs whose distance a draw can change: shape (p, 2)
    deps : for each of them, what the true model has depend
    distances : for each of them, the distance of the guess itself
    moves : whether a draw can cover other pairs than the guess does
    canonical, engine : what is counted, and by which engine
    rows : observed rows that stand for all contexts, or None
    shares : weights of the values, or None
    threads : how many threads count
    """

    null: Null
    true: Features
    guess: Features
    pairs: IntArray
    deps: ObjectArray
    distances: ObjectArray
    moves: bool
    canonical: bool
    engine: str
    rows: IntArray | None
    shares: ValueWeights | None
    threads: int | None = None

    def draw(self, generators: Sequence[np.random.Generator]) -> ObjectArray:
        """The distances of guesses by chance, one per generator: shape (draws, pairs)."""
        if self.moves or self.rows is not None:
            return np.stack([self._draw_one(generator) for generator in generators])
        step = max(1, LITERALS // max(1, len(self.guess.variables)))
        parts = range(0, len(generators), step)
        return np.concatenate([self._redrawn(generators[k : k + step]) for k in parts])

    def _redrawn(self, generators: Sequence[np.random.Generator]) -> ObjectArray:
        """The same where scopes stay: some draws are counted together."""
        sets = [draw_value_sets(self.guess, self.null, generator) for generator in generators]
        distances = count_redrawn(
            self.true,
            self.guess,
            np.stack(sets),
            self.pairs,
            engine=self.engine,
            canonical=self.canonical,
            threads=self.threads,
            value_weights=self.shares,
        )
        return distances if self.shares is None else distances / self._sizes(self.pairs)

    def _draw_one(self, generator: np.random.Generator) -> ObjectArray:
        if not self.moves:
            return self._counted(draw_features(self.guess, self.null, generator), self.pairs)
        drawn, place = draw_moved(self.guess, generator)
        own, sizes = self._own
        code = (len(place), 1)
        moved = np.sort(place[own], axis=1) @ code
        _, here, there = np.intersect1d(self.pairs @ code, moved, return_indices=True)
        distances = self.deps.copy()
        if sizes is not None:  # where the true model has nothing, the distance is what moved there
            distances[here] = sizes[there]
            here = here[self.deps[here] != 0]
        distances[here] = self._counted(drawn, self.pairs[here])
        return distances

    @cached_property
    def _own(self) -> tuple[IntArray, ObjectArray | None]:
        """The pairs that the guess covers, and in how many contexts each depends.

        Variables of equal cardinality take this number with them. Where contexts do not count
        alike they do not, and there is None.
        """
        pairs = covered_pairs(self.guess)
        if self.rows is not None or self.shares is not None:
            return pairs, None
        return pairs, self._counts(self.guess, pairs).lower[:, 1]

    def _counts(self, drawn: Features, pairs: IntArray) -> PairCounts:
        if self.rows is not None:
            counts = count_rows(self.true, drawn, pairs, self.rows, canonical=self.canonical)
        else:
            counts = get_engine(self.engine).count_pairs(
                self.true,
                drawn,
                pairs,
                canonical=self.canonical,
                value_weights=self.shares,
                threads=self.threads,
            )
        if counts.interrupted:
            raise KeyboardInterrupt
        return counts

    def _counted(self, drawn: Features, pairs: IntArray) -> ObjectArray:
        a, b, both = self._counts(drawn, pairs).lower.T
        distances: ObjectArray = 2 * both - a - b
        return distances if self.shares is None else distances / self._sizes(pairs)

    def _sizes(self, pairs: IntArray) -> ObjectArray:
        """What the contexts of each pair weigh."""
        weights = [sum(own) for own in self.shares or ()]
        sizes = contexts_of_pairs(weights, pairs, self.canonical)
        return np.array([Fraction(size) for size in sizes], dtype=object)


@dataclass(frozen=True)
class Draws:
    """Some draws: their distances over the pairs of the question, and how they compare there.

    Attributes
    ----------
    distances : of each draw, over all pairs of the question
    below, equal : for each pair, how many draws are nearer, and how many are as near
    """

    distances: list[Number]
    below: IntArray
    equal: IntArray


def make_draws(
    question: DrawQuestion,
    draws: int,
    *,
    rng: Seed,
    n_jobs: int = 1,
    cluster: Any = None,
    show_progress: bool | Progress = False,
) -> tuple[Draws | None, bool]:
    """So many draws, in batches that any process can make.

    Parameters
    ----------
    question : what is drawn and counted
    draws : how many
    rng : generator or seed
    n_jobs : how many processes; 1 draws here and counts on all cores
    cluster : address of a Dask scheduler, or a Dask client; goes before ``n_jobs``
    show_progress : a line on standard error, or a function of (draws done, draws in all)

    Returns
    -------
    Draws
        Those that were finished; None if there are none.
    bool
        Whether Ctrl-C ended the work.
    """
    if n_jobs != 1 or cluster is not None:
        question = replace(question, threads=1)
    source = np.random.default_rng(rng)
    batches = (source.spawn(min(BATCH, draws - first)) for first in range(0, draws, BATCH))
    found: dict[int, Draws] = {}
    try:
        with progress_of(show_progress, "drawing guesses") as progress:
            for place, batch in _units(question, batches, n_jobs, cluster):
                found[place] = batch
                if progress:
                    progress(sum(len(b.distances) for b in found.values()), draws)
    except KeyboardInterrupt:
        return _joined(found), True
    return _joined(found), False


def _units(
    question: DrawQuestion, batches: Iterable[list[np.random.Generator]], n_jobs: int, cluster: Any
) -> Iterator[tuple[int, Draws]]:
    for unit in choose_map(n_jobs=n_jobs, cluster=cluster)(
        partial(_draw_batch, question), enumerate(batches)
    ):
        if unit.value is None:
            raise ContextwiseError(f"drawing failed {unit.tries} times: {unit.error}")
        yield unit.item[0], unit.value


def _draw_batch(question: DrawQuestion, batch: tuple[int, list[np.random.Generator]]) -> Draws:
    distances: list[Number] = []
    below, equal = np.zeros((2, len(question.pairs)), dtype=np.int64)
    for drawn in question.draw(batch[1]):
        distances.append(sum(drawn.tolist()))
        below += (drawn < question.distances).astype(bool)
        equal += (drawn == question.distances).astype(bool)
    return Draws(distances, below, equal)


def _joined(found: dict[int, Draws]) -> Draws | None:
    """All batches as one, in the order of the draws."""
    if not found:
        return None
    batches = [batch for _, batch in sorted(found.items())]
    below, equal = (np.sum([getattr(b, k) for b in batches], axis=0) for k in ("below", "equal"))
    return Draws([d for batch in batches for d in batch.distances], below, equal)
