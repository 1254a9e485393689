"""Identify what a result depends on: source, package versions and parameters.

A study computes again what has another identity than before, and tells which part of it changed.
The source of a module is its file, with those that it imports from its own package or folder. The
source of a function or class of a notebook or a script is its compiled code, with that of the
functions, classes and modules of the user's that it uses.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dis import get_instructions
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from contextwise.learning.base import FromFunction, Learner, learner_configuration
from contextwise.learning.imported_files import hash_of_files, source_files

HASH = 8
"""The length of a hash in hexadecimal digits."""

Identity = Mapping[str, Any]
"""JSON values under their names."""


def short_hash(data: bytes) -> str:
    """Return the first digits of a hash."""
    return sha256(data).hexdigest()[:HASH]


def defined_by(learner: Learner) -> Any:
    """Return the class of a learner, or the function that it calls."""
    return learner.function if isinstance(learner, FromFunction) else type(learner)


def user_modules(learners: Sequence[Learner]) -> list[ModuleType]:
    """Return the modules of the user's own learners, which other processes may not have."""
    found: dict[ModuleType, None] = {}
    for definition in map(defined_by, learners):
        module = module_of(definition)
        if module is not None and is_of_user(definition):
            names = source_files(module, installed=False) if _file(module) else {}
            imported = (sys.modules.get(name) for name in names)
            found |= dict.fromkeys([module, *(each for each in imported if each is not None)])
    return list(found)


def identity_of_learner(learner: Learner) -> dict[str, Any]:
    """Return name, parameters, source and package versions of a learner.

    >>> from contextwise.learning import Trees
    >>> identity_of_learner(Trees(penalty=5))["parameters"]["penalty"]
    5
    """
    defined = defined_by(learner)
    configuration = learner_configuration(learner)
    if isinstance(learner, FromFunction):
        function, parameters = defined, {}
        if isinstance(defined, partial):
            function, parameters = defined.func, dict(defined.keywords)
        name = getattr(function, "__name__", "function")
        configuration = {"learner": name, "parameters": parameters}
    packages = {"contextwise", *imported_packages(defined)}
    packages |= {getattr(learner, "package", "").partition(".")[0]} - {""}
    return {**configuration, "source": source_hash(defined), "versions": versions_of(packages)}


def versions_of(packages: set[str]) -> dict[str, str]:
    """Return the versions of those packages that are installed as such, by name.

    >>> sorted(versions_of({"numpy", "no_such_package"}))
    ['numpy']
    """
    versions = {package: _version(package) for package in sorted(packages)}
    return {package: release for package, release in versions.items() if release}


@cache
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:  # the distribution may have another name
        names = _distributions().get(package, ())
        return version(names[0]) if names else None


_distributions = cache(packages_distributions)


def imported_packages(thing: Any) -> set[str]:
    """Return the packages that the module of a function or class imports, and its own."""
    module = module_of(thing)
    if module is None or module.__name__.startswith("contextwise."):
        return set()
    names = {module.__name__}
    for value in list(vars(module).values()):
        names.add(value.__name__ if isinstance(value, ModuleType) else _home(value))
    found = {name.partition(".")[0] for name in names} - {"__main__", ""}
    return found - sys.stdlib_module_names


def _home(value: Any) -> str:
    home = getattr(value, "__module__", None)
    return home if isinstance(home, str) else ""


def module_of(thing: Any) -> ModuleType | None:
    """Return the module that defines a function, a class or an object's class."""
    if isinstance(thing, partial):
        return module_of(thing.func)
    if isinstance(thing, ModuleType):
        return thing
    home = _home(thing) or _home(type(thing))
    return sys.modules.get(home)


def is_of_user(thing: Any) -> bool:
    """Check for what a notebook, a script or a file of the user's defines: not installed."""
    module = module_of(thing)
    if module is None or module.__name__ == "__main__":
        return True
    file = getattr(module, "__file__", None) or ""
    top = module.__name__.partition(".")[0]
    return not (
        top == "contextwise"
        or top in sys.stdlib_module_names
        or "site-packages" in Path(file).parts
    )


