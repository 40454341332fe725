"""The rows of a reproduction: every published figure beside ours."""

from __future__ import annotations

from collections.abc import Sequence

from rebecsim.experiments.moments import CellMoments
from rebecsim.experiments.published import PUBLISHED_RUNS, PublishedRow, PublishedTable
from rebecsim.metrics import AM_JOB_SUCCESS, DEADLINE_MISSES, JOB_REQUEST_SUCCESS, Metric
from rebecsim.report.reproduction import ReproductionRow, reproduce_figure

__all__ = ["reproduction_rows"]


def reproduction_rows(
    table: PublishedTable, ours: Sequence[CellMoments], fair: Sequence[CellMoments]
) -> list[ReproductionRow]:
    """Compare a published table with our cells of its scenario.

    `ours` are the cells under the choice law of the original, `fair` those under the fair law.
    """
    return [
        reproduce_figure(
            table=table.number,
            scenario=table.scenario,
            policy=row.policy,
            metric=metric,
            printed=printed,
            moments=[each for each in ours if each.cell.policy == row.policy],
            fair_moments=[each for each in fair if each.cell.policy == row.policy],
            published_runs=PUBLISHED_RUNS,
        )
        for row in table.rows
        for metric, printed in _printed(row)
    ]


def _printed(row: PublishedRow) -> list[tuple[Metric, float]]:
    return [
        (DEADLINE_MISSES, row.published.misses),
        (JOB_REQUEST_SUCCESS, row.published.request_success),
        (AM_JOB_SUCCESS, row.published.app_master_success),
    ]
