"""Learners: agreement with Libra's structures and scores, and speed against scikit-learn's trees.

Libra's structures are the models ``DATA.dt-psPENALTY.mn`` (trees) and ``DATA.cl.mn`` (Chow-Liu);
they were learned from ``DATA.train.data.gz`` in the folder of data. The scores are those that were
measured of them on ``DATA.test.data.gz``. Without these folders nothing is compared, and the
timings are those of made rows.

scikit-learn grows one tree per variable by log loss, in bits per row, with the same minimum of rows
and a penalty that means the same; its splits can differ where two gain nearly as much.
"""

from __future__ import annotations

import ctypes
import gc
import math
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.cases import Models
from benchmarks.families import SEED, forest
from benchmarks.measure import Figure, Line, Measurement, at_least, at_most, timed
from contextwise import Domain, LogLinear, distance, read
from contextwise.analysis.resampling import stability
from contextwise.distributions import cmll, mean_log_likelihood
from contextwise.distributions.sampling import draw
from contextwise.errors import OpenResult, TooLargeError, require
from contextwise.learning import (
    LEARNERS,
    AcyclicTrees,
    ChowLiu,
    Data,
    Learner,
    PyAgrum,
    Trees,
    as_data,
    learner_named,
)
from contextwise.learning.chow_liu import mutual_information
from contextwise.models.structure import structure_of

TREES = {
    "nltcs": (1, 10, 50),
    "plants": (2, 10),
    "dna": (5,),
    "jester": (3, 10),
    "mushrooms": (1, 5),
    "alarm": (5,),
}
"""The penalties with which Libra learned trees."""

SCORES = {
    "nltcs": (-5.003877, -5.727124, -6.759067, -5.957453),
    "plants": (-9.249931, -12.286595, -16.524049, -13.144794),
    "dna": (-58.509768, -79.192146, -87.679739, -73.230915),
}
"""Per test row: trees of penalty 10 as conditionals and as network, Chow-Liu LL and PLL."""

CMLL = {"Chow-Liu": -5.6548, "trees as network": -5.3703}
"""Of the first 500 test rows of nltcs, four groups of variables by their number modulo 4."""

TIMED = ("plants", "dna", "jester")
PENALTY, MIN_COUNT = 10.0, 10


# -- the same as Libra's ---------------------------------------------------------------------------


def run_agreement(models: Models) -> Line:
    """Compare structures and scores with Libra's."""
    title = "Learners: the structures and scores of Libra's learners"
    if models.data is None:
        return Line("learned", title, [], [])
    measurements: list[Measurement] = []
    figures = [*_same_trees(models, measurements), *_same_chow_liu(models, measurements)]
    figures += [*_same_scores(models), *_same_cmll(models)]
    return Line("learned", title, measurements, figures)


def _libra(models: Models, name: str, part: str = "train") -> tuple[LogLinear, Data]:
    """A model of Libra's, and rows of its data set over its domain."""
    model = read(models.path(name))
    assert isinstance(model, LogLinear)
    return model, models.rows(name.partition(".")[0], part, model.domain)


def _same_trees(models: Models, measurements: list[Measurement]) -> list[Figure]:
    unlike, largest, off = 0, 0.0, 0.0
    for name, penalties in TREES.items():
        for penalty in penalties:
            libra, data = _libra(models, f"{name}.dt-ps{penalty}")
            learner = Trees(penalty=penalty, min_count=MIN_COUNT)
            seconds, _ = timed(lambda learner=learner, data=data: learner.fit(data))  # type: ignore[misc]
            found = learner.model_
            apart = distance(found, libra)
            unlike += found.structure != libra.structure
            largest = max(largest, float(apart))
            off = max(off, _largest_difference(found, libra))
            notes = {"features": len(found), "distance": str(apart)}
            measurements.append(
                Measurement(f"trees {penalty}: {name}", "contextwise", seconds, notes)
            )
    return [
        at_most("trees: files of 11 whose features differ", unlike, 0),
        at_most("trees: largest distance", largest, 0),
        at_most("trees: largest difference of a weight (files have 7 digits)", off, 1e-6),
    ]


def _largest_difference(found: LogLinear, libra: LogLinear) -> float:
    """Relative, over the features of both."""
    theirs = dict(zip(libra.structure.features.rows, libra.weights.tolist(), strict=True))
    mine = zip(found.structure.features.rows, found.weights.tolist(), strict=True)
    return max(float(abs(w - theirs.get(row, math.inf)) / max(1.0, abs(w))) for row, w in mine)


