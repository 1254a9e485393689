"""Compare every ``model.json`` with its truth by ``contextwise compare``; one row per run.

The truth is the configured model file, or the moral graph of Benchpress's adjacency matrix. A run
without a structure gets an empty row.
"""

import csv
import json
import subprocess
import tempfile
from itertools import combinations
from pathlib import Path

job = snakemake  # type: ignore[name-defined]  # noqa: F821
KEYS = ("distance", "normalized", "fp", "fn", "precision", "recall", "kappa", "assertions")


def moral_edges(adjacency: Path) -> set[frozenset[str]]:
    """Return the edges without directions, and those between parents of the same child."""
    with open(adjacency, newline="") as file:
        names, *table = csv.reader(file)
    parents = {
        child: [names[i] for i, row in enumerate(table) if float(row[j]) and names[i] != child]
        for j, child in enumerate(names)
    }
    directed = any(row[j] != table[j][i] for i, row in enumerate(table) for j in range(len(names)))
    edges = {frozenset((parent, child)) for child in names for parent in parents[child]}
    if directed:
        edges |= {frozenset(two) for child in names for two in combinations(parents[child], 2)}
    return edges


def write_graph(adjacency: Path, model: Path, true: Path) -> None:
    """Write the moral graph as a model over the variables and states of a learned model."""
    edges = moral_edges(adjacency)
    variables = json.loads(model.read_text())["variables"]
    states = {variable["name"]: variable["states"] for variable in variables}
    features = [
        {a: a_state, b: b_state}
        for a, b in sorted(map(sorted, edges))
        for a_state in states[a]
        for b_state in states[b]
    ]
    document = {"format": "contextwise", "version": 1, "variables": variables, "features": features}
    true.write_text(json.dumps(document))


def compare(truth: Path, model: Path, folder: Path) -> dict[str, object]:
    """Compare one structure with its truth and return the numbers of `KEYS`."""
    true = job.params["true_model"]
    if not true:
        true = str(folder / "true.json")
        write_graph(truth, model, Path(true))
    command = ["contextwise", "compare", true, str(model), "--json"]
    result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    record = result[0] if isinstance(result, list) else result
    return {key: record.get(key) for key in KEYS}


rows = []
with tempfile.TemporaryDirectory() as folder:
    for graph, truth in zip(job.input["graphs"], job.input["truths"], strict=True):
        model = Path(graph).with_name("model.json")
        numbers = compare(Path(truth), model, Path(folder)) if model.exists() else {}
        rows.append({"run": str(Path(graph).parent), **dict.fromkeys(KEYS), **numbers})
with open(job.output["table"], "w", newline="") as file:
    writer = csv.DictWriter(file, ["run", *KEYS])
    writer.writeheader()
    writer.writerows(rows)
