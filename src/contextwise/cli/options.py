"""Options that several commands share: one name, one meaning and one text everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from contextwise.cli.inputs import complete_model

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

DOMAIN_FROM: dict[str, Any] = {
    "metavar": "MODEL",
    "shell_complete": complete_model,
    "help": "Take the variables and their states from this model.",
}
"""What the option ``--domain-from`` is made of."""


def _complete_engine(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from contextwise.counting import ENGINES

    return [CompletionItem(name) for name in ENGINES if name.startswith(incomplete)]


seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the samples."
)


def _check_jobs(ctx: click.Context, param: click.Parameter, jobs: int) -> int:
    if jobs == 0:
        raise click.BadParameter("give a number of processes, or -1 for one per core, not 0")
    return jobs


def jobs_option(help: str = "Processes; -1: one per core.") -> Decorator:
    """The option ``--jobs``; ``help`` says what the processes do."""
    return click.option(
        "--jobs",
        type=click.IntRange(min=-1),
        default=1,
        show_default=True,
        callback=_check_jobs,
        help=help,
    )


cluster_option = click.option(
    "--cluster", metavar="ADDRESS", help="A Dask scheduler, such as tcp://host:8786."
)
engine_option = click.option(
    "--engine",
    metavar="NAME",
    shell_complete=_complete_engine,
    help="What counts; see: contextwise engines",
)
pairs_option = click.option(
    "--pairs", metavar="A,B", multiple=True, help="Only this pair; repeatable."
)
variables_option = click.option(
    "--variables", metavar="A,B,...", help="Only the pairs of these variables."
)
context_option = click.option(
    "--context", metavar="'A=1, B=0'", help="Only contexts that agree with this one."
)


def top_option(help: str, *, least: int = 0) -> Decorator:
    """The option ``--top``; ``help`` says of what, ``least`` is the smallest number it takes."""
    return click.option(
        "--top", type=click.IntRange(min=least), default=10, show_default=True, help=help
    )


def time_limit_option(help: str, default: float | None = None) -> Decorator:
    """The option ``--time-limit``; ``help`` says what happens then."""
    return click.option(
        "--time-limit",
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        default=default,
        show_default=default is not None,
        help=help,
    )


def json_option(help: str = "Print JSON.") -> Decorator:
    """The option ``--json``, as the argument ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help=help)


def csv_option(rows: str) -> Decorator:
    """The option ``--csv``, as the argument ``as_csv``; ``rows`` says what the rows are."""
    return click.option("--csv", "as_csv", is_flag=True, help=f"Print CSV: {rows}.")


def record_options(rows: str, *, json_help: str = "Print JSON.") -> Decorator:
    """The options ``--json`` and ``--csv``, of which a command takes one.

    Parameters
    ----------
    rows : what the rows of CSV are
    json_help : what ``--json`` prints

    Returns
    -------
    decorator
        It gives the command the arguments ``as_json`` and ``as_csv``.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_one(*arguments: Any, **options: Any) -> Any:
            if options["as_json"] and options["as_csv"]:
                raise click.UsageError("choose one of --json and --csv")
            return command(*arguments, **options)

        return json_option(json_help)(csv_option(rows)(with_one))

    return decorate


def refuse_alone(ctx: click.Context, names: Sequence[str], partner: str) -> None:
    """Refuse options that were typed without the one that they belong to: they would do nothing.

    Parameters
    ----------
    ctx : of the command
    names : its parameters that belong to the partner
    partner : the parameter without which they mean nothing
    """
    (belongs_to,) = (own.opts[0] for own in ctx.command.params if own.name == partner)
    for flag in typed_flags(ctx, names):
        if not typed_flags(ctx, [partner]):
            raise click.UsageError(f"{flag} goes with {belongs_to}")


def typed_flags(ctx: click.Context, names: Sequence[str]) -> list[str]:
    """Those of some parameters of a command that were typed, as they are typed."""
    return [
        own.opts[0]
        for own in ctx.command.params
        if own.name in names and ctx.get_parameter_source(own.name) is ParameterSource.COMMANDLINE
    ]


def options_as(argument: str, kind: type[Any], options: Sequence[Decorator]) -> Decorator:
    """Give a command some options, as one argument.

    Parameters
    ----------
    argument : its name
    kind : a named tuple with a field for each option; a dataclass would take a millisecond to
        make, and every ``--help`` waits for it
    options : decorators of click, in the order in which the help shows them

    Returns
    -------
    decorator of a command
    """

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_one(*arguments: Any, **given: Any) -> Any:
            made = kind(**{name: given.pop(name) for name in kind._fields})
            return command(*arguments, **{argument: made}, **given)

        result: Callable[..., Any] = with_one
        for option in reversed(options):
            result = option(result)
        return result

    return decorated
