"""The rules of Slurm that were seen on the real one, by what they are about, in small examples."""

# ruff: noqa: E501 - lines of files stand as they are

from dataclasses import replace

import pytest

from rebecsim.clusters.slurm.configuration import Clock, Reservation
from rebecsim.clusters.slurm.files.hostlists import compress
from rebecsim.clusters.slurm.files.lines import SlurmFileError
from rebecsim.clusters.slurm.files.log_files import read_log
from rebecsim.clusters.slurm.files.site import SiteFiles
from rebecsim.clusters.slurm.jobs import Extras, Job, Request
from rebecsim.clusters.slurm.run import run_cluster
from tests.clusters.slurm.sites import cluster, log, row

CORES = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nKillWait=1\nSchedulerParameters=bf_interval=1,bf_resolution=1,sched_interval=1,batch_sched_delay=1\n"
LINEAR = CORES.replace("cons_tres", "linear").replace("SelectTypeParameters=CR_Core\n", "")
FOUR = "NodeName=n[1-4] CPUs=8\n"
P = "PartitionName=p Nodes=ALL Default=YES\n"
Q = "PartitionName=q Nodes=n[1-2]"
PRIO = "PreemptType=preempt/partition_prio\n"
TIERS = CORES + PRIO + FOUR + P + Q + " PriorityTier=5\n"
GPUS = CORES + "GresTypes=gpu\n"
ZERO = 8 * 3600


def clock(seconds: int) -> str:
    at = ZERO + seconds
    return f"2026-03-02T{at // 3600:02}:{at % 3600 // 60:02}:{at % 60:02}"


def times_of(submit: int, run: int) -> dict[str, str]:
    """Give the cells of the times of a job that started at its submission."""
    begun = clock(submit)
    return {"Submit": begun, "Eligible": begun, "Start": begun, "End": clock(submit + run)}


def played(folder, conf: str, *jobs: tuple[int, int, str]) -> list[str]:
    """Give start, s, and nodes of jobs of (submission, run time, command line), in their order."""
    rows = []
    for number, (submit, run, line) in enumerate(jobs, 1):
        features = line.split("-C ")[1].split()[0] if "-C " in line else ""
        user, _, line = line.rpartition(": ")
        about = {"User": user or "ann", "TimelimitRaw": "1"}
        asked = {"Constraints": features, "ReqTRES": "cpu=1", "AllocTRES": "", "SubmitLine": line}
        rows.append(row(number, **times_of(submit, run), **about, **asked))
    made, _ = cluster(folder, conf)
    read = log(folder, *rows, cluster=made)
    outcome = run_cluster(made, read.jobs)
    first = read.jobs[0].submit
    found = {}
    for each in outcome.runs:
        nodes = compress(outcome.names[n] for n in each.nodes)
        found.setdefault(outcome.jobs[each.position].number, f"{each.start - first} {nodes}")
    return [found.get(number, "never") for number in range(1, len(jobs) + 1)]


