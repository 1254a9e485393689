"""Settings of the property tests: the same examples every time, and more on demand.

``HYPOTHESIS_PROFILE=thorough pytest`` draws ten times as many, at random.
"""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

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

QUICK = {
    *("models", "counting", "formats", "convert", "independence", "truths", "comparison"),
    *("data", "distributions", "laws"),
}
"""The rooms of ``pytest -m quick``, about a minute on two cores; without the files below."""
SLOW = {
    *("test_ganak", "test_learners", "test_reference_searches", "test_counts_are_rows"),
    *("test_undirected", "test_hierarchical", "test_from_values", "test_libra_scan"),
    *("test_distance_laws", "test_format_fuzz", "test_limits"),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of quick rooms."""
    for item in items:
        path = Path(item.path)
        if path.parent.name in QUICK and path.stem not in SLOW and "tests" in path.parts:
            item.add_marker("quick")


# A run in the background of a shell ignores Ctrl-C, and so would every program that a test starts
# and interrupts: it would never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module", params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    """Every engine by name: a test that takes it is a law of all of them."""
    name: str = request.param
    if reason := ENGINES[name].missing():
        pytest.skip(f"engine {name!r}: {reason}")
    return name


@pytest.fixture(scope="module")
def wide_engine(engine: str) -> str:
    """The engines that are meant for many variables."""
    if engine == "enumerate":
        pytest.skip("enumerate visits every cell: its limit is stated in TooLargeError")
    return engine
