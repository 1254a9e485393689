"""One model: the verdict, its sentences and their evidence, pictures and the page."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from commands import run
from contextwise import Domain, Structure, check, learn, read, write
from contextwise.convert import from_generators
from contextwise.data.rows import as_data
from contextwise.independence.model_claims import explain_model
from contextwise.models.directions import bayesian_network
from contextwise.models.structure import structure_of
from contextwise.report.page import model_page
from contextwise.report.parts import Note, Share, Table
from contextwise.report.pictures import arcs_of, one_pictures, packed_one
from contextwise.report.plots import plot_structure
from contextwise.report.shares import Graph, shares_of
from contextwise.report.structures import (
    OneModel,
    one_model,
    one_model_parts,
    pairs_table,
    sentence,
    verdict,
)
from contextwise.report.text import as_text, text_of
from contextwise.testing import contexts_of, depends, structures

EDGES = "[class sex][class age][class survived][sex survived]"
AGE = [
    f"age={age} & survived={lived} & class!=3rd"
    for age in ("adult", "child")
    for lived in ("no", "yes")
]
TITANIC = from_generators(EDGES, as_data("titanic").domain)
TITANIC = TITANIC | Structure(TITANIC.domain, AGE)
MADE = datetime(2024, 5, 17, 12)


def tables(one: OneModel) -> dict[str, Table]:
    return {part.key: part for part in one_model_parts(one) if isinstance(part, Table)}


def test_the_verdict_names_the_pair_that_depends_only_somewhere() -> None:
    expected = "4 variables, 5 of 6 pairs depend; age and survived only when class≠3rd."
    assert verdict(one_model(TITANIC)) == expected
    assert text_of(TITANIC).startswith(expected)


@pytest.mark.parametrize(
    ("domain", "features", "words"),
    [
        ({}, [], "The model has 0 variables, so there is no pair to depend."),
        ({"A": 2}, ["A=1"], "The model has 1 variable, so there is no pair to depend."),
        ({"A": 2, "B": 2}, [], "2 variables, and no pair depends."),
        ({"A": 2, "B": 2}, ["A=1 & B=1"], "2 variables, 1 of 1 pair depends, in every context."),
        (
            {"A": 2, "B": 2, "C": ["no", "yes"]},
            ["A=1 & B=1 & C=yes", "A=1 & C=yes", "B=1 & C=yes"],
            "3 variables, 3 of 3 pairs depend; A and B only when C=yes.",
        ),
        (
            {"A": 2, "B": 2, "C": 3, "D": 2},
            ["A=1 & B=1 & C=0", "A=1 & B=1 & D=1", "C=1 & D=1", "A=1 & C=0", "B=1 & C=0"],
            "4 variables, 6 of 6 pairs depend, 3 of them in some contexts only; A and D, for "
            "example, only when B=1.",
        ),
    ],
)
def test_verdicts(domain: dict[str, int], features: list[str], words: str) -> None:
    one = one_model(Structure(domain, features))
    assert verdict(one) == words
    assert not re.search(r"\b(true|guess)\b", as_text(one_model_parts(one)))


@given(structures())
def test_every_number_and_sentence_agrees_with_brute_force(structure: Structure) -> None:
    one = one_model(structure, top=100)
    names = structure.domain.names
    somewhere = partly = 0
    for pair in combinations(names, 2):
        states = [
            depends(structure, pair, context) for context in contexts_of(structure.domain, pair)
        ]
        somewhere += any(states)
        partly += any(states) and not all(states)
    assert (one.dependent, one.partly) == (somewhere, partly)
    for pair_claims in (*one.somewhere, *one.never):
        ends = (pair_claims.first, pair_claims.second)
        claimed = 0
        for context in contexts_of(structure.domain, ends):
            inside = [
                statement
                for statement in pair_claims
                if all(
                    (context[literal.variable] in literal.states) != literal.negated
                    for literal in statement.region
                )
            ]
            claimed += len(inside)
            assert not (inside and depends(structure, ends, context))
        if not pair_claims.unlisted:
            assert claimed == pair_claims.independent


def test_sentences_and_pairs_are_tables() -> None:
    one = one_model(TITANIC)
    shown = as_text(one_model_parts(one))
    assert "age and survived are independent when class=3rd" in shown
    assert "sex and age are independent, given class and survived" in shown
    assert tables(one)["pairs"].rows[-1][1] == Share(6, 8)
    html = TITANIC._repr_html_()
    assert "age and survived are independent when class=3rd" in html
    assert "<table" in html


def test_long_separators_are_cut() -> None:
    names = [f"v{k}" for k in range(9)]
    star = [f"{a}=1 & {b}=1" for a, b in combinations(names, 2) if (a, b) != ("v0", "v1")]
    one = one_model(Structure(dict.fromkeys(names, 2), star))
    ((statement,),) = one.never
    assert sentence(statement) == "v0 and v1 are independent, given v2, v3, v4, v5 and 3 more"


def test_evidence_is_next_to_each_sentence() -> None:
    evidence = check(TITANIC, "titanic").evidence
    one = replace(one_model(TITANIC), evidence=evidence)
    shown = as_text(one_model_parts(one))
    rows = re.findall(r"class=3rd +25 % +(\d+) of (\d+) +(.*?)  +(.*)", shown)
    (claim,) = [c for c in evidence.of("independent") if c.region]
    assert rows == [(f"{claim.informative}", f"{claim.rows}", claim.verdict, claim.finding)]
    assert re.search(r"sex and age .* contradicted", shown)
    assert "the model claims" not in shown
    assert one_model(TITANIC.with_evidence(evidence)).evidence == evidence
    assert "This is what the model claims" in as_text(one_model_parts(one_model(TITANIC)))


def test_a_sentence_that_was_not_tested_says_so() -> None:
    evidence = check(TITANIC, "titanic", pairs=[("class", "sex")]).evidence
    one = replace(one_model(TITANIC), evidence=evidence)
    assert as_text(one_model_parts(one)).count("not tested") == 2


def test_the_pictures_are_of_one_model() -> None:
    one = one_model(TITANIC)
    heat, drawn = one_pictures(one.comparison)
    assert "dependent" in [words for _, words in drawn.legends[0].entries]
    assert "guess" not in heat.caption + drawn.caption
    shares = shares_of(one.comparison)
    assert packed_one(shares, shares.pairs[:, 0])["kind"] == "one"


def test_directions_have_arrows(tmp_path: Path) -> None:
    network = tmp_path / "two.bif"
    network.write_text(
        "network n { }\n"
        "variable A { type discrete [ 2 ] { no, yes }; }\n"
        "variable B { type discrete [ 2 ] { no, yes }; }\n"
        "probability ( A ) { table 0.5, 0.5; }\n"
        "probability ( B | A ) { (no) 0.2, 0.8; (yes) 0.7, 0.3; }\n"
    )
    model = read(network)
    assert arcs_of(model.structure) == {("A", "B")}  # type: ignore[union-attr]
    one = one_model(model)
    page = model_page("two.bif", one.comparison, explain_model(model), made=MADE)
    assert page.count('class="arrow tp"') == 1
    graph = one_pictures(one.comparison)[1].content
    assert isinstance(graph, Graph)
    figure = plot_structure(model)
    assert len(figure.axes[0].patches) == 1
    assert not plot_structure("lung").axes[0].patches


def test_an_edge_without_a_known_direction_has_no_arrow() -> None:
    domain = Domain({"A": 2, "B": 2, "C": 2, "D": 2})
    class_of_dags = bayesian_network(domain, [(), (0, 2), (), ()], undirected=[(2, 3)])
    assert arcs_of(structure_of(class_of_dags)) == {("A", "B"), ("C", "B")}


def test_the_page_about_one_model_without_rows() -> None:
    one, claims = one_model(TITANIC), explain_model(TITANIC)
    how: dict[str, Any] = {"command": "contextwise report titanic.json", "made": MADE}
    page = model_page("titanic.json", one.comparison, claims, **how)
    text = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    words = re.sub(r"<[^>]+>", " ", text)
    assert "Depend in some contexts only" in words
    assert "This is what the model claims" in words
    assert "contextwise report titanic.json" in words
    assert not re.search(r"\b(true model|guess)\b", words)
    assert page == model_page("titanic.json", one.comparison, claims, **how)


def test_with_rows_it_is_the_page_of_an_analysis(tmp_path: Path) -> None:
    model, page = str(tmp_path / "titanic.json"), tmp_path / "page.html"
    write(learn("titanic", "mpl").structure_, model)
    assert run("report", model, "--check", "titanic", "--out", str(page)).exit_code == 0
    words = re.sub(r"<[^>]+>", " ", page.read_text("utf-8"))
    assert "Pair by pair" in words
    assert "On the rows it was learned from" in words


def test_a_time_limit_leaves_pairs_open() -> None:
    one = one_model(read("six"), time_limit=0)
    verdict_part = one_model_parts(one)[0]
    assert isinstance(verdict_part, Note)
    if len(one.comparison.unions.open_places):
        assert "not decided in time" in verdict_part.text


def test_plot_in_a_context_keeps_the_places() -> None:
    figure = plot_structure("survey", context={"work": "none"})
    assert "work=none" in figure.texts[0].get_text()


def test_pairs_are_ranked_by_share() -> None:
    rows = pairs_table(one_model(read("survey")).comparison, top=2)
    assert "(2 of 4)" in rows.title
    assert [row[1].value for row in rows.rows] == [1.0, 0.5]  # type: ignore[union-attr]
