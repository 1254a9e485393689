"""Round trips: every format we write reads back as an equal object, compressed or not."""

import io
import re
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import LogLinear, Structure, distance, read, write
from contextwise.errors import ContextwiseError
from contextwise.formats import FORMATS, Format, encode, read_stream
from contextwise.models.origin import Origin
from contextwise.models.structure import Model
from contextwise.testing import domains, log_linear_models, structures
from format_samples import SAMPLES

WRITABLE = [f for f in FORMATS if "features" in f.holds]
TEXTS = [f for f in FORMATS if f.name in SAMPLES]
SUFFIXES = [f.suffixes[0] + packing for f in WRITABLE for packing in ("", ".gz", ".xz")]


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


@pytest.mark.parametrize("known", TEXTS, ids=[f.name for f in TEXTS])
def test_the_example_of_every_format(known: Format, tmp_path: Path) -> None:
    """It is found by its first bytes, and comes back equal from every format that can hold it."""
    sample = SAMPLES[known.name].file
    model = read_stream(io.StringIO(sample), format=known.name)
    assert len(model) > 0
    assert read_stream(io.StringIO(sample)).origin.file.format == known.name
    if known.writer:
        path = tmp_path / f"model{known.suffixes[0]}"
        write(model, path)
        assert read(path) == model
    write(model, tmp_path / "model.json")
    assert read(tmp_path / "model.json") == model


@pytest.mark.parametrize("format", [f.name for f in FORMATS if f.writer])
@given(model=log_linear_models(domains(min_variables=1)))
def test_a_written_model_makes_the_same_claims_or_warns(format: str, model: LogLinear) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            data = encode(model, format)
        except ContextwiseError:
            return
    again = read_stream(io.BytesIO(data), format=format)
    advice = [str(w.message) for w in caught if "holds whole tables" in str(w.message)]
    if not advice:
        assert distance(model, again, align="position") == 0
    elif "zero-weights drop" in advice[0]:
        again = read_stream(io.BytesIO(data), format=format, zero_weights="drop")
        assert distance(model, again, align="position") == 0


@pytest.mark.parametrize("format", [f.name for f in WRITABLE])
@pytest.mark.parametrize("weight", [float("inf"), float("-inf"), 5e-324, 0.1, -1 / 3, 1e308, 0.0])
def test_every_weight_comes_back_as_the_same_float(
    format: str, weight: float, tmp_path: Path
) -> None:
    model = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), [weight])
    path = tmp_path / "model"
    write(model, path, format=format)
    again = read(path, format=format)
    assert isinstance(again, LogLinear)
    assert again.weights.tolist() == [weight]


@pytest.mark.parametrize("format", [f.name for f in WRITABLE])
@given(model=models())
def test_a_stream_needs_no_name(format: str, model: Model) -> None:
    assert read_stream(io.BytesIO(encode(model, format))) == model


LIBRA_FILE = re.compile(
    r"""[0-9]+(,[0-9]+)*\n
    MN\ \{\n
    ( -?([0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?|inf) (\ [+-]v[0-9]+_[0-9]+)* \n )*
    \}\n
    (contextwise\ .*\n)?                                     # text that Libra does not look at""",
    re.VERBOSE,
)


@given(model=models())
def test_what_is_written_as_mn_is_in_the_grammar_of_libra(model: Model) -> None:
    """In the grammar as Libra has it, without what our reader allows beyond it."""
    assert LIBRA_FILE.fullmatch(encode(model, "mn").decode("ascii"))


def test_a_description_stays_in_json(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    write(Structure({"A": 2}, origin=Origin(description='a "small" one\nfor tests: é')), path)
    assert read(path).origin.description == 'a "small" one\nfor tests: é'


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    for suffix in SUFFIXES[::3]:
        path = tmp_path / f"model{suffix}"
        write(Structure({"A": 2}), path)
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
        assert read(path) == Structure({"A": 2})


def test_the_empty_domain_is_for_json(tmp_path: Path) -> None:
    empty = Structure({})
    write(empty, tmp_path / "empty.json")
    assert read(tmp_path / "empty.json") == empty
