"""Read graphs of files, and list their arcs."""

import io

from contextwise.formats import read_stream
from contextwise.models.structure import Model


def graph(text: str, format: str) -> Model:
    return read_stream(io.StringIO(text), format=format)


def arcs(model: Model) -> list[tuple[str, str]]:
    assert model.directions is not None
    names = model.domain.names
    return sorted((names[a], names[b]) for a, b in model.directions.arcs)
