"""Nothing is lost on a cluster of containers, and nothing is there twice: laws of any run.

Jobs that never end are within them: what they hold is neither free nor used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies as st

from rebecsim.clusters.yarn.cluster import Finished, run_cluster
from rebecsim.clusters.yarn.configuration import (
    QUIRKS_OF_DSS,
    Elasticity,
    InjectedError,
    Quirks,
    YarnConfiguration,
)
from rebecsim.clusters.yarn.containers import Container
from rebecsim.clusters.yarn.launching import StuckError
from rebecsim.clusters.yarn.measures import MeasuredRun
from rebecsim.clusters.yarn.penalties import penalty_named
from rebecsim.clusters.yarn.tables import container_columns, occupancy_table, queue_tables_of
from rebecsim.workloads.container_jobs import ContainerJob
from tests.clusters.yarn.clusters import configurations, nodes, uses, workloads
from tests.clusters.yarn.queues.files import MONITOR, TWO_QUEUES, capacity, fair

SCENARIOS = 500
"""Random ones, for jobs under DSS's schedulers and under Hadoop's queues together."""

FAIR = """\
<allocations>
<defaultFairSharePreemptionTimeout>3</defaultFairSharePreemptionTimeout>
<queue name="a"><maxResources>5000 mb, 8 vcores</maxResources></queue>
<queue name="b"><weight>3</weight></queue>
</allocations>
"""
QUEUES = (
    capacity(TWO_QUEUES | {"root.a.user-limit-factor": "0.5"}),
    capacity(TWO_QUEUES | MONITOR),
    fair(FAIR),
    fair(FAIR, {"yarn.scheduler.fair.preemption": "true"}),
)
MEMORY_ONLY = QUEUES[:2]
"""Whose resource calculator does not count cores."""
ERRORS = st.builds(
    InjectedError,
    percent=st.sampled_from([None, None, 0, 30]),
    sign=st.sampled_from(["MIXED", "POSITIVE", "NEGATIVE"]),
    mode=st.just("RANDOM"),
)


@st.composite
def scenarios(draw: st.DrawFn) -> tuple[Sequence[ContainerJob], YarnConfiguration]:
    """Draw jobs, and a cluster with a scheduler of either kind."""
    jobs, configuration = draw(workloads()), draw(configurations())
    if draw(st.booleans()):
        named = [
            replace(each, queue=draw(st.sampled_from(["root.a", "root.b"])), master_memory=1024)
            for each in jobs
        ]
        queued = replace(
            configuration,
            queues=draw(st.sampled_from(QUEUES)),
            reservations=False,
            gaps=False,
            assign_multiple=False,
        )
        return named, queued
    elasticity = Elasticity(
        penalty_named("STEP", 1.5),
        overestimated=draw(st.sampled_from([(1.0, 1.0), (1.0, 2.0), (2.0, 2.0)])),
        memory_error=draw(ERRORS),
        bump_error=draw(ERRORS),
        duration_error=draw(ERRORS),
    )
    quirks = draw(st.sampled_from([Quirks(), QUIRKS_OF_DSS]))
    return jobs, replace(configuration, elasticity=elasticity, quirks=quirks)


@settings(max_examples=SCENARIOS, phases=(Phase.generate,))
@given(scenarios())
def test_jobs_tasks_containers_and_memory_seconds_are_conserved(
    scenario: tuple[Sequence[ContainerJob], YarnConfiguration],
) -> None:
    jobs, configuration = scenario
    try:
        run = run_cluster(jobs, nodes(3, 4096), configuration)
    except StuckError:
        return  # no job has ended
    check_jobs(run, jobs)
    check_tasks(run)
    check_containers(run)
    check_memory_seconds(run)


def check_jobs(run: Finished, jobs: Sequence[ContainerJob]) -> None:
    """Each job has ended, was not let in, or is stuck, as those are that wait for such a job."""
    assert [each.number for each in run.applications] == [each.number for each in jobs]
    stuck = set() if run.stuck is None else {each.number for each in run.stuck.applications}
    for each in run.applications:
        if each.job.after in stuck:
            stuck.add(each.number)
        assert (each.end is None) == (each.number in stuck)
        assert bool(each.refused) >= (each.end is None)
        assert bool(each.containers) or bool(each.refused)
    assert len(run.served) == sum(not each.refused for each in run.applications)


def check_tasks(run: Finished) -> None:
    """A job that has ended has done each of its tasks once since its AppMaster began."""
    for each in run.served:
        done = [one.task for one in each.containers[each.before :] if not one.killed]
        assert done.count(each.tasks[0][0]) == 1
        for task, count in each.tasks:
            assert done.count(task) == count
        assert len(done) == sum(count for _, count in each.tasks)
        assert not each.left
        if run.configuration.queues is None:
            assert each.decisions.accepted == len(each.containers)
            assert each.decisions.elastic == sum(one.is_elastic for one in each.containers)


def check_containers(run: Finished) -> None:
    """A node never gives more than it has, and gets all back that it gave."""
    given = [each for job in run.applications for each in job.containers]
    for node in run.nodes:
        mine = [each for each in given if each.node is node]
        for memory, cores in uses(mine):
            assert memory <= node.size.memory
            assert cores <= node.size.cores or run.configuration.queues in MEMORY_ONLY
        held = [each for each in mine if is_held(each)]
        assert node.memory + sum(each.memory for each in held) == node.size.memory
        assert node.cores + sum(each.task.cores for each in held) == node.size.cores
        assert set(node.booked) | set(node.running) == set(held)
    for each in given:
        assert each.scheduled <= (each.launched or 0) <= (each.finished or 0)


def check_memory_seconds(run: Finished) -> None:
    """What containers have used is what nodes have told of, what they have not yet, and is held."""
    given = [each for job in run.applications for each in job.containers]
    untold = [each for node in run.nodes for each in node.done]
    held = [each for each in given if is_held(each)]
    total = sum(map(used, given))
    assert run.accounts.utilised + sum(map(used, untold)) + sum(map(used, held)) == total
    assert sum(each.consumption for each in run.applications) == sum(
        each.memory for each in (*untold, *held)
    )
    columns = container_columns(run)
    assert MeasuredRun(run, columns).used == pytest.approx(total / 1000)
    booked = sum(((each.finished or 0) - each.scheduled) * each.memory for each in given)
    table = occupancy_table(run, columns)
    if len(table["time"]) < 2:
        return
    width = int(table["time"][1] - table["time"][0])
    last = int(table["time"][-1]) + width
    late = sum(
        max((each.finished or 0) - max(last, each.scheduled), 0) * each.memory for each in given
    )
    assert float(np.sum(table["memory"])) * width + late == pytest.approx(booked)
    if run.configuration.queues is not None:
        usage = queue_tables_of(run, columns)["queue_usage"]
        leaves = np.isin(usage["queue"], [each.path for each in run.queues if each.is_leaf])
        in_leaves = float(usage["memory"][leaves].sum()) * width
        assert in_leaves + late == pytest.approx(booked)


def is_held(container: Container) -> bool:
    """Whether a job that never ends has it still when the run is over."""
    return container in container.node.booked or container in container.node.running


def used(container: Container) -> int:
    """Give memory times time from its launch to its end (MB ms)."""
    assert container.launched is not None
    assert container.finished is not None
    return (container.finished - container.launched) * container.memory
