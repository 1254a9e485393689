"""Code that readers and writers share: the bytes of a file, its features, and their model.

A reader takes a `Source` and passes the features it lists to `model_of`.

A small file can describe a large model: a tree has leaves times depth literals, and one number
gives a variable any number of states. So readers check the size before they allocate memory: a
fixed amount is always allowed, and beyond that the size must be proportional to the file.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from contextwise.errors import DomainError, ParseError, TooLargeError
from contextwise.models.domain import LARGEST_CARDINALITY, Domain
from contextwise.models.factors import (
    Factor,
    FloatArray,
    cells_of,
    factors_of,
    factors_to_write,
    merged,
    numbers,
)
from contextwise.models.features import IntArray, WordArray, normalized, words_of
from contextwise.models.structure import (
    LogLinear,
    Model,
    Structure,
    structure_of,
    warn_of_contradictions,
)
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


DIRECTED = {"directed": True}
"""The ``info`` of a directed model: features cannot express all its independencies."""
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
    contradictory = int((places < 0).sum())
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
    warn_of_contradictions(contradictory, f"{source.name}: ", stacklevel=6)
    structure = Structure(domain, features, info=info)
    if weights is None:
        return structure
    try:
        return merged(structure, places, weights)
    except DomainError as error:
        raise source.error(str(error)) from None


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
    directed: bool,
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
    about = DIRECTED if directed else None
    return model_of(domain, lengths, variables, values, weights, source, format, about)


class ClaimsChange(UserWarning):
    """A file reads back as a model with other independence claims."""


def tables_to_write(model: Model, what: str) -> list[Factor]:
    """Make the tables of a model for ``what``; warn if they read back with other claims.

    A cell without a feature is written as 1 and reads back as a feature of weight 0.
    """
    factors = factors_to_write(model, what)
    structure = structure_of(model)
    covers = factors_of(LogLinear(structure, np.ones(len(structure))))
    pairs: dict[tuple[int, ...], bool] = {}  # whether a pair depends in every context
    for factor in covers:
        for axes in combinations(range(len(factor.scope)), 2):
            always = bool(factor.logs.any(axis=axes).all())
            pair = tuple(factor.scope[axis] for axis in axes)
            pairs[pair] = always or pairs.get(pair, False)
    if not all(pairs.values()):
        advice = "write .json to keep the claims"
        cells = (numbers(f, what)[c.logs > 0] for f, c in zip(factors, covers, strict=True))
        if not any((values == 1).any() for values in cells):
            advice = "read it with --zero-weights drop (zero_weights='drop') to get the same claims"
        warnings.warn(
            f"{what} holds whole tables, so more pairs depend when it is read back; {advice}",
            ClaimsChange,
            stacklevel=6,
        )
    return factors
