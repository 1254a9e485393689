"""A small file of every format, and words that the fuzz tests put together."""

from __future__ import annotations

from typing import NamedTuple

from contextwise.formats import FORMATS


class Sample(NamedTuple):
    """A file of a format, and words of its language."""

    file: str
    words: str


_TREES = "2,3\n{} {{\nv1 {{\ntree {{ (v0_0 (v1_2 -0.5108 -1.6094) -1.0986) }}\n}}\n}}\n"
_LIBRA_WORDS = "{ } ( ) features table tree w v1 v0_0 +v0_1 -v1_2 +v9_0 +v0_9 2,3,2 1 -0.5 inf -inf"

SAMPLES = {
    "mn": Sample(
        '2,3\nMN {\n0.5 +v0_1 -v1_2\n}\ncontextwise 1 {"names": ["A", "B"]}\n',
        f"MN contextwise {_LIBRA_WORDS}",
    ),
    "json": Sample(
        '{"format": "contextwise", "version": 1, "variables": [{"name": "A", "states": '
        '["no", "yes"]}, {"name": "B", "states": [0, 1, 2]}], "features": [{"A": "yes", "B": '
        '[1, 2]}], "weights": [0.5]}',
        '"format" "contextwise" "version" "variables" "features" "weights" { } [ ] : , 1 '
        '1e400 "inf" nan null true "A" "B"',
    ),
    "bn": Sample(
        _TREES.format("BN"),
        f"BN {_LIBRA_WORDS}",
    ),
    "dn": Sample(
        _TREES.format("DN"),
        f"DN {_LIBRA_WORDS}",
    ),
    "uai": Sample(
        "MARKOV\n2\n2 3\n1\n2 0 1\n6\n1 2 3 4 5 6\n",
        "MARKOV BAYES c # 0 1 2 3 -1 0.5 1e400 nan",
    ),
    "bif": Sample(
        "variable A { type discrete [ 2 ] { no, yes }; }\n"
        "variable B { type discrete [ 3 ] { 0, 1, 2 }; }\nprobability ( A ) { table 0.5, 0.5; }\n"
        "probability ( B | A ) { (no) 0.2, 0.3, 0.5; default 0.1, 0.1, 0.8; }\n",
        "network variable probability type discrete table default property A B no yes "
        "{ } ( ) [ ] ; , | 2 0.5 1e400 NaN \" ' // /* */",
    ),
    "xmlbif": Sample(
        '<BIF VERSION="0.3"><NETWORK>\n<VARIABLE TYPE="nature"><NAME>A</NAME>'
        "<OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>\n<VARIABLE><NAME>B</NAME>"
        "<OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>\n<DEFINITION><FOR>A</FOR><TABLE>0.5 "
        "0.5</TABLE></DEFINITION>\n<DEFINITION><FOR>B</FOR><GIVEN>A</GIVEN><TABLE>0.2 0.8 0.6 0.4"
        "</TABLE></DEFINITION>\n</NETWORK></BIF>\n",
        "<BIF> </BIF> <NETWORK> </NETWORK> <VARIABLE> <NAME> A </NAME> <OUTCOME> </OUTCOME> "
        "<DEFINITION> <FOR> <GIVEN> <TABLE> 0.5 -1 </TABLE> <!ENTITY > &lt; &a; <!-- --> <?xml ?>",
    ),
    "net": Sample(
        'net { }\nnode A { states = ("no" "yes"); }\nnode B { states = ("x" "y" "z"); }\n'
        "potential (A) { data = (0.5 0.5); } % even\n"
        "potential (B | A) { data = ((0.2 0.3 0.5) (0.1 0.1 0.8)); }\n",
        'net node potential class continuous A B states data = ( ) { } | ; "no" 0.5 NaN % \\',
    ),
    "xdsl": Sample(
        '<smile version="1.0"><nodes>\n<cpt id="A"><state id="no"/><state id="yes"/>'
        '<probabilities>0.5 0.5</probabilities></cpt>\n<deterministic id="B"><state id="x"/>'
        '<state id="y"/><parents>A</parents><resultingstates>y x</resultingstates>'
        "</deterministic>\n</nodes></smile>\n",
        '<smile> </smile> <nodes> </nodes> <cpt id="A"> </cpt> <state id="x"/> <parents> A '
        '</parents> <probabilities> 0.5 </probabilities> <equation/> <noisymax id="B"> &a; " <',
    ),
    "dsc": Sample(
        'belief network "n"\nnode A { type : discrete [ 2 ] = { "no", "yes" }; }\n'
        'node B { type : discrete [ 2 ] = { "x", "y" }; }\nprobability ( A ) { 0.5, 0.5; }\n'
        "probability ( B | A ) { (0) : 0.2, 0.8; (1) : 0.6, 0.4; }\n",
        'belief network node probability type : discrete = { } ( ) [ ] ; , | "no" A B 2 0.5',
    ),
    "modelstring": Sample(
        "[A][C][B|A:C]\n",
        "[ ] | : [A] [B|A] [C|A:B] [ ]",
    ),
    "tetrad": Sample(
        "Graph Nodes:\nA;B;C\n\nGraph Edges:\n1. A --> B\n2. C --> B\n",
        "Graph Nodes: Edges: A;B;C --> --- o-> <-> 1. A B C ;",
    ),
    "dot": Sample(
        'digraph G {\n  A [label="a b"];\n  edge [dir=forward] A -> B;\n  C -> B\n}\n',
        'digraph graph dag strict subgraph { } [ ] = ; -> -- <-> A B "C" dir none // /* */',
    ),
    "gml": Sample(
        'graph [\n directed 1\n node [ id 0 label "A" ]\n node [ id 1 label "B" ]\n'
        " edge [ source 0 target 1 ]\n]\n",
        'graph node edge [ ] id label source target directed 0 1 "A" "B" 1e9999',
    ),
    "graphml": Sample(
        '<graphml><key id="d" for="node" attr.name="label"/><graph edgedefault="directed">\n'
        '<node id="0"><data key="d">A</data></node><node id="1"/><node id="2"/>\n'
        '<edge source="0" target="1"/><edge source="2" target="1"/></graph></graphml>\n',
        '<graphml> </graphml> <graph> </graph> <node id="0"/> <node id="A"> </node> <edge source= '
        'target= directed="true" edgedefault="undirected" &a; " <data key="d"> </data>',
    ),
    "bnet": Sample(
        "targets, factors\nB, A & !C\nD, B | C\n",
        "targets, factors A B C , & | ! ( ) # 1 0",
    ),
    "edges": Sample(
        "from,to\nA,B\nC,B\n",
        "from,to source,target A,B A --> B ,0,1 0,1,0 1,0,0 0.5 -1 2 ; , \t",
    ),
}
BINARY = {"rda"}
"""Formats whose files are no text."""

assert {known.name for known in FORMATS} == SAMPLES.keys() | BINARY
