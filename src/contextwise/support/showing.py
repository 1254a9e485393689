"""Let results show themselves as text, as HTML in notebooks, and as a DataFrame.

The renderers are in `contextwise.report`, which imports the rooms of the results. So a result loads
them by name, when it is shown.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from contextwise.errors import require

if TYPE_CHECKING:
    import pandas


class Shown:
    """Mixin for results that `contextwise.report.text` renders in notebooks."""

    def _repr_html_(self) -> str:
        html: str = import_module("contextwise.report.text").html_of(self)
        return html

    def to_frame(self) -> pandas.DataFrame:
        """Return the records of the result as a pandas DataFrame."""
        result: Any = self
        rows = result.records() if hasattr(result, "records") else [result.record()]
        frame: pandas.DataFrame = require("pandas", "frames").DataFrame(rows)
        return frame


class Printed(Shown):
    """Mixin for results whose `str` is the text that the command prints."""

    def __str__(self) -> str:
        text: str = import_module("contextwise.report.text").text_of(self)
        return text
