"""Load modules at first use, and explain why a compiled one cannot be loaded."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # importing `typing` would take longer than this module

if TYPE_CHECKING:
    from collections.abc import Mapping


def lazy_names(package: str, homes: Mapping[str, str]) -> None:
    """Make a package import each public name when it is first used.

    ``homes`` maps a name to its module inside the package, or to ``module:other_name``. A name that
    its module does not define is the module itself.
    """

    class Room(type(sys)):  # type: ignore[misc]
        def __getattr__(self, name: str) -> object:
            if name == "__version__":
                return import_module("importlib.metadata").version(package)
            if name not in homes:
                raise AttributeError(f"module {package!r} has no attribute {name!r}")
            home, _, other = homes[name].partition(":")
            module = import_module(f"{package}.{home}")
            value: object = getattr(module, other or name, module)
            self.__dict__[name] = value
            return value

        def __setattr__(self, name: str, value: object) -> None:
            # Importing evaluation/chance.py binds `chance` to the module; keep the function.
            if not (name in homes and isinstance(value, type(sys)) and hasattr(value, name)):
                super().__setattr__(name, value)

        def __dir__(self) -> list[str]:
            special = (name for name in self.__dict__ if name.startswith("__"))
            return sorted({*homes, *self.__dict__.get("__all__", ()), *special})

    sys.modules[package].__class__ = Room


def why_not_compiled(error: ImportError) -> str:
    """Explain why a compiled module cannot be imported, and what to do."""
    if isinstance(error, ModuleNotFoundError):
        return (
            "not compiled: install a C++20 compiler, then "
            "pip install -v --force-reinstall --no-cache-dir contextwise"
        )
    return f"its compiled module cannot be loaded: {error}"
