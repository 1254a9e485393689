"""Time limits and Ctrl-C: unfinished pairs have bounds that contain the truth."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Comparison, Structure, compare
from contextwise.comparison.confusion import CAUSAL, MEASURES, Confusion, confusion_bounds
from contextwise.comparison.question import Pair, active_pairs
from contextwise.comparison.two_models import open_pair_records
from contextwise.counting.branch import count_union
from contextwise.counting.contexts import ContextSpace
from contextwise.counting.contract import get_engine
from contextwise.counting.extraction import CoverSource
from contextwise.counting.pair_counts import bound_pairs
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.report.comparisons import open_pairs_table
from contextwise.support.effort import Deadline, OutOfTime
from contextwise.testing import brute_force_pairs, families
from hard import hard_cover, hard_models

Models = tuple[Structure, Structure]
interval = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda ends: (min(ends), max(ends)))


# -- bounds --------------------------------------------------------------------------------------


@given(interval, interval, interval, st.integers(0, 8))
def test_the_best_bounds_that_follow(
    a: tuple[int, int], b: tuple[int, int], u: tuple[int, int], contexts: int
) -> None:
    """Every possible triple of unions is tried: the bounds are the extremes over all of them."""
    ranges = [range(low, high + 1) for low, high in (a, b, u)]
    possible = [
        Confusion(x + y - z, z - y, z - x, contexts - z)
        for x, y, z in itertools.product(*ranges)
        if max(x, y) <= z <= min(x + y, contexts)
    ]
    if not possible:
        return
    bounds = confusion_bounds(a, b, u, contexts)
    for name in ("tp", "fn", "fp", "tn", "distance"):
        values = [getattr(c, name) for c in possible]
        low, high = getattr(bounds, name)
        assert low <= min(values)
        assert max(values) <= high
    assert bounds.distance == (
        min(c.distance for c in possible),
        max(c.distance for c in possible),
    )


@pytest.mark.parametrize("canonical", [False, True])
@given(models=families(2), weigh=st.booleans(), data=st.data())
def test_cube_sizes_bound_every_union(
    canonical: bool, models: Models, weigh: bool, data: st.DataObject
) -> None:
    a, b = (model.features for model in models)
    pairs = active_pairs(*models)
    weights = None
    if weigh:
        some = st.integers(0, 5)
        weights = [
            data.draw(st.lists(some, min_size=c, max_size=c).filter(any))
            for c in models[0].domain.cardinalities
        ]
    bounds = bound_pairs(a, b, pairs, space=ContextSpace(canonical, weights))
    source = CoverSource(a, b, space=ContextSpace(canonical, weights))
    for k, (i, j) in enumerate(pairs.tolist()):
        for column, cover in enumerate(source.three_covers((i, j))):
            size = count_union(cover)
            assert bounds.lower[k, column] <= size <= bounds.upper[k, column]


def test_cube_sizes_bound_far_beyond_floats() -> None:
    """A cube of 200 literals, each of one value in 64, has a share that no float can hold."""
    domain = {f"X{v}": 64 for v in range(300)}
    model = Structure(domain, [{f"X{v}": 1 for v in range(202)}])
    pairs = active_pairs(model)[:5]
    bounds = bound_pairs(model.features, model.features, pairs)
    assert (bounds.lower <= 64**98).all()
    assert (bounds.upper >= 64**98).all()


# -- no time -------------------------------------------------------------------------------------


@given(models=families(2))
def test_no_time_at_all_still_gives_bounds(engine: str, models: Models) -> None:
    comparison = compare(*models, engine=engine, time_limit=0)
    truth = brute_force_pairs(*models)
    for pair, matrix in truth.items():
        bounds = comparison.pair_bounds(*pair)
        for name in ("tp", "fn", "fp", "tn", "distance"):
            low, high = getattr(bounds, name)
            assert low <= getattr(matrix, name) <= high
        if pair not in comparison.open_pairs:
            assert comparison.pair(*pair) == matrix
    low, high = comparison.distance_bounds
    assert low <= sum(matrix.distance for matrix in truth.values()) <= high
    if comparison.open_pairs:
        check_open(comparison)
    else:
        assert low == high == comparison.distance
    for pair, record in zip(comparison.open_pairs, open_pair_records(comparison), strict=True):
        assert tuple(record.values()) == (*pair, *comparison.pair_bounds(*pair).distance)
    rows: Any = open_pairs_table(comparison, 3).rows
    widths = [most.value - least.value for _, least, most in rows]
    every = [width_of(comparison, pair) for pair in comparison.open_pairs]
    assert widths == pytest.approx(sorted(every, reverse=True)[:3])


def width_of(comparison: Comparison, pair: Pair) -> float:
    """Return the width of the bounds of a pair, as a share of its contexts."""
    (size,) = comparison.question.sizes(np.array([comparison.domain.pair(pair)]))
    low, high = comparison.pair_bounds(*pair).distance
    return float((high - low) / size)


def check_open(comparison: Comparison) -> None:
    """Whatever needs exact counts says that the result is open."""
    for name in ("distance", "confusion", "tp", "f1", "counts"):
        with pytest.raises(OpenResult):
            getattr(comparison, name)
    for key, measure in MEASURES.items():
        if key not in CAUSAL:
            with pytest.raises(OpenResult):
                measure.formula(comparison)
    assert "unfinished" in repr(comparison)
    assert "unfinished" in comparison._repr_html_()


@given(models=families(2))
def test_bounds_are_the_truth_when_nothing_is_open(engine: str, models: Models) -> None:
    comparison = compare(*models, engine=engine)
    assert comparison.distance_bounds == (comparison.distance, comparison.distance)
    assert comparison.open_pairs == []
    assert not comparison.unions.interrupted


def test_a_limit_holds_inside_one_cover(wide_engine: str) -> None:
    """This cover takes days: the test ends because the limit holds."""
    with pytest.raises(OutOfTime):
        get_engine(wide_engine).count_union(hard_cover(), deadline=Deadline.after(0.2))


def test_a_limit_names_the_open_pairs(wide_engine: str) -> None:
    comparison = compare(*hard_models(), engine=wide_engine, time_limit=0.5)
    assert ("A", "B") in comparison.open_pairs
    check_open(comparison)
    with pytest.raises(OpenResult, match="A – B"):
        comparison.pair("A", "B")
    low, high = comparison.distance_bounds
    assert isinstance(low, int)
    assert 0 <= low < high <= comparison.total
    if ("A", "C") not in comparison.open_pairs:
        assert comparison.pair("A", "C").distance == 0


@pytest.mark.parametrize("limit", [-1, float("nan")])
def test_a_limit_is_a_number_of_seconds(limit: float) -> None:
    with pytest.raises(ContextwiseError, match="time limit"):
        compare(*hard_models(), time_limit=limit)


def test_threads_are_one_at_least() -> None:
    with pytest.raises(ContextwiseError, match="threads"):
        compare(*hard_models(), threads=0)


# -- Ctrl-C --------------------------------------------------------------------------------------

INTERRUPTED = """
import sys
from contextwise import compare
from contextwise.comparison.two_models import Interrupted
from hard import hard_models
told = []
def progress(done, total):
    if not told:
        print("begin", flush=True)
    told.append(done)
try:
    compare(*hard_models(order="CAB"), engine=sys.argv[1], show_progress=progress)
except Interrupted as stop:
    comparison = stop.comparison
assert comparison.unions.interrupted and ("A", "B") in comparison.open_pairs
low, high = comparison.distance_bounds
assert 0 <= low < high
print("known", flush=True)
"""


def test_interruption_keeps_what_is_known(wide_engine: str) -> None:
    """A real signal to a real process, in the middle of a count that would take days."""
    command = [sys.executable, "-c", INTERRUPTED, wide_engine]
    here = Path(__file__).parents[1]
    with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begin\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "known\n"
    assert process.returncode == 0
