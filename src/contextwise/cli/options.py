"""Options that several commands share: one name, one meaning and one text.

Nothing here imports NumPy, so that ``--help`` prints at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from contextwise.errors import ContextwiseError, ParseError
from contextwise.models.notation import parse_names

if TYPE_CHECKING:
    from contextwise.comparison.context_weights import Weights
    from contextwise.comparison.pairs import Contexts
    from contextwise.comparison.question import Question, Restriction
    from contextwise.evaluation.chance import Chance
    from contextwise.formats import ZeroWeights
    from contextwise.models.alignment import Align
    from contextwise.models.domain import Domain
    from contextwise.models.structure import Model

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

FORMATS = ("mn", "json", "bn", "dn", "uai", "bif")
"""The names in `contextwise.formats.FORMATS`, without importing it."""

NULLS = ("variables", "states", "values")
"""The names of the nulls of `contextwise.evaluation.chance`, without importing it."""

NOTHING_LEFT = "there is nothing to compare: no pair of variables is left"


class SectionedCommand(click.Command):
    """A command whose help lists the options of a `ScopeOption` in a section of their own."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, records in sections(ctx):
            with formatter.section(title):
                formatter.write_dl(records)


def sections(ctx: click.Context) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the options of a command as its help shows them, section by section."""
    grouped: dict[str, list[tuple[str, str]]] = {"Options": []}
    for param in ctx.command.get_params(ctx):
        record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
        if record is not None:
            grouped.setdefault(getattr(param, "section", "Options"), []).append(record)
    return [(title, records) for title, records in grouped.items() if records]


class ScopeOption(click.Option):
    """An option that restricts what is compared."""

    section = "What to compare"


# -- models and data -------------------------------------------------------------------------------


def complete_model(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer files and the bundled examples to the shell."""
    from contextwise.truths.bundled import names

    # bash shows either files or names: complete an empty word by files.
    fitting = [name for name in names() if incomplete and name.startswith(incomplete)]
    return [CompletionItem(incomplete, type="file"), *map(CompletionItem, fitting)]


model_argument = partial(click.argument, shell_complete=complete_model)

format_type = click.Choice(FORMATS)
FORMAT: dict[str, Any] = {
    "type": format_type,
    "metavar": "FORMAT",
    "help": f"Read every model file in this format: {', '.join(FORMATS)}.",
}
ZERO_WEIGHTS: dict[str, Any] = {
    "type": click.Choice(["keep", "drop"]),
    "default": "keep",
    "show_default": True,
    "help": "Keep or drop features of weight 0.",
}
BY_POSITION: dict[str, Any] = {
    "is_flag": True,
    "callback": lambda ctx, param, flag: "position" if flag else "names",
    "help": "Match variables and states by position instead of by name.",
}
format_option = click.option("--format", "format_name", **FORMAT)
zero_weights_option = click.option("--zero-weights", **ZERO_WEIGHTS)
by_position_option = click.option("--by-position", "align", **BY_POSITION)

DOMAIN_FROM: dict[str, Any] = {
    "metavar": "MODEL",
    "shell_complete": complete_model,
    "help": "Take the variables and their states from this model.",
}


def pair_of(text: str, option: str) -> tuple[str, str]:
    """Parse the two names in ``A,B``."""
    names = parse_names(text)
    if len(names) != 2:
        raise click.UsageError(f"{option} needs two names, as in {option} A,B; got {text!r}")
    return names[0], names[1]


# -- what is compared ------------------------------------------------------------------------------

PAIRS: dict[str, Any] = {
    "metavar": "A,B",
    "multiple": True,
    "help": "Only this pair of variables; repeatable.",
}
VARIABLES: dict[str, Any] = {"metavar": "A,B,...", "help": "Only pairs of these variables."}
CONTEXT: dict[str, Any] = {
    "metavar": "'A=1, B=0'",
    "help": "Only contexts that agree with this assignment.",
}
pairs_option = click.option("--pairs", **PAIRS)
variables_option = click.option("--variables", **VARIABLES)
context_option = click.option("--context", **CONTEXT)


