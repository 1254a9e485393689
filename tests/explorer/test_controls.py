"""Buttons and progress."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from shiny.types import ActionButtonValue

from contextwise.explorer import (
    controls,
    sidebar,
)
from contextwise.explorer.controls import clicks, file_name, uploaded_path
from contextwise.explorer.job import Working


def test_work_says_what_it_does_and_how_far_it_is() -> None:
    text = str(controls.under_way(Working("Comparing", 1, 3)))
    assert "Comparing: 1 of 3 (33 %)" in text
    assert 'aria-valuenow="33"' in text
    assert "%" not in re.sub("width: 100%", "", str(controls.under_way(Working("Starting"))))
    assert sidebar.status(failure=None, open_pairs=False) is None


def test_names_of_files() -> None:
    assert file_name("a/b: <c>.mn vs d.mn") == "a-b-c-.mn-vs-d.mn"
    assert file_name("..") == "contextwise"


def test_a_button_that_appears_has_not_been_clicked() -> None:
    assert clicks(1) == 1
    assert isinstance(clicks(0), ActionButtonValue)  # which Shiny takes for no event
    for sent in (None, "1", True, -1):
        with pytest.raises(TypeError):
            clicks(sent)


def test_only_files_in_the_folder_are_uploads(tmp_path: Path) -> None:
    folder, outside = tmp_path / "uploads", tmp_path / "outside.mn"
    (folder / "0").mkdir(parents=True)
    inside = folder / "0" / "model.mn"
    inside.touch()
    outside.touch()
    (folder / "link.mn").symlink_to(outside)
    assert uploaded_path(str(folder / "0" / ".." / "0" / "model.mn"), folder) == str(inside)
    for other in (folder / "0", folder, outside, folder / ".." / "outside.mn", folder / "link.mn"):
        with pytest.raises(ValueError, match="is no uploaded file"):
            uploaded_path(str(other), folder)
