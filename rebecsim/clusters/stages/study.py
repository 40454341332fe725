"""The kind `stages` as a study: runs of jobs on resources, their figures, jobs and decisions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rebecsim.clusters.kit.measures import given
from rebecsim.clusters.stages.inputs import StagesSetup, run_size, unrecorded
from rebecsim.clusters.stages.managers.decisions import ChargedBy
from rebecsim.clusters.stages.managers.registry import can_search
from rebecsim.clusters.stages.measures import (
    SEARCHED,
    STAGES_MEASURES,
    TABLES,
    run_figures,
    tables_of,
)
from rebecsim.clusters.stages.resources import require_runnable
from rebecsim.clusters.stages.scenario import StagesScenario
from rebecsim.metrics import Metric
from rebecsim.studies.cells import REPLICATION, Cell, Column, Compared, Rows
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.scenario import StudyScenario
from rebecsim.studies.sections import Section
from rebecsim.studies.size import RunSize
from rebecsim.studies.study import LOAD_AXIS, Axis, ComparisonRules, How, PlannedCell, Study
from rebecsim.studies.toml import FieldPath

if TYPE_CHECKING:
    from rebecsim.studies.results import Results


class StagesStudy(Study):
    """Resource managers of jobs of several stages with deadlines, compared."""

    kind: ClassVar[str] = "stages"
    question: ClassVar[str] = "Workflows with deadlines: who gets the slots?"
    scenario: ClassVar[type[StudyScenario]] = StagesScenario
    compared: ClassVar[Compared] = Compared("manager", "managers")
    earned_by: ClassVar[Metric | None] = SEARCHED
    units: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "lateness": {"percent": "% of jobs", "lateness": "s"}
    }
    replications_per_task: ClassVar[int] = 1
    modules: ClassVar[tuple[str, ...]] = (__name__,)

    def cells(self, scenario: StagesScenario, folder: Path) -> Iterator[PlannedCell]:
        """Lay out the cells: load factor x manager, since managers of a load share their jobs."""
        counters = itertools.chain.from_iterable(each.counters for each in _kept(scenario))
        columns = dict.fromkeys(sorted(counters), "float64")
        for policy, load_factor in itertools.product(scenario.policies, scenario.load_factors):
            yield PlannedCell(
                cell=Cell.of(policy, load_factor=load_factor),
                name=f"{policy.lower()}_load{load_factor:g}",
                columns=columns,
                setup=StagesSetup(scenario, folder, policy, load_factor),
            )

    def run(self, cell: PlannedCell, replications: range) -> Rows:
        """Run the jobs. Raises what `run_stages` raises."""
        setup: StagesSetup = cell.setup
        with_clock = setup.scenario.decisions.keeps_clock
        figures: list[dict[str, float]] = []
        tables: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
        for replication in replications:
            measured = setup.measured(replication)
            figures.append(
                run_figures(measured, with_clock=with_clock, can_search=can_search(setup.policy))
            )
            for name, columns in tables_of(measured.run).items():
                size = len(next(iter(columns.values())))
                tables[name].append({REPLICATION: np.full(size, replication), **columns})
        columns = {name: [each[name] for each in figures] for name in figures[0]}
        return Rows(columns, {name: _joined(parts) for name, parts in tables.items()})

    def measures(self, scenario: StagesScenario) -> tuple[Metric, ...]:
        """Give the figures that the scenario asks for, or all that its managers have."""
        known = {each.name: each for each in _kept(scenario)}
        if scenario.metrics:
            return tuple(known[name] for name in scenario.metrics)
        if not any(can_search(name) for name in scenario.policies):
            del known[SEARCHED.name]
        return tuple(known.values())

    def comparison(self, scenario: StagesScenario) -> ComparisonRules:
        """Compare with one manager; loads are apart."""
        return ComparisonRules(scenario.compared_with, ("load_factor",), kept=_kept(scenario))

    def axis(self, scenario: StagesScenario) -> Axis | None:
        """Charts go by the load factor, where there are several."""
        if len(scenario.load_factors) > 1:
            return LOAD_AXIS
        return None

    def tables(self, scenario: StagesScenario, trace: bool) -> Mapping[str, Mapping[str, str]]:
        """Keep jobs, tasks and decisions of every run."""
        return TABLES

    def files(self, scenario: StagesScenario) -> Mapping[FieldPath, str]:
        """Name the files of workflows."""
        names = enumerate(scenario.workload.files)
        return {("workload", "files", place): name for place, name in names}

    def size(self, cell: PlannedCell, replications: int) -> RunSize:
        """Estimate a run by its tasks."""
        return run_size(cell.setup)

    def prepare(self, plan: Plan, how: How, tell: Callable[[str], None]) -> None:
        """Draw jobs once, see whether resources can run them, and say what is not repeatable."""
        setup: StagesSetup = plan.cells[0].setup
        if setup.scenario.decisions.by is ChargedBy.CLOCK:
            tell("Decisions are charged by the wall clock: these runs are not repeatable.")
        for each in unrecorded(setup.scenario):
            tell(f"{each}: how long decisions take was not recorded; they are charged by rate.")
        require_runnable(setup.jobs(0), setup.resources())

    def sections(
        self, plan: Plan, results: Results, moments: Sequence[CellMoments]
    ) -> Sequence[Section]:
        """Show how late jobs are, and where tasks ran."""
        from rebecsim.clusters.stages.report.sections import stages_sections

        return stages_sections(plan, results)


def _kept(scenario: StagesScenario) -> tuple[Metric, ...]:
    """Give all figures; those of the wall clock where it is measured."""
    has = ["clock"] if scenario.decisions.keeps_clock else []
    return (*given(STAGES_MEASURES, has), SEARCHED)


def _joined(parts: list[dict[str, Any]]) -> dict[str, Column]:
    """Put the rows of several runs one below the other."""
    return {
        name: np.concatenate([part[name] for part in parts])
        if isinstance(parts[0][name], np.ndarray)
        else list(itertools.chain.from_iterable(part[name] for part in parts))
        for name in parts[0]
    }


STUDY = StagesStudy()
