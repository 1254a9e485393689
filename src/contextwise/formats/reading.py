"""Code that readers and writers share: the bytes of a file, its features, and their model.

A reader takes a `Source` and passes the features it lists to `model_of`. A parser of a language
with braces extends `Tokens`.

A small file can describe a large model: a tree has leaves times depth literals, and one number
gives a variable any number of states. So readers check the size before they allocate memory: a
fixed amount is always allowed, and beyond that the size must be proportional to the file.
"""

from __future__ import annotations

import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from contextwise.errors import DomainError, ParseError, TooLargeError
from contextwise.models.directions import (
    Directions,
    Parents,
    TableError,
    Tables,
    directions_of,
)
from contextwise.models.domain import LARGEST_CARDINALITY, Domain
from contextwise.models.factors import (
    Factor,
    cells_of,
    factors_of,
    factors_to_write,
    merged,
    numbers,
)
from contextwise.models.features import PairIndex, normalized, words_of
from contextwise.models.origin import NOT_RECORDED, ModelFile, Origin
from contextwise.models.structure import (
    LogLinear,
    Model,
    Structure,
    structure_of,
    warn_of_contradictions,
)
from contextwise.support.arrays import FloatArray, IntArray, WordArray
from contextwise.support.files import decoded
from contextwise.support.formatting import plural


class FormatWarning(UserWarning):
    """A file does not hold all of a model, or a model not all of its file."""


def _plain(text: str) -> str:
    """Return text with one kind of line end, and with composed letters as in rows."""
    return normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True)
class Source:
    """The unpacked bytes of a file, and its name for messages."""

    data: bytes
    name: str
    format: str = ""

    def of_format(self, format: str) -> Source:
        return replace(self, format=format)

    @cached_property
    def text(self) -> str:
        """The bytes as UTF-8 text, with all line ends as ``\\n``."""
        return _plain(decoded(self.data, self.name))

    @cached_property
    def legacy_text(self) -> str:
        """The text of a format that is older than UTF-8; other bytes are read as Windows-1252."""
        try:
            return self.text
        except ParseError:
            if b"\0" in self.data:
                raise
            self.warn("this is not UTF-8 text; reading it as Windows-1252")
            return _plain(self.data.decode("cp1252", "replace"))

    def warn(self, message: str) -> None:
        """Warn about the content; the warning names the line that reads the file."""
        warnings.warn(f"{self.name}: {message}", FormatWarning, stacklevel=7)

    def error(self, message: str, line: int | None = None) -> ParseError:
        """Return an error at a line of this source; a very long message is cut."""
        shown = message if len(message) <= 400 else f"{message[:300]} … {message[-80:]}"
        return ParseError(shown, path=self.name, line=line)


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
    about: Origin = NOT_RECORDED,
    directions: Directions | None = None,
) -> Model:
    """Make the model of features as a file lists them: a LogLinear if they have weights.

    ``lengths`` has the number of literals of each feature, ``variables`` and ``values`` those of
    each literal. Features that can never hold are dropped with a warning; the weights of equal ones
    add up. ``about`` is the origin of the model, but for the file.
    """
    count, data = len(lengths), source.data
    owners = np.repeat(np.arange(count), lengths)
    features, places = normalized(domain.cardinalities, owners, variables, values, count)
    contradictory = int((places < 0).sum())
    file = ModelFile(
        name=source.name,
        format=source.format,
        # the last line may have no line end
        lines=data.count(b"\n") + (not data.endswith(b"\n") and bool(data)),
        raw_features=count,
        duplicates=count - contradictory - len(features),
        contradictory=contradictory,
        zero_weights=0 if weights is None else int((weights == 0).sum()),
    )
    warn_of_contradictions(contradictory, f"{source.name}: ", stacklevel=6)
    structure = Structure(domain, features, origin=replace(about, file=file), directions=directions)
    if weights is None:
        return structure
    try:
        return merged(structure, places, weights)
    except DomainError as error:
        raise source.error(str(error)) from None


def logs_of(values: FloatArray) -> FloatArray:
    """Return the logs of numbers; the log of 0 is ``-inf``."""
    with np.errstate(divide="ignore"):
        logs: FloatArray = np.log(values)
    return logs


def model_of_factors(
    domain: Domain,
    scopes: Sequence[Sequence[int]],
    logs: Sequence[FloatArray] | None,
    source: Source,
    directions: Directions | None = None,
    about: Origin = NOT_RECORDED,
) -> Model:
    """Make the model of the tables of a file: each cell is a feature, its log the weight."""
    try:
        owners, variables, values, count = cells_of(domain, scopes)
    except TooLargeError as error:
        raise TooLargeError(f"{source.name}: {error}") from None
    weights = None
    if logs is not None:
        weights = np.concatenate([np.zeros(0), *(table.ravel() for table in logs)])
    lengths = np.bincount(owners, minlength=count)
    return model_of(domain, lengths, variables, values, weights, source, about, directions)


