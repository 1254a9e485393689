"""The state of the page as one value, the models to choose from, and the state of a session.

Every action makes a new `View` from the old one, and the page follows it. The view is also the
address of the page, so that links, Back and Forward work. In a `State` the parts of the view are
separate reactive values, so that a change of one part reaches only its readers: a click on a pair
does not draw the heat map again.

A model has a key: ``example:six`` is bundled, ``given:0`` is the first on the command line, and
``upload:0`` is the first uploaded file. Uploads end with the session, so links leave them out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import is_
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

from shiny import reactive, req

from contextwise.analysis.conclusions import Analysis
from contextwise.comparison.question import Pair
from contextwise.errors import ContextwiseError, DomainError
from contextwise.explorer.computations import compare_all
from contextwise.explorer.controls import Input, Settled, quoted, uploads, warn
from contextwise.explorer.job import Background, Done, Failed, Outcome, Upload
from contextwise.models.box import Box
from contextwise.models.domain import Domain
from contextwise.models.notation import Literal, write_literals
from contextwise.models.structure import Model, alignment
from contextwise.report.comparisons import Guess
from contextwise.truths import bundled

TABS = {
    "overview": "Overview",
    "graph": "Graph",
    "question": "Question",
    "rows": "Rows",
}
"""The tabs and their titles."""
FIRST_TAB = next(iter(TABS))
UPLOAD = "upload:"
TIME_LIMIT, LONGER = 60.0, 600.0  # seconds for each guess, at first and on request
SECONDS_BEYOND_COMPARING = 20.0  # seconds that a comparison may take beyond its own time limit
MOST_KEPT = 8  # comparisons of lasting models that are kept for other sessions

ROWS: Input[tuple[Upload, ...]] = Input("rows", uploads, ())

Key = tuple[str, str]
"""A comparison: the keys of the true model and of the guess."""


@dataclass(frozen=True)
class View:
    """The state of the page; it chooses the parts that are left out.

    ``guesses`` is None until some are chosen, ``shown`` is the guess in the views, ``variable`` is
    the one whose neighbours are listed, ``peers`` tells that neither model is true, and ``context``
    is text such as ``A=1 & B=0|2``.
    """

    true: str = ""
    guesses: tuple[str, ...] | None = None
    shown: str = ""
    peers: bool = False
    tab: str = FIRST_TAB
    pair: Pair | None = None
    variable: str | None = None
    context: str = ""
    all_edges: bool = False
    question: str = ""

    @classmethod
    def parse(cls, query: str) -> View:
        """Read a query string; invalid parts are left out."""
        try:
            values = parse_qs(query.removeprefix("?"), keep_blank_values=True, max_num_fields=1000)
        except ValueError:  # too many fields
            return cls()

        def first(key: str) -> str:
            return values.get(key, [""])[0]

        tab = first("tab")
        return cls(
            true=first("true"),
            guesses=tuple(filter(None, values["guess"])) if "guess" in values else None,
            shown=first("shown"),
            peers=first("peers") == "yes",
            tab=tab if tab in TABS else FIRST_TAB,
            pair=(first("first"), first("second")) if first("first") and first("second") else None,
            variable=first("around") or None,
            context=first("context"),
            all_edges=first("edges") == "all",
            question=first("question"),
        )

    def query(self) -> str:
        guesses = ("",) if self.guesses == () else self.guesses or ()
        first, second = self.pair or ("", "")
        fields = [
            ("true", self.true),
            *(("guess", guess) for guess in guesses),
            ("shown", self.shown),
            ("peers", "yes" if self.peers else ""),
            ("tab", self.tab if self.tab != FIRST_TAB else ""),
            ("first", first),
            ("second", second),
            ("around", self.variable or ""),
            ("context", self.context),
            ("edges", "all" if self.all_edges else ""),
            ("question", self.question),
        ]
        return urlencode([(key, value) for key, value in fields if value or key == "guess"])

    def link(self) -> View:
        """Return the view without uploaded files and whatever depends on them."""
        if self.true.startswith(UPLOAD):
            return View(tab=self.tab, peers=self.peers, question=self.question)
        lasting = tuple(key for key in self.guesses or () if not key.startswith(UPLOAD))
        guesses = lasting or (self.guesses if self.guesses == () else None)
        shown = "" if self.shown.startswith(UPLOAD) else self.shown
        return replace(self, guesses=guesses, shown=shown)

    def with_state(self, domain: Domain, variable: str, state: str | None) -> View:
        """Return the view in a context with another state of a variable; None removes it."""
        if variable not in domain.positions:
            return self
        chosen = {variable: state} if state in domain.states[domain.position(variable)] else {}
        rest = context_in(domain, self.context)
        rest.pop(variable, None)
        return replace(self, context=context_text({**rest, **chosen}))


Context = dict[str, str | tuple[str, ...]]
"""The state of each variable that a context restricts, or several states."""


def context_in(domain: Domain, text: str) -> Context:
    """Read a context; one that does not fit the domain is empty."""
    try:
        return Box.of(domain, text).states
    except ContextwiseError:
        return {}


def context_text(context: Mapping[str, str | tuple[str, ...]]) -> str:
    return write_literals(
        Literal(name, (states,) if isinstance(states, str) else states)
        for name, states in context.items()
    )


@dataclass(frozen=True, eq=False)
class ModelEntry:
    key: str
    label: str
    model: Model

    @property
    def lasting(self) -> bool:
        """True unless it ends with the session, as uploads do."""
        return not self.key.startswith(UPLOAD)


Entries = Mapping[str, ModelEntry]


def library(models: Sequence[tuple[str, Model]] = ()) -> dict[str, ModelEntry]:
    """Return the models of the command line and the bundled examples that are not among them."""
    entries = {f"given:{k}": ModelEntry(f"given:{k}", *model) for k, model in enumerate(models)}
    named = dict(models)
    for name in bundled.names():
        model = bundled.load(name)
        if name not in named or named[name] != model:
            key = f"example:{name}"
            entries[key] = ModelEntry(key, f"{name} (example)", model)
    return entries


def with_uploads(entries: Entries, models: Iterable[tuple[str, Model]]) -> dict[str, ModelEntry]:
    """Add uploaded models, each with a label of its own."""
    result = dict(entries)
    for name, model in models:
        taken = {entry.label for entry in result.values()}
        label, copy = name, 1
        while label in taken:
            copy += 1
            label = f"{name} ({copy})"
        key = f"{UPLOAD}{sum(key.startswith(UPLOAD) for key in result)}"
        result[key] = ModelEntry(key, label, model)
    return result


def fits(domain: Domain, other: Domain) -> bool:
    """Return whether two domains have the same variables and states."""
    if domain == other:
        return True
    if len(domain) != len(other) or set(domain.names) != set(other.names):
        return False
    try:
        alignment(other, domain)
    except DomainError:
        return False
    return True


def offered_guesses(true: ModelEntry, entries: Entries) -> list[ModelEntry]:
    """Return the models over the variables of the true model."""
    domain = true.model.domain
    return [e for e in entries.values() if e is not true and fits(domain, e.model.domain)]


def true_model(view: View, entries: Entries) -> ModelEntry:
    """Return the true model of a view; by default the first model."""
    return entries.get(view.true) or next(iter(entries.values()))


def chosen_guesses(view: View, entries: Entries) -> list[ModelEntry]:
    """Return the guesses of a view; by default those of the same origin as the true model.

    Without any, the model is shown alone.
    """
    true = true_model(view, entries)
    offered = offered_guesses(true, entries)
    if view.guesses is not None:
        return [entry for entry in offered if entry.key in view.guesses]
    origin = true.key.partition(":")[0]
    same = [entry for entry in offered if entry.key.partition(":")[0] == origin]
    return same or (offered[:1] if origin == "example" else [])


def shown_guess(view: View, entries: Entries) -> ModelEntry | None:
    """Return the guess that the views show, if any is chosen."""
    guesses = chosen_guesses(view, entries)
    return next((entry for entry in guesses if entry.key == view.shown), next(iter(guesses), None))


def keep_for_others(kept: dict[Key, Guess], new: Mapping[Key, Guess], entries: Entries) -> None:
    """Keep new comparisons for other sessions, but none of an upload; the oldest go first."""
    kept |= {k: guess for k, guess in new.items() if all(entries[each].lasting for each in k)}
    while len(kept) > MOST_KEPT:
        del kept[next(iter(kept))]  # a dict keeps the order of insertion


# -- the state of a session ------------------------------------------------------------------------


class State:
    """The state of a session; `go` changes it, and ``kept`` is shared with other sessions."""

    def __init__(
        self,
        entries: Entries,
        kept: dict[Key, Guess],
        view: View,
        data: Path | None = None,
    ) -> None:
        self._data = None if data is None else Upload(str(data), data.name)
        self.entries: reactive.Value[Entries] = reactive.value(dict(entries), name="entries")
        self.comparing = Background(compare_all)
        # What the rows say about the claims of the model that is shown alone; the overview sets it.
        self.tested: Callable[[], Outcome[Analysis]] = lambda: None
        self.learned: dict[str, tuple[Upload, Analysis]] = {}  # by the keys of the models
        self._parts: dict[str, reactive.Value[Any]] = {
            part.name: reactive.value(getattr(view, part.name), name=part.name)
            for part in fields(View)
        }
        self.tab: reactive.Value[str] = self._parts["tab"]
        self.peers: reactive.Value[bool] = self._parts["peers"]
        self.question: reactive.Value[str] = self._parts["question"]
        self.all_edges: reactive.Value[bool] = self._parts["all_edges"]
        self._kept = kept
        self._compared: reactive.Value[Mapping[Key, Guess]] = reactive.value(
            dict(kept), name="compared"
        )
        self._as_peers: dict[tuple[str, Guess], Guess] = {}
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

    def context(self) -> Context:
        return context_in(self.domain(), self._parts["context"]())

    def pair(self) -> Pair:
        """Return the chosen pair or the worst one; without a comparison, stop the reader."""
        shown = self.shown()
        chosen: Pair | None = self._parts["pair"]()
        names = shown.comparison.domain.names
        if chosen and chosen[0] != chosen[1] and set(chosen) <= set(names):
            return chosen
        req(len(names) > 1)
        if shown.one is not None:
            somewhere_first = (*shown.one.somewhere, *shown.one.always)
            return somewhere_first[0].pair if somewhere_first else (names[0], names[1])
        return shown.worst_pair or (names[0], names[1])

    def variable(self) -> str | None:
        """Return the variable whose neighbours are listed, if they are."""
        chosen: str | None = self._parts["variable"]()
        return chosen if chosen in self.domain().positions else None

    def _true(self) -> ModelEntry:
        return true_model(View(true=self._parts["true"]()), self.entries())

    def _view_of_models(self) -> View:
        guesses, shown = self._parts["guesses"](), self._parts["shown"]()
        return View(true=self._true().key, guesses=guesses, shown=shown)

    def _guesses(self) -> list[ModelEntry]:
        return chosen_guesses(self._view_of_models(), self.entries())

    def _guess(self) -> ModelEntry | None:
        return shown_guess(self._view_of_models(), self.entries())

    def knows(self, *keys: str) -> bool:
        """Return whether there are models with these keys; print a line if not."""
        with reactive.isolate():
            unknown = [key for key in keys if key not in self.entries()]
        if unknown:
            warn(f"the unknown model {quoted(unknown[0])}")
        return not unknown

    def offered(self) -> list[ModelEntry]:
        return offered_guesses(self.true(), self.entries())

    def domain(self) -> Domain:
        return self.true().model.domain

    def add(self, models: Iterable[tuple[str, Model]]) -> tuple[str, ...]:
        """Add models of this session; those that fit become guesses. Return their keys."""
        with reactive.isolate():
            before = self.entries()
            entries = with_uploads(before, models)
            keys = tuple(key for key in entries if key not in before)
            chosen = (*(entry.key for entry in self.guesses()), *keys)
            fitting = {entry.key for entry in offered_guesses(self.true(), entries)}
            self.entries.set(entries)
        if fitting.intersection(keys):
            guesses = tuple(key for key in chosen if key in fitting)
            self.change(guesses=guesses, shown=next(key for key in keys if key in fitting))
        return keys

    def rows(self) -> Upload | None:
        """Return the file of rows: the last upload, or that of the command line."""
        sent = ROWS()
        return sent[-1] if sent else self._data

    def show_learned(self, label: str, rows: Upload, analysis: Analysis) -> None:
        """Add a model that was learned from rows, and show it alone."""
        with reactive.isolate():
            before = self.entries()
            entries = with_uploads(before, [(label, analysis.structure)])
            (key,) = (key for key in entries if key not in before)
            self.learned[key] = (rows, analysis)
            self.entries.set(entries)
            current = self.view()
        self.go(View(true=key, guesses=(), tab=current.tab, peers=True))

    def compare(self, *, again: bool = False) -> None:
        """Begin the comparisons that are missing; ``again`` includes those with open pairs."""
        true, guesses = self.true(), self.guesses()
        with reactive.isolate():
            compared = self._compared()
        missing = {}
        for entry in guesses or [true]:
            known = compared.get((true.key, entry.key))
            if known is None or (again and is_open(known)):
                missing[entry.key] = (entry.label, entry.model)
        if not missing:
            self.comparing.drop()
            return
        limit = LONGER if again else TIME_LIMIT
        seconds = limit * len(missing) + SECONDS_BEYOND_COMPARING
        self.comparing.start(true.key, true.model, missing, limit, seconds=seconds)

    def keep_results(self) -> None:
        """Take in the comparisons that are done."""
        outcome, true = self.comparing.latest(), self.comparing.key()
        if not isinstance(outcome, Done):
            return
        assert isinstance(true, str)
        new = {(true, name): guess for name, guess in outcome.value.items()}
        with reactive.isolate():
            self._compared.set({**self._compared(), **new})
            entries = self.entries()
        keep_for_others(self._kept, new, entries)

    def failure(self) -> str | None:
        outcome = self.comparing.latest()
        return outcome.why if isinstance(outcome, Failed) else None

    def results(self) -> list[Guess]:
        """Return the chosen guesses that are compared."""
        true, compared = self.true(), self._compared()
        keys = [(true.key, entry.key) for entry in self.guesses()]
        return [self._named(true, compared[key]) for key in keys if key in compared]

    def _named(self, true: ModelEntry, guess: Guess) -> Guess:
        """Return a guess as it is shown: if neither model is true, with the names of both."""
        if not self.peers():
            return guess
        key = true.label, guess
        if key not in self._as_peers:  # the same object each time, so that views stay settled
            named = guess.comparison.as_peers(true.label, guess.title)
            self._as_peers[key] = replace(guess, comparison=named)
        return self._as_peers[key]

    def _current(self) -> Guess | None:
        true = self._true()
        guess = self._guess() or true
        known = self._compared().get((true.key, guess.key))
        return None if known is None else self._named(true, known)

    def shown(self) -> Guess:
        """Return the comparison that the views show, or that of a model with itself."""
        current = self.current()
        req(current is not None)
        assert current is not None
        return current

    def file_name(self, what: str) -> str:
        shown = self.shown()
        versus = "" if shown.one is not None else f" vs {shown.title}"
        return f"{self.true().label}{versus} {what}"


def is_open(guess: Guess) -> bool:
    """Return whether a time limit left pairs of a comparison open."""
    return bool(len(guess.comparison.unions.open_places))
