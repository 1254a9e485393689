"""Queries against the definition, against joint tables, and against the laws of independence."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from contextwise import examples, write
from contextwise.convert import from_ldag
from contextwise.errors import ContextwiseError, DomainError, OpenResult, ParseError
from contextwise.independence import (
    graph,
    query,
)
from contextwise.independence.model_claims import explain_model
from contextwise.independence.queries import Answer, Statement, parse_statement
from contextwise.models.domain import Domain
from contextwise.models.notation import quoted
from contextwise.models.origin import Origin
from contextwise.models.structure import LogLinear, Structure
from contextwise.testing import claims, domains, names, structures
from hard import ends, pigeons
from independence_oracle import (
    assignments_of,
    connected,
    dependence,
    independent,
    is_independent,
    random_table,
    statements,
)

Case = tuple[Structure, Statement]


@st.composite
def cases(
    draw: st.DrawFn, max_variables: int = 6, max_states: int = 3, with_claims: bool = False
) -> Case:
    domain = draw(domains(min_variables=2, max_variables=max_variables, max_states=max_states))
    model: st.SearchStrategy[Structure] = structures(domain, max_features=8)
    if with_claims:
        model |= claims(domain, max_regions=8)
    return draw(model), draw(statements(domain))


def asked(structure: Structure, statement: Statement) -> bool:
    answer = is_independent(
        structure,
        statement.first,
        statement.second,
        given=statement.given,
        context=statement.context,
    )
    assert isinstance(answer, bool)
    return answer


@given(cases(with_claims=True))
def test_the_definition(case: Case) -> None:
    assert asked(*case) == independent(*case)


@given(cases(max_variables=5), st.integers(0, 2**32 - 1))
def test_tables_with_random_weights_show_it(case: Case, seed: int) -> None:
    """A distribution with the structure's features and random weights gives the same answer."""
    structure, statement = case
    table = random_table(structure, np.random.default_rng(seed))
    gap = dependence(table, structure.domain, statement)
    assert (gap < 1e-13) == asked(structure, statement)


@given(cases())
def test_symmetry(case: Case) -> None:
    structure, q = case
    assert asked(structure, q) == asked(structure, Statement(q.second, q.first, q.given, q.context))


@given(cases())
def test_sets_are_independent_when_all_their_members_are(case: Case) -> None:
    structure, q = case
    each = [
        asked(structure, Statement((a,), (b,), q.given, q.context))
        for a in q.first
        for b in q.second
    ]
    assert asked(structure, q) == all(each)


@given(cases())
def test_given_variables_mean_all_their_values(case: Case) -> None:
    structure, q = case
    each = [
        asked(structure, Statement(q.first, q.second, (), {**q.context, **chosen}))
        for chosen in assignments_of(structure.domain, q.given)
    ]
    assert asked(structure, q) == all(each)


@given(cases(), st.data())
def test_strong_union(case: Case, data: st.DataObject) -> None:
    """Independent variables stay independent when more variables are given."""
    structure, q = case
    assume(asked(structure, q))
    used = {*q.first, *q.second, *q.given, *q.context}
    rest = [name for name in structure.domain.names if name not in used]
    assume(rest)
    more = tuple(data.draw(st.sets(st.sampled_from(rest))))
    assert asked(structure, Statement(q.first, q.second, q.given + more, q.context))


@given(cases())
def test_reasons_hold(case: Case) -> None:
    structure, q = case
    answer = query(structure, q)
    assert bool(answer) == independent(structure, q)
    if not answer:
        check_path(structure, q, answer)
    elif answer.separator is not None:
        check_separator(structure, q, answer.separator)
    else:
        check_blocking(structure, q, answer.blocking)


def check_path(structure: Structure, q: Statement, answer: Answer) -> None:
    assigned = {**q.context, **dict(answer.assignment)}
    assert {name for name, _ in answer.assignment} <= set(q.given)
    assert answer.path[0] in q.first
    assert answer.path[-1] in q.second
    assert not set(answer.path) & {*q.given, *q.context}
    for (here, there), text in zip(pairwise(answer.path), answer.features, strict=True):
        (feature,) = Structure(structure.domain, [text])
        assert {here, there} <= feature.keys()
        assert feature.keys() & {*q.given, *q.context} <= assigned.keys()
        assert all(assigned[v] in allowed for v, allowed in feature.items() if v in assigned)


