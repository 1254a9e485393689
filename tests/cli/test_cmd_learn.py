"""``contextwise learn``: every learner, its options, what it writes and says."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

import commands
import contextwise as cw
from contextwise.learning import DEFAULT_LEARNER, LEARNERS, Trees, learner_named
from contextwise.learning.parameters import parameters_of
from contextwise.models.structure import structure_of

RNG = np.random.default_rng(6)
ROWS = RNG.integers(0, 2, (200, 4))
ROWS[:, 1] = ROWS[:, 0] ^ (RNG.random(200) < 0.1)


run = partial(commands.run, "learn")


@pytest.fixture(name="train")
def _train(tmp_path: Path) -> str:
    path = tmp_path / "train.csv"
    lines = [",".join(["no", "yes"][cell] for cell in row) for row in ROWS.tolist()]
    path.write_text("\n".join(["A,B,C,D", *lines]) + "\n")
    return str(path)


def test_every_learner_is_listed_and_has_help_for_every_option() -> None:
    out = run("--help").stdout
    for name, entry in LEARNERS.items():
        assert f"\n  {name} " in out
        assert " ".join(entry.summary.split()) in " ".join(out.split())
        helped = " ".join(run("--learner", name, "--help").stdout.split())
        assert "contextwise learn train.csv" in helped
        assert name == DEFAULT_LEARNER or f"train.csv --learner {name}" in helped
        described = parameters_of(learner_named(name))
        constraints = {"require", "forbid", "order"}  # options of their own
        assert described.keys() >= learner_named(name).defaults().keys() - constraints
        for parameter in described.values():
            assert parameter.help, f"{name}: no text for {parameter.name}"


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.filterwarnings("ignore::contextwise.formats.reading.FormatWarning")
def test_a_bif_file_is_written_or_refused_before_the_work(
    train: str, tmp_path: Path, learner: str
) -> None:
    out = tmp_path / "learned.bif"
    if not learner_named(learner).makes_network:
        refused = run("no-such-rows.csv", "--learner", learner, "--out", str(out))
        assert refused.exit_code == 2
        assert f"{learner} learns no tables of a Bayesian network" in refused.stderr
        return
    if learner == "pyagrum":
        pytest.importorskip("pyagrum")
    assert run(train, "--learner", learner, "--out", str(out)).exit_code == 0
    assert cw.read(out).directions is not None


def test_an_interrupt_writes_the_best_so_far(
    train: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("contextwise.learning.pair_blocks._Search.find_contexts", interrupt)
    out = tmp_path / "learned.json"
    result = run(train, "--out", str(out))
    assert result.exit_code != 0
    assert "unfinished: the learner was stopped" in result.stderr
    assert ("A", "B") in structure_of(cw.read(out)).pairs()


@pytest.mark.parametrize("name", [name for name, entry in LEARNERS.items() if not entry.package])
def test_every_learner_writes_what_it_learned(name: str, train: str, tmp_path: Path) -> None:
    out = tmp_path / "learned.json"
    result = run(train, "--learner", name, "--out", str(out))
    assert result.exit_code == 0
    assert "200 rows, 4 variables: " in result.stderr
    model = cw.read(out)
    expected = learner_named(name)().fit(train)
    assert model.domain == cw.Domain({name: ["no", "yes"] for name in "ABCD"})
    assert model == expected.model_
    assert model.origin.learned == expected.structure_.origin.learned


def test_options_are_parameters(train: str, tmp_path: Path) -> None:
    out = tmp_path / "learned.json"
    learner = "trees:penalty=1:min-count=4:refit=l1:l1=2"
    run(train, "--learner", learner, "--out", str(out), "--jobs", "2")
    expected = Trees(penalty=1, min_count=4, refit="l1", l1=2.0).fit(train)
    assert cw.read(out) == expected.model_
    assert "refit=l1" in cw.read(out).origin.words


def test_the_domain_of_a_model_and_rows_from_standard_input(train: str, tmp_path: Path) -> None:
    truth, out = tmp_path / "truth.json", tmp_path / "learned.json"
    domain = cw.Domain({name: ["yes", "no", "unknown"] for name in "DCBA"})
    cw.write(cw.Structure(domain), truth)
    data = Path(train).read_bytes()
    run("-", "--learner", "chow-liu", "--out", str(out), "--domain-from", str(truth), stdin=data)
    assert cw.read(out).domain == domain


def test_variables_with_one_state_are_pointed_out(train: str, tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.data", str(tmp_path / "learned.json")
    rows.write_text("0,1,0\n0,0,0\n")
    said = run(str(rows), "--learner", "trees", "--out", out).stderr
    assert "2 variables with one state in these rows: v0, v2; take the states" in said
    assert "with one state" not in run(train, "--learner", "trees", "--out", out).stderr
    assert (
        "with one state"
        not in run(str(rows), "--learner", "trees", "--out", out, *_truth(tmp_path)).stderr
    )


def _truth(folder: Path) -> list[str]:
    cw.write(cw.Structure(cw.Domain.of_cardinalities([2, 2, 2])), folder / "truth.json")
    return ["--domain-from", str(folder / "truth.json")]


def test_other_rows_are_scored(train: str, tmp_path: Path) -> None:
    out = str(tmp_path / "learned.json")
    said = run(train, "--learner", "trees", "--out", out, "--valid", train).stderr
    learner = Trees().fit(train)
    assert f"{learner.score(train):.6g} per row" in said
    assert f"{learner.conditional_score(train):.6g} by its own conditionals" in said


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["--penalty", "3"], "a parameter follows the name of the learner: --learner NAME:penalty"),
    ],
)
def test_wrong_options_are_said(
    arguments: list[str], match: str, train: str, tmp_path: Path
) -> None:
    result = run(train, "--learner", "trees", "--out", str(tmp_path / "x.json"), *arguments)
    assert result.exit_code == 2
    assert match in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("learner", "match"),
    [
        ("trees:penalty=many", "penalty must be a number, got 'many'"),
        ("trees:refit=l7", "refit must be one of l1, got 'l7'"),
        ("trees:colour=1", "its parameters are penalty, min_count"),
        ("trees:=3", "needs parameters with values, as in trees:penalty=10"),
        ("trees:penalty=1:penalty=2", "trees: penalty is set twice"),
        ("mylib.py:Mine", "name the module without .py: mylib:Mine"),
        ("mylib_not_there:Mine", "there is no module 'mylib_not_there'"),
        ("math:floored", "the module math has no 'floored'"),
    ],
)
def test_what_is_no_learner_or_no_value(
    learner: str, match: str, train: str, tmp_path: Path
) -> None:
    with pytest.raises(cw.errors.ContextwiseError, match=match):
        run(train, "--learner", learner, "--out", str(tmp_path / "x.json"))


def test_the_default_learner_needs_no_name(train: str, tmp_path: Path) -> None:
    out = tmp_path / "learned.json"
    assert run(train, "--out", str(out)).exit_code == 0
    learned = cw.learn(train)
    assert learned.name == DEFAULT_LEARNER
    known = cw.read(out).origin.learned
    assert known is not None
    assert known.learner == learned.chosen_.name in ("pair-blocks", "acyclic-trees")
    assert known.reason == learned.reason_ != ""


def test_pairs_are_required_and_forbidden(train: str, tmp_path: Path) -> None:
    out = tmp_path / "learned.json"
    constraints = ["--forbid", "A,B", "--require", "C,D"]
    run(train, "--learner", "pair-blocks", "--out", str(out), *constraints)
    pairs = structure_of(cw.read(out)).pairs()
    assert ("C", "D") in pairs
    assert ("A", "B") not in pairs
    result = run(train, "--learner", "trees", "--out", str(out), "--forbid", "A,B")
    assert (
        "trees has no --forbid; choose --learner best-of-two, pair-blocks or acyclic-trees"
        in result.stderr
    )


def test_an_order_is_for_directed_learners(train: str, tmp_path: Path) -> None:
    out = tmp_path / "learned.json"
    for order in ("A,B,C,D", "D,C,B,A"):
        run(train, "--learner", "acyclic-trees", "--out", str(out), "--order", order)
        directions = structure_of(cw.read(out)).directions
        assert directions is not None
        places = [cw.read(out).domain.position(name) for name in order.split(",")]
        for k, early in enumerate(places):
            assert not {*places[k:]} & {*directions.parents[early]}
    result = run(train, "--out", str(out), "--order", "A,B")
    assert "best-of-two has no --order; choose --learner acyclic-trees" in result.stderr


def test_the_name_of_a_learner_is_an_option_now() -> None:
    result = run("trees", "rows.csv", "--out", "x.json")
    assert result.exit_code == 2
    assert "contextwise learn rows.csv --learner trees" in result.stderr


def test_errors_say_where_and_nothing_is_written(tmp_path: Path) -> None:
    bad, out = tmp_path / "bad.csv", tmp_path / "learned.json"
    bad.write_text("A,B\n1,0\n?,1\n")
    with pytest.raises(cw.errors.ContextwiseError, match=r"A  1 missing value \(\?; line 3\)"):
        run(str(bad), "--learner", "trees", "--out", str(out))
    assert not out.exists()
    with pytest.raises(cw.errors.ContextwiseError, match="did you mean 'trees'"):
        run(str(bad), "--learner", "tree", "--out", str(out))


def test_what_features_add_to_the_graphs_is_said(train: str, tmp_path: Path) -> None:
    # B and C interact where A=0, but given C=1 A is no neighbour of B: a feature forgets A.
    cells = [(0, 0, 0, 400), (0, 0, 1, 200), (0, 1, 0, 200), (0, 1, 1, 600)]
    cells += [(1, 0, 0, 100), (1, 0, 1, 300), (1, 1, 0, 300), (1, 1, 1, 900)]
    rows = np.repeat([cell[:3] for cell in cells], [cell[3] for cell in cells], axis=0)
    path, out = tmp_path / "rows.csv", str(tmp_path / "learned.json")
    path.write_text("A,B,C\n" + "\n".join(",".join(map(str, row)) for row in rows.tolist()))
    added = learner_named("cspc")().fit(str(path)).added_  # type: ignore[attr-defined]
    assert added > 0
    said = run(str(path), "--learner", "cspc", "--out", out).stderr
    assert f"the features add {added:,} dependencies" in said
    assert "the features add" not in run(train, "--learner", "pair-blocks", "--out", out).stderr


def test_a_time_limit_stops_the_learner_and_is_recorded(train: str, tmp_path: Path) -> None:
    out = tmp_path / "learned.json"
    result = run(train, "--learner", "mpl", "--out", str(out), "--time-limit", "0")
    assert result.exit_code == 3
    assert "unfinished: the learner was stopped" in result.stderr
    structure = structure_of(cw.read(out))
    assert "unfinished" in structure.origin.words
    assert structure.pairs() == []
