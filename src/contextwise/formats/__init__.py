"""Read and write model files.

`FORMATS` describes every format once: the command line, its help, the explorer and the tests of all
formats follow this table. `read`, `write` and the other functions are in `io`; they and the modules
of the formats are imported on first use, so that importing this room is fast.

To add a format, write a module here with a function ``read(source)`` and, if possible,
``write(model)``, and add its line to `FORMATS`.
"""

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from contextwise.support.loading import lazy_names

if TYPE_CHECKING:
    from contextwise.formats.io import (
        EXAMPLES,
        ModelLike,
        ZeroWeights,
        as_log_linear,
        as_model,
        as_structure,
        check_target,
        encode,
        format_of,
        read,
        read_example,
        read_stream,
        write,
    )
    from contextwise.formats.reading import Source
    from contextwise.models.structure import Model

__all__ = [
    "EXAMPLES",
    "FORMATS",
    "Format",
    "ModelLike",
    "ZeroWeights",
    "as_log_linear",
    "as_model",
    "as_structure",
    "check_target",
    "encode",
    "format_of",
    "read",
    "read_example",
    "read_stream",
    "without_suffix",
    "write",
]


class Format(NamedTuple):
    """A file format and the functions for it, as ``module.function`` of this room."""

    name: str
    suffixes: tuple[str, ...]
    reader: str
    writer: str = ""
    """Empty if the format cannot be written."""
    start: bytes | str = b"(?!)"
    """A pattern of the first bytes of a file, or a function of all of them."""
    holds: tuple[str, ...] = ()
    """The content that a written file keeps: features and weights, claims, facts of `encode`."""
    example: str = ""
    """A small file, for the tests of all formats."""
    words: str = ""
    """Words of the format, which the fuzz tests put together."""

    def read(self, source: "Source") -> "Model":
        model: Model = _function(self.reader)(source)
        return model

    def write(self, model: "Model") -> bytes:
        data: bytes = _function(self.writer)(model)
        return data

    def fits(self, data: bytes) -> bool:
        """Return whether data looks like a file of this format."""
        if isinstance(self.start, str):
            return bool(_function(self.start)(data))
        return re.match(self.start, data) is not None


def without_suffix(name: str) -> str:
    """Remove the suffix of a model file: ``truth.bif.gz`` becomes ``truth``."""
    from contextwise.support import files

    plain = files.without_packing(name)
    for suffix in (suffix for known in FORMATS for suffix in known.suffixes):
        if plain.lower().endswith(suffix):
            return plain[: -len(suffix)]
    return name


def _function(path: str) -> Any:
    module, _, name = path.partition(".")
    return getattr(import_module(f"contextwise.formats.{module}"), name)


_TREES = "2,3\n{} {{\nv1 {{\ntree {{ (v0_0 (v1_2 -0.5108 -1.6094) -1.0986) }}\n}}\n}}\n"
_LIBRA_WORDS = "{ } ( ) features table tree w v1 v0_0 +v0_1 -v1_2 +v9_0 +v0_9 2,3,2 1 -0.5 inf -inf"

