"""Compare structures context by context: confusion matrices, explanations, many models."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from contextwise.comparison import (
        confusion,
        error_regions,
        estimate,
        matrix,
        question,
        two_models,
    )
else:
    from contextwise.support.loading import lazy_modules

    __getattr__ = lazy_modules(__name__)
