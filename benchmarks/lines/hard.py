"""The hardest covers for the kernel, counted by it and by Ganak.

``hard_covers.json`` lists them by the names of models and variables; ``python -m benchmarks FOLDER
--find-hard-covers`` rebuilds the list.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import baselines
from benchmarks.cases import Case, Models
from benchmarks.families import SEED
from benchmarks.formulas import uncovered_formula
from benchmarks.measure import Line, Measurement, at_least, at_most
from contextwise.counting import native
from contextwise.counting.cover import Cover
from contextwise.counting.extraction import CoverSource

LIST = Path(__file__).parent.parent / "hard_covers.json"
MOST = 100
NODES = 3_000_000
"""Node limit of the search for hard covers, far above all of them."""
REAL = [
    ("plants.dt-ps10", "plants.dt-ps2", None),
    ("nltcs.dt-ps10", "nltcs.dt-ps1", None),
    ("jester.dt-ps10", "jester.dt-ps3", 60),
]
MADE = [("forest.medium", "forest.large", 60)]
UNIONS = ("true", "guess", "either")
CAP = 900.0


def run(models: Models) -> Line:
    """Time each cover on one thread, in processor time."""
    entries = list(_found(models)) if models.generated else json.loads(LIST.read_text())
    covers = list(_covers(models, entries))
    measurements, sizes = [], []
    for entry, cover in zip(entries, covers, strict=True):
        began = time.process_time()
        sizes.append(native.count_union(cover))
        took = time.process_time() - began
        measurements.append(Measurement(_name(entry), "contextwise", took, entry))
    theirs = baselines.run(baselines.ganak, covers, sizes, CAP)
    for entry, seconds in zip(entries, theirs.seconds, strict=False):
        measurements.append(Measurement(_name(entry), "Ganak alone", seconds))
    ours = [m.seconds for m in measurements if m.contender == "contextwise"]
    slowdown = max(a / b for a, b in zip(ours, theirs.seconds, strict=False))
    figures = [
        at_least("all of them together", theirs.total / sum(ours), 3.0),
        at_most("the worst cover, contextwise over Ganak", slowdown, 1.5, "times the time"),
    ]
    title = f"The {len(covers)} hardest covers against Ganak alone"
    return Line("hard", title, measurements, figures)


def find(models: Models) -> None:
    """Find the hardest covers and store the list."""
    LIST.write_text(json.dumps(list(_found(models)), indent=1) + "\n")


def _found(models: Models) -> Iterator[dict[str, Any]]:
    """Return the covers with the most nodes, largest first, without duplicates."""
    nodes: dict[Cover, dict[str, Any]] = {}
    for true, guess, some in MADE if models.generated else REAL:
        case = models.case(true, guess)
        for k, union, cover in _all_covers(case if some is None else case.sample(some, SEED)):
            if cover not in nodes and uncovered_formula(cover).obvious is None:
                cost = native.bound_union(cover, node_budget=NODES).nodes
                nodes[cover] = {
                    "true": true,
                    "guess": guess,
                    "pair": k,
                    "union": union,
                    "nodes": cost,
                }
    yield from sorted(nodes.values(), key=lambda entry: -entry["nodes"])[:MOST]


def _all_covers(case: Case) -> Iterator[tuple[list[int], str, Cover]]:
    source = CoverSource(case.true, case.guess)
    for i, j in case.pairs.tolist():
        for union, cover in zip(UNIONS, source.three_covers((i, j)), strict=True):
            yield [i, j], union, cover


def _covers(models: Models, entries: list[dict[str, Any]]) -> Iterator[Cover]:
    sources: dict[tuple[str, str], CoverSource] = {}
    for entry in entries:
        names = entry["true"], entry["guess"]
        if names not in sources:
            case = models.case(*names)
            sources[names] = CoverSource(case.true, case.guess)
        i, j = entry["pair"]
        yield sources[names].three_covers((i, j))[UNIONS.index(entry["union"])]


def _name(entry: dict[str, Any]) -> str:
    i, j = entry["pair"]
    return f"{entry['true']} / {entry['guess']}, v{i} – v{j}, {entry['union']}"
