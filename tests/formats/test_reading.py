"""Every bad file gives one clear line with the file and the line, whatever its size."""

import json
import tracemalloc
from pathlib import Path

import pytest

from bad_files import refused
from contextwise import read
from contextwise.errors import ParseError, TooLargeError

HEAD = "2,3,2\nMN {\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.mn:1: the file is empty"),
        (" \n\n ", "x.mn:1: the file is empty"),
        ("\x89PNG\r\n\x1a\n\x00", "x.mn:1: expected the numbers of values of the variables"),
        ("2 3 2\nMN {\n}", "x.mn:1: expected the numbers of values of the variables, such as"),
        ("2,*,2\nMN {\n}", "x.mn:1: expected the numbers of values of the variables"),
        ("2,0,2\nMN {\n}", "x.mn:1: variable v1 has no values"),
        ("MN {\n1 +v0_1\n}", "x.mn:1: expected the numbers of values of the variables"),
        ("2,3,2", "x.mn:1: expected 'MN {' but found the end of the file"),
        ("2,3,2\n1 +v0_1\n", "x.mn:2: expected 'MN {' but found '1'"),
        (
            "2,2\nBN {\n}",
            "x.mn:2: expected MN but found BN; read it as",
        ),
        ("2,3,2\nMN\n1 +v0_1", "x.mn:3: expected '{' after MN but found '1'"),
        (HEAD + "1 +v3_0\n}", "x.mn:3: unknown variable 'v3'; the first line gives 3 variables"),
        (HEAD + "1 +v" + "9" * 5000 + "_0\n}", "x.mn:3: unknown variable 'v999999"),
        (HEAD + "1 +v0_2\n}", "x.mn:3: '+v0_2' is out of range: v0 has 2 values, counted from 0"),
        (HEAD + "1 +v0_" + "9" * 5000 + "\n}", "x.mn:3: '+v0_9999"),
        (HEAD + "1 +v0_1\n", "x.mn:4: the file ends before the '}' of MN"),
        (HEAD + "1 +v0_1", "x.mn:3: the file ends in the middle of a feature"),
        (HEAD + "features {\n1 +v0_1\n", "x.mn:5: the file ends before the '}' of features"),
        (HEAD + "table {\n1 +v0_1\ntree {", "x.mn:5: expected a feature or '}' but found 'tree'"),
        (HEAD + "features\n{\n}\n}", "x.mn:3: expected '{' after features but found the end of"),
        (HEAD + "{ 1 +v0_1 }", "x.mn:3: expected a feature, a block or '}' but found '{'"),
        (HEAD + "1 +v0_1 }", "x.mn:3: expected a literal like +v0_1 or the end of the line"),
        (HEAD + "tree {\n(v0_0 1\n", "x.mn:5: the file ends before the '}' of tree"),
        (HEAD + "tree {\n(v0_0 1 2\n}\n}", "x.mn:5: expected ')' but found '}'"),
        (HEAD + "tree {\n(v0_0 1 2))\n}\n}", "x.mn:4: expected '}' but found ')'"),
        (HEAD + "tree {\n(v0_0 1)\n}\n}", "x.mn:4: expected a number or '(' but found ')'"),
        (HEAD + "tree {\n(1 2 3)\n}\n}", "x.mn:4: expected a test like v0_1 after '(' but found"),
        (HEAD + "tree {\n(+v0_0 2 3)\n}\n}", "x.mn:4: expected a test like v0_1 after '('"),
        (HEAD + "tree {\n}\n}", "x.mn:4: expected a number or '(' but found '}'"),
        (HEAD + "nan +v0_1\n}", "x.mn:3: a weight is not a number (nan)"),
        (HEAD + "features {\nNaN +v0_1\n}\n}", "x.mn:4: a weight is not a number (nan)"),
        (HEAD + "tree { nan }\n}", "x.mn:3: a weight is not a number (nan)"),
        (HEAD + "1e999 +v0_1\n}", "x.mn:3: the weight '1e999' is too large"),
        (HEAD + "+1.5 +v0_1\n}", "x.mn:3: cannot read '+1.5 +v0_1'"),
        (HEAD + ".5 +v0_1\n}", "x.mn:3: cannot read '.5 +v0_1'"),
        (HEAD + "1. +v0_1\n}", "x.mn:3: cannot read '. +v0_1'"),
        (HEAD + "INF +v0_1\n}", "x.mn:3: expected a feature, a block or '}' but found 'INF'"),
        (HEAD + "1 +V0_1\n}", "x.mn:3: cannot read '+V0_1'"),
        (HEAD + "1 + v0_1\n}", "x.mn:3: cannot read '+ v0_1'"),
        (HEAD + "1 v0_1\n}", "x.mn:3: expected a literal like +v0_1 or the end of the line"),
        (HEAD + "1 2 3 +v0_1\n}", "x.mn:3: expected a literal like +v0_1 or the end of the line"),
        (HEAD + "# remark\n}", "x.mn:3: cannot read '# remark'"),
        (HEAD + "1 +v0_1\n+v0_0\n}", "x.mn:4: some features have weights and some do not"),
        (HEAD + "+v0_0\ntree { 1 }\n}", "x.mn:4: some features have weights and some do not"),
        (HEAD + "inf +v0_1\n-inf -v0_0\n}", "x.mn: the weights inf and -inf of the feature 'v0=1'"),
        (HEAD + "w x\n}", "x.mn:3: expected the number of a weight but found 'x'"),
        (HEAD + "}\ncontextwise 2 {}", "x.mn:4: the remark after the last brace: unknown version"),
        (HEAD + "}\ncontextwise 1 {", "x.mn:4: the remark after the last brace: this is not valid"),
        (HEAD + "}\n\ncontextwise 1 []", "x.mn:5: the remark after the last brace: expected the"),
        (
            HEAD + '}\ncontextwise 1 {"names": ["a", "a", "b"]}',
            "x.mn:4: the remark after the last brace: two variables have one name",
        ),
        (
            HEAD + '}\ncontextwise 1 {"names": ["a", "b"]}',
            "x.mn:4: the remark after the last brace: names or states do not match",
        ),
        (
            HEAD + '}\ncontextwise 1 {"states": [["a"], ["b"], ["c"]]}',
            "x.mn:4: the remark after the last brace: the states do not match the first line",
        ),
    ],
)
def test_mn(text: str, message: str, tmp_path: Path) -> None:
    assert refused(tmp_path / "x.mn", text.encode("latin-1")).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "2,2\nMN {\n}",
            "x.bn:2: expected BN but found MN; read it as the format mn",
        ),
        ("2,2\nBN {\n1 +v0_1\n}", "x.bn:3: expected 'v0 {' or '}' but found '1'"),
        ("2,2\nBN {\nv2 {\n}\n}", "x.bn:3: unknown variable 'v2'"),
        ("2,2\nBN {\nv1 {\n}", "x.bn:4: the file ends before the '}' of BN"),
        ("2,2\nBN {\nv1 {\n", "x.bn:4: the file ends before the '}' of v1"),
    ],
)
def test_bn(text: str, message: str, tmp_path: Path) -> None:
    assert refused(tmp_path / "x.bn", text).startswith(message)


