from collections.abc import Callable, Mapping

import numpy as np
import pytest

from rebecsim.clusters.dispatch.measures import DISPATCH_METRICS
from rebecsim.report import ReportInput
from rebecsim.studies.cells import Cell, Condition
from rebecsim.studies.moments import CellMoments, PairedMoments
from rebecsim.studies.study import Axis

AXIS = Axis(
    coordinate="app_masters",
    name="cluster_size",
    title="Cluster size (number of AppMasters)",
    by="number of AppMasters",
    unit="AppMasters",
)

MakeCell = Callable[..., CellMoments]
MakeReport = Callable[..., ReportInput]
MakePairs = Callable[..., list[PairedMoments]]


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
        Cell.of(policy, arrivals="uniform 1", lengths="uniform 3", app_masters=size),
        columns,
        ends or {"time limit": runs},
    )


def build_pairs(misses: Mapping[str, float], runs: int = 20) -> list[PairedMoments]:
    """Two cluster sizes; policies with the same mean misses have the same runs."""
    pairs = []
    for size in (1, 2):
        columns = {}
        for policy, mean in misses.items():
            rng = np.random.default_rng([size, round(100 * mean)])
            columns[policy] = {
                "queue_misses": rng.poisson(mean, runs),
                "update_misses": rng.poisson(mean / 2, runs),
                "completions": rng.poisson(70, runs),
            }
        pairs.append(
            PairedMoments.from_columns(
                Condition.of(arrivals="uniform 1", lengths="uniform 3", app_masters=size), columns
            )
        )
    return pairs


def build_report(moments: list[CellMoments] | None = None, **changes: object) -> ReportInput:
    settings: dict[str, object] = {
        "title": "Against EDF",
        "description": "First paragraph.\n\nSecond paragraph.",
        "scenario": {"name": "against-edf", "policies": ["EDF", "FIFO", "MDF"], "queue_size": 12},
        "seed": 2015,
        "choice_law": "rmc",
        "metrics": DISPATCH_METRICS,
        "axis": AXIS,
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
def make_pairs() -> MakePairs:
    return build_pairs


@pytest.fixture
def full_report() -> ReportInput:
    """With pairs that are shown, undecided and identical, and with three message orders."""
    cells = {
        order: [
            build_cell(policy, size, misses=m + shift, seed=seed)
            for policy, m, seed in (("EDF", 20, 1), ("FIFO", 20.5, 2), ("MDF", 60, 3))
            for size in (1, 2)
        ]
        for order, shift in (("random", 0), ("updates-first", -4), ("ticks-first", 5))
    }
    return build_report(
        cells["random"],
        pairs=build_pairs({"EDF": 20, "FIFO": 20, "LLF": 20.5, "MDF": 60}),
        orders=cells,
    )


@pytest.fixture
def make_report() -> MakeReport:
    return build_report
