"""The files that a site with Slurm has are read as Slurm reads them, and nothing in silence."""

# ruff: noqa: E501 - lines of files stand as they are

from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from rebecsim.clusters.slurm.configuration import Gres, ResourceLimits
from rebecsim.clusters.slurm.files.account_files import read_accounting
from rebecsim.clusters.slurm.files.cluster_files import read_cluster
from rebecsim.clusters.slurm.files.hostlists import HostListError, compress, expand, natural
from rebecsim.clusters.slurm.files.lines import SlurmFileError
from rebecsim.clusters.slurm.files.log_files import read_log
from rebecsim.clusters.slurm.files.reservation_files import read_reservations
from rebecsim.clusters.slurm.files.settings import TABLES
from rebecsim.clusters.slurm.files.site import SiteFiles, settings_rows
from rebecsim.clusters.slurm.files.submit_lines import read_line
from rebecsim.errors import UserError
from rebecsim.workloads.sacct import duration, megabytes, moment, tres, weights
from tests.clusters.slurm.sites import COLUMNS, NODES, PARTITION, cluster, row

# Lists of names


@given(
    st.lists(
        st.tuples(st.sampled_from(["n", "gpu-", "r1c"]), st.integers(0, 250), st.integers(0, 4)),
        max_size=30,
    )
)
def test_a_list_of_names_is_read_back_as_it_was_written(parts) -> None:
    names = {prefix + str(number).zfill(width) for prefix, number, width in parts}
    assert sorted(expand(compress(names)), key=natural) == sorted(names, key=natural)


@given(st.text("n[]0123456789,- ", max_size=20))
def test_no_text_breaks_the_reader_of_lists(text) -> None:
    try:
        names = expand(text)
    except HostListError:
        return
    assert all("[" not in name and "]" not in name for name in names)


def test_ranges_keep_zeros_and_brackets_multiply() -> None:
    assert expand("n[1-3,7],x[008-010]") == ("n1", "n2", "n3", "n7", "x008", "x009", "x010")
    assert expand("r[1-2]n[1-2]") == ("r1n1", "r1n2", "r2n1", "r2n2")
    assert compress(["n10", "n2", "n1", "n9", "login"]) == "login,n[1-2,9-10]"
    assert sorted(["n10", "n2"], key=natural) == ["n2", "n10"]


@pytest.mark.parametrize("text", ["n[1-3", "n1-3]", "n[3-1]", "n[a]", "n[1-99999999]"])
def test_a_wrong_list_is_refused(text) -> None:
    with pytest.raises(HostListError):
        expand(text)


# Amounts


def test_amounts_are_read_as_slurm_writes_them() -> None:
    assert [duration(t) for t in ("90", "1:30", "1:30:00", "2-12", "1-0:30", "1-00:00:01")] == [
        5400,
        90,
        5400,
        216_000,
        88_200,
        86_401,
    ]
    assert duration("UNLIMITED") is None
    assert [megabytes(t) for t in ("100", "4G", "512K", "1.5G")] == [100, 4096, 0, 1536]
    assert tres("cpu=16,mem=1G,gres/gpu=8,node=-1") == {"cpu": 16, "mem": 1024, "gres/gpu": 8}
    assert weights("CPU=1.0,Mem=0.25G,GRES/gpu=2") == {
        "cpu": 1.0,
        "mem": 0.25 / 1024,
        "gres/gpu": 2.0,
    }
    assert moment("1970-01-02T00:00:01") == 86_401
    assert moment("Unknown") is None


# slurm.conf


