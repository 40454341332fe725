"""Batch clusters cut small: explored, they keep their promises; a scheduler at fault does not."""

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.batch import (
    BATCH_POLICIES,
    Backfilling,
    BatchPolicy,
    EasyBackfilling,
    NodeGroup,
    machine_of,
    run_schedule,
)
from rebecsim.clusters.batch.policies.orders import BySubmission
from rebecsim.clusters.batch.small import small_cluster
from rebecsim.errors import UserError
from rebecsim.exploration import Checks, explore
from rebecsim.studies.study import Cut, SmallCluster
from rebecsim.workloads import Workload
from tests.every_order import ends_of_every_order, explored_ends
from tests.examples import dear

PROCESSORS = 4


def workload_of(*jobs: tuple[int, int, int]) -> Workload:
    """Make jobs of (submission, run time, processors), of two users in turn."""
    submit, run, processors = zip(*jobs, strict=True)
    return Workload.of(
        submit=submit,
        run=run,
        processors=processors,
        requested_time=[each + 1 for each in run],
        user=[number % 2 for number in range(len(jobs))],
        group=[0] * len(jobs),
        queue=[0] * len(jobs),
        capacity=PROCESSORS,
    )


WAITING = workload_of((0, 10, 2), (1, 10, 4), (1, 30, 2), (2, 3, 1))
"""The second job needs the whole machine; the third would fit beside the first, for too long."""


def explored(cluster: SmallCluster):
    return explore(cluster.model, checks=Checks(terminal=(cluster.done,)))


def starts_of(cluster: SmallCluster) -> set[tuple[int, ...]]:
    return explored_ends(cluster.model, cluster.starts)


class Greedy(EasyBackfilling):
    """EASY backfilling that forgets what the head of the queue will need."""

    def _reservation(self):
        shadow, beside, _ = super()._reservation()
        return shadow, beside, self.machine.processors


class Overfull(Backfilling):
    """Starts whatever waits."""

    def schedule(self, now):
        started = list(self.waiting)
        for job in started:
            self.start(job, job.processors, now)
        return started


class Idle(Backfilling):
    """Starts nothing."""

    def schedule(self, now):
        return []


def policy(backfilling: type[Backfilling]) -> BatchPolicy:
    return BatchPolicy("FAULTY", "Faulty", "with a planted fault", BySubmission, backfilling)


@pytest.mark.parametrize("name", BATCH_POLICIES)
def test_every_policy_keeps_its_promises(name: str) -> None:
    result = explored(small_cluster(WAITING, None, name, cut=Cut(4, PROCESSORS)))
    assert result.verdict == "satisfied"


@pytest.mark.parametrize(
    ("backfilling", "verdict", "text"),
    [
        (Greedy, "assertion failed", "job 2 had a reservation at 11 s, and now has it at 32 s"),
        (Overfull, "assertion failed", "8 of 4 processors are taken"),
        (Idle, "deadlock", ""),
    ],
)
def test_a_planted_fault_is_found(backfilling, verdict, text) -> None:
    result = explored(small_cluster(WAITING, None, policy(backfilling), cut=Cut(4, PROCESSORS)))
    assert result.verdict == verdict
    assert result.path is not None
    assert result.path.breach is not None
    assert text in result.path.breach.text


def test_a_job_that_is_heard_of_first_overtakes_one_of_the_same_second() -> None:
    cluster = small_cluster(WAITING, None, "EASY", cut=Cut(3, PROCESSORS))
    assert starts_of(cluster) == {(0, 10, 20), (0, 31, 1)}


jobs = st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(1, PROCESSORS))


@settings(max_examples=dear(15))
@given(
    st.lists(jobs, min_size=1, max_size=4),
    st.sampled_from(sorted(BATCH_POLICIES)),
    st.booleans(),
)
def test_brute_force_finds_the_same_starts(given_jobs, name, on_nodes) -> None:
    workload = workload_of(*sorted(given_jobs))
    machine = machine_of(NodeGroup(2, 2)) if on_nodes else None
    nodes = 2 if on_nodes else PROCESSORS
    cluster = small_cluster(workload, machine, name, cut=Cut(len(workload), nodes))
    assert explored(cluster).verdict == "satisfied"
    found = starts_of(cluster)
    assert found == set(ends_of_every_order(cluster.model, cluster.starts))
    # A simulation has one of these orders.
    first = int(workload.submit[0])
    assert tuple((run_schedule(workload, machine, name).start - first).tolist()) in found


def test_jobs_keep_their_share_of_a_pool() -> None:
    cluster = small_cluster(WAITING, None, "FCFS", cut=Cut(2, 2))
    assert cluster.what == "2 jobs on 2 processors"
    assert starts_of(cluster) == {(0, 10)}


def test_a_job_that_does_not_fit_on_the_nodes_left_is_refused() -> None:
    machine = machine_of(NodeGroup(2, 2))
    with pytest.raises(UserError, match="job 2 takes 4 processors and does not fit on the 1 node"):
        small_cluster(WAITING, machine, "FCFS", cut=Cut(2, 1))
