"""Evidence belongs to the features that were tested, and JSON files keep it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import contextwise as cw
from contextwise.errors import ContextwiseError, DomainError
from contextwise.formats.reading import FormatWarning
from contextwise.models.evidence import ClaimEvidence, Effect, Evidence
from contextwise.models.notation import Literal

MODEL = cw.Structure({"A": 2, "B": 2, "C": ["x", "y"]}, ["A=1 & B=1 & C=x", "B=1 & C=y"])
CLAIMS = (
    ClaimEvidence(
        ("A", "B"), (Literal("C", ("x",)),), 1, claim="dependent", verdict="supported", rows=10,
        freedom=1, p=0.001, adjusted=0.01, method="draws", effect=Effect("V", 0.7, 0.3, 0.9),
    ),
    ClaimEvidence(
        ("A", "C"), (), 2, claim="independent", verdict="could not be tested", given=("B",),
        rows=10, reason="no row carries information",
    ),
    ClaimEvidence(
        ("B", "C"), (), 2**80, claim="dependent", verdict="not supported", rows=10, freedom=1,
        p=0.4, adjusted=1.0, method="chi-square", effect=Effect("V", 0.2, 0.0, 0.6),
        could_show=0.3, context="A",
    ),
)  # fmt: skip
EVIDENCE = Evidence(CLAIMS, MODEL.fingerprint, "0123", 10, True, reading={"dropped": ["id"]})


def test_files_keep_evidence(tmp_path: Path) -> None:
    path = str(tmp_path / "model.json")
    cw.formats.write(MODEL.with_evidence(EVIDENCE), path)
    assert cw.read(path).evidence == EVIDENCE
    cw.formats.write(MODEL, path)
    assert cw.read(path).evidence is None


@pytest.mark.parametrize("version", [1, 2])
def test_a_file_with_evidence_of_an_older_form_loses_it(version: int, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    cw.formats.write(MODEL.with_evidence(EVIDENCE), str(path))
    old = path.read_text().replace('"version": 1', f'"version": {version}', 1)
    path.write_text(old.replace('"rows": 10, "freedom"', '"rows": 10, "informative": 8, "freedom"'))
    with pytest.warns(FormatWarning, match="evidence has an older form and is left out"):
        model = cw.read(path)
    assert (model, model.evidence) == (MODEL, None)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.restrict("C=x"),
        lambda m: m.renamed({"A": "D"}),
        lambda m: m | cw.Structure(m.domain, ["A=1 & C=x"]),
        lambda m: m.aligned_to(cw.Structure({"C": ["x", "y"], "B": 2, "A": 2}).domain),
        lambda m: cw.Structure(m.domain, m.features.take(np.array([True, False])), tested=m.tested),
        lambda m: cw.LogLinear(m, [1.0, 0.0]).without_zero_weights(),
    ],
)
def test_other_features_have_no_evidence(change: Callable[[Any], Any]) -> None:
    assert change(MODEL.with_evidence(EVIDENCE)).evidence is None


def test_evidence_of_other_features_is_refused() -> None:
    with pytest.raises(DomainError, match="another structure"):
        MODEL.with_evidence(replace(EVIDENCE, features="other"))
    weighted = cw.LogLinear(MODEL, [1.0, 2.0]).with_evidence(EVIDENCE)
    assert weighted.evidence == EVIDENCE
    assert weighted.with_evidence(None).evidence is None


def test_words() -> None:
    supported, untestable, weak = CLAIMS
    assert supported.sentence == "A–B depend when C=x"
    assert supported.finding == "p = 0.001, V 0.70 (0.30 to 0.90)"
    assert untestable.finding == "no row carries information"
    assert weak.finding == "p = 0.4 (1 corrected), V 0.20 (0.00 to 0.60), differs by A"
    assert EVIDENCE.about("B", "A") == [supported]
    assert EVIDENCE.summary == (
        "The 10 rows that the learner saw support 1 of 2 claims of dependence. "
        "1 claim could not be tested."
    )


def test_evidence_is_printed_as_a_check() -> None:
    shown = str(EVIDENCE)
    assert " ".join(shown.split()).startswith(EVIDENCE.summary)
    assert "The model was learned from these rows" in shown
    assert "Dependences without support" in shown
    assert repr(EVIDENCE) == "Evidence(3 claims, 0 contradicted)"
    assert EVIDENCE.to_frame()["verdict"].tolist() == [claim.verdict for claim in CLAIMS]
    used = replace(CLAIMS[1], verdict="used by the learner", p=0.4, adjusted=0.4)
    told = replace(EVIDENCE, claims=(used,)).summary
    assert told.endswith("The learner decided 1 claim by this test.")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"version": 1', '"version": 3', "unknown version 3; expected 1"),
        ('"supported"', '"proven"', "expected one of contradicted"),
        ('["A", "B"]', '["A", "Z"]', "unknown variable 'Z'"),
        ('"region": "C=x"', '"region": "C=z"', "'z'"),
        ('"rows": 10', '"rows": "ten"', "expected a whole number"),
        ('"v": 0.7', '"v": 7', "from 0 to 1"),
        ('"level": 0.05', '"level": "high"', "evidence.level"),
    ],
)
def test_bad_evidence(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "model.json"
    cw.formats.write(MODEL.with_evidence(EVIDENCE), str(path))
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ContextwiseError, match=message):
        cw.read(str(path))