def test_defaults_includes_and_continued_lines_count_for_what_follows(tmp_path) -> None:
    (tmp_path / "nodes.conf").write_text(
        "nodename=DEFAULT cpus=8 Weight=3\nNodeName=a[1-2]\nNodeName=DEFAULT Weight=1\nNodeName=b10,b9 Feature=big # fast\n"
    )
    made, _ = cluster(
        tmp_path,
        'include nodes.conf\nNodeSet=large Feature=big\nPartitionName=DEFAULT MaxTime=2:00:00\nPartitionName=p Default=YES \\\n  Nodes=a1,large\nschedulertype="sched/builtin"\n',
    )
    assert [(n.name, n.cpus, n.weight, n.features) for n in made.nodes] == [
        ("a1", 8, 3, ()),
        ("a2", 8, 3, ()),
        ("b9", 8, 1, ("big",)),
        ("b10", 8, 1, ("big",)),
    ]
    assert made.partitions[0].nodes == ("a1", "b9", "b10")
    assert made.partitions[0].time_limit == 7200
    assert not made.backfill


def test_hardware_of_a_node(tmp_path) -> None:
    made, _ = cluster(
        tmp_path,
        "NodeName=a CPUs=8\nNodeName=b Sockets=2 CoresPerSocket=4 ThreadsPerCore=2\nNodeName=c CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2\nNodeName=d State=FUTURE\nDownNodes=b State=DRAIN\n"
        + PARTITION,
    )
    assert [(n.name, n.sockets, n.cores, n.threads, n.cpus, n.state) for n in made.nodes] == [
        ("a", 8, 1, 1, 8, "UP"),
        ("b", 2, 4, 2, 16, "DRAIN"),
        ("c", 2, 4, 2, 8, "UP"),
    ]


SAMPLES = {
    "global": "SchedulerType=sched/builtin SelectType=select/cons_tres PriorityType=priority/multifactor PriorityMaxAge=5 PriorityDecayHalfLife=5 PriorityCalcPeriod=7 PriorityFavorSmall=YES "
    "PriorityUsageResetPeriod=DAILY PriorityWeightAge=5 PriorityWeightAssoc=5 PriorityWeightFairshare=5 PriorityWeightJobSize=5 PriorityWeightPartition=5 PriorityWeightQOS=5 PriorityWeightTRES=cpu=5 "
    "FairShareDampeningFactor=5 PreemptType=preempt/qos PreemptMode=CANCEL,GANG PreemptExemptTime=5 SchedulerTimeSlice=5 AccountingStorageEnforce=safe EnforcePartLimits=ANY DefMemPerCPU=5 DefMemPerNode=5 DefMemPerGPU=5 "
    "MaxMemPerCPU=5 MaxMemPerNode=5 OverTimeLimit=5 KillWait=5 CompleteWait=5 MessageTimeout=5 Licenses=x:5 JobRequeue=0 MaxArraySize=5 MaxJobCount=5 PriorityFlags=MAX_TRES SelectTypeParameters=CR_LLN "
    "SchedulerParameters=defer PreemptParameters=strict_order",
    "partition": "State=DRAIN MaxTime=5 DefaultTime=5 MinNodes=2 MaxNodes=2 MaxCPUsPerNode=5 PriorityTier=5 PriorityJobFactor=5 Priority=5 OverSubscribe=YES:2 Shared=FORCE PreemptMode=REQUEUE GraceTime=5 QOS=q "
    "AllowQos=a DenyQos=a AllowAccounts=a DenyAccounts=a LLN=YES DefMemPerCPU=5 DefMemPerNode=5 DefMemPerGPU=5 DefCpuPerGPU=5 MaxMemPerCPU=5 MaxMemPerNode=5 JobDefaults=DefCpuPerGPU=5 TRESBillingWeights=cpu=5 "
    "OverTimeLimit=5 ExclusiveUser=YES ReqResv=YES",
    "node": "CPUs=16 Procs=16 Boards=2 Sockets=4 SocketsPerBoard=4 CoresPerSocket=4 ThreadsPerCore=4 RealMemory=99 MemSpecLimit=5 CoreSpecCount=1 CpuSpecList=0,1 Features=a Feature=a Gres=gpu:1 Weight=5 State=DOWN",
}
WITHOUT_SAMPLE = {
    "global": "accountingstoragetype grestypes topologyplugin topologyparam clustername",
    "partition": "partitionname nodes default",
    "node": "nodename",
}


