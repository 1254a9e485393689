"""Run the README and every command with bundled examples where only the core is installed.

Run it with the Python of an environment that has the package without extras, from any folder:

    .venv-wheel/bin/python .ci/run_with_core_only.py

What needs more packages must name them and the command that installs them, which this checks too.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from contextwise.cli import COMMANDS

README = Path(__file__).parents[1] / "README.md"
CONTEXTWISE = Path(sys.executable).with_name("contextwise")

WORKS = """
analyse titanic --out analysis --resamples 5
compare lung lung-learned
compare lung lung-learned --chance
compare lung lung-learned --peers
compare lung --group a=lung-learned --group b=lung
matrix six six-guess six-graph
explain six six-guess
compare survey survey-learned --kl
learn berkeley --out learned.json
learn titanic --learner mpl --out graph.json
learn titanic --learner gsmn --out gsmn.json
learn women-math --learner sparse-pairs --out pairs.json
learn titanic --learner trees --out trees.mn
fit learned.json berkeley --out fitted.json
sample fitted.json --rows 200 --seed 1 --out sample.csv
compare fitted.json fitted.json --kl --score sample.csv
check learned.json berkeley
check learned.json berkeley --overall
stability titanic --learner mpl --resamples 5
matrix six six-guess six-graph --folder runs/matrix
stability titanic --learner mpl --resamples 5 --folder runs/stability
groups titanic --by age --learner mpl
report six six-guess --out report.html
report learned.json --check berkeley --out one.html
query six "X1 _||_ X2 | X0=1"
explain six
explain learned.json
info
info six
info berkeley
convert six six.mn
convert six - --to dot
"""

NAMES_PACKAGES = """
plot pairs six six-guess --out pairs.pdf
explore six six-guess
study six --learners mpl --out runs/study
stability titanic --learner mpl --resamples 5 --jobs 2
"""


def lines(text: str) -> list[list[str]]:
    return [shlex.split(line) for line in text.strip().splitlines()]


def run(words: list[str]) -> subprocess.CompletedProcess[str]:
    print("contextwise", shlex.join(words), flush=True)
    return subprocess.run([CONTEXTWISE, *words], capture_output=True, text=True)


def main() -> None:
    readme = README.read_text(encoding="utf-8")
    os.chdir(tempfile.mkdtemp())
    failures = []
    for words in [
        *lines("\n".join(re.findall(r"^\$ contextwise (.*)", readme, re.M))),
        *lines(WORKS),
    ]:
        done = run(words)
        if done.returncode or "needs the package" in done.stdout + done.stderr:
            failures.append((words, done.stdout + done.stderr))
    for words in lines(NAMES_PACKAGES):
        done = run(words)
        if done.returncode != 2 or not re.search(
            "needs the package .*: pip install '", done.stderr
        ):
            failures.append((words, done.stdout + done.stderr))
    listed = {words[0] for words in lines(WORKS + NAMES_PACKAGES.lstrip())}
    failures += [([name], "has no example here") for name in COMMANDS if name not in listed]
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    wrong, _ = doctest.testfile(str(README), module_relative=False, optionflags=options)
    for words, text in failures:
        print(f"\nFAILED: contextwise {shlex.join(words)}\n{text}", file=sys.stderr)
    sys.exit(bool(failures or wrong))


main()
