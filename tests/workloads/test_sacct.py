"""Logs that Slurm's sacct printed."""

from __future__ import annotations

import gzip
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rebecsim.workloads import WorkloadError, read_log, read_sacct, read_schedule
from rebecsim.workloads.logs import names_of
from rebecsim.workloads.sacct import sacct_rows
from tests.conftest import Run

HEADER = (
    "JobID|JobIDRaw|User|Group|Partition|JobName|Submit|Start|End|State|TimelimitRaw|ReqTRES"
    "|AllocTRES|NodeList|Suspended"
)
LOG = f"""{HEADER}
8|8|bob|lab|long|sim|2026-03-02T08:00:10|2026-03-02T08:01:00|2026-03-02T08:03:00|TIMEOUT|2\
|cpu=4,mem=8G,node=2|cpu=8,mem=16G,node=2|n[1-2]|00:00:00
8.batch|8.batch|||||2026-03-02T08:00:10|2026-03-02T08:01:00|2026-03-02T08:03:00|CANCELLED||||n1|
7|7|ann|lab|p|STDIN|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T08:10:00|COMPLETED|\
|cpu=1,node=1|cpu=1,node=1|n1|00:01:40
9+0|9|ann|lab|p|a|b|2026-03-02T08:02:00|None|2026-03-02T08:09:00|CANCELLED by 0|5\
|cpu=2,node=1||None assigned|00:00:00
9+1|10|ann|lab|p|c|2026-03-02T08:02:00|2026-03-02T08:02:00|Unknown|RUNNING|5\
|cpu=2,node=1|cpu=2,node=1|n1|00:00:00
"""


def written(folder: Path, text: str = LOG) -> Path:
    path = folder / "sacct.txt"
    path.write_text(text)
    return path


def test_a_log_of_sacct(tmp_path: Path) -> None:
    jobs = read_log(written(tmp_path))
    assert jobs.job.tolist() == [7, 8]
    assert jobs.submit.tolist() == [0, 10]
    assert jobs.header["UnixStartTime"] == "1772438400"
    assert jobs.wait.tolist() == [0, 50]
    assert jobs.run.tolist() == [500, 120]  # without the time that it was suspended
    assert jobs.requested_processors.tolist() == jobs.processors.tolist() == [1, 4]
    assert jobs.allocated.tolist() == [1, 8]
    assert jobs.requested_time.tolist() == [-1, 120]
    assert jobs.requested_memory.tolist() == [-1, 2 << 20]  # KB for each of four processors
    assert jobs.status.tolist() == [1, 0]
    assert names_of(jobs, "user") == {"bob": 1, "ann": 2}
    assert names_of(jobs, "queue") == {"long": 1, "p": 2}
    assert jobs.header["Group"] == "1 lab"
    assert jobs.capacity == 9
    assert jobs.skipped == {"no run time": 1, "run time unknown": 1}
    assert read_schedule(tmp_path / "sacct.txt").start.tolist() == [0, 60]
    (tmp_path / "log").write_bytes(gzip.compress(LOG.encode()))
    assert read_log(tmp_path / "log", processors=16).capacity == 16


def test_the_last_run_of_a_requeued_job_counts_and_it_waited_since_it_was_submitted(
    tmp_path: Path,
) -> None:
    again = (
        "7|7|ann|lab|p|STDIN|2026-03-02T08:10:00|2026-03-02T08:12:00|2026-03-02T08:13:00"
        "|COMPLETED||cpu=1,node=1|cpu=1,node=1|n1|00:00:00\n"
    )
    jobs = read_sacct(written(tmp_path, LOG + again))
    assert jobs.job.tolist() == [7, 8]
    assert (jobs.submit[0], jobs.wait[0], jobs.run[0]) == (0, 720, 60)


