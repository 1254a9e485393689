"""The process around Ganak: formulas come in, numbers go out, a line each.

Run as a script by `contextwise.counting.ganak`, and kept free of the package so that it starts in
milliseconds. A line in is JSON, ``[booleans, clauses]``; a line out is the number of models in
hexadecimal (a decimal number of more than 4,300 digits is refused by Python), or ``! what went
wrong``. Ganak writes to the process's standard output whatever it is told, so that is turned away
first and the answers take a copy of it. Ganak cannot be interrupted; a thread watches for the end
of the input, so that the process ends with whoever started it.
"""

import json
import os
import queue
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

        booleans, clauses = json.loads(line)
        counter = pyganak.Counter()
        counter.new_vars(booleans)
        counter.add_clauses(clauses)
        return f"{counter.count():x}"
    except Exception as error:
        return f"! {type(error).__name__}: {' '.join(str(error).split())}"


if __name__ == "__main__":
    main()