# -- size ------------------------------------------------------------------------------------------


DEEP = 100_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2,3,2\nMN {\n" + "x" * 1_000_000, "x.mn:3: expected a feature, a block or '}' but found"),
        ("2,3,2\nMN {\n1" + " +v0_1" * 200_000, "x.mn:3: the file ends in the middle"),
        ("2" + ",2" * 500_000, "x.mn:1: expected 'MN {'"),
        ("2," * 500_000 + "x", "x.mn:1: expected the numbers of values"),
        ("2" + " " * 1_000_000 + "x", "x.mn:1: expected the numbers of values"),
        ("2,3,2\nMN {\n" + " " * 1_000_000 + "#", "x.mn:3: cannot read '#'"),
        (
            "1" * 1_000_000,
            "x.mn: variable number 0 has 1,000,000,000 states, and at",
        ),
        ("2,3,2\nMN {\n1" + "0" * 1_000_000 + " +v0_1\n}", "x.mn:3: the weight '1000"),
        ("2,3,2\nMN {\ntree {\n" + "(" * DEEP, "x.mn:4: expected a test like v0_1 after '('"),
        ("2,3,2\nMN {\ntree {\n" + "(v0_0 " * DEEP, "x.mn:4: the file ends before the '}' of tree"),
        ("2,3,2\nMN {\ntree {\n" + "(v0_0 1" * DEEP + ")" * DEEP, "x.mn:4: expected a number"),
        ("1000000000,2\nMN {\n}", "x.mn: variable number 0 has 1,000,000,000 states"),
        ("2," * 5000 + "65537\nMN {\n}", "x.mn: variable number 5000 has 65,537 states"),
        ("2," * 5000 + "65536\nMN {\n}", "x.mn: 5001 variables with 75536 states are too many"),
        ("60000,60000,60000\nMN {\n}", "x.mn: 3 variables with 180000 states are too many"),
    ],
)
def test_long_and_hostile_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    assert refused(tmp_path / "x.mn", text).startswith(message)


