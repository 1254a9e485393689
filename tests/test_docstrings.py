"""The names of the reference have complete docstrings with an example that runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import getdoc, isclass, isfunction, signature
from pathlib import Path

import pytest

REFERENCE = sorted(
    match[1]
    for page in (Path(__file__).parent.parent / "docs" / "reference").glob("*.md")
    if (match := re.search(r"automodule:: (\S+)", page.read_text(encoding="utf-8")))
)


def _documented(is_wanted: Callable[[object], bool]) -> list[str]:
    """List the names of the reference that satisfy a condition, by their full names."""
    places = set()
    for room in REFERENCE:
        module = import_module(room)
        for name in getattr(module, "__all__", None) or vars(module):
            value = getattr(module, name)
            home = getattr(value, "__module__", None) or ""
            if not name.startswith("_") and home.startswith(room) and is_wanted(value):
                places.add(f"{home}.{value.__name__}")
    return sorted(places)


def _value(place: str) -> object:
    module, _, name = place.rpartition(".")
    return getattr(import_module(module), name)


def _is_function(value: object) -> bool:
    """Return whether a name is a function, strategies of hypothesis aside."""
    hints = str(getattr(value, "__annotations__", ""))
    return isfunction(value) and "Strategy" not in hints and "DrawFn" not in hints


def _listed(docstring: str, head: str) -> set[str]:
    """Return the names that a section lists."""
    pattern = rf"{head}\n-{{10}}\n(.*?)(?=\n\w[\w ]*\n-{{3,}}\n|\Z)"
    section = re.search(pattern, docstring, re.DOTALL)
    lines = section[1].splitlines() if section else []
    heads = [line.split(" : ")[0] for line in lines if line and line[0] != " "]
    return {name.strip("* ") for line in heads for name in line.split(",")}


@pytest.mark.parametrize("place", _documented(_is_function))
def test_functions_of_the_reference_are_complete(place: str) -> None:
    """Parameters lists every parameter, the signature shows the result, an example runs.

    A section Returns is for what the annotation does not say.
    """
    function = _value(place)
    assert isfunction(function)
    text = getdoc(function) or ""
    assert set(signature(function).parameters) <= _listed(text, "Parameters")
    assert function.__annotations__["return"]
    assert ">>> " in text


@pytest.mark.parametrize("place", _documented(isclass))
def test_classes_of_the_reference_are_complete(place: str) -> None:
    """Parameters or Attributes list every field of a class; an example shows it."""
    value = _value(place)
    assert isclass(value)
    text = getdoc(value) or ""
    names = (
        [f.name for f in fields(value)] if is_dataclass(value) else getattr(value, "_fields", ())
    )
    listed = _listed(text, "Parameters") | _listed(text, "Attributes")
    assert {name for name in names if not name.startswith("_")} <= listed
    assert issubclass(value, BaseException) or ">>> " in text
