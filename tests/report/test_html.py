"""HTML of parts: everything is escaped, numbers keep their digits, pages need no other file."""

from __future__ import annotations

from contextwise.report.html import (
    Markup,
    as_html,
    cell_html,
    full_page,
    joined,
    page_html,
    path,
    phrase_html,
    tag,
)
from contextwise.report.parts import Note, Table, table
from contextwise.support.words import Name, Phrase
from self_contained import Reader, assert_self_contained

HOSTILE = "<img src=x onerror=\"alert('run')\">"


def test_texts_and_attributes_are_escaped_and_markup_is_not() -> None:
    inner = tag("b", HOSTILE, title=HOSTILE)
    outer = tag("p", inner, "a & b", None)
    assert "<img" not in outer
    assert outer == f"<p>{inner}a &amp; b</p>"
    assert joined(["\x07", Markup("<br>")]) == "\\x07<br>"


def test_attributes_lose_the_underscore_of_keywords_and_floats_are_short() -> None:
    element = tag("line", class_="axis", stroke_width=1.50, data_x=2.0, hidden=None)
    assert element == '<line class="axis" stroke-width="1.5" data-x="2"></line>'
    assert tag("br", class_="end") == '<br class="end">'
    assert path((0, 1.0), (2.346, 3)) == "M0 1L2.35 3"


def test_a_rounded_count_has_its_digits_in_a_tip() -> None:
    assert cell_html(12, "count") == "12"
    assert (
        cell_html(2**100, "count")
        == '<span title="1267650600228229401496703205376">1.268e30</span>'
    )


def test_names_in_a_phrase_are_bold_and_a_percent_sign_stays_with_its_number() -> None:
    phrase = Phrase(Name(HOSTILE), " in 5 % of the rows")
    text = phrase_html(phrase)
    assert text.startswith("<b>&lt;img")
    assert "5&nbsp;% of" in text


def test_tables_have_a_head_for_each_column() -> None:
    listed = table("Pairs", {"pair": "text", "count": "count"}, [("A–B", 3), (HOSTILE, None)])
    assert isinstance(listed, Table)
    page = as_html([Note("verdict", HOSTILE), listed], level=3)
    reader = Reader(page)
    assert reader.tags.count("th") >= 2
    assert "<img" not in page
    assert HOSTILE in reader.text


def test_a_page_needs_no_other_file_and_tells_how_it_was_made() -> None:
    page = page_html(HOSTILE, tag("p", "words"), [("command", "contextwise report & more")])
    assert_self_contained(page)
    assert "<code>contextwise report &amp; more</code>" in page
    plain = full_page("title", tag("main"))
    folded = full_page("title", tag("main", tag("details")))
    assert "<script>" not in plain
    assert folded.count("<script>") == 1
