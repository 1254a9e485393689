"""The process around Ganak: formulas come in, numbers go out, one line each.

Run as a script by `contextwise.counting.ganak`, which keeps some of these processes. It imports
nothing of the package, so that it starts in milliseconds. A line in is JSON,
``[bytes, booleans, clauses]``; the bytes are what the process may hold. A line out is the number of
models in hexadecimal (a decimal number of more than 4,300 digits is refused by Python), or
``! what went wrong``. A process that needs more memory than it may have ends.

Ganak writes to standard output and cannot be told not to: so standard output is redirected first,
and answers go to a copy of it. Ganak cannot be interrupted either; a thread watches for the end of
the input, so that the process ends when the one that started it does.
"""

import contextlib
import json
import os
import queue
import resource
import sys
import threading


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    while True:
        answers.write(f"{_answer(lines.get())}\n")
        answers.flush()


def _listen(lines: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


def _answer(line: str) -> str:
    try:
        import pyganak

        limit, booleans, clauses = json.loads(line)
        _allow(limit)
        counter = pyganak.Counter()
        counter.new_vars(booleans)
        counter.add_clauses(clauses)
        return f"{counter.count():x}"
    except Exception as error:
        if isinstance(error, MemoryError) or "bad_alloc" in str(error):
            os._exit(1)
        return f"! {type(error).__name__}: {' '.join(str(error).split())}"


def _allow(limit: int) -> None:
    """Let this process hold so many bytes: its data on Linux, all its addresses elsewhere."""
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    _, hard = resource.getrlimit(kind)
    with contextlib.suppress(ValueError, OSError):  # a system that does not limit it
        resource.setrlimit(
            kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard)
        )


if __name__ == "__main__":
    main()