def _same_chow_liu(models: Models, measurements: list[Measurement]) -> list[Figure]:
    unlike, off = 0, 0.0
    for name in TREES:
        libra, data = _libra(models, f"{name}.cl")
        learner = ChowLiu()
        seconds, _ = timed(lambda learner=learner, data=data: learner.fit(data))  # type: ignore[misc]
        measurements.append(Measurement(f"Chow-Liu: {name}", "contextwise", seconds))
        weights, place = mutual_information(data), libra.domain.positions
        theirs = sum(weights[place[a], place[b]] for a, b in libra.structure.pairs())
        mine = sum(weights[edge] for edge in learner.edges_)
        off = max(off, abs(float(theirs - mine)))
        if name != "mushrooms":  # equal columns: ties decide
            unlike += learner.structure_ != libra.structure
    return [
        at_most("Chow-Liu: files of 5 whose features differ", unlike, 0),
        at_most("Chow-Liu: difference of total mutual information, mushrooms too", off, 1e-9),
    ]


def _same_scores(models: Models) -> list[Figure]:
    off = 0.0
    for name, expected in SCORES.items():
        _, train = _libra(models, f"{name}.cl")
        test = models.rows(name, "test", train.domain)
        trees, tree = Trees(penalty=PENALTY).fit(train), ChowLiu().fit(train)
        likelihood = mean_log_likelihood(tree.model_, test.rows)
        found = trees.conditional_score(test), trees.score(test), likelihood, tree.score(test)
        off = max(off, *(abs(a - b) for a, b in zip(found, expected, strict=True)))
    return [at_most("12 test scores: largest difference (5 decimals)", off, 5e-6)]


def _same_cmll(models: Models) -> list[Figure]:
    _, train = _libra(models, "nltcs.cl")
    rows = models.rows("nltcs", "test", train.domain).rows[:500]
    groups = [train.domain.names[g::4] for g in range(4)]
    figures = []
    for name, learner in (("Chow-Liu", ChowLiu()), ("trees as network", Trees(penalty=PENALTY))):
        found = cmll(learner.fit(train).model_, rows, groups=groups).value
        figures.append(
            at_most(f"CMLL, {name}: difference (4 decimals)", abs(found - CMLL[name]), 5e-5)
        )
    return figures


def made_rows(variables: int, rows: int) -> Data:
    rng = np.random.default_rng([SEED, variables])
    structure = structure_of(forest(variables, 3, rng))
    model = LogLinear(structure, rng.normal(0, 1, len(structure)))
    drawn = draw(model, rows, seed=SEED, method="gibbs", burn_in=20, thin=1).rows
    return as_data(drawn, model.domain)


# -- how fast --------------------------------------------------------------------------------------


def run_speed(models: Models) -> Line:
    """Time trees against scikit-learn's, threads, and Chow-Liu on a wide table; measure memory."""
    with require("threadpoolctl", "bench").threadpool_limits(1):
        return _run_speed(models)


def _run_speed(models: Models) -> Line:
    measurements: list[Measurement] = []
    figures: list[Figure] = []
    tables = {name: models.rows(name) for name in TIMED} if models.data else {}
    for name, data in (tables or {"made rows": made_rows(40, 2000)}).items():
        case = f"{name}, {len(data.domain)} × {len(data):,}"
        ours = _add(measurements, case, "trees", lambda data=data: Trees(penalty=PENALTY).fit(data))  # type: ignore[misc]
        theirs = _add(measurements, case, "scikit-learn", lambda data=data: scikit_trees(data))  # type: ignore[misc]
        _add(measurements, case, "acyclic trees", lambda data=data: AcyclicTrees().fit(data))  # type: ignore[misc]
        _add(measurements, case, "Chow-Liu", lambda data=data: ChowLiu().fit(data))  # type: ignore[misc]
        figures.append(at_least(f"{case}: trees, scikit-learn", theirs / ours, 10))
    figures.append(_threads(measurements, tables.get("plants") or made_rows(40, 2000)))
    wide = as_data(np.random.default_rng(SEED).integers(0, 2, (2000, 1000)))
    seconds = _add(measurements, "1,000 × 2,000", "Chow-Liu", lambda: ChowLiu().fit(wide))
    figures.append(at_most("Chow-Liu, 1,000 variables × 2,000 rows", seconds, 2, "seconds"))
    for learner in (Trees, ChowLiu) if tables else ():
        work = partial(learner().fit, tables[TIMED[0]])
        size, _ = _measured(lambda work=work: timed(work)[0])  # type: ignore[misc]
        what = f"{TIMED[0]}, {learner.__name__}: memory beyond the rows"
        figures.append(at_most(what, size, 64, "MiB"))
    return Line("learners", "Learners: how fast", measurements, figures)


TIMES_PYAGRUM = {
    "mpl": 1,
    "contextual-mpl": 1,
    "gsmn": 1,
    "sparse-pairs": 1,
    "pair-blocks": 2,
    "csgs": 2,
    "cspc": 2,
}
"""On plants: the largest ratio to the time of pyAgrum's greedy search."""


