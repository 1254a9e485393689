"""Count the cores that this process may use."""

from __future__ import annotations

import os
from functools import cache
from math import ceil

GROUPS = "/sys/fs/cgroup"


@cache
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
    for names in (["cpu.max"], ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]):
        try:
            quota, period = " ".join(content(f"{GROUPS}/{name}") for name in names).split()
            if int(quota) > 0:
                return ceil(int(quota) / int(period))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return None


def content(path: str) -> str:
    """Return the text of a file of the system."""
    with open(
        path, encoding="utf-8", errors="replace"
    ) as file:  # pathlib would take longer to load
        return file.read()
