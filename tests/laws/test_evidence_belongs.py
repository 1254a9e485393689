"""No output shows evidence of other features or of other rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings

import contextwise as cw
from contextwise import LogLinear, Structure
from contextwise.cli import contextwise
from contextwise.data.rows import Data
from contextwise.evidence.claim_tests import judge_claims
from contextwise.models.evidence import VERDICTS
from contextwise.models.structure import Model, structure_of
from contextwise.testing import structures


def with_random_evidence(model: Structure) -> Structure:
    """Return a model with the evidence of random rows."""
    rows = np.random.default_rng(0).integers(0, model.domain.cardinalities, (60, len(model.domain)))
    return model.with_evidence(judge_claims(model, Data(model.domain, rows)))


def first_states(model: Structure) -> dict[str, str]:
    """Return the first state of every variable."""
    domain = model.domain
    return {name: states[0] for name, states in zip(domain.names, domain.states, strict=True)}


CHANGES: dict[str, Callable[[Structure], Model]] = {
    "union": lambda m: m | Structure(m.domain, [first_states(m)]),
    "renamed": lambda m: m.renamed({m.domain.names[0]: "other"}),
    "restrict": lambda m: m.restrict({m.domain.names[0]: m.domain.states[0][0]}),
    "fewer features": lambda m: Structure(
        m.domain, m.features.take(np.arange(len(m)) != 0), origin=m.origin, tested=m.tested
    ),
    "without zero weights": lambda m: LogLinear(m, np.arange(len(m)) != 0).without_zero_weights(),
}


@pytest.mark.parametrize("change", CHANGES)
@settings(max_examples=30, deadline=None)
@given(structures())
def test_evidence_is_of_these_features(change: str, model: Structure) -> None:
    if len(model.domain) < 2 or not len(model):
        return
    known = with_random_evidence(model)
    changed = structure_of(CHANGES[change](known))
    assert changed == known or changed.evidence is None


@settings(max_examples=30, deadline=None)
@given(structures())
def test_files_keep_evidence_of_the_features(model: Structure) -> None:
    if len(model.domain) < 2:
        return
    known = with_random_evidence(model)
    again = cw.formats.read_stream(BytesIO(cw.formats.encode(known, "json")), name="x.json")
    assert structure_of(again).evidence == known.evidence


MODEL = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1 & C=1"])
READERS = (
    ["explain", "MODEL"],
    ["explain", "MODEL", "--json"],
    ["query", "MODEL", "A _||_ B | C=0"],
    ["query", "MODEL", "A _||_ B | C=0", "--json"],
    ["report", "MODEL", "--out", "page.html", "--force"],
)


def shown(words: list[str], path: Path) -> str:
    """Return everything that a command prints or writes about a model."""
    words = [str(path) if word == "MODEL" else word for word in words]
    page = path.parent / "page.html"
    page.unlink(missing_ok=True)
    words = [str(page) if word == "page.html" else word for word in words if word != "--force"]
    output = CliRunner().invoke(contextwise, words).output
    return output + (page.read_text("utf-8") if page.exists() else "")


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_readers_show_the_evidence_of_the_file_or_none(words: list[str], tmp_path: Path) -> None:
    """A verdict appears only if the file has it for its features; other features show none."""
    path = tmp_path / "model.json"
    cw.write(MODEL, path)
    claimed = shown(list(words), path)
    assert not any(f'"{verdict}"' in claimed or f"{verdict}:" in claimed for verdict in VERDICTS)
    equal = [[k, k, k // 2] for k in (0, 1)] * 40 + [[0, 0, 1], [1, 1, 1]] * 20
    cw.write(MODEL.with_evidence(judge_claims(MODEL, equal)), path)
    assert "contradicted" in shown(list(words), path)
    document: dict[str, Any] = json.loads(path.read_text())
    document["features"].append({"A": "1", "C": "1"})  # edited by hand
    path.write_text(json.dumps(document))
    assert not any(
        f'"{verdict}"' in shown(list(words), path) or f"{verdict}:" in shown(list(words), path)
        for verdict in VERDICTS
    )


def test_a_check_of_other_rows_replaces_the_evidence(tmp_path: Path) -> None:
    path, rows = tmp_path / "model.json", tmp_path / "rows.csv"
    cw.write(with_random_evidence(MODEL), path)
    first = structure_of(cw.read(path)).evidence
    drawn = np.random.default_rng(7).integers(0, 2, (90, 3))
    rows.write_text("\n".join(["A,B,C", *(",".join(map(str, row)) for row in drawn.tolist())]))
    words = ["check", str(path), str(rows), "--out", str(path)]
    assert CliRunner().invoke(contextwise, words).exit_code == 0
    second = structure_of(cw.read(path)).evidence
    assert first is not None
    assert second is not None
    assert (first.count, second.count) == (60, 90)
    assert first.fingerprint != second.fingerprint
    page = tmp_path / "page.html"
    CliRunner().invoke(contextwise, ["report", str(path), "--check", str(rows), "--out", str(page)])
    assert "90 rows" in page.read_text("utf-8")
    assert "60 rows" not in page.read_text("utf-8")
