"""What one session knows: its models, what was compared, and what is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shiny import reactive, req, ui
from shiny.session import Inputs

from contextwise import examples
from contextwise.comparison.compare import Comparison
from contextwise.comparison.pairs import Contexts, Pair
from contextwise.errors import DomainError
from contextwise.explorer import jobs
from contextwise.explorer.work import Worker
from contextwise.models.alignment import alignment
from contextwise.models.domain import Domain
from contextwise.models.structure import Model

GRACE = 20.0  # seconds that a comparison may take beyond its own time limit


@dataclass(frozen=True, eq=False)
class Entry:
    """A model that can be chosen.

    Attributes
    ----------
    key : what links and inputs call it
    label : what people call it
    lasting : whether it is still there after the session, so that a link may name it
    """

    key: str
    label: str
    model: Model
    lasting: bool = True


def bundled() -> list[Entry]:
    """The examples that come with the package."""
    return [
        Entry(f"example:{name}", f"{name} (example)", examples.load(name))
        for name in examples.names()
    ]


def given(models: Sequence[tuple[str, Model]]) -> list[Entry]:
    """Models from the command line, by name, known by their place there."""
    return [Entry(f"given:{k}", name, model) for k, (name, model) in enumerate(models)]


def fits(domain: Domain, other: Domain) -> bool:
    """Whether two domains have the same variables and states.

    >>> fits(Domain({"A": 2, "B": 3}), Domain({"B": 3, "A": 2}))
    True
    """
    try:
        alignment(other, domain)
    except DomainError:
        return False
    return True


def fitting(true: Entry, entries: Iterable[Entry]) -> list[Entry]:
    """The models that can be guesses at a true one."""
    domain = true.model.domain
    return [entry for entry in entries if entry is not true and fits(domain, entry.model.domain)]


def likely(true: Entry, guesses: Sequence[Entry]) -> list[str]:
    """The keys of the guesses that are meant where none was chosen: those of the same origin."""
    origin = true.key.partition(":")[0]
    same = [entry.key for entry in guesses if entry.key.partition(":")[0] == origin]
    return same or [entry.key for entry in guesses[:1]]


@dataclass(frozen=True)
class Shown:
    """The comparison that the views show."""

    true: Entry
    guess: Entry
    comparison: Comparison


_Key = tuple[str, str, Contexts]
"""What a comparison is known by: true model, guess, contexts."""


class State:
    """The reactive state of a session; views read it and change it."""

    def __init__(self, input: Inputs, library: Sequence[Entry]) -> None:
        self.input = input
        self.entries = reactive.value({entry.key: entry for entry in library})
        self.comparing = Worker(jobs.compare_all, seconds=GRACE)
        self._found: reactive.Value[Mapping[_Key, Comparison]] = reactive.value({})
        self._asked: tuple[str, Contexts] = ("", "fully-contextualized")

    # -- the models ------------------------------------------------------------------------------

    def true(self) -> Entry:
        """The chosen true model."""
        return self.entry(self.input.true())

    def entry(self, key: str) -> Entry:
        """The model of a key; whoever asks waits while there is none."""
        entry = self.entries().get(key)
        req(entry is not None)
        assert entry is not None
        return entry

    def fitting(self) -> list[Entry]:
        """The models that can be guesses at the true one."""
        return fitting(self.true(), self.entries().values())

    def guesses(self) -> list[Entry]:
        """The chosen guesses."""
        chosen = set(self.input.guesses())
        return [entry for entry in self.fitting() if entry.key in chosen]

    def add(self, label: str, model: Model) -> Entry:
        """Take in an uploaded model."""
        entries = self.entries()
        uploads = sum(not entry.lasting for entry in entries.values())
        taken = {entry.label for entry in entries.values()}
        unique, copy = label, 1
        while unique in taken:
            copy += 1
            unique = f"{label} ({copy})"
        entry = Entry(f"upload:{uploads}", unique, model, lasting=False)
        self.entries.set({**entries, entry.key: entry})
        return entry

    # -- the comparisons -------------------------------------------------------------------------

    def compare(self, *, again: bool = False) -> None:
        """Begin what has not been compared yet; ``again`` includes what was left open."""
        true, contexts = self.true(), self.input.contexts()
        chosen = {entry.key: entry.model for entry in self.guesses()}
        with reactive.isolate():
            found, limit = self._found(), float(self.input.limit())
        missing = {
            key: model
            for key, model in chosen.items()
            if (known := found.get((true.key, key, contexts))) is None
            or (again and len(known.unions.open))
        }
        self.comparing.drop()
        if missing:
            self._asked = (true.key, contexts)
            longest = limit * len(missing) + GRACE
            self.comparing.start(true.model, missing, contexts, limit, seconds=longest)

    def keep_results(self) -> None:
        """Take in what the worker found."""
        found = self.comparing.result()
        true, contexts = self._asked
        new = {(true, key, contexts): comparison for key, comparison in found.items()}
        with reactive.isolate():
            self._found.set({**self._found(), **new})

    def results(self) -> list[Shown]:
        """The comparisons of the chosen guesses that are there."""
        true, contexts = self.true(), self.input.contexts()
        found = self._found()
        return [
            Shown(true, entry, found[true.key, entry.key, contexts])
            for entry in self.guesses()
            if (true.key, entry.key, contexts) in found
        ]

    def guess(self) -> Entry:
        """The guess that the views show; whoever asks waits while there is none."""
        guesses, chosen = self.guesses(), self.input.shown()
        req(guesses)
        return next((entry for entry in guesses if entry.key == chosen), guesses[0])

    def shown(self) -> Shown:
        """The comparison that the views show; whoever asks waits while there is none."""
        guess = self.guess()
        found = next((one for one in self.results() if one.guess is guess), None)
        req(found is not None)
        assert found is not None
        return found

    def domain(self) -> Domain:
        """The variables of the models."""
        return self.true().model.domain

    # -- the pair --------------------------------------------------------------------------------

    def pair(self) -> Pair:
        """The pair that is looked at; whoever asks waits while there is none."""
        first, second = self.input.first(), self.input.second()
        known = self.domain().positions
        req(first in known and second in known and first != second)
        return first, second

    def look_at(self, pair: Pair) -> None:
        """Turn to a pair."""
        for key, name in zip(("first", "second"), pair, strict=True):
            ui.update_select(key, selected=name)

    def offer_pairs(self, wanted: Pair | None) -> None:
        """Offer the variables of the models, with the pair of before, the wanted or the worst."""
        comparison = self.shown().comparison
        names = comparison.domain.names
        with reactive.isolate():
            before = self.input.first(), self.input.second()
        worst = [pair for pair, _ in comparison.worst_pairs(1)]
        offers = [before, *([wanted] if wanted else []), *worst, (*names, "", "")[:2]]
        chosen = next(pair for pair in offers if set(pair) <= set(names) or pair is offers[-1])
        for key, name in zip(("first", "second"), chosen, strict=True):
            ui.update_select(key, choices=list(names), selected=name)
