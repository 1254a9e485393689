"""What every page's kernel knows: cells for the shell, and figures without pyplot.

`docs/conf.py` puts this file where IPython runs it at the start of each page. ``%%sh`` of IPython
hands on what a command prints in small pieces, which come out with line breaks between them; here
it comes in one piece. A cell that fails fails the build.
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
    """A figure as a picture."""
    made = io.BytesIO()
    figure.savefig(made, format="png", dpi=130, bbox_inches="tight")
    return made.getvalue()


shell = get_ipython()
shell.register_magic_function(sh, magic_kind="cell")
pictures = shell.display_formatter.formatters["image/png"]
pictures.for_type_by_name("matplotlib.figure", "Figure", as_png)
