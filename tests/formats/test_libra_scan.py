"""The compiled scanner and the parser in plain Python read the same files, to the same arrays."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contextwise.errors import ContextwiseError
from contextwise.formats import encode, libra
from contextwise.formats.reading import Source
from contextwise.testing import domains, log_linear_models, structures

pytestmark = pytest.mark.skipif(libra._scan is None, reason="the scanner was not built")


def agree(data: bytes, keyword: str = "MN") -> bool:
    """Check that both parsers give equal listings or both give none; return whether they do."""
    source = Source(data, "x")
    try:
        plain = libra.Parser(source, keyword).file()
    except ContextwiseError:
        with suppress(ContextwiseError):  # the line of cardinalities is read by one function
            assert libra.scanned(source, keyword) is None
        return False
    fast = libra.scanned(source, keyword)
    assert fast is not None, "the scanner gave up on a good file"
    assert fast.cardinalities == plain.cardinalities
    assert (fast.rest, fast.line) == (plain.rest, plain.line)
    np.testing.assert_array_equal(fast.lengths, plain.lengths)
    np.testing.assert_array_equal(fast.tests, plain.tests)
    assert (fast.weights is None) == (plain.weights is None)
    if fast.weights is not None and plain.weights is not None:
        assert fast.weights.tobytes() == plain.weights.tobytes(), "weights equal to the last bit"
    return True


# -- files of the grammar, as texts ----------------------------------------------------------------

DIGITS = st.text("0123456789", min_size=1, max_size=22)
EXPONENTS = st.builds("{}{}".format, st.sampled_from(["e", "E", "e+", "e-"]), st.integers(0, 400))
NUMBERS = (
    st.floats(allow_nan=False).map(repr)
    | st.floats(-10, 10).map("{:e}".format)
    | st.builds("{}{}.{}".format, st.sampled_from(["", "-"]), DIGITS, DIGITS)
    | st.builds("{}{}".format, DIGITS, EXPONENTS)
    | st.integers(-99, 99).map(str)
)
BLANKS = st.sampled_from(["", " ", "\t", "  "])
ENDS = st.sampled_from(["\n", "\r\n", "\n \n"])
TESTS = st.sampled_from(["v0_0", "v0_1", "v1_0", "v1_1", "v1_2", "v2_0", "v02_01", "v3_0"])
LITERALS = st.builds("{}{}{}".format, BLANKS, st.sampled_from("+-"), TESTS)
CONJUNCTIONS = st.lists(LITERALS, max_size=5).map("".join)
LINES = st.builds(
    "{}{}{}{}{}{}".format,
    BLANKS,
    st.sampled_from(["", "", "", "3 ", "-1\t"]),
    NUMBERS,
    CONJUNCTIONS,
    BLANKS,
    ENDS,
)
TREES = st.recursive(
    NUMBERS,
    lambda inner: st.builds("({} {}{} {})".format, TESTS, inner, ENDS, inner),
    max_leaves=12,
)
BLOCKS = st.builds(
    "{} {{{}}}".format,
    st.sampled_from(["features", "table", "FEATURES", "Table"]),
    st.lists(LINES, max_size=4).map("".join),
) | TREES.map("tree {{\n{}\n}}".format)
FACTORS = st.lists(LINES | BLOCKS | st.just("w 1 0.5\n") | ENDS, max_size=6).map("".join)
FILES = st.builds("2,3,2,1{}MN{{{}}}{}".format, ENDS, FACTORS, st.text(max_size=5))
SECTIONS = st.lists(st.builds("v{} {{\n{}}}\n".format, st.integers(0, 3), FACTORS), max_size=3).map(
    "".join
)


@settings(max_examples=200)
@given(text=FILES)
def test_files_of_the_grammar(text: str) -> None:
    good = agree(text.encode())
    assert good or "e" in text or "E" in text, "only a weight beyond the floats may be refused"


@given(text=FILES, at=st.integers(0, 10**6), piece=st.text("\n {}()+-v_1.einfx", max_size=3))
@settings(max_examples=300)
def test_files_with_a_slip(text: str, at: int, piece: str) -> None:
    at %= len(text) + 1
    agree((text[:at] + piece + text[at + 1 :]).encode())


@given(body=SECTIONS)
def test_networks(body: str) -> None:
    agree(f"2,3,2,1\nBN {{\n{body}}}\n".encode(), "BN")
    agree(f"2,3,2,1\nMN {{\n{body}}}\n".encode(), "MN")


@given(lines=st.lists(st.builds("{}{}\n".format, CONJUNCTIONS, BLANKS), max_size=5))
def test_the_weightless_dialect(lines: list[str]) -> None:
    assert agree(f"2,3,2,1\nMN {{\n{''.join(lines)}}}\n".encode())


@given(text=NUMBERS)
@example(text="9007199254740993")
@example(text="1e22")
@example(text="1e23")
@example(text="-0.0")
@example(text="0.1000000000000000055511151231257827")
@example(text="2.2250738585072011e-308")
@example(text="4.9e-324")
@example(text="0e999999999999")
@example(text="1" + "0" * 400 + "e-400")
@example(text="179769313486231580793e289")
def test_numbers_to_the_last_bit(text: str) -> None:
    agree(f"2\nMN {{\n{text} +v0_1\n}}\n".encode())


@given(
    model=structures(domains(min_variables=1, max_states=70))
    | log_linear_models(domains(min_variables=1))
)
def test_what_we_write(model: object) -> None:
    assert agree(encode(model, "mn"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "data", [b"2\nMN {\n\x00}", b"2\nMN {\n1 +v0_1\n\x00", b"2\nMN", b"2\nMN {"]
)
def test_ends_and_null_characters(data: bytes) -> None:
    assert not agree(data)


def test_limits_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    depth = 30
    tests = "".join(f"(v{i}_0 1" for i in range(depth))
    data = f"{'2,' * depth}\nMN {{\ntree {{{tests} 2{')' * depth}}}\n}}\n".encode()
    assert agree(data)
    monkeypatch.setattr("contextwise.formats.libra.most_literals", lambda *_: 100)
    monkeypatch.setattr("contextwise.formats.libra.most_literals", lambda *_: 100)
    assert not agree(data)
