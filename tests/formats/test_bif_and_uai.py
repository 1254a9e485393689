"""Markov and Bayesian networks in files: .uai and .bif."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextwise import Domain, LogLinear, Structure, distance, read, write
from contextwise.errors import ContextwiseError, NotRepresentable, ParseError, TooLargeError
from contextwise.formats import encode, read_stream
from contextwise.formats.bif import MissingProbabilities
from contextwise.formats.uai import NamesLost
from contextwise.models.factors import Factor, FloatArray, log_linear
from contextwise.models.structure import structure_of
from contextwise.testing import domains, log_linear_models
from convert_oracle import assert_equal, claims, interactions, random_domain
from features_invariant import check_features

SEEDS = range(20)


def log_table(model: LogLinear) -> FloatArray:
    """The table of log p, up to a constant: the sum of the weights that hold in each cell."""
    logs = np.zeros(model.domain.cardinalities)
    grid = np.indices(logs.shape)
    for literals, weight in zip(model.structure.features.literals(), model.weights, strict=True):
        where = np.ones(logs.shape, dtype=bool)
        for v, allowed in literals:
            where &= (allowed >> grid[v] & 1).astype(bool)
        logs[where] += weight
    return logs


def random_network(rng: np.random.Generator, domain: Domain) -> list[Factor]:
    """Random conditional distributions: parents first, in any order, then the child."""
    factors = []
    for child in range(len(domain)):
        parents = [p for p in rng.permutation(child).tolist() if rng.random() < 0.6]
        shape = [domain.cardinalities[p] for p in parents]
        size = domain.cardinalities[child]
        factors.append(Factor((*parents, child), np.log(rng.dirichlet(np.full(size, 2.0), shape))))
    return factors


def uai_text(kind: str, domain: Domain, factors: list[Factor]) -> str:
    words: list[object] = [kind, len(domain), *domain.cardinalities, len(factors)]
    for factor in factors:
        words += [len(factor.scope), *factor.scope]
    for factor in factors:
        words += [factor.logs.size, *np.exp(factor.logs).ravel().tolist()]
    return "\n".join(map(str, words))


def joint(domain: Domain, factors: list[Factor]) -> FloatArray:
    logs = np.zeros(domain.cardinalities)
    for factor in factors:
        order = np.argsort(factor.scope)
        shape = [c if v in factor.scope else 1 for v, c in enumerate(domain.cardinalities)]
        logs = logs + factor.logs.transpose(order).reshape(shape)
    return logs


def from_text(text: str, format: str) -> LogLinear:
    model = read_stream(io.StringIO(text), format=format)
    assert isinstance(model, LogLinear)
    return model


# -- UAI -----------------------------------------------------------------------------------------


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
        warnings.simplefilter("ignore", NamesLost)
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
    assert model.info["format"] == "uai"
    assert model.info["zero_weights"] == 1
    write(model, tmp_path / "again.uai.gz")
    assert read(tmp_path / "again.uai.gz") == model


def test_uai_comments_and_a_zero() -> None:
    text = "c a comment\nMARKOV # a Markov network\n1\n2\n1\n1 0 # v0\n2\n 0.0 1.0\n"
    assert from_text(text, "uai").weights.tolist() == [-np.inf, 0.0]


def test_uai_has_no_place_for_names() -> None:
    with pytest.warns(NamesLost, match="has no names"):
        encode(LogLinear(Structure({"A": 2}, ["A=1"]), np.ones(1)), "uai")


@pytest.mark.parametrize("weight", [800.0, -800.0, np.inf])
def test_uai_refuses_what_a_number_cannot_hold(weight: float) -> None:
    model = LogLinear(Structure({"v0": 2}, ["v0=1"]), np.array([weight]))
    with pytest.raises(ContextwiseError, match=r"too large or too small for a \.uai file"):
        encode(model, "uai")


@pytest.mark.parametrize("format", ["uai", "bif"])
def test_a_structure_without_weights_has_no_numbers_to_write(format: str) -> None:
    with pytest.raises(ContextwiseError, match="needs weights, and this structure has none"):
        encode(Structure({"v0": 2}, ["v0=1"]), format)


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


# -- BIF -----------------------------------------------------------------------------------------

CANCER = """
// a comment
network "lung cancer" { property version 1; }
variable Smoker { type discrete [ 2 ] { yes, no }; property "position = (1, 2)"; }
variable Cancer { type discrete[3]{"not yet" early late}; }
/* another
   comment */
