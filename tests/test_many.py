"""Many models at once: the laws of the matrix, and that nothing is counted twice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from contextwise import Domain, Structure, compare, distance, examples, write
from contextwise.comparison.many import compare_many, distance_matrix
from contextwise.comparison.pairs import Contexts, active_pairs
from contextwise.counting.extraction import CoverSource, contexts_of_pairs
from contextwise.counting.joins import Join, plan
from contextwise.errors import ContextwiseError, DomainError, EngineError
from contextwise.testing import families

Models = tuple[Structure, ...]
FEW = settings(max_examples=10)
CONTEXTS: tuple[Contexts, ...] = ("fully-contextualized", "canonical")
NAMES = ("lung", "lung-learned")


def joins_of(count: int) -> list[Join]:
    return [*((m,) for m in range(count)), *combinations(range(count), 2)]


# -- the matrix ----------------------------------------------------------------------------------


@pytest.mark.parametrize("contexts", CONTEXTS)
@given(models=families(4))
def test_the_matrix_holds_the_distances(contexts: Contexts, models: Models) -> None:
    matrix = distance_matrix(models, contexts=contexts)
    assert matrix.distances.tolist() == [
        [distance(a, b, contexts=contexts) for b in models] for a in models
    ]
    assert matrix.total == compare(models[0], models[0], contexts=contexts).total
    assert {type(d) for row in matrix.distances.tolist() for d in row} == {int}


@given(models=families(4))
def test_the_matrix_is_a_metric(models: Models) -> None:
    d = distance_matrix(models).distances
    assert (d == d.T).all()
    assert not d.diagonal().any()
    assert all(d[a, c] <= d[a, b] + d[b, c] for a in range(4) for b in range(4) for c in range(4))


@FEW
@given(models=families(3))
def test_every_engine_gives_the_same_matrix(engine: str, models: Models) -> None:
    matrix = distance_matrix(models, engine=engine)
    assert (matrix.distances == distance_matrix(models, engine="enumerate").distances).all()


def test_processes_give_the_same_matrix() -> None:
    models = [examples.load(name) for name in ("six", "six-graph", "six-guess")]
    here, there = distance_matrix(models), distance_matrix(models, n_jobs=2)
    assert here.names == there.names == ("0", "1", "2")
    assert here.distances.tolist() == there.distances.tolist()


def test_normalized_and_floats() -> None:
    matrix = distance_matrix([examples.load(name) for name in NAMES])
    (exact,) = {int(d) for d in matrix.distances.flat if d}
    assert matrix.normalized.tolist() == [[0, exact / matrix.total], [exact / matrix.total, 0]]
    assert matrix.as_floats().tolist() == [[0, exact], [exact, 0]]
    assert matrix.as_floats().dtype == np.float64


def test_distances_beyond_all_floats_stay_exact() -> None:
    domain = Domain({f"X{k}": 2 for k in range(1100)})
    models = [Structure(domain, ["X0=1 & X1=1"]), Structure(domain, [])]
    matrix = distance_matrix(models)
    assert matrix.distances[0, 1] == 2**1098
    assert 0 < matrix.normalized[0, 1] < 1e-5
    with pytest.raises(ContextwiseError, match="use normalized"):
        matrix.as_floats()


def test_scipy_clusters_by_the_matrix() -> None:
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    domain = Domain({"A": 2, "B": 2, "C": 2, "D": 2})
    texts = (["A=1 & B=1"], ["A=1 & B=1", "A=1 & B=1 & C=1"], ["C=1 & D=1"])
    matrix = distance_matrix([Structure(domain, features) for features in texts])
    tree = linkage(squareform(matrix.as_floats()), "average")
    first, second, third = fcluster(tree, 2, "maxclust")
    assert first != third
    assert (first == second) == (matrix.distances[0, 1] < matrix.distances[1, 2])


def test_one_model_and_models_without_pairs() -> None:
    alone = Structure(Domain({"A": 2}), ["A=1"])
    assert distance_matrix([alone]).distances.tolist() == [[0]]
    nothing = Structure(Domain({}), [])
    assert distance_matrix([nothing, nothing]).distances.tolist() == [[0, 0], [0, 0]]
    assert distance_matrix([nothing, nothing]).normalized.tolist() == [[0, 0], [0, 0]]


def test_files_name_themselves(tmp_path: Path) -> None:
    path = tmp_path / "lung.json"
    write(examples.load("lung"), path)
    matrix = distance_matrix([path, examples.load("lung-learned")])
    assert matrix.names == (str(path), "1")
    assert matrix.distances[0, 1] == distance(*map(examples.load, NAMES))


# -- one true model and several guesses ----------------------------------------------------------


@pytest.mark.parametrize("contexts", CONTEXTS)
@given(models=families(3))
def test_many_comparisons_are_those_of_each_guess(contexts: Contexts, models: Models) -> None:
    true, *guesses = models
    together = compare_many(true, guesses, contexts=contexts)
    for guess, found in zip(guesses, together, strict=True):
        alone = compare(true, guess, contexts=contexts)
        assert found.counts.tolist() == alone.counts.tolist()
        assert found.pair_names() == alone.pair_names()
        assert found.confusion == alone.confusion
        assert found.mean_pair_distance == alone.mean_pair_distance
        assert found.guess == alone.guess
        assert repr(found) == repr(alone)


def test_comparisons_say_who_counted() -> None:
    true, guess = map(examples.load, NAMES)
    (native,) = compare_many(true, [guess], engine="branch")
    assert set(native.counted) == {"branch"}
    assert not native.rests_on_ganak
    (ganak,) = compare_many(true, [guess], engine="ganak")
    assert ganak.rests_on_ganak
    assert distance_matrix([true, guess], engine="ganak").rests_on_ganak


def test_no_guess_no_comparison() -> None:
    assert compare_many(examples.load("lung"), []) == []


# -- nothing twice -------------------------------------------------------------------------------


def distinct_unions(models: Sequence[Structure], joins: Sequence[Join], canonical: bool) -> int:
    """How many unions there are: sets of cubes, of pairs with as many contexts."""
    sources = [CoverSource(model.features, canonical=canonical) for model in models]
    pairs = active_pairs(*models)
    sizes = contexts_of_pairs(models[0].domain.cardinalities, pairs, canonical)
    found = set()
    for (i, j), size in zip(pairs.tolist(), sizes, strict=True):
        for join in joins:
            cubes = [tuple(cube) for m in join for cube in sources[m].cubes(0, (i, j))]
            if cubes:
                found.add((size, frozenset(cubes)))
    return len(found)


@pytest.mark.parametrize("canonical", [False, True])
@given(models=families(4))
def test_each_distinct_union_is_counted_once(canonical: bool, models: Models) -> None:
    joins = joins_of(len(models))
    found = plan([model.features for model in models], joins, canonical=canonical)
    counted = sum(len(task.pairs) for task in found.tasks)
    assert counted == distinct_unions(models, joins, canonical)
    assert {int(k) for ids in found.unions.values() for k in ids} - {0} == set(
        range(1, counted + 1)
    )


def test_equal_models_cost_no_more_than_one() -> None:
    model = examples.load("six")
    done: list[tuple[int, int]] = []
    matrix = distance_matrix([model] * 5, show_progress=lambda *seen: done.append(seen))
    assert not matrix.distances.any()
    pairs = len(active_pairs(model))
    assert done[-1][0] == done[-1][1] <= pairs


# -- what is refused -----------------------------------------------------------------------------


def test_models_that_do_not_align_are_named() -> None:
    models = [examples.load("lung"), examples.load("six")]
    with pytest.raises(DomainError, match="first, second: "):
        distance_matrix(models, names=["first", "second"])


def test_what_cannot_be_done_is_said() -> None:
    model = examples.load("lung")
    with pytest.raises(ContextwiseError, match="at least one"):
        distance_matrix([])
    with pytest.raises(ContextwiseError, match="1 models need as many names, not 2"):
        distance_matrix([model], names=["first", "second"])
    with pytest.raises(EngineError, match="unknown engine"):
        distance_matrix([model], engine="abacus")
    with pytest.raises(DomainError, match="unknown contexts"):
        compare_many(model, [model], contexts="all")  # type: ignore[arg-type]
    domain = Domain({f"X{k}": 2 for k in range(70)})
    large = Structure(domain, [f"X0=1 & X1=1 & X{k}=1" for k in range(2, 70)])
    with pytest.raises(ContextwiseError, match="TooLargeError"):
        distance_matrix([large], engine="enumerate")
