"""Published figures of the built-in scenarios, and what the original tools give when run again.

Published: Leifsson, thesis, Reykjavik University, 2015, chapter 4; 100 runs for each cluster
size. Measured: the original's generated models run by RMC 2.14's trace generator, 500 runs for each
cluster size. Both pool the cluster sizes 1 to 6 and follow the choice law "rmc"; the eviction
models are those with the original's mistake (`as_published`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

from rebecsim.errors import UserError

__all__ = [
    "MEASURED_RUNS",
    "PUBLISHED_RUNS",
    "PUBLISHED_TABLES",
    "SOURCE",
    "FigureName",
    "Figures",
    "PublishedRow",
    "PublishedTable",
    "SizeFigures",
    "TableKind",
    "tables_of",
]

SOURCE = "Leifsson, thesis, Reykjavik University, 2015"

PUBLISHED_RUNS = 100
"""Runs per cluster size behind a published figure."""

MEASURED_RUNS = 500
"""Runs per cluster size behind a measured figure."""

TableKind = Literal["dispatch", "eviction"]
"""What the policies of a table choose: the job that runs next, or the one that is put aside."""

FigureName = Literal["deadline_misses", "job_request_success", "am_job_success"]
"""A column of a table, by the name of its metric."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a table says about one policy, pooled over the cluster sizes."""

    misses: float
    """Mean deadline misses per run, in the queue and on AppMasters."""

    request_success: float
    """Completions among completions and misses, in percent."""

    app_master_success: float
    """Completions among completions and misses on AppMasters, in percent."""

    def items(self) -> tuple[tuple[FigureName, float], ...]:
        """Return each figure with the name of its metric, in the order of the columns."""
        return (
            ("deadline_misses", self.misses),
            ("job_request_success", self.request_success),
            ("am_job_success", self.app_master_success),
        )


@dataclass(frozen=True, slots=True)
class SizeFigures:
    """Measured means per run for 1, 2, ..., 6 AppMasters, rounded to one decimal."""

    misses: tuple[float, ...]
    completions: tuple[float, ...]
    app_master_misses: tuple[float, ...]
    dropped: tuple[float, ...]
    checkpoints: tuple[float, ...] = ()
    """Empty for the dispatch models, which make none."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One policy in one table."""

    policy: str
    published: Figures
    measured: Figures

    misses_error: float
    """Standard error of the pooled mean misses of a 100-run sample (PUBLISHED_RUNS), rounded to two
    decimals, so that 0.00 stands for less than 0.005."""

    by_size: SizeFigures | None = None
    """Measured means by cluster size, where they are known."""

    unmet: tuple[FigureName, ...] = ()
    """Published figures that the original tools, run again, do not give either."""

    def misses_error_of(self, runs: int) -> float:
        """Return the standard error of the pooled mean misses of `runs` runs per cluster size."""
        return self.misses_error * sqrt(PUBLISHED_RUNS / runs)


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """One table of results and the built-in scenario with its parameters."""

    scenario: str
    """Name of the built-in scenario."""

    number: str
    """Number of the table in the thesis."""

    rows: tuple[PublishedRow, ...]

    kind: TableKind = "dispatch"

    remark: str = ""
    """Why the figures that a row names as `unmet` differ."""

    def row(self, policy: str) -> PublishedRow:
        """Return the row of a policy. Raises KeyError when the table has none."""
        for row in self.rows:
            if row.policy == policy:
                return row
        raise KeyError(policy)


def tables_of(scenario: str | None = None) -> tuple[PublishedTable, ...]:
    """Return the published tables of a built-in scenario; all of them when none is named.

    Raises UserError when nothing is published for a scenario of that name.
    """
    tables = tuple(table for table in PUBLISHED_TABLES if scenario in (None, table.scenario))
    if not tables:
        known = ", ".join(table.scenario for table in PUBLISHED_TABLES)
        raise UserError(f"{scenario}: no published scenario of that name; published are {known}")
    return tables


_OTHER_MODELS = (
    "The original tools, run again with the parameters of this table, do not give the published "
    "figure either. So the eviction tables of the thesis must come from another version of the "
    "models or from other parameters: the public history of the original starts only after these "
    "runs, and its queue was later changed from one pass of sorting to a complete sort. A sort of "
    "one pass, other checks of priority, other ways to choose an AppMaster, other locks and other "
    "interleavings were tried; none of them gives the published figures of all three rows "
    "concerned (4.17 MLF, 4.19 MDF and MLF). The re-measured figures are the reference."
)

