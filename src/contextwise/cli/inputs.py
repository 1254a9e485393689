"""Load what a command line names: models, rows of data, and groups of model files.

A model is a file, a bundled example, a truth such as ``paper#3``, or ``-`` for standard input. An
example's name wins over a file of the same name; write ``./name`` for the file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, BinaryIO

import click

import contextwise as cw
from contextwise.errors import ContextwiseError
from contextwise.support.effort import NEVER, Deadline

if TYPE_CHECKING:
    from contextwise.data.options import RowOptions
    from contextwise.data.rows import Data
    from contextwise.evaluation.ensembles import Ensemble
    from contextwise.formats import ZeroWeights
    from contextwise.models.domain import Domain
    from contextwise.models.structure import Model


def load(
    name: str,
    format: str | None = None,
    zero_weights: ZeroWeights = "keep",
    by_values: float | None = None,
) -> Model:
    """Load a model from a file, a bundled example, a named truth, or ``-`` for standard input.

    With ``by_values``, return what its numbers claim, up to this tolerance.
    """
    if name == "-":
        model = cw.formats.read_stream(_standard_input(), format=format, zero_weights=zero_weights)
    else:
        try:
            # Most names are those of files or examples, and truths take 60 ms to load.
            is_known = format is not None or name in cw.formats.EXAMPLES or os.path.exists(name)
            if not is_known and cw.truths.named.is_truth(name):
                model = cw.truths.named.truth(name)
            else:
                model = cw.formats.as_model(name, format=format, zero_weights=zero_weights)
        except ContextwiseError:
            if not holds_ensembles([name], False):
                raise
            raise ContextwiseError(
                f"{name}: one model is needed here, got an ensemble; contextwise compare TRUE "
                "ENSEMBLE scores it"
            ) from None
    if by_values is None:
        return model
    if not isinstance(model, cw.LogLinear):
        raise ContextwiseError(f"{name}: --by-values needs a model with weights or tables")
    try:
        return cw.convert.by_values(model, tolerance=by_values, time_limit=time_left())
    except ContextwiseError as error:
        raise type(error)(f"{name}: {error}") from None


def deadline() -> Deadline:
    """Return when the command's --time-limit ends; `options.time_limit` starts the clock."""
    known: Deadline = click.get_current_context().meta.get("deadline", NEVER)
    return known


def time_left() -> float | None:
    return deadline().left()


def load_all(
    names: Sequence[str],
    format: str | None = None,
    zero_weights: ZeroWeights = "keep",
    by_values: float | None = None,
) -> list[Model]:
    """Load models; read one that is named twice only once."""
    only_one_from_stdin(names)
    loaded = {name: load(name, format, zero_weights, by_values) for name in names}
    return [loaded[name] for name in names]


def load_guesses(
    names: Sequence[str],
    true: Model,
    format: str | None = None,
    probabilities: bool = False,
    by_values: float | None = None,
) -> list[Model | Ensemble]:
    """Load models and ensembles; matrices of probabilities get the domain of the true model."""
    guesses: list[Model | Ensemble] = []
    for name in names:
        if not holds_ensembles([name], probabilities):
            guesses.append(load(name, format, by_values=by_values))
        elif by_values is None:
            guesses.append(cw.Ensemble.read(name, true.domain))
        else:
            raise ContextwiseError(f"{name}: --by-values is for single models, got an ensemble")
    return guesses


def holds_ensembles(names: Sequence[str], probabilities: bool) -> bool:
    """Return whether some of the files hold ensembles, without loading what reads them."""
    if not probabilities and not any(
        name.endswith(".json") or os.path.isdir(name) for name in names
    ):
        return False
    return any(cw.evaluation.ensembles.is_ensemble_file(name, probabilities) for name in names)


