"""Check that a value of JSON is of a kind: its types, ranges, keys and texts.

A kind is a tuple of types, a `Range` of numbers, a set of texts to choose from, ``[kind]`` for a
list, or a mapping for an object. There a key that ends in ``?`` may be left out, ``*`` stands for
all other keys, and the key ``""`` has a `Condition` about the whole object.

>>> person = {"name": (str,), "age?": Range(0, 150), "*": Any}
>>> first_problem([{"name": "Ada", "age": 36}], [person])
>>> first_problem([{"name": "Ada", "age": -3}], [person])
('expected a number from 0 to 150, got -3', (0, 'age'))
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

Kind = Any
Path = tuple[str | int, ...]
"""The place of a value in a document: ``("features", 3, "smoker")``."""

_NAMED = {
    list: "a list, […]",
    dict: "an object, {…}",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "null",
}


class Range(NamedTuple):
    """Numbers between two bounds, which are included; also other types, such as null."""

    low: float
    high: float
    types: tuple[type, ...] = (int, float)

    def also(self, kind: type) -> Range:
        """Return the range with another type that is allowed."""
        return self._replace(types=(*self.types, kind))

    def problem(self, value: Any) -> str:
        """Return the reason why a number is outside, else ""."""
        if isinstance(value, int | float) and not self.low <= value <= self.high:
            upper = "" if self.high == math.inf else f" to {self.high:g}"
            number = "a whole number" if float not in self.types else "a number"
            more = " or more" * (not upper)
            return f"expected {number} from {self.low:g}{upper}{more}, got {value}"
        return ""


class Condition(NamedTuple):
    """A condition on a whole object, and the message if it does not hold."""

    message: str
    holds: Callable[[dict[str, Any]], bool]


class Repeated(dict[str, Any]):
    """An object in which a key occurs twice."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key


def first_problem(value: Any, kind: Kind, path: Path = ()) -> tuple[str, Path] | None:
    """Return the first reason why a value is not of a kind, and its place."""
    if kind is Any:
        return None
    if isinstance(kind, frozenset):
        is_one = isinstance(value, str) and value in kind
        return None if is_one else (f"expected one of {', '.join(sorted(kind))}", path)
    types: tuple[type, ...] = kind
    if isinstance(kind, list | dict):
        types = (type(kind),)
    elif isinstance(kind, Range):
        types = kind.types
    if message := _of_types(value, types):
        return message, path
    if isinstance(value, Repeated):
        return f"the key {value.key!r} occurs twice", (*path, value.key)
    if isinstance(kind, Range) and (message := kind.problem(value)):
        return message, path
    if isinstance(kind, list):
        found = (first_problem(item, kind[0], (*path, k)) for k, item in enumerate(value))
        return next(filter(None, found), None)
    return _of_object(value, kind, path) if isinstance(kind, dict) else None


def _of_types(value: Any, types: tuple[type, ...]) -> str:
    is_bool = isinstance(value, bool) and bool not in types
    is_wild = isinstance(value, float) and not math.isfinite(value)
    if not isinstance(value, types) or is_bool or is_wild:
        named = [
            each for each in _NAMED if each in types and (each is not int or float not in types)
        ]
        return f"expected {' or '.join(map(_NAMED.__getitem__, named))}"
    if isinstance(value, str) and any("\ud800" <= sign <= "\udfff" for sign in value):
        return f"{value[:20]!r} is not valid Unicode"
    return ""


def _of_object(value: Any, kind: dict[str, Kind], path: Path) -> tuple[str, Path] | None:
    known = {key.rstrip("?"): key for key in kind if key not in ("", "*")}
    for key, each in value.items():
        if key not in known and "*" not in kind:
            return f"unknown key {key!r}; the keys are {', '.join(known)}", (*path, key)
        problem = first_problem(each, kind[known.get(key, "*")], (*path, key))
        if problem:
            return problem
    for key, stated in known.items():
        if key == stated and key not in value:
            return f"the key {key!r} is missing", path
    rule = kind.get("")
    return (rule.message, path) if rule and not rule.holds(value) else None