class Scope(NamedTuple):
    """The options that restrict what is compared, as the user typed them."""

    pairs: tuple[str, ...]
    variables: str | None
    context: str | None
    data: str | None
    weights: str | None
    contexts: Contexts
    align: Align
    zero_weights: ZeroWeights
    format_name: str | None

    def keywords(self, domain: Domain) -> Restriction:
        """Return the keywords of `compare` for models over this domain; reads the files."""
        from contextwise.cli.inputs import load_data

        return {
            "pairs": [pair_of(text, "--pairs") for text in self.pairs] or None,
            "variables": None if self.variables is None else parse_names(self.variables),
            "context": self.context,
            "data": None if self.data is None else load_data(self.data, domain),
            "weights": None if self.weights is None else _read_weights(self.weights),
            "contexts": self.contexts,
            "align": self.align,
            "zero_weights": self.zero_weights,
        }


def refuse_nothing(question: Question) -> None:
    """Raise if no pair is left to compare."""
    if question.total:
        return
    if question.rows is not None and question.pair_count:
        raise ContextwiseError("there is nothing to compare: no row of the data agrees")
    raise ContextwiseError(NOTHING_LEFT)


def _read_weights(path: str) -> Weights:
    """Read weights from a JSON file; decimals stay exact."""
    from decimal import Decimal

    from contextwise.support import files

    try:
        weights = json.loads(files.read_bytes(path), parse_float=Decimal)
    except ValueError as error:
        raise ParseError(f"this is not JSON: {error}", path=path) from None
    if not isinstance(weights, dict) or not all(
        isinstance(value, list | dict) for value in weights.values()
    ):
        raise ParseError(
            'expected an object such as {"smoker": {"no": 0.7, "yes": 0.3}}', path=path
        )
    return cast("Weights", weights)


# -- how it is done --------------------------------------------------------------------------------


def _complete_engine(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from contextwise.counting import ENGINES

    return [CompletionItem(name) for name in ENGINES if name.startswith(incomplete)]


def _check_jobs(ctx: click.Context, param: click.Parameter, jobs: int) -> int:
    if jobs == 0:
        raise click.BadParameter("must be a number of processes, or -1 for one per core; got 0")
    return jobs


seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    default=0,
    show_default=True,
    help="Seed of the random generator.",
)
jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=-1),
    metavar="N",
    default=1,
    show_default=True,
    callback=_check_jobs,
    help="Number of processes; -1 for one per core.",
)
cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Use the Dask scheduler at this address, such as tcp://host:8786.",
)
engine_option = click.option(
    "--engine",
    metavar="NAME",
    shell_complete=_complete_engine,
    help="Count with this engine; see contextwise engines.",
)
alpha_option = click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="LEVEL",
    default=0.05,
    show_default=True,
    help="Level of the tests.",
)


def time_limit_option(default: float | None = None) -> Decorator:
    """Add the option ``--time-limit``."""
    return click.option(
        "--time-limit",
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        default=default,
        show_default=default is not None,
        help="Stop after this many seconds and show what is known by then.",
    )


# -- what is shown ---------------------------------------------------------------------------------


def top_option(default: int = 10, *, least: int = 0) -> Decorator:
    """Add the option ``--top``."""
    return click.option(
        "--top",
        type=click.IntRange(min=least),
        metavar="N",
        default=default,
        show_default=True,
        help="Number of entries to show in each list.",
    )


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
csv_option = click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
latex_option = click.option("--latex", "as_latex", is_flag=True, help="Print LaTeX tables.")


def refuse_two_outputs(**flags: bool) -> None:
    """Raise if more than one of ``as_json``, ``as_csv`` and ``as_latex`` is set."""
    if sum(flags.values()) > 1:
        *names, last = (f"--{name.removeprefix('as_')}" for name in flags)
        raise click.UsageError(f"choose one of {', '.join(names)} and {last}")