def model_of_network(
    domain: Domain,
    parents: Parents,
    tables: Tables | None,
    source: Source,
    *,
    undirected: Iterable[PairIndex] = (),
    confounded: Iterable[PairIndex] = (),
    kept: Sequence[int] | None = None,
    lines: Sequence[int] | None = None,
    about: Origin = NOT_RECORDED,
) -> Model:
    """Make the model of the Bayesian network in a file, with its directions.

    The arguments are those of `contextwise.models.directions.bayesian_network`, with None for a
    table that the file does not have and NaN for missing rows; then the model has no weights.
    ``tables=None`` is for a file of arcs alone, which may have ``undirected`` edges, such as those
    of a CPDAG, and ``confounded`` pairs, which have a hidden common cause. Variables that are not
    ``kept`` are hidden. Errors are raised at the line of the variable (``lines``, one for each).
    """
    try:
        directions = directions_of(domain, parents, tables, undirected)
    except TableError as error:
        line = lines[error.child] if lines is not None else None
        raise source.error(str(error), line) from None
    except DomainError as error:
        raise source.error(str(error)) from None
    directions = replace(directions, confounded=frozenset(confounded))
    if kept is not None and len(kept) < len(domain):
        directions, domain = (
            directions.observed(kept),
            domain.without({*range(len(domain))}.difference(kept)),
        )
    missing = sum(table is None for table in directions.tables)
    if tables is not None and missing:
        source.warn(
            f"{plural(missing, 'variable')} without some probabilities (NaN or a row of zeros), so "
            "the model is read without weights"
        )
    scopes, logs = directions.scopes(), directions.logs()
    return model_of_factors(domain, scopes, logs, source, directions, about)


def network_in_tables(
    domain: Domain,
    scopes: Sequence[Sequence[int]],
    tables: Sequence[FloatArray | None],
    source: Source,
) -> Directions | None:
    """Return the directions of a file that lists the tables of a network, each with its child last.

    Warn and return None if they are not the tables of a network; raise if the arcs have a cycle.
    """
    place = {scope[-1]: k for k, scope in enumerate(scopes) if scope}
    try:
        if len(place) < len(scopes) or len(scopes) < len(domain):
            raise TableError("expected one table for each variable, which comes last in it", 0)
        order = [place[v] for v in range(len(domain))]
        parents = [scopes[k][:-1] for k in order]
        return directions_of(domain, parents, [tables[k] for k in order])
    except TableError as error:
        source.warn(f"read without directions: {error}")
        return None
    except DomainError as error:
        raise source.error(str(error)) from None


def tables_to_write(model: Model, what: str, *, are_joined: bool = False) -> list[Factor]:
    """Make the tables of a model for ``what``; warn if they read back with other claims.

    A cell without a feature is written as 1 and reads back as a feature of weight 0, unless the
    caller multiplies the tables before it writes them (``are_joined``).
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
        if not are_joined and not any((values == 1).any() for values in cells):
            advice = "read it with --zero-weights drop (zero_weights='drop') to get the same claims"
        warnings.warn(
            f"{what} holds whole tables, so more pairs depend when it is read back; {advice}",
            FormatWarning,
            stacklevel=6,
        )
    return factors


# -- tokens ----------------------------------------------------------------------------------------


class Token(NamedTuple):
    """A token: ``kind`` is "word", the sign itself, or "end"; ``at`` is its place in the text."""

    kind: str
    text: str
    at: int


class Tokens:
    """The tokens of a file.

    The pattern ``skip`` matches a blank or a comment; ``token`` has the groups ``sign``, ``word``
    and others for words, such as the contents of a quoted one. Both are verbose patterns.
    """

    def __init__(self, source: Source, skip: str, token: str) -> None:
        # Possessive (*+): blanks and comments are matched once, without backtracking.
        flags = re.VERBOSE | re.DOTALL | re.MULTILINE
        blanks = re.compile(f"(?:{skip})*+", flags)
        pattern = re.compile(f"(?:{skip})*+(?:{token}|\\Z)", flags)
        self.source = source
        self.text = source.legacy_text
        self.at = 0
        self.tokens: list[Token] = []
        end = 0
        for match in pattern.finditer(self.text):
            if match.start() != end:
                break
            end = match.end()
            kind = match.lastgroup
            if kind == "sign":
                sign = match["sign"]
                self.tokens.append(Token(sign, sign, match.start("sign")))
            elif kind is not None:
                self.tokens.append(Token("word", match[kind], match.start(kind)))
        if end < len(self.text):
            skipped = blanks.match(self.text, end)
            at = skipped.end() if skipped else end
            sign = self.text[at]
            unclosed = {"/": "a comment has no end", '"': "a quoted name has no end"}
            raise self.error(unclosed.get(sign, f"unexpected {sign!r}"), Token("", "", at))
        self.tokens.append(Token("end", "the end of the file", end))

    @cached_property
    def _line_ends(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    def line(self, token: Token) -> int:
        return bisect_right(self._line_ends, token.at - 1) + 1

    def error(self, message: str, token: Token | None = None) -> ParseError:
        return self.source.error(message, self.line(token or self.next))

    @property
    def next(self) -> Token:
        """The token that is taken next."""
        return self.tokens[self.at]

    def take(self, *kinds: str) -> Token:
        """Take a token of one of these kinds, or of any if none is given."""
        token = self.tokens[self.at]
        if kinds and token.kind not in kinds:
            wanted = " or ".join("a name" if kind == "word" else repr(kind) for kind in kinds)
            actual = token.text if token.kind == "end" else repr(token.text[:30])
            raise self.error(f"expected {wanted} but found {actual}", token)
        if token.kind == "end":
            raise self.error("the file ends inside a block", token)
        self.at += 1
        return token

    def take_until(self, end: str, *kinds: str) -> list[Token]:
        """Take tokens of these kinds, or of any, up to one of the kind ``end``."""
        start = self.at
        while (kind := self.tokens[self.at].kind) != end:
            if kind == "end" or (kinds and kind not in kinds):
                self.take(*((*kinds, end) if kinds else ()))
            self.at += 1
        self.at += 1
        return self.tokens[start : self.at - 1]
