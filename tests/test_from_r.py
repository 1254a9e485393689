"""The R code of the page for R users, run where R and reticulate are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs/tutorials/from-r.md"


def test_the_page_shows_what_r_prints(tmp_path: Path) -> None:
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    packages = (
        "quit(status = !all(sapply(c('reticulate', 'vcd'), requireNamespace, quietly = TRUE)))"
    )
    if subprocess.run(["Rscript", "-e", packages], capture_output=True).returncode:
        pytest.skip("the R packages reticulate and vcd are not installed")
    section = PAGE.read_text().partition(":::{note}")[0]
    code, output = (
        "".join(re.findall(rf"```{kind}\n(.*?)```", section, re.S)) for kind in ("r", "text")
    )
    (tmp_path / "page.R").write_text(code)
    done = subprocess.run(
        ["Rscript", "page.R"],
        cwd=tmp_path,
        env={**os.environ, "RETICULATE_PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace("\n", "") == output.replace("\n", "")
    assert (tmp_path / "arthritis.json").exists()
