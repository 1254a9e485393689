"""Regression tests against agreed counts; see `tests/data/README.md`."""

import json
from pathlib import Path
from typing import Any

import pytest

from contextwise import Domain, Structure, compare

LINES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "comparisons.jsonl").read_text().split("\n")
    if line
]


def comparison_counts(line: dict[str, Any], engine: str) -> list[object]:
    domain = Domain.of_cardinalities(line["cardinalities"])
    true, guess = Structure(domain, line["true"]), Structure(domain, line["guess"])
    c = compare(true, guess, contexts=line["contexts"], engine=engine).confusion
    return [c.tp, c.fn, c.fp, c.tn]


def test_small_comparisons(engine: str) -> None:
    small = [line for line in LINES if "definition" in line["agreed"]]
    assert len(small) == 40
    for line in small:
        assert comparison_counts(line, engine) == line["counts"], line


def test_large_comparisons(wide_engine: str) -> None:
    if wide_engine == "partition":
        pytest.skip("the pieces of the published method multiply where many cubes overlap")
    large = [line for line in LINES if "definition" not in line["agreed"]]
    assert len(large) == 2
    for line in large:
        assert comparison_counts(line, wide_engine) == line["counts"], line
