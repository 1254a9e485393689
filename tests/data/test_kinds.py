"""What kind of column a column is: the rules, and the cases that were read wrongly before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from contextwise.data import UnclearData, read_data, summarize_data
from contextwise.data.kinds import RULES, names_people, rules_as_table
from contextwise.data.options import row_options
from contextwise.data.rows import as_data, parse_data

PAGE = Path(__file__).parents[2] / "docs/howto/your-data.md"
ILL = ["no", "yes", "yes"]


def test_the_page_prints_the_rules() -> None:
    assert rules_as_table() in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("id", "person"),
        ("ID", "person"),
        ("PatientNo", "person"),
        ("subject", "person"),
        ("patient_id", "person"),
        ("participantid", "person"),
        ("person 2", "person"),
        ("storeid", "id"),
        ("RespondentID", "person"),
        ("stratum_no", "set"),
        ("matched pair", "set"),
        ("household_income", ""),
        ("paid", ""),
        ("Covid", ""),
        ("family_size", ""),
        ("patients", ""),
    ],
)
def test_names_of_people(name: str, what: str) -> None:
    assert names_people(name) == what


@pytest.mark.parametrize("people", [6, 30, 133, 900])
@pytest.mark.parametrize("name", ["id", "Subject", "patient_id"])
def test_people_are_asked_for_however_often_each_occurs(people: int, name: str) -> None:
    rows = [{name: 7 * (k % people), "ill": ILL[k % 3]} for k in range(4_000)]
    (column, _) = summarize_data(rows).columns
    assert column.kind == "subject"
    assert [option for option, _ in column.problems[0][1]] == ["subject", "drop", "category"]
    with pytest.raises(UnclearData):
        read_data(rows)
    assert len(set(read_data(rows, subject=name).subjects.tolist())) == people  # type: ignore[union-attr]


def test_rows_have_one_subject_and_the_advice_works() -> None:
    rows = [
        {"household": k // 8, "person_id": k // 2, "pair": k // 4, "ill": ILL[k % 3]}
        for k in range(400)
    ]
    remedy = summarize_data(rows).remedy
    assert (remedy.subject, remedy.drop) == ("person_id", ("household", "pair"))
    assert as_data(rows, None, remedy).subjects is not None


def test_people_with_missing_numbers_are_dropped() -> None:
    rows = [{"id": k // 4 if k % 9 else None, "ill": ILL[k % 3]} for k in range(400)]
    remedy = summarize_data(rows).remedy
    assert (remedy.subject, remedy.drop) == (None, ("id",))
    assert len(as_data(rows, None, remedy)) == 400


def test_people_that_all_differ_are_dropped() -> None:
    rows = [{"id": 1000 + 7 * k, "ill": ILL[k % 3]} for k in range(60)]
    assert summarize_data(rows).remedy.drop == ("id",)


TABLE = [("f", "no", 5), ("f", "yes", 4), ("m", "no", 6), ("m", "yes", 3)]


@pytest.mark.parametrize(
    "totals",
    [
        [("Total", "Total", 18)],
        [
            ("Sum", "no", 11),
            ("Sum", "yes", 7),
            ("Sum", "Sum", 18),
            ("f", "Sum", 9),
            ("m", "Sum", 9),
        ],
        [("All", "no", 11), ("All", "yes", 7)],
    ],
)
def test_rows_that_add_up_others_are_asked_for(totals: list[tuple[str, str, int]]) -> None:
    content = "sex,ill,Freq\n" + "".join(f"{a},{b},{n}\n" for a, b, n in TABLE + totals)
    with pytest.raises(UnclearData, match="add up the others") as raised:
        parse_data(content.encode(), "t.csv", options=row_options(counts="Freq"))
    remedy = raised.value.summary.remedy._replace(counts="Freq")
    data = parse_data(content.encode(), "t.csv", options=remedy)
    assert len(data) == 18
    kept = row_options(counts="Freq", category=["sex", "ill"])
    assert len(parse_data(content.encode(), "t.csv", options=kept)) == 18 + sum(
        n for *_, n in totals
    )


def test_letters_are_no_types_of_columns() -> None:
    rows = [tuple("ctc"), tuple("ccc"), *[tuple("tct"), tuple("ctt"), tuple("tcc")] * 5]
    content = "a,b,c\n" + "".join(",".join(row) + "\n" for row in rows)
    assert Counter(map(tuple, parse_data(content.encode(), "x").labels())) == Counter(rows)


def test_a_category_of_a_file_that_differs_in_each_row_is_an_identifier() -> None:
    names = ",".join(f"animal{k}" for k in range(40))
    rows = "".join(f"animal{k},{'yn'[k % 2]}\n" for k in range(40))
    content = f"@relation zoo\n@attribute name {{{names}}}\n@attribute milk {{y,n}}\n@data\n{rows}"
    with pytest.raises(UnclearData, match="40 different texts in 40 rows: an identifier"):
        parse_data(content.encode(), "zoo.arff")


def test_text_that_hardly_repeats_is_no_category() -> None:
    rows = [
        {"why": f"because {k // 2}" if k < 18 else f"so {k}", "ill": ILL[k % 3]} for k in range(24)
    ]
    assert [column.kind for column in summarize_data(rows).columns] == ["text", "category"]


def test_the_time_of_reading_is_linear_in_the_columns() -> None:
    """Count function calls, which do not depend on the machine."""
    import cProfile
    import pstats

    def calls(columns: int) -> int:
        head = ",".join(f"v{k}x" for k in range(columns))
        body = "\n".join(",".join("ab"[(r * k) % 7 % 2] for k in range(columns)) for r in range(40))
        profile = cProfile.Profile()
        profile.runcall(parse_data, f"{head}\n{body}\n".encode(), "wide.csv")
        return pstats.Stats(profile).total_calls  # type: ignore[attr-defined, no-any-return]

    calls(10)
    assert calls(800) < 5 * calls(200)


def test_every_rule_says_when_it_applies() -> None:
    assert all(rule.kind and rule.when for rule in RULES)
    assert RULES[-1].kind == "category"


def kind_of(name: str, cells: Sequence[object]) -> str:
    rows = [{name: cell, "ill": ILL[k % 3]} for k, cell in enumerate(cells)]
    return summarize_data(rows).columns[0].kind


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("XCentroid", [100 + k * 7 % 90 for k in range(400)], "measurement"),
        ("subject", ["art", "maths", "music", "sports", "german", "physics"] * 20, "category"),
        ("id", [k if k > 40 else 40 for k in range(200)], "subject"),  # only some people repeat
        ("id", [k if k > 2 else 2 for k in range(200)], "identifier"),
        ("visit", [f"2020-{1 + k % 12:02}-{1 + k % 5:02}" for k in range(400)], "dates"),
        ("visit", [f"{1 + k % 28}.{1 + k % 12}.2020" for k in range(400)], "dates"),
        ("version", [f"{1 + k % 28}.{1 + k % 12}" for k in range(400)], "measurement"),
        # In small files, more values than half of the rows are measured, and half are codes.
        ("dose", [0.5 + k % 6 for k in range(11)], "measurement"),
        ("dose", [0.5 + k % 6 for k in range(12)], "category"),
        ("score", [3 + 2 * (k % 9) for k in range(17)], "measurement"),
        ("score", [3 + 2 * (k % 9) for k in range(18)], "category"),
        ("town", [f"town {k % 600}" for k in range(9_000)], "text"),
    ],
)
def test_kinds_by_name_and_values(name: str, cells: Sequence[object], kind: str) -> None:
    assert kind_of(name, cells) == kind


def test_people_that_the_frame_declares_a_category_are_asked_for() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"Subject": [f"M{k % 27:02}" for k in range(108)], "ill": ILL * 36})
    frame["Subject"] = frame["Subject"].astype("category")
    assert summarize_data(frame).remedy.subject == "Subject"
    frame["note"] = pandas.Categorical([f"text {k % 90}" for k in range(108)])
    assert [column.kind for column in summarize_data(frame).columns] == [
        "subject",
        "category",
        "text",
    ]


def test_children_that_each_family_numbers_anew_are_not_the_subject() -> None:
    rows = [{"family": k // 6, "child": 1 + k % 6, "ill": ILL[k % 3]} for k in range(300)]
    assert summarize_data(rows).remedy.words()[:4] == ["--drop", "child", "--subject", "family"]


def test_years_and_numbers_of_rows_make_no_wide_table() -> None:
    rows = [
        {"study": f"trial {k}", "year": 1990 + k % 9, "score": 20 + k * 7 % 60} for k in range(18)
    ]
    assert not summarize_data(rows).obstacle
