"""Growth with the number of variables at constant features per variable: time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.cases import Models
from benchmarks.families import SEED, local
from benchmarks.measure import Line, Measurement, at_most, exponent
from contextwise import write
from contextwise.models.structure import LogLinear

VARIABLES = (1_000, 10_000, 100_000)
STEPS = """
import json, re, sys, time
from pathlib import Path
import contextwise as cw

def measured(work):
    began = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - began
    # getrusage would count the memory of the parent, too.
    peak = re.search("VmHWM:[^0-9]*([0-9]+) kB", Path("/proc/self/status").read_text())
    return result, (seconds, int(peak[1]) / 1024)

models, reading = measured(lambda: [cw.read(path) for path in sys.argv[1:]])
comparison, comparing = measured(lambda: cw.compare(*models))
text, writing = measured(lambda: str(comparison) + comparison.summary())
print(json.dumps({"reading": reading, "comparing": comparing, "text": writing}))
"""


def run(models: Models) -> Line:
    """Read and compare two random models in a process of its own, for its peak of memory."""
    measurements: list[Measurement] = []
    for variables in VARIABLES:
        for step, (seconds, megabytes) in _measured(variables).items():
            notes = {"variables": variables, "megabytes": round(megabytes)}
            case = f"{variables:,} variables, {10 * variables:,} features"
            measurements.append(Measurement(case, step, seconds, notes))
    of = {(m.notes["variables"], m.contender): m for m in measurements}
    comparing = [of[variables, "comparing"] for variables in VARIABLES]
    middle, largest = comparing[1:]
    reading = of[VARIABLES[1], "reading"].seconds
    figures = [
        at_most(
            "exponent of comparing in the number of variables",
            exponent([(m.notes["variables"], m.seconds) for m in comparing]),
            1.1,
        ),
        at_most(
            f"{VARIABLES[1]:,} variables: comparing, in times of reading",
            middle.seconds / reading,
            4,
        ),
        at_most(f"{VARIABLES[1]:,} variables: MB of memory", middle.notes["megabytes"], 400),
        at_most(
            f"{VARIABLES[2]:,} variables: reading and comparing, in seconds",
            of[VARIABLES[2], "reading"].seconds + largest.seconds,
            120,
        ),
        at_most(f"{VARIABLES[2]:,} variables: MB of memory", largest.notes["megabytes"], 6000),
    ]
    title = "Ten features per variable, each over 2 to 7 of 30 neighbouring variables"
    return Line("scale", title, measurements, figures)


def _measured(variables: int) -> dict[str, tuple[float, float]]:
    """Return the time of each step by the clock, and the peak of memory until its end (Linux)."""
    with tempfile.TemporaryDirectory() as made:
        paths = [Path(made) / f"{name}.mn" for name in ("true", "guess")]
        for k, path in enumerate(paths):
            rng = np.random.default_rng([SEED, variables, k])
            model = local(variables, rng)
            write(LogLinear(model, rng.normal(size=len(model))), path)
        command = [sys.executable, "-c", STEPS, *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    steps: dict[str, tuple[float, float]] = json.loads(done.stdout)
    return steps
