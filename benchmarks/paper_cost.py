"""The cost of the paper's methods side by side: in the number of variables, and of features.

    python -m benchmarks.paper_cost

Two random binary models with features of two to four literals. Each cell is the processor time of
one comparison in a process of its own, stopped after ``MOST_SECONDS``. All methods that finish must
count the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection

from contextwise import Domain, Structure, compare
from contextwise.comparison.confusion import Confusion
from contextwise.paper import confusion, confusion_complete
from contextwise.testing import brute_force, random_structure

MOST_SECONDS = 20
METHODS = ["complete", "brute", "theorem", "partition", "branch", "native"]
HEADS = ["all assertions", "every context", "sets H", "partition", "branch", "native"]
BY_HAND: dict[str, Callable[[Structure, Structure], Confusion]] = {
    "complete": confusion_complete,
    "brute": brute_force,
    "theorem": confusion,
}
BY_VARIABLES = [(n, 40) for n in (6, 8, 10, 12, 16, 24, 48, 96)]
BY_FEATURES = [(12, count) for count in (10, 20, 40, 80, 160, 320, 640)]


def models(variables: int, features: int) -> tuple[Structure, Structure]:
    domain = Domain({f"X{k}": 2 for k in range(variables)})
    draw = partial(random_structure, domain, features=features, lengths=(2, 4))
    return draw(seed=1), draw(seed=2)


def measure(method: str, variables: int, features: int, out: Connection) -> None:
    true, guess = models(variables, features)
    compare(*models(4, 2), engine="native")  # imports
    start = time.process_time()
    if method in BY_HAND:
        counts = str(BY_HAND[method](true, guess))
    else:
        counts = str(compare(true, guess, engine=method).confusion)
    out.send((time.process_time() - start, counts))


def cell(method: str, variables: int, features: int) -> tuple[str, str]:
    """Return the time as text, and the counts; empty if it does not finish."""
    if method == "complete" and variables > 9:
        return "refused", ""
    into, out = get_context("fork").Pipe(duplex=False)
    process = get_context("fork").Process(target=measure, args=(method, variables, features, out))
    process.start()
    finished = into.poll(2 * MOST_SECONDS)  # of the clock, on a busy machine
    seconds, counts = into.recv() if finished else (MOST_SECONDS + 1, "")
    process.kill()
    process.join()
    return (f"{seconds:.2g} s" if seconds <= MOST_SECONDS else f"> {MOST_SECONDS} s"), counts


def main() -> None:
    for label, sizes in (("variables", BY_VARIABLES), ("features", BY_FEATURES)):
        print("| " + " | ".join([label, *HEADS]) + " |")
        print("|--:" * (len(HEADS) + 1) + "|")
        slow: set[str] = set()
        for variables, features in sizes:
            cells, counted = [], set()
            for method in METHODS:
                text, counts = ("", "") if method in slow else cell(method, variables, features)
                slow |= {method} if text.startswith(">") else set()
                counted |= {counts} if counts and method != "complete" else set()
                cells.append(text or f"> {MOST_SECONDS} s")
            assert len(counted) == 1, counted
            size = variables if label == "variables" else features
            print("| " + " | ".join([str(size), *cells]) + " |", flush=True)
        print()


if __name__ == "__main__":
    main()