@pytest.mark.parametrize(
    ("conf", "jobs", "expected"),
    [
        pytest.param(
            CORES + "SchedulerType=sched/builtin\n" + FOUR + P,
            [(0, 20, "salloc -N3"), (1, 5, "salloc -N4 --exclusive"), (2, 5, "sbatch -N1 x")],
            ["0 n[1-3]", "20 n[1-4]", "25 n1"],
            id="2-builtin-looks-past-no-blocked-job",
        ),
        pytest.param(
            CORES + FOUR + P + Q + "\n",
            [
                (0, 20, "salloc -n24 -N3"),
                (1, 5, "sbatch -N4 -n32 x"),
                (2, 5, "sbatch -N1 -n8 -t 1 x"),
            ],
            ["0 n[1-3]", "20 n[1-4]", "25 n1"],
            id="4-backfill-keeps-whole-nodes",
        ),
        pytest.param(
            CORES + FOUR + P,
            [(0, 20, "salloc -N4 -n31"), (1, 5, "salloc -N2 -n2"), (2, 9, "salloc -n1 -N1")],
            ["0 n[1-4]", "20 n[1-2]", "2 n4"],
            id="2-a-newcomer-starts-at-submission-as-fifo-is-lower",
        ),
        pytest.param(
            CORES + FOUR + P,
            [(0, 9, "salloc -N2 -n6"), (1, 9, "salloc -N1 -n3"), (2, 9, "salloc -N1 -n7")],
            ["0 n[1-2]", "1 n1", "2 n2"],
            id="5-tasks-are-dealt-one-to-each-node-first",
        ),
        pytest.param(
            CORES + "NodeName=n1 CPUs=4\nNodeName=n[2-3] CPUs=8\n" + P,
            [(0, 9, "salloc -N2 -n16")],
            ["0 n[2-3]"],
            id="5-nodes-with-few-cpus-are-left-out",
        ),
        pytest.param(
            CORES + "NodeName=n[1-2] CPUs=8 Weight=5\nNodeName=n3 CPUs=4\n" + P,
            [(0, 9, "salloc -n6")],
            ["0 n[1,3]"],
            id="5-light-nodes-come-first",
        ),
        pytest.param(
            CORES.replace("CR_Core", "CR_Core,CR_LLN") + FOUR + P,
            [(0, 9, "salloc -n1"), (1, 9, "salloc -n1"), (2, 9, "salloc -n2 -N1")],
            ["0 n1", "1 n2", "2 n3"],
            id="5-the-least-loaded-node",
        ),
        pytest.param(
            CORES + "NodeName=n[1-3] Sockets=2 CoresPerSocket=4\n" + P,
            [(0, 9, "salloc -n4 -c3"), (1, 9, "salloc -n5 -N1")],
            ["0 n[1-2]", "1 n2"],
            id="5-a-task-of-three-takes-what-is-left-of-a-node",
        ),
        pytest.param(
            LINEAR + "NodeName=n[1-2] CPUs=4\nNodeName=n[3-5] CPUs=8 Weight=2\n" + P,
            [(0, 9, "salloc -N2"), (1, 9, "salloc -n16 -N2")],
            ["0 n[1-2]", "1 n[3-4]"],
            id="5-linear-takes-light-nodes-first",
        ),
        pytest.param(
            LINEAR + "NodeName=n[1-3] CPUs=4\nNodeName=n[4-5] CPUs=8\n" + P,
            [(0, 9, "salloc -n16 -N2")],
            ["0 n[4-5]"],
            id="5-linear-takes-large-nodes-if-small-ones-are-too-few",
        ),
        pytest.param(
            GPUS + "NodeName=n[1-2] CPUs=8 Gres=gpu:2\nNodeName=n3 CPUs=8 Gres=gpu:4\n" + P,
            [(0, 9, "salloc -n1 --gpus=4"), (1, 9, "salloc -n1 --gpus=1")],
            ["0 n3", "1 n1"],
            id="5-a-job-goes-where-more-of-its-gpus-are",
        ),
        pytest.param(
            GPUS + "NodeName=n[1-2] CPUs=8 Gres=gpu:4\n" + P,
            [(0, 9, "salloc -N2 -n2 --gpus=3"), (1, 9, "salloc -N1 -n1 --gres=gpu:2 -w n1")],
            ["0 n[1-2]", "1 n1"],
            id="5-the-first-nodes-leave-a-gpu-for-each-further-one",
        ),
        pytest.param(
            GPUS + "NodeName=n1 CPUs=4 Gres=gpu:2\nNodeName=n2 CPUs=8\n" + P,
            [(0, 9, "salloc -n4 --gpus=2"), (1, 9, "salloc -n6 --gpus=2")],
            ["0 n1", "never"],
            id="5-each-node-of-a-job-with-gpus-has-one",
        ),
        pytest.param(
            CORES
            + "NodeName=n[1-2] CPUs=4 Features=fast\nNodeName=n[3-4] CPUs=4 Features=slow\n"
            + P,
            [(0, 9, "salloc -N3 -C [fast*2&slow*1]"), (1, 9, "salloc -N2 -n8 -C slow")],
            ["0 n[1-3]", "9 n[3-4]"],
            id="5-so-many-nodes-of-each-feature",
        ),
        pytest.param(
            CORES + "Licenses=x:2\n" + FOUR + P,
            [(0, 9, "salloc -L x:2 -n1"), (1, 9, "salloc -L x:1 -n1"), (2, 9, "salloc -n1")],
            ["0 n1", "9 n1", "2 n1"],
            id="5-who-waits-for-a-licence-blocks-nobody",
        ),
        pytest.param(
            TIERS + "PreemptMode=CANCEL\n",
            [(0, 50, "salloc -N1 -n8"), (1, 50, "salloc -N4 -n4"), (2, 9, "salloc -p q -N2 -n16")],
            ["0 n1", "11 n[1-4]", "2 n[1-2]"],
            id="7-jobs-of-a-lower-tier-go",
        ),
        pytest.param(
            CORES + "NodeName=n1 CPUs=8\n" + P,
            [
                (0, 9, "ann: salloc -n1 --exclusive=user"),
                (1, 9, "ann: salloc -n1"),
                (2, 9, "bob: salloc -n1"),
            ],
            ["0 n1", "1 n1", "9 n1"],
            id="5-a-node-of-one-user-takes-no-other",
        ),
        pytest.param(
            CORES + "NodeName=n[1-2] CPUs=8\n" + P.replace("ALL", "ALL ExclusiveUser=YES"),
            [(0, 20, "ann: salloc -n1"), (1, 9, "bob: salloc -n1"), (2, 9, "bob: salloc -N2 -n2")],
            ["0 n1", "1 n2", "20 n[1-2]"],
            id="5-nodes-of-a-partition-serve-one-user-at-a-time",
        ),
        pytest.param(
            CORES + "NodeName=n1 CPUs=8\n" + P.replace("ALL", "ALL OverSubscribe=FORCE:2"),
            [(0, 20, "salloc -n8"), (1, 9, "salloc -n8"), (2, 9, "salloc -n8")],
            ["0 n1", "1 n1", "10 n1"],
            id="5-so-many-jobs-share-a-core",
        ),
        pytest.param(
            CORES + "NodeName=n1 CPUs=8\n" + P.replace("ALL", "ALL OverSubscribe=YES:2"),
            [(0, 9, "salloc -sn1"), (1, 9, "salloc -n1"), (2, 9, "salloc -sn1")],
            ["0 n1", "1 n1", "10 n1"],
            id="5-a-job-that-shares-no-core-closes-its-node-for-those-that-do",
        ),
        pytest.param(
            CORES + "NodeName=n[1-2] CPUs=4\n" + P.replace("ALL", "ALL OverSubscribe=YES:2"),
            [
                (0, 9, "salloc -N1 -n4"),
                (1, 9, "sbatch -s -N2 -n4 x"),
                (2, 9, "salloc -N1 -n4 -w n2"),
            ],
            ["0 n1", "9 n[1-2]", "18 n2"],
            id="4-backfill-keeps-nodes-as-if-the-job-did-not-share",
        ),
        pytest.param(
            TIERS + "PreemptMode=SUSPEND,GANG\n",
            [(0, 30, "salloc -n32"), (5, 10, "salloc -pq -n16"), (6, 9, "salloc -N1 -n1")],
            ["0 n[1-4]", "5 n[1-2]", "40 n1"],
            id="7-a-high-tier-takes-the-cores-of-a-low-one",
        ),
        pytest.param(
            CORES.split("SchedulerParameters")[0] + FOUR + P + Q + " State=DOWN\n",
            [(0, 9, "salloc -n1"), (1, 9, "salloc -pq -n1"), (1, 9, "salloc -n1")],
            ["0 n1", "never", "1 n1"],
            id="2-a-job-of-a-closed-partition-lets-later-ones-start-at-submission",
        ),
        pytest.param(
            CORES + FOUR + P,
            [(0, 9, "salloc -n1"), (1, 9, "salloc -n1 --begin=now+30")],
            ["0 n1", "31 n1"],
            id="8-no-job-starts-before-its-time",
        ),
    ],
)
def test_a_rule_of_the_real_scheduler(tmp_path, conf, jobs, expected) -> None:
    assert played(tmp_path, conf, *jobs) == expected


