"""Libra's grammar: every sentence of it reads, and means what Libra means by it."""

import io
from pathlib import Path

import numpy as np
import pytest

from contextwise import LogLinear, Structure, read
from contextwise.formats import encode, libra, read_stream
from contextwise.formats.reading import Source
from contextwise.models.origin import ModelFile
from contextwise.models.structure import ContradictionWarning, Model

DOMAIN = {"v0": 2, "v1": 3, "v2": 2}


def read_text(text: str, format: str = "mn") -> Model:
    return read_stream(io.StringIO(text), format=format)


def mn(body: str, header: str = "2,3,2") -> Model:
    return read_text(f"{header}\nMN {{\n{body}\n}}\n")


def weights_of(model: Model) -> dict[str, float]:
    assert isinstance(model, LogLinear)
    texts = [model.structure.feature_text(f) for f in range(len(model))]
    return dict(zip(texts, model.weights.tolist(), strict=True))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("1.2 +v0_1 -v1_2", {"v0=1 & v1!=2": 1.2}, id="a flat feature"),
        pytest.param("1+v0_1-v1_2", {"v0=1 & v1!=2": 1.0}, id="blanks are optional"),
        pytest.param(" \t1\t+v0_1  -v1_2 ", {"v0=1 & v1!=2": 1.0}, id="blanks and tabs"),
        pytest.param("1 -v1_0 -v1_1", {"v1=2": 1.0}, id="negated literals intersect"),
        pytest.param("1 -v0_0", {"v0=1": 1.0}, id="with two values, not 0 is 1"),
        pytest.param("1 +v1_1 -v1_0 +v1_1", {"v1=1": 1.0}, id="literals that repeat"),
        pytest.param("1 +v2_1 +v0_1", {"v0=1 & v2=1": 1.0}, id="any order of the variables"),
        pytest.param("1 +v00_01", {"v0=1": 1.0}, id="leading zeros"),
        pytest.param("0.5", {"": 0.5}, id="a constant"),
        pytest.param("3 7 +v1_1", {"v1=1": 7.0}, id="a weight with a number before it"),
        pytest.param("3 -7.5e-1 +v1_1", {"v1=1": -0.75}, id="its weight may be any number"),
        pytest.param("w 3 0.5\nW 4 1\n2 +v0_1", {"v0=1": 2.0}, id="w lines are ignored"),
        pytest.param(
            "inf +v0_1\n-inf +v0_0", {"v0=1": np.inf, "v0=0": -np.inf}, id="infinite weights"
        ),
        pytest.param("1e3 +v0_1\n2E-1 +v0_0", {"v0=1": 1e3, "v0=0": 0.2}, id="exponents"),
        pytest.param("1 +v0_1\n2 -v0_0", {"v0=1": 3.0}, id="weights of equal features add up"),
        pytest.param(
            "features {\n1 +v0_1\n\n2 +v2_1\n}", {"v0=1": 1.0, "v2=1": 2.0}, id="features block"
        ),
        pytest.param("FEATURES {1 +v0_1\n}", {"v0=1": 1.0}, id="keywords in any case"),
        pytest.param(
            "table {\n1.5 +v0_1 +v2_1\n0.5 +v0_1\n}",
            {"v0=1 & v2=1": 1.5, "v0=1": 0.5},
            id="a line of a table is a feature",
        ),
        pytest.param(
            "tree {\n(v1_0\n  (v2_0 0.1 -0.2)\n  3)\n}",
            {"v1=0 & v2=0": 0.1, "v1=0 & v2=1": -0.2, "v1!=0": 3.0},
            id="a leaf of a tree is a feature",
        ),
        pytest.param("tree { 7 }", {"": 7.0}, id="a tree that is a leaf"),
        pytest.param(
            "tree {(v1_0 1(v1_1 2 3))}", {"v1=0": 1.0, "v1=1": 2.0, "v1=2": 3.0}, id="tight tree"
        ),
        pytest.param("features {\n}\ntable {\n}", None, id="empty blocks"),
        pytest.param(
            "features {\n1 +v0_1\n}1 +v2_1\ntree {2}",
            {"v0=1": 1.0, "v2=1": 1.0, "": 2.0},
            id="no line end between blocks",
        ),
    ],
)
def test_what_libra_accepts(body: str, expected: dict[str, float] | None) -> None:
    model = mn(body)
    if expected is None:
        assert model == Structure(DOMAIN)
    else:
        assert weights_of(model) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2,3,2\nMN {\n1 +v0_1 +v1_1\n}\n", id="plain"),
        pytest.param("2,3,2\r\nMN {\r\n1 +v0_1 +v1_1\r\n}\r\n", id="CRLF"),
        pytest.param("2,3,2\rMN {\r1 +v0_1 +v1_1\r}\r", id="CR"),
        pytest.param(" 2 , 3,\t2 \nmn\n{\n1 +v0_1 +v1_1\n}", id="blanks, case, no last line end"),
        pytest.param("2,3,2,\nMN { 1 +v0_1 +v1_1\n}", id="trailing comma, feature after brace"),
        pytest.param("\n2,3,2\n\nMN {\n1 +v0_1 +v1_1\n}", id="blank lines"),
        pytest.param("2,3,2\nMN {\n1 +v0_1 +v1_1\n} # (( and more } \x00 é", id="trailing text"),
    ],
)
def test_the_same_file_in_other_dress(text: str) -> None:
    assert weights_of(read_text(text)) == {"v0=1 & v1=1": 1.0}


