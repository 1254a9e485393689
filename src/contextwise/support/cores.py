"""Count the cores that this process may use."""

from __future__ import annotations

import os
from functools import cache
from math import ceil
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")


def cores() -> int:
    """Return the number of cores: of the machine, of this process's affinity, of its container."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    return max(1, min(allowed, container_cores() or allowed))


@cache
def container_cores() -> int | None:
    """Return the limit of the control group, rounded up; None if there is none."""
    v1 = [GROUPS / "cpu" / name for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")]
    for files in ([GROUPS / "cpu.max"], v1):
        try:
            quota, period = " ".join(file.read_text() for file in files).split()
            if int(quota) > 0:
                return ceil(int(quota) / int(period))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return None
