"""The cores and the memory that this process may use, on this machine or in its container."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from math import ceil
from typing import Any

from contextwise.errors import TooLargeError

GROUPS = "/sys/fs/cgroup"
SMALL = 64 * 2**20
"""Bytes that are never looked up."""


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
            quota, period = " ".join(_content(f"{GROUPS}/{name}") for name in names).split()
            if int(quota) > 0:
                return ceil(int(quota) / int(period))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return None


def one_thread() -> AbstractContextManager[Any]:
    """Keep BLAS to one thread, if threadpoolctl is installed.

    More threads wait for each other longer than they work on small matrices, and the way in which
    they split a sum changes its last bits.
    """
    pools = _thread_pools("scipy.linalg" in sys.modules)
    return pools.limit(limits=1, user_api="blas") if pools else nullcontext()


@cache
def _thread_pools(with_scipy: bool) -> Any:
    """Return what sets the threads of the libraries that are loaded; SciPy has its own BLAS.

    Finding them takes milliseconds, and loading SciPy's longer: who uses it imports it before.
    """
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


def require_memory(needed: int, what: str, instead: str) -> None:
    """Raise `TooLargeError`, with the estimate, if work needs more bytes than are free."""
    free = free_memory() if needed > SMALL else None
    if free is not None and needed > free:
        raise TooLargeError(
            f"{what} needs about {_size(needed)} of memory, and {_size(free)} is free; {instead}"
        )


def free_memory() -> int | None:
    """Return the bytes that this process can still use; None if the system does not tell.

    It is the least of what the machine, the container and the process (``ulimit -v``) have left.
    """
    return min(_left(), default=None)


def _left() -> Iterator[int]:
    machine = _numbers("/proc/meminfo")
    if "MemAvailable:" in machine:
        yield machine["MemAvailable:"] * 1024
    for folder, limit, used, reclaimable in (
        (GROUPS, "max", "current", "inactive_file"),
        (f"{GROUPS}/memory", "limit_in_bytes", "usage_in_bytes", "total_inactive_file"),
    ):
        try:
            left = int(_content(f"{folder}/memory.{limit}"))
            left -= int(_content(f"{folder}/memory.{used}"))
        except (OSError, ValueError):  # no such file, or "max"
            continue
        # The kernel gives inactive pages of files back when memory is needed.
        yield max(0, left + _numbers(f"{folder}/memory.stat").get(reclaimable, 0))
    try:
        import resource
    except ImportError:  # on Windows
        return
    limit_of_process, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit_of_process != resource.RLIM_INFINITY:
        size = _numbers("/proc/self/status").get("VmSize:", 0) * 1024
        yield max(0, limit_of_process - size)


def _content(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:  # pathlib would load slowly
        return file.read()


def _numbers(path: str) -> dict[str, int]:
    """Read the lines ``NAME NUMBER`` of a file of the system; nothing if there is none."""
    try:
        lines = (line.split() for line in _content(path).splitlines())
    except OSError:
        return {}
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}


def _size(count: int) -> str:
    unit, name = (2**30, "GB") if count >= 2**30 else (2**20, "MB")
    return f"{count / unit:,.1f} {name}" if count < 10 * unit else f"{count // unit:,} {name}"
