"""Ctrl-C at any moment: one line, exit code 130, and no traceback, of workers neither."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

READY = """
import _signal, contextwise.__main__ as command
install = _signal.signal
def install_and_tell(*arguments):
    _signal.signal = install
    install(*arguments)
    print("ready", flush=True)
_signal.signal = install_and_tell
command.main()
"""
"""Print a line as soon as the command has installed its first handler."""
TRIES = 8


def interrupt(arguments: list[str], delay: float) -> tuple[int, str]:
    """Send SIGINT to the command and its workers some time after its first line of code."""
    command = [sys.executable, "-c", READY, *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == "ready\n"
        time.sleep(delay)
        with suppress(ProcessLookupError):  # it may have ended already
            os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    return process.returncode, errors


def test_an_import_that_swallows_the_interrupt() -> None:
    """NumPy turns Ctrl-C during its import into an ImportError."""
    code = """
import contextwise.__main__ as command, contextwise.cli as cli, os, signal
def run():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        while True: pass
    except KeyboardInterrupt:
        raise ImportError
cli.main = run
command.main()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (130, "interrupted\n")


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        (["--help"], 0.15),
        (["compare", "lung", "lung-learned"], 0.5),
        (["matrix", "six", "six-guess", "six-graph", "--jobs", "2"], 1.5),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_no_traceback(arguments: list[str], seconds: float) -> None:
    for k in range(TRIES):
        code, errors = interrupt(arguments, seconds * k / TRIES)
        assert code in (0, 3, 130), (k, code, errors)
        assert "Traceback" not in errors, (k, errors)
        if code == 130:
            assert "interrupted" in errors
