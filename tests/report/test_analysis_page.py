"""The page of an analysis: its sections, its words, and pages for 2 to 70 variables."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from analyses import analysed, chain, titanic
from contextwise.data.rows import Data
from contextwise.models.domain import Domain
from contextwise.report import analysis_page
from contextwise.report.analysis_answer import title_sentence
from contextwise.report.analysis_notes import cautions
from contextwise.report.analysis_page import page_of_analysis
from contextwise.report.parts import parts_of

HOSTILE = "<img src=x onerror=\"throw Error('run')\">"

FORBIDDEN = r"\b(features?|scopes?|assertions?|bits|causes? |effect of|no effect|independent of)\b"


def text_of(page: str) -> str:
    body = re.sub(r"<(style|script).*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


@pytest.mark.parametrize("outcome", ["survived", None])
def test_the_page_has_all_sections(outcome: str | None) -> None:
    page = text_of(page_of_analysis(titanic(outcome), command="contextwise analyse titanic"))
    first = "What goes with survived" if outcome else "Pair by pair"
    for words in (
        first,
        "Where the association differs",
        "All pairs",
        "of the structure, found and tested on the same rows",
        "The data as read",
        "Before you quote this",
        "For the methods section of a paper",
        "contextwise analyse titanic",
    ):
        assert words in page, words
    assert not re.search(FORBIDDEN, page.split("of the structure")[0])
    assert "\\x" not in page  # an escaped sign, such as a no-break space


def test_the_outcome_is_the_question() -> None:
    page = text_of(page_of_analysis(titanic()))
    assert "3 pairs with survived:" in page
    rows = [str(part) for part in parts_of(titanic())]
    assert rows[0].find("survived is yes for") >= 0


@pytest.mark.parametrize("variables", [2, 3, 12, 13, 20, 21])
def test_any_number_of_variables(variables: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis_page, "MOST_SQUARES", 20)
    page = page_of_analysis(analysed(chain(variables, 200), learner="independent"))
    assert ('class="gr"' in page) == (3 <= variables <= 12)
    assert ('class="sq"' in page) == (13 <= variables <= 20)
    assert page.count("<h1") == 1


def test_names_are_escaped() -> None:
    page = page_of_analysis(analysed(chain(4, names=["a", HOSTILE, "b & c", "'d'"]), outcome="a"))
    assert HOSTILE not in page
    assert "&lt;img src=x" in page


def test_the_page_is_the_same_each_time() -> None:
    made = date(2026, 1, 2)
    first, again = (page_of_analysis(analysed(chain(5)), made=made) for _ in range(2))
    assert first == again
    assert "2 January 2026" in first


@pytest.mark.parametrize("outcome", ["rare", None, "v1"])
def test_small_counts_are_hidden(outcome: str | None) -> None:
    """Neither numbers, bars, shares nor sentences tell that seventeen rows have a state."""
    data = chain(3)
    rare = np.zeros(len(data), dtype=int)
    rare[:17] = 1
    rows = np.column_stack([data.rows, rare])
    domain = Domain({**dict.fromkeys(data.domain.names, 2), "rare": 2})
    result = analysed(Data(domain, rows), outcome=outcome, smallest_count=20)
    page = text_of(page_of_analysis(result))
    assert "&lt; 20" in page
    assert not re.search(r">17</span>|\b17 rows|683", page_of_analysis(result))
    alone = r"(?<![\d.,+−])(17|683)(?![\d.,]| %)"  # whatever the words around it
    assert not re.search(alone, page)
    shown = text_of(page_of_analysis(replace(result, smallest_count=0)))
    assert "683" in shown
    assert re.search(alone, shown)


def test_an_unfinished_analysis_says_so_first() -> None:
    stopped = replace(titanic(), unfinished=("2 pairs not tested",))
    assert cautions(stopped)[0] == "The analysis was stopped: 2 pairs not tested."


def test_the_tables_of_the_page_are_files(tmp_path: Path) -> None:
    titanic().to_csv(tmp_path)
    with (tmp_path / "outcome.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    shown = next(part for part in parts_of(titanic()) if getattr(part, "key", "") == "outcome")
    assert [row["variable"] for row in rows] == [row[0] for row in shown.rows]  # type: ignore[union-attr]
    sex = rows[0]
    assert round(float(sex["points"])) == -51
    assert float(sex["points low"]) < float(sex["points"]) < float(sex["points high"])
    assert sex["verdict"] == "associated"
    assert {file.name for file in tmp_path.iterdir()} == {
        "outcome.csv", "pairs.csv", "effects.csv", "differences.csv",
    }  # fmt: skip


def test_the_picture_of_all_pairs_can_be_saved(tmp_path: Path) -> None:
    titanic().plot().write(tmp_path / "pairs.svg")
    drawn = ElementTree.parse(tmp_path / "pairs.svg").getroot()
    assert drawn.get("class") == "findings gr"
    assert len(drawn.findall("{*}g[@class='node']")) == 3


def test_rows_that_are_too_few_do_not_show_that_there_is_nothing() -> None:
    data = chain(3, rows=12)
    constant = np.column_stack([data.rows, np.zeros(12, dtype=int)])
    domain = Domain({**dict.fromkeys(data.domain.names, 2), "same": 2})
    result = analysed(Data(domain, constant), outcome="v2")
    pairs = tuple(replace(e, verdict="could not be tested") for e in result.pairs)
    untested = replace(result, pairs=replace(result.pairs, pairs=pairs))
    assert title_sentence(untested) == "What goes with v2 could not be tested with these 12 rows."
    assert "Nothing varies in same" in " ".join(cautions(result))


def test_an_association_without_a_difference_has_a_number() -> None:
    known = titanic()
    few = tuple(
        replace(e, effects=tuple(replace(f, rows=10.0) for f in e.effects)) for e in known.pairs
    )
    rare = replace(known, pairs=replace(known.pairs, pairs=few), interactions=())
    shown = next(part for part in parts_of(rare) if getattr(part, "key", "") == "outcome")
    assert all(re.search(r"V 0\.\d\d \(0\.\d\d to", str(row[-1])) for row in shown.rows)  # type: ignore[union-attr]


def test_files_hide_small_counts_as_the_page_does(tmp_path: Path) -> None:
    replace(titanic(), smallest_count=400).to_csv(tmp_path)
    with (tmp_path / "effects.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert all(float(row["rows"]) >= 400 and not row["crude"] for row in rows)
