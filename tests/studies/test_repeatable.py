"""The same study gives the same results: here, over processes, on Dask, after an interruption."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from contextwise import Structure, study
from contextwise.learning import Pgmpy, PyAgrum, Trees
from contextwise.studies.learner_study import ChangedStudy, UnsentLearner

# At these sizes two hash seeds give two results of PC if it runs without a fixed one.
STUDY: dict[str, Any] = {"truths": "bnlearn-asia", "rows": [100, 300], "repeats": 1}

LEARNERS = {"pc": Pgmpy(method="pc"), "miic": PyAgrum(method="miic"), "trees": Trees(penalty=5.0)}

SCRIPT = """
import sys
import threading
from contextwise.learning import Pgmpy, PyAgrum, Trees
from contextwise import study
learners = {"pc": Pgmpy(method="pc"), "miic": PyAgrum(method="miic"), "trees": Trees(penalty=5.0)}
study("bnlearn-asia", learners, rows=[100, 300], repeats=1, n_jobs=2, out=sys.argv[1])
"""


def results(folder: Path) -> str:
    """Return ``results.csv`` without its column of seconds."""
    lines = [line.split(",") for line in (folder / "results.csv").read_text().splitlines()]
    at = lines[0].index("seconds")
    return "\n".join(",".join((*line[:at], *line[at + 1 :])) for line in lines)


class Stopped(Exception):
    pass


@pytest.mark.filterwarnings("ignore")  # of the packages
def test_four_ways_to_run_a_study_give_one_file(tmp_path: Path) -> None:
    pytest.importorskip("pgmpy")
    pytest.importorskip("pyagrum")
    distributed = pytest.importorskip("distributed")
    folders = [tmp_path / name for name in ("here", "processes", "dask", "interrupted")]
    here, processes, dask, interrupted = folders
    study(**STUDY, learners=LEARNERS, out=here)
    other_seed = {**os.environ, "PYTHONHASHSEED": "5"}
    subprocess.run([sys.executable, "-c", SCRIPT, processes], env=other_seed, check=True)
    local: dict[str, Any] = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    with (
        distributed.LocalCluster(**local, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        study(**STUDY, learners=LEARNERS, out=dask, cluster=client)

    def stop(done: int, total: int) -> None:
        if done == 4:
            raise Stopped

    with pytest.raises(Stopped):
        study(**STUDY, learners=LEARNERS, out=interrupted, show_progress=stop)
    assert not (interrupted / "results.csv").exists()
    study(**STUDY, learners=LEARNERS, out=interrupted)
    first, *others = map(results, folders)
    assert len(first.splitlines()) == 1 + 6
    assert others == [first] * 3


def test_the_provenance_has_command_seed_versions_and_parameters(tmp_path: Path) -> None:
    study("lung", Trees(penalty=5.0), rows=50, repeats=1, seed=3, out=tmp_path, command="typed")
    made = json.loads((tmp_path / "study.json").read_text())
    assert (made["command"], made["seed"], made["rows"]) == ("typed", 3, [50])
    assert made["learners"]["trees"]["parameters"]["penalty"] == 5.0
    assert {"Python", "contextwise", "numpy", "scipy"} <= made["versions"].keys()


def test_models_are_kept(tmp_path: Path) -> None:
    import contextwise as cw

    result = study("lung", "chow-liu", rows=80, repeats=2, keep_models=True, out=tmp_path)
    for record in result.results:
        file = tmp_path / f"models/lung/80/{record['repeat']}/chow-liu.json"
        assert cw.compare(tmp_path / "models/lung/truth.json", file).distance == record["distance"]


OLD = "from contextwise import Structure\ndef mine(rows):\n    return Structure({'A': 2, 'B': 2})\n"


def test_a_changed_learner_is_computed_again_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mylib_of_test.py"
    monkeypatch.syspath_prepend(str(tmp_path))
    truth = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    distances = []
    for body in (OLD, OLD.replace("})", "}, ['A=1 & B=1'])")):
        file.write_text(body)
        monkeypatch.delitem(sys.modules, "mylib_of_test", raising=False)
        from mylib_of_test import mine  # type: ignore[import-not-found]

        learners = {"mine": mine, "mpl": "mpl"}
        run: dict[str, Any] = {"rows": 50, "repeats": 2, "out": tmp_path / "run"}
        if body is OLD:
            result = study(truth, learners, **run)
        else:
            with pytest.warns(ChangedStudy, match="mine: its source has changed: 2 units of 4 are"):
                result = study(truth, learners, **run)
        distances.append([r["distance"] for r in result.results if r["learner"] == "mine"])
        sys.dont_write_bytecode = True
    assert distances == [[1, 1], [0, 0]]


NOTEBOOK = """
import contextwise as cw
from contextwise.support.maps import choose_map

class Mine(cw.learning.Learner):
    def learn(self, data, run):
        return nothing(data.domain)

def nothing(domain):
    return cw.Structure(domain)

def function(frame):
    return cw.Structure({name: ["no", "yes"] for name in frame.columns})

class Unsendable:
    def __reduce__(self):
        raise TypeError("no way to send this")

learners = {"mine": Mine(), "function": function}
result = cw.study("lung", learners, rows=50, repeats=2, n_jobs=2)
print([record["status"] for record in result.results])
print(*(done.error for done in choose_map(n_jobs=2)(nothing, [Unsendable()])))
"""


def test_learners_of_a_notebook_run_in_processes() -> None:
    """As in a notebook, the code has no file; what cannot be sent is told as that."""
    command = [sys.executable, "-c", NOTEBOOK]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == str(["done"] * 4)
    assert "it cannot be sent to another process: " in done.stdout
    assert "no way to send this" in done.stdout


def test_a_changed_helper_of_a_learner_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The helper goes to the workers, too, which cannot import it."""
    helper = tmp_path / "helper_of_mylib.py"
    (tmp_path / "mylib_with_helper.py").write_text(
        "import contextwise as cw\nfrom helper_of_mylib import features\n\n"
        "def mine(frame):\n    return cw.Structure({'A': 2, 'B': 2}, features())\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    truth = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    run: dict[str, Any] = {"rows": 50, "repeats": 2, "out": tmp_path / "run", "n_jobs": 2}
    distances: list[list[int]] = []
    for body in ("[]", "['A=1 & B=1']"):
        helper.write_text(f"def features():\n    return {body}\n")
        for name in ("mylib_with_helper", "helper_of_mylib"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        from mylib_with_helper import mine  # type: ignore[import-not-found]

        if distances:
            with pytest.warns(ChangedStudy, match="mine: its source has changed: 2 units of 2 are"):
                result = study(truth, {"mine": mine}, **run)
        else:
            result = study(truth, {"mine": mine}, **run)
        distances.append([record["distance"] for record in result.results])
    assert distances == [[1, 1], [0, 0]]


def test_a_learner_that_cannot_be_sent_is_said_to_run_here(tmp_path: Path) -> None:
    lock = threading.Lock()

    def mine(frame: Any) -> Structure:
        with lock:
            return Structure({name: ["0", "1"] for name in frame})

    truth = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    results = []
    for jobs in (1, 2):
        with pytest.warns(UnsentLearner, match=r"mine cannot be pickled \(cannot pickle '_thread"):
            found = study(truth, {"mine": mine, "mpl": "mpl"}, rows=50, repeats=2, n_jobs=jobs)
        results.append([{**record, "seconds": 0} for record in found.results])
    assert results[0] == results[1]
    assert {record["status"] for record in results[0]} == {"done"}
