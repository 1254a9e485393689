"""The scripts of the Benchpress module run as in Snakemake: with an object ``snakemake``."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import contextwise as cw

MODULE = Path(__file__).parents[2] / "integrations" / "benchpress"
PREAMBLE = """
import json, sys
class Job:
    pass
snakemake = Job()
vars(snakemake).update(json.loads(sys.argv[1]))
sys.modules["contextwise"] = None  # Snakemake's Python does not have it
"""


def run(script: str, folder: Path, job: dict[str, Any]) -> None:
    code = PREAMBLE + (MODULE / script).read_text()
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    command = [sys.executable, "-c", code, json.dumps(job)]
    subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, check=True)


def write_csv(path: Path, rows: Any) -> None:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(rows)


def test_both_scripts_learn_and_compare(tmp_path: Path) -> None:
    drawn = cw.sample("lung", 800, seed=1, array=True)
    codes = [[["no", "yes"].index(cell) for cell in row] for row in drawn.tolist()]
    names = ["smoker", "asbestos", "cancer"]
    write_csv(tmp_path / "rows.csv", [[*names], [2, 2, 2], *codes])
    # smoker -> cancer <- asbestos: its moral graph has all three edges
    write_csv(tmp_path / "truth.csv", [[*names], [0, 0, 1], [0, 0, 1], [0, 0, 0]])
    outputs = {key: str(tmp_path / f"{key}.out") for key in ("time", "ntests")}
    job: dict[str, Any] = {
        "input": {"data": "rows.csv"},
        "output": {"adjmat": str(tmp_path / "adjmat.csv"), **outputs},
        "wildcards": {
            "learner": "trees",
            "parameters": "penalty=5&min-count=10",
            "timeout": "None",
        },
    }
    run("contextwise_learn/script.py", tmp_path, job)
    learned = cw.read(tmp_path / "model.json")
    assert learned.origin.learned is not None
    assert learned.origin.learned.parameters["penalty"] == 5.0
    job = {
        "input": {"graphs": ["adjmat.csv", "missing/adjmat.csv"], "truths": ["truth.csv"] * 2},
        "output": {"table": "distances.csv"},
        "params": {"true_model": None},
    }
    run("contextwise_distance/script.py", tmp_path, job)
    with open(tmp_path / "distances.csv", newline="") as file:
        found, missing = csv.DictReader(file)
    moral = cw.convert.from_graph([(a, b) for a in names for b in names if a < b], learned.domain)
    assert int(found["distance"]) == cw.compare(moral, learned).distance
    assert found["assertions"] == "6"
    assert missing["distance"] == ""


def test_a_learner_that_is_too_slow_leaves_an_empty_graph(tmp_path: Path) -> None:
    write_csv(tmp_path / "rows.csv", [["A", "B"], [2, 2], [0, 1], [1, 0]])
    outputs = {key: str(tmp_path / f"{key}.out") for key in ("time", "ntests")}
    job: dict[str, Any] = {
        "input": {"data": "rows.csv"},
        "output": {"adjmat": str(tmp_path / "adjmat.csv"), **outputs},
        "wildcards": {"learner": "trees", "parameters": "none", "timeout": "0.001"},
    }
    run("contextwise_learn/script.py", tmp_path, job)
    assert (tmp_path / "adjmat.csv").read_text() == ""
