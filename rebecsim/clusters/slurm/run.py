"""Run the jobs of a log on a cluster under Slurm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebecsim.clusters.kit.queued import NeverClosing, QueuedSystem, rarely_collecting, serve
from rebecsim.clusters.slurm.accounts import Accounts
from rebecsim.clusters.slurm.configuration import Cluster
from rebecsim.clusters.slurm.eligibility import JobIndex
from rebecsim.clusters.slurm.jobs import Job
from rebecsim.clusters.slurm.machine import Machine
from rebecsim.clusters.slurm.rebecs import CONTROLLER, Controller, cluster_model
from rebecsim.clusters.slurm.runs import JobRun, Journal
from rebecsim.clusters.slurm.scheduler import SlurmScheduler


@dataclass(frozen=True, eq=False)
class ReplayedJobs:
    """What became of the jobs of a run.

    Attributes:
        jobs: in the order of submission.
        names: of the nodes, by number.
        places: names of the partitions, by number.
        runs: stretches in which jobs ran, in the order of their ends, and jobs that never did.
        left: numbers of the jobs that still wait when nothing can happen any more, and why.
        journal: why watched jobs waited.
    """

    jobs: Sequence[Job]
    names: tuple[str, ...]
    places: tuple[str, ...]
    runs: list[JobRun]
    left: dict[int, str]
    journal: Journal

    def starts(self) -> dict[int, int]:
        """Give when each job started last, seconds, by its number."""
        return {
            self.jobs[each.position].number: each.start for each in self.runs if each.start >= 0
        }


COMPILED_FROM = 5_000
"""Jobs from which on it pays to load compiled loops (1 s), and to compile them once (7 s)."""


def make_scheduler(
    cluster: Cluster, jobs: Sequence[Job], journal: Journal | None = None
) -> SlurmScheduler:
    """Make the state of a controller that has not heard of any job yet."""
    machine = Machine(cluster)
    if len(jobs) >= COMPILED_FROM:
        machine.use_loops()
    return SlurmScheduler(machine, Accounts(cluster.accounting), JobIndex(jobs), journal)


def run_cluster(
    cluster: Cluster, jobs: Sequence[Job], journal: Journal | None = None
) -> ReplayedJobs:
    """Run jobs, which come in the order of submission, until nothing can happen any more."""
    scheduler = make_scheduler(cluster, jobs, journal)
    system = QueuedSystem(cluster_model(jobs, scheduler))
    with rarely_collecting():
        serve(system, NeverClosing())
    controller = system.rebec(CONTROLLER)
    assert isinstance(controller, Controller)
    left = {each.record.number: each.record.reason for each in scheduler.queue}
    left |= {number: each.reason for number, each in scheduler.waiting.asleep.items()}
    return ReplayedJobs(
        jobs,
        scheduler.machine.names,
        tuple(scheduler.machine.places),
        scheduler.runs,
        left,
        scheduler.journal,
    )
