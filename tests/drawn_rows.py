"""Rows drawn from a model, as an array."""

from __future__ import annotations

from functools import partial

from contextwise.distributions import sample as sample_rows

sample = partial(sample_rows, array=True)
