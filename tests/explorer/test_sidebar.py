"""The sidebar: messages about uploads and unfinished pairs."""

from __future__ import annotations

from contextwise import examples
from contextwise.explorer import sidebar
from contextwise.explorer.job import Done, Failed, Working
from contextwise.explorer.state import View, library, offered_guesses, with_uploads
from shown_guesses import HOSTILE, SIX


def test_an_upload_of_other_variables_is_no_guess() -> None:
    entries = with_uploads(library([("six", SIX)]), [("lung.json", examples.load("lung"))])
    true = entries["given:0"]
    assert entries["upload:0"] not in offered_guesses(true, entries)
    shown = str(sidebar.uploaded(Done([]), [entries["upload:0"]]))
    assert "lung.json has other variables" in shown
    both = [entries["upload:0"], entries["example:survey"]]
    assert "lung.json and survey (example) have other" in str(sidebar.uploaded(Done([]), both))


def test_a_file_that_cannot_be_read_says_why_and_the_others_are_added() -> None:
    files: sidebar.ReadFiles = [("a.mn", f"{HOSTILE}: no weight"), ("six.json", SIX)]
    shown = str(sidebar.uploaded(Done(files), []))
    assert shown.count("alert-danger") == 1
    assert "no weight" in shown
    assert "<img" not in shown


def test_an_upload_under_way_or_failed_is_shown_as_that() -> None:
    assert "Reading a.mn" in str(sidebar.uploaded(Working("Reading a.mn"), []))
    assert "memory" in str(sidebar.uploaded(Failed("memory ran out"), []))
    assert str(sidebar.uploaded(None, [])) == ""


def test_a_failure_is_told_before_open_pairs() -> None:
    assert sidebar.status(failure=None, open_pairs=False) is None
    assert "proven bounds" in str(sidebar.status(failure=None, open_pairs=True))
    assert "proven bounds" not in str(sidebar.status(failure="stopped", open_pairs=True))


def test_the_guesses_of_a_view_are_checked_in_its_first_page() -> None:
    entries = library()
    view = View(true="example:six", guesses=("example:six-graph",))
    text = str(sidebar.panel(entries, view).tagify())
    checked = [part for part in text.split("<input")[1:] if "checked" in part.split(">")[0]]
    assert [part for part in checked if "example:six-graph" in part]
    assert not [part for part in checked if "example:six-guess" in part]
