"""Files to models and back, by suffix."""

from __future__ import annotations

import os

from contextwise.structure import Model


def read(path: str | os.PathLike[str]) -> Model:
    """Read a model from a file."""
    raise NotImplementedError
