"""The effect of each step of the counting: the kernel without it against the whole kernel."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.cases import Models
from benchmarks.measure import Figure, Line, Measurement
from benchmarks.switches import STEPS, build

REAL = (
    ("alarm.cl", "alarm.bn-ps2"),
    ("nips.dttree-ps5", "nips.dt-ps2"),
    ("plants.dt-ps10", "plants.dt-ps2"),
    ("jester.dt-ps10", "jester.dt-ps3"),
)
MADE = (("forest.medium", "forest.large"), ("wide.small", "wide.large"))
LIMIT = 40
"""Limit of processor seconds for one comparison without one step."""
WHOLE = "all steps"

COUNT = """
import json, sys, time
from hashlib import sha256
from pathlib import Path
from benchmarks.cases import Models
case = Models(Path(sys.argv[1]), generated=False).case(*sys.argv[2:])
times, counts = [], None
while sum(times) < 1 and len(times) < 50:
    began = time.process_time()
    counts = case.count("native")
    times.append(time.process_time() - began)
digest = sha256(repr(counts.lower.tolist()).encode()).hexdigest()
print(json.dumps({"seconds": min(times), "digest": digest}))
"""
"""The program that times one case; the shortest of its runs counts."""


def run(models: Models) -> Line:
    """Each case with all steps, then without one of them; the counts must stay the same."""
    measurements: list[Measurement] = []
    with tempfile.TemporaryDirectory(prefix="contextwise-steps-") as made:
        build(Path(made))
        for names in MADE if models.generated else REAL:
            measurements += _case(models, names, Path(made))
    return Line("steps", "What each step brings", measurements, _figures(measurements))


def _case(models: Models, names: tuple[str, str], package: Path) -> list[Measurement]:
    """One comparison: with all steps, then with each of them off."""
    compared = " / ".join(names)
    whole = _count(models, names, package, off=0)
    assert whole is not None, f"{compared} takes more than {LIMIT} s"
    found = [Measurement(WHOLE, compared, whole["seconds"])]
    for bit, step in enumerate(STEPS):
        without = _count(models, names, package, off=1 << bit)
        assert without is None or without["digest"] == whole["digest"], step
        seconds = without["seconds"] if without else float(LIMIT)
        notes = {"finished": without is not None}
        found.append(Measurement(f"without {step}", compared, seconds, notes))
    return found


def _count(
    models: Models, names: tuple[str, str], package: Path, *, off: int
) -> dict[str, Any] | None:
    """Return the time and a digest of the counts, from a separate process; None if too slow."""
    paths = os.pathsep.join([str(package), str(Path(__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-c", COUNT, str(models.folder), *names],
        env={**os.environ, "PYTHONPATH": paths, "CONTEXTWISE_OFF": str(off)},
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)),
    )
    if done.returncode < 0:
        return None
    done.check_returncode()
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _figures(measurements: list[Measurement]) -> list[Figure]:
    """Return for each step the largest slowdown without it."""
    whole = {m.contender: m.seconds for m in measurements if m.case == WHOLE}
    most: dict[str, float] = {}
    for m in measurements:
        if m.case != WHOLE:
            most[m.case] = max(most.get(m.case, 0.0), m.seconds / whole[m.contender])
    return [Figure(f"{case}, times as long", value, "", None) for case, value in most.items()]
