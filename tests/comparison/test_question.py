"""Restricted comparisons: every function and command answers the same question.

Also comparisons of a truth with names and a guess without, and the ways to pass a model.
"""

from __future__ import annotations

import csv
import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise import (
    Domain,
    LogLinear,
    Structure,
    compare,
    compare_many,
    distance_matrix,
    examples,
    explain,
    read,
    write,
)
from contextwise.cli import contextwise
from contextwise.comparison.matrix import farthest_first
from contextwise.comparison.question import pose
from contextwise.errors import ContextwiseError, DomainError
from contextwise.formats import as_log_linear, as_model, as_structure
from contextwise.models.domain import label_of
from contextwise.testing import assignments, brute_force_pairs, families, rows, structures
from independence_oracle import is_independent

Models = tuple[Structure, Structure]


@st.composite
def restrictions(draw: st.DrawFn, domain: Domain) -> dict[str, Any]:
    """Keywords of a restricted comparison."""
    names = st.sampled_from(domain.names) if len(domain) else st.nothing()
    chosen: dict[str, Any] = {"contexts": draw(st.sampled_from(["canonical", None]))}
    if not chosen["contexts"]:
        del chosen["contexts"]
    if draw(st.booleans()):
        chosen["context"] = draw(assignments(domain))
    if draw(st.booleans()):
        chosen["variables"] = draw(st.lists(names, unique=True))
    elif draw(st.booleans()):
        each = list(combinations(domain.names, 2))
        chosen["pairs"] = draw(st.lists(st.sampled_from(each))) if each else []
    if draw(st.booleans()):
        chosen["data"] = draw(rows(domain))
    elif draw(st.booleans()) and len(domain):
        weights = draw(st.integers(1, 5))
        first = domain.cardinalities[0]
        shares = [weights] + [1] * (first - 1)
        chosen["weights"] = {domain.names[0]: [f"{w}/{sum(shares)}" for w in shares]}
    return chosen


@given(models=families(3), data=st.data())
@settings(max_examples=150)
def test_many_models_answer_the_same_question(models: Any, data: st.DataObject) -> None:
    true, *guesses = models
    restriction = data.draw(restrictions(true.domain))
    one_by_one = [compare(true, guess, **restriction) for guess in guesses]
    at_once = compare_many(true, guesses, **restriction)
    for alone, together in zip(one_by_one, at_once, strict=True):
        assert together.confusion == alone.confusion
        assert together.counts.tolist() == alone.counts.tolist()
        assert together.pairs.tolist() == alone.pairs.tolist()
    matrix = distance_matrix(models, **restriction)
    assert matrix.distances[0].tolist() == [0, *(c.distance for c in one_by_one)]
    assert matrix.total == one_by_one[0].total
    _, (_, farthest) = farthest_first(models, 2, **restriction)
    assert farthest == max(comparison.distance for comparison in one_by_one)


@given(models=families(2), data=st.data())
def test_an_explanation_is_of_the_same_question(models: Models, data: st.DataObject) -> None:
    restriction = data.draw(restrictions(models[0].domain))
    asked = compare(*models, **restriction)
    found = explain(*models, top=1000, **restriction)
    assert found.comparison.confusion == asked.confusion
    assert sum(pair.fp for pair in found.pairs) == asked.fp
    assert sum(pair.fn for pair in found.pairs) == asked.fn


@given(models=families(2), data=st.data())
def test_pairs_and_variables_leave_the_others_out(models: Models, data: st.DataObject) -> None:
    names = models[0].domain.names
    chosen = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    inside = [pair for pair in combinations(names, 2) if set(pair) <= set(chosen)]
    every = brute_force_pairs(*models)
    found = compare(*models, variables=chosen)
    assert found.question.pair_count == len(inside)
    assert found.distance == sum(every[pair].distance for pair in inside)
    assert found.confusion == compare(*models, pairs=inside).confusion


def test_zero_weights_are_dropped_in_objects_too() -> None:
    true = LogLinear(Structure({"A": 2, "B": 2}, ["A=1 & B=1", "A=1"]), [0.0, 1.0])
    guess = Structure(true.domain)
    assert compare(true, guess).distance == 1
    assert compare(true, guess, zero_weights="drop").distance == 0


