"""Rows of observed states, and the bundled data sets."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from contextwise.data import rows
else:
    from contextwise.support.loading import lazy_modules

    __getattr__ = lazy_modules(__name__)
