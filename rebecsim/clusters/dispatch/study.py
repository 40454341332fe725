"""The kind `dispatch` as a study: a generated model for each cell, counters of its runs as rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rebecsim.actors import ChoiceLaw
from rebecsim.actors.randomness import key_of
from rebecsim.clusters.dispatch.configuration import ClusterConfiguration, Configuration
from rebecsim.clusters.dispatch.measures import (
    DISPATCH_METRICS,
    NATJAM_CHART_METRICS,
    NATJAM_METRICS,
)
from rebecsim.clusters.dispatch.policies import dispatch_policy
from rebecsim.clusters.dispatch.scenario import Scenario
from rebecsim.clusters.dispatch.source import (
    COUNTERS,
    HIGH_PRIORITY_COUNTERS,
    NATJAM_COUNTERS,
    NatjamConfiguration,
    busy_time_variables,
    natjam_source,
    rebeca_source,
)
from rebecsim.files import RunSize
from rebecsim.metrics import Metric
from rebecsim.native import engines
from rebecsim.simulation import Observation
from rebecsim.simulation.montecarlo import Runs, Task
from rebecsim.studies.cells import Cell, Rows, Section
from rebecsim.studies.executors import Executor
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.scenario import StudyScenario
from rebecsim.studies.simulated import (
    ORDERS,
    OUTCOME,
    TRACE_COLUMNS,
    TRACES,
    Order,
    message_order,
    simulated_rows,
)
from rebecsim.studies.study import (
    Axis,
    ComparisonRules,
    ExactOrders,
    How,
    PlannedCell,
    SimulatedStudy,
    seconds_of_runs,
    seed_sequence,
)

if TYPE_CHECKING:
    from rebecsim.studies.results import Results

_MANAGER = "rm"
_TICK = "checkQueue"

_CHOICE = re.compile(r"\?\([^)]*,")
"""A choice between two alternatives or more."""

_ORDER_NOTE = (
    "Messages that are due at the same time may be served in any order, and the model does not say "
    "which. An update is the message of an AppMaster that its job has ended; the tick is the "
    "message of the ResourceManager to itself, once per time unit, in which it hands out jobs and "
    "takes in new ones. updates-first serves all updates of a time unit before its tick, so an "
    "AppMaster that has just become free gets a job at once; ticks-first serves the tick before, "
    "so it waits for a time unit; fifo serves messages as they were sent; random draws their "
    "order."
)

_AXIS = Axis(
    coordinate="app_masters",
    name="cluster_size",
    title="Cluster size (number of AppMasters)",
    by="number of AppMasters",
    unit="AppMasters",
)


@dataclass(frozen=True)
class ClusterModel:
    """One model to simulate, and how."""

    configuration: ClusterConfiguration
    ticks: int
    choice_law: ChoiceLaw
    order: Order

    @property
    def counters(self) -> Mapping[str, str]:
        """What is counted in each run: column of the results -> state variable it is read from.

        Columns `high_...` are of the jobs of high priority, in models that count priorities.
        Columns `busy_am1`, ... are the time units in which each AppMaster was busy, in models
        that count them.
        """
        of_jobs = dict(NATJAM_COUNTERS)
        if isinstance(self.configuration, Configuration):
            high = HIGH_PRIORITY_COUNTERS if self.configuration.counts_priorities else {}
            of_jobs = {**COUNTERS, **high}
        if self.configuration.horizon is None:
            return of_jobs
        variables = busy_time_variables(self.configuration.app_masters)
        busy = {f"busy_am{number}": name for number, name in enumerate(variables, start=1)}
        return {**of_jobs, **busy}

    @property
    def observation(self) -> Observation:
        """What to read from each run."""
        return Observation(_MANAGER, tuple(self.counters.values()))

    @property
    def until(self) -> int:
        """The last time at which messages are served: that of the last tick."""
        return self.ticks - 1

    @property
    def has_chance(self) -> bool:
        """Whether anything is drawn: the order of messages, or a choice in the model."""
        return self.order == "random" or _CHOICE.search(self.model_text) is not None

    @cached_property
    def model_text(self) -> str:
        """The model as Timed Rebeca, which was generated."""
        return model_source(self.configuration)


def model_source(configuration: ClusterConfiguration, *, asserting: bool = True) -> str:
    """Return the Timed Rebeca text of a model; see `rebeca_source` and `natjam_source`."""
    if isinstance(configuration, NatjamConfiguration):
        return natjam_source(configuration, asserting=asserting)
    assert isinstance(configuration, Configuration)
    return rebeca_source(configuration, asserting=asserting)


_SECONDS_A_TICK = 2e-5
_SECONDS_A_TICK_WITH_EVICTION = 5e-5
"""In Python."""


class _Exact:
    """All orders of messages, tick by tick, or message by message."""

    def require(self, plan: Plan) -> None:
        """Refuse what is drawn in too many ways in one tick."""
        from rebecsim.clusters.dispatch.report.exact import require_exact

        require_exact(plan)

    def reckon(self, plan: Plan, results: Results, executor: Executor, most_states: int) -> None:
        """Reckon each cell."""
        from rebecsim.clusters.dispatch.report.exact import reckon

        reckon(plan, results, executor, most_states)


class DispatchStudy(SimulatedStudy):
    """Policies of a ResourceManager, compared on generated models."""

    kind: ClassVar[str] = "dispatch"
    question: ClassVar[str] = "Deadlines: which request goes first?"
    scenario: ClassVar[type[StudyScenario]] = Scenario
    order_notes: ClassVar[tuple[str, ...]] = (_ORDER_NOTE,)
    normal_outcomes: ClassVar[frozenset[str]] = frozenset({"time limit"})
    options: ClassVar[frozenset[str]] = SimulatedStudy.options | {"exact"}
    exact: ClassVar[ExactOrders | None] = _Exact()

    def cells(self, scenario: Scenario, folder: Path) -> Iterator[PlannedCell]:
        """Lay out the cells: policy x arrivals x lengths x cluster size."""
        for configuration in scenario.configurations():
            model = ClusterModel(configuration, scenario.ticks, scenario.choice_law, scenario.order)
            yield PlannedCell(
                cell=Cell.of(
                    configuration.policy,
                    arrivals=configuration.arrivals.label,
                    lengths=configuration.lengths.label,
                    app_masters=configuration.app_masters,
                ),
                name=configuration.file_stem,
                columns={**dict.fromkeys(model.counters, "int32"), OUTCOME: "words"},
                setup=model,
                key=cell_key(scenario.seed, configuration),
                is_random=model.has_chance,
            )

    def task(
        self, cell: PlannedCell, replications: range, how: How
    ) -> tuple[str, Callable[[], Rows]]:
        """Send the text of the model, which is all that a worker needs."""
        model: ClusterModel = cell.setup
        first, second = cell.key
        runs = Runs(
            observation=model.observation,
            key=(first, second),
            replications=replications,
            until=model.until,
            choice_law=model.choice_law,
            order=message_order(model.order, _TICK),
            trace=how.trace,
        )
        few = how.engine == "auto" and how.total * model.ticks < engines.STUDY_LOADS
        task = Task(cell.name, model.model_text, runs, "python" if few else how.engine)
        return cell.name, partial(simulated_rows, task, dict(model.counters))

    def measures(self, scenario: Scenario) -> tuple[Metric, ...]:
        """Give the figures of the published tables."""
        return DISPATCH_METRICS if scenario.eviction is None else NATJAM_METRICS

    def comparison(self, scenario: Scenario) -> ComparisonRules:
        """Pool over cluster sizes; several patterns are compared separately."""
        patterns = {"arrivals": scenario.arrivals, "lengths": scenario.lengths}
        return ComparisonRules(
            separate=tuple(name for name, entries in patterns.items() if len(entries) > 1),
            charted=DISPATCH_METRICS if scenario.eviction is None else NATJAM_CHART_METRICS,
            orders=ORDERS,
            caution=_caution(scenario),
        )

    def axis(self, scenario: Scenario) -> Axis | None:
        """Charts go by the cluster size."""
        return _AXIS

    def tables(self, scenario: Scenario, trace: bool) -> Mapping[str, Mapping[str, str]]:
        """Keep messages where that is wanted."""
        return {TRACES: TRACE_COLUMNS} if trace else {}

    def size(self, cell: PlannedCell, replications: int) -> RunSize:
        """Estimate a run by its time units."""
        model: ClusterModel = cell.setup
        evicts = isinstance(model.configuration, NatjamConfiguration)
        a_tick = _SECONDS_A_TICK_WITH_EVICTION if evicts else _SECONDS_A_TICK
        seconds = seconds_of_runs(model.ticks, replications, a_tick)
        return RunSize(model.ticks, 0, seconds, 0, "time unit")

    def sections(
        self, plan: Plan, results: Results, moments: Sequence[CellMoments]
    ) -> Sequence[Section]:
        """Show where deadlines were missed, and what the hardware did."""
        from rebecsim.clusters.dispatch.report.sections import dispatch_sections

        return dispatch_sections(plan, results, moments)


def _caution(scenario: Scenario) -> str:
    """Say that policies saw different jobs, where they did."""
    if not scenario.has_unequal_jobs:
        return ""
    use = [each for each in scenario.policies if dispatch_policy(each).uses_priority]
    return (
        "The policies saw different jobs, so this is no fair comparison: jobs of high "
        f"priority have length {scenario.high_priority.length} under {', '.join(use)} only "
        '(workload = "as-published"). Set workload = "same" to give all policies the same jobs.'
    )


def cell_key(seed: int, configuration: ClusterConfiguration) -> tuple[int, int]:
    """Give the key of a cell's random streams: two 64-bit words of a child of the seed.

    The child is spawned by the coordinates of the workload, not by position, so that a cell gives
    the same results in whichever scenario it stands. The policy is no coordinate: all policies
    see the same jobs (common random numbers).
    """
    coordinates = json.dumps(
        [
            configuration.arrivals.model_dump(mode="json"),
            configuration.lengths.model_dump(mode="json"),
            configuration.app_masters,
        ],
        sort_keys=True,
    )
    return key_of(seed_sequence(seed, coordinates))


STUDY = DispatchStudy()
