"""How far a search may go: states, seconds, memory, model time."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rebecsim.errors import UserError

__all__ = ["COMPILER", "Bound", "Limits", "Meter", "resident_bytes"]

Bound = Literal["states", "seconds", "memory", "horizon", "depth", "walks"]
"""What kept a search from covering the whole state space."""

COMPILER = 300_000_000
"""The bytes that loading compiled code may take."""

_STATM = Path("/proc/self/statm")
_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Limits:
    """The bounds of a search; None is no bound.

    `states` to store, `seconds` of wall time, `memory` of the whole process in megabytes (10**6
    bytes, resident), `horizon` in model time: states later than it are not followed any further.
    Raises UserError for a bound that is not positive (the horizon may be 0).
    """

    states: int | None = None
    seconds: float | None = None
    memory: float | None = None
    horizon: int | None = None

    def __post_init__(self) -> None:
        for name in ("states", "seconds", "memory"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UserError(f"the limit of {name} must be above 0, not {value}")
        if self.horizon is not None and self.horizon < 0:
            raise UserError(f"the horizon must be 0 or more, not {self.horizon}")
        if self.memory is not None and resident_bytes() is None:
            raise UserError("a limit of memory needs a system that tells how much is used")


def resident_bytes() -> int | None:
    """Give the memory that this process takes up, in bytes; None where the system does not say.

    Where only the peak so far is known, it is that.
    """
    try:
        pages = int(_STATM.read_bytes().split()[1])
    except (OSError, ValueError, IndexError):
        return _peak_bytes()
    import resource

    return pages * resource.getpagesize()


def _peak_bytes() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class Meter:
    """Measures a search against its limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._started = time.perf_counter()
        self.before = resident_bytes() or 0
        self.peak = self.before

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.perf_counter() - self._started

    def memory(self) -> int:
        """Measure the memory that the process takes up now, in bytes."""
        now = resident_bytes() or 0
        self.peak = max(self.peak, now)
        return now

    @contextmanager
    def leaving_out(self) -> Iterator[None]:
        """Do not count what is taken up meanwhile as growth; limits still count it."""
        before = self.memory()
        yield
        self.before += self.memory() - before

    def would_exceed(self, more: int) -> bool:
        """Say whether taking so many more bytes would go beyond the limit of memory."""
        limit = self._limits.memory
        return limit is not None and self.memory() + more > limit * _MEGABYTE

    def exceeded(self, table: Sized, coming: int) -> Bound | None:
        """Say which of time and memory is used up, before it is too late.

        `table` is the dictionary of states and `coming` how many may be added before the next
        measurement: a dictionary that has to grow needs twice its memory more, all at once.
        """
        limits = self._limits
        if limits.seconds is not None and self.seconds > limits.seconds:
            return "seconds"
        memory = self.memory()
        if limits.memory is not None:
            if _grows(len(table), coming):
                memory += 2 * sys.getsizeof(table)
            if memory > limits.memory * _MEGABYTE:
                return "memory"
        return None


def _grows(entries: int, coming: int) -> bool:
    """Whether CPython enlarges a dictionary of so many entries when more come.

    Its table has a power of two of slots, of which two thirds are used.
    """
    slots = 8
    while slots * 2 // 3 < entries:
        slots *= 2
    return entries + coming > slots * 2 // 3
