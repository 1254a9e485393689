"""The report page: complete, self-contained, and safe with any names."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from zlib import decompress

import numpy as np
import pytest
from click.testing import CliRunner

from contextwise import Domain, Structure, compare, examples
from contextwise.cli import contextwise
from contextwise.comparison.error_regions import explain_comparison
from contextwise.errors import ContextwiseError
from contextwise.evaluation import chance
from contextwise.evidence import check
from contextwise.models.structure import Model, structure_of
from contextwise.report.comparisons import Guess
from contextwise.report.html import static
from contextwise.report.page import report_page
from contextwise.report.pictures import shares_of
from contextwise.support.effort import Effort
from contextwise.testing import random_structure
from hard import hard_models
from perturbed import perturb

NASTY = '</title><script>alert("1")</script><b onclick="x">&\x07'
VOID = {"meta", "br"}
ROWS = np.random.default_rng(4).integers(2, size=(90, 6)).tolist()


class Reader(HTMLParser):
    """A reader that insists on every element being closed, and remembers what it saw."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def reported(true: Model, guess: Model, name: str = "guess") -> Guess:
    found = compare(structure_of(true), structure_of(guess))
    return Guess(name, found, explanation=explain_comparison(found))


def page_of(*guesses: Guess, true: str = "true") -> str:
    return report_page(
        true, guesses, command="contextwise report", made=datetime(2020, 1, 2, tzinfo=UTC)
    )


def random_pair(variables: int) -> tuple[Structure, Structure]:
    domain = Domain({f"X{i}": 2 for i in range(variables)})
    true = random_structure(domain, features=variables, seed=1)
    return true, perturb(true, changes=variables // 3 + 1, rng=2)


def assert_self_contained(page: str) -> None:
    """No script but our own, and nothing that a browser would fetch."""
    reader = Reader(page)
    assert page.count("<script>") == ('class="map"' in page) + ("<details" in page)
    assert reader.tags.count("script") == page.count("<script>") + page.count('class="map"')
    page = page.replace(static("heatmap.js"), "")
    assert not {"link", "iframe", "object", "embed", "form"} & set(reader.tags)
    for key, value in reader.attributes:
        assert not key.startswith("on")
        if key in ("href", "src", "xlink:href"):
            assert value is not None
            assert value.startswith(("#", "data:image/png;base64,"))
    without_namespace = page.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?://|//\w+\.|@import|url\(", without_namespace)


def test_a_page_has_its_parts() -> None:
    six = reported(examples.load("six"), examples.load("six-guess"), "six-guess")
    page = page_of(six, true="six")
    assert_self_contained(page)
    reader = Reader(page)
    for words in (
        "six-guess compared with six",
        "6.67 % of all assertions differ (16 of 240)",
        "X1 – X2",
        "Features behind the errors",
        "false negative rate",
        "2020-01-02",
        "contextwise report",
    ):
        assert words in reader.text, words
    assert reader.tags.count("figure") == 2
    assert re.search(r"only in guess\s*50 %\s*X0=1", reader.text)


def test_several_guesses_have_a_table_and_a_section_each() -> None:
    six = examples.load("six")
    page = page_of(
        *(reported(six, examples.load(name), name) for name in ("six-guess", "six-graph"))
    )
    assert_self_contained(page)
    reader = Reader(page)
    assert "Every guess against the true model" in reader.text
    assert [value for key, value in reader.attributes if key == "id"] == ["guess-0", "guess-1"]
    assert reader.tags.count("figure") == 4  # two of each guess
    unfolded = re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)
    assert not Reader(unfolded).tags.count("figure")  # so that a page of many guesses is short


def test_chance_and_checks_stand_on_the_page() -> None:
    true, guess = (examples.load(name) for name in ("six", "six-guess"))
    beside, checked = chance(true, guess, draws=19), check(guess, ROWS)
    shown = Guess("guess", beside.comparison, chance=beside, check=checked)
    page = report_page("six", [shown])
    assert_self_contained(page)
    text = Reader(page).text
    for words in (
        "Compared with chance",
        beside.verdict,
        "nearer draws",
        "guess checked on data",
        checked.verdict,
    ):
        assert words in text, words
    assert Reader(page).tags.count("figure") == 2


def test_names_are_shown_and_not_run() -> None:
    domain = Domain({NASTY: [NASTY, "no"], "B": 2, "C": 2})
    true, guess = (
        Structure(domain, [{NASTY: NASTY, "B": 1, "C": 1}]),
        Structure(domain, ["B=1 & C=1"]),
    )
    page = page_of(reported(true, guess, NASTY), true=NASTY)
    assert_self_contained(page)
    assert '<script>alert("1")</script>' in Reader(page).text


def test_equal_models_and_no_variables() -> None:
    six, nothing = examples.load("six"), Structure({}, [])
    assert "all 240 assertions" in Reader(page_of(reported(six, six))).text
    assert_self_contained(page_of(reported(nothing, nothing)))


