"""From rows to conclusions: what goes together, how stable it is, whether groups of rows differ.

A name is imported when it is first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextwise.analysis import conclusions, pair_rows
    from contextwise.analysis.conclusions import analyse
    from contextwise.analysis.groups_of_rows import groups
    from contextwise.analysis.resampling import stability

__all__ = ["analyse", "groups", "stability"]

if not TYPE_CHECKING:
    from contextwise.support.loading import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {"analyse": "conclusions", "groups": "groups_of_rows", "stability": "resampling"},
    )
