"""Names of jobs, and the numbers in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from rebecsim.workloads.containers.fields import Fields

_JOB_NAME = re.compile(r"job_(\d{1,15})", re.ASCII)


def number_in(name: str) -> int | None:
    """Give N of `job_N`; None for another name."""
    found = _JOB_NAME.fullmatch(name)
    return int(found[1]) if found else None


def numbers_of(named: Sequence[Fields], nameless: Collection[str] = ()) -> dict[str, int]:
    """Give the number of each job by what its fields are called.

    Those called `job_N` have N; the `nameless` have the next ones, since they will be called so,
    and after them come all others, each in their order. Raises WorkloadError for a name or a number
    that stands twice.
    """
    lines: dict[str, int] = {}
    numbers: dict[str, int] = {}
    taken: dict[int, str] = {}
    for fields in named:
        if fields.what in lines:
            raise fields.wrong(f"stands here again; first in line {lines[fields.what]}")
        lines[fields.what] = fields.line
        number = number_in(fields.what)
        if number is None:
            continue
        if number in taken:
            raise fields.wrong(f"is the same as {taken[number]}")
        numbers[fields.what], taken[number] = number, fields.what
    free = max(taken, default=-1) + 1
    others = [fields.what for fields in named if fields.what not in numbers]
    for name in sorted(others, key=lambda each: each not in nameless):
        numbers[name], free = free, free + 1
    return numbers
