"""What all readers share: the bytes of a file, the features it lists, and the model they make.

A reader goes from a `Source` to a listing of features, as the file has them, and `model_of` makes
the model. A `Format` is a reader and, if it can be written, a function from a model to bytes.
`contextwise.formats.FORMATS` is the list of them.

A small file can stand for much: a tree for all its leaves times their depth, a number for as many
states. So readers ask how much a file may stand for before they make it: at most a fixed amount
that every machine has, or in proportion to the file. The largest cardinality is
`contextwise.models.domain.LARGEST_CARDINALITY`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from contextwise.errors import ParseError, TooLargeError
from contextwise.models.domain import LARGEST_CARDINALITY, Domain
from contextwise.models.factors import Factor, FloatArray, cells_of
from contextwise.models.features import IntArray, WordArray, normalized, words_of
from contextwise.models.literals import ContradictionWarning
from contextwise.models.structure import LogLinear, Model, Structure


@dataclass(frozen=True)
class Source:
    """The bytes of a file, unpacked, and the name that messages call it by."""

    data: bytes
    name: str

    @cached_property
    def text(self) -> str:
        """The bytes as UTF-8 text, with every line end as ``\\n``.

        >>> Source(b"a\\r\\nb", "x").text
        'a\\nb'
        """
        try:
            text = self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise self.error("this is not text (not valid UTF-8)", line) from None
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @property
    def lines(self) -> int:
        """The number of lines; a last line without an end counts."""
        return self.data.count(b"\n") + (not self.data.endswith(b"\n") and bool(self.data))

    def error(self, message: str, line: int | None = None) -> ParseError:
        """An error at a line of this source, to be raised; a very long message is cut."""
        shown = message if len(message) <= 400 else f"{message[:300]} … {message[-80:]}"
        return ParseError(shown, path=self.name, line=line)


@dataclass(frozen=True)
class Format:
    """A way to keep a model in a file.

    Attributes
    ----------
    name : what ``format=`` takes
    suffixes : the ends of file names that mean it
    read : from a source to a model
    write : from a model to bytes; None if the format is only read
    fits : whether data without a file name (standard input) look like it
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Source], Model]
    write: Callable[[Model], bytes] | None
    fits: Callable[[bytes], bool]


# -- how much a file may stand for -----------------------------------------------------------------

FREE_LITERALS = 2**23
"""So many literals (of one word) are always fine: about half a gigabyte while they are read."""


FREE_STATES = 2**17
"""So many states are always fine: a state is a label and two entries, about 150 bytes."""


@dataclass(frozen=True)
class ListedFeatures:
    """Features as a file lists them: repeated, contradictory, in any order.

    Attributes
    ----------
    lengths : the number of literals of each feature
    variables, values : the variable and the value set of each literal
    weights : one weight per feature, or None
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
    """Refuse cardinalities that are too large, or out of all proportion to the file."""
    largest = max(cardinalities, default=1)
    if largest > LARGEST_CARDINALITY:
        raise TooLargeError(
            f"{source.name}: the variable number {cardinalities.index(largest)} has {largest:,} "
            f"states, and at most {LARGEST_CARDINALITY:,} are possible"
        )
    words = len(cardinalities) * words_of(cardinalities)
    if max(sum(cardinalities), words) > max(FREE_STATES, 2 * len(source.data)):
        raise TooLargeError(
            f"{source.name}: {sum(cardinalities)} states of {len(cardinalities)} variables are "
            "more than a file of this size can mean; check its first line"
        )


def too_many_literals(source: Source, most: int) -> TooLargeError:
    """The error of a file that stands for more literals than `most_literals` allows."""
    return TooLargeError(
        f"{source.name}: this file of {len(source.data)} bytes stands for more than {most} "
        "literals (deep trees, or variables with very many values); split it or simplify it"
    )


def model_of(
    listed: ListedFeatures, source: Source, format: str, *, description: str | None = None
) -> Model:
    """The model of the listed features: a LogLinear if they have weights, else a Structure.

    Features that can never hold are dropped with a warning; the weights of equal ones add up.

    Parameters
    ----------
    listed : ListedFeatures
    source : where they come from
    format : the name of its format
    description : what the file says about itself, if anything
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


def factor_of(scope: Sequence[int], values: FloatArray) -> Factor:
    """A factor from its numbers; 0 has the log ``-inf``."""
    with np.errstate(divide="ignore"):
        return Factor(tuple(scope), np.log(values))


def model_of_factors(
    domain: Domain, factors: Sequence[Factor], source: Source, format: str
) -> Model:
    """The model of the tables of a file: each cell is a feature, its log the weight.

    Parameters
    ----------
    domain : Domain
    factors : tables of logs
    source : where they come from
    format : the name of its format
    """
    try:
        owners, variables, values, count = cells_of(domain, [factor.scope for factor in factors])
    except TooLargeError as error:
        raise TooLargeError(f"{source.name}: {error}") from None
    weights = np.concatenate([np.zeros(0), *(factor.logs.ravel() for factor in factors)])
    lengths = np.bincount(owners, minlength=count)
    return model_of(ListedFeatures(domain, lengths, variables, values, weights), source, format)
