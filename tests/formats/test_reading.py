"""Every bad file gives one clear line with the file and the line, whatever its size."""

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from contextwise import Structure, read, write
from contextwise.errors import ContextwiseError, FileError, ParseError, TooLargeError
from contextwise.support import files

HEAD = "2,3,2\nMN {\n"


def refused(path: Path, content: str | bytes, **options: Any) -> str:
    """The message that reading this content gives, without the folder."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ContextwiseError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 700
    return message.replace(f"{path.parent}/", "")


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


GOOD = {
    "format": "contextwise",
    "version": 1,
    "variables": [{"name": "A", "states": ["a", "b"]}, {"name": "B", "states": ["0", "1"]}],
    "features": [{"A": "a", "B": "1"}, {"A": ["b"]}],
    "weights": [1, "inf"],
}


def test_the_document_that_is_spoiled_below_is_good(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(GOOD))
    assert len(read(path)) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 9}, ":3: version: unknown version 9; expected 1"),
        ({"version": None}, ":3: version: unknown version None"),
        ({"version": True}, ":3: version: unknown version True"),
        ({"format": "pgm"}, ':2: format: expected "format": "contextwise"'),
        ({"features": 3}, ":20: features: expected a list"),
        ({"features": [3]}, ":21: features[0]: expected an object"),
        ({"features": [{}, {"C": "a"}]}, ":23: features[1].C: unknown variable 'C'"),
        ({"features": [{}, {"A": "c"}]}, ":23: features[1].A: variable 'A' has no state 'c'"),
        ({"features": [{}, {"A": 1.5}]}, ":23: features[1].A: 1.5 is not a state"),
        ({"features": [{}, {"A": None}]}, ":23: features[1].A: None is not a state"),
        ({"features": [{}, {"A": {"a": 1}}]}, ":23: features[1].A: {'a': 1} is not a state"),
        ({"variables": {"A": 2}}, ":4: variables: expected a list"),
        ({"variables": [{"name": "A"}]}, ":5: variables[0]: the key 'states' is missing"),
        ({"variables": [{"name": 1, "states": ["a"]}]}, ":6: variables[0].name: expected a text"),
        ({"variables": [{"name": "A", "states": 2}]}, ":7: variables[0].states: expected a list"),
        ({"variables": [{"name": "A", "states": []}]}, ":5: variables[0]: variable 'A' has no"),
        ({"variables": [{"name": "A", "states": ["a", "a"]}]}, ":5: variables[0]: variable 'A'"),
        ({"variables": [{"name": "A", "states": [True]}]}, ":5: variables[0]: True is not a"),
        ({"variables": [{"name": "\ud800", "states": ["a"]}]}, ":6: variables[0].name: '\\ud800'"),
        ({"variables": [{"name": "A", "states": ["a"]}] * 2}, ":11: variables[1]: two variables"),
        ({"weights": [1]}, ":31: weights: 1 weights for 2 features"),
        ({"weights": [1, float("nan")]}, ":33: weights[1]: a weight is a number"),
        ({"weights": [1, float("inf")]}, ":33: weights[1]: a weight is a number"),
        ({"weights": [1, "1"]}, ":33: weights[1]: a weight is a number"),
        ({"weights": [1, True]}, ":33: weights[1]: a weight is a number"),
        ({"weights": [1, 10**400]}, ":33: weights[1]: a weight is a number"),
        ({"description": 5}, ":35: description: expected a text"),
        ({"directed": "yes"}, ":35: directed: expected true or false"),
        ({"feature": []}, ":35: feature: unknown key 'feature'; the keys are format, version"),
    ],
)
def test_json(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    text = json.dumps({**GOOD, **change}, indent=1)
    assert refused(tmp_path / "x.json", text).startswith("x.json" + message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.json:1: the file is empty"),
        ("[1,\n2", "x.json:2: this is not valid JSON: Expecting ',' delimiter"),
        ("[]", "x.json:1: expected an object"),
        ("{}", 'x.json:1: format: expected "format": "contextwise"'),
        ('{"format": "contextwise",\n"format": "x"}', "x.json:2: format: the key 'format' occurs"),
        ('{"format": "contextwise", "version": 1}', "x.json:1: the key 'variables' is missing"),
        ("[" * 100_000, "x.json: this is not valid JSON: it is nested too deeply"),
        (b"\x00\xff\x80", "x.json:1: this is not UTF-8 text"),
        (b'{\n"\xff"', "x.json:2: this is not UTF-8 text"),
    ],
)
def test_json_texts(text: str | bytes, message: str, tmp_path: Path) -> None:
    assert refused(tmp_path / "x.json", text).startswith(message)


def test_a_key_of_a_feature_that_occurs_twice(tmp_path: Path) -> None:
    text = json.dumps(GOOD).replace('{"A": ["b"]}', '\n{"A": "a",\n"A": "b"}')
    found = refused(tmp_path / "x.json", text)
    assert found == "x.json:3: features[1].A: the key 'A' occurs twice"


# -- files -----------------------------------------------------------------------------------------


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"absent\.mn: No such file or directory"):
        read(tmp_path / "absent.mn")
    (tmp_path / "folder.mn").mkdir()
    with pytest.raises(OSError, match=r"folder\.mn: Is a directory"):
        read(tmp_path / "folder.mn")
    with pytest.raises(ContextwiseError, match="null"):
        read("a\0.mn")


def test_a_suffix_that_says_nothing(tmp_path: Path) -> None:
    message = refused(tmp_path / "model.abc", HEAD + "}")
    assert "model.abc: unknown suffix; use one of .mn, .json" in message
    assert "or name the format, one of mn, json" in message
    assert len(read(tmp_path / "model.abc", format="mn")) == 0


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("n.dne", "Netica and GeNIe save such files as .dsc or .xdsl"),
        ("n.pgmx", "OpenMarkov saves such files as .net or .bif"),
        ("n.xlsx", "for rows, learn a structure first: contextwise learn "),
        ("n.graphml", "networkx converts graphs to .gml"),
    ],
)
def test_a_file_of_another_program_names_one_that_converts_it(
    tmp_path: Path, name: str, advice: str
) -> None:
    assert advice in refused(tmp_path / name, "anything")


def test_rows_that_are_given_as_a_model(tmp_path: Path) -> None:
    message = refused(tmp_path / "rows.csv", "A,B\nno,yes\nyes,yes\nno,no\n")
    assert "these are rows, not a model; learn a structure first: contextwise learn" in message


def test_an_unknown_format_and_an_unknown_option(tmp_path: Path) -> None:
    assert "unknown format 'nm'; the formats are mn, json" in refused(
        tmp_path / "x.mn", HEAD + "}", format="nm"
    )
    assert "zero_weights must be 'keep' or 'drop'" in refused(
        tmp_path / "x.mn", HEAD + "}", zero_weights="no"
    )


def test_formats_that_are_only_read(tmp_path: Path) -> None:
    with pytest.raises(ContextwiseError, match=r"cannot write \.bn; use one of \.mn"):
        write(Structure({"A": 2}), tmp_path / "x.bn")
    assert not list(tmp_path.iterdir())


def test_a_mn_file_needs_a_variable(tmp_path: Path) -> None:
    with pytest.raises(ContextwiseError, match=r"needs at least one variable; write \.json"):
        write(Structure({}), tmp_path / "x.mn")


def test_writing_keeps_the_old_file_if_it_fails(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write(Structure({"A": 2}), path)
    before = path.read_bytes()
    with pytest.raises(ContextwiseError, match="not valid Unicode"):
        write(Structure({"\ud800": 2}), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileError, match="No such file or directory"):
        write(Structure({"A": 2}), tmp_path / "absent" / "x.json")


def test_writing_follows_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "x.json")
    write(Structure({"A": 2}), tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert read(tmp_path / "x.json") == Structure({"A": 2})


def test_damaged_and_oversized_packed_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = gzip.compress((HEAD + "1 +v0_1\n" * 1000 + "}").encode())
    assert "x.mn.gz: this gzip file is damaged" in refused(tmp_path / "x.mn.gz", whole[:-9])
    assert "x.mn.gz: this gzip file is damaged" in refused(tmp_path / "x.mn.gz", whole[:40])
    spoiled = whole[:30] + bytes([whole[30] ^ 255]) + whole[31:]
    assert "x.mn.gz: this gzip file is damaged" in refused(tmp_path / "x.mn.gz", spoiled)
    monkeypatch.setattr(files, "MOST_UNPACKED_BYTES", 2**20)
    bomb = gzip.compress(bytes(2**21))
    assert "x.mn.gz: unpacks to more than 1 MiB" in refused(tmp_path / "x.mn.gz", bomb)


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
