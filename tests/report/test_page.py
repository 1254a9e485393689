"""The report page: complete, self-contained, and safe with any names."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from datetime import UTC, datetime
from zlib import decompress

import numpy as np
import pytest

from contextwise import Domain, Structure, compare, examples
from contextwise.comparison.error_regions import explain_comparison
from contextwise.evaluation import chance
from contextwise.evidence import check
from contextwise.models.structure import Model, structure_of
from contextwise.report.comparisons import Guess
from contextwise.report.page import report_page
from contextwise.report.pictures import shares_of
from contextwise.support.effort import Effort
from contextwise.testing import random_structure
from hard import hard_models
from perturbed import perturb
from self_contained import Reader, assert_self_contained

NASTY = '</title><script>alert("1")</script><b onclick="x">&\x07'

ROWS = np.random.default_rng(4).integers(2, size=(90, 6)).tolist()


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
