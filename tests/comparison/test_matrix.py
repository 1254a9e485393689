"""Many models at once: the laws of the matrix, and that nothing is counted twice."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise import Domain, Structure, compare, distance, examples, write
from contextwise.comparison import matrix as blocks
from contextwise.comparison.matrix import compare_many, distance_matrix, farthest_first
from contextwise.comparison.question import Contexts, active_pairs
from contextwise.counting import native
from contextwise.counting.contexts import ContextSpace
from contextwise.counting.native import count_distances
from contextwise.errors import ContextwiseError, DomainError, EngineError, TooLargeError
from contextwise.testing import domains, families, random_structure, structures

Models = tuple[Structure, ...]
FEW = settings(max_examples=10)
CONTEXTS: tuple[Contexts, ...] = ("fully-contextualized", "canonical")
NAMES = ("lung", "lung-learned")


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


@given(models=families(4, with_claims=True))
def test_the_matrix_is_a_metric(models: Models) -> None:
    d = distance_matrix(models).distances
    assert (d == d.T).all()
    assert not d.diagonal().any()
    assert all(d[a, c] <= d[a, b] + d[b, c] for a in range(4) for b in range(4) for c in range(4))


@FEW
@given(models=families(3, with_claims=True))
def test_every_engine_gives_the_same_matrix(engine: str, models: Models) -> None:
    matrix = distance_matrix(models, engine=engine)
    assert (matrix.distances == distance_matrix(models, engine="enumerate").distances).all()


def test_processes_give_the_same_matrix() -> None:
    models = [examples.load(name) for name in ("six", "six-graph", "six-guess")]
    here, there = distance_matrix(models), distance_matrix(models, n_jobs=2)
    assert here.names == there.names == ("0", "1", "2")
    assert here.distances.tolist() == there.distances.tolist()


def test_normalized_distances() -> None:
    matrix = distance_matrix([examples.load(name) for name in NAMES])
    (exact,) = {int(d) for d in matrix.distances.flat if d}
    assert matrix.normalized.tolist() == [[0, exact / matrix.total], [exact / matrix.total, 0]]


def test_distances_beyond_all_floats_stay_exact() -> None:
    domain = Domain({f"X{k}": 2 for k in range(1100)})
    models = [Structure(domain, ["X0=1 & X1=1"]), Structure(domain, [])]
    matrix = distance_matrix(models)
    assert matrix.distances[0, 1] == 2**1098
    assert 0 < matrix.normalized[0, 1] < 1e-5


def test_scipy_clusters_by_the_matrix() -> None:
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    domain = Domain({"A": 2, "B": 2, "C": 2, "D": 2})
    texts = (["A=1 & B=1"], ["A=1 & B=1", "A=1 & B=1 & C=1"], ["C=1 & D=1"])
    matrix = distance_matrix([Structure(domain, features) for features in texts])
    tree = linkage(squareform(matrix.normalized), "average")
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
    (found,) = compare_many(true, [guess], engine="branch")
    assert found.engine == "branch"


def test_no_guess_no_comparison() -> None:
    assert compare_many(examples.load("lung"), []) == []


# -- the twins, and nothing twice ----------------------------------------------------------------


@pytest.mark.skipif(native.missing() is not None, reason="the kernel was not built")
@pytest.mark.parametrize("contexts", CONTEXTS)
@pytest.mark.parametrize("rows", [0, 1, 3])
@given(models=families(5), weighted=st.booleans())
def test_the_kernel_and_a_loop_with_the_readable_engine_agree(
    rows: int, contexts: Contexts, models: Models, weighted: bool
) -> None:
    weights = [list(range(1, c + 1)) for c in models[0].domain.cardinalities]
    shares = {
        name: [Fraction(w, sum(of_states)) for w in of_states]
        for name, of_states in zip(models[0].domain.names, weights, strict=True)
    }
    values = count_distances(
        [model.features for model in models],
        active_pairs(*models),
        rows=rows,
        space=ContextSpace(contexts == "canonical", weights if weighted else None),
    )
    assert values == [
        compare(
            models[m],
            models[k],
            engine="branch",
            contexts=contexts,
            weights=shares if weighted else None,
        ).distance
        for m, k in two_models(5, rows)
    ]


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("variables", [10, 16, 17, 30])
def test_distances_by_tables_and_by_unions_are_those_of_compare(variables: int, rows: int) -> None:
    """Few variables are counted by truth table, more of them after covers were simplified."""
    domain = Domain({f"X{k}": 2 for k in range(variables)})
    models = [
        random_structure(domain, features=count, lengths=(2, 6), seed=count)
        for count in (0, 3, 30, 60, 90)
    ]
    # Split on X9: covers of the old pairs are equal once they are simplified.
    split = [{**feature, "X9": state} for feature in models[1] for state in domain.states[9]]
    models.append(Structure(domain, [*models[1], *split]))
    features = [model.features for model in models]
    values = count_distances(features, active_pairs(*models), rows=rows)
    apart = [compare(models[m], models[k]).distance for m, k in two_models(len(models), rows)]
    assert values == apart


def two_models(models: int, rows: int) -> list[tuple[int, int]]:
    """List the two models of each distance; without rows, all of them."""
    if not rows:
        return list(combinations(range(models), 2))
    return list(product(range(rows), range(rows, models)))


@pytest.mark.parametrize("time_limit", [None, 60.0])
def test_more_blocks_than_one_give_the_same_matrix(
    time_limit: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["six", "six-graph", "six-guess", "six", "six-guess"]
    whole = distance_matrix(names)
    monkeypatch.setattr(blocks, "HERE", 2)
    seen: list[tuple[int, int]] = []
    found = distance_matrix(
        names, time_limit=time_limit, show_progress=lambda done, total: seen.append((done, total))
    )
    assert found.distances.tolist() == whole.distances.tolist()
    assert seen[-1] == (10, 10)
    assert seen == sorted(seen)


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
    with pytest.raises(ContextwiseError, match="1 models need as many names, got 2"):
        distance_matrix([model], names=["first", "second"])
    with pytest.raises(EngineError, match="unknown engine"):
        distance_matrix([model], engine="abacus")
    with pytest.raises(DomainError, match="unknown contexts"):
        compare_many(model, [model], contexts="all")  # type: ignore[arg-type]
    domain = Domain({f"X{k}": 2 for k in range(70)})
    large = Structure(domain, [f"X0=1 & X1=1 & X{k}=1" for k in range(2, 70)])
    with pytest.raises(TooLargeError):
        distance_matrix([large, Structure(domain)], engine="enumerate")


def test_a_dict_names_the_models() -> None:
    models = {"graph": "six-graph", "guess": "six-guess"}
    assert compare_many("six", models).names == ("graph", "guess")
    matrix = distance_matrix(models)
    assert matrix.names == ("graph", "guess")
    assert matrix.distances[0, 1] == distance("six-graph", "six-guess")


@given(st.data())
def test_farthest_first_takes_the_farthest_each_time(data: st.DataObject) -> None:
    domain = data.draw(domains(min_variables=2, max_variables=4))
    models = [data.draw(structures(domain)) for _ in range(data.draw(st.integers(2, 5)))]
    k = data.draw(st.integers(1, len(models)))
    places, apart = zip(*farthest_first(models, k), strict=True)
    each = distance_matrix(models).distances
    for step in range(1, k):
        before, chosen = places[:step], places[step]
        least = {m: min(each[m, b] for b in before) for m in range(len(models)) if m not in before}
        assert apart[step] == least[chosen] == max(least.values())
    best = max(
        min((each[a, b] for a, b in combinations(subset, 2)), default=0)
        for subset in combinations(range(len(models)), k)
    )
    assert not k > 1 or 2 * min(apart[1:]) >= best


def test_farthest_first_tells_how_far_it_is() -> None:
    calls: list[tuple[int, int]] = []
    farthest_first(["six", "six-guess", "six-graph"], 3, show_progress=lambda *c: calls.append(c))
    assert calls == sorted(calls)
    assert calls[-1] == (3, 3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 0}, "k must be between 1"),
        ({"k": 2}, r"k must be between 1 .* \(1\), got 2"),
        ({"k": 1, "first": 3}, "first must be between 0 and 0, got 3"),
    ],
)
def test_a_diverse_subset_that_is_impossible(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ContextwiseError, match=words):
        farthest_first(["six"], **options)
