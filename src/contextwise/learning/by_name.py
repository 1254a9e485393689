"""Make learners from texts, as people name them.

==========================  ====================================================================
``pair-blocks``             a learner of `contextwise.learning.LEARNERS`
``trees:penalty=5``         with parameters; several are written ``trees:penalty=5:min_count=3``
``mylib:Mine``              a class, a function or a learner of a module, here or installed, also
                            with parameters: ``mylib:Mine:depth=3``
``theirs``                  a learner that another package brings: an entry point of the group
                            ``contextwise.learners``, such as ``theirs = "theirlib:Theirs"``
==========================  ====================================================================
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

from contextwise.errors import ContextwiseError
from contextwise.learning import LEARNERS, learner_named, other_learners
from contextwise.learning.base import FromFunction, Learner, fresh
from contextwise.learning.parameters import parameters_of


def learner_from_text(text: str) -> Learner:
    """Make a learner from its name and its parameters.

    >>> learner_from_text("trees:penalty=5:min_count=3")
    Trees(penalty=5.0, min_count=3)
    >>> learner_from_text("trees:penalti=5")
    Traceback (most recent call last):
    contextwise.errors.ContextwiseError: trees has no parameter 'penalti'; its parameters are ...
    """
    name, *settings = text.split(":")
    made: Any
    if name in LEARNERS or name in other_learners():
        made = learner_named(name)
    elif settings and "=" not in settings[0]:
        name = f"{name}:{settings[0]}"
        made = _imported(*name.split(":"))
        settings = settings[1:]
    else:
        made = learner_named(name)  # raises, with the nearest name
    if isinstance(made, Learner):
        return fresh(made, _parsed(name, type(made), settings))
    if isinstance(made, type) and issubclass(made, Learner):
        return made(**_parsed(name, made, settings))
    if callable(made) and not isinstance(made, type):
        values = {key: _literal(value) for key, value in _split(name, settings)}
        return FromFunction(partial(made, **values) if values else made)
    raise ContextwiseError(
        f"{name} is not a learner; it must be a subclass of contextwise.learning.Learner, or a "
        "function from a DataFrame to a model"
    )


def _imported(module: str, attribute: str) -> Any:
    """Import something by name, from the current folder too."""
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    if module.endswith(".py"):
        raise ContextwiseError(f"name the module without .py: {module[:-3]}:{attribute}")
    try:
        found: Any = import_module(module)
    except ModuleNotFoundError as problem:
        if problem.name is None or not f"{module}.".startswith(f"{problem.name}."):
            raise ContextwiseError(f"{module} cannot be imported: {problem}") from None
        raise ContextwiseError(
            f"there is no module {problem.name!r}, here or installed (MODULE:NAME names a learner "
            f"of yours); the learners are {', '.join(LEARNERS)}"
        ) from None
    except Exception as problem:
        what = f"{type(problem).__name__}: {problem}"
        raise ContextwiseError(f"{module} cannot be imported: {what}") from problem
    try:
        for part in attribute.split("."):
            found = getattr(found, part)
    except AttributeError:
        raise ContextwiseError(f"the module {module} has no {attribute!r}") from None
    return found


def _split(name: str, settings: Sequence[str]) -> list[tuple[str, str]]:
    """Split parameters, written ``NAME=VALUE``; raise if one is set twice."""
    pairs: dict[str, str] = {}
    for setting in settings:
        key, _, value = setting.partition("=")
        key = key.strip().replace("-", "_")
        if not key or not value:
            raise ContextwiseError(
                f"{name} needs parameters with values, as in {name}:penalty=10; got {setting!r}"
            )
        if key in pairs:
            raise ContextwiseError(f"{name}: {key} is set twice")
        pairs[key] = value
    return list(pairs.items())


def _parsed(name: str, learner: type[Learner], settings: Sequence[str]) -> dict[str, Any]:
    """Return the values of the parameters of a learner."""
    known = parameters_of(learner)
    values = {}
    for key, value in _split(name, settings):
        if key in known:
            values[key] = known[key].parse(value)
        elif key in learner.defaults():
            values[key] = _literal(value)
        else:
            names = ", ".join(learner.defaults()) or "none"
            raise ContextwiseError(f"{name} has no parameter {key!r}; its parameters are {names}")
    return values


def _literal(text: str) -> Any:
    """Return the Python value of a text, or the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
