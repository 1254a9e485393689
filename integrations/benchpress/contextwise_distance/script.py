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

import contextwise as cw
from contextwise.comparison.confusion import shown_in

job = snakemake  # type: ignore[name-defined]  # noqa: F821
KEYS = ("distance", *shown_in("guesses"), "assertions")


def moral_graph(adjacency: Path) -> list[tuple[str, str]]:
    """Return the edges without directions, and the edges between parents of the same child."""
    with open(adjacency, newline="") as file:
        names, *table = csv.reader(file)
    parents = {
        child: [names[i] for i, row in enumerate(table) if float(row[j]) and names[i] != child]
        for j, child in enumerate(names)
    }
    joined = {
        tuple(sorted(pair))
        for child, family in parents.items()
        for pair in combinations([child, *family], 2)
    }
    directed = any(row[j] != table[j][i] for i, row in enumerate(table) for j in range(len(names)))
    edges = {tuple(sorted((p, child))) for child, family in parents.items() for p in family}
    return sorted(joined if directed else edges)


def compare(truth: Path, model: Path, folder: Path) -> dict[str, object]:
    """Compare one structure with its truth and return the numbers of `KEYS`."""
    if job.params["true_model"]:
        true = job.params["true_model"]
    else:
        true = str(folder / "true.json")
        cw.write(cw.convert.from_graph(cw.read(model).domain, moral_graph(truth)), true)
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
