"""The limits of a search: states, seconds, memory, model time."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rebecsim.actors.watchdog import PATIENCE
from rebecsim.errors import UserError

Bound = Literal["states", "seconds", "memory", "interrupt", "horizon", "depth", "walks"]
"""What kept a search from covering the whole state space."""

_STATUS = Path("/proc/self/status")
_MEGABYTE = 1_000_000
_MARGIN = 3_000_000
"""The bytes that states may take between two measurements, and showing the result after them."""


@dataclass(frozen=True)
class Limits:
    """The bounds of a search; None is no bound.

    `states` to store, `seconds` of wall time, `memory` of the whole process in megabytes (10**6
    bytes, resident), `horizon` in model time: states later than it are not followed any further.
    A message server or constructor may run for `patience` seconds. Once `is_interrupted` says so,
    the search ends with what it has found.
    Raises UserError for a bound that is not positive (the horizon may be 0).

    >>> rs.Limits(states=1000, seconds=60).states
    1000
    """

    states: int | None = None
    seconds: float | None = None
    memory: float | None = None
    horizon: int | None = None
    patience: float = PATIENCE
    is_interrupted: Callable[[], bool] = lambda: False

    def __post_init__(self) -> None:
        for name in ("states", "seconds", "memory"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UserError(f"the limit of {name} must be above 0, not {value}")
        if self.horizon is not None and self.horizon < 0:
            raise UserError(f"the horizon must be 0 or more, not {self.horizon}")
        if self.memory is not None and resident_bytes() is None:
            raise UserError("this system does not report memory use, so memory cannot be limited")


def resident_bytes(process: int | None = None) -> int | None:
    """Give the memory that a process takes up, in bytes; None where the system does not say.

    It is this process unless another is named. Where only the peak of this one so far is known, it
    is that.
    """
    try:
        pages = int(Path(f"/proc/{process or 'self'}/statm").read_bytes().split()[1])
    except (OSError, ValueError, IndexError):
        return None if process is not None else _peak_of_usage()
    import resource

    return pages * resource.getpagesize()


def peak_bytes() -> int | None:
    """Give the most memory that this process has ever taken up, in bytes, as the system counts it.

    That is the resident memory of the whole process, also before a search, and with what was taken
    up for a moment only. None where the system does not say.
    """
    try:
        line = next(each for each in _STATUS.read_text().splitlines() if each.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError, StopIteration):
        return _peak_of_usage()


def _peak_of_usage() -> int | None:
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
        self.before = self.memory()
        self.reached: Bound | None = None
        """The bound that was exceeded first; it stays, also if memory is given back later."""

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.perf_counter() - self._started

    @property
    def seconds_left(self) -> float:
        """How much wall time is left until the limit."""
        limit = self._limits.seconds
        return math.inf if limit is None else limit - self.seconds

    def memory(self) -> int:
        """Measure the memory that the process takes up now, in bytes."""
        return resident_bytes() or 0

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

    def exceeded(self, growth: Callable[[], int] = lambda: 0) -> Bound | None:
        """Say which limit is exceeded, time or memory, or that the search was interrupted.

        `growth` gives the bytes that tables will need before the next measurement.
        """
        bound: Bound | None = None
        if self._limits.is_interrupted():
            bound = "interrupt"
        elif self.seconds_left < 0:
            bound = "seconds"
        elif self._limits.memory is not None and self.would_exceed(growth() + _MARGIN):
            bound = "memory"
        self.reached = self.reached or bound
        return bound

    def is_over(self) -> bool:
        """Whether a limit is exceeded."""
        return self.exceeded() is not None


def bytes_to_grow(tables: Iterable[Sized], coming: int) -> int:
    """Give the bytes that dictionaries need when so many entries may come to each of them.

    One that has to grow needs twice its memory more, all at once.
    """
    return sum(2 * sys.getsizeof(table) for table in tables if _grows(len(table), coming))


def _grows(entries: int, coming: int) -> bool:
    """Whether CPython enlarges a dictionary of so many entries when more come.

    Its table has a power of two of slots, of which two thirds are used.
    """
    slots = 1 << max((entries * 3 // 2).bit_length() - 1, 3)
    while slots * 2 // 3 < entries:
        slots *= 2
    return entries + coming > slots * 2 // 3
