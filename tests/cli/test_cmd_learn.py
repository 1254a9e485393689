"""``contextwise learn``: every learner, its options, what it writes and says."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

import commands
import contextwise as cw
from contextwise.cli.cmd_learn import RULES
from contextwise.learning import LEARNERS, Trees, learner_named, selection
from contextwise.learning.base import MANNERS
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
        helped = " ".join(run(name, "--help").stdout.split())
        assert f"contextwise learn {name} train.csv" in helped
        described = parameters_of(learner_named(name))
        assert described.keys() >= learner_named(name).defaults().keys() - MANNERS
        for parameter in described.values():
            assert parameter.help, f"{name}: no text for {parameter.name}"


def test_the_rules_are_those_there_are() -> None:
    assert RULES == selection.RULES


@pytest.mark.parametrize("name", [name for name, entry in LEARNERS.items() if not entry.package])
def test_every_learner_writes_what_it_learned(name: str, train: str, tmp_path: Path) -> None:
    out = tmp_path / "learned.json"
    result = run(name, train, "--out", str(out))
    assert result.exit_code == 0
    assert "200 rows, 4 variables: " in result.stderr
    model = cw.read(out)
    expected = learner_named(name)().fit(train)
    assert model.domain == cw.Domain({name: ["no", "yes"] for name in "ABCD"})
    assert model == expected.model_
    assert model.info["description"] == expected.structure_.info["description"]


def test_options_are_parameters(train: str, tmp_path: Path) -> None:
    out = tmp_path / "learned.json"
    options = ["--penalty", "1", "--min-count", "4", "--refit", "l1", "--l1", "2", "--jobs", "2"]
    run("trees", train, "--out", str(out), *options)
    expected = Trees(penalty=1, min_count=4, refit="l1", l1=2.0).fit(train)
    assert cw.read(out) == expected.model_
    assert "refit=l1" in str(cw.read(out).info["description"])


def test_the_domain_of_a_model_and_rows_from_standard_input(train: str, tmp_path: Path) -> None:
    truth, out = tmp_path / "truth.json", tmp_path / "learned.json"
    domain = cw.Domain({name: ["yes", "no", "unknown"] for name in "DCBA"})
    cw.write(cw.Structure(domain), truth)
    data = Path(train).read_bytes()
    run("chow-liu", "-", "--out", str(out), "--domain-from", str(truth), stdin=data)
    assert cw.read(out).domain == domain


def test_variables_with_one_state_are_pointed_out(train: str, tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.data", str(tmp_path / "learned.json")
    rows.write_text("0,1,0\n0,0,0\n")
    said = run("trees", str(rows), "--out", out).stderr
    assert "2 variables with one state in these rows: v0, v2; take the states" in said
    assert "with one state" not in run("trees", train, "--out", out).stderr
    assert "with one state" not in run("trees", str(rows), "--out", out, *_truth(tmp_path)).stderr


def _truth(folder: Path) -> list[str]:
    cw.write(cw.Structure(cw.Domain.of_cardinalities([2, 2, 2])), folder / "truth.json")
    return ["--domain-from", str(folder / "truth.json")]


def test_other_rows_are_scored(train: str, tmp_path: Path) -> None:
    out = str(tmp_path / "learned.json")
    said = run("trees", train, "--out", out, "--valid", train).stderr
    learner = Trees().fit(train)
    assert f"{learner.score(train):.6g} per row" in said
    assert f"{learner.conditional_score(train):.6g} by its own conditionals" in said


def test_a_grid_is_tried_and_the_best_is_written(train: str, tmp_path: Path) -> None:
    out = tmp_path / "learned.json"
    grid = ["--grid", "penalty=1,10,1000", "--grid", "min-count=5,10"]
    said = run("trees", train, "--out", str(out), "--valid", train, *grid).stderr
    assert said.splitlines()[0].split() == ["penalty", "min_count", "features", "pseudo-likelihood"]
    assert sum("best" in line for line in said.splitlines()) == 1
    assert cw.read(out) == Trees(penalty=1, min_count=5).fit(train).model_
    said = run("trees", train, "--out", str(out), "--grid", "penalty=1000,1").stderr
    assert "pseudo-likelihood BIC" in said.splitlines()[0]
    stable = ["--grid", "penalty=1000", "--select-by", "stability"]
    said = run("trees", train, "--out", str(out), *stable).stderr
    assert "only a structure without dependencies is stable at 0.05" in said


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["--select-by", "bic"], "--select-by needs a --grid"),
        (["--grid", "penalty=1", "--select-by", "pseudo-likelihood"], "add --valid"),
        (["--grid", "colour=1"], "the parameters are penalty, min_count"),
        (["--grid", "penalty"], "--grid needs a parameter and its value, as in penalty=1,5,25"),
        (["--grid", "penalty=many"], "'many' is not a valid float"),
        (["--refit", "l7"], "'l7' is not 'l1'"),
        (["--l1", "5"], "--l1 needs --refit"),
        (["--grid", "penalty=1,5", "--l2", "1"], "--l2 needs --refit"),
        (["--grid", "penalty=1,5", "--penalty", "3"], "--penalty and --grid set the same"),
    ],
)
def test_wrong_options_are_said(
    arguments: list[str], match: str, train: str, tmp_path: Path
) -> None:
    result = run("trees", train, "--out", str(tmp_path / "x.json"), *arguments)
    assert result.exit_code == 2
    assert match in " ".join(result.stderr.split())


def test_a_grid_of_refits_gives_penalties_a_meaning(train: str, tmp_path: Path) -> None:
    options = ["--grid", "refit=l1", "--l1", "2"]
    assert run("trees", train, "--out", str(tmp_path / "x.json"), *options).exit_code == 0


def test_errors_say_where_and_nothing_is_written(tmp_path: Path) -> None:
    bad, out = tmp_path / "bad.csv", tmp_path / "learned.json"
    bad.write_text("A,B\n1,0\n?,1\n")
    with pytest.raises(cw.errors.ContextwiseError, match=r"A  1 missing value \(\?; line 3\)"):
        run("trees", str(bad), "--out", str(out))
    assert not out.exists()
    with pytest.raises(cw.errors.ContextwiseError, match="did you mean 'trees'"):
        run("tree", str(bad), "--out", str(out))


def test_what_features_add_to_the_graphs_is_said(train: str, tmp_path: Path) -> None:
    # B and C interact where A=0, but given C=1 A is no neighbour of B: a feature forgets A.
    cells = [(0, 0, 0, 400), (0, 0, 1, 200), (0, 1, 0, 200), (0, 1, 1, 600)]
    cells += [(1, 0, 0, 100), (1, 0, 1, 300), (1, 1, 0, 300), (1, 1, 1, 900)]
    rows = np.repeat([cell[:3] for cell in cells], [cell[3] for cell in cells], axis=0)
    path, out = tmp_path / "rows.csv", str(tmp_path / "learned.json")
    path.write_text("A,B,C\n" + "\n".join(",".join(map(str, row)) for row in rows.tolist()))
    added = learner_named("cspc")().fit(str(path)).added_  # type: ignore[attr-defined]
    assert added > 0
    said = run("cspc", str(path), "--out", out).stderr
    assert f"the features add {added:,} dependencies" in said
    assert "the features add" not in run("edge-trees", train, "--out", out).stderr


def test_a_time_limit_stops_the_learner_and_is_recorded(train: str, tmp_path: Path) -> None:
    out = tmp_path / "learned.json"
    result = run("mpl", train, "--out", str(out), "--time-limit", "0")
    assert result.exit_code == 3
    assert "unfinished: the time limit stopped the learner" in result.stderr
    structure = structure_of(cw.read(out))
    assert "unfinished" in structure.info["description"]
    assert structure.pairs() == []
