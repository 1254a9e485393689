"""Options that several commands share, one name with one meaning.

Parameters are named after the keywords of the public functions, so that a command can pass them
on. Nothing here imports NumPy, so that ``--help`` prints at once.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

import contextwise as cw
from contextwise.cli.commands import COMPARED, EFFORT, MODELS, ROWS
from contextwise.cli.inputs import load, load_all, load_data, parse_groups, short_names
from contextwise.data.options import FLAGS, RowOptions
from contextwise.errors import ContextwiseError, ParseError
from contextwise.formats import FORMATS
from contextwise.report import RENDERERS

if TYPE_CHECKING:
    from contextwise.comparison.context_weights import Weights
    from contextwise.comparison.question import Contexts, Question, Restriction
    from contextwise.evaluation.random_guesses import Chance
    from contextwise.formats import ZeroWeights
    from contextwise.models.structure import Align, Model

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

NOTHING_LEFT = "there is nothing to compare: no pair of variables is left"


def stacked(*decorators: Decorator) -> Decorator:
    """Apply decorators as if they were written below each other."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorated


def section(title: str, *decorators: Decorator) -> Decorator:
    """Apply decorators whose options the help lists under this title."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        before = len(getattr(command, "__click_params__", ()))
        command = stacked(*decorators)(command)
        added: list[Any] = command.__click_params__[before:]  # type: ignore[attr-defined]
        for param in added:
            param.section = title
        return command

    return decorated


def options_as(argument: str, kind: type[Any], *options: Decorator) -> Decorator:
    """Add options to a command and pass them as one argument, a named tuple.

    A dataclass would take a millisecond to define, on every start.
    """

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_tuple(*arguments: Any, **values: Any) -> Any:
            fields = {name: values.pop(name) for name in kind._fields}
            return command(*arguments, **{argument: kind(**fields)}, **values)

        return stacked(*options)(with_tuple)

    return decorated


option = partial(click.option, show_default=True)


def choice(name: str, *choices: str, help: str) -> Decorator:
    """Add an option that takes one of some words; the first is the default."""
    return option(name, type=words(choices), default=choices[0], help=help)


words = partial(click.Choice, case_sensitive=False)


LARGEST_NUMBER = 2**31 - 1
"""The largest number of things; arrays and threads are counted with it."""


class FiniteNumber(click.FloatRange):
    """A number other than nan and inf."""

    def convert(self, value: Any, *where: Any) -> float:
        given: float = super().convert(value, *where)
        if not math.isfinite(given):
            self.fail(f"must be a finite number, got {value}", *where)
        return given


def number(*names: str, least: int = 1, **more: Any) -> Decorator:
    """Add an option that takes a number of things."""
    return option(*names, type=click.IntRange(least, LARGEST_NUMBER), metavar="N", **more)


path = partial(option, type=click.Path())
positive = partial(option, type=FiniteNumber(min=0, min_open=True))
not_negative = partial(option, type=FiniteNumber(min=0))
share = partial(option, type=FiniteNumber(0, 1, min_open=True, max_open=True), metavar="SHARE")
"""Add an option that takes a number between 0 and 1."""


def complete_from(
    module: str, table: str, ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the keys of a table to the shell, with summaries; import its module only then."""
    entries = getattr(import_module(f"contextwise.{module}"), table)
    return [
        CompletionItem(name, help=getattr(entry, "summary", None))
        for name, entry in entries.items()
        if name.startswith(incomplete)
    ]


# -- models ----------------------------------------------------------------------------------------


