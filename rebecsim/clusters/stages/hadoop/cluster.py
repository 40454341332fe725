"""A Hadoop cluster at work, until all jobs have ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from rebecsim.actors import Instance, Model
from rebecsim.clusters.kit.queued import QueuedSystem, rarely_collecting, serve
from rebecsim.clusters.stages.checking import (
    BrokenScheduleError,
    require_slots,
    require_sound_schedule,
)
from rebecsim.clusters.stages.cluster import FinishedStages
from rebecsim.clusters.stages.decisions import DecisionCost
from rebecsim.clusters.stages.hadoop.choosing import JobQueue, PlannedOrder, TaskChoice
from rebecsim.clusters.stages.hadoop.job_tasks import HeldSlot
from rebecsim.clusters.stages.hadoop.rebecs import HadoopJobTracker, HadoopTaskTracker
from rebecsim.clusters.stages.hadoop.settings import HadoopSettings
from rebecsim.clusters.stages.job import StageJob, TaskKey, TaskKind
from rebecsim.clusters.stages.locality import Locality
from rebecsim.clusters.stages.managers.constraints.hcp import TurnaroundManager
from rebecsim.clusters.stages.managers.constraints.searching import SearchingManager
from rebecsim.clusters.stages.managers.constraints.solver import SolverSettings
from rebecsim.clusters.stages.managers.dispatching import EarliestDeadlineFirst, FirstInFirstOut
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.rebecs import ArrivalSource
from rebecsim.clusters.stages.resources import StageResource, require_runnable
from rebecsim.clusters.stages.schedule import Assignment, Schedule
from rebecsim.errors import UserError

_ORDERS: Mapping[type[StageManager], Callable[[StageJob], int]] = {
    EarliestDeadlineFirst: lambda job: job.deadline,
    FirstInFirstOut: lambda job: job.arrival,
}


def runs_on_hadoop(manager: type[StageManager]) -> bool:
    """Whether a resource manager can be asked there: by an order, or as it plans all anew."""
    if issubclass(manager, SearchingManager):
        return issubclass(manager, TurnaroundManager) or not manager.defers
    return manager in _ORDERS


def run_on_hadoop(
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    manager: type[StageManager],
    settings: HadoopSettings,
    cost: DecisionCost | None = None,
    solver: SolverSettings | None = None,
    seed: tuple[int, ...] = (0,),
) -> FinishedStages:
    """Run MapReduce jobs under a resource manager; `seed` says where data lie.

    The whole run is checked at its end. Raises UserError for jobs or resources that are not of
    maps and reduces, and BrokenScheduleError for a run that breaks the rules.
    """
    _require_map_reduce(jobs, resources)
    locality = Locality(len(resources), settings.replicas, settings.transfer, seed)
    schedule = Schedule()
    choice: TaskChoice
    planner: StageManager | None = None
    if issubclass(manager, SearchingManager):
        maker: Callable[..., SearchingManager] = manager
        if issubclass(manager, TurnaroundManager):
            maker = partial(manager, locality=locality)
        planner = maker(resources, settings=solver)
        choice = PlannedOrder(schedule.scheduled)
    else:
        choice = JobQueue(_ORDERS[manager], settings, locality)
    costs = cost or DecisionCost(), settings, locality
    arguments = choice, schedule, planner, costs, (tuple(resources), len(jobs))
    system = QueuedSystem(_model(jobs, resources, arguments, settings))
    tracker = system.rebecs[0]
    assert isinstance(tracker, HadoopJobTracker)
    with rarely_collecting():
        served = serve(system, tracker)
    _require_sound(jobs, resources, schedule.done, tracker.held, (settings, locality))
    ordered = sorted(jobs, key=lambda job: job.number)
    return FinishedStages(
        ordered, resources, tracker.completed, schedule.done, tracker.decisions, served
    )


def _model(
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    arguments: tuple[object, ...],
    settings: HadoopSettings,
) -> Model:
    """Make the model of a cluster: TaskTrackers ask one after the other."""
    instances = [Instance("job_tracker", HadoopJobTracker, (), arguments)]
    instances.extend(
        Instance(
            each.name,
            HadoopTaskTracker,
            ("job_tracker",),
            (each.number, settings, settings.heartbeat * each.number // len(resources)),
        )
        for each in resources
    )
    instances.append(Instance("arrivals", ArrivalSource, ("job_tracker",), (tuple(jobs),)))
    return Model("hadoop", tuple(instances))


def _require_map_reduce(jobs: Sequence[StageJob], resources: Sequence[StageResource]) -> None:
    require_runnable(jobs, resources)
    if not resources[0].is_typed:
        raise UserError("Hadoop has slots for maps and for reduces: give map_slots, reduce_slots")
    for job in jobs:
        if any(task.kind is TaskKind.GENERIC for task in job.real_tasks):
            raise UserError(f"{job.name}: Hadoop runs maps and reduces only")


def _require_sound(
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    ran: Mapping[TaskKey, Assignment],
    held: Iterable[HeldSlot],
    costs: tuple[HadoopSettings, Locality],
) -> None:
    """Look at a run: slots as they are held, and the order in which tasks really work."""
    settings, locality = costs
    beside = [(each.resource, each.kind, each.start, each.end) for each in held]
    require_slots(jobs, resources, ran.values(), beside)
    known = {job.number: job for job in jobs}

    def needed(each: Assignment) -> int:
        task = known[each.key.job].tasks[each.key.task]
        longer = locality.extra(each.key, task.kind, each.resource)
        return task.duration + settings.overhead + longer

    worked = []
    for each in ran.values():
        if each.end - each.start < needed(each):
            raise BrokenScheduleError(f"job_{each.key.job}, task {each.key.task}: ran too short")
        worked.append(each._replace(start=each.end - needed(each)))
    require_sound_schedule(jobs, resources, worked, needed=needed)
