"""What passes over the queue do with limits, preemption and what a job leaves behind."""

from dataclasses import replace

from rebecsim.clusters.slurm.configuration import (
    Accounting,
    Association,
    Clock,
    Preemption,
    PriorityParameters,
    PriorityWeights,
    Qos,
    ResourceLimits,
)
from rebecsim.clusters.slurm.files.log_files import read_log
from rebecsim.clusters.slurm.jobs import Job, Request
from rebecsim.clusters.slurm.run import run_cluster
from rebecsim.workloads import generate, write_workload
from tests.clusters.slurm.sites import cluster
from tests.clusters.slurm.test_rules import CORES, P


def test_a_job_may_start_and_be_preempted_in_one_pass(tmp_path) -> None:
    made, _ = cluster(tmp_path, CORES + "NodeName=n[1-2] CPUs=4\n" + P + "PartitionName=q Nodes=n2")
    qos = (
        Qos(name="low", priority=2),
        Qos(name="mid", priority=1),
        Qos(name="high", preempt=("low",)),
    )
    users = tuple(Association(account="a", user=each.name, default_qos=each.name) for each in qos)
    accounting = Accounting(
        associations=(Association(account="root"), Association(account="a", parent="root"), *users),
        qos=qos,
    )
    priority = PriorityParameters(type="multifactor", weights=PriorityWeights(qos=100))
    preemption = Preemption(type="qos", mode="CANCEL")
    made = replace(made, accounting=accounting, priority=priority, preemption=preemption)
    on_first = Request(tasks=4, required=("n1",))
    rows = [("low", "p", on_first), ("mid", "q", Request(tasks=1)), ("high", "p", on_first)]
    jobs = [
        Job(
            number=n,
            user=user,
            qos=user,
            partitions=(name,),
            run=20,
            limit=60,
            request=asked,
            submit=0,
        )
        for n, (user, name, asked) in enumerate(rows, 1)
    ]
    outcome = run_cluster(made, jobs)
    first, *_ = (each for each in outcome.runs if each.position == 0)
    assert (first.state, first.end - first.start) == ("PREEMPTED", 0)
    assert outcome.starts()[3] <= first.end + 3


def test_nodes_that_count_already_come_before_others_of_their_line(tmp_path) -> None:
    made, _ = cluster(tmp_path, CORES + "NodeName=n[1-3] CPUs=8\n" + P)
    two = ResourceLimits(grp_tres={"node": 2})
    accounting = Accounting(
        associations=(
            Association(account="root"),
            Association(account="a", parent="root", limits=two),
        ),
        enforce=frozenset({"limits"}),
    )
    made = replace(made, accounting=accounting)
    asked = [
        Request(tasks=1, required=("n3",)),
        Request(tasks=2),
        Request(tasks=2, required=("n2",)),
    ]
    jobs = [
        Job(number=n, account="a", submit=n, run=60, limit=60, request=each)
        for n, each in enumerate(asked, 1)
    ]
    runs = {each.position: each.nodes for each in run_cluster(made, jobs).runs}
    assert runs == {0: (2,), 1: (2,), 2: (1,)}


def test_a_job_at_a_limit_lets_a_newcomer_start_from_its_submission_on(tmp_path) -> None:
    made, _ = cluster(tmp_path, CORES + "NodeName=n1 CPUs=8\n" + P)
    limits = ResourceLimits(max_jobs=1)
    accounting = Accounting(
        associations=(
            Association(account="root"),
            Association(account="a", parent="root"),
            Association(account="a", user="ann", limits=limits),
            Association(account="a", user="bob"),
        ),
        enforce=frozenset({"limits"}),
    )
    made = replace(made, accounting=accounting, main=replace(made.main, batch_sched_delay=30))
    jobs = [
        Job(
            number=n,
            user=user,
            account="a",
            submit=5,
            run=60,
            limit=60,
            request=Request(tasks=1),
            batch=batch,
        )
        for n, (user, batch) in enumerate([("ann", False), ("ann", True), ("bob", False)], 1)
    ]
    assert run_cluster(made, jobs).starts()[3] == 5


def test_a_requeued_job_waits_from_when_its_nodes_are_back(tmp_path) -> None:
    tiers = "PartitionName=p Nodes=ALL Default=YES\nPartitionName=q Nodes=ALL PriorityTier=2\n"
    made, _ = cluster(tmp_path, CORES + "NodeName=n1 CPUs=8\n" + tiers)
    preemption = Preemption(type="partition_prio", mode="REQUEUE")
    made = replace(made, preemption=preemption, clock=Clock(release=5))
    whole = Request(tasks=8)
    jobs = [
        Job(number=1, submit=0, run=50, limit=60, request=whole),
        Job(number=2, submit=10, run=20, limit=60, request=whole, partitions=("q",)),
    ]
    first, again = (each for each in run_cluster(made, jobs).runs if each.position == 0)
    assert again.start >= first.end + 5 + 121


def test_a_table_that_rebecsim_wrote_is_replayed(tmp_path) -> None:
    made, _ = cluster(tmp_path, CORES + "NodeName=n[1-2] CPUs=8\n" + P)
    drawn = generate(30, 16, seed=1, users=2)
    write_workload(drawn, tmp_path / "w.csv")
    read = read_log(tmp_path / "w.csv", made)
    assert [job.number for job in read.jobs] == drawn.job.tolist()
    assert [job.request.tasks for job in read.jobs] == drawn.processors.tolist()
    assert len(run_cluster(made, read.jobs).starts()) == 30
