"""The pairs of models to compare: real ones from a folder, or generated ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from contextwise import Domain, read
from contextwise.comparison.question import active_pairs
from contextwise.counting import known_sizes
from contextwise.counting.contract import get_engine
from contextwise.counting.cover import Cover
from contextwise.counting.extraction import CoverSource
from contextwise.counting.pair_counts import PairCounts
from contextwise.learning import Data, as_data
from contextwise.models.features import Features
from contextwise.models.structure import structure_of
from contextwise.support.arrays import IntArray
from contextwise.support.effort import Effort

GENERATED = "generated families"


@dataclass(frozen=True)
class Models:
    """A folder of models, real or generated, and a folder of data."""

    folder: Path
    generated: bool
    data: Path | None = None

    def case(self, true: str, guess: str) -> Case:
        """Read two models of the folder and align them."""
        a = structure_of(read(self.path(true)))
        b = structure_of(read(self.path(guess))).aligned_to(a.domain)
        return Case(f"{true} / {guess}", a.features, b.features, active_pairs(a, b))

    def path(self, name: str) -> Path:
        """Return the file of a model."""
        return self.folder / f"{name}.mn"

    def rows(self, name: str, part: str = "train", domain: Domain | None = None) -> Data:
        """Read the rows of a data set; needs a folder of data."""
        assert self.data is not None
        return as_data(self.data / f"{name}.{part}.data.gz", domain)


@dataclass(frozen=True)
class Case:
    """The features of two models, and the pairs to count."""

    name: str
    true: Features
    guess: Features
    pairs: IntArray

    def count(self, engine: str = "auto", threads: int = 1) -> PairCounts:
        """Extract and count the three unions of every pair, without known sizes."""
        known_sizes.clear()
        return get_engine(engine).count_pairs(
            self.true, self.guess, self.pairs, Effort(threads=threads)
        )

    def covers(self, counts: PairCounts) -> tuple[list[Cover], list[int]]:
        """Return the three covers of every pair, or one if only one model has cubes.

        The other two would be trivial for every solver.
        """
        source = CoverSource(self.true, self.guess)
        covers: list[Cover] = []
        sizes: list[int] = []
        for (i, j), row in zip(self.pairs.tolist(), counts.lower, strict=True):
            three = source.three_covers((i, j))
            wanted = range(3) if three[0].cubes and three[1].cubes else [2]
            covers += [three[k] for k in wanted]
            sizes += [row[k] for k in wanted]
        return covers, sizes

    def sample(self, pairs: int, seed: int) -> Case:
        """Return the case with a random sample of its pairs."""
        rng = np.random.default_rng(seed)
        chosen = np.sort(rng.choice(len(self.pairs), min(pairs, len(self.pairs)), replace=False))
        return Case(f"{self.name}, {len(chosen)} pairs", self.true, self.guess, self.pairs[chosen])


def assert_equal(first: PairCounts, second: PairCounts) -> None:
    """Assert that all counts are finished and equal."""
    assert not len(first.open_places)
    assert (first.lower == second.lower).all()
    assert (first.upper == second.upper).all()
