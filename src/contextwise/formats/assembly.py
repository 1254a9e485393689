"""From the features that a file lists to a model: the last step of every reader."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from contextwise.errors import TooLargeError
from contextwise.formats.source import Source
from contextwise.models.domain import Domain
from contextwise.models.features import IntArray, WordArray, normalized, words_of
from contextwise.models.literals import ContradictionWarning
from contextwise.models.structure import LogLinear, Model, Structure

FREE_LITERALS = 2**23
"""So many literals (of one word) are always fine: about half a gigabyte while they are read."""


@dataclass(frozen=True)
class ListedFeatures:
    """Features as a file lists them: repeated, contradictory, in any order.

    Attributes
    ----------
    lengths : the number of literals of each feature
    variables, values : the variable and the value set of each literal
    weights : a weight a feature, or None
    """

    domain: Domain
    lengths: IntArray
    variables: IntArray
    values: WordArray
    weights: npt.NDArray[np.float64] | None = None


def most_literals(source: Source, cardinalities: npt.ArrayLike) -> int:
    """How many literals a source may stand for, so that memory stays in proportion to its size.

    A tree stands for leaves × depth literals, and a variable with many values makes every value
    set wide; both let a small file ask for any amount of memory.
    """
    return max(FREE_LITERALS, 2 * len(source.data)) // words_of(cardinalities)


def check_states(source: Source, cardinalities: list[int]) -> None:
    """Refuse a list of cardinalities that is out of all proportion to the file."""
    words = (max(cardinalities, default=1) + 63) // 64
    if max(sum(cardinalities), len(cardinalities) * words) > max(2**20, 2 * len(source.data)):
        raise TooLargeError(
            f"{source.name}: {sum(cardinalities)} states of {len(cardinalities)} variables are "
            "more than this file can mean; check its first line"
        )


def too_many_literals(source: Source, most: int) -> TooLargeError:
    """The error of a file that stands for more literals than `most_literals` allows."""
    return TooLargeError(
        f"{source.name}: this file of {len(source.data)} bytes stands for more than {most} "
        "literals (deep trees, or variables with very many values); split it or simplify it"
    )


def assembled(
    listed: ListedFeatures, source: Source, format: str, *, description: str | None = None
) -> Model:
    """The model of the listed features: a LogLinear if they have weights, else a Structure.

    Features that can never hold are dropped with a warning; the weights of equal ones add up.
    """
    count = len(listed.lengths)
    owners = np.repeat(np.arange(count), listed.lengths)
    cardinalities = listed.domain.cardinalities
    features, places = normalized(cardinalities, owners, listed.variables, listed.values, count)
    alive = places >= 0
    contradictory = count - int(alive.sum())
    info: dict[str, str | int] = {
        "file": source.name,
        "format": format,
        "lines": source.lines,
        "raw_features": count,
        "duplicates": count - contradictory - len(features),
        "contradictory": contradictory,
        "zero_weights": 0 if listed.weights is None else int((listed.weights == 0).sum()),
    }
    if description is not None:
        info["description"] = description
    if contradictory:
        what = "feature that can" if contradictory == 1 else "features that can"
        warnings.warn(
            f"{source.name}: dropped {contradictory} {what} never hold",
            ContradictionWarning,
            stacklevel=4,
        )
    structure = Structure(listed.domain, features, info=info)
    if listed.weights is None:
        return structure
    total = np.zeros(len(features))
    with np.errstate(invalid="ignore"):  # inf and -inf; told below, with the file
        np.add.at(total, places[alive], listed.weights[alive])
    if np.isnan(total).any():
        text = structure.feature_text(int(np.flatnonzero(np.isnan(total))[0]))
        raise source.error(f"the weights inf and -inf of the feature {text!r} do not add up")
    return LogLinear(structure, total)
