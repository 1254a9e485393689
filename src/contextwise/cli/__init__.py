"""The command: parse, call a public function, show.

A subcommand is a module here with one click command; `COMMANDS` names them, and a module is
imported when its command is used, so that the command line starts quickly. Results alone go to
standard output; progress, warnings and errors go to standard error. Exit codes: 0 done, 1 the
answer is "different" or "dependent" where a command promises that, 2 trouble, 3 not decided in
time.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module

import click

from contextwise.errors import ContextwiseError

COMMANDS: dict[str, str] = {}
"""Each subcommand and the module of `contextwise.cli` that has it, as the function of that name."""


class Commands(click.Group):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"contextwise.cli.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="contextwise")
def contextwise() -> None:
    """Say how far apart the independence structures of two log-linear models are, exactly."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command; an error of the user's is one line on standard error and exit code 2."""
    warnings.showwarning = _show_warning
    try:
        sys.exit(contextwise.main(arguments, prog_name="contextwise", standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except click.Abort:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except (ContextwiseError, OSError, MemoryError) as error:
        click.echo(f"contextwise: {_one_line(error)}", err=True)
        sys.exit(2)


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    return " ".join(str(error).split())


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(f"contextwise: warning: {' '.join(str(message).split())}", err=True)
