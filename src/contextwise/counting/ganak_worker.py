"""The process that runs Ganak, started as a script by `contextwise.counting.ganak`.

It imports nothing of the package, so it starts in milliseconds. It reads one formula per line as
JSON, ``[bytes, booleans, clauses]``, where ``bytes`` limits its memory. It answers with the number
of models in hexadecimal (Python refuses decimals of more than 4,300 digits) or with ``! error``. If
it needs more memory, it ends.

Ganak always writes to standard output, so answers go to a copy of it. Ganak cannot be interrupted,
so a thread watches the input and ends the process when the parent does.
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
    """Limit the memory of this process: its data on Linux, its address space elsewhere."""
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    _, hard = resource.getrlimit(kind)
    with contextlib.suppress(ValueError, OSError):  # a system that does not limit it
        resource.setrlimit(
            kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard)
        )


if __name__ == "__main__":
    main()
