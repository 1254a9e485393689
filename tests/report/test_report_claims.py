"""One model: its claims and their evidence in a notebook, its pictures and its page."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from commands import run
from contextwise import Domain, Structure, check, learn, read, write
from contextwise.comparison.roles import ALONE
from contextwise.convert import from_generators
from contextwise.data.rows import as_data
from contextwise.evidence.claim_tests import judge_claims
from contextwise.independence.claims import REGIONS
from contextwise.independence.model_claims import explain_model
from contextwise.models.directions import bayesian_network
from contextwise.models.structure import structure_of
from contextwise.report.claims import explanation_parts
from contextwise.report.page import model_page, pictures_section
from contextwise.report.parts import PairName, Picture, Table
from contextwise.report.pictures import arcs_of, packed, shares_of
from contextwise.report.plots import plot_structure
from contextwise.report.text import text_of
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


def words_of(page: str) -> str:
    text = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", " ", text)


@pytest.mark.parametrize(
    ("domain", "features", "words"),
    [
        ({}, [], "The model has 0 variables, and no pair of them can depend."),
        ({"A": 2}, ["A=1"], "The model has 1 variable, and no pair of them can depend."),
        ({"A": 2, "B": 1}, [], "The model has 2 variables, and no pair of them can depend."),
        ({"A": 2, "B": 2}, [], "1 pair: 1 is independent in every context."),
        ({"A": 2, "B": 2}, ["A=1 & B=1"], "1 pair: 1 depends in every context."),
    ],
)
def test_a_notebook_begins_with_the_verdict(
    domain: dict[str, int], features: list[str], words: str
) -> None:
    model = Structure(domain, features)
    assert text_of(model).startswith(words)
    assert words in words_of(model._repr_html_())


def test_a_notebook_shows_the_claims() -> None:
    html = TITANIC._repr_html_()
    assert "<table" in html
    words = words_of(html)
    assert "1 depends in some contexts only" in words
    assert "class=3rd" in words
    assert "This is what the model claims" in words
    assert not re.search(r"\b(true model|guess)\b", words)


def test_long_lists_are_cut() -> None:
    names = [f"v{k}" for k in range(12)]
    star = [f"{a}=1 & {b}=1" for a, b in combinations(names, 2) if (a, b) != ("v0", "v1")]
    assert "v2, v3, v4, v5, v6, v7, 4 more" in text_of(Structure(dict.fromkeys(names, 2), star))
    some = Structure(dict.fromkeys(names, 2), [dict.fromkeys(names, 1)])
    shown = text_of(some)
    assert "… 7 more regions" in shown
    assert shown.count("v0 – v2 ") == 5


def test_evidence_is_next_to_each_claim() -> None:
    evidence = check(TITANIC, "titanic").evidence
    shown = text_of(TITANIC.with_evidence(evidence))
    (claim,) = [c for c in evidence.of("independent") if c.region]
    assert f"{claim.verdict}: {claim.finding}" in re.search("class=3rd.*", shown)[0]  # type: ignore[index]
    assert re.search(r"sex – age .* contradicted", shown)
    assert "the model claims" not in shown


@given(structures())
def test_shares_of_one_model_agree_with_brute_force(structure: Structure) -> None:
    if sum(states > 1 for states in structure.domain.cardinalities) < 2:
        return
    shares = shares_of(explain_model(structure).counted, ALONE)
    assert not np.any(shares.fp)
    assert not np.any(shares.fn)
    for k, edge in enumerate(map(shares.edge, range(len(shares.pairs)))):
        contexts = list(contexts_of(structure.domain, edge.pair))
        dependent = sum(depends(structure, edge.pair, context) for context in contexts)
        assert shares.tp[k] == pytest.approx(dependent / len(contexts))


def test_the_pictures_are_of_one_model() -> None:
    shares = shares_of(explain_model(TITANIC).counted, ALONE)
    heat, drawn = pictures_section(shares).parts
    assert isinstance(heat, Picture)
    assert isinstance(drawn, Picture)
    assert [legend.title for legend in heat.legends] == ["share of contexts", ""]
    assert packed(shares, shares.pairs[:, 0])["kind"] == "one"
    assert "dependent" in [words for _, words in drawn.legends[0].entries]
    assert "guess" not in heat.caption + drawn.caption


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
    page = model_page("two.bif", explain_model(model), made=MADE)
    assert page.count('class="arrow tp"') == 1
    figure = plot_structure(model)
    assert len(figure.axes[0].patches) == 1
    assert not plot_structure("lung").axes[0].patches


def test_an_edge_without_a_known_direction_has_no_arrow() -> None:
    domain = Domain({"A": 2, "B": 2, "C": 2, "D": 2})
    class_of_dags = bayesian_network(domain, [(), (0, 2), (), ()], undirected=[(2, 3)])
    assert arcs_of(structure_of(class_of_dags)) == {("A", "B"), ("C", "B")}


def test_the_page_about_one_model_without_rows() -> None:
    claims = explain_model(TITANIC)
    how: dict[str, Any] = {"command": "contextwise report titanic.json", "made": MADE}
    page = model_page("titanic.json", claims, **how)
    words = words_of(page)
    assert "Depend in some contexts only" in words
    assert "This is what the model claims" in words
    assert "contextwise report titanic.json" in words
    assert not re.search(r"\b(true model|guess)\b", words)
    assert page == model_page("titanic.json", claims, **how)


def test_with_rows_it_is_the_page_of_an_analysis(tmp_path: Path) -> None:
    model, page = str(tmp_path / "titanic.json"), tmp_path / "page.html"
    write(learn("titanic", "mpl").structure_, model)
    assert run("report", model, "--check", "titanic", "--out", str(page)).exit_code == 0
    words = words_of(page.read_text("utf-8"))
    assert "Pair by pair" in words
    assert "The structure was given. Each of its claims was tested on these rows." in words


def test_plot_in_a_context_keeps_the_places() -> None:
    figure = plot_structure("survey", context={"work": "none"})
    assert "work=none" in figure.axes[0].get_title()


def test_every_region_shown_with_evidence_has_a_verdict() -> None:
    """Most rows are in the smallest regions, and more regions are listed than are tested."""
    names = [f"x{k}" for k in range(12)]
    domain = Domain(dict.fromkeys(["A", "B", *names], 2))
    scopes = [names[k : k + size] for k, size in ((0, 1), (1, 2), (3, 3), (6, 3), (9, 3))]
    model = Structure(domain, [{"A": 1, "B": 1, **dict.fromkeys(scope, 1)} for scope in scopes])
    rng = np.random.default_rng(0)
    rows = (rng.random((500, 14)) < [0.5, 0.5, 0.1, *[0.8] * 11]).astype(int)
    tested = model.with_evidence(judge_claims(model, rows))
    explained = explain_model(tested, top=100)
    (claims,) = (pair for pair in explained.somewhere if pair.pair == ("A", "B"))
    assert len(claims.independent) > REGIONS
    assert len(claims.dependent) > REGIONS
    for regions in (claims.independent, claims.dependent):
        for claim in regions[:REGIONS]:
            assert explained.evidence(claim.pair, claim.claim, claim.region) is not None
    for parts in (explanation_parts(explained), explanation_parts(explained, regions=REGIONS)):
        (table,) = (part for part in parts if getattr(part, "title", "").startswith("Depend in"))
        assert isinstance(table, Table)
        rows_of = [row for row in table.rows if "more region" not in str(row[2])]
        assert sum(str(row[0]) == str(PairName("A", "B")) for row in rows_of) == 2 * REGIONS
        assert all(row[-1] for row in rows_of)
