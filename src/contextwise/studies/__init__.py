"""Studies: compare learners on rows drawn from known truths."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from contextwise.studies import kl, learner_study, planted, units
else:
    from contextwise.support.loading import lazy_modules

    __getattr__ = lazy_modules(__name__)