def test_of_options_about_sharing_the_last_one_counts() -> None:
    for text, expected in [
        ("salloc --exclusive -s", {"oversubscribe": True}),
        ("salloc -s --exclusive=user", {"exclusive": "user"}),
        ("salloc --exclusive", {"exclusive": "node"}),
    ]:
        assert read_line(text)[0].request == expected


@pytest.mark.parametrize("kind", SAMPLES)
def test_each_key_that_is_said_to_be_used_changes_the_cluster(kind, tmp_path) -> None:
    pairs = SAMPLES[kind].split()
    tried = {pair.partition("=")[0].lower() for pair in pairs}
    used = {key for key, known in TABLES[kind].items() if known.use == "used"}
    assert used == tried | set(WITHOUT_SAMPLE[kind].split())
    before = cluster(tmp_path, "NodeName=n[1-4]\n" + PARTITION)[0]
    for pair in pairs:
        lines = {
            "global": f"{pair}\nNodeName=n[1-4]\n{PARTITION}",
            "partition": f"NodeName=n[1-4]\n{PARTITION[:-1]} {pair}\n",
            "node": f"NodeName=n[1-4] Boards=1 {pair}\n{PARTITION}",
        }
        if pair.startswith("Boards"):
            lines["node"] = f"NodeName=n[1-4] SocketsPerBoard=2 {pair}\n{PARTITION}"
        assert cluster(tmp_path, lines[kind])[0] != before, pair


def test_each_parameter_of_the_scheduler_changes_the_cluster(tmp_path) -> None:
    before = cluster(tmp_path, NODES + PARTITION)[0]
    for name, known in TABLES["scheduler"].items():
        if known.use == "used":
            is_switch = name in [
                "defer",
                "assoc_limit_stop",
                "kill_invalid_depend",
                "pack_serial_at_end",
                "bf_one_resv_per_job",
                "bf_busy_nodes",
                "bf_running_job_reserve",
                "bf_licenses",
                "bf_hetjob_immediate",
                "preempt_strict_order",
                "preempt_youngest_first",
            ]
            text = name if is_switch else f"{name}=7"
            made, said = cluster(tmp_path, f"SchedulerParameters={text}\n{NODES}{PARTITION}")
            assert made != before, name
            assert any(
                each.key == f"SchedulerParameters/{known.name}" and each.use == "used"
                for each in said
            )


def test_every_key_of_a_file_is_accounted_for(tmp_path) -> None:
    _, said = cluster(
        tmp_path,
        "SlurmctldPort=6817\nSchedulerParameters=bf_continue,bf_window=10\nJobSubmitPlugins=lua\n"
        + NODES
        + PARTITION,
    )
    uses = {each.key: (each.line, each.use) for each in said}
    assert uses["SlurmctldPort"] == (1, "no effect")
    assert uses["SchedulerParameters/bf_continue"] == (2, "no effect")
    assert uses["SchedulerParameters/bf_window"] == (2, "used")
    assert uses["JobSubmitPlugins"] == (3, "not simulated")
    assert uses["Gres"] == (4, "used")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "PriorityWeightAges=5\n",
            "slurm.conf:1: PriorityWeightAges=5: there is no key PriorityWeightAges of slurm.conf; did you mean PriorityWeightAge?",
        ),
        (
            "\nSchedulerParameters=bf_widow=5\n",
            "slurm.conf:2: SchedulerParameters=bf_widow=5: bf_widow is not known; did you mean bf_window?",
        ),
        ("SelectType=select/cons_tree\n", "did you mean select/cons_tres?"),
        ("PriorityMaxAge=soon\n", "slurm.conf:1: PriorityMaxAge=soon: a time is expected"),
        ("KillWait=-3\n", "a whole number of 0 or more is expected"),
        ("Include other.conf\n", "other.conf does not exist"),
        ("nonsense\n", "slurm.conf:1: nonsense is not of the form Key=value"),
        ("PartitionName=q Nodes=n9\n", "there is no node n9; add a NodeName line"),
        ("PartitionName=q Nodes=n[1-\n", "a bracket without its partner"),
        ("NodeName=n3 CPUs=4\n", "node n3 is in the file twice"),
        ("PartitionName=q Nodes=n1 Dafault=YES\n", "did you mean Default?"),
        ("TopologyPlugin=topology/tree\n", "topology.conf"),
        ("FrontendName=f\n", "front ends are not simulated"),
    ],
)
def test_a_wrong_line_is_refused_with_its_place(text, expected, tmp_path) -> None:
    with pytest.raises(SlurmFileError) as caught:
        cluster(tmp_path, text + NODES + PARTITION)
    assert expected in str(caught.value)