def refuse_alone(ctx: click.Context, names: Sequence[str], partner: str) -> None:
    """Raise if the user typed options that have no effect without the option ``partner``."""
    (needed,) = (param.opts[0] for param in ctx.command.get_params(ctx) if param.name == partner)
    for flag in typed_flags(ctx, names):
        if not typed_flags(ctx, [partner]):
            raise click.UsageError(f"{flag} needs {needed}")


def typed_flags(ctx: click.Context, names: Sequence[str]) -> list[str]:
    """Return the option strings the user typed, among ``names``."""
    return [
        param.opts[0]
        for param in ctx.command.get_params(ctx)
        if param.name in names
        and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
    ]


# -- groups of options -----------------------------------------------------------------------------


def options_as(argument: str, kind: type[Any], options: Sequence[Decorator]) -> Decorator:
    """Add options to a command and pass them as one argument.

    ``kind`` is a named tuple with a field per option. A dataclass would take a millisecond to
    define, on every start.
    """

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_tuple(*arguments: Any, **options: Any) -> Any:
            fields = {name: options.pop(name) for name in kind._fields}
            return command(*arguments, **{argument: kind(**fields)}, **options)

        result: Callable[..., Any] = with_tuple
        for option in reversed(options):
            result = option(result)
        return result

    return decorated


_scope_option = partial(click.option, cls=ScopeOption)
scope_options = options_as(
    "scope",
    Scope,
    (
        _scope_option("--pairs", **PAIRS),
        _scope_option("--variables", **VARIABLES),
        _scope_option("--context", **CONTEXT),
        _scope_option(
            "--data",
            type=click.Path(),
            metavar="FILE",
            help="Only the contexts in the rows of this CSV file.",
        ),
        _scope_option(
            "--weights",
            type=click.Path(),
            metavar="FILE",
            help="Weight contexts by these state probabilities (JSON: variable -> list).",
        ),
        _scope_option(
            "--contexts",
            type=click.Choice(["fully-contextualized", "canonical"]),
            default="fully-contextualized",
            show_default=True,
            help="Take the states of the other variables as a context, or of all (canonical).",
        ),
        _scope_option("--by-position", "align", **BY_POSITION),
        _scope_option("--zero-weights", **ZERO_WEIGHTS),
        _scope_option("--format", "format_name", **FORMAT),
    ),
)
"""Add the options that restrict what is compared, as one argument ``scope``."""


class ChanceOptions(NamedTuple):
    """The options of ``--chance``."""

    chance: bool
    null: str
    draws: int
    seed: int

    def run(
        self, true: Model, guess: Model, restriction: Restriction, **options: Any
    ) -> tuple[Chance, bool]:
        """Compare a guess with random guesses; the flag is True if Ctrl-C ended the draws."""
        from contextwise.evaluation import ChanceInterrupted, chance

        try:
            result = chance(
                true,
                guess,
                null=self.null,
                draws=self.draws,
                rng=self.seed,
                show_progress=True,
                **options,
                **restriction,
            )
        except ChanceInterrupted as stop:
            return stop.chance, True
        return result, False


chance_options = options_as(
    "by_chance",
    ChanceOptions,
    (
        click.option("--chance", is_flag=True, help="Compare with random guesses: skill, p-value."),
        click.option(
            "--null",
            type=click.Choice(NULLS),
            default=NULLS[0],
            show_default=True,
            help="With --chance: exchange variables, relabel states, or draw new values.",
        ),
        click.option(
            "--draws",
            type=click.IntRange(min=0),
            metavar="N",
            default=999,
            show_default=True,
            help="With --chance: number of random guesses.",
        ),
        seed_option,
    ),
)
"""Add the options of ``--chance``, as one argument ``by_chance``."""
