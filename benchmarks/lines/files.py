"""From files to counts, compared with the time of a readable parser alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.cases import Models
from benchmarks.measure import Figure, Line, Measurement, at_most, timed
from contextwise.formats.libra import Parser
from contextwise.formats.reading import Source

REAL = [("nips.dttree-ps5", "nips.dt-ps2"), ("moviereview.cl", "moviereview.dttree-ps5")]
MADE = [("wide.small", "wide.large")]

ALL_OF_IT = r"""
import json, re, resource, sys, time
from pathlib import Path
from contextwise import compare
began = time.process_time()
comparison = compare(sys.argv[1], sys.argv[2], threads=1)
took = time.process_time() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
status = Path("/proc/self/status")
if status.exists():  # the peak of this program alone: the other one begins with its parent's
    peak = int(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1])
peak /= 1024
print(json.dumps([took, peak, comparison.distance]))
"""


def run(models: Models) -> Line:
    """Time reading, extracting and counting on one thread in a new process; measure memory."""
    measurements: list[Measurement] = []
    figures: list[Figure] = []
    for names in MADE if models.generated else REAL:
        case = " / ".join(names)
        paths = [models.path(name) for name in names]
        command = [sys.executable, "-c", ALL_OF_IT, *map(str, paths)]
        runs = [json.loads(subprocess.check_output(command)) for _ in range(3)]
        assert len({distance for _, _, distance in runs}) == 1
        ours, peak = min(took for took, _, _ in runs), max(peak for _, peak, _ in runs)
        theirs, _ = timed(lambda paths=paths: [_parse(path) for path in paths])  # type: ignore[misc]
        measurements.append(Measurement(case, "contextwise", ours, {"MiB": peak}))
        measurements.append(Measurement(case, "a readable parser", theirs))
        what = f"{case}: over the time of a readable parser"
        figures.append(at_most(what, ours / theirs, 2.0, "times"))
        figures.append(at_most(f"{case}: memory", peak, 1024, "MiB"))
    return Line("files", "From files to counts", measurements, figures)


def _parse(path: Path) -> object:
    return Parser(Source(path.read_bytes(), str(path)), "MN").file()
