"""What a command prints when it is stopped."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from contextwise.cli import main

STABILITY = ("stability", "rows.csv", "--learner", "trees")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("smoker,asbestos,cancer\n" + "yes,no,no\nno,no,yes\n" * 20)


@pytest.mark.parametrize(
    ("target", "arguments"),
    [
        ("studies.learner_study.run_units", ["study", "six", "--learners", "mpl", "--out", "kept"]),
        ("analysis.resampling.run_units", [*STABILITY, "--folder", "kept"]),
        ("support.store.run_units", ["matrix", "six", "six-guess", "--folder", "kept"]),
    ],
)
def test_a_run_that_is_stopped_says_that_it_goes_on(
    target: str,
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    module, _, name = target.rpartition(".")
    monkeypatch.setattr(import_module(f"contextwise.{module}"), name, stop)
    monkeypatch.setattr("sys.set_int_max_str_digits", lambda _: None)  # it would outlive the test
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 130
    words = "interrupted; finished work is kept in kept, run the same command to resume\n"
    assert capsys.readouterr().err.endswith(words)
