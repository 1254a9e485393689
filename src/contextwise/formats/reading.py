"""Code that all readers share: the bytes of a file, the features it lists, and their model.

A reader takes a `Source` and passes the features it lists to `model_of`.

A small file can describe a large model: a tree has leaves times depth literals, and one number
gives a variable any number of states. So readers check the size before they allocate memory: a
fixed amount is always allowed, and beyond that the size must be proportional to the file.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.errors import ParseError, TooLargeError
from contextwise.models.domain import LARGEST_CARDINALITY, Domain
from contextwise.models.factors import Factor, FloatArray, cells_of
from contextwise.models.features import IntArray, WordArray, normalized, words_of
from contextwise.models.structure import ContradictionWarning, LogLinear, Model, Structure
from contextwise.support.files import decoded


@dataclass(frozen=True)
class Source:
    """The unpacked bytes of a file, and its name for messages."""

    data: bytes
    name: str

    @cached_property
    def text(self) -> str:
        """The bytes as UTF-8 text, with all line ends as ``\\n``."""
        return decoded(self.data, self.name).replace("\r\n", "\n").replace("\r", "\n")

    def error(self, message: str, line: int | None = None) -> ParseError:
        """Return an error at a line of this source; a very long message is cut."""
        shown = message if len(message) <= 400 else f"{message[:300]} … {message[-80:]}"
        return ParseError(shown, path=self.name, line=line)


@dataclass(frozen=True)
class Format:
    """A file format: its reader, its writer if any, and a test for data without a file name."""

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Source], Model]
    write: Callable[[Model], bytes] | None
    fits: Callable[[bytes], object]


FREE_LITERALS = 2**23
"""The number of literals (of one word) that is always allowed: about half a gigabyte."""
FREE_STATES = 2**17
"""The number of states that is always allowed: about 150 bytes each."""


def most_literals(source: Source, cardinalities: npt.ArrayLike) -> int:
    """Return the number of literals that a source may describe."""
    return max(FREE_LITERALS, 2 * len(source.data)) // words_of(cardinalities)


def check_states(source: Source, cardinalities: list[int]) -> None:
    """Raise `TooLargeError` for cardinalities that are too large for the size of the file."""
    largest = max(cardinalities, default=1)
    if largest > LARGEST_CARDINALITY:
        raise TooLargeError(
            f"{source.name}: variable number {cardinalities.index(largest)} has {largest:,} "
            f"states, and at most {LARGEST_CARDINALITY:,} are possible"
        )
    words = len(cardinalities) * words_of(cardinalities)
    if max(sum(cardinalities), words) > max(FREE_STATES, 2 * len(source.data)):
        raise TooLargeError(
            f"{source.name}: {len(cardinalities)} variables with {sum(cardinalities)} states are "
            "too many for a file of this size; check its first line"
        )


def too_many_literals(source: Source, most: int) -> TooLargeError:
    """Return the error for a file with more literals than `most_literals` allows."""
    return TooLargeError(
        f"{source.name}: this file of {len(source.data)} bytes describes more than {most} literals "
        "(deep trees, or variables with very many values); split it or simplify it"
    )


def model_of(
    domain: Domain,
    lengths: IntArray,
    variables: IntArray,
    values: WordArray,
    weights: FloatArray | None,
    source: Source,
    format: str,
    about: Mapping[str, Any] | None = None,
) -> Model:
    """Make the model of features as a file lists them: a LogLinear if they have weights.

    ``lengths`` has the number of literals of each feature, ``variables`` and ``values`` those of
    each literal. Features that can never hold are dropped with a warning; the weights of equal ones
    add up. ``about`` is added to the ``info`` of the model.
    """
    count, data = len(lengths), source.data
    owners = np.repeat(np.arange(count), lengths)
    features, places = normalized(domain.cardinalities, owners, variables, values, count)
    alive = places >= 0
    contradictory = count - int(alive.sum())
    info: dict[str, Any] = {
        "file": source.name,
        "format": format,
        "lines": data.count(b"\n") + (not data.endswith(b"\n") and bool(data)),
        "raw_features": count,
        "duplicates": count - contradictory - len(features),
        "contradictory": contradictory,
        "zero_weights": 0 if weights is None else int((weights == 0).sum()),
    }
    info |= about or {}
    if format in ("bif", "bn") or data.lstrip()[:5].upper() == b"BAYES":
        info["directed"] = True  # features cannot express all its independencies
    if contradictory:
        what = "feature that can" if contradictory == 1 else "features that can"
        warnings.warn(
            f"{source.name}: dropped {contradictory} {what} never hold",
            ContradictionWarning,
            stacklevel=4,
        )
    structure = Structure(domain, features, info=info)
    if weights is None:
        return structure
    total = np.zeros(len(features))
    with np.errstate(invalid="ignore"):  # inf and -inf: an error below
        np.add.at(total, places[alive], weights[alive])
    if np.isnan(total).any():
        text = structure.feature_text(int(np.flatnonzero(np.isnan(total))[0]))
        raise source.error(f"the weights inf and -inf of the feature {text!r} do not add up")
    return LogLinear(structure, total)


def factor_of(scope: Sequence[int], values: FloatArray) -> Factor:
    """Make a factor from its numbers; the log of 0 is ``-inf``."""
    with np.errstate(divide="ignore"):
        return Factor(tuple(scope), np.log(values))


def model_of_factors(
    domain: Domain,
    factors: Sequence[Factor],
    source: Source,
    format: str,
    *,
    has_weights: bool = True,
) -> Model:
    """Make the model of the tables of a file: each cell is a feature, its log the weight."""
    try:
        owners, variables, values, count = cells_of(domain, [factor.scope for factor in factors])
    except TooLargeError as error:
        raise TooLargeError(f"{source.name}: {error}") from None
    logs = np.concatenate([np.zeros(0), *(factor.logs.ravel() for factor in factors)])
    weights = logs if has_weights else None
    lengths = np.bincount(owners, minlength=count)
    return model_of(domain, lengths, variables, values, weights, source, format)
