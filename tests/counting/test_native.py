"""The compiled kernel against the readable engines: sizes, shapes, budgets, threads, memory.

The laws of all engines (`test_engine_laws` and its neighbours) run on the kernel too; here is what
only a kernel can get wrong: word boundaries, wide numbers, bounds, eviction, threads, leaks.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import random
import signal
import threading
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Structure
from contextwise.comparison.question import active_pairs
from contextwise.counting import branch, enumerate, native
from contextwise.counting.contexts import ContextSpace
from contextwise.counting.contract import get_engine
from contextwise.counting.cover import Cover, cover_of
from contextwise.models.domain import Domain
from contextwise.support.effort import Deadline, Effort, OutOfTime
from contextwise.testing import families, random_structure
from hard import hard_cover, hard_models
from random_covers import covers

pytestmark = pytest.mark.skipif(native.missing() is not None, reason=str(native.missing()))


def random_cover(
    rng: random.Random, cardinalities: Sequence[int], cubes: int, tests: tuple[int, int]
) -> Cover:
    """Return random cubes; ``tests`` is the range of the number of tests in each cube."""
    testable = [v for v in range(len(cardinalities)) if cardinalities[v] > 1]
    made = []
    for _ in range(cubes):
        scope = rng.sample(testable, min(len(testable), rng.randint(*tests)))
        made.append([(v, rng.randint(1, (1 << cardinalities[v]) - 2)) for v in sorted(scope)])
    return cover_of(cardinalities, made)


# -- single covers -------------------------------------------------------------------------------


@given(covers())
def test_equal_to_the_oracle(cover: Cover) -> None:
    assert native.count_union(cover) == enumerate.count_union(cover)


@pytest.mark.parametrize("variables", [1, 2, 13, 14, 15, 16, 31, 32, 33, 63, 64, 65, 100, 300])
@pytest.mark.parametrize("largest", [2, 3, 5])
def test_widths_of_numbers_and_of_sets(variables: int, largest: int) -> None:
    """Around the truth table's limit, and around 64 and 128 bits of cubes and of counts."""
    rng = random.Random(variables * largest)
    cardinalities = [rng.randint(2, largest) for _ in range(variables)]
    for cubes, tests in [(12, (1, 5)), (25, (3, 9)), (12, (min(8, variables), 30))]:
        cover = random_cover(rng, cardinalities, cubes, tests)
        assert native.count_union(cover) == branch.count_union(cover)


@pytest.mark.parametrize("cardinality", [1, 2, 31, 32, 33, 62, 63, 64, 65, 66, 70])
def test_word_boundaries_of_value_sets(cardinality: int) -> None:
    rng = random.Random(cardinality)
    for _ in range(10):
        cover = random_cover(rng, [cardinality] * 3, rng.randint(1, 8), (1, 3))
        assert native.count_union(cover) == branch.count_union(cover)


@pytest.mark.parametrize("cubes", [100, 400])
def test_many_cubes(cubes: int) -> None:
    rng = random.Random(cubes)
    for cardinalities in ([2] * 17, [2, 3] * 6):
        cover = random_cover(rng, cardinalities, cubes, (4, 11))
        assert native.count_union(cover) == enumerate.count_union(cover)


def test_long_cubes_over_many_variables() -> None:
    """Branching on whole cubes: 60 of them with up to 40 literals, as overfitted trees have."""
    rng = random.Random(3)
    cover = random_cover(rng, [2] * 60, 60, (6, 40))
    assert native.count_union(cover) == branch.count_union(cover)


def test_class_weights_of_any_size() -> None:
    weights = [[3, 2**200], [5, 7, 2**64], [1, 0, 4]]
    cubes = [[(0, 0b01), (1, 0b100)], [(1, 0b010), (2, 0b011)], [(2, 0b001)]]
    cover = cover_of([2, 3, 3], cubes, value_weights=weights)
    assert native.count_union(cover) == branch.count_union(cover) > 2**200


@pytest.mark.parametrize("cover", [Cover((), ()), Cover((), (0,)), cover_of([2, 2], [[]])])
def test_nothing_and_everything(cover: Cover) -> None:
    found = native.bound_union(cover)
    assert found.lower == found.upper == cover.total * bool(cover.cubes)


# -- budgets, deadlines, memory ------------------------------------------------------------------


@given(covers(max_variables=30, max_cubes=12), st.integers(0, 4))
def test_bounds_contain_the_truth(cover: Cover, node_budget: int) -> None:
    found = native.bound_union(cover, node_budget=node_budget)
    assert found.lower <= branch.count_union(cover) <= found.upper
    assert found.nodes <= node_budget


