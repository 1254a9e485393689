"""Kinds of values, and records of evidence in which anything is damaged."""

from __future__ import annotations

import copy
import io
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import contextwise as cw
from contextwise.errors import ContextwiseError
from contextwise.formats import read_stream, write
from contextwise.formats.schema import Condition, Path, Range, first_problem
from contextwise.models.structure import structure_of

PERSON = {
    "name": (str,),
    "sex": frozenset({"f", "m"}),
    "age?": Range(0, 150, (int,)),
    "score?": Range(0, math.inf).also(type(None)),
    "pets?": [(str,)],
    "": Condition("a child has no pets", lambda p: p.get("age", 99) > 5 or not p.get("pets")),
}
ADA = {"name": "Ada", "sex": "f"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"age": 36, "score": None, "pets": ["cat"]}, None),
        ({"age": -1}, ("expected a whole number from 0 to 150, got -1", ("age",))),
        ({"age": True}, ("expected a whole number", ("age",))),
        ({"age": 1.5}, ("expected a whole number", ("age",))),
        ({"score": -2}, ("expected a number from 0 or more, got -2", ("score",))),
        ({"score": math.nan}, ("expected a number or null", ("score",))),
        ({"sex": "x"}, ("expected one of f, m", ("sex",))),
        ({"sex": ["f"]}, ("expected one of f, m", ("sex",))),
        ({"pets": ["cat", 3]}, ("expected a text", ("pets", 1))),
        ({"pets": "cat"}, ("expected a list, […]", ("pets",))),
        ({"age": 3, "pets": ["cat"]}, ("a child has no pets", ())),
        ({"size": 1}, ("unknown key 'size'; the keys are name, sex, age, score, pets", ("size",))),
    ],
)
def test_kinds(change: dict[str, Any], problem: object) -> None:
    assert first_problem({**ADA, **change}, PERSON) == problem


def test_a_missing_key() -> None:
    assert first_problem([{"name": "Ada"}], [PERSON]) == ("the key 'sex' is missing", (0,))


# -- damaged evidence ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Any:
    rng = np.random.default_rng(1)
    cells = rng.integers(2, size=(400, 3))
    cells[:, 1] |= cells[:, 0]
    model = cw.learn(cells.tolist(), learner="chow-liu").structure_
    path = tmp_path_factory.mktemp("m") / "m.json"
    write(model.with_evidence(cw.check(model, cells.tolist()).evidence), path)
    return json.loads(path.read_text())


def paths_of(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    if isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in entries:
            yield from paths_of(each, (*path, key))


def shown(document: Any) -> str:
    """Read a model and use its evidence everywhere."""
    model = read_stream(io.StringIO(json.dumps(document)), name="m.json")
    evidence = structure_of(model).evidence
    claims = evidence.claims if evidence else ()
    sentences = [(claim.finding, str(claim.sentence), claim.record()) for claim in claims]
    return f"{sentences}{evidence}{cw.explain(model)}"


def problem(document: Any) -> str:
    try:
        shown(document)
    except ContextwiseError as error:
        return str(error)
    return ""


DELETED = object()


@pytest.mark.parametrize("value", [DELETED, -1, 5, 0.5, "x", None, True, [], {}, 10**400])
def test_damaged_evidence_is_refused_with_its_place_or_shown(document: Any, value: Any) -> None:
    refused = 0
    for path in list(paths_of(document["evidence"], ("evidence",)))[1:]:
        damaged = copy.deepcopy(document)
        parent = damaged
        for step in path[:-1]:
            parent = parent[step]
        if value is DELETED:
            del parent[path[-1]]
        else:
            parent[path[-1]] = value
        message = problem(damaged)
        assert message.startswith("m.json:1: evidence") or not message, (path, message)
        refused += bool(message)
    assert refused > 10
    damaged = {key: each for key, each in document.items() if key != "evidence"}
    assert shown(damaged)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("p", 5, "expected a number from 0 to 1, got 5"),
        ("adjusted", -3, r"evidence.claims\[0\].adjusted: expected a number from 0 to 1"),
        ("adjusted", DELETED, "'p' and 'adjusted' must be there together"),
        ("effect", {"v": 7, "low": 9, "high": -1}, r"effect.v: expected a number from 0 to 1"),
        ("effect", {"v": 0.5, "low": 0.9, "high": 0.6}, "low must be <= the effect"),
        ("rows", -5, "expected a whole number from 0 or more"),
    ],
)
def test_numbers_out_of_range_are_refused(
    document: Any, key: str, value: Any, message: str
) -> None:
    damaged = copy.deepcopy(document)
    claim = damaged["evidence"]["claims"][0]
    claim[key] = value
    if value is DELETED:
        del claim[key]
    with pytest.raises(ContextwiseError, match=message):
        shown(damaged)


def test_letters_are_composed_in_domains_too(tmp_path: Any) -> None:
    typed = "caf\u0065\u0301"
    model = cw.Structure({typed: ["d\u0065\u0301j\u00e0", "x"], "B": 2}, [f"{typed}=x & B=1"])
    write(model, tmp_path / "m.json")
    assert cw.read(tmp_path / "m.json").domain == model.domain
    assert model.domain.position(typed) == model.domain.position("caf\u00e9") == 0
    with pytest.raises(ContextwiseError, match="two variables have the name"):
        cw.Domain({typed: 2, "caf\u00e9": 2})
