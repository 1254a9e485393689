"""A tracker is exact after every step, whatever the steps, the domain and the contexts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwise import Claims, Domain, Structure, compare
from contextwise.comparison.question import Question
from contextwise.comparison.tracker import Tracker, track
from contextwise.comparison.two_models import Comparison, answer
from contextwise.errors import ContextwiseError
from contextwise.support.effort import Effort
from contextwise.testing import claims, domains, features, random_structure, structures

RESTRICTIONS: dict[str, dict[str, Any]] = {
    "all": {},
    "canonical": {"contexts": "canonical"},
    "weights": {"weights": {"V0": {"0": 0.25, "1": 0.75}}},
    "pairs": {"pairs": [("V0", "V1"), ("V1", "V3")]},
    "variables": {"variables": ["V0", "V2", "V3"]},
}
DOMAIN = Domain({"V0": 2, "V1": 3, "V2": 2, "V3": 65, "V4": 2, "V5": 4})


def random_feature(domain: Domain, rng: np.random.Generator) -> dict[str, list[str]]:
    scope = rng.choice(len(domain), rng.integers(1, len(domain)), replace=False).tolist()
    found = {}
    for v in scope:
        states = domain.states[v]
        count = int(rng.integers(1, len(states)))
        found[domain.names[v]] = rng.choice(states, count, replace=False).tolist()
    return found


def walk(tracker: Tracker, steps: int, rng: np.random.Generator) -> list[str]:
    """Make random steps, and give a word for each."""
    done = []
    for _ in range(steps):
        now = [
            {name: list(states) for name, states in feature.items()} for feature in tracker.guess
        ]
        kind = rng.choice(["add", "remove", "replace", "undo"], p=[0.4, 0.3, 0.15, 0.15])
        try:
            if kind == "add":
                tracker.add(random_feature(DOMAIN, rng))
            elif kind == "undo":
                tracker.undo()
            elif now and kind == "remove":
                tracker.remove(now[int(rng.integers(len(now)))])
            elif now:
                tracker.replace(now[int(rng.integers(len(now)))], random_feature(DOMAIN, rng))
        except ContextwiseError:
            kind = "refused"
        done.append(str(kind))
    return done


@pytest.mark.parametrize("by_claims", [False, True])
@pytest.mark.parametrize("restriction", RESTRICTIONS.values(), ids=RESTRICTIONS)
def test_a_random_walk_is_exact_at_every_step(restriction: dict[str, Any], by_claims: bool) -> None:
    rng = np.random.default_rng(5)
    true = Structure(DOMAIN, [random_feature(DOMAIN, rng) for _ in range(6)])
    if by_claims:
        if "contexts" in restriction:
            pytest.skip("canonical contexts need features")
        every = Claims.of(true)  # without half of its rows, no features make these claims
        true = Claims(DOMAIN, every.features.take(np.arange(0, len(every), 2)))
    guess = Structure(DOMAIN, [random_feature(DOMAIN, rng) for _ in range(4)])
    tracker = track(true, guess, **restriction)
    kinds: set[str] = set()
    for _ in range(200):  # with five restrictions, 1,000 steps
        kinds.update(walk(tracker, 1, rng))
        exact = compare(true, tracker.guess, **restriction)
        assert tracker.confusion == exact.confusion
        first, second = exact.pair_names()[0] if len(exact.pairs) else ("V0", "V1")
        assert tracker.pair(first, second) == exact.pair(first, second)
    assert kinds >= {"add", "remove", "replace", "undo"}


@pytest.mark.parametrize("canonical", [False, True])
def test_a_walk_among_many_variables_is_exact(canonical: bool) -> None:
    """Too many variables for truth tables, inside of the cubes too."""
    domain = Domain({f"X{k}": 3 if k % 9 == 8 else 2 for k in range(30)})
    pool = list(random_structure(domain, features=160, lengths=(2, 7), seed=3))
    true, guess = Structure(domain, pool[:70]), Structure(domain, pool[50:120])
    contexts: dict[str, Any] = {"contexts": "canonical"} if canonical else {}
    tracker = track(true, guess, **contexts)
    for k in range(40):
        tracker.replace(pool[50 + k], pool[120 + k])
        assert tracker.confusion == compare(true, tracker.guess, **contexts).confusion
    for _ in range(40):
        tracker.undo()
    assert tracker.confusion == compare(true, guess, **contexts).confusion


@given(st.data())
def test_a_preview_tells_what_the_change_does_and_changes_nothing(data: st.DataObject) -> None:
    domain = data.draw(domains(min_variables=2))
    true: Structure = data.draw(structures(domain) | claims(domain))
    guess = data.draw(structures(domain))
    tracker = track(true, guess)
    before = tracker.confusion
    new = Structure(domain, [data.draw(features(domain)) for _ in range(2)])
    more = [f for f in new if f not in list(guess)]
    less = [f for f in guess if data.draw(st.booleans())]
    seen = tracker.preview(add=more, remove=less)
    kept = [f for f in guess if f not in less]
    assert seen == compare(true, Structure(domain, [*kept, *more])).confusion
    assert tracker.confusion == before == compare(true, tracker.guess).confusion


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda t: t.remove("X0=0 & X1=0"), "has no feature"),
        (lambda t: t.add("X0=1 & X1=1"), "already"),
        (lambda t: t.add("X9=1"), "unknown variable"),
        (lambda t: t.add("X0=0 & X0=1"), "leaves no state"),
        (lambda t: t.undo(), "no step to undo"),
        (lambda t: t.preview(add=["X2=1", "X2=1"]), "twice"),
        (lambda t: t.preview(add=["X0=1 & X1=1"], remove=["X0=1 & X1=1"]), "add and remove"),
        (lambda t: t.replace("X2=0", "X2=1"), "has no feature"),
    ],
)
def test_a_refused_step_changes_nothing(step: Any, words: str) -> None:
    model = Structure({"X0": 2, "X1": 2, "X2": 2}, ["X0=1 & X1=1"])
    tracker = track(model, model)
    with pytest.raises(ContextwiseError, match=words):
        step(tracker)
    assert (tracker.distance, tracker.guess, len(tracker)) == (0, model, 1)


def test_rows_are_not_followed() -> None:
    model = Structure({"X0": 2, "X1": 2}, ["X0=1 & X1=1"])
    with pytest.raises(ContextwiseError, match="observed rows"):
        track(model, model, data=[[1, 1]])


def test_ctrl_c_ends_a_tracker_that_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(question: Question, effort: Effort) -> Comparison:
        found = answer(question)
        return replace(found, unions=replace(found.unions, interrupted=True))

    monkeypatch.setattr("contextwise.comparison.tracker.answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        track("six", "six-guess")
