"""JSON files: each mistake is named with its place; every text gives a model or one line."""

import json
from pathlib import Path
from typing import Any

import pytest

from bad_files import refused
from contextwise import read

GOOD = {
    "format": "contextwise",
    "version": 1,
    "variables": [{"name": "A", "states": ["a", "b"]}, {"name": "B", "states": ["0", "1"]}],
    "features": [{"A": "a", "B": "1"}, {"A": ["b"]}],
    "weights": [1, "inf"],
}


def test_the_document_that_is_spoiled_below_is_good(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(GOOD))
    assert len(read(path)) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 9}, ":3: version: unknown version 9; expected 1"),
        ({"version": None}, ":3: version: unknown version None"),
        ({"version": True}, ":3: version: unknown version True"),
        ({"format": "pgm"}, ':2: format: expected "format": "contextwise"'),
        ({"features": 3}, ":20: features: expected a list"),
        ({"features": [3]}, ":21: features[0]: expected an object"),
        ({"features": [{}, {"C": "a"}]}, ":23: features[1].C: unknown variable 'C'"),
        ({"features": [{}, {"A": "c"}]}, ":23: features[1].A: variable 'A' has no state 'c'"),
        ({"features": [{}, {"A": 1.5}]}, ":23: features[1].A: 1.5 is not a state"),
        ({"features": [{}, {"A": None}]}, ":23: features[1].A: None is not a state"),
        ({"features": [{}, {"A": {"a": 1}}]}, ":23: features[1].A: {'a': 1} is not a state"),
        ({"variables": {"A": 2}}, ":4: variables: expected a list"),
        ({"variables": [{"name": "A"}]}, ":5: variables[0]: the key 'states' is missing"),
        ({"variables": [{"name": 1, "states": ["a"]}]}, ":6: variables[0].name: expected a text"),
        ({"variables": [{"name": "A", "states": 2}]}, ":7: variables[0].states: expected a list"),
        ({"variables": [{"name": "A", "states": []}]}, ":5: variables[0]: variable 'A' has no"),
        ({"variables": [{"name": "A", "states": ["a", "a"]}]}, ":5: variables[0]: variable 'A'"),
        ({"variables": [{"name": "A", "states": [True]}]}, ":5: variables[0]: True is not a"),
        ({"variables": [{"name": "\ud800", "states": ["a"]}]}, ":6: variables[0].name: '\\ud800'"),
        ({"variables": [{"name": "A", "states": ["a"]}] * 2}, ":11: variables[1]: two variables"),
        ({"weights": [1]}, ":31: weights: 1 weights for 2 features"),
        ({"weights": [1, float("nan")]}, ":33: weights[1]: a weight is a number"),
        ({"weights": [1, float("inf")]}, ":33: weights[1]: a weight is a number"),
        ({"weights": [1, "1"]}, ":33: weights[1]: a weight is a number"),
        ({"weights": [1, True]}, ":33: weights[1]: a weight is a number"),
        ({"weights": [1, 10**400]}, ":33: weights[1]: a weight is a number"),
        ({"description": 5}, ":35: description: expected a text"),
        ({"directed": "yes"}, ":35: directed: expected true or false"),
        ({"feature": []}, ":35: feature: unknown key 'feature'; the keys are format, version"),
    ],
)
def test_json(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    text = json.dumps({**GOOD, **change}, indent=1)
    assert refused(tmp_path / "x.json", text).startswith("x.json" + message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.json:1: the file is empty"),
        ("[1,\n2", "x.json:2: this is not valid JSON: Expecting ',' delimiter"),
        ("[]", "x.json:1: expected an object"),
        ("{}", 'x.json:1: format: expected "format": "contextwise"'),
        ('{"format": "contextwise",\n"format": "x"}', "x.json:2: format: the key 'format' occurs"),
        ('{"format": "contextwise", "version": 1}', "x.json:1: the key 'variables' is missing"),
        ("[" * 100_000, "x.json: this is not valid JSON: it is nested too deeply"),
        (b"\x00\xff\x80", "x.json:1: this is not UTF-8 text"),
        (b'{\n"\xff"', "x.json:2: this is not UTF-8 text"),
    ],
)
def test_json_texts(text: str | bytes, message: str, tmp_path: Path) -> None:
    assert refused(tmp_path / "x.json", text).startswith(message)


def test_a_key_of_a_feature_that_occurs_twice(tmp_path: Path) -> None:
    text = json.dumps(GOOD).replace('{"A": ["b"]}', '\n{"A": "a",\n"A": "b"}')
    found = refused(tmp_path / "x.json", text)
    assert found == "x.json:3: features[1].A: the key 'A' occurs twice"
