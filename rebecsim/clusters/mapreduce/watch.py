"""Observes a running cluster: samples the use of devices, and detects jobs that wait for ever."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from rebecsim.clusters.kit.queued import QueuedSystem, serve
from rebecsim.clusters.mapreduce.devices import Device, Switch
from rebecsim.clusters.mapreduce.job import SECOND
from rebecsim.clusters.mapreduce.jobtracker import JobTracker
from rebecsim.clusters.mapreduce.jobtracker_state import JobTrackerState
from rebecsim.clusters.mapreduce.records import DeviceUse
from rebecsim.clusters.mapreduce.requirements import StuckJobsError
from rebecsim.clusters.mapreduce.schedulers.scheduler import TaskScheduler
from rebecsim.clusters.mapreduce.tasktracker import FailureInjector

_PATIENCE, _POLLS = 600 * SECOND, 100
"""If nothing happens for this time plus this many polls, jobs wait for ever."""


def patience_of(scheduler: TaskScheduler) -> int:
    """Return the time without events after which jobs wait for ever (microseconds)."""
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
            if system.comes_before((now, 0, 0)):
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
        """Return the use of devices up to a time."""
        devices = [each for each in self._system.rebecs if isinstance(each, Device)]
        switch = self._system.rebec("network")
        assert isinstance(switch, Switch)
        busy = [each.server.busy_until(now) for each in devices]
        return DeviceUse(now, tuple(busy[::2]), tuple(busy[1::2]), switch.network.carried(now))


def _looks(sampling: int, patience: int) -> Iterator[tuple[int, bool]]:
    """Yield the times of checks, and whether the use of devices is recorded then."""
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
    """Return the error that names the jobs that wait for ever, and why."""
    names = [run.job.name for run in state.active.values() if run.end is None]
    if state.starving:
        attempt = state.starving[0]
        why = (
            f"all replicas of a split of {attempt.run.job.name} are on nodes that have failed "
            "for good; let failures.outages end, or raise cluster.replication"
        )
    elif not any(node.works for node in state.nodes):
        why = "all nodes have failed for good; let failures.outages end"
    else:
        why = "the scheduler gives them no slots although nothing runs; check its limits"
    return StuckJobsError(names, why)