def test_a_small_file_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.mn"
    path.write_text("65536,65535\nMN {\n0.5 +v0_7 +v1_0\n}\n")
    tracemalloc.start()
    try:
        assert read(path).domain.cardinalities == (65_536, 65_535)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * 2**20


@pytest.mark.parametrize("suffix", ["mn", "uai", "bif", "json"])
def test_no_format_takes_more_states_than_are_possible(suffix: str, tmp_path: Path) -> None:
    many = 2**16 + 1
    states = [f"s{k}" for k in range(many)]
    variables = [{"name": "A", "states": states}]
    texts = {
        "mn": f"{many}\nMN {{\n}}\n",
        "uai": f"MARKOV\n1\n{many}\n0\n",
        "bif": f"variable A {{ type discrete [ {many} ] {{ {', '.join(states)} }}; }}",
        "json": json.dumps(
            {"format": "contextwise", "version": 1, "variables": variables, "features": []}
        ),
    }
    assert "65,537 states, and at most 65,536" in refused(tmp_path / f"x.{suffix}", texts[suffix])


def test_a_deep_tree_that_tests_few_variables(tmp_path: Path) -> None:
    path = tmp_path / "x.mn"
    path.write_text("2,3,2\nMN {\ntree {\n" + "(v1_0 1" * DEEP + " 2" + ")" * DEEP + "\n}\n}\n")
    with pytest.warns(UserWarning, match="dropped 99999 features that can never hold"):
        assert read(path).origin.file.raw_features == DEEP + 1


def test_a_deep_tree_that_tests_many_variables_is_too_large(tmp_path: Path) -> None:
    """Its leaves stand for five billion literals."""
    tests = "".join(f"(v{i}_0 1" for i in range(DEEP))
    text = "2," * DEEP + f"\nMN {{\ntree {{{tests} 2{')' * DEEP}}}\n}}\n"
    (tmp_path / "x.mn").write_text(text)
    with pytest.raises(TooLargeError, match="describes more than 8388608 literals"):
        read(tmp_path / "x.mn")


def test_many_values_make_literals_wide(tmp_path: Path) -> None:
    text = "65536,2\nMN {\n" + "1 +v0_7 +v1_0\n" * 5000 + "}\n"
    assert "describes more than 8192 literals" in refused(tmp_path / "x.mn", text)


def test_parse_errors_know_their_place(tmp_path: Path) -> None:
    path = tmp_path / "x.mn"
    path.write_text(HEAD + "1 +v9_1\n}\n")
    with pytest.raises(ParseError) as caught:
        read(path)
    assert (caught.value.path, caught.value.line) == (str(path), 3)
