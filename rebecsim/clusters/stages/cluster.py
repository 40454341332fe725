"""A cluster at work: its rebecs are made, and their messages served until all jobs have ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rebecsim.actors import Instance, Model
from rebecsim.clusters.kit.queued import QueuedSystem, rarely_collecting, serve
from rebecsim.clusters.stages.checking import ScheduleChecker, require_sound_schedule
from rebecsim.clusters.stages.decisions import DecisionCost, MadeDecision
from rebecsim.clusters.stages.job import StageJob, TaskKey
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.rebecs import ArrivalSource, ResourceManager, TaskExecutor
from rebecsim.clusters.stages.resources import StageResource, require_runnable
from rebecsim.clusters.stages.schedule import Assignment
from rebecsim.errors import UserError

ManagerMaker = Callable[[Sequence[StageResource]], StageManager]
"""Makes a resource manager for some resources."""


@dataclass(frozen=True, eq=False)
class FinishedStages:
    """What became of a run.

    Attributes:
        jobs: in the order of their numbers.
        resources: that they ran on.
        completed: when each job ended (ms), by its number.
        ran: where and when each task ran, but for dummies.
        decisions: in the order of time.
        messages: that were served.
    """

    jobs: Sequence[StageJob]
    resources: Sequence[StageResource]
    completed: Mapping[int, int]
    ran: Mapping[TaskKey, Assignment]
    decisions: Sequence[MadeDecision]
    messages: int


@rarely_collecting()
def run_stages(
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    maker: ManagerMaker,
    cost: DecisionCost | None = None,
) -> FinishedStages:
    """Run jobs on resources under a resource manager.

    Every decision is checked, and the whole run at its end. Raises UserError for a task that no
    resource can run, and for a manager that leaves tasks without a place for ever, and
    BrokenScheduleError for one that breaks the rules.
    """
    require_runnable(jobs, resources)
    system = QueuedSystem(stages_model(jobs, resources, maker(resources), cost or DecisionCost()))
    manager = system.rebecs[0]
    assert isinstance(manager, ResourceManager)
    served = serve(system, manager)
    if not manager.closed:
        left = ", ".join(job.name for job in list(manager.jobs.values())[:5])
        raise UserError(f"the resource manager never places the tasks of {left}")
    ran = manager.schedule.done
    ordered = sorted(jobs, key=lambda job: job.number)
    durations = {job.number: [task.duration for task in job.tasks] for job in ordered}
    require_sound_schedule(
        jobs, resources, ran.values(), needed=lambda each: durations[each.key.job][each.key.task]
    )
    return FinishedStages(ordered, resources, manager.completed, ran, manager.decisions, served)


def stages_model(
    jobs: Sequence[StageJob],
    resources: Sequence[StageResource],
    manager: StageManager,
    cost: DecisionCost,
) -> Model:
    """Make the model of a cluster."""
    deviates = any(task.expected != task.duration for job in jobs for task in job.tasks)
    checker = ScheduleChecker(resources, manager.expected)
    arguments = (manager, checker, cost, len(jobs), resources if deviates else None)
    instances = [Instance("manager", ResourceManager, (), arguments)]
    instances.extend(
        Instance(each.name, TaskExecutor, ("manager",), (each.number,)) for each in resources
    )
    instances.append(Instance("arrivals", ArrivalSource, ("manager",), (tuple(jobs),)))
    return Model("stages", tuple(instances))
