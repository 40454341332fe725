"""Comparing schedulers of a YARN cluster as a user does it; and DSS's command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.clusters.yarn.scenarios import DRAWN, SCENARIO, TRACE, written
from tests.conftest import Run
from tests.program import undrawn

ROOT = Path(__file__).parents[2]
TOPOLOGY = '{"rack": "default-rack", "nodes": [{"node": "node1"}, {"node": "node2"}]}\n'
DSS = ("jobs.json", "racks.json", 4000, 4, 1000, 1000, 500, 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(tmp_path)
    (tmp_path / "racks.json").write_text(TOPOLOGY)
    (tmp_path / "drawn.toml").write_text(DRAWN)
    return tmp_path


@pytest.mark.large
def test_from_the_scenario_to_the_questions(run: Run, folder: Path) -> None:
    done = run("compare", "scenario.toml", "--out", "a", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Job duration (s)" in done.stdout
    assert "data    a: table.csv, pairs.csv, speedups.csv, parts" in done.stdout
    charts = {path.name for path in (folder / "a/charts").glob("*.svg")}
    pictures = ("by_group", "speedup", "durations", "occupancy", "gantt")
    assert charts == {f"{each}.svg" for each in pictures}

    again = run("report", "a", "--out", "b", cwd=folder)
    assert again.returncode == 0, again.stderr
    for file in ("report.html", "speedups.csv", "charts/gantt.svg", "charts/occupancy.png"):
        assert (folder / "a" / file).read_bytes() == (folder / "b" / file).read_bytes(), file

    def asked(sql: str) -> list[str]:
        return run("query", sql, "a", "--csv", cwd=folder).stdout.split()[1:]

    assert asked("select count(*) from tasks where policy = 'REGULAR'") == ["10"]
    assert asked("select sum(tasks) from jobs where policy = 'GREEDY'") == ["8"]
    assert asked("select bool_or(elastic) from tasks where policy = 'REGULAR'") == ["false"]
    elastic = asked("select count(*) from tasks where policy = 'GREEDY' and given < requested")
    assert int(elastic[0]) > 0
    assert int(asked("select count(*) from reservations")[0]) > 0
    assert asked(
        "select distinct total - accepted - rejected - reserved as left_over from decisions"
    ) == ["0"]
    assert float(asked("select max(memory) from occupancy")[0]) <= 8000
    assert asked("select memory from nodes where node = 'node2' and policy = 'GREEDY'") == ["4000"]


@pytest.mark.large
def test_workers_and_resuming_leave_the_bytes_as_they_are(run: Run, folder: Path) -> None:
    with undrawn():
        one = run("compare", "drawn.toml", "--out", "a", "--workers", 1, cwd=folder)
    two = run("compare", "drawn.toml", "--out", "b", "--workers", 2, cwd=folder)
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    parts = sorted(path.relative_to(folder / "a") for path in (folder / "a").rglob("*.parquet"))
    content = {part: (folder / "a" / part).read_bytes() for part in parts}
    assert len(parts) == 8 * 7
    assert content == {part: (folder / "b" / part).read_bytes() for part in parts}
    for part in parts[::3]:  # as if it had been killed
        (folder / "b" / part).unlink()
    with undrawn():
        resumed = run("compare", "drawn.toml", "--out", "b", "--resume", cwd=folder)
    assert resumed.returncode == 0, resumed.stderr
    assert content == {part: (folder / "b" / part).read_bytes() for part in parts}


@pytest.mark.parametrize(
    ("text", "trace", "message"),
    [
        (SCENARIO, TRACE.replace("3000", "9000"), "jobs.json:1: job_0, task 1 asks for 9000 MB"),
        (SCENARIO, TRACE[:-20], "jobs.json:"),
        (SCENARIO, "", "the file is empty"),
        (SCENARIO.replace('"GREEDY"', '"PEEK"').replace("STEP", "NULL"), TRACE, "PEEK has to know"),
        (
            SCENARIO.replace('trace = "jobs.json"', 'trace = "jobs.json"\nfirst = 1'),
            TRACE.replace('"job.start.ms": 0', '"job.start.ms": "job_1"'),
            "job_0 waits for job_1, which is not among the first 1 jobs",
        ),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_left(
    run: Run, folder: Path, text: str, trace: str, message: str
) -> None:
    written(folder, text, trace)
    done = run("compare", "scenario.toml", "--out", "a", cwd=folder)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert not (folder / "a").exists()


CLUSTER = ("--nodes", "2:memory=4000,cores=4", "--master-memory", 500)


def test_a_trace_under_several_schedulers(run: Run, folder: Path) -> None:
    named = ("--scheduler", "REGULAR", "--scheduler", "GREEDY", "--scheduler", "DRF")
    done = run(
        *("yarn", "jobs.json", *CLUSTER, *named, "--penalty", "step:1.5", "--more", "--out", "."),
        cwd=folder,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "REGULAR ┃ GREEDY ┃  DRF ┃" in done.stdout
    assert "Job duration (s)" in done.stdout
    assert "Local tasks" not in done.stdout
    tasks = (folder / "tasks.csv").read_text().splitlines()
    assert tasks[0].startswith("scheduler,job,container,kind,locality,node,scheduled,launched,")
    assert len(tasks) == 1 + 3 * 10
    tables = {path.stem for path in folder.glob("*.csv")}
    assert tables == {"jobs", "tasks", "decisions", "reservations", "occupancy", "nodes"}


def test_like_dss_is_what_dss_does(run: Run, folder: Path) -> None:
    assert run("dss", *DSS, cwd=folder).returncode == 0
    done = run("yarn", "jobs.json", *CLUSTER, "--like", "dss", "--out", ".", cwd=folder)
    assert done.returncode == 0, done.stderr
    ends = [line.split(",")[3] for line in (folder / "jobs.csv").read_text().splitlines()[1:]]
    written_by_dss = (folder / "job_stats.out").read_text()
    assert ends == re.findall(r"end_ms=(\d+)", written_by_dss)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "say which nodes there are: --nodes 80:memory=64000,cores=16, or --topology FILE"),
        (["--nodes", "2:memory=4000"], "--nodes 2:memory=4000: write it as 80:memory=64000"),
        ([*CLUSTER, "--scheduler", "REGULA"], "did you mean REGULAR?"),
        ([*CLUSTER, "--penalty", "STEP:often"], "--penalty STEP:often: write it as STEP:1.5"),
        ([*CLUSTER, "--gaps"], "gaps needs reservations"),
        (["--topology", "racks.json"], "node node1 has no memory and cores"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    run: Run, folder: Path, options: list[str], message: str
) -> None:
    done = run("yarn", "jobs.json", *options, cwd=folder)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_out_makes_the_directory(run: Run, folder: Path) -> None:
    for command in (["yarn", "jobs.json", *CLUSTER], ["dss", *DSS]):
        out = folder / command[0] / "new"
        done = run(*command, "--out", out, cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert len(list(out.iterdir())) > 3


HADOOP_1 = """\
<configuration>
<property><name>mapred.capacity-scheduler.queue.default.capacity</name><value>100</value></property>
</configuration>
"""


def test_a_file_of_hadoop_1_is_one_for_mapreduce(run: Run, folder: Path) -> None:
    (folder / "capacity.xml").write_text(HADOOP_1)
    done = run("yarn", "jobs.json", *CLUSTER, "--queues", "capacity.xml", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "capacity.xml:2: mapred.capacity-scheduler.queue.default.capacity"
    )
    assert "rebecsim mapreduce --scheduler CAPACITY=capacity.xml" in done.stderr


TOO_SMALL = """\
<configuration>
<property><name>yarn.scheduler.capacity.root.queues</name><value>a,b</value></property>
<property><name>yarn.scheduler.capacity.root.a.capacity</name><value>10</value></property>
<property><name>yarn.scheduler.capacity.root.a.user-limit-factor</name><value>0.3</value></property>
<property><name>yarn.scheduler.capacity.root.b.capacity</name><value>90</value></property>
</configuration>
"""


def _named(name: str, queue: str, memory: int) -> str:
    task = {"count": 2, "duration.ms": 60_000, "container.memory-mb": memory}
    job = {"job.id": name, "job.user": "u", "job.queue.name": queue, "job.tasks": [task]}
    return json.dumps(job | {"am.memory-mb": memory}) + "\n"


def test_a_stuck_job_is_reported_and_the_others_are_answered(run: Run, tmp_path: Path) -> None:
    (tmp_path / "queues.xml").write_text(TOO_SMALL)
    jobs = _named("early", "b", 1024) + _named("stuck", "a", 4096) + _named("late", "b", 1024)
    (tmp_path / "jobs.json").write_text(jobs)
    cluster = ("--nodes", "4:memory=8192,cores=8", "--queues", "queues.xml")
    done = run("yarn", "jobs.json", *cluster, "--out", "out", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith("queues: stuck waits for containers, and never gets them: 1 con")
    assert done.stderr.endswith("; figures are of the 2 others\n")
    assert re.search(r"Refused jobs +│ +1 ", done.stdout)
    early, stuck, late = (tmp_path / "out/queue_jobs.csv").read_text().splitlines()[1:]
    assert "it waits in vain for containers" in stuck
    assert all(int(each.split(",")[7]) > 60_000 for each in (early, late))
    (tmp_path / "jobs.json").write_text(_named("stuck", "a", 4096))
    alone = run("yarn", "jobs.json", *cluster, cwd=tmp_path)
    assert alone.returncode == 2
    assert alone.stderr.startswith("stuck waits for containers, and never gets them")


def test_a_scheduler_of_a_plugin(run: Run, folder: Path) -> None:
    plugin = ROOT / "models/plugins/fewest_tasks_first.py"
    done = run(
        "yarn", "jobs.json", *CLUSTER, "--scheduler", "FEWEST", "--plugin", plugin, cwd=folder
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "FEWEST" in done.stdout


def test_dss_writes_its_files_here(run: Run, folder: Path) -> None:
    done = run("dss", "-r", *DSS, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    names = ("job", "task", "decision", "reservation", "misc")
    assert done.stdout.split() == [f"{name}_stats.out" for name in names]
    jobs = (folder / "job_stats.out").read_text()
    assert jobs.startswith("job_0, start_ms=0, end_ms=")
    assert jobs.endswith("tasks = (1500MB x 3, 2500MB x 1)\n")


@pytest.mark.parametrize(
    ("long", "short"),
    [
        (["--use-reservations"], ["-r"]),
        (["--peek-pushback-strategy", "peek_each_elastic"], ["-p", "peek_each_elastic"]),
        (["--verbose", "--verbose"], ["-vv"]),
        (["--mem-overestimate-range", "1.5"], ["--mem-overestimate-range", "1.5-1.5"]),
    ],
)
def test_long_names_of_dss_are_those_of_its_short_ones(
    run: Run, folder: Path, long: list[str], short: list[str]
) -> None:
    written = []
    for options in (long, short):
        done = run("dss", *options, *DSS, "peek", "step", "1.5", "--out", "o", cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
        written.append((folder / "o/task_stats.out").read_text())
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["regular", "step"], "give a penalty with its IB"),
        (["reglar"], "no YARN scheduler is called 'REGLAR'; did you mean REGULAR?"),
        (["smartg", "stair", "1.5"], "there is no penalty 'stair'"),
        (["--mem-overestimate-range", "2-1"], "--mem-overestimate-range 2-1: write it as 2 or as"),
        (["--duration-error", "10"], "is constant, so it is POSITIVE or NEGATIVE, and not MIXED"),
        (["--ib-error-type", "UP"], "--ib-error-type UP: should be MIXED or POSITIVE or NEGATIVE"),
        (["--occupancy-stats-interval", "5"], "needs --occupancy-stats-file"),
        (["-p", "ALWAYS"], "-p ALWAYS: should be TIMELINE_CHECK_CURRENT_JOB or"),
    ],
)
def test_dss_refuses_what_makes_no_sense_and_writes_nothing(
    run: Run, folder: Path, options: list[str], message: str
) -> None:
    before = sorted(folder.iterdir())
    done = run("dss", *DSS, *options, cwd=folder)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert sorted(folder.iterdir()) == before
