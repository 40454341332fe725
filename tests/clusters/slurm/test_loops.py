"""The compiled loops decide as the plain scheduler does, whatever jobs ask for."""

from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.slurm import run
from rebecsim.clusters.slurm.configuration import (
    Accounting,
    Association,
    BackfillParameters,
    Clock,
    Cluster,
    Gres,
    NodeSpec,
    Partition,
    PriorityParameters,
    PriorityWeights,
    ResourceLimits,
    Selection,
)
from rebecsim.clusters.slurm.jobs import Job, Request
from rebecsim.clusters.slurm.machine import Machine
from rebecsim.native.cache import is_plain

pytestmark = pytest.mark.skipif(is_plain(), reason="there are no compiled loops without Numba")

USERS = ("u0", "u1", "u2")


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    count = draw(st.integers(1, 9))
    threads = draw(st.sampled_from([1, 2]))
    gpus = draw(st.sampled_from([0, 0, 2]))
    nodes = []
    for number in range(count):
        cores = draw(st.sampled_from([1, 2, 4])) if draw(st.booleans()) else 2
        nodes.append(
            NodeSpec(
                name=f"n{number}",
                sockets=2,
                cores=cores,
                cpus=2 * cores * threads,
                memory=draw(st.sampled_from([100, 200])),
                weight=draw(st.sampled_from([1, 1, 2])),
                gres=(Gres(name="gpu", count=gpus),) if gpus and number % 3 else (),
            )
        )
    names = tuple(each.name for each in nodes)
    limits = ResourceLimits(grp_tres={"cpu": 9}) if draw(st.booleans()) else ResourceLimits()
    return Cluster(
        nodes=tuple(nodes),
        partitions=(
            Partition(name="p", nodes=names, is_default=True, time_limit=900),
            Partition(name="q", nodes=names[: count // 2 + 1], priority_tier=2, time_limit=300),
            Partition(name="x", nodes=names[count // 2 :], max_nodes=2, sharing="EXCLUSIVE"),
        ),
        selection=Selection(
            type="cons_tres",
            unit=draw(st.sampled_from(["CORE", "CPU", "SOCKET"])),
            memory=draw(st.booleans()),
        ),
        backfilling=BackfillParameters(
            bf_resolution=draw(st.sampled_from([1, 60, 300])),
            bf_window=draw(st.sampled_from([600, 86_400])),
            bf_max_job_test=draw(st.sampled_from([4, 500])),
            bf_window_linear=draw(st.sampled_from([0, 45])),
        ),
        priority=PriorityParameters(
            type="multifactor",
            weights=PriorityWeights(age=1000, fairshare=5000, job_size=100),
            calc_period=60,
        ),
        accounting=Accounting(
            associations=(
                Association(account="root"),
                Association(account="a", parent="root", limits=limits),
                *(Association(account="a", user=name) for name in USERS),
            ),
            enforce=frozenset({"associations", "limits"}) if draw(st.booleans()) else frozenset(),
        ),
        clock=Clock(release=draw(st.sampled_from([0, 1]))),
        kill_wait=draw(st.sampled_from([0, 30])),
    )


@st.composite
def logs(draw: st.DrawFn) -> list[Job]:
    jobs, submit = [], 0
    for number in range(1, draw(st.integers(2, 40))):
        submit += draw(st.sampled_from([0, 1, 20, 100]))
        nodes = draw(st.integers(1, 4))
        tasks = draw(st.integers(0, 12))
        limit = draw(st.sampled_from([60, 200, 600]))
        jobs.append(
            Job(
                number=number,
                user=draw(st.sampled_from(USERS)),
                account="a",
                partitions=draw(st.sampled_from([("p",), ("q",), ("x",), ("p", "q")])),
                submit=submit,
                run=draw(st.integers(1, limit + 40)),
                limit=limit,
                request=Request(
                    min_nodes=nodes if draw(st.booleans()) else 1,
                    max_nodes=nodes if draw(st.booleans()) else None,
                    tasks=tasks or None,
                    cpus_per_task=draw(st.sampled_from([None, None, 2, 3])),
                    tasks_per_node=draw(st.sampled_from([None, None, None, 2])),
                    memory_per_node=draw(st.sampled_from([None, 60])),
                    gres_per_node=draw(st.sampled_from([(), (), (), (("gpu", 1),)])),
                    exclusive="node" if draw(st.integers(0, 4)) == 0 else "",
                ),
            )
        )
    return jobs


def outcome(cluster: Cluster, jobs: list[Job], least: int) -> tuple[object, ...]:
    """Run jobs, with loops from so many jobs on; give all that became of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "COMPILED_FROM", least)
        found = run.run_cluster(cluster, jobs)
    return found.runs, found.left


@settings(max_examples=60, deadline=None)
@given(clusters(), logs())
def test_jobs_start_when_and_where_they_do_without_loops(cluster, jobs) -> None:
    assert outcome(cluster, jobs, 0) == outcome(cluster, jobs, len(jobs) + 1)


def test_loops_are_not_used_where_nodes_are_not_taken_by_sets_in_a_row() -> None:
    node = NodeSpec(name="n1", sockets=1, cores=2, cpus=2, memory=100)
    cluster = Cluster(nodes=(node,), partitions=(Partition(name="p", nodes=("n1",)),))
    for selection in (Selection(type="linear"), Selection(type="cons_tres", lln=True)):
        machine = Machine(replace(cluster, selection=selection))
        machine.use_loops()
        assert machine.loops is None
