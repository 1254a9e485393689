"""Names and modules that are loaded at first use."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from contextwise.support.loading import lazy_modules, lazy_names, why_not_compiled


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A package whose module `inner` has a function, and whose module `broken` cannot be loaded."""
    folder = tmp_path / "lazily"
    folder.mkdir()
    (folder / "__init__.py").write_text('__all__ = ["eager"]\neager = 1\n')
    (folder / "inner.py").write_text("def double(x):\n    return 2 * x\n")
    (folder / "broken.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import lazily  # type: ignore[import-not-found]

    yield lazily
    for name in [name for name in sys.modules if name.split(".")[0] == "lazily"]:
        del sys.modules[name]


def test_a_name_is_loaded_with_its_module_and_kept(package: ModuleType) -> None:
    load, names = lazy_names("lazily", {"double": "inner", "inner": "inner"})
    assert "lazily.inner" not in sys.modules
    double = load("double")
    assert double is vars(package)["double"]
    assert load("inner") is sys.modules["lazily.inner"]
    assert {"double", "eager", "inner"} <= set(names())


def test_a_module_that_is_no_name_is_loaded_too(package: ModuleType) -> None:
    load = lazy_modules("lazily")
    assert load("inner") is sys.modules["lazily.inner"]
    with pytest.raises(AttributeError, match="module 'lazily' has no attribute 'outer'"):
        load("outer")
    with pytest.raises(AttributeError, match="has no attribute '__path_of_mine__'"):
        load("__path_of_mine__")


def test_an_error_inside_a_module_is_not_hidden(package: ModuleType) -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        lazy_modules("lazily")("broken")


def test_reasons_for_a_missing_compiled_module() -> None:
    assert "install a C++20 compiler" in why_not_compiled(ModuleNotFoundError("x"))
    assert why_not_compiled(ImportError("wrong ELF class")) == (
        "its compiled module cannot be loaded: wrong ELF class"
    )
