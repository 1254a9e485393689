"""The origin of a structure: files keep it, words are made from it, and no word is read."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwise as cw
from contextwise.analysis.conclusions import analysis_of
from contextwise.data.rows import as_data
from contextwise.formats.io import encode, read_stream
from contextwise.models.origin import ByValues, LearnedBy, ModelFile, Origin
from contextwise.models.structure import structure_of
from contextwise.support.effort import Effort
from contextwise.testing import structures

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
NUMBERS = st.integers(0, 10**9)
LEARNED = st.builds(
    LearnedBy,
    learner=TEXTS,
    parameters=st.dictionaries(TEXTS, st.none() | NUMBERS | st.floats(0, 1) | TEXTS, max_size=3),
    rows=NUMBERS,
    fingerprint=TEXTS,
    version=TEXTS,
    finished=st.booleans(),
    by_test=st.booleans(),
)
READINGS = st.fixed_dictionaries({}, optional={"dropped": st.lists(TEXTS), "missing": TEXTS})
ORIGINS = st.builds(
    Origin,
    description=TEXTS,
    learned=st.none() | LEARNED,
    reading=READINGS,
    unknown_states=st.booleans(),
    directed=st.booleans(),
    by_values=st.none()
    | st.builds(
        ByValues, tolerance=st.floats(0, 9), zeros=st.booleans(), pairs_by_table=st.integers(0, 99)
    ),
)
ROWS = [["a", "c"], ["b", "d"], ["a", "d"], ["b", "d"]] * 20


@given(structures(), ORIGINS)
def test_json_keeps_the_origin(model: cw.Structure, origin: Origin) -> None:
    """All of it but the facts about the file, which are those of the new file."""
    known = cw.Structure(model.domain, model.features, origin=origin)
    read = read_stream(BytesIO(encode(known, "json")))
    assert read == known
    assert replace(read.origin, file=ModelFile()) == origin
    assert read.origin.file.format == "json"


@given(structures(), ORIGINS)
def test_the_origin_is_no_claim(model: cw.Structure, origin: Origin) -> None:
    known = cw.Structure(model.domain, model.features, origin=origin)
    assert (known, hash(known), known.fingerprint) == (model, hash(model), model.fingerprint)
    reordered = known.aligned_to(cw.Domain(dict(reversed([*zip(*_parts(model), strict=True)]))))
    assert reordered.origin.learned == origin.learned
    assert known.restrict({}).origin == Origin(by_values=origin.by_values)


def _parts(model: cw.Structure) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    return model.domain.names, model.domain.states


@pytest.mark.parametrize("learner", ["gsmn", "chow-liu"])
def test_no_word_decides_whether_the_learner_saw_the_rows(learner: str, tmp_path: Path) -> None:
    """Neither a file nor an edited description changes what the rows say."""
    path = tmp_path / "learned.json"
    learned = cw.learn(ROWS, learner).structure_
    cw.write(learned.with_evidence(None), path)
    read = structure_of(cw.read(path))
    fingerprint = as_data(ROWS).fingerprint
    told = replace(read.origin, description=f"learned by mpl() of us (fingerprint {fingerprint})")
    edited = cw.Structure(read.domain, read.features, origin=told)
    assert read.origin.learner == edited.origin.learner == learner
    assert read.origin.learned
    assert read.origin.learned.by_test == (learner == "gsmn")
    results = [cw.check(model, ROWS) for model in (learned, read, edited)]
    assert [found.evidence.seen_by_learner for found in results] == [True] * 3
    assert results[0].evidence == results[1].evidence == results[2].evidence
    assert not cw.check(read, ROWS[1:]).evidence.seen_by_learner
    liar = cw.Structure(read.domain, read.features, origin=Origin(description=told.description))
    assert not cw.check(liar, ROWS).evidence.seen_by_learner
    assert analysis_of(read, as_data(ROWS), "", Effort()).structure.origin.learner == learner


def test_words_are_made_from_the_facts() -> None:
    learned = LearnedBy(
        learner="trees", parameters={"penalty": 2}, rows=1, fingerprint="ab", version="1.0"
    )
    assert Origin().words == ""
    assert Origin(learned=learned).words == (
        "learned by trees(penalty=2) of contextwise 1.0 from 1 row (fingerprint ab)"
    )
    late = Origin(description="Mine", learned=learned._replace(finished=False))
    assert late.words.startswith("Mine. learned by trees")
    assert late.words.endswith("unfinished: stopped by the time limit or Ctrl-C")
