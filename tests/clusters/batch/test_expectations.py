"""What users may expect, in scenarios: shares by user, expected ends, fair starts."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rebecsim.clusters.batch.measures import read_schedules, schedule_figures
from rebecsim.errors import UserError
from rebecsim.metrics.users import shares_of
from rebecsim.studies import Results
from rebecsim.studies.scenario_files import ScenarioError
from rebecsim.workloads import Workload
from tests.clusters.batch.scenarios import LOG, SCENARIO, plan_of, written
from tests.conftest import Run
from tests.plans import run_plan

NAMED = "; User: 1 alice\n; User: 2 bob\n; User: 3 carol\n; Queue: 0 fast\n; Queue: 1 slow\n" + LOG


def made(folder: Path, text: str, log: str = NAMED):
    plan = plan_of(folder, text)
    (folder / "small.swf").write_text(log)
    results = Results.create(folder / "run", plan)
    run_plan(plan, results)
    return {cell.cell.policy: next(read_schedules(results, cell)) for cell in plan.cells}


def test_users_may_have_shares_of_their_own(tmp_path: Path) -> None:
    alike = made(tmp_path, SCENARIO)["FCFS"]
    (tmp_path / "own").mkdir()
    text = SCENARIO.replace("share = 2", "share = 2\nuser_shares = { bob = 4, 3 = 1 }")
    own = made(tmp_path / "own", text)["FCFS"]
    assert alike.expected_end.tolist() == [10, 11, 18, 33, 17]
    assert own.expected_end.tolist() == [10, 6, 18, 33, 12]


def test_shares_are_found_by_name_and_by_number() -> None:
    jobs = Workload.of([0, 1, 2], [1, 1, 1], [1, 1, 1], user=[1, 2, 7], header={"User": "1 ann"})
    assert shares_of(jobs, 3, {}) == 3
    assert shares_of(jobs, 3, {"ann": 5}) == {1: 5, 2: 3, 7: 3}
    assert shares_of(jobs, None, {"ann": 5, "2": 1, "7": 2}) == {1: 5, 2: 1, 7: 2}
    for share, by_user, problem in (
        (3, {"bob": 1}, "no user called 'bob'; known are ann"),
        (3, {"8": 1}, "user 8 has a share but no job"),
        (None, {"ann": 1}, "user 2 has no share; give one for all users who are not named"),
    ):
        with pytest.raises(UserError, match=problem):
            shares_of(jobs, share, by_user)


def test_rules_of_expected_ends_are_those_of_the_scenario(tmp_path: Path) -> None:
    ends = {}
    for name, table in (
        ("job", ""),
        ("bag", 'per = "bag"\nbag_gap = 3'),
        ("refined", 'algorithm = "refined"'),
        ("past", "usage_window = 100"),
    ):
        folder = tmp_path / name
        folder.mkdir()
        schedule = made(folder, f"{SCENARIO}\n[expected_ends]\n{table}\n")["FCFS"]
        ends[name] = schedule.expected_end.tolist()
    assert ends["job"] == ends["refined"] == [10, 11, 18, 33, 17]
    assert ends["bag"] == [18, 17, 18, 33, 17]  # of users 1, 2, 1, 3, 2
    assert ends["past"] == [10, 6, 10, 33, 12]  # twice the share for the first jobs


def test_users_and_queues_are_left_out(tmp_path: Path) -> None:
    for line, jobs in (
        ('without_users = ["bob", 3]', [1, 3]),
        ('without_queues = ["fast"]', [3, 4, 5]),
        ('users = ["alice"]\nwithout_queues = [0]', [3]),
    ):
        folder = tmp_path / str(len(jobs))
        folder.mkdir()
        schedule = made(folder, f"{SCENARIO}\n{line}\n")["FCFS"].schedule
        assert schedule.workload.job.tolist() == jobs


def test_fair_starts_are_kept_and_judged(tmp_path: Path) -> None:
    text = SCENARIO.replace("share = 2", "fair_starts = true").replace("FCFS", "SJF")
    judged = made(tmp_path, text)
    figures = schedule_figures(judged["SJF"])
    schedule = judged["SJF"].schedule
    assert schedule.fair_start is not None
    late = schedule.start - schedule.fair_start
    assert figures["unfair_jobs"] == 100 * (late > 0).mean()
    assert figures["mean_unfairness"] == late.clip(0).mean()
    fair = (schedule.fair_start + schedule.duration - schedule.workload.submit) / schedule.duration
    assert figures["mean_fair_slowdown"] == pytest.approx(fair.mean())
    (part,) = (tmp_path / "run" / "parts").glob("sjf*")
    assert pq.read_table(part).column("mean_response")[0].as_py() == figures["mean_response"]


def test_a_run_with_fair_starts_is_reported_and_compared(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path, SCENARIO.replace("share = 2", "fair_starts = true"))
    assert run("compare", file, "--out", "made", cwd=tmp_path).returncode == 0
    ended = run("diff", "made", "made", cwd=tmp_path)
    assert "2 cells in both runs: 2 identical" in ended.stdout
    assert run("report", "made", cwd=tmp_path).returncode == 0
    sql = "select sum(start - fair_start) as late from jobs where policy = 'FCFS'"
    assert "│ 0" in run("query", sql, "made", cwd=tmp_path).stdout


def test_a_figure_without_what_it_needs_is_refused(tmp_path: Path) -> None:
    text = SCENARIO.replace("share = 2", 'metrics = ["mean_unfairness"]')
    with pytest.raises(ScenarioError, match="mean_unfairness needs fair_starts; add it"):
        plan_of(tmp_path, text)


@pytest.fixture
def schedule(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "small.swf").write_text(NAMED)
    ended = run("batch", "small.swf", "--policy", "FCFS", "--out", "fcfs.swf", cwd=tmp_path)
    assert ended.returncode == 0
    return tmp_path


def test_the_command_takes_shares_and_rules(run: Run, schedule: Path) -> None:
    def late(*options: str) -> str:
        ended = run("workload", "metrics", "fcfs.swf", *options, "--by", "user", cwd=schedule)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.split("Violated")[1]

    assert "│   bob │    2 │        2 │ 100.0 % │" in late("--share", "2", "--share", "bob=4")
    assert late("--share", "2") == late("--share", "1=2", "--share", "bob=2", "--share", "carol=2")
    assert late("--share", "1") != late("--share", "1", "--usage-window", "1000")
    only = late("--share", "2", "--without-user", "alice", "--without-queue", "fast")
    assert "│   bob │    1 │" in only
    assert "alice" not in only


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--share", "bob"), "--share bob: give processors, 8, or a user's, alice=2"),
        (("--share", "bob=0"), "--share bob=0: give processors"),
        (("--share", "=2"), "--share =2: give processors"),
        (("--share", "bob=2"), "fcfs.swf: user 1 has no share"),
        (("--share", "2", "--share", "zoe=2"), "no user called 'zoe'; known are alice, bob, carol"),
        (("--end-per", "bag"), "options of expected ends need --share"),
        (("--share", "2", "--end-per", "workflow"), "no job of the log has a preceding job"),
        (("--user", "zoe"), "no user called 'zoe'"),
    ],
)
def test_the_command_names_what_is_wrong(
    run: Run, schedule: Path, options: tuple[str, ...], problem: str
) -> None:
    ended = run("workload", "metrics", "fcfs.swf", *options, cwd=schedule)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert problem in ended.stderr


def test_a_log_is_cut_by_leaving_out(run: Run, schedule: Path) -> None:
    ended = run(
        *[
            "workload",
            "slice",
            "small.swf",
            "--out",
            "cut.swf",
            "--without-user",
            "bob",
            "--without-user",
            "3",
        ],
        cwd=schedule,
    )
    assert ended.stdout.startswith("2 jobs in cut.swf"), ended.stderr


def test_the_command_looks_for_fair_starts(run: Run, schedule: Path) -> None:
    ended = run("batch", "small.swf", "--policy", "SJF", "--fair-starts", cwd=schedule)
    assert "jobs that started later than fair" in ended.stdout
    assert "unfairness: mean" in ended.stdout
