"""How a command line names data: a CSV file, or ``-`` for standard input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextwise.models.domain import Domain


def load_rows(path: str, domain: Domain) -> Any:
    """The rows of a data file, or of standard input for ``-``."""
    from contextwise.execution import files
    from contextwise.formats.data import parse_rows, read_rows

    if path != "-":
        return read_rows(path, domain)
    name = "standard input"
    return parse_rows(files.unpacked(sys.stdin.buffer.read(), name), name, domain)
