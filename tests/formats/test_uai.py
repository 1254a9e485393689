"""Markov and Bayesian networks in ``.uai`` files."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from contextwise import Domain, LogLinear, Structure, distance, read, write
from contextwise.errors import ContextwiseError, ParseError
from contextwise.formats import encode, read_stream
from contextwise.formats.reading import FormatWarning
from contextwise.models.factors import Factor
from contextwise.models.structure import structure_of
from contextwise.testing import domains, log_linear_models
from convert_oracle import assert_equal, claims, interactions, random_domain
from network_tables import from_text, joint, log_table, random_network

SEEDS = range(20)


def uai_text(kind: str, domain: Domain, factors: list[Factor]) -> str:
    words: list[object] = [kind, len(domain), *domain.cardinalities, len(factors)]
    for factor in factors:
        words += [len(factor.scope), *factor.scope]
    for factor in factors:
        words += [factor.logs.size, *np.exp(factor.logs).ravel().tolist()]
    return "\n".join(map(str, words))


@pytest.mark.parametrize("kind", ["MARKOV", "BAYES"])
@pytest.mark.parametrize("seed", SEEDS)
def test_uai_files_claim_what_their_tables_show(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 4)
    factors = random_network(rng, domain)
    model = from_text(uai_text(kind, domain, factors), "uai")
    np.testing.assert_allclose(log_table(model), joint(domain, factors), atol=1e-12)
    assert_equal(claims(model.structure), interactions(joint(domain, factors)))


@given(model=log_linear_models(domains(min_variables=1)))
def test_uai_keeps_the_distribution_and_the_claims_without_zeros(model: LogLinear) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "a .uai file (has no names|holds whole tables)")
        data = encode(model, "uai")
    again = read_stream(io.BytesIO(data), zero_weights="drop")
    assert isinstance(again, LogLinear)
    np.testing.assert_allclose(log_table(again), log_table(model), atol=1e-9)
    plain = Domain.of_cardinalities(model.domain.cardinalities)
    assert again.domain == plain
    if (np.abs(model.weights) > 1e-6).all() and len(set(map(len, model.structure))) == len(model):
        numbered = Structure(plain, model.structure.features)
        assert distance(again.structure, numbered) == 0


def test_uai_is_found_by_its_suffix_and_by_its_first_word(tmp_path: Path) -> None:
    text = "MARKOV 2 2 2 1 2 0 1 4 1 2 3 4"
    (tmp_path / "m.uai").write_text(text)
    model = read(tmp_path / "m.uai")
    assert model == read_stream(io.StringIO(text))
    assert model.origin.file.format == "uai"
    assert model.origin.file.zero_weights == 1
    write(model, tmp_path / "again.uai.gz")
    assert read(tmp_path / "again.uai.gz") == model


def test_uai_comments_and_a_zero() -> None:
    text = "c a comment\nMARKOV # a Markov network\n1\n2\n1\n1 0 # v0\n2\n 0.0 1.0\n"
    assert from_text(text, "uai").weights.tolist() == [-np.inf, 0.0]


def test_uai_has_no_place_for_names() -> None:
    with pytest.warns(FormatWarning, match="has no names"):
        encode(LogLinear(Structure({"A": 2}, ["A=1"]), np.ones(1)), "uai")


def test_a_model_with_fewer_cells_than_its_tables_warns() -> None:
    model = read("lung").aligned_to(Domain.of_cardinalities([2, 2, 2]), align="position")
    with pytest.warns(FormatWarning, match="more pairs depend when it is read back; read it with"):
        data = encode(model, "uai")
    assert distance(model, read_stream(io.BytesIO(data))) > 0
    assert distance(model, read_stream(io.BytesIO(data), zero_weights="drop")) == 0
    zeros = LogLinear(structure_of(model), np.zeros(len(model)))
    with pytest.warns(FormatWarning, match=r"write \.json to keep the claims"):
        encode(zeros, "uai")


@pytest.mark.parametrize("kind", ["BAYES", "# a comment\nBAYES"])
@pytest.mark.parametrize("format", ["mn", "uai"])
def test_a_file_that_loses_the_directions_warns(kind: str, format: str) -> None:
    network = from_text(f"{kind} 2 2 2 2 1 0 2 0 1 2 0.5 0.5 4 0.1 0.9 0.4 0.6", "uai")
    with pytest.warns(FormatWarning, match="does not record that the model is directed"):
        encode(network, format)
    assert read_stream(io.BytesIO(encode(network, "bif"))).directions is not None


@pytest.mark.parametrize("weight", [800.0, -800.0, np.inf])
def test_uai_refuses_what_a_number_cannot_hold(weight: float) -> None:
    model = LogLinear(Structure({"v0": 2}, ["v0=1"]), np.array([weight]))
    with pytest.raises(ContextwiseError, match=r"too large or too small for a \.uai file"):
        encode(model, "uai")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the file ends where MARKOV or BAYES should follow"),
        ("FACTOR\n1", 1, "expected MARKOV or BAYES, got 'FACTOR'"),
        ("MARKOV\n-1", 2, "expected the number of variables, got '-1'"),
        ("MARKOV\n2\n2 0\n0", 3, "expected a cardinality, got '0'"),
        ("MARKOV\n2\n2", 3, "the file ends where a cardinality should follow"),
        ("MARKOV\n1\n2\n99999999999\n1 0", 5, "the file ends where the size of a scope"),
        ("MARKOV\n2\n2 2\n1\n2 0 2", 5, "there is no variable 2; the last one is 1"),
        ("MARKOV\n2\n2 2\n1\n2 0 0", 5, "variable 0 occurs twice in a scope"),
        ("MARKOV\n1\n2\n1\n1 0\n3\n1 2 3", 6, "the table over 1 variables has 2 entries, got 3"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1", 7, "the file ends where an entry of a table"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1\nx", 8, "expected an entry of a table that .* got 'x'"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1\n-1", 8, "expected an entry of a table that .* got '-1'"),
        ("MARKOV\n1\n2\n1\n1 0\n2\nnan 1", 7, "expected an entry of a table that .* got 'nan'"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1 1\n7", 8, "expected the end of the file"),
        (f"MARKOV 40 {'2 ' * 40} 1 40 {' '.join(map(str, range(40)))}", 1, r"about 10\*\*12 cells"),
        (
            f"MARKOV 99 {'1 ' * 99} 1 99 {' '.join(map(str, range(99)))} 1 1",
            1,
            "96 more has 1 cells, which is too large",
        ),
        ("MARKOV 3 2 99999999999999 2", None, "at most 65,536 are possible"),
    ],
)
def test_bad_uai_files(text: str, line: int | None, message: str) -> None:
    with pytest.raises(ContextwiseError, match=message) as caught:
        from_text(text, "uai")
    if line is not None:
        assert isinstance(caught.value, ParseError)
        assert caught.value.line == line
