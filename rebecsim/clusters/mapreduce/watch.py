"""A run of a cluster, watched from outside: the use of devices, and jobs that wait for ever."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from rebecsim.clusters.kit.queued import QueuedSystem, serve
from rebecsim.clusters.mapreduce.configuration import SECOND
from rebecsim.clusters.mapreduce.devices import Device, Switch
from rebecsim.clusters.mapreduce.failures import FailureInjector
from rebecsim.clusters.mapreduce.jobtracker import JobTracker
from rebecsim.clusters.mapreduce.jobtracker_state import JobTrackerState
from rebecsim.clusters.mapreduce.records import DeviceUse
from rebecsim.clusters.mapreduce.requirements import StuckJobsError
from rebecsim.clusters.mapreduce.schedulers.scheduler import TaskScheduler

_PATIENCE, _POLLS = 600 * SECOND, 100
"""For how long, and beside for how many polls, nothing is ever waited for in vain."""


def patience_of(scheduler: TaskScheduler) -> int:
    """Give for how long nothing is ever waited for in vain (microseconds)."""
    return _PATIENCE + _POLLS * (scheduler.poll_interval or 0)


class WatchedRun:
    """A cluster whose messages are served until all jobs have ended.

    Attributes:
        uses: of devices, at regular times and at the end.
        served: how many messages were.
        end: when all jobs had ended (microseconds).
    """

    def __init__(self, system: QueuedSystem, sampling: int) -> None:
        """`sampling` is how often the use of devices is written down (microseconds); 0: never.

        Raises StuckJobsError when nothing happens any more and jobs are left.
        """
        jobtracker, failures = system.rebec("jobtracker"), system.rebec("failures")
        assert isinstance(jobtracker, JobTracker)
        assert isinstance(failures, FailureInjector)
        self.uses: list[DeviceUse] = []
        self.served = 0
        self._system = system
        seen: tuple[object, ...] = ()
        for now, is_sampled in _looks(sampling, patience_of(jobtracker.state.scheduler)):
            self.served += serve(system, jobtracker, (now, 0, 0))
            if jobtracker.closed:
                break
            if (system.front or system.moments) and system.comes_before((now, 0, 0)):
                raise stuck(jobtracker.state)  # time stands still
            use = self._use(now)
            if is_sampled:
                self.uses.append(use)
                continue
            before, seen = seen, (jobtracker.state.last, *use[1:])
            if seen == before and not jobtracker.state.to_come and not failures.repairs:
                raise stuck(jobtracker.state)
        self.end = jobtracker._now
        self.uses.append(self._use(self.end))

    def _use(self, now: int) -> DeviceUse:
        """Give how much devices have been used up to a time."""
        devices = [each for each in self._system.rebecs if isinstance(each, Device)]
        switch = self._system.rebec("network")
        assert isinstance(switch, Switch)
        busy = [each.server.busy_until(now) for each in devices]
        return DeviceUse(now, tuple(busy[::2]), tuple(busy[1::2]), switch.network.carried(now))


def _looks(sampling: int, patience: int) -> Iterator[tuple[int, bool]]:
    """Give the times to look at a run, and whether the use of devices is written down then."""
    watches, samples = count(patience, patience), count(0, sampling or patience)
    watch, sample = next(watches), next(samples)
    while True:
        if sampling and sample <= watch:
            yield sample, True
            sample = next(samples)
        else:
            yield watch, False
            watch = next(watches)


def stuck(state: JobTrackerState) -> StuckJobsError:
    """Say which jobs wait for what will never happen, and why."""
    names = [run.job.name for run in state.active.values() if run.end is None]
    if state.starving:
        attempt = state.starving[0]
        why = (
            f"all replicas of a split of {attempt.run.job.name} are on nodes that have failed "
            "and never work again; failures.outages should end, or files.replication be more"
        )
    elif not any(node.works for node in state.nodes):
        why = "all nodes have failed and never work again"
    else:
        why = "the scheduler gives them no slots, though nothing runs; see its limits"
    return StuckJobsError(names, why)
