"""Read and write Markov and Bayesian networks in the format of the UAI competitions: ``.uai``.

``docs/reference/formats.md`` describes the format. Each cell of a table becomes one feature, and
the log of its number is the weight. A number 1 is a feature of weight 0, which is part of the
structure unless ``zero_weights="drop"``. The format has no names; writing a model with names gives
a warning.
"""

from __future__ import annotations

import re
import warnings
from math import prod

import numpy as np

from contextwise.errors import ContextwiseError, TooLargeError
from contextwise.formats.reading import (
    FormatWarning,
    Source,
    check_states,
    logs_of,
    model_of_factors,
    network_in_tables,
    tables_to_write,
)
from contextwise.models.domain import Domain
from contextwise.models.factors import check_scopes, numbers, readable
from contextwise.models.structure import Model
from contextwise.support.arrays import FloatArray

_COMMENT = re.compile(r"^c(?:[ \t].*)?$|#.*", re.MULTILINE)
_ENTRIES_A_LINE = 8


def read(source: Source) -> Model:
    """Read a ``.uai`` file."""
    words = _Words(source)
    (kind,) = words.take(1, "MARKOV or BAYES")
    if kind.upper() not in ("MARKOV", "BAYES"):
        raise words.error(f"expected MARKOV or BAYES, got {kind[:20]!r}")
    cardinalities = words.integers(words.integer("the number of variables"), "a cardinality", 1)
    check_states(source, cardinalities)
    count = words.integer("the number of tables")
    scopes = [_scope(words, len(cardinalities)) for _ in words.times(count)]
    domain = Domain.of_cardinalities(cardinalities)
    try:
        check_scopes(domain, scopes)
    except TooLargeError as error:
        raise words.error(str(error)) from None
    tables = [_table(words, scope, cardinalities) for scope in scopes]
    for word in words.words[words.at : words.at + 1]:
        words.at += 1
        raise words.error(f"expected the end of the file after the last table, got {word[:20]!r}")
    directions = None
    if kind.upper() == "BAYES":
        directions = network_in_tables(domain, scopes, tables, source)
    return model_of_factors(domain, scopes, list(map(logs_of, tables)), source, directions)


def write(model: Model) -> bytes:
    """Write a log-linear model as a ``.uai`` file: one table for each scope of its features."""
    factors = tables_to_write(model, "a .uai file")
    domain = model.domain
    if domain != Domain.of_cardinalities(domain.cardinalities):
        warnings.warn(
            "a .uai file has no names: variables and states are numbered in it",
            FormatWarning,
            stacklevel=5,
        )
    lines = ["MARKOV", str(len(domain)), " ".join(map(str, domain.cardinalities))]
    lines.append(str(len(factors)))
    lines += [" ".join(map(str, (len(factor.scope), *factor.scope))) for factor in factors]
    for factor in factors:
        entries = list(map(repr, numbers(factor, "a .uai file").ravel().tolist()))
        lines += ["", str(len(entries))]
        lines += [
            " " + " ".join(entries[k : k + _ENTRIES_A_LINE])
            for k in range(0, len(entries), _ENTRIES_A_LINE)
        ]
    return "\n".join([*lines, ""]).encode("ascii")


class _Words:
    """The words of a file, taken one by one; errors have the line of the last one."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = _COMMENT.sub("", source.text)
        self.words = self.text.split()
        self.at = 0

    def error(self, message: str) -> ContextwiseError:
        for k, match in enumerate(re.finditer(r"\S+", self.text)):
            if k == max(self.at - 1, 0):
                return self.source.error(message, self.text.count("\n", 0, match.start()) + 1)
        return self.source.error(message, 1)

    def take(self, count: int, what: str) -> list[str]:
        if count > len(self.words) - self.at:
            self.at = len(self.words)
            raise self.error(f"the file ends where {what} should follow")
        self.at += count
        return self.words[self.at - count : self.at]

    def times(self, count: int) -> range:
        """Return a range that is not longer than the rest of the file."""
        return range(min(count, len(self.words) - self.at + 1))

    def integer(self, what: str, least: int = 0) -> int:
        word = self.take(1, what)[0]
        if not (word.isascii() and word.isdigit() and len(word) < 19) or int(word) < least:
            raise self.error(f"expected {what}, got {word[:20]!r}")
        return int(word)

    def integers(self, count: int, what: str, least: int = 0) -> list[int]:
        return [self.integer(what, least) for _ in self.times(count)]

    def floats(self, count: int, what: str) -> FloatArray:
        values = np.array([_float(word) for word in self.take(count, what)], dtype=np.float64)
        bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
        if len(bad):
            # Step back to the bad word, so that the error names its line.
            self.at -= count - int(bad[0]) - 1
            shown = self.words[self.at - 1][:20]
            raise self.error(f"expected {what} that is >= 0, got {shown!r}")
        return values


def _float(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return np.nan


def _scope(words: _Words, variables: int) -> list[int]:
    scope: dict[int, None] = {}
    for _ in words.times(words.integer("the size of a scope")):
        variable = words.integer("a variable of a scope")
        if variable >= variables:
            raise words.error(f"there is no variable {variable}; the last one is {variables - 1}")
        if variable in scope:
            raise words.error(f"variable {variable} occurs twice in a scope")
        scope[variable] = None
    return list(scope)


def _table(words: _Words, scope: list[int], cardinalities: list[int]) -> FloatArray:
    shape = [cardinalities[v] for v in scope]
    entries = words.integer("the number of entries of a table")
    if entries != prod(shape):
        raise words.error(
            f"the table over {len(scope)} variables has {readable(prod(shape))} entries, got "
            f"{entries}"
        )
    return words.floats(entries, "an entry of a table").reshape(shape)
