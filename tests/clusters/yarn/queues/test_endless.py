"""Clusters in which nothing goes on, with a scheduler that might still kill somebody."""

from __future__ import annotations

import pytest

from rebecsim.clusters.yarn.containers import Container
from rebecsim.clusters.yarn.launching import StuckError
from rebecsim.clusters.yarn.queue_files.reading import QueueSettings
from rebecsim.clusters.yarn.queues.capacity.scheduler import CapacityScheduler
from tests.clusters.yarn.queues.files import (
    MONITOR,
    TWO_QUEUES,
    capacity,
    fair,
    job,
    nodes,
    run,
    tasks,
)

KILLING = {"yarn.scheduler.fair.preemption": "true"}

SMALL_FAIR = """\
<allocations>
<queue name="a"><maxResources>4096 mb, 1000 vcores</maxResources><maxAMShare>-1</maxAMShare></queue>
<queue name="b"/>
</allocations>
"""

IMPATIENT = """\
<allocations>
<defaultFairSharePreemptionTimeout>{timeout}</defaultFairSharePreemptionTimeout>
<defaultFairSharePreemptionThreshold>0.8</defaultFairSharePreemptionThreshold>
<queue name="kept">
<allowPreemptionFrom>false</allowPreemptionFrom><maxAMShare>-1</maxAMShare>
</queue>
<queue name="low"><schedulingPolicy>fifo</schedulingPolicy><maxAMShare>-1</maxAMShare></queue>
<queue name="high"><weight>100</weight><maxAMShare>-1</maxAMShare></queue>
</allocations>
"""


def _small_capacity(**more: str) -> QueueSettings:
    few = {"root.a.capacity": "10", "root.a.maximum-capacity": "10", "root.b.capacity": "90"}
    return capacity({**TWO_QUEUES, **few, "maximum-am-resource-percent": "1", **more})


OBSERVED = MONITOR | {"yarn.resourcemanager.monitor.capacity.preemption.observe_only": "true"}


@pytest.mark.parametrize("count", [4, 6])  # AppMasters that have what they need, and too many
@pytest.mark.parametrize(
    "settings",
    [
        fair(SMALL_FAIR),
        fair(SMALL_FAIR, KILLING),
        _small_capacity(),
        _small_capacity(**MONITOR),
        _small_capacity(**OBSERVED),
    ],
    ids=["fair", "fair that kills", "capacities", "capacities that kill", "only observed"],
)
def test_masters_that_fill_their_queue_are_no_endless_run(
    settings: QueueSettings, count: int
) -> None:
    jobs = [job(number, "root.a", tasks(3, 5), master_memory=1024) for number in range(count)]
    with pytest.raises(StuckError, match="4 containers are held, and no task runs that could end"):
        run(settings, jobs, nodes(4))


@pytest.mark.parametrize("timeout", [40, 90])
def test_who_starves_is_waited_for_while_nothing_else_goes_on(timeout: int) -> None:
    masters = [job(1, "root.kept", tasks(2, 5), master_memory=1024)]
    masters += [job(number, "root.low", tasks(2, 5), master_memory=1024) for number in (2, 3, 4)]
    late = job(5, "root.high", tasks(1, 5), at=20, master_memory=1024)
    text = IMPATIENT.format(timeout=timeout)
    finished = run(fair(text, KILLING), [*masters, late], nodes(4, 1024))
    first, second = finished.killed
    # Hungry from 20 s on; what is chosen is killed after 15 s. Whoever has all that he asks for is
    # not looked at, so he is as hungry as before when he asks for more: he is looked at again 15 s,
    # 4 heartbeats and 10 s after the first choice.
    assert (first.chosen, first.killed) == ((20 + timeout) * 1000, (35 + timeout) * 1000)
    again = 20 + timeout + 29
    assert (second.chosen, second.killed) == (again * 1000, (again + 15) * 1000)
    assert finished.applications[4].end < min(each.end for each in finished.applications[:4])
    with pytest.raises(StuckError):
        run(fair(text), [*masters, late], nodes(4, 1024))
    half = text.replace("0.8", "0.5")  # of its share: what is missing is less than a container
    with pytest.raises(StuckError):
        run(fair(half, KILLING), [*masters, late], nodes(4, 1024))


def test_an_application_master_is_not_killed_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(scheduler: CapacityScheduler, now: int) -> list[Container]:
        held = [each.own for each in scheduler.cluster.states if each.own is not None]
        return [each for each in held if each.launched is not None and each.finished is None]

    monkeypatch.setattr(CapacityScheduler, "to_kill", always)
    with pytest.raises(StuckError, match="containers are killed for ever"):
        run(capacity({**TWO_QUEUES, **MONITOR}), [job(1, "a", tasks(2, 60))], nodes(2))
