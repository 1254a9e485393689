"""What one session knows: its view, its models, and what was compared.

The parts of the view are values of their own, so that a change of one part is told only to those
who look at it: a click on a pair does not draw the heat map again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

from shiny import reactive, req

from contextwise.comparison.compare import Comparison
from contextwise.comparison.pairs import Contexts, Pair
from contextwise.explorer import view as views
from contextwise.explorer.background import Background, Begun
from contextwise.explorer.computations import Findings, compare_all
from contextwise.explorer.job import Done, Failed
from contextwise.explorer.view import Entries, Entry, View
from contextwise.models.domain import Domain
from contextwise.models.structure import Model
from contextwise.report.shares import Shares

TIME_LIMIT = 60.0  # seconds for each guess, where nobody chose
GRACE = 20.0  # seconds that a comparison may take beyond its own time limit
KEPT = 8
"""So many comparisons of lasting models are kept for the next session, or for a reload."""

Key = tuple[str, str, Contexts]
"""What a comparison is known by: true model, guess, contexts."""
T = TypeVar("T")


@dataclass(frozen=True)
class Shown:
    """The comparison that the views show."""

    true: Entry
    guess: Entry
    findings: Findings

    @property
    def comparison(self) -> Comparison:
        """The comparison itself."""
        return self.findings.comparison

    @property
    def shares(self) -> Shares:
        """Its shares as floats."""
        return self.findings.shares

    @property
    def name(self) -> str:
        """What a file about it is called."""
        return f"{self.true.label} vs {self.guess.label}"


class Settled(Generic[T]):
    """A value that is told of only when it really changes.

    Parameters
    ----------
    made : the value, of other reactive values
    same : whether two values are the same
    """

    def __init__(self, made: Callable[[], T], same: Callable[[T, T], bool]) -> None:
        with reactive.isolate():
            self._value: reactive.Value[T] = reactive.value(made(), name=made.__name__)

        @reactive.effect(priority=10)
        def settle() -> None:
            found = made()
            with reactive.isolate():
                if not same(found, self._value()):
                    self._value.set(found)

    def __call__(self) -> T:
        """The value, as a reactive read: a change runs the reader again."""
        return self._value()


Ahead = dict[tuple[str, tuple[str, ...], Contexts], Begun]
"""Comparisons that were begun before their session: true model, guesses, contexts."""


def begin(
    true: Entry, missing: Mapping[str, tuple[str, Model]], contexts: Contexts, time_limit: float
) -> Begun:
    """Begin to compare guesses.

    Parameters
    ----------
    true : the true model
    missing : the label and the model of each guess, by its key
    contexts : what a context is
    time_limit : seconds for each guess
    """
    seconds = time_limit * len(missing) + GRACE
    return Begun.of(compare_all, true.model, missing, contexts, time_limit, seconds=seconds)


def begin_ahead(view: View, entries: Entries, kept: Mapping[Key, Findings], ahead: Ahead) -> None:
    """Begin what a session will ask for, while its page is on the way to the browser.

    Parameters
    ----------
    view : what the page will show
    entries : the models that can be chosen
    kept : what is known already
    ahead : where the work is kept for the session; one that never came loses its own
    """
    true, contexts = views.true_model(view, entries), view.contexts
    missing = {
        entry.key: (entry.label, entry.model)
        for entry in views.chosen_guesses(view, entries)
        if (true.key, entry.key, contexts) not in kept
    }
    wanted = (true.key, tuple(missing), contexts)
    if not missing or wanted in ahead:
        return
    for begun in ahead.values():
        begun.result.cancel()
    ahead.clear()
    ahead[wanted] = begin(true, missing, contexts, TIME_LIMIT)


class State:
    """The reactive state of a session; views read it, and `go` changes it.

    Parameters
    ----------
    entries : the models that can be chosen from the start
    kept : comparisons that other sessions have made; new ones of lasting models are added
    view : what the page shows at first
    ahead : comparisons that were begun while the page was on its way to the browser
    """

    def __init__(
        self, entries: Entries, kept: dict[Key, Findings], view: View, ahead: Ahead
    ) -> None:
        self.entries: reactive.Value[Entries] = reactive.value(dict(entries), name="entries")
        self.comparing = Background(compare_all)
        self._parts: dict[str, reactive.Value[Any]] = {
            part.name: reactive.value(getattr(view, part.name), name=part.name)
            for part in fields(View)
        }
        self._kept = kept
        self._ahead = ahead
        self._found: reactive.Value[Mapping[Key, Findings]] = reactive.value(
            dict(kept), name="found"
        )
        self.stepped = False  # whether the last change of the view was a step of a person
        self.true = Settled(self._true, _is)
        self.guesses = Settled(self._guesses, _are)
        self.guess = Settled(self._guess, _is)
        self.current = Settled(self._current, _same_shown)

    # -- the view --------------------------------------------------------------------------------

    def view(self) -> View:
        """The view, as a reactive read."""
        return View(**{name: part() for name, part in self._parts.items()})

    def now(self) -> View:
        """The view, for somebody who does something with it at this moment."""
        with reactive.isolate():
            return self.view()

    def go(self, view: View, *, step: bool = True) -> None:
        """Turn to a view; a step is one that Back undoes."""
        for name, part in self._parts.items():
            with reactive.isolate():
                before = part()
            if getattr(view, name) != before:
                part.set(getattr(view, name))
                self.stepped = step

    def tab(self) -> str:
        """The view in front."""
        return str(self._parts["tab"]())

    def contexts(self) -> Contexts:
        """What a context is."""
        chosen: Contexts = self._parts["contexts"]()
        return chosen

    def question(self) -> str:
        """The independence question that was asked."""
        return str(self._parts["question"]())

    def all_edges(self) -> bool:
        """Whether graphs show every edge."""
        return bool(self._parts["all_edges"]())

    def context(self) -> dict[str, str]:
        """The context of the graphs."""
        return views.context_in(self.domain(), str(self._parts["context"]()))

    def pair(self) -> Pair:
        """The pair that is looked at: the chosen one, or the worst; the reader waits for it."""
        shown = self.shown()
        chosen: Pair | None = self._parts["pair"]()
        names = shown.comparison.domain.names
        if chosen and chosen[0] != chosen[1] and set(chosen) <= set(names):
            return chosen
        req(len(names) > 1)
        return shown.findings.worst or (names[0], names[1])

    def variable(self) -> str | None:
        """The variable whose neighbours stand beside the heat map, if they do."""
        chosen: str | None = self._parts["variable"]()
        return chosen if chosen in self.domain().positions else None

    # -- the models ------------------------------------------------------------------------------

    def _true(self) -> Entry:
        return views.true_model(View(true=self._parts["true"]()), self.entries())

    def _guesses(self) -> list[Entry]:
        chosen = View(true=self._true().key, guesses=self._parts["guesses"]())
        return views.chosen_guesses(chosen, self.entries())

    def _guess(self) -> Entry | None:
        guesses, shown = self._guesses(), self._parts["shown"]()
        return next((entry for entry in guesses if entry.key == shown), next(iter(guesses), None))

    def offered(self) -> list[Entry]:
        """The models that can be guesses at the true one."""
        return views.offered_guesses(self.true(), self.entries())

    def domain(self) -> Domain:
        """The variables of the models."""
        return self.true().model.domain

    def add(self, models: Iterable[tuple[str, Model]]) -> tuple[str, ...]:
        """Take in models of this session alone; those that fit become guesses. Their keys."""
        with reactive.isolate():
            before = self.entries()
            entries = views.with_uploads(before, models)
            keys = tuple(key for key in entries if key not in before)
            chosen = (*(entry.key for entry in self.guesses()), *keys)
            fitting = {entry.key for entry in views.offered_guesses(self.true(), entries)}
            self.entries.set(entries)
        if fitting.intersection(keys):
            guesses = tuple(key for key in chosen if key in fitting)
            shown = next(key for key in keys if key in fitting)
            self.go(replace(self.now(), guesses=guesses, shown=shown))
        return keys

    # -- the comparisons -------------------------------------------------------------------------

    def compare(self, *, time_limit: float, again: bool = False) -> None:
        """Begin what has not been compared yet; ``again`` includes what was left open."""
        true, contexts, guesses = self.true(), self.contexts(), self.guesses()
        with reactive.isolate():
            found = self._found()
        missing = {}
        for entry in guesses:
            known = found.get((true.key, entry.key, contexts))
            if known is None or (again and known.is_open):
                missing[entry.key] = (entry.label, entry.model)
        if not missing:
            self.comparing.drop()
            return
        wanted = (true.key, tuple(missing), contexts)
        begun = self._ahead.pop(wanted, None) or begin(true, missing, contexts, time_limit)
        self.comparing.adopt(wanted, begun)

    def keep_results(self) -> None:
        """Take in what was compared."""
        asked = self.comparing.asked()
        outcome = self.comparing.outcome(asked)
        if not isinstance(outcome, Done):
            return
        assert isinstance(asked, tuple)
        true, _, contexts = asked
        new = {(true, key, contexts): findings for key, findings in outcome.value.items()}
        with reactive.isolate():
            self._found.set({**self._found(), **new})
            entries = self.entries()
        for key in new:
            if entries[key[0]].lasting and entries[key[1]].lasting:
                self._kept[key] = new[key]
        while len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]

    def failure(self) -> str | None:
        """Why there is no result, if comparing failed."""
        outcome = self.comparing.outcome(self.comparing.asked())
        return outcome.why if isinstance(outcome, Failed) else None

    def results(self) -> list[Shown]:
        """The comparisons of the chosen guesses that are there."""
        true, contexts, found = self.true(), self.contexts(), self._found()
        return [
            Shown(true, entry, found[true.key, entry.key, contexts])
            for entry in self.guesses()
            if (true.key, entry.key, contexts) in found
        ]

    def _current(self) -> Shown | None:
        true, guess = self._true(), self._guess()
        found = guess and self._found().get((true.key, guess.key, self.contexts()))
        return Shown(true, guess, found) if guess and found else None

    def shown(self) -> Shown:
        """The comparison that the views show; the reader waits while there is none."""
        current = self.current()
        req(current is not None)
        assert current is not None
        return current


def _is(one: object, other: object) -> bool:
    return one is other


def _are(some: list[Entry], others: list[Entry]) -> bool:
    return len(some) == len(others) and all(map(_is, some, others))


def _same_shown(one: Shown | None, other: Shown | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.findings is other.findings and one.true is other.true and one.guess is other.guess
