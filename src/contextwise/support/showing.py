"""Let results show themselves as text and, in notebooks, as HTML.

The renderers are in `contextwise.report`, which imports the rooms of the results. So a result loads
them by name, when it is shown.
"""

from __future__ import annotations

from importlib import import_module


class Shown:
    """Mixin for results that `contextwise.report.show` renders in notebooks."""

    def _repr_html_(self) -> str:
        html: str = import_module("contextwise.report.show").html_of(self)
        return html


class Printed(Shown):
    """Mixin for results whose `str` is the text that the command prints."""

    def __str__(self) -> str:
        text: str = import_module("contextwise.report.show").text_of(self)
        return text
