"""Logs of sacct are read as Slurm writes them."""

import pytest

from rebecsim.clusters.slurm.files.log_files import read_log
from rebecsim.clusters.slurm.jobs import ArrayTask, Dependency, HetPart
from rebecsim.errors import UserError
from rebecsim.workloads.sacct import moment
from tests.clusters.slurm.sites import COLUMNS, log, row

# Logs


def test_columns_may_stand_in_any_order_and_text_may_have_bars(tmp_path) -> None:
    text = row(Constraints="fast|slow", SubmitLine="sbatch -C fast|slow -n4 run.sh")
    backwards = "|".join(reversed(COLUMNS.split("|")))
    cells = dict(
        zip(
            COLUMNS.split("|"),
            row(Constraints="FEATURES", SubmitLine="LINE").split("|"),
            strict=True,
        )
    )
    other = (
        "|".join(cells[each] for each in backwards.split("|"))
        .replace("FEATURES", "fast|slow")
        .replace("LINE", "sbatch -C fast|slow -n4 run.sh")
    )
    first = log(tmp_path, text).jobs[0]
    second = log(tmp_path, other, columns=backwards).jobs[0]
    for job in (first, second):
        assert (job.request.features, job.request.tasks, job.run, job.limit) == (
            "fast|slow",
            4,
            120,
            600,
        )


def test_a_job_that_starts_before_its_flexible_reservation_is_of_it(tmp_path) -> None:
    line = "salloc --reservation=r1 -n4"  # sacct leaves the column empty
    columns = COLUMNS + "|Reservation"
    jobs = log(
        tmp_path, row(1, SubmitLine=line) + "|", row(2) + "|r2", row(3) + "|", columns=columns
    ).jobs
    assert [each.request.reservation for each in jobs] == ["r1", "r2", ""]


def test_begin_counts_from_the_command_which_runs_before_the_submission(tmp_path) -> None:
    line = "salloc --begin=now+20 -n4"
    rows = [
        row(n, Eligible=f"2026-03-02T08:00:{at}", SubmitLine=line) for n, at in [(1, 19), (2, 50)]
    ]
    jobs = log(tmp_path, *rows).jobs
    assert [each.begin - each.submit for each in jobs] == [19, 20]


def test_what_a_script_asks_for_comes_from_the_columns(tmp_path) -> None:
    made = log(
        tmp_path,
        row(
            SubmitLine="sbatch run.sh",
            ReqTRES="cpu=8,mem=4G,node=2,gres/gpu=4,gres/gpu:a=4",
            ReqNodes="2",
        ),
    )
    request = made.jobs[0].request
    assert (request.min_nodes, request.tasks, request.memory_per_node, request.gres_per_node) == (
        2,
        8,
        2048,
        (("gpu:a", 2),),
    )
    line = log(tmp_path, row(SubmitLine="salloc -N2-4 -c 2 --mem-per-cpu=1G")).jobs[0]
    assert (
        line.request.min_nodes,
        line.request.max_nodes,
        line.request.cpus_per_task,
        line.request.memory_per_cpu,
        line.batch,
    ) == (2, 4, 2, 1024, False)


def test_equal_requests_are_one_object(tmp_path) -> None:
    jobs = log(tmp_path, row(1), row(2), row(3, ReqTRES="cpu=2,node=1")).jobs
    assert jobs[0].request is jobs[1].request
    assert jobs[0].request is not jobs[2].request


def test_a_requeued_job_is_one_job_and_its_last_run_counts(tmp_path) -> None:
    made = log(
        tmp_path,
        row(State="PREEMPTED"),
        row(Submit="2026-03-02T08:03:00", Start="2026-03-02T08:10:00", End="2026-03-02T08:15:00"),
        row(2, JobID="2.batch"),
    )
    assert len(made.jobs) == 1
    assert made.jobs[0].run == 300
    assert made.jobs[0].submit == moment("2026-03-02T08:00:00")
    assert made.recorded[1].restarts == 1
    assert made.notes == ("Jobs that had been requeued, and of which the last run counts: 1.",)


