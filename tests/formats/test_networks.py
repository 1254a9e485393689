"""Bayesian networks in XMLBIF, Hugin's .net, GeNIe's .xdsl and .dsc: the same network in each."""

from __future__ import annotations

import io
import lzma
from pathlib import Path

import pytest

from contextwise import LogLinear, Structure, read
from contextwise.errors import ContextwiseError, ParseError
from contextwise.formats import read_stream
from contextwise.formats.reading import FormatWarning
from contextwise.models.structure import Model
from network_tables import from_text

# P(C | A, B): the last parent varies faster than the first, C fastest
ROWS = [(0.1, 0.2, 0.7), (0.3, 0.3, 0.4), (0.5, 0.25, 0.25), (0.6, 0.2, 0.2)]
NUMBERS = " ".join(str(p) for row in ROWS for p in row)
BIF = """
variable A { type discrete [2] {no, yes}; } variable B { type discrete [2] {x, y}; }
variable C { type discrete [3] {low, mid, high}; }
probability (A) { table 0.25 0.75; } probability (B) { table 0.5 0.5; }
probability (C | A, B) { (no, x) 0.1 0.2 0.7; (no, y) 0.3 0.3 0.4;
                         (yes, x) 0.5 0.25 0.25; (yes, y) 0.6 0.2 0.2; }
"""


def outcomes(*states: str) -> str:
    return "".join(f"<OUTCOME>{state}</OUTCOME>" for state in states)


XMLBIF = f"""<?xml version="1.0"?>
<!-- a comment -->
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> ]>
<BIF VERSION="0.3"><NETWORK><NAME>test</NAME>
<VARIABLE TYPE="nature"><NAME>A</NAME>{outcomes("no", "yes")}</VARIABLE>
<VARIABLE><NAME> B </NAME>{outcomes("x", "y")}<PROPERTY>position</PROPERTY></VARIABLE>
<VARIABLE><NAME>C</NAME>{outcomes("low", "mid", "high")}</VARIABLE>
<DEFINITION><FOR>A</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>B</FOR><TABLE>0.5<!-- x --> 0.5</TABLE></DEFINITION>
<DEFINITION><FOR>C</FOR><GIVEN>A</GIVEN><GIVEN>B</GIVEN><TABLE>{NUMBERS}</TABLE></DEFINITION>
</NETWORK></BIF>
"""
NET = f"""
net {{ name = "a {{ b"; node_size = (80 40); }} % a comment
node A {{ label = "first"; states = ("no" "yes"); position = (1 2); }}
discrete node B {{ states = ("x" "y"); subtype = label; }}
node C {{ states = ("low" "mid" "high"); }}
potential (A) {{ data = (0.25 0.75); experience = 7; }}
potential (B | ) {{ data = (0.5 0.5); }}
potential (C | A B) {{ data = ((({NUMBERS[:11]}) % A=no B=x
   ({NUMBERS[12:23]}))(({NUMBERS[24:37]})({NUMBERS[38:]}))); }}
"""
XDSL = f"""<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="n"><nodes>
<cpt id="A"><state id="no"/><state id="yes"/><probabilities>0.25 0.75</probabilities></cpt>
<cpt id="B"><state id="x"/><state id="y"/><probabilities>0.5 0.5</probabilities></cpt>
<cpt id="C"><state id="low"/><state id="mid"/><state id="high"/><parents>A B</parents>
<probabilities>{NUMBERS}</probabilities></cpt>
</nodes><extensions><genie><node id="A"><name>A</name></node></genie></extensions></smile>
"""
DSC = """
belief network "a name"
node A { name: "first"; type : discrete [ 2 ] = { "no", "yes" }; position: (1, 2); }
node B { type : discrete [ 2 ] = { "x", "y" }; }
node C { type : discrete [ 3 ] = { "low", "mid", "high" }; }
probability ( A ) { 0.25, 0.75; }
probability ( B ) { 0.5, 0.5; }
probability ( C | A, B ) {
  (0, 0) : 0.1, 0.2, 0.7; (1, 0) : 0.5, 0.25, 0.25;
  (0, 1) : 0.3, 0.3, 0.4; default : 0.6, 0.2, 0.2;
}
"""
TEXTS = {"xmlbif": XMLBIF, "net": NET, "xdsl": XDSL, "dsc": DSC}


