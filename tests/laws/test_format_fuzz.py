"""Whatever a file holds, a reader gives a model or one of our own errors, and nothing else."""

import io
import json
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise.errors import ContextwiseError
from contextwise.formats import FORMATS, Format, encode, read_stream
from contextwise.models.structure import Model, structure_of
from contextwise.testing import domains, log_linear_models, structures
from features_invariant import check_features
from format_samples import SAMPLES

READERS = [known.name for known in FORMATS]
SIGNS = ["\n", "\r\n", " ", "1", "nan", "#", "\x00", "é"]
PIECES = {
    name: st.sampled_from([*(SAMPLES[name].words.split() if name in SAMPLES else ()), *SIGNS])
    for name in READERS
}


def survives(data: bytes, format: str | None) -> None:
    """Read the data; only an error of ours may come out."""
    message = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            check_features(structure_of(read_stream(io.BytesIO(data), format=format)).features)
        except ContextwiseError as error:
            message = str(error)
    assert "\n" not in message
    assert len(message) < 1000


@st.composite
def mutated(draw: st.DrawFn, known: Format) -> bytes:
    """A good file with a few bytes cut out, doubled or replaced."""
    data = SAMPLES[known.name].file.encode() if known.name in SAMPLES else b"RDX3\n"
    if "features" in known.holds:
        some = domains(min_variables=1)
        model: Model = draw(structures(some) | log_linear_models(some))
        data = encode(model, known.name)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 20)))
        piece = draw(
            st.sampled_from([b"", data[start:end] * 2])
            | PIECES[known.name].map(str.encode)
            | st.binary(max_size=4)
        )
        data = data[:start] + piece + data[end:]
    return data


@pytest.mark.parametrize("known", FORMATS, ids=READERS)
@settings(max_examples=100)
@given(data=st.data())
def test_files_with_slips(known: Format, data: st.DataObject) -> None:
    survives(data.draw(mutated(known)), known.name)


@pytest.mark.parametrize("format", READERS)
@given(data=st.data())
def test_words_in_any_order(format: str, data: st.DataObject) -> None:
    survives("".join(data.draw(st.lists(PIECES[format], max_size=30))).encode(), format)


def test_weights_that_do_not_add_up() -> None:
    survives(b"2,3,2\nMN {\ninf +v0_1\n-inf +v0_1\n}", "mn")


@pytest.mark.parametrize("keyword", ["MN", "BN", "DN"])
@settings(max_examples=200)
@given(data=st.data())
def test_factors_in_any_order(keyword: str, data: st.DataObject) -> None:
    body = " ".join(data.draw(st.lists(PIECES[keyword.lower()], max_size=30)))
    survives(f"2,3,2\n{keyword} {{\n{body}\n}}\n}}\n".encode(), keyword.lower())


@pytest.mark.parametrize("format", [*READERS, None])
@given(data=st.binary(max_size=200) | st.binary(max_size=200).map(b"\x1f\x8b".__add__))
def test_any_bytes(format: str | None, data: bytes) -> None:
    survives(data, format)


@pytest.mark.parametrize("format", [*READERS, None])
@given(text=st.text(max_size=200))
def test_any_text(format: str | None, text: str) -> None:
    survives(text.encode(), format)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from("ABC") | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=100)
@given(variables=JSON, features=JSON, weights=JSON)
def test_any_json_in_each_place(variables: object, features: object, weights: object) -> None:
    good_variables = [{"name": "A", "states": [0, 1]}, {"name": "B", "states": ["x", "y", "z"]}]
    good: dict[str, object] = {"format": "contextwise", "version": 1, "features": []}
    good["variables"] = good_variables
    for change in ({"variables": variables}, {"features": features}, {"weights": weights}):
        survives(json.dumps({**good, **change}).encode(), "json")
