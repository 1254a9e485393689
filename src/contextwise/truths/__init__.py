"""Models whose structure is known: bundled, published, random."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from contextwise.truths import bundled, named, outside
else:
    from contextwise.support.loading import lazy_modules

    __getattr__ = lazy_modules(__name__)
