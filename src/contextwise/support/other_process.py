"""Call functions in other processes that have a fixed hash seed and can be ended in time.

The order of a set of texts follows Python's hash seed, which differs from process to process. So a
package that iterates over sets can return another result each time. A process of this module has
the hash seed 0, its random numbers start at the same place for each call, and BLAS has one thread:
equal calls give equal results.

A process starts at the first call and serves further ones. Functions that pickle cannot send by
name, such as those of a notebook, are sent by value if cloudpickle is installed.
"""

from __future__ import annotations

import atexit
import os
import pickle
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import IO, Any, TypeVar

from contextwise.errors import ContextwiseError

T = TypeVar("T")

COMMAND = "from contextwise.support.other_process import serve; serve()"
PREFIX = 8
"""Bytes of the length in front of each message."""

_idle: list[_Process] = []
_elsewhere = threading.local()


class TimeIsUp(Exception):
    """The process was ended before its function returned."""


def is_repeatable() -> bool:
    """Return whether this process has the fixed hash seed, as the processes of this module have."""
    return not sys.flags.hash_randomization


def call_elsewhere(
    function: Callable[[], T], *, seconds: float | None = None, package: str = ""
) -> T:
    """Call a function in another process; raise what it raises, or `TimeIsUp`.

    The time starts when the other process has started and imported ``package``.

    >>> call_elsewhere(partial(pow, 2, 5))
    32
    """
    message = pickle.dumps((sys.path, os.getcwd(), package, dumps(function)))
    process = _process()
    try:
        answer = process.ask(message, seconds)
    except BaseException:
        process.end()
        raise
    _idle.append(process)
    value, problem, used = pickle.loads(answer)
    _elsewhere.seconds = getattr(_elsewhere, "seconds", 0.0) + used
    if problem is not None:
        raise problem
    result: T = value
    return result


def processor_time() -> float:
    """Return the processor time of this thread's work, also in other processes, in seconds."""
    elsewhere: float = getattr(_elsewhere, "seconds", 0.0)
    if threading.current_thread() is threading.main_thread():
        return elsewhere + _used()
    return elsewhere + time.thread_time()  # the others work on something else


def _used() -> float:
    """Return the processor time of this process and of those that ended below it."""
    return time.process_time() + sum(os.times()[2:4])


def dumps(thing: Any) -> bytes:
    """Pickle something, by value where it is of a notebook, a script, or a module of the user's."""
    try:
        cloudpickle = import_module("cloudpickle")
    except ImportError:
        return pickle.dumps(thing)
    data: bytes = cloudpickle.dumps(thing)
    return data


@contextmanager
def sent_by_value(modules: Iterable[ModuleType]) -> Iterator[None]:
    """Send what modules define by value, as other processes may lack them or have an old one."""
    try:
        cloudpickle: Any = import_module("cloudpickle")
    except ImportError:
        yield
        return
    sent = [module for module in modules if module.__name__ in sys.modules]
    for module in sent:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in sent:
            cloudpickle.unregister_pickle_by_value(module)


class _Process:
    """Another process, which ends with this one."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._popen = subprocess.Popen(
            [sys.executable, "-c", COMMAND, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PYTHONHASHSEED": "0",
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            },
            start_new_session=True,  # Ctrl-C is for this process, which ends the other
        )

    def ask(self, message: bytes, seconds: float | None) -> bytes:
        """Send a message and return the answer."""
        late = threading.Event()

        def end() -> None:
            late.set()
            self._popen.kill()

        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        with suppress(BrokenPipeError):  # then there is no answer
            _send(self._popen.stdin, message)
        answer = _received(self._popen.stdout)  # empty: the call begins
        timer = None if seconds is None else threading.Timer(seconds, end)
        if timer:
            timer.daemon = True
            timer.start()
        try:
            answer = _received(self._popen.stdout) if answer == b"" else answer
        finally:
            if timer:
                timer.cancel()
        if late.is_set():
            raise TimeIsUp
        if answer is None:
            code = self._popen.wait()
            raise ContextwiseError(f"its process ended without a result (exit code {code})")
        return answer

    def end(self) -> None:
        """End the process at once."""
        self._popen.kill()
        self._popen.communicate()


def _process() -> _Process:
    """Return a process that waits for work; one that a parent of this process started is not."""
    while _idle:
        process = _idle.pop()
        if process.owner == os.getpid():
            return process
    return _Process()


@atexit.register
def _end_idle() -> None:
    while _idle:
        process = _idle.pop()
        if process.owner == os.getpid():
            process.end()


def _send(stream: IO[bytes], message: bytes) -> None:
    stream.write(len(message).to_bytes(PREFIX, "little") + message)
    stream.flush()


def _received(stream: IO[bytes]) -> bytes | None:
    """Read one message; None at the end of the stream."""
    prefix = stream.read(PREFIX)
    size = int.from_bytes(prefix, "little")
    message = stream.read(size) if len(prefix) == PREFIX else b""
    return message if len(prefix) == PREFIX and len(message) == size else None


# -- in the other process --------------------------------------------------------------------------


def serve() -> None:
    """Answer messages until the end of standard input; functions may print on standard output."""
    from contextwise.support.machine import one_thread

    threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        while (message := _received(sys.stdin.buffer)) is not None:
            with one_thread():
                answer = _answer(message, begins=partial(_send, out, b""))
            _send(out, answer)


def _answer(message: bytes, begins: Callable[[], None]) -> bytes:
    """Return the pickled value, exception and processor time of a call."""
    used = 0.0
    try:
        sys.path[:], folder, package, call = pickle.loads(message)
        os.chdir(folder)
        function = pickle.loads(call)
        if package:
            with suppress(ImportError):  # which the function explains
                import_module(package)
        random.seed(0)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(0)
        begins()
        before = _used()
        try:
            value = function()
        finally:
            used = _used() - before
        return dumps((value, None, used))
    except Exception as problem:
        try:
            answer = dumps((None, problem, used))
            pickle.loads(answer)
        except Exception:
            return dumps((None, RuntimeError(f"{type(problem).__name__}: {problem}"), used))
        return answer


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
