"""Progress, maps over processes and clusters, the store, files, and text of numbers and names."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from contextwise.support import files, formatting
else:
    from contextwise.support.loading import lazy_modules

    __getattr__ = lazy_modules(__name__)
