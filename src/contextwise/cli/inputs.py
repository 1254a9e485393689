"""How a command line names models and data: a file, or ``-`` for standard input.

A model can also be a bundled example. Its name stands for the example; write ``./name`` for a file
that is called the same.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeVar

import click
from click.shell_completion import CompletionItem

from contextwise.errors import ContextwiseError
from contextwise.models.notation import parse_names

if TYPE_CHECKING:
    from contextwise.data.rows import Data
    from contextwise.models.domain import Domain
    from contextwise.models.structure import LogLinear, Model

ZeroWeights = Literal["keep", "drop"]
Command = TypeVar("Command", bound=Callable[..., Any])


def complete_model(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """What a shell offers for a model: files, and the bundled examples.

    Parameters
    ----------
    ctx, param : of click
    incomplete : what was typed so far

    Returns
    -------
    list of CompletionItem
    """
    from contextwise import examples

    files = CompletionItem(incomplete, type="file")
    # bash shows either files or names: an empty word is completed by files.
    fitting = [n for n in examples.names() if incomplete and n.startswith(incomplete)]
    return [files, *map(CompletionItem, fitting)]


model_argument = partial(click.argument, shell_complete=complete_model)
"""An argument that names a model, or several with ``nargs=-1``."""

FORMATS = ("mn", "json", "bn", "dn", "uai", "bif")
"""The names of `contextwise.formats.FORMATS`, known without importing it."""

format_type = click.Choice(FORMATS)
format_option = click.option(
    "--format",
    "format_name",
    type=format_type,
    metavar="FORMAT",
    help=f"Read every file as this format: {', '.join(FORMATS)}.",
)
contexts_option = click.option(
    "--contexts",
    type=click.Choice(["fully-contextualized", "canonical"]),
    default="fully-contextualized",
    show_default=True,
    help="Contexts of the other variables, or full assignments.",
)
by_position_option = click.option(
    "--by-position",
    is_flag=True,
    help="The variables and states are the same in the same order, whatever their names.",
)
zero_weights_option = click.option(
    "--zero-weights",
    type=click.Choice(["keep", "drop"]),
    default="keep",
    show_default=True,
    help="Whether features of weight 0 count as structure.",
)


def reading_options(command: Command) -> Command:
    """How model files are read: the options ``--zero-weights`` and ``--format``."""
    return zero_weights_option(format_option(command))


def load(name: str, *, format: str | None = None, zero_weights: ZeroWeights = "keep") -> Model:
    """The model of that name: a bundled example, a file, or ``-`` for standard input.

    Parameters
    ----------
    name : as it was given
    format : of the file, optional
    zero_weights : "keep" or "drop"

    Returns
    -------
    Structure or LogLinear
    """
    from contextwise.formats import as_model, read_stream

    if name == "-":
        return read_stream(_standard_input(), format=format, zero_weights=zero_weights)
    return as_model(name, format=format, zero_weights=zero_weights)


def load_all(
    names: Sequence[str], *, format: str | None = None, zero_weights: ZeroWeights = "keep"
) -> list[Model]:
    """The models of these names; one that is named twice is read once.

    Parameters
    ----------
    names : as they were given
    format : of the files, optional
    zero_weights : "keep" or "drop"

    Returns
    -------
    list of Structure or LogLinear
    """
    only_one_from_stdin(names)
    loaded = {name: load(name, format=format, zero_weights=zero_weights) for name in names}
    return [loaded[name] for name in names]


def load_weighted(name: str, *, format: str | None = None) -> LogLinear:
    """The model of that name; a structure without weights is an error."""
    from contextwise.models.structure import LogLinear

    model = load(name, format=format)
    if not isinstance(model, LogLinear):
        raise ContextwiseError(
            f"{name}: this model has no weights; fit them to data first, with: contextwise fit"
        )
    return model


def load_rows(path: str, domain: Domain) -> Any:
    """The rows of a data file, or of standard input for ``-``, over the domain of a model."""
    return load_data(path, domain)


def load_data(path: str, domain: Domain | None) -> Data:
    """The rows of a data file, or of standard input for ``-``, as learners take them."""
    from contextwise.data.rows import as_data, parse_data

    return as_data(path, domain) if path != "-" else parse_data(*_unpacked_input(), domain)


def _unpacked_input() -> tuple[bytes, str]:
    """What standard input holds, and how messages name it."""
    from contextwise.support import files

    name = "standard input"
    return files.unpacked(_standard_input().read(), name), name


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise ContextwiseError("there is no standard input to read from")
    return sys.stdin.buffer


def pair_of(text: str, option: str) -> tuple[str, str]:
    """The two names that an option gives, as in ``A,B``."""
    names = parse_names(text)
    if len(names) != 2:
        raise click.UsageError(f"{option} takes two names, as in {option} A,B; not {text!r}")
    return names[0], names[1]


def only_one_from_stdin(names: Sequence[str | None]) -> None:
    """Refuse ``-`` where it is given twice: standard input can be read once."""
    if names.count("-") > 1:
        raise click.UsageError("only one model or data file can be read from standard input")


def short_names(names: Iterable[str]) -> list[str]:
    """The names for a table: without their folders, if that leaves different ones apart.

    >>> short_names(["runs/a.mn", "runs/b.mn"]), short_names(["one/a.mn", "two/a.mn"])
    (['a.mn', 'b.mn'], ['one/a.mn', 'two/a.mn'])
    >>> short_names(["runs/a.mn", "runs/a.mn"])
    ['a.mn', 'a.mn']
    """
    given = list(names)
    short = [os.path.basename(name) for name in given]
    return short if len(set(short)) == len(set(given)) else given