PUBLISHED_TABLES = (
    PublishedTable(
        scenario="for_edf",
        number="4.3",
        rows=(
            PublishedRow(
                policy="EDF",
                published=Figures(25.96, 70.37, 77.20),
                measured=Figures(25.77, 70.61, 77.61),
                misses_error=0.14,
                by_size=SizeFigures(
                    misses=(65.9, 52.1, 32.5, 4.1, 0.0, 0.0),
                    completions=(13.7, 31.1, 53.8, 85.0, 94.0, 94.0),
                    app_master_misses=(31.7, 41.2, 30.5, 3.8, 0.0, 0.0),
                    dropped=(8.1, 4.1, 1.0, 0.0, 0.0, 0.0),
                ),
            ),
            PublishedRow(
                policy="FIFO",
                published=Figures(31.16, 64.68, 86.79),
                measured=Figures(31.38, 64.46, 86.71),
                misses_error=0.14,
                by_size=SizeFigures(
                    misses=(73.5, 62.3, 40.7, 11.7, 0.1, 0.0),
                    completions=(6.9, 21.7, 46.3, 78.7, 93.8, 94.2),
                    app_master_misses=(19.3, 19.5, 11.3, 2.3, 0.0, 0.0),
                    dropped=(7.2, 3.2, 0.5, 0.0, 0.0, 0.0),
                ),
            ),
            PublishedRow(
                policy="MDF",
                published=Figures(30.55, 66.52, 99.89),
                measured=Figures(30.59, 66.49, 99.84),
                misses_error=0.10,
                by_size=SizeFigures(
                    misses=(70.6, 57.4, 38.9, 15.4, 1.2, 0.0),
                    completions=(15.5, 32.2, 52.2, 77.5, 92.7, 94.1),
                    app_master_misses=(0.0, 0.0, 0.1, 0.4, 0.1, 0.0),
                    dropped=(2.3, 0.1, 0.0, 0.0, 0.0, 0.0),
                ),
            ),
            PublishedRow(
                policy="PRIORITY",
                published=Figures(25.65, 71.07, 81.36),
                measured=Figures(25.58, 71.13, 81.38),
                misses_error=0.14,
                by_size=SizeFigures(
                    misses=(65.1, 51.7, 31.7, 5.0, 0.0, 0.0),
                    completions=(16.8, 33.5, 55.4, 84.5, 93.7, 94.1),
                    app_master_misses=(20.0, 34.5, 27.6, 4.4, 0.0, 0.0),
                    dropped=(5.9, 2.6, 0.5, 0.0, 0.0, 0.0),
                ),
            ),
        ),
    ),
    PublishedTable(
        scenario="against_edf",
        number="4.5",
        rows=(
            PublishedRow(
                policy="EDF",
                published=Figures(38.81, 59.15, 62.57),
                measured=Figures(38.85, 59.10, 62.56),
                misses_error=0.09,
                by_size=SizeFigures(
                    misses=(94.0, 93.0, 46.1, 0.0, 0.0, 0.0),
                    completions=(1.0, 2.0, 48.9, 95.0, 95.0, 95.0),
                    app_master_misses=(62.5, 93.0, 46.1, 0.0, 0.0, 0.0),
                    dropped=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
                ),
            ),
            PublishedRow(
                policy="FIFO",
                published=Figures(38.84, 59.12, 62.54),
                measured=Figures(38.86, 59.10, 62.53),
                misses_error=0.09,
                by_size=SizeFigures(
                    misses=(94.0, 93.0, 46.1, 0.0, 0.0, 0.0),
                    completions=(1.0, 2.0, 48.9, 95.0, 95.0, 95.0),
                    app_master_misses=(62.7, 93.0, 46.1, 0.0, 0.0, 0.0),
                    dropped=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
                ),
            ),
            PublishedRow(
                policy="MDF",
                published=Figures(22.71, 76.09, 94.84),
                measured=Figures(22.76, 76.04, 94.73),
                misses_error=0.05,
                by_size=SizeFigures(
                    misses=(67.5, 44.3, 24.8, 0.0, 0.0, 0.0),
                    completions=(27.5, 50.7, 70.2, 95.0, 95.0, 95.0),
                    app_master_misses=(0.0, 5.6, 18.5, 0.0, 0.0, 0.0),
                    dropped=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
                ),
            ),
            PublishedRow(
                policy="PRIORITY",
                published=Figures(36.73, 61.34, 66.54),
                measured=Figures(36.69, 61.38, 66.60),
                misses_error=0.09,
                by_size=SizeFigures(
                    misses=(89.5, 86.9, 43.7, 0.0, 0.0, 0.0),
                    completions=(5.5, 8.1, 51.3, 95.0, 95.0, 95.0),
                    app_master_misses=(50.0, 81.8, 43.6, 0.0, 0.0, 0.0),
                    dropped=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
                ),
            ),
        ),
    ),
    PublishedTable(
        scenario="against_fifo",
        number="4.7",
        rows=(
            PublishedRow(
                policy="EDF",
                published=Figures(32.61, 65.26, 70.52),
                measured=Figures(32.56, 65.33, 70.58),
                misses_error=0.08,
            ),
            PublishedRow(
                policy="FIFO",
                published=Figures(40.76, 56.60, 71.83),
                measured=Figures(40.69, 56.67, 71.74),
                misses_error=0.07,
            ),
            PublishedRow(
                policy="MDF",
                published=Figures(30.91, 67.27, 97.45),
                measured=Figures(30.91, 67.27, 97.39),
                misses_error=0.06,
            ),
            PublishedRow(
                policy="PRIORITY",
                published=Figures(30.99, 67.02, 75.82),
                measured=Figures(31.04, 66.98, 75.81),
                misses_error=0.08,
            ),
        ),
    ),
    PublishedTable(
        scenario="against_mdf",
        number="4.9",
        rows=(
            PublishedRow(
                policy="EDF",
                published=Figures(4.54, 75.09, 79.45),
                measured=Figures(4.55, 75.07, 79.42),
                misses_error=0.01,
                by_size=SizeFigures(
                    misses=(12.9, 8.1, 3.3, 1.0, 1.0, 1.0),
                    completions=(4.0, 8.9, 13.7, 17.0, 18.5, 20.0),
                    app_master_misses=(11.9, 7.1, 2.3, 0.0, 0.0, 0.0),
                    dropped=(69.1, 68.0, 67.0, 65.0, 62.7, 60.0),
                ),
            ),
            PublishedRow(
                policy="FIFO",
                published=Figures(4.54, 75.09, 79.45),
                measured=Figures(4.54, 75.11, 79.47),
                misses_error=0.01,
                by_size=SizeFigures(
                    misses=(12.9, 8.1, 3.3, 1.0, 1.0, 1.0),
                    completions=(4.0, 8.9, 13.7, 17.0, 18.5, 20.0),
                    app_master_misses=(11.9, 7.0, 2.3, 0.0, 0.0, 0.0),
                    dropped=(69.1, 68.0, 67.0, 65.0, 62.7, 60.0),
                ),
            ),
            PublishedRow(
                policy="MDF",
                published=Figures(9.50, 50.91, 100.00),
                measured=Figures(9.50, 50.93, 100.00),
                misses_error=0.00,
                by_size=SizeFigures(
                    misses=(14.0, 12.0, 10.0, 8.0, 7.0, 6.0),
                    completions=(3.5, 6.5, 9.0, 11.3, 13.5, 15.4),
                    app_master_misses=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
                    dropped=(68.5, 66.5, 65.0, 63.7, 61.6, 59.6),
                ),
            ),
            PublishedRow(
                policy="PRIORITY",
                published=Figures(6.77, 63.61, 84.63),
                measured=Figures(6.83, 63.34, 83.61),
                misses_error=0.06,
                by_size=SizeFigures(
                    misses=(11.8, 9.6, 7.8, 5.9, 3.7, 2.2),
                    completions=(4.9, 8.0, 10.5, 13.1, 15.9, 18.4),
                    app_master_misses=(1.4, 2.0, 3.5, 3.5, 2.4, 1.1),
                    dropped=(69.3, 67.4, 65.7, 64.0, 62.4, 60.4),
                ),
            ),
        ),
    ),
    PublishedTable(
        scenario="for_priority",
        number="4.11",
        rows=(
            PublishedRow(
                policy="EDF",
                published=Figures(37.63, 59.56, 69.46),
                measured=Figures(37.70, 59.53, 69.43),
                misses_error=0.16,
                by_size=SizeFigures(
                    misses=(83.5, 69.6, 49.5, 20.7, 2.7, 0.2),
                    completions=(9.0, 23.0, 43.1, 72.6, 91.2, 93.9),
                    app_master_misses=(37.5, 50.2, 41.5, 16.0, 1.2, 0.0),
                    dropped=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
                ),
            ),
            PublishedRow(
                policy="FIFO",
                published=Figures(42.86, 53.95, 72.28),
                measured=Figures(43.22, 53.56, 71.91),
                misses_error=0.17,
                by_size=SizeFigures(
                    misses=(89.7, 80.9, 60.2, 24.9, 3.5, 0.2),
                    completions=(2.8, 11.5, 32.3, 68.2, 90.4, 93.9),
                    app_master_misses=(29.8, 39.5, 33.6, 13.0, 1.0, 0.0),
                    dropped=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
                ),
            ),
            PublishedRow(
                policy="MDF",
                published=Figures(34.12, 63.48, 96.74),
                measured=Figures(34.14, 63.48, 96.84),
                misses_error=0.10,
                by_size=SizeFigures(
                    misses=(77.4, 61.2, 41.6, 20.1, 4.2, 0.3),
                    completions=(15.4, 31.8, 51.7, 73.5, 89.8, 93.9),
                    app_master_misses=(0.7, 2.1, 3.7, 3.9, 1.2, 0.0),
                    dropped=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
                ),
            ),
            PublishedRow(
                policy="PRIORITY",
                published=Figures(28.21, 70.10, 84.05),
                measured=Figures(27.94, 70.39, 84.45),
                misses_error=0.16,
                by_size=SizeFigures(
                    misses=(72.3, 54.7, 30.4, 8.9, 1.3, 0.1),
                    completions=(21.4, 39.1, 63.8, 85.7, 93.5, 94.8),
                    app_master_misses=(23.2, 30.3, 16.6, 3.0, 0.2, 0.0),
                    dropped=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
                ),
            ),
        ),
    ),
    PublishedTable(
        scenario="against_priority",
        number="4.13",
        rows=(
            PublishedRow(
                policy="EDF",
                published=Figures(37.51, 59.72, 69.64),
                measured=Figures(37.81, 59.42, 69.43),
                misses_error=0.16,
            ),
            PublishedRow(
                policy="FIFO",
                published=Figures(43.06, 53.74, 72.09),
                measured=Figures(43.26, 53.57, 71.89),
                misses_error=0.17,
            ),
            PublishedRow(
                policy="MDF",
                published=Figures(33.91, 63.75, 96.92),
                measured=Figures(34.14, 63.49, 96.76),
                misses_error=0.11,
            ),
            PublishedRow(
                policy="PRIORITY",
                published=Figures(52.05, 42.92, 68.22),
                measured=Figures(51.96, 43.03, 68.64),
                misses_error=0.18,
            ),
        ),
    ),
    PublishedTable(
        scenario="natjam_for_mdf",
        number="4.17",
        kind="eviction",
        remark=_OTHER_MODELS,
        rows=(
            PublishedRow(
                policy="MDF",
                published=Figures(59.19, 31.44, 37.01),
                measured=Figures(59.09, 31.56, 37.15),
                misses_error=0.05,
                by_size=SizeFigures(
                    misses=(80.0, 82.9, 79.7, 50.7, 42.2, 19.0),
                    completions=(2.0, 4.1, 7.3, 36.3, 44.8, 69.0),
                    app_master_misses=(29.0, 55.9, 79.7, 50.7, 42.2, 19.0),
                    dropped=(6.0, 0.0, 0.0, 0.0, 0.0, 0.0),
                    checkpoints=(0.0, 0.0, 1.2, 0.0, 0.3, 0.8),
                ),
            ),
            PublishedRow(
                policy="MLF",
                published=Figures(76.39, 11.88, 12.77),
                measured=Figures(75.39, 12.24, 14.02),
                misses_error=0.08,
                by_size=SizeFigures(
                    misses=(81.6, 85.2, 84.0, 80.2, 73.5, 47.8),
                    completions=(0.1, 1.4, 3.0, 6.5, 13.2, 38.9),
                    app_master_misses=(36.1, 66.2, 83.2, 80.2, 73.5, 47.8),
                    dropped=(6.1, 0.4, 0.0, 0.0, 0.0, 0.0),
                    checkpoints=(13.6, 21.3, 15.2, 42.0, 54.0, 41.9),
                ),
                unmet=("deadline_misses", "job_request_success", "am_job_success"),
            ),
        ),
    ),
    PublishedTable(
        scenario="natjam_near_mlf",
        number="4.19",
        kind="eviction",
        remark=_OTHER_MODELS,
        rows=(
            PublishedRow(
                policy="MDF",
                published=Figures(34.72, 62.63, 67.85),
                measured=Figures(35.82, 61.41, 67.43),
                misses_error=0.19,
                unmet=("deadline_misses", "job_request_success", "am_job_success"),
            ),
            PublishedRow(
                policy="MLF",
                published=Figures(37.54, 59.49, 65.71),
                measured=Figures(37.68, 59.32, 64.64),
                misses_error=0.27,
                unmet=("am_job_success",),
            ),
        ),
    ),
)
"""The published tables of results in the order of the thesis."""
