"""Logs of batch machines in any format, with the names of users and queues."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Literal

import numpy as np

from rebecsim.workloads.cleaning import CleaningRules
from rebecsim.workloads.errors import WorkloadError
from rebecsim.workloads.job import Workload
from rebecsim.workloads.pbs import is_pbs_log, read_pbs
from rebecsim.workloads.swf import read_swf

Named = Literal["user", "queue"]
"""Columns whose numbers may have names in the header."""


def read_log(
    path: Path, *, processors: int | None = None, rules: CleaningRules | None = None
) -> Workload:
    """Read a log: an accounting log of PBS or Torque if its first line is a record of one, or SWF.

    Raises what `read_pbs` and `read_swf` raise.
    """
    read = read_pbs if is_pbs_log(path) else read_swf
    return read(path, processors=processors, rules=rules)


def names_of(workload: Workload, column: Named) -> dict[str, int]:
    """Give the numbers of users or queues by their names, as far as the header has these.

    A line of the header is `Queue: 3 batch`; further words describe the queue.
    """
    lines = workload.header.get(column.capitalize(), "").split("\n")
    found = (re.match(r"(\d{1,15})[:\s]+(\S+)", line) for line in lines)
    return {each[2]: int(each[1]) for each in found if each}


def labels_of(workload: Workload, column: Named) -> dict[int, str]:
    """Give what to call users or queues: by their numbers, their names, or the numbers as text."""
    numbers = np.unique(getattr(workload, column)).tolist()
    named = {number: name for name, number in names_of(workload, column).items()}
    return {number: named.get(number, str(number)) for number in numbers}


def numbers_of(workload: Workload, column: Named, wanted: Iterable[int | str]) -> list[int]:
    """Give the numbers of users or queues that are named, or given by their numbers already.

    Raises WorkloadError for a name that the log does not have.
    """
    names = names_of(workload, column)
    return [_number(each, column, names) for each in wanted]


def _number(wanted: int | str, column: Named, names: dict[str, int]) -> int:
    if isinstance(wanted, int):
        return wanted
    if wanted in names:
        return names[wanted]
    if re.fullmatch(r"-?\d{1,15}", wanted):
        return int(wanted)
    known = _some(names) if names else "it has only numbers"
    raise WorkloadError(f"the log has no {column} called {wanted!r}; {known}")


def _some(names: Collection[str]) -> str:
    shown = list(names)[:8]
    return f"known are {', '.join(shown)}{', ...' if len(names) > len(shown) else ''}"
