"""Convert model strings, in which R's bnlearn writes a DAG."""

from __future__ import annotations

from contextwise.convert.from_claims import DomainLike, domain_of
from contextwise.formats.graphs import read_modelstring
from contextwise.formats.reading import Source
from contextwise.models.structure import Structure, structure_of


def from_model_string(text: str, domain: DomainLike | None = None) -> Structure:
    """Convert a model string of bnlearn to the structure of its DAG, with its directions.

    Parameters
    ----------
    text : str
        One ``[variable|parent:parent]`` for each variable.
    domain : Domain, or a mapping that makes one; optional
        The states of the variables. Without it each variable has two, and a comparison takes the
        states of the other model.

    Examples
    --------
    >>> model = from_model_string("[A][C][B|A:C]", {"A": 2, "B": 3, "C": 2})
    >>> model.pairs(), model.directions.arcs
    ([('A', 'B'), ('A', 'C'), ('B', 'C')], [(0, 1), (2, 1)])
    """
    model = structure_of(read_modelstring(Source(text.encode(), "model string")))
    return model if domain is None else model.aligned_to(domain_of(domain))
