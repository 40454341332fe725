"""The kind `yarn` as a study: runs of a trace on a cluster, their figures, jobs and containers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rebecsim.clusters.kit.measures import Record, RecordedStudy
from rebecsim.clusters.yarn.cluster import require_runnable
from rebecsim.clusters.yarn.inputs import RunSetup, run_size
from rebecsim.clusters.yarn.measures import QUEUE_MEASURES, YARN_MEASURES, run_figures
from rebecsim.clusters.yarn.scenario import YarnScenario
from rebecsim.clusters.yarn.small import small_cluster
from rebecsim.clusters.yarn.tables import QUEUE_TABLES, TABLES, queue_tables_of, tables_of
from rebecsim.files import RunSize
from rebecsim.metrics import Metric
from rebecsim.studies.cells import Cell, Compared, Section
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.scenario import StudyScenario
from rebecsim.studies.scenario_files import FieldPath
from rebecsim.studies.study import Axis, Cut, How, PlannedCell, SmallCluster

if TYPE_CHECKING:
    from rebecsim.studies.results import Results


def _small(cell: PlannedCell, cut: Cut) -> SmallCluster:
    """Cut the jobs and the nodes of a cell."""
    setup: RunSetup = cell.setup
    return small_cluster(setup.jobs(0), setup.nodes(), setup.configuration(0), cut)


_MOST_EXPLAINED = 100_000
"""Tasks of a run of which it is noted why jobs wait: in larger ones that takes too long."""


class YarnStudy(RecordedStudy):
    """Schedulers of a YARN cluster, compared on a trace."""

    kind: ClassVar[str] = "yarn"
    question: ClassVar[str] = "YARN: which job gets the next container?"
    scenario: ClassVar[type[StudyScenario]] = YarnScenario
    compared: ClassVar[Compared] = Compared("scheduler", "schedulers")
    separate: ClassVar[tuple[str, ...]] = ("load_factor", "error_percent")
    modules: ClassVar[tuple[str, ...]] = (__name__,)
    small = staticmethod(_small)

    def cells(self, scenario: YarnScenario, folder: Path) -> Iterator[PlannedCell]:
        """Lay out the cells: scheduler x load factor x percent of errors."""
        columns, is_random = self.columns(scenario), scenario.is_random
        for policy, load_factor, percent in itertools.product(
            scenario.compared, scenario.load_factors, scenario.error_percents or (None,)
        ):
            coordinates: dict[str, float] = {"load_factor": load_factor}
            name = f"{policy.lower()}_load{load_factor:g}"
            if percent is not None:
                coordinates["error_percent"] = percent
                name += f"_error{percent}"
            yield PlannedCell(
                cell=Cell.of(policy, **coordinates),
                name=name,
                columns=columns,
                setup=RunSetup(scenario, folder, policy, load_factor, percent),
                most=None if is_random else 1,
                is_random=is_random,
            )

    def record(self, cell: PlannedCell, replication: int) -> Record:
        """Run the cluster. Raises what `RunSetup` and `run_cluster` raise."""
        setup: RunSetup = cell.setup
        queues = bool(setup.scenario.schedulers)
        explains = queues and not replication and setup.tasks <= _MOST_EXPLAINED
        measured = setup.measured(replication, explains=explains)
        if measured.run.stuck is not None:
            raise measured.run.stuck
        tables = tables_of(measured.run, measured.containers)
        if queues:
            tables |= queue_tables_of(measured.run, measured.containers)
        return run_figures(measured, queues=queues), tables

    def kept(self, scenario: YarnScenario) -> tuple[Metric, ...]:
        """Give all figures, those of queues only where a file has them."""
        of_queues = QUEUE_MEASURES if scenario.schedulers else ()
        return tuple(each.metric for each in (*YARN_MEASURES, *of_queues))

    def telling(self, scenario: YarnScenario) -> tuple[Metric, ...]:
        """Leave out locality where nothing is said of it."""
        says = scenario.placement is not None or scenario.schedulers
        return tuple(each for each in self.kept(scenario) if says or each.name != "local")

    def axis(self, scenario: YarnScenario) -> Axis | None:
        """Charts go by the load factor or by the errors, where there are several of them."""
        if len(scenario.load_factors) == 1 and len(scenario.error_percents) > 1:
            title = "Error (% of the true value)"
            return Axis("error_percent", "error_percent", title, "error", "%")
        return super().axis(scenario)

    def tables(self, scenario: YarnScenario, trace: bool) -> Mapping[str, Mapping[str, str]]:
        """Keep jobs, tasks, decisions, reservations and occupancy of every run, and queues."""
        return {**TABLES, **QUEUE_TABLES} if scenario.schedulers else TABLES

    def files(self, scenario: YarnScenario) -> Mapping[FieldPath, str]:
        """Name the trace, the topology, and what schedulers are read from."""
        named: dict[FieldPath, str | None] = {
            ("workload", "trace"): scenario.workload.trace,
            ("cluster", "topology"): scenario.cluster.topology,
        }
        for place, each in enumerate(scenario.schedulers):
            named["schedulers", place, "queues"] = each.queues
            named["schedulers", place, "yarn_site"] = each.yarn_site
        return {path: name for path, name in named.items() if name is not None}

    def size(self, cell: PlannedCell, replications: int) -> RunSize:
        """Estimate a run by its tasks, nodes and durations."""
        return run_size(cell.setup)

    def prepare(self, plan: Plan, how: How, tell: Callable[[str], None]) -> None:
        """Read files, jobs and nodes once, and see whether they go together."""
        warned: dict[str, None] = {}
        for cell in plan.cells:
            setup: RunSetup = cell.setup
            configuration = setup.configuration(0)
            require_runnable(setup.jobs(0), setup.nodes(), configuration)
            if configuration.queues is not None:
                warned |= dict.fromkeys(configuration.queues.idle)
        for note in plan.cells[0].setup.left_out:
            tell(note)
        if len(warned) > 1:
            tell(f"{len(warned)} settings have no effect here; the report lists them")
        else:
            any(map(tell, warned))

    def sections(
        self, plan: Plan, results: Results, moments: Sequence[CellMoments]
    ) -> Sequence[Section]:
        """Show occupancy, nodes, durations, and which jobs are faster."""
        from rebecsim.clusters.yarn.report.sections import yarn_sections

        return yarn_sections(plan, results)


STUDY = YarnStudy()
