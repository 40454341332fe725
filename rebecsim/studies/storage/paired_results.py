"""Paired moments from the parts on disk, in bounded memory."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rebecsim.studies.cell import Condition, grouped
from rebecsim.studies.rows import REPLICATION
from rebecsim.studies.statistics.pair_moments import (
    PairedMoments,
    RunBatch,
    UnpairedRunsError,
    pair_up,
)
from rebecsim.studies.storage.parts import require_summable
from rebecsim.studies.storage.results import Results
from rebecsim.studies.storage.results_error import ResultsError
from rebecsim.studies.study import PlannedCell

_ROWS_AT_A_TIME = 65_536


def paired_moments(
    results: Results, cells: Sequence[PlannedCell], counters: Sequence[str]
) -> list[PairedMoments]:
    """Sum up the runs of all policies in pairs: one entry for each condition.

    However long and however cut the parts are, a few batches of rows are in memory at a time.

    Args:
        results: holds these cells.
        cells: those of all policies.
        counters: what to read; see `Metric.counters`.

    Returns:
        The moments; none of conditions with fewer than two policies.

    Raises:
        ResultsError: for a part that is missing, damaged, lacks a counter or has other
            replications than the parts of the other policies.
    """
    return [
        _paired(results, condition, group, counters)
        for condition, group in grouped(cells, lambda each: each.cell.condition).items()
        if len(group) > 1
    ]


def _paired(
    results: Results,
    condition: Condition,
    cells: Sequence[PlannedCell],
    counters: Sequence[str],
) -> PairedMoments:
    columns = [REPLICATION, *counters]
    with ExitStack() as open_parts:
        runs = {
            planned.cell.policy: open_parts.enter_context(
                closing(_batches(results.part(planned), columns))
            )
            for planned in cells
        }
        try:
            return pair_up(condition, runs)
        except UnpairedRunsError as error:
            raise ResultsError(
                f"{results.directory}: the runs of the policies cannot be paired: {error}; "
                "resume the comparison so that every cell is complete"
            ) from error


def _batches(path: Path, columns: list[str]) -> Generator[RunBatch, None, None]:
    try:
        with pq.ParquetFile(path) as parquet:
            missing = sorted(set(columns) - set(parquet.schema_arrow.names))
            if missing:
                raise ResultsError(f"{path}: has no column {', '.join(missing)}")
            for batch in parquet.iter_batches(_ROWS_AT_A_TIME, columns=columns):
                numbers = {name: batch.column(name).to_numpy() for name in columns}
                require_summable(numbers)
                yield numbers
    except (OSError, ValueError, pa.ArrowException) as error:
        raise ResultsError(f"{path}: cannot be read: {error}; remove it and resume") from error