def test_files_without_nodes_or_partitions_are_refused(tmp_path) -> None:
    with pytest.raises(SlurmFileError, match="add a NodeName line"):
        cluster(tmp_path, PARTITION.replace(" Nodes=ALL", ""))
    with pytest.raises(SlurmFileError, match="add a PartitionName line"):
        cluster(tmp_path, NODES)
    with pytest.raises(SlurmFileError, match="cannot be read"):
        read_cluster(tmp_path / "none.conf")


def test_a_file_that_includes_itself_is_refused(tmp_path) -> None:
    with pytest.raises(SlurmFileError, match="include each other"):
        cluster(tmp_path, "Include slurm.conf\n")


# gres.conf and topology.conf


def test_types_and_cores_of_gres_conf_are_put_into_the_nodes(tmp_path) -> None:
    lines = "NodeName=n[1-2] Name=gpu Type=a File=/dev/nvidia[0-1] Cores=0-3\nName=gpu Type=a Count=2 NodeName=n3\n"
    made, _ = cluster(tmp_path, NODES + PARTITION, gres=lines)
    near = Gres(name="gpu", type="a", count=2, cores=(0, 1, 2, 3))
    assert [node.gres for node in made.nodes] == [
        (near,),
        (near,),
        (Gres(name="gpu", type="a", count=2),),
        (Gres(name="gpu", type="a", count=2),),
    ]
    with pytest.raises(SlurmFileError, match=r"gres.conf:1: .*did you mean Count"):
        cluster(tmp_path, NODES + PARTITION, gres="Name=gpu Cuont=2\n")


def test_switches_are_read_and_checked(tmp_path) -> None:
    text = "TopologyPlugin=topology/tree\n" + NODES + PARTITION
    made, _ = cluster(
        tmp_path,
        text,
        topology="SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4]\nSwitchName=t Switches=s[1-2]\n",
    )
    assert [(s.name, s.nodes, s.switches) for s in made.switches] == [
        ("s1", ("n1", "n2"), ()),
        ("s2", ("n3", "n4"), ()),
        ("t", (), ("s1", "s2")),
    ]
    with pytest.raises(SlurmFileError, match=r"topology.conf:2: .*there is no switch s9"):
        cluster(tmp_path, text, topology="SwitchName=s1 Nodes=n[1-4]\nSwitchName=t Switches=s9\n")


# Accounts and reservations

DUMP = """# a dump
Cluster - 'c':Fairshare=1:QOS='normal':MaxJobs=9
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'science':Description='all: of it':Fairshare=3:GrpTRES=cpu=16,mem=1G:MaxTRESPerJob=node=2
Parent - 'science'
User - 'ann':Fairshare=parent:QOS='+high,normal':MaxTRESPerJob=cpu=4:MaxWallDurationPerJob=30
"""
QOS = "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor|GrpTRESMins|MaxWall|MaxJobsPU\nnormal|0|00:00:00||cluster||1.000000|||\nhigh|10|00:01:00|normal|requeue|DenyOnLimit,NoReserve|2.000000|cpu=10|01:00:00|3\n"


