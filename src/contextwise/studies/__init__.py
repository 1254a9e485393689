"""Studies: compare learners on rows drawn from known truths."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from contextwise.studies import learner_study, units
else:
    from contextwise.support.loading import lazy_modules

    __getattr__ = lazy_modules(__name__)
