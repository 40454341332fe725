"""Accounting logs of PBS and Torque."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from rebecsim.workloads import CleaningRules, WorkloadError, read_log, read_pbs, read_schedule
from rebecsim.workloads.logs import names_of, numbers_of
from tests.conftest import Run

TORQUE = """\
06/06/2005 14:04:35;Q;409.server.example.org;queue=batch
06/06/2005 14:06:06;S;407.server.example.org;user=ann group=lab jobname=STDIN queue=batch \
ctime=1118087915 qtime=1118087915 etime=1118087915 start=1118088366 exec_host=n1/0
06/06/2005 14:07:17;E;409.server.example.org;user=bob group=lab jobname=sim queue=long \
ctime=1118087900 qtime=1118087900 etime=1118087950 start=1118087960 owner=bob@n1 \
exec_host=n1/3+n1/2+n2/0-1 Resource_List.ncpus=1 Resource_List.neednodes=2:ppn=2 \
Resource_List.nodect=2 Resource_List.nodes=2:ppn=2 Resource_List.walltime=00:16:40 \
Resource_List.mem=4gb session=6365 end=1118088460 Exit_status=0 resources_used.cput=00:26:40 \
resources_used.mem=3348kb resources_used.vmem=54768kb resources_used.walltime=00:08:20
06/06/2005 14:08:17;E;407.server.example.org;user=ann group=lab jobname=STDIN queue=batch \
ctime=1118087915 qtime=1118087915 etime=1118087915 start=1118088366 exec_host=n1/0 \
Resource_List.nodect=1 Resource_List.nodes=1 Resource_List.walltime=1:00:00:00 session=6365 \
end=1118088966 Exit_status=271 resources_used.walltime=00:10:00
06/06/2005 14:09:00;D;410.server.example.org;requestor=ann@n1
"""

PBS_PRO = """\
04/16/2025 09:23:33;E;41.pbs;user=cy group="Some Users" account="A1" jobname=x queue=workq \
ctime=100 qtime=100 etime=100 start=110 exec_host=n1/0*8+n2/1*8 \
exec_vnode=(n1:ncpus=8)+(n2:ncpus=8) \
Resource_List.mem=16gb Resource_List.ncpus=16 Resource_List.nodect=2 \
Resource_List.select=2:ncpus=8:mem=8gb Resource_List.walltime=00:01:00 session=1 end=150 \
Exit_status=0 resources_used.cpupercent=99 resources_used.cput=00:10:40 resources_used.mem=1600kb
04/16/2025 09:24:33;E;42.pbs;user=cy group="Some Users" jobname=y queue=workq ctime=120 qtime=120 \
etime=120 start=150 exec_host=n1/0,2-3 Resource_List.ncpus=3 depend=afterok:41.pbs end=160 \
Exit_status=1
"""


def written(folder: Path, text: str = TORQUE, name: str = "20050606") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_torque_log(tmp_path: Path) -> None:
    jobs = read_pbs(written(tmp_path))
    assert jobs.job.tolist() == [407, 409]  # in the order in which they could be scheduled
    assert jobs.submit.tolist() == [0, 35]
    assert jobs.header["UnixStartTime"] == "1118087915"
    assert jobs.wait.tolist() == [451, 10]
    assert jobs.run.tolist() == [600, 500]
    assert jobs.allocated.tolist() == jobs.requested_processors.tolist() == [1, 4]
    assert jobs.requested_time.tolist() == [86_400, 1000]
    assert jobs.cpu_time.tolist() == [-1, 400]
    assert jobs.memory_used.tolist() == [-1, 837]
    assert jobs.requested_memory.tolist() == [-1, 1 << 20]
    assert jobs.status.tolist() == [0, 1]
    assert names_of(jobs, "user") == {"bob": 1, "ann": 2}
    assert jobs.user.tolist() == [2, 1]
    assert names_of(jobs, "queue") == {"long": 1, "batch": 2}
    assert jobs.capacity == 5  # in use at once
    assert read_pbs(written(tmp_path), processors=8).capacity == 8


def test_a_log_of_pbs_pro(tmp_path: Path) -> None:
    jobs = read_pbs(written(tmp_path, PBS_PRO))
    assert jobs.allocated.tolist() == [16, 3]
    assert jobs.requested_processors.tolist() == [16, 3]
    assert jobs.requested_memory.tolist() == [1 << 20, -1]
    assert jobs.cpu_time.tolist() == [40, -1]
    assert jobs.preceding.tolist() == [-1, 41]
    assert names_of(jobs, "user") == {"cy": 1}
    assert jobs.header["Group"] == "1 Some Users"
    assert jobs.capacity == 16  # the second starts when the first has ended


def test_tasks_of_an_array_are_jobs(tmp_path: Path) -> None:
    text = PBS_PRO.replace("42.pbs;", "41[2].pbs;").replace("41.pbs;user", "41[1].pbs;user")
    assert read_pbs(written(tmp_path, text)).job.tolist() == [1, 2]


def test_a_log_is_known_by_its_first_line(tmp_path: Path) -> None:
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(TORQUE.encode()))
    assert len(read_log(packed)) == 2
    swf = written(
        tmp_path, "; MaxProcs: 4\n" + "1 0 0 9 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n", "a.swf"
    )
    assert len(read_log(swf)) == 1
    assert read_schedule(packed).start.tolist() == [451, 45]  # of the machine itself


def test_users_may_be_named(tmp_path: Path) -> None:
    jobs = read_log(written(tmp_path))
    assert numbers_of(jobs, "user", ["ann", 1, "2"]) == [2, 1, 2]
    with pytest.raises(WorkloadError, match="no user called 'zoe'; known are bob, ann"):
        numbers_of(jobs, "user", ["zoe"])


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (TORQUE.splitlines()[0], "nonsense", ":1: not a record of an accounting log"),
        ("end=1118088460", "end=soon", ":3: end has an impossible value: 'soon'"),
        (
            "walltime=00:16:40",
            "walltime=1:2:3:4:5",
            ":3: Resource_List.walltime has an impossible value",
        ),
        ("end=1118088460", "end=inf", ":3: end has an impossible value: 'inf'"),
        ("end=1118088460", "end=nan", ":3: end has an impossible value: 'nan'"),
        ("end=1118088460", "end=1e300", ":3: end has an impossible value: '1e300'"),
        ("E;409.server", f"E;{'9' * 40}.server", ":3: a job without a number: '999"),
        ("mem=4gb", "mem=4pints", ":3: Resource_List.mem has an impossible value"),
        ("n2/0-1", "n2/0-x", ":3: exec_host has an impossible value"),
        ("E;409.server", "E;server", ":3: a job without a number: 'server.example.org'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(WorkloadError) as raised:
        read_pbs(written(tmp_path, TORQUE.replace(old, new)))
    assert problem in str(raised.value)


def test_a_log_in_which_no_job_ends(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="no job has ended in this log"):
        read_pbs(written(tmp_path, TORQUE.splitlines()[0] + "\n"))


def test_a_job_may_have_thousands_of_processors(tmp_path: Path) -> None:
    hosts = "+".join(f"node{number}.cluster.example.org/0" for number in range(4096))
    path = written(tmp_path, TORQUE.replace("n1/3+n1/2+n2/0-1", hosts))
    assert read_log(path).allocated.tolist() == [1, 4096]


def test_a_job_that_never_started_is_skipped(tmp_path: Path) -> None:
    text = TORQUE.replace("start=1118088366 exec_host=n1/0 \nRes", "Res").replace(
        "start=1118088366 exec_host=n1/0 Res", "Res"
    )
    assert read_pbs(written(tmp_path, text)).skipped == {"run time unknown": 1}


def test_commands_read_accounting_logs(run: Run, tmp_path: Path) -> None:
    written(tmp_path)
    assert "│ jobs                             │" in run("batch", "20050606", cwd=tmp_path).stdout
    assert "users             2" in run("workload", "info", "20050606", cwd=tmp_path).stdout
    ended = run("workload", "convert", "20050606", "--out", "log.swf", cwd=tmp_path)
    assert ended.stdout.startswith("2 jobs in log.swf")
    jobs = read_log(tmp_path / "log.swf", rules=CleaningRules())
    assert names_of(jobs, "user") == {"bob": 1, "ann": 2}
    assert jobs.capacity == 5
    assert run("validate", "20050606", cwd=tmp_path).returncode == 0
