"""The command: parse, call a public function, show.

A subcommand is a click command in a module here; `COMMANDS` names them, and a module is imported
when its command is used. It imports NumPy and what needs it inside its functions, so that
its ``--help`` is there at once. Results alone go to standard output;
progress, warnings and errors go to standard error. Exit codes: 0 done, 1 the answer is
"different" or "dependent" where a command promises that, 2 trouble, 3 not decided in time.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import click

from contextwise.errors import ContextwiseError
from contextwise.support.formatting import printable

COMMANDS: dict[str, str] = {
    "compare": "How far guesses are from the true model.",
    "matrix": "How far each two of many models are from each other.",
    "consensus": "A structure that many models agree on.",
    "nearest": "Which of many models are nearest to one.",
    "explain": "Where a guess differs from the true model, and why.",
    "score": "The metric beside KL, likelihoods and other scores.",
    "rank": "Groups of guesses over several truths: ranks and tests.",
    "stability": "How stable is what a learner finds.",
    "check": "Whether rows agree with the claims of a model.",
    "kl": "KL-divergence of two models with weights.",
    "learn": "Learn a structure from data.",
    "fit": "Fit the weights of a structure to data.",
    "sample": "Draw rows from a model with weights.",
    "plot": "Pictures for papers.",
    "report": "A page about guesses and the true model: one HTML file.",
    "explore": "Look at where models differ, on a local page.",
    "info": "What models hold, and what their files held.",
    "query": "Whether variables are independent, and why.",
    "independencies": "List the independencies of a model.",
    "graph": "The graph of a model, over all contexts or in one.",
    "convert": "A model from one format to another.",
    "examples": "The bundled example models.",
    "engines": "What counts, and what cannot be used here.",
    "experiment": "Studies that survive a crash.",
    "completion": "Completion of commands and models in your shell.",
}
"""Each subcommand, the name of its function here, and what it does."""

MODULES = {
    **dict.fromkeys(("query", "independencies", "graph"), "query"),
    **dict.fromkeys(("examples", "engines", "completion"), "info_about"),
}
"""Where the function of a command stands, if not in the module of its name."""

READER_LEFT = 141
"""The exit code when the reader of our output went away: what a shell reports for SIGPIPE."""


class Commands(click.Group):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"contextwise.cli.cmd_{MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        near = get_close_matches(args[0], COMMANDS, n=1)
        if args[0] not in COMMANDS and near:
            ctx.fail(f"No such command {args[0]!r}; the nearest is {near[0]!r}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        # Before click sees it: click would leave with 1, which means "different" here.
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _discard_output()
            ctx.exit(READER_LEFT)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="contextwise")
@click.pass_context
def contextwise(ctx: click.Context) -> None:
    """Say how far apart the independence structures of two log-linear models are, exactly.

    A MODEL is a file (Libra's .mn, .json and others, also .gz), the name of a bundled example,
    or - for standard input.

    \b
    Examples:
      contextwise examples
      contextwise compare true.mn learned.mn
      contextwise compare true.mn first.mn second.mn third.mn
      contextwise COMMAND --help
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: list[str] | None = None) -> None:
    """Run the command; an error of the user's is one line on standard error and exit code 2."""
    sys.set_int_max_str_digits(0)  # counts are exact, whatever their size
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _show_warning
    try:
        sys.exit(contextwise.main(arguments, prog_name="contextwise", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.UsageError as error:
        message = error.format_message().rstrip(".")
        _fail(f"{message}{'' if message.endswith('?') else '.'} {_where_to_look(error)}")
    except click.ClickException as error:
        _fail(error.format_message())
    except click.Abort as stop:  # its words, if it has some, say what is kept
        click.echo(f"interrupted{stop}", err=True)
        sys.exit(130)
    except MemoryError:
        _fail("there is not enough memory for this")
    except ContextwiseError as error:
        _fail(str(error))
    except OSError as error:
        if error.filename is not None:
            _fail(f"{os.fsdecode(error.filename)}: {error.strerror}")
        _discard_output()  # an error without a file's name is one of our own streams
        _fail(error.strerror or str(error))


def _fail(message: str) -> NoReturn:
    click.echo(f"contextwise: {_one_line(message)}", err=True)
    sys.exit(2)


def _where_to_look(error: click.UsageError) -> str:
    command = "contextwise" if error.ctx is None else error.ctx.command_path
    return f"Try: {command} --help"


def _discard_output() -> None:
    """Nobody can read our output: what is still buffered must not raise when Python ends."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _one_line(message: object) -> str:
    return printable(" ".join(str(message).split()))


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(f"contextwise: warning: {_one_line(message)}", err=True)