def _is_of_file(thing: Any) -> bool:
    """Check for something that a file of the user's defines, and no script."""
    module = module_of(thing)
    is_script = module is None or module.__name__ == "__main__"
    return not is_script and is_of_user(thing) and _file(module)


def source_hash(thing: Any) -> str:
    """Return a hash of the source of a function, a class or an object's class."""
    if isinstance(thing, partial):
        thing = thing.func  # its arguments are parameters
    module = module_of(thing)
    if module is not None and module.__name__ != "__main__" and _file(module):
        return short_hash(hash_of_files(source_files(module, installed=not is_of_user(thing))))
    return short_hash("\n".join(_parts(thing, set())).encode())


def _file(module: ModuleType | None) -> bool:
    """Check for a module that is a file."""
    return Path(getattr(module, "__file__", None) or "").is_file()


def _parts(thing: Any, seen: set[int]) -> Iterator[str]:
    """Yield texts that change when the source of something in a notebook or script changes."""
    if isinstance(thing, FunctionType | CodeType | type):
        if id(thing) in seen:
            return
        seen.add(id(thing))
    if isinstance(thing, partial):
        yield from _parts((thing.func, *thing.args, sorted(thing.keywords.items())), seen)
    elif isinstance(thing, FunctionType):
        yield from _parts_of_function(thing, seen)
    elif isinstance(thing, CodeType):
        yield thing.co_code.hex() + repr(thing.co_names)
        for constant in thing.co_consts:
            yield from _parts(constant, seen)
    elif isinstance(thing, type):
        for name, value in sorted(vars(thing).items()):
            if name not in _NOT_SOURCE:
                yield name
                yield from _parts(getattr(value, "__func__", value), seen)
    elif isinstance(thing, list | tuple):
        for part in thing:
            yield from _parts(part, seen)
    elif isinstance(thing, set | frozenset | Mapping):
        items = thing.items() if isinstance(thing, Mapping) else thing
        yield from sorted("\n".join(_parts(item, seen)) for item in items)
    elif thing is None or isinstance(thing, bool | int | float | complex | str | bytes):
        yield repr(thing)
    else:
        yield type(thing).__qualname__
        if hasattr(thing, "tobytes"):  # an array
            yield short_hash(thing.tobytes())


_NOT_SOURCE = {
    *("__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__"),
    *("__static_attributes__", "__dataclass_fields__", "__dataclass_params__"),
}
"""Attributes of a class that do not come from its code, or come from others of them."""
_VALUES = (bool, int, float, complex, str, bytes, list, tuple, set, frozenset, dict, partial)


def _parts_of_function(function: FunctionType, seen: set[int]) -> Iterator[str]:
    """Yield the code of a function, and what it uses of its notebook and of files of the user's."""
    yield from _parts(function.__code__, seen)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    used = [function.__globals__.get(name) for name in _names(function.__code__)]
    for each in used:
        if isinstance(each, ModuleType | FunctionType | type) and _is_of_file(each):
            yield source_hash(each)
    mine = (
        each
        for each in used
        if _home(each) == function.__module__
        or isinstance(each, _VALUES)
        or hasattr(each, "tobytes")
    )
    for part in (*cells, *(function.__defaults__ or ()), function.__kwdefaults__, *mine):
        yield from _parts(part, seen)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the global names that a function uses, with those of the functions inside it."""
    for step in get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def changes(label: str, before: Identity, now: Identity) -> list[str]:
    """Describe the differences of two identities, one sentence each.

    >>> changes("trees", {"parameters": {"penalty": 5}}, {"parameters": {"penalty": 9}})
    ['trees: penalty was 5 and is 9']
    """
    texts = []
    for key in dict.fromkeys((*before, *now)):
        old, new = before.get(key), now.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            for name in sorted({*old, *new}):
                was, is_ = old.get(name, "not there"), new.get(name, "not there")
                texts += [f"{label}: {name} was {was} and is {is_}"] if was != is_ else []
        elif old != new:
            texts.append(
                f"{label}: its {key} has changed"
                if key == "source"
                else f"{label}: {key} was {old} and is {new}"
            )
    return texts