def complete_model(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer files and the bundled examples to the shell."""
    # bash shows either files or names: complete an empty word by files.
    fitting = [
        name for name in cw.truths.bundled.names() if incomplete and name.startswith(incomplete)
    ]
    return [CompletionItem(incomplete, type="file"), *map(CompletionItem, fitting)]


model = partial(click.argument, shell_complete=complete_model)
"""Add an argument that names a model, or several with ``nargs=-1``."""
model_option = partial(click.option, metavar="MODEL", shell_complete=complete_model)
data = click.argument("data", type=click.Path())
domain_from = section(
    ROWS, model_option("--domain-from", help="Take the variables and states from this model.")
)

format_names = [known.name for known in FORMATS]
format_name = click.option(
    "--format",
    "format_name",
    type=words(format_names),
    metavar="FORMAT",
    help=f"Read every model file in this format: {', '.join(format_names)}.",
)
zero_weights = choice("--zero-weights", "keep", "drop", help="Keep or drop features of weight 0.")
by_position = click.option(
    "--by-position",
    "align",
    is_flag=True,
    callback=lambda ctx, param, flag: "position" if flag else "names",
    help="Match variables and states by position instead of by name.",
)


def _parse_tolerance(ctx: click.Context, param: click.Parameter, text: str | None) -> Any:
    try:
        tolerance = None if text is None else float(text)
    except ValueError:
        raise click.BadParameter(
            f"expected a tolerance, got {text!r}; put --by-values after the models"
        ) from None
    if tolerance is not None and not tolerance >= 0:
        raise click.BadParameter(f"the tolerance must be >= 0, got {text}")
    return tolerance


def _parse_tolerances(ctx: click.Context, param: click.Parameter, text: str | None) -> Any:
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"expected numbers such as 0,0.1,0.3, got {text!r}") from None


at = section(
    COMPARED,
    click.option(
        "--at",
        metavar="T,...",
        callback=_parse_tolerances,
        help="Also count only dependences stronger than these tolerances (log odds ratios).",
    ),
)


by_values = click.option(
    "--by-values",
    is_flag=False,
    flag_value="1e-9",
    callback=_parse_tolerance,
    metavar="[TOLERANCE]",
    help="Read the claims from the weights or tables: dependent where a log odds ratio exceeds "
    "the tolerance (default 0, up to rounding). Put it after the models.",
)


class Reading(NamedTuple):
    """The options for reading models, in the order of the parameters of `load`."""

    format_name: str | None
    zero_weights: ZeroWeights
    by_values: float | None


reading = section(MODELS, options_as("reading", Reading, zero_weights, format_name, by_values))

probabilities = section(
    COMPARED,
    click.option(
        "--probabilities", is_flag=True, help="Read .csv files as matrices of edge probabilities."
    ),
)


# -- what to compare -------------------------------------------------------------------------------


def _parse_pairs(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> list[tuple[str, str]] | None:
    pairs = []
    for text in texts:
        names = cw.models.notation.parse_names(text)
        if len(names) != 2:
            flag = param.opts[0]
            raise click.UsageError(f"{flag} needs two names, as in {flag} A,B; got {text!r}")
        pairs.append((names[0], names[1]))
    return pairs or None


def split_names(ctx: click.Context, param: click.Parameter, text: str | None) -> Any:
    """Parse an option's list of names."""
    return None if text is None else cw.models.notation.parse_names(text)


def pair_option(flag: str, help: str) -> Decorator:
    """Add a repeatable option that takes a pair of variables."""
    return click.option(flag, metavar="A,B", multiple=True, callback=_parse_pairs, help=help)


pairs = pair_option("--pairs", "Only this pair of variables; repeatable.")
variables = click.option(
    "--variables", metavar="A,B,...", callback=split_names, help="Only pairs of these variables."
)
context = click.option(
    "--context", metavar="'A=1, B=0|2'", help="Only contexts that agree with these states."
)


def _row_option(field: str) -> Decorator:
    flag, metavar, help = FLAGS[field]
    default = RowOptions._field_defaults[field]
    if "/" in flag:
        return click.option(flag, field, default=None, help=help)
    if "|" in metavar:
        return click.option(flag, field, type=words(metavar.split("|")), help=help)
    repeatable = isinstance(default, tuple)
    return click.option(flag, field, metavar=metavar, multiple=repeatable, help=help)


def _rows(command: Callable[..., Any]) -> Callable[..., Any]:

    @wraps(command)
    def with_options(*arguments: Any, **values: Any) -> Any:
        how = RowOptions(**{field: values.pop(field) for field in FLAGS})
        return command(*arguments, row_options=how, **values)

    return stacked(*map(_row_option, FLAGS))(with_options)


rows = section(ROWS, _rows)
"""Add the options for reading rows, as one argument ``row_options``."""


class Scope(NamedTuple):
    """The options that restrict a comparison."""

    pairs: list[tuple[str, str]] | None
    variables: Sequence[str] | None
    context: str | None
    data: str | None
    weights: str | None
    contexts: Contexts
    align: Align
    zero_weights: ZeroWeights
    format_name: str | None
    row_options: RowOptions
    by_values: float | None

    def load(self, name: str) -> Model:
        """Load a model; a comparison drops features of weight 0 itself, and counts them."""
        return load(name, self.format_name, by_values=self.by_values)

    def load_all(self, names: Sequence[str]) -> list[Model]:
        """Load several models."""
        return load_all(names, self.format_name, by_values=self.by_values)

    def keywords(self, model: Model) -> Restriction:
        """Return the keywords of `compare` for models over the domain of this one; read files."""
        keywords: Any = self._asdict()
        del keywords["format_name"], keywords["row_options"], keywords["by_values"]
        if self.data is not None:
            keywords["data"] = load_data(self.data, self.row_options, model)
        keywords["weights"] = None if self.weights is None else _read_weights(self.weights)
        return cast("Restriction", keywords)


def _read_weights(path: str) -> Weights:
    """Read weights from a JSON file; decimals stay exact."""
    import json
    from decimal import Decimal

    try:
        weights = json.loads(cw.support.files.read_bytes(path), parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"this is not JSON: {error}", path=path) from None
    if not isinstance(weights, dict) or not all(
        isinstance(value, list | dict) for value in weights.values()
    ):
        raise ParseError(
            'expected an object such as {"smoker": {"no": 0.7, "yes": 0.3}}', path=path
        )
    return cast("Weights", weights)


def refuse_nothing(question: Question) -> None:
    """Raise if no pair is left to compare."""
    if question.total:
        return
    if question.rows is not None and question.pair_count:
        raise ContextwiseError("there is nothing to compare: no row of the data agrees")
    raise ContextwiseError(NOTHING_LEFT)


_scope = options_as(
    "scope",
    Scope,
    pairs,
    variables,
    context,
    path(
        "--contexts-of", "data", metavar="ROWS", help="Only the contexts in the rows of this file."
    ),
    path(
        "--weights",
        metavar="FILE",
        help="Weight contexts by the state probabilities in this file (JSON: variable -> list).",
    ),
    choice(
        "--contexts",
        "fully-contextualized",
        "canonical",
        help="A context fixes the other variables, or all variables (canonical).",
    ),
    by_position,
    zero_weights,
    format_name,
    by_values,
)
scope = stacked(rows, section(COMPARED, _scope))  # the options for rows become a part of the scope
"""Add the options that restrict a comparison, as one argument ``scope``."""


class Naming(NamedTuple):
    """The options that name the models."""

    names: list[str] | None
    peers: bool

    def labels(self, models: Sequence[str]) -> list[str]:
        """Return one name for each model: those typed, or the names of the files."""
        if self.names is None:
            return short_names(models)
        if len(self.names) != len(models):
            raise click.UsageError(
                f"--names needs a name for each of the {len(models)} models, got {len(self.names)}"
            )
        return self.names

    def restrict(self, restriction: Restriction, first: str, second: str) -> Restriction:
        """Add the names of two models to the keywords of `compare`, if neither model is true."""
        return {**restriction, "peers": (first, second)} if self.peers else restriction


names = click.option(
    "--names",
    metavar="A,B,...",
    callback=split_names,
    help="Names to show instead of file names, one per model.",
)
peers = click.option(
    "--peers",
    is_flag=True,
    help="Neither model is true: use the names of the models instead of false positives and "
    "false negatives.",
)
naming = section(COMPARED, options_as("naming", Naming, names, peers))
"""Add ``--names`` and ``--peers``, as one argument ``naming``."""


# -- how to compute --------------------------------------------------------------------------------


def _check_jobs(ctx: click.Context, param: click.Parameter, jobs: int) -> int:
    if jobs == 0:
        raise click.BadParameter("must be a number of processes, or -1 for one per core; got 0")
    return jobs


def time_limit(
    default: float | None = None,
    help: str = "Stop after this many seconds and show the results so far.",
) -> Decorator:
    """Add ``--time-limit``."""
    return section(
        EFFORT,
        not_negative(
            "--time-limit",
            metavar="SECONDS",
            default=default,
            callback=_start_clock,
            help=help,
        ),
    )


def _start_clock(ctx: click.Context, _: click.Parameter, seconds: float | None) -> float | None:
    """Let the time limit begin now: it is also for reading files."""
    ctx.meta["deadline"] = cw.support.effort.Deadline.after(seconds)
    return seconds


top = partial(number, "--top", default=10, least=0, help="Number of entries to show in each list.")
seed = option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    default=0,
    help="Seed of the random generator.",
)
jobs = section(
    EFFORT,
    number(
        "--jobs",
        "n_jobs",
        default=1,
        least=-1,
        callback=_check_jobs,
        help="Number of processes, or of threads; -1 for one per core.",
    ),
)
threads = section(
    EFFORT, number("--jobs", "threads", help="Number of threads.  [default: one per core]")
)
parallel = section(
    EFFORT,
    jobs,
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Use the Dask scheduler at this address, such as tcp://host:8786.",
    ),
)
engine = section(
    EFFORT,
    click.option(
        "--engine",
        metavar="NAME",
        shell_complete=partial(complete_from, "counting.contract", "ENGINES"),
        default="auto",  # the default of `contextwise.compare`
        help="Count with this engine; see contextwise info.",
    ),
)


