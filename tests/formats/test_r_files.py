"""Files of R: networks of bnlearn and matrices; `tests/data/test_quirks.py` has rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import contextwise as cw
from contextwise.errors import ParseError
from contextwise.formats.r_files import is_model

NETWORK = Path(__file__).parent / "network.rds"
"""A -> B, (A, B) -> C: bnlearn's classes and attributes, written with R."""


def test_a_network_of_bnlearn_keeps_its_arcs_and_tables() -> None:
    model = cw.read(NETWORK)
    assert model.domain.names == ("A", "B", "C")
    assert model.domain.states == (("yes", "no"), ("x", "y"), ("0", "1"))
    assert model.directions is not None
    assert {(p, c) for p, c in model.directions.arcs} == {(0, 1), (0, 2), (1, 2)}
    tables = model.directions.tables
    assert np.asarray(tables[1]).tolist() == [[0.9, 0.1], [0.3, 0.7]]
    assert np.asarray(tables[2]).tolist() == [[[0.1, 0.9], [0.3, 0.7]], [[0.2, 0.8], [0.4, 0.6]]]


def test_rows_are_no_model() -> None:
    path = Path(__file__).parents[1] / "data" / "quirks" / "factors.rds"
    assert not is_model(path.read_bytes())


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.rds"
    path.write_bytes(NETWORK.read_bytes()[:60])
    with pytest.raises(ParseError, match=r"broken.rds: this gzip file is damaged"):
        cw.read(path)


def test_a_graph_of_bnlearn_keeps_its_arcs() -> None:
    model = cw.read(NETWORK.with_name("graph.rds"))
    assert model.domain.names == ("A", "B", "C", "D")
    assert model.directions is not None
    assert set(model.directions.arcs) == {(0, 1), (2, 1)}


def test_a_graph_of_dagitty_is_its_text() -> None:
    model = cw.read(NETWORK.with_name("dagitty.rds"))  # saveRDS(dagitty("dag { … }"))
    assert model.directions is not None
    names = model.domain.names
    arcs = {(names[a], names[b]) for a, b in model.directions.arcs}
    assert arcs == {("smoke", "low"), ("race", "smoke")}


def test_a_file_of_several_networks_names_them() -> None:
    with pytest.raises(ParseError, match="several models: b, d; save one of them with saveRDS"):
        cw.read(NETWORK.with_name("two-graphs.rda"))
