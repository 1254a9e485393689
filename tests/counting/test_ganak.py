"""Ganak's processes: their formulas, their silence, their reuse, and their violent ends."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import compare
from contextwise.counting import auto, branch, ganak, native
from contextwise.counting.cover import Cover, cover_of
from contextwise.counting.ganak import Formula, Worker, uncovered_formula
from contextwise.counting.pair_counts import bound_pairs
from contextwise.errors import EngineError
from contextwise.support.effort import Effort
from contextwise.testing import covers, inclusion_exclusion
from hard import hard_cover, hard_models

needs_ganak = pytest.mark.skipif(ganak.missing() is not None, reason=str(ganak.missing()))
EASY = cover_of([2, 3, 5], [[(0, 0b01), (2, 0b00011)], [(0, 0b10), (1, 0b001)]])


@pytest.fixture(autouse=True)
def _no_idle_workers() -> Iterator[None]:
    ganak.end_idle_workers()
    yield
    ganak.end_idle_workers()


def models_of(formula: Formula) -> int:
    """The number of models, by trying every assignment."""
    return sum(
        all(any(bits[abs(literal) - 1] == (literal > 0) for literal in c) for c in formula.clauses)
        for bits in itertools.product([False, True], repeat=formula.booleans)
    )


@given(covers(max_variables=3, max_cubes=4))
def test_the_models_are_the_uncovered_contexts(cover: Cover) -> None:
    formula = uncovered_formula(cover)
    if formula.booleans <= 12:
        uncovered = cover.total - inclusion_exclusion(cover)
        assert models_of(formula) * formula.factor == uncovered
        assert formula.obvious in (None, models_of(formula))


@given(st.lists(st.integers(0, 9), min_size=2, max_size=4), st.data())
def test_a_class_of_weight_w_counts_w_times(weights: list[int], data: st.DataObject) -> None:
    everything = (1 << len(weights)) - 1
    cube = data.draw(st.integers(1, everything - 1))
    cover = Cover((tuple(weights),), (cube,))
    formula = uncovered_formula(cover)
    assert models_of(formula) * formula.factor == cover.total - cover.size(cube)


@needs_ganak
def test_weights_beyond_64_bits() -> None:
    cover = Cover(((3**60, 7**50), (5, 11**40)), (0b0101, 0b1010))
    assert ganak.count_union(cover) == 3**60 * 5 + 7**50 * 11**40


@needs_ganak
def test_its_chatter_stays_off_our_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert ganak.count_union(EASY) == branch.count_union(EASY)
    assert capfd.readouterr() == ("", "")


@needs_ganak
def test_a_process_counts_many_times() -> None:
    ganak.count_union(EASY)
    (worker,) = Worker.idle
    ganak.count_union(EASY)
    assert Worker.idle == [worker]


@needs_ganak
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_leaves_the_workers_of_its_parent_alone() -> None:
    expected = ganak.count_union(EASY)
    child = os.fork()
    if not child:
        os._exit(0 if ganak.count_union(EASY) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert ganak.count_union(EASY) == expected


@pytest.fixture(name="killer")
def _killer(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Ganak's processes are killed half a second after they begin to count."""
    killed: list[int] = []
    send = Worker.send

    def send_and_kill(self: Worker, formula: Formula, limit: int) -> None:
        def kill() -> None:
            time.sleep(0.5)
            killed.append(self.process.pid)
            self.process.send_signal(signal.SIGKILL)

        send(self, formula, limit)
        threading.Thread(target=kill).start()

    monkeypatch.setattr(Worker, "send", send_and_kill)
    return killed


@needs_ganak
def test_a_dead_process_is_an_error_in_one_line(killer: list[int]) -> None:
    with pytest.raises(EngineError, match="process died while counting"):
        ganak.count_union(hard_cover())
    assert killer
    assert not Worker.idle


@needs_ganak
@pytest.mark.usefixtures("killer")
def test_a_dead_process_is_an_error_of_the_comparison() -> None:
    with pytest.raises(EngineError, match="process died while counting"):
        compare(*hard_models(), pairs=[("A", "B")], engine="ganak")