def test_bounds_close_in_as_the_budget_grows() -> None:
    cover = random_cover(random.Random(5), [2] * 40, 50, (4, 9))
    truth = native.count_union(cover)
    widths = []
    for node_budget in [0, 10, 100, 1000, 10**6]:
        lower, upper, _ = native.bound_union(cover, node_budget=node_budget)
        assert lower <= truth <= upper
        widths.append(upper - lower)
    assert widths[0] > widths[2] > widths[-1] == 0


def test_out_of_time() -> None:
    with pytest.raises(OutOfTime):
        native.count_union(hard_cover(), deadline=Deadline.after(0.05))


LOOKS = 16
"""Number of nodes the kernel visits between two checks of the clock."""


def test_a_wide_cover_stops_in_time() -> None:
    """A chain of 3,000 variables has slow nodes; no further one is visited when time is over."""
    chain = [[(k, 0b10), (k + 1, 0b10)] for k in range(2999)]
    cover = cover_of([2] * 3000, chain)
    found = native.bound_union(cover, deadline=Deadline.after(0), node_budget=1000)
    assert found.nodes <= LOOKS
    assert 0 <= found.lower < found.upper <= cover.total


def test_a_deadline_ends_a_count_in_the_middle() -> None:
    """The number of nodes depends on the machine; without a limit it would reach the budget."""
    budget = 10**9
    found = native.bound_union(hard_cover(), deadline=Deadline.after(0.2), node_budget=budget)
    assert found.nodes < budget
    assert 0 < found.lower < found.upper


def row_of_cubes(variables: int = 80, window: int = 8) -> Cover:
    """Cubes that each test neighbours: a row, in which subproblems recur."""
    rng = random.Random(8)
    starts = [rng.randrange(variables - window) for _ in range(variables)]
    cubes = [
        [(v, rng.choice([0b01, 0b10])) for v in sorted(rng.sample(range(k, k + window), 4))]
        for k in starts
    ]
    return cover_of([2] * variables, cubes)


@pytest.mark.parametrize("memory", [0, 1000, 100_000])
def test_forgetting_changes_nothing(memory: int) -> None:
    cover = row_of_cubes()
    assert native.bound_union(cover, memory=memory)[:2] == native.bound_union(cover)[:2]


def test_a_small_memory_costs_nodes() -> None:
    cover = row_of_cubes()
    assert native.bound_union(cover, memory=0).nodes > native.bound_union(cover).nodes


# -- covers that are hard in the order of their variables ------------------------------------------


def independent_sets(side: int) -> int:
    """Count the sets of fields of a square board of which no two share an edge, row by row."""
    rows = [row for row in range(1 << side) if not row & row >> 1]
    ways = dict.fromkeys(rows, 1)
    for _ in range(side - 1):
        ways = {row: sum(n for above, n in ways.items() if not row & above) for row in rows}
    return sum(ways.values())


def shuffled(cubes: list[list[tuple[int, int]]], variables: int, seed: int) -> Cover:
    place = list(range(variables))
    random.Random(seed).shuffle(place)
    return cover_of([2] * variables, [sorted((place[v], values) for v, values in c) for c in cubes])


@pytest.mark.parametrize("seed", range(3))
def test_a_grid_whatever_the_numbers_of_its_variables(seed: int) -> None:
    side = 11
    fields = [(x, y) for y in range(side) for x in range(side)]
    edges = [((x, y), (x + dx, y + dy)) for x, y in fields for dx, dy in ((1, 0), (0, 1))]
    cubes = [
        [(x + side * y, 0b10) for x, y in edge] for edge in edges if max(map(max, edge)) < side
    ]
    cover = shuffled(cubes, side * side, seed)
    found = native.bound_union(cover, node_budget=10**6)
    assert cover.total - found.lower == cover.total - found.upper == independent_sets(side)


@pytest.mark.parametrize("seed", range(3))
def test_a_shuffled_chain_takes_as_many_nodes_as_the_chain(seed: int) -> None:
    cubes = [[(k, 0b10), (k + 1, 0b10)] for k in range(99)]
    ordered = native.bound_union(cover_of([2] * 100, cubes))
    assert native.bound_union(shuffled(cubes, 100, seed)) == ordered


