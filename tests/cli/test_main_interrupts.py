"""Ctrl-C and SIGTERM at any moment: one line, no traceback, no workers left, and how to resume."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import numpy as np
import pytest

from contextwise import Domain, write
from contextwise.cli import COMMANDS, contextwise
from contextwise.testing import random_structure
from hard import LATE, hard_models

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


def test_an_interrupt_inside_of_exec_keeps_the_exit_code(tmp_path: Path) -> None:
    """Python ends by SIGINT after such an interrupt, even if it was caught."""
    (tmp_path / "run.py").write_text("""
import contextwise.__main__ as command, contextwise.cli as cli, os, signal, sys
def run():
    try:
        exec("os.kill(os.getpid(), signal.SIGTERM)\\nwhile True: pass")
    except KeyboardInterrupt:
        sys.exit(130)
cli.main = run
command.main()
""")
    ended = subprocess.run([sys.executable, "-m", "run"], cwd=tmp_path, timeout=60)
    assert ended.returncode == 143


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


# -- SIGTERM ---------------------------------------------------------------------------------------

LONG: dict[str, list[str]] = {
    "check": ["narrow.json", "narrow.csv", "--overall", "--simulations", "100000"],
    "compare": ["hard-0.json", "hard-1.json"],
    "learn": ["wide.csv", "--learner", "sparse-pairs:l1=0.01", "--out", "out.json"],
    "matrix": ["*", "--folder", "kept"],
    "report": ["hard-0.json", "hard-1.json", "--out", "out.html"],
    "stability": ["wide.csv", "--learner", "mpl", "--resamples", "9999", "--folder", "kept"],
    "study": ["six", "--learners", "mpl", "--repeats", "9999", "--out", "kept"],
}
"""Work that would take minutes, for each command with ``--jobs``."""
THREADS = {"compare", "learn", "matrix", "report"}
RESUMES = {"matrix", "stability", "study"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with rows of sixty and of six variables and twenty models."""
    place = tmp_path_factory.mktemp("work")
    rng = np.random.default_rng(0)
    names = [f"v{k}" for k in range(60)]
    rows = rng.integers(0, 2, (3000, 60))
    rows[:, 1:] ^= rows[:, :-1] & (rng.random((3000, 59)) < 0.8)
    for name, width in (("wide", 60), ("narrow", 6)):
        text = "\n".join(",".join(map(str, row[:width])) for row in rows.tolist())
        (place / f"{name}.csv").write_text(f"{','.join(names[:width])}\n{text}\n")
    narrow = Domain(dict.fromkeys(names[:6], 2))
    write(random_structure(narrow, features=8, seed=1), place / "narrow.json")
    domain = Domain(dict.fromkeys(names, 2))
    for k, model in enumerate(hard_models()):
        write(model, place / f"hard-{k}.json")
    for k in range(20):
        model = random_structure(domain, features=2000, lengths=(6, 9), seed=k)
        write(model, place / f"model-{k}.json")
    return place


def processes_with(token: str) -> list[int]:
    """Return the processes that have this value in their environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if token.encode() in (place / "environ").read_bytes():
                found.append(int(place.name))
    return found


@contextmanager
def started(words: list[str], folder: Path, token: str) -> Iterator[subprocess.Popen[str]]:
    """Run a command; end it with the block, also if that fails."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-m", "contextwise", *words]
    env = {**os.environ, "TOKEN": token}
    with subprocess.Popen(command, cwd=folder, env=env, text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 4 * LATE
    while not ready():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)
    time.sleep(0.5)


def test_every_command_with_jobs_is_ended_below() -> None:
    context = click.Context(contextwise)
    commands = {name: contextwise.get_command(context, name) for name in COMMANDS}
    with_jobs = {
        name
        for name, command in commands.items()
        if command and any("--jobs" in parameter.opts for parameter in command.params)
    }
    assert with_jobs == set(LONG)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes in /proc")
@pytest.mark.parametrize("command", LONG)
def test_sigterm_ends_the_workers_and_what_reads_from_the_command(
    command: str, folder: Path
) -> None:
    token = f"of-this-test-{command}-{os.getpid()}"
    words = [str(path) for path in sorted(folder.glob("model-*.json"))]
    arguments = [w for word in LONG[command] for w in (words if word == "*" else [word])]
    kept = folder / command
    kept.mkdir()
    for path in (*folder.glob("wide.*"), *folder.glob("narrow.*"), *folder.glob("hard-*")):
        (kept / path.name).symlink_to(path)
    least = 1 if command in THREADS else 4
    with started([command, *arguments, "--jobs", "2"], kept, token) as process:
        works = {  # not only imports: a signal in there may be lost
            "compare": lambda: len(list(Path(f"/proc/{process.pid}/task").iterdir())) > 1,
            "matrix": (kept / "kept" / "results.sqlite").exists,
        }
        wait_until(lambda: len(processes_with(token)) >= least, process)
        if command in works:
            wait_until(works[command], process)
        process.send_signal(signal.SIGTERM)
        # A pipe ends when the last process that could write to it has ended.
        _, errors = process.communicate(timeout=LATE)
    assert process.returncode in (3, 143), errors
    assert "Traceback" not in errors
    assert ("run the same command to resume" in errors) == (command in RESUMES), errors
    assert not processes_with(token)
    assert not (kept / "out.json").exists()
    assert not (kept / "out.html").exists()
    assert not list(kept.glob("*.lock"))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_sigterm_without_jobs_says_how_to_resume(folder: Path, tmp_path: Path) -> None:
    words = ["stability", str(folder / "wide.csv"), *LONG["stability"][1:]]
    with started(words, tmp_path, "") as process:
        wait_until((tmp_path / "kept" / "results.sqlite").exists, process)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=LATE)
    assert process.returncode == 143, errors
    assert errors.endswith("run the same command to resume\n")
    assert "Traceback" not in errors
