"""Build a kernel whose steps can be switched off one by one, to measure the effect of each.

``kernel/steps.hpp`` lists the steps. In the build of `build`, ``CONTEXTWISE_OFF``, the sum of the
bits of some steps, switches them off when the kernel is loaded.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "contextwise"
"""The sources of the repository: an installed package may lack those of the kernel."""
LISTED = PACKAGE / "counting" / "kernel" / "steps.hpp"
STEPS = re.findall(r"^  [A-Z_]+, +// (.+)$", LISTED.read_text(encoding="utf-8"), re.MULTILINE)
"""The names of the steps, in the order of their bits."""


def build(folder: Path) -> None:
    """Build a copy of the package with a switched kernel in a folder."""
    copy = folder / "src" / "contextwise"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "_kernel.*.so"))
    shutil.copy(PACKAGE.parent.parent / "CMakeLists.txt", folder)
    built = folder / "build"
    options = [f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_CXX_FLAGS=-DCONTEXTWISE_SWITCHES"]
    subprocess.run(
        ["cmake", "-S", str(folder), "-B", str(built), *options], check=True, capture_output=True
    )
    subprocess.run(
        ["cmake", "--build", str(built), "--parallel", "--target", "_kernel"], check=True
    )
    shutil.copy(next(built.rglob("_kernel.*")), copy / "counting")
    copy.rename(folder / "contextwise")