def ran(folder, conf: str, *runs: tuple[int, int, str]) -> list[tuple[int, int, str]]:
    """Give start, end and state of interactive jobs of all CPUs of a node."""
    made, _ = cluster(folder, conf)
    rows = []
    for number, (submit, run, partition) in enumerate(runs, 1):
        line = f"salloc -p {partition} -n8"
        asked = {"ReqTRES": "cpu=8", "AllocTRES": "", "SubmitLine": line, "TimelimitRaw": "2"}
        rows.append(row(number, **times_of(submit, run), **asked, Partition=partition))
    read = log(folder, *rows, cluster=made)
    found = {each.position: each for each in run_cluster(made, read.jobs).runs}
    first = read.jobs[0].submit
    return [(each.start - first, each.end - first, each.state) for _, each in sorted(found.items())]


ONE = "PreemptMode={}GANG\nNodeName=n1 CPUs=8\n"


@pytest.mark.parametrize(
    ("conf", "runs", "expected"),
    [
        pytest.param(
            PRIO + ONE.format("SUSPEND,") + P + "PartitionName=q Nodes=n1 PriorityTier=5\n",
            [(0, 20, "p"), (5, 10, "q")],
            [(0, 30, "COMPLETED"), (5, 15, "COMPLETED")],
            id="a-low-tier-stops-in-the-shadow-of-a-high-one",
        ),
        pytest.param(
            PRIO
            + ONE.format("SUSPEND,")
            + P.replace("ALL", "n1 PreemptMode=CANCEL")
            + "PartitionName=q Nodes=n1 PriorityTier=5\n",
            [(0, 20, "p"), (5, 10, "q")],
            [(0, 5, "PREEMPTED"), (5, 15, "COMPLETED")],
            id="it-ends-where-its-partition-says-so",
        ),
        pytest.param(
            "SchedulerTimeSlice=10\n"
            + ONE.format("")
            + P.replace("ALL", "n1 OverSubscribe=FORCE:2"),
            [(0, 25, "p"), (2, 12, "p")],
            [(0, 35, "COMPLETED"), (2, 37, "COMPLETED")],
            id="jobs-of-one-core-take-turns",
        ),
    ],
)
def test_jobs_that_share_cores_stop_and_go_on(tmp_path, conf, runs, expected) -> None:
    assert ran(tmp_path, CORES + conf, *runs) == expected


