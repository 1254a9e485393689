"""The view of the explorer, its address, and the models that can be chosen."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from contextwise import Domain
from contextwise.explorer.state import (
    MOST_KEPT,
    View,
    chosen_guesses,
    context_in,
    context_text,
    fits,
    keep_for_others,
    library,
    shown_guess,
    with_uploads,
)
from contextwise.report.comparisons import Guess
from shown_guesses import SIX, SIX_GUESS, shown

names = st.text(min_size=1, max_size=8)


@given(
    st.builds(
        View,
        true=st.sampled_from(["", "given:0", "example:six"]),
        guesses=st.none() | st.lists(names, max_size=3).map(tuple),
        shown=st.text(max_size=5),
        tab=st.sampled_from(["overview", "graph", "rows"]),
        pair=st.none() | st.tuples(names, names),
        variable=st.none() | names,
        context=st.text(max_size=9),
        all_edges=st.booleans(),
        question=st.text(max_size=9),
    )
)
def test_an_address_brings_its_view_back(view: View) -> None:
    assert View.parse(f"?{view.query()}") == view


def test_nonsense_in_an_address_is_left_out() -> None:
    assert View.parse("tab=no&first=x&%%%") == View()


def test_a_link_never_names_an_upload() -> None:
    view = View(true="given:0", guesses=("given:1", "upload:0"), shown="upload:0", pair=("A", "B"))
    assert "upload" not in view.link().query()
    assert view.link().pair == ("A", "B")
    assert replace(view, true="upload:1").link().pair is None


def test_guesses_are_models_over_the_same_variables() -> None:
    entries = library()
    view = View(true="example:lung")
    assert [entry.key for entry in chosen_guesses(view, entries)] == ["example:lung-learned"]
    assert chosen_guesses(replace(view, guesses=()), entries) == []
    assert shown_guess(replace(view, guesses=()), entries) is None
    assert shown_guess(replace(view, shown="no"), entries) is entries["example:lung-learned"]


def test_an_example_that_is_named_is_offered_once() -> None:
    labels = [entry.label for entry in library([("six", SIX), ("six-guess", SIX_GUESS)]).values()]
    assert labels.count("six") == 1
    assert "six (example)" not in labels


def test_a_context_is_built_state_by_state() -> None:
    view = View().with_state(SIX.domain, "X0", "1")
    assert view.context == "X0=1"
    assert view.with_state(SIX.domain, "X0", "0").context == "X0=0"
    assert view.with_state(SIX.domain, "nobody", "0") == view
    assert view.with_state(SIX.domain, "X0", "many").context == ""


def test_a_context_may_have_several_states_of_a_variable() -> None:
    domain = Domain({"Dept": ["A", "B", "C"], "sex": ["f", "m"]})
    view = View.parse("?context=Dept%3DA%7CB")
    assert context_in(domain, view.context) == {"Dept": ("A", "B")}
    assert context_in(domain, "Dept!=B") == {"Dept": ("A", "C")}
    chosen = view.with_state(domain, "sex", "f")
    assert chosen.context == "Dept=A|B & sex=f"
    assert View.parse(chosen.query()) == chosen
    assert chosen.with_state(domain, "Dept", "C").context == "sex=f & Dept=C"
    assert chosen.with_state(domain, "Dept", None).context == "sex=f"


def test_contexts_and_domains_that_fit() -> None:
    domain = Domain({"age": ["young", "old"], "smoker": ["no", "yes"]})
    assert context_in(domain, "smoker=yes") == {"smoker": "yes"}
    assert context_in(domain, "weight=9") == {}
    assert context_text({"age": "old", "smoker": "yes"}) == "age=old & smoker=yes"
    assert fits(Domain({"A": 2, "B": 3}), Domain({"B": 3, "A": 2}))
    assert not fits(Domain({"A": 2, "B": 3}), Domain({"B": 2, "A": 2}))
    labels = [entry.label for entry in with_uploads({}, [("a.mn", SIX), ("a.mn", SIX)]).values()]
    assert labels == ["a.mn", "a.mn (2)"]


def test_comparisons_of_uploads_are_for_their_own_session() -> None:
    entries = with_uploads(library([("six", SIX), ("near", SIX_GUESS)]), [("mine.mn", SIX_GUESS)])
    kept: dict[tuple[str, str], Guess] = {}
    lasting, mine = ("given:0", "given:1"), ("given:0", "upload:0")
    keep_for_others(kept, {lasting: shown(), mine: shown(), mine[::-1]: shown()}, entries)
    assert list(kept) == [lasting]


def test_the_oldest_comparisons_are_forgotten() -> None:
    entries = library([(f"m{k}", SIX) for k in range(MOST_KEPT + 2)])
    kept: dict[tuple[str, str], Guess] = {}
    keys = [("given:0", f"given:{k}") for k in range(1, MOST_KEPT + 2)]
    for key in keys:
        keep_for_others(kept, {key: shown()}, entries)
    assert list(kept) == keys[1:]
