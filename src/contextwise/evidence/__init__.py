"""What rows show about the claims of a model: tests, p-values, effects, verdicts.

`row_tests` tests pairs of variables, `claim_tests` the claims of a structure, `model_check` a model
as a whole; `independence_test` is the test that learners decide by. A name is imported when it is
first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextwise.evidence.model_check import check

__all__ = ["check"]

if not TYPE_CHECKING:
    from contextwise.support.loading import lazy_names

    __getattr__, __dir__ = lazy_names(__name__, {"check": "model_check"})
