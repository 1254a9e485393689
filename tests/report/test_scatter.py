"""The scatter plot of a study: its columns, and what a reader can do with it in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contextwise import study
from contextwise.report.html import page_html
from contextwise.report.scatter import PLANTED, scatter_data, scatter_html


def planted() -> Iterator[dict[str, Any]]:
    """Four structures of each kind with two sets of weights and two numbers of rows."""
    for kind, wrong in (("false positives", "fp"), ("false negatives", "fn")):
        for number in range(4):
            errors = 8 * (number + 1)
            counts = {"fp": 0, "fn": 0, wrong: errors}
            for rows in (50, 100):
                for weights in (0, 1):
                    yield {
                        "status": "done",
                        "truth": "six</script>",
                        "learner": kind,
                        "structure": number,
                        "rows": rows,
                        "weights": weights,
                        "repeat": 0,
                        **counts,
                        "tp": 160 - counts["fn"],
                        "tn": 80 - counts["fp"],
                        "distance": errors,
                        "assertions": 240,
                        "features": 50 - number,
                        "mean_length": 2.5,
                        "kl": errors / 1000 + weights / 100,
                    }


def test_every_record_is_found_again_in_the_columns() -> None:
    records = list(planted())
    data = scatter_data(records)
    guesses, values, labels = data["guesses"], data["values"], data["labels"]
    assert len(guesses["kind"]) == 8
    assert data["up"] == ["kl", "distance"]
    for k, record in enumerate(records):
        g = values["guess"][k]
        assert labels["kinds"][guesses["kind"][g]] == record["learner"]
        assert labels["rows"][values["rows"][k]] == str(record["rows"])
        assert values["kl"][k] == pytest.approx(record["kl"])
        wrong, right = PLANTED[record["learner"]]
        assert guesses["errors"][g] == 100 * record[wrong] / (record[wrong] + record[right])


def test_a_study_of_learners_has_one_dot_per_model() -> None:
    records = study("lung", ["mpl", "independent"], rows=[50, 100], repeats=2, seed=1).results
    data = scatter_data(records)
    assert len(data["guesses"]["kind"]) == len(records) == len(data["values"]["guess"])
    assert 'class="scatter"' in scatter_html(records)
    assert scatter_html(records[:2]) == ""


def test_names_cannot_leave_the_data() -> None:
    html = scatter_html(list(planted()))
    (content,) = re.findall(r'<script type="application/json">(.*?)</script>', html)
    assert json.loads(content)["labels"]["truths"] == ["six</script>"]


def test_a_reader_with_a_keyboard(tmp_path: Path) -> None:
    pages = pytest.importorskip("pages")
    if pages.CHROMIUM is None:
        pytest.skip("needs a browser: Debian's chromium")
    file = tmp_path / "page.html"
    file.write_text(page_html("Study", scatter_html(list(planted())), []), "utf-8")
    trouble: list[str] = []
    with pages.launched([*pages.PLAIN_BROWSER, "--host-resolver-rules=MAP * ~NOTFOUND"]) as browser:
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto(file.as_uri())
        assert page.locator(".plot circle:not(.cursor)").count() == 8
        assert "rank correlation 1.00, slope 8.0e-4" in page.locator(".facts").inner_text()
        page.locator(".plot").focus()
        page.keyboard.press("Home")
        assert "structure 0: 0 false positives, 8 " in page.locator(".readout").inner_text()
        page.keyboard.press("ArrowRight")
        assert "SD 0.00707" in page.locator(".readout").inner_text()
        page.select_option("select[name=kind]", "0")
        page.select_option("select[name=set]", "1")
        page.select_option("select[name=x]", "features")
        assert page.locator(".plot circle:not(.cursor)").count() == 4
        page.locator("summary").click()
        page.locator(".scatter td").first.wait_for()
        assert page.locator(".scatter td").count() == 4 * 6
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not trouble
