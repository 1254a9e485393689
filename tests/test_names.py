"""One name for one thing: constants, parameters and classes."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import contextwise

MODULES = sorted(Path(contextwise.__file__).parent.rglob("*.py"))
MOST_HOMES = 3
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
    "comparison/tolerance_search": "comparison/test_tolerances",
    "formats/graphs": "formats/test_graph_files",
    "independence/claims": "independence/test_claims_of_structures",
    "support/arrays": "",  # types alone
    "support/other_process": "learning/test_adapters",
    "truths/planted": "truths/test_with_errors",
}
"""Modules whose tests have another name, and where these are."""

ROOMS = {
    *("comparison", "convert", "counting", "distributions", "formats", "independence"),
    *("models", "support", "truths"),
}


def test_a_maintainer_finds_the_tests_of_a_module() -> None:
    tests = Path(__file__).parent
    missing = []
    for module in MODULES:
        name = f"{module.parent.name}/{module.stem}"
        if module.parent.name in ROOMS and not module.stem.startswith("_"):
            own = f"{module.parent.name}/test_{module.stem}"
            home = TESTED_ELSEWHERE.get(name, own)
            if home and not (tests / f"{home}.py").exists():
                missing.append(name)
    assert missing == []