@pytest.mark.parametrize("states", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_chain_whatever_the_numbers_of_its_variables(seed: int, states: int) -> None:
    """Two cubes on every four neighbours: the number of uncovered contexts follows step by step."""
    rng, length = random.Random(seed), 100
    cubes = [
        [(k + place, 1 << rng.randrange(states)) for place in range(4)]
        for k in range(length - 3)
        for _ in range(2)
    ]
    ends = dict.fromkeys(product(range(states), repeat=3), 1)
    for k in range(length - 3):
        longer: dict[tuple[int, ...], int] = {}
        for last, ways in ends.items():
            for state in range(states):
                window = (*last, state)
                inside = (
                    all(values >> s & 1 for (_, values), s in zip(cube, window, strict=True))
                    for cube in cubes[2 * k : 2 * k + 2]
                )
                if not any(inside):
                    longer[window[1:]] = longer.get(window[1:], 0) + ways
        ends = longer
    place = list(range(length))
    random.Random(seed + 10).shuffle(place)
    moved = [sorted((place[v], values) for v, values in cube) for cube in cubes]
    cover, other = cover_of([states] * length, cubes), cover_of([states] * length, moved)
    found = [native.bound_union(each, node_budget=10**6) for each in (cover, other)]
    for each in found:
        assert cover.total - each.lower == cover.total - each.upper == sum(ends.values())
    assert found[1].nodes < 2 * found[0].nodes


# -- all pairs -----------------------------------------------------------------------------------


@given(families(2), st.booleans(), st.integers(1, 3))
def test_pairs_equal_to_branch(
    models: tuple[Structure, Structure], canonical: bool, threads: int
) -> None:
    a, b = models
    pairs = active_pairs(a, b)
    ours = native.count_pairs(
        a.features, b.features, pairs, Effort(threads=threads), space=ContextSpace(canonical)
    )
    theirs = get_engine("branch").count_pairs(
        a.features, b.features, pairs, space=ContextSpace(canonical)
    )
    assert (ours.lower == theirs.lower).all()
    assert (ours.upper == theirs.lower).all()
    assert all(type(count) is int for count in ours.lower.ravel().tolist())


@given(families(2), st.integers(0, 2), st.data())
def test_weighted_values_and_tiny_budgets(
    models: tuple[Structure, Structure], node_budget: int, data: st.DataObject
) -> None:
    a, b = models
    weights = [
        data.draw(st.lists(st.integers(0, 2**70), min_size=c, max_size=c))
        for c in a.features.cardinalities.tolist()
    ]
    space, pairs = ContextSpace(weights=weights), active_pairs(a, b)
    f, g = a.features, b.features
    theirs = get_engine("branch").count_pairs(f, g, pairs, space=space)
    exact = native.count_pairs(f, g, pairs, space=space)
    assert (exact.lower == theirs.lower).all()
    some = native.count_pairs(f, g, pairs, space=space, node_budget=node_budget)
    assert (some.lower <= theirs.lower).all()
    assert (theirs.lower <= some.upper).all()


@pytest.mark.parametrize("largest", [2, 3, 66])
@pytest.mark.parametrize("canonical", [False, True])
def test_features_of_one_scope(largest: int, canonical: bool) -> None:
    """Tables, whole and with holes, and value sets that overlap: the kernel merges their rows."""
    rng = random.Random(largest)
    for _ in range(20):
        domain = Domain({f"X{k}": rng.randint(2, largest) for k in range(6)})
        a, b = (
            Structure(domain, [row for _ in range(4) for row in random_table(rng, domain)])
            for _ in range(2)
        )
        pairs = active_pairs(a, b)
        ours = native.count_pairs(a.features, b.features, pairs, space=ContextSpace(canonical))
        theirs = get_engine("branch").count_pairs(
            a.features, b.features, pairs, space=ContextSpace(canonical)
        )
        assert (ours.lower == theirs.lower).all()


def random_table(rng: random.Random, domain: Domain) -> Iterator[dict[str, list[int]]]:
    """Most combinations of two or three value sets for each of two to four variables."""
    scope = rng.sample(range(len(domain)), rng.randint(2, 4))
    sets = [random_sets(rng, domain.cardinalities[v]) for v in scope]
    holes = rng.choice([0.0, 0.1, 0.5])
    for row in product(*sets):
        if rng.random() >= holes:
            yield {f"X{v}": values for v, values in zip(scope, row, strict=True)}


def random_sets(rng: random.Random, states: int) -> list[list[int]]:
    """Each state of a variable with few, some sets of states of one with many."""
    if states <= 3:
        return [[state] for state in range(states)]
    return [rng.sample(range(states), rng.randint(1, states - 1)) for _ in range(rng.randint(2, 3))]


def test_pairs_in_any_order_and_twice() -> None:
    a, b = two_models(3, variables=12)
    pairs = active_pairs(a, b)
    mixed = np.concatenate([pairs[::-1], pairs[:5]])
    straight = native.count_pairs(a.features, b.features, pairs).lower
    assert (
        native.count_pairs(a.features, b.features, mixed).lower
        == np.concatenate([straight[::-1], straight[:5]])
    ).all()


def two_models(seed: int, variables: int = 40) -> tuple[Structure, Structure]:
    rng = np.random.default_rng(seed)
    domain = Domain({f"X{k}": 2 + k % 3 for k in range(variables)})
    first, second = (
        random_structure(domain, features=150, lengths=(2, 7), seed=rng) for _ in range(2)
    )
    return first, second


def test_threads_agree() -> None:
    a, b = two_models(1)
    pairs = active_pairs(a, b)
    for node_budget in (None, 2):
        one, two = (
            native.count_pairs(
                a.features, b.features, pairs, Effort(threads=threads), node_budget=node_budget
            )
            for threads in (1, 2)
        )
        assert (one.lower == two.lower).all()
        assert (one.upper == two.upper).all()


def test_equal_models_and_empty_ones() -> None:
    a, _ = two_models(2)
    pairs = active_pairs(a)
    same = native.count_pairs(a.features, a.features, pairs)
    assert (same.lower[:, 0] == same.lower[:, 2]).all()
    nothing = Structure(a.domain, [])
    other = native.count_pairs(a.features, nothing.features, pairs)
    assert (other.lower[:, 0] == same.lower[:, 0]).all()
    assert (other.lower[:, 1] == 0).all()
    assert native.count_pairs(nothing.features, nothing.features, pairs[:0]).lower.shape == (0, 3)


@pytest.mark.parametrize("domain", [{"A": 3}, {"A": 2, "B": 3}])
def test_domains_of_one_and_two_variables(domain: dict[str, int]) -> None:
    model = Structure(domain, [{"A": 1}, dict.fromkeys(domain, 1)])
    pairs = active_pairs(model)
    counts = native.count_pairs(model.features, model.features, pairs)
    assert counts.lower.tolist() == [[1, 1, 1]] * (len(domain) - 1)


HARD = 0
"""The place of the pair A, B among those of the hard models."""


def test_a_deadline_keeps_bounds() -> None:
    a, b = hard_models()
    pairs = active_pairs(a, b)
    counts = native.count_pairs(a.features, b.features, pairs, Effort(Deadline.after(0.3)))
    contexts = prod(a.features.cardinalities.tolist()) // 4
    place = HARD
    assert place in counts.open_places
    assert (counts.lower[place] > 0).all()
    assert (counts.lower[place] < counts.upper[place]).all()
    assert (counts.upper[place] <= contexts).all()


def test_no_node_is_visited_after_the_deadline() -> None:
    a, b = hard_models()
    counts = native.count_pairs(
        a.features, b.features, active_pairs(a, b), Effort(Deadline.after(0)), node_budget=10**5
    )
    assert counts.nodes == 0
    assert (counts.lower <= counts.upper).all()


def test_ctrl_c_keeps_what_is_known() -> None:
    """Both threads heed the signal: a budget that would take many minutes is hardly touched."""
    a, b = hard_models()
    pairs = active_pairs(a, b)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    budget = 10**9
    counts = native.count_pairs(a.features, b.features, pairs, node_budget=budget)
    assert counts.interrupted
    assert counts.nodes < budget
    assert HARD in counts.open_places


def test_ctrl_c_in_the_middle_of_a_report_keeps_what_is_known() -> None:
    a, b = hard_models()

    def progress(done: int, total: int) -> None:
        raise KeyboardInterrupt

    counts = native.count_pairs(
        a.features, b.features, active_pairs(a, b), Effort(show_progress=progress)
    )
    assert counts.interrupted
    assert HARD in counts.open_places


def test_ctrl_c_ends_the_count_of_one_cover() -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        native.bound_union(hard_cover(), node_budget=10**9)


def test_simplifying_many_cubes_ends_at_the_deadline() -> None:
    """Every assignment of seven variables as a cube: in time they become one cube without a test,
    and past the deadline some of them are left, with bounds that hold.
    """
    assignments = product(range(3), repeat=7)
    cubes = [[(v, 1 << values[v]) for v in range(7)] for values in assignments]
    cover = cover_of([3] * 7, cubes)
    in_time, late = native.bound_union(cover), native.bound_union(cover, deadline=Deadline.after(0))
    assert in_time.lower == in_time.upper == cover.total
    assert late.lower < late.upper
    assert late.lower <= cover.total <= late.upper


def test_memory_is_bounded_however_deep() -> None:
    """A thousand long cubes over 2,000 variables, each set aside in turn: the stacks of the kernel
    hold a few bytes per cube and level, and what it remembers has a limit.
    """
    cover = random_cover(random.Random(1), [2] * 2000, 1000, (8, 8))
    fresh = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, fresh) as pool:
        assert pool.submit(peak_growth, cover, 1000).result() < 60 * 2**20


