"""Runs that are large: what is said of them before, meanwhile, and at a limit of memory."""

from __future__ import annotations

import time
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import typer

from rebecsim.cli import running
from rebecsim.cli.running import SizeOptions, Watch, sized
from rebecsim.clusters.scenarios import load
from rebecsim.files import RunSize, Size, duration
from rebecsim.studies.plan import Plan, plan_size
from rebecsim.studies.scenario_files import ScenarioText, builtin_scenarios, read_scenario_text
from rebecsim.studies.study import How, task_of
from tests.conftest import Run

_JOBS = {"family": "a", "count": 4, "maps": 40, "reduces": 2, "queue": "batch"}
_LONG_SHUFFLE = _JOBS | {"costs": {"combine_ratio": 2_000}}
_MANY_SPILLS = _JOBS | {"costs": {"map_ratio": 100}}

KINDS = (
    "capacity_or_fair",
    "elastic_or_regular",
    "fresh_readings",
    "for_edf",
    "backfilling_or_fairshare",
    "slots_by_deadlines",
)


@pytest.mark.parametrize("scenario", KINDS)
def test_a_dry_run_says_how_large_the_runs_are_and_makes_none(
    scenario: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("compare", scenario, "--dry-run")
    assert done.returncode == 0
    assert " runs, each of up to " in done.stdout
    assert "estimated" in done.stdout
    assert "MB of memory" in done.stdout
    assert done.stdout.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
    assert run("compare", scenario).returncode == 2  # results must go somewhere


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        (("for_edf", "--replications", 3), 3 * 6 * 4 * 2),
        (("capacity", "--tables", "5.2"), 140),
        (("workflows", "--tables", "D.1"), 3 * 4 * 5),
        (("deadlines", "--parts", "closed", "--replications", 2), 18),
    ],
)
def test_so_does_one_of_published_experiments(
    words: tuple[object, ...], runs: int, run: Run, tmp_path: Path
) -> None:
    done = run("reproduce", *words, "--out", tmp_path / "out", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{runs} runs, each of up to ")
    assert done.stdout.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("scenario", builtin_scenarios())
def test_jobs_and_tasks_are_those_that_are_run(scenario: str) -> None:
    plan = load(scenario).plan()
    size = plan_size([plan], 2)
    assert size is not None
    assert size.runs == plan.total
    assert 0 < size.seconds < 3_600
    setup = plan.cells[0].setup
    if plan.study.kind == "mapreduce":
        jobs = setup.jobs(0)
        found = plan.study.size(plan.cells[0], 1)
        assert (found.jobs, found.tasks) == (len(jobs), sum(job.tasks for job in jobs))
    elif plan.study.kind == "yarn":
        jobs = setup.jobs(0)
        tasks = sum(each.count for job in jobs for each in job.classes)
        found = plan.study.size(plan.cells[0], 1)
        assert found.jobs == len(jobs)
        assert tasks / 2 <= found.tasks <= tasks * 2
    elif plan.study.kind == "stages":
        tasks = sum(len(job.tasks) for job in setup.jobs(0))
        assert tasks / 2 <= plan.study.size(plan.cells[0], 1).tasks <= tasks * 2


@pytest.mark.parametrize("like", ["generic", "facebook", "word_count"])
@pytest.mark.parametrize("jobs", [100, 1_500])
def test_tasks_of_synthetic_jobs_are_estimated_by_what_the_jobs_are_like(
    like: str, jobs: int
) -> None:
    workload = {"jobs": jobs, "rate": 0.01, "map_reduce": {"like": like}}
    values: dict[str, Any] = {
        "kind": "stages",
        "name": "synthetic",
        "policies": ["EDF"],
        "workload": workload,
        "resources": {"count": 50, "slots": 2},
    }
    plan = load(ScenarioText("synthetic", values, {}, Path())).plan()
    tasks = sum(len(job.tasks) for job in plan.cells[0].setup.jobs(0))
    assert plan.study.size(plan.cells[0], 1).tasks == pytest.approx(tasks, rel=0.2)


def test_a_large_number_is_known_without_its_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rebecsim.clusters.mapreduce.workload._of_sizes", _not_to_be_called)
    values: dict[str, Any] = {
        "kind": "mapreduce",
        "name": "large",
        "workload": {"jobs": [{"family": "a", "count": 100_000, "maps": 65_535}]},
        "variants": [{"name": "fifo", "scheduler": "FIFO"}],
    }
    size = plan_size([load(ScenarioText("large", values, {}, Path())).plan()], 1)
    assert size is not None
    assert size.largest.tasks == 100_000 * 65_536
    assert "days" in size.text


def test_a_job_that_comes_late_takes_long(run: Run, tmp_path: Path) -> None:
    (tmp_path / "epoch.tsv").write_text("job0\t1700000000\t0\t1\t1\t0\n")
    done = run("mapreduce", "epoch.tsv", "--dry-run", cwd=tmp_path)
    assert "1 job and 2 tasks: estimated 3 hours and 510,100 MB" in done.stdout


def _not_to_be_called(*_: object) -> None:
    raise AssertionError("this takes long")


def _with(builtin: str, **changed: Any) -> Plan:
    """Plan a built-in scenario with some keys changed; those of tables are named with `__`."""
    text = read_scenario_text(builtin)
    values: dict[str, Any] = deepcopy(dict(text.values))
    for name, value in changed.items():
        *path, last = name.split("__")
        table = values
        for key in path:
            table = table[key]
        table[last] = value
    return load(ScenarioText(text.origin, values, {}, text.folder)).plan()


@pytest.mark.parametrize(
    ("builtin", "changed"),
    [
        ("capacity_or_fair", {}),
        ("user_limit", {"workload__jobs": [_LONG_SHUFFLE]}),
        ("user_limit", {"workload__jobs": [_MANY_SPILLS]}),
        ("peek_with_errors", {"policies": ["PEEK"], "error_percents": [0]}),
        ("elastic_or_regular", {"policies": ["PEEK"], "load_factors": [2.0]}),
        ("elastic_or_regular", {"policies": ["REGULAR"]}),
        ("fifo_or_fair", {"policies": ["FIFO"], "workload__generate__jobs": 200}),
        ("changed_queues", {}),
        ("budgets_or_deadlines", {}),
        ("slots_by_deadlines", {}),
    ],
)
@pytest.mark.slow
def test_estimates_are_right_within_a_factor_of_three(
    builtin: str, changed: dict[str, Any]
) -> None:
    """And a bit more, as the machine may have other things to do."""
    plan = _with(builtin, **changed)
    cell = plan.cells[0]
    size = plan.study.size(cell, 1)
    assert size is not None
    _, do = task_of(plan.study, cell, range(1), How())
    took = []
    for _ in range(3):  # what is imported and read comes once
        begun = time.process_time()
        do()
        took.append(time.process_time() - begun)
    assert min(took) / 3.5 < size.seconds < min(took) * 3.5


def test_many_runs_of_a_model_are_estimated_as_compiled() -> None:
    study, cell = (plan := load("for_edf").plan()).study, plan.cells[0]
    few, many = study.size(cell, 100), study.size(cell, 1_000_000)
    assert few is not None
    assert many is not None
    assert many.seconds < few.seconds / 20


def test_what_solvers_take_is_a_lower_bound() -> None:
    plan = _with("slots_by_deadlines", policies=["MRCP_RM"])
    by_rules = plan_size([plan], 1)
    searched = plan_size(
        [_with("slots_by_deadlines", policies=["MRCP_RM"], solver={"rules_first": False})], 1
    )
    others = plan_size([_with("slots_by_deadlines", policies=["EDF"])], 1)
    assert by_rules is not None
    assert searched is not None
    assert others is not None
    assert others.seconds < by_rules.seconds < searched.seconds / 10
    assert ": estimated at least " in searched.text
    assert "at least" not in others.text


def test_sizes_are_put_together() -> None:
    small, large = RunSize(2, 10, 1.0, 1_000_000), RunSize(3, 20, 100.0, 50_000_000)
    both = Size.of([(4, small), (2, large)], workers=2)
    assert (both.runs, both.largest, both.seconds) == (6, large, 102.0)
    assert both.text == (
        "6 runs, each of up to 3 jobs and 20 tasks: estimated 2 minutes with 2 workers and "
        "400 MB of memory"
    )
    assert Size.of([(1, RunSize(1, 0, 1.0, 0))]).text == (
        "1 run, of up to 1 job: estimated 1 second and 100 MB of memory"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.1, "1 second"),
        (59.0, "59 seconds"),
        (59.6, "1 minute"),
        (3_590, "1 hour"),
        (86_000, "1 day"),
        (90, "2 minutes"),
        (7_200, "2 hours"),
        (1e6, "12 days"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_large_runs_are_announced_and_show_how_far_they_are(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = ("compare", "capacity_or_fair", "--workers", "1", "--replications", "4", "--out")
    assert "estimated" not in run(*small, tmp_path / "small").stderr
    monkeypatch.setattr("rebecsim.files.LARGE", 0.0)
    monkeypatch.setattr(running, "_FIRST", 0.0)
    said = run(*small, tmp_path / "large").stderr.splitlines()
    assert said[0].startswith("12 runs, each of up to 23 jobs")
    assert said[1].endswith("after 1 second")
    words = ("reproduce", "for_edf", "--workers", "1", "--replications", "2")
    said = run(*words).stderr.splitlines()
    assert said[0].startswith("96 runs, each of up to 99 time units: estimated ")
    assert said[1].endswith("after 1 second")


def test_progress_counts_runs(capsys: pytest.CaptureFixture[str]) -> None:
    watch = Watch(first=0.05)
    watch.start(7)
    watch.advance(3)
    with watch.watching():
        time.sleep(0.2)
    assert capsys.readouterr().err == "3 of 7 runs after 1 second\n"


def test_nothing_is_said_beside_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    watch = Watch(first=0.0)
    with watch.quiet(), watch.watching():
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_a_limit_of_memory_ends_a_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "jobs.swf"
    trace.write_text(
        "".join(f"{n} {n} -1 9 1 -1 -1 1 9 -1 1 1 -1 -1 1 -1 -1 -1\n" for n in range(1, 9))
    )
    monkeypatch.setattr("rebecsim.clusters.batch.run_schedule", lambda *a, **k: time.sleep(20))
    done = run("batch", trace, "--max-memory", "1")
    assert done.returncode == 3
    assert "the memory limit was reached (--max-memory 1)" in done.stderr


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # sent again then
def test_what_was_found_until_then_is_shown(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    finished = "*load0.5*.parquet"

    def memory() -> int:  # too much once a load factor has been looked at under all schedulers
        return 10**12 if len(list((out / "parts").glob(finished))) == 4 else 0

    monkeypatch.setattr(running, "_memory", memory)
    scenario = ("compare", "elastic_or_regular", "--workers", "1", "--out", out)
    done = run(*scenario, "--max-memory", "5000")
    assert done.returncode == 3, done.stderr
    assert "of 12 cells are finished" in done.stderr
    assert "load factor 0.5" in done.stdout
    assert "load factor 2.0" not in done.stdout
    assert run(*scenario, "--resume").returncode == 0


@pytest.mark.parametrize(
    ("known", "says"),
    [((), "memory is used; leave the option out"), ((None,), "so that of workers is not counted")],
    ids=["nowhere", "of this process"],
)
def test_a_limit_of_memory_that_cannot_be_measured_is_said(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: tuple[None, ...], says: str
) -> None:
    monkeypatch.setattr(
        "rebecsim.exploration.checks.resident_bytes",
        lambda process=None: 1 if process in known else None,
    )
    words = ("compare", "for_edf", "--replications", 1, "--no-orders", "--workers", 1)
    done = run(*words, "--out", tmp_path / "out", "--max-memory", 5000)
    assert "--max-memory: this system does not tell how much memory" in done.stderr
    assert says in done.stderr
    assert done.returncode == (0 if known else 2)
    assert (tmp_path / "out").exists() == bool(known)


def test_without_a_limit_nothing_is_ended() -> None:
    with sized(None, SizeOptions()) as watch:
        time.sleep(0.01)
    assert not watch.heeds()


def test_an_interrupt_that_is_lost_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_memory", lambda: 10**12)
    monkeypatch.setattr(running, "_AGAIN", 0.05)
    lost = []

    def endless() -> None:
        while len(lost) < 3:
            try:
                time.sleep(60)
            except KeyboardInterrupt:
                lost.append(1)
        raise KeyboardInterrupt

    def limited() -> None:
        with sized(None, SizeOptions(max_memory=1)):
            endless()

    with pytest.raises(typer.Exit):
        limited()
