"""The kind `stages` as a study: its cells, runs, measures, tables and sections."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rebecsim.clusters.kit.measures import Record, RecordedStudy, given
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
from rebecsim.clusters.stages.small import small_cluster
from rebecsim.errors import UserError
from rebecsim.files import RunSize
from rebecsim.metrics import Metric
from rebecsim.studies.cells import Cell, Compared, Section
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.scenario import StudyScenario
from rebecsim.studies.scenario_files import FieldPath
from rebecsim.studies.study import Cut, How, PlannedCell, SmallCluster

if TYPE_CHECKING:
    from rebecsim.studies.results import Results


def _small(cell: PlannedCell, cut: Cut) -> SmallCluster:
    """Cut the resources and the jobs of a cell."""
    setup: StagesSetup = cell.setup
    if setup.scenario.hadoop is not None:
        raise UserError(
            f"{setup.scenario.name}: a Hadoop cluster cannot be explored, because its "
            "heartbeats never end; remove [hadoop] to explore the resource managers"
        )
    return small_cluster(
        setup.policy, setup.maker(repeats=True), setup.jobs(0), setup.resources(), setup.cost, cut
    )


class StagesStudy(RecordedStudy):
    """Resource managers of jobs of several stages with deadlines, compared."""

    kind: ClassVar[str] = "stages"
    question: ClassVar[str] = "Workflows with deadlines: who gets the slots?"
    scenario: ClassVar[type[StudyScenario]] = StagesScenario
    compared: ClassVar[Compared] = Compared("manager", "managers")
    earned_by: ClassVar[Metric | None] = SEARCHED
    separate: ClassVar[tuple[str, ...]] = ("load_factor",)
    modules: ClassVar[tuple[str, ...]] = (__name__,)
    small = staticmethod(_small)

    def cells(self, scenario: StagesScenario, folder: Path) -> Iterator[PlannedCell]:
        """Lay out the cells: load factor x manager, since managers of a load share their jobs."""
        columns = self.columns(scenario)
        for policy, load_factor in itertools.product(scenario.policies, scenario.load_factors):
            yield PlannedCell(
                cell=Cell.of(policy, load_factor=load_factor),
                name=f"{policy.lower()}_load{load_factor:g}",
                columns=columns,
                setup=StagesSetup(scenario, folder, policy, load_factor),
            )

    def record(self, cell: PlannedCell, replication: int) -> Record:
        """Run the jobs. Raises what `run_stages` raises."""
        setup: StagesSetup = cell.setup
        measured = setup.measured(replication)
        with_clock = setup.scenario.decisions.keeps_clock
        figures = run_figures(measured, with_clock=with_clock, can_search=can_search(setup.policy))
        return figures, tables_of(measured.run)

    def kept(self, scenario: StagesScenario) -> tuple[Metric, ...]:
        """Give all figures; those of the wall clock where it is measured."""
        has = ["clock"] if scenario.decisions.keeps_clock else []
        return (*given(STAGES_MEASURES, has), SEARCHED)

    def telling(self, scenario: StagesScenario) -> tuple[Metric, ...]:
        """Leave out what is searched where no manager does."""
        searches = any(map(can_search, scenario.policies))
        return tuple(each for each in self.kept(scenario) if searches or each is not SEARCHED)

    def columns(self, scenario: StagesScenario) -> dict[str, str]:
        """Give the counters of all figures."""
        counters = itertools.chain.from_iterable(each.counters for each in self.kept(scenario))
        return dict.fromkeys(sorted(counters), "float64")

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


STUDY = StagesStudy()