groups = section(
    COMPARED,
    click.option(
        "--group",
        "groups",
        metavar="NAME=FILES",
        multiple=True,
        callback=parse_groups,
        help="Compare this group of guesses with others; repeatable.",
    ),
)


class ChanceOptions(NamedTuple):
    """The options of ``--chance``."""

    chance: bool
    draws: int
    seed: int

    def is_late(self, result: Chance | None) -> bool:
        """Return whether the time limit left random guesses undrawn."""
        return self.chance and (result is None or result.draws < self.draws)


chance = options_as(
    "by_chance",
    ChanceOptions,
    click.option(
        "--chance", is_flag=True, help="Also print skill and p-value against random guesses."
    ),
    number("--draws", default=999, least=0, help="With --chance: number of random guesses."),
    seed,
)
"""Add the options of ``--chance``, as one argument ``by_chance``."""


# -- output ----------------------------------------------------------------------------------------

RENDERED = {name: help for name, (_, help) in RENDERERS.items() if help}
"""The renderers that are options, for commands that print parts."""


def output(*names: str) -> Decorator:
    """Add ``--json``, ``--csv`` or `RENDERED`; the command gets ``output``, "text" for none."""
    texts = {"json": "Print JSON.", "csv": "Print CSV.", **RENDERED}

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_output(*arguments: Any, **values: Any) -> Any:
            typed = [name for name in names if values.pop(f"as_{name}")]
            if len(typed) > 1:
                raise click.UsageError(f"--{typed[0]} and --{typed[1]} exclude each other")
            return command(*arguments, output=typed[0] if typed else "text", **values)

        flags = [
            click.option(f"--{name}", f"as_{name}", is_flag=True, help=texts[name])
            for name in names
        ]
        return stacked(*flags)(with_output)

    return decorated


