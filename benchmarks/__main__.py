"""Run the benchmarks: ``python -m benchmarks [FOLDER] [--data FOLDER] [--lines NAME ...]``."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import benchmarks
from benchmarks import report
from benchmarks.cases import GENERATED, Models
from benchmarks.families import write_families
from benchmarks.lines import LINES, hard
from benchmarks.measure import save

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Measure, store the measurements, and write the report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=benchmarks.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", nargs="?", type=Path, help="real models, DATA.SETTING.mn files")
    parser.add_argument("--data", type=Path, help="real data, DATA.train.data.gz files")
    parser.add_argument("--lines", nargs="+", choices=LINES, default=list(LINES))
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument(
        "--find-hard-covers", action="store_true", help="rebuild the list of hard covers"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        if arguments.folder is None:
            write_families(Path(made))
        folder = arguments.folder or Path(made)
        models = Models(folder, generated=arguments.folder is None, data=arguments.data)
        if arguments.find_hard_covers:
            hard.find(models)
            return
        name = "generated" if models.generated else "real"
        kept = arguments.results / f"{name}.json"
        for line in arguments.lines:
            print(f"measuring: {line}", flush=True)
            save(kept, [LINES[line](models)], GENERATED if models.generated else "real models")
    report.write(kept)


if __name__ == "__main__":
    main()
