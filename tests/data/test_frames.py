"""Frames of every library, and streams, give what the same rows give in pandas."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import contextwise as cw
from contextwise.analysis.pair_rows import state_order
from contextwise.data import read_data
from contextwise.errors import ContextwiseError

pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")

PAIN = ["none", "low", "mid", "high"]
N = 60
CELLS: dict[str, list[Any]] = {
    "sex": [None if k == 5 else "fm"[k % 2] for k in range(N)],
    "pain": [PAIN[1 + k % 3] for k in range(N)],
    "ok": [k % 2 == 0 for k in range(N)],
    "dose": [k % 4 / 10 for k in range(N)],
    "item": [k % 5 for k in range(N)],
    "day": [date(2020, 1, 1 + k % 4) for k in range(N)],
    "at": [datetime(2020, 1, 1 + k % 3, 5 * (k % 2)) for k in range(N)],
    "money": [Decimal("1.50") * (k % 3) for k in range(N)],
    "wait": [timedelta(minutes=k % 3) for k in range(N)],
}


def pandas_frame() -> Any:
    frame = pandas.DataFrame(CELLS)
    frame["pain"] = pandas.Categorical(frame["pain"], categories=PAIN, ordered=True)
    return frame


def arrow_table() -> Any:
    return pyarrow.Table.from_pandas(pandas_frame())


class OnlyAStream:
    def __init__(self, source: Any) -> None:
        self.source = source

    def __arrow_c_stream__(self, schema: Any = None) -> Any:
        return self.source.__arrow_c_stream__(schema)


class OnlyInterchange:
    def __init__(self, source: Any) -> None:
        self.source = source

    def __dataframe__(self, **options: Any) -> Any:
        return self.source.__dataframe__(**options)


def polars_frame() -> Any:
    polars = pytest.importorskip("polars")
    return polars.DataFrame(CELLS, schema_overrides={"pain": polars.Enum(PAIN)})


def reader() -> Any:
    table = arrow_table()
    return pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(7))


SOURCES: dict[str, Callable[[], Any]] = {
    "pyarrow": arrow_table,
    "stream": lambda: OnlyAStream(arrow_table()),
    "batches, which can be read once": reader,
    "polars": polars_frame,
    "polars, lazy": lambda: polars_frame().lazy(),
    "stream of polars": lambda: OnlyAStream(polars_frame()),
    "chunks of polars": lambda: polars_frame().head(7).vstack(polars_frame().tail(N - 7)),
}


@pytest.mark.parametrize("source", SOURCES)
def test_the_same_rows_give_the_same_data(source: str) -> None:
    expected = read_data(pandas_frame(), missing="drop")
    data = read_data(SOURCES[source](), missing="drop")
    assert data.domain == expected.domain
    assert data.domain.states[1] == tuple(PAIN)
    assert (data.rows == expected.rows).all()
    assert data.decisions == expected.decisions == {"missing": "drop", "in_order": ["pain"]}
    assert data.notes == expected.notes


def test_a_relation_of_duckdb_is_read() -> None:
    duckdb = pytest.importorskip("duckdb")
    frame = pandas_frame().drop(columns="wait")
    relation = duckdb.connect().from_df(frame)
    data, expected = (read_data(each, missing="drop") for each in (relation, frame))
    assert data.domain == expected.domain
    assert (data.rows == expected.rows).all()


def test_the_interchange_protocol_is_enough() -> None:
    frame = pandas_frame()[["sex", "pain", "item"]]
    data, expected = (read_data(f, missing="drop") for f in (OnlyInterchange(frame), frame))
    assert (data.rows == expected.rows).all()
    assert data.domain == expected.domain
    with pytest.raises(ContextwiseError, match=r"cannot read this OnlyInterchange: .*; convert"):
        read_data(OnlyInterchange(arrow_table()))


@pytest.mark.parametrize("source", ["batches, which can be read once", "polars, lazy"])
def test_a_stream_is_analysed_and_learned_from(source: str) -> None:
    found = cw.analyse(SOURCES[source](), missing="drop", resamples=0)
    assert len(found.data) == N - 1
    assert found.settings.ordered[0] == ("pain", "declared")
    assert state_order(found.data, "pain") == [0, 1, 2, 3]
    learned = cw.learn(SOURCES[source](), "chow-liu", missing="drop")
    assert learned.structure_.origin.reading["in_order"] == ["pain"]
    assert read_data(pandas_frame(), learned.structure_.domain, missing="drop").decisions[
        "in_order"
    ] == ["pain"]


def test_categories_of_polars_have_only_the_states_of_their_column() -> None:
    polars = pytest.importorskip("polars")
    other = polars.Series("other", ["x", "y", "z"], dtype=polars.Categorical)
    frame = polars.DataFrame(
        {"a": ["v", "w"] * 9, "b": ["y", "x"] * 9}, schema_overrides={"a": polars.Categorical}
    )
    assert len(other) == 3
    data = read_data(frame)
    assert data.domain.states == (("v", "w"), ("x", "y"))
    assert "in_order" not in data.decisions


def test_short_floats_are_written_as_typed() -> None:
    cells = np.array([k % 3 / 10 for k in range(30)], dtype=np.float32)
    for frame in (pandas.DataFrame({"x": cells}), pyarrow.table({"x": cells})):
        assert read_data(frame).domain.states == (("0", "0.1", "0.2"),)


def test_two_columns_with_one_name() -> None:
    twice = pyarrow.table([pyarrow.array(["a", "b"] * 9)] * 2, names=["x", "x"])
    assert read_data(twice).domain.names == ("x", "x.2")
    with pytest.raises(ContextwiseError, match="two columns have the name"):
        read_data(twice, {"x": ["a", "b"]})


def test_cells_that_are_lists_are_refused() -> None:
    with pytest.raises(ContextwiseError, match="column 'x'"):
        read_data(pyarrow.table({"x": [[1, 2], [3]]}))