def check_out(path: str, suffixes: Sequence[str], *, packed: bool = False) -> str:
    """Raise, before long work starts, if the command cannot write this file.

    Returns the suffix in lower case; with ``packed``, ``.gz`` or ``.xz`` after it is dropped.

    >>> check_out("report.pdf", [".html"])
    Traceback (most recent call last):
    contextwise.errors.ContextwiseError: report.pdf: cannot write .pdf; use .html
    """
    cw.support.files.check_target(path)
    name = (cw.support.files.without_packing(path) if packed else path).lower()
    suffix = os.path.splitext(name)[1]
    if suffix not in suffixes:
        able = " or ".join(filter(None, [", ".join(suffixes[:-1]), suffixes[-1]]))
        raise ContextwiseError(
            f"{path}: cannot write {suffix or 'a file without a suffix'}; use {able}"
            + (" (each also with .gz or .xz)" if packed else "")
        )
    return suffix


def check_picture(ctx: click.Context, param: click.Parameter, path: str | None) -> str | None:
    if path is not None and not ctx.resilient_parsing:
        cw.report.plots.style.format_of(path)  # raises for another suffix
        cw.support.files.check_target(path)
    return path


def picture(help: str) -> Decorator:
    """Add ``--picture``."""
    return path("--picture", metavar="FILE", callback=check_picture, help=help)


# -- options that depend on others -----------------------------------------------------------------


def typed_flags(ctx: click.Context, names: Iterable[str]) -> list[str]:
    """Return the option strings the user typed, among ``names``."""
    names = {*names}
    return [
        param.opts[0]
        for param in ctx.command.get_params(ctx)
        if param.name in names
        and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
    ]


def command_line(ctx: click.Context) -> str:
    """Return the command that the user typed, quoted for a shell."""
    return cw.data.options.command_line(ctx.meta["words"])


def refuse(ctx: click.Context, names: Iterable[str], why: str) -> None:
    """Raise if the user typed one of these options, which have no effect here."""
    for flag in typed_flags(ctx, names):
        raise click.UsageError(f"{flag} {why}")


def refuse_alone(ctx: click.Context, names: Iterable[str], *partners: str) -> None:
    """Raise if the user typed options that have no effect without one of their partners."""
    if not typed_flags(ctx, partners):
        flags = {param.name: param.opts[0] for param in ctx.command.get_params(ctx)}
        refuse(ctx, names, f"needs {' or '.join(flags[partner] for partner in partners)}")
