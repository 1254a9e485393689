"""Modules that are loaded when they are first used, and why a compiled one cannot be.

With `lazy_names`, ``import contextwise`` stays fast: who asks for one name pays for its module
alone.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in the package's own head: `typing` takes longer than all of this

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_names(
    package: str, homes: Mapping[str, str], namespace: dict[str, object]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package that loads its names when used.

    Parameters
    ----------
    package : its full name
    homes : for each name the module that has it, inside of the package; a module that is exported
        as a whole is its own home
    namespace : the package's ``globals()``, where a name stays once it is loaded

    Returns
    -------
    __getattr__, __dir__ : functions

    Examples
    --------
    >>> homes = {"number": "numbers", "numbers": "numbers"}
    >>> get, names = lazy_names("contextwise.models", homes, {})
    >>> get("number")(1000), get("numbers").__name__, names()
    ('1,000', 'contextwise.models.numbers', ['number', 'numbers'])
    """

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{homes[name]}")
        value: object = module if name == homes[name] else getattr(module, name)
        namespace[name] = value
        return value

    def names() -> list[str]:
        return sorted({*namespace, *homes})

    return get, names


def why_not_compiled(error: ImportError) -> str:
    """Why a compiled part cannot be used, from what its import raised.

    >>> why_not_compiled(ModuleNotFoundError("No module named '_kernel'"))
    'it was not compiled; install a C++20 compiler, then contextwise again'
    """
    if isinstance(error, ModuleNotFoundError):
        return "it was not compiled; install a C++20 compiler, then contextwise again"
    return f"its compiled part cannot be loaded: {error}"