def load_data(
    path: str,
    options: RowOptions,
    model: Model | None = None,
    domain: Domain | None = None,
    *,
    for_graph: bool = False,
) -> Data:
    """Load the rows of a data file, or of standard input for ``-``; print what was decided.

    With a model, read them over its domain, as the rows that it was learned from; for a graph
    without states, read the columns that it has.
    """
    how = cw.data.rows.following(model, options)
    states = domain if model is None else model.domain
    if for_graph and states is not None:
        how, states = how._replace(names=states.names), None
    name = "standard input" if path == "-" else path
    with cw.support.effort.limited_reading(deadline()):
        if path == "-":
            content = cw.support.files.unpacked(_standard_input().read(), name)
            data = cw.data.rows.parse_data(content, name, states, how)
        else:
            data = cw.data.rows.as_data(path, states, how)
    if data.notes and not for_graph:  # the result of a check shows them
        text = f"{os.path.basename(name)}: {'; '.join(data.notes)}"
        click.echo(cw.support.formatting.printable(text), err=True)
    return data


ROWS_OR_MODEL = (".csv", ".data", ".txt", ".tsv", ".tab", ".dat", ".rds", ".rda", ".rdata")
"""Suffixes of rows that files of models may have too; the content decides."""


def is_data(name: str) -> bool:
    """Check for a bundled data set, or a file that no format of models claims."""
    if name in cw.data.options.BUNDLED or name == "-" or not os.path.isfile(name):
        return name in cw.data.options.BUNDLED or name.lower().endswith((".csv", ".data"))
    plain = cw.support.files.without_packing(name).lower()
    claiming = [known for known in cw.formats.FORMATS if plain.endswith(known.suffixes)]
    if not claiming and any(plain.endswith(each.suffixes) for each in cw.formats.other_formats()):
        return False
    for_rows = plain.endswith(ROWS_OR_MODEL)
    if bool(claiming) != for_rows:
        return for_rows
    if any(plain.endswith(suffixes) for suffixes in cw.formats.io.HINTS):
        return False
    content = cw.support.files.read_bytes(name)
    return not any(known.fits(content) for known in claiming or cw.formats.FORMATS)


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise ContextwiseError("there is no standard input to read from")
    return sys.stdin.buffer


def only_one_from_stdin(names: Sequence[str | None]) -> None:
    """Raise if ``-`` occurs twice; standard input can be read once."""
    if names.count("-") > 1:
        raise click.UsageError("only one model or data file can be read from standard input")


def short_names(names: Iterable[str]) -> list[str]:
    """Drop folders while all names stay different; a bare number keeps its folder.

    >>> short_names(["runs/a.mn", "runs/b.mn"]), short_names(["x/one/a.mn", "x/two/a.mn"])
    (['a.mn', 'b.mn'], ['one/a.mn', 'two/a.mn'])
    >>> short_names(["runs/mpl/1.json"])
    ['mpl/1.json']
    """
    paths = [name.replace(os.sep, "/").split("/") for name in names]
    short: list[str] = []
    for kept in range(1, max(map(len, paths), default=0) + 1):
        short = ["/".join(path[-kept:]) for path in paths]
        are_different = len(set(short)) == len(set(map(tuple, paths)))
        if are_different and not any(name.partition(".")[0].isdigit() for name in short):
            break
    return short


def parse_groups(
    ctx: click.Context, param: click.Parameter, texts: Sequence[str]
) -> dict[str, list[str]]:
    """Return the files of each group ``NAME=FILES``; a name may occur several times.

    >>> parse_groups(None, None, ["trees=t.mn", "pairs=p.mn", "trees=u.mn"])
    {'trees': ['t.mn', 'u.mn'], 'pairs': ['p.mn']}
    """
    groups: dict[str, list[str]] = {}
    for text in texts:
        name, _, pattern = text.partition("=")
        if not name or not pattern:
            raise click.UsageError(
                f"a group is written NAME=FILES, as in --group trees='runs/*.mn'; got {text!r}"
            )
        groups.setdefault(name, []).extend(_matching_files([pattern], name))
    return groups


def _matching_files(patterns: Sequence[str], group: str) -> list[str]:
    """Return the files that match the patterns of a group, in the order of their names."""
    import glob

    files: list[str] = []
    for pattern in patterns:
        matches = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else None
        if matches == []:
            raise ContextwiseError(f"{group}: no file matches {pattern}")
        files += [pattern] if matches is None else matches
    return files
