"""The kind `yarn` as a study: runs of a trace on a cluster, their figures, jobs and containers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rebecsim.clusters.yarn.cluster import require_runnable
from rebecsim.clusters.yarn.inputs import RunSetup, run_size
from rebecsim.clusters.yarn.measures import FILE_UNITS, QUEUE_MEASURES, YARN_MEASURES, run_figures
from rebecsim.clusters.yarn.scenario import YarnScenario
from rebecsim.clusters.yarn.tables import QUEUE_TABLES, TABLES, queue_tables_of, tables_of
from rebecsim.metrics import Metric
from rebecsim.studies.cells import REPLICATION, Cell, Compared, Rows, joined_columns
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.scenario import StudyScenario
from rebecsim.studies.sections import Section
from rebecsim.studies.size import RunSize
from rebecsim.studies.study import LOAD_AXIS, Axis, ComparisonRules, How, PlannedCell, Study
from rebecsim.studies.toml import FieldPath

if TYPE_CHECKING:
    from rebecsim.studies.results import Results

_MOST_EXPLAINED = 100_000
"""Tasks of a run of which it is noted why jobs wait: in larger ones that takes too long."""


class YarnStudy(Study):
    """Schedulers of a YARN cluster, compared on a trace."""

    kind: ClassVar[str] = "yarn"
    question: ClassVar[str] = "YARN: which job gets the next container?"
    scenario: ClassVar[type[StudyScenario]] = YarnScenario
    compared: ClassVar[Compared] = Compared("scheduler", "schedulers")
    units: ClassVar[Mapping[str, Mapping[str, str]]] = FILE_UNITS
    replications_per_task: ClassVar[int] = 1
    modules: ClassVar[tuple[str, ...]] = (__name__,)

    def cells(self, scenario: YarnScenario, folder: Path) -> Iterator[PlannedCell]:
        """Lay out the cells: scheduler x load factor x percent of errors."""
        columns = dict.fromkeys((each.name for each in _kept(scenario)), "float64")
        is_random = scenario.is_random
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

    def run(self, cell: PlannedCell, replications: range) -> Rows:
        """Run the cluster. Raises what `RunSetup` and `run_cluster` raise."""
        setup: RunSetup = cell.setup
        figures: list[dict[str, float]] = []
        kept = QUEUE_TABLES if setup.scenario.schedulers else {}
        tables: dict[str, list[dict[str, Any]]] = {name: [] for name in (*TABLES, *kept)}
        for replication in replications:
            explains = bool(kept) and not replication and setup.tasks <= _MOST_EXPLAINED
            measured = setup.measured(replication, explains=explains)
            if measured.run.stuck is not None:
                raise measured.run.stuck
            figures.append(run_figures(measured, queues=bool(kept)))
            found = tables_of(measured.run, measured.containers)
            if kept:
                found |= queue_tables_of(measured.run, measured.containers)
            for name, columns in found.items():
                size = len(next(iter(columns.values())))
                tables[name].append({REPLICATION: np.full(size, replication), **columns})
        columns = {name: [each[name] for each in figures] for name in figures[0]}
        return Rows(columns, {name: joined_columns(parts) for name, parts in tables.items()})

    def measures(self, scenario: YarnScenario) -> tuple[Metric, ...]:
        """Give the figures that the scenario asks for, or all that say something."""
        known = {each.name: each for each in _kept(scenario)}
        silent = set() if scenario.placement is not None or scenario.schedulers else {"local"}
        telling = [name for name in known if name not in silent]
        return tuple(known[name] for name in scenario.metrics or telling)

    def comparison(self, scenario: YarnScenario) -> ComparisonRules:
        """Compare with one scheduler; loads and errors are apart."""
        apart = ("load_factor", "error_percent")
        return ComparisonRules(scenario.compared_with, apart, kept=_kept(scenario))

    def axis(self, scenario: YarnScenario) -> Axis | None:
        """Charts go by the load factor or by the errors, where there are several of them."""
        if len(scenario.load_factors) > 1:
            return LOAD_AXIS
        if len(scenario.error_percents) > 1:
            title = "Error (% of the true value)"
            return Axis("error_percent", "error_percent", title, "error", "%")
        return None

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


def _kept(scenario: YarnScenario) -> tuple[Metric, ...]:
    """Give all figures, those of queues only where a file has them."""
    of_queues = QUEUE_MEASURES if scenario.schedulers else ()
    return tuple(each.metric for each in (*YARN_MEASURES, *of_queues))


STUDY = YarnStudy()