def check_separator(structure: Structure, q: Statement, separator: tuple[str, ...]) -> None:
    """Given alone, it is enough; it is inside what was given; and each of it is needed."""
    assert set(separator) <= set(q.given)
    assert asked(structure, Statement(q.first, q.second, separator, q.context))
    within = structure.restrict(q.context)
    for name in separator:
        fewer = set(separator) - {name}
        scopes = [{v: [s[0]] for v, s in f.items() if v not in fewer} for f in within]
        assert connected(Structure(within.domain, scopes), q.first, q.second, {})


def check_blocking(structure: Structure, q: Statement, blocking: tuple[str, ...]) -> None:
    """Without the literals on the other given variables there is still no path."""
    assert blocking
    assert set(blocking) <= set(q.given)
    others = set(q.given) - set(blocking)
    eased = Structure(
        structure.domain,
        [{v: s for v, s in feature.items() if v not in others} for feature in structure],
    )
    assert independent(eased, q)


def test_adjacency_is_not_enough() -> None:
    chain = Structure({"A": 2, "B": 2, "C": 2}, ["A=1 & B=1", "B=1 & C=1"])
    answer = query(chain, "A _||_ C")
    assert not answer
    assert answer.path == ("A", "B", "C")
    assert str(answer) == "dependent: they are connected by A – B – C"
    assert query(chain, "A _||_ C | B").separator == ("B",)


def test_separation_is_not_needed() -> None:
    model = Structure(dict.fromkeys("ABCD", 2), ["A=1 & B=1 & D=1", "B=1 & C=1 & D=0"])
    assert is_independent(model, "A", "C", given="D")
    assert not is_independent(model, "A", "C")
    assert query(model, "A _||_ C | D").blocking == ("D",)


def test_two_paths_may_need_two_variables_that_block_and_no_third() -> None:
    ways = ["A=1 & M=1 & C=1", "M=1 & B=1 & C=0", "A=1 & N=1 & D=1", "N=1 & B=1 & D=0"]
    model = Structure(dict.fromkeys("ABCDEMN", 2), [*ways, "A=1 & M=1 & C=1 & E=0"])
    answer = query(model, "A _||_ B | C, D, E")
    assert answer.blocking == ("C", "D")


def test_weights_do_not_matter() -> None:
    model = Structure({"A": 2, "B": 2}, ["A=1 & B=1"])
    assert not is_independent(LogLinear(model, np.zeros(1)), "A", "B")


@pytest.mark.parametrize(("count", "independent"), [(3, False), (4, True)])
def test_queries_that_encode_a_riddle(count: int, independent: bool) -> None:
    model = pigeons(count, 3)
    q = ends(model)
    assert asked(model, q) == independent
    if not independent:
        answer = query(model, q)
        check_path(model, q, answer)
        assert len(answer.path) == sum(name[0] == "n" for name in model.domain.names)


def test_undecided_is_no_bool() -> None:
    model = pigeons(13, 12)
    q = ends(model)
    for limit in (0.0, 0.2):
        with pytest.raises(OpenResult, match="time_limit"):
            is_independent(model, q.first, q.second, given=q.given, time_limit=limit)
    reasoned = query(model, q, time_limit=0.0)
    assert reasoned.word == "undecided"
    with pytest.raises(OpenResult):
        bool(reasoned)


def test_a_time_limit_does_not_hurt_easy_queries() -> None:
    model = pigeons(13, 12)
    assert is_independent(model, "x1", "x2", given=["n0", "n1"], time_limit=60) is False


DOMAIN = Domain({"A": 2, "B": ["no", "yes"], "C": 3})


@pytest.mark.parametrize(
    ("first", "second", "conditions", "message"),
    [
        ("A", "Z", {}, "unknown variable 'Z'"),
        ("A", "A", {}, "'A' is on both sides"),
        ("A", "B", {"given": "A"}, "'A' is on a side of the query and given"),
        ("A", "B", {"context": "A=1"}, "'A' is on a side of the query and in the context"),
        ("A", "B", {"given": "C", "context": {"C": 1}}, "'C' is given and also in the context"),
        ("A", "C", {"context": "B=maybe"}, "'B' has no state 'maybe'; its states are no, yes"),
        ("A", [], {}, "at least one variable on either side"),
        (
            "A",
            "B",
            {"context": "C!=1"},
            "a query gives one state to a variable: C=yes; for several",
        ),
    ],
)
def test_bad_queries(first: str, second: str, conditions: dict[str, str], message: str) -> None:
    with pytest.raises(DomainError, match=message) as caught:
        is_independent(Structure(DOMAIN), first, second, **conditions)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_a_model_may_be_named_by_its_file_or_as_an_example(tmp_path: Path) -> None:
    """Every function of a model accepts an object, a file path or the name of an example."""
    path = tmp_path / "lung.json"
    write(examples.load("lung"), path)
    for model in ("lung", path, str(path), examples.load("lung")):
        assert not is_independent(model, "smoker", "asbestos", given="cancer")
        assert query(model, "smoker _||_ cancer").word == "dependent"
        assert explain_model(model).counts == explain_model("lung").counts
        (pair,) = explain_model(model, pairs=[("smoker", "asbestos")]).listed
        assert pair.contexts == 2
        assert graph(model).number_of_nodes() == 3


