"""Describe the parameters of a learner, for option lists and forms.

Names, types and defaults come from the fields of the learner's dataclass, and the help from the
section "Parameters" of its docstring, which has the layout of NumPy docstrings.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from contextwise.errors import ContextwiseError
from contextwise.learning.base import Learner

TRUTH_VALUES = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Parameter(NamedTuple):
    """A parameter that people can write: one of ``choices``, or a value of the type ``kind``."""

    name: str
    kind: type[bool] | type[int] | type[float] | type[str]
    default: Any
    choices: tuple[str, ...]
    help: str

    def parse(self, written: str) -> Any:
        """Return the value that a text means; raise if it means none."""
        text = written.strip()
        if self.kind is bool:
            if text.lower() not in TRUTH_VALUES:
                raise ContextwiseError(f"{self.name} must be true or false, got {text!r}")
            return TRUTH_VALUES[text.lower()]
        try:
            value = self.kind(text)
        except ValueError:
            kind = "a whole number" if self.kind is int else "a number"
            raise ContextwiseError(f"{self.name} must be {kind}, got {text!r}") from None
        if self.choices and value not in self.choices:
            listed = ", ".join(self.choices)
            raise ContextwiseError(f"{self.name} must be one of {listed}, got {text!r}")
        return value


def parameters_of(learner: type[Learner]) -> dict[str, Parameter]:
    """Return the parameters that people can write, by name; ``n_jobs`` is among them.

    >>> from contextwise.learning import Trees
    >>> parameters_of(Trees)["min_count"]
    Parameter(name='min_count', kind=<class 'int'>, default=10, choices=(), help='Rows that ...')
    """
    hints = typing.get_type_hints(learner.__init__)
    texts = _texts(inspect.getdoc(learner) or "")
    parameters = {}
    for name, default in learner.defaults().items():
        kind, choices = _kind(hints.get(name, type(default)))
        if kind is not None and default is not inspect.Parameter.empty:
            parameters[name] = Parameter(name, kind, default, choices, texts.get(name, ""))
    return parameters


def parse_values(learner: type[Learner], texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the written parameters that differ from their defaults; raise if one is no value.

    >>> from contextwise.learning import Trees
    >>> parse_values(Trees, {"penalty": "2.5", "min_count": "10", "refit": ""})
    {'penalty': 2.5}
    """
    values: dict[str, Any] = {}
    for name, parameter in parameters_of(learner).items():
        if texts.get(name, "").strip():
            value = parameter.parse(texts[name])
            if value != parameter.default:
                values[name] = value
    return values


def _kind(hint: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the type that a person can write, and the choices if there are only some."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        kinds = map(_kind, typing.get_args(hint))
        return next((kind for kind in kinds if kind[0] is not None), (None, ()))
    if typing.get_origin(hint) is Literal:
        return str, tuple(map(str, typing.get_args(hint)))
    return (hint if hint in (bool, int, float, str) else None), ()


def _texts(doc: str) -> dict[str, str]:
    """Return the text of each parameter; those with one heading share it."""
    section = doc.partition("Parameters\n----------\n")[2]
    texts: dict[str, str] = {}
    names: list[str] = []
    for line, below in zip(section.splitlines(), [*section.splitlines()[1:], ""], strict=False):
        if below.startswith("---"):  # the title of the next section
            break
        if line[:1].strip():
            names = line.partition(" : ")[0].split(", ")
        for name in names:
            texts[name] = f"{texts[name]} {line.strip()}".strip() if name in texts else ""
    return texts
