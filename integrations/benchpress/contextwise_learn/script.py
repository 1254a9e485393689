"""Learn a structure by the command ``contextwise learn``; Snakemake runs this.

Benchpress's categorical data has names in the first line, numbers of states in the second, and
whole numbers as cells. The graph is written to ``adjmat``, the structure to ``model.json`` next to
it. A learner that fails or exceeds its time leaves an empty graph, as Benchpress expects.
"""

import csv
import json
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path

job = snakemake  # type: ignore[name-defined]  # noqa: F821


def learn(folder: Path, model: Path) -> None:
    """Call the command on the rows, with the numbers of states from the second line."""
    with open(job.input["data"], newline="") as file:
        names, cardinalities, *rows = csv.reader(file)
    variables = [
        {"name": name, "states": [str(k) for k in range(int(cardinality))]}
        for name, cardinality in zip(names, cardinalities, strict=True)
    ]
    domain = {"format": "contextwise", "version": 1, "variables": variables, "features": []}
    (folder / "domain.json").write_text(json.dumps(domain))
    with open(folder / "rows.csv", "w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    texts = job.wildcards["parameters"].split("&")
    parameters = [text.split("=", 1) for text in texts if "=" in text]
    settings = [f":{name}={value}" for name, value in parameters]
    learner = "".join([job.wildcards["learner"], *settings])
    command = [
        *("contextwise", "learn", str(folder / "rows.csv"), "--learner", learner),
        *("--domain-from", str(folder / "domain.json"), "--out", str(model)),
    ]
    limit = job.wildcards["timeout"]
    subprocess.run(command, check=True, timeout=None if limit == "None" else float(limit))


def write_graph(model: Path) -> None:
    """Write the graph: an edge for each pair of variables that share a feature."""
    learned = json.loads(model.read_text())
    names = [variable["name"] for variable in learned["variables"]]
    edges = {pair for feature in learned["features"] for pair in combinations(sorted(feature), 2)}
    table = [[int(tuple(sorted((a, b))) in edges) for b in names] for a in names]
    with open(job.output["adjmat"], "w", newline="") as file:
        csv.writer(file).writerows([names, *table])


began = time.perf_counter()
model = Path(job.output["adjmat"]).with_name("model.json")
try:
    with tempfile.TemporaryDirectory() as folder:
        learn(Path(folder), model)
    write_graph(model)
except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
    print(error, file=sys.stderr)
    Path(job.output["adjmat"]).touch()
Path(job.output["time"]).write_text(str(time.perf_counter() - began))
Path(job.output["ntests"]).write_text("None")
