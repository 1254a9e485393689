"""The grammar of `contextwise.formats.libra`, compiled: from bytes to arrays, no object a literal.

The scanner in ``scan.cpp`` reads what is well formed. At anything else it gives up without a word,
and the parser in plain Python reads the file again and says what is wrong, so that there is one
source of error messages. Where the scanner was not built, the parser reads everything.
"""

from __future__ import annotations

import numpy as np

from contextwise.formats.assembly import most_literals
from contextwise.formats.libra import header, parse
from contextwise.formats.listing import Listing
from contextwise.formats.source import Source
from contextwise.formats.tokens import text_of

try:
    from contextwise.formats import _scan
except ImportError:  # built without a compiler
    _scan = None  # type: ignore[assignment]


def available() -> bool:
    """Whether the compiled scanner was built."""
    return _scan is not None


def listing_of(source: Source, keyword: str) -> Listing:
    """What a file lists whose factors follow the keyword ``MN``, ``BN`` or ``DN``.

    >>> listing_of(Source(b"2,3\\nMN {\\n0.5 +v0_1 -v1_2\\n}\\n", "small.mn"), "MN").tests
    array([2, 9])
    """
    found = scanned(source, keyword) if available() else None
    return parse(source, keyword) if found is None else found


def scanned(source: Source, keyword: str) -> Listing | None:
    """The listing by the compiled scanner; None if it met something that it does not understand."""
    text = text_of(source)
    cardinalities, at = header(source, text)
    found = _scan.scan(
        text.encode("latin-1") if b"\r" in source.data else source.data,
        at,
        keyword,
        np.array(cardinalities, dtype=np.int64),
        most_literals(source, cardinalities),
    )
    if found is None:
        return None
    lengths, tests, weights, end = found
    return Listing(
        cardinalities,
        lengths,
        tests,
        weights if len(weights) else None,
        text[end:],
        text.count("\n", 0, end) + 1,
    )
