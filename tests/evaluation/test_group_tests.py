"""Populations: statistics against brute force, p-values against enumeration, resumption."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from contextwise import Domain, Structure, compare, populations, read, read_data
from contextwise.cli import contextwise
from contextwise.data.rows import Data, as_data
from contextwise.errors import ContextwiseError, OpenResult
from contextwise.evaluation import Ensemble, compare_ensembles
from contextwise.evaluation.group_tests import Plan, _plan, read_populations
from contextwise.learning import MPL, EdgeTrees, Trees
from contextwise.support.store import read_records
from contextwise.testing import contexts_of, depends


def planted(rows: int = 400, groups: int = 2) -> list[dict[str, str]]:
    """A and B are equal where C=1, in the first group only; D is noise with three states."""
    rng = np.random.default_rng(8)
    made = []
    for k in range(rows):
        group, c, a = f"g{k % groups}", rng.integers(2), rng.integers(2)
        b = a if c == 1 and group == "g0" else rng.integers(2)
        made.append({"A": a, "B": b, "group": group, "C": c, "D": rng.integers(3)})
    return [{key: str(value) for key, value in row.items()} for row in made]


def plan_of(data: Any, by: str = "group", subject: str | None = None, **settings: Any) -> Plan:
    made = {"learner": MPL(), "design": "separate", "resamples": None, "seed": 1, **settings}
    return _plan(as_data(data), by, subject, {}, **made)


# -- statistics ------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", ["separate", "joint"])
def test_statistics_are_shares_of_contexts(design: Any) -> None:
    """The distance and the share of each pair, over all contexts, one by one."""
    found = populations(planted(), "group", EdgeTrees(), design=design, permutations=19, rng=3)
    first, second = (group.structure for group in found.groups)
    domain, wrong, total = found.domain, 0, 0
    shares = {each.pair: each.share for each in found.variable_pairs}
    for pair in combinations(domain.names, 2):
        contexts = list(contexts_of(domain, pair))
        differ = sum(depends(first, pair, c) != depends(second, pair, c) for c in contexts)
        assert shares.get(pair, Fraction(0)) == Fraction(differ, len(contexts))
        wrong, total = wrong + differ, total + len(contexts)
    assert found.distance == Fraction(wrong, total) > 0


def test_the_planted_context_is_found_and_named() -> None:
    found = populations(planted(2000), "group", EdgeTrees(), permutations=99, rng=3)
    assert found.p_value == 0.01
    assert {each.pair for each in found.significant} == {("A", "B"), ("A", "C"), ("B", "C")}
    (region,) = [each for each in found.regions("A", "B") if each.only_in == "g0"]
    assert str(region) == "A–B depend only in g0, not in g1, when C=1 (50 % of contexts)"
    assert "g0" in str(found)
    assert "true" not in str(found)
    assert "guess" not in str(found)


def test_ties_are_counted_and_mentioned(tmp_path: Path) -> None:
    found = populations(planted(60), "group", MPL(), permutations=39, folder=tmp_path)
    observed, *permuted = sorted(read_records(tmp_path), key=lambda r: r.get("number", -1))
    total = sum(dict(observed["apart"][0]).values())
    ties = sum(sum(dict(record["apart"]).values()) == total for record in permuted)
    assert found.ties == ties > 4
    assert f"{found.ties} of 39 permutations have exactly this distance" in found.verdict
    resampled = populations(planted(60), "group", MPL(), resamples=3, permutations=39)
    assert "exactly" not in resampled.verdict


def test_a_difference_without_a_significant_pair_shows_its_regions() -> None:
    found = populations("titanic", "age", EdgeTrees(), permutations=99)
    assert found.p_value <= 0.05
    assert not found.significant
    assert {region.first for region in found.explained()} == {"class", "sex"}
    assert "Where the structures differ" in str(found)


def test_several_groups_have_the_mean_of_their_distances() -> None:
    rows = planted(600, groups=3)
    found = populations(rows, "group", EdgeTrees(), permutations=19)
    structures = [group.structure for group in found.groups]
    distances = [
        Fraction(compare(a, b).distance, compare(a, b).total)
        for a, b in combinations(structures, 2)
    ]
    assert [each.distance for each in found.pairwise] == distances
    assert found.distance == sum(distances) / 3


@pytest.mark.parametrize("learner", [MPL(), Trees(penalty=2)])
def test_resamples_are_compared_as_ensembles(learner: Any) -> None:
    """The statistic is the fair distance of the ensembles, and that of each pair its part."""
    plan = plan_of(planted(), resamples=5, learner=learner)
    learned = plan.learn(plan.counts, (0, 1), np.random.default_rng(0))
    (apart,) = plan.apart(learned)
    ensembles = [Ensemble([Structure(plan.domain, f) for f in each]) for each in learned]
    wanted = compare_ensembles(*ensembles)
    assert Fraction(sum(apart.values()), 25 * 4) == wanted.distance * wanted.total
    names = plan.domain.names
    pairs = plan.question.asked_pairs.tolist()
    for pair, part in wanted.pairs:
        place = pairs.index([names.index(name) for name in pair])
        assert Fraction(apart.get(place, 0), 25 * 4) == part * wanted.total


def test_a_joint_structure_without_the_group_has_distance_zero() -> None:
    """The halves of both groups are the same, so equal restrictions are never below 0."""
    rows = [[g, a, a, b] for g in "xy" for a in (0, 1) for b in (0, 1)] * 30
    found = populations(rows, "v0", EdgeTrees(), design="joint", resamples=4, permutations=19)
    assert found.distance == 0
    assert found.p_value == 1


# -- permutations ----------------------------------------------------------------------------------


def test_sampled_p_converges_to_the_enumerated_one() -> None:
    """All 70 relabellings of 4 + 4 rows."""
    rows = [["x", 0, 0, 0], ["x", 1, 1, 0], ["x", 0, 0, 1], ["x", 1, 1, 1]]
    rows += [["y", 0, 1, 0], ["y", 1, 0, 1], ["y", 1, 1, 0], ["y", 0, 0, 0]]
    data = [{"group": g, "A": a, "B": b, "C": c} for g, a, b, c in rows]
    plan = plan_of(data, learner=EdgeTrees(prior=0.1))
    cell_of, observed = plan.rows

    def total(labels: Any) -> int:
        counts = np.zeros_like(plan.counts)
        np.add.at(counts, (cell_of, labels), 1)
        learned = plan.learn(counts, (0, 1), np.random.default_rng(0))
        return sum(plan.apart(learned)[0].values())

    relabelled = [
        total([0 if row in chosen else 1 for row in range(8)])
        for chosen in combinations(range(8), 4)
    ]
    assert len(relabelled) == 70
    exact = Fraction(sum(t >= total(observed) for t in relabelled), 70)
    assert len(set(relabelled)) == 3
    assert 0 < exact < 1
    found = populations(data, "group", EdgeTrees(prior=0.1), permutations=3999)
    error = 4 * float(exact * (1 - exact) / 3999) ** 0.5
    assert found.p_value == pytest.approx(float(exact), abs=error)


def test_tables_of_counts_permute_people() -> None:
    """The draws of counted rows have the distribution of permuted rows: all of 2 + 2 people."""
    counted = [("x", 0, 0, 1), ("x", 0, 1, 1), ("y", 0, 0, 1), ("y", 1, 1, 1)]
    rows = [{"group": g, "A": a, "B": b, "n": n} for g, a, b, n in counted]
    data = as_data([{k: v for k, v in row.items() if k != "n"} for row in rows])
    table = Data(data.domain, data.rows, np.ones(4, dtype=np.int64))
    seen = []
    for source in (data, table):
        plan = plan_of(source)
        draws = Counter(
            plan.permuted((0, 1), np.random.default_rng(k)).tobytes() for k in range(4000)
        )
        seen.append(draws)
    assert not plan.rows
    assert seen[0].keys() == seen[1].keys()
    for key, number in seen[0].items():
        assert seen[1][key] == pytest.approx(number, abs=5 * number**0.5 * 1.5)


def test_counted_rows_keep_sizes_of_groups_and_cells() -> None:
    data = as_data(planted(300, groups=3))
    cells, counts = np.unique(data.rows, axis=0, return_counts=True)
    plan = plan_of(Data(data.domain, cells, counts))
    for groups in [(0, 1, 2), (0, 2)]:
        permuted = plan.permuted(groups, np.random.default_rng(1))
        assert (permuted.sum(axis=0) == plan.counts.sum(axis=0)).all()
        assert (permuted.sum(axis=1) == plan.counts.sum(axis=1)).all()
        assert (permuted != plan.counts).any()
    assert (permuted[:, 1] == plan.counts[:, 1]).all()


def test_labels_move_within_a_subject_only() -> None:
    rows = [
        {"who": who, "group": group, "A": str(who), "B": str((who + k) % 3), "C": "0"}
        for who in range(30)
        for k, group in enumerate(("before", "after", "after"))
    ]
    plan = plan_of(read_data(rows, category=["who", "A"]), subject="who")
    assert len(plan.rows) == 3
    for seed in range(5):
        counts = plan.permuted((0, 1), np.random.default_rng(seed))
        people = plan.cells[:, plan.domain.position("A")]
        for person in np.unique(people):
            of_person = counts[people == person].sum(axis=0)
            assert of_person.tolist() == plan.counts[people == person].sum(axis=0).tolist()
    assert (counts != plan.counts).any()


def test_pairs_of_groups_leave_the_other_groups_alone() -> None:
    plan = plan_of(planted(300, groups=3))
    for groups in plan.tests()[1:]:
        counts = plan.permuted(groups, np.random.default_rng(1))
        (other,) = {0, 1, 2} - set(groups)
        assert (counts[:, other] == plan.counts[:, other]).all()
        assert (counts.sum(axis=1) == plan.counts.sum(axis=1)).all()


def test_p_values_are_ranks_of_the_recorded_statistics(tmp_path: Path) -> None:
    found = populations(planted(), "group", Trees(penalty=2), permutations=39, folder=tmp_path)
    observed, *permuted = sorted(read_records(tmp_path), key=lambda r: r.get("number", -1))
    assert len(permuted) == 39
    total = sum(dict(observed["apart"][0]).values())
    at_least = sum(sum(dict(record["apart"]).values()) >= total for record in permuted)
    assert found.p_value == (1 + at_least) / 40
    domain = found.domain
    pairs = list(combinations(range(len(domain)), 2))
    size = [domain.cardinalities[i] * domain.cardinalities[j] for i, j in pairs]
    for each in found.variable_pairs:
        place = pairs.index(domain.pair(each.pair))
        of_pair = dict(observed["apart"][0])
        alone = largest = 1
        for record in permuted:
            values = dict(record["apart"])
            alone += values.get(place, 0) >= of_pair[place]
            scaled = [value * size[k] for k, value in values.items()]
            largest += max([0, *scaled]) >= of_pair[place] * size[place]
        assert each.p_value == alone / 40
        assert each.adjusted == largest / 40


# -- effort ----------------------------------------------------------------------------------------


def shown(found: Any) -> str:
    return json.dumps(found.document())


def test_processes_and_interruptions_do_not_change_the_result(tmp_path: Path) -> None:
    rows = planted(200, groups=3)
    call: dict[str, Any] = {"by": "group", "learner": MPL(), "permutations": 30, "rng": 5}
    whole = populations(rows, **call)

    class Stop(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if total > 1 and done == 3:
            raise Stop

    with pytest.raises(Stop):
        populations(rows, folder=tmp_path, show_progress=stop, **call)
    kept = len(read_records(tmp_path))
    resumed = populations(rows, folder=tmp_path, n_jobs=2, **call)
    assert 1 < kept < len(read_records(tmp_path)) == 1 + 4 * 30
    assert shown(resumed) == shown(whole)
    (again,) = read_populations(tmp_path)
    assert shown(again) == shown(whole)


def test_more_permutations_keep_the_first(tmp_path: Path) -> None:
    call: dict[str, Any] = {"by": "group", "learner": MPL(), "folder": tmp_path}
    rows = planted(200)
    populations(rows, permutations=25, **call)
    more = populations(rows, permutations=60, **call)
    assert shown(more) == shown(populations(rows, "group", MPL(), permutations=60))


def test_a_time_limit_without_permutations_is_open() -> None:
    with pytest.raises(OpenResult, match="allow more time"):
        populations(planted(), "group", EdgeTrees(), time_limit=0)


def test_structures_are_files(tmp_path: Path) -> None:
    rows = [{**row, "group": row["group"] + "/ü?"} for row in planted(200)]
    found = populations(rows, "group", MPL(), permutations=19, folder=tmp_path)
    files = sorted(tmp_path.glob("*.json"))
    assert [file.name for file in files] == ["group-g0_ü_.json", "group-g1_ü_.json"]
    assert read(files[0]) == found.groups[0].structure


# -- several columns -------------------------------------------------------------------------------


def test_columns_are_tested_one_by_one_with_holm() -> None:
    rows = planted(300)
    both = populations(rows, ["group", "C"], MPL(), permutations=39)
    alone = populations(rows, "group", MPL(), permutations=39)
    assert both[0].p_value == alone.p_value
    assert shown(both).count('"by": "C"') >= 1
    p = sorted(each.p_value for each in both)
    assert sorted(each.adjusted or 0 for each in both) == [
        min(1, 2 * p[0]),
        min(1, max(2 * p[0], p[1])),
    ]
    assert "C" in alone.domain.names
    assert "C" not in both[1].domain.names


# -- bad input -------------------------------------------------------------------------------------

ROWS = planted(60)
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "one group": ({"data": [{**r, "group": "all"} for r in ROWS]}, "one group, 'all'"),
    "one row": ({"data": [{**ROWS[0], "group": "lonely"}, *ROWS]}, "'lonely' .* has 1 row"),
    "halves": (
        {"data": [*({**ROWS[0], "group": "few"} for _ in range(3)), *ROWS], "resamples": 3},
        "'few' .* has 3 rows, and learning needs at least 4",
    ),
    "id": (
        {"data": [{**r, "id": f"p{k}"} for k, r in enumerate(ROWS)], "by": "id"},
        "60 values in 60 rows, so it looks like an ID",
    ),
    "context": ({"context": "group=g0"}, "'group' defines the groups, so it cannot be in pairs, "),
    "variables": ({"variables": ["group", "A"]}, "'group' defines the groups"),
    "pairs": ({"pairs": [("group", "A")]}, "'group' defines the groups"),
    "dropped": ({"drop": ["group"]}, "do not drop it"),
    "no column": ({"by": "grupp"}, "^by: there is no column 'grupp'; did you mean 'group'"),
    "no subject": ({"subject": "who"}, "^subject: there is no column 'who'"),
    "twice": ({"by": ["group", "group"]}, "twice"),
    "joint": ({"design": "joint", "learner": "chow-liu"}, "chow-liu learns plain graphs"),
    "design": ({"design": "both"}, "design must be"),
    "resamples": ({"resamples": 1}, "resamples must be >= 2"),
    "permutations": ({"permutations": 0}, "permutations must be >= 1"),
    "alpha": ({"alpha": 1.5}, "alpha must be"),
    "subject": ({"subject": "group"}, "twice"),
    "unpaired": (
        {"data": [{**r, "who": f"p{k}"} for k, r in enumerate(ROWS)], "subject": "who"},
        "no value of 'who' has rows in two groups",
    ),
    "nothing left": ({"columns": ["A"]}, "1 variable next to 'group'"),
    "fails": (
        {"learner": lambda data: (_ for _ in ()).throw(ValueError("too few"))},
        "cannot learn from the group 'g0' of 'group', 30 rows: too few",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_explained(name: str) -> None:
    change, message = BAD[name]
    call: dict[str, Any] = {"data": ROWS, "by": "group", "learner": MPL(), "permutations": 19}
    with pytest.raises(ContextwiseError, match=message):
        populations(**{**call, **change})


def test_a_constant_variable_is_a_finding() -> None:
    rows = [{**row, "D": "0"} if row["group"] == "g1" else row for row in planted(200)]
    found = populations(rows, "group", MPL(), permutations=19)
    assert [group.constant for group in found.groups] == [(), ("D",)]
    assert "Constant: D in g1" in str(found)


def test_a_function_gets_rows() -> None:
    def nothing(data: Data) -> Structure:
        assert data.multiplicity is None
        assert len(data) == 30
        return Structure(data.domain)

    found = populations(ROWS, "group", nothing, permutations=3)
    assert found.p_value == 1


def test_variables_of_one_group_only_in_a_context() -> None:
    found = populations(planted(800), "group", EdgeTrees(), context="C=1", permutations=19)
    assert {name for each in found.variable_pairs for name in each.pair} <= {"A", "B", "D"}
    assert str(found.regions("A", "B")[0]) == "A–B depend only in g0, not in g1, in every context"


# -- the command -----------------------------------------------------------------------------------


def run(*arguments: str) -> Any:
    return CliRunner().invoke(contextwise, ["populations", *arguments], catch_exceptions=False)


@pytest.fixture
def survey(tmp_path: Path) -> str:
    rows = planted(300)
    lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_command(survey: str, tmp_path: Path) -> None:
    common = [survey, "--by", "group", "--permutations", "19"]
    text = run(*common)
    assert text.exit_code == 0
    assert text.output.startswith("The groups of group differ (g0 and g1): p = 0.05")
    document = json.loads(run(*common, "--json").output)
    assert document["p_value"] == 0.05
    assert {region["only_in"] for region in document["regions"]} <= {"g0", "g1"}
    picture, folder = tmp_path / "p.png", tmp_path / "run"
    csv = run(*common, "--csv", "--picture", str(picture), "--folder", str(folder))
    assert csv.output.splitlines()[0] == "by,first,second,share,p_value,adjusted"
    assert picture.stat().st_size > 1000
    assert (folder / "group-g0.json").exists()
    page = tmp_path / "page.html"
    files = [str(folder / f"group-g{k}.json") for k in (0, 1)]
    made = CliRunner().invoke(
        contextwise,
        ["report", *files, "--peers", "--populations", str(folder), "--out", str(page)],
    )
    assert made.exit_code == 0, made.output
    assert "Groups by group" in page.read_text()


def test_enumerated_permutations_of_pairs_are_uniform() -> None:
    """Every order of the labels of two pairs of rows is equally likely, within a subject."""
    rows = [{"who": k // 2, "group": "xy"[k % 2], "A": k, "B": k % 2} for k in range(4)]
    plan = plan_of(rows, subject="who")
    seen = Counter(plan.permuted((0, 1), np.random.default_rng(k)).tobytes() for k in range(2000))
    assert len(seen) == len(list(permutations(range(2)))) ** 2
    assert all(400 < number < 600 for number in seen.values())


def test_domain_of_a_frame_of_categories() -> None:
    domain = Domain({"group": ["x", "y", "z"], "A": 2, "B": 2})
    data = Data(domain, np.array([[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 0]] * 3))
    found = populations(data, "group", MPL(), permutations=19)
    assert [group.name for group in found.groups] == ["x", "y"]
