"""Amounts as Slurm writes them: times, memory, TRES, numbers with K, M and G."""

from __future__ import annotations

import calendar
import re
from functools import lru_cache

MINUTE, HOUR, DAY = 60, 3600, 86_400
_UNLIMITED = {"unlimited", "infinite", "-1"}
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4, "p": 1024**5}
_DURATION = re.compile(
    r"(?:(\d{1,9})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?(?:\.\d*)?", re.ASCII
)
_MOMENT = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)", re.ASCII)
NOT_SET = frozenset({"", "unknown", "none", "(null)", "n/a"})


def duration(text: str) -> int | None:
    """Read a time, seconds: `m`, `m:s`, `h:m:s`, `d-h`, `d-h:m`, `d-h:m:s`; None: unlimited.

    Raises ValueError, which says what is expected.
    """
    if text.strip().lower() in _UNLIMITED:
        return None
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise ValueError("a time is expected, as 90 (minutes), 1:30:00, 2-12:00:00 or UNLIMITED")
    days, *rest = (None if each is None else int(each) for each in found.groups())
    first, second, third = rest
    if days is not None:
        return days * DAY + (first or 0) * HOUR + (second or 0) * MINUTE + (third or 0)
    if third is not None:
        return (first or 0) * HOUR + (second or 0) * MINUTE + third
    return (first or 0) * MINUTE + (second or 0)


@lru_cache(maxsize=100_000)
def moment(text: str) -> int | None:
    """Read `YYYY-MM-DDTHH:MM:SS` as seconds since 1970 by the clock on the wall; None: not set.

    Raises ValueError, which says what is expected.
    """
    found = _MOMENT.fullmatch(text)
    if found is None:
        if text.strip().lower() in NOT_SET:
            return None
        raise ValueError("a time as 2026-01-31T08:00:00 is expected; unset SLURM_TIME_FORMAT")
    year, month, day, *clock = (int(each) for each in found.groups())
    if not (1 <= month <= 12 and 1 <= day <= 31 and clock[0] < 24 and max(clock) < 61):
        raise ValueError("there is no such day or hour")
    return calendar.timegm((year, month, day, *clock))


def megabytes(text: str) -> int:
    """Read an amount of memory, MB; without a unit it is in MB. Raises ValueError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgtp]?)b?", text.strip().lower(), re.ASCII)
    if found is None:
        raise ValueError("memory is expected, in MB or as 4G")
    return int(float(found[1]) * _UNITS[found[2] or "m"] / _UNITS["m"])


def number(text: str) -> int:
    """Read a whole number, with K, M or G for powers of 1024. Raises ValueError."""
    found = re.fullmatch(r"(\d{1,18})([kmgtp]?)", text.strip().lower(), re.ASCII)
    if found is None:
        raise ValueError("a whole number of 0 or more is expected")
    return int(found[1]) * _UNITS[found[2]]


def limit(text: str) -> int | None:
    """Read a whole number, or None for no limit. Raises ValueError."""
    return None if text.strip().lower() in _UNLIMITED else number(text)


def switch(text: str) -> bool:
    """Read yes or no. Raises ValueError."""
    word = text.strip().lower()
    if word in ("yes", "true", "1", "up", "on"):
        return True
    if word in ("no", "false", "0", "down", "off"):
        return False
    raise ValueError("YES or NO is expected")


def tres(text: str, factor: int = 1) -> dict[str, int]:
    """Read `cpu=16,mem=1000G,gres/gpu=8`: memory in MB; limits of -1 are left out.

    Each amount is multiplied by the factor: 60 makes seconds of minutes. Raises ValueError.
    """
    amounts: dict[str, int] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, found, value = part.partition("=")
        if not found:
            raise ValueError(f"{part!r:.40} is not of the form cpu=16")
        name = name.strip().lower() if "/" not in name else name.strip()
        if value.strip() == "-1":
            continue
        read = megabytes if name in ("mem", "bb", "vmem") else number
        amounts[name] = read(value) * factor
    return amounts


def weights(text: str) -> dict[str, float]:
    """Read weights of TRES, `CPU=1.0,Mem=0.25G,GRES/gpu=2.0`, memory per MB. Raises ValueError."""
    found: dict[str, float] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, _, value = part.partition("=")
        match = re.fullmatch(r"(\d*\.?\d+)([kmgtp]?)", value.strip().lower(), re.ASCII)
        if match is None:
            raise ValueError(f"{part!r:.40} is not of the form CPU=1.0 or Mem=0.25G")
        unit = _UNITS[match[2]] / _UNITS["m"] if match[2] else 1.0
        key = name.strip().lower()
        if key not in ("mem", "vmem"):
            unit = float(_UNITS[match[2]])
        found[key] = float(match[1]) / unit
    return found


def names_of(text: str) -> tuple[str, ...]:
    """Split a list with commas."""
    return tuple(filter(None, text.split(",")))


def text_of(cell: str) -> str:
    """Give the text of a cell of a log; empty if it is not set."""
    return "" if cell.strip().lower() in NOT_SET else cell.strip()
