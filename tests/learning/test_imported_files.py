"""The files that a module runs: found without importing anything."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from contextwise.learning import pair_blocks, trees
from contextwise.learning.identity import source_hash
from contextwise.learning.imported_files import hash_of_files, source_files


def test_helpers_and_compiled_modules_of_our_learners() -> None:
    found = source_files(pair_blocks)
    assert "contextwise.learning.pair_trees" in found
    assert found["contextwise.learning._blocks"].suffix in (".so", ".pyd")
    assert "contextwise.learning._grow" in source_files(trees)
    assert "contextwise.learning.pair_blocks" not in source_files(trees)
    assert not any(name.startswith(("contextwise.report", "contextwise.cli")) for name in found)
    loaded = {n for n, m in sys.modules.items() if getattr(m, "__file__", None)}
    assert all(path.is_file() for path in found.values())
    assert {"contextwise.models.features", "contextwise.data.rows"} <= loaded & found.keys()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("import helper_of_it", "helper_of_it"),
        ("import os, helper_of_it as h", "helper_of_it"),
        ("from helper_of_it import (\n    a,\n    b,\n)", "helper_of_it"),
        ("def f():\n    from helper_of_it import a", "helper_of_it"),
        ("from folder_of_it.inner import a", "folder_of_it.inner"),
        ("from folder_of_it import inner", "folder_of_it.inner"),
    ],
)
def test_helpers_of_a_file(
    line: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "helper_of_it.py").write_text("a = b = 1\n")
    (tmp_path / "folder_of_it").mkdir()
    (tmp_path / "folder_of_it" / "__init__.py").write_text("")
    (tmp_path / "folder_of_it" / "inner.py").write_text("from ..helper_of_it import a\n")
    main = tmp_path / "main_of_it.py"
    main.write_text(line + "\n\nimport numpy\n\ndef learn(rows):\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    if "from folder_of_it" in line:
        (tmp_path / "folder_of_it" / "inner.py").write_text("a = 1\n")
    monkeypatch.delitem(sys.modules, "main_of_it", raising=False)
    module = import_module("main_of_it")
    files = source_files(module, installed=False)
    assert name in files
    assert "numpy" not in files
    before = hash_of_files(files), source_hash(module.learn)
    files[name].write_text("a = b = 12345\n")
    after = hash_of_files(source_files(module, installed=False)), source_hash(module.learn)
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_relative_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package_of_it"
    (package / "deep").mkdir(parents=True)
    for folder in (package, package / "deep"):
        (folder / "__init__.py").write_text("")
    (package / "one.py").write_text("")
    (package / "two.py").write_text("from . import one\n")
    (package / "deep" / "three.py").write_text("from ..two import *\nfrom . import four\n")
    (package / "deep" / "four.py").write_text("if True:\n    import package_of_it.two\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    files = source_files(import_module("package_of_it.deep.three"))
    ends = {"deep.three", "deep.four", "deep", "two", "one"}
    assert {name.partition(".")[2] for name in files} - {""} == ends
