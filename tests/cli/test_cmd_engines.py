"""``contextwise engines``."""

from __future__ import annotations

import json

import pytest

from commands import run
from contextwise.counting import DEFAULT, ENGINES


def test_all_are_listed_and_the_default_is_marked() -> None:
    records = json.loads(run("engines", "--json").stdout)
    assert [record["engine"] for record in records] == list(ENGINES)
    assert [record["engine"] for record in records if record["default"]] == [DEFAULT]


def test_a_missing_engine_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "contextwise.counting.enumerate.missing", lambda: "it is asleep", raising=False
    )
    assert "not available: it is asleep" in run("engines").stdout
