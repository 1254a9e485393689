"""Models whose structure is known: bundled, published, random, with planted errors."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from contextwise.truths import bundled, named, outside
    from contextwise.truths.planted import with_errors
else:
    from contextwise.support.loading import lazy_names

    __getattr__, __dir__ = lazy_names(__name__, {"with_errors": "planted"})

__all__ = ["with_errors"]