def test_a_restriction_of_another_name_is_refused() -> None:
    with pytest.raises(TypeError, match="pair"):
        compare("lung", "lung-learned", pair=("smoker", "cancer"))  # type: ignore[call-arg]


def test_a_time_limit_leaves_bounds_in_a_matrix() -> None:
    from contextwise.errors import OpenResult
    from contextwise.testing import random_structure

    domain = Domain.of_cardinalities([2] * 60)
    models = [random_structure(domain, features=400, lengths=(6, 9), seed=seed) for seed in (1, 2)]
    found = distance_matrix(models, time_limit=0.0, engine="branch")
    assert found.open_distances == 1
    assert found.lower[0, 1] < found.upper[0, 1]
    with pytest.raises(OpenResult, match="1 of 1 distances are unfinished"):
        _ = found.distances


# -- by position ---------------------------------------------------------------------------------


def nameless(structure: Structure) -> Structure:
    """The same features over variables and states that are called by their places."""
    plain = Domain.of_cardinalities(structure.domain.cardinalities)
    return Structure(plain, structure.features)


@given(models=families(2))
def test_by_position_names_do_not_matter(models: Models) -> None:
    true, guess = models
    found = compare(true, nameless(guess), align="position")
    assert found.confusion == compare(true, guess).confusion
    assert found.domain == true.domain
    assert found.guess == guess
    assert found.question.align == "position"


@given(model=structures())
def test_renaming_and_back(model: Structure) -> None:
    plain = nameless(model)
    states = {f"v{k}": own for k, own in enumerate(model.domain.states)}
    names = {f"v{k}": name for k, name in enumerate(model.domain.names)}
    assert plain.renamed(states=states).renamed(names) == model
    assert plain.aligned_to(model.domain, align="position") == model


def test_weights_follow_a_renaming() -> None:
    model = LogLinear(Structure({"v0": 2, "v1": 2}, ["v0=1 & v1=0", "v1=1"]), [2.0, 3.0])
    domain = Domain({"smoker": ["no", "yes"], "ill": ["no", "yes"]})
    expected = LogLinear(Structure(domain, ["smoker=yes & ill=no", "ill=yes"]), [2.0, 3.0])
    assert model.aligned_to(domain, align="position") == expected
    renamed = model.renamed(
        {"v0": "smoker", "v1": "ill"}, states={"v0": ["no", "yes"], "v1": {0: "no", 1: "yes"}}
    )
    assert renamed == expected


