"""Functions that read and write models in files.

`read` and `write` choose the format by the suffix of the file name, or by ``format=``. A ``.gz``
after any suffix compresses the file. A file with weights gives a `LogLinear`, any other a
`Structure`. Its ``origin.file`` is a `contextwise.models.origin.ModelFile`.

Functions that take a model also take the path of a file, the name of a bundled example, or a fitted
learner: they call `as_model`, `as_structure` or `as_log_linear`.
"""

from __future__ import annotations

import os
import warnings
from pkgutil import get_data
from typing import IO, Any, Literal

from contextwise.errors import ContextwiseError
from contextwise.formats import FORMATS, Format, other_formats
from contextwise.formats.graphs import is_graph_text, model_of_graph, read_graph_text
from contextwise.formats.reading import FormatWarning, Source
from contextwise.models.structure import (
    LogLinear,
    Model,
    Structure,
    numbers_of,
    require_features,
    structure_of,
)
from contextwise.support import files

ZeroWeights = Literal["keep", "drop"]
ModelLike = Model | str | os.PathLike[str]
"""A model, the path of its file, or the name of a bundled example.

A fitted learner works too, and a graph of networkx, pgmpy or causal-learn.
"""

EXAMPLES = (
    "six",
    "six-guess",
    "six-graph",
    "lung",
    "lung-learned",
    "survey",
    "survey-learned",
)
"""The bundled examples; a variant follows the model it differs from."""


HINTS = {
    (".dne", ".neta"): "Netica and GeNIe save such files as .dsc or .xdsl",
    (".pgmx", ".elv"): "OpenMarkov saves such files as .net or .bif",
    (".dsl", ".o3prm", ".bgum", ".jgum"): "pyAgrum converts such files to .bif",
    (".xbn",): "pgmpy converts such files to .bif",
    (".aeon", ".sbml"): "biodivine_aeon converts such files to .bnet",
    (".gexf", ".edgelist", ".pickle", ".pkl"): "networkx converts graphs to .gml",
}
"""Advice on the networks of other programs, by their suffixes."""
ROWS = (".xlsx", ".xls", ".parquet", ".arff", ".sav", ".dta", ".data")
"""Suffixes of files that have rows."""


def as_model(
    model: ModelLike, *, format: str | None = None, zero_weights: ZeroWeights = "keep"
) -> Model:
    """Return a model, from an object, a file, an example, or the text of a graph."""
    if isinstance(model, str) and is_graph_text(model) and not os.path.exists(model):
        return read_graph_text(Source(model.encode(), "this text"))
    if isinstance(model, str | os.PathLike):
        return read(model, format=format, zero_weights=zero_weights)
    known: Any = model
    if not isinstance(known, Structure | LogLinear):
        # The networks of pgmpy have a method `fit` too, so graphs come first.
        graph = model_of_graph(known)
        known = _learned(known, "structure_") if graph is None else graph
        structure_of(known)  # raises if it is not a model
    return _with_zero_weights(known, zero_weights)


def as_structure(model: ModelLike, *, zero_weights: ZeroWeights = "keep") -> Structure:
    """Return the structure of a model, from an object, a file or an example."""
    return structure_of(as_model(model, zero_weights=zero_weights))


def as_log_linear(model: ModelLike) -> LogLinear:
    """Return a model with weights, from an object, a file or an example; raise if it has none."""
    loaded = as_model(_learned(model, "model_"))
    numbers = numbers_of(loaded)
    if numbers is not None:
        return numbers
    require_features(loaded, "a distribution")
    name = f"{os.fspath(model)}: " if isinstance(model, str | os.PathLike) else ""
    raise ContextwiseError(f"{name}this model has no weights; fit them with fit()")


def _learned(model: Any, attribute: str) -> Any:
    """Return the result of a fitted learner, or any other object unchanged."""
    if not hasattr(model, "fit"):
        return model
    if not hasattr(model, "structure_"):
        name = type(model).__name__
        raise ContextwiseError(f"this {name} is not fitted; call its fit(data) first")
    return getattr(model, attribute)


def read(
    path: str | os.PathLike[str], *, format: str | None = None, zero_weights: ZeroWeights = "keep"
) -> Model:
    """Read a model from a file, or a bundled example by its name.

    Parameters
    ----------
    path : path of a file, or name of an example
        Write ``./lung`` for a file that is called like an example.
    format : name of a format, optional
        By default the suffix decides; see `FORMATS`.
    zero_weights : "keep" or "drop"
        What to do with features whose weight is exactly 0.

    Returns
    -------
    LogLinear if the file has weights, Structure otherwise

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.mn"
    >>> _ = path.write_text("2,3\\nMN {\\n0.5 +v0_1 -v1_2\\n}\\n")
    >>> read(path)
    LogLinear(2 variables, 1 feature: 0.5 v0=1 & v1!=2)
    >>> read("lung").domain
    Domain(smoker: no|yes, asbestos: no|yes, cancer: no|yes)
    """
    name = os.fspath(path)
    if name in EXAMPLES:
        return _with_zero_weights(read_example(name), zero_weights)
    if format is None and not os.path.splitext(name)[1] and not os.path.exists(name):
        raise ContextwiseError(
            f"{name or repr(name)}: no such file or example; the examples are {', '.join(EXAMPLES)}"
        )
    format_of(path, format)  # raises before the file is read
    source = Source(files.read_bytes(path), name)
    return _with_zero_weights(_chosen(source, format).read(source), zero_weights)


