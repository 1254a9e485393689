"""What is written comes back equal, in every format that is written, packed or not."""

import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import LogLinear, Structure, read, write
from contextwise.formats import FORMATS, encode, read_stream
from contextwise.structure import Model
from contextwise.testing import domains, log_linear_models, structures

WRITABLE = [f for f in FORMATS if f.write and f.name in ("mn", "json")]
SUFFIXES = [f.suffixes[0] + packing for f in WRITABLE for packing in ("", ".gz")]


def models() -> st.SearchStrategy[Model]:
    some = domains(min_variables=1, max_states=70)
    return structures(some) | log_linear_models(some)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(model=models())
def test_a_model_comes_back_equal(suffix: str, model: Model) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "model" + suffix)
        write(model, path)
        assert [p.name for p in Path(folder).iterdir()] == [path.name]
        again = read(path)
    assert again == model
    assert type(again) is type(model)


@pytest.mark.parametrize("format", [f.name for f in WRITABLE])
@pytest.mark.parametrize("weight", [float("inf"), float("-inf"), 5e-324, 0.1, -1 / 3, 1e308, 0.0])
def test_every_weight_comes_back_as_the_same_float(
    format: str, weight: float, tmp_path: Path
) -> None:
    model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [weight])  # type: ignore[arg-type]
    path = tmp_path / "model"
    write(model, path, format=format)
    again = read(path, format=format)
    assert isinstance(again, LogLinear)
    assert again.weights.tolist() == [weight]


@pytest.mark.parametrize("format", [f.name for f in WRITABLE])
@given(model=models())
def test_a_stream_needs_no_name(format: str, model: Model) -> None:
    assert read_stream(io.BytesIO(encode(model, format))) == model


def test_the_empty_domain_is_for_json(tmp_path: Path) -> None:
    empty = Structure({})
    write(empty, tmp_path / "empty.json")
    assert read(tmp_path / "empty.json") == empty
