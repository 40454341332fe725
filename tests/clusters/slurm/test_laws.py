"""Laws of the simulated Slurm: nothing is over-used, and backfill delays nobody who comes first."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from hypothesis import given, settings, strategies as st

from rebecsim.clusters.slurm.configuration import (
    Accounting,
    Association,
    BackfillParameters,
    Cluster,
    NodeSpec,
    Partition,
    PriorityParameters,
    PriorityWeights,
    Qos,
    Reservation,
    ResourceLimits,
    Selection,
)
from rebecsim.clusters.slurm.jobs import Job, Request
from rebecsim.clusters.slurm.rebecs import Controller
from rebecsim.clusters.slurm.run import run_cluster
from rebecsim.clusters.slurm.small import small_cluster
from rebecsim.exploration import Checks, explore
from rebecsim.studies.small import Cut
from tests.every_order import ends_of_every_order, explored_ends

NAMES = ("n1", "n2", "n3")
CPUS = 4

CLUSTER = Cluster(
    nodes=tuple(NodeSpec(name=name, sockets=2, cores=2, cpus=CPUS, memory=100) for name in NAMES),
    partitions=(Partition(name="p", nodes=NAMES, is_default=True, time_limit=600),),
    selection=Selection(type="cons_tres", unit="CORE"),
    backfilling=BackfillParameters(bf_resolution=1),
)

JOBS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 120), st.integers(1, 3), st.integers(0, 4 * CPUS)),
    min_size=1,
    max_size=12,
)


def jobs_of(rows: list[tuple[int, int, int, int]]) -> list[Job]:
    """Make jobs of (submission, run time, nodes, tasks), of two users in turn."""
    rows = sorted(rows)
    found = []
    for number, (submit, run, nodes, tasks) in enumerate(rows, 1):
        tasks = min(max(tasks, nodes), nodes * CPUS)
        request = Request(min_nodes=nodes, max_nodes=nodes, tasks=tasks)
        found.append(
            Job(
                number=number,
                user=f"u{number % 2}",
                account="a",
                submit=submit,
                run=run,
                limit=120,
                request=request,
            )
        )
    return found


def most_in_use(outcome) -> dict[int, int]:
    """Give the most CPUs in use at once, by node."""
    changes = defaultdict(list)
    for run in outcome.runs:
        for node, cpus in zip(run.nodes, run.cpus, strict=True):
            changes[node] += [(run.start, 1, cpus), (run.end, 0, -cpus)]
    found = {}
    for node, each in changes.items():
        level = most = 0
        for _, _, change in sorted(each):
            level += change
            most = max(most, level)
        found[node] = most
    return found


@settings(max_examples=15, deadline=None)
@given(JOBS)
def test_every_job_runs_once_on_free_cores(rows) -> None:
    jobs = jobs_of(rows)
    outcome = run_cluster(CLUSTER, jobs)
    assert not outcome.left
    assert sorted(each.position for each in outcome.runs) == list(range(len(jobs)))
    assert all(most <= CPUS for most in most_in_use(outcome).values())
    for each in outcome.runs:
        job = jobs[each.position]
        assert each.start >= job.submit
        assert each.end - each.start == job.run
        assert len(each.nodes) == job.request.min_nodes
        assert sum(each.cpus) >= job.request.tasks


@settings(max_examples=15, deadline=None)
@given(JOBS)
def test_limits_of_users_are_never_exceeded(rows) -> None:
    users = tuple(
        Association(account="a", user=name, limits=ResourceLimits(max_jobs=2))
        for name in ("u0", "u1")
    )
    accounting = Accounting(
        associations=(
            Association(account="root"),
            Association(account="a", parent="root", limits=ResourceLimits(grp_tres={"cpu": 8})),
            *users,
        ),
        enforce=frozenset({"associations", "limits"}),
    )
    jobs = jobs_of(rows)
    outcome = run_cluster(replace(CLUSTER, accounting=accounting), jobs)
    for each in outcome.runs:
        now = each.start
        running = [one for one in outcome.runs if one.start <= now < one.end and one.start >= 0]
        assert sum(sum(one.cpus) for one in running) <= 8
        user = jobs[each.position].user
        assert sum(jobs[one.position].user == user for one in running) <= 2
    assert set(outcome.left.values()) <= {"AssocGrpCpuLimit"}


@settings(max_examples=15, deadline=None)
@given(JOBS, st.integers(0, 100))
def test_jobs_are_not_planned_into_a_reservation(rows, start) -> None:
    reservation = Reservation(name="r", start=start, end=start + 60, nodes=("n2",), users=("root",))
    outcome = run_cluster(replace(CLUSTER, reservations=(reservation,)), jobs_of(rows))
    for each in outcome.runs:
        if 1 in each.nodes:
            assert each.start >= reservation.end or each.start + 120 <= reservation.start
    assert not outcome.left


@settings(max_examples=15, deadline=None)
@given(JOBS, st.sampled_from([1, 60]))
def test_backfill_does_not_delay_the_first_job(rows, resolution) -> None:
    """Later jobs change nothing for the first that waits, when all end at their limits."""
    jobs = [
        replace(each, run=120, submit=0 if n < 6 else 5) for n, each in enumerate(jobs_of(rows))
    ]
    parameters = BackfillParameters(bf_resolution=resolution)
    cluster = replace(CLUSTER, backfilling=parameters)
    with_all = run_cluster(cluster, jobs).starts()
    alone = run_cluster(cluster, jobs[:6]).starts()
    waiting = [number for number in sorted(alone) if alone[number] > 5]
    if waiting:
        assert with_all[waiting[0]] <= alone[waiting[0]] + 60 + resolution  # a pass, a slot


@settings(max_examples=25, deadline=None)
@given(JOBS, st.integers(1, 11))
def test_priorities_know_nothing_of_the_future(rows, known) -> None:
    """What happens until a time is the same whatever is submitted after it."""
    weights = PriorityWeights(age=1000, job_size=5000, fairshare=2000)
    users = tuple(Association(account="a", user=name) for name in ("u0", "u1"))
    cluster = replace(
        CLUSTER,
        priority=PriorityParameters(type="multifactor", weights=weights, calc_period=30),
        accounting=Accounting(
            associations=(
                Association(account="root"),
                Association(account="a", parent="root"),
                *users,
            )
        ),
    )
    jobs = jobs_of([(5 * submit, *rest) for submit, *rest in rows])
    now = jobs[known].submit if known < len(jobs) else jobs[-1].submit + 1
    part = [job for job in jobs if job.submit < now] or jobs[:1]
    starts = [run_cluster(cluster, each).starts() for each in (jobs, part)]
    before = [{n: start for n, start in each.items() if start < now} for each in starts]
    assert before[0] == before[1]


@settings(max_examples=15, deadline=None)
@given(JOBS, st.lists(st.sampled_from(["", "node"]), min_size=12, max_size=12))
def test_memory_is_never_over_used_and_whole_nodes_are_not_shared(rows, exclusive) -> None:
    jobs = [
        replace(
            job,
            request=replace(job.request, memory_per_node=30 + job.run % 40, exclusive=exclusive[n]),
        )
        for n, job in enumerate(jobs_of(rows))
    ]
    cluster = replace(CLUSTER, selection=replace(CLUSTER.selection, memory=True))
    outcome = run_cluster(cluster, jobs)
    assert not outcome.left
    for each in outcome.runs:
        for node in each.nodes:
            there = [
                jobs[one.position].request
                for one in outcome.runs
                if node in one.nodes and one.start <= each.start < one.end
            ]
            assert sum(request.memory_per_node for request in there) <= 100
            assert len(there) <= 1 or not any(request.exclusive for request in there)


@settings(max_examples=15, deadline=None)
@given(JOBS)
def test_limits_of_a_qos_are_never_exceeded(rows) -> None:
    limits = ResourceLimits(grp_jobs=3, max_tres_per_user={"cpu": 6}, max_wall=120)
    accounting = Accounting(
        associations=(
            Association(account="root"),
            Association(account="a", parent="root"),
            *(Association(account="a", user=name) for name in ("u0", "u1")),
        ),
        qos=(Qos(name="normal", limits=limits),),
        enforce=frozenset({"associations", "limits", "qos"}),
    )
    jobs = jobs_of(rows)
    outcome = run_cluster(replace(CLUSTER, accounting=accounting), jobs)
    for each in outcome.runs:
        running = [one for one in outcome.runs if 0 <= one.start <= each.start < one.end]
        user = jobs[each.position].user
        own = [one for one in running if jobs[one.position].user == user]
        assert len(running) <= 3
        assert sum(sum(one.cpus) for one in own) <= 6
    assert set(outcome.left.values()) <= {"QOSMaxCpuPerUserLimit"}


SMALL = [(0, 10, 2, 8), (0, 10, 1, 4), (1, 5, 2, 6)]


def test_a_small_cluster_keeps_its_promises_in_any_order() -> None:
    small = small_cluster(CLUSTER, jobs_of(SMALL), "slurm.conf", Cut(jobs=3, nodes=2))
    found = explore(small.model, checks=Checks(terminal=(small.done,)))
    assert found.verdict == "satisfied"
    assert explored_ends(small.model, small.starts) == set(
        ends_of_every_order(small.model, small.starts)
    )


def test_a_controller_that_never_asks_for_a_pass_leaves_jobs_waiting(monkeypatch) -> None:
    monkeypatch.setattr(Controller, "_after_release", lambda self: None)
    monkeypatch.setattr(Controller, "_plan", lambda self: None)
    small = small_cluster(CLUSTER, jobs_of(SMALL), "slurm.conf", Cut(jobs=3, nodes=2))
    assert explore(small.model, checks=Checks(terminal=(small.done,))).verdict == "deadlock"