FORMATS = (
    Format(
        "mn",
        (".mn",),
        "libra.read_mn",
        "libra.write_mn",
        start=rb"(?i)[\s0-9,]+mn\s*\{",
        holds=("features",),
        example='2,3\nMN {\n0.5 +v0_1 -v1_2\n}\ncontextwise 1 {"names": ["A", "B"]}\n',
        words=f"MN contextwise {_LIBRA_WORDS}",
    ),
    Format(
        "json",
        (".json",),
        "json.read",
        "json.write",
        start=rb"\s*\{",
        holds=("features", "claims", "unknown states", "directions", "data"),
        example='{"format": "contextwise", "version": 1, "variables": [{"name": "A", "states": '
        '["no", "yes"]}, {"name": "B", "states": [0, 1, 2]}], "features": [{"A": "yes", "B": '
        '[1, 2]}], "weights": [0.5]}',
        words='"format" "contextwise" "version" "variables" "features" "weights" { } [ ] : , 1 '
        '1e400 "inf" nan null true "A" "B"',
    ),
    Format(
        "bn",
        (".bn",),
        "libra.read_bn",
        start=rb"(?i)[\s0-9,]+bn\s*\{",
        example=_TREES.format("BN"),
        words=f"BN {_LIBRA_WORDS}",
    ),
    Format(
        "dn",
        (".dn",),
        "libra.read_dn",
        start=rb"(?i)[\s0-9,]+dn\s*\{",
        example=_TREES.format("DN"),
        words=f"DN {_LIBRA_WORDS}",
    ),
    Format(
        "uai",
        (".uai",),
        "uai.read",
        "uai.write",
        start=rb"(?i)\s*(?:markov|bayes)",
        example="MARKOV\n2\n2 3\n1\n2 0 1\n6\n1 2 3 4 5 6\n",
        words="MARKOV BAYES c # 0 1 2 3 -1 0.5 1e400 nan",
    ),
    Format(
        "bif",
        (".bif",),
        "bif.read",
        "bif.write",
        # Possessive (*+): blanks and comments are matched once, without backtracking.
        start=rb"(?:\s|//[^\n]*\n|/\*[^*]*(?:\*(?!/)[^*]*)*\*/)*+(?:network|variable)\b",
        holds=("directions",),
        example="variable A { type discrete [ 2 ] { no, yes }; }\n"
        "variable B { type discrete [ 3 ] { 0, 1, 2 }; }\nprobability ( A ) { table 0.5, 0.5; }\n"
        "probability ( B | A ) { (no) 0.2, 0.3, 0.5; default 0.1, 0.1, 0.8; }\n",
        words="network variable probability type discrete table default property A B no yes "
        "{ } ( ) [ ] ; , | 2 0.5 1e400 NaN \" ' // /* */",
    ),
    Format(
        "xmlbif",
        (".bifxml", ".xmlbif", ".xbif", ".xml"),
        "xml_networks.read_xmlbif",
        start=rb"(?i)(?:\s|<\?[^>]*>|<!--(?:[^-]|-(?!->))*-->)*+<(?:!DOCTYPE\s+)?BIF\b",
        example='<BIF VERSION="0.3"><NETWORK>\n<VARIABLE TYPE="nature"><NAME>A</NAME>'
        "<OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>\n<VARIABLE><NAME>B</NAME>"
        "<OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>\n<DEFINITION><FOR>A</FOR><TABLE>0.5 "
        "0.5</TABLE></DEFINITION>\n<DEFINITION><FOR>B</FOR><GIVEN>A</GIVEN><TABLE>0.2 0.8 0.6 0.4"
        "</TABLE></DEFINITION>\n</NETWORK></BIF>\n",
        words="<BIF> </BIF> <NETWORK> </NETWORK> <VARIABLE> <NAME> A </NAME> <OUTCOME> </OUTCOME> "
        "<DEFINITION> <FOR> <GIVEN> <TABLE> 0.5 -1 </TABLE> <!ENTITY > &lt; &a; <!-- --> <?xml ?>",
    ),
    Format(
        "net",
        (".net",),
        "hugin.read",
        start=rb"(?:\s|%[^\n]*\n)*+(?:net\s*\{|class\s)",
        example='net { }\nnode A { states = ("no" "yes"); }\nnode B { states = ("x" "y" "z"); }\n'
        "potential (A) { data = (0.5 0.5); } % even\n"
        "potential (B | A) { data = ((0.2 0.3 0.5) (0.1 0.1 0.8)); }\n",
        words='net node potential class continuous A B states data = ( ) { } | ; "no" 0.5 NaN % \\',
    ),
    Format(
        "xdsl",
        (".xdsl",),
        "xml_networks.read_xdsl",
        start=rb"(?:\s|<\?[^>]*>|<!--(?:[^-]|-(?!->))*-->)*+<smile\b",
        example='<smile version="1.0"><nodes>\n<cpt id="A"><state id="no"/><state id="yes"/>'
        '<probabilities>0.5 0.5</probabilities></cpt>\n<deterministic id="B"><state id="x"/>'
        '<state id="y"/><parents>A</parents><resultingstates>y x</resultingstates>'
        "</deterministic>\n</nodes></smile>\n",
        words='<smile> </smile> <nodes> </nodes> <cpt id="A"> </cpt> <state id="x"/> <parents> A '
        '</parents> <probabilities> 0.5 </probabilities> <equation/> <noisymax id="B"> &a; " <',
    ),
    Format(
        "dsc",
        (".dsc",),
        "bif.read_dsc",
        start=rb"\s*(?:belief\s+network\b|node\b)",
        example='belief network "n"\nnode A { type : discrete [ 2 ] = { "no", "yes" }; }\n'
        'node B { type : discrete [ 2 ] = { "x", "y" }; }\nprobability ( A ) { 0.5, 0.5; }\n'
        "probability ( B | A ) { (0) : 0.2, 0.8; (1) : 0.6, 0.4; }\n",
        words='belief network node probability type : discrete = { } ( ) [ ] ; , | "no" A B 2 0.5',
    ),
    Format(
        "modelstring",
        (".txt", ".modelstring"),
        "graphs.read_modelstring",
        start=rb"\s*[\"']?\[[^\[\]\n]+\]",
        example="[A][C][B|A:C]\n",
        words="[ ] | : [A] [B|A] [C|A:B] [ ]",
    ),
    Format(
        "tetrad",
        (".txt", ".graph"),
        "graphs.read_tetrad",
        start=rb"(?i)\s*graph nodes:",
        example="Graph Nodes:\nA;B;C\n\nGraph Edges:\n1. A --> B\n2. C --> B\n",
        words="Graph Nodes: Edges: A;B;C --> --- o-> <-> 1. A B C ;",
    ),
    Format(
        "dot",
        (".dot", ".gv", ".txt"),
        "graphs.read_dot",
        start=rb"(?:\s|//[^\n]*\n|/\*[^*]*(?:\*(?!/)[^*]*)*\*/)*+"
        rb"(?:strict\s+)?(?:(?:di)?graph|p?dag)\b[^\[]*?\{",
        example='digraph G {\n  A [label="a b"];\n  edge [dir=forward] A -> B;\n  C -> B\n}\n',
        words='digraph graph dag strict subgraph { } [ ] = ; -> -- <-> A B "C" dir none // /* */',
    ),
    Format(
        "gml",
        (".gml",),
        "graphs.read_gml",
        start=rb"(?s)(?!\s*[\[{<]).{0,2000}?\bgraph\s*\[",
        example='graph [\n directed 1\n node [ id 0 label "A" ]\n node [ id 1 label "B" ]\n'
        " edge [ source 0 target 1 ]\n]\n",
        words='graph node edge [ ] id label source target directed 0 1 "A" "B" 1e9999',
    ),
    Format(
        "bnet",
        (".bnet",),
        "graphs.read_bnet",
        start=rb"(?i)\s*(?:#[^\n]*\n\s*)*+targets\s*,\s*factors",
        example="targets, factors\nB, A & !C\nD, B | C\n",
        words="targets, factors A B C , & | ! ( ) # 1 0",
    ),
    Format(
        "edges",
        (".csv", ".txt", ".tsv", ".edges"),
        "matrices.read",
        start="matrices.is_graph",
        example="from,to\nA,B\nC,B\n",
        words="from,to source,target A,B A --> B ,0,1 0,1,0 1,0,0 0.5 -1 2 ; , \t",
    ),
    Format("rda", (".rda", ".rds", ".rdata"), "r_files.read", start="r_files.is_model"),
)
"""The formats; data without a file name has the first that fits."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        __name__, dict.fromkeys(set(__all__) - globals().keys(), "io")
    )
