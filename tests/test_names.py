"""One name for one thing: constants, parameters and classes."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import contextwise

MODULES = sorted(Path(contextwise.__file__).parent.rglob("*.py"))
MOST_HOMES = 2
"""Modules that may define a number of one name; with more of them the name says too little."""


def assigned(module: Path) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a module assigns at its top, and their values."""
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        value = getattr(node, "value", None)
        for name in (part for target in targets for part in ast.walk(target)):
            if isinstance(name, ast.Name) and value is not None:
                yield name.id, value


def is_number(value: ast.expr) -> bool:
    try:
        return isinstance(eval(ast.unparse(value), {"__builtins__": {}}), int | float)
    except NameError:
        return False


@pytest.mark.parametrize("module", MODULES, ids=lambda m: f"{m.parent.name}/{m.stem}")
def test_a_module_assigns_a_name_once(module: Path) -> None:
    counts = Counter(name for name, _ in assigned(module))
    assert [name for name, count in counts.items() if count > 1] == []


def test_the_name_of_a_number_says_what_it_limits() -> None:
    homes = defaultdict(list)
    for module in MODULES:
        for name, value in assigned(module):
            if name.isupper() and name != "TYPE_CHECKING" and is_number(value):
                homes[name].append(module.stem)
    assert {name: found for name, found in homes.items() if len(found) > MOST_HOMES} == {}


def functions() -> Iterator[tuple[Path, ast.FunctionDef]]:
    for module in MODULES:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield module, node


def test_parameters_have_the_names_that_everybody_uses() -> None:
    """`level`, `fdr` and `folder`; `seed` is typed by users, `rng` is a generator."""
    wrong = []
    for module, function in functions():
        arguments = function.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            kind = each.annotation and ast.unparse(each.annotation)
            is_wrong = each.arg == "alpha" or (each.arg == "store" and kind != "Store")
            if is_wrong or (each.arg == "rng" and kind != "np.random.Generator"):
                wrong.append(f"{module.name}: {function.name}({each.arg})")
    assert wrong == []


TWO_MEANINGS = {"Column", "Note"}
"""A column and a note of rows, and of what is shown; no further names have two meanings."""


def test_a_name_of_a_class_is_one_class() -> None:
    homes = defaultdict(list)
    for module in MODULES:
        for node in ast.parse(module.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module.stem)
    assert {name: found for name, found in homes.items() if len(found) > 1}.keys() <= TWO_MEANINGS


TESTED_ELSEWHERE = {
    "support/arrays": "types alone",
}
"""Modules without a test file of their own, and why."""


def test_a_maintainer_finds_the_tests_of_a_module() -> None:
    """They are in ``tests/ROOM/test_MODULE.py``, or ``test_ROOM_MODULE.py`` if a name recurs."""
    package, tests = Path(contextwise.__file__).parent, Path(__file__).parent
    missing = set()
    for module in MODULES:
        room = module.parent.relative_to(package)
        own = (f"test_{module.stem}.py", f"test_{room.name}_{module.stem}.py")
        if not module.stem.startswith("_") and not any((tests / room / n).exists() for n in own):
            missing.add((room / module.stem).as_posix())
    assert missing == TESTED_ELSEWHERE.keys()