def test_the_error_names_the_way_out_only_where_there_is_one() -> None:
    named = Structure({"A": 2, "B": ["no", "yes"]}, ["A=1 & B=yes"])
    with pytest.raises(DomainError, match=r"--by-position .* align='position'"):
        compare(named, Structure({"v0": 2, "v1": 2}))
    with pytest.raises(DomainError, match=r"different states .* --by-position"):
        compare(named, Structure({"A": 2, "B": 2}))
    with pytest.raises(DomainError) as caught:
        compare(named, Structure({"v0": 2, "v1": 3}))
    assert "position" not in str(caught.value)
    with pytest.raises(DomainError, match=r"variable number 2, 'B', has 2 states .* 'v1' has 3"):
        compare(named, Structure({"v0": 2, "v1": 3}), align="position")
    with pytest.raises(DomainError, match="the first has 2 variables, the second 1"):
        compare(named, Structure({"v0": 2}), align="position")
    with pytest.raises(DomainError, match="align must be 'names' or 'position'"):
        compare(named, named, align="place")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ({"v0": ["no"]}, "has 2 states and needs as many new labels"),
        ({"v0": "no"}, "has 2 states and needs as many new labels"),
        ({"v0": ["no", "no"]}, "has the state 'no' twice"),
        ({"v0": {2: "no"}}, "has no state '2'"),
        ({"v9": ["no", "yes"]}, "unknown variable 'v9'"),
    ],
)
def test_a_renaming_that_cannot_be_is_named(labels: Any, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        Domain({"v0": 2}).renamed(states=labels)


# -- the whole story, from the command line ------------------------------------------------------


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(as_model("lung"), tmp_path / "truth.json")
    return tmp_path


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(contextwise, list(arguments))
    if isinstance(result.exception, ContextwiseError) and code == 2:
        return result
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def learn_elsewhere(data: Path, out: Path) -> None:
    """What Libra does: from codes without names to a model without names."""
    lines = csv.reader(data.read_text().splitlines())
    codes = np.array([[int(cell) for cell in row] for row in lines])
    domain = Domain.of_cardinalities(codes.max(axis=0) + 1)
    pairs = combinations(domain.names, 2)
    write(Structure(domain, [{first: 1, second: 1} for first, second in pairs]), out)


def test_a_truth_with_names_and_what_was_learned_from_its_samples(folder: Path) -> None:
    run("sample", "truth.json", "-n", "200", "--seed", "1", "--out", "train.data")
    lines = Path("train.data").read_text().splitlines()
    assert len(lines) == 200
    assert set("".join(lines)) <= set("01,")
    learn_elsewhere(folder / "train.data", folder / "learned.mn")

    refused = run("compare", "truth.json", "learned.mn", code=2)
    assert "--by-position" in str(refused.exception)

    learned = as_structure("learned.mn").aligned_to(as_structure("lung").domain, align="position")
    expected = compare("lung", learned)
    both = ("truth.json", "learned.mn", "--by-position")
    text = run("compare", *both).stdout
    assert "aligned by position, not by name" in text
    assert "smoker – asbestos" in text
    said = run("explain", *both).stdout
    assert re.search("smoker – asbestos +50 % +only in guess +50 % +cancer=no", said)
    record = json.loads(run("compare", *both, "--json").stdout)
    assert record["by_position"] is True
    assert record["distance"] == expected.distance
    matrix = json.loads(run("matrix", *both, "--json").stdout)
    assert matrix["by_position"] is True
    assert matrix["distances"][0][1] == expected.distance
    assert "aligned by position" in run("matrix", *both).stdout
    run("report", *both, "--out", "page.html")
    page = Path("page.html").read_text()
    assert "asbestos" in page
    assert "v0" not in page

    run("convert", "learned.mn", "named.json", "--names-from", "truth.json")
    assert as_structure("named.json") == learned
    assert read("named.json").domain == as_structure("lung").domain


@pytest.mark.usefixtures("folder")
class TestCommands:
    RESTRICTED = ("--context", "smoker=yes", "--pairs", "asbestos,cancer")

    @pytest.mark.parametrize(
        "command",
        [
            ("compare", "lung", "lung-learned"),
            ("explain", "lung", "lung-learned"),
            ("matrix", "lung", "lung-learned"),
            ("report", "lung", "lung-learned", "--out", "page.html"),
        ],
    )
    def test_all_take_the_same_options(self, command: tuple[str, ...]) -> None:
        run(*command, *self.RESTRICTED)
        run(*command, "--variables", "smoker,cancer", "--contexts", "canonical")
        run(*command, "--zero-weights", "drop", "--by-position", "--time-limit", "50")
        Path("rows.csv").write_text("smoker,asbestos,cancer\nyes,yes,yes\nno,yes,no\n")
        run(*command, "--contexts-of", "rows.csv")
        Path("weights.json").write_text('{"smoker": {"no": 0.7, "yes": 0.3}}')
        run(*command, "--weights", "weights.json")

    def test_weights_are_read_exactly(self) -> None:
        Path("weights.json").write_text('{"smoker": [0.1, 0.9]}')
        options = ("lung", "lung-learned", "--weights", "weights.json", "--json")
        record = json.loads(run("compare", *options).stdout)
        expected = compare("lung", "lung-learned", weights={"smoker": [0.1, 0.9]})
        assert record["distance"] == str(expected.distance)
        Path("weights.json").write_text("[1]")
        refused = run("compare", *options, code=2)
        assert "weights.json" in str(refused.exception)
        Path("weights.json").write_text("{")
        assert "JSON" in str(run("compare", *options, code=2).exception)

    @pytest.mark.parametrize("command", ["compare", "explain", "matrix"])
    @pytest.mark.parametrize(
        "restriction",
        [("--variables", "smoker"), ("--context", "smoker=yes, cancer=no")],
    )
    def test_nothing_compared_is_trouble(self, command: str, restriction: tuple[str, str]) -> None:
        refused = run(command, "lung", "lung-learned", *restriction, code=2)
        assert "there is nothing to compare" in str(refused.exception)

    def test_rows_that_none_agree_with_the_context_are_trouble(self) -> None:
        Path("rows.csv").write_text("smoker,asbestos,cancer\nyes,yes,yes\n")
        options = ("--contexts-of", "rows.csv", "--context", "smoker=no")
        refused = run("compare", "lung", "lung-learned", *options, "--exit-code", code=2)
        assert "no row of the data agrees" in str(refused.exception)


# -- how models are given ------------------------------------------------------------------------


def test_a_model_is_an_object_a_path_or_an_example(tmp_path: Path) -> None:
    lung = examples.load("lung")
    write(lung, tmp_path / "lung.json")
    given: list[Any] = [lung, tmp_path / "lung.json", str(tmp_path / "lung.json"), "lung"]
    for model in given:
        assert as_model(model) == lung
        assert as_structure(model) == as_structure(lung)
        assert as_log_linear(model) == lung
        assert compare(model, "lung-learned").distance == 2
        assert is_independent(model, "smoker", "asbestos", context="cancer=no")


def test_functions_of_distributions_take_files_too(tmp_path: Path) -> None:
    from contextwise import distributions as d

    write(examples.load("lung"), tmp_path / "lung.json")
    for model in ("lung", tmp_path / "lung.json"):
        assert d.marginal(model, "smoker").tolist() == d.marginal("lung", "smoker").tolist()
        assert d.kl_divergence(model, "lung").value == pytest.approx(0, abs=1e-12)
        assert len(d.sample(model, 3, seed=1)) == 3
        assert len(d.fit(model, d.sample(model, 50, seed=1)).model) == len(as_model("lung"))


def test_what_is_no_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(ContextwiseError, match="no such file or example"):
        compare("lung", "lungs")
    with pytest.raises(ContextwiseError, match="'int' is not a model"):
        compare("lung", 7)  # type: ignore[arg-type]
    with pytest.raises(ContextwiseError, match="survey: this model has no weights"):
        as_log_linear("survey")
    with pytest.raises(ContextwiseError, match="zero_weights must be 'keep' or 'drop'"):
        as_model("lung", zero_weights="lose")  # type: ignore[arg-type]


def test_a_question_needs_a_model() -> None:
    with pytest.raises(ContextwiseError, match="at least one"):
        pose([])


def test_labels() -> None:
    assert [label_of(state) for state in (1, 1.0, np.float64(2.0), "1.0")] == ["1", "1", "2", "1.0"]
    for bad in (1.5, float("nan"), float("inf"), None):
        with pytest.raises(DomainError, match="is not a state"):
            label_of(bad)


def test_weights_that_are_none() -> None:
    with pytest.raises(DomainError, match="weights must be one number for each feature, got None"):
        LogLinear(Structure({"A": 2}, ["A=1"]), None)  # type: ignore[arg-type]
    with pytest.raises(DomainError, match=r"one weight per feature \(1\), got 2"):
        LogLinear(Structure({"A": 2}, ["A=1"]), [1.0, 2.0])


def test_a_variable_has_the_contexts_of_its_pairs() -> None:
    """Also where some cardinalities are equal and others are not."""
    domain = Domain({"A": 2, "B": 2, "C": 3, "D": 2, "E": 5})
    question = pose([Structure(domain), Structure(domain)])
    pairs = question.asked_pairs
    sizes = question.sizes(pairs)
    of_variable = [
        sum(size for pair, size in zip(pairs.tolist(), sizes, strict=True) if v in pair)
        for v in range(len(domain))
    ]
    assert question.variable_sizes() == of_variable
    assert sum(of_variable) == 2 * question.total
