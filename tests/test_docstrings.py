"""Every public function says what its parameters are, and every public name has an example.

The rule: a function or method whose name has no underscore in front and that has three parameters
or more has a Parameters section that names each of them; and every name in ``__all__`` of
`contextwise` and its rooms has a docstring with an example that runs. Commands speak through
``--help``, and properties and overridden methods through what they override.
"""

from __future__ import annotations

import ast
import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import getdoc, isclass, isfunction, isroutine, signature
from pathlib import Path

import pytest

import contextwise

SOURCE = Path(contextwise.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
ROOMS = [
    "contextwise",
    *sorted(f"contextwise.{p.parent.name}" for p in SOURCE.glob("*/__init__.py")),
]
FEWEST = 3
EXEMPT = {"property", "cached_property", "overload", "override", "command", "group", "setter"}


def _decorators(function: ast.FunctionDef) -> set[str]:
    return set(re.findall(r"\w+", " ".join(map(ast.unparse, function.decorator_list))))


def _parameters(function: ast.FunctionDef, in_class: bool) -> list[str]:
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    names += [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]
    decorators = _decorators(function)
    bound = (in_class and "staticmethod" not in decorators) or "composite" in decorators
    return [name for name in names[bound:] if not name.startswith("_")]


def _functions(body: list[ast.stmt], in_class: bool = False) -> list[tuple[ast.FunctionDef, bool]]:
    """The functions and methods of a module that are not private."""
    found = []
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            found += _functions(node.body, in_class=True)
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            found.append((node, in_class))
    return found


def _section(docstring: str, head: str = "Parameters") -> str:
    """A section: from its head to the head of the next one."""
    pattern = rf"{head}\n-{{10}}\n(.*?)(?=\n\w[\w ]*\n-{{3,}}\n|\Z)"
    found = re.search(pattern, docstring, re.DOTALL)
    return found[1] if found else ""


def _named(section: str) -> set[str]:
    """The names that a section speaks of: those of lines that are not indented."""
    heads = [line.split(" : ")[0] for line in section.splitlines() if line and line[0] != " "]
    return {name.strip("* ") for head in heads for name in head.split(",")}


def missing_parameters(path: Path) -> list[str]:
    """What the functions of a module leave unsaid."""
    problems = []
    for function, in_class in _functions(ast.parse(path.read_text()).body):
        names = _parameters(function, in_class)
        if len(names) < FEWEST or _decorators(function) & EXEMPT:
            continue
        told = _named(_section(ast.get_docstring(function) or ""))
        if unsaid := [name for name in names if name not in told]:
            problems.append(f"{function.name}: {', '.join(unsaid)}")
    return problems


def _name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_parameters_are_named(path: Path) -> None:
    assert not missing_parameters(path)


def _public() -> list[str]:
    return [
        f"{room}.{name}" for room in ROOMS for name in getattr(import_module(room), "__all__", ())
    ]


def has_example(place: str) -> bool:
    """Whether a public name is shown at work; constants and errors are shown elsewhere."""
    room, _, name = place.rpartition(".")
    value = getattr(import_module(room), name)
    if not (isclass(value) or isroutine(value)):
        return True
    if isclass(value) and issubclass(value, BaseException):
        return True
    return ">>> " in (value.__doc__ or "")


@pytest.mark.parametrize("place", _public())
def test_public_names_have_an_example(place: str) -> None:
    assert has_example(place)


REFERENCE = sorted(
    match[1]
    for page in (Path(__file__).parent.parent / "docs" / "reference").glob("*.md")
    if (match := re.search(r"automodule:: (\S+)", page.read_text(encoding="utf-8")))
)


def _functions_of_the_reference() -> list[str]:
    """Every public function that has an entry in the reference, strategies of hypothesis aside."""
    found = []
    for room in REFERENCE:
        module = import_module(room)
        for name in getattr(module, "__all__", None) or vars(module):
            value = getattr(module, name)
            home = getattr(value, "__module__", "") or ""
            if isfunction(value) and home.startswith(room) and not name.startswith("_"):
                strategy = "Strategy" in str(value.__annotations__.get("return"))
                found += [] if strategy or "DrawFn" in str(value.__annotations__) else [value]
    return sorted({f"{value.__module__}.{value.__name__}" for value in found})


@pytest.mark.parametrize("place", _functions_of_the_reference())
def test_functions_of_the_reference_are_complete(place: str) -> None:
    """Parameters names every parameter, Returns says what comes back, an example shows it."""
    module, _, name = place.rpartition(".")
    function = getattr(import_module(module), name)
    text = getdoc(function) or ""
    named = _named(_section(text))
    assert [one for one in signature(function).parameters if one not in named] == []
    assert function.__annotations__["return"] == "None" or re.search(
        r"^(Return|Yield)s$", text, re.M
    )
    assert ">>> " in text


def _classes_of_the_reference() -> list[str]:
    found = set()
    for room in REFERENCE:
        module = import_module(room)
        for name in getattr(module, "__all__", None) or vars(module):
            value = getattr(module, name)
            if isclass(value) and is_dataclass(value) and value.__module__.startswith(room):
                found.add(f"{value.__module__}.{value.__name__}")
    return sorted(found)


@pytest.mark.parametrize("place", _classes_of_the_reference())
def test_classes_of_the_reference_show_their_attributes(place: str) -> None:
    module, _, name = place.rpartition(".")
    value = getattr(import_module(module), name)
    text = getdoc(value) or ""
    told = _named(_section(text)) | _named(_section(text, "Attributes"))
    fields_shown = [field.name for field in fields(value) if not field.name.startswith("_")]
    assert [field for field in fields_shown if field not in told] == []


MODULE = '''
def good(a, b, *, c):
    """Do.

    Parameters
    ----------
    a, b : int
    c : int
        More.

    Returns
    -------
    d : int
    """

def bad(a, b, *, c):
    """Do.

    Parameters
    ----------
    a : int
        Not b : int.

    Returns
    -------
    c : int
    """

def _private(a, b, c): ...
def short(a, b): ...

class Thing:
    def method(self, a, b): ...
    def silent(self, a, b, c): ...
'''


def test_the_rule_finds_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(MODULE)
    assert missing_parameters(path) == ["bad: b, c", "silent: a, b, c"]
