"""What the page shows, as one value: which models, which tab, which pair, which context.

Everything that a person does makes a new `View` of the old one, and the page follows it. The view
is also the address of the page, so that a link brings it back, and so that Back and Forward walk
from view to view. Nothing here knows of a browser.

Models are named by their keys: ``example:six`` for a bundled one, ``given:0`` for the first on the
command line, ``upload:0`` for the first uploaded file. An uploaded file is kept by nobody, so it is
never part of a link.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args
from urllib.parse import parse_qs, urlencode

from contextwise.comparison.pairs import FULLY, Contexts, Pair
from contextwise.errors import ContextwiseError, DomainError
from contextwise.models.alignment import alignment
from contextwise.models.domain import Domain
from contextwise.models.notation import Literal, write_literals
from contextwise.models.structure import Model
from contextwise.truths import bundled as examples

TABS = ("overview", "context", "question", "guesses", "statistics", "experiment")
UPLOAD = "upload"


@dataclass(frozen=True)
class View:
    """What is looked at; what it leaves out is for the page to choose.

    Attributes
    ----------
    true : key of the true model
    guesses : keys of the chosen guesses; None before anybody chose
    shown : key of the guess that the views show
    contexts : what a context is
    tab : the name of the view in front
    pair : the pair that is looked at
    variable : the variable whose neighbours stand beside the heat map; None for the pair
    context : the context whose graphs are shown, as it is written
    all_edges : whether these graphs show every edge, and not only those that differ
    question : the independence question

    Examples
    --------
    >>> view = View(true="example:six", guesses=("example:six-guess",), pair=("X1", "X2"))
    >>> view.query()
    'true=example%3Asix&guess=example%3Asix-guess&first=X1&second=X2'
    >>> View.parse(view.query()) == view
    True
    """

    true: str = ""
    guesses: tuple[str, ...] | None = None
    shown: str = ""
    contexts: Contexts = FULLY
    tab: str = TABS[0]
    pair: Pair | None = None
    variable: str | None = None
    context: str = ""
    all_edges: bool = False
    question: str = ""

    @classmethod
    def parse(cls, query: str) -> View:
        """The view of a query string; what makes no sense in it is left out."""
        try:
            found = parse_qs(query.removeprefix("?"), keep_blank_values=True, max_num_fields=1000)
        except ValueError:  # too many fields
            return cls()

        def one(key: str, default: str = "") -> str:
            return found.get(key, [default])[0]

        contexts, tab = one("contexts"), one("tab")
        return cls(
            true=one("true"),
            guesses=tuple(filter(None, found["guess"])) if "guess" in found else None,
            shown=one("shown"),
            contexts=contexts if contexts in get_args(Contexts) else FULLY,  # type: ignore[arg-type]
            tab=tab if tab in TABS else TABS[0],
            pair=(one("first"), one("second")) if one("first") and one("second") else None,
            variable=one("around") or None,
            context=one("context"),
            all_edges=one("edges") == "all",
            question=one("question"),
        )

    def query(self) -> str:
        """The view as a query string."""
        guesses = ("",) if self.guesses == () else self.guesses or ()
        parts = {
            "true": self.true,
            "shown": self.shown,
            "contexts": self.contexts if self.contexts != FULLY else "",
            "tab": self.tab if self.tab != TABS[0] else "",
            **dict(zip(("first", "second"), self.pair or (), strict=False)),
            "around": self.variable or "",
            "context": self.context,
            "edges": "all" if self.all_edges else "",
            "question": self.question,
        }
        named = [(key, value) for key, value in parts.items() if value]
        chosen = [("guess", guess) for guess in guesses]
        return urlencode([*named[:1], *chosen, *named[1:]] if self.true else [*chosen, *named])

    def link(self) -> View:
        """The view without what a link cannot bring back: uploaded files, and what rests on them.

        >>> View(true="upload:0", pair=("A", "B"), tab="context").link()
        View(true='', guesses=None, shown='', ..., tab='context', pair=None, ...)
        """
        if _is_upload(self.true):
            return View(tab=self.tab, contexts=self.contexts, question=self.question)
        lasting = tuple(key for key in self.guesses or () if not _is_upload(key))
        guesses = lasting or (self.guesses if self.guesses == () else None)
        return replace(self, guesses=guesses, shown="" if _is_upload(self.shown) else self.shown)


def _is_upload(key: str) -> bool:
    return key.startswith(f"{UPLOAD}:")


# -- the models that can be chosen ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Entry:
    """A model that can be chosen.

    Attributes
    ----------
    key : what views and inputs call it
    label : what people call it
    model : the model
    """

    key: str
    label: str
    model: Model

    @property
    def lasting(self) -> bool:
        """Whether it is still there after the session."""
        return not _is_upload(self.key)


Entries = Mapping[str, Entry]


def library(models: Sequence[tuple[str, Model]] = ()) -> dict[str, Entry]:
    """The models of the command line, and the bundled examples that are not among them.

    >>> list(library([("six", examples.load("six"))]))[:2]
    ['given:0', 'example:six-guess']
    """
    given = [Entry(f"given:{k}", name, model) for k, (name, model) in enumerate(models)]
    named = {entry.label: entry.model for entry in given}
    bundled = [
        Entry(f"example:{name}", f"{name} (example)", model)
        for name, model in ((name, examples.load(name)) for name in examples.names())
        if name not in named or named[name] != model
    ]
    return {entry.key: entry for entry in (*given, *bundled)}


def with_uploads(entries: Entries, models: Iterable[tuple[str, Model]]) -> dict[str, Entry]:
    """The models with some uploaded ones, each with a label of its own.

    >>> six = examples.load("six")
    >>> [entry.label for entry in with_uploads({}, [("a.mn", six), ("a.mn", six)]).values()]
    ['a.mn', 'a.mn (2)']
    """
    result = dict(entries)
    for name, model in models:
        taken = {entry.label for entry in result.values()}
        label, copy = name, 1
        while label in taken:
            copy += 1
            label = f"{name} ({copy})"
        key = f"{UPLOAD}:{sum(map(_is_upload, result))}"
        result[key] = Entry(key, label, model)
    return result


def fits(domain: Domain, other: Domain) -> bool:
    """Whether two domains have the same variables and states.

    >>> fits(Domain({"A": 2, "B": 3}), Domain({"B": 3, "A": 2}))
    True
    """
    if domain == other:
        return True  # as nearly always where they fit, and at once
    if len(domain) != len(other) or set(domain.names) != set(other.names):
        return False  # as nearly always where they do not
    try:
        alignment(other, domain)
    except DomainError:
        return False
    return True


def offered_guesses(true: Entry, entries: Entries) -> list[Entry]:
    """The models that can be guesses at a true one."""
    domain = true.model.domain
    return [
        entry
        for entry in entries.values()
        if entry is not true and fits(domain, entry.model.domain)
    ]


def likely_guesses(true: Entry, offered: Sequence[Entry]) -> list[Entry]:
    """The guesses that are meant where none was chosen: those of the same origin."""
    origin = true.key.partition(":")[0]
    same = [entry for entry in offered if entry.key.partition(":")[0] == origin]
    return same or list(offered[:1])


def true_model(view: View, entries: Entries) -> Entry:
    """The true model of a view; the first of all if it names none that is there."""
    return entries.get(view.true) or next(iter(entries.values()))


def chosen_guesses(view: View, entries: Entries) -> list[Entry]:
    """The guesses of a view, in the order in which they are offered."""
    true = true_model(view, entries)
    offered = offered_guesses(true, entries)
    if view.guesses is None:
        return likely_guesses(true, offered)
    return [entry for entry in offered if entry.key in view.guesses]


def shown_guess(view: View, entries: Entries) -> Entry | None:
    """The guess that the views show, if any is chosen."""
    guesses = chosen_guesses(view, entries)
    return next((entry for entry in guesses if entry.key == view.shown), next(iter(guesses), None))


# -- steps from view to view ---------------------------------------------------------------------


def at_pair(view: View, pair: Pair) -> View:
    """The view of a pair, beside the heat map.

    >>> at_pair(View(tab="context", variable="C"), ("A", "B")).query()
    'first=A&second=B'
    """
    return replace(view, tab=TABS[0], pair=pair, variable=None)


def with_one_of_pair(view: View, pair: Pair, *, place: int, name: str) -> View:
    """The view with another variable at a place of the pair; a pair never holds one twice.

    Parameters
    ----------
    view : the view before
    pair : the pair that is looked at
    place : which of the two is chosen
    name : the variable that is chosen

    Examples
    --------
    >>> with_one_of_pair(View(), ("A", "B"), place=0, name="B").pair
    ('B', 'A')
    """
    other = pair[1 - place]
    other = pair[place] if other == name else other
    return replace(view, pair=(name, other) if place == 0 else (other, name))


def context_in(domain: Domain, text: str) -> dict[str, str]:
    """The states that a written context assigns; nothing if it makes no sense in this domain.

    >>> domain = Domain({"age": ["young", "old"], "smoker": ["no", "yes"]})
    >>> context_in(domain, "smoker=yes"), context_in(domain, "weight=9")
    ({'smoker': 'yes'}, {})
    """
    try:
        fixed = domain.assignment(text)
    except ContextwiseError:
        return {}
    return {domain.names[v]: domain.states[v][state] for v, state in fixed.items()}


def context_text(context: Mapping[str, str]) -> str:
    """A context as it is written.

    >>> context_text({"age": "old", "smoker": "yes"})
    'age=old & smoker=yes'
    """
    return write_literals(Literal(name, (state,)) for name, state in context.items())


def with_state(view: View, domain: Domain, variable: str, state: str | None) -> View:
    """The view in a context that also says this.

    Parameters
    ----------
    view : the view before
    domain : of the models
    variable : whose state is chosen
    state : the state; None takes the variable out of the context

    Examples
    --------
    >>> domain = Domain({"A": 2, "B": 2})
    >>> with_state(View(context="A=1"), domain, "B", "0").context
    'A=1 & B=0'
    >>> with_state(View(context="A=1"), domain, "A", None).context
    ''
    """
    if variable not in domain.positions:
        return view
    context = context_in(domain, view.context)
    context.pop(variable, None)
    if state is not None and state in domain.states[domain.position(variable)]:
        context[variable] = state
    return replace(view, context=context_text(context))
