from collections.abc import Callable

import numpy as np
import pytest

from rebecsim.experiments.moments import Cell, CellMoments
from rebecsim.report import ReportInput

MakeCell = Callable[..., CellMoments]
MakeReport = Callable[..., ReportInput]


def build_cell(
    policy: str = "EDF",
    size: int = 1,
    *,
    runs: int = 20,
    misses: float = 20.0,
    completions: float = 70.0,
    ends: dict[str, int] | None = None,
    seed: int = 0,
) -> CellMoments:
    rng = np.random.default_rng([seed, size])
    columns = {
        "queue_misses": rng.poisson(misses / size, runs),
        "update_misses": rng.poisson(misses / (2 * size), runs),
        "completions": rng.poisson(completions, runs),
        "drops": rng.poisson(1, runs),
    }
    return CellMoments.from_columns(
        Cell(policy, "uniform 1", "uniform 3", size), columns, ends or {"time limit": runs}
    )


def build_report(moments: list[CellMoments] | None = None, **changes: object) -> ReportInput:
    settings: dict[str, object] = {
        "title": "Against EDF",
        "description": "First paragraph.\n\nSecond paragraph.",
        "scenario": {"name": "against-edf", "policies": ["EDF", "FIFO", "MDF"], "queue_size": 12},
        "seed": 2015,
        "choice_law": "rmc",
        "versions": {"rebecsim": "0.1.0"},
        "moments": moments
        or [
            build_cell(policy, size, misses=m, seed=seed)
            # EDF and FIFO have the same runs: their lines coincide.
            for policy, m, seed in (("EDF", 20, 1), ("FIFO", 20, 1), ("MDF", 60, 2))
            for size in (1, 2, 3)
        ],
        **changes,
    }
    return ReportInput(**settings)  # type: ignore[arg-type]


@pytest.fixture
def make_cell() -> MakeCell:
    return build_cell


@pytest.fixture
def make_report() -> MakeReport:
    return build_report
