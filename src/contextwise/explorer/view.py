"""The state of the page as one value: models, tab, pair, context.

Every action makes a new `View` from the old one, and the page follows it. The view is also the
address of the page, so that links, Back and Forward work. This module does not use the browser.

A model has a key: ``example:six`` is bundled, ``given:0`` is the first on the command line, and
``upload:0`` is the first uploaded file. Uploads end with the session, so links leave them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args
from urllib.parse import parse_qs, urlencode

from contextwise.comparison.question import FULLY, Contexts, Pair
from contextwise.errors import ContextwiseError, DomainError
from contextwise.models.domain import Domain
from contextwise.models.notation import Literal, write_literals
from contextwise.models.structure import Model, alignment
from contextwise.truths import bundled

TABS = {
    "overview": "Overview",
    "graph": "Graph",
    "question": "Question",
    "guesses": "Guesses",
    "statistics": "Statistics",
    "experiment": "Experiment",
}
"""The tabs and their titles; the last one is shown only with a run."""
FIRST_TAB = next(iter(TABS))
UPLOAD = "upload:"


@dataclass(frozen=True)
class View:
    """The state of the page; it chooses the parts that are left out.

    ``guesses`` is None until some are chosen, ``shown`` is the guess in the views, ``variable`` is
    the one whose neighbours are listed, and ``context`` is text such as ``A=1 & B=0``.
    """

    true: str = ""
    guesses: tuple[str, ...] | None = None
    shown: str = ""
    contexts: Contexts = FULLY
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

        contexts, tab = first("contexts"), first("tab")
        return cls(
            true=first("true"),
            guesses=tuple(filter(None, values["guess"])) if "guess" in values else None,
            shown=first("shown"),
            contexts=contexts if contexts in get_args(Contexts) else FULLY,  # type: ignore[arg-type]
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
            ("contexts", self.contexts if self.contexts != FULLY else ""),
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
            return View(tab=self.tab, contexts=self.contexts, question=self.question)
        lasting = tuple(key for key in self.guesses or () if not key.startswith(UPLOAD))
        guesses = lasting or (self.guesses if self.guesses == () else None)
        shown = "" if self.shown.startswith(UPLOAD) else self.shown
        return replace(self, guesses=guesses, shown=shown)

    def with_state(self, domain: Domain, variable: str, state: str | None) -> View:
        """Return the view in a context with another state of a variable; None removes it."""
        if variable not in domain.positions:
            return self
        context = context_in(domain, self.context)
        context.pop(variable, None)
        if state is not None and state in domain.states[domain.position(variable)]:
            context[variable] = state
        return replace(self, context=context_text(context))


def context_in(domain: Domain, text: str) -> dict[str, str]:
    """Read a context; one that does not fit the domain is empty."""
    try:
        fixed = domain.assignment(text)
    except ContextwiseError:
        return {}
    return {domain.names[v]: domain.states[v][state] for v, state in fixed.items()}


def context_text(context: Mapping[str, str]) -> str:
    return write_literals(Literal(name, (state,)) for name, state in context.items())


@dataclass(frozen=True, eq=False)
class Entry:
    key: str
    label: str
    model: Model

    @property
    def lasting(self) -> bool:
        """True unless it ends with the session, as uploads do."""
        return not self.key.startswith(UPLOAD)


Entries = Mapping[str, Entry]


def library(models: Sequence[tuple[str, Model]] = ()) -> dict[str, Entry]:
    """Return the models of the command line and the bundled examples that are not among them."""
    entries = {f"given:{k}": Entry(f"given:{k}", *model) for k, model in enumerate(models)}
    named = dict(models)
    for name in bundled.names():
        model = bundled.load(name)
        if name not in named or named[name] != model:
            key = f"example:{name}"
            entries[key] = Entry(key, f"{name} (example)", model)
    return entries


def with_uploads(entries: Entries, models: Iterable[tuple[str, Model]]) -> dict[str, Entry]:
    """Add uploaded models, each with a label of its own."""
    result = dict(entries)
    for name, model in models:
        taken = {entry.label for entry in result.values()}
        label, copy = name, 1
        while label in taken:
            copy += 1
            label = f"{name} ({copy})"
        key = f"{UPLOAD}{sum(key.startswith(UPLOAD) for key in result)}"
        result[key] = Entry(key, label, model)
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


def offered_guesses(true: Entry, entries: Entries) -> list[Entry]:
    """Return the models over the variables of the true model."""
    domain = true.model.domain
    return [e for e in entries.values() if e is not true and fits(domain, e.model.domain)]


def true_model(view: View, entries: Entries) -> Entry:
    """Return the true model of a view; by default the first model."""
    return entries.get(view.true) or next(iter(entries.values()))


def chosen_guesses(view: View, entries: Entries) -> list[Entry]:
    """Return the guesses of a view; by default those of the same origin as the true model."""
    true = true_model(view, entries)
    offered = offered_guesses(true, entries)
    if view.guesses is not None:
        return [entry for entry in offered if entry.key in view.guesses]
    origin = true.key.partition(":")[0]
    same = [entry for entry in offered if entry.key.partition(":")[0] == origin]
    return same or offered[:1]


def shown_guess(view: View, entries: Entries) -> Entry | None:
    """Return the guess that the views show, if any is chosen."""
    guesses = chosen_guesses(view, entries)
    return next((entry for entry in guesses if entry.key == view.shown), next(iter(guesses), None))
