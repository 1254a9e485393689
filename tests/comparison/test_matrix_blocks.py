"""A matrix in blocks is the same matrix, whatever stopped it on its way."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contextwise import Structure, compare, distance_matrix, examples
from contextwise.comparison import matrix as blocks
from contextwise.comparison import matrix as stored_matrix
from contextwise.comparison.question import Restriction
from contextwise.errors import ContextwiseError
from contextwise.testing import domains, families, structures

SIX = ("six", "six-graph", "six-guess", "six", "six-guess")


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_MODELS_OF_A_BLOCK", 2)


def restrictions(model: Structure) -> list[Restriction]:
    weights = {
        name: [Fraction(2 * k, c * (c + 1)) for k in range(1, c + 1)]
        for name, c in zip(model.domain.names, model.domain.cardinalities, strict=True)
    }
    return [{}, {"contexts": "canonical"}, {"weights": weights}]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(models=families(5), place=st.integers(0, 2))
def test_blocks_hold_what_a_loop_of_comparisons_says(
    models: tuple[Structure, ...], place: int
) -> None:
    asked = restrictions(models[0])[place]
    each = [[compare(a, b, **asked).distance for b in models] for a in models]
    with tempfile.TemporaryDirectory() as folder:
        stored = distance_matrix(models, folder=folder, **asked)
        again = distance_matrix(models, folder=folder, **asked)
    assert stored.distances.tolist() == again.distances.tolist() == each
    assert distance_matrix(models, **asked).distances.tolist() == each


@given(data=st.data(), place=st.integers(0, 2))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_trace_of_moves_is_exact(data: st.DataObject, place: int) -> None:
    """Models a few features apart share most of their unions; none may be taken for another."""
    domain = data.draw(domains(min_variables=3, max_variables=5))
    base = [*data.draw(structures(domain)), *data.draw(structures(domain))]
    extra = [*data.draw(structures(domain))]
    models = []
    for _ in range(6):
        kept = [f for f in base if data.draw(st.booleans())]
        models.append(Structure(domain, [*kept, *extra[: data.draw(st.integers(0, 3))]]))
    asked = restrictions(models[0])[place]
    each = [[compare(a, b, **asked).distance for b in models] for a in models]
    assert distance_matrix(models, **asked).distances.tolist() == each


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        seen.append((done, total))
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        distance_matrix(SIX, folder=tmp_path, show_progress=stop)
    assert seen[-1] == (2, 5)  # the block of the last model alone has no two models
    seen.clear()
    found = distance_matrix(SIX, folder=tmp_path, show_progress=lambda d, t: seen.append((d, t)))
    assert [total for _, total in seen] == [3, 3, 3]
    assert found.distances.tolist() == distance_matrix(SIX).distances.tolist()
    assert found.names == SIX
    assert list(tmp_path.iterdir()) == [tmp_path / "results.sqlite"]


KILLED = """
import os, signal, sys
from contextwise import distance_matrix
from contextwise.comparison import matrix as blocks

def kill(done, total):
    if done == 2:
        os.kill(os.getpid(), signal.SIGKILL)

blocks.MOST_MODELS_OF_A_BLOCK = 2
distance_matrix(sys.argv[2:], folder=sys.argv[1], show_progress=kill)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is killed like this there")
def test_a_killed_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED, tmp_path, *SIX], check=False)
    assert ended.returncode == -signal.SIGKILL
    with closing(sqlite3.connect(tmp_path / "results.sqlite")) as db:
        kept = {key for (key,) in db.execute("SELECT key FROM units")}
    assert len(kept) == 2
    counted: list[str] = []
    count = blocks.count_block

    def watched(block: blocks.Block, *how: Any, **options: Any) -> blocks.Distances:
        counted.append(block.key)
        return count(block, *how, **options)

    monkeypatch.setattr(stored_matrix, "count_block", watched)
    found = distance_matrix(SIX, folder=tmp_path)
    assert {key.partition("-")[0] for key in kept} == {"000000000"}  # the first row of blocks
    assert counted == ["000000000-000000004", "000000002-000000002", "000000002-000000004"]
    assert found.distances.tolist() == distance_matrix(SIX).distances.tolist()


def test_processes_give_the_same(tmp_path: Path) -> None:
    found = distance_matrix(SIX, folder=tmp_path, n_jobs=2)
    assert found.distances.tolist() == distance_matrix(SIX).distances.tolist()


def test_other_models_are_refused(tmp_path: Path) -> None:
    distance_matrix(SIX, folder=tmp_path)
    others = [Structure(examples.load("six").domain)] * len(SIX)
    with pytest.raises(ContextwiseError, match="another configuration: fingerprint of models"):
        distance_matrix(others, folder=tmp_path)


def test_the_order_of_features_makes_no_other_models(tmp_path: Path) -> None:
    domain = {"A": 2, "B": 2, "C": 2}
    features = ["A=1 & B=1", "B=1 & C=1", "A=0 & C=1"]
    other = Structure(domain, features[1:])
    found = distance_matrix([Structure(domain, features), other], folder=tmp_path)
    again = distance_matrix([Structure(domain, features[::-1]), other], folder=tmp_path)
    assert again.distances.tolist() == found.distances.tolist() == [[0, 2], [2, 0]]


def test_a_store_has_no_time_limit(tmp_path: Path) -> None:
    with pytest.raises(ContextwiseError, match="has no time limit"):
        distance_matrix(SIX, folder=tmp_path, time_limit=1)
