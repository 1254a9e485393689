"""The command as tests call it: in this process, and a bug is raised as it is."""

from __future__ import annotations

from click.testing import CliRunner, Result

from contextwise.cli import contextwise


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    """What the command does; only an exit is part of the result, other errors are raised."""
    result = CliRunner().invoke(contextwise, list(arguments), input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