def test_accounts_are_a_tree_and_inherit_their_largest_values(tmp_path) -> None:
    (tmp_path / "dump").write_text(DUMP)
    (tmp_path / "qos").write_text(QOS)
    (tmp_path / "shares").write_text(
        "Account|User|RawShares|RawUsage\nscience||3|50\n science|ann|parent|40\n"
    )
    made, said = read_accounting(tmp_path / "dump", tmp_path / "qos", tmp_path / "shares")
    root, _, science, ann = made.associations
    assert (root.limits.max_jobs, science.limits.max_jobs, ann.limits.max_jobs) == (9, 9, 9)
    assert (science.shares, ann.shares, ann.qos, science.qos) == (
        3,
        None,
        ("high", "normal"),
        ("normal",),
    )
    assert science.limits.grp_tres == {"cpu": 16, "mem": 1024}
    assert ann.limits.grp_tres == {}
    assert ann.limits.max_tres == {"node": 2, "cpu": 4}
    assert (ann.limits.max_wall, ann.usage, science.usage) == (1800, 40.0, 50.0)
    high = made.qos[1]
    assert (high.priority, high.grace_time, high.preempt, high.preempt_mode, high.usage_factor) == (
        10,
        60,
        ("normal",),
        "REQUEUE",
        2.0,
    )
    assert (high.limits.grp_tres_seconds, high.limits.max_wall, high.limits.max_jobs_per_user) == (
        {"cpu": 600},
        3600,
        3,
    )
    assert high.flags == {"DenyOnLimit", "NoReserve"}
    assert {each.use for each in said if each.key == "Description"} == {"no effect"}


@pytest.mark.parametrize(
    ("dump", "expected"),
    [
        ("Cluster - 'c'\nParent - 'sience'\n", "dump:2: Parent=sience: there is no account sience"),
        (
            "Cluster - 'c'\nAccount - 'a':Fareshare=2\n",
            "dump:2: Fareshare=2: there is no key Fareshare of an association; did you mean fairshare?",
        ),
        (
            "Cluster - 'c'\nAccount - 'a':MaxJobs=many\n",
            "dump:2: MaxJobs=many: a whole number of 0 or more is expected",
        ),
        ("hello\n", "dump:1: a line as User - 'ann':Fairshare=1 is expected"),
        ("Cluster - 'c'\nAccount - 'a':QOS='gold'\n", "there is no QOS gold"),
    ],
)
def test_a_wrong_dump_is_refused_with_its_place(dump, expected, tmp_path) -> None:
    (tmp_path / "dump").write_text(dump)
    (tmp_path / "qos").write_text(QOS)
    with pytest.raises(SlurmFileError) as caught:
        read_accounting(tmp_path / "dump", tmp_path / "qos")
    assert expected in str(caught.value)


def test_limits_of_slurm_and_of_the_cluster_have_the_same_names() -> None:
    from rebecsim.clusters.slurm.files import account_files

    assert {each.name for each in fields(ResourceLimits)} == {
        name for name, _ in account_files._LIMITS.values()
    }


def test_reservations_are_read_with_their_cores(tmp_path) -> None:
    path = tmp_path / "res"
    line = "ReservationName=r StartTime=2026-03-02T08:00:00 EndTime=2026-03-02T09:00:00 Duration=01:00:00 Nodes=n[1-2] NodeCnt=2 CoreCnt=6 Features=(null) PartitionName=(null) Flags={} {}TRES=cpu=6 Users=ann,bob Groups=(null) Accounts=(null) Licenses={} State=INACTIVE\n"
    path.write_text(
        line.format("SPEC_NODES,MAINT", "", "(null)")
        + line.format("", "NodeName=n1 CoreIDs=0-3 NodeName=n2 CoreIDs=0,2 ", "x:3")
    )
    whole, part = read_reservations(path)
    assert (whole.nodes, whole.cores, whole.flags, whole.users, whole.accounts) == (
        ("n1", "n2"),
        {},
        {"SPEC_NODES", "MAINT"},
        ("ann", "bob"),
        (),
    )
    assert (part.cores, part.licenses, part.end - part.start) == (
        {"n1": 4, "n2": 2},
        {"x": 3},
        3600,
    )
    path.write_text("No reservations in the system\n")
    assert read_reservations(path) == ()
    path.write_text("ReservationName=r StartTime=now\n")
    with pytest.raises(SlurmFileError, match="res:1: StartTime=now"):
        read_reservations(path)


