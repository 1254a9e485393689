"""Tables of an analysis, the same in notebooks and papers."""

from __future__ import annotations

from analyses import titanic
from contextwise.report.html import notebook_html
from contextwise.report.parts import parts_of
from contextwise.report.text import as_latex


def test_notebooks_and_papers_have_the_same_table() -> None:
    parts = parts_of(titanic())
    html = notebook_html(parts)
    assert "What goes with survived" in html
    assert 'class="pl"' not in html  # plots need the style sheet of the page
    latex = as_latex(parts)
    assert r"\begin{tabular}" in latex
    assert "plot" not in latex
