"""The private parts of Shiny that the explorer uses are as it expects them.

These tests fail first when Shiny changes; the bound in pyproject.toml names what was tried.
"""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import shiny
from shiny import App, ui
from shiny._connection import MockConnection
from shiny.session._session import AppSession

from contextwise.explorer import shiny_private
from contextwise.explorer.shiny_private import TRACED, upload_folder


def test_the_bound_admits_only_the_minor_version_that_is_tested() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    (bound,) = re.findall(
        r"shiny>=([\d.]+),<([\d.]+)", str(project["project"]["optional-dependencies"])
    )
    least, beyond = (tuple(map(int, text.split("."))) for text in bound)
    assert beyond == (least[0], least[1] + 1)
    assert least <= tuple(map(int, shiny.__version__.split(".")[:2])) < beyond


def test_a_session_has_a_folder_of_its_uploads() -> None:
    connection: Any = MockConnection
    session = AppSession(App(ui.page_fluid(), None), "one", connection())
    assert upload_folder(session).is_dir()


@pytest.mark.parametrize("name", TRACED)
def test_sources_are_read_where_we_skip_it(name: str) -> None:
    module: Any = sys.modules[name]
    assert callable(module.extract_source_ref)
    assert "extract_source_ref(" in inspect.getsource(module)


@pytest.mark.parametrize("method", ["init", "update", "uploadInit", "uploadEnd"])
def test_messages_have_the_methods_that_pass(method: str) -> None:
    source = inspect.getsource(AppSession)
    assert f"def {method}" in source or f'"{method}"' in source


def test_nothing_private_is_used_elsewhere() -> None:
    folder = Path(shiny_private.__file__).parent
    private = re.compile(r"session\._|shiny\.\w*\._|from shiny\._|clientdata_(?!url_search\(\))")
    for path in folder.glob("*.py"):
        if path.name != "shiny_private.py":
            assert not private.search(path.read_text("utf-8")), path.name