@pytest.mark.parametrize("format", TEXTS)
def test_the_same_network_in_each_format(format: str) -> None:
    model, wanted = from_text(TEXTS[format], format), from_text(BIF, "bif")
    assert model == wanted
    assert model.directions is not None
    assert model.directions.parents == ((), (), (0, 1))
    assert read_stream(io.StringIO(TEXTS[format])).origin.file.format == format


def test_the_content_decides_where_the_suffix_is_wrong(tmp_path: Path) -> None:
    for name, text in (("n.bif", XMLBIF), ("n.xml", XDSL), ("n.net", BIF), ("n.dsc", NET)):
        (tmp_path / name).write_text(text)
        assert read(tmp_path / name) == from_text(BIF, "bif")


def test_rows_of_a_dsc_file_may_name_the_states() -> None:
    named = DSC.replace("(0, 0)", '("no", "x")').replace("(1, 0)", "(yes, x)")
    assert from_text(named, "dsc") == from_text(DSC, "dsc")


def test_intervals_as_states_of_a_net_file() -> None:
    text = "net {} node X { states = ([0;5[ [5;10] ); } potential (X) { data = (0.5 0.5); }"
    assert from_text(text, "net").domain.states == (("[0;5[", "[5;10]"),)


def test_packed_files(tmp_path: Path) -> None:
    (tmp_path / "n.net.xz").write_bytes(lzma.compress(NET.encode()))
    assert read(tmp_path / "n.net.xz") == from_text(BIF, "bif")
    (tmp_path / "n.net.xz").write_bytes(lzma.compress(NET.encode())[:-9])
    with pytest.raises(ParseError, match="this xz file is damaged"):
        read(tmp_path / "n.net.xz")


def test_a_deterministic_node_and_one_whose_numbers_are_no_table() -> None:
    cpt = '<cpt id="A"><state id="a"/><state id="b"/><probabilities>0.5 0.5</probabilities></cpt>'
    child = '<{0} id="B"><state id="x"/><state id="y"/><parents>A</parents>{1}</{0}>'
    results = "<resultingstates>y x</resultingstates>"
    text = f"<smile><nodes>{cpt}{child.format('deterministic', results)}</nodes></smile>"
    directions = from_text(text, "xdsl").directions
    assert directions is not None
    assert directions.tables[1] is not None
    assert directions.tables[1].tolist() == [[0, 1], [1, 0]]
    text = f"<smile><nodes>{cpt}{child.format('noisymax', '')}</nodes></smile>"
    with pytest.warns(FormatWarning, match="1 variable without some probabilities"):
        model: Model = read_stream(io.StringIO(text))
    assert isinstance(model, Structure)
    assert model.pairs() == [("A", "B")]


@pytest.mark.parametrize(
    ("format", "old", "new"),
    [
        ("xmlbif", "0.1 0.2 0.7", "0 0 0"),
        ("xmlbif", "<TABLE>0.25 0.75</TABLE>", ""),
        ("xdsl", "0.1 0.2 0.7", "nan nan nan"),
        ("net", "data = (0.25 0.75)", "model_data = (Distribution (1, 3))"),
    ],
)
def test_rows_that_were_never_filled_in_leave_the_structure(
    format: str, old: str, new: str
) -> None:
    with pytest.warns(FormatWarning, match="without some probabilities"):
        model = read_stream(io.StringIO(TEXTS[format].replace(old, new, 1)), format=format)
    assert model == from_text(BIF, "bif").structure


def test_text_that_is_older_than_utf8() -> None:
    with pytest.warns(FormatWarning, match="reading it as Windows-1252"):
        model = read_stream(io.BytesIO(DSC.replace('"no"', '"né"').encode("cp1252")))
    assert model.domain.states[0] == ("né", "yes")
    text = XMLBIF.replace('"1.0"', '"1.0" encoding="iso-8859-1"').replace("no<", "né<")
    assert read_stream(io.BytesIO(text.encode("latin-1"))).domain.states[0] == ("né", "yes")