def read_example(name: str) -> Model:
    """Read a bundled example."""
    if name not in EXAMPLES:
        raise ContextwiseError(f"unknown example {name!r}; the examples are {', '.join(EXAMPLES)}")
    return _named("json").read(Source(get_data("contextwise", f"truths/{name}.json") or b"", name))


def read_stream(
    stream: IO[bytes] | IO[str],
    *,
    name: str | None = None,
    format: str | None = None,
    zero_weights: ZeroWeights = "keep",
) -> Model:
    """Read a model from an open stream; without ``format`` or ``name`` its content decides."""
    content = stream.read()
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    called = name or "standard input"
    source = Source(files.unpacked(data, called), called)
    by_content = format is None and name is None
    chosen = _fitting(source) if by_content else _chosen(source, format)
    return _with_zero_weights(chosen.read(source), zero_weights)


def write(model: Model, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write a model to a file, all or nothing.

    Parameters
    ----------
    model : Structure or LogLinear
    path : path of the file
        The suffix decides the format; ``.gz`` after it compresses the file.
    format : name of a format, optional
        Overrides the suffix.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from contextwise import Structure
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.json.gz"
    >>> write(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), path)
    >>> read(path)
    Structure(2 variables, 1 feature: A=1 & B=1)
    """
    data = encode(_learned(model, "model_"), format_of(path, format, to_write=True).name)
    files.write_bytes(path, files.packed(data, path))


def check_target(path: str | os.PathLike[str]) -> None:
    """Raise, before long work, if `write` could not write to this path."""
    format_of(path, to_write=True)
    files.check_target(path)


def encode(model: Model, format: str) -> bytes:
    """Return the bytes of a model file."""
    chosen = _named(format)
    if not chosen.writer:
        able = ", ".join(f.name for f in FORMATS if f.writer)
        raise ContextwiseError(f"cannot write {chosen.name} files; use one of {able}")
    structure = structure_of(model)
    if "claims" not in chosen.holds:
        require_features(structure, f"a {chosen.suffixes[0]} file")
    is_directed = structure.directions is not None or structure.origin.directed
    facts = (
        ("unknown states", structure.origin.unknown_states, "that the states are unknown"),
        ("directions", is_directed, "that the model is directed"),
        ("data", structure.origin.reading, "how rows are read (bins, missing values)"),
    )
    lost = [text for fact, holds, text in facts if holds and fact not in chosen.holds]
    if lost:
        warnings.warn(
            f"a {chosen.suffixes[0]} file does not record {', and '.join(lost)}; write .json to "
            "keep it",
            FormatWarning,
            stacklevel=3,
        )
    return chosen.write(model)


def format_of(
    path: str | os.PathLike[str], format: str | None = None, *, to_write: bool = False
) -> Format:
    """Return the format of that name, or the format of a path by its suffix.

    ``to_write`` is for the target of a command, where only the suffix decides.
    """
    if format is not None:
        return _named(format)
    name = files.without_packing(os.fspath(path)).lower()
    able = [f for f in FORMATS if f.writer or not to_write]
    for known_formats in (lambda: able, other_formats):  # those of other packages load slowly
        for candidate in known_formats():
            if name.endswith(candidate.suffixes) and (candidate.writer or not to_write):
                return candidate
    known = ", ".join(dict.fromkeys(suffix for f in able for suffix in f.suffixes))
    wrong = "unknown suffix"
    if to_write:
        wrong = f"cannot write {os.path.splitext(name)[1] or 'a file without a suffix'}"
    usable = f"use one of {known} (each also with .gz or .xz)"
    if not to_write:
        rows = f"for rows, learn a structure first: contextwise learn {path}"
        advice = {**HINTS, ROWS: rows}.items()
        hints = [f"{hint}; " for suffixes, hint in advice if name.endswith(suffixes)]
        usable = f"{''.join(hints)}{usable}, or name the format, one of {_names()}"
    raise ContextwiseError(f"{os.fspath(path)}: {wrong}; {usable}")


def _chosen(source: Source, format: str | None) -> Format:
    """Return the named format, or of those with the suffix of the file the first that fits.

    If none fits, return any other that does, such as XML in a ``.bif`` file. Rows may look like
    anything, and the files of Libra name their format.
    """
    first = format_of(source.name, format)
    name = files.without_packing(source.name).lower()
    able = [f for f in FORMATS if format is None and name.endswith(f.suffixes)] or [first]
    is_sure = format is not None or first.reader.startswith("libra.")
    may_be_rows = isinstance(able[-1].start, str)
    others = () if is_sure or may_be_rows else FORMATS
    return next((f for f in (*able, *others) if f.fits(source.data)), able[-1])


def _named(name: str) -> Format:
    for known in (lambda: FORMATS, other_formats):
        for candidate in known():
            if candidate.name == name:
                return candidate
    raise ContextwiseError(f"unknown format {name!r}; the formats are {_names()}")


def _fitting(source: Source) -> Format:
    for candidate in FORMATS:
        if candidate.fits(source.data):
            return candidate
    if not source.data.strip():
        raise source.error("the input is empty")
    raise source.error(f"unknown kind of model; name the format, one of {_names()}", line=1)


def _names() -> str:
    return ", ".join(f.name for f in FORMATS)


def _with_zero_weights(model: Model, zero_weights: ZeroWeights) -> Model:
    if zero_weights not in ("keep", "drop"):
        raise ContextwiseError(f"zero_weights must be 'keep' or 'drop', got {zero_weights!r}")
    if zero_weights == "drop" and isinstance(model, LogLinear):
        return model.without_zero_weights()
    return model
