"""An sdist holds every file of the repository that is not the forge's, and nothing else.

Run it in a checkout, on the file that ``python -m build`` wrote::

    python .ci/sdist_holds_the_repository.py dist/contextwise-0.1.0.tar.gz
"""

from __future__ import annotations

import subprocess
import sys
import tarfile

OF_THE_FORGE = (".ci/", ".github/", ".gitignore", ".pre-commit-config.yaml")
MADE_BY_THE_BUILD = ("PKG-INFO",)


def files_of_sdist(path: str) -> set[str]:
    """The files of an sdist, without those that the build makes."""
    with tarfile.open(path) as archive:
        names = [member.name.partition("/")[2] for member in archive if member.isfile()]
    return {name for name in names if not name.startswith(MADE_BY_THE_BUILD)}


def files_of_repository() -> set[str]:
    """The files that git knows, without those of the forge."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True)
    names = listed.stdout.rstrip("\0").split("\0")
    return {name for name in names if not name.startswith(OF_THE_FORGE)}


def main() -> None:
    """Say what is lacking and what is too much."""
    packed, known = files_of_sdist(sys.argv[1]), files_of_repository()
    for name in sorted(known - packed):
        print(f"lacking: {name}")
    for name in sorted(packed - known):
        print(f"too much: {name}")
    sys.exit(packed != known)


if __name__ == "__main__":
    main()