@pytest.mark.parametrize(
    ("format", "old", "new", "message"),
    [
        ("xmlbif", 'TYPE="nature"', 'TYPE="decision"', "'A' is of type 'decision', not 'nature'"),
        ("xmlbif", "<FOR>B</FOR>", "<FOR>A</FOR>", "'A' has two probabilities"),
        ("xmlbif", "<GIVEN>A</GIVEN>", "<GIVEN>Z</GIVEN>", "unknown variable 'Z'"),
        ("xmlbif", "<GIVEN>A</GIVEN>", "", "'C' needs 6 numbers, got 12"),
        ("xmlbif", "<FOR>A</FOR>", "<FOR>A</FOR><GIVEN>C</GIVEN>", "'A' needs 6 numbers, got 2"),
        ("xmlbif", "<GIVEN>A</GIVEN>", "<GIVEN>B</GIVEN>", "the parents of 'C' must differ"),
        ("xmlbif", "0.25 0.75", "0.25 0.95", "has the sum 1.2, not 1"),
        ("xmlbif", "0.25 0.75", "0.25 x", "expected a probability, got 'x'"),
        ("xmlbif", "</NETWORK>", "", "this is not valid XML: mismatched tag"),
        ("xmlbif", "<NAME>C</NAME>", "", "expected one <NAME> in <VARIABLE>, got 0"),
        ("xmlbif", "<!ELEMENT", '<!ENTITY a "b"><!ELEMENT', "declares entities"),
        ("xdsl", '<cpt id="A">', '<equation id="A">', "not valid XML: mismatched tag"),
        ("xdsl", "<smile", "<other", "not valid XML: mismatched tag"),
        ("xdsl", "</nodes>", '<equation id="x"/></nodes>', "'x' is continuous (an equation)"),
        ("xdsl", "</nodes>", '<decision id="x"/></nodes>', "'x' is a decision"),
        ("xdsl", "</nodes>", '<other id="x"/></nodes>', "unknown kind of node <other>"),
        ("net", "node C", "continuous node C", "'C' is continuous; only discrete"),
        ("net", "node C", "utility C", "'C' is a utility; only discrete"),
        ("net", 'states = ("x" "y");', "", "'B' has no states"),
        ("net", "(C | A B)", "(C B | A)", "potential of one variable given its parents"),
        ("net", "(C | A B)", "(C | A C)", "the parents of 'C' must differ"),
        ("net", "potential (B | )", "potential (A)", "'A' has two probabilities"),
        ("net", "node A", "something A", "expected net, node or potential, got 'something'"),
        ("net", '"yes"', '"yes', "a quoted name has no end"),
        ("dsc", "(0, 0)", "(2, 0)", "'A' has no state '2'"),
        ("dsc", "[ 3 ]", "[ 4 ]", "'C' has 3 states, expected 4"),
        ("dsc", "discrete [ 3 ]", "continuous [ 3 ]", "only discrete variables can be read"),
    ],
)
def test_bad_network_files(format: str, old: str, new: str, message: str) -> None:
    assert old in TEXTS[format]
    with pytest.raises(ContextwiseError) as caught:
        from_text(TEXTS[format].replace(old, new, 1), format)
    assert message in str(caught.value)


def test_a_cycle_is_an_error() -> None:
    text = "net {} node A { states = (a b); } node B { states = (a b); } "
    text += "potential (A | B) {} potential (B | A) {}"
    with pytest.raises(ParseError, match="the network has a cycle: "):
        from_text(text, "net")


def test_names_of_a_network_may_be_any_words() -> None:
    text = 'net {} node "N 1" { states = ("(" "a;b" "10%"); } potential ("N 1") { data = (1 0 0); }'
    model = from_text(text, "net")
    assert isinstance(model, LogLinear)
    assert model.domain.states == (("(", "a;b", "10%"),)