RESAMPLES = 100


def run_structures(models: Models) -> Line:
    """Time every learner of the registry on one core, next to pyAgrum's greedy search.

    A learner that takes longer than two minutes is stopped and misses its aim. Columns of 1,000
    states are made, and so are all rows without a folder of data.
    """
    pyagrum = require("pyagrum", "pyagrum")
    pyagrum.setNumberOfThreads(1)
    measurements: list[Measurement] = []
    figures: list[Figure] = []
    names = (*TIMED, "alarm") if models.data else ()
    tables = {name: models.rows(name) for name in names} or {"made rows": made_rows(20, 1000)}
    codes = np.random.default_rng(SEED).integers(0, 1000, (300, 3))
    tables["1,000 states"] = as_data(codes, Domain.of_cardinalities([1000] * 3))
    with require("threadpoolctl", "bench").threadpool_limits(1):
        for name, data in tables.items():
            case = f"{name}, {len(data.domain)} × {len(data):,}"
            theirs = _add(measurements, case, "pyagrum", lambda data=data: PyAgrum().fit(data))  # type: ignore[misc]
            sizes = {}
            for learner in (own for own, entry in LEARNERS.items() if not entry.package):
                work = partial(_fit, learner_named(learner)(), data)
                sizes[learner], ours = _measured(lambda work=work: timed(work)[0])  # type: ignore[misc]
                notes = {"MiB": round(sizes[learner])}
                measurements.append(Measurement(case, learner, ours, notes))
                figures.append(at_most(f"{case}: {learner}", ours, 60, "seconds"))
                if name == "plants" and learner in TIMES_PYAGRUM:
                    most = TIMES_PYAGRUM[learner]
                    figures.append(at_most(f"plants: {learner}, pyAgrum", ours / theirs, most))
            largest = max(sizes, key=lambda learner: sizes[learner])
            what = f"{case}: largest memory beyond the rows, {largest}"
            figures.append(at_most(what, sizes[largest], 500, "MiB"))
        if models.data:
            seconds, _ = timed(partial(_resample, models.rows("nltcs")), time.perf_counter)
            what = f"nltcs: {RESAMPLES} resamples, pair-blocks, two cores, by the clock"
            figures.append(at_most(what, seconds, 30, "seconds"))
    return Line("structures", "Learners of structures: how fast", measurements, figures)


def _resample(data: Data) -> None:
    stability(data, "pair-blocks", resamples=RESAMPLES, n_jobs=2)


def _fit(learner: Learner, data: Data) -> None:
    with suppress(OpenResult, TooLargeError):  # nothing was found in time, or it refuses
        learner.fit(data, time_limit=120)


def _measured(work: Callable[[], float]) -> tuple[float, float]:
    """Return by how many MiB some work makes the process larger, and its result."""
    if not sys.platform.startswith("linux"):
        return 0.0, work()

    def size(of: str) -> int:
        status = Path("/proc/self/status").read_text()
        return int(status.partition(f"{of}:")[2].split()[0])

    gc.collect()
    with suppress(AttributeError):  # not the GNU library
        ctypes.CDLL(None).malloc_trim(0)  # memory that is free but kept would hide new memory
    Path("/proc/self/clear_refs").write_text("5")  # the largest size begins anew
    before = size("VmRSS")
    result = work()
    return (size("VmHWM") - before) / 1024, result


def _add(
    measurements: list[Measurement], case: str, contender: str, work: Callable[[], object]
) -> float:
    seconds, _ = timed(work)
    measurements.append(Measurement(case, contender, seconds))
    return seconds


def scikit_trees(data: Data) -> None:
    """One tree per variable; min_impurity_decrease is in bits per row."""
    from sklearn.tree import DecisionTreeClassifier

    table = data.rows.astype(np.float32)
    for target in range(table.shape[1]):
        DecisionTreeClassifier(
            criterion="log_loss",
            min_impurity_decrease=PENALTY / (len(table) * math.log(2)),
            min_samples_leaf=MIN_COUNT,
            random_state=0,
        ).fit(np.delete(table, target, axis=1), data.rows[:, target])


def _threads(measurements: list[Measurement], data: Data) -> Figure:
    """Return the shortest of many alternating runs; other work can only make a run longer."""
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(15):
        for threads, own in times.items():
            began = time.perf_counter()
            Trees(penalty=PENALTY, n_jobs=threads).fit(data)
            own.append(time.perf_counter() - began)
    one, two = min(times[1]), min(times[2])
    measurements.append(Measurement("trees, by the clock", "one thread", one))
    measurements.append(Measurement("trees, by the clock", "two threads", two))
    return at_least("trees, two threads", one / two, 1.7)
