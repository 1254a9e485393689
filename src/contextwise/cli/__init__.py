"""The command line: each command parses, calls a public function, and shows the result.

Each command is a click command in one of the ``cmd_*.py``, imported when it is used. ``--help``
prints at once, because ``cw.ROOM.MODULE`` imports a module at its first use.
Results go to standard output; progress, warnings and errors go to standard error. Exit codes: 0
done, 1 "different" or "dependent" where a command promises that, 2 error, 3 not decided in time,
130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NoReturn

import click

import contextwise as cw
from contextwise.__main__ import INTERRUPTED
from contextwise.cli.commands import SuggestingGroup
from contextwise.errors import ContextwiseError, OpenResult

SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Compare": {
        "compare": ("compare", "Compare guesses with the true model."),
        "explain": ("claims", "List the claims of a model, or show where two models differ."),
        "query": ("claims", "Ask whether variables are independent, and why."),
        "matrix": ("compare", "Compute all pairwise distances, or find the nearest models."),
        "study": ("analyse", "Compare learners on rows drawn from known truths."),
    },
    "Learn": {
        "analyse": ("analyse", "Find out which variables of a file go together; write a page."),
        "learn": ("learn", "Learn a structure from data."),
        "check": ("data", "Test the claims of a model against data."),
        "stability": ("learn", "Measure how stable a learner's result is."),
        "groups": ("analyse", "Test whether associations are the same in groups of rows."),
    },
    "Look": {
        "report": ("report", "Write a page about one model, or about guesses."),
        "explore": ("report", "Explore models and rows on a local page."),
        "plot": ("plot", "Draw figures for papers."),
    },
    "Files": {
        "info": ("files", "Summarize model and data files, or list the examples."),
        "convert": ("files", "Convert a model to another format, or write its graph."),
        "fit": ("data", "Fit the weights of a structure to data."),
        "sample": ("data", "Draw rows from a model with weights."),
    },
}
"""The commands in the order of ``--help``: the module ``cmd_*.py`` of each, and its summary."""

COMMANDS = {name: module for names in SECTIONS.values() for name, (module, _) in names.items()}

UNDECIDED = 3
"""Exit code if the time limit left something unfinished."""
READER_LEFT = 141
"""Exit code if the reader of standard output has closed it, as shells report SIGPIPE."""


class Commands(SuggestingGroup):
    """The command: it imports a subcommand when it is used."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["words"] = [*args]  # for pages, which show how they were made
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"contextwise.cli.cmd_{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, entries in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), text) for name, (_, text) in entries.items()]
                )

    def invoke(self, ctx: click.Context) -> Any:
        # Catch this before click does: click would exit with 1, which means "different" here.
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
    """Measure how far apart independence structures are, context by context, exactly.

    The structures are those of log-linear models: of a truth and a guess, of two learners, or
    learned from rows, to find out which variables depend, and where.

    A MODEL is a file (Libra's .mn, .json and others, also .gz), the name of a bundled example
    (contextwise info lists them), or - for standard input.

    Completion in bash (or zsh, fish): eval "$(_CONTEXTWISE_COMPLETE=bash_source contextwise)"

    \b
    Examples:
      contextwise compare true.mn first.mn second.mn
      contextwise explain lung
      contextwise analyse survey.csv
      contextwise COMMAND --help
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: list[str] | None = None) -> None:
    """Run the command; print a user's error as one line and exit with 2."""
    sys.set_int_max_str_digits(0)  # counts are exact, whatever their size
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _show_warning
    try:
        code = contextwise.main(arguments, prog_name="contextwise", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.UsageError as error:
        message = error.format_message().rstrip(".")
        if isinstance(error, click.NoSuchOption) and error.option_name[1:2].isdigit():
            message = f"unexpected {error.option_name}; a tolerance must be >= 0"
        command = "contextwise" if error.ctx is None else error.ctx.command_path
        _fail(f"{message}{'' if message.endswith('?') else '.'} Try: {command} --help")
    except click.ClickException as error:
        _fail(error.format_message())
    except click.Abort as stop:  # its text, if any, names the folder that keeps the results
        click.echo(f"interrupted{stop}", err=True)
        sys.exit(INTERRUPTED)
    except MemoryError:
        _fail("there is not enough memory for this")
    except cw.support.effort.OutOfTime:
        _fail("not finished within the time limit; allow more time", UNDECIDED)
    except OpenResult as error:
        _fail(str(error), UNDECIDED)
    except ContextwiseError as error:
        if (summary := getattr(error, "summary", None)) is not None:  # of unclear data
            words = sys.argv[1:] if arguments is None else arguments
            click.echo(f"contextwise: {summary.problems(words)}", err=True)
            sys.exit(2)
        _fail(str(error))
    except OSError as error:
        if error.filename is not None:
            _fail(f"{os.fsdecode(error.filename)}: {error.strerror}")
        _discard_output()  # an error without a file name is about one of our streams
        _fail(error.strerror or str(error))
    sys.exit(code)  # inside, it would look at every `except` and import what they name


def _fail(message: str, code: int = 2) -> NoReturn:
    click.echo(f"contextwise: {_one_line(message)}", err=True)
    sys.exit(code)


def _discard_output() -> None:
    """Redirect standard output, so that Python does not fail when it flushes the rest."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _one_line(message: object) -> str:
    return cw.support.formatting.printable(" ".join(str(message).split()))


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(f"contextwise: warning: {_one_line(message)}", err=True)
