"""Build a kernel whose steps can be switched off one by one, to measure the effect of each.

`build` copies the sources, adds a condition to the lines that begin a step, and compiles the copy.
``CONTEXTWISE_OFF``, the sum of the bits of some steps, switches them off when the copy is loaded.
A test checks that the lines below are still in the kernel.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import contextwise

PACKAGE = Path(contextwise.__file__).parent
KERNEL = Path("counting", "kernel")

READ_OFF = """
#include <cstdlib>
namespace contextwise {
inline const unsigned OFF = [] {
  const char* const off = std::getenv("CONTEXTWISE_OFF");
  return off ? static_cast<unsigned>(std::atoi(off)) : 0u;
}();
}
"""


@dataclass(frozen=True)
class Step:
    """A step of the counting, and the lines where it begins; each is in the kernel exactly once.

    The text in «» is inserted: a condition, where ``off`` means that the step is switched off.
    """

    name: str
    lines: tuple[str, ...]


STEPS = (
    Step("features of one scope as one claim", ("«if (!off) »merge();\n",)),
    Step(
        "truth tables up to 14 variables",
        (
            "return «!off && »cover.variables() <= TRUTH_VARIABLES",
            "if («off || »!tables_.fill(std::array{&a, &b})) return false;",
            "«if (!off) »if (variables <= TRUTH_VARIABLES)",
        ),
    ),
    Step("twins found by hashing", ("«if (!off) »if (binary_ && cover.size() >= MANY)",)),
    Step(
        "widening",
        ("if («off || »!(other[word] & twin)) continue;", "if («off || »outside) continue;"),
    ),
    Step("absorption and widening", ("«if (!off) »compare_all(cover, budget);\n",)),
    Step(
        "one count where one model swallows the other",
        ("if («!off && »same_a && same_b)", "if («!off && (»same_a || same_b«)»)"),
    ),
    Step(
        "inclusion and exclusion up to 8 cubes",
        ("if («!off && »part.size() <= few) return",),
    ),
    Step(
        "unit rule",
        (
            "if («!off && (»cover_.binary ? rest.single()",
            "rest.inside(cover_.field_of(rest))«)») {",
        ),
    ),
    Step("components", ("|| «!off && »!groups_[g].fields.meets(mine)) continue;",)),
    Step("memory of subproblems", ("memory_(«off ? 0 : »memory_bytes)",)),
    Step("branching on a long cube", ("return «!off && »most >= LONG ?",)),
)


def switched(sources: dict[str, str]) -> dict[str, str]:
    """Return the sources of the kernel, by file name, with a switch for each step.

    Raise ValueError if a line that begins a step does not occur exactly once.
    """
    made = dict(sources)
    for bit, step in enumerate(STEPS):
        for line in step.lines:
            old = re.sub("«.*?»", "", line)
            files = [file for file, text in made.items() for _ in range(text.count(old))]
            if len(files) != 1:
                raise ValueError(f"the kernel has {old.strip()!r} {len(files)} times")
            new = line.replace("off", f"(OFF & {1 << bit}u)").replace("«", "").replace("»", "")
            made[files[0]] = made[files[0]].replace(old, new)
    made["bigint.hpp"] = made["bigint.hpp"].replace("#pragma once\n", "#pragma once\n" + READ_OFF)
    return made


def kernel_sources() -> dict[str, str]:
    """Read the sources of the kernel."""
    files = sorted((PACKAGE / KERNEL).iterdir())
    return {path.name: path.read_text(encoding="utf-8") for path in files}


def build(folder: Path) -> None:
    """Build a copy of the package with a switched kernel in a folder."""
    copy = folder / "src" / "contextwise"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "_kernel.*.so"))
    shutil.copy(PACKAGE.parent.parent / "CMakeLists.txt", folder)
    for name, text in switched(kernel_sources()).items():
        (copy / KERNEL / name).write_text(text, encoding="utf-8")
    built = folder / "build"
    configure = [
        "cmake",
        "-S",
        str(folder),
        "-B",
        str(built),
        f"-DPython_EXECUTABLE={sys.executable}",
    ]
    subprocess.run(configure, check=True, capture_output=True)
    subprocess.run(
        ["cmake", "--build", str(built), "--parallel", "--target", "_kernel"], check=True
    )
    shutil.copy(next(built.rglob("_kernel.*")), copy / "counting")
    copy.rename(folder / "contextwise")