@pytest.mark.parametrize("variables", [60, 400])
def test_hundreds_of_variables_make_a_small_page(variables: int) -> None:
    page = page_of(reported(*random_pair(variables)))
    assert_self_contained(page)
    assert len(page.encode()) < 2**21
    shown = re.search(r"(?:(\d+) of|[Aa]ll) ([\d,]+) differences", Reader(page).text)
    assert shown
    assert (shown[1] is None) == (int(shown[2].replace(",", "")) <= 40)


def test_a_page_of_a_thousand_variables_is_small() -> None:
    true, guess = random_pair(1001)
    found = compare(true, guess)
    page = report_page("true", [Guess("guess", found)])
    assert len(page.encode()) < 2**21
    packed = re.search(r'<script type="application/octet-stream">([^<]*)</script>', page)
    assert packed
    sent = json.loads(decompress(b64decode(packed[1])))
    assert sent["names"] == list(found.domain.names)
    missed = np.frombuffer(b64decode(sent["fn"]), "<f4")
    assert np.allclose(missed, shares_of(found).fn)


def test_what_is_open_is_said() -> None:
    found = compare(*hard_models(), time_limit=0.0)
    page = page_of(Guess("guess", found, explanation=explain_comparison(found, Effort.of(0))))
    assert_self_contained(page)
    text = Reader(page).text
    assert "pairs are unfinished" in text
    assert "not decided in time" in text
    assert "A time limit left out part" in text


def test_long_numbers_have_their_digits_in_a_tip() -> None:
    names = [f"X{i}" for i in range(100)]
    true = Structure(dict.fromkeys(names, 2), [" & ".join(f"{name}=1" for name in names[:2])])
    page = page_of(reported(true, Structure(true.domain, [])))
    assert f'title="{2**98} of {2**98}"' in page


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "a report.html"
    words = ["report", "six", "six-guess", "six-graph", "--out", str(out), "--top", "3"]
    result = CliRunner().invoke(contextwise, words, catch_exceptions=False)
    assert (result.exit_code, result.output) == (0, "")
    page = out.read_text("utf-8")
    assert_self_contained(page)
    assert f"contextwise report six six-guess six-graph --out '{out}' --top 3" in Reader(page).text
    assert [path.name for path in tmp_path.iterdir()] == ["a report.html"]


def test_the_command_asks_all_questions(tmp_path: Path) -> None:
    out, rows = tmp_path / "page.html", tmp_path / "rows.csv"
    lines = [",".join(f"X{k}" for k in range(6)), *(",".join(map(str, row)) for row in ROWS)]
    rows.write_text("\n".join(lines) + "\n")
    words = ["report", "six", "six-guess", "--out", str(out), "--chance", "--draws", "9"]
    result = CliRunner().invoke(contextwise, [*words, "--check", str(rows)], catch_exceptions=False)
    assert result.exit_code == 0
    text = Reader(out.read_text("utf-8")).text
    assert "Compared with chance" in text
    assert "six-guess checked on data" in text
    assert "six checked on data" not in text
    peers = ["report", "six", "six-guess", "--peers", "--check", str(rows), "--out", str(out)]
    assert CliRunner().invoke(contextwise, peers, catch_exceptions=False).exit_code == 0
    text = Reader(out.read_text("utf-8")).text
    assert "six checked on data" in text
    assert "six-guess checked on data" in text


def test_the_command_reports_one_model_with_evidence(tmp_path: Path) -> None:
    out, rows = tmp_path / "page.html", tmp_path / "rows.csv"
    lines = [",".join(f"X{k}" for k in range(6)), *(",".join(map(str, row)) for row in ROWS)]
    rows.write_text("\n".join(lines) + "\n")
    words = ["report", "six", "--check", str(rows), "--out", str(out)]
    result = CliRunner().invoke(contextwise, words, catch_exceptions=False)
    assert result.exit_code == 0
    text = Reader(out.read_text("utf-8")).text
    assert "15 pairs:" in text
    assert "X0" in text.rsplit("claims of the structure", 1)[1]
    assert "claims of the structure, tested on these rows" in text
    assert "contextwise report six --check" in text
    rows.write_text("A,B\n1,0\n")
    result = CliRunner().invoke(contextwise, words)
    assert result.exit_code != 0
    assert "X0" in str(result.exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["six", "--chance"], "--chance needs a GUESS"),
        (["six", "--context", "X0=1"], "--context needs a GUESS"),
    ],
)
def test_contradictions_are_told(tmp_path: Path, words: list[str], message: str) -> None:
    out = tmp_path / "page.html"
    result = CliRunner().invoke(contextwise, ["report", *words, "--out", str(out)])
    assert result.exit_code == 2
    assert message in result.output
    assert not out.exists()


def test_a_report_is_an_html_file_and_nothing_else(tmp_path: Path) -> None:
    out = str(tmp_path / "x.pdf")
    with pytest.raises(ContextwiseError, match=r"cannot write \.pdf; use \.html or \.htm"):
        CliRunner().invoke(
            contextwise, ["report", "lung", "lung-learned", "--out", out], catch_exceptions=False
        )
    assert not list(tmp_path.iterdir())