def peak_growth(cover: Cover, node_budget: int) -> int:
    """By how many bytes the largest memory of this process grows while a cover is counted."""
    before = peak_bytes()
    native.bound_union(cover, node_budget=node_budget, memory=10 * 2**20)
    return peak_bytes() - before


def peak_bytes() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# -- few pairs -----------------------------------------------------------------------------------


@given(families(2), st.booleans(), st.data())
def test_some_pairs_count_as_among_all(
    models: tuple[Structure, Structure], canonical: bool, data: st.DataObject
) -> None:
    """Leaving out features that mention none of the chosen pairs does not change the counts."""
    a, b = models
    pairs = active_pairs(a, b)
    if not len(pairs):
        return
    chosen = sorted(data.draw(st.sets(st.sampled_from(range(len(pairs))), min_size=1)))
    every = native.count_pairs(a.features, b.features, pairs, space=ContextSpace(canonical))
    some = native.count_pairs(a.features, b.features, pairs[chosen], space=ContextSpace(canonical))
    assert (some.lower == every.lower[chosen]).all()


def test_few_pairs_among_many_features() -> None:
    a, b = two_models(5)
    pairs = active_pairs(a, b)
    every = native.count_pairs(a.features, b.features, pairs)
    for k in range(0, len(pairs), 50):
        alone = native.count_pairs(a.features, b.features, pairs[[k]])
        assert (alone.lower == every.lower[[k]]).all()


