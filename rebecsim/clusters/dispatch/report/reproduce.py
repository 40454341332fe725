"""What to run to reproduce a published table, and its rows: every published figure beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rebecsim.clusters.dispatch.eviction_measures import NATJAM_METRICS
from rebecsim.clusters.dispatch.measures import DISPATCH_METRICS
from rebecsim.clusters.dispatch.published import (
    MEASURED_RUNS,
    PUBLISHED_RUNS,
    PublishedRow,
    PublishedTable,
    TableKind,
)
from rebecsim.clusters.dispatch.report.reproduction import ReproductionRow, reproduce_figure
from rebecsim.clusters.dispatch.scenario import Scenario
from rebecsim.metrics import Metric
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.scenario import validated
from rebecsim.studies.scenario_files import read_scenario_text

__all__ = ["Reproduction", "reproduction_rows", "reproduction_scenarios"]

_METRICS: Mapping[TableKind, tuple[Metric, ...]] = {
    "dispatch": DISPATCH_METRICS,
    "eviction": NATJAM_METRICS,
}


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A published table and the cells of our runs of its scenario.

    Attributes:
        table: as published.
        ours: under the choice law of the original, with its mistakes.
        fair: under the fair law, otherwise the same.
        corrected: under the fair law without the original's mistake; empty when it has none or
            this was not run.
        orders: message order -> like `ours` in that order; empty when not run.
    """

    table: PublishedTable
    ours: Sequence[CellMoments]
    fair: Sequence[CellMoments]
    corrected: Sequence[CellMoments] = ()
    orders: Mapping[str, Sequence[CellMoments]] = field(default_factory=dict)


def reproduction_scenarios(
    table: PublishedTable, replications: int | None = None, corrected: bool = False
) -> dict[str, Scenario]:
    """Return the scenarios to run for a table: "rmc" as the original, "fair" under the fair law.

    The eviction models are run with the original's mistake, so that "fair" differs by the law
    alone; with `corrected` there is a third scenario without it, under the fair law.
    """
    built_in = _built_in(table.scenario).replace(replications=replications)
    eviction = built_in.eviction
    if eviction is None:
        return {law: built_in.replace(choice_law=law) for law in ("rmc", "fair")}
    original = built_in.replace(eviction=eviction.model_copy(update={"as_published": True}))
    found = {law: original.replace(choice_law=law) for law in ("rmc", "fair")}
    if corrected:
        without = eviction.model_copy(update={"as_published": False})
        found["corrected"] = built_in.replace(eviction=without, choice_law="fair")
    return found


def _built_in(name: str) -> Scenario:
    text = read_scenario_text(name)
    return validated(Scenario, text.origin, text.values, text.lines)


def reproduction_rows(reproduction: Reproduction) -> list[ReproductionRow]:
    """Compare every figure of a published table with ours."""
    table = reproduction.table
    return [
        reproduce_figure(
            table=table.number,
            scenario=table.scenario,
            policy=row.policy,
            metric=metric,
            printed=printed,
            moments=_of(row, reproduction.ours),
            published_runs=PUBLISHED_RUNS,
            remeasured=remeasured,
            remeasured_runs=MEASURED_RUNS,
            fair_moments=_of(row, reproduction.fair),
            corrected_moments=_of(row, reproduction.corrected),
            order_moments={o: _of(row, cells) for o, cells in reproduction.orders.items()},
            remark=table.remark if name in row.unmet else "",
        )
        for row in table.rows
        for metric, (name, printed), (_, remeasured) in zip(
            _METRICS[table.kind], row.published.items(), row.measured.items(), strict=True
        )
    ]


def _of(row: PublishedRow, cells: Sequence[CellMoments]) -> list[CellMoments]:
    return [each for each in cells if each.cell.policy == row.policy]
