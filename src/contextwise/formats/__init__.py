"""Files to models and back.

`read` and `write` go by the suffix of the file's name; ``format=`` says otherwise. A ``.gz`` after
any suffix packs the file. Reading gives a `LogLinear` when the file has weights, else a
`Structure`; ``info`` of the result says where it comes from and what the file held:

- ``file`` and ``format``, and ``lines``, the number of lines of text;
- ``raw_features``: features as the file lists them, a table line and a tree leaf being one each;
- ``duplicates``: how many of them repeat an earlier one (their weights add up);
- ``contradictory``: how many can never hold and were dropped;
- ``zero_weights``: how many are listed with the weight 0.

Whatever takes a model takes an object, the path of a file, or the name of a bundled example;
`as_model`, `as_structure` and `as_log_linear` are how.

To add a format: a module here with its reader and writer, and its line in `FORMATS`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pkgutil import get_data
from typing import IO, Literal

from contextwise.errors import ContextwiseError
from contextwise.formats import bif, json, libra, uai
from contextwise.formats.reading import Format, Source
from contextwise.models.structure import LogLinear, Model, Structure, structure_of
from contextwise.support import files

FORMATS = (libra.MN, json.FORMAT, libra.BN, libra.DN, uai.FORMAT, bif.FORMAT)
"""The formats; the first that fits is taken for data without a name."""

ZeroWeights = Literal["keep", "drop"]
ModelLike = Model | str | os.PathLike[str]
"""A model, the path of its file, or the name of a bundled example."""

EXAMPLES = (
    "six",
    "six-guess",
    "six-graph",
    "lung",
    "lung-learned",
    "survey",
    "survey-learned",
)
"""The bundled examples; a variant follows the model it departs from."""


def as_model(
    model: ModelLike, *, format: str | None = None, zero_weights: ZeroWeights = "keep"
) -> Model:
    """The model itself, the one in a file, or a bundled example.

    Parameters
    ----------
    model : Structure, LogLinear, path of a file, or name of an example
        An example's name stands for the example; write ``./lung`` for a file that is called so.
    format, zero_weights
        As in `read`; without zero weights a model that is given as an object loses them, too.

    Returns
    -------
    Structure or LogLinear

    Examples
    --------
    >>> as_model("lung")
    LogLinear(3 variables, 5 features: ...)
    """
    if not isinstance(model, str | os.PathLike):
        structure_of(model)  # what is no model is an error
        return _with_zero_weights(model, zero_weights)
    name = os.fspath(model)
    if name in EXAMPLES:
        return _with_zero_weights(read_example(name), zero_weights)
    if not os.path.splitext(name)[1] and not os.path.exists(name):
        raise ContextwiseError(
            f"{name or repr(name)}: there is no such file, and no such example; "
            f"the examples are {', '.join(EXAMPLES)}"
        )
    return read(model, format=format, zero_weights=zero_weights)


def as_structure(model: ModelLike, *, zero_weights: ZeroWeights = "keep") -> Structure:
    """The structure of a model, of the model in a file, or of a bundled example.

    >>> as_structure("survey-learned")
    Structure(4 variables, 2 features: ...)
    """
    return structure_of(as_model(model, zero_weights=zero_weights))


def as_log_linear(model: ModelLike) -> LogLinear:
    """A model with weights, from an object, a file or an example; one without is an error.

    >>> as_log_linear("survey")
    Traceback (most recent call last):
    contextwise.errors.ContextwiseError: survey: this model has no weights; fit gives it some
    """
    found = as_model(model)
    if isinstance(found, LogLinear):
        return found
    name = f"{os.fspath(model)}: " if isinstance(model, str | os.PathLike) else ""
    raise ContextwiseError(f"{name}this model has no weights; fit gives it some")


def read_example(name: str) -> Model:
    """One of the bundled examples.

    >>> read_example("six-guess").info["file"]
    'six-guess'
    """
    if name not in EXAMPLES:
        raise ContextwiseError(
            f"no example is named {name!r}; the examples are {', '.join(EXAMPLES)}"
        )
    data = get_data("contextwise", f"truths/{name}.json") or b""
    return json.read(Source(data, name))


def read(
    path: str | os.PathLike[str], *, format: str | None = None, zero_weights: ZeroWeights = "keep"
) -> Model:
    """Read a model from a file.

    Parameters
    ----------
    path : path of a file
    format : name of a format, optional
        If the suffix does not say it; see `FORMATS`.
    zero_weights : "keep" or "drop"
        Whether features whose weight is exactly 0 stay.

    Returns
    -------
    LogLinear if the file has weights, Structure otherwise

    Raises
    ------
    FileError
        If the file cannot be read.
    ParseError
        If its text cannot be understood; it says the line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.mn"
    >>> _ = path.write_text("2,3\\nMN {\\n0.5 +v0_1 -v1_2\\n}\\n")
    >>> read(path)
    LogLinear(2 variables, 1 feature: 0.5 v0=1 & v1!=2)
    """
    chosen = format_of(path, format)
    source = Source(files.read_bytes(path), os.fspath(path))
    return _with_zero_weights(chosen.read(source), zero_weights)


def read_stream(
    stream: IO[bytes] | IO[str],
    *,
    name: str = "standard input",
    format: str | None = None,
    zero_weights: ZeroWeights = "keep",
) -> Model:
    """Read a model from an open stream.

    Parameters
    ----------
    stream : binary or text stream
    name : str
        What messages call it.
    format : name of a format, optional
        Without it the first bytes tell.
    zero_weights : "keep" or "drop"
        Whether features whose weight is exactly 0 stay.

    Returns
    -------
    LogLinear if there are weights, Structure otherwise

    Raises
    ------
    ParseError
        If the text cannot be understood; it says the line.

    Examples
    --------
    >>> import io
    >>> read_stream(io.StringIO("2,2\\nMN {\\n+v0_1 +v1_1\\n}\\n"))
    Structure(2 variables, 1 feature: v0=1 & v1=1)
    """
    content = stream.read()
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    source = Source(files.unpacked(data, name), name)
    chosen = _fitting(source) if format is None else _named(format)
    return _with_zero_weights(chosen.read(source), zero_weights)


def write(model: Model, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write a model to a file, all or nothing.

    Parameters
    ----------
    model : Structure or LogLinear
    path : path of the file
        The suffix says the format; ``.gz`` after it packs the file.
    format : name of a format, optional
        If the suffix does not say it.

    Raises
    ------
    ContextwiseError
        If the format is only read, or cannot hold this model.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from contextwise import Structure
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.json.gz"
    >>> write(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), path)
    >>> read(path)
    Structure(2 variables, 1 feature: A=1 & B=1)
    """
    data = encode(model, format_of(path, format).name)
    files.write_bytes(path, files.packed(data) if _is_packed(path) else data)


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse, before long work, a path that `write` would refuse whatever the model."""
    _writer(format_of(path, to_write=True))
    files.check_target(path)


def encode(model: Model, format: str) -> bytes:
    """A model as the bytes of a file of this format.

    Parameters
    ----------
    model : Structure or LogLinear
    format : name of a format

    Returns
    -------
    bytes

    Examples
    --------
    >>> from contextwise.models.structure import Structure
    >>> print(encode(Structure({"A": 2, "B": 2}, ["A=1 & B=1"]), "json").decode())
    {"format": "contextwise", "version": 1,
     "variables": [
      {"name": "A", "states": ["0", "1"]},
      {"name": "B", "states": ["0", "1"]}
     ],
     "features": [
      {"A": "1", "B": "1"}
     ]}
    """
    return _writer(_named(format))(model)


def _writer(chosen: Format) -> Callable[[Model], bytes]:
    if chosen.write is None:
        able = ", ".join(f.name for f in FORMATS if f.write)
        raise ContextwiseError(f"{chosen.name} files are only read; formats to write are {able}")
    return chosen.write


def _is_packed(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).lower().endswith(".gz")


def format_of(
    path: str | os.PathLike[str], format: str | None = None, *, to_write: bool = False
) -> Format:
    """The format of that name, or the one that the suffix of a path says.

    Parameters
    ----------
    path : of a file
    format : its name, optional
    to_write : whether it is the target of a command, where only the suffix can say the format

    Examples
    --------
    >>> format_of("learned.mn.gz").name
    'mn'
    """
    if format is not None:
        return _named(format)
    name = os.fspath(path).lower().removesuffix(".gz")
    for candidate in FORMATS:
        if name.endswith(candidate.suffixes):
            return candidate
    able = [f for f in FORMATS if f.write or not to_write]
    known = ", ".join(suffix for f in able for suffix in f.suffixes)
    raise ContextwiseError(
        f"{os.fspath(path)}: the suffix does not say what this file is; known are {known} (each "
        f"also with .gz)" + ("" if to_write else f"; or name its format, one of {_names()}")
    )


def _named(name: str) -> Format:
    for candidate in FORMATS:
        if candidate.name == name:
            return candidate
    raise ContextwiseError(f"unknown format {name!r}; the formats are {_names()}")


def _fitting(source: Source) -> Format:
    for candidate in FORMATS:
        if candidate.fits(source.data):
            return candidate
    if not source.data.strip():
        raise source.error("there is nothing to read")
    raise source.error(f"cannot tell what this is; name its format, one of {_names()}", line=1)


def _names() -> str:
    return ", ".join(f.name for f in FORMATS)


def _with_zero_weights(model: Model, zero_weights: ZeroWeights) -> Model:
    if zero_weights not in ("keep", "drop"):
        raise ContextwiseError(f"zero_weights is 'keep' or 'drop', not {zero_weights!r}")
    if zero_weights == "drop" and isinstance(model, LogLinear):
        return model.without_zero_weights()
    return model