def test_options_of_command_lines() -> None:
    (made,) = read_line(
        "/usr/bin/sbatch -HQ -Jx -n 4 --gres=gpu:a:2 --gpus-per-node=1 --switches=2@10 -wn[1-2] --exclusive --nice --foo=1 --wrap 'sleep 5 -n 9'"
    )
    assert made.request == {
        "tasks": 4,
        "gres_per_node": (("gpu", 1), ("gpu:a", 2)),
        "switches": 2,
        "switch_wait": 600,
        "required": ("n1", "n2"),
        "exclusive": "node",
    }
    assert (made.job, made.unknown, made.is_whole) == (
        {"held": True, "name": "x", "nice": 100},
        [],
        True,
    )


# All files together


def test_the_files_of_a_site_are_read_together(tmp_path) -> None:
    (tmp_path / "dump").write_text(DUMP)
    (tmp_path / "qos").write_text(QOS)
    text = "AccountingStorageEnforce=safe\n" + NODES + PARTITION.replace("YES", "YES QOS=high")
    (tmp_path / "slurm.conf").write_text(text)
    site = SiteFiles(conf=tmp_path / "slurm.conf", accounts=tmp_path / "dump", qos=tmp_path / "qos")
    made, settings = site.read()
    assert made.accounting.enforce == {"safe", "limits", "associations"}
    assert len(made.accounting.associations) == 4
    rows = list(settings_rows(settings))
    assert ("slurm.conf:1", "AccountingStorageEnforce=safe", "used", "which limits hold") in rows
    (tmp_path / "log").write_text(COLUMNS + "\n" + row(Partition="q") + "\n")
    with pytest.raises(UserError, match=r"log:2: .*slurm.conf has no partition q; add it"):
        read_log(tmp_path / "log", made)


@pytest.mark.parametrize(
    ("text", "reservations", "expected"),
    [
        (
            "AccountingStorageEnforce=limits\n" + NODES + PARTITION,
            "",
            "give them by --accounts FILE",
        ),
        (NODES + PARTITION.replace("YES", "YES QOS=hihg"), "", "there is no QOS hihg"),
        (
            NODES + PARTITION,
            "ReservationName=r StartTime=2026-03-02T08:00:00 EndTime=2026-03-02T09:00:00 Nodes=n7",
            "reservation r: there is no node n7",
        ),
    ],
)
def test_files_that_contradict_each_other_are_refused(
    text, reservations, expected, tmp_path
) -> None:
    (tmp_path / "qos").write_text(QOS)
    (tmp_path / "slurm.conf").write_text(text)
    (tmp_path / "res").write_text(reservations)
    site = SiteFiles(
        conf=tmp_path / "slurm.conf", qos=tmp_path / "qos", reservations=tmp_path / "res"
    )
    with pytest.raises(SlurmFileError, match=expected):
        site.read()


def test_the_files_that_a_real_slurm_wrote_are_read() -> None:
    folder = Path(__file__).parents[2] / "data" / "slurm" / "files"
    site = SiteFiles(
        conf=folder / "slurm.conf",
        accounts=folder / "dump",
        qos=folder / "qos",
        reservations=folder / "reservations",
    )
    cluster, settings = site.read()
    log = read_log(folder / "sacct", cluster)
    (reserved,) = cluster.reservations
    assert (reserved.name, reserved.users, reserved.flags) == (
        "r1",
        ("u1", "u2"),
        {"FLEX", "SPEC_NODES"},
    )
    assert {each.account for each in cluster.accounting.associations} == {"root", "a"}
    assert all(each.use != "not simulated" for each in settings)
    assert len(log.jobs) == 37
    assert {job.request.reservation for job in log.jobs} == {"", "r1"}
    assert not any(job.batch for job in log.jobs)