def site(folder, conf: str, association: str, qos: str, jobs: list[str]):
    """Play jobs of ann of the lines of a log, under limits; give them by number."""
    (folder / "slurm.conf").write_text(conf + "AccountingStorageEnforce=limits,qos\n" + FOUR + P)
    (folder / "dump").write_text(
        "Cluster - 't':QOS='normal'\nParent - 'root'\nAccount - 'a'\n"
        f"Parent - 'a'\nUser - 'ann':{association}Fairshare=1\n"
    )
    (folder / "qos").write_text(f"Name|{qos.split('|')[0]}\nnormal|{qos.split('|')[1]}\n")
    files = SiteFiles(conf=folder / "slurm.conf", accounts=folder / "dump", qos=folder / "qos")
    made, _ = files.read()
    outcome = run_cluster(made, log(folder, *jobs, cluster=made).jobs)
    first = min(each.start for each in outcome.runs)
    return {
        outcome.jobs[each.position].number: (each.start - first, each.end - first, each.state)
        for each in outcome.runs
    }


@pytest.mark.parametrize(
    ("association", "qos", "killed"),
    [
        ("", "GrpTRESMins|cpu=16", 90),
        ("", "GrpWall|2", 150),
        ("GrpTRESMins=cpu=16:", "Priority|0", 90),
        ("GrpWall=2:", "Priority|0", 150),
        ("", "Priority|0", None),
    ],
)
def test_running_jobs_are_killed_when_their_usage_runs_out(
    tmp_path, association, qos, killed
) -> None:
    conf = (
        CORES + "PriorityType=priority/multifactor\nPriorityCalcPeriod=1\nPriorityDecayHalfLife=0\n"
    )
    asked = {"ReqTRES": "cpu=16,node=2", "AllocTRES": "", "SubmitLine": "salloc -N2 -n16"}
    found = site(tmp_path, conf, association, qos, [row(1, **times_of(0, 300), **asked)])
    ended = (0, killed, "TIMEOUT") if killed else (0, 300, "COMPLETED")
    assert found == {1: ended}