probability ( Smoker ) { table 0.3, 0.7; }
probability ( Cancer | Smoker ) {
  (yes) 0.5, 0.3, 0.2;
  default 0.9, 0.1, 0.0;
}
"""


def test_bif() -> None:
    model = from_text(CANCER, "bif")
    assert model.domain == Domain({"Smoker": ["yes", "no"], "Cancer": ["not yet", "early", "late"]})
    wanted = np.array([[0.15, 0.09, 0.06], [0.63, 0.07, 0.0]])
    np.testing.assert_allclose(np.exp(log_table(model)), wanted, atol=1e-12)
    assert model.structure.pairs() == [("Smoker", "Cancer")]
    assert read_stream(io.StringIO(CANCER)) == model


def test_bif_tables_vary_the_last_parent_fastest_and_the_child_slowest() -> None:
    text = CANCER.replace("(yes) 0.5, 0.3, 0.2;", "").replace(
        "default 0.9, 0.1, 0.0;", "table 0.5 0.9  0.3 0.1  0.2 0.0;"
    )
    assert from_text(text, "bif") == from_text(CANCER, "bif")


def test_bif_scales_rows_with_cut_digits() -> None:
    model = from_text(
        "variable A { type discrete [3] {a b c}; } probability (A) { table 0.33 0.33 0.33; }", "bif"
    )
    np.testing.assert_allclose(np.exp(model.weights), 1 / 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_bayesian_networks_come_back_from_bif(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 5)
    factors = random_network(rng, domain)
    model = log_linear(domain, factors)
    again = read_stream(io.BytesIO(encode(model, "bif")))
    assert isinstance(again, LogLinear)
    assert again.domain == domain
    assert again.structure == model.structure
    np.testing.assert_allclose(log_table(again), joint(domain, factors), atol=1e-9)
    assert_equal(claims(again.structure), interactions(joint(domain, factors)))


def test_a_long_chain_is_written_at_once() -> None:
    domain = Domain.of_cardinalities([2] * 2000)
    flip = np.log(np.array([[0.9, 0.1], [0.2, 0.8]]))
    factors = [Factor((k, k + 1), flip) for k in range(1999)]
    model = log_linear(domain, factors)
    again = read_stream(io.BytesIO(encode(model, "bif")))
    # the first variable has no table, and is uniform
    assert len(again.domain) == 2000
    assert len(again) == len(model) + 2


def test_names_that_need_quotes_and_names_that_cannot_be_written() -> None:
    def model(name: str) -> LogLinear:
        half = Factor((0,), np.log(np.array([0.5, 0.5])))
        return log_linear(Domain({name: ["a b", "//"]}), [half])

    assert read_stream(io.BytesIO(encode(model("{x}"), "bif"))) == model("{x}")
    for name in ('a"b', "a\nb", "\x07", "\ud800"):
        with pytest.raises(ContextwiseError, match=r"a \.bif file cannot hold the name"):
            encode(model(name), "bif")


@pytest.mark.parametrize(
    "features",
    [["A=1 & B=1"], ["A=1"], ["A=0 & B=0", "A=1 & B=1", "A=0", "A=1", "B=0"]],
)
def test_a_model_that_is_no_bayesian_network_is_not_written_as_one(features: list[str]) -> None:
    model = LogLinear(Structure({"A": 2, "B": 2}, features), np.full(len(features), 0.5))
    with pytest.raises(NotRepresentable, match="not the conditional distribution"):
        encode(model, "bif")


A = "variable A { type discrete [2] {a b}; }\n"
B = "variable B { type discrete [2] {a b}; }\n"
PA = "probability (A) { table 0.5 0.5; }\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the file is empty"),
        ("// nothing", 1, "the file is empty"),
        ("nonsense", 1, "expected network, variable or probability, got 'nonsense'"),
        ("network x {", 1, "the file ends inside a block"),
        ("\n/* no end", 2, "a comment has no end"),
        (f'{A}variable "B', 2, "a quoted name has no end"),
        (A + A, 2, "two variables have the name 'A'"),
        ("variable A { }", 1, "variable 'A' has no type"),
        ("variable A { kind x; }", 1, "expected type or property, got 'kind'"),
        ("variable A { type continuous; }", 1, "only discrete variables can be read"),
        ("variable A {\n type discrete [3] {a b}; }", 2, "variable 'A' has 2 states, expected 3"),
        ("variable A {\n type discrete [2] {a a}; }", 2, "variable 'A' has a state twice"),
        ("variable A { type discrete [2] {a b} }", 1, "expected ';' but found '}'"),
        (f"{A}probability (Z) ", 2, "unknown variable 'Z'"),
        (f"{A}probability () ", 2, "expected a variable and its parents"),
        (f"{A}probability (A A) ", 2, "expected a variable and its parents"),
        (f"{A}probability (A) {{ table 0.5 x; }}", 2, "expected a probability, got 'x'"),
        (f"{A}probability (A) {{ table 0.5; }}", 2, "'A' needs 2 numbers, got 1"),
        (f"{A}probability (A) {{ table 0.5 0.6; }}", 2, "has the sum 1.1, not 1"),
        (f"{A}probability (A) {{ tables 1; }}", 2, "expected table, default or a row"),
        (f"{A}probability (A) {{ }}", 2, "no row for some states"),
        (A, None, "variable 'A' has no probability"),
        (A + PA + PA, 2, "variable 'A' has two probabilities"),
        (
            f"{A}{B}probability (A|B) {{ default 1 0; }}\nprobability (B|A) {{ default 1 0; }}",
            None,
            "the network has a cycle: ",
        ),
        (f"{A}{B}{PA}probability (B|A) {{ (a) 1 0; }}", 4, "no row for some states"),
        (f"{A}{B}{PA}probability (B|A) {{\n(c) 1 0; }}", 5, "'A' has no state 'c'"),
        (f"{A}{B}{PA}probability (B|A) {{\n(a, b) 1 0; }}", 5, "1 parents and this row 2 states"),
        (f"{A}{B}{PA}probability (B|A) {{\n(a) 1 0;\n(a) 1 0; }}", 6, "has this row twice"),
    ],
)
def test_bad_bif_files(text: str, line: int | None, message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        from_text(text, "bif")
    assert caught.value.line == line


def test_a_small_bif_file_cannot_ask_for_a_large_table() -> None:
    names = [f"x{k}" for k in range(29)]
    variables = "".join(f"variable {name} {{ type discrete [2] {{a b}}; }}" for name in names)
    text = f"{variables} probability ({' '.join(names)}) {{ default 0.5 0.5; }}"
    text += "".join(f"probability ({name}) {{ table 0.5 0.5; }}" for name in names[1:])
    with pytest.raises(ParseError, match="536870912 cells"):
        from_text(text, "bif")


PIECES = st.sampled_from(
    [*"{}()[];,|\"'/*\n 01", "//", "/*", "*/", "table", "default", "MARKOV", "-1", "1e400", "é"]
)


@pytest.mark.parametrize(
    ("format", "text"), [("bif", CANCER), ("uai", "MARKOV\n2\n2 3\n1\n2 0 1\n6\n1 2 3 4 5 6\n")]
)
@settings(max_examples=150)
@given(data=st.data())
def test_slips_of_the_pen(format: str, text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 12)))
        text = text[:start] + data.draw(PIECES | st.just(text[start:end] * 2)) + text[end:]
    try:
        check_features(from_text(text, format).structure.features)
    except ContextwiseError as error:
        assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize("format", ["uai", "bif"])
def test_features_that_are_too_large_as_tables(format: str) -> None:
    domain = Domain.of_cardinalities([2] * 20)
    shifted = [[f"v{(k + shift) % 20}=1" for k in range(16)] for shift in range(20)]
    model = LogLinear(Structure(domain, [" & ".join(own) for own in shifted]), np.ones(20))
    with pytest.raises(
        TooLargeError, match=r"too many; a \..* file holds whole tables; write \.mn or"
    ):
        encode(model, format)
    assert read_stream(io.BytesIO(encode(model, "mn"))) == model


@pytest.mark.parametrize("comment", ["// many words\n", "/* many * words */", "/* one */ // two\n"])
def test_comments_before_the_first_word_are_read_once(comment: str) -> None:
    """A pattern that tries every way to split the comments would not end."""
    text = comment * 2_000 + "network n { }\nvariable A { type discrete [ 2 ] { a, b }; }\n"
    text += "probability ( A ) { table 0.5, 0.5; }\n"
    assert read_stream(io.StringIO(text)).info["format"] == "bif"
    with pytest.raises(ContextwiseError, match="unknown kind of model"):
        read_stream(io.StringIO(comment * 2_000 + "something else"))


def test_a_bif_file_with_unobserved_rows_gives_a_structure() -> None:
    """bnlearn writes NaN where a parent configuration was never observed."""
    text = f"{A}{B}{PA}probability (B|A) {{\n(a) 0.5 0.5;\n(b) NaN, NaN; }}"
    with pytest.warns(MissingProbabilities, match=r"1 variable without some probabilities \(NaN\)"):
        model = read_stream(io.StringIO(text), format="bif")
    assert isinstance(model, Structure)
    assert model.info["zero_weights"] == 0
    whole = from_text(text.replace("NaN, NaN", "0.5 0.5"), "bif")
    assert model == structure_of(whole)
    assert model.pairs() == [("A", "B")]
