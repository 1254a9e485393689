"""Errors: places in messages, other processes, packages of an extra, memory."""

from __future__ import annotations

import pickle
from importlib import metadata

import pytest

from contextwise.errors import (
    MissingPackage,
    ParseError,
    TooLargeError,
    command_to_install,
    enough_memory,
    require,
)


@pytest.mark.parametrize(
    ("path", "line", "message"),
    [
        ("a.mn", 7, "a.mn:7: missing"),
        ("a.mn", None, "a.mn: missing"),
        (None, 7, "line 7: missing"),
        (None, None, "missing"),
    ],
)
def test_a_parse_error_names_its_place_also_after_another_process(
    path: str | None, line: int | None, message: str
) -> None:
    error = pickle.loads(pickle.dumps(ParseError("missing", path=path, line=line)))
    assert str(error) == message
    assert (error.path, error.line) == (path, line)


def test_a_missing_package_comes_with_the_command_that_installs_its_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = ["numpy", "contextwise[b]; extra == 'a'", "x>=2; extra == 'b'", "y; extra == 'c'"]
    monkeypatch.setattr(metadata, "requires", lambda _: lines)
    assert command_to_install("a") == command_to_install("b") == "pip install 'x>=2'"
    with pytest.raises(MissingPackage, match="needs the package 'no_such': pip install 'y'"):
        require("no_such.part", "c")


def test_too_little_memory_names_the_work() -> None:
    message = "not enough memory for 7 rows; ask for less"
    with pytest.raises(TooLargeError, match=message), enough_memory("7 rows"):
        raise MemoryError
