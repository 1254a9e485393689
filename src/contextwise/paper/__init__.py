"""The definitions of the paper, under its names, executable as printed.

Jan Strappa and Facundo Bromberg, *Efficient comparison of independence structures of log-linear
models*. Sections, equations and theorems have the numbers of its preprint. Everything here lists
sets that the paper lists, so it is for small domains and few features; `contextwise.compare` has
the same counts for large ones. "From the paper" in the documentation is its guide.
"""

from contextwise.paper.dependency import (
    Assertion,
    assertions,
    complete_model,
    confusion_complete,
    dependency_model,
    triplets,
)
from contextwise.paper.features import (
    Feature,
    c1,
    c2,
    cardinality,
    context_set,
    d_e_fg,
    d_fg,
    difference,
    features_of,
    intersection,
    partition_model,
    union,
    union_over,
)
from contextwise.paper.theorem import (
    confusion,
    confusion_of_pair,
    delta,
    f1,
    f2,
    g1,
    g2,
    h_fn,
    h_fp,
    h_tp,
)

__all__ = [
    "Assertion",
    "Feature",
    "assertions",
    "c1",
    "c2",
    "cardinality",
    "complete_model",
    "confusion",
    "confusion_complete",
    "confusion_of_pair",
    "context_set",
    "d_e_fg",
    "d_fg",
    "delta",
    "dependency_model",
    "difference",
    "f1",
    "f2",
    "features_of",
    "g1",
    "g2",
    "h_fn",
    "h_fp",
    "h_tp",
    "intersection",
    "partition_model",
    "triplets",
    "union",
    "union_over",
]
