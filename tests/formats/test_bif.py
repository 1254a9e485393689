"""Bayesian networks in ``.bif`` files, and what both formats of networks refuse."""

from __future__ import annotations

import io

import numpy as np
import pytest

from contextwise import Domain, LogLinear, Structure, distance
from contextwise.convert import by_values
from contextwise.errors import ContextwiseError, NotRepresentable, ParseError, TooLargeError
from contextwise.formats import encode, read_stream
from contextwise.formats.reading import FormatWarning
from contextwise.learning import AcyclicTrees
from contextwise.models.factors import Factor, log_linear
from contextwise.models.structure import structure_of
from convert_oracle import assert_equal, claims, interactions, random_domain
from network_tables import from_text, joint, log_table, random_network

SEEDS = range(20)


@pytest.mark.parametrize("format", ["uai", "bif"])
def test_a_structure_without_weights_has_no_numbers_to_write(format: str) -> None:
    with pytest.raises(ContextwiseError, match="needs weights, and this structure has none"):
        encode(Structure({"v0": 2}, ["v0=1"]), format)


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


@pytest.mark.parametrize("comment", ['// "6"', "/* six */"])
def test_a_comment_may_follow_a_word_without_a_blank(comment: str) -> None:
    """As in the files of aGrUM: ``6// "6"``."""
    text = CANCER.replace("yes, no }", f"yes{comment}\n, no{comment}\n }}", 1)
    assert from_text(text, "bif") == from_text(CANCER, "bif")
    slash = CANCER.replace("Smoker", "a/b")
    assert from_text(slash, "bif").domain.names == ("a/b", "Cancer")


def test_a_network_without_its_zero_weights_reads_back_with_more_claims() -> None:
    text = "".join(f"variable {v} {{ type discrete [2] {{a b}}; }}" for v in "ABC")
    text += "".join(f"probability ({v}) {{ table 0.5 0.5; }}" for v in "AB")
    model = from_text(f"{text} probability (C|A B) {{ default 0 1; }}", "bif")
    assert read_stream(io.BytesIO(encode(model, "bif"))) == model
    smaller = model.without_zero_weights()
    with pytest.warns(FormatWarning, match="read it with --zero-weights drop"):
        data = encode(smaller, "bif")
    assert distance(read_stream(io.BytesIO(data)), smaller) > 0
    assert distance(read_stream(io.BytesIO(data), zero_weights="drop"), smaller) == 0


def test_a_network_with_variables_of_one_state_is_written() -> None:
    text = "".join(f"variable {v} {{ type discrete [2] {{a b}}; }}" for v in "AC")
    text += "".join(f"variable {v} {{ type discrete [1] {{only}}; }}" for v in "BD")
    text += "probability (A) { table 0.25 0.75; } probability (B|A) { default 1; }"
    text += "probability (C|B A) { (only a) 0.125 0.875; (only b) 0.5 0.5; }"
    model = from_text(f"{text} probability (D|C) {{ default 1; }}", "bif")
    again = read_stream(io.BytesIO(encode(model, "bif")))
    assert again == model
    assert again.directions is not None
    assert again.directions.parents == ((), (2, 0), (0,), (1,))


def test_a_network_with_other_weights_is_written_with_those() -> None:
    model = from_text(CANCER, "bif")
    other = from_text(CANCER.replace("0.3, 0.7", "0.6, 0.4"), "bif")
    assert isinstance(other, LogLinear)
    changed = LogLinear(structure_of(model), other.weights)
    assert changed.directions is not None
    again = read_stream(io.BytesIO(encode(changed, "bif")))
    assert isinstance(again, LogLinear)
    np.testing.assert_allclose(log_table(again), log_table(other), atol=1e-12)


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
        (f"{A}probability (Z) {{ table 1; }}", 2, "unknown variable 'Z'"),
        (f"{A}probability () ", 2, "expected a variable and its parents"),
        (f"{A}probability (A A) ", 2, "expected a variable and its parents"),
        (f"{A}probability (A) {{ table 0.5 x; }}", 2, "expected a probability, got 'x'"),
        (f"{A}probability (A) {{ table 0.5; }}", 2, "'A' needs 2 numbers, got 1"),
        (f"{A}probability (A) {{ table 0.5 0.6; }}", 2, "has the sum 1.1, not 1"),
        (f"{A}probability (A) {{ tables 1; }}", 2, "expected table, default or a row"),
        (f"{A}probability (A) {{ () 1 0; () 1 0; }}", 2, "this row twice"),
        (A, None, "variable 'A' has no probability"),
        (A + PA + PA, 3, "variable 'A' has two probabilities"),
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
    assert read_stream(io.StringIO(text)).origin.file.format == "bif"
    with pytest.raises(ContextwiseError, match="unknown kind of model"):
        read_stream(io.StringIO(comment * 2_000 + "something else"))


def test_a_bif_file_with_unobserved_rows_gives_a_structure() -> None:
    """bnlearn writes NaN where a parent configuration was never observed."""
    text = f"{A}{B}{PA}probability (B|A) {{\n(a) 0.5 0.5;\n(b) NaN, NaN; }}"
    with pytest.warns(FormatWarning, match="1 variable without some probabilities"):
        model = read_stream(io.StringIO(text), format="bif")
    assert isinstance(model, Structure)
    assert model.origin.file.zero_weights == 0
    whole = from_text(text.replace("NaN, NaN", "0.5 0.5"), "bif")
    assert model == structure_of(whole)
    assert model.pairs() == [("A", "B")]


def test_trees_that_are_learned_are_written_as_tables() -> None:
    """The paths of a tree are tables of several scopes; their product is the child's table."""
    model = AcyclicTrees().fit("women-math").model_
    assert model.directions is not None
    with pytest.warns(FormatWarning, match=r"more pairs depend .* write \.json"):
        again = from_text(encode(model, "bif").decode(), "bif")
    assert isinstance(again, LogLinear)
    assert again.directions is not None
    assert again.directions.parents == model.directions.parents
    np.testing.assert_allclose(log_table(again), log_table(model), atol=1e-12)
    assert distance(model, by_values(again)) == 0