def test_the_weightless_dialect_is_a_structure() -> None:
    model = mn("  +v0_0 +v1_0\n+v0_1\n features {\n -v1_2\n}")
    assert model == Structure(DOMAIN, ["v0=0 & v1=0", "v0=1", "v1!=2"])


def test_table_and_features_and_tree_of_one_model_are_equal() -> None:
    lines = "1 +v0_0 +v2_0\n2 +v0_0 +v2_1\n3 +v0_1"
    flat = mn(lines)
    assert mn(f"features {{\n{lines}\n}}") == flat
    assert mn(f"table {{\n{lines}\n}}") == flat
    assert mn("tree { (v0_0 (v2_0 1 2) 3) }") == flat


def test_info_says_what_the_file_held(tmp_path: Path) -> None:
    path = tmp_path / "model.mn"
    path.write_text("2,3,2\nMN {\n0 +v0_1\n1 -v0_0\n0 +v2_1\n1 +v1_0 +v1_1\n}\n")
    with pytest.warns(ContradictionWarning, match=r"model\.mn: dropped 1 feature that can never"):
        model = read(path)
    assert model.origin.file == ModelFile(
        name=str(path),
        format="mn",
        lines=7,
        raw_features=4,
        duplicates=1,
        contradictory=1,
        zero_weights=2,
    )


def test_zero_weights_can_be_dropped(tmp_path: Path) -> None:
    path = tmp_path / "model.mn"
    path.write_text("2,3,2\nMN {\n0 +v0_1\n1 +v2_1\n-0.0 +v1_1\n0.5 +v2_0\n-0.5 -v2_1\n}\n")
    assert len(read(path)) == 4
    assert weights_of(read(path, zero_weights="drop")) == {"v2=1": 1.0}


def test_a_path_through_a_tree_that_contradicts_itself_is_dropped() -> None:
    with pytest.warns(ContradictionWarning, match="dropped 2 features"):
        model = mn("tree { (v0_0 (v0_0 1 2) (v0_0 3 4)) }")
    assert weights_of(model) == {"v0=0": 1.0, "v0=1": 4.0}


def test_a_variable_with_one_value_is_in_no_scope() -> None:
    assert weights_of(mn("1 +v0_0 +v1_1", header="1,2")) == {"v1=1": 1.0}


def test_many_values_fill_several_words() -> None:
    model = mn("1 +v0_129 -v1_64\n2 -v0_0 +v1_63", header="130,65")
    assert list(model.structure) == [  # type: ignore[union-attr]
        {"v0": ("129",), "v1": tuple(str(k) for k in range(64))},
        {"v0": tuple(str(k) for k in range(1, 130)), "v1": ("63",)},
    ]


def test_networks_are_read_variable_by_variable() -> None:
    body = "v0 {\ntree {\n(v1_0 (v0_0 -0.1 -2.3) -0.69)\n}\n}\nv1 {\n-1.6 +v1_1\n-0.22 -v1_1\n}\n"
    network = read_text(f"2,2\nBN {{\n{body}}}\n", "bn")
    assert weights_of(network) == {
        "v0=0 & v1=0": -0.1,
        "v0=1 & v1=0": -2.3,
        "v1=1": -0.69 - 1.6,
        "v1=0": -0.22,
    }
    assert read_text(f"2,2\nDN {{\n{body}}}\n", "dn") == network.structure  # type: ignore[union-attr]


def test_what_we_write_is_plain_where_it_can_be() -> None:
    model = mn("1.5 +v0_1 -v1_2\n-inf +v2_0\n0.1")
    assert encode(model, "mn") == b"2,3,2\nMN {\n1.5 +v0_1 -v1_2\n-inf +v2_0\n0.1\n}\n"


def test_only_single_tests_are_written() -> None:
    """Libra knows = and ≠: a set of values is written as the values it leaves out."""
    model = Structure({"v0": 4, "v1": 2}, ["v0=1|2 & v1=1"])
    assert b"\n0 -v0_0 -v0_3 +v1_1\n" in encode(model, "mn")


def test_a_last_line_without_an_end_counts() -> None:
    for end in (b"", b"\n"):
        assert libra.read(Source(b"2\nMN {\n}" + end, "x"), "MN").origin.file.lines == 3