def test_tasks_of_arrays_and_parts_of_jobs(tmp_path) -> None:
    unset = {
        "Start": "Unknown",
        "End": "Unknown",
        "State": "PENDING",
        "AllocTRES": "",
        "NodeList": "",
    }
    line = "sbatch --array=1-6%2 -d afterok:3:4?afterany:5 run.sh"
    made = log(
        tmp_path,
        row(8, JobID="7_1", SubmitLine=line),
        row(7, JobID="7_[5-6%2]", SubmitLine=line, **unset),
        row(21, JobID="20+1", SubmitLine="salloc -n1 : -n3"),
    )
    by_number = {job.number: job for job in made.jobs}
    assert by_number[8].extras.array == ArrayTask(7, 1, 2)
    assert [job.extras.array for number, job in by_number.items() if number > 21] == [
        ArrayTask(7, 5, 2),
        ArrayTask(7, 6, 2),
    ]
    assert by_number[8].extras.dependencies == (
        Dependency("afterok", 3),
        Dependency("afterok", 4),
        Dependency("afterany", 5),
    )
    assert by_number[8].extras.any_dependency
    assert by_number[21].request.tasks == 3


def test_the_line_of_a_heterogeneous_job_stands_in_the_row_of_its_first_part(tmp_path) -> None:
    line = "salloc -n1 -N1 : -N1 -n3 : -n5"
    rows = [
        row(20 + n, JobID=f"20+{n}", SubmitLine=text)
        for n, text in enumerate((line, ": -N1 -n3", ": -n5"))
    ]
    for some in (rows, rows[1:]):  # a log may begin between them
        jobs = log(tmp_path, *some).jobs[-2:]
        assert [job.extras.het for job in jobs] == [HetPart(20, 1), HetPart(20, 2)]
        assert [job.request.tasks for job in jobs] == [3, 5]


def test_jobs_that_did_not_end_well_say_so(tmp_path) -> None:
    never = {"Start": "None", "AllocTRES": "", "NodeList": "None assigned"}
    made = log(
        tmp_path,
        row(1, State="CANCELLED by 1001", **never),
        row(2, State="TIMEOUT"),
        row(3, State="FAILED"),
        row(4, State="RUNNING", End="Unknown"),
        row(5, State="FAILED", End="2026-03-02T08:00:00", **never),
    )
    jobs = {job.number: job for job in made.jobs}
    assert sorted(jobs) == [1, 2, 3, 4]
    assert jobs[1].extras.withdrawn == moment("2026-03-02T08:03:00")
    assert (jobs[2].run, jobs[3].extras.fails, jobs[4].run) == (240, True, 600)
    assert len(made.notes) == 4


def test_a_delay_that_the_line_explains_is_simulated_and_another_is_kept(tmp_path) -> None:
    late = {"Eligible": "2026-03-02T08:00:50"}
    lines = [
        "sbatch run.sh",
        "sbatch -d singleton run.sh",
        "sbatch --begin=now+20 run.sh",
        "sbatch -H run.sh",
    ]
    made = log(tmp_path, *(row(n, SubmitLine=line, **late) for n, line in enumerate(lines, 1)))
    submit = moment("2026-03-02T08:00:00")
    assert [job.begin and job.begin - submit for job in made.jobs] == [50, 0, 20, 0]
    assert made.jobs[3].extras.released == submit + 50


def test_jobs_that_ran_before_the_replay_begins_keep_their_nodes(tmp_path) -> None:
    made = log(tmp_path, row(), since=moment("2026-03-02T08:02:00"))
    assert made.jobs[0].extras.nodes == ("n1",)
    assert made.jobs[0].extras.running_since == moment("2026-03-02T08:01:00")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "the log is empty"),
        (
            "JobID Submit\n1 2\n",
            "columns are not separated by |; write the log by sacct -a -X -D -P -o ALL",
        ),
        (
            COLUMNS.replace("State|", "") + "\n",
            "there is no column State; write the log by sacct -a -X -D -P -o ALL",
        ),
        (COLUMNS + "\n1|2\n", "log:2: 2 columns, but the header has 18"),
        (
            COLUMNS + "\n" + row(Submit="yesterday") + "\n",
            "log:2: Submit=yesterday: a time as 2026-01-31T08:00:00 is expected",
        ),
        (
            COLUMNS + "\n" + row(TimelimitRaw="soon") + "\n",
            "log:2: TimelimitRaw=soon: a time is expected",
        ),
        (COLUMNS + "\n" + row(NodeList="n[1") + "\n", "log:2: NodeList=n[1"),
        (COLUMNS + "\n" + row(ReqTRES="cpu") + "\n", "log:2: ReqTRES=cpu"),
    ],
)
def test_a_wrong_log_is_refused_with_its_place(text, expected, tmp_path) -> None:
    (tmp_path / "log").write_text(text)
    with pytest.raises(UserError) as caught:
        read_log(tmp_path / "log")
    assert expected in str(caught.value)
