"""Read and write model files.

`FORMATS` describes every format once: the command line, its help, the explorer and the tests of all
formats follow this table. `read`, `write` and the other functions are in `io`; they and the modules
of the formats are imported on first use, so that importing this room is fast.

To add a format, write a module here with a function ``read(source)`` and, if possible,
``write(model)``, and add its line to `FORMATS`.
"""

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from contextwise.errors import ContextwiseError
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
    "write",
]


class Format(NamedTuple):
    """A file format and the functions for it, as ``module.function`` of this room.

    Formats of other packages, which bring them by the entry points ``contextwise.formats``, name
    functions as ``package.module:function``.
    """

    name: str
    suffixes: tuple[str, ...]
    reader: str
    writer: str = ""
    """Empty if the format cannot be written."""
    start: bytes | str = b"(?!)"
    """A pattern of the first bytes of a file, or a function of all of them."""
    holds: tuple[str, ...] = ()
    """The content that a written file keeps: features and weights, claims, facts of `encode`."""

    def read(self, source: "Source") -> "Model":
        model: Model = self._call(self.reader, source.of_format(self.name))
        return model

    def write(self, model: "Model") -> bytes:
        data: bytes = self._call(self.writer, model)
        return data

    def _call(self, path: str, argument: Any) -> Any:
        """Call a function of the format; name the package if one of another package fails."""
        if ":" not in path:
            return _function(path)(argument)
        try:
            return _function(path)(argument)
        except ContextwiseError:
            raise
        except Exception as problem:
            text = f"{path}, of the format {self.name}, failed: {type(problem).__name__}: {problem}"
            raise ContextwiseError(text) from problem

    def fits(self, data: bytes) -> bool:
        """Return whether data looks like a file of this format."""
        if isinstance(self.start, str):
            return bool(_function(self.start)(data))
        return re.match(self.start, data) is not None


def _function(path: str) -> Any:
    home, colon, theirs = path.partition(":")
    if colon:
        return getattr(import_module(home), theirs)
    module, _, name = path.partition(".")
    return getattr(import_module(f"contextwise.formats.{module}"), name)


FORMATS = (
    Format(
        "mn",
        (".mn",),
        "libra.read_mn",
        "libra.write_mn",
        start=rb"(?i)[\s0-9,]+mn\s*\{",
        holds=("features",),
    ),
    Format(
        "json",
        (".json",),
        "json.read",
        "json.write",
        start=rb"\s*\{",
        holds=("features", "claims", "unknown states", "directions", "data"),
    ),
    Format("bn", (".bn",), "libra.read_bn", start=rb"(?i)[\s0-9,]+bn\s*\{"),
    Format("dn", (".dn",), "libra.read_dn", start=rb"(?i)[\s0-9,]+dn\s*\{"),
    Format("uai", (".uai",), "uai.read", "uai.write", start=rb"(?i)\s*(?:markov|bayes)"),
    Format(
        "bif",
        (".bif",),
        "bif.read",
        "bif.write",
        # Possessive (*+): blanks and comments are matched once, without backtracking.
        start=rb"(?:\s|//[^\n]*\n|/\*[^*]*(?:\*(?!/)[^*]*)*\*/)*+(?:network|variable)\b",
        holds=("directions",),
    ),
    Format(
        "xmlbif",
        (".bifxml", ".xmlbif", ".xbif", ".xml"),
        "networks.read_xmlbif",
        start=rb"(?i)(?:\s|<\?[^>]*>|<!--(?:[^-]|-(?!->))*-->)*+<(?:!DOCTYPE\s+)?BIF\b",
    ),
    Format("net", (".net",), "networks.read_net", start=rb"(?:\s|%[^\n]*\n)*+(?:net\s*\{|class\s)"),
    Format(
        "xdsl",
        (".xdsl",),
        "networks.read_xdsl",
        start=rb"(?:\s|<\?[^>]*>|<!--(?:[^-]|-(?!->))*-->)*+<smile\b",
    ),
    Format("dsc", (".dsc",), "bif.read_dsc", start=rb"\s*(?:belief\s+network\b|node\b)"),
    Format(
        "modelstring",
        (".txt", ".modelstring"),
        "graphs.read_modelstring",
        start=rb"\s*[\"']?\[[^\[\]\n]+\]|(?s:.{0,200}?)\n\s*model:\s*\n",
    ),
    Format("tetrad", (".txt", ".graph"), "graphs.read_tetrad", start=rb"(?i)\s*graph nodes:"),
    Format(
        "dot",
        (".dot", ".gv", ".dagitty", ".dag", ".txt", ".r"),
        "graphs.read_dot",
        start=rb"(?:\s|//[^\n]*\n|/\*[^*]*(?:\*(?!/)[^*]*)*\*/)*+"
        rb"(?:strict\s+)?(?:(?:di)?graph|p?dag|mag)\b[^\[]*?\{|[^\[{]*\bdagitty\s*\(",
    ),
    Format("gml", (".gml",), "graphs.read_gml", start=rb"(?s)(?!\s*[\[{<]).{0,2000}?\bgraph\s*\["),
    Format(
        "graphml",
        (".graphml", ".xml"),
        "networks.read_graphml",
        start=rb"(?:\s|<\?[^>]*>|<!--(?:[^-]|-(?!->))*-->)*+<graphml\b",
    ),
    Format(
        "bnet",
        (".bnet",),
        "graphs.read_bnet",
        start=rb"(?i)\s*(?:#[^\n]*\n\s*)*+targets\s*,\s*factors",
    ),
    Format("edges", (".csv", ".txt", ".tsv", ".edges"), "matrices.read", start="matrices.is_graph"),
    Format("rda", (".rda", ".rds", ".rdata"), "r_files.read", start="r_files.is_model"),
)
"""The formats; data without a file name has the first that fits."""


@cache
def other_formats() -> tuple[Format, ...]:
    """Return the formats that other packages bring, by entry points."""
    from importlib.metadata import entry_points

    return tuple(each.load() for each in entry_points(group="contextwise.formats"))


if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        __name__, dict.fromkeys(set(__all__) - globals().keys(), "io")
    )
