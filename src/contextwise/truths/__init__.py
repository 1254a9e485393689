"""Models whose structure is known: bundled, published, random, with wanted errors."""