@pytest.mark.parametrize(
    ("association", "qos", "order"),
    [
        ("", "Priority|0", [1, 2, 3, 4]),
        ("", "MaxJobsAccruePU|1", [1, 2, 4, 3]),
        ("", "MaxJobsAccruePA|1", [1, 2, 4, 3]),
        ("", "GrpJobsAccrue|1", [1, 2, 4, 3]),
        ("MaxJobsAccrue=1:", "Priority|0", [1, 2, 4, 3]),
        ("GrpJobsAccrue=1:", "Priority|0", [1, 2, 4, 3]),
    ],
)
def test_only_so_many_waiting_jobs_grow_older(tmp_path, association, qos, order) -> None:
    conf = CORES + (
        "PriorityType=priority/multifactor\nPriorityCalcPeriod=1\nPriorityDecayHalfLife=0\n"
        "PriorityWeightAge=360000\nPriorityMaxAge=60\n"
    )
    jobs = []
    for number, (submit, nice) in enumerate([(0, 0), (2, 0), (4, 0), (400, -35000)], 1):
        asked = {"ReqTRES": "cpu=32,node=4", "AllocTRES": ""}
        line = f"sbatch -N4 -n32 --nice={nice} x"
        jobs.append(row(number, **times_of(submit, 300), **asked, SubmitLine=line))
    found = site(tmp_path, conf, association, qos, jobs)
    assert sorted(found, key=lambda number: found[number][0]) == order


def test_a_log_in_swf_is_replayed(tmp_path) -> None:
    made, _ = cluster(tmp_path, CORES + FOUR + P)
    lines = ["; UnixStartTime: 1000", "; Queue: 1 p", "; Queue: 2 other"]
    lines += [
        f"{number} {submit} 0 20 16 -1 -1 16 60 -1 1 7 1 1 {queue} 1 -1 -1"
        for number, submit, queue in [(1, 0, 1), (2, 5, 2), (3, 6, 1)]
    ]
    (tmp_path / "day.swf").write_text("\n".join(lines) + "\n")
    read = read_log(tmp_path / "day.swf", made)
    assert [(job.number, job.submit, job.limit, job.partitions) for job in read.jobs] == [
        (1, 1000, 60, ("p",)),
        (2, 1005, 60, ()),
        (3, 1006, 60, ("p",)),
    ]
    assert any("no partition" in note for note in read.notes)
    starts = run_cluster(made, read.jobs).starts()
    assert starts[1] < starts[3] == starts[1] + 20


