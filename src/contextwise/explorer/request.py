"""Work that a person asks for by a button: it says how far it is, can be stopped, and shows itself.

A request has a key, from which the identifiers of its outputs and buttons are made. Beside the
button that begins it there is one that stops it while it is under way, and what it gave stands
below. Neither button takes the other's place: a click that comes late does not do the opposite.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from operator import eq
from typing import TypeVar

from htmltools import Tag, TagChild, TagList, tags
from shiny import ui

from contextwise.explorer import elements
from contextwise.explorer.background import Background
from contextwise.explorer.job import Done, Outcome, Working
from contextwise.explorer.state import Settled
from contextwise.explorer.wiring import Input, clicks, on, show

T = TypeVar("T")


def panel(key: str) -> Tag:
    """Where the buttons of a request are, and what becomes of it."""
    return tags.div(
        ui.output_ui(f"{key}_buttons"),
        tags.div(ui.output_ui(f"{key}_outcome"), aria_live="polite", class_="request-outcome"),
    )


def serve(
    key: str,
    label: str,
    work: Background[T],
    *,
    about: Callable[[], Hashable],
    begin: Callable[[], object],
    content: Callable[[T], TagChild],
) -> Callable[[], Outcome[T]]:
    """Tie a request to the session.

    Parameters
    ----------
    key : from which identifiers are made
    label : what the button says
    work : runs in the background
    about : the key of the work that is meant now; None while there is nothing to ask for
    begin : starts the work
    content : shows what it gave

    Returns
    -------
    function
        What is known of the work that is meant now.
    """

    def outcome() -> Outcome[T]:
        return work.outcome(about())

    busy = Settled(lambda: isinstance(outcome(), Working), eq)
    possible = Settled(lambda: about() is not None, eq)

    def buttons() -> TagChild:
        if not possible():
            return None
        begins = ui.input_action_button(f"{key}_begin", label, class_="btn-sm", disabled=busy())
        stops = ui.input_action_button(f"{key}_stop", "Stop", class_="btn-sm btn-warning ms-2")
        return TagList(begins, stops if busy() else None)

    def made() -> TagChild:
        known = outcome()
        return content(known.value) if isinstance(known, Done) else elements.not_done(known)

    show(f"{key}_buttons", buttons)
    show(f"{key}_outcome", made)
    on(Input(f"{key}_begin", clicks), lambda _: begin())
    on(Input(f"{key}_stop", clicks), lambda _: work.interrupt())
    return outcome
