"""What Toth and Klusacek (JSSPP 2014) found, in shape, on the log of HPC2N.

By means, backfilling without fairshare is better than fairshare without backfilling; by what users
may expect it is worse.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from rebecsim.clusters.batch.report.sections import Schedules, read_shown
from rebecsim.clusters.scenarios import load
from rebecsim.report import ReportInput
from rebecsim.report.comparison import report_input
from rebecsim.studies import Results, paired_moments
from rebecsim.studies.differences import difference
from tests.oracles import schedule_rows
from tests.plans import run_plan

SCENARIO = """\
kind = "batch"
name = "hpc2n"
policies = ["FCFS", "EASY", "FAIR_FCFS", "FAIR_EASY"]
baseline = "EASY"
estimates = ["exact"]
share = 24

[workload]
log = "{log}"
size = "allocated"
"""


@dataclass
class Made:
    report: ReportInput
    read: Schedules

    @property
    def summary(self):
        return self.report.summary


@pytest.fixture(scope="module")
def report(shared_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hpc2n")
    (folder / "scenario.toml").write_text(SCENARIO.format(log=shared_data / "swf/hpc2n.swf"))
    plan = load(folder / "scenario.toml").plan()
    results = Results.create(folder / "run", plan)
    run_plan(plan, results)
    (report,) = report_input(plan, results).comparisons.values()
    return Made(report, read_shown(plan, results))


def figure(report, metric, policy):
    names = [each.name for each in report.summary.metrics]
    (row,) = [row for row in report.summary.rows if row.policy == policy]
    return row.estimates[names.index(metric)].value


@pytest.mark.parametrize("metric", ["mean_slowdown", "mean_bounded_slowdown"])
def test_by_means_backfilling_is_better_than_fairshare(report, metric):
    assert figure(report, metric, "EASY") < figure(report, metric, "FAIR_FCFS")


@pytest.mark.parametrize("metric", ["weighted_tardiness", "veet_upper_quartile"])
def test_by_what_users_expect_fairshare_is_better_than_backfilling(report, metric):
    assert figure(report, metric, "FAIR_FCFS") < figure(report, metric, "EASY")


def test_both_together_have_the_least_weighted_tardiness(report):
    tardy = {p: figure(report, "weighted_tardiness", p) for p in report.summary.policies}
    assert min(tardy, key=tardy.get) == "FAIR_EASY"
    assert max(tardy, key=tardy.get) == "FCFS"


def test_no_policy_spares_every_user(report):
    assert all(users.veet.max() == 100 for users in report.read.users.values())


@pytest.mark.parametrize(
    ("policy", "slowdown", "tardiness", "veet"),
    [("EASY", 28.8, 32_585, 30.8), ("FAIR_FCFS", 32.3, 9_001, 27.5)],
)
def test_the_figures_are_those_measured_before(report, policy, slowdown, tardiness, veet):
    assert figure(report, "mean_slowdown", policy) == pytest.approx(slowdown, abs=0.05)
    assert figure(report, "weighted_tardiness", policy) == pytest.approx(tardiness, abs=0.6)
    assert figure(report, "veet_upper_quartile", policy) == pytest.approx(veet, abs=0.05)


def test_the_stored_waits_are_those_of_another_simulator(report):
    theirs = {int(row["job"]): int(row["wait"]) for row in schedule_rows("hpc2n-exact-FCFS")}
    schedule = report.read.shown["FCFS"].schedule
    waits = dict(zip(schedule.workload.job.tolist(), schedule.wait.tolist(), strict=True))
    assert waits == {job: theirs[job] for job in waits}


@pytest.mark.large
def test_the_builtin_scenario_shows_what_its_description_says(tmp_path):
    plan = load("backfilling_or_fairshare").plan()
    results = Results.create(tmp_path / "run", plan)
    run_plan(plan, results)
    counters = [metric.name for metric in plan.metrics]
    paired = paired_moments(results, plan.cells, counters)

    def change(policy, metric):
        (found,) = [each for each in plan.metrics if each.name == metric]
        return difference(found, paired, policy, "FCFS")

    for metric in ("mean_wait", "mean_slowdown", "mean_bounded_slowdown"):
        assert change("FAIR_FCFS", metric).low < 0 < change("FAIR_FCFS", metric).high
        assert change("EASY", metric).high < 0
    for metric in ("veet_lower_quartile", "veet_median", "veet_upper_quartile"):
        for policy in ("FAIR_FCFS", "EASY", "FAIR_EASY"):
            assert change(policy, metric).high < 0
        assert change("FAIR_EASY", metric).value < change("EASY", metric).value
