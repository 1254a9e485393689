"""Small pictures of few colours as PNG files, with nothing but the standard library."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Colour = tuple[int, int, int, int]
"""Red, green, blue and opacity, each from 0 to 255."""


def palette_png(cells: npt.NDArray[np.uint8], palette: Sequence[Colour]) -> bytes:
    """A picture with one pixel a cell; a cell is the place of its colour in the palette.

    >>> palette_png(np.zeros((2, 3), dtype=np.uint8), [(255, 255, 255, 0)])[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    height, width = cells.shape
    rows = np.zeros((height, width + 1), dtype=np.uint8)  # each row starts with filter 0: as it is
    rows[:, 1:] = cells
    colours, opacities = bytes(v for c in palette for v in c[:3]), bytes(c[3] for c in palette)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", colours),
        (b"tRNS", opacities),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
