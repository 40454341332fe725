"""Figures of each queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from rebecsim.clusters.yarn.queue_tables import QUEUE_JOBS, QUEUE_USAGE, QUEUES

_SECOND = 1000
_GB_HOUR = 1024 * 3600 * _SECOND

Rows = Mapping[str, Sequence[Any]]
"""A table of a run, column by column."""


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """What a leaf queue got in a run.

    Attributes:
        jobs: that were let in.
        refused: that were not.
        wait: from submission until the AppMaster has a container, mean (s).
        duration: from submission to end, mean (s).
        share: of the memory of the cluster over the makespan (%).
        guaranteed: what it should have of it (%); None: nothing is said.
        killed: containers.
        wasted: their memory (GB h).
    """

    jobs: int
    refused: int
    wait: float | None
    duration: float | None
    share: float
    guaranteed: float | None
    killed: int
    wasted: float


FIGURES: tuple[tuple[str, str, int], ...] = (
    ("jobs", "Jobs", 0),
    ("refused", "Refused jobs", 0),
    ("wait", "Waiting (s)", 1),
    ("duration", "Job duration (s)", 1),
    ("share", "Memory (% of the cluster)", 1),
    ("guaranteed", "Guaranteed (%)", 1),
    ("killed", "Killed containers", 0),
    ("wasted", "Wasted memory (GB h)", 2),
)
"""The figures: name, heading, decimals."""

SHOWN_FIGURES = tuple(each for each in FIGURES if each[0] not in ("jobs", "wait", "duration"))
"""Those beside the answer by queue, which has the others."""


def queue_figures(tables: Mapping[str, Rows], memory: int) -> dict[str, QueueFigures]:
    """Give the figures of all leaves that have jobs or a capacity; `memory` is the cluster's MB."""
    jobs, queues = tables[QUEUE_JOBS], tables[QUEUES]
    guaranteed = {
        path: 100 * amount / memory
        for path, leaf, amount in zip(
            queues["queue"], queues["leaf"], queues["guaranteed"], strict=True
        )
        if leaf
    }
    used = _mean_use(tables[QUEUE_USAGE])
    rows: dict[str, list[dict[str, Any]]] = {path: [] for path in guaranteed}
    for values in zip(*jobs.values(), strict=True):
        row = dict(zip(jobs, values, strict=True))
        rows.setdefault(row["queue"], []).append(row)
    return {
        path: _figures(of_it, guaranteed.get(path), 100 * used.get(path, 0.0) / memory)
        for path, of_it in sorted(rows.items())
    }


def _figures(
    rows: Sequence[Mapping[str, Any]], guaranteed: float | None, share: float
) -> QueueFigures:
    run = [row for row in rows if not row["refused"]]
    waits = [row["started"] - row["submitted"] for row in run]
    durations = [row["ended"] - row["submitted"] for row in run]
    return QueueFigures(
        jobs=len(run),
        refused=len(rows) - len(run),
        wait=fmean(waits) / _SECOND if run else None,
        duration=fmean(durations) / _SECOND if run else None,
        share=share,
        guaranteed=guaranteed,
        killed=sum(row["killed"] for row in rows),
        wasted=sum(row["wasted"] for row in rows) / _GB_HOUR,
    )


def _mean_use(usage: Rows) -> dict[str, float]:
    """Give what queues had on average (MB); windows are of equal length."""
    found: dict[str, list[float]] = {}
    for path, memory in zip(usage["queue"], usage["memory"], strict=True):
        found.setdefault(path, []).append(memory)
    return {path: fmean(values) for path, values in found.items()}


def figure_text(value: float | None, decimals: int) -> str:
    """Write a figure; a dash where there is none."""
    return "-" if value is None else f"{value:,.{decimals}f}"
