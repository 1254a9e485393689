"""Refuse work that would not fit into memory, before it starts."""

from __future__ import annotations

from collections.abc import Iterator

from contextwise.errors import TooLargeError
from contextwise.support.cores import GROUPS, content

SMALL = 64 * 2**20
"""Bytes that are never looked up."""


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
            left = int(content(f"{folder}/memory.{limit}"))
            left -= int(content(f"{folder}/memory.{used}"))
        except (OSError, ValueError):  # no such file, or "max"
            continue
        # The kernel gives inactive pages of files back when memory is needed.
        yield max(0, left + _numbers(f"{folder}/memory.stat").get(reclaimable, 0))
    try:
        import resource
    except ImportError:  # on Windows
        return
    limit_of_process, _ = resource.getrlimit(resource.RLIMIT_AS)
    size = _numbers("/proc/self/status").get("VmSize:", 0) * 1024
    if limit_of_process != resource.RLIM_INFINITY:
        yield max(0, limit_of_process - size)


def _numbers(path: str) -> dict[str, int]:
    """Read the lines ``NAME NUMBER`` of a file of the system; nothing if there is none."""
    try:
        lines = (line.split() for line in content(path).splitlines())
    except OSError:
        return {}
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}


def _size(count: int) -> str:
    unit, name = (2**30, "GB") if count >= 2**30 else (2**20, "MB")
    return f"{count / unit:,.1f} {name}" if count < 10 * unit else f"{count // unit:,} {name}"
