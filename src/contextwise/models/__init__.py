"""Domains, features as arrays, structures, and log-linear models."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from contextwise.models import domain, notation, structure
else:
    from contextwise.support.loading import lazy_modules

    __getattr__ = lazy_modules(__name__)
