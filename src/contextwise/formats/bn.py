"""Bayesian and dependency networks as the Libra toolkit keeps them: ``.bn`` and ``.dn``, read only.

The factors of each variable stand in a block of its own, in the syntax of `contextwise.formats.
libra`; their values are logs of conditional probabilities::

    2,2
    BN {
    v0 {
    tree { (v0_0 -0.1 -2.3) }
    }
    v1 {
    -0.3 +v0_1 +v1_1
    }
    }

The features are those of the factors, as when Libra itself converts such a file to ``.mn``. A
``.bn`` file gives a `LogLinear`: a product of conditional distributions is a log-linear model whose
weights are these logs (if they are normalised, as those of trees and tables are). The conditional
distributions of a dependency network need not fit together in one joint distribution, so a ``.dn``
file gives a `Structure`.
"""

from __future__ import annotations

from contextwise.formats.assembly import assembled
from contextwise.formats.listing import listed_features, looks_like
from contextwise.formats.scan import listing_of
from contextwise.formats.source import Format, Source
from contextwise.models.domain import Domain
from contextwise.models.structure import Model


def read_bn(source: Source) -> Model:
    """Read a ``.bn`` file.

    >>> read_bn(Source(b"2\\nBN {\\nv0 {\\ntree { (v0_0 -0.1 -2.3) }\\n}\\n}", "small.bn"))
    LogLinear(1 variable, 2 features: -0.1 v0=0; -2.3 v0=1)
    """
    listing = listing_of(source, "BN")
    domain = Domain.of_cardinalities(listing.cardinalities)
    return assembled(listed_features(listing, domain, listing.weights), source, "bn")


def read_dn(source: Source) -> Model:
    """Read a ``.dn`` file.

    >>> read_dn(Source(b"2\\nDN {\\nv0 {\\ntree { (v0_0 -0.1 -2.3) }\\n}\\n}", "small.dn"))
    Structure(1 variable, 2 features: v0=0; v0=1)
    """
    listing = listing_of(source, "DN")
    domain = Domain.of_cardinalities(listing.cardinalities)
    return assembled(listed_features(listing, domain, None), source, "dn")


BN = Format("bn", (".bn",), read_bn, None, looks_like("BN"))
DN = Format("dn", (".dn",), read_dn, None, looks_like("DN"))