def test_lines_of_a_scenario_count_where_the_file_says_otherwise(tmp_path) -> None:
    cluster(tmp_path, CORES + "PriorityWeightAge=5\n" + FOUR + P + Q + "\n")
    lines = "PriorityWeightAge=7\nSchedulerParameters=bf_interval=9\nPartitionName=q MaxTime=5"
    made, said = SiteFiles(conf=tmp_path / "slurm.conf", lines=lines).read()
    assert (made.priority.weights.age, made.backfilling.bf_interval) == (7, 9)
    assert [(each.nodes, each.time_limit) for each in made.partitions] == [
        (("n1", "n2", "n3", "n4"), None),
        (("n1", "n2"), 300),
    ]
    assert [each.line for each in said if each.file == "settings.lines"] == [1, 2, 2, 3, 3]
    with pytest.raises(SlurmFileError, match=r"settings.lines:1: .*PriorityWeightAges"):
        SiteFiles(conf=tmp_path / "slurm.conf", lines="PriorityWeightAges=7").read()


def test_a_held_job_gets_its_priority_at_its_release_though_it_begins_later(tmp_path) -> None:
    made, _ = cluster(tmp_path, CORES + "NodeName=n1 CPUs=8\n" + P)
    all_of_it = Request(tasks=8)
    held = Extras(held=True, released=5)
    jobs = [
        Job(number=1, submit=0, run=30, limit=60, request=all_of_it),
        Job(number=2, submit=1, run=5, limit=60, request=all_of_it, begin=20, extras=held),
        Job(number=3, submit=10, run=5, limit=60, request=all_of_it),
    ]
    starts = run_cluster(made, jobs).starts()
    assert starts[2] < starts[3]


def test_of_jobs_that_end_together_backfill_takes_out_one_at_a_time(tmp_path) -> None:
    nodes = "NodeName=n[1,3] CPUs=8\nNodeName=n2 CPUs=9\n"
    made, _ = cluster(tmp_path, CORES + nodes + P + Q.replace("n[1-2]", "n1,n2") + "\n")
    jobs = [
        Job(number=n, submit=at, run=run, limit=limit, request=Request(tasks=cpus, required=(on,)))
        for n, (at, run, limit, cpus, on) in enumerate(
            [
                (0, 900, 60, 2, "n1"),
                (0, 900, 60, 1, "n3"),
                (0, 900, 900, 2, "n2"),
                (1, 240, 240, 6, "n1"),
                (1, 240, 240, 6, "n2"),
            ],
            1,
        )
    ]
    waits = Request(tasks=4, max_nodes=1)
    jobs.append(Job(number=6, submit=3, run=9, limit=60, request=waits, partitions=("q",)))
    last = Request(tasks=1, required=("n2",))
    jobs.append(Job(number=7, submit=4, run=9, limit=600, request=last))
    starts = run_cluster(made, jobs).starts()
    assert starts[7] < 10 < starts[6]  # nodes are kept on n1, not on n2, which fits as tightly


def test_a_job_takes_the_nodes_of_its_flexible_reservation_first(tmp_path) -> None:
    made, _ = cluster(tmp_path, CORES + FOUR + P)
    flexible = Reservation(
        name="r", start=100, end=200, nodes=("n2", "n3"), users=("ann",), flags=frozenset({"FLEX"})
    )
    made = replace(made, reservations=(flexible,))
    inside = Request(tasks=8, reservation="r")
    jobs = [
        Job(number=n, user="ann", submit=n, run=20, limit=60, request=asked)
        for n, asked in enumerate([inside, inside, inside, Request(tasks=8)], 1)
    ]
    runs = run_cluster(made, jobs).runs
    assert [each.nodes for each in sorted(runs, key=lambda run: run.position)] == [
        (1,), (2,), (0,), (3,)
    ]  # fmt: skip


def test_licences_come_back_with_the_nodes_of_a_job(tmp_path) -> None:
    made, _ = cluster(tmp_path, CORES + "Licenses=x:1\n" + FOUR + P)
    made = replace(made, clock=Clock(release=3))
    one = Request(tasks=1, licenses=(("x", 1),))
    jobs = [Job(number=n, submit=n, run=10, limit=60, request=one) for n in (1, 2)]
    starts = run_cluster(made, jobs).starts()
    assert starts[2] == starts[1] + 13
