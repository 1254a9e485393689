"""What a file of Libra's grammar lists, one number a test, and its way to value sets.

The tests ``v = k`` and ``v ≠ k`` are the numbers ``2s`` and ``2s + 1``, where ``s`` counts the
states of all variables before ``v``, plus ``k``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from contextwise.formats.assembly import ListedFeatures
from contextwise.models.domain import Domain
from contextwise.models.features import WORD, IntArray, all_values, words_of


@dataclass(frozen=True)
class Listing:
    """What a file of this grammar lists.

    Attributes
    ----------
    cardinalities : of the variables
    lengths : the number of tests of each feature
    tests : the numbers of the tests, feature by feature
    weights : a weight a feature; None if no feature has one
    rest : the text after the last brace
    line : the line on which that brace stands
    """

    cardinalities: list[int]
    lengths: IntArray
    tests: IntArray
    weights: npt.NDArray[np.float64] | None
    rest: str
    line: int


def listed_features(
    listing: Listing, domain: Domain, weights: npt.NDArray[np.float64] | None
) -> ListedFeatures:
    """The tests of a listing as value sets.

    >>> listing = Listing([2, 3], np.array([2]), np.array([2, 9]), None, "", 4)
    >>> listed_features(listing, Domain({"A": 2, "B": 3}), None).values
    array([[2], [3]], dtype=uint64)
    """
    cardinalities = np.array(listing.cardinalities, dtype=np.int64)
    before = np.cumsum(cardinalities) - cardinalities
    states = listing.tests >> 1
    variables = np.repeat(np.arange(len(cardinalities)), cardinalities)[states]
    places = states - before[variables]
    values = np.zeros((len(states), words_of(cardinalities)), dtype=np.uint64)
    bits = np.left_shift(np.uint64(1), (places % WORD).astype(np.uint64))
    values[np.arange(len(states)), places // WORD] = bits
    negated = (listing.tests & 1).astype(np.uint64)
    values ^= all_values(cardinalities)[variables] * negated[:, None]
    return ListedFeatures(domain, listing.lengths, variables, values, weights)


def looks_like(keyword: str) -> Callable[[bytes], bool]:
    """Whether data start with a line of cardinalities and this keyword."""
    pattern = re.compile(rb"[\s0-9,]+" + keyword.encode() + rb"\s*\{", re.IGNORECASE)
    return lambda data: pattern.match(data) is not None
