"""A process that is forked while other threads work does not wait for their locks."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

FORK = """
import os, sys, threading
from contextwise import compare
from contextwise.models.domain import Domain

compare("lung", "lung-learned")
held, finished = threading.Event(), threading.Event()

def hold():
    # Python 3.11 has one lock for a cached property of all instances.
    with getattr(vars(Domain)["positions"], "lock", threading.Lock()):
        held.set()
        finished.wait()

thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if child == 0:
    os._exit(compare("lung", "lung-learned").distance)
_, status = os.waitpid(child, 0)
finished.set()
thread.join()
print(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_compares_though_a_thread_held_the_locks() -> None:
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True, timeout=60
    )
    assert found.stdout == "2\n", found.stderr