@needs_ganak
def test_the_portfolio_goes_on_after_a_dead_process(
    killer: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    if native.missing():
        pytest.skip(str(native.missing()))
    monkeypatch.setattr(auto, "BUDGET", 1)
    calls = []
    count_pairs = native.count_pairs

    def watched(*arguments: object, **options: object) -> object:
        calls.append(options["node_budget"])
        return count_pairs(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(native, "count_pairs", watched)
    comparison = compare(*hard_models(), pairs=[("A", "B")], time_limit=3)
    assert comparison.open_pairs == [("A", "B")]
    assert killer
    assert calls == [1, None]


@needs_ganak
def test_memory_is_bounded_and_the_bounds_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cover that would take gigabytes: the process ends at its limit, and the pair stays open."""
    monkeypatch.setenv(ganak.SHARE_VARIABLE, "0.5")
    monkeypatch.setattr(ganak, "machine_memory", lambda: 20 * 2**20)
    with pytest.raises(EngineError, match="CONTEXTWISE_MEMORY_SHARE"):
        ganak.count_union(hard_cover())
    a, b = (model.features for model in hard_models())
    pairs = np.array([[0, 1]])
    known = bound_pairs(a, b, pairs)
    counts = ganak.close_pairs(known, a, b, pairs, Effort(threads=1))
    assert counts.open_places.tolist() == [0]
    assert (known.lower <= counts.lower).all()
    assert (counts.upper <= known.upper).all()


@needs_ganak
def test_a_process_has_the_memory_of_each_count() -> None:
    """A process that is kept may use more for the next count."""
    worker = Worker.take()
    for limit in (200, 400):
        worker.send(uncovered_formula(EASY), limit * 2**20)
        assert worker.receive() is not None
        limits = Path(f"/proc/{worker.process.pid}/limits")
        if limits.exists():
            assert str(limit * 2**20) in limits.read_text()
    worker.end()


@pytest.mark.parametrize("share", ["0", "2", "half"])
def test_a_share_of_memory_that_makes_no_sense(share: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ganak.SHARE_VARIABLE, share)
    with pytest.raises(EngineError, match=r"must be > 0 and <= 1, got"):
        ganak.memory_share()


@needs_ganak
def test_what_ganak_says_of_a_failure_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ganak, "uncovered_formula", lambda _: Formula(1, ((0,),), 1))
    with pytest.raises(EngineError, match="Ganak failed"):
        ganak.count_union(EASY)
    assert not Worker.idle


# -- the portfolio -------------------------------------------------------------------------------


def portfolio(monkeypatch: pytest.MonkeyPatch, *missing: str) -> dict[str, int]:
    """Return the counts per engine, with tiny budgets and without the ``missing`` engines."""
    monkeypatch.setattr(auto, "BUDGET", 1)
    monkeypatch.setattr(auto, "BUDGET_IN_PYTHON", 1)
    for module in (native, ganak):
        if module.__name__.rpartition(".")[2] in missing:
            monkeypatch.setattr(module, "missing", lambda: "not here")
    models = hard_models(variables=30, cubes=75)
    comparison = compare(*models, engine="auto")
    assert comparison.distance == compare(*models, engine="branch").distance
    assert sum(comparison.unions.counted.values()) == 3 * len(comparison.pairs)
    assert comparison.rests_on_ganak == (comparison.unions.counted.get("ganak", 0) > 0)
    return {name: count for name, count in comparison.unions.counted.items() if count}


@needs_ganak
def test_what_exceeds_the_budget_goes_to_ganak(monkeypatch: pytest.MonkeyPatch) -> None:
    if native.missing():
        pytest.skip(str(native.missing()))
    assert portfolio(monkeypatch).keys() == {"native", "ganak"}


def test_without_ganak_the_kernel_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    if native.missing():
        pytest.skip(str(native.missing()))
    assert portfolio(monkeypatch, "ganak").keys() == {"native"}


@needs_ganak
def test_without_the_kernel_the_readable_method_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    assert portfolio(monkeypatch, "native").keys() == {"branch", "ganak"}


def test_without_both_the_readable_method_does_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    assert portfolio(monkeypatch, "native", "ganak").keys() == {"branch"}