def test_the_answer_of_a_partly_directed_graph_without_a_dag_says_so() -> None:
    """Features cannot express that A and B are independent while their child is unobserved."""
    domain = Domain({"A": 2, "B": 2, "C": 2})
    features = from_ldag([("A", "C"), ("B", "C")], domain).features
    model = Structure(domain, features, origin=Origin(directed=True))
    answer = query(model, "A _||_ B")
    assert "features cannot express" in str(answer)
    assert "features cannot express" not in str(query("six", "X1 _||_ X2"))


# -- queries as text -------------------------------------------------------------------------------


ANY = names() | st.text(st.sampled_from('A⫫_|" ,='), max_size=5)


@given(
    st.lists(ANY, min_size=1, max_size=3).map(tuple),
    st.lists(ANY, min_size=1, max_size=3).map(tuple),
    st.lists(ANY, max_size=3).map(tuple),
    st.dictionaries(ANY, ANY, max_size=3),
)
def test_what_is_written_comes_back(
    first: tuple[str, ...],
    second: tuple[str, ...],
    conditions: tuple[str, ...],
    context: dict[str, str],
) -> None:
    statement = Statement(first, second, conditions, context)
    assert parse_statement(str(statement)) == statement


@given(st.text(st.sampled_from('AB ⫫_|,="\\&!<')) | st.text())
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    message = ""
    try:
        parse_statement(text)
    except ContextwiseError as error:
        message = str(error)
    assert "\n" not in message


def test_both_signs_say_the_same() -> None:
    assert parse_statement("A _||_ B|C,D=yes") == parse_statement("A ⫫ B | C & D = yes")
    assert parse_statement('"A_||_x" ⫫ B').first == ("A_||_x",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A B", "needs one ⫫ or _||_"),
        ("A ⫫ B ⫫ C", "needs one ⫫ or _||_"),
        ("A ⫫ ", "expected a name but found the end"),
        (" ⫫ B", "expected a name but found the end"),
        ("A ⫫ B |", "expected a name but found the end"),
        ("A ⫫ B | C | D", "a second bar"),
        ("A ⫫ B=1", "'B' has a state left of the bar"),
        ("A ⫫ B | C=", "expected a comma but found '='"),
        ("A ⫫ B | C!=1", "expected a comma but found '!='"),
    ],
)
def test_bad_texts(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_statement(text)
    assert message in str(caught.value)


def test_two_states_of_one_variable() -> None:
    with pytest.raises(DomainError, match="two states to 'C'"):
        parse_statement("A ⫫ B | C=1, C=0")


@given(cases())
def test_the_notation_of_the_paper_and_its_equation_5(case: Case) -> None:
    """Eq. 5 read literally: no feature that the context allows has both variables."""
    model, statement = case
    asked = Statement(
        statement.first[:1],
        statement.second[:1],
        statement.given,
        statement.context,
    )
    condition = str(asked).partition(" | ")[2]
    first, second = (quoted(side[0]) for side in (asked.first, asked.second))
    text = f"I({first}, {second} | {condition})" if condition else f"I({first}, {second})"
    assert parse_statement(text) == asked
    answer = query(model, text)
    literal = not any(
        {*asked.first, *asked.second} <= feature.keys()
        and all(state in feature.get(name, [state]) for name, state in asked.context.items())
        for feature in model
    )
    assert answer.by_equation_5 is literal
    assert answer.independent is query(model, asked).independent
    assert bool(answer.equation_5) is (literal != answer.independent)
    assert query(model, asked).equation_5 == ""


@pytest.mark.parametrize("text", ["I(A)", "I(A, B, C)", "I(A, B | C | D)", "I(A=1, B)", "I(, )"])
def test_bad_texts_in_the_notation_of_the_paper(text: str) -> None:
    with pytest.raises(ParseError, match="query"):
        parse_statement(text)
