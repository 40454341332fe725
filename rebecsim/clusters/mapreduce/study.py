"""The kind `mapreduce` as a study: its cells, runs, measures, tables and sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rebecsim.clusters.kit.measures import Record, RecordedStudy, given
from rebecsim.clusters.mapreduce.inputs import RunSetup, run_size
from rebecsim.clusters.mapreduce.measures import MAPREDUCE_MEASURES, run_figures
from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from rebecsim.clusters.mapreduce.small import small_cluster
from rebecsim.clusters.mapreduce.tables import TABLES, tables_of
from rebecsim.errors import UserError
from rebecsim.files import RunSize
from rebecsim.metrics import Metric
from rebecsim.studies.cells import Cell, Compared, Section
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.scenario import StudyScenario
from rebecsim.studies.scenario_files import FieldPath
from rebecsim.studies.study import Cut, How, PlannedCell, SmallCluster, seed_of

if TYPE_CHECKING:
    from rebecsim.studies.results import Results


def _small(cell: PlannedCell, cut: Cut) -> SmallCluster:
    """Cut the cluster and the jobs of a variant."""
    setup: RunSetup = cell.setup
    seed = seed_of(setup.scenario.seed, "cluster", 0)
    jobs, build = setup.jobs(0), setup.scheduler.build
    return small_cluster(jobs, setup.configuration, build, setup.name, cut, seed=seed)


class MapReduceStudy(RecordedStudy):
    """Schedulers of a MapReduce cluster with their settings, compared on the same jobs."""

    kind: ClassVar[str] = "mapreduce"
    question: ClassVar[str] = "MapReduce on Hadoop 1: how do queues share slots?"
    scenario: ClassVar[type[StudyScenario]] = MapReduceScenario
    compared: ClassVar[Compared] = Compared("variant", "variants")
    modules: ClassVar[tuple[str, ...]] = (__name__,)
    small = staticmethod(_small)

    def cells(self, scenario: MapReduceScenario, folder: Path) -> Iterator[PlannedCell]:
        """Lay out the cells: one for each variant."""
        columns = self.columns(scenario)
        for variant in scenario.variants:
            yield PlannedCell(
                cell=Cell.of(variant.name),
                name=variant.name.lower(),
                columns=columns,
                setup=RunSetup(scenario, folder, variant.name),
                parameters={"scheduler": variant.scheduler},
            )

    def record(self, cell: PlannedCell, replication: int) -> Record:
        """Run the cluster. Raises what `RunSetup` raises."""
        setup: RunSetup = cell.setup
        recorded = setup.recorded(replication)
        if recorded.nothing_ran:
            raise UserError(f"{setup.name}, replication {replication}: {recorded.nothing_ran}")
        return run_figures(recorded.measured), tables_of(recorded)

    def kept(self, scenario: MapReduceScenario) -> tuple[Metric, ...]:
        """Give all figures."""
        return tuple(each.metric for each in MAPREDUCE_MEASURES)

    def telling(self, scenario: MapReduceScenario) -> tuple[Metric, ...]:
        """Leave out measures that do not apply to the scenario."""
        has = {
            "backups": scenario.speculation is not None,
            "failures": scenario.failures.is_some,
            "racks": scenario.cluster.racks > 1,
            "warm_up": scenario.warm_up > 0,
        }
        return given(MAPREDUCE_MEASURES, [name for name, is_there in has.items() if is_there])

    def tables(self, scenario: MapReduceScenario, trace: bool) -> Mapping[str, Mapping[str, str]]:
        """Keep jobs, attempts, queues, families and the use of slots and devices of every run."""
        return TABLES

    def files(self, scenario: MapReduceScenario) -> Mapping[FieldPath, str]:
        """Name the trace and the files of settings."""
        named: dict[FieldPath, str] = {}
        for source, trace in scenario.workload.traces.items():
            named["workload", source, "trace"] = trace
        for place, variant in enumerate(scenario.variants):
            if variant.file is not None:
                named["variants", place, "file"] = variant.file
        return named

    def size(self, cell: PlannedCell, replications: int) -> RunSize:
        """Estimate a run by its tasks and nodes."""
        return run_size(cell.setup)

    def prepare(self, plan: Plan, how: How, tell: Callable[[str], None]) -> None:
        """Read jobs and settings once, and check that they fit together."""
        for cell in plan.cells:
            setup: RunSetup = cell.setup
            for line in setup.require_sense():
                tell(line)

    def sections(
        self, plan: Plan, results: Results, moments: Sequence[CellMoments]
    ) -> Sequence[Section]:
        """Show families, queues, slots, shares and devices."""
        from rebecsim.clusters.mapreduce.report.sections import mapreduce_sections

        return mapreduce_sections(plan, results)


STUDY = MapReduceStudy()
