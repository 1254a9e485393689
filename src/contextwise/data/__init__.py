"""Read rows of observed states from files, frames, arrays and bundled data sets.

`read_data` reads any of them, `summarize_data` describes the columns and gives advice.
"""

TYPE_CHECKING = False  # true for type checkers; importing `typing` takes 10 ms

if TYPE_CHECKING:
    from contextwise.data import rows
    from contextwise.data.columns import UnclearData
    from contextwise.data.options import RowOptions
    from contextwise.data.rows import Data, as_data, read_data, summarize_data
else:
    from contextwise.support.loading import lazy_names

    _ROWS = dict.fromkeys(("Data", "as_data", "read_data", "summarize_data"), "rows")
    _OTHERS = {"RowOptions": "options", "UnclearData": "columns"}
    __getattr__, __dir__ = lazy_names(__name__, {**_ROWS, **_OTHERS})

__all__ = ["Data", "RowOptions", "UnclearData", "read_data", "summarize_data"]
