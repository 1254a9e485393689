"""How property tests run: the same examples every time, and more of them on demand.

``HYPOTHESIS_PROFILE=thorough pytest`` draws ten times as many, at random.
"""

import os

from hypothesis import HealthCheck, settings

# The machines of a CI are slow at times: a slow example is no failure, and examples do not change
# from run to run, so that a red run is red for everybody.
settings.register_profile(
    "default",
    max_examples=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough",
    max_examples=500,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
