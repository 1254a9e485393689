"""Studies: the KL study and the study of learners."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from contextwise.studies import kl_study, learner_report, learner_study
else:
    from contextwise.support.loading import lazy_modules

    __getattr__ = lazy_modules(__name__)
