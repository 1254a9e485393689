"""Helper that runs the command in the process of the test, where a bug raises its exception."""

from __future__ import annotations

from click.testing import CliRunner, Result

from contextwise.cli import contextwise


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    """Run the command and return its result; raise any exception other than an exit."""
    result = CliRunner().invoke(contextwise, list(arguments), input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
