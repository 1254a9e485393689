"""Settings of the property tests: the same examples every time, and more on demand.

``HYPOTHESIS_PROFILE=thorough pytest`` draws ten times as many, at random.
"""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from contextwise.counting import auto
from contextwise.counting.contract import ENGINES

# The machines of a CI are slow at times: a slow example is no failure, and examples do not change
# from run to run, so that a red run is red for everybody.
settings.register_profile(
    "default",
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough",
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# A run in the background of a shell ignores Ctrl-C, and so would every program that a test starts
# and interrupts: it would never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


TINY = "auto, tiny budget"
"""The portfolio with a budget that nearly every cover exceeds, so that every path is taken."""


@pytest.fixture(scope="module", params=[*ENGINES, TINY])
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every engine by name: a test that takes it is a law of all of them.

    It ends with its module, so that no test elsewhere meets the tiny budget.
    """
    name = "auto" if request.param == TINY else request.param
    reason = ENGINES[name].missing()
    if reason:
        pytest.skip(f"engine {name!r}: {reason}")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == TINY:
            patch.setattr(auto, "BUDGET", 1)
            patch.setattr(auto, "BUDGET_IN_PYTHON", 1)
        yield name


@pytest.fixture(scope="module")
def wide_engine(engine: str) -> str:
    """The engines that are meant for many variables."""
    if engine == "enumerate":
        pytest.skip("enumerate visits every cell: its limit is stated in TooLargeError")
    return engine
