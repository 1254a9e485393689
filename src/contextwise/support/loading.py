"""Load modules at first use, explain why one cannot be loaded, and let forked processes go on."""

from __future__ import annotations

import os
import sys
from importlib import import_module

TYPE_CHECKING = False  # importing `typing` would take longer than this module

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_modules(package: str) -> Callable[[str], object]:
    """Return ``__getattr__`` of a package that imports its modules at first use."""

    def load(name: str) -> object:
        module = f"{package}.{name}"
        try:
            if not name.startswith("__"):  # which the import itself may ask for
                return import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package that imports names at first use.

    ``homes`` maps a name to its module inside the package. A name that its module does not define
    is the module itself.
    """
    content = vars(sys.modules[package])
    load_module = lazy_modules(package)

    def load(name: str) -> object:
        if name not in homes:
            return load_module(name)
        module = import_module(f"{package}.{homes[name]}")
        value = content[name] = getattr(module, name, module)
        return value

    def names() -> list[str]:
        special = (name for name in content if name.startswith("__"))
        return sorted({*homes, *content.get("__all__", ()), *special})

    return load, names


def why_not_compiled(error: ImportError) -> str:
    """Explain why a compiled module cannot be imported, and what to do."""
    if isinstance(error, ModuleNotFoundError):
        return (
            "not compiled: install a C++20 compiler, then "
            "pip install -v --force-reinstall --no-cache-dir contextwise"
        )
    return f"its compiled module cannot be loaded: {error}"


def _renew_locks() -> None:
    """Free the cached properties of the package: a thread that is not here may have held them."""
    from functools import cached_property
    from threading import RLock

    for name, module in list(sys.modules.items()):
        for kind in list(vars(module).values()) if name.startswith("contextwise.") else ():
            for value in vars(kind).values() if isinstance(kind, type) else ():
                if isinstance(value, cached_property):
                    vars(value)["lock"] = RLock()


if sys.version_info < (3, 12) and hasattr(os, "register_at_fork"):
    # Until Python 3.11, one lock guards a cached property of all instances.
    os.register_at_fork(after_in_child=_renew_locks)
