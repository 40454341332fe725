"""Who looks at a whole cluster from outside: the use of devices, and jobs that wait for ever."""

from __future__ import annotations

from rebecsim.actors import Rebec, known_rebec
from rebecsim.clusters.mapreduce.cluster_state import MapReduceCluster
from rebecsim.clusters.mapreduce.configuration import SECOND
from rebecsim.clusters.mapreduce.desk import Desk
from rebecsim.clusters.mapreduce.devices import UNBOUNDED, Switch, at_once
from rebecsim.clusters.mapreduce.jobtracker import JobTracker
from rebecsim.clusters.mapreduce.records import DeviceUse
from rebecsim.clusters.mapreduce.requirements import StuckJobsError
from rebecsim.clusters.mapreduce.schedulers.scheduler import TaskScheduler

_PATIENCE, _POLLS = 600 * SECOND, 100
"""For how long, and beside for how many polls, nothing is ever waited for in vain."""


def patience_of(scheduler: TaskScheduler) -> int:
    """Give for how long nothing is ever waited for in vain (microseconds)."""
    return _PATIENCE + _POLLS * (scheduler.poll_interval or 0)


def uses_until(now: int, cluster: MapReduceCluster, switch: Switch) -> DeviceUse:
    """Give how much devices have been used up to a time."""
    return DeviceUse(
        now,
        tuple(node.processor.server.busy_until(now) for node in cluster.nodes),
        tuple(node.disk.server.busy_until(now) for node in cluster.nodes),
        switch.network.carried(now),
    )


class DeviceSampler(Rebec, queue_size=UNBOUNDED):
    """Looks at all devices at regular times."""

    switch: Switch = known_rebec()

    def __init__(self, cluster: MapReduceCluster, interval: int, uses: list[DeviceUse]) -> None:
        self._cluster = cluster
        self._interval = interval
        self._uses = uses
        self.look()

    @at_once
    def look(self) -> None:
        """Write down what has been used, and come back."""
        self._uses.append(uses_until(self._now, self._cluster, self.switch))
        self.look(after=self._interval)


class Watchdog(Rebec, queue_size=UNBOUNDED):
    """Ends a run in which nothing happens any more."""

    jobtracker: JobTracker = known_rebec()
    switch: Switch = known_rebec()

    def __init__(self, cluster: MapReduceCluster) -> None:
        self._cluster = cluster
        self._seen: tuple[object, ...] = ()
        self._patience = patience_of(self.jobtracker.desk.scheduler)
        self.watch(after=self._patience)

    @at_once
    def watch(self) -> None:
        """Raise StuckJobsError if nothing has happened since the last look, nor will."""
        if self.jobtracker.closed:
            return
        desk = self.jobtracker.desk
        use = uses_until(self._now, self._cluster, self.switch)
        seen, self._seen = self._seen, (desk.last, *use[1:])
        if seen == self._seen and not desk.to_come and not self._cluster.repairs:
            raise stuck(desk)
        self.watch(after=self._patience)


def stuck(desk: Desk) -> StuckJobsError:
    """Say which jobs wait for what will never happen, and why."""
    names = [run.job.name for run in desk.active.values() if run.end is None]
    if desk.starving:
        attempt = desk.starving[0]
        why = (
            f"all replicas of a split of {attempt.run.job.name} are on nodes that have failed "
            "and never work again; failures.outages should end, or files.replication be more"
        )
    elif not any(node.works for node in desk.nodes):
        why = "all nodes have failed and never work again"
    else:
        why = "the scheduler gives them no slots, though nothing runs; see its limits"
    return StuckJobsError(names, why)
