"""The reactive state of one session: its view, its models, and its comparisons.

The parts of the view are separate reactive values, so that a change of one part reaches only its
readers: a click on a pair does not draw the heat map again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from operator import is_
from typing import Any

from shiny import reactive, req

from contextwise.comparison.question import Contexts, Pair
from contextwise.explorer import view as views
from contextwise.explorer.computations import compare_all
from contextwise.explorer.job import Background, Done, Failed, Job
from contextwise.explorer.messages import quoted, warn
from contextwise.explorer.view import Entries, Entry, View
from contextwise.explorer.wiring import Settled
from contextwise.models.domain import Domain
from contextwise.models.structure import Model
from contextwise.report.comparisons import Guess

TIME_LIMIT = 60.0  # seconds for each guess, by default
GRACE = 20.0  # seconds that a comparison may take beyond its own time limit
MOST_KEPT = 8  # comparisons of lasting models that are kept for other sessions

Key = tuple[str, str, Contexts]  # a comparison: true model, guess, contexts
Ahead = dict[tuple[str, tuple[str, ...], Contexts], Job]
"""Comparisons that began before their session: true model, guesses, contexts."""


def begin(
    true: Entry, missing: Mapping[str, tuple[str, Model]], contexts: Contexts, time_limit: float
) -> Job:
    """Begin to compare guesses, given as labels and models by key."""
    seconds = time_limit * len(missing) + GRACE
    arguments = (true.model, missing, contexts, time_limit)
    return Job(compare_all, *arguments, seconds=seconds).begin()


def begin_ahead(view: View, entries: Entries, kept: Mapping[Key, Guess], ahead: Ahead) -> None:
    """Begin the comparisons of a view while its page is on the way to the browser."""
    true, contexts = views.true_model(view, entries), view.contexts
    missing = {
        entry.key: (entry.label, entry.model)
        for entry in views.chosen_guesses(view, entries)
        if (true.key, entry.key, contexts) not in kept
    }
    wanted = (true.key, tuple(missing), contexts)
    if not missing or wanted in ahead:
        return
    for job in ahead.values():  # of a page that never opened a session
        assert job.task is not None
        job.task.cancel()
    ahead.clear()
    ahead[wanted] = begin(true, missing, contexts, TIME_LIMIT)


class State:
    """The state of a session; `go` changes it, and ``kept`` is shared with other sessions."""

    def __init__(self, entries: Entries, kept: dict[Key, Guess], view: View, ahead: Ahead) -> None:
        self.entries: reactive.Value[Entries] = reactive.value(dict(entries), name="entries")
        self.comparing = Background(compare_all)
        self._parts: dict[str, reactive.Value[Any]] = {
            part.name: reactive.value(getattr(view, part.name), name=part.name)
            for part in fields(View)
        }
        self.tab: reactive.Value[str] = self._parts["tab"]
        self.contexts: reactive.Value[Contexts] = self._parts["contexts"]
        self.question: reactive.Value[str] = self._parts["question"]
        self.all_edges: reactive.Value[bool] = self._parts["all_edges"]
        self._kept = kept
        self._ahead = ahead
        self._compared: reactive.Value[Mapping[Key, Guess]] = reactive.value(
            dict(kept), name="compared"
        )
        self.stepped = False  # whether the user made the last change of the view
        self.true = Settled(self._true, is_)
        self.guesses = Settled(self._guesses)  # entries are equal only if they are the same
        self.guess = Settled(self._guess, is_)
        self.current = Settled(self._current, is_)

    def view(self) -> View:
        return View(**{name: part() for name, part in self._parts.items()})

    def now(self) -> View:
        """Return the view without a reactive dependency."""
        with reactive.isolate():
            return self.view()

    def go(self, view: View, *, step: bool = True) -> None:
        """Turn to a view; Back undoes a step."""
        for name, part in self._parts.items():
            with reactive.isolate():
                before = part()
            if getattr(view, name) != before:
                part.set(getattr(view, name))
                self.stepped = step

    def change(self, **parts: Any) -> None:
        """Turn to the view with other values of some parts."""
        self.go(replace(self.now(), **parts))

    def context(self) -> dict[str, str]:
        return views.context_in(self.domain(), self._parts["context"]())

    def pair(self) -> Pair:
        """Return the chosen pair or the worst one; without a comparison, stop the reader."""
        shown = self.shown()
        chosen: Pair | None = self._parts["pair"]()
        names = shown.comparison.domain.names
        if chosen and chosen[0] != chosen[1] and set(chosen) <= set(names):
            return chosen
        req(len(names) > 1)
        return shown.worst_pair or (names[0], names[1])

    def variable(self) -> str | None:
        """Return the variable whose neighbours are listed, if they are."""
        chosen: str | None = self._parts["variable"]()
        return chosen if chosen in self.domain().positions else None

    def _true(self) -> Entry:
        return views.true_model(View(true=self._parts["true"]()), self.entries())

    def _view_of_models(self) -> View:
        guesses, shown = self._parts["guesses"](), self._parts["shown"]()
        return View(true=self._true().key, guesses=guesses, shown=shown)

    def _guesses(self) -> list[Entry]:
        return views.chosen_guesses(self._view_of_models(), self.entries())

    def _guess(self) -> Entry | None:
        return views.shown_guess(self._view_of_models(), self.entries())

    def knows(self, *keys: str) -> bool:
        """Return whether there are models with these keys; print a line if not."""
        with reactive.isolate():
            unknown = [key for key in keys if key not in self.entries()]
        if unknown:
            warn(f"the unknown model {quoted(unknown[0])}")
        return not unknown

    def offered(self) -> list[Entry]:
        return views.offered_guesses(self.true(), self.entries())

    def domain(self) -> Domain:
        return self.true().model.domain

    def add(self, models: Iterable[tuple[str, Model]]) -> tuple[str, ...]:
        """Add models of this session; those that fit become guesses. Return their keys."""
        with reactive.isolate():
            before = self.entries()
            entries = views.with_uploads(before, models)
            keys = tuple(key for key in entries if key not in before)
            chosen = (*(entry.key for entry in self.guesses()), *keys)
            fitting = {entry.key for entry in views.offered_guesses(self.true(), entries)}
            self.entries.set(entries)
        if fitting.intersection(keys):
            guesses = tuple(key for key in chosen if key in fitting)
            self.change(guesses=guesses, shown=next(key for key in keys if key in fitting))
        return keys

    def compare(self, *, time_limit: float, again: bool = False) -> None:
        """Begin the comparisons that are missing; ``again`` includes those with open pairs."""
        true, contexts, guesses = self.true(), self.contexts(), self.guesses()
        with reactive.isolate():
            compared = self._compared()
        missing = {}
        for entry in guesses:
            known = compared.get((true.key, entry.key, contexts))
            if known is None or (again and is_open(known)):
                missing[entry.key] = (entry.label, entry.model)
        if not missing:
            self.comparing.drop()
            return
        wanted = (true.key, tuple(missing), contexts)
        job = self._ahead.pop(wanted, None) or begin(true, missing, contexts, time_limit)
        self.comparing.adopt(wanted, job)

    def keep_results(self) -> None:
        """Take in the comparisons that are done."""
        outcome, key = self.comparing.latest(), self.comparing.key()
        if not isinstance(outcome, Done):
            return
        assert isinstance(key, tuple)
        true, _, contexts = key
        new = {(true, name, contexts): guess for name, guess in outcome.value.items()}
        with reactive.isolate():
            self._compared.set({**self._compared(), **new})
            entries = self.entries()
        for known, guess in new.items():
            if entries[known[0]].lasting and entries[known[1]].lasting:
                self._kept[known] = guess
        while len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]

    def failure(self) -> str | None:
        outcome = self.comparing.latest()
        return outcome.why if isinstance(outcome, Failed) else None

    def results(self) -> list[Guess]:
        """Return the chosen guesses that are compared."""
        true, contexts, compared = self.true(), self.contexts(), self._compared()
        keys = [(true.key, entry.key, contexts) for entry in self.guesses()]
        return [compared[key] for key in keys if key in compared]

    def _current(self) -> Guess | None:
        guess = self._guess()
        if guess is None:
            return None
        return self._compared().get((self._true().key, guess.key, self.contexts()))

    def shown(self) -> Guess:
        """Return the guess that the views show; without one, stop the reader."""
        current = self.current()
        req(current is not None)
        assert current is not None
        return current

    def file_name(self, what: str) -> str:
        return f"{self.true().label} vs {self.shown().title} {what}"


def is_open(guess: Guess) -> bool:
    """Return whether a time limit left pairs of a comparison open."""
    return bool(len(guess.comparison.unions.open))
