"""Utilisation over time, from the stored traces of a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rebecsim.clusters.dispatch.utilisation import ServedMessage, utilisation
from rebecsim.studies.cell import grouped
from rebecsim.studies.plan import Plan
from rebecsim.studies.running.simulated import TRACE_COLUMNS, TRACES
from rebecsim.studies.storage.parts import part_rows
from rebecsim.studies.storage.results import Results
from rebecsim.studies.storage.results_error import ResultsError
from rebecsim.studies.study import PlannedCell

_JOB_MESSAGES = ("runJob", "update")


@dataclass(frozen=True, slots=True, eq=False)
class UtilisationOverTime:
    """How busy each AppMaster was in each time unit under one policy.

    Attributes:
        policy: its name.
        shares: share of runs in which an AppMaster was busy, mean over workloads; shape
            (app_masters, ticks).
        replications: number of runs.
    """

    policy: str
    shares: NDArray[np.float64]
    replications: int


def utilisation_over_time(plan: Plan, results: Results) -> tuple[UtilisationOverTime, ...]:
    """Read the traces of the largest clusters: one entry for each policy that was traced whole.

    Empty for eviction scenarios, whose AppMasters work unit by unit, and where no traces were kept.

    Raises ResultsError for traces that are damaged.
    """
    if plan.scenario.eviction is not None:
        return ()
    largest = max(int(cell.cell["app_masters"]) for cell in plan.cells)
    shown = [cell for cell in plan.cells if cell.cell["app_masters"] == largest]
    by_policy = grouped(shown, lambda each: each.cell.policy)
    return tuple(
        _over_time(policy, cells, plan.scenario.ticks, results)
        for policy, cells in by_policy.items()
        if all(results.table(TRACES, cell).exists() for cell in cells)
    )


def _over_time(
    policy: str, cells: list[PlannedCell], ticks: int, results: Results
) -> UtilisationOverTime:
    shares = [_utilisation_of(cell, ticks, results) for cell in cells]
    replications = sum(part_rows(results.part(cell)) for cell in cells)
    return UtilisationOverTime(policy, np.mean(shares, axis=0), replications)


def _utilisation_of(cell: PlannedCell, ticks: int, results: Results) -> NDArray[np.float64]:
    advice = "`rebecsim compare` with --resume --trace computes it again"
    if damage := results.damage(cell, {TRACES: TRACE_COLUMNS}):
        raise ResultsError(f"{damage}; {advice}")
    path = results.table(TRACES, cell)
    try:
        return utilisation(traced_runs(path), int(cell.cell["app_masters"]), ticks)
    except (OSError, pa.ArrowException, ValueError, KeyError) as error:
        raise ResultsError(f"part {path} is damaged: {error}; {advice}") from error


def traced_runs(path: Path) -> Iterator[Iterator[ServedMessage]]:
    """Give the messages about jobs of each run of a trace file, which must be taken in turn.

    One row group is held at a time; a run may go on in the next one. Raises OSError or
    pa.ArrowException when the file cannot be read.
    """
    for _, run in groupby(_messages(path), key=attrgetter("replication")):
        yield run


def _messages(path: Path) -> Iterator[ServedMessage]:
    with pq.ParquetFile(path) as parquet:
        for group in range(parquet.num_row_groups):
            table = parquet.read_row_group(group, columns=["step", *ServedMessage._fields])
            # The first message stays, so that a run without a job is a run too.
            kept = pc.or_(
                pc.equal(table["step"], 0),
                pc.is_in(table["server"], pa.array(_JOB_MESSAGES)),
            )
            columns = [table.filter(kept)[name].to_pylist() for name in ServedMessage._fields]
            yield from map(ServedMessage._make, zip(*columns, strict=True))
