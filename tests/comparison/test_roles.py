"""Models of which neither is true: the same counts, and other words everywhere."""

from __future__ import annotations

import json
import re
from inspect import signature
from pathlib import Path

import pytest
from click.testing import CliRunner

from contextwise import LogLinear, compare, compare_many, explain
from contextwise.cli import contextwise
from contextwise.comparison.two_models import comparison_record
from contextwise.errors import ContextwiseError
from contextwise.evaluation import chance
from contextwise.report import plots
from contextwise.report.comparisons import Guess
from contextwise.report.page import report_page
from contextwise.report.text import text_of

NAMES = ("controls", "patients")
PEERS = compare("survey", "survey-learned", peers=NAMES)
SURVEY = PEERS.true
AT = compare(LogLinear(SURVEY, [1.0] * len(SURVEY)), "survey-learned", peers=NAMES, at=(0, 2))
OF_COMPARISONS = [
    plot
    for plot in plots.__all__
    if next(iter(signature(getattr(plots, plot)).parameters)) in ("comparison", "guesses")
]
ONE_IS_TRUE = re.compile(
    r"\bguess|true model|\btruth|\btrue\b|false (posi|nega)tive|\b(TP|FP|FN|TN)\b|error",
    re.IGNORECASE,
)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(contextwise, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def texts_of(figure: object) -> str:
    from matplotlib.text import Text

    return "\n".join(text.get_text() for text in figure.findobj(Text))  # type: ignore[attr-defined]


def test_the_counts_are_the_same() -> None:
    known = comparison_record(compare("survey", "survey-learned"))
    assert comparison_record(PEERS) == known | {"peers": True}


@pytest.mark.parametrize(
    "text",
    [
        text_of(PEERS),
        str(explain("survey", "survey-learned", peers=NAMES)),
        text_of(compare_many("six", {"a": "six-guess", "b": "six-graph"}, peers=("x", "a", "b"))),
        chance("survey", "survey-learned", peers=NAMES, draws=49).verdict,
        *(texts_of(getattr(plots, plot)(AT)) for plot in OF_COMPARISONS),
        str(AT.at),
        run("compare", "survey", "survey-learned", "--peers", "--names", "controls,patients"),
        run("explain", "survey", "survey-learned", "--peers", "--names", "controls,patients"),
    ],
)
def test_no_text_takes_a_model_for_the_truth(text: str) -> None:
    assert not ONE_IS_TRUE.search(text), ONE_IS_TRUE.search(text)


def test_sentences_and_tables_use_the_names() -> None:
    text = text_of(PEERS)
    assert "dependent only in controls" in text
    assert "only controls" in text
    assert "precision" not in text
    assert "agreement" in text


def test_the_page_uses_the_names() -> None:
    explanation = explain("survey", "survey-learned", peers=NAMES)
    guess = Guess("patients", PEERS, explanation=explanation)
    page = report_page("controls", [guess])
    body = re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert "No model is taken as the truth." in body
    body = body.replace("No model is taken as the truth.", "")
    assert not ONE_IS_TRUE.search(body), ONE_IS_TRUE.search(body)


def test_names_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("a.mn", "b/c.mn", "b/a.mn"):
        run("convert", "lung", str(tmp_path / name))
    one, other, same = (tmp_path / name for name in ("a.mn", "b/c.mn", "b/a.mn"))
    roles = compare(one, other, peers=True).roles
    assert (roles.true, roles.guess) == ("a.mn", "c.mn")
    roles = compare(one, same, peers=True).roles
    assert (roles.true, roles.guess) == ("model 1", "model 2")


def test_json_says_what_its_keys_mean() -> None:
    naming = ("--peers", "--names", "controls,patients")
    record = json.loads(run("compare", "lung", "lung-learned", *naming, "--json"))
    assert record["peers"]
    assert record["labels"]["fn"] == "dependent only in controls"
    assert record["labels"]["fp"] == "dependent only in patients"
    assert "labels" not in json.loads(run("compare", "lung", "lung-learned", "--json"))


@pytest.mark.parametrize("peers", ["controls", ("controls",)])
def test_wrong_names_are_refused(peers: object) -> None:
    with pytest.raises(ContextwiseError, match=r"peers must be True|2 models need as many names"):
        compare("lung", "lung-learned", peers=peers)  # type: ignore[arg-type]
