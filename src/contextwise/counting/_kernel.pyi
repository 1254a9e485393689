"""The skin of the C++ in ``kernel/``: arrays in, exact ints out."""

from collections.abc import Callable
from typing import TypedDict

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Model = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], Words]

class Found(TypedDict):
    lower: npt.NDArray[np.object_]  # exact ints, three unions per pair
    open: npt.NDArray[np.int64]  # the pairs that are not finished
    upper: npt.NDArray[np.object_]  # of these
    interrupted: bool
    nodes: int
    extracting: float

def count_uncovered(
    start: list[int],
    weights: Words,
    forbidden: Words,
    node_budget: int | None,
    seconds: float | None,
    memory: int,
) -> tuple[int, int, int]: ...
def count_pairs(
    cardinalities: list[int],
    value_weights: Words,
    a: Model,
    b: Model,
    pairs: npt.NDArray[np.int64],
    canonical: bool,
    threads: int,
    node_budget: int | None,
    seconds: float | None,
    memory: int,
    progress: Callable[[int], None] | None,
) -> Found: ...
def covered_pairs(
    variables: int, models: list[Model], among: npt.NDArray[np.int64] | None
) -> npt.NDArray[np.int64]: ...
def count_distances(
    cardinalities: list[int],
    value_weights: Words,
    models: list[Model],
    rows: int,
    pairs: npt.NDArray[np.int64],
    factors: Words,
    width: int,
    canonical: bool,
    threads: int,
    node_budget: int | None,
    memory: int,
    progress: Callable[[int], None] | None,
) -> tuple[Words, npt.NDArray[np.int64], bool]: ...
def count_redrawn(
    cardinalities: list[int],
    value_weights: Words,
    a: Model,
    b: Model,
    draws: int,
    pairs: npt.NDArray[np.int64],
    canonical: bool,
    threads: int,
    node_budget: int | None,
    memory: int,
) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.int64], bool]: ...
def ask(
    cardinalities: list[int],
    pairs: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    holds: Words,
    canonical: bool,
    model: Model,
) -> tuple[Words, npt.NDArray[np.int64]]: ...
def differing(first: Words, second: Words) -> npt.NDArray[np.int64]: ...

class Tracker:
    def __init__(
        self,
        cardinalities: list[int],
        value_weights: Words,
        a: Model,
        b: Model,
        canonical: bool,
        memory: int,
    ) -> None: ...
    def know(self, feature: Model) -> int: ...
    def insert(self, claim: int) -> None: ...
    def erase(self, claim: int) -> None: ...
    def count(
        self, pairs: list[tuple[int, int]], more: list[int], less: list[int]
    ) -> list[int]: ...