def test_progress_comes_from_the_calling_thread() -> None:
    a, b = two_models(4)
    pairs = active_pairs(a, b)
    heard: list[tuple[int, int, int]] = []

    def progress(done: int, total: int) -> None:
        heard.append((threading.get_ident(), done, total))

    native.count_pairs(a.features, b.features, pairs, Effort(show_progress=progress))
    assert heard[-1] == (threading.get_ident(), len(pairs), len(pairs))
    assert {ident for ident, _, _ in heard} == {threading.get_ident()}


def test_an_error_in_progress_is_raised() -> None:
    a, b = hard_models()

    def progress(done: int, total: int) -> None:
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        native.count_pairs(
            a.features, b.features, active_pairs(a, b), Effort(show_progress=progress)
        )


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_no_leak_over_ten_thousand_comparisons() -> None:
    """A comparison that lost only a kilobyte would show as ten megabytes."""
    a, b = two_models(6, variables=8)
    pairs = active_pairs(a, b)[:4]

    def compare(times: int) -> None:
        for _ in range(times):
            native.count_pairs(a.features, b.features, pairs, Effort(threads=1))

    compare(1000)
    before = resident_bytes()
    compare(10_000)
    assert resident_bytes() - before < 5 * 2**20


@pytest.mark.parametrize("features", [1, 3, 5])
@pytest.mark.parametrize("variables", [10, 14, 66, 200])
def test_few_cubes_over_many_variables(features: int, variables: int) -> None:
    """Counted by inclusion and exclusion, with up to 63 variables or by the recursion."""
    domain = Domain({f"X{k}": 2 for k in range(variables)})
    lengths = (4, 9) if variables < 20 else (15, 40)
    for seed in range(20):
        rng = np.random.default_rng([seed, features, variables])
        a, b = (
            random_structure(domain, features=features, lengths=lengths, seed=rng) for _ in "ab"
        )
        pairs = active_pairs(a, b)[:30]
        counts = native.count_pairs(a.features, b.features, pairs)
        slow = get_engine("enumerate" if variables < 20 else "branch")
        expected = slow.count_pairs(a.features, b.features, pairs)
        assert (counts.lower == expected.lower).all()
        assert (counts.upper == expected.upper).all()
