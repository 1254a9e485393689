"""Startup code of every page's kernel: shell cells, and figures without pyplot.

`docs/conf.py` installs this file as an IPython startup file. IPython's own ``%%sh`` prints output
in pieces, which adds line breaks on the page; this one prints it at once. A cell that fails fails
the build.
"""

from __future__ import annotations

import io
import subprocess
from typing import Any

from IPython import get_ipython


def sh(line: str, cell: str) -> None:
    """Run a cell in the shell and show what it prints, errors included."""
    done = subprocess.run(
        ["sh", "-c", cell], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    print(done.stdout, end="", flush=True)
    done.check_returncode()


def as_png(figure: Any) -> bytes:
    """Return a figure as PNG."""
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=130, bbox_inches="tight")
    return png.getvalue()


shell = get_ipython()
shell.register_magic_function(sh, magic_kind="cell")
pictures = shell.display_formatter.formatters["image/png"]
pictures.for_type_by_name("matplotlib.figure", "Figure", as_png)
