"""Check that the verdicts about pairs depend on neither the learner nor the seed.

``python -m benchmarks.same_verdicts FILE [OUTCOME] [--subject id …]`` analyses a file with four
learners and five seeds, and prints how many verdicts or p-values differ from the first run.
"""

from __future__ import annotations

import sys
from typing import Any

from contextwise.analysis.conclusions import analyse

LEARNERS = ("pair-blocks", "acyclic-trees", "chow-liu", "mpl")
SEEDS = range(5)
SECONDS = 60.0


def main(arguments: list[str]) -> None:
    options = [k for k, each in enumerate(arguments) if each.startswith("--")]
    reading: dict[str, Any] = {
        arguments[k][2:].replace("-", "_"): arguments[k + 1] for k in options
    }
    path, *outcome = arguments[: options[0] if options else len(arguments)]
    first: dict[Any, Any] = {}
    runs = differing = 0
    for learner in LEARNERS:
        for seed in SEEDS:
            result = analyse(
                path,
                outcome=outcome[0] if outcome else None,
                learner=learner,
                seed=seed,
                resamples=0,
                time_limit=SECONDS,
                **reading,
            )
            if result.pairs.unfinished:
                print(f"{learner}, seed {seed}: {result.unfinished}")
                continue
            found: dict[Any, Any] = {e.pair: (e.verdict, e.p, e.adjusted) for e in result.pairs}
            found |= {(*i.pair, i.by): (i.verdict, i.p, i.adjusted) for i in result.interactions}
            first = first or found
            runs += 1
            differing += sum(found.get(key) != value for key, value in first.items())
    print(f"{path}: {runs} runs, {len(first)} verdicts, {differing} differ", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
