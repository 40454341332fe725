"""Parts of heterogeneous jobs start together, and only in backfill."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.slurm.backfill import backfill
from rebecsim.clusters.slurm.configuration import (
    Accounting,
    Association,
    BackfillParameters,
    ResourceLimits,
)
from rebecsim.clusters.slurm.heterogeneous import HetPlan
from rebecsim.clusters.slurm.jobs import Extras, HetPart, Job, Request
from rebecsim.clusters.slurm.main_pass import main_pass
from rebecsim.clusters.slurm.run import make_scheduler, run_cluster
from tests.clusters.slurm.sites import cluster
from tests.clusters.slurm.test_laws import CLUSTER, NAMES
from tests.clusters.slurm.test_rules import CORES, FOUR, P, Q

WHOLE = Request(min_nodes=1, max_nodes=1, tasks=8)


def part(number: int, of: int, request: Request = WHOLE, **given) -> Job:
    het = HetPart(of, number - of)
    about = {"user": "ann", "account": "a", "submit": 0, "run": 20, "limit": 60} | given
    return Job(number=number, request=request, extras=Extras(het=het), **about)


def made(folder: Path, more: str = "", **options):
    text = CORES.replace("batch_sched_delay=1", "batch_sched_delay=1" + more) + FOUR + P + Q + "\n"
    return replace(cluster(folder, text)[0], **options)


def scheduler_of(site, jobs: list[Job]):
    scheduler = make_scheduler(site, tuple(jobs))
    for index, job in enumerate(jobs):
        record, refusal = scheduler.record(job, index, 0)
        assert not refusal
        scheduler.records[job.number] = record
        scheduler.submit(record, 0)
    return scheduler


def test_parts_start_together_on_different_nodes(tmp_path: Path) -> None:
    site = made(tmp_path)
    busy = Job(number=1, submit=0, run=30, limit=60, request=Request(min_nodes=3, tasks=24))
    jobs = [busy, part(2, 2, submit=1), part(3, 2, submit=1)]
    outcome = run_cluster(site, jobs)
    assert outcome.starts()[2] == outcome.starts()[3] == 30
    nodes = [set(each.nodes) for each in outcome.runs if each.position]
    assert not nodes[0] & nodes[1]
    assert {each.by for each in outcome.runs if each.position} == {"SchedBackfill"}


def test_the_main_scheduler_starts_no_part_and_nothing_behind_one(tmp_path: Path) -> None:
    later = Job(number=3, submit=0, run=20, limit=60, request=WHOLE)
    scheduler = scheduler_of(made(tmp_path), [part(1, 1), part(2, 1), later])
    assert not main_pass(scheduler, 1, full=True).jobs
    assert [each.number for each in backfill(scheduler, 1).jobs] == [3, 1, 2]


def test_parts_may_start_at_once_instead_of_at_the_end_of_a_cycle(tmp_path: Path) -> None:
    later = Job(number=3, submit=0, run=20, limit=60, request=WHOLE)
    site = made(tmp_path, ",bf_hetjob_immediate")
    scheduler = scheduler_of(site, [part(1, 1), part(2, 1), later])
    assert [each.number for each in backfill(scheduler, 1).jobs] == [1, 2, 3]


@pytest.mark.parametrize(("most", "started"), [(1, []), (2, [1, 2])])
def test_limits_let_all_parts_start_or_none(tmp_path: Path, most: int, started: list[int]) -> None:
    limits = ResourceLimits(max_jobs=most)
    users = (
        Association(account="root"),
        Association(account="a", parent="root"),
        Association(account="a", user="ann", limits=limits),
    )
    enforced = Accounting(associations=users, enforce=frozenset({"associations", "limits"}))
    scheduler = scheduler_of(made(tmp_path, accounting=enforced), [part(1, 1), part(2, 1)])
    assert [each.number for each in backfill(scheduler, 1).jobs] == started
    groups = scheduler.limits.groups(scheduler.records[1], "")
    assert {each.jobs for each in groups} == {len(started)}


@pytest.mark.parametrize(("total", "started"), [(1, []), (2, [1, 2])])
def test_licences_let_all_parts_start_or_none(
    tmp_path: Path, total: int, started: list[int]
) -> None:
    asked = replace(WHOLE, licenses=(("a", 1),))
    site = made(tmp_path, licenses={"a": total})
    scheduler = scheduler_of(site, [part(1, 1, asked), part(2, 1, asked)])
    assert [each.number for each in backfill(scheduler, 1).jobs] == started


def test_parts_that_have_started_are_put_back_if_another_does_not_start(tmp_path: Path) -> None:
    scheduler = scheduler_of(made(tmp_path), [part(1, 1), part(2, 1)])
    cycle = backfill(scheduler, 1)
    assert [each.number for each in cycle.jobs] == [1, 2]
    plan = HetPlan(scheduler, 1)
    for record in cycle.jobs:
        plan.look_at(record.entry)
        plan.plan(record.entry, 1, scheduler.occupancy.given[record.number], 60)
    victims = plan.start(1, lambda entry, nodes, limit: entry.record.number == 1)
    assert [(each.record.number, each.mode, each.again) for each in victims] == [
        (1, "REQUEUE", True)
    ]
    assert scheduler.records[1].state == "COMPLETING"


def test_jobs_that_would_block_each_other_in_two_partitions_are_not_planned(
    tmp_path: Path,
) -> None:
    jobs = [
        part(n, of, partitions=(name,)) for n, of, name in [(1, 1, "p"), (2, 1, "q"), (3, 3, "p")]
    ]
    jobs.append(part(4, 3, partitions=("q",)))
    scheduler = scheduler_of(made(tmp_path), jobs)
    entries = {number: record.entries[0] for number, record in scheduler.records.items()}
    plan = HetPlan(scheduler, 0)
    assert not plan.is_deadlock(entries[1], 10)  # the first job is earlier in p
    assert not plan.is_deadlock(entries[3], 20)
    assert not plan.is_deadlock(entries[4], 5)  # and later in q
    assert not plan.is_deadlock(entries[2], 30)
    other = HetPlan(scheduler, 0)
    assert not other.is_deadlock(entries[1], 20)
    assert not other.is_deadlock(entries[2], 5)
    assert not other.is_deadlock(entries[4], 1)
    assert not other.is_deadlock(entries[3], 30)
    assert other.is_deadlock(entries[1], 25)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 60), st.integers(1, 120), st.integers(1, 3), st.integers(1, 4)),
        min_size=1,
        max_size=8,
    ),
    st.booleans(),
)
def test_all_parts_of_a_job_start_in_one_second(rows, immediate: bool) -> None:
    parameters = BackfillParameters(bf_resolution=1, bf_hetjob_immediate=immediate)
    jobs: list[Job] = []
    for submit, run, parts, tasks in sorted(rows):
        first = len(jobs) + 1
        request = Request(min_nodes=1, max_nodes=1, tasks=tasks)
        for number in range(first, first + parts):
            job = part(number, first, request, submit=submit, run=run, limit=120)
            jobs.append(job if parts > 1 else replace(job, extras=Extras()))
    outcome = run_cluster(replace(CLUSTER, backfilling=parameters), jobs)
    assert not outcome.left
    begun = defaultdict(set)
    where = defaultdict(list)
    for each in outcome.runs:
        het = jobs[each.position].extras.het
        if het is not None:
            assert each.by == "SchedBackfill"
            begun[het.job].add(each.start)
            where[het.job] += each.nodes
    assert all(len(starts) == 1 for starts in begun.values())
    assert all(len(set(nodes)) == len(nodes) <= len(NAMES) for nodes in where.values())