def test_columns_of_older_versions(tmp_path: Path) -> None:
    text = (
        "JobID|User|Partition|Submit|Start|End|State|Timelimit|ReqCPUS|AllocCPUS|ReqMem|ReqNodes\n"
        "7|ann|p|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T08:01:00|COMPLETED|1-00:00:00"
        "|4|6|{memory}|2\n"
    )
    for memory, kilobytes in (("4Gn", 2 << 20), ("4Gc", 4 << 20), ("4G", -1)):
        jobs = read_sacct(written(tmp_path, text.format(memory=memory)))
        assert jobs.requested_memory.tolist() == [kilobytes]
    assert (jobs.requested_processors[0], jobs.allocated[0]) == (4, 6)
    assert jobs.requested_time.tolist() == [86_400]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("|End", "|Ende", "sacct.txt:1: there is no column End; write the log by sacct -a -X -D"),
        ("|", " ", "sacct.txt:1: columns are not separated by |; write the log by sacct -a -X"),
        ("|00:01:40", "", "sacct.txt:4: 14 columns, but the header has 15; write the log by sacct"),
        ("2026-03-02T08:10:00", "soon", "sacct.txt:4: End=soon: a time as 2026-01-31T08:00:00 is"),
        ("00:01:40", "long", "sacct.txt:4: Suspended=long: a time is expected, as 90 (minutes)"),
        ("2026-03-02T08:10:00", "2026-02-29T08:10:00", "End=2026-02-29T08:10:00: there is no such"),
        ("|7|", f"|{10**16}|", "sacct.txt:4: job is too large: 10,000,000"),
        ("|7|", f"|{'7' * 5000}|", "sacct.txt:4: JobIDRaw=77777"),
        ("cpu=4", f"cpu={10**15}P", "sacct.txt:2: requested processors is too large: 1,125,899"),
        ("mem=8G", f"mem={10**17}P", "sacct.txt:2: requested memory is too large: 27,487,790,694"),
        ("mem=8G", f"mem={'9' * 400}P", "sacct.txt:2: ReqTRES=cpu=4,mem=99999"),
        ("cpu=4", "cpu=x", "sacct.txt:2: ReqTRES=cpu=x,mem=8G,node=2: a whole number of 0 or more"),
        ("|7|", "|x|", "sacct.txt:4: JobIDRaw=x: a number is expected"),
        ("JobIDRaw|", "Other|", "sacct.txt:5: JobID=9+0: add the column JobIDRaw"),
    ],
)
def test_what_is_wrong_has_a_place(tmp_path: Path, old: str, new: str, expected: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        read_log(written(tmp_path, LOG.replace(old, new)))
    assert expected in str(caught.value)


def test_texts_may_have_the_sign_that_separates_columns(tmp_path: Path) -> None:
    header = "AdminComment|Comment|Constraints|Licenses|SubmitLine|WorkDir|" + HEADER
    row = "||gpu||sbatch -C gpu --wrap a{bars}|/home|" + LOG.splitlines()[-1]
    rows = list(sacct_rows(written(tmp_path, f"{header}\n{row.format(bars='| b' * 60)}")))
    assert [each.cells["constraints"] for each in rows] == ["gpu"]
    assert rows[0].cells["submitline"].count("|") == 60
    with pytest.raises(WorkloadError, match=r"sacct\.txt:2: 82 columns, but the header has 21"):
        list(sacct_rows(written(tmp_path, f"{header}\n{row.format(bars='|' * 61)}")))


def test_a_log_of_no_job_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="the log has no job; write the log by sacct"):
        read_log(written(tmp_path, HEADER + "\n"))


JOB = st.tuples(
    st.integers(0, 10**6),  # submission
    st.integers(0, 10**5),  # wait
    st.integers(1, 10**5),  # run time
    st.integers(1, 64),  # requested
    st.integers(1, 64),  # allocated
    st.integers(1, 1000),  # minutes
    st.integers(1, 4),  # user
    st.sampled_from([("COMPLETED", 1), ("FAILED", 0), ("CANCELLED by 0", 5)]),
)


@given(st.lists(JOB, min_size=1, max_size=8))
def test_a_log_as_sacct_and_as_csv_has_equal_jobs(jobs: list[tuple[int, ...]]) -> None:
    begin = datetime(2026, 3, 2)

    def clock(seconds: int) -> str:
        return (begin + timedelta(seconds=seconds)).isoformat()

    names = "job,submit,wait,run,requested_processors,allocated,requested_time,user,status"
    rows, table = [HEADER], [names + ",processors"]
    first = min(job[0] for job in jobs)
    ordered = sorted(jobs, key=lambda job: job[0])
    for number, (submit, wait, run, asked, got, minutes, user, state) in enumerate(ordered, 1):
        times = "|".join(map(clock, (submit, submit + wait, submit + wait + run)))
        size = f"cpu={asked},node=1|cpu={got},node=1|n1|0"
        rows.append(f"{number}|{number}|{user}|g|p|x|{times}|{state[0]}|{minutes}|{size}")
        cells = (number, submit - first, wait, run, asked, got, minutes * 60, user, state[1], asked)
        table.append(",".join(map(str, cells)))
    with TemporaryDirectory() as folder:
        one, other = Path(folder, "sacct.txt"), Path(folder, "log.csv")
        one.write_text("\n".join(rows) + "\n")
        other.write_text("\n".join(table) + "\n")
        left = read_log(one, processors=64)
        right = read_log(other, processors=64)
    assert left.capacity == right.capacity
    for name in (*names.split(","), "processors"):
        if name != "user":
            assert np.array_equal(getattr(left, name), getattr(right, name)), name
    users = {number: int(name) for name, number in names_of(left, "user").items()}
    assert [users[each] for each in left.user.tolist()] == right.user.tolist()


def test_a_log_of_sacct_is_run_and_compared(run: Run, tmp_path: Path) -> None:
    written(tmp_path)
    done = run("batch", "sacct.txt", "--processors", "4", "--out", "easy.swf", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "sacct.txt: 1 row skipped: no run time" in done.stderr
    rows = [
        line.split() for line in (tmp_path / "easy.swf").read_text().splitlines() if line[0] != ";"
    ]
    assert [row[:4] for row in rows] == [["7", "0", "0", "500"], ["8", "10", "490", "120"]]
    (tmp_path / "day.toml").write_text(
        'kind = "batch"\nname = "day"\npolicies = ["FCFS", "EASY"]\n\n'
        '[workload]\nlog = "sacct.txt"\nwithout_users = ["bob"]\n'
    )
    done = run("compare", "day.toml", "--out", "kept", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    wrong = run("batch", "sacct.txt", cwd=tmp_path)
    assert wrong.returncode == 0, wrong.stderr
    written(tmp_path, LOG.replace("|n1|00:01:40", ""))
    wrong = run("batch", "sacct.txt", "--out", "other.swf", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "sacct.txt:4: 13 columns, but the header has 15" in wrong.stderr
    assert not (tmp_path / "other.swf").exists()
