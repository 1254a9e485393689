"""Models given by their claims: what they say, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import (
    Claims,
    LogLinear,
    Structure,
    chance,
    check,
    compare,
    compare_many,
    distance_matrix,
    explain,
    track,
    write,
)
from contextwise.comparison.estimate import draw_assertions
from contextwise.comparison.question import pose
from contextwise.convert import to_generators
from contextwise.counting.assertions import answers
from contextwise.counting.contract import ENGINES
from contextwise.distributions import fit, kl_divergence, mean_log_likelihood
from contextwise.errors import ContextwiseError, DomainError, ParseError
from contextwise.formats import encode, read_stream
from contextwise.independence import graph
from contextwise.independence.model_claims import explain_model
from contextwise.models.features import by_pairs
from contextwise.paper import complete_model
from contextwise.report.comparisons import Guess
from contextwise.report.page import report_page
from contextwise.testing import (
    assignments,
    brute_force,
    brute_force_pairs,
    claims,
    contexts_of,
    depends,
    domains,
    families,
    structures,
)
from drawn_rows import sample
from independence_oracle import is_independent

ABC = {"A": 2, "B": 2, "C": 2}
BINARY = [(name, "[0, 1]") for name in "ABC"]


@given(families(2, with_claims=True))
def test_counts_of_claims_are_those_of_brute_force(models: tuple[Structure, ...]) -> None:
    true, guess = models
    wanted = brute_force_pairs(true, guess)
    comparison = compare(true, guess)
    for pair in combinations(true.domain.names, 2):
        assert comparison.pair(*pair) == wanted[pair]


@pytest.mark.parametrize("engine", sorted(ENGINES))
@given(models=families(2, with_claims=True))
def test_every_engine_counts_claims(engine: str, models: tuple[Structure, ...]) -> None:
    if ENGINES[engine].missing():
        pytest.skip(str(ENGINES[engine].missing()))
    assert compare(*models, engine=engine).confusion == brute_force(*models)


@given(structures())
def test_the_claims_of_features_are_at_distance_0(model: Structure) -> None:
    made = Claims.of(model)
    assert compare(model, made).distance == 0
    assert made == Claims(model.domain, by_pairs(model.features))


@given(families(3, with_claims=True))
def test_a_matrix_of_claims(models: tuple[Structure, ...]) -> None:
    exact = [[brute_force(a, b).distance for b in models] for a in models]
    assert distance_matrix(models).distances.tolist() == exact
    assert [c.distance for c in compare_many(models[0], models[1:])] == exact[0][1:]


@given(st.data())
def test_restricting_and_aligning_claims(data: st.DataObject) -> None:
    model = data.draw(claims())
    domain = model.domain
    context = data.draw(assignments(domain))
    restricted = model.restrict(context)
    for pair in combinations(restricted.domain.names, 2):
        for rest in contexts_of(restricted.domain, pair):
            assert depends(restricted, pair, rest) == depends(model, pair, {**rest, **context})
    order = data.draw(st.permutations(domain.names))
    moved = type(domain)({name: domain.states[domain.position(name)] for name in order})
    aligned = model.aligned_to(moved)
    assert isinstance(aligned, Claims)
    assert brute_force(model, aligned.aligned_to(domain)).distance == 0
    assert aligned.aligned_to(domain) == model


@given(families(2, with_claims=True))
def test_a_union_depends_where_either_does(models: tuple[Structure, ...]) -> None:
    a, b = models
    union = a | b
    for pair in combinations(a.domain.names, 2):
        for context in contexts_of(a.domain, pair):
            either = depends(a, pair, context) or depends(b, pair, context)
            assert depends(union, pair, context) == either


@given(claims())
def test_json_keeps_claims(model: Claims) -> None:
    read = read_stream(BytesIO(encode(model, "json")))
    assert isinstance(read, Claims)
    assert read == model


def test_json_keeps_regions_that_others_contain() -> None:
    """A pair that depends everywhere keeps its other regions, so that models stay equal."""
    claims = Claims({"A": 2, "B": 2, "C": 3}, {("A", "B"): ["", "C=0"]})
    assert len(claims) == 2
    assert read_stream(BytesIO(encode(claims, "json"))) == claims


@given(families(2, with_claims=True))
def test_regions_of_an_explanation_add_up(models: tuple[Structure, ...]) -> None:
    explanation = explain(*models)
    wanted = brute_force_pairs(*models)
    for pair in explanation.pairs:
        counts = wanted[pair.pair]
        sizes = {
            kind: sum(r.size for r in pair.regions if r.only_in == kind)
            for kind in ("true", "guess")
        }
        assert (pair.fn, pair.fp) == (counts.fn, counts.fp)
        assert sum(sizes.values()) + pair.rest == counts.distance
        for region in pair.regions:  # the models differ in exactly these contexts
            inside = [
                (depends(models[0], pair.pair, context), depends(models[1], pair.pair, context))
                for context in contexts_of(models[0].domain, pair.pair)
                if all((context[v] in s) != n for v, s, n in region.region)
            ]
            assert len(inside) == region.size
            assert {*inside} == {(region.only_in == "true", region.only_in == "guess")}
    assert not (explanation.features and any(isinstance(m, Claims) for m in models))


@given(st.data())
def test_queries_about_claims_are_separations(data: st.DataObject) -> None:
    """Claims of features answer every query as the features do."""
    model = data.draw(structures(domains(min_variables=2, max_variables=4, max_states=3)))
    made = Claims.of(model)
    names = list(model.domain.names)
    first, second = data.draw(st.permutations(names))[:2]
    others = [name for name in names if name not in (first, second)]
    given_names = data.draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    wanted = is_independent(model, first, second, given=given_names)
    assert is_independent(made, first, second, given=given_names) == wanted
    assert complete_model(model) == complete_model(made)


@given(claims(domains(min_variables=2, max_variables=4)))
def test_independencies_of_claims(model: Claims) -> None:
    explained = explain_model(model, top=100)
    for claims_of in explained.listed:
        independent = sum(
            not depends(model, claims_of.pair, context)
            for context in contexts_of(model.domain, claims_of.pair)
        )
        listed = sum(one.size for one in claims_of.independent)
        assert claims_of.independent_contexts == independent == listed


@given(families(2, with_claims=True))
def test_answers_of_claims_to_drawn_assertions(models: tuple[Structure, ...]) -> None:
    if len(models[0].domain) < 2:
        return
    question = pose(models)
    sample = draw_assertions(question, 2**12)
    first, second = (answers(model.features, sample)[0] for model in question.structures)
    share = int.from_bytes((first ^ second).tobytes()).bit_count() / len(sample)
    assert abs(share - distance_matrix(models).normalized[0, 1]) < 0.1


@pytest.mark.parametrize(
    ("regions", "message"),
    [
        ({("A", "B"): ["A=0"]}, "mentions 'A', one of the two"),
        ({("A", "B"): ["C=7"]}, "no state '7'"),
        ({("A", "B"): True, ("B", "A"): True}, "given twice"),
        ({("A", "B"): "C=0"}, "must be True, False or a list of contexts"),
        ({("A", "D"): True}, "one state, so it depends on nothing"),
        ({("A", "E"): True}, "'E'"),
        ([("A", "B")], "as a mapping"),
    ],
)
def test_bad_regions_are_refused(regions: Any, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        Claims({**ABC, "D": 1}, regions)


def test_what_needs_features_refuses_claims(tmp_path: Path) -> None:
    model = Claims(ABC, {("A", "B"): ["C=0"]})
    rows = [("0", "1", "0"), ("1", "1", "1")] * 10
    with_weights = LogLinear(Structure(ABC, ["A=1 & B=1"]), [1.0])
    refused: list[Callable[[], object]] = [
        lambda: compare(model, model, contexts="canonical"),
        lambda: track(Structure(ABC), model),
        lambda: check(model, rows, overall=99),
        lambda: fit(model, rows),
        lambda: LogLinear(model, [1.0]),
        lambda: write(model, tmp_path / "claims.mn"),
        lambda: to_generators(model),
        lambda: sample(model, 5, seed=0),
        lambda: mean_log_likelihood(model, rows),
        lambda: kl_divergence(with_weights, model),
    ]
    for needs in refused:
        with pytest.raises(ContextwiseError, match="needs features"):
            needs()
    assert not list(tmp_path.iterdir())
    assert track(model, Structure(ABC)).distance == 1
    assert chance(model, Structure(ABC, ["A=1 & B=1"]), draws=9).distance == 1
    assert check(model, rows).claims


def test_the_null_variables_moves_claims() -> None:
    true = Claims(dict.fromkeys("ABCDE", 2), {("A", "B"): ["C=0"], ("D", "E"): ["A=1 & B=0"]})
    result = chance(true, true, draws=99)
    assert result.distance == 0
    assert result.expected > 0


@given(families(2, with_claims=True))
def test_plots_reports_and_texts_show_claims(models: tuple[Structure, ...]) -> None:
    comparison = compare(*models)
    for model in models:
        shown = f"{model!r}{model._repr_html_()}"
        assert ("region" in repr(model)) == isinstance(model, Claims)
        assert "Traceback" not in shown
    page = report_page("true", [Guess("guess", comparison, explanation=explain(*models))])
    assert page.startswith("<!doctype html>") or "<html" in page
    assert str(comparison)


@given(claims(domains(min_variables=2)), st.data())
def test_the_graph_in_a_context_has_the_regions_that_it_allows(
    model: Claims, data: st.DataObject
) -> None:
    context = data.draw(assignments(model.domain))
    shown = {frozenset(edge) for edge in graph(model, context).edges}
    for pair in combinations(model.domain.names, 2):
        some = not set(pair) & set(context) and any(
            depends(model, pair, every)
            for every in contexts_of(model.domain, pair)
            if context.items() <= every.items()
        )
        assert (frozenset(pair) in shown) == some


@given(claims(), st.data())
def test_renaming_keeps_claims(model: Claims, data: st.DataObject) -> None:
    names = {name: f"new {name}" for name in model.domain.names}
    renamed = model.renamed(names)
    assert isinstance(renamed, Claims)
    assert [(names[a], names[b]) for a, b in model.pairs()] == renamed.pairs()
    assert compare(model, renamed, align="position").distance == 0
    assert renamed.renamed({new: old for old, new in names.items()}) == model


def test_rows_of_claims_cannot_be_written() -> None:
    pairs = Claims(ABC, {("A", "B"): ["C=0"]}).features.pairs
    assert pairs is not None
    with pytest.raises(ValueError, match="read-only"):
        pairs[0, 0] = 2


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ('{"pair": ["A", "B"], "where": ["A=0"]}', "mentions 'A', one of the two"),
        ('{"pair": ["A", "B"], "where": ["C=7"]}', "no state '7'"),
        ('{"pair": ["A", "B"], "where": "C=0"}', "must be True, False or a list"),
        ('{"pair": ["A"], "where": true}', "two different variables"),
        ('{"pair": ["A", "B"]}', "the key 'where' is missing"),
        ('{"pair": ["A", "B"], "where": []}, {"pair": ["B", "A"], "where": []}', "listed twice"),
        ('{"pair": ["A", "D"], "where": true}', "one state"),
    ],
)
def test_bad_claims_in_files_are_refused(claim: str, message: str) -> None:
    states = (f'{{"name": "{name}", "states": {n}}}' for name, n in (*BINARY, ("D", "[0]")))
    text = (
        f'{{"format": "contextwise", "version": 1, "variables": [{", ".join(states)}],'
        f'\n"claims": [{claim}]}}'
    )
    with pytest.raises(ParseError, match=f"2: claims.*{re.escape(message)}"):
        read_stream(BytesIO(text.encode()))


def test_literals_of_one_variable_in_a_file_hold_together() -> None:
    def read_claim(context: str) -> Any:
        document = {
            "format": "contextwise",
            "version": 1,
            "variables": [{"name": name, "states": list("012")} for name in "ABC"],
            "claims": [{"pair": ["A", "B"], "where": [context]}],
        }
        return read_stream(BytesIO(json.dumps(document).encode()))

    expected = Claims({"A": 3, "B": 3, "C": 3}, {("A", "B"): ["C=2"]})
    assert read_claim("C≠0 & C≠1") == expected
    with pytest.raises(ParseError, match="leaves no state of"):
        read_claim("C=0 & C=1")
